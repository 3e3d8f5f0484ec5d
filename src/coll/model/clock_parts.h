/* Internal declarations of the clock. */
#ifndef HS_COLL_MODEL_CLOCK_PARTS_H
#define HS_COLL_MODEL_CLOCK_PARTS_H

#include "coll/model/clock.h"
#include "coll/schedule/lists.h"

/* The innermost level that contains both ranks. */
static inline enum hs_tier_kind hs_tier_of(const struct hs_topology *topology, int a, int b)
{
    if (!topology || hs_node_of(topology, a) != hs_node_of(topology, b))
        return HS_BETWEEN_NODES;
    return hs_part_of(&topology->division[HS_SOCKET], a) == hs_part_of(&topology->division[HS_SOCKET], b) ? HS_IN_SOCKET
                                                                                                          : HS_IN_NODE;
}

/*
 * The fluid model of messages that leave their nodes. Each of the k messages that are leaving a node takes max(beta, k
 * inject) seconds per byte. Messages with the same beta progress equally, so their order of departure is fixed when
 * they arrive at the link, by served + bytes; short and long messages form two such queues.
 */
struct hs_flow_message {
    double key; /* before the message arrives, its arrival time; after that, the node's `served` at which it leaves */
    double bytes;
    int behind; /* next message in order of key, -1 if none */
    int is_long;
};

struct hs_flow_port {
    double served[2]; /* bytes that a short [0] or long [1] message would have sent since the node was last idle */
    double since;     /* time to which `served` refers */
    int leaving;      /* number of messages that are leaving the node */
    int first[2];     /* the short [0] and the long [1] message that leave next, -1 if none */
    int to_come;      /* the next message to arrive, -1 if none */
    double next;      /* time of the node's next arrival or departure, HUGE_VAL if none */
    int place;        /* index of the node in the heap */
};

struct hs_flow {
    double beta[2], inject; /* beta of short and long messages */
    struct hs_flow_port *node;
    struct hs_flow_message *message;
    int *heap; /* binary heap of all nodes, the one with the earliest `next` first */
    int nodes;
};

/* Begins a flow of messages, which arrive at most once. HSUMMA_ERR_MEMORY; call hs_flow_end in any case. */
hsumma_status hs_flow_begin(struct hs_flow *flow, const struct hs_machine *machine, int nodes, int messages,
                            const struct hs_allocator *memory);
void hs_flow_end(struct hs_flow *flow, const struct hs_allocator *memory);
/* Adds a message of `bytes` bytes that arrives at the link at `time`, which must not precede the last departure. */
void hs_flow_come(struct hs_flow *flow, int node, int message, int is_long, double bytes, double time);
/* Returns the next message that leaves at or before `until`, and sets *time to its departure; -1 if there is none. */
int hs_flow_leave(struct hs_flow *flow, double until, double *time);

/*
 * Devices shared by ranks.  A device works for one rank until that rank has no work that is ready, as a GPU does for a
 * process until the end of its time slice; then it executes what became ready first, and of what became ready at the
 * same time the work of the lowest rank.
 */
struct hs_device_work {
    double ready, seconds;
    int rank, behind; /* behind: the step that follows in the device's queue, -1 if none */
};

struct hs_clock_device {
    double free;
    int ranks;       /* number of ranks that share the device */
    int last, first; /* last: the rank whose work was executed last; first: the first step of the queue; -1 if none */
};

struct hs_devices {
    double turn;
    struct hs_clock_device *device;
    struct hs_device_work *work; /* the request of each step, indexed by step */
    int *of;                     /* the device of each rank */
    int devices, waiting;
};

/* Returns HSUMMA_ERR_MEMORY if memory is exhausted; call hs_devices_end in any case. */
hsumma_status hs_devices_begin(struct hs_devices *devices, const struct hs_machine *machine,
                               const struct hs_topology *topology, int size, int steps,
                               const struct hs_allocator *memory);
void hs_devices_end(struct hs_devices *devices, const struct hs_allocator *memory);
/* Whether a rank must wait for its turn on its device, because the device worked last for another rank, or for none. */
int hs_devices_serve_another(const struct hs_devices *devices, int rank);
/* Requests the execution of step g of a rank, which is ready at time `ready` and takes `seconds`. */
void hs_devices_ask(struct hs_devices *devices, int rank, int g, double ready, double seconds);
/* The time at which the next piece of work will end if no earlier one is requested; HUGE_VAL if there is none. */
double hs_devices_next(const struct hs_devices *devices);
/* Executes the next piece of work. Returns its step and sets *time to its end; -1 if there is none. */
int hs_devices_serve(struct hs_devices *devices, double *time);
/* The device of a rank; devices are numbered across nodes. */
int hs_device_of(const struct hs_machine *machine, const struct hs_topology *topology, int rank);
/* Seconds of COPY or REDUCE i of the list on a device; 0 if an earlier step begins its piece of work. */
double hs_device_work(const struct hs_machine *machine, const struct hs_list *list, int i);

/* Adds the work of rank r's list to the report, and its messages to other nodes to its node's total. */
void hs_clock_count(const struct hs_list *list, const struct hs_topology *topology, int r,
                    struct hs_traffic *node_between, struct hs_clock_report *report);

/* A step in the clock's form. */
struct hs_clock_step {
    double time; /* earliest time at which the step may begin, as known so far */
    union {
        int64_t count;  /* SEND, RECV, SIGNAL, WAIT */
        double seconds; /* COPY, REDUCE, JOIN, MPI: duration */
    };
    /* Dependencies, queue places and SIGNALs to wait for; -1: only for the counterparts (SEND, RECV, MPI). */
    int pending;
    /* The step that takes its queue place; of a SIGNAL the first WAIT, of a WAIT the SIGNAL's next; -1: none. */
    int next;
    int first_use;      /* first entry of `use` for this step, -1 if no step depends on it */
    unsigned char kind; /* enum hs_kind */
    /* SEND, RECV: index in hs_clock_steps.price. COPY, REDUCE: 1 if the step begins a device's piece of work. */
    unsigned char price;
};

struct hs_clock_use {
    int user, next; /* user: a step that depends on the one that has this list; next: the list's next entry, or -1 */
};

enum { HS_CLOCK_OUTSIDE = -2 };

/* The steps of all ranks, or of those in a sample, with global numbers. */
struct hs_clock_steps {
    struct hs_clock_step *step;
    int *mate, *rank; /* indexed by step. mate: the other end of a message, -1 if none, HS_CLOCK_OUTSIDE if it is on a
                         rank outside the sample; for MPI steps the next one of a ring (hs_lists.mate) */
    struct hs_clock_use *use;
    int steps, uses;
    size_t step_capacity, mate_capacity, rank_capacity, use_capacity;
    struct hs_link price[2 * HS_TIER_KINDS]; /* [2 * tier] for short messages, [2 * tier + 1] for long ones */
    struct hs_clock_load load;
};

/*
 * Builds the lists one rank at a time, stores their steps in the clock's form, and adds their traffic to the report
 * unless it is NULL. If sample is not NULL, it has a nonzero byte for each rank to include; only these ranks' lists are
 * built, and no load is computed. Statuses are those of hs_clock; call hs_clock_steps_free in any case.
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
 * The clock of the ranks in a sample, assuming that all other ranks are always ready to send and receive and have given
 * all signals, or of all ranks if sample is NULL. On a machine without injection and devices the result for a sample is
 * at most that for all ranks. sample and report are as for hs_clock_steps_build.
 */
hsumma_status hs_clock_sample(const struct hs_alg *alg, const struct hs_shape *shape, const struct hs_machine *machine,
                              const struct hs_allocator *memory, const unsigned char *sample,
                              struct hs_clock_result *result, struct hs_clock_report *report);

#endif
