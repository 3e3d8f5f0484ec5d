/*
 * Progress that the ranks of one node publish to each other while they multiply from shared memory. Each rank has an
 * entry of counters that only it writes and that only grow, so nothing is ever reset. Other ranks poll them, and after
 * a while sleep until one of the awaited ranks signals.
 */
#ifndef HS_COLL_NODE_DIRECTORY_H
#define HS_COLL_NODE_DIRECTORY_H

#include "coll/node/bells.h"
#include "coll/node/verdict.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum hs_counter {
    HS_FILLED,  /* steps whose panels this rank has copied into shared memory */
    HS_USED,    /* steps that it has multiplied, so it no longer reads their panels */
    HS_SUMMED,  /* partial results that it has added up */
    HS_ARRIVED, /* agreements that it has reached, with its ballot stored */
    HS_DONE,    /* per channel of each moving operand (hs_done_of): instances that it has completed */
    HS_MOVING_OPERANDS = 2,
    HS_CHANNELS_OF_OPERAND = 8,
    HS_COUNTERS = HS_DONE + HS_MOVING_OPERANDS * HS_CHANNELS_OF_OPERAND
};

/* operand: 0 or 1, of the two moving ones. */
static inline int hs_done_of(int operand, int channel)
{
    return HS_DONE + operand * HS_CHANNELS_OF_OPERAND + channel;
}

/* Where an operand that others may read in place lies, for one execution; its number is stored last. */
struct hs_offer {
    _Atomic uint64_t execution;
    _Atomic int64_t region, offset, ld;
};

/* What one rank writes and others poll has cache lines of its own. */
struct hs_directory_entry {
    struct {
        _Alignas(128) _Atomic uint64_t value;
    } counter[HS_COUNTERS];
    /* Used alternately: a rank is at most one agreement ahead of its readers. */
    _Atomic int64_t vote[2][HS_BALLOT_WORDS];
    _Alignas(128) struct hs_offer offer[2];  /* of A and B */
    _Alignas(128) _Atomic uint32_t sleepers; /* how many ranks wait for this one; they keep the count */
    _Alignas(128) _Atomic uint32_t asleep;   /* this rank sleeps or is about to ... */
    _Atomic uint32_t bell;                   /* ... on this futex, which others change to wake it */
    _Atomic int broken;                      /* this rank has failed and will signal nothing more */
};

/* A condition that a rank waits for. */
struct hs_awaited {
    int rank;
    int counter;
    uint64_t value;
};

enum { HS_AWAITED = 16 };
struct hs_directory {
    struct hs_directory_entry *entry; /* NULL: no shared memory */
    int ranks, me;
    uint64_t arrivals;      /* agreements that this rank has started, in the same order on all */
    struct hs_bells *bells; /* for ranks that block; NULL: all poll */
    int crowded;            /* more ranks than processors: a waiting rank must not occupy one */
    /* Conditions that were not met since hs_directory_look; any of them may let this rank proceed. */
    struct hs_awaited awaited[HS_AWAITED];
    int awaits;
};

/* Starts a new search for work. */
static inline void hs_directory_look(struct hs_directory *directory)
{
    directory->awaits = 0;
}

static inline size_t hs_directory_bytes(int ranks)
{
    return sizeof(struct hs_directory_entry) * (size_t)ranks;
}

/* Whether a rank's counter has reached a value; if not, this rank may sleep until it does. */
static inline int hs_signalled(struct hs_directory *directory, int rank, int counter, uint64_t value)
{
    if (atomic_load_explicit(&directory->entry[rank].counter[counter].value, memory_order_acquire) >= value)
        return 1;
    if (directory->awaits < HS_AWAITED)
        directory->awaited[directory->awaits++] = (struct hs_awaited){rank, counter, value};
    return 0;
}

/* Sets a counter of this rank and wakes ranks that sleep. */
void hs_signal(struct hs_directory *directory, int counter, uint64_t value);

/*
 * For agreements (coll/run/agree.h), which are numbered: stores this rank's ballot; reads another's once it is there.
 */
void hs_directory_arrive(struct hs_directory *directory, uint64_t arrival, const struct hs_ballot *ballot);
int hs_directory_arrived(struct hs_directory *directory, int rank, uint64_t arrival, struct hs_ballot *ballot);

/* Marks this rank as failed; ranks that wait for it give up. */
void hs_directory_break(struct hs_directory *directory);
int hs_directory_is_broken(const struct hs_directory *directory);

/* An hs_idle function (base/wait.h): spins, then yields, then sleeps until an awaited condition holds, or briefly. */
hsumma_status hs_directory_idle(void *directory, int times);
/* Whether it would sleep after `times` polls. */
int hs_directory_sleeps(const struct hs_directory *directory, int times);

#endif
