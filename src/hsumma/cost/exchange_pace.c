#include "hsumma/cost/exchange_pace.h"

#include "hsumma/cost/links.h"

#include <math.h>
#include <string.h>

/* The pinned indices that a holder and a taker share, as fractions of the whole dimension. */
struct shares {
    const struct hs_axis *own, *want;
    int same;     /* 1 if holder q has exactly the indices that taker q wants */
    int replicas; /* hs_role.replicas */
    double *both; /* both[q * want->nprocs + i]; NULL if not needed, or if even shares are assumed (MOST_PAIRS) */
};

/* Data that a process sends or receives for one owner's panels. */
struct port {
    double between, inside; /* data between nodes and inside nodes, as fractions of the operand */
    int messages;
};

struct exchange_look {
    const struct hs_line_table *lines;
    const struct hs_role *role;
    struct shares shares;
    struct port *holder;
    int *to, *from;        /* messages for the current owner; to[q]: of holder q to one member of each line; from[i]: to
                              taker i */
    int *first, *next;     /* lists of holders by node: first[node], then next[holder]; -1 at the end */
    double *leave, *enter; /* data that leave and enter each node, as fractions of the operand */
    double *ways;          /* means of leave[], then of enter[], over the panels of the owners examined */
    double *took; /* took[i * extent + m]: likewise, the seconds per byte for which member m of line i receives */
    double network, inside, inject;
    struct hs_fabric_traffic *traffic; /* of the links of a known fabric, else NULL */
    int nodes, holders, takers, members, spread, owner;
    double dealt; /* the largest part of the panels that one taker takes */
};

static void raise_to(double *most, double value)
{
    *most = value > *most ? value : *most;
}

/* Fills both[] in one walk over the layouts.  If they have many blocks, a prefix represents the whole. */
static void walk(const struct shares *shares)
{
    enum { BLOCKS = 4096 };
    const struct hs_axis *own = shares->own, *want = shares->want;
    int64_t at = 0;
    for (int i = 0; i < BLOCKS && at < own->n; i++) {
        int64_t end = hs_min(hs_axis_block_end(own, at), hs_axis_block_end(want, at));
        shares->both[hs_axis_owner(own, at) * want->nprocs + hs_axis_owner(want, at)] += (double)(end - at);
        at = end;
    }
    for (int i = 0; i < own->nprocs * want->nprocs; i++)
        shares->both[i] /= (double)at;
}

static double part_of(const struct hs_axis *axis, int proc)
{
    return (double)hs_axis_count(axis, axis->nprocs > 1 ? proc : 0) / (double)axis->n;
}

static double share(const struct shares *shares, int q, int i)
{
    int want = shares->want->nprocs > 1 ? i : 0;
    if (shares->replicas > 1)
        return q == i % shares->replicas ? part_of(shares->want, i) : 0;
    if (shares->same)
        return q == want ? part_of(shares->own, q) : 0;
    return shares->both ? shares->both[q * shares->want->nprocs + want]
                        : part_of(shares->own, q) * part_of(shares->want, i);
}

/* The node of a process; without a topology each process counts as a node, even if all are on one. */
static int node_of(const struct exchange_look *exchange, int place)
{
    const struct hs_topology *topology = exchange->lines->topology;
    return topology ? hs_part_of(&topology->division[HS_NODE], hs_grid_rank(exchange->lines->grid, place)) : place;
}

static double busy(const struct exchange_look *exchange, const struct port *port)
{
    return port->between * exchange->network + port->inside * exchange->inside;
}

/* Returns the data that member m of line i receives of one owner's panels.  Moves the shares of holders on the member's
 * node from the traffic between nodes to the traffic inside; a share that the member itself holds is not traffic. */
static struct port take(const struct exchange_look *exchange, int i, int m, double part)
{
    const struct hs_role *role = exchange->role;
    const struct hs_grid *grid = exchange->lines->grid;
    int me = hs_grid_index(grid, role->want_axis, i, m), node = node_of(exchange, me);
    struct port port = {.between = part, .messages = exchange->from[i]};
    for (int q = exchange->first[node]; q >= 0; q = exchange->next[q]) {
        int self = hs_grid_index(grid, role->own_axis, q, exchange->owner) == me;
        double both = share(&exchange->shares, q, i);
        exchange->holder[q].between -= both;
        port.between -= both;
        exchange->holder[q].inside += self ? 0 : both;
        port.inside += self ? 0 : both;
        exchange->holder[q].messages -= self && both > 0;
        port.messages -= self && both > 0;
    }
    exchange->enter[node] += port.between;
    return port;
}

static void begin_owner(struct exchange_look *exchange)
{
    const struct hs_role *role = exchange->role;
    memset(exchange->leave, 0, 2 * (size_t)exchange->nodes * sizeof *exchange->leave);
    for (int q = 0; q < exchange->holders; q++) {
        int node = node_of(exchange, hs_grid_index(exchange->lines->grid, role->own_axis, q, exchange->owner));
        double given = 0;
        if (role->replicas > 1)
            for (int i = q; i < exchange->takers; i += role->replicas)
                given += part_of(role->want, i);
        else
            given = part_of(role->own, q) * exchange->takers / role->want->nprocs;
        exchange->holder[q] =
            (struct port){.between = given * exchange->members, .messages = exchange->to[q] * exchange->members};
        exchange->next[q] = exchange->first[node];
        exchange->first[node] = q;
    }
}

/* Maxima for one owner.  given, taken: seconds that a process sends, receives; way: seconds that a node's link is busy
 * (all three per byte of the operand); messages: number of messages of a process. */
struct most {
    double given, taken, way, messages;
};

/* The members of line i that take an owner's panels: *first to *end - 1. */
static void takers_of(const struct exchange_look *exchange, int i, int *first, int *end)
{
    int among;
    *first = 0;
    *end = exchange->members;
    if (exchange->spread)
        return;
    *first =
        hs_exchange_root(exchange->role, exchange->lines->grid, exchange->lines->topology, i, exchange->owner, &among);
    *end = *first + 1;
}

/* Adds the owner's panels to the loads of the links between nodes, as fractions of the operand times `weight`. */
static void add_routes(struct exchange_look *exchange, double weight)
{
    const struct hs_role *role = exchange->role;
    const struct hs_grid *grid = exchange->lines->grid;
    const struct hs_fabric *fabric = exchange->lines->topology->fabric;
    int first, end;
    for (int i = 0; i < exchange->takers; i++) {
        takers_of(exchange, i, &first, &end);
        for (int q = 0; q < exchange->holders; q++) {
            double amount = weight * share(&exchange->shares, q, i);
            int from = node_of(exchange, hs_grid_index(grid, role->own_axis, q, exchange->owner));
            for (int m = first; m < end && amount > 0; m++) {
                int to = node_of(exchange, hs_grid_index(grid, role->want_axis, i, m));
                if (to != from)
                    hs_fabric_route(fabric, hs_fabric_at(fabric, from), hs_fabric_at(fabric, to), amount,
                                    exchange->traffic);
            }
        }
    }
}

/* Makes the i-th of `count` owners that represent all the current one.  Returns its weight: the part of the panels that
 * it owns, divided by `sum`; equal weights if sum is 0. */
static double choose_owner(struct exchange_look *exchange, int i, int count, double sum)
{
    const struct hs_axis *looped = exchange->role->looped;
    exchange->owner = (int)((int64_t)i * looped->nprocs / count);
    return sum > 0 ? part_of(looped, exchange->owner) / sum : 1.0 / count;
}

/* The sum of the weights of `count` owners before they are scaled to 1; 0 if these own nothing. */
static double sum_of_parts(struct exchange_look *exchange, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += choose_owner(exchange, i, count, 1);
    return sum;
}

/* The maxima for the current owner.  Adds what leaves and enters each node, times `weight`, to exchange->ways. */
static struct most look_at_owner(struct exchange_look *exchange, double weight)
{
    const struct hs_role *role = exchange->role;
    struct most most = {0, 0, 0, 0};
    int first, end, extent = exchange->lines->grid->extent[role->line_axis];
    begin_owner(exchange);
    for (int i = 0; i < exchange->takers; i++) {
        double part = part_of(role->want, i);
        takers_of(exchange, i, &first, &end);
        for (int m = first; m < end; m++) {
            struct port port = take(exchange, i, m, part);
            raise_to(&most.taken, busy(exchange, &port));
            exchange->took[i * extent + m] += busy(exchange, &port) * weight;
            raise_to(&most.messages, port.messages);
        }
    }
    for (int q = 0; q < exchange->holders; q++) {
        int node = node_of(exchange, hs_grid_index(exchange->lines->grid, role->own_axis, q, exchange->owner));
        exchange->leave[node] += exchange->holder[q].between;
        exchange->first[node] = -1;
        raise_to(&most.given, busy(exchange, &exchange->holder[q]));
        raise_to(&most.messages, exchange->holder[q].messages);
    }
    for (int n = 0; n < 2 * exchange->nodes; n++) {
        raise_to(&most.way, exchange->leave[n] * exchange->inject);
        exchange->ways[n] += exchange->leave[n] * weight;
    }
    if (exchange->traffic) {
        add_routes(exchange, 1);
        raise_to(&most.way, hs_busiest_link(exchange->traffic) * exchange->network);
        hs_link_clear(exchange->traffic);
    }
    return most;
}

/* The seconds, per byte of the operand, for which the busiest link works for all owners. */
static double all_routes(struct exchange_look *exchange, int count, double parts)
{
    for (int i = 0; i < count; i++)
        add_routes(exchange, choose_owner(exchange, i, count, parts));
    double most = count == exchange->role->looped->nprocs
                      ? hs_busiest_link(exchange->traffic)
                      : hs_even_link(exchange->traffic, exchange->lines->topology->fabric, exchange->nodes);
    hs_link_clear(exchange->traffic);
    return most * exchange->network;
}

/* Examines all owners or, on large grids, some owners at even distances; the load of all owners together is then
 * assumed to be even over nodes. */
static struct hs_exchange_pace look(struct exchange_look *exchange)
{
    enum { AFFORDABLE = 1 << 13, LEAST = 2 };
    const struct hs_role *role = exchange->role;
    const struct hs_line_table *lines = exchange->lines;
    int owners = role->looped->nprocs, ways = 2 * exchange->nodes;
    int processes = exchange->takers * lines->grid->extent[role->line_axis];
    int affordable = AFFORDABLE / processes;
    int count = owners <= affordable || owners <= LEAST ? owners : affordable > LEAST ? affordable : LEAST;
    struct hs_exchange_pace pace = {0};
    double taken = 0, all[2] = {0, 0}, parts = sum_of_parts(exchange, count);
    for (int i = 0; i < count; i++) {
        const double weight = choose_owner(exchange, i, count, parts);
        if (weight == 0)
            continue;
        struct most most = look_at_owner(exchange, weight);
        double port = most.given > most.taken ? most.given : most.taken;
        pace.alone += (port > most.way ? port : most.way) * weight;
        pace.messages += most.messages * weight;
        raise_to(&pace.together, most.given * (parts > 0 ? part_of(role->looped, exchange->owner) : 1.0 / owners));
        raise_to(&taken, most.taken);
    }
    if (count < owners)
        raise_to(&pace.together, taken * exchange->dealt);
    else
        for (int p = 0; p < processes; p++)
            raise_to(&pace.together, exchange->took[p]);
    for (int n = 0; n < ways; n++) {
        all[n / exchange->nodes] += exchange->ways[n] * exchange->inject;
        if (count == owners)
            raise_to(&pace.together, exchange->ways[n] * exchange->inject);
    }
    raise_to(&pace.together, (all[0] > all[1] ? all[0] : all[1]) / exchange->nodes);
    if (exchange->traffic)
        raise_to(&pace.together, all_routes(exchange, count, parts));
    pace.together = pace.together < pace.alone && !lines->one_node ? pace.together : pace.alone;
    return pace;
}

/* Counts the processes with which each process shares indices, including itself. */
static void count_messages(struct exchange_look *exchange)
{
    const struct shares *shares = &exchange->shares;
    int counted = shares->both || shares->replicas > 1, copies = exchange->takers / shares->want->nprocs;
    int step = shares->replicas > 1 ? shares->replicas : 1;
    for (int i = 0; i < exchange->takers; i++)
        exchange->from[i] = counted ? 0 : shares->same ? part_of(shares->want, i) > 0 : exchange->holders;
    for (int q = 0; q < exchange->holders; q++) {
        exchange->to[q] = counted ? 0 : shares->same ? copies * (part_of(shares->own, q) > 0) : exchange->takers;
        for (int i = step > 1 ? q : 0; counted && i < exchange->takers; i += step) {
            int any = share(shares, q, i) > 0;
            exchange->to[q] += any;
            exchange->from[i] += any;
        }
    }
}

hsumma_status hs_exchange_pace(struct hs_line_table *lines, const struct hs_role *role, int spread,
                               const struct hs_machine *machine, const struct hs_allocator *memory,
                               struct hs_exchange_pace *pace)
{
    enum { MOST_PAIRS = 1 << 16 };
    const int *extent = lines->grid->extent;
    int64_t pairs = (int64_t)role->own->nprocs * role->want->nprocs;
    double network = hs_long_beta(&machine->network);
    double inside = machine->node.beta > 0 ? machine->node.beta : network;
    struct exchange_look exchange = {
        .lines = lines,
        .role = role,
        .shares = {.own = role->own,
                   .want = role->want,
                   .same = hs_axis_same(role->own, role->want),
                   .replicas = role->replicas},
        .network = lines->one_node ? inside : network,
        .inside = inside,
        .inject = lines->one_node ? 0 : machine->inject,
        .nodes = lines->topology ? lines->topology->division[HS_NODE].parts : extent[0] * extent[1],
        .holders = extent[role->own_axis],
        .takers = extent[role->want_axis],
        .members = spread ? extent[role->line_axis] : 1,
        .spread = spread,
        .dealt = spread ? 1 : (double)hs_exchanged_of(lines, role)->most_taken / (double)role->looped->n};
    size_t nodes = (size_t)exchange.nodes, holders = (size_t)exchange.holders, takers = (size_t)exchange.takers;
    int walks = !exchange.shares.same && role->replicas == 1 && pairs <= MOST_PAIRS;
    *pace = (struct hs_exchange_pace){0};
    exchange.holder = hs_get(memory, holders, sizeof *exchange.holder);
    exchange.to = hs_get(memory, 2 * holders + takers + nodes, sizeof *exchange.to);
    exchange.ways = hs_get_zero(memory, 4 * nodes, sizeof *exchange.ways);
    exchange.took = hs_get_zero(memory, takers * (size_t)extent[role->line_axis], sizeof *exchange.took);
    exchange.shares.both = walks ? hs_get_zero(memory, (size_t)pairs, sizeof *exchange.shares.both) : NULL;
    hsumma_status status = HSUMMA_ERR_MEMORY;
    int linked = hs_fabric_known(lines);
    exchange.traffic = linked ? hs_link_scratch(lines, memory) : NULL;
    if (exchange.holder && exchange.to && exchange.ways && exchange.took && (exchange.shares.both || !walks) &&
        (exchange.traffic || !linked)) {
        exchange.from = exchange.to + holders;
        exchange.next = exchange.from + takers;
        exchange.first = exchange.next + holders;
        exchange.leave = exchange.ways + 2 * nodes;
        exchange.enter = exchange.leave + nodes;
        for (size_t n = 0; n < nodes; n++)
            exchange.first[n] = -1;
        if (walks)
            walk(&exchange.shares);
        count_messages(&exchange);
        int messages = 0;
        for (size_t i = 0; i < takers; i++)
            messages += exchange.from[i];
        *pace = look(&exchange);
        pace->part = 1.0 / messages;
        status = HSUMMA_OK;
    }
    hs_put(memory, exchange.holder);
    hs_put(memory, exchange.to);
    hs_put(memory, exchange.ways);
    hs_put(memory, exchange.took);
    hs_put(memory, exchange.shares.both);
    return status;
}
