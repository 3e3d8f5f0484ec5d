#include "summa/messages/loop.h"

#include "base/wait.h"
#include "summa/messages/mpi_rows.h"

#include <string.h>

static hsumma_status make_panels(struct hs_loop *loop, const struct hs_allocator *memory)
{
    const struct hs_axis *axis[2];
    int movers = 0;
    for (int x = 0; x < 3; x++)
        if (loop->variant.role[x].moves)
            axis[movers++] = loop->variant.role[x].looped;
    struct hs_pairs pairs;
    hsumma_status status = hs_pairs_make(axis[0], axis[1], memory, &pairs);
    return status ? status : hs_panels_make(&pairs, loop->spec->levels, loop->spec->width, memory, &loop->panels);
}

static void lay_out(struct hs_loop *loop, struct hs_arena *arena)
{
    for (int f = 0; f < loop->feeds; f++)
        hs_feed_lay_out(&loop->feed[f], &loop->lists, arena);
    if (loop->drains)
        hs_drain_lay_out(&loop->drain, &loop->lists, arena);
}

/* Panel buffers; their bytes. */
static size_t place(struct hs_loop *loop, char *base)
{
    struct hs_arena arena = {base, 0};
    for (int f = 0; f < loop->feeds; f++)
        hs_feed_place_buffers(&loop->feed[f], &arena);
    if (loop->drains)
        hs_drain_place_buffers(&loop->drain, &arena);
    return arena.used;
}

static hsumma_status make_movers(struct hs_loop *loop, const struct hs_allocator *memory)
{
    hsumma_status status = HSUMMA_OK;
    for (int x = 0; !status && x < 3; x++) {
        if (!loop->variant.role[x].moves)
            continue;
        struct hs_mover mover;
        hs_mover_init(&mover, loop->problem, &loop->variant, loop->spec, &loop->panels, x);
        loop->sliced |= mover.levels > 0 || mover.role->exchanged;
        if (x == HS_C) {
            loop->drains = 1;
            status = hs_drain_init(&loop->drain, loop->spec, &mover, &loop->lists, memory);
        } else {
            status = hs_feed_init(&loop->feed[loop->feeds++], loop->spec, &mover, &loop->lists, memory);
        }
    }
    return status;
}

hsumma_status hs_loop_init(struct hs_loop *loop, const struct hs_problem *problem, const struct hs_spec *spec,
                           struct hs_comm *comm, const struct hs_allocator *memory, struct hs_message *message)
{
    memset(loop, 0, sizeof *loop);
    loop->problem = problem;
    loop->spec = spec;
    loop->comm = comm;
    loop->one_at_a_time = spec->lookahead == 0;
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
        status = make_movers(loop, memory);
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
    }
    if (status)
        hs_loop_free(loop, memory);
    return status;
}

hsumma_status hs_loop_connect(struct hs_loop *loop)
{
    hsumma_status first = HSUMMA_OK, status;
    for (int f = 0; f < loop->feeds; f++) {
        status = hs_native_connect(&loop->feed[f].mover, loop->comm, loop->line);
        first = first ? first : status;
    }
    status = loop->drains ? hs_native_connect(&loop->drain.mover, loop->comm, loop->line) : HSUMMA_OK;
    return first ? first : status;
}

void hs_loop_free(struct hs_loop *loop, const struct hs_allocator *memory)
{
    for (int f = 0; f < loop->feeds; f++) {
        hs_native_disconnect(&loop->feed[f].mover);
        hs_feed_free(&loop->feed[f], memory);
    }
    if (loop->drains)
        hs_native_disconnect(&loop->drain.mover);
    hs_drain_free(&loop->drain, memory);
    hs_panels_free(memory, &loop->panels);
    hs_cache_free(&loop->lists);
    hs_put(memory, loop->line);
    hs_put(memory, loop->arena);
    memset(loop, 0, sizeof *loop);
    hs_cache_begin(&loop->lists, memory);
}

/* Columns of a slice: about spec->slice flops, a multiple of what BLAS kernels unroll, never a function of timing. */
static int64_t slice_columns(const struct hs_loop *loop, int64_t m, int64_t n, int64_t k)
{
    enum { UNROLL = 96 };
    double per_column = 2.0 * (double)m * (double)k * (loop->problem->scalar->complex_type ? 4 : 1);
    if (!loop->sliced || loop->spec->slice == INT64_MAX || per_column * (double)n <= 1.5 * (double)loop->spec->slice)
        return n;
    int64_t columns = (int64_t)((double)loop->spec->slice / per_column) / UNROLL * UNROLL;
    return columns < UNROLL ? UNROLL : columns;
}

/* Columns [from, from + ...) of op(B) and C begin where? */
static const char *column_of(const struct hs_matrix *matrix, char op, int64_t from, size_t size)
{
    return matrix->base + (size_t)(from * (op == 'N' ? matrix->ld : 1)) * size;
}

/* The next slice of panel `now`; on a device all that is left of it: messages move all the same. */
static struct hs_product next_slice(struct hs_loop *loop)
{
    const struct hs_problem *problem = loop->problem;
    const struct hs_scalar *scalar = problem->scalar;
    char opb = problem->view[HS_B].op;
    struct hs_matrix matrix[3];
    int direct = 0;
    int64_t extent[3] = {loop->local[0], loop->local[1], loop->local[2]}, from = loop->column;
    memcpy(matrix, loop->matrix, sizeof matrix);
    extent[loop->variant.looped] = loop->panels.panel[loop->now].width;
    for (int f = 0; f < loop->feeds; f++)
        matrix[loop->feed[f].mover.operand] = hs_feed_panel(&loop->feed[f], loop->now);
    if (loop->drains)
        matrix[HS_C] = hs_drain_panel(&loop->drain, loop->now, &direct);
    const void *beta = loop->drains && !direct ? scalar->zero : &loop->beta;
    if (!loop->drains && loop->now > 0)
        beta = scalar->one;
    struct hs_product product = {.scalar = scalar,
                                 .op = {problem->view[HS_A].op, opb},
                                 .extent = {extent[HS_M], extent[HS_N] - from, extent[HS_K]},
                                 .alpha = loop->alpha,
                                 .a = matrix[HS_A].base,
                                 .b = column_of(&matrix[HS_B], opb, from, scalar->size),
                                 .c = matrix[HS_C].base + (size_t)(from * matrix[HS_C].ld) * scalar->size,
                                 .lda = matrix[HS_A].ld,
                                 .ldb = matrix[HS_B].ld,
                                 .ldc = matrix[HS_C].ld,
                                 .threads = loop->spec->threads};
    memcpy(&product.beta, beta, scalar->size);
    if (!hs_local_takes(problem->local, &product)) {
        int64_t columns = slice_columns(loop, extent[HS_M], extent[HS_N], extent[HS_K]);
        product.extent[HS_N] = columns < product.extent[HS_N] ? columns : product.extent[HS_N];
    }
    from += product.extent[HS_N];
    loop->column = from < extent[HS_N] ? from : 0;
    return product;
}

/* Multiplies a slice, or goes on with the one that a device multiplies.  A failure is told at the end: others wait for
 * what this process sends. */
static void multiply(struct hs_loop *loop, int *worked)
{
    int done;
    if (!loop->multiplying) {
        struct hs_product product = next_slice(loop);
        loop->mark = hs_now();
        loop->multiplying = 1;
        hs_local_start(loop->problem->local, &product);
    }
    hsumma_status status = hs_local_advance(loop->problem->local, worked, &done);
    double now = hs_now();
    loop->failed = loop->failed ? loop->failed : status;
    loop->times.gemm += now - loop->mark;
    loop->mark = now;
    loop->multiplying = !done;
    if (done && loop->column == 0)
        loop->now++;
}

static int ready(const struct hs_loop *loop)
{
    for (int f = 0; f < loop->feeds; f++)
        if (!hs_feed_ready(&loop->feed[f], loop->now) ||
            (loop->one_at_a_time && !hs_feed_settled(&loop->feed[f], loop->now)))
            return 0;
    return !loop->drains || hs_drain_open(&loop->drain, loop->now);
}

static int complete(const struct hs_loop *loop)
{
    if (loop->now < loop->end || (loop->drains && !hs_drain_done(&loop->drain)))
        return 0;
    for (int f = 0; f < loop->feeds; f++)
        if (!hs_feed_done(&loop->feed[f]))
            return 0;
    return 1;
}

static hsumma_status move(struct hs_loop *loop, int *worked)
{
    hsumma_status status = HSUMMA_OK;
    for (int f = 0; !status && f < loop->feeds; f++)
        status = hs_feed_progress(&loop->feed[f], worked);
    if (!status && loop->drains)
        status = hs_drain_progress(&loop->drain, worked);
    if (!status && loop->drains)
        status = hs_drain_start(&loop->drain, loop->comm, &loop->lists, loop->now, worked);
    if (loop->one_at_a_time && loop->drains && !hs_drain_idle(&loop->drain))
        return status;
    for (int f = 0; !status && f < loop->feeds; f++) {
        status = hs_feed_start(&loop->feed[f], loop->comm, &loop->lists, loop->now, loop->one_at_a_time, worked);
        /* blocking: the next operand waits until this one is here and has been passed on */
        if (loop->one_at_a_time && !hs_feed_settled(&loop->feed[f], loop->now))
            break;
    }
    return status;
}

static void finish(struct hs_loop *loop)
{
    if (loop->multiplying)
        hs_local_stop(loop->problem->local);
    loop->multiplying = 0;
    loop->state = HS_IDLE;
    loop->times.seconds = hs_now() - loop->times.begin;
    loop->times.bytes = loop->comm->bytes_sent - loop->times.bytes;
    loop->times.messages = loop->comm->messages_sent - loop->times.messages;
    for (int f = 0; f < loop->feeds; f++)
        loop->times.copy += loop->feed[f].copy_seconds;
    if (loop->drains)
        loop->times.copy += loop->drain.copy_seconds;
    loop->last = loop->times;
}

int hs_loop_boundary(const struct hs_loop *loop, int at)
{
    const struct hs_tier *outer = &loop->panels.tier[0]; /* panels of the others are parts of its panels */
    if (at >= loop->panels.count)
        return loop->panels.count;
    int o = outer->of[at];
    return outer->first[o] == at ? at : outer->first[o + 1];
}

void hs_loop_start(struct hs_loop *loop, const void *alpha, const struct hs_matrix matrix[3], const void *beta,
                   char *buffers, double begin, int from, int to)
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
    for (int f = 0; f < loop->feeds; f++)
        hs_feed_reset(&loop->feed[f], &loop->matrix[loop->feed[f].mover.operand], from, loop->end);
    if (loop->drains)
        hs_drain_reset(&loop->drain, &loop->matrix[HS_C], &loop->beta, from, loop->end);
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

hsumma_status hs_loop_advance(void *state, int *worked, int *done)
{
    struct hs_loop *loop = state;
    hsumma_status status = HSUMMA_OK;
    if (loop->state == HS_RUNNING) {
        status = move(loop, worked);
        if (!status && loop->now < loop->end && (loop->multiplying || ready(loop))) {
            multiply(loop, worked);
        } else if (!status && complete(loop)) {
            finish(loop);
            status = loop->failed;
        }
    }
    if (status)
        finish(loop);
    *done = loop->state == HS_IDLE;
    return status;
}

int64_t hs_workspace_max(const struct hs_problem *problem, const struct hs_variant *variant, const struct hs_spec *spec,
                         const struct hs_pairs *pairs)
{
    int64_t bytes = 0;
    for (int x = 0; x < 3; x++) {
        if (!variant->role[x].moves)
            continue;
        struct hs_mover mover;
        hs_mover_init(&mover, problem, variant, spec, NULL, x);
        int64_t length = hs_axis_count_max(mover.role->want);
        bytes += x == HS_C ? hs_drain_bytes(&mover, spec, pairs, length) : hs_feed_bytes(&mover, spec, pairs, length);
    }
    return bytes;
}
