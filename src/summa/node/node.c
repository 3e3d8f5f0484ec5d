#include "summa/node/node.h"

#include "base/options.h"
#include "base/wait.h"
#include "summa/node/on_device.h"
#include "summa/node/shape.h"

#include <string.h>

/* Adds the time since the clock was last read to *seconds.  If `seconds` is NULL, the time is uncounted overhead. */
static void account(struct hs_node_product *node, double *seconds)
{
    double now = hs_now();
    if (seconds)
        *seconds += now - node->mark;
    node->mark = now;
}

/* Records the work since the clock was last read, in *seconds and on the timeline. */
static void record(struct hs_node_product *node, double *seconds, enum hs_trace_kind kind, int operand, int64_t panel,
                   int64_t amount)
{
    double begin = node->mark;
    account(node, seconds);
    hs_problem_worked(node->problem, kind, begin, node->mark, operand, panel, amount);
}

/* Ends idle time, because this process has work to do. */
static void resume(struct hs_node_product *node)
{
    account(node, node->idle ? &node->times.wait : NULL);
    node->idle = 0;
}

/* Publishes that this process has done `steps` steps.  On a device the steps have only been enqueued, which is enough
 * if other processes can wait for the device's events; otherwise hs_node_device_announce publishes them later. */
static void announce(struct hs_node_product *node, enum hs_counter what, int64_t steps)
{
    if (!node->device || node->device->share.shares_events)
        hs_signal(&node->shared->directory, what, hs_node_progress(node->execution, steps));
}

/* Whether all other processes have finished their earlier executions.  On a device the streams then wait for the work
 * of these executions. */
static int enter(struct hs_node_product *node)
{
    struct hs_product_memory *shared = node->shared;
    if (!node->entered && !hs_node_vacant(shared, node->execution))
        return 0;
    for (int r = 0; !node->entered && node->device && r < shared->directory.ranks; r++)
        if (r != shared->directory.me && hs_node_taken_before(shared, node->execution, r))
            hs_node_device_enter(node, r);
    node->entered = 1;
    return 1;
}

/* Whether all peers have done `steps` steps.  For 0 steps no counter is read: some peers may not have begun this
 * execution yet. */
static int all_signalled(struct hs_node_product *node, const struct hs_peers *peers, enum hs_counter what,
                         int64_t steps)
{
    for (int i = 0; steps > 0 && i < peers->count; i++)
        if (!hs_signalled(&node->shared->directory, peers->rank[i], what, hs_node_progress(node->execution, steps)))
            return 0;
    return 1;
}

/* Whether a step begins with a load from host memory. */
static int loads(const struct hs_node_product *node, const struct hs_supply *supply, int64_t step)
{
    return node->device && node->device->host[supply->operand].base && hs_chunk_of(node, step) == 0;
}

/* Copies this process's part of the next step's tiles into shared memory; returns 0 if the tiles may not be overwritten
 * yet. */
static int fill(struct hs_node_product *node)
{
    int64_t step = node->fill, bytes = 0;
    int64_t panel = hs_panel_of(node, step);
    int due[2] = {0, 0}, load[2] = {0, 0};
    for (int i = 0; i < node->ins; i++) {
        const struct hs_supply *supply = &node->in[i];
        due[i] = supply->takers.count > 0 && hs_supply_begins(node, supply, step) &&
                 !(node->direct[supply->operand] && hs_panel_owner(node, supply, panel) >= 0);
        load[i] = loads(node, supply, step);
        if (due[i] &&
            (!enter(node) || !all_signalled(node, &supply->takers, HS_USED, hs_supply_free_after(node, supply, step))))
            return 0;
    }
    const int copies[2] = {due[0] || load[0], due[1] || load[1]};
    if (copies[0] || copies[1]) {
        resume(node);
        for (int i = 0; i < node->ins; i++) {
            const struct hs_supply *supply = &node->in[i];
            if (load[i])
                hs_node_load(node, supply, step);
            if (due[i] && node->device)
                hs_node_device_await_all(node, node->device->copies, &supply->takers, -1, HS_USED,
                                         hs_supply_free_after(node, supply, step));
            if (due[i])
                bytes += hs_node_fill(node, supply, step);
            if (due[i] && node->checks)
                hs_node_take_crcs(node, supply, step);
        }
        if (node->device)
            hs_node_device_mark(node, node->device->copies, HS_FILLED, step);
        record(node, &node->times.copy, HS_TRACE_COPY, copies[0] && copies[1] ? -1 : node->in[!copies[0]].operand,
               panel, bytes);
        node->times.bytes += bytes;
    }
    node->fill = step + 1;
    return 1;
}

/* Fills the steps before `until`, as far as possible. */
static int fill_ahead(struct hs_node_product *node, int64_t until)
{
    int64_t from = node->fill;
    until = until < node->steps ? until : node->steps;
    while (node->fill < until && fill(node))
        announce(node, HS_FILLED, node->fill);
    return node->fill > from;
}

/* Whether the part of a step's tile that this process reads has been filled, by all ranks that fill some of it. */
static int supplied(struct hs_node_product *node, const struct hs_supply *supply, int64_t step)
{
    const struct hs_peers *givers = &supply->givers;
    int owner = hs_panel_owner(node, supply, hs_panel_of(node, step));
    if (hs_reads_own(node, supply, owner))
        return 1;
    for (int i = 0; i < givers->count; i++)
        if (hs_peer_has(givers, i, owner) && !hs_signalled(&node->shared->directory, givers->rank[i], HS_FILLED,
                                                           hs_node_progress(node->execution, step + 1)))
            return 0;
    return 1;
}

/* Publishes the places of this process's A and B for in-place reads; the execution number is stored last. */
static void publish(struct hs_node_product *node, const struct hs_where where[2])
{
    struct hs_directory_entry *mine = &node->shared->directory.entry[node->shared->directory.me];
    for (int i = 0; i < node->ins; i++) {
        const struct hs_supply *supply = &node->in[i];
        struct hs_offer *offer = &mine->offer[supply->operand];
        struct hs_where at = where[supply->operand];
        node->direct[supply->operand] =
            !node->checks && !hs_supply_resident(supply->role) && at.region >= 0 && !supply->role->exchanged;
        if (!node->direct[supply->operand])
            continue;
        atomic_store_explicit(&offer->execution, 0, memory_order_relaxed);
        atomic_thread_fence(memory_order_release);
        atomic_store_explicit(&offer->region, at.region, memory_order_relaxed);
        atomic_store_explicit(&offer->offset, at.offset, memory_order_relaxed);
        atomic_store_explicit(&offer->ld, node->matrix[supply->operand].ld, memory_order_relaxed);
        atomic_store_explicit(&offer->execution, node->execution, memory_order_release);
    }
}

/*
 * The matrix that a rank has published for this execution, at its address in this process; base is NULL if there is
 * none.  An offer stays published until its readers are done.  A rank that published none for this execution may
 * already have published one for a later execution.
 */
static struct hs_matrix published(const struct hs_node_product *node, int x, int rank)
{
    struct hs_offer *offer = &node->shared->directory.entry[rank].offer[x];
    struct hs_matrix matrix = {NULL, 0};
    if (atomic_load_explicit(&offer->execution, memory_order_acquire) != node->execution)
        return matrix;
    int64_t region = atomic_load_explicit(&offer->region, memory_order_relaxed);
    int64_t offset = atomic_load_explicit(&offer->offset, memory_order_relaxed);
    matrix.ld = atomic_load_explicit(&offer->ld, memory_order_relaxed);
    matrix.base = hs_region_at(*node->shared->regions, region, rank, (size_t)offset); /* only read */
    return matrix;
}

/* The matrix from which a step's panel of A or B is read in place; base is NULL if there is none.  Sets *local to the
 * panel's first local index in that matrix. */
static struct hs_matrix source(const struct hs_node_product *node, const struct hs_supply *supply, int64_t step,
                               int64_t *local)
{
    const struct hs_peers *givers = &supply->givers;
    int owner = hs_supply_owner(node, supply, hs_panel_of(node, step), local);
    if (hs_owner_is_here(node, supply, owner))
        return node->matrix[supply->operand];
    for (int i = 0; owner >= 0 && node->spec->node != HS_NODE_DEVICE && i < givers->count; i++)
        if (givers->coord[i] == owner) /* unique, because only one of several replicas gives */
            return published(node, supply->operand, givers->rank[i]);
    return (struct hs_matrix){NULL, 0};
}

/* The address of operand x in a step's local product.  range: the part of each dimension, as set by ranges(). */
static struct hs_matrix locate(const struct hs_node_product *node, int x, int64_t step, const struct hs_range range[3])
{
    const struct hs_role *role = &node->variant.role[x];
    const struct hs_view *view = &node->problem->view[x];
    const int *coord = node->problem->grid.coord;
    size_t size = node->problem->scalar->size;
    const struct hs_supply *supply = x == HS_C ? &node->out : &node->in[node->ins > 1 && node->in[1].operand == x];
    struct hs_matrix whole = node->matrix[x];
    int64_t at[2], local;
    if (node->variant.even && hs_even_locate(node, x, range, &whole))
        return whole;
    if (!role->moves) {
        for (int logical = 0; logical < 2; logical++)
            at[hs_view_stored(view, logical)] = range[hs_operand_dims[x][logical]].begin;
    } else if (x != HS_C && (whole = source(node, supply, step, &local)).base) {
        at[role->loop_axis] = local;
        at[role->own_axis] = range[role->pinned].begin;
    } else {
        int p = x == HS_C ? hs_grid_me(&node->problem->grid) : hs_supply_line(supply, coord);
        return (struct hs_matrix){hs_supply_slot(node, supply, step, p), supply->ld};
    }
    return (struct hs_matrix){whole.base + (size_t)(at[0] + at[1] * whole.ld) * size, whole.ld};
}

/* Sets range[dim] to the part of each dimension that this process multiplies in a step; returns 0 if any is empty. */
static int ranges(const struct hs_node_product *node, int64_t step, struct hs_range range[3])
{
    const int *coord = node->problem->grid.coord;
    for (int dim = 0; dim < 3; dim++)
        range[dim] = dim == node->variant.looped ? hs_node_panel(node, hs_panel_of(node, step))
                                                 : (struct hs_range){0, node->local[dim]};
    for (int i = 0; i < node->ins; i++)
        if (node->in[i].operand == node->spec->chunked)
            range[node->in[i].role->pinned] =
                hs_supply_part(node, &node->in[i], hs_supply_line(&node->in[i], coord), step);
    return range[HS_M].length > 0 && range[HS_N].length > 0 && range[HS_K].length > 0;
}

/* The beta of a step's local product: the caller's beta for the first contribution to C, zero for the first
 * contribution to a partial result, otherwise one. */
static const void *beta_of(const struct hs_node_product *node, int64_t step)
{
    const struct hs_scalar *scalar = node->problem->scalar;
    if (node->outs)
        return hs_chunk_of(node, step) == 0 ? scalar->zero : scalar->one;
    if (node->variant.even && !node->even.own[HS_C])
        return hs_panel_of(node, step) == 0 ? scalar->zero : scalar->one;
    return hs_panel_of(node, step) == 0 ? (const void *)&node->beta : scalar->one;
}

/* Compares the CRCs of the tiles that begin with a step. */
static void check_crcs(struct hs_node_product *node, int64_t step)
{
    int begins = 0;
    for (int i = 0; i < node->ins; i++)
        if (hs_supply_begins(node, &node->in[i], step)) {
            hs_node_check_crcs(node, &node->in[i], step);
            begins = 1;
        }
    if (begins)
        record(node, &node->times.copy, HS_TRACE_COPY, -1, hs_panel_of(node, step), 0);
}

/* Begins the next step's product.  Returns 0 if its inputs are not ready, if this process has not filled its own part
 * of the step or, if C moves, if the tile of the partial result is not free.  An empty product waits for nothing. */
static int start(struct hs_node_product *node)
{
    const struct hs_problem *problem = node->problem;
    int64_t step = node->step;
    struct hs_range range[3];
    if (!ranges(node, step, range))
        return 1;
    if (node->outs && hs_chunk_of(node, step) == 0 &&
        (!enter(node) || !all_signalled(node, &node->out.givers, HS_SUMMED,
                                        hs_supply_free_after(node, &node->out, step) / node->chunks)))
        return 0;
    if (node->variant.even && !node->even.own[HS_C] && !enter(node))
        return 0;
    /* Other processes overwrite a tile once this process has used it, so this process must first fill its own part. */
    if (node->fill <= step)
        return 0;
    for (int i = 0; i < node->ins; i++)
        if (!supplied(node, &node->in[i], step))
            return 0;
    struct hs_matrix matrix[3];
    for (int x = 0; x < 3; x++)
        matrix[x] = locate(node, x, step, range);
    resume(node);
    if (node->checks)
        check_crcs(node, step);
    if (node->device) {
        hs_node_device_multiply(node, step, range, matrix, beta_of(node, step));
        record(node, &node->times.gemm, HS_TRACE_GEMM, -1, hs_panel_of(node, step), 0);
        return 1;
    }
    struct hs_product product = hs_part_of_product(problem, node->spec, &node->alpha, matrix, beta_of(node, step));
    for (int dim = 0; dim < 3; dim++)
        product.extent[dim] = range[dim].length;
    hs_local_start(problem->local, &product);
    node->flops = hs_product_flops(&product);
    node->multiplying = 1;
    return 1;
}

/* Takes the CRCs of what this process has computed for others, when the steps before `step` complete it. */
static void take_crcs(struct hs_node_product *node)
{
    const int64_t panel = hs_panel_of(node, node->step - 1);
    const int of_sum = node->outs && hs_chunk_of(node, node->step) == 0;
    if (!of_sum && !(node->variant.even && node->step == node->steps))
        return;
    resume(node);
    if (of_sum)
        hs_node_take_crcs_of_sum(node, panel);
    else
        hs_even_take_crcs(node);
    record(node, &node->times.copy, HS_TRACE_COPY, HS_C, panel, 0);
}

/* Computes the next step's product, or advances it on a device; returns 1 if the step is complete.  An error is only
 * returned at the end of the execution, because other processes wait for this one. */
static int multiply(struct hs_node_product *node, int *worked)
{
    int done = 1;
    if (!node->multiplying && !start(node))
        return 0;
    if (node->multiplying) {
        hsumma_status status = hs_local_advance(node->problem->local, worked, &done);
        node->failed = node->failed ? node->failed : status;
        record(node, &node->times.gemm, HS_TRACE_GEMM, -1, hs_panel_of(node, node->step), done ? node->flops : 0);
    }
    node->multiplying = !done;
    if (!done)
        return 0;
    *worked = 1;
    node->step++;
    if (node->checks)
        take_crcs(node);
    announce(node, HS_USED, node->step);
    return 1;
}

/* Adds up the next panel's partial results if all are ready. */
static int sum(struct hs_node_product *node)
{
    int64_t panel = node->sum;
    if (!all_signalled(node, &node->out.takers, HS_USED, (panel + 1) * node->chunks))
        return 0;
    resume(node);
    if (node->device)
        hs_node_device_await_all(node, node->device->copies, &node->out.takers, -1, HS_USED,
                                 (panel + 1) * node->chunks);
    if (node->checks)
        hs_node_check_crcs_of_sum(node, panel);
    hs_node_sum(node, panel);
    if (node->device)
        hs_node_device_mark(node, node->device->copies, HS_SUMMED, panel);
    record(node, &node->times.copy, HS_TRACE_SUM, HS_C, panel, 0);
    node->sum = panel + 1;
    announce(node, HS_SUMMED, node->sum);
    return 1;
}

/* Collects this process's part of C in an even division, if all parts are ready. */
static int collect(struct hs_node_product *node)
{
    if (node->even.collected || !all_signalled(node, &node->even.makers, HS_USED, node->steps))
        return 0;
    resume(node);
    if (node->checks)
        hs_even_check_crcs(node);
    int64_t bytes = hs_even_collect(node);
    record(node, &node->times.copy, HS_TRACE_SUM, HS_C, node->panels - 1, bytes);
    return node->even.collected = 1;
}

/* Whether no other process reads this process's matrices any more. */
static int unread(struct hs_node_product *node)
{
    for (int i = 0; i < node->ins; i++)
        if (node->direct[node->in[i].operand] && !all_signalled(node, &node->in[i].takers, HS_USED, node->steps))
            return 0;
    return 1;
}

static void finish(struct hs_node_product *node)
{
    hs_node_leave(node->shared, node->execution);
    resume(node);
    node->times.seconds = node->mark - node->times.begin;
    node->last = node->times;
    node->running = 0;
}

void hs_node_start(struct hs_node_product *node, struct hs_product_memory *shared, struct hs_comm *checks,
                   struct hs_node_device *device, uint64_t execution, const void *alpha,
                   const struct hs_matrix matrix[3], const struct hs_where where[2], const void *beta, double begin)
{
    size_t size = node->problem->scalar->size;
    memset(&node->times, 0, sizeof node->times);
    node->times.begin = begin;
    node->mark = hs_now();
    node->times.wait = node->mark - begin; /* the time until all processes had arrived */
    node->shared = shared;
    node->checks = checks;
    node->device = device;
    node->tiles = device ? hs_node_device_tiles(device) : shared->memory;
    node->execution = execution;
    node->entered = node->idle = node->closed = node->multiplying = 0;
    node->failed = HSUMMA_OK;
    node->fill = node->step = node->sum = 0;
    node->even.collected = node->even.makers.count == 0;
    memset(node->announced, 0, sizeof node->announced);
    memcpy(&node->alpha, alpha, size);
    memcpy(&node->beta, beta, size);
    memcpy(node->matrix, matrix, sizeof node->matrix);
    node->running = 1;
    if (device)
        hs_node_device_begin(node);
    if (device && hs_only_scales(node->problem, &node->alpha))
        hs_node_device_scale(node);
    else if (!device && hs_only_scale(node->problem, &node->alpha, &node->beta, &node->matrix[HS_C]))
        finish(node);
    else
        publish(node, where);
}

/* Whether a rank fills a part of a panel that this process reads. */
static int gives(const struct hs_node_product *node, const struct hs_supply *supply, int64_t panel, int rank)
{
    int owner = hs_panel_owner(node, supply, panel);
    for (int i = 0; i < supply->givers.count && !hs_reads_own(node, supply, owner); i++)
        if (supply->givers.rank[i] == rank && hs_peer_has(&supply->givers, i, owner))
            return 1;
    return 0;
}

/* If no work is possible, records a wait for one of the counters that were too low, preferably HS_FILLED. */
static void trace_wait(struct hs_node_product *node)
{
    struct hs_trace *trace = node->problem->trace;
    const struct hs_directory *directory = &node->shared->directory;
    const struct hs_awaited *awaited = directory->awaited;
    if (!hs_trace_notes(trace) || directory->awaits == 0)
        return;
    for (int i = 1; i < directory->awaits && awaited->counter != HS_FILLED; i++)
        awaited = directory->awaited[i].counter == HS_FILLED ? &directory->awaited[i] : awaited;
    int fills = awaited->counter == HS_FILLED;
    int64_t panel = hs_panel_of(node, node->step);
    int second = node->ins > 1 && fills && !gives(node, &node->in[0], panel, awaited->rank);
    hs_trace_await(trace, node,
                   (struct hs_trace_entry){.cause = fills ? HS_CAUSE_DATA : HS_CAUSE_ROOM,
                                           .peer = trace->rank_of_mate[awaited->rank],
                                           .panel = (int32_t)panel,
                                           .operand = fills ? node->in[second].operand : -1});
}

hsumma_status hs_node_advance(void *state, int *worked, int *done)
{
    struct hs_node_product *node = state;
    int did = 0;
    if (node->running) {
        hs_directory_look(&node->shared->directory);
        did |= fill_ahead(node, node->step + 2);
        int multiplied = node->step < node->steps && multiply(node, &did);
        if (node->outs && node->sum < node->panels)
            did |= sum(node);
        if (!multiplied)
            did |= fill_ahead(node, node->steps);
        if (node->step == node->steps)
            did |= collect(node);
        if (node->device)
            did |= hs_node_device_announce(node);
        if (node->step == node->steps && node->fill == node->steps && (!node->outs || node->sum == node->panels) &&
            node->even.collected && unread(node) && (!node->device || hs_node_device_left(node)))
            finish(node);
        else if (!did && !node->multiplying) {
            if (!node->idle)
                account(node, NULL);
            node->idle = 1;
            trace_wait(node);
        }
    }
    *worked |= did;
    *done = !node->running;
    return *done && !node->device ? node->failed : HSUMMA_OK;
}
