/*
 * The roster of a node: what each rank of a communicator shows its mates in memory that they share. This is its
 * process, so that they notice its death; its last call, for reports of long waits; and, once it has given up the
 * communicator, the error and its message.
 *
 * A process is identified by its number and its start time in /proc, so a process that has ended is recognised before
 * its parent has waited for it, and after its number has been given to another. Start times are compared only between
 * processes of one time namespace, and not after a process has been restored from a checkpoint, which changes its own.
 */
#ifndef HS_COLL_NODE_ROSTER_H
#define HS_COLL_NODE_ROSTER_H

#include "base/wait.h"

#include <mpi.h>
#include <stdatomic.h>

/* A rank's entry, which only this rank writes. */
struct hs_roster_entry {
    _Alignas(128) _Atomic uint64_t call; /* its last call, encoded by the caller of hs_roster_enter */
    _Atomic int64_t process;             /* its process id; stored after `started` and `space`; 0 until then */
    uint64_t started;                    /* when the process began, in clock ticks since the machine's start */
    uint64_t space;                      /* identifies the name space of its process id; 0 if unknown */
    uint64_t clock;                      /* identifies the name space of `started`; 0 if unknown */
    _Atomic int left;                    /* true if it has freed the communicator */
    _Atomic int failed;                  /* a status: the error after which it gave up, stored after `why`; 0 if none */
    struct hs_message why;
};

struct hs_roster {
    struct hs_roster_entry *entry; /* entries, indexed by mate; NULL if the node has none */
    int mates, me;
    uint64_t call;        /* this rank's last call */
    hsumma_status failed; /* the first error that ended the use of the communicator, here or on a mate; 0 if none */
    struct hs_message why;
};

/*
 * Makes the roster of the mates; without shared memory, in a simulator and for a rank without mates its `entry` is
 * NULL. Collective over `mates`, which may be MPI_COMM_NULL. *roster must be zero, except for calls and errors recorded
 * before. watch: NULL, or looks after the waits.
 */
void hs_roster_make(struct hs_roster *roster, MPI_Comm mates, const struct hs_watch *watch);
/* Tells the mates that this rank has freed the communicator, and frees the roster. Local. */
void hs_roster_leave(struct hs_roster *roster);

/* Shows the mates which call this rank enters. */
static inline void hs_roster_enter(struct hs_roster *roster, uint64_t call)
{
    roster->call = call;
    if (roster->entry)
        atomic_store_explicit(&roster->entry[roster->me].call, call, memory_order_relaxed);
}

/* Records the first error that ends the use of the communicator, and shows it to the mates. */
void hs_roster_give_up(struct hs_roster *roster, hsumma_status status, const char *why);
/* The message of the first such error, of this rank or else of a mate; if there is none, the text of `status`. */
const char *hs_roster_why(struct hs_roster *roster, hsumma_status status);

/*
 * Returns the first mate that has given up, or whose process has ended, -1 if there is none. Of mates that have freed
 * the communicator only `awaited` counts, the mate that this rank waits for (-1: unknown). *leavers: true if some mate
 * has freed it. Takes some 10 us for each mate.
 */
int hs_roster_find_lost(const struct hs_roster *roster, int awaited, int *leavers);

#endif
