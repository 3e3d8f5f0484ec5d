/*
 * Devices with memory of their own: the table of functions that the library calls on one.  src/gpu implements the kind
 * "cuda".  tests/device/stand_in implements the kind "host", the same interface over memory shared by processes, so
 * that device code is tested without a device.
 *
 * Work is enqueued on streams.  A stream runs its work in order and waits for other streams only through events.  Only
 * the host walks step lists and polls flags; device work never polls memory.  Waiting for an event waits for all work
 * enqueued on the event's stream before the event was last recorded.  So re-recording an event before a peer waits for
 * it can delay that peer, but never deadlock it: the wait is always for work that was enqueued earlier.
 *
 * Functions return HSUMMA_OK, or HSUMMA_ERR_DEVICE, HSUMMA_ERR_MEMORY or (work that the device cannot do)
 * HSUMMA_ERR_UNSUPPORTED, with an explanation in device->message (for a CUDA error its name and the call).  An
 * asynchronous error on a stream may be reported by any later call.
 */
#ifndef HS_BASE_DEVICE_H
#define HS_BASE_DEVICE_H

#include "base/memory.h"
#include "base/status.h"

#include <hsumma_coll.h>

enum hs_memory_kind {
    HS_MEMORY_HOST,   /* the system's memory: any address that the device does not know */
    HS_MEMORY_PINNED, /* page-locked host memory, which the device's copies access directly */
    HS_MEMORY_DEVICE, /* this device's own memory */
    HS_MEMORY_OTHER   /* accessible to the device, but not its own: managed, mapped, a peer's */
};

/* A handle by which another process of the node maps an allocation or waits for an event: plain bytes. */
struct hs_exported {
    unsigned char bytes[160];
};

struct hs_stream; /* defined by each kind; NULL means no stream */
struct hs_event;

/* An open device of this process; the first member of each kind's own structure. */
struct hs_device {
    const struct hs_device_kind *kind;
    const struct hs_allocator *memory;
    char name[64];             /* the model's name, for people */
    char location[64];         /* names the device on this machine: equal only in processes that share it */
    int shares_events;         /* 1: other processes' streams can wait for this device's events */
    struct hs_message message; /* explains the last failure */
};

enum { HS_COMBINE_MOST = 32 }; /* largest number of operands of one combine call */

struct hs_device_kind {
    const char *name; /* the kind's name in the option "device" */
    int is_stand_in;  /* 1: the tests'; local products of host matrices use it even where the BLAS would be faster */

    /* number: of those visible to the process; -1: chosen by local_rank, the process's index on its node. */
    hsumma_status (*open)(int number, int local_rank, const struct hs_allocator *memory, struct hs_device **device,
                          struct hs_message *message);
    void (*close)(struct hs_device *device); /* ignores NULL; invalidates everything that the device returned */

    /* Memory.  put ignores NULL, and waits until work on the memory is complete. */
    hsumma_status (*get)(struct hs_device *device, size_t bytes, void **memory);
    void (*put)(struct hs_device *device, void *memory);
    hsumma_status (*get_pinned)(struct hs_device *device, size_t bytes, void **memory);
    void (*put_pinned)(struct hs_device *device, void *memory);
    enum hs_memory_kind (*classify)(struct hs_device *device, const void *address);
    hsumma_status (*memory_left)(struct hs_device *device, int64_t *free, int64_t *total); /* bytes */

    /*
     * Sharing between processes of a node.  Only memory from get can be exported, by the address that get returned.
     * Imports fail with HSUMMA_ERR_DEVICE where the system or the devices do not allow them.
     */
    hsumma_status (*export_memory)(struct hs_device *device, void *memory, struct hs_exported *exported);
    hsumma_status (*import_memory)(struct hs_device *device, const struct hs_exported *exported, void **memory);
    void (*unmap)(struct hs_device *device, void *imported); /* NULL is ignored */
    hsumma_status (*export_event)(struct hs_device *device, struct hs_event *event, struct hs_exported *exported);
    hsumma_status (*import_event)(struct hs_device *device, const struct hs_exported *exported,
                                  struct hs_event **event);

    /* Streams and events.  adopt_stream wraps a caller's stream (cudaStream_t), which free_stream does not destroy. */
    hsumma_status (*make_stream)(struct hs_device *device, struct hs_stream **stream);
    hsumma_status (*adopt_stream)(struct hs_device *device, void *theirs, struct hs_stream **stream);
    /* Returns the stream's native handle, as adopt_stream takes it; NULL if it has none. */
    void *(*show_stream)(struct hs_device *device, struct hs_stream *stream);
    void (*free_stream)(struct hs_device *device, struct hs_stream *stream);
    /* shared: 1 if the event will be exported. */
    hsumma_status (*make_event)(struct hs_device *device, int shared, struct hs_event **event);
    void (*free_event)(struct hs_device *device, struct hs_event *event); /* imported events too; NULL is ignored */
    hsumma_status (*record)(struct hs_device *device, struct hs_stream *stream, struct hs_event *event);
    hsumma_status (*wait)(struct hs_device *device, struct hs_stream *stream, struct hs_event *event);
    /* Whether the recorded work is complete; true if there was never any. Not for imported events. */
    hsumma_status (*complete)(struct hs_device *device, struct hs_event *event, int *complete);
    /* Waits for all work on the stream. */
    hsumma_status (*synchronize)(struct hs_device *device, struct hs_stream *stream);

    /*
     * Work, enqueued on a stream.  Copies take addresses in any kind of memory; other work takes addresses in memory
     * that is this device's or mapped for it.  A copy may access pageable host memory after the call returns: that
     * memory must stay valid until the stream has completed the copy.
     */
    hsumma_status (*copy)(struct hs_device *device, struct hs_stream *stream, void *dst, const void *src, size_t bytes);
    /* Copies `columns` runs of `bytes` bytes each, which begin src_pitch bytes apart in src and dst_pitch in dst. */
    hsumma_status (*copy_block)(struct hs_device *device, struct hs_stream *stream, void *dst, size_t dst_pitch,
                                const void *src, size_t src_pitch, size_t bytes, size_t columns);
    /*
     * dst = ((operand[0] op operand[1]) op operand[2]) ..., `count` elements, 1 <= operands <= HS_COMBINE_MOST.  dst
     * may be any of the operands.  The result is bitwise that of hs_operator_of.
     */
    hsumma_status (*combine)(struct hs_device *device, struct hs_stream *stream, void *dst, const void *const *operand,
                             int operands, int64_t count, hsumma_element element, hsumma_op op);
    /* Like hs_scalar.update and hs_scalar.gemm; alpha and beta are read before the call returns. */
    hsumma_status (*update)(struct hs_device *device, struct hs_stream *stream, hsumma_type type, int64_t rows,
                            int64_t cols, const void *beta, void *c, int64_t ldc, const void *s, int64_t lds);
    hsumma_status (*gemm)(struct hs_device *device, struct hs_stream *stream, hsumma_type type, char transa,
                          char transb, int64_t m, int64_t n, int64_t k, const void *alpha, const void *a, int64_t lda,
                          const void *b, int64_t ldb, const void *beta, void *c, int64_t ldc);
};

/* Whether device work can read and write memory of this kind. */
static inline int hs_memory_is_reachable(enum hs_memory_kind kind)
{
    return kind == HS_MEMORY_DEVICE || kind == HS_MEMORY_OTHER;
}

#endif
