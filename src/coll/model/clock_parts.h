/* Shared by the files of the clock. */
#ifndef HS_COLL_MODEL_CLOCK_PARTS_H
#define HS_COLL_MODEL_CLOCK_PARTS_H

#include "coll/model/clock.h"
#include "coll/schedule/lists.h"

/* The innermost level that contains both ranks. */
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
 * The fluid model of messages leaving their nodes. Each of the k messages that are leaving a node takes max(beta, k
 * inject) seconds per byte. Messages with the same beta progress equally, so their order of departure is fixed when
 * they arrive, by served + bytes; short and long messages form two such queues.
 */
struct hs_flow_message {
    double key; /* until it arrives: its arrival time; then: the node's `served` at which it has left */
    double bytes;
    int behind; /* next message in order of key, -1: none */
    int is_long;
};

struct hs_flow_port {
    double served[2]; /* bytes sent by each short, each long message that is leaving since the node was last idle */
    double since;     /* time to which `served` refers */
    int leaving;      /* number of messages that are leaving */
    int first[2];     /* the short and the long message that leave next; -1: none */
    int to_come;      /* the next message to arrive; -1: none */
    double next;      /* time of the first of these events; HUGE_VAL: none */
    int place;        /* index in the heap */
};

struct hs_flow {
    double beta[2], inject; /* beta of short and long messages */
    struct hs_flow_port *node;
    struct hs_flow_message *message;
    int *heap; /* all nodes, the one with the earliest `next` first */
    int nodes;
};

/* For messages 0 .. messages-1, each of which arrives once. HSUMMA_ERR_MEMORY; call hs_flow_end in any case. */
hsumma_status hs_flow_begin(struct hs_flow *flow, const struct hs_machine *machine, int nodes, int messages,
                            const struct hs_allocator *memory);
void hs_flow_end(struct hs_flow *flow, const struct hs_allocator *memory);
/* Adds a message of `bytes` bytes that arrives at `time`, which must not precede the last departure. */
void hs_flow_come(struct hs_flow *flow, int node, int message, int is_long, double bytes, double time);
/* Returns the next message that leaves by `until`, and the time; -1 if there is none. */
int hs_flow_leave(struct hs_flow *flow, double until, double *time);

/*
 * Devices shared by ranks. Each rank requests one piece of work at a time. A device executes pieces in the order in
 * which they became ready; of two ready at the same time, the lower rank's first.
 */
struct hs_device_work {
    double ready, seconds;
    int device, step, behind; /* behind: the rank whose work is next on the device, -1: none */
};

struct hs_clock_device {
    double free;
    int last, first; /* the rank whose work was executed last, and whose is next; -1: none */
};

struct hs_devices {
    double turn;
    struct hs_clock_device *device;
    struct hs_device_work *work; /* of each rank */
    int devices, waiting;
};

/* HSUMMA_ERR_MEMORY; call hs_devices_end in any case. */
hsumma_status hs_devices_begin(struct hs_devices *devices, const struct hs_machine *machine,
                               const struct hs_topology *topology, int size, const struct hs_allocator *memory);
void hs_devices_end(struct hs_devices *devices, const struct hs_allocator *memory);
/* Requests step g of a rank, which is ready at `ready` and takes `seconds`. */
void hs_devices_ask(struct hs_devices *devices, int rank, int g, double ready, double seconds);
/* When the next piece of work will end unless another is requested before; HUGE_VAL: there is none. */
double hs_devices_next(const struct hs_devices *devices);
/* Executes the next piece of work: returns its step and end time; -1 if there is none. */
int hs_devices_serve(struct hs_devices *devices, double *time);
/* The device of a rank, numbered across nodes. */
int hs_device_of(const struct hs_machine *machine, const struct hs_topology *topology, int rank);
/* Seconds of a COPY or REDUCE on a device; 0 if it belongs to the piece of work that an earlier step begins. */
double hs_device_work(const struct hs_machine *machine, const struct hs_list *list, int i);

/* Adds what rank r does to the report; node_between: what its node has sent to other nodes so far. */
void hs_clock_count(const struct hs_list *list, const struct hs_topology *topology, int r,
                    struct hs_traffic *node_between, struct hs_clock_report *report);

/* What the clock keeps of a step. */
struct hs_clock_step {
    double time; /* earliest begin known so far */
    union {
        int64_t count;  /* SEND, RECV, SIGNAL, WAIT */
        double seconds; /* COPY, REDUCE, JOIN: duration */
    };
    /* Dependencies and queue places still awaited; -1: a ready end of a message, which its other end will start. */
    int pending;
    /* The step that gets this one's place in its queue; SIGNAL, WAIT: the next WAIT for the same SIGNAL. */
    int next;
    int first_use;      /* -1: nothing depends on it */
    unsigned char kind; /* enum hs_kind */
    /* Of a message: index in hs_clock_steps.price. COPY, REDUCE: 1 if it begins a device's piece of work. */
    unsigned char price;
};

struct hs_clock_use {
    int user, next; /* a step that depends on this one; the next such entry of `use`, -1: none */
};

enum { HS_CLOCK_OUTSIDE = -2 };

/* The steps of all ranks, or of those in a sample, with global numbers. */
struct hs_clock_steps {
    struct hs_clock_step *step;
    int *mate, *rank; /* of each step; mate -1: none; HS_CLOCK_OUTSIDE: on a rank outside the sample */
    struct hs_clock_use *use;
    int steps, uses;
    size_t step_capacity, mate_capacity, rank_capacity, use_capacity;
    struct hs_link price[2 * HS_TIER_KINDS]; /* at 2 * tier for short messages, 2 * tier + 1 for long ones */
    struct hs_clock_load load;
};

/*
 * Builds the lists one rank at a time, keeps what the clock needs, and counts the rest into the report, if any. sample
 * has a nonzero byte for each rank to include; then only these ranks' lists are built, and no load is computed.
 * Statuses as hs_clock; call hs_clock_steps_free in any case.
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
 * The clock of the ranks in a sample, as if all others were always ready to send and receive: never more than the clock
 * of all ranks on a machine without injection.
 */
hsumma_status hs_clock_sample(const struct hs_alg *alg, const struct hs_shape *shape, const struct hs_machine *machine,
                              const struct hs_allocator *memory, const unsigned char *sample,
                              struct hs_clock_result *result);

#endif
