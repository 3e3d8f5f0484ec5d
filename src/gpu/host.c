/*
 * The device "host": memory that processes of the node can map, and streams whose work is done as it is put on them.
 * An event is over as soon as it has been recorded, so that there is nothing to wait for.
 */
#include "base/operators.h"
#include "base/scalar.h"
#include "gpu/devices.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct block {
    struct block *next;
    char *base;
    size_t bytes;
    int file; /* -1: imported */
};
struct host_device {
    struct hs_device device;
    struct block *block;
};
struct hs_stream {
    int none;
};
struct hs_event {
    int none;
};
struct told {
    int64_t process, file, device, inode;
    uint64_t bytes;
};

static hsumma_status open_host(int number, int local_rank, const struct hs_allocator *memory, struct hs_device **device,
                               struct hs_message *message)
{
    struct host_device *own = hs_get_zero(memory, 1, sizeof *own);
    (void)local_rank;
    *device = NULL;
    if (!own)
        return hs_fail(message, HSUMMA_ERR_MEMORY, "no memory for a device");
    own->device = (struct hs_device){.kind = &hs_device_host, .memory = memory, .shares_events = 1};
    snprintf(own->device.name, sizeof own->device.name, "memory of the host");
    snprintf(own->device.place, sizeof own->device.place, "host:%d", number < 0 ? 0 : number);
    *device = &own->device;
    return HSUMMA_OK;
}

static hsumma_status map(struct hs_device *device, int file, size_t bytes, int keep, void **memory)
{
    struct host_device *own = (struct host_device *)device;
    struct block *block = hs_get_zero(device->memory, 1, sizeof *block);
    void *base = block ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
    if (base == MAP_FAILED || !keep)
        close(file);
    if (base == MAP_FAILED) {
        hs_put(device->memory, block);
        return hs_fail(&device->message, HSUMMA_ERR_MEMORY, "no address for %zu bytes", bytes);
    }
    *block = (struct block){own->block, base, bytes, keep ? file : -1};
    own->block = block;
    *memory = base;
    return HSUMMA_OK;
}

static hsumma_status get(struct hs_device *device, size_t bytes, void **memory)
{
    *memory = NULL;
    bytes = bytes ? bytes : 1;
    int file = memfd_create("hsumma", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, (off_t)bytes) || posix_fallocate(file, 0, (off_t)bytes)) {
        if (file >= 0)
            close(file);
        return hs_fail(&device->message, HSUMMA_ERR_MEMORY, "no %zu bytes of shared memory", bytes);
    }
    return map(device, file, bytes, 1, memory);
}

static void put(struct hs_device *device, void *memory)
{
    struct host_device *own = (struct host_device *)device;
    for (struct block **link = &own->block; memory && *link; link = &(*link)->next)
        if ((*link)->base == memory) {
            struct block *block = *link;
            *link = block->next;
            munmap(block->base, block->bytes);
            if (block->file >= 0)
                close(block->file);
            hs_put(device->memory, block);
            return;
        }
}

static void close_host(struct hs_device *device)
{
    struct host_device *own = (struct host_device *)device;
    if (!device)
        return;
    while (own->block)
        put(device, own->block->base);
    hs_put(device->memory, own);
}

static hsumma_status get_pinned(struct hs_device *device, size_t bytes, void **memory)
{
    *memory = hs_get(device->memory, bytes ? bytes : 1, 1);
    return *memory ? HSUMMA_OK : hs_fail(&device->message, HSUMMA_ERR_MEMORY, "no %zu bytes", bytes);
}

static void put_pinned(struct hs_device *device, void *memory)
{
    hs_put(device->memory, memory);
}

static enum hs_memory_kind classify(struct hs_device *device, const void *address)
{
    const struct host_device *own = (struct host_device *)device;
    for (const struct block *block = own->block; block; block = block->next)
        if ((uintptr_t)address - (uintptr_t)block->base < block->bytes)
            return block->file >= 0 ? HS_MEMORY_DEVICE : HS_MEMORY_OTHER;
    return HS_MEMORY_HOST;
}

static hsumma_status room(struct hs_device *device, int64_t *free, int64_t *total)
{
    (void)device;
    *total = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE) / 4;
    *free = *total;
    return HSUMMA_OK;
}

static hsumma_status export_memory(struct hs_device *device, void *memory, struct hs_exported *exported)
{
    const struct host_device *own = (struct host_device *)device;
    struct stat is;
    memset(exported, 0, sizeof *exported);
    for (const struct block *block = own->block; block; block = block->next)
        if (block->base == memory && block->file >= 0 && fstat(block->file, &is) == 0) {
            struct told told = {getpid(), block->file, (int64_t)is.st_dev, (int64_t)is.st_ino, block->bytes};
            memcpy(exported, &told, sizeof told);
            return HSUMMA_OK;
        }
    return hs_fail(&device->message, HSUMMA_ERR_DEVICE, "memory that is not this device's cannot be exported");
}

static hsumma_status import_memory(struct hs_device *device, const struct hs_exported *exported, void **memory)
{
    struct told told;
    struct stat is;
    char path[64];
    *memory = NULL;
    memcpy(&told, exported, sizeof told);
    snprintf(path, sizeof path, "/proc/%lld/fd/%lld", (long long)told.process, (long long)told.file);
    int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0 || fstat(file, &is) || (int64_t)is.st_dev != told.device || (int64_t)is.st_ino != told.inode) {
        if (file >= 0)
            close(file);
        return hs_fail(&device->message, HSUMMA_ERR_DEVICE, "%s cannot be opened", path);
    }
    return map(device, file, told.bytes, 0, memory);
}

static hsumma_status export_event(struct hs_device *device, struct hs_event *event, struct hs_exported *exported)
{
    (void)device, (void)event;
    memset(exported, 0, sizeof *exported);
    return HSUMMA_OK;
}

static hsumma_status make_event(struct hs_device *device, int shared, struct hs_event **event)
{
    (void)shared;
    *event = hs_get_zero(device->memory, 1, sizeof **event);
    return *event ? HSUMMA_OK : hs_fail(&device->message, HSUMMA_ERR_MEMORY, "no memory for an event");
}

static hsumma_status import_event(struct hs_device *device, const struct hs_exported *exported, struct hs_event **event)
{
    (void)exported;
    return make_event(device, 1, event);
}

static void free_event(struct hs_device *device, struct hs_event *event)
{
    hs_put(device->memory, event);
}

static hsumma_status make_stream(struct hs_device *device, struct hs_stream **stream)
{
    *stream = hs_get_zero(device->memory, 1, sizeof **stream);
    return *stream ? HSUMMA_OK : hs_fail(&device->message, HSUMMA_ERR_MEMORY, "no memory for a stream");
}

static hsumma_status adopt_stream(struct hs_device *device, void *theirs, struct hs_stream **stream)
{
    (void)theirs;
    return make_stream(device, stream);
}

static void *show_stream(struct hs_device *device, struct hs_stream *stream)
{
    (void)device, (void)stream;
    return NULL;
}

static void free_stream(struct hs_device *device, struct hs_stream *stream)
{
    hs_put(device->memory, stream);
}

static hsumma_status record(struct hs_device *device, struct hs_stream *stream, struct hs_event *event)
{
    (void)device, (void)stream, (void)event;
    return HSUMMA_OK;
}

static hsumma_status over(struct hs_device *device, struct hs_event *event, int *is)
{
    (void)device, (void)event;
    *is = 1;
    return HSUMMA_OK;
}

static hsumma_status synchronize(struct hs_device *device, struct hs_stream *stream)
{
    (void)device, (void)stream;
    return HSUMMA_OK;
}

static hsumma_status copy(struct hs_device *device, struct hs_stream *stream, void *dst, const void *src, size_t bytes)
{
    (void)device, (void)stream;
    memcpy(dst, src, bytes);
    return HSUMMA_OK;
}

static hsumma_status copy_block(struct hs_device *device, struct hs_stream *stream, void *dst, size_t dst_pitch,
                                const void *src, size_t src_pitch, size_t bytes, size_t columns)
{
    (void)device, (void)stream;
    for (size_t j = 0; j < columns; j++)
        memcpy((char *)dst + j * dst_pitch, (const char *)src + j * src_pitch, bytes);
    return HSUMMA_OK;
}

/* In pieces that go through a buffer: dst may be any of the operands. */
static hsumma_status combine(struct hs_device *device, struct hs_stream *stream, void *dst, const void *const *operand,
                             int operands, int64_t count, hsumma_element element, hsumma_op op)
{
    char piece[4096];
    hs_combine *function = hs_operator_of(element, op);
    int64_t size = (int64_t)hs_element_size(element), bytes = count * size, most = (int64_t)sizeof piece;
    (void)stream;
    if (!function)
        return hs_fail(&device->message, HSUMMA_ERR_UNSUPPORTED, "no %s for %s", hs_op_name(op),
                       hs_element_name(element));
    for (int64_t at = 0; at < bytes; at += most) {
        int64_t some = bytes - at < most ? bytes - at : most;
        memcpy(piece, (const char *)operand[0] + at, (size_t)some);
        for (int i = 1; i < operands; i++)
            function(piece, piece, (const char *)operand[i] + at, some, NULL);
        memcpy((char *)dst + at, piece, (size_t)some);
    }
    return HSUMMA_OK;
}

static hsumma_status update(struct hs_device *device, struct hs_stream *stream, hsumma_type type, int64_t rows,
                            int64_t cols, const void *beta, void *c, int64_t ldc, const void *s, int64_t lds)
{
    (void)device, (void)stream;
    hs_scalars[type].update(rows, cols, beta, c, ldc, s, lds);
    return HSUMMA_OK;
}

static hsumma_status gemm(struct hs_device *device, struct hs_stream *stream, hsumma_type type, char transa,
                          char transb, int64_t m, int64_t n, int64_t k, const void *alpha, const void *a, int64_t lda,
                          const void *b, int64_t ldb, const void *beta, void *c, int64_t ldc)
{
    (void)device, (void)stream;
    hs_scalars[type].gemm(transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    return HSUMMA_OK;
}

const struct hs_device_kind hs_device_host = {
    .name = "host",
    .doc = "memory of the host that the processes of a node share, in place of a GPU's: for tests",
    .open = open_host,
    .close = close_host,
    .get = get,
    .put = put,
    .get_pinned = get_pinned,
    .put_pinned = put_pinned,
    .classify = classify,
    .room = room,
    .export_memory = export_memory,
    .import_memory = import_memory,
    .unmap = put,
    .export_event = export_event,
    .import_event = import_event,
    .make_stream = make_stream,
    .adopt_stream = adopt_stream,
    .show_stream = show_stream,
    .free_stream = free_stream,
    .make_event = make_event,
    .free_event = free_event,
    .record = record,
    .wait = record,
    .over = over,
    .synchronize = synchronize,
    .copy = copy,
    .copy_block = copy_block,
    .combine = combine,
    .update = update,
    .gemm = gemm,
};
