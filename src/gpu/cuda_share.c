#include "gpu/cuda.h"

#include <assert.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The contents of an hs_exported.  A process cannot open its own CUDA handles, and uses the address instead. */
struct cuda_export {
    union {
        cudaIpcMemHandle_t memory;
        cudaIpcEventHandle_t event;
    } handle;
    char location[64];       /* location of the exporting device */
    int64_t process, space;  /* id of the exporting process, and its pid namespace */
    uint64_t address, bytes; /* address and size of the memory, in the exporting process */
};
static_assert(sizeof(struct cuda_export) <= sizeof(struct hs_exported), "an export has room for CUDA's handles");

static int64_t process_space(void)
{
    struct stat is;
    return stat("/proc/self/ns/pid", &is) == 0 ? (int64_t)is.st_ino : 0;
}

/* Adds the location, process, address and size, which CUDA's handle does not contain, and stores the export. */
static void describe(const struct hs_device *device, struct cuda_export *exported_as, const void *address, size_t bytes,
                     struct hs_exported *exported)
{
    memcpy(exported_as->location, device->location, sizeof exported_as->location);
    exported_as->process = getpid();
    exported_as->space = process_space();
    exported_as->address = (uintptr_t)address;
    exported_as->bytes = bytes;
    memcpy(exported, exported_as, sizeof *exported_as);
}

static int is_mine(const struct cuda_export *exported_as)
{
    return exported_as->process == getpid() && exported_as->space == process_space();
}

hsumma_status hs_cuda_export_memory(struct hs_device *device, void *memory, struct hs_exported *exported)
{
    const struct hs_cuda_block *block = hs_cuda_block_of(hs_cuda_of(device), memory, 0);
    struct cuda_export exported_as = {.bytes = 0};
    memset(exported, 0, sizeof *exported);
    if (!block)
        return hs_fail(&device->message, HSUMMA_ERR_DEVICE,
                       "memory at %p cannot be exported: it is not the start of an allocation of this device", memory);
    struct hs_cuda_visit visit = hs_cuda_enter(device);
    HS_CUDA_CALL(visit, cudaIpcGetMemHandle, &exported_as.handle.memory, memory);
    if (!visit.status)
        describe(device, &exported_as, memory, block->bytes, exported);
    return hs_cuda_leave(&visit);
}

/* Extends the message by the process and GPU that own the memory or event. */
static hsumma_status cannot(struct hs_device *device, hsumma_status status, const char *what,
                            const struct cuda_export *exported_as)
{
    struct hs_message why = device->message;
    return hs_fail(&device->message, status,
                   "%.250s: %s of process %lld on GPU %.64s (in another container, of another user, or ended?)",
                   why.text, what, (long long)exported_as->process, exported_as->location);
}

/* Enables access to the exporting device, if it is another one that this process sees.  The context is current. */
static hsumma_status allow(struct hs_cuda *cuda, const struct cuda_export *exported_as)
{
    int other =
        strcmp(exported_as->location, cuda->device.location) == 0 ? cuda->number : hs_cuda_find(exported_as->location);
    return other < 0 ? HSUMMA_OK : hs_cuda_reach(cuda, other);
}

/* Maps an exported allocation. If it is imported several times, it is mapped only once. */
static hsumma_status map(struct hs_cuda *cuda, const struct cuda_export *exported_as, void **memory)
{
    struct hs_device *device = &cuda->device;
    struct hs_cuda_block *block = cuda->block;
    while (block &&
           (!block->importers || memcmp(&block->handle, &exported_as->handle.memory, sizeof block->handle) != 0))
        block = block->next;
    if (block) {
        block->importers++;
        *memory = block->base;
        return HSUMMA_OK;
    }
    block = hs_get_zero(device->memory, 1, sizeof *block);
    if (!block)
        return hs_fail(&device->message, HSUMMA_ERR_MEMORY, "no memory for a mapping");
    hsumma_status status =
        HS_CUDA_TRY(cuda, cudaIpcOpenMemHandle, memory, exported_as->handle.memory, cudaIpcMemLazyEnablePeerAccess);
    if (status) {
        hs_put(device->memory, block);
        *memory = NULL;
        return cannot(device, status, "memory", exported_as);
    }
    *block = (struct hs_cuda_block){cuda->block, *memory, exported_as->bytes, 1, exported_as->handle.memory};
    cuda->block = block;
    return HSUMMA_OK;
}

hsumma_status hs_cuda_import_memory(struct hs_device *device, const struct hs_exported *exported, void **memory)
{
    struct cuda_export exported_as;
    *memory = NULL;
    memcpy(&exported_as, exported, sizeof exported_as);
    struct hs_cuda_visit visit = hs_cuda_enter(device);
    if (!visit.status)
        visit.status = allow(visit.cuda, &exported_as);
    if (!visit.status && is_mine(&exported_as))
        *memory = (void *)(uintptr_t)exported_as.address;
    else if (!visit.status)
        visit.status = map(visit.cuda, &exported_as, memory);
    return hs_cuda_leave(&visit);
}

hsumma_status hs_cuda_export_event(struct hs_device *device, struct hs_event *event, struct hs_exported *exported)
{
    struct cuda_export exported_as = {.bytes = 0};
    memset(exported, 0, sizeof *exported);
    struct hs_cuda_visit visit = hs_cuda_enter(device);
    HS_CUDA_CALL(visit, cudaIpcGetEventHandle, &exported_as.handle.event, event->event);
    if (!visit.status)
        describe(device, &exported_as, event->event, 0, exported);
    return hs_cuda_leave(&visit);
}

hsumma_status hs_cuda_import_event(struct hs_device *device, const struct hs_exported *exported,
                                   struct hs_event **event)
{
    struct cuda_export exported_as;
    memcpy(&exported_as, exported, sizeof exported_as);
    *event = hs_get_zero(device->memory, 1, sizeof **event);
    if (!*event)
        return hs_fail(&device->message, HSUMMA_ERR_MEMORY, "no memory for an event");
    if (is_mine(&exported_as)) {
        **event = (struct hs_event){(cudaEvent_t)(uintptr_t)exported_as.address, 1};
        return HSUMMA_OK;
    }
    struct hs_cuda_visit visit = hs_cuda_enter(device);
    if (!visit.status) {
        visit.status = HS_CUDA_TRY(visit.cuda, cudaIpcOpenEventHandle, &(*event)->event, exported_as.handle.event);
        if (visit.status)
            cannot(device, visit.status, "an event", &exported_as);
    }
    if (visit.status) {
        hs_put(device->memory, *event);
        *event = NULL;
    }
    return hs_cuda_leave(&visit);
}

void hs_cuda_unmap(struct hs_device *device, void *imported)
{
    struct hs_cuda *cuda = hs_cuda_of(device);
    struct hs_cuda_block *block = hs_cuda_block_of(cuda, imported, 1);
    if (!block)
        return; /* this process's own allocation */
    if (block->importers > 1)
        block->importers--;
    else
        hs_cuda_release(cuda, block);
}
