/*
 * clock computes the time of a collective on a model machine from its step lists, so that schedules need no separate
 * cost model.
 *
 * Messages. Hockney's model, full duplex: a message of n bytes occupies one port of the sender and one of the receiver
 * for alpha + n beta. It starts when its SEND and its RECV may begin and both ports are free. A rank has `ports` ports
 * in each direction, which serve its messages in list order, round-robin. alpha and beta are those of the innermost of
 * socket, node and network that contains both ranks (shape->topology; NULL: every rank on its own node); messages above
 * `eager` bytes (long messages) have those of the rendezvous protocol. With a gap, a short message occupies its ports
 * for gap + n beta only, but arrives after alpha + n beta, so several may be in transit.
 *
 * Injection. The max-rate model of Gropp, Olson and Samfass (2016), as in Bienz, Olson and Gropp (2019), Section IV:
 * after its alpha, a message between nodes shares its node's outgoing bandwidth equally with the other messages that
 * are leaving the node. Each of k equal messages that start together takes alpha + max(k n inject, n beta). It occupies
 * its ports until it has left, even with a gap.
 *
 * Memory. REDUCE costs `gamma` per byte, COPY `copy` per byte; a COPY that reads or writes SHARED, or reads a peer's
 * slot, costs shm.alpha + n shm.beta (a' + n b' in the paper on DPML). With a price `read`, a COPY from a peer's IN or
 * OUT costs that instead, and a REDUCE costs it in addition for each such operand. A rank executes one COPY or REDUCE
 * at a time, in list order. A WAIT ends when its dependencies have ended, but at least `signal` seconds after the
 * SIGNAL. SIGNAL and JOIN take no time.
 *
 * Devices. With `devices` devices per node, the ranks of a node are assigned to them in blocks, and COPY and REDUCE are
 * executed by the rank's device: one at a time, in the order in which they become ready (those of one rank in list
 * order), with a delay of `turn` if the rank changes. A piece of work costs shm.alpha for its launch, and `gamma`,
 * `copy` or shm.beta per byte as above. REDUCEs that continue each other (hs_step_continues) are one piece of work, and
 * end at the same time.
 *
 * Offload. An MPI step (a collective among some ranks, by MPI or by a function of the caller) is priced as if the
 * network's switches performed it: it ends for all these ranks offload.alpha + n offload.beta after the last of them
 * could begin it, whatever their number. It occupies an outgoing port of each rank. Without offload prices, rows with
 * MPI steps have no price.
 *
 * Without injection and devices the time is a maximum of sums of prices, so lower prices never increase it. With them a
 * message or piece of work that starts earlier may delay one on which more steps depend, so lower prices may increase
 * the time slightly.
 */
#ifndef HS_COLL_MODEL_CLOCK_H
#define HS_COLL_MODEL_CLOCK_H

#include "coll/schedule/registry.h"

struct hs_link {
    double alpha; /* seconds per message or copy */
    double beta;  /* seconds per byte */
    double gap;   /* the seconds of alpha for which a message occupies its ports (LogP's gap); 0 for all of alpha */
    /* alpha and beta of messages above `eager` bytes, whose sender waits for the receiver; eager 0: all messages alike
     */
    int64_t eager;
    double alpha_long, beta_long;
};

/* Seconds per byte of long messages. */
static inline double hs_long_beta(const struct hs_link *link)
{
    return link->eager > 0 ? link->beta_long : link->beta;
}

/* True if the link has a price of its own. */
static inline int hs_is_priced(const struct hs_link *link)
{
    return link->alpha > 0 || link->beta > 0;
}

/* The prices of a machine. Zero disables a term. */
struct hs_machine {
    union { /* messages between nodes */
        struct hs_link network;
        struct {
            double alpha, beta; /* the same fields as network.alpha and network.beta */
        };
    };
    /* the seconds for which a message between nodes keeps its ports from messages of other collectives (LogP's
     * overhead); 0: as long as from those of its own */
    double overhead;
    double gamma;          /* seconds per byte reduced */
    double copy;           /* seconds per byte copied */
    struct hs_link node;   /* messages between sockets of a node; priced as between nodes if alpha and beta are 0 */
    struct hs_link socket; /* messages inside a socket; priced as between sockets if alpha and beta are 0 */
    double inject;         /* seconds per byte that leaves a node, whichever rank sends it; 0 if there is no limit */
    struct hs_link shm;  /* copies into or out of SHARED or from a peer's slot; priced as other copies if alpha and beta
                            are 0. With devices, alpha is also the launch of any work */
    struct hs_link read; /* copies from a peer's IN or OUT; priced as shm if alpha and beta are 0 */
    struct hs_link offload; /* alpha and beta of a collective that the network performs; no price if both are 0 */
    double signal;          /* minimum seconds from a SIGNAL to the end of a WAIT for it */
    int ports;              /* concurrent messages of a rank in each direction; 0 means 1 */
    int devices;            /* devices per node; 0 if ranks compute on their processors */
    double turn;            /* seconds to switch a device from one rank's work to another's */
};

enum hs_tier_kind { HS_IN_SOCKET, HS_IN_NODE, HS_BETWEEN_NODES, HS_TIER_KINDS };

struct hs_traffic {
    int64_t messages, bytes;
};

struct hs_clock_report {
    double seconds;                                       /* time at which the last rank finishes */
    int64_t messages, bytes;                              /* messages and bytes sent by all ranks */
    int64_t messages_rank_max, bytes_rank_max;            /* maxima over ranks of messages and of bytes sent */
    struct hs_traffic tier[HS_TIER_KINDS];                /* sent by all ranks, indexed by enum hs_tier_kind */
    struct hs_traffic between_rank_max, between_node_max; /* sent between nodes: maxima over ranks and over nodes */
    int64_t shared_copies;    /* bytes copied into or out of SHARED, or from a peer's slot */
    int64_t reduced_rank_max; /* bytes reduced by the rank that reduces most */
    int64_t signals;          /* number of SIGNALs of all ranks */
};

/*
 * Computes the report; shape->rank is ignored. Errors: HSUMMA_ERR_UNSUPPORTED for a row with HS_BY_MPI, for a row with
 * MPI steps if the machine has no offload prices, or for a row that does not fit the shape; HSUMMA_ERR_INTERNAL if the
 * lists deadlock or do not match; HSUMMA_ERR_MEMORY.
 */
hsumma_status hs_clock(const struct hs_alg *alg, const struct hs_shape *shape, const struct hs_machine *machine,
                       const struct hs_allocator *memory, struct hs_clock_report *report);
/*
 * The seconds that a call on device memory takes longer if its data, at most `bytes` on each rank, are copied to host
 * memory before and back after it (HS_ON_HOST).  A message between devices of one node (device->node) is staged in the
 * same way, so its cost beyond that of a message in host memory is that of the copies; those of ranks that share a
 * device follow one another.  Short copies wait for the rank's turn on the device, long ones do not
 * (doc/results/gpu.md).
 */
double hs_staging_seconds(const struct hs_machine *device, const struct hs_machine *host,
                          const struct hs_topology *topology, int64_t bytes);
/*
 * Lower bounds, in seconds, on the time per collective if many are executed in succession, several at a time: the time
 * for which a resource (a port, a processor, a device, or a node's outgoing or incoming link) is busy per collective.
 * most[i] assumes i + 1 collectives in flight with consecutive ranks as roots, so that each collective's load is that
 * of the previous one shifted by one rank (on devices the same for all roots).
 */
enum { HS_LOAD_ROOTS = 8 };
struct hs_clock_load {
    double most[HS_LOAD_ROOTS]; /* time of the busiest resource */
    double mean;                /* mean time of the resources of one kind, for the kind with the largest mean */
};
/* Computes only hs_clock_report.seconds, and the load if load is not NULL; faster than hs_clock. */
hsumma_status hs_clock_seconds(const struct hs_alg *alg, const struct hs_shape *shape, const struct hs_machine *machine,
                               const struct hs_allocator *memory, double *seconds, struct hs_clock_load *load);

/*
 * Estimates the seconds of hs_clock for many ranks from the lists of some. The root must be 0, the parts equal
 * (shape->part = NULL). The result is exact for up to 64 ranks, for up to 512 if all lists together have few steps,
 * and where both nodes and ranks per node are too few to extrapolate from. If the schedule is found to take at least
 * `enough` seconds, the estimate stops, and `seconds` is some value >= enough. Statuses are those of hs_clock;
 * HSUMMA_ERR_UNSUPPORTED also if the row does not fit one of the smaller shapes from which the result is extrapolated.
 */
struct hs_clock_estimate {
    double seconds;
    int64_t lists; /* number of lists built */
};
hsumma_status hs_clock_estimate(const struct hs_alg *alg, const struct hs_shape *shape,
                                const struct hs_machine *machine, const struct hs_allocator *memory, double enough,
                                struct hs_clock_estimate *estimate);

#endif
