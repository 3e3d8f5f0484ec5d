/* What the files of the clock share. */
#ifndef HS_COLL_CLOCK_PARTS_H
#define HS_COLL_CLOCK_PARTS_H

#include "coll/clock.h"
#include "coll/lists.h"

/* Where two ranks meet. */
static inline enum hs_tier_kind hs_tier_of(const struct hs_topology *topology, int a, int b)
{
    if (!topology || topology->level[HS_NODE].of[a] != topology->level[HS_NODE].of[b])
        return HS_BETWEEN_NODES;
    return topology->level[HS_SOCKET].of[a] == topology->level[HS_SOCKET].of[b] ? HS_IN_SOCKET : HS_IN_NODE;
}

static inline int hs_node_of(const struct hs_topology *topology, int rank)
{
    return topology ? topology->level[HS_NODE].of[rank] : rank;
}

/* A COPY of shared memory: into or out of SHARED, or out of a slot of a peer. */
static inline int hs_copies_shared(const struct hs_step *step)
{
    return step->dst.slot == HS_SHARED || step->left.slot == HS_SHARED || step->left.of > 0;
}

/*
 * The messages that are leaving their nodes.  The k that leave one node at a moment get on equally, each at
 * max(beta, k inject) seconds per byte, so they leave in the order of the bytes that were due when they came.
 */
struct hs_flow_message {
    double key; /* to come: when; leaving: it has left when its node's `served` has come to this */
    double bytes;
    int behind; /* the one with the next key, -1: none */
};

struct hs_flow_node {
    double served;      /* bytes that a message has got that has been leaving since the node was last idle, */
    double since;       /* at this time */
    int leaving;        /* messages */
    int first, to_come; /* the one that leaves next, the one that comes next; -1: none */
    double next;        /* when the first of both happens; HUGE_VAL: never */
    int place;          /* in the heap */
};

struct hs_flow {
    double beta, inject;
    struct hs_flow_node *node;
    struct hs_flow_message *message;
    int *heap; /* of all nodes, the one with the earliest `next` first */
    int nodes;
};

/* For messages 0 .. messages-1, each of which comes once.  HSUMMA_ERR_MEMORY; hs_flow_end in any case. */
hsumma_status hs_flow_begin(struct hs_flow *flow, const struct hs_machine *machine, int nodes, int messages,
                            const struct hs_allocator *memory);
void hs_flow_end(struct hs_flow *flow, const struct hs_allocator *memory);
/* A message of so many bytes comes at `time`, which is not before the last departure. */
void hs_flow_come(struct hs_flow *flow, int node, int message, double bytes, double time);
/* The next message that has left, and when; -1 if there is none under way. */
int hs_flow_leave(struct hs_flow *flow, double *time);

/* Fills in all but the seconds. */
hsumma_status hs_clock_count(const struct hs_lists *lists, const struct hs_topology *topology,
                             const struct hs_allocator *memory, struct hs_clock_report *report);

#endif
