/*
 * Shared memory of the ranks of one node: a ring of slots for the instances of one group.  Each rank has, per slot, a
 * flag (SIGNAL, WAIT), a word that says which instance it has finished, a directory entry (where its IN and OUT are),
 * and `shared_bytes` bytes of SHARED.  Flags hold 64-bit epochs that only grow: nothing is ever reset.
 *
 * The counters of a product's directory (directory.h) grow likewise, but count over all executions of a grid, and their
 * readers sleep; a rank with collectives under way also has messages to move, so it polls flags and never sleeps.
 *
 * Shared memory of devices has the flags and words in memory of the host and SHARED in the devices' (share).  Its flags
 * say what has been put on streams; events of the slot, recorded before the flag is raised, say when it is over.
 */
#ifndef HS_COLL_NODE_SHM_H
#define HS_COLL_NODE_SHM_H

#include "coll/schedule/steps.h"

#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

enum { HS_RING = 4 }; /* instances of a group that may be under way at a time in shared memory */
/* Of devices: events of a rank for the signals of a slot, used in turn, and behind them the one for its end. */
enum { HS_SLOT_SIGNALS = 4, HS_SLOT_EVENTS };

/* One rank's part of one slot; what one rank writes and others poll lies on cache lines of its own. */
struct hs_post {
    _Alignas(128) _Atomic uint64_t flag;     /* instance << 32 | value of the last SIGNAL */
    _Alignas(128) _Atomic uint64_t finished; /* instances begun in this slot before this number are done here */
    /* of IN and OUT, published by the first SIGNAL: in the owner's process; of devices: the offset in `region` */
    _Alignas(128) uint64_t address[2];
    int64_t region[2];  /* of devices (region.h) */
    _Atomic int broken; /* in slot 0: this rank has failed and will signal nothing any more */
    _Alignas(128) _Atomic uint64_t recorded[HS_SLOT_EVENTS]; /* of devices: the flag's value for which each event was
                                                                recorded last */
};

struct hs_bells;
struct hs_device_share;
struct hs_shm {
    void *base; /* mapped: for slot s and member m, a hs_post, then shared_bytes bytes of SHARED */
    size_t bytes;
    int members, me;             /* ranks of the communicator that are on my node, ascending */
    const int *index;            /* of each rank of the communicator among the members of its node */
    int64_t shared_bytes, pitch; /* bytes of SHARED per rank and slot; from one member's part to the next one's */
    int direct;                  /* members read each other's memory with one copy */
    pid_t *process;              /* of each member */
    void *bounce;                /* where a REDUCE puts what it reads directly; HS_BOUNCE bytes */
    int64_t next;                /* number of the next instance that uses it, alike on all members */
    struct hs_bells *bells;      /* of ranks that block; NULL: all poll */
    const struct hs_device_share *share; /* of devices: where SHARED is, and the events; else NULL */
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

/* The flag of an instance at a value.  After 2^32 instances it begins again; what is compared lies close together. */
static inline uint64_t hs_shm_epoch(int64_t instance, int64_t value)
{
    return ((uint64_t)instance + 1) << 32 | (uint64_t)value;
}

/* Of the flags: values are those of the list, instances make them grow. */
void hs_shm_signal(struct hs_shm *shm, int64_t instance, int64_t value);
int hs_shm_signalled(const struct hs_shm *shm, int64_t instance, int member, int64_t value);
/* 1 if all members have finished what used the instance's slot before. */
int hs_shm_free(const struct hs_shm *shm, int64_t instance);
void hs_shm_finish(struct hs_shm *shm, int64_t instance);
void hs_shm_publish(struct hs_shm *shm, int64_t instance, const void *in, const void *out);
/* A rank that fails says so, and those that wait for it give up. */
void hs_shm_break(struct hs_shm *shm);
int hs_shm_broken(const struct hs_shm *shm, int member);
/* Reads `bytes` from a member's IN (which = 0) or OUT (1) at an offset.  HSUMMA_ERR_INTERNAL if the system refuses. */
hsumma_status hs_shm_read(const struct hs_shm *shm, int64_t instance, int member, int which, int64_t at, void *to,
                          int64_t bytes);

#endif
