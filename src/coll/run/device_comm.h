/*
 * What a communicator has on devices: shared memory whose SHARED lies in device memory, the allocations that the node's
 * others have mapped, and what messages pass through.
 *
 * A peer's memory is named by (region, offset): a region is an allocation of each rank that all of its node have
 * mapped, numbered alike on all of them.  So addresses are never told, and only memory that was made to be shared is
 * exported.  Memory of the caller's that lies in no region is stood in for by a part of the pool.
 */
#ifndef HS_COLL_RUN_DEVICE_COMM_H
#define HS_COLL_RUN_DEVICE_COMM_H

#include "coll/node/device_share.h"
#include "coll/node/discover.h"
#include "coll/node/region.h"
#include "coll/run/bounce.h"

struct hs_device_comm {
    struct hs_device *device;
    struct hs_stream *const *stream; /* the context's, which may change between calls */
    const struct hs_allocator *memory;
    int rank;                     /* in the communicator, for messages */
    MPI_Comm mates;               /* ranks of the node; MPI_COMM_NULL: no shared memory */
    struct hs_shm *shm;           /* NULL: device memory is not shared */
    struct hs_device_share share; /* SHARED and the events */
    struct hs_topology topology;  /* as lists for devices see it; its tables are the communicator's */
    struct hs_region *region;     /* over the ranks of the node; and pooled */
    struct hs_device_share pool;  /* staged copies that peers read */
    struct hs_region pooled;      /* the pool, once there is one; over the members */
    struct hs_bounce_buffers bounce;
    struct hs_instance *first; /* those under way, in the order of their start */
    struct hs_event *pulse;    /* never recorded: asking for it tells whether the device is well */
    struct hs_message failure; /* what has ended an instance; "": nothing */
    struct hs_message note;    /* why device memory is not shared; "": it is, or nobody is there to share with */
};

struct hs_device_copy {
    void *to;
    const void *from;
    int64_t bytes; /* 0: none */
};

struct hs_device_options {
    int64_t shared_bytes; /* bytes of SHARED per rank and slot; 0: none; negative: choose */
    int direct;           /* 0: never read a peer's IN and OUT */
    int gpu_aware;        /* MPI takes device memory; alike on all ranks */
};

/*
 * After hs_comm_discover; collective, and the same status on all.  That devices cannot share is no error, but told in
 * `note`.  comm->device is NULL after an error.
 */
hsumma_status hs_device_comm_make(struct hs_comm *comm, struct hs_device *device, struct hs_stream *const *stream,
                                  const struct hs_device_options *options, const struct hs_allocator *memory,
                                  struct hs_message *message);
/*
 * The end in two steps, as of a share: leave is local, with all work over; between them all meet; free is collective as
 * MPI_Comm_free is.  broken: MPI may still write to what messages pass through, which is left alone.
 */
void hs_device_comm_leave(struct hs_comm *comm);
void hs_device_comm_free(struct hs_comm *comm, int broken);

/* Where a member's memory is mapped here; NULL: there is no such region. */
char *hs_device_region_at(const struct hs_device_comm *on, int64_t number, int member, uint64_t offset);

/*
 * A pool of at least `bytes`, alike on the node's ranks, which do it together; nothing may use the one before, which
 * stays after an error (alike on them).
 */
hsumma_status hs_device_pool_want(struct hs_device_comm *on, size_t bytes, struct hs_message *message);

/* Whether the device is well: work that was put on it before may have failed. */
hsumma_status hs_device_ask(struct hs_device_comm *on);
/* Keeps what the device says of a failure, with the rank, and returns the status. */
hsumma_status hs_device_failed(struct hs_device_comm *on, hsumma_status status);
/* On the context's stream, with hs_device_failed. */
hsumma_status hs_device_enqueue_copy(struct hs_device_comm *on, struct hs_device_copy copy);
hsumma_status hs_device_record(struct hs_device_comm *on, struct hs_event *event);
hsumma_status hs_device_wait(struct hs_device_comm *on, struct hs_event *event);
/* *complete: the work before the event has ended. */
hsumma_status hs_device_complete(struct hs_device_comm *on, struct hs_event *event, int *complete);

#endif
