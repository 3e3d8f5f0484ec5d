#include "summa/messages/preview.h"

#include "coll/schedule/lists.h"

#include <stdlib.h>
#include <string.h>

static const struct hs_conveyor *conveyor_of(const struct hs_loop *loop, int operand)
{
    return &loop->conveyor[operand - (loop->variant.stationary < operand)];
}

const struct hs_mover *hs_preview_mover(const struct hs_loop *loop, int operand)
{
    return operand == loop->variant.stationary ? NULL : &conveyor_of(loop, operand)->mover;
}

/* The channel of a transfer.  Channels of C are in reverse order, from the innermost level to the exchange. */
static const struct hs_channel *channel_of(const struct hs_loop *loop, int operand, int transfer)
{
    const struct hs_conveyor *conveyor = conveyor_of(loop, operand);
    int channel = 1 + transfer;
    return &conveyor->channel[operand == HS_C ? conveyor->channels - 1 - channel : channel];
}

int hs_preview_tier(const struct hs_mover *mover, int transfer)
{
    return transfer == HS_EXCHANGE ? mover->tier0 : mover->tier[transfer];
}

struct hs_arrival hs_preview_arrival(const struct hs_mover *mover, int pair)
{
    int root = hs_mover_root(mover, pair), level = hs_mover_level(mover, root), exchanged = mover->role->exchanged;
    return (struct hs_arrival){.level = level < 0 ? 0 : mover->tier[level] + 1,
                               .reads = !hs_mover_carries(mover, root),
                               .moves = mover->levels > 0 || mover->members > 1 || exchanged,
                               .holds = exchanged && mover->held > 0 && hs_mover_holds(mover, pair),
                               .length = mover->length};
}

static hsumma_status copy_list(const struct hs_list *list, const struct hs_allocator *memory, struct hs_list *copy)
{
    int deps = 0;
    for (int i = 0; i < list->steps; i++)
        deps =
            list->step[i].first_dep + list->step[i].deps > deps ? list->step[i].first_dep + list->step[i].deps : deps;
    *copy = *list;
    copy->joint = NULL; /* hs_preview_hops does not read steps by MPI */
    copy->joints = 0;
    copy->step = hs_get(memory, (size_t)list->steps + 1, sizeof *copy->step);
    copy->dep = hs_get(memory, (size_t)deps + 1, sizeof *copy->dep);
    if (!copy->step || !copy->dep) {
        hs_list_free(memory, copy);
        return HSUMMA_ERR_MEMORY;
    }
    if (list->steps > 0)
        memcpy(copy->step, list->step, (size_t)list->steps * sizeof *copy->step);
    if (deps > 0)
        memcpy(copy->dep, list->dep, (size_t)deps * sizeof *copy->dep);
    return HSUMMA_OK;
}

/* Index in the grid of a peer in a level's list. */
static int place_of_peer(const struct hs_binding *bound, int peer)
{
    return hs_group_place(&bound->group, (peer + bound->rotation) % bound->group.size);
}

hsumma_status hs_preview_part(const struct hs_loop *loop, int operand, int transfer, int o,
                              const struct hs_allocator *memory, struct hs_list *part)
{
    const struct hs_mover *mover = hs_preview_mover(loop, operand);
    const struct hs_channel *channel = channel_of(loop, operand, transfer);
    *part = (struct hs_list){0};
    if (!channel->list || channel->list[o] < 0) /* this process is not a member of the transfer */
        return HSUMMA_OK;
    hsumma_status status = copy_list(&loop->lists.list[channel->list[o]], memory, part);
    if (status || transfer == HS_EXCHANGE) /* peers of an exchange are indices in the grid already */
        return status;
    struct hs_binding bound = hs_mover_binding(mover, transfer, hs_mover_pair(mover, channel->tier, o));
    for (int i = 0; i < part->steps; i++) {
        struct hs_step *step = &part->step[i];
        if (step->kind == HS_SEND || step->kind == HS_RECV)
            step->peer = place_of_peer(&bound, step->peer);
    }
    return HSUMMA_OK;
}

/* The counts of hs_preview_entering, per span and node. */
struct crossing {
    const struct hs_division *node;
    int spans;
    int64_t *messages, *bytes;
};

/* Adds the messages that a list sends to other nodes in `times` runs.  bound: NULL for an exchange, whose peers are
 * indices in the grid. */
static void add_list(const struct hs_loop *loop, const struct hs_list *list, const struct hs_binding *bound, int times,
                     int span, const struct crossing *to)
{
    int mine = hs_part_of(to->node, loop->comm->rank);
    for (int i = 0; i < list->steps; i++) {
        const struct hs_step *step = &list->step[i];
        if (step->kind != HS_SEND)
            continue;
        int place = step->peer;
        if (bound)
            place = place_of_peer(bound, step->peer);
        int node = hs_part_of(to->node, hs_grid_rank(&loop->problem->grid, place));
        if (node == mine)
            continue;
        to->messages[span * to->node->parts + node] += times * ((step->count - 1) / loop->comm->cut + 1);
        to->bytes[span * to->node->parts + node] += times * step->count;
    }
}

static int span_of(const struct hs_loop *loop, const struct hs_channel *channel, int o, int spans)
{
    return (int)((int64_t)loop->panels.tier[channel->tier].first[o] * spans / loop->panels.count);
}

/* Adds the messages of a transfer.  Consecutive panels with the same list, pair and span are counted at once. */
static void add_transfer(const struct hs_loop *loop, int operand, int transfer, const struct crossing *to)
{
    const struct hs_mover *mover = hs_preview_mover(loop, operand);
    const struct hs_channel *channel = channel_of(loop, operand, transfer);
    int count = loop->panels.tier[channel->tier].count;
    for (int o = 0, next; o < count; o = next) {
        int pair = hs_mover_pair(mover, channel->tier, o), list = channel->list[o];
        int span = span_of(loop, channel, o, to->spans);
        for (next = o + 1; next < count && channel->list[next] == list &&
                           hs_mover_pair(mover, channel->tier, next) == pair &&
                           span_of(loop, channel, next, to->spans) == span;)
            next++;
        if (list < 0)
            continue;
        struct hs_binding bound;
        if (transfer != HS_EXCHANGE)
            bound = hs_mover_binding(mover, transfer, pair);
        add_list(loop, &loop->lists.list[list], transfer == HS_EXCHANGE ? NULL : &bound, next - o, span, to);
    }
}

void hs_preview_entering(const struct hs_loop *loop, const struct hs_division *node, int spans, int64_t *messages,
                         int64_t *bytes)
{
    const struct crossing to = {.node = node, .spans = spans, .messages = messages, .bytes = bytes};
    for (int x = HS_A; x <= HS_C; x++) {
        const struct hs_mover *mover = hs_preview_mover(loop, x);
        for (int t = mover && mover->role->exchanged ? HS_EXCHANGE : 0; mover && t < mover->levels; t++)
            add_transfer(loop, x, t, &to);
    }
}

static int compare_hops(const void *a, const void *b)
{
    const struct hs_hop *x = a, *y = b;
    if (x->round != y->round)
        return x->round - y->round;
    return x->from != y->from ? x->from - y->from : x->to - y->to;
}

hsumma_status hs_preview_hops(const struct hs_list *part, int processes, const struct hs_allocator *memory,
                              struct hs_hop **hop, int *hops)
{
    struct hs_lists lists;
    *hop = NULL;
    *hops = 0;
    for (int r = 0; r < processes; r++)
        for (int i = 0; i < part[r].steps; i++)
            if (part[r].step[i].kind == HS_MPI)
                return HSUMMA_ERR_UNSUPPORTED;
    hsumma_status status = hs_lists_index(part, processes, memory, &lists);
    if (status)
        return status;
    int *round = hs_get(memory, (size_t)lists.steps + 1, sizeof *round);
    struct hs_hop *found = hs_get(memory, (size_t)lists.steps + 1, sizeof *found);
    status = round && found ? hs_lists_rounds(&lists, memory, round) : HSUMMA_ERR_MEMORY;
    int count = 0;
    for (int g = 0; !status && g < lists.steps; g++) {
        const struct hs_step *step = hs_lists_step(&lists, g);
        if (step->kind == HS_SEND)
            found[count++] =
                (struct hs_hop){.round = round[g], .from = lists.rank[g], .to = step->peer, .bytes = step->count};
    }
    if (count > 0) {
        qsort(found, (size_t)count, sizeof *found, compare_hops);
        *hop = found;
        *hops = count;
    } else {
        hs_put(memory, found);
    }
    hs_put(memory, round);
    hs_lists_free(memory, &lists);
    return status;
}
