/*
 * The stand-in for a GPU: the device kind "host", in a library that tests load (HSUMMA_HOST_DEVICE_LIBRARY). The
 * processes of a node can map each other's memory. Streams delay their work, so that a caller that does not wait where
 * a GPU requires it gets wrong results.
 *
 * Work is queued. It is done by calls that query, wait or (unless the order is lazy) enqueue, and by a thread of the
 * device ("hands") if no query or wait has come for a while: as on a GPU, work continues whatever the process does.
 * Each device has one lock. Functions of the table, which get an hs_device, take it; functions that get a host_device
 * are called with the lock held.
 */
#ifndef HS_TESTS_DEVICE_STAND_IN_PARTS_H
#define HS_TESTS_DEVICE_STAND_IN_PARTS_H

#include "base/device.h"
#include "base/scalar.h"

#include <pthread.h>
#include <stdatomic.h>

/* The library's only symbol, which src/gpu/devices.c looks up. */
extern const struct hs_device_kind hs_stand_in_device __attribute__((visibility("default")));

/* When work is executed. */
enum host_order {
    HOST_EAGER, /* immediately, unless it must wait */
    HOST_LAZY,  /* as late as possible: a query does one piece, of the newest stream that can; a wait what it needs */
    HOST_RANDOM /* at random times, on random streams */
};
/* The order of work, and failures: parsed from HSUMMA_HOST_DEVICE when the device is opened. */
struct host_policy {
    enum host_order order;
    uint64_t draw;        /* state of the random generator */
    int64_t hold;         /* microseconds without a query or wait before the hands work */
    int no_ipc;           /* nonzero: memory of other processes cannot be mapped */
    int no_events;        /* nonzero: events of other processes cannot be waited for */
    int64_t devices;      /* number of devices over which processes are spread */
    int64_t memory;       /* bytes of device memory */
    int64_t fail;         /* number of the operation that fails; 0: none */
    int64_t refuse_event; /* number of the event that cannot be created; 0: none */
};
hsumma_status host_policy_read(const char *text, int number, int local_rank, struct host_policy *policy,
                               struct hs_message *message);
uint64_t host_draw(struct host_policy *policy);

struct host_block {
    struct host_block *next;
    char *base;
    size_t bytes;
    enum hs_memory_kind kind; /* DEVICE: this process's own; OTHER: mapped from another process; PINNED: host memory */
    int file;                 /* file behind the memory; -1 for pinned */
    int uses;                 /* number of times that the memory is mapped */
    int64_t drive, inode;     /* identify the file */
    int of_events;            /* nonzero: memory for slots of events, which callers neither see nor free */
};

/* The slot of an event, in memory that other processes map. Recordings are numbered; the numbers are generations.
 * done[i] is the latest complete generation g with g % HOST_DONE = i; several streams complete them in any order. */
enum { HOST_DONE = 15 };
struct host_slot {
    _Atomic uint64_t recorded, done[HOST_DONE];
};
struct hs_event {
    struct hs_event *next;
    struct host_block *slots; /* the block that contains the slot */
    struct host_slot *slot;
    uint64_t first;  /* the slot's generation when the event was made, that is, before its first recording */
    int64_t process; /* process that owns the event if it is another one; else 0 */
    int shared;
    int held; /* nonzero: the caller has not freed the event */
    int uses; /* number of pieces of work that refer to the event */
};

enum host_kind { HOST_COPY, HOST_COMBINE, HOST_UPDATE, HOST_GEMM, HOST_RECORD, HOST_WAIT };
struct host_piece {
    struct host_piece *next;
    enum host_kind kind;
    union {
        struct {
            char *dst;
            const char *src;
            size_t dst_pitch, src_pitch, bytes, columns;
        } copy;
        struct {
            char *dst;
            const char *operand[HS_COMBINE_MOST];
            int operands;
            int64_t bytes;
            hs_combine *function;
        } combine;
        struct {
            hsumma_type type;
            int64_t rows, cols, ldc, lds;
            union hs_value beta;
            void *c;
            const void *s;
        } update;
        struct {
            hsumma_type type;
            char transa, transb;
            int64_t m, n, k, lda, ldb, ldc;
            union hs_value alpha, beta;
            const void *a, *b;
            void *c;
        } gemm;
        struct {
            struct hs_event *event;
            uint64_t generation;
        } event;
    };
};

/* A stream's queue. Its handles are hs_streams; a stream that is adopted repeatedly has several. */
struct host_queue {
    struct host_queue *next;
    struct host_piece *first, **last;
    int handles;
    int freed; /* nonzero: freed by its creator; it completes its work and accepts no more */
};
struct hs_stream {
    struct hs_stream *next;
    struct host_queue *queue;
    int owned;
};

struct host_device {
    struct hs_device device;
    struct host_policy policy;
    struct host_block *block;
    int64_t used; /* bytes of this process's device memory, without slots of events */
    struct host_queue *queue;
    struct hs_stream *stream;
    struct hs_event *event;
    struct host_piece *spare; /* reusable pieces, because only callers allocate and free memory, never the hands */
    int pending;              /* number of queued pieces */
    int64_t worked, events;   /* number of pieces done, of events made */
    uint64_t asked;           /* number of queries and waits that have done work */
    hsumma_status wrong;      /* status of failed work, after which no more is done; else 0 */
    struct hs_message why;
    pthread_mutex_t lock;
    pthread_cond_t news;
    pthread_t hands;
    int has_hands, closing;
};

/* Every function of the table begins with host_enter, which takes the lock, and ends with host_leave. After host_enter,
 * own->wrong is the status of work that has failed; the message describes it. */
struct host_device *host_enter(struct hs_device *device);
hsumma_status host_leave(struct host_device *own, hsumma_status status);

/* memory.c */
hsumma_status host_get(struct hs_device *device, size_t bytes, void **memory);
hsumma_status host_get_pinned(struct hs_device *device, size_t bytes, void **memory);
void host_put(struct hs_device *device, void *memory);
void host_unmap(struct hs_device *device, void *imported);
enum hs_memory_kind host_classify(struct hs_device *device, const void *address);
hsumma_status host_memory_left(struct hs_device *device, int64_t *left, int64_t *total);
hsumma_status host_export_memory(struct hs_device *device, void *memory, struct hs_exported *exported);
hsumma_status host_import_memory(struct hs_device *device, const struct hs_exported *exported, void **memory);

hsumma_status host_block_get(struct host_device *own, size_t bytes, int of_events, struct host_block **block);
void host_block_put(struct host_device *own, struct host_block *block);
hsumma_status host_block_export(struct host_device *own, const struct host_block *block, int64_t offset,
                                struct hs_exported *exported);
/* Imports memory. Memory that is already mapped gives the existing block, this process's own memory its own block.
 * *process: the owner, 0 for this process. */
hsumma_status host_block_import(struct host_device *own, const struct hs_exported *exported, int of_events,
                                struct host_block **block, int64_t *offset, int64_t *process);
/* Returns an error unless work on the device may access all `bytes` bytes; the message names the argument by `what`. */
hsumma_status host_reaches(const struct host_device *own, const char *what, const void *address, int64_t bytes,
                           struct hs_message *message);
/* Returns an error unless a copy may access the memory: it must end inside the block in which it starts. */
hsumma_status host_copies(const struct host_device *own, const char *what, const void *address, int64_t bytes,
                          struct hs_message *message);

/* event.c */
hsumma_status host_make_event(struct hs_device *device, int shared, struct hs_event **event);
void host_free_event(struct hs_device *device, struct hs_event *event);
hsumma_status host_export_event(struct hs_device *device, struct hs_event *event, struct hs_exported *exported);
hsumma_status host_import_event(struct hs_device *device, const struct hs_exported *exported, struct hs_event **event);
hsumma_status host_record(struct hs_device *device, struct hs_stream *stream, struct hs_event *event);
hsumma_status host_wait(struct hs_device *device, struct hs_stream *stream, struct hs_event *event);
hsumma_status host_complete(struct hs_device *device, struct hs_event *event, int *is);

int host_event_reached(const struct hs_event *event, uint64_t generation);
/* Frees events that their callers have freed and to which no work refers. */
void host_events_reap(struct host_device *own);

/* stream.c */
hsumma_status host_make_stream(struct hs_device *device, struct hs_stream **stream);
hsumma_status host_adopt_stream(struct hs_device *device, void *theirs, struct hs_stream **stream);
void *host_show_stream(struct hs_device *device, struct hs_stream *stream);
void host_free_stream(struct hs_device *device, struct hs_stream *stream);
hsumma_status host_synchronize(struct hs_device *device, struct hs_stream *stream);

/* Gets a piece of work to fill in and enqueue; waits while too many are queued. *piece is NULL after an error. */
hsumma_status host_piece(struct host_device *own, struct hs_stream *stream, enum host_kind kind,
                         struct host_piece **piece);
void host_enqueue(struct host_device *own, struct hs_stream *stream, struct host_piece *piece);
/* Does some pieces of work, in the order of the policy. */
void host_drive(struct host_device *own);
/* Waits until a queue is empty; NULL: until all queues are. */
void host_finish(struct host_device *own, struct host_queue *queue);
void host_queues_reap(struct host_device *own);
void *host_hands(void *device);

/* work.c */
hsumma_status host_copy(struct hs_device *device, struct hs_stream *stream, void *dst, const void *src, size_t bytes);
hsumma_status host_copy_block(struct hs_device *device, struct hs_stream *stream, void *dst, size_t dst_pitch,
                              const void *src, size_t src_pitch, size_t bytes, size_t columns);
hsumma_status host_combine(struct hs_device *device, struct hs_stream *stream, void *dst, const void *const *operand,
                           int operands, int64_t count, hsumma_element element, hsumma_op op);
hsumma_status host_update(struct hs_device *device, struct hs_stream *stream, hsumma_type type, int64_t rows,
                          int64_t cols, const void *beta, void *c, int64_t ldc, const void *s, int64_t lds);
hsumma_status host_gemm(struct hs_device *device, struct hs_stream *stream, hsumma_type type, char transa, char transb,
                        int64_t m, int64_t n, int64_t k, const void *alpha, const void *a, int64_t lda, const void *b,
                        int64_t ldb, const void *beta, void *c, int64_t ldc);

void host_do(struct host_device *own, struct host_piece *piece);

#endif
