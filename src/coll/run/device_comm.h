/*
 * What a communicator has for devices: shared memory whose SHARED is in device memory, the allocations that the ranks
 * of a node have mapped, and the buffers for messages.
 *
 * A peer's memory is named by (region, offset): a region is an allocation per rank that all ranks of the node have
 * mapped, with the same number on all of them. So no addresses are exchanged, and only memory allocated for sharing is
 * exported. For a caller's memory outside all regions a part of the pool is used instead.
 */
#ifndef HS_COLL_RUN_DEVICE_COMM_H
#define HS_COLL_RUN_DEVICE_COMM_H

#include "coll/node/device_share.h"
#include "coll/node/discover.h"
#include "coll/node/region.h"
#include "coll/run/bounce.h"

struct hs_device_comm {
    struct hs_device *device;
    struct hs_stream *const *stream; /* the context's stream, which may change between calls */
    const struct hs_allocator *memory;
    int rank;                     /* rank in the communicator, for messages */
    MPI_Comm mates;               /* ranks of the node; MPI_COMM_NULL: no shared memory */
    struct hs_shm *shm;           /* NULL: device memory is not shared */
    struct hs_device_share share; /* SHARED and the events */
    struct hs_topology topology;  /* for lists on devices; its tables belong to the communicator */
    struct hs_region *region;     /* regions over the ranks of the node, including `pooled` */
    struct hs_device_share pool;  /* staged copies that peers read */
    struct hs_region pooled;      /* the pool as a region, once there is one */
    struct hs_bounce_buffers bounce;
    struct hs_instance *first; /* instances in progress, in the order of their start */
    struct hs_event *pulse;    /* never recorded: querying it reveals errors of the device */
    struct hs_message failure; /* the error that ended an instance; "": none */
    struct hs_message note;    /* why device memory is not shared; "": it is, or there are no peers */
};

struct hs_device_copy {
    void *to;
    const void *from;
    int64_t bytes; /* 0: none */
};

struct hs_device_options {
    int64_t shared_bytes; /* bytes of SHARED per rank and slot; 0: none; negative: choose */
    int direct;           /* 0: never read a peer's IN and OUT */
    int gpu_aware;        /* MPI accepts device memory; equal on all ranks */
};

/*
 * Call after hs_comm_discover. Collective; same status on all ranks. If devices cannot share memory, that is not an
 * error, and `note` says why. After an error comm->device is NULL.
 */
hsumma_status hs_device_comm_make(struct hs_comm *comm, struct hs_device *device, struct hs_stream *const *stream,
                                  const struct hs_device_options *options, const struct hs_allocator *memory,
                                  struct hs_message *message);
/*
 * Ends in two steps, as a device share does: leave is local, after all work is complete; then all ranks must
 * synchronise; free is collective as MPI_Comm_free is. broken: MPI may still write to message buffers, which are
 * therefore not freed.
 */
void hs_device_comm_leave(struct hs_comm *comm);
void hs_device_comm_free(struct hs_comm *comm, int broken);

/* The local address of a member's memory; NULL: there is no such region. */
char *hs_device_region_at(const struct hs_device_comm *on, int64_t number, int member, uint64_t offset);

/*
 * Enlarges the pool to at least `bytes`, which is equal on the node's ranks. Collective over them; the old pool must be
 * unused. After an error (the same on all of them) the old pool remains.
 */
hsumma_status hs_device_pool_want(struct hs_device_comm *on, size_t bytes, struct hs_message *message);

/* Checks the device: work enqueued earlier may have failed. */
hsumma_status hs_device_ask(struct hs_device_comm *on);
/* Stores the device's error message with the rank, and returns the status. */
hsumma_status hs_device_failed(struct hs_device_comm *on, hsumma_status status);
/* These enqueue on the context's stream, and report errors by hs_device_failed. */
hsumma_status hs_device_enqueue_copy(struct hs_device_comm *on, struct hs_device_copy copy);
hsumma_status hs_device_record(struct hs_device_comm *on, struct hs_event *event);
hsumma_status hs_device_wait(struct hs_device_comm *on, struct hs_event *event);
/* *complete: whether the work before the event is complete. */
hsumma_status hs_device_complete(struct hs_device_comm *on, struct hs_event *event, int *complete);

#endif
