/* Messages that share the bandwidth of their node: a fluid, followed from event to event. */
#include "coll/clock_parts.h"

#include <math.h>

hsumma_status hs_flow_begin(struct hs_flow *flow, const struct hs_machine *machine, int nodes, int messages,
                            const struct hs_allocator *memory)
{
    *flow = (struct hs_flow){.beta = machine->beta, .inject = machine->inject, .nodes = nodes};
    flow->node = hs_get(memory, (size_t)nodes, sizeof *flow->node);
    flow->message = hs_get(memory, (size_t)messages + 1, sizeof *flow->message);
    flow->heap = hs_get(memory, (size_t)nodes, sizeof *flow->heap);
    if (!flow->node || !flow->message || !flow->heap)
        return HSUMMA_ERR_MEMORY;
    for (int n = 0; n < nodes; n++) {
        flow->node[n] = (struct hs_flow_node){.first = -1, .to_come = -1, .next = HUGE_VAL, .place = n};
        flow->heap[n] = n;
    }
    return HSUMMA_OK;
}

void hs_flow_end(struct hs_flow *flow, const struct hs_allocator *memory)
{
    hs_put(memory, flow->node);
    hs_put(memory, flow->message);
    hs_put(memory, flow->heap);
}

static void put_at(struct hs_flow *flow, int place, int node)
{
    flow->heap[place] = node;
    flow->node[node].place = place;
}

static void move_up(struct hs_flow *flow, int node)
{
    int i = flow->node[node].place;
    for (; i > 0 && flow->node[node].next < flow->node[flow->heap[(i - 1) / 2]].next; i = (i - 1) / 2)
        put_at(flow, i, flow->heap[(i - 1) / 2]);
    put_at(flow, i, node);
}

static void move_down(struct hs_flow *flow, int node)
{
    int i = flow->node[node].place;
    for (int child; (child = 2 * i + 1) < flow->nodes; i = child) {
        if (child + 1 < flow->nodes && flow->node[flow->heap[child + 1]].next < flow->node[flow->heap[child]].next)
            child++;
        if (flow->node[node].next <= flow->node[flow->heap[child]].next)
            break;
        put_at(flow, i, flow->heap[child]);
    }
    put_at(flow, i, node);
}

/* Puts a message into a list that ascends by key, behind its equals. */
static void insert(struct hs_flow *flow, int *first, int message)
{
    while (*first >= 0 && flow->message[*first].key <= flow->message[message].key)
        first = &flow->message[*first].behind;
    flow->message[message].behind = *first;
    *first = message;
}

/* Seconds per byte for each message that is leaving the node. */
static double pace(const struct hs_flow *flow, const struct hs_flow_node *node)
{
    double shared = node->leaving * flow->inject;
    return shared > flow->beta ? shared : flow->beta;
}

/* When the node's first message will have left if no other comes. */
static double departure(const struct hs_flow *flow, const struct hs_flow_node *node)
{
    if (node->first < 0)
        return HUGE_VAL;
    double left = flow->message[node->first].key - node->served;
    return left > 0 ? node->since + left * pace(flow, node) : node->since; /* rounding may have overshot */
}

static double arrival(const struct hs_flow *flow, const struct hs_flow_node *node)
{
    return node->to_come < 0 ? HUGE_VAL : flow->message[node->to_come].key;
}

void hs_flow_come(struct hs_flow *flow, int node, int message, double bytes, double time)
{
    struct hs_flow_node *here = &flow->node[node];
    flow->message[message] = (struct hs_flow_message){.key = time, .bytes = bytes};
    insert(flow, &here->to_come, message);
    if (here->next > time) {
        here->next = time;
        move_up(flow, node);
    }
}

/* The next message to come is there: the others have got on so far, and from now on it shares with them. */
static void join(struct hs_flow *flow, struct hs_flow_node *node)
{
    int message = node->to_come;
    double now = flow->message[message].key;
    node->to_come = flow->message[message].behind;
    node->served = node->leaving > 0 ? node->served + (now - node->since) / pace(flow, node) : 0;
    node->since = now;
    flow->message[message].key = node->served + flow->message[message].bytes;
    insert(flow, &node->first, message);
    node->leaving++;
}

int hs_flow_leave(struct hs_flow *flow, double *time)
{
    for (;;) {
        struct hs_flow_node *node = &flow->node[flow->heap[0]];
        if (node->next == HUGE_VAL)
            return -1;
        int left = -1;
        if (arrival(flow, node) <= node->next) {
            join(flow, node);
        } else {
            left = node->first;
            node->served = flow->message[left].key;
            node->since = *time = node->next;
            node->first = flow->message[left].behind;
            node->leaving--;
        }
        double come = arrival(flow, node), leave = departure(flow, node);
        node->next = come < leave ? come : leave;
        move_down(flow, flow->heap[0]);
        if (left >= 0)
            return left;
    }
}
