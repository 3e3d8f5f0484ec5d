/* hsumma_redistribute: checks the arguments, agrees once, and runs a redistribution that is freed at the end of the
 * call. */
#include "base/hash.h"
#include "hsumma/plan/plan.h"
#include "summa/redistribute/redistribution.h"

#include <inttypes.h>

/* One of the two matrices. The axes are those of the whole matrix; the view is of the part to move. */
struct end_of_move {
    char name;
    int about;
    const hsumma_desc *desc;
    char *data;
    struct hs_axis axis[2];
    struct hs_view view;
};

static hsumma_status check_global(const hsumma_context *ctx, hsumma_type type, const int64_t extent[2],
                                  const struct end_of_move ends[2], struct hs_message *message)
{
    if ((unsigned)type > HSUMMA_Z)
        return hs_fail(message, HSUMMA_ERR_ARGUMENT, "type is %d; expected HSUMMA_S, _D, _C or _Z", (int)type);
    for (int a = 0; a < 2; a++)
        if (extent[a] < 0)
            return hs_fail(message, HSUMMA_ERR_ARGUMENT, "%c is %" PRId64 "; expected 0 or more", "mn"[a], extent[a]);
    for (int e = 0; e < 2; e++) {
        const hsumma_desc *desc = ends[e].desc;
        hsumma_status status = hs_desc_check(desc, ctx, ends[e].name, message);
        if (status)
            return status;
        const int64_t left[2] = {desc->m - desc->i, desc->n - desc->j};
        for (int a = 0; a < 2; a++)
            if (extent[a] > left[a])
                return hs_fail(message, HSUMMA_ERR_ARGUMENT,
                               "%c has %" PRId64 " %s from %c = %" PRId64 " on; the part needs %c = %" PRId64,
                               ends[e].name, left[a], a ? "columns" : "rows", "ij"[a], a ? desc->j : desc->i, "mn"[a],
                               extent[a]);
    }
    return HSUMMA_OK;
}

static void look(struct end_of_move *end, const int64_t extent[2])
{
    const hsumma_desc *desc = end->desc;
    for (int a = 0; a < 2; a++)
        end->axis[a] = hs_desc_axis(desc, a);
    end->view = hs_view_make(&end->axis[0], &end->axis[1], desc->i, desc->j, extent[0], extent[1],
                             desc->grid->grid.coord, desc->ld, 'N');
}

static int owns_any(const struct end_of_move *end)
{
    return end->view.rows > 0 && end->view.cols > 0;
}

/* Checks this process's leading dimension and pointer. */
static hsumma_status check_local(hsumma_context *ctx, const struct end_of_move *end, struct hs_message *message)
{
    const int *coord = end->desc->grid->grid.coord;
    if (coord[0] < 0)
        return HSUMMA_OK;
    int64_t rows = hs_axis_count(&end->axis[0], coord[0]), least = rows > 1 ? rows : 1;
    if (end->view.ld < least)
        return hs_fail(message, HSUMMA_ERR_ARGUMENT,
                       "leading dimension of %c is %" PRId64 " on process (%d,%d); expected %" PRId64 " or more",
                       end->name, end->view.ld, coord[0], coord[1], least);
    if (!owns_any(end))
        return HSUMMA_OK;
    if (!end->data)
        return hs_fail(message, HSUMMA_ERR_ARGUMENT,
                       "%c is NULL on process (%d,%d), which owns %" PRId64 " x %" PRId64 " of it", end->name, coord[0],
                       coord[1], end->view.rows, end->view.cols);
    if (ctx->device && hs_memory_is_reachable(ctx->device->kind->classify(ctx->device, end->data)))
        return hs_fail(message, HSUMMA_ERR_UNSUPPORTED,
                       "%c is in device memory on process (%d,%d); expected host memory", end->name, coord[0],
                       coord[1]);
    return HSUMMA_OK;
}

static struct hs_matrix part_of(const struct end_of_move *end, size_t size)
{
    size_t offset = (size_t)(end->view.origin[0] + end->view.origin[1] * end->view.ld) * size;
    return (struct hs_matrix){owns_any(end) ? end->data + offset : NULL, end->view.ld};
}

/*
 * Whether the two parts have an element in common. With equal leading dimensions they are rectangles of one array: b
 * lies `down` rows below and `right` columns beside a; its last rows may wrap into the next column. With different
 * leading dimensions, or a distance that is not a multiple of the element size, 1 if their address ranges overlap.
 */
static int parts_overlap(const struct end_of_move ends[2], size_t size)
{
    const struct hs_view *a = &ends[0].view, *b = &ends[1].view;
    if (!owns_any(&ends[0]) || !owns_any(&ends[1]))
        return 0;
    intptr_t begin[2], end[2];
    for (int e = 0; e < 2; e++) {
        const struct hs_view *view = &ends[e].view;
        begin[e] = (intptr_t)part_of(&ends[e], size).base;
        end[e] = begin[e] + (intptr_t)size * ((view->cols - 1) * view->ld + view->rows);
    }
    if (begin[0] >= end[1] || begin[1] >= end[0])
        return 0;
    intptr_t apart = begin[1] - begin[0], ld = a->ld;
    if (a->ld != b->ld || apart % (intptr_t)size)
        return 1;
    apart /= (intptr_t)size;
    intptr_t right = apart / ld - (apart % ld < 0), down = apart - right * ld;
    return (down < a->rows && right < a->cols && -right < b->cols) ||
           (down + b->rows > ld && right + 1 < a->cols && -(right + 1) < b->cols);
}

static int64_t hash_of_move(hsumma_type type, const int64_t extent[2], const struct end_of_move ends[2])
{
    uint64_t hash = hs_mix(hs_mix((uint64_t)type, (uint64_t)extent[0]), (uint64_t)extent[1]);
    for (int e = 0; e < 2; e++)
        hash = hs_desc_hash(hash, ends[e].desc, 0);
    return (int64_t)(hash >> 1);
}

/* Makes the redistribution; its buffers are workspace of the context. */
static hsumma_status prepare_move(hsumma_context *ctx, const struct hs_scalar *scalar, const struct end_of_move ends[2],
                                  struct hs_redistribution *move, struct hs_message *message)
{
    const struct hs_layout from = hs_layout_of(ends[0].desc->grid, &ends[0].view),
                           to = hs_layout_of(ends[1].desc->grid, &ends[1].view);
    const struct hs_view views[2] = {ends[0].view, ends[1].view};
    int64_t needs, limit = hs_workspace_limit(&ctx->options.settings.workspace, views, 2, scalar->size);
    hsumma_status status =
        hs_redistribution_init(move, &ctx->comm, HS_CHANNEL_MOVE, scalar, &from, 1, &to, limit, &ctx->memory, &needs);
    if (status == HSUMMA_ERR_WORKSPACE)
        return hs_fail(message, status,
                       "messages between the processes need %" PRId64
                       " bytes of workspace; workspace_limit allows %" PRId64 " (set a larger one for the context)",
                       needs, limit);
    if (!status && (status = hs_workspace_want(ctx, move->buffer_bytes)))
        hs_redistribution_free(move, &ctx->memory);
    return status ? hs_fail(message, status, "no memory for a redistribution") : HSUMMA_OK;
}

static hsumma_status run_move(hsumma_context *ctx, const struct end_of_move ends[2], struct hs_redistribution *move)
{
    size_t size = move->scalar->size;
    const struct hs_matrix from = part_of(&ends[0], size), to = part_of(&ends[1], size);
    hs_redistribution_start(move, &from, move->scalar->zero, &to, ctx->workspace->base, 0);
    hsumma_status status = hs_comm_wait(&ctx->comm, hs_redistribution_advance, move);
    if (status) {
        ctx->broken = 1;
        return hs_context_ended_early(ctx, status, "the redistribution (B is now undefined)");
    }
    return HSUMMA_OK;
}

/* Checks the call on this process and allocates what it needs. */
static hsumma_status judge_move(hsumma_context *ctx, const struct hs_scalar *scalar, struct end_of_move ends[2],
                                const int64_t extent[2], struct hs_redistribution *move, int *about)
{
    hsumma_status status = HSUMMA_OK;
    for (int e = 0; e < 2 && !status; e++) {
        look(&ends[e], extent);
        *about = ends[e].about;
        status = check_local(ctx, &ends[e], &ctx->message);
    }
    if (status)
        return status;
    *about = HS_ABOUT_OVERLAP;
    /* matrices without data (compute=time) may overlap */
    if (hs_compute_is_real(scalar->compute) && parts_overlap(ends, scalar->size))
        return hs_fail(&ctx->message, HSUMMA_ERR_ARGUMENT,
                       "A and B overlap in the memory of process %d; expected parts without a common element",
                       ctx->comm.rank);
    *about = HS_ABOUT_MEMORY;
    return prepare_move(ctx, scalar, ends, move, &ctx->message);
}

hsumma_status hsumma_redistribute(hsumma_context *ctx, hsumma_type type, int64_t m, int64_t n, const void *a,
                                  const hsumma_desc *desca, void *b, const hsumma_desc *descb)
{
    const int64_t extent[2] = {m, n};
    struct end_of_move ends[2] = {{.name = 'A', .about = HS_ABOUT_A, .desc = desca, .data = (char *)a}, /* only read */
                                  {.name = 'B', .about = HS_ABOUT_B, .desc = descb, .data = b}};
    struct hs_redistribution move = {0};
    struct hs_scalar scalar;
    int about = HS_ABOUT_NOTHING;
    if (!ctx)
        return HSUMMA_ERR_ARGUMENT;
    hsumma_status status = hs_context_check_free(ctx);
    if (status)
        return status;
    hs_context_enter(ctx, HS_ENTERED_REDISTRIBUTE, ++ctx->entered, 0);
    status = check_global(ctx, type, extent, ends, &ctx->message);
    int64_t hash = status ? 0 : hash_of_move(type, extent, ends);
    if (!status) {
        scalar = hs_scalars[type];
        scalar.compute = ctx->compute;
        status = judge_move(ctx, &scalar, ends, extent, &move, &about);
    }
    int prepared = !status;
    struct hs_vote vote = {.status = status, .about = about, .hash = hash};
    struct hs_verdict verdict = hs_context_agree(ctx, vote);
    struct hs_given given[3 + 2 * HS_DESC_GIVEN] = {{"type", .number = type}, {"m", .number = m}, {"n", .number = n}};
    int count = 3;
    if (!verdict.status && !verdict.alike) { /* the arguments are valid on all processes, but differ */
        count += hs_desc_given(desca, "A's descriptor", &given[count]);
        count += hs_desc_given(descb, "B's descriptor", &given[count]);
    }
    status = hs_context_judge(ctx, status, verdict, "hsumma_redistribute", given, count);
    if (!status)
        status = run_move(ctx, ends, &move);
    if (prepared && !ctx->broken) { /* else MPI may still write to its buffers */
        hs_redistribution_free(&move, &ctx->memory);
        hs_workspace_leave(ctx);
    }
    return status;
}
