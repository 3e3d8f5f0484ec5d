/* One call of p?gemm. */
#include "api/scalapack/shim.h"

#include "api/plan_cache.h"
#include "base/wait.h"

#include <stdio.h>

/* C := beta C, local on every process. */
static void scale(const struct hs_pgemm *call, const struct hs_arguments *args)
{
    const struct hs_scalar *scalar = &hs_scalars[call->type];
    struct hs_view view = hs_argument_view(args, 2);
    if (view.rows > 0 && view.cols > 0)
        scalar->update(view.rows, view.cols, call->beta,
                       (char *)call->data[2] + (size_t)(view.origin[0] + view.origin[1] * view.ld) * scalar->size,
                       view.ld, NULL, 0);
}

static hsumma_desc describe(const struct hs_arguments *args, int x, const hsumma_grid *grid)
{
    const struct hs_matrix_argument *matrix = &args->matrix[x];
    const int *entry = matrix->entry;
    struct hs_axis rows = hs_argument_axis(args, x, 0);
    int64_t local = hs_axis_count(&rows, args->coord[0]);
    /* PBLAS accepts any leading dimension where no columns are stored */
    return (hsumma_desc){.grid = grid,
                         .m = entry[HS_ROWS],
                         .n = entry[HS_COLS],
                         .mb = entry[HS_MB],
                         .nb = entry[HS_NB],
                         .imb = entry[HS_IMB],
                         .inb = entry[HS_INB],
                         .rsrc = entry[HS_RSRC],
                         .csrc = entry[HS_CSRC],
                         .i = matrix->first[0],
                         .j = matrix->first[1],
                         .ld = entry[HS_LLD] > local ? entry[HS_LLD] : local};
}

static void call_original(hsumma_pgemm *routine, const struct hs_pgemm *call)
{
    routine(call->trans[0], call->trans[1], call->extent[0], call->extent[1], call->extent[2], call->alpha,
            call->data[0], call->first[0][0], call->first[0][1], call->desc[0], call->data[1], call->first[1][0],
            call->first[1][1], call->desc[1], call->beta, (void *)call->data[2], call->first[2][0], call->first[2][1],
            call->desc[2]);
}

/*
 * Handles a call that failed. Calls ScaLAPACK's routine if all processes have the error, C is unchanged and the program
 * has that routine; otherwise calls PBLAS's error exit. Prints the error once, except where no context could be created
 * (hs_shim_connect has printed that); only one process prints an error that all share.
 */
static enum hs_outcome give_up(const struct hs_shim *shim, const struct hs_pgemm *call, int context,
                               enum hs_matter matter, hsumma_status status, int c_is_intact)
{
    int all = hs_shim_is_of_all(status);
    const int may_leave = c_is_intact && all && !(shim && shim->guarded); /* ScaLAPACK obeys neither option */
    hsumma_pgemm *original = may_leave ? hs_original(call) : NULL;
    const hsumma_context *ctx = shim ? shim->ctx : NULL;
    if (ctx && (!all || shim->reports) && hs_shim_first_time(matter))
        hs_shim_complain(hs_pgemm_name(call->type), hsumma_message(ctx), original != NULL, status);
    if (original)
        call_original(original, call);
    else
        hs_blacs_abort(context, hs_pgemm_name(call->type), -(HS_INFO + (int)status));
    return original ? HS_LEFT : HS_FAILED;
}

/* Leaves a call to ScaLAPACK if HSUMMA_SCALAPACK says so. Returns 1 if ScaLAPACK has performed it. */
static int leave(struct hs_shim *shim, const struct hs_pgemm *call, const struct hs_request *request)
{
    const int64_t *extent = request->extent;
    if ((double)extent[0] * (double)extent[1] * (double)extent[2] > shim->left)
        return 0;
    hsumma_pgemm **original = &shim->original[call->interposed][call->type];
    if (!*original)
        *original = hs_original(call);
    if (!*original && shim->reports && hs_shim_first_time(HS_NO_ORIGINAL))
        fprintf(stderr, "hsumma: HSUMMA_SCALAPACK: the program has no %s of ScaLAPACK; hsumma serves the call\n",
                hs_pgemm_name(call->type));
    if (!*original)
        return 0;
    if (shim->explain)
        hs_explain(shim, request, NULL);
    call_original(*original, call);
    return 1;
}

/* The request of a call; desc: memory for its descriptors. */
static struct hs_request request_of(const struct hs_shim *shim, const struct hs_pgemm *call,
                                    const struct hs_arguments *args, hsumma_desc desc[3])
{
    for (int x = 0; x < 3; x++)
        desc[x] = describe(args, x, shim->grid);
    return (struct hs_request){.type = call->type,
                               .op = {args->op[0], args->op[1], args->op[2]},
                               .extent = {args->extent[0], args->extent[1], args->extent[2]},
                               .desc = {&desc[0], &desc[1], &desc[2]},
                               .options = shim->explain ? "explain=0" : NULL, /* hs_explain prints the plan */
                               .alone = 1,
                               .silent = !shim->explain};
}

/* With check=always: compares the arguments of all processes, which have passed PBLAS's check. Without a context there
 * is no comparison; the product reports that. */
static hsumma_status compare_arguments(struct hs_shim *shim, const struct hs_pgemm *call,
                                       const struct hs_arguments *args, MPI_Comm comm)
{
    hsumma_desc desc[3];
    if (hs_shim_connect(shim, comm, args->shape))
        return HSUMMA_OK;
    struct hs_request request = request_of(shim, call, args, desc);
    request.alone = 0;
    request.scalar[0] = call->alpha;
    request.scalar[1] = call->beta;
    return hs_request_compare(shim->ctx, &request, HSUMMA_OK);
}

static enum hs_outcome multiply(struct hs_shim *shim, const struct hs_pgemm *call, const struct hs_arguments *args)
{
    hsumma_desc desc[3];
    const struct hs_request request = request_of(shim, call, args, desc);
    if (leave(shim, call, &request))
        return HS_LEFT;
    struct hs_repeated how = {.ld = {desc[0].ld, desc[1].ld, desc[2].ld}};
    shim->last.count = 0; /* the cache may evict its plan below */
    hsumma_status status = hs_plan_cached(shim->ctx, &request, &how.plan);
    int c_is_intact = status != HSUMMA_OK;
    if (!status && shim->explain)
        hs_explain(shim, &request, how.plan);
    if (!status)
        status = hs_plan_run(how.plan, call->alpha, call->data, how.ld, call->beta);
    if (!status) {
        hs_remember(shim, call, &how);
        return HS_SERVED;
    }
    return give_up(shim, call, args->context, HS_NO_PLAN, status, c_is_intact);
}

static int repeat(const struct hs_pgemm *call)
{
    int shape[2], coord[2], context = call->desc[0][HS_CTXT];
    struct hs_shim *shim = hs_blacs_grid(context, shape, coord) ? hs_shim_of(hs_blacs_comm(context)) : NULL;
    hsumma_status status = HSUMMA_OK;
    if (!shim || !hs_repeat(shim, call, &status))
        return 0;
    if (status)
        give_up(shim, call, context, HS_NO_PLAN, status, 0);
    return 1;
}

void hs_pgemm(const struct hs_pgemm *call)
{
    struct hs_arguments args;
    hs_blacs_find(call->caller, hs_pgemm_name(call->type));
    if (repeat(call))
        return;
    char complaint[HS_COMPLAINT];
    int info = hs_arguments_read(call, &args, complaint);
    if (info) {
        fprintf(stderr, "hsumma: %s on process (%d,%d): %s\n", hs_pgemm_name(call->type), args.coord[0], args.coord[1],
                complaint);
        hs_blacs_abort(args.context, hs_pgemm_name(call->type), info);
        return;
    }
    MPI_Comm comm = hs_blacs_comm(args.context);
    struct hs_shim *shim = hs_shim_of(comm);
    if (shim && shim->log >= 0)
        hs_log_call(shim->log, call, &args);
    hsumma_status unlike = shim && shim->checks ? compare_arguments(shim, call, &args, comm) : HSUMMA_OK;
    if (unlike) {
        give_up(shim, call, args.context, HS_UNLIKE, unlike, 0);
        return;
    }
    if (args.extent[0] == 0 || args.extent[1] == 0)
        return;
    if (args.extent[2] == 0 || hs_scalars[call->type].is_zero(call->alpha)) {
        scale(call, &args);
        return;
    }
    if (shim && !shim->connected && !shim->guarded && args.shape[0] * args.shape[1] > 1 &&
        hs_do_locally(shim, call, &args))
        return;
    hsumma_status status = hs_shim_connect(shim, comm, args.shape);
    if (!status && !shim->explain && !shim->guarded && shim->left == 0 && hs_do_locally(shim, call, &args))
        return;
    if (status) {
        give_up(shim, call, args.context, HS_NO_PLAN, status, 1);
        return;
    }
    double began = hs_now();
    enum hs_outcome outcome = multiply(shim, call, &args);
    if (shim->totals)
        hs_explain_count(shim->totals, call, outcome, hs_now() - began);
}
