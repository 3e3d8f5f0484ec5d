/* The fluid model of messages that share the outgoing bandwidth of their node, advanced from event to event. */
#include "coll/model/clock_parts.h"

#include <math.h>

hsumma_status hs_flow_begin(struct hs_flow *flow, const struct hs_machine *machine, int nodes, int messages,
                            const struct hs_allocator *memory)
{
    *flow = (struct hs_flow){
        .beta = {machine->beta, machine->network.beta_long}, .inject = machine->inject, .nodes = nodes};
    flow->node = hs_get(memory, (size_t)nodes, sizeof *flow->node);
    flow->message = hs_get(memory, (size_t)messages + 1, sizeof *flow->message);
    flow->heap = hs_get(memory, (size_t)nodes, sizeof *flow->heap);
    if (!flow->node || !flow->message || !flow->heap)
        return HSUMMA_ERR_MEMORY;
    for (int n = 0; n < nodes; n++) {
        flow->node[n] = (struct hs_flow_port){.first = {-1, -1}, .to_come = -1, .next = HUGE_VAL, .place = n};
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

/* Inserts a message into a list in ascending order of keys, after equal ones. */
static void insert(struct hs_flow *flow, int *first, int message)
{
    while (*first >= 0 && flow->message[*first].key <= flow->message[message].key)
        first = &flow->message[*first].behind;
    flow->message[message].behind = *first;
    *first = message;
}

/* The seconds per byte of each short or long message that is leaving the node. */
static double pace(const struct hs_flow *flow, const struct hs_flow_port *node, int is_long)
{
    double shared = node->leaving * flow->inject;
    return shared > flow->beta[is_long] ? shared : flow->beta[is_long];
}

/* When the node's next short or long message leaves if no other arrives; HUGE_VAL if there is none. */
static double departure(const struct hs_flow *flow, const struct hs_flow_port *node, int is_long)
{
    int first = node->first[is_long];
    if (first < 0)
        return HUGE_VAL;
    double left = flow->message[first].key - node->served[is_long];
    return left > 0 ? node->since + left * pace(flow, node, is_long) : node->since; /* `served` may be rounded up */
}

/* Advances the node to time `now`, with all messages that are leaving it. */
static void get_on(const struct hs_flow *flow, struct hs_flow_port *node, double now)
{
    for (int kind = 0; kind < 2; kind++)
        node->served[kind] = node->leaving > 0 ? node->served[kind] + (now - node->since) / pace(flow, node, kind) : 0;
    node->since = now;
}

static double arrival(const struct hs_flow *flow, const struct hs_flow_port *node)
{
    return node->to_come < 0 ? HUGE_VAL : flow->message[node->to_come].key;
}

void hs_flow_come(struct hs_flow *flow, int node, int message, int is_long, double bytes, double time)
{
    struct hs_flow_port *here = &flow->node[node];
    flow->message[message] = (struct hs_flow_message){.key = time, .bytes = bytes, .is_long = is_long};
    insert(flow, &here->to_come, message);
    if (here->next > time) {
        here->next = time;
        move_up(flow, node);
    }
}

/* The node's next arrival: the others advance to its time, and it shares the bandwidth from then on. */
static void join(struct hs_flow *flow, struct hs_flow_port *node)
{
    struct hs_flow_message *message = &flow->message[node->to_come];
    int joins = node->to_come;
    node->to_come = message->behind;
    get_on(flow, node, message->key);
    message->key = node->served[message->is_long] + message->bytes;
    insert(flow, &node->first[message->is_long], joins);
    node->leaving++;
}

/* Removes the message that finishes leaving the node next, and returns it. */
static int leave(struct hs_flow *flow, struct hs_flow_port *node)
{
    int is_long = departure(flow, node, 1) < departure(flow, node, 0), left = node->first[is_long];
    get_on(flow, node, node->next);
    node->served[is_long] = flow->message[left].key;
    node->first[is_long] = flow->message[left].behind;
    node->leaving--;
    return left;
}

int hs_flow_leave(struct hs_flow *flow, double until, double *time)
{
    for (;;) {
        struct hs_flow_port *node = &flow->node[flow->heap[0]];
        if (node->next == HUGE_VAL || node->next > until)
            return -1;
        int left = -1;
        if (arrival(flow, node) <= node->next)
            join(flow, node);
        else
            left = leave(flow, node);
        *time = node->since;
        node->next = arrival(flow, node);
        for (int kind = 0; kind < 2; kind++)
            node->next = fmin(node->next, departure(flow, node, kind));
        move_down(flow, flow->heap[0]);
        if (left >= 0)
            return left;
    }
}
