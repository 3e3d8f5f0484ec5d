/*
 * clock: the time of a collective on a model machine, derived from its step lists, so that no cost model has to be
 * written beside the schedule.
 *
 * Messages. Hockney's model, full duplex: a message of n bytes occupies one port of the sender and one of the receiver
 * for alpha + n beta. It starts when its SEND and its RECV may begin and both ports are free. A rank has `ports` ports
 * each way, which serve its messages in list order, round-robin. alpha and beta are those of the innermost of socket,
 * node and network that contains both ranks (shape->topology; NULL: every rank on its own node); above `eager` bytes
 * those of the rendezvous protocol. With a gap, a short message frees its ports after gap + n beta and still arrives
 * after alpha + n beta, so several may be in transit.
 *
 * Injection. The max-rate model of Gropp, Olson and Samfass (2016), as in Bienz, Olson and Gropp (2019), Section IV:
 * after its alpha, a message between nodes shares its node's outgoing bandwidth equally with the others that are
 * leaving the node. So k equal ones that start together each take alpha + max(k n inject, n beta).
 *
 * Memory. REDUCE costs gamma per byte, COPY copy per byte; a COPY that reads or writes SHARED, or reads a peer's slot,
 * costs shm.alpha + n shm.beta (DPML: a' + n b'). A rank does one at a time, in list order. A WAIT ends when its rank
 * reaches it, but not before `signal` seconds after the SIGNAL. SIGNAL and JOIN take no time.
 *
 * Devices. With `devices` per node, the ranks of a node are assigned to them in blocks, and COPY and REDUCE are
 * executed by the rank's device: one at a time, in the order in which they become ready (those of one rank in list
 * order), plus `turn` if the rank changes. A piece of work costs shm.alpha, its launch, and gamma, copy or shm.beta per
 * byte as above. REDUCEs that continue each other (hs_step_continues) are one piece, which ends for all of them at the
 * same time.
 *
 * Without injection and devices the time is a maximum of sums of prices, so a machine with no higher price is never
 * slower. With them an earlier message or piece of work may delay one on which more depends, so such a machine may be
 * slower, though not by much.
 */
#ifndef HS_COLL_MODEL_CLOCK_H
#define HS_COLL_MODEL_CLOCK_H

#include "coll/schedule/registry.h"

struct hs_link {
    double alpha; /* s per message or copy */
    double beta;  /* s per byte */
    double gap;   /* the part of alpha for which a message occupies its ports: LogP's gap; 0: all of it */
    /* Messages above `eager` bytes, whose sender first waits for the receiver, cost these; eager 0: no distinction. */
    int64_t eager;
    double alpha_long, beta_long;
};

/* Zero disables a term. */
struct hs_machine {
    union { /* between nodes */
        struct hs_link network;
        struct {
            double alpha, beta; /* the network's */
        };
    };
    double gamma;          /* s per byte reduced */
    double copy;           /* s per byte copied */
    struct hs_link node;   /* between sockets of a node; both 0: as the network */
    struct hs_link socket; /* inside a socket; both 0: as the node */
    double inject;         /* s per byte that leaves a node, whichever rank sends it; 0: no limit */
    struct hs_link shm;    /* a copy into or out of shared memory; both 0: as any copy */
    double signal;         /* s from a SIGNAL to the end of WAITs for it */
    int ports;             /* concurrent messages of a rank, each way; 0: one */
    int devices;           /* per node; 0: none, ranks compute on their own processors */
    double turn;           /* s to switch a device from one rank's work to another's */
};

enum hs_tier_kind { HS_IN_SOCKET, HS_IN_NODE, HS_BETWEEN_NODES, HS_TIER_KINDS };

struct hs_traffic {
    int64_t messages, bytes;
};

struct hs_clock_report {
    double seconds;                            /* when the last rank finishes */
    int64_t messages, bytes;                   /* over all ranks */
    int64_t messages_rank_max, bytes_rank_max; /* sent by the rank that sends most, separately for each */
    struct hs_traffic tier[HS_TIER_KINDS];     /* over all ranks: inside sockets, inside nodes, between nodes */
    struct hs_traffic between_rank_max, between_node_max; /* most that a rank, a node sends between nodes */
    int64_t shared_copies;                                /* bytes copied into or out of shared memory, all ranks */
    int64_t reduced_rank_max;                             /* bytes reduced by the rank that reduces most */
    int64_t signals;                                      /* over all ranks */
};

/*
 * Computes the report; shape->rank is ignored. HSUMMA_ERR_UNSUPPORTED for row "mpi" or a row that does not fit the
 * shape; HSUMMA_ERR_INTERNAL if the lists deadlock or do not match; HSUMMA_ERR_MEMORY.
 */
hsumma_status hs_clock(const struct hs_alg *alg, const struct hs_shape *shape, const struct hs_machine *machine,
                       const struct hs_allocator *memory, struct hs_clock_report *report);
/*
 * Lower bounds on the time per collective if many are executed in a row, several at a time: how long a port, a
 * processor, or a node's way out or in works for each. most[i] is for i + 1 in flight with consecutive ranks as roots,
 * so that the load shifts by one rank from each to the next.
 */
enum { HS_LOAD_ROOTS = 8 };
struct hs_clock_load {
    double most[HS_LOAD_ROOTS]; /* load of the busiest */
    double mean;                /* mean over all roots, for the kind (port, processor, way) where it is largest */
};
/* The same seconds as hs_clock, computed faster; and the load, if load is not NULL. */
hsumma_status hs_clock_seconds(const struct hs_alg *alg, const struct hs_shape *shape, const struct hs_machine *machine,
                               const struct hs_allocator *memory, double *seconds, struct hs_clock_load *load);

/*
 * The seconds of many ranks, estimated from the lists of some: exact up to 64 ranks, and while all lists together have
 * few steps. A schedule that certainly takes `enough` seconds is not examined further: `seconds` is then some value >=
 * enough. Statuses as hs_clock; HSUMMA_ERR_UNSUPPORTED also if the row does not fit fewer nodes of this kind.
 */
struct hs_clock_estimate {
    double seconds;
    int64_t lists; /* number of lists built */
};
hsumma_status hs_clock_estimate(const struct hs_alg *alg, const struct hs_shape *shape,
                                const struct hs_machine *machine, const struct hs_allocator *memory, double enough,
                                struct hs_clock_estimate *estimate);

#endif
