#include "gpu/cuda.h"

#include <stdio.h>
#include <string.h>

hsumma_status hs_cuda_said(struct hs_message *message, const char *call, cudaError_t error)
{
    if (error == cudaSuccess)
        return HSUMMA_OK;
    cudaGetLastError();
    return hs_fail(message, error == cudaErrorMemoryAllocation ? HSUMMA_ERR_MEMORY : HSUMMA_ERR_DEVICE, "%s: %s (%s)",
                   call, cudaGetErrorName(error), cudaGetErrorString(error));
}

/* Like hs_cuda_said, for the driver's API: its error numbers equal the runtime's. */
static hsumma_status driver_said(struct hs_message *message, const char *call, int error)
{
    return hs_cuda_said(message, call, (cudaError_t)error);
}

struct hs_cuda_visit hs_cuda_enter(struct hs_device *device)
{
    struct hs_cuda *cuda = hs_cuda_of(device);
    struct hs_cuda_visit visit = {.cuda = cuda};
    visit.status = driver_said(&device->message, "cuCtxGetCurrent", cuda->get_current(&visit.before));
    if (visit.status)
        visit.before = cuda->context;
    else if (visit.before != cuda->context)
        visit.status = driver_said(&device->message, "cuCtxSetCurrent", cuda->set_current(cuda->context));
    return visit;
}

hsumma_status hs_cuda_leave(const struct hs_cuda_visit *visit)
{
    if (visit->before != visit->cuda->context)
        visit->cuda->set_current(visit->before);
    return visit->status;
}

static void tell_location(const struct cudaDeviceProp *is, char *place, size_t size)
{
    int at = snprintf(place, size, "%04x:%02x:%02x GPU-", (unsigned)is->pciDomainID, (unsigned)is->pciBusID,
                      (unsigned)is->pciDeviceID);
    for (unsigned i = 0; i < sizeof is->uuid.bytes && at > 0 && (size_t)at + 2 < size; i++)
        at += snprintf(place + at, size - (size_t)at, "%02x", (unsigned)(unsigned char)is->uuid.bytes[i]);
}

int hs_cuda_find(const char *place)
{
    int count = 0;
    struct cudaDeviceProp is;
    char here[sizeof((struct hs_device *)0)->location];
    if (cudaGetDeviceCount(&count) != cudaSuccess)
        count = 0;
    for (int i = 0; i < count; i++)
        if (cudaGetDeviceProperties(&is, i) == cudaSuccess) {
            tell_location(&is, here, sizeof here);
            if (strcmp(here, place) == 0)
                return i;
        }
    cudaGetLastError();
    return -1;
}

/* Chooses a device among those that the process sees. */
static hsumma_status choose(int number, int local_rank, int *chosen, struct hs_message *message)
{
    int count = 0, driver = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    hsumma_status status = hs_cuda_said(message, "cudaGetDeviceCount", error);
    if (error == cudaErrorInsufficientDriver && cudaDriverGetVersion(&driver) == cudaSuccess && driver)
        hs_append(message->text, sizeof message->text,
                  ": the driver supports CUDA %d.%d, this library is built with %d.%d; expected a newer driver",
                  driver / 1000, driver % 1000 / 10, CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
    else if (error == cudaErrorInsufficientDriver)
        hs_append(message->text, sizeof message->text, ": no NVIDIA driver is installed (libcuda.so.1)");
    if (!status && (count < 1 || number >= count))
        status = hs_fail(message, HSUMMA_ERR_DEVICE,
                         "no GPU has the number %d: this process has access to %d, numbered from 0", number, count);
    *chosen = number >= 0 ? number : count > 0 ? local_rank % count : 0;
    return status;
}

/* Finds a function of the driver through the runtime, which has loaded it. */
static hsumma_status find(const char *name, void *function, struct hs_message *message)
{
    enum cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
    void **address = function;
    *address = NULL;
#if CUDART_VERSION >= 12050
    cudaError_t error = cudaGetDriverEntryPointByVersion(name, address, 11030, cudaEnableDefault, &found);
#else
    cudaError_t error = cudaGetDriverEntryPoint(name, address, cudaEnableDefault, &found);
#endif
    hsumma_status status = hs_cuda_said(message, "cudaGetDriverEntryPoint", error);
    if (!status && (found != cudaDriverEntryPointSuccess || !*address))
        status = hs_fail(message, HSUMMA_ERR_DEVICE, "the CUDA driver has no %s", name);
    return status;
}

/* Retains the primary context, for good: the last release would destroy all that the caller has on the device. */
static hsumma_status take_context(struct hs_cuda *cuda, struct hs_message *message)
{
    int (*get_device)(int *device, int number) = NULL, (*retain)(void **context, int device) = NULL, device = 0;
    hsumma_status status = find("cuCtxGetCurrent", &cuda->get_current, message);
    if (!status)
        status = find("cuCtxSetCurrent", &cuda->set_current, message);
    if (!status)
        status = find("cuDeviceGet", &get_device, message);
    if (!status)
        status = find("cuDevicePrimaryCtxRetain", &retain, message);
    if (!status)
        status = hs_cuda_said(message, "cudaInitDevice", cudaInitDevice(cuda->number, 0, 0));
    if (!status)
        status = driver_said(message, "cuDeviceGet", get_device(&device, cuda->number));
    if (!status)
        status = driver_said(message, "cuDevicePrimaryCtxRetain", retain(&cuda->context, device));
    return status;
}

/* Reads the device's properties and prepares its kernels.  Its context must be current. */
static hsumma_status look(struct hs_cuda *cuda)
{
    struct cudaDeviceProp is;
    struct hs_message *message = &cuda->device.message;
    hsumma_status status = HS_CUDA_TRY(cuda, cudaGetDeviceProperties, &is, cuda->number);
    if (status)
        return status;
    snprintf(cuda->device.name, sizeof cuda->device.name, "%.*s", (int)sizeof cuda->device.name - 1, is.name);
    tell_location(&is, cuda->device.location, sizeof cuda->device.location);
    cuda->pitch_most = is.memPitch;
    cuda->generation = is.major;
    status = HS_CUDA_TRY(cuda, cudaDeviceGetAttribute, &cuda->device.shares_events, cudaDevAttrIpcEventSupport,
                         cuda->number);
    if (!status) {
        status = hs_cuda_said(message, "kernels", hs_kernels_prepare(cuda->number, &cuda->kernels));
        if (status)
            hs_append(message->text, sizeof message->text,
                      ": %s has compute capability %d.%d; this library is built for %s and later ones (CUDA_ARCHS)",
                      cuda->device.name, is.major, is.minor, hs_kernels_archs);
    }
    return status;
}

static void close_cuda(struct hs_device *device)
{
    struct hs_cuda *cuda = hs_cuda_of(device);
    if (!device)
        return;
    struct hs_cuda_visit visit = {.cuda = cuda, .status = HSUMMA_ERR_DEVICE};
    if (cuda->context)
        visit = hs_cuda_enter(device);
    if (visit.status) /* the context that the handle belongs to cannot be entered */
        cuda->blas.handle = NULL;
    hs_cublas_unload(&cuda->blas);
    while (cuda->block)
        hs_cuda_release(cuda, cuda->block);
    if (cuda->context)
        hs_cuda_leave(&visit);
    hs_put(device->memory, cuda);
}

static hsumma_status open_cuda(int number, int local_rank, const struct hs_allocator *memory, struct hs_device **device,
                               struct hs_message *message)
{
    struct hs_cuda *cuda = hs_get_zero(memory, 1, sizeof *cuda);
    *device = NULL;
    if (!cuda)
        return hs_fail(message, HSUMMA_ERR_MEMORY, "no memory for a device");
    cuda->device = (struct hs_device){.kind = &hs_device_cuda, .memory = memory};
    hsumma_status status = choose(number, local_rank, &cuda->number, message);
    if (!status)
        status = hs_cublas_load(&cuda->blas, message);
    if (!status)
        status = take_context(cuda, message);
    if (!status) {
        struct hs_cuda_visit visit = hs_cuda_enter(&cuda->device);
        if (!visit.status)
            visit.status = look(cuda);
        status = hs_cuda_leave(&visit);
        if (status)
            *message = cuda->device.message;
    }
    if (status)
        close_cuda(&cuda->device);
    else
        *device = &cuda->device;
    return status;
}

const struct hs_device_kind hs_device_cuda = {
    .name = "cuda",
    .open = open_cuda,
    .close = close_cuda,
    .get = hs_cuda_get,
    .put = hs_cuda_put,
    .get_pinned = hs_cuda_get_pinned,
    .put_pinned = hs_cuda_put_pinned,
    .classify = hs_cuda_classify,
    .memory_left = hs_cuda_memory_left,
    .export_memory = hs_cuda_export_memory,
    .import_memory = hs_cuda_import_memory,
    .unmap = hs_cuda_unmap,
    .export_event = hs_cuda_export_event,
    .import_event = hs_cuda_import_event,
    .make_stream = hs_cuda_make_stream,
    .adopt_stream = hs_cuda_adopt_stream,
    .show_stream = hs_cuda_show_stream,
    .free_stream = hs_cuda_free_stream,
    .make_event = hs_cuda_make_event,
    .free_event = hs_cuda_free_event,
    .record = hs_cuda_record,
    .wait = hs_cuda_wait,
    .complete = hs_cuda_complete,
    .synchronize = hs_cuda_synchronize,
    .copy = hs_cuda_copy,
    .copy_block = hs_cuda_copy_block,
    .combine = hs_cuda_combine,
    .update = hs_cuda_update,
    .gemm = hs_cuda_gemm,
};
