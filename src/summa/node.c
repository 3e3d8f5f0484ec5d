#include "summa/node.h"

#include "base/threads.h"
#include "base/wait.h"
#include "summa/node_shape.h"

#include <string.h>

/* Words count steps inside an execution: executions in front, and at its end the largest step. */
enum { STEP_BITS = 24 };

static uint64_t word(uint64_t execution, int64_t steps)
{
    return execution << STEP_BITS | (uint64_t)steps;
}

static uint64_t word_at_end(uint64_t execution)
{
    return (execution + 1) << STEP_BITS;
}

uint64_t hs_node_count(struct hs_node_room *room, const struct hs_grid *grid)
{
    uint64_t execution = ++room->executions;
    for (int i = 0; i < grid->extent[0] * grid->extent[1]; i++) {
        struct hs_taken *taken = &room->taken[grid->rank[i]];
        *taken = (struct hs_taken){taken->last, execution};
    }
    return execution;
}

/* Seconds since the last look at the clock go to one account; those of none are the library's own. */
static void account(struct hs_node *node, double *seconds)
{
    double now = hs_now();
    if (seconds)
        *seconds += now - node->mark;
    node->mark = now;
}

/* Something can be done (again). */
static void resume(struct hs_node *node)
{
    account(node, node->idle ? &node->times.wait : NULL);
    node->idle = 0;
}

/* Whether all that have used the memory before are done with it. */
static int enter(struct hs_node *node)
{
    struct hs_node_room *room = node->room;
    for (int r = 0; !node->entered && r < room->directory.ranks; r++) {
        const struct hs_taken *taken = &room->taken[r];
        uint64_t last = taken->last == node->execution ? taken->before : taken->last;
        if (last && r != room->directory.me &&
            (!hs_signalled(&room->directory, r, HS_USED, word_at_end(last)) ||
             !hs_signalled(&room->directory, r, HS_SUMMED, word_at_end(last))))
            return 0;
    }
    node->entered = 1;
    return 1;
}

/* Whether all have come so far; before the first step nothing is asked of anybody: some may not be here yet. */
static int all_signalled(struct hs_node *node, const struct hs_peers *peers, enum hs_counter what, int64_t steps)
{
    for (int i = 0; steps > 0 && i < peers->count; i++)
        if (!hs_signalled(&node->room->directory, peers->rank[i], what, word(node->execution, steps)))
            return 0;
    return 1;
}

/* Puts this process's part of the next step's tiles into shared memory, if it has any and they may be overwritten. */
static int fill(struct hs_node *node)
{
    int64_t step = node->fill, bytes = 0;
    int panel = hs_panel_of(node, step);
    int due[2] = {0, 0};
    for (int i = 0; i < node->ins; i++) {
        const struct hs_supply *supply = &node->in[i];
        due[i] =
            supply->takers.count > 0 && hs_supply_copied(node, supply, panel) && hs_supply_begins(node, supply, step);
        if (due[i] &&
            (!enter(node) || !all_signalled(node, &supply->takers, HS_USED, hs_supply_free_after(node, supply, step))))
            return 0;
    }
    if (due[0] || due[1]) {
        resume(node);
        for (int i = 0; i < node->ins; i++)
            if (due[i])
                bytes += hs_node_fill(node, &node->in[i], step);
        account(node, &node->times.copy);
        node->times.bytes += bytes;
    }
    node->fill = step + 1;
    return 1;
}

/* Fills what the next multiplication needs and one step more; further ones when there is nothing to multiply. */
static int fill_ahead(struct hs_node *node, int64_t until)
{
    int64_t from = node->fill;
    until = until < node->steps ? until : node->steps;
    while (node->fill < until && fill(node))
        ;
    if (node->fill == from)
        return 0;
    hs_signal(&node->room->directory, HS_FILLED, word(node->execution, node->fill));
    return 1;
}

/* Whether this process reads its own matrix, and from which local index of the looped dimension. */
static int in_place(const struct hs_node *node, const struct hs_supply *supply, int panel, int64_t *local)
{
    int owner = hs_supply_owner(node, supply, panel, local);
    return owner >= 0 && owner == hs_coord_on(supply->role->looped, node->problem->grid.coord[supply->role->loop_axis]);
}

/* Whether a tile of the step is there. */
static int supplied(struct hs_node *node, const struct hs_supply *supply, int64_t step)
{
    const struct hs_peers *givers = &supply->givers;
    int panel = hs_panel_of(node, step);
    int64_t local;
    if (in_place(node, supply, panel, &local))
        return 1;
    int owner = hs_supply_owner(node, supply, panel, &local);
    for (int i = 0; i < givers->count; i++)
        if ((owner < 0 || owner == givers->coord[i]) &&
            !hs_signalled(&node->room->directory, givers->rank[i], HS_FILLED, word(node->execution, step + 1)))
            return 0;
    return 1;
}

/* An operand for the local multiplication: begin is where its part of each dimension starts, here. */
static struct hs_matrix locate(const struct hs_node *node, int x, int64_t step, const struct hs_range range[3])
{
    const struct hs_role *role = &node->variant.role[x];
    const struct hs_view *view = &node->problem->view[x];
    const int *coord = node->problem->grid.coord;
    size_t size = node->problem->scalar->size;
    const struct hs_supply *supply = x == HS_C ? &node->out : &node->in[node->ins > 1 && node->in[1].operand == x];
    int panel = hs_panel_of(node, step);
    int64_t at[2], local;
    if (!role->moves) {
        for (int logical = 0; logical < 2; logical++)
            at[hs_view_stored(view, logical)] = range[hs_operand_dims[x][logical]].begin;
    } else if (x != HS_C && in_place(node, supply, panel, &local)) {
        at[role->loop_axis] = local;
        at[role->own_axis] = range[role->pinned].begin;
    } else {
        int p = x == HS_C ? hs_node_place(node->problem, 0, coord[0], coord[1])
                          : hs_coord_on(role->want, coord[role->want_axis]);
        return (struct hs_matrix){hs_supply_slot(node, supply, step, p), supply->ld};
    }
    return (struct hs_matrix){node->matrix[x].base + (size_t)(at[0] + at[1] * node->matrix[x].ld) * size,
                              node->matrix[x].ld};
}

/* What this process multiplies in a step; 0: nothing. */
static int ranges(const struct hs_node *node, int64_t step, struct hs_range range[3])
{
    const int *coord = node->problem->grid.coord;
    for (int dim = 0; dim < 3; dim++)
        range[dim] = dim == node->variant.looped ? hs_node_panel(node, hs_panel_of(node, step))
                                                 : (struct hs_range){0, node->local[dim]};
    for (int i = 0; i < node->ins; i++)
        if (node->in[i].operand == node->spec->chunked)
            range[node->in[i].role->pinned] = hs_supply_part(
                node, &node->in[i], hs_coord_on(node->in[i].role->want, coord[node->in[i].role->want_axis]), step);
    return range[HS_M].length > 0 && range[HS_N].length > 0 && range[HS_K].length > 0;
}

/* The first contribution to an element of C, or of its partial result. */
static const void *beta_of(const struct hs_node *node, int64_t step)
{
    const struct hs_scalar *scalar = node->problem->scalar;
    if (node->outs)
        return hs_chunk_of(node, step) == 0 ? scalar->zero : scalar->one;
    return hs_panel_of(node, step) == 0 ? (const void *)&node->beta : scalar->one;
}

static int multiply(struct hs_node *node)
{
    const struct hs_problem *problem = node->problem;
    int64_t step = node->step;
    struct hs_range range[3];
    if (ranges(node, step, range)) {
        if (node->outs && hs_chunk_of(node, step) == 0 &&
            (!enter(node) || !all_signalled(node, &node->out.givers, HS_SUMMED,
                                            hs_supply_free_after(node, &node->out, step) / node->chunks)))
            return 0;
        for (int i = 0; i < node->ins; i++)
            if (!supplied(node, &node->in[i], step))
                return 0;
        struct hs_matrix a = locate(node, HS_A, step, range), b = locate(node, HS_B, step, range),
                         c = locate(node, HS_C, step, range);
        resume(node);
        int threads = hs_threads_set(node->spec->threads);
        problem->scalar->gemm(problem->view[HS_A].op, problem->view[HS_B].op, range[HS_M].length, range[HS_N].length,
                              range[HS_K].length, &node->alpha, a.base, a.ld, b.base, b.ld, beta_of(node, step), c.base,
                              c.ld);
        hs_threads_restore(threads);
        account(node, &node->times.gemm);
    }
    node->step = step + 1;
    hs_signal(&node->room->directory, HS_USED, word(node->execution, node->step));
    return 1;
}

/* Adds up the next panel's partial results, when they are all there. */
static int sum(struct hs_node *node)
{
    int64_t panel = node->sum;
    if (!all_signalled(node, &node->out.takers, HS_USED, (panel + 1) * node->chunks))
        return 0;
    resume(node);
    hs_node_sum(node, (int)panel);
    account(node, &node->times.copy);
    node->sum = panel + 1;
    hs_signal(&node->room->directory, HS_SUMMED, word(node->execution, node->sum));
    return 1;
}

static void finish(struct hs_node *node)
{
    struct hs_directory *directory = &node->room->directory;
    static const enum hs_counter words[] = {HS_FILLED, HS_USED, HS_SUMMED};
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        hs_signal(directory, words[i], word_at_end(node->execution));
    resume(node);
    node->times.seconds = node->mark - node->times.begin;
    node->last = node->times;
    node->running = 0;
}

/* No product is left: C = beta C, each process for itself. */
static int only_scales(const struct hs_node *node)
{
    const int64_t *extent = node->problem->extent;
    return node->problem->scalar->is_zero(&node->alpha) || extent[HS_M] == 0 || extent[HS_N] == 0 || extent[HS_K] == 0;
}

static void scale(struct hs_node *node)
{
    const struct hs_view *c = &node->problem->view[HS_C];
    const int *coord = node->problem->grid.coord;
    node->problem->scalar->update(hs_axis_count(&c->axis[0], coord[0]), hs_axis_count(&c->axis[1], coord[1]),
                                  &node->beta, node->matrix[HS_C].base, node->matrix[HS_C].ld, NULL, 0);
}

void hs_node_start(struct hs_node *node, struct hs_node_room *room, uint64_t execution, const void *alpha,
                   const struct hs_matrix matrix[3], const void *beta, double begin)
{
    size_t size = node->problem->scalar->size;
    memset(&node->times, 0, sizeof node->times);
    node->times.begin = begin;
    node->mark = begin;
    node->room = room;
    node->execution = execution;
    node->entered = node->idle = 0;
    node->fill = node->step = node->sum = 0;
    memcpy(&node->alpha, alpha, size);
    memcpy(&node->beta, beta, size);
    memcpy(node->matrix, matrix, sizeof node->matrix);
    node->running = 1;
    if (only_scales(node)) {
        scale(node);
        finish(node);
    }
}

hsumma_status hs_node_advance(void *state, int *worked, int *done)
{
    struct hs_node *node = state;
    int did = 0;
    if (node->running) {
        did |= fill_ahead(node, node->step + 2);
        int multiplied = node->step < node->steps && multiply(node);
        did |= multiplied;
        if (node->outs && node->sum < node->panels)
            did |= sum(node);
        if (!multiplied)
            did |= fill_ahead(node, node->steps);
        if (node->step == node->steps && node->fill == node->steps && (!node->outs || node->sum == node->panels))
            finish(node);
        else if (!did && !node->idle) {
            account(node, NULL);
            node->idle = 1;
        }
    }
    *worked |= did;
    *done = !node->running;
    return HSUMMA_OK;
}
