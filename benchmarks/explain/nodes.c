/* The nodes of the processes, and the data that enter them; declared in command.h. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "explain/command.h"
#include "summa/messages/mpi_rows.h"

/* --- places ------------------------------------------------------------------------------------------------------- */

/* Reads "0,0,1,1" into node[0 .. processes). */
static int read_map(const char *text, int processes, int *node)
{
    for (int i = 0; i < processes; i++) {
        char *end;
        long number = isdigit((unsigned char)*text) ? strtol(text, &end, 10) : -1;

        if (number < 0 || number > INT32_MAX || *end != (i + 1 < processes ? ',' : 0))
            return 0;
        node[i] = (int)number;
        text = end + 1;
    }
    return 1;
}

/* Puts each node at the position, in the fabric that option topology describes, of its number in --map, map[], or in
 * the order of the nodes if map is NULL. */
static hsumma_status place_in_fabric(struct hs_comm *comm, const int *map, const struct hs_allocator *memory,
                                     struct hs_message *message)
{
    const struct hs_division *node = &comm->topology.division[HS_NODE];

    if (comm->fabric.dims == 0 || node->parts == 1)
        return HSUMMA_OK;
    if (comm->fabric.positions < node->parts)
        return hs_fail(message, HSUMMA_ERR_OPTION, "--topology: %d positions for %d nodes; expected at least as many",
                       comm->fabric.positions, node->parts);
    hs_put(memory, comm->fabric.at);
    comm->fabric.at = map ? hs_get(memory, (size_t)node->parts, sizeof *comm->fabric.at) : NULL;
    if (map && !comm->fabric.at)
        return hs_fail(message, HSUMMA_ERR_MEMORY, "no memory for the places of %d nodes", node->parts);
    for (int i = 0; map && i < node->parts; i++) {
        comm->fabric.at[i] = map[hs_part_rank(node, i, 0)];
        if (comm->fabric.at[i] >= comm->fabric.positions)
            return hs_fail(message, HSUMMA_ERR_OPTION,
                           "--map: node %d; expected less than %d, the positions of --topology", comm->fabric.at[i],
                           comm->fabric.positions);
    }
    comm->topology.fabric = &comm->fabric;
    return HSUMMA_OK;
}

hsumma_status explain_places(explanation *e, int processes, struct hs_message *message)
{
    struct hs_topology *topology = &e->ctx->comm.topology;
    const struct hs_allocator *memory = &e->ctx->memory;
    const char *map = e->args->map;
    int *node = map ? calloc((size_t)processes, sizeof *node) : NULL;
    hsumma_status status = HSUMMA_ERR_MEMORY;

    hs_topology_free(topology, memory);
    if (node && !read_map(map, processes, node)) {
        status = hs_fail(message, HSUMMA_ERR_OPTION,
                         "--map %.200s: expected %d numbers of nodes, one for each process, with commas between", map,
                         processes);
    } else if (!map || node) {
        status = map ? hs_topology_make(topology, processes, node, NULL, memory)
                     : hs_topology_blocks(topology, processes, (int)e->args->nodes, (int)e->args->sockets, memory);
    }
    e->node = &topology->division[HS_NODE];
    e->ctx->profile.one_node = !status && e->node->parts == 1;
    if (status == HSUMMA_ERR_MEMORY)
        hs_fail(message, status, "no memory for the places of %d processes", processes);
    if (!status)
        status = place_in_fabric(&e->ctx->comm, node, memory, message);
    free(node);
    return status;
}

/* --- what enters the nodes --------------------------------------------------------------------------------------- */

static hsumma_status count_process(void *state, const struct hs_loop *loop, int process, struct hs_message *message)
{
    entering *to = state;

    (void)process, (void)message;
    hs_preview_entering(loop, &loop->comm->topology.division[HS_NODE], to->spans, to->messages, to->bytes);
    return HSUMMA_OK;
}

/* Whether the grid is small enough to be counted, and the plan has none of MPI's own collectives, whose messages are
 * unknown. */
static int is_countable(const explanation *e)
{
    return e->processes <= EXPLAIN_COUNTED && !hs_native_wanted(&e->plan->choice.spec);
}

/* The sum of a node's numbers over all spans. */
static int64_t into_node(const explanation *e, const entering *of, const int64_t *number, int node)
{
    int64_t sum = 0;

    for (int s = 0; s < of->spans; s++)
        sum += number[s * e->node->parts + node];
    return sum;
}

static hsumma_status count(const explanation *e, entering *to, struct hs_message *message)
{
    int nodes = e->node->parts;
    hsumma_status status;

    to->spans = e->panels > 0 && e->panels < MOST_SPANS ? (int)e->panels : MOST_SPANS;
    to->messages = calloc((size_t)nodes * (size_t)to->spans, 2 * sizeof *to->messages);
    if (!to->messages)
        return hs_fail(message, HSUMMA_ERR_MEMORY, "no memory to count what enters %d nodes", nodes);
    to->bytes = to->messages + nodes * to->spans;
    to->seconds = e->info.predicted_seconds;
    status = explain_each_process(e, e->processes, count_process, to, message);
    for (int i = 0; i < nodes; i++) {
        int64_t bytes = into_node(e, to, to->bytes, i);

        to->all += bytes;
        to->most = bytes > to->most ? bytes : to->most;
    }
    to->planned = !status;
    return status;
}

/* Counts what enters each node with the grid in another order; skips an order that is refused or cannot be counted. */
static hsumma_status count_in_order(const explanation *e, entering *to, struct hs_message *message)
{
    explanation other = {
        .args = e->args, .whole = {e->whole[0], e->whole[1]}, .ctx = e->ctx, .node = e->node, .grid = NULL};
    struct hs_message refused = {""};
    hsumma_status status = explain_lay_out(&other, to->order, &refused);

    if (!status && is_countable(&other))
        status = count(&other, to, message);
    else if (status == HSUMMA_ERR_MEMORY)
        *message = refused;
    else {
        to->refused = status != HSUMMA_OK;
        status = HSUMMA_OK;
    }
    hsumma_plan_free(&other.plan);
    hsumma_grid_free(&other.grid);
    return status;
}

hsumma_status explain_entering(explanation *e, struct hs_message *message)
{
    hsumma_status status = HSUMMA_OK;

    if (e->node->parts == 1 || !is_countable(e))
        return HSUMMA_OK;
    for (int i = 0; i < ORDERS && !status; i++) {
        e->enters[i].order = "RCA"[i];
        status = e->enters[i].order == e->args->order ? count(e, &e->enters[i], message)
                                                      : count_in_order(e, &e->enters[i], message);
    }
    return status;
}

void explain_entering_free(explanation *e)
{
    for (int i = 0; i < ORDERS; i++)
        free(e->enters[i].messages);
}

const entering *explain_enters(const explanation *e)
{
    for (int i = 0; i < ORDERS; i++)
        if (e->enters[i].planned && e->enters[i].order == e->args->order)
            return &e->enters[i];
    return NULL;
}

/* --- text -------------------------------------------------------------------------------------------------------- */

static void print_each(const explanation *e, const entering *own, FILE *file)
{
    enum { PRINTED = 16 };

    char text[32];

    if (e->node->parts > PRINTED)
        return;
    fputs("each node   ", file);
    for (int i = 0; i < e->node->parts; i++)
        fprintf(file, "%s%s", i ? ", " : "", report_bytes(text, sizeof text, into_node(e, own, own->bytes, i)));
    fputc('\n', file);
}

static void print_orders(const explanation *e, const entering *own, FILE *file)
{
    static const char *const name[ORDERS] = {"by rows (R)", "by columns (C)", "near-square tiles (A)"};
    char most[32], all[32];

    for (int i = 0; i < ORDERS; i++) {
        const entering *one = &e->enters[i];
        double more = own->all > 0 ? (double)one->all / (double)own->all - 1 : 0;

        fprintf(file, "%s%-22s", i ? "            " : "orders      ", name[i]);
        if (!one->planned) {
            fputs(one->refused ? "refused\n" : "not counted: the plan uses collectives of MPI\n", file);
            continue;
        }
        fprintf(file, "at most %s into a node, %s into all", report_bytes(most, sizeof most, one->most),
                report_bytes(all, sizeof all, one->all));
        if (one == own)
            fputs(", this order", file);
        else if (more != 0)
            fprintf(file, ", %.1f %% %s", 100 * (more < 0 ? -more : more), more < 0 ? "less" : "more");
        fprintf(file, "; predicted %.4g s\n", one->seconds);
    }
}

void explain_print_entering(const explanation *e, FILE *file)
{
    const entering *own = explain_enters(e);
    int64_t messages = 0;
    char most[32], all[32];

    if (!own)
        return;
    for (int i = 0; i < e->node->parts; i++)
        messages += into_node(e, own, own->messages, i);
    fprintf(file, "entering    at most %s into a node, %s into all, in %lld messages\n",
            report_bytes(most, sizeof most, own->most), report_bytes(all, sizeof all, own->all), (long long)messages);
    print_each(e, own, file);
    print_orders(e, own, file);
}

static int node_at(const explanation *e, int row, int col)
{
    return hs_part_of(e->node, hs_grid_rank(&e->grid->grid, row * e->whole[1] + col));
}

/* Prints the bytes that enter each node in each span. */
static void draw_spans(const explanation *e, const entering *own, FILE *file)
{
    enum { DRAWN_NODES = 8 };

    char text[32];

    if (!own || e->node->parts > DRAWN_NODES || e->panels < 2)
        return;
    fputs("bytes that enter each node, by span of panels\n  panels from  ", file);
    for (int i = 0; i < e->node->parts; i++)
        fprintf(file, "     node %d", i);
    for (int s = 0; s < own->spans; s++) {
        fprintf(file, "\n  %11lld  ", (long long)((s * e->panels + own->spans - 1) / own->spans));
        for (int i = 0; i < e->node->parts; i++)
            fprintf(file, " %10s", report_bytes(text, sizeof text, own->bytes[s * e->node->parts + i]));
    }
    fputs("\n\n", file);
}

void explain_draw_nodes(const explanation *e, FILE *file)
{
    if (e->node->parts == 1 || e->whole[0] * e->whole[1] > EXPLAIN_DRAWN)
        return;
    fputs("the node of each process of the grid\n", file);
    for (int i = 0; i < e->whole[0]; i++) {
        fprintf(file, "  %3d ", i);
        for (int j = 0; j < e->whole[1]; j++)
            fprintf(file, " %2d", node_at(e, i, j));
        fputc('\n', file);
    }
    fputc('\n', file);
    draw_spans(e, explain_enters(e), file);
}

/* --- JSON -------------------------------------------------------------------------------------------------------- */

/* A list of numbers by node: of one span, or of all together if span is -1; null if not counted. */
static json_t *list(const explanation *e, const entering *of, const int64_t *number, int span)
{
    json_t *array = of ? json_array() : json_null();

    for (int i = 0; of && i < e->node->parts; i++)
        json_array_append_new(
            array, report_integer(span < 0 ? into_node(e, of, number, i) : number[span * e->node->parts + i]));
    return array;
}

void explain_entering_json(const explanation *e, json_t *object)
{
    const entering *own = explain_enters(e);
    json_t *orders = json_array(), *places = json_array(), *spans = json_array();

    for (int i = 0; i < ORDERS; i++)
        if (e->enters[i].planned) {
            const entering *one = &e->enters[i];
            const char order[2] = {one->order, 0};

            json_array_append_new(orders,
                                  json_pack("{s:s,s:I,s:I,s:f}", "order", order, "bytes_max", (json_int_t)one->most,
                                            "bytes", (json_int_t)one->all, "predicted_s", one->seconds));
        }
    for (int i = 0; i < e->whole[0] && e->processes <= EXPLAIN_COUNTED; i++) {
        json_t *row = json_array();

        for (int j = 0; j < e->whole[1]; j++)
            json_array_append_new(row, json_integer(node_at(e, i, j)));
        json_array_append_new(places, row);
    }
    for (int s = 0; own && s < own->spans; s++)
        json_array_append_new(spans, list(e, own, own->bytes, s));
    const char order[2] = {e->args->order, 0};
    json_object_set_new(object, "order", json_string(order));
    json_object_set_new(object, "node_of_place", places);
    json_object_set_new(object, "orders", orders);
    json_object_set_new(object, "enters_bytes", list(e, own, own ? own->bytes : NULL, -1));
    json_object_set_new(object, "enters_messages", list(e, own, own ? own->messages : NULL, -1));
    json_object_set_new(object, "enters_bytes_of_spans", spans);
}
