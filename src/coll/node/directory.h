/*
 * What the ranks of one node tell each other while they multiply from shared memory.  Each rank has an entry with words
 * that only it writes and that only grow (SIGNAL), so nothing is ever reset; others poll them (WAIT), and when that
 * takes long they sleep until any of those that they wait for signals.
 */
#ifndef HS_COLL_NODE_DIRECTORY_H
#define HS_COLL_NODE_DIRECTORY_H

#include "coll/node/bells.h"
#include "coll/node/verdict.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum hs_counter {
    HS_FILLED,  /* steps whose panels this rank has put into shared memory */
    HS_USED,    /* steps that it has multiplied: it reads their panels no more */
    HS_SUMMED,  /* partial results that it has added up */
    HS_ARRIVED, /* agreements that it has come to, with its ballot */
    HS_DONE,    /* of each channel of each moving operand (hs_done_of): its instances that are over here */
    HS_STREAMS = 2,
    HS_CHANNELS_OF_STREAM = 8,
    HS_COUNTERS = HS_DONE + HS_STREAMS * HS_CHANNELS_OF_STREAM
};

static inline int hs_done_of(int stream, int channel)
{
    return HS_DONE + stream * HS_CHANNELS_OF_STREAM + channel;
}

/* Where an operand lies that others may read in place; of one execution, whose number is told last. */
struct hs_offer {
    _Atomic uint64_t execution;
    _Atomic int64_t region, offset, ld;
};

/* What one rank writes and others poll lies on cache lines of its own. */
struct hs_directory_entry {
    struct {
        _Alignas(128) _Atomic uint64_t value;
    } counter[HS_COUNTERS];
    _Atomic int64_t vote[2][HS_BALLOT_WORDS]; /* of arrivals in turns: a rank is at most one ahead of its readers */
    _Alignas(128) struct hs_offer offer[2];   /* of A and B */
    _Alignas(128) _Atomic uint32_t sleepers;  /* how many wait for this rank, asleep or about to be; they count it */
    _Alignas(128) _Atomic uint32_t asleep;    /* this rank is, or is about to be ... */
    _Atomic uint32_t bell;                    /* ... until others ring this */
    _Atomic int broken;                       /* this rank has failed and will signal nothing any more */
};

/* Something that a rank waits for. */
struct hs_awaited {
    int rank;
    int counter;
    uint64_t value;
};

enum { HS_AWAITED = 16 };
struct hs_directory {
    struct hs_directory_entry *entry; /* NULL: no shared memory */
    int ranks, me;
    uint64_t arrivals;      /* agreements that this rank has started, in one order on all */
    struct hs_bells *bells; /* of ranks that block; NULL: all poll */
    int crowded;            /* more ranks than processors: who waits must not hold one */
    /* what has not been there since hs_directory_look: any of it may let this rank go on */
    struct hs_awaited awaited[HS_AWAITED];
    int awaits;
};

/* A new look at what there is to do. */
static inline void hs_directory_look(struct hs_directory *directory)
{
    directory->awaits = 0;
}

static inline size_t hs_directory_bytes(int ranks)
{
    return sizeof(struct hs_directory_entry) * (size_t)ranks;
}

/* Whether a rank's word has come to a value; if not, this rank may sleep for it. */
static inline int hs_signalled(struct hs_directory *directory, int rank, int counter, uint64_t value)
{
    if (atomic_load_explicit(&directory->entry[rank].counter[counter].value, memory_order_acquire) >= value)
        return 1;
    if (directory->awaits < HS_AWAITED)
        directory->awaited[directory->awaits++] = (struct hs_awaited){rank, counter, value};
    return 0;
}

/* Sets a word of this rank's and wakes those that sleep. */
void hs_signal(struct hs_directory *directory, int counter, uint64_t value);

/* Agreements (coll/run/agree.h), by number: this rank's ballot; and that of another, once it is there. */
void hs_directory_arrive(struct hs_directory *directory, uint64_t arrival, const struct hs_ballot *ballot);
int hs_directory_arrived(struct hs_directory *directory, int rank, uint64_t arrival, struct hs_ballot *ballot);

/* A rank that fails says so, and those that wait for it give up. */
void hs_directory_break(struct hs_directory *directory);
int hs_directory_is_broken(const struct hs_directory *directory);

/* hs_idle (base/wait.h): spins, then yields, then sleeps until some of what is awaited is there, or a moment. */
hsumma_status hs_directory_idle(void *directory, int times);
/* Whether it sleeps at this time. */
int hs_directory_sleeps(const struct hs_directory *directory, int times);

#endif
