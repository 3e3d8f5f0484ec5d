/* Counts the bytes that a product moves, and compares with lower bounds. */
#include "product/bounds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dist/bound.h"
#include "summa/entering.h"
#include "summa/messages/mpi_rows.h"
#include "summa/messages/preview.h"

#define UNKNOWN                                                                                      \
    {                                                                                                \
        .bytes = -1, .messages = -1, .layout = -1, .theory = NAN, .to_layout = NAN, .to_theory = NAN \
    }
const product_bounds bounds_unknown = {.process = UNKNOWN,
                                       .node = UNKNOWN,
                                       .must_enter = -1,
                                       .memory = NAN,
                                       .bytes_s = NAN,
                                       .messages_s = NAN,
                                       .cores_s = NAN,
                                       .byte = NAN,
                                       .message = NAN};

hsumma_status bounds_count_create(bounds_count *count, const struct hs_division *node)
{
    int ranks = hs_ranks_before(node, node->parts);

    memset(count, 0, sizeof *count);
    count->node = node;
    count->size = 2 * (ranks + node->parts);
    count->sums = calloc((size_t)count->size, sizeof *count->sums);
    return count->sums ? hs_topology_blocks(&count->alone, ranks, ranks, 1, &hs_heap) : HSUMMA_ERR_MEMORY;
}

void bounds_count_free(bounds_count *count)
{
    hs_topology_free(&count->alone, &hs_heap);
    free(count->sums);
    memset(count, 0, sizeof *count);
}

/* The sums for one of the two divisions: messages into its parts, then bytes. */
static int64_t *sums_of(const bounds_count *count, const struct hs_division *division)
{
    return count->sums + (division == count->node ? 2 * count->alone.size : 0);
}

void bounds_count_add(bounds_count *count, const struct hs_loop *loop)
{
    const struct hs_division *const divisions[2] = {&count->alone.division[HS_NODE], count->node};

    for (int i = 0; i < 2 && loop->panels.count > 0; i++) {
        int64_t *sums = sums_of(count, divisions[i]);

        hs_preview_entering(loop, divisions[i], 1, sums, sums + divisions[i]->parts);
    }
}

static int64_t most_of(const int64_t *number, int count)
{
    int64_t most = 0;

    for (int i = 0; i < count; i++)
        most = number[i] > most ? number[i] : most;
    return most;
}

static double ratio(int64_t bytes, double bound)
{
    return bytes >= 0 && bound > 0 ? (double)bytes / bound : NAN;
}

static hsumma_status fill_side(bound_side *side, const bounds_count *count, const struct hs_division *division,
                               const hsumma_plan *plan, int64_t *must_enter)
{
    int64_t *must = calloc((size_t)division->parts, sizeof *must);
    hsumma_status status =
        must ? hs_entering_bytes(&plan->problem, plan->choice.spec.stationary, division, &hs_heap, must)
             : HSUMMA_ERR_MEMORY;

    if (!status) {
        int countable =
            plan->by_node || !hs_native_wanted(&plan->choice.spec); /* messages of MPI's own collectives are unknown */

        side->messages = countable ? most_of(sums_of(count, division), division->parts) : -1;
        side->bytes = countable ? most_of(sums_of(count, division) + division->parts, division->parts) : -1;
        side->layout = most_of(must, division->parts);
        *must_enter = 0;
        for (int i = 0; i < division->parts; i++)
            *must_enter += must[i];
    }
    free(must);
    return status;
}

static void fill_theory(bound_side *side, const hsumma_plan *plan, double processes, double memory)
{
    side->theory = hs_bound_elements(plan->problem.extent, processes, memory) * (double)plan->problem.scalar->size;
    side->to_layout = ratio(side->bytes, (double)side->layout);
    side->to_theory = ratio(side->bytes, side->theory);
}

/* The number of nodes of the plan's processes, and the most processes on one; -1 if out of memory. */
static int count_nodes(const hsumma_plan *plan, const struct hs_division *node, int *largest)
{
    const struct hs_grid *grid = &plan->problem.grid;
    int processes = grid->extent[0] * grid->extent[1], nodes = 0,
        *members = calloc((size_t)node->parts, sizeof *members);

    *largest = 1;
    for (int i = 0; members && i < processes; i++) {
        int count = ++members[hs_part_of(node, hs_grid_rank(grid, i))];

        nodes += count == 1;
        *largest = count > *largest ? count : *largest;
    }
    nodes = members ? nodes : -1;
    free(members);
    return nodes;
}

/* Estimates what limits the product. Messages between nodes are spread over the processes of a node; each process has
 * its own rate, and together they have at most the node's. */
static void fill_limit(product_bounds *b, const hsumma_plan *plan, const hsumma_plan_info *info, int largest)
{
    const struct hs_machine *m = &plan->ctx->profile.machine;
    const bound_side *side = b->nodes > 1 ? &b->node : &b->process;
    const struct hs_link *link = b->nodes > 1 || m->node.beta <= 0 ? &m->network : &m->node;
    int senders = b->nodes > 1 ? largest : 1;

    b->byte = fmax(link->beta / senders, b->nodes > 1 ? m->inject : 0);
    b->message = link->alpha / senders;
    b->cores_s = info->predicted_gemm_seconds + info->predicted_copy_seconds;
    if (side->bytes < 0)
        return;
    b->bytes_s = (double)side->bytes * b->byte;
    b->messages_s = (double)side->messages * b->message;
    b->limit = b->cores_s >= fmax(b->bytes_s, b->messages_s) ? "cores"
               : b->bytes_s >= b->messages_s                 ? "bytes"
                                                             : "messages";
}

hsumma_status bounds_of(product_bounds *b, const bounds_count *count, const hsumma_plan *plan,
                        const hsumma_plan_info *info, int64_t workspace)
{
    const struct hs_division *node = &plan->ctx->comm.topology.division[HS_NODE];
    const int64_t *d = plan->problem.extent;
    int processes = plan->problem.grid.extent[0] * plan->problem.grid.extent[1], largest;
    double m = (double)d[0], n = (double)d[1], k = (double)d[2];
    int64_t all;
    hsumma_status status = HSUMMA_OK;

    *b = bounds_unknown;
    b->nodes = count_nodes(plan, node, &largest);
    if (b->nodes < 0)
        return HSUMMA_ERR_MEMORY;
    if (count)
        status = fill_side(&b->process, count, &count->alone.division[HS_NODE], plan, &all);
    if (count && !status)
        status = fill_side(&b->node, count, node, plan, &b->must_enter);
    b->memory = (m * n + m * k + k * n) / processes + (double)workspace / (double)plan->problem.scalar->size;
    fill_theory(&b->process, plan, processes, b->memory);
    fill_theory(&b->node, plan, b->nodes, b->memory * largest);
    fill_limit(b, plan, info, largest);
    return status;
}
