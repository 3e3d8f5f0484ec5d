/* cuda_runtime_api.h: devices, errors, memory. */
#include "device/fake_cuda/objects.h"

#include <stdio.h>
#include <string.h>

#define ERROR_LIST(row)                                                                                                \
    row(cudaSuccess) row(cudaErrorInvalidValue) row(cudaErrorMemoryAllocation) row(cudaErrorInsufficientDriver)        \
        row(cudaErrorNoDevice) row(cudaErrorInvalidDevice) row(cudaErrorDeviceUninitialized)                           \
            row(cudaErrorInvalidResourceHandle) row(cudaErrorNotReady) row(cudaErrorIllegalAddress)                    \
                row(cudaErrorPeerAccessUnsupported) row(cudaErrorPeerAccessAlreadyEnabled) row(cudaErrorLaunchFailure) \
                    row(cudaErrorNotSupported) row(cudaErrorInvalidPitchValue) row(cudaErrorMapBufferObjectFailed)     \
                        row(cudaErrorNoKernelImageForDevice) row(cudaErrorNotPermitted)                                \
                            row(cudaErrorSystemDriverMismatch) row(cudaErrorInvalidMemcpyDirection)                    \
                                row(cudaErrorUnknown)

const char *cudaGetErrorName(cudaError_t error)
{
#define ROW(name) \
    case name:    \
        return #name;
    switch (error) {
        ERROR_LIST(ROW)
    default:
        return "unrecognized error code";
    }
#undef ROW
}

const char *cudaGetErrorString(cudaError_t error)
{
    return error == cudaSuccess ? "no error" : "as ordered, or found, by the fake";
}

cudaError_t cudaGetLastError(void)
{
    cudaError_t last = (cudaError_t)fake_cuda.last;
    fake_cuda.last = cudaSuccess;
    return last;
}

cudaError_t cudaGetDeviceCount(int *count)
{
    int error = fake_hit("cudaGetDeviceCount", cudaErrorNoDevice);
    *count = error ? 0 : fake_cuda.devices;
    return fake_error((cudaError_t)error);
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *is, int device)
{
    int error = fake_hit("cudaGetDeviceProperties", cudaErrorInvalidDevice);
    memset(is, 0, sizeof *is);
    if (error || device < 0 || device >= fake_cuda.devices)
        return fake_error(error ? (cudaError_t)error : cudaErrorInvalidDevice);
    snprintf(is->name, sizeof is->name, "fake of a GPU");
    is->pciBusID = 16 + device;
    is->uuid.bytes[0] = (char)(100 + device);
    is->major = 8;
    is->memPitch = 1 << 20;
    return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version)
{
    int error = fake_hit("cudaDriverGetVersion", cudaErrorInvalidValue);
    *version = fake_cuda.driver;
    return fake_error((cudaError_t)error);
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
    int error = fake_hit("cudaDeviceGetAttribute", cudaErrorInvalidDevice);
    *value = 0;
    if (device < 0 || device >= fake_cuda.devices)
        error = cudaErrorInvalidDevice;
    else if (attribute == cudaDevAttrIpcEventSupport)
        *value = fake_cuda.shares_events;
    else if (attribute == cudaDevAttrUnifiedAddressing)
        *value = 1;
    else if (attribute == cudaDevAttrMaxPitch)
        *value = 1 << 20;
    return fake_error((cudaError_t)error);
}

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    int error = fake_hit("cudaDeviceCanAccessPeer", cudaErrorInvalidDevice);
    *can = fake_cuda.peers && device != peer;
    return fake_error((cudaError_t)error);
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
    static int enabled[FAKE_DEVICES][FAKE_DEVICES];
    int error = fake_begin("cudaDeviceEnablePeerAccess");
    if (error || flags || !fake_cuda.peers || peer == fake_cuda_current())
        return fake_error(error ? (cudaError_t)error : cudaErrorPeerAccessUnsupported);
    int *is = &enabled[fake_cuda_current()][peer];
    *is += 1;
    return fake_error(*is > 1 ? cudaErrorPeerAccessAlreadyEnabled : cudaSuccess);
}

#if CUDART_VERSION >= 12000
cudaError_t cudaInitDevice(int device, unsigned device_flags, unsigned flags)
{
    cudaError_t error = (cudaError_t)fake_hit("cudaInitDevice", cudaErrorInvalidDevice);
    (void)device, (void)device_flags, (void)flags;
    return fake_error(error);
}
#endif

#if CUDART_VERSION >= 12050
cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned version,
                                             unsigned long long flags, enum cudaDriverEntryPointQueryResult *found)
{
    int error = fake_hit("cudaGetDriverEntryPointByVersion", cudaErrorInvalidValue);
    (void)version, (void)flags;
#else
cudaError_t cudaGetDriverEntryPoint(const char *name, void **function, unsigned long long flags,
                                    enum cudaDriverEntryPointQueryResult *found)
{
    int error = fake_hit("cudaGetDriverEntryPoint", cudaErrorInvalidValue);
    (void)flags;
#endif
    *function = NULL;
    if (!error)
        *found = fake_driver_symbol(name, function) ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
    return fake_error((cudaError_t)error);
}

cudaError_t cudaMalloc(void **memory, size_t bytes)
{
    struct hs_device *host = fake_host();
    cudaError_t error = fake_begin("cudaMalloc");
    *memory = NULL;
    if (!error)
        error = fake_said(host->kind->get(host, bytes, memory), cudaErrorIllegalAddress);
    if (!error)
        fake_add(FAKE_MEMORY, *memory, bytes, 0);
    return fake_error(error);
}

/* An error of a release is one of earlier work: it has been done. */
cudaError_t cudaFree(void *memory)
{
    struct hs_device *host = fake_host();
    cudaError_t error = fake_begin("cudaFree");
    struct fake_object *object = fake_find(FAKE_MEMORY, memory);
    if (!memory)
        return fake_error(error);
    if (!object) {
        fake_fault("cudaFree: %p is not what cudaMalloc has given", memory);
        return fake_error(cudaErrorInvalidValue);
    }
    fake_remove(object);
    host->kind->put(host, memory);
    return fake_error(error);
}

cudaError_t cudaHostAlloc(void **memory, size_t bytes, unsigned flags)
{
    struct hs_device *host = fake_host();
    cudaError_t error = fake_begin("cudaHostAlloc");
    *memory = NULL;
    if (!error)
        error = fake_said(host->kind->get_pinned(host, bytes, memory), cudaErrorIllegalAddress);
    if (!error)
        fake_add(FAKE_PINNED, *memory, bytes, flags);
    return fake_error(error);
}

cudaError_t cudaFreeHost(void *memory)
{
    struct hs_device *host = fake_host();
    cudaError_t error = fake_begin("cudaFreeHost");
    struct fake_object *object = fake_find(FAKE_PINNED, memory);
    if (!object) {
        fake_fault("cudaFreeHost: %p is not what cudaHostAlloc has given", memory);
        return fake_error(cudaErrorInvalidValue);
    }
    fake_remove(object);
    host->kind->put_pinned(host, memory);
    return fake_error(error);
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *is, const void *address)
{
    cudaError_t error = fake_begin("cudaPointerGetAttributes");
    const struct fake_object *object = fake_memory_at(address);
    memset(is, 0, sizeof *is);
    if (error)
        return fake_error(error);
    is->type = !object                       ? cudaMemoryTypeUnregistered
               : object->kind == FAKE_PINNED ? cudaMemoryTypeHost
                                             : cudaMemoryTypeDevice;
    is->device = object ? object->device : -2;
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *left, size_t *total)
{
    struct hs_device *host = fake_host();
    cudaError_t error = fake_begin("cudaMemGetInfo");
    int64_t is[2] = {0, 0};
    if (!error)
        error = fake_said(host->kind->memory_left(host, &is[0], &is[1]), cudaErrorIllegalAddress);
    *left = (size_t)is[0];
    *total = (size_t)is[1];
    return fake_error(error);
}
