/*
 * The resources of a communicator for collectives on devices: SHARED in device memory with its flags in host memory,
 * allocations that the ranks of a node have mapped, and buffers for messages.
 *
 * SHARED grows to what lists access, rank by rank: before the first call of a kind, the ranks of a node agree on the
 * bytes of each rank's SHARED that any of their lists accesses. A rank whose SHARED no list accesses has none. So the
 * buffer of Faraji and Afsahi, GPU-Aware Intranode MPI_Allreduce (EuroMPI/ASIA 2014), Section 3.1, is in the memory of
 * one rank, and in Section 3.2 half of the ranks have none. topology.shared_bytes is the limit of a rank's SHARED, by
 * which builders cut a vector into segments; if memory is short, the limit is lowered.
 *
 * A peer's memory is addressed by (region, offset): a region consists of one allocation per rank, all mapped by all
 * ranks of the node, and has the same number on all of them. No addresses are therefore exchanged, and only memory
 * allocated for sharing is exported. If peers read a caller's memory that is outside all regions, a staged copy in the
 * pool replaces it.
 */
#ifndef HS_COLL_RUN_DEVICE_COMM_H
#define HS_COLL_RUN_DEVICE_COMM_H

#include "coll/node/device_share.h"
#include "coll/node/discover.h"
#include "coll/node/region.h"
#include "coll/run/bounce.h"
#include "dist/grid.h"

struct hs_device_comm {
    struct hs_device *device;
    struct hs_stream *const *stream; /* the context's stream, which may change between calls */
    const struct hs_allocator *memory;
    const struct hs_watch *watch;  /* comm->watch */
    int rank;                      /* rank in the communicator, for messages */
    MPI_Comm mates;                /* communicator of the node's ranks; MPI_COMM_NULL without shared memory */
    struct hs_shm *shm;            /* flags in host memory; NULL if device memory is not shared */
    struct hs_device_share share;  /* the events of all slots */
    struct hs_device_share shared; /* SHARED: of member m `held[m]` bytes for each instance of the shm's last ring */
    int64_t *held;                 /* bytes of SHARED of one instance, indexed by member */
    int64_t *wanted;               /* likewise for the call that is being prepared; then its bytes of the pool */
    int64_t limit;                 /* topology.shared_bytes at first */
    struct hs_topology topology;   /* topology for lists on devices; its arrays belong to the communicator */
    struct hs_region *region;      /* list of the regions that the node's ranks have mapped, including `pooled` */
    struct hs_device_share pool;   /* memory for staged copies that peers read */
    struct hs_region pooled;       /* the pool as a region; in the list once the pool exists */
    struct hs_bounce_buffers bounce;
    struct hs_instance *first; /* instances in progress, in the order of their start */
    struct hs_event *pulse;    /* an event that is never recorded; querying it reveals errors of the device */
    struct hs_message failure; /* message of the first error; "" if none */
    struct hs_message note;    /* why sharing device memory has failed; "" if it has not */
};

struct hs_device_copy {
    void *to;
    const void *from;
    int64_t bytes; /* 0 if there is nothing to copy */
};

struct hs_device_options {
    int64_t shared_bytes; /* limit of a rank's SHARED; 0 for none, negative for the default */
    int direct;           /* 0 if a peer's IN and OUT are never to be read */
    int gpu_aware;        /* true if MPI accepts device memory; equal on all ranks */
};

/* The bytes to which a rank's SHARED is limited. wish: option shared, rounded up to pages; negative: the default. */
int64_t hs_device_shared_limit(int64_t wish);

/*
 * Makes comm->device; call it after hs_comm_discover. Collective; same status on all ranks. If devices cannot share
 * memory, that is not an error, and `note` has the reason. After an error comm->device is NULL.
 */
hsumma_status hs_device_comm_make(struct hs_comm *comm, struct hs_device *device, struct hs_stream *const *stream,
                                  const struct hs_device_options *options, const struct hs_allocator *memory,
                                  struct hs_message *message);
/*
 * Two steps end a comm->device, as they end a device share: leave is local, and requires that all work is complete;
 * after a synchronisation of all ranks, free is collective in the sense of MPI_Comm_free. broken: true if MPI may still
 * write to message buffers; these and the shared memory are then not freed.
 */
void hs_device_comm_leave(struct hs_comm *comm);
void hs_device_comm_free(struct hs_comm *comm, int broken);

/* The address in this process of a member's SHARED for an instance. */
static inline char *hs_device_shared_at(const struct hs_device_comm *on, int64_t instance, int member)
{
    return on->shared.memory[member] + instance % on->shm->ring[HS_SHARED_RINGS - 1].depth * on->held[member];
}

/*
 * Sets on->wanted to the bytes of each member's SHARED that a list accesses, and to `pool`, the bytes of the pool that
 * its staged copies need. Returns 1 if any of these exceeds what is allocated. Local: hs_device_grow combines the needs
 * of all ranks.
 */
int hs_device_lacks(struct hs_device_comm *on, const struct hs_list *list, const struct hs_group *group, int rotation,
                    size_t pool);
/*
 * Enlarges SHARED and the pool to the largest on->wanted of all ranks of the node. Collective over these ranks, same
 * status on all; SHARED and the pool must be unused, and are kept after an error. *refused: the bytes of the largest
 * SHARED that could not be allocated; 0 if the error has another cause.
 */
hsumma_status hs_device_grow(struct hs_device_comm *on, int64_t *refused, struct hs_message *message);
/*
 * After hs_device_grow has failed, lowers the memory that later lists need. If `refused` bytes of SHARED could not be
 * allocated, the limit of SHARED becomes half of `refused` or of the present limit, whichever is less. If `refused` is
 * 0, later lists do not read a peer's IN and OUT, so they need no pool. Returns 0 if nothing is left to lower. Local;
 * with equal arguments on all ranks, lists stay equal.
 */
int hs_device_lower(struct hs_device_comm *on, int64_t refused);

/* Returns an error if work enqueued earlier on the device has failed. */
hsumma_status hs_device_ask(struct hs_device_comm *on);
/* Returns the status; keeps the first error's message in on->failure. */
hsumma_status hs_device_failed(struct hs_device_comm *on, hsumma_status status);
/* These report errors by hs_device_failed; the first three enqueue an operation on the context's stream. */
hsumma_status hs_device_enqueue_copy(struct hs_device_comm *on, struct hs_device_copy copy);
hsumma_status hs_device_record(struct hs_device_comm *on, struct hs_event *event);
hsumma_status hs_device_wait(struct hs_device_comm *on, struct hs_event *event);
/* Sets *complete to 1 if the work before the event is complete, else to 0. */
hsumma_status hs_device_complete(struct hs_device_comm *on, struct hs_event *event, int *complete);

#endif
