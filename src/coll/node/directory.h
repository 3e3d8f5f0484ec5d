/*
 * Progress that the ranks of one node publish to each other during products and agreements. Each rank has an
 * entry of counters that only it writes and that only grow, so nothing is ever reset. Other ranks poll the counters,
 * and after a while sleep until one of the awaited ranks signals.
 */
#ifndef HS_COLL_NODE_DIRECTORY_H
#define HS_COLL_NODE_DIRECTORY_H

#include "coll/node/bells.h"
#include "coll/node/verdict.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Counters. All but HS_ARRIVED count from the start of an execution, and their upper bits are the execution's number
 * (hs_node_progress). Work on a device counts as done once it is enqueued if ranks share events, otherwise when it is
 * complete.
 */
enum hs_counter {
    HS_FILLED,  /* number of steps whose panels this rank has copied into shared memory */
    HS_USED,    /* number of steps (over messages: panels) that the rank has multiplied and no longer reads */
    HS_SUMMED,  /* number of panels whose partial results the rank has added up */
    HS_ARRIVED, /* number of agreements for which the rank has stored its ballot */
    HS_DONE,    /* first of the counters of completed instances, one per channel of each moving operand (hs_done_of) */
    HS_MOVING_OPERANDS = 2,
    HS_CHANNELS_OF_OPERAND = 8,
    HS_COUNTERS = HS_DONE + HS_MOVING_OPERANDS * HS_CHANNELS_OF_OPERAND
};

/* The counter of completed instances of a channel. operand: 0 or 1, which of the two moving operands. */
static inline int hs_done_of(int operand, int channel)
{
    return HS_DONE + operand * HS_CHANNELS_OF_OPERAND + channel;
}

/* Where other ranks may read an operand's part in place, for one execution, whose number is stored last. */
struct hs_offer {
    _Atomic uint64_t execution;
    _Atomic int64_t region, offset, ld;
};

/* One rank's entry. Fields that one rank writes while others poll them have separate cache lines. */
struct hs_directory_entry {
    struct {
        _Alignas(128) _Atomic uint64_t value;
    } counter[HS_COUNTERS];
    /* Ballots of agreements, used alternately, because a rank is at most one agreement ahead of its readers. */
    _Atomic int64_t vote[2][HS_BALLOT_WORDS];
    _Alignas(128) struct hs_offer offer[2];  /* locations of A [0] and B [1] */
    _Alignas(128) _Atomic uint32_t sleepers; /* number of conditions on this rank's counters for which other ranks
                                                sleep or are about to; those ranks increment and decrement it */
    _Alignas(128) _Atomic uint32_t asleep;   /* true if this rank sleeps on `bell`, or is about to */
    _Atomic uint32_t bell;                   /* futex that other ranks change to wake this rank */
    _Atomic int broken; /* a status: the error after which this rank sends no more signals; 0 if none */
};

/* A condition that a rank waits for: a counter of another rank reaches a value. */
struct hs_awaited {
    int rank;
    int counter;
    uint64_t value;
};

enum { HS_AWAITED = 16 };
struct hs_directory {
    struct hs_directory_entry *entry; /* entries, indexed by rank on the node; NULL without shared memory */
    int ranks, me;
    uint64_t arrivals;      /* number of agreements that this rank has started; all start them in the same order */
    struct hs_bells *bells; /* bells for ranks that block in MPI; NULL if all ranks poll */
    int crowded;            /* true if there are more ranks than processors, so a waiting rank must not occupy one */
    /* Conditions found unmet since hs_directory_look. When any of them is met, this rank may be able to proceed. */
    struct hs_awaited awaited[HS_AWAITED];
    int awaits;
};

/* Starts a new search for work: forgets the awaited conditions. */
static inline void hs_directory_look(struct hs_directory *directory)
{
    directory->awaits = 0;
}

static inline size_t hs_directory_bytes(int ranks)
{
    return sizeof(struct hs_directory_entry) * (size_t)ranks;
}

/*
 * True if a rank's counter has reached a value. If not, records the condition, so that this rank may sleep until then.
 */
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

/* For agreement `arrival`: stores this rank's ballot; reads another rank's, or returns 0 if it is not yet stored. */
void hs_directory_arrive(struct hs_directory *directory, uint64_t arrival, const struct hs_ballot *ballot);
int hs_directory_arrived(struct hs_directory *directory, int rank, uint64_t arrival, struct hs_ballot *ballot);

/* Marks this rank as failed. Ranks that await it return HSUMMA_ERR_PEER if that is its status, else HSUMMA_ERR_MPI. */
void hs_directory_break(struct hs_directory *directory, hsumma_status status);
/* The status of a rank that has failed, HSUMMA_OK if there is none. */
hsumma_status hs_directory_broken(const struct hs_directory *directory);

/* An hs_idle function (base/wait.h): spins, then yields, then sleeps until an awaited condition holds, at most 2 ms. */
hsumma_status hs_directory_idle(void *directory, int times);
/* True if hs_directory_idle would sleep after `times` polls. */
int hs_directory_sleeps(const struct hs_directory *directory, int times);

#endif
