#include "gpu/cuda.h"

/* Allocations are whole blocks of the driver: exporting a small one would expose the others in its block. */
static const size_t driver_block = (size_t)2 << 20;

static struct hs_cuda_block *block_at(const struct hs_cuda *cuda, const void *address)
{
    struct hs_cuda_block *block = cuda->block;
    while (block && (uintptr_t)address - (uintptr_t)block->base >= block->bytes)
        block = block->next;
    return block;
}

struct hs_cuda_block *hs_cuda_block_of(const struct hs_cuda *cuda, const void *base, int imported)
{
    struct hs_cuda_block *block = cuda->block;
    while (block && (block->base != base || imported != (block->importers > 0)))
        block = block->next;
    return block;
}

hsumma_status hs_cuda_get(struct hs_device *device, size_t bytes, void **memory)
{
    struct hs_cuda *cuda = hs_cuda_of(device);
    struct hs_cuda_block *block = hs_get_zero(device->memory, 1, sizeof *block);
    size_t whole = bytes ? bytes + (driver_block - bytes % driver_block) % driver_block : driver_block;
    *memory = NULL;
    if (!block || whole < bytes) {
        hs_put(device->memory, block);
        return hs_fail(&device->message, HSUMMA_ERR_MEMORY,
                       "no host memory to record an allocation of %zu bytes on a GPU", bytes);
    }
    struct hs_cuda_visit visit = hs_cuda_enter(device);
    if (!visit.status) {
        visit.status = HS_CUDA_TRY(cuda, cudaMalloc, memory, whole);
        if (visit.status == HSUMMA_ERR_MEMORY) {
            size_t free = 0, total = 0;
            if (cudaMemGetInfo(&free, &total) != cudaSuccess)
                cudaGetLastError();
            hs_fail(&device->message, visit.status,
                    "cudaMalloc: cudaErrorMemoryAllocation (out of memory): %zu bytes; %zu of %zu are free on %s",
                    whole, free, total, device->name);
        }
    }
    if (hs_cuda_leave(&visit)) {
        hs_put(device->memory, block);
        *memory = NULL;
        return visit.status;
    }
    *block = (struct hs_cuda_block){.next = cuda->block, .base = *memory, .bytes = whole};
    cuda->block = block;
    return HSUMMA_OK;
}

/* Errors of a release are ignored: at process exit the driver may already be shut down. */
void hs_cuda_release(struct hs_cuda *cuda, struct hs_cuda_block *block)
{
    struct hs_cuda_block **link = &cuda->block;
    while (*link != block)
        link = &(*link)->next;
    *link = block->next;
    struct hs_cuda_visit visit = hs_cuda_enter(&cuda->device);
    if (!visit.status) {
        cudaDeviceSynchronize();
        if (block->importers)
            cudaIpcCloseMemHandle(block->base);
        else
            cudaFree(block->base);
        cudaGetLastError();
    }
    hs_cuda_leave(&visit);
    hs_put(cuda->device.memory, block);
}

void hs_cuda_put(struct hs_device *device, void *memory)
{
    struct hs_cuda *cuda = hs_cuda_of(device);
    struct hs_cuda_block *block = hs_cuda_block_of(cuda, memory, 0);
    if (block)
        hs_cuda_release(cuda, block);
}

hsumma_status hs_cuda_get_pinned(struct hs_device *device, size_t bytes, void **memory)
{
    struct hs_cuda_visit visit = hs_cuda_enter(device);
    *memory = NULL;
    HS_CUDA_CALL(visit, cudaHostAlloc, memory, bytes ? bytes : 1, cudaHostAllocPortable);
    return hs_cuda_leave(&visit);
}

void hs_cuda_put_pinned(struct hs_device *device, void *memory)
{
    if (!memory)
        return;
    struct hs_cuda_visit visit = hs_cuda_enter(device);
    if (!visit.status) {
        cudaDeviceSynchronize();
        cudaFreeHost(memory);
        cudaGetLastError();
    }
    hs_cuda_leave(&visit);
}

hsumma_status hs_cuda_reach(struct hs_cuda *cuda, int other)
{
    int can = 0;
    if (other == cuda->number)
        return HSUMMA_OK;
    hsumma_status status = HS_CUDA_TRY(cuda, cudaDeviceCanAccessPeer, &can, cuda->number, other);
    if (!status && !can)
        status = hs_fail(&cuda->device.message, HSUMMA_ERR_DEVICE,
                         "cudaDeviceCanAccessPeer: GPU %d cannot reach the memory of GPU %d", cuda->number, other);
    if (!status) {
        cudaError_t error = cudaDeviceEnablePeerAccess(other, 0);
        if (error == cudaErrorPeerAccessAlreadyEnabled)
            cudaGetLastError();
        else
            status = hs_cuda_said(&cuda->device.message, "cudaDeviceEnablePeerAccess", error);
    }
    return status;
}

enum hs_memory_kind hs_cuda_classify(struct hs_device *device, const void *address)
{
    struct hs_cuda *cuda = hs_cuda_of(device);
    const struct hs_cuda_block *block = block_at(cuda, address);
    struct cudaPointerAttributes is = {.type = cudaMemoryTypeUnregistered};
    if (block)
        return block->importers ? HS_MEMORY_OTHER : HS_MEMORY_DEVICE;
    if (!address)
        return HS_MEMORY_HOST;
    struct hs_cuda_visit visit = hs_cuda_enter(device);
    if (visit.status)
        return HS_MEMORY_HOST;
    if (HS_CUDA_TRY(cuda, cudaPointerGetAttributes, &is, address))
        is.type = cudaMemoryTypeUnregistered;
    if (is.type == cudaMemoryTypeDevice && is.device != cuda->number)
        hs_cuda_reach(cuda, is.device); /* if this fails, the first work on that memory reports the error */
    hs_cuda_leave(&visit);
    if (is.type == cudaMemoryTypeDevice)
        return is.device == cuda->number ? HS_MEMORY_DEVICE : HS_MEMORY_OTHER;
    return is.type == cudaMemoryTypeManaged ? HS_MEMORY_OTHER
           : is.type == cudaMemoryTypeHost  ? HS_MEMORY_PINNED
                                            : HS_MEMORY_HOST;
}

hsumma_status hs_cuda_memory_left(struct hs_device *device, int64_t *free, int64_t *total)
{
    size_t now = 0, all = 0;
    struct hs_cuda_visit visit = hs_cuda_enter(device);
    HS_CUDA_CALL(visit, cudaMemGetInfo, &now, &all);
    *free = (int64_t)now;
    *total = (int64_t)all;
    return hs_cuda_leave(&visit);
}
