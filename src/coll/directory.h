/*
 * What the ranks of one node tell each other while they multiply from shared memory.  Each rank has an entry with words
 * that only it writes and that only grow (SIGNAL), so nothing is ever reset; others poll them, and sleep on the entry
 * when that takes long (WAIT).
 */
#ifndef HS_COLL_DIRECTORY_H
#define HS_COLL_DIRECTORY_H

#include "base/status.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum hs_counter {
    HS_FILLED,  /* steps whose panels this rank has put into shared memory */
    HS_USED,    /* steps that it has multiplied: it reads their panels no more */
    HS_SUMMED,  /* partial results that it has added up */
    HS_ARRIVED, /* executions that it has come to, with a verdict */
    HS_COUNTERS
};

/* Where an operand lies that others may read in place; of one execution, whose number is told last. */
struct hs_offer {
    _Atomic uint64_t execution;
    _Atomic int64_t region, offset, ld;
};

/* What one rank writes and others poll lies on cache lines of its own. */
struct hs_words {
    struct {
        _Alignas(128) _Atomic uint64_t value;
    } word[HS_COUNTERS];
    _Atomic int64_t verdict[2]; /* of arrivals in turns: a rank is at most one ahead of those that still read */
    _Alignas(128) struct hs_offer place[2]; /* of A and B */
    pid_t process;
    _Alignas(128) _Atomic uint32_t bell;     /* rung by each SIGNAL while somebody sleeps on this entry ... */
    _Alignas(128) _Atomic uint32_t sleepers; /* ... as these are; the only word that others write */
};

/* What a rank was last found to wait for; rank -1: nothing. */
struct hs_awaited {
    int rank;
    enum hs_counter word;
    uint64_t value;
};

struct hs_directory {
    struct hs_words *entry; /* NULL: no shared memory */
    int ranks, me;
    uint64_t arrivals; /* of this rank, and of each of those that arrive with it */
    int crowded;       /* more ranks than processors: who waits must not hold one */
    struct hs_awaited awaited;
};

static inline size_t hs_directory_bytes(int ranks)
{
    return sizeof(struct hs_words) * (size_t)ranks;
}

/* Whether a rank's word has come to a value; if not, that is what this rank sleeps for. */
static inline int hs_signalled(struct hs_directory *directory, int rank, enum hs_counter word, uint64_t value)
{
    if (atomic_load_explicit(&directory->entry[rank].word[word].value, memory_order_acquire) >= value)
        return 1;
    directory->awaited = (struct hs_awaited){rank, word, value};
    return 0;
}

/* Sets a word of this rank's and wakes those that sleep. */
void hs_signal(struct hs_directory *directory, enum hs_counter word, uint64_t value);

/* hs_idle (base/wait.h): spins, then yields, then sleeps until what is awaited has been signalled, or a moment. */
void hs_directory_idle(void *directory, int times);

#endif
