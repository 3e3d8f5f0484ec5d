/* The fake of cuda_runtime_api.h: devices, errors, memory. */
#include "device/fake_cuda/objects.h"

#include <stdio.h>
#include <string.h>

const char *cudaGetErrorName(cudaError_t error)
{
#define ROW(name)   \
    {               \
        name, #name \
    }
    static const struct {
        cudaError_t error;
        const char *name;
    } names[] = {ROW(cudaSuccess),
                 ROW(cudaErrorInvalidValue),
                 ROW(cudaErrorMemoryAllocation),
                 ROW(cudaErrorInsufficientDriver),
                 ROW(cudaErrorNoDevice),
                 ROW(cudaErrorInvalidDevice),
                 ROW(cudaErrorDeviceUninitialized),
                 ROW(cudaErrorInvalidResourceHandle),
                 ROW(cudaErrorNotReady),
                 ROW(cudaErrorIllegalAddress),
                 ROW(cudaErrorPeerAccessUnsupported),
                 ROW(cudaErrorPeerAccessAlreadyEnabled),
                 ROW(cudaErrorLaunchFailure),
                 ROW(cudaErrorNotSupported),
                 ROW(cudaErrorInvalidPitchValue),
                 ROW(cudaErrorMapBufferObjectFailed),
                 ROW(cudaErrorNoKernelImageForDevice),
                 ROW(cudaErrorNotPermitted),
                 ROW(cudaErrorSystemDriverMismatch),
                 ROW(cudaErrorInvalidMemcpyDirection),
                 ROW(cudaErrorUnknown)};
#undef ROW
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].error == error)
            return names[i].name;
    return "unrecognized error code";
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
    cudaError_t error = fake_ask("cudaGetDeviceCount", cudaErrorNoDevice);
    *count = error ? 0 : fake_cuda.devices;
    return error;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *is, int device)
{
    cudaError_t error = fake_ask("cudaGetDeviceProperties", cudaErrorInvalidDevice);
    memset(is, 0, sizeof *is);
    if (error || device < 0 || device >= fake_cuda.devices)
        return error ? error : fake_error(cudaErrorInvalidDevice);
    snprintf(is->name, sizeof is->name, "fake of a GPU");
    is->pciBusID = 16 + device;
    is->uuid.bytes[0] = (char)(100 + device);
    is->major = 8;
    is->memPitch = 1 << 20;
    return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version)
{
    *version = fake_cuda.driver;
    return fake_ask("cudaDriverGetVersion", cudaErrorInvalidValue);
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
    cudaError_t error = fake_ask("cudaDeviceGetAttribute", cudaErrorInvalidDevice);
    *value = 0;
    if (device < 0 || device >= fake_cuda.devices)
        error = fake_error(cudaErrorInvalidDevice);
    else if (attribute == cudaDevAttrIpcEventSupport)
        *value = fake_cuda.shares_events;
    else if (attribute == cudaDevAttrUnifiedAddressing)
        *value = 1;
    else if (attribute == cudaDevAttrMaxPitch)
        *value = 1 << 20;
    return error;
}

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    *can = fake_cuda.peers && device != peer;
    return fake_ask("cudaDeviceCanAccessPeer", cudaErrorInvalidDevice);
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
    static int enabled[FAKE_DEVICES][FAKE_DEVICES];
    cudaError_t error = fake_begin("cudaDeviceEnablePeerAccess");
    if (error || flags || !fake_cuda.peers || peer == fake_cuda_current())
        return error ? error : fake_error(cudaErrorPeerAccessUnsupported);
    return fake_error(enabled[fake_cuda_current()][peer]++ ? cudaErrorPeerAccessAlreadyEnabled : cudaSuccess);
}

cudaError_t cudaInitDevice(int device, unsigned device_flags, unsigned flags)
{
    (void)device, (void)device_flags, (void)flags;
    return fake_ask("cudaInitDevice", cudaErrorInvalidDevice);
}

#if CUDART_VERSION >= 12050
cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned version,
                                             unsigned long long flags, enum cudaDriverEntryPointQueryResult *found)
{
    cudaError_t error = fake_ask("cudaGetDriverEntryPointByVersion", cudaErrorInvalidValue);
    (void)version, (void)flags;
#else
cudaError_t cudaGetDriverEntryPoint(const char *name, void **function, unsigned long long flags,
                                    enum cudaDriverEntryPointQueryResult *found)
{
    cudaError_t error = fake_ask("cudaGetDriverEntryPoint", cudaErrorInvalidValue);
    (void)flags;
#endif
    *function = NULL;
    if (!error)
        *found = fake_driver_symbol(name, function) ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
    return error;
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
    return error;
}

cudaError_t cudaFree(void *memory)
{
    return memory ? fake_take_back("cudaFree", FAKE_MEMORY, memory) : fake_begin("cudaFree");
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
    return error;
}

cudaError_t cudaFreeHost(void *memory)
{
    return fake_take_back("cudaFreeHost", FAKE_PINNED, memory);
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *is, const void *address)
{
    cudaError_t error = fake_begin("cudaPointerGetAttributes");
    const struct fake_object *object = fake_memory_at(address);
    memset(is, 0, sizeof *is);
    if (error)
        return error;
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
    return error;
}
