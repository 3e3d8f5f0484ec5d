/* HSUMMA_EXPLAIN: one line for each distinct call, and one with totals in MPI_Finalize. The explained calls are
 * remembered here, because the plan cache evicts plans. */
#include "api/scalapack/shim.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct hs_totals {
    int64_t calls[HS_OUTCOMES];
    double seconds[HS_OUTCOMES], flops; /* flops: of the calls served */
};

/* The key of the attribute of MPI_COMM_SELF that holds the totals; MPI_Finalize deletes attributes first. */
static struct {
    pthread_once_t once;
    int keyval;
} shared = {PTHREAD_ONCE_INIT, MPI_KEYVAL_INVALID};

void hs_explain(struct hs_shim *shim, const struct hs_request *request, const hsumma_plan *plan)
{
    int64_t hash = hs_request_hash(request, 0) ^ (plan != NULL);
    int64_t known = shim->seen_count < HS_SEEN ? shim->seen_count : HS_SEEN;
    if (!shim->reports)
        return;
    for (int64_t i = 0; i < known; i++)
        if (shim->seen[i] == hash)
            return;
    shim->seen[shim->seen_count++ % HS_SEEN] = hash;
    const int64_t *extent = request->extent;
    fprintf(stderr, "hsumma: %s m=%" PRId64 " n=%" PRId64 " k=%" PRId64 " %c%c grid=%dx%d %s%s%s%s\n",
            hs_pgemm_name(request->type), extent[0], extent[1], extent[2], request->op[0], request->op[1],
            shim->grid->grid.extent[0], shim->grid->grid.extent[1], plan ? plan->line : "ScaLAPACK", plan ? " [" : "",
            plan ? plan->why : "", plan ? "]" : "");
}

static int print_totals(MPI_Comm comm, int keyval, void *attribute, void *extra)
{
    struct hs_totals *totals = attribute;
    int rank = 0;
    (void)comm, (void)keyval, (void)extra;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fprintf(stderr,
            "hsumma: rank %d: calls of p?gemm served by hsumma: %" PRId64 " in %.3g s (%.3g Gflop/s on all processes "
            "together); left to ScaLAPACK: %" PRId64 " in %.3g s",
            rank, totals->calls[HS_SERVED], totals->seconds[HS_SERVED],
            totals->seconds[HS_SERVED] > 0 ? 1e-9 * totals->flops / totals->seconds[HS_SERVED] : 0.0,
            totals->calls[HS_LEFT], totals->seconds[HS_LEFT]);
    if (totals->calls[HS_FAILED])
        fprintf(stderr, "; failed: %" PRId64, totals->calls[HS_FAILED]);
    fputc('\n', stderr);
    free(totals);
    return MPI_SUCCESS;
}

static void make_keyval(void)
{
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, print_totals, &shared.keyval, NULL);
}

struct hs_totals *hs_explain_totals(void)
{
    struct hs_totals *totals = NULL;
    int found = 0;
    pthread_once(&shared.once, make_keyval);
    MPI_Comm_get_attr(MPI_COMM_SELF, shared.keyval, &totals, &found);
    if (found)
        return totals;
    totals = calloc(1, sizeof *totals);
    if (totals && MPI_Comm_set_attr(MPI_COMM_SELF, shared.keyval, totals) == MPI_SUCCESS)
        return totals;
    free(totals);
    return NULL;
}

void hs_explain_count(struct hs_totals *totals, const struct hs_pgemm *call, enum hs_outcome outcome, double seconds)
{
    double products = call->type >= HSUMMA_C ? 4 : 1; /* real products in a product of elements */
    totals->calls[outcome]++;
    totals->seconds[outcome] += seconds;
    if (outcome == HS_SERVED)
        totals->flops += 2 * products * *call->extent[0] * *call->extent[1] * *call->extent[2];
}
