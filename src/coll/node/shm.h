/*
 * Shared memory of the ranks of one node: a ring of slots for the instances of one group. For each slot a rank has a
 * post: a flag (SIGNAL, WAIT) and the addresses of its IN and OUT. Flags are 64-bit epochs that only grow, so nothing
 * is ever reset. A rank counts the instances that it has finished, so a rank that looks for a free slot reads one
 * number of each member, and only if the slots that it knows to be free are used up. SHARED has rings of its own, deep
 * ones for short SHAREDs: with more ranks than cores the depth decides how many calls a rank executes before it must
 * yield its core to a rank that is behind.
 *
 * The counters of a product's directory (directory.h) only grow, too, but over all executions of a grid, and their
 * readers may sleep on them. A rank with collectives in progress must also progress messages, so it polls flags, or
 * blocks in MPI (bells.h).
 *
 * For devices, flags are in host memory, and SHARED is in device memory that grows to what the lists access
 * (coll/run/device_comm.h). A flag then means that work has been enqueued; events of the slot, recorded before the flag
 * is raised, mark the completion of the work. If ranks cannot wait for each other's events, a flag is raised only when
 * the work is complete.
 */
#ifndef HS_COLL_NODE_SHM_H
#define HS_COLL_NODE_SHM_H

#include "coll/schedule/topology.h"

#include <mpi.h>
#include <stdatomic.h>

/*
 * HS_RING: the number of slots, that is, of instances of a group that may be in progress in shared memory at a time.
 * HS_LONG_RING: the number of these with long SHAREDs, which are in the last of HS_SHARED_RINGS rings.
 */
enum { HS_RING = 32, HS_LONG_RING = 4, HS_SHARED_RINGS = 3 };
/*
 * For devices, the events of a rank in a slot. HS_SLOT_SIGNALS: number of events for signals, used cyclically;
 * HS_SLOT_EVENTS: one more, for the event at the end of the slot's use by an instance.
 */
enum { HS_SLOT_SIGNALS = 4, HS_SLOT_EVENTS };

/* One rank's part of one slot. */
struct hs_post {
    _Alignas(128) _Atomic uint64_t flag; /* hs_shm_epoch of the last SIGNAL; 0 at first */
    /*
     * If the rank's list exposes them: addresses of IN [0] and OUT [1] in the owner's process (for devices: offsets in
     * `region`), valid for peers after the first SIGNAL.
     */
    uint64_t address[2];
    int64_t region[2]; /* for devices: numbers of the regions that contain IN [0] and OUT [1] (region.h) */
    /* For devices that share events: the value of the flag for which each event was last recorded. */
    _Atomic uint64_t recorded[HS_SLOT_EVENTS];
};

/* What a rank publishes for all slots. `ended` has cache lines of its own, since others poll `broken` in waits. */
struct hs_shm_rank {
    _Alignas(128) _Atomic int64_t ended; /* it has finished the instances before this one; it accesses their slots and
                                            SHAREDs no more */
    _Alignas(128) int64_t process;       /* its process id */
    _Atomic int broken;                  /* the error after which it sends no more signals; 0 if none */
};

/* A ring of SHARED: `bytes` bytes for each of `depth` successive instances, a power of two, and each member. */
struct hs_shared_ring {
    char *memory;
    int64_t bytes;
    int depth;
};

struct hs_bells;
struct hs_device_share;
struct hs_shm {
    struct hs_post *post;   /* the mapping: for each slot and member a post, then `of`, then the rings of SHARED */
    struct hs_shm_rank *of; /* of each member */
    size_t bytes;
    struct hs_shared_ring ring[HS_SHARED_RINGS]; /* in ascending order of `bytes`. For devices: no memory, and the depth
                                                    of the last is less if SHARED is long */
    int members, me;                     /* the communicator's ranks on this node, ascending: number, own index */
    const struct hs_division *node;      /* of the communicator's ranks by node, whose parts are members */
    int direct;                          /* true if members can read each other's memory with one copy */
    void *bounce;                        /* HS_BOUNCE bytes for operands that a REDUCE reads directly from peers */
    int64_t next;                        /* number of the next instance that uses this memory, equal on all members */
    uint64_t probe;                      /* read by the mates to find out whether they can (hs_shm_probe) */
    int64_t finished;                    /* all members have finished the instances before this one */
    uint32_t ended_beyond;               /* bit i: this rank has finished instance of[me].ended + i, out of order */
    struct hs_bells *bells;              /* bells for ranks that block in MPI; NULL if all ranks poll */
    const struct hs_device_share *share; /* for devices: the events; else NULL */
};

enum { HS_BOUNCE = 256 * 1024 };

/* Sets post, of, bytes, ring for a mapping at `memory` (NULL: none yet). shared_bytes: of the last ring; 0: no SHARED.
 */
void hs_shm_lay_out(struct hs_shm *shm, void *memory, int64_t shared_bytes);
/* The ring for instances in which no rank accesses more than `reach` bytes of any rank's SHARED. */
int hs_shm_ring_for(int64_t reach);
static inline struct hs_post *hs_shm_post(const struct hs_shm *shm, int64_t instance, int member)
{
    return &shm->post[instance % HS_RING * shm->members + member];
}
/* ring: the instance's ring, equal on all members. */
static inline char *hs_shm_shared(const struct hs_shm *shm, int64_t instance, int ring, int member)
{
    const struct hs_shared_ring *of = &shm->ring[ring];
    return of->memory + ((instance & (of->depth - 1)) * shm->members + member) * of->bytes;
}

/*
 * The flag for a SIGNAL value in an instance, or for its end: HS_SIGNAL_MAX. It wraps after 2^32 instances; compared
 * flags are less than 2^31 instances apart.
 */
static inline uint64_t hs_shm_epoch(int64_t instance, int64_t value)
{
    return ((uint64_t)instance + 1) << 32 | (uint64_t)value;
}

/* Raise this rank's flag, and check whether a member's flag has reached a value of its list. */
void hs_shm_signal(struct hs_shm *shm, int64_t instance, int64_t value);
int hs_shm_signalled(const struct hs_shm *shm, int64_t instance, int member, int64_t value);
/* This rank has finished the instance; instances may finish in any order. */
void hs_shm_finish(struct hs_shm *shm, int64_t instance);
/* True if all members have finished the instances that used the slot of `instance` and its SHARED before. */
int hs_shm_free(struct hs_shm *shm, int64_t instance, int ring);
/* Stores the addresses of IN and OUT for peers; call it before the first SIGNAL. */
void hs_shm_publish(struct hs_shm *shm, int64_t instance, const void *in, const void *out);
/*
 * Marks this rank as failed. Ranks that wait for it return HSUMMA_ERR_PEER if that is its status, else HSUMMA_ERR_MPI;
 * hs_shm_broken returns this status, HSUMMA_OK if the member has not failed.
 */
void hs_shm_break(struct hs_shm *shm, hsumma_status status);
hsumma_status hs_shm_broken(const struct hs_shm *shm, int member);
/* Reads from offset `at` of a member's IN (which = 0) or OUT (1). HSUMMA_ERR_INTERNAL: the system does not allow it. */
hsumma_status hs_shm_read(const struct hs_shm *shm, int64_t instance, int member, int which, int64_t at, void *to,
                          int64_t bytes);

struct hs_comm;
/*
 * Creates the memory that the ranks of a node share, which has the same size per rank on all nodes. shared_bytes: of
 * SHARED per rank and slot; 0 for flags only; negative for the default, which depends on the size of the largest node.
 * Collective over mates; returns NULL on all of them if one cannot map it, and on a rank without memory for the struct.
 * The mates must agree on the result before they use it.
 */
struct hs_shm *hs_shm_make(MPI_Comm mates, const struct hs_comm *comm, int64_t shared_bytes,
                           const struct hs_allocator *memory);
/* The bytes of SHARED per rank and slot if `ranks` ranks share a node: `wish` in whole pages; <= 0: the default. */
int64_t hs_shm_bytes_for(int ranks, int64_t wish);
/*
 * True if this rank can read the memory of all mates directly. Local, after an agreement of the mates that all have
 * made shm; none may start an instance until all have called it.
 */
int hs_shm_probe(const struct hs_shm *shm);
/* Frees shm; NULL is ignored. */
void hs_shm_free_memory(struct hs_shm *shm, const struct hs_allocator *memory);

#endif
