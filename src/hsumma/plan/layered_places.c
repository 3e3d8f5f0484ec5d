/* The shape of the layers, and the parts of A, B and C that each process of a layer has. */
#include "dist/layers.h"
#include "hsumma/plan/plan.h"

#include <string.h>

int hs_layered_axis_of_k(const struct hs_request *request, int operand)
{
    return request->op[operand] == 'N' ? operand == HS_A : operand == HS_B;
}

static int64_t choose_extent(struct hs_layered *layered, const struct hs_request *request, int processes)
{
    int64_t extent[3], least = -1;
    int each = processes / layered->count;
    for (int d = 0; d < 3; d++)
        extent[d] = request->extent[d] > 0 ? request->extent[d] : 1;
    for (int p = 1; p <= each; p++) {
        if (each % p)
            continue;
        struct hs_layers one = hs_layers_count(extent, p, each / p, layered->count);
        if (least < 0 || one.received < least) {
            least = one.received;
            layered->extent[0] = p;
            layered->extent[1] = each / p;
        }
    }
    return least;
}

/* An axis over `parts` processes with one block each. */
static struct hs_axis one_block_each(int64_t n, int64_t block, int parts)
{
    block = block > 0 ? block : 1;
    return hs_axis_make(n, block, block, 0, parts);
}

static int64_t divided(int64_t n, int64_t by)
{
    return n / by + (n % by > 0);
}

static int64_t common_multiple(int64_t a, int64_t b)
{
    int64_t x = a, y = b;
    while (y) {
        int64_t rest = x % y;
        x = y;
        y = rest;
    }
    return a / x * b;
}

/* Number of indices of k per layer, a multiple of P and of Q; the last layers may have fewer. */
static int64_t share_of_k(const struct hs_layered *layered, int64_t k)
{
    int64_t unit = common_multiple(layered->extent[0], layered->extent[1]);
    return divided(divided(k, layered->count), unit) * unit;
}

int64_t hs_layered_place(struct hs_layered *layered, const struct hs_request *request, int processes)
{
    int64_t received = choose_extent(layered, request, processes);
    int64_t k = share_of_k(layered, request->extent[HS_K]);
    for (int x = 0; x < 3; x++)
        for (int a = 0; a < 2; a++) {
            int stored = request->op[x] == 'N' ? a : 1 - a, dim = hs_operand_dims[x][stored];
            int64_t n = request->extent[dim];
            int parts = layered->extent[a];
            layered->axis[x][a] = dim == HS_K ? one_block_each(n, k / parts, parts * layered->count)
                                              : one_block_each(n, divided(n, parts), parts);
        }
    return received;
}

struct hs_layout hs_layout_of(const hsumma_grid *grid, const struct hs_view *view)
{
    return (struct hs_layout){.axis = {view->axis[0], view->axis[1]},
                              .extent = {grid->grid.extent[0], grid->grid.extent[1]},
                              .rank = grid->grid.rank};
}

static hsumma_desc desc_of(const hsumma_grid *grid, const struct hs_axis axis[2])
{
    return hs_desc_make(grid, axis[0].n, axis[1].n, axis[0].nb, axis[1].nb);
}

hsumma_desc hs_layered_desc(const struct hs_layered *layered, const struct hs_request *request, int operand, int layer)
{
    struct hs_axis axis[2] = {layered->axis[operand][0], layered->axis[operand][1]};
    if (operand != HS_C) {
        int a = hs_layered_axis_of_k(request, operand);
        int64_t share = axis[a].nb * layered->extent[a], left = request->extent[HS_K] - layer * share;
        axis[a].n = left < 0 ? 0 : left < share ? left : share;
    }
    return desc_of(layered->grid[layer], axis);
}

int64_t hs_layered_share_of_k(const struct hs_request *request, const hsumma_desc desc[3])
{
    return hs_layered_axis_of_k(request, HS_A) ? desc[HS_A].n : desc[HS_A].m;
}

/* The layout of C in a layer, or of A or B over all layers.  rank: memory for all ranks; unused for C. */
static struct hs_layout layout_inside(const struct hs_layered *layered, const struct hs_request *request, int operand,
                                      int l, int *rank)
{
    const int *extent = layered->extent;
    struct hs_layout layout = {.axis = {layered->axis[operand][0], layered->axis[operand][1]},
                               .extent = {extent[0], extent[1]},
                               .rank = operand == HS_C ? layered->grid[l]->rank : rank};
    if (operand == HS_C)
        return layout;
    int along = hs_layered_axis_of_k(request, operand);
    layout.extent[along] *= layered->count;
    for (l = 0; l < layered->count; l++)
        for (int i = 0; i < extent[0]; i++)
            for (int j = 0; j < extent[1]; j++) {
                int row = along ? i : l * extent[0] + i, col = along ? l * extent[1] + j : j;
                rank[row * layout.extent[1] + col] = hs_grid_rank(&layered->grid[l]->grid, i * extent[1] + j);
            }
    return layout;
}

static int same_layout(const struct hs_layout *a, const struct hs_layout *b)
{
    int same = a->extent[0] == b->extent[0] && a->extent[1] == b->extent[1] && hs_axis_same(&a->axis[0], &b->axis[0]) &&
               hs_axis_same(&a->axis[1], &b->axis[1]);
    for (int i = 0; same && i < a->extent[0] * a->extent[1]; i++)
        same = hs_rank_in(a->rank, i) == hs_rank_in(b->rank, i);
    return same;
}

static size_t ranks_of(const struct hs_layered *layered)
{
    return (size_t)layered->extent[0] * (size_t)layered->extent[1] * (size_t)layered->count;
}

hsumma_status hs_layered_find_in_place(struct hs_layered *layered, const struct hs_request *request,
                                       const struct hs_problem *problem, const struct hs_allocator *memory)
{
    int *rank = hs_get(memory, ranks_of(layered), sizeof *rank);
    for (int x = 0; x < 2 && rank; x++) {
        struct hs_layout from = hs_layout_of(request->desc[x]->grid, &problem->view[x]);
        struct hs_layout to = layout_inside(layered, request, x, 0, rank);
        layered->in_place[x] = same_layout(&from, &to);
    }
    hs_put(memory, rank);
    return rank ? HSUMMA_OK : HSUMMA_ERR_MEMORY;
}

int64_t hs_layered_part_bytes(const struct hs_layered *layered, size_t size)
{
    int64_t bytes = 0;
    for (int x = 0; x < 3; x++)
        if (!layered->in_place[x])
            bytes += hs_bytes_of(hs_axis_count_max(&layered->axis[x][0]), hs_axis_count_max(&layered->axis[x][1]),
                                 (int64_t)size);
    return bytes;
}

hsumma_status hs_layered_ends_make(const struct hs_layered *layered, const struct hs_request *request,
                                   const struct hs_problem *problem, const struct hs_allocator *memory,
                                   struct hs_layered_ends *ends)
{
    ends->of_c = hs_get(memory, (size_t)layered->count, sizeof *ends->of_c);
    for (int x = 0; x < 2; x++)
        ends->rank[x] = hs_get(memory, ranks_of(layered), sizeof *ends->rank[x]);
    if (!ends->of_c || !ends->rank[0] || !ends->rank[1])
        return HSUMMA_ERR_MEMORY;
    for (int x = 0; x < 3; x++)
        ends->given[x] = hs_layout_of(request->desc[x]->grid, &problem->view[x]);
    for (int x = 0; x < 2; x++) {
        ends->inside[x] = layout_inside(layered, request, x, 0, ends->rank[x]);
        ends->source[x] = &ends->given[x];
        ends->target[x] = &ends->inside[x];
        ends->sources[x] = 1;
    }
    for (int l = 0; l < layered->count; l++)
        ends->of_c[l] = layout_inside(layered, request, HS_C, l, NULL);
    ends->source[HS_C] = ends->of_c;
    ends->target[HS_C] = &ends->given[HS_C];
    ends->sources[HS_C] = layered->count;
    return HSUMMA_OK;
}

void hs_layered_ends_free(struct hs_layered_ends *ends, const struct hs_allocator *memory)
{
    hs_put(memory, ends->of_c);
    hs_put(memory, ends->rank[0]);
    hs_put(memory, ends->rank[1]);
}

struct hs_layout hs_layered_free_layout(const struct hs_layered *layered, const struct hs_request *request, int operand,
                                        int *rank)
{
    struct hs_layout layout = layout_inside(layered, request, operand, 0, rank);
    const int P = layered->extent[0], Q = layered->extent[1], L = layered->count, cols = Q * L;
    if (operand != HS_C)
        return layout;
    for (int i = 0; i < P * cols; i++)
        rank[i] = hs_grid_rank(&layered->grid[i % L]->grid, i / cols * Q + i % cols / L);
    int64_t block = divided(layout.axis[1].nb, L);
    layout.rank = rank;
    layout.extent[1] = cols;
    layout.axis[1] = hs_axis_make(layout.axis[1].n, block, block, 0, cols);
    return layout;
}

hsumma_status hs_layered_layouts(hsumma_context *ctx, const struct hs_request *request,
                                 const struct hs_settings *settings, hsumma_grid *grid[3], hsumma_desc desc[3])
{
    struct hs_layered *layered;
    hsumma_status status = hs_layered_create(ctx, request, settings, &layered);
    if (status)
        return status;
    int *rank = hs_get(&ctx->memory, ranks_of(layered), sizeof *rank);
    struct hs_verdict verdict = hs_context_agree(ctx, (struct hs_vote){.status = rank ? HSUMMA_OK : HSUMMA_ERR_MEMORY});
    status = verdict.status;
    if (status)
        hs_fail(&ctx->message, status, "cannot make the grids of layers: %s", hsumma_status_string(status));
    for (int x = 0; x < 3 && !status; x++) {
        struct hs_layout layout = hs_layered_free_layout(layered, request, x, rank);
        status = hs_grid_create(ctx, layout.extent, 'R', rank, &grid[x]);
        if (!status)
            desc[x] = desc_of(grid[x], layout.axis);
    }
    for (int x = 0; x < 3 && status; x++) {
        if (grid[x])
            hs_grid_release(grid[x]);
        grid[x] = NULL;
    }
    hs_put(&ctx->memory, rank);
    hs_layered_destroy(ctx, layered);
    return status;
}
