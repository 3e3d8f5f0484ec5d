/*
 * Devices with memory of their own: a table of what the library asks of one.  src/gpu has the kind "cuda";
 * tests/device/stand_in the kind "host", the same interface over memory that processes share, so that whatever runs on
 * a device is tested without one.
 *
 * Work is put on streams: each does its work in order, and nothing waits for it unless an event says so.  Only the host
 * walks lists and looks at flags; no work polls memory.  A stream waits for an event as it was last recorded: whatever
 * had been put on the event's stream before that is over then.  So an event that its owner records again before
 * somebody waits for it delays him, but cannot lock: what he then waits for had all been put on streams before.
 *
 * Functions return HSUMMA_OK, or HSUMMA_ERR_DEVICE or HSUMMA_ERR_MEMORY and leave what happened in device->message (for
 * a CUDA error its name and the call).  An error of work on a stream may show at any later call.
 */
#ifndef HS_BASE_DEVICE_H
#define HS_BASE_DEVICE_H

#include "base/memory.h"
#include "base/status.h"

#include <hsumma_coll.h>

enum hs_memory_kind {
    HS_MEMORY_HOST,   /* of the system: any address that the device does not know */
    HS_MEMORY_PINNED, /* of the host, which copies read and write without a stop */
    HS_MEMORY_DEVICE, /* this device's */
    HS_MEMORY_OTHER   /* what work can read and write, but is not this device's alone: managed, mapped, a peer's */
};

/* What another process of the node needs to map an allocation, or to wait for an event: plain bytes. */
struct hs_exported {
    unsigned char bytes[160];
};

struct hs_stream; /* each row's own; NULL is no stream */
struct hs_event;

/* An open device of this process.  Every row's own begins with it. */
struct hs_device {
    const struct hs_device_kind *kind;
    const struct hs_allocator *memory;
    char name[64];             /* of the model, for people */
    char location[64];         /* which device of the machine: alike in processes that share it, and in no others */
    int shares_events;         /* other processes can wait for its events on their streams */
    struct hs_message message; /* of the last failure */
};

enum { HS_COMBINE_MOST = 32 }; /* operands of a combination in one pass */

struct hs_device_kind {
    const char *name; /* in the option "device" */
    int is_stand_in;  /* for tests: products of the host's matrices go to it whatever they cost there */

    /* number: which of those that the process sees; -1: choose by local_rank, the process's number on its node. */
    hsumma_status (*open)(int number, int local_rank, const struct hs_allocator *memory, struct hs_device **device,
                          struct hs_message *message);
    void (*close)(struct hs_device *device); /* NULL is ignored; what it has given is gone */

    /* Memory.  put ignores NULL, and waits until work on it is over. */
    hsumma_status (*get)(struct hs_device *device, size_t bytes, void **memory);
    void (*put)(struct hs_device *device, void *memory);
    hsumma_status (*get_pinned)(struct hs_device *device, size_t bytes, void **memory);
    void (*put_pinned)(struct hs_device *device, void *memory);
    enum hs_memory_kind (*classify)(struct hs_device *device, const void *address);
    hsumma_status (*memory_left)(struct hs_device *device, int64_t *free, int64_t *total); /* bytes */

    /*
     * Sharing between processes of a node.  Only what get has given can be exported, by the address that it gave.  An
     * import is refused (HSUMMA_ERR_DEVICE) where the system or the devices do not allow it.
     */
    hsumma_status (*export_memory)(struct hs_device *device, void *memory, struct hs_exported *exported);
    hsumma_status (*import_memory)(struct hs_device *device, const struct hs_exported *exported, void **memory);
    void (*unmap)(struct hs_device *device, void *imported); /* NULL is ignored */
    hsumma_status (*export_event)(struct hs_device *device, struct hs_event *event, struct hs_exported *exported);
    hsumma_status (*import_event)(struct hs_device *device, const struct hs_exported *exported,
                                  struct hs_event **event);

    /* Streams and events.  adopt: a stream of the caller's (cudaStream_t), which free then leaves alone. */
    hsumma_status (*make_stream)(struct hs_device *device, struct hs_stream **stream);
    hsumma_status (*adopt_stream)(struct hs_device *device, void *theirs, struct hs_stream **stream);
    void *(*show_stream)(struct hs_device *device, struct hs_stream *stream); /* what adopt would take; or NULL */
    void (*free_stream)(struct hs_device *device, struct hs_stream *stream);
    hsumma_status (*make_event)(struct hs_device *device, int shared, struct hs_event **event);
    void (*free_event)(struct hs_device *device, struct hs_event *event); /* imported ones, too; NULL is ignored */
    hsumma_status (*record)(struct hs_device *device, struct hs_stream *stream, struct hs_event *event);
    hsumma_status (*wait)(struct hs_device *device, struct hs_stream *stream, struct hs_event *event);
    /* Whether the event's work is over (an event never recorded: yes); does not wait.  Own events only. */
    hsumma_status (*complete)(struct hs_device *device, struct hs_event *event, int *complete);
    hsumma_status (*synchronize)(struct hs_device *device, struct hs_stream *stream); /* waits for all of it */

    /*
     * Work.  Addresses of copies are of any kind of memory; the others' are of the device, or mapped.  Host memory that
     * is not pinned may be read or written before copy returns, or later: it must stay until the stream is over.
     */
    hsumma_status (*copy)(struct hs_device *device, struct hs_stream *stream, void *dst, const void *src, size_t bytes);
    /* `columns` runs of `bytes` each; their beginnings are dst_pitch and src_pitch bytes apart. */
    hsumma_status (*copy_block)(struct hs_device *device, struct hs_stream *stream, void *dst, size_t dst_pitch,
                                const void *src, size_t src_pitch, size_t bytes, size_t columns);
    /*
     * dst = ((operand[0] op operand[1]) op operand[2]) ..., 1 <= operands <= HS_COMBINE_MOST, `count` elements; dst may
     * be any of the operands.  The bits are those of hs_operator_of.
     */
    hsumma_status (*combine)(struct hs_device *device, struct hs_stream *stream, void *dst, const void *const *operand,
                             int operands, int64_t count, hsumma_element element, hsumma_op op);
    /* As hs_scalar.update and hs_scalar.gemm; alpha and beta are read before they return. */
    hsumma_status (*update)(struct hs_device *device, struct hs_stream *stream, hsumma_type type, int64_t rows,
                            int64_t cols, const void *beta, void *c, int64_t ldc, const void *s, int64_t lds);
    hsumma_status (*gemm)(struct hs_device *device, struct hs_stream *stream, hsumma_type type, char transa,
                          char transb, int64_t m, int64_t n, int64_t k, const void *alpha, const void *a, int64_t lda,
                          const void *b, int64_t ldb, const void *beta, void *c, int64_t ldc);
};

/* Whether work can read and write memory of a kind. */
static inline int hs_memory_is_reachable(enum hs_memory_kind kind)
{
    return kind == HS_MEMORY_DEVICE || kind == HS_MEMORY_OTHER;
}

#endif
