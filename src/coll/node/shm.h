/*
 * Shared memory of the ranks of one node: a ring of slots for the instances of one group. For each slot a rank has a
 * flag (SIGNAL, WAIT), the number of the last instance that it has finished there, the addresses of its IN and OUT, and
 * `shared_bytes` bytes of SHARED. Flags hold 64-bit epochs that only grow: nothing is ever reset.
 *
 * The counters of a product's directory (directory.h) grow likewise, but over all executions of a grid, and their
 * readers may sleep. A rank with collectives in progress also has messages to move, so it polls flags and never sleeps.
 *
 * For devices, flags are in host memory and SHARED is in device memory (share). A flag then means that work has been
 * enqueued; events of the slot, recorded before the flag is raised, mark its completion.
 */
#ifndef HS_COLL_NODE_SHM_H
#define HS_COLL_NODE_SHM_H

#include "coll/schedule/steps.h"

#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

enum { HS_RING = 4 }; /* instances of a group that may be in progress in shared memory */
/* For devices: a rank's events for the signals of a slot, used cyclically, and one more for its end. */
enum { HS_SLOT_SIGNALS = 4, HS_SLOT_EVENTS };

/* One rank's part of one slot; what one rank writes and others poll has cache lines of its own. */
struct hs_post {
    _Alignas(128) _Atomic uint64_t flag;     /* instance << 32 | value of the last SIGNAL */
    _Alignas(128) _Atomic uint64_t finished; /* 1 + latest instance that this rank has finished here; 0: none */
    /* Addresses of IN and OUT in the owner's process (devices: offsets in `region`), published by the first SIGNAL. */
    _Alignas(128) uint64_t address[2];
    int64_t region[2];  /* for devices (region.h) */
    _Atomic int broken; /* in slot 0: this rank has failed and will signal nothing more */
    /* For devices: the flag value for which each event was last recorded. */
    _Alignas(128) _Atomic uint64_t recorded[HS_SLOT_EVENTS];
};

struct hs_bells;
struct hs_device_share;
struct hs_shm {
    void *base; /* mapping: for slot s and member m, an hs_post, then shared_bytes bytes of SHARED */
    size_t bytes;
    int members, me;                     /* ranks of the communicator on this node, ascending */
    const int *index;                    /* index of each rank of the communicator among its node's members */
    int64_t shared_bytes, pitch;         /* bytes of SHARED per rank and slot; distance between members' parts */
    int direct;                          /* members can read each other's memory with one copy */
    pid_t *process;                      /* of each member */
    void *bounce;                        /* HS_BOUNCE bytes for operands that a REDUCE reads directly from peers */
    int64_t next;                        /* number of the next instance that uses it, equal on all members */
    struct hs_bells *bells;              /* for ranks that block; NULL: all poll */
    const struct hs_device_share *share; /* for devices: where SHARED and the events are; else NULL */
};

enum { HS_BOUNCE = 256 * 1024, HS_POST_BYTES = 4096 };

static inline struct hs_post *hs_shm_post(const struct hs_shm *shm, int64_t instance, int member)
{
    int64_t part = instance % HS_RING * shm->members + member;
    return (struct hs_post *)((char *)shm->base + part * shm->pitch);
}
static inline void *hs_shm_shared(const struct hs_shm *shm, int64_t instance, int member)
{
    return (char *)hs_shm_post(shm, instance, member) + HS_POST_BYTES;
}

/* The flag for a value in an instance. It wraps after 2^32 instances; compared flags are always close together. */
static inline uint64_t hs_shm_epoch(int64_t instance, int64_t value)
{
    return ((uint64_t)instance + 1) << 32 | (uint64_t)value;
}

/* Flags: values are those of the list, the instance number makes them grow. */
void hs_shm_signal(struct hs_shm *shm, int64_t instance, int64_t value);
int hs_shm_signalled(const struct hs_shm *shm, int64_t instance, int member, int64_t value);
/* Whether all members have finished the previous instance in the slot. */
int hs_shm_free(const struct hs_shm *shm, int64_t instance);
void hs_shm_finish(struct hs_shm *shm, int64_t instance);
void hs_shm_publish(struct hs_shm *shm, int64_t instance, const void *in, const void *out);
/* Marks this rank as failed; ranks that wait for it give up. */
void hs_shm_break(struct hs_shm *shm);
int hs_shm_broken(const struct hs_shm *shm, int member);
/* Reads `bytes` from a member's IN (which = 0) or OUT (1) at an offset. HSUMMA_ERR_INTERNAL if the system refuses. */
hsumma_status hs_shm_read(const struct hs_shm *shm, int64_t instance, int member, int which, int64_t at, void *to,
                          int64_t bytes);

#endif
