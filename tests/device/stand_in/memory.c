/* Memory of the stand-in: unnamed files, which the node's processes map through /proc. */
#include "device/stand_in/parts.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The contents of an exported handle. They must fit into the IPC handles of the fake CUDA (fake_cuda/streams.c). */
struct host_export {
    int64_t process, drive, inode, bytes, offset, file;
};
_Static_assert(sizeof(struct host_export) <= 64 && sizeof(struct host_export) <= sizeof(struct hs_exported), "fits");

/* Adds a block that describes the memory `is`; NULL if there is no memory for the description. */
static struct host_block *add(struct host_device *own, const struct host_block *is)
{
    struct host_block *block = hs_get(own->device.memory, 1, sizeof *block);
    if (!block)
        return NULL;
    *block = *is;
    block->next = own->block;
    own->block = block;
    return block;
}

/* Makes a file whose `bytes` bytes are really available; returns -1 on failure. Without that check, exceeding the
 * machine's memory would kill processes. */
static int make_file(size_t bytes)
{
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    if (pages > 0 && page > 0 && bytes / (size_t)page > (size_t)pages)
        return -1;
    int file = memfd_create("hsumma", MFD_CLOEXEC);
    if (file >= 0 && (ftruncate(file, (off_t)bytes) || posix_fallocate(file, 0, (off_t)bytes))) {
        close(file);
        return -1;
    }
    return file;
}

/* Maps a file as a block; on failure closes it and returns NULL. The file of another process is locked while mapped. */
static struct host_block *add_file(struct host_device *own, int file, size_t bytes, enum hs_memory_kind kind,
                                   int of_events)
{
    struct host_block *block = NULL;
    struct stat is;
    if (file < 0)
        return NULL;
    char *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (base != MAP_FAILED && fstat(file, &is) == 0 &&
        (kind == HS_MEMORY_DEVICE || flock(file, LOCK_SH | LOCK_NB) == 0))
        block = add(own, &(struct host_block){.base = base,
                                              .bytes = bytes,
                                              .kind = kind,
                                              .file = file,
                                              .uses = 1,
                                              .drive = (int64_t)is.st_dev,
                                              .inode = (int64_t)is.st_ino,
                                              .of_events = of_events});
    if (!block && base != MAP_FAILED)
        munmap(base, bytes);
    if (!block)
        close(file);
    return block;
}

hsumma_status host_block_get(struct host_device *own, size_t bytes, int of_events, struct host_block **block)
{
    bytes = bytes ? bytes : 1;
    *block = NULL;
    if (!of_events && (int64_t)bytes > own->policy.memory - own->used)
        return hs_fail(&own->device.message, HSUMMA_ERR_MEMORY,
                       "%zu bytes of device memory: %" PRId64 " of %" PRId64 " are left", bytes,
                       own->policy.memory - own->used, own->policy.memory);
    *block = add_file(own, make_file(bytes), bytes, HS_MEMORY_DEVICE, of_events);
    if (!*block)
        return hs_fail(&own->device.message, HSUMMA_ERR_MEMORY, "%zu bytes of shared memory cannot be had", bytes);
    if (!of_events) {
        memset((*block)->base, 0xff, bytes); /* NaN, which shows reads of uninitialised memory */
        own->used += (int64_t)bytes;
    }
    return HSUMMA_OK;
}

hsumma_status host_get(struct hs_device *device, size_t bytes, void **memory)
{
    struct host_device *own = host_enter(device);
    struct host_block *block = NULL;
    hsumma_status status = own->wrong ? own->wrong : host_block_get(own, bytes, 0, &block);
    *memory = block ? block->base : NULL;
    return host_leave(own, status);
}

hsumma_status host_get_pinned(struct hs_device *device, size_t bytes, void **memory)
{
    struct host_device *own = host_enter(device);
    hsumma_status status = own->wrong;
    bytes = bytes ? bytes : 1;
    *memory = status ? NULL : hs_get(device->memory, bytes, 1);
    if (!status && !(*memory && add(own, &(struct host_block){
                                             .base = *memory, .bytes = bytes, .kind = HS_MEMORY_PINNED, .file = -1}))) {
        hs_put(device->memory, *memory);
        *memory = NULL;
        status = hs_fail(&device->message, HSUMMA_ERR_MEMORY, "%zu bytes of pinned memory cannot be had", bytes);
    }
    return host_leave(own, status);
}

/* Reports an error if another process still maps the block. */
static void check_free(struct host_device *own, const struct host_block *block)
{
    if (block->kind == HS_MEMORY_DEVICE && !block->of_events && !own->wrong && flock(block->file, LOCK_EX | LOCK_NB))
        own->wrong =
            hs_fail(&own->why, HSUMMA_ERR_DEVICE, "%p, %zu bytes, is freed while another process has it mapped",
                    (void *)block->base, block->bytes);
}

void host_block_put(struct host_device *own, struct host_block *block)
{
    struct host_block **link = &own->block;
    if (block->kind == HS_MEMORY_OTHER && --block->uses > 0)
        return;
    check_free(own, block);
    while (*link != block)
        link = &(*link)->next;
    *link = block->next;
    if (block->kind == HS_MEMORY_PINNED)
        hs_put(own->device.memory, block->base);
    else
        munmap(block->base, block->bytes);
    if (block->file >= 0)
        close(block->file);
    own->used -= block->kind == HS_MEMORY_DEVICE && !block->of_events ? (int64_t)block->bytes : 0;
    hs_put(own->device.memory, block);
}

static struct host_block *block_of(const struct host_device *own, const void *address)
{
    for (struct host_block *block = own->block; block; block = block->next)
        if ((uintptr_t)address - (uintptr_t)block->base < block->bytes)
            return block->of_events ? NULL : block;
    return NULL;
}

/* The block that starts at an address, or NULL. */
static struct host_block *block_at(const struct host_device *own, const void *base)
{
    struct host_block *block = block_of(own, base);
    return block && block->base == base ? block : NULL;
}

void host_put(struct hs_device *device, void *memory)
{
    if (!memory)
        return;
    struct host_device *own = host_enter(device);
    host_finish(own, NULL);
    struct host_block *block = block_at(own, memory);
    if (block)
        host_block_put(own, block);
    host_leave(own, HSUMMA_OK);
}

/* Does not wait for work that uses the memory; such work fails. */
void host_unmap(struct hs_device *device, void *imported)
{
    if (!imported)
        return;
    struct host_device *own = host_enter(device);
    struct host_block *block = block_at(own, imported);
    if (block && block->kind == HS_MEMORY_OTHER)
        host_block_put(own, block);
    host_leave(own, HSUMMA_OK);
}

enum hs_memory_kind host_classify(struct hs_device *device, const void *address)
{
    struct host_device *own = host_enter(device);
    const struct host_block *block = block_of(own, address);
    enum hs_memory_kind kind = block ? block->kind : HS_MEMORY_HOST;
    host_leave(own, HSUMMA_OK);
    return kind;
}

hsumma_status host_memory_left(struct hs_device *device, int64_t *left, int64_t *total)
{
    struct host_device *own = host_enter(device);
    int64_t most = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE) / 4;
    *total = own->policy.memory < most ? own->policy.memory : most;
    *left = own->used < *total ? *total - own->used : 0;
    return host_leave(own, own->wrong);
}

hsumma_status host_copies(const struct host_device *own, const char *what, const void *address, int64_t bytes,
                          struct hs_message *message)
{
    const struct host_block *block = block_of(own, address);
    int64_t left = block ? (int64_t)block->bytes - ((const char *)address - block->base) : INT64_MAX;
    if (bytes <= left)
        return HSUMMA_OK;
    return hs_fail(message, HSUMMA_ERR_DEVICE, "%s: %p, of which %" PRId64 " bytes are used, has only %" PRId64, what,
                   address, bytes, left);
}

hsumma_status host_reaches(const struct host_device *own, const char *what, const void *address, int64_t bytes,
                           struct hs_message *message)
{
    const struct host_block *block = block_of(own, address);
    if (bytes > 0 && (!block || !hs_memory_is_reachable(block->kind)))
        return hs_fail(message, HSUMMA_ERR_DEVICE, "%s: %p is not of the device, nor mapped", what, address);
    return host_copies(own, what, address, bytes, message);
}

hsumma_status host_block_export(struct host_device *own, const struct host_block *block, int64_t offset,
                                struct hs_exported *exported)
{
    memset(exported, 0, sizeof *exported);
    if (!block || block->kind != HS_MEMORY_DEVICE)
        return hs_fail(&own->device.message, HSUMMA_ERR_DEVICE,
                       "only what this device has given can be exported, by the address that it gave");
    struct host_export exported_as = {getpid(), block->drive, block->inode, (int64_t)block->bytes, offset, block->file};
    memcpy(exported, &exported_as, sizeof exported_as);
    return HSUMMA_OK;
}

hsumma_status host_export_memory(struct hs_device *device, void *memory, struct hs_exported *exported)
{
    struct host_device *own = host_enter(device);
    hsumma_status status = own->wrong ? own->wrong : host_block_export(own, block_at(own, memory), 0, exported);
    return host_leave(own, status);
}

/* Opens the file of another process's memory; returns -1 if it no longer exists. */
static int open_file(const struct host_export *exported_as)
{
    struct stat is;
    char path[64];
    snprintf(path, sizeof path, "/proc/%" PRId64 "/fd/%d", exported_as->process, (int)exported_as->file);
    int file = open(path, O_RDWR | O_CLOEXEC);
    if (file >= 0 && fstat(file, &is) == 0 && (int64_t)is.st_dev == exported_as->drive &&
        (int64_t)is.st_ino == exported_as->inode)
        return file;
    if (file >= 0)
        close(file);
    return -1;
}

/* The block for an exported file, if this process has made or mapped it already. */
static struct host_block *known(struct host_device *own, const struct host_export *exported_as)
{
    int is_own = exported_as->process == getpid();
    struct host_block *block = own->block;
    while (block && (block->drive != exported_as->drive || block->inode != exported_as->inode ||
                     block->kind != (is_own ? HS_MEMORY_DEVICE : HS_MEMORY_OTHER)))
        block = block->next;
    return block;
}

hsumma_status host_block_import(struct host_device *own, const struct hs_exported *exported, int of_events,
                                struct host_block **block, int64_t *offset, int64_t *process)
{
    struct host_export exported_as;
    *block = NULL;
    memcpy(&exported_as, exported, sizeof exported_as);
    *offset = exported_as.offset;
    *process = exported_as.process == getpid() ? 0 : exported_as.process;
    if (own->policy.no_ipc && !of_events && *process)
        return hs_fail(&own->device.message, HSUMMA_ERR_DEVICE, "memory of other processes cannot be mapped (noipc)");
    *block = known(own, &exported_as);
    if (*block)
        (*block)->uses++;
    else if (*process)
        *block = add_file(own, open_file(&exported_as), (size_t)exported_as.bytes, HS_MEMORY_OTHER, of_events);
    return *block ? HSUMMA_OK
                  : hs_fail(&own->device.message, HSUMMA_ERR_DEVICE, "memory of process %" PRId64 " cannot be mapped",
                            exported_as.process);
}

hsumma_status host_import_memory(struct hs_device *device, const struct hs_exported *exported, void **memory)
{
    struct host_device *own = host_enter(device);
    struct host_block *block = NULL;
    int64_t offset, process;
    hsumma_status status = own->wrong;
    if (!status)
        status = host_block_import(own, exported, 0, &block, &offset, &process);
    *memory = block ? block->base : NULL;
    return host_leave(own, status);
}
