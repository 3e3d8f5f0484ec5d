#include "summa/messages/loop.h"

#include "base/wait.h"
#include "summa/messages/mpi_rows.h"

#include <string.h>

hsumma_status hs_variant_pairs(const struct hs_variant *variant, const struct hs_allocator *memory,
                               struct hs_pairs *pairs)
{
    int first = variant->stationary == HS_A ? HS_B : HS_A, second = variant->stationary == HS_C ? HS_B : HS_C;
    return hs_pairs_make(variant->role[first].looped, variant->role[second].looped, variant->ordered, memory, pairs);
}

/* With short turns, orders the pairs so that, as far as possible, roots that send concurrently are on different nodes
 * and do not share a node's link. */
static hsumma_status alternate(const struct hs_loop *loop, const struct hs_allocator *memory, struct hs_pairs *pairs)
{
    const struct hs_spec *spec = loop->spec;
    int mates[2] = {1, 1}, several = 0;
    for (int x = 0; x < 3 && spec->turn != HS_WHOLE_TURN; x++) {
        const struct hs_role *role = &loop->variant.role[x];
        if (!role->moves || role->exchanged) /* the roots of an exchanged operand need not be its owners */
            continue;
        int most = spec->mates[role->line_axis], which = x - (loop->variant.stationary < x);
        mates[which] = most > 1 ? most : 1;
        several |= most > 1 && most < loop->problem->grid.extent[role->line_axis];
    }
    return several ? hs_pairs_alternate(pairs, mates, memory) : HSUMMA_OK;
}

static hsumma_status make_panels(struct hs_loop *loop, const struct hs_allocator *memory)
{
    const struct hs_spec *spec = loop->spec;
    struct hs_pairs pairs;
    hsumma_status status = hs_variant_pairs(&loop->variant, memory, &pairs);
    if (!status && (status = alternate(loop, memory, &pairs)))
        hs_pairs_free(memory, &pairs);
    if (!status)
        status = hs_panels_make(&pairs, spec->levels, spec->width, spec->turn, memory, &loop->panels);
    if (!status && spec->steps > 0 && spec->steps < loop->panels.tier[0].count)
        loop->panels.run = loop->panels.tier[0].first[spec->steps];
    return status;
}

/* Lays out the memory that lives as long as the plan. */
static void lay_out(struct hs_loop *loop, struct hs_arena *arena)
{
    for (int i = 0; i < 2; i++)
        hs_conveyor_lay_out(&loop->conveyor[i], &loop->lists, arena);
}

/* Places the panel buffers from `base` on; returns their size in bytes. */
static size_t place(struct hs_loop *loop, char *base)
{
    struct hs_arena arena = {base, 0};
    for (int i = 0; i < 2; i++)
        hs_conveyor_place_buffers(&loop->conveyor[i], &arena);
    return arena.used;
}

static hsumma_status make_conveyors(struct hs_loop *loop, const struct hs_allocator *memory)
{
    hsumma_status status = HSUMMA_OK;
    for (int x = 0; !status && x < 3; x++) {
        if (!loop->variant.role[x].moves)
            continue;
        struct hs_mover mover;
        struct hs_cells *cells =
            hs_spec_shares(loop->spec, x) ? &loop->cells[x - (loop->variant.stationary < x)] : NULL;
        if (cells)
            status = hs_cells_make(cells, &loop->problem->grid, loop->variant.role[x].line_axis, x != HS_C,
                                   &loop->comm->topology, memory);
        if (status)
            break;
        hs_mover_init(&mover, loop->problem, &loop->variant, loop->spec, &loop->panels, &loop->comm->topology, cells,
                      x);
        loop->sliced |= mover.levels > 0 || mover.role->exchanged;
        loop->feeds += x != HS_C;
        status = hs_conveyor_init(&loop->conveyor[mover.index], loop->spec, &mover, &loop->lists, memory);
    }
    return status;
}

/*
 * Computes where the panel buffers of this process's cells begin in the node's memory.  That memory contains the lines
 * of the first moving operand in order, then the lines of the second.  Sizes suffice for any line, so all processes of
 * a node compute the same.
 */
static void divide_shared(struct hs_loop *loop)
{
    loop->shared_bytes = loop->shared_part = 0;
    for (int i = 0; i < 2; i++) {
        struct hs_conveyor *conveyor = &loop->conveyor[i];
        const struct hs_mover *mover = &conveyor->mover;
        const struct hs_pairs *pairs = &loop->panels.pairs;
        const struct hs_cells *cells = &loop->cells[i];
        conveyor->shared_at =
            loop->shared_bytes + hs_conveyor_shared_bytes(mover, loop->spec, pairs, cells->before[0], cells->before[1]);
        loop->shared_bytes += hs_conveyor_shared_bytes(mover, loop->spec, pairs, cells->all[0], cells->all[1]);
        loop->shared_part += hs_conveyor_shared_part(conveyor);
    }
}

hsumma_status hs_loop_init(struct hs_loop *loop, const struct hs_problem *problem, const struct hs_spec *spec,
                           struct hs_comm *comm, const struct hs_allocator *memory, struct hs_message *message)
{
    memset(loop, 0, sizeof *loop);
    loop->problem = problem;
    loop->spec = spec;
    loop->comm = comm;
    loop->blocking = spec->lookahead == 0;
    hs_cache_begin(&loop->lists, memory);
    hsumma_status status = hs_variant_make(problem, spec->stationary, &loop->variant, message);
    if (status)
        return status;
    for (int dim = 0; dim < 3; dim++)
        if (loop->variant.axis[dim])
            loop->local[dim] = hs_axis_count(loop->variant.axis[dim], problem->grid.coord[loop->variant.axis_of[dim]]);
    if (hs_native_wanted(spec)) {
        int longest = problem->grid.extent[problem->grid.extent[1] > problem->grid.extent[0]];
        loop->line = hs_get(memory, (size_t)longest, sizeof *loop->line);
        status = loop->line ? HSUMMA_OK : HSUMMA_ERR_MEMORY;
    }
    if (!status)
        status = make_panels(loop, memory);
    if (!status)
        status = make_conveyors(loop, memory);
    loop->passes_on = loop->blocking || (loop->feeds == 2 && !problem->local);
    if (!status) {
        struct hs_arena arena = {NULL, 0};
        lay_out(loop, &arena);
        loop->arena_bytes = arena.used;
        loop->arena = hs_get(memory, arena.used ? arena.used : 1, 1);
        arena = (struct hs_arena){loop->arena, 0};
        if (loop->arena)
            lay_out(loop, &arena);
        else
            status = hs_fail(message, HSUMMA_ERR_MEMORY, "no memory for %zu bytes of a plan", loop->arena_bytes);
        loop->buffer_bytes = place(loop, NULL);
        divide_shared(loop);
    }
    if (status)
        hs_loop_free(loop, memory);
    return status;
}

hsumma_status hs_loop_connect(struct hs_loop *loop)
{
    hsumma_status status[2];
    for (int i = 0; i < 2; i++)
        status[i] = hs_native_connect(&loop->conveyor[i].mover, loop->comm, loop->line);
    return status[0] ? status[0] : status[1];
}

void hs_loop_free(struct hs_loop *loop, const struct hs_allocator *memory)
{
    for (int i = 0; i < 2; i++) {
        hs_native_disconnect(&loop->conveyor[i].mover);
        hs_conveyor_free(&loop->conveyor[i], memory);
        hs_cells_free(&loop->cells[i], memory);
    }
    hs_panels_free(memory, &loop->panels);
    hs_cache_free(&loop->lists);
    hs_put(memory, loop->line);
    hs_put(memory, loop->arena);
    memset(loop, 0, sizeof *loop);
    hs_cache_begin(&loop->lists, memory);
}

/* The drain; NULL if C is stationary. */
static struct hs_conveyor *drain_of(struct hs_loop *loop)
{
    return loop->feeds < 2 ? &loop->conveyor[1] : NULL;
}

int64_t hs_slice_columns(const struct hs_spec *spec, int complex_type, int64_t m, int64_t n, int64_t k)
{
    double per_column = 2.0 * (double)m * (double)k * (complex_type ? 4 : 1);
    if (spec->slice == INT64_MAX || per_column * (double)n <= 1.5 * (double)spec->slice)
        return n;
    int64_t columns = (int64_t)((double)spec->slice / per_column) / HS_SLICE_UNIT * HS_SLICE_UNIT;
    return columns < HS_SLICE_UNIT ? HS_SLICE_UNIT : columns;
}

/* The next slice of panel `now`; on a device the whole rest of the panel, because messages progress meanwhile. */
static struct hs_product next_slice(struct hs_loop *loop)
{
    const struct hs_problem *problem = loop->problem;
    const struct hs_scalar *scalar = problem->scalar;
    const struct hs_conveyor *drain = drain_of(loop);
    struct hs_matrix matrix[3];
    int in_c = 0;
    int64_t extent[3] = {loop->local[0], loop->local[1], loop->local[2]}, from = loop->column;
    memcpy(matrix, loop->matrix, sizeof matrix);
    extent[loop->variant.looped] = loop->panels.panel[loop->now].width;
    for (int f = 0; f < loop->feeds; f++)
        matrix[loop->conveyor[f].mover.operand] = hs_feed_panel(&loop->conveyor[f], loop->now);
    if (drain)
        matrix[HS_C] = hs_drain_panel(drain, loop->now, &in_c);
    const void *beta = drain && !in_c ? scalar->zero : &loop->beta;
    if (!drain && loop->now > 0)
        beta = scalar->one;
    matrix[HS_B].base += (size_t)(from * (problem->view[HS_B].op == 'N' ? matrix[HS_B].ld : 1)) * scalar->size;
    matrix[HS_C].base += (size_t)(from * matrix[HS_C].ld) * scalar->size;
    struct hs_product product = hs_part_of_product(problem, loop->spec, &loop->alpha, matrix, beta);
    memcpy(product.extent, extent, sizeof extent);
    product.extent[HS_N] -= from;
    if (loop->sliced && !hs_local_takes(problem->local, &product)) {
        int64_t columns = hs_slice_columns(loop->spec, scalar->complex_type, extent[HS_M], extent[HS_N], extent[HS_K]);
        product.extent[HS_N] = columns < product.extent[HS_N] ? columns : product.extent[HS_N];
    }
    from += product.extent[HS_N];
    loop->column = from < extent[HS_N] ? from : 0;
    return product;
}

/* Multiplies a slice, or continues the slice on a device.  An error is only returned at the end of the execution,
 * because other processes wait for messages of this process. */
static void multiply(struct hs_loop *loop, int *worked)
{
    int done, panel = loop->now;
    if (!loop->multiplying) {
        for (int f = 0; f < loop->feeds && loop->column == 0; f++)
            if (loop->conveyor[f].checks)
                hs_feed_check_crc(&loop->conveyor[f], loop->now);
        struct hs_product product = next_slice(loop);
        loop->flops = hs_product_flops(&product);
        loop->mark = hs_now();
        loop->multiplying = 1;
        hs_local_start(loop->problem->local, &product);
    }
    hsumma_status status = hs_local_advance(loop->problem->local, worked, &done);
    double now = hs_now();
    loop->failed = loop->failed ? loop->failed : status;
    loop->times.gemm += now - loop->mark;
    hs_problem_worked(loop->problem, HS_TRACE_GEMM, loop->mark, now, -1, panel, done ? loop->flops : 0);
    loop->mark = now;
    loop->multiplying = !done;
    if (done && loop->column == 0)
        loop->now++;
}

int hs_loop_batch_end(const struct hs_loop *loop, const struct hs_conveyor *feed)
{
    int end = feed->owners ? hs_batch_end(&loop->panels, feed->owners, loop->now) : loop->now + 1;
    return end < loop->end ? end : loop->end;
}

/* Whether panel `now` can be multiplied: its whole batch has arrived and been passed on (hs_loop.passes_on) and, for a
 * moving C, its buffer is free. */
static int ready(struct hs_loop *loop)
{
    for (int f = 0; f < loop->feeds; f++) {
        const struct hs_conveyor *feed = &loop->conveyor[f];
        int end = hs_loop_batch_end(loop, feed);
        for (int t = loop->now; t < end; t++)
            if (!hs_feed_ready(feed, t))
                return 0;
        if (loop->passes_on && !hs_feed_passed_on(feed, end - 1))
            return 0;
    }
    return !drain_of(loop) || hs_drain_open(drain_of(loop), loop->now);
}

static int complete(const struct hs_loop *loop)
{
    return loop->now >= loop->end && hs_conveyor_done(&loop->conveyor[0]) && hs_conveyor_done(&loop->conveyor[1]);
}

/* Whether feeds may start panel `now`: without lookahead, only if its predecessor is complete on all members of the
 * cells.  Members with nothing left to send would otherwise start `now` and take bandwidth from the predecessor. */
static int may_feed(const struct hs_loop *loop)
{
    for (int f = 0; loop->blocking && loop->now > 0 && f < loop->feeds; f++)
        if (!hs_feed_forwarded(&loop->conveyor[f], loop->now - 1))
            return 0;
    return 1;
}

/* Progresses all instances and starts those that may start. */
static hsumma_status move(struct hs_loop *loop, int *worked)
{
    struct hs_conveyor *drain = drain_of(loop);
    int blocking = loop->blocking, one_at_a_time = blocking && loop->spec->owners <= 1;
    hsumma_status status = HSUMMA_OK;
    for (int i = 0; !status && i < 2; i++)
        status = hs_conveyor_progress(&loop->conveyor[i], worked);
    if (!status && drain)
        status = hs_conveyor_start(drain, loop->comm, &loop->lists, loop->now, 0, worked);
    if (blocking && ((drain && !hs_conveyor_idle(drain)) || !may_feed(loop)))
        return status;
    for (int f = 0; !status && f < loop->feeds; f++) {
        struct hs_conveyor *feed = &loop->conveyor[f];
        status = hs_conveyor_start(feed, loop->comm, &loop->lists, loop->now, one_at_a_time, worked);
        /* the other operand starts when this one has arrived and been forwarded */
        if (one_at_a_time && !hs_feed_passed_on(feed, loop->now))
            break;
    }
    return status;
}

/* Signals this process's progress to the other processes of its node. */
static void signal_progress(struct hs_loop *loop)
{
    struct hs_node_execution *execution = &loop->execution;
    if (!execution->shared)
        return;
    for (int i = 0; i < 2; i++)
        hs_conveyor_signal(&loop->conveyor[i]);
    struct hs_conveyor *drain = drain_of(loop);
    for (int t = loop->signalled; t < loop->now && drain && drain->checks; t++)
        hs_drain_take_crcs(drain, t);
    if (loop->now > loop->signalled)
        hs_signal(&execution->shared->directory, HS_USED, hs_node_progress(execution->number, loop->now));
    loop->signalled = loop->now;
}

static void finish(struct hs_loop *loop)
{
    if (loop->execution.shared)
        hs_node_leave(loop->execution.shared, loop->execution.number);
    if (loop->multiplying)
        hs_local_stop(loop->problem->local);
    loop->multiplying = 0;
    loop->state = HS_IDLE;
    loop->times.seconds = hs_now() - loop->times.begin;
    loop->times.bytes = loop->comm->bytes_sent - loop->times.bytes;
    loop->times.messages = loop->comm->messages_sent - loop->times.messages;
    loop->times.copy = loop->conveyor[0].copy_seconds + loop->conveyor[1].copy_seconds;
    loop->last = loop->times;
}

int hs_loop_idle(const struct hs_loop *loop)
{
    return hs_conveyor_idle(&loop->conveyor[0]) && hs_conveyor_idle(&loop->conveyor[1]);
}

int hs_loop_boundary(const struct hs_loop *loop, int at)
{
    const struct hs_tier *outer = &loop->panels.tier[0]; /* panels of all tiers begin where one of these begins */
    if (at >= loop->panels.count)
        return loop->panels.count;
    int o = outer->of[at];
    return outer->first[o] == at ? at : outer->first[o + 1];
}

void hs_loop_start(struct hs_loop *loop, const void *alpha, const struct hs_matrix matrix[3], const void *beta,
                   char *buffers, const struct hs_node_execution *execution, double begin, int from, int to)
{
    const struct hs_scalar *scalar = loop->problem->scalar;
    int count = loop->panels.count;
    memset(&loop->times, 0, sizeof loop->times);
    loop->times.begin = begin;
    loop->times.bytes = loop->comm->bytes_sent;
    loop->times.messages = loop->comm->messages_sent;
    memcpy(&loop->alpha, alpha, scalar->size);
    memcpy(&loop->beta, beta, scalar->size);
    memcpy(loop->matrix, matrix, sizeof loop->matrix);
    loop->now = from;
    loop->end = to == HS_ALL ? count : to;
    loop->column = 0;
    loop->failed = HSUMMA_OK;
    loop->execution = execution ? *execution : (struct hs_node_execution){NULL, 0, 0};
    loop->signalled = 0;
    for (int i = 0; i < 2; i++)
        hs_conveyor_reset(&loop->conveyor[i], &loop->matrix[loop->conveyor[i].mover.operand], &loop->beta,
                          &loop->execution, hs_checking(loop->comm, loop->spec->checked), from, loop->end);
    if (loop->buffers != buffers)
        place(loop, buffers);
    loop->buffers = buffers;
    loop->state = HS_RUNNING;
    int first = from == 0 && (loop->end > 0 || count == 0);
    if (hs_only_scale(loop->problem, &loop->alpha, first ? &loop->beta : scalar->one, &loop->matrix[HS_C]) ||
        from == loop->end) {
        loop->now = loop->end;
        finish(loop);
    }
}

/* Begins a new check of the signals of other processes of the node.  Every 64 calls, or at each call if this process
 * blocks in MPI, it also checks whether a process of the node has failed. */
static hsumma_status check_signals(struct hs_loop *loop)
{
    enum { CHECKS = 64 };
    struct hs_directory *directory = &loop->execution.shared->directory;
    hs_directory_look(directory);
    if (!loop->comm->block && ++loop->checks % CHECKS)
        return HSUMMA_OK;
    return hs_directory_broken(directory);
}

hsumma_status hs_loop_advance(void *state, int *worked, int *done)
{
    struct hs_loop *loop = state;
    hsumma_status status = HSUMMA_OK;
    if (loop->state == HS_RUNNING) {
        if (loop->execution.shared)
            status = check_signals(loop);
        if (!status)
            status = move(loop, worked);
        signal_progress(loop);
        if (!status && loop->now < loop->end && (loop->multiplying || ready(loop))) {
            multiply(loop, worked);
            signal_progress(loop);
        } else if (!status && complete(loop)) {
            finish(loop);
            status = loop->failed;
        } else if (!status) {
            hs_loop_trace_wait(loop);
        }
    }
    if (status && loop->state == HS_RUNNING) {
        if (loop->execution.shared)
            hs_directory_break(&loop->execution.shared->directory, status);
        loop->execution.shared = NULL; /* finish must not signal the end of this execution */
        finish(loop);
    }
    *done = loop->state == HS_IDLE;
    return status;
}

/* Adds the messages of all instances of a channel.  Consecutive panels mostly have the same list; its messages are
 * counted once and added for each panel. */
static void count_channel(const struct hs_loop *loop, const struct hs_channel *channel, int64_t cut, int64_t *messages,
                          int64_t *bytes)
{
    const int panels = loop->panels.tier[channel->tier].count;
    for (int o = 0, next; o < panels; o = next) {
        for (next = o + 1; next < panels && channel->list[next] == channel->list[o];)
            next++;
        const struct hs_list *list = channel->list[o] < 0 ? NULL : &loop->lists.list[channel->list[o]];
        for (int i = 0; list && i < list->steps; i++)
            if (list->step[i].kind == HS_SEND) {
                *messages += (next - o) * ((list->step[i].count - 1) / cut + 1);
                *bytes += (next - o) * list->step[i].count;
            }
    }
}

void hs_loop_count(const struct hs_loop *loop, int64_t cut, int64_t *messages, int64_t *bytes)
{
    *messages = *bytes = 0;
    for (int i = 0; i < 2; i++)
        for (int s = 0; s < loop->conveyor[i].channels; s++)
            count_channel(loop, &loop->conveyor[i].channel[s], cut, messages, bytes);
}
