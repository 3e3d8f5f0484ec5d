/*
 * clock: the time that a collective takes on a model machine, read off its step lists: the cost model is derived from
 * the schedule, never written a second time.
 *
 * Messages.  Hockney's model, full duplex: a message of n bytes occupies a port of the sender and one of the receiver
 * together for alpha + n beta; it starts when its SEND and its RECV may begin and both ports are free.  A rank has
 * `ports` ports each way, which serve its messages in list order, in turn.  alpha and beta are those of the innermost
 * of socket, node and network in which both ranks are (shape->topology; NULL: every rank on a node of its own); above
 * `eager` bytes those of the rendezvous.  With a gap, a short message leaves its ports after gap + n beta, and arrives
 * after alpha + n beta all the same: several are on their way at a time.
 *
 * Injection.  The max-rate model of Gropp, Olson and Samfass (2016), as in Bienz, Olson and Gropp (2019), Section IV:
 * after its alpha, a message between nodes shares its node's outgoing bandwidth equally with the others that leave the
 * node at that moment, so that k equal ones that start together each take alpha + max(k n inject, n beta).
 *
 * Memory.  REDUCE costs gamma per byte, COPY copy per byte; a COPY that reads or writes SHARED, or reads a peer's
 * slot, costs shm.alpha + n shm.beta (DPML: a' + n b').  A rank does one at a time, in list order.  A WAIT ends when
 * its rank is ready for it, but no sooner than `signal` after the SIGNAL.  SIGNAL and JOIN take no time.
 *
 * Devices.  With `devices` per node, the ranks of a node are dealt to them in blocks, and COPY and REDUCE are work for
 * the rank's device: one at a time, in the order in which they become ready (a rank's in list order), with `turn` when
 * the rank changes.  A piece of work costs shm.alpha, its launch, and gamma, copy or shm.beta per byte as above;
 * REDUCEs that continue each other (hs_step_continues) are one piece, which ends for all of them at once.
 *
 * Without injection and devices a time is a maximum of sums of prices: a machine that is nowhere dearer is nowhere
 * slower.  With them a message or a piece of work that comes earlier may hold up one on which more depends: then it may
 * be slower, though not by much.
 */
#ifndef HS_COLL_MODEL_CLOCK_H
#define HS_COLL_MODEL_CLOCK_H

#include "coll/schedule/registry.h"

struct hs_link {
    double alpha; /* s per message or copy */
    double beta;  /* s per byte */
    double gap;   /* the part of alpha for which a message keeps its ports busy: LogP's gap; 0: all of it */
    /* of messages above `eager` bytes, whose sender waits for the receiver first; eager 0: all are alike */
    int64_t eager;
    double alpha_long, beta_long;
};

/* What is 0 is as if it were not there. */
struct hs_machine {
    union { /* between nodes */
        struct hs_link network;
        struct {
            double alpha, beta; /* network's */
        };
    };
    double gamma;          /* s per byte reduced */
    double copy;           /* s per byte copied */
    struct hs_link node;   /* between sockets of a node; both 0: like the network */
    struct hs_link socket; /* inside a socket; both 0: like the node */
    double inject;         /* s per byte that leaves a node, whoever sends it; 0: no limit */
    struct hs_link shm;    /* a copy into or out of shared memory; both 0: like any copy */
    double signal;         /* s from a SIGNAL to the WAITs for it */
    int ports;             /* messages of a rank at the same time, each way; 0: one */
    int devices;           /* per node; 0: none, every rank has a processor of its own */
    double turn;           /* s from one rank's work to another's on the same device */
};

enum hs_tier_kind { HS_IN_SOCKET, HS_IN_NODE, HS_BETWEEN_NODES, HS_TIER_KINDS };

struct hs_traffic {
    int64_t messages, bytes;
};

struct hs_clock_report {
    double seconds;                            /* when the last rank has finished */
    int64_t messages, bytes;                   /* over all ranks */
    int64_t messages_rank_max, bytes_rank_max; /* sent; each of the rank that has most */
    struct hs_traffic tier[HS_TIER_KINDS];     /* over all ranks: inside sockets, inside nodes, between nodes */
    struct hs_traffic between_rank_max, between_node_max; /* sent between nodes, by the rank and by the node */
    int64_t shared_copies;                                /* bytes that all ranks copy into or out of shared memory */
    int64_t reduced_rank_max;                             /* bytes */
    int64_t signals;                                      /* over all ranks */
};

/*
 * shape->rank is ignored.  HSUMMA_ERR_UNSUPPORTED if the row is MPI's own or does not fit the shape;
 * HSUMMA_ERR_INTERNAL if the lists deadlock or do not match; HSUMMA_ERR_MEMORY.
 */
hsumma_status hs_clock(const struct hs_alg *alg, const struct hs_shape *shape, const struct hs_machine *machine,
                       const struct hs_allocator *memory, struct hs_clock_report *report);
/*
 * What many of a collective in a row, several at a time, cannot undercut: the time that a port, a processor, or the way
 * out of or into a node is at work for each.  Ranks are counted from the root; most[i] is for i + 1 of them in flight
 * whose roots are neighbours, so that what one has more to do than others moves on by a rank each time.
 */
enum { HS_LOAD_ROOTS = 8 };
struct hs_clock_load {
    double most[HS_LOAD_ROOTS]; /* of the one that has most to do */
    double mean;                /* of all of a kind, of the kind that has most: for all roots in turn */
};
/* The seconds alone, which are the same and come sooner; and the load, if load is not NULL. */
hsumma_status hs_clock_seconds(const struct hs_alg *alg, const struct hs_shape *shape, const struct hs_machine *machine,
                               const struct hs_allocator *memory, double *seconds, struct hs_clock_load *load);

/*
 * The seconds of many ranks, from the lists of some: exact up to 64 ranks, and as long as all lists have few steps.
 * A schedule that surely takes `enough` seconds is not looked at closely: then `seconds` is some value beyond.
 * Statuses are those of hs_clock; HSUMMA_ERR_UNSUPPORTED as well if the row does not fit fewer nodes of this kind.
 */
struct hs_clock_estimate {
    double seconds;
    int64_t lists; /* that were built */
};
hsumma_status hs_clock_estimate(const struct hs_alg *alg, const struct hs_shape *shape,
                                const struct hs_machine *machine, const struct hs_allocator *memory, double enough,
                                struct hs_clock_estimate *estimate);

#endif
