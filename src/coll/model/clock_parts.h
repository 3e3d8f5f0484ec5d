/* What the files of the clock share. */
#ifndef HS_COLL_MODEL_CLOCK_PARTS_H
#define HS_COLL_MODEL_CLOCK_PARTS_H

#include "coll/model/clock.h"
#include "coll/schedule/lists.h"

/* Where two ranks meet. */
static inline enum hs_tier_kind hs_tier_of(const struct hs_topology *topology, int a, int b)
{
    if (!topology || topology->division[HS_NODE].of[a] != topology->division[HS_NODE].of[b])
        return HS_BETWEEN_NODES;
    return topology->division[HS_SOCKET].of[a] == topology->division[HS_SOCKET].of[b] ? HS_IN_SOCKET : HS_IN_NODE;
}

static inline int hs_node_of(const struct hs_topology *topology, int rank)
{
    return topology ? topology->division[HS_NODE].of[rank] : rank;
}

/*
 * The messages that are leaving their nodes.  The k that leave one node at a moment get on at max(beta, k inject)
 * seconds per byte.  Those with the same beta get on equally, so they leave in the order of the bytes that were due
 * when they came; short and long ones are two such queues.
 */
struct hs_flow_message {
    double key; /* to come: when; leaving: it has left when its node's `served` has come to this */
    double bytes;
    int behind; /* the one with the next key, -1: none */
    int is_long;
};

struct hs_flow_port {
    double
        served[2]; /* bytes that a short, a long message has got that has been leaving since the node was last idle, */
    double since;  /* at this time */
    int leaving;   /* messages */
    int first[2];  /* the short, the long one that leaves next; -1: none */
    int to_come;   /* the one that comes next; -1: none */
    double next;   /* when the first of these happens; HUGE_VAL: never */
    int place;     /* in the heap */
};

struct hs_flow {
    double beta[2], inject; /* beta of short and long messages */
    struct hs_flow_port *node;
    struct hs_flow_message *message;
    int *heap; /* of all nodes, the one with the earliest `next` first */
    int nodes;
};

/* For messages 0 .. messages-1, each of which comes once.  HSUMMA_ERR_MEMORY; hs_flow_end in any case. */
hsumma_status hs_flow_begin(struct hs_flow *flow, const struct hs_machine *machine, int nodes, int messages,
                            const struct hs_allocator *memory);
void hs_flow_end(struct hs_flow *flow, const struct hs_allocator *memory);
/* A message of so many bytes comes at `time`, which is not before the last departure. */
void hs_flow_come(struct hs_flow *flow, int node, int message, int is_long, double bytes, double time);
/* The next message that has left by `until` at the latest, and when; -1 if there is none. */
int hs_flow_leave(struct hs_flow *flow, double until, double *time);

/*
 * Devices that ranks share.  Each rank asks for one piece of work at a time; a device does first what was ready first,
 * and of two that were ready together the lower rank's.
 */
struct hs_device_work {
    double ready, seconds;
    int device, step, behind; /* behind: the rank whose work comes next on the device, -1: none */
};

struct hs_clock_device {
    double free;
    int last, first; /* rank whose work was done last, comes next; -1: none */
};

struct hs_devices {
    double turn;
    struct hs_clock_device *device;
    struct hs_device_work *work; /* of each rank */
    int devices, waiting;
};

/* HSUMMA_ERR_MEMORY; hs_devices_end in any case. */
hsumma_status hs_devices_begin(struct hs_devices *devices, const struct hs_machine *machine,
                               const struct hs_topology *topology, int size, const struct hs_allocator *memory);
void hs_devices_end(struct hs_devices *devices, const struct hs_allocator *memory);
/* A step of a rank is ready at `ready` and takes so long. */
void hs_devices_ask(struct hs_devices *devices, int rank, int g, double ready, double seconds);
/* When the next piece of work will have ended, if nothing is asked for before; HUGE_VAL: there is none. */
double hs_devices_next(const struct hs_devices *devices);
/* Does it: the step, and when it has ended; -1 if there is none. */
int hs_devices_serve(struct hs_devices *devices, double *time);
/* Of a rank, numbered over all nodes. */
int hs_device_of(const struct hs_machine *machine, const struct hs_topology *topology, int rank);
/* What a COPY or REDUCE takes on a device: 0 if it belongs to the piece of work that the step before it begins. */
double hs_device_work(const struct hs_machine *machine, const struct hs_list *list, int i);

/* What rank r does, added to the report; node_between: what its node has sent to others so far. */
void hs_clock_count(const struct hs_list *list, const struct hs_topology *topology, int r,
                    struct hs_traffic *node_between, struct hs_clock_report *report);

/* A step as the clock keeps it. */
struct hs_clock_step {
    double time; /* when it may begin, as known so far */
    union {
        int64_t count;  /* SEND, RECV, SIGNAL, WAIT */
        double seconds; /* the others: what it takes */
    };
    int pending;        /* what has not ended yet of what it waits for; -1: a message whose other end has to begin it */
    int next;           /* the step that takes its place in its queue; SIGNAL, WAIT: the next WAIT for that SIGNAL */
    int first_use;      /* -1: nothing depends on it */
    unsigned char kind; /* enum hs_kind */
    unsigned char price; /* of a message: in hs_clock_steps.price; COPY, REDUCE: 1 is a piece of work of a device */
};

struct hs_clock_use {
    int user, next; /* a step that depends on this one; the next one in `use`, -1: none */
};

enum { HS_CLOCK_OUTSIDE = -2 };

/* The steps of all ranks, or of those in a sample, numbered through. */
struct hs_clock_steps {
    struct hs_clock_step *step;
    int *mate, *rank; /* of each step; mate -1: none; HS_CLOCK_OUTSIDE: a rank's that is not in the sample */
    struct hs_clock_use *use;
    int steps, uses;
    size_t step_capacity, mate_capacity, rank_capacity, use_capacity;
    struct hs_link price[2 * HS_TIER_KINDS]; /* 2 * tier, and one more for long messages */
    struct hs_clock_load load;
};

/*
 * Builds the list of one rank after the other, keeps what the clock needs of it and counts the rest into the report if
 * there is one.  With a sample, a nonzero byte for each rank that is in it, only their lists; then there is no load.
 * Statuses are those of hs_clock; hs_clock_steps_free in any case.
 */
hsumma_status hs_clock_steps_build(struct hs_clock_steps *steps, const struct hs_alg *alg, const struct hs_shape *shape,
                                   const struct hs_machine *machine, const struct hs_allocator *memory,
                                   const unsigned char *sample, struct hs_clock_report *report);
void hs_clock_steps_free(struct hs_clock_steps *steps, const struct hs_allocator *memory);

struct hs_clock_result {
    double seconds;
    int steps;
    struct hs_clock_load load;
};
/*
 * The clock of the ranks in a sample, as if all others were always ready to send and to receive: never more than the
 * clock of all ranks on a machine without injection.
 */
hsumma_status hs_clock_sample(const struct hs_alg *alg, const struct hs_shape *shape, const struct hs_machine *machine,
                              const struct hs_allocator *memory, const unsigned char *sample,
                              struct hs_clock_result *result);

#endif
