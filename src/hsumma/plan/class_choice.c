/*
 * Choices of p?gemm between nodes.  Factorisations call p?gemm with shapes that never repeat, and a search takes a
 * millisecond, as long as many of these products.  So all shapes of a class share the choice for one that represents
 * them.  The choice is a pure function of the class, since processes that have seen different products must choose
 * alike (p?gemm engages no process that owns nothing).
 */
#include "base/hash.h"
#include "hsumma/context/workspace.h"
#include "hsumma/plan/plan.h"
#include "hsumma/search/candidate.h"

enum { CLASSES = 64 };

struct hs_class_choices {
    uint64_t key[CLASSES];
    struct hs_choice choice[CLASSES];
    int considered[CLASSES];
};

/* The least 2^i or 3 2^i that is not below n, an extent of p?gemm and thus of 32 bits. */
static int64_t rounded(int64_t n)
{
    int64_t power = 1;
    while (power < n)
        power *= 2;
    return power / 4 * 3 >= n ? power / 4 * 3 : power;
}

/*
 * `wish`, an extent that replaces that of an axis, made such that no process gets more than its share by it: a run of
 * blocks that gives each process at most one stays so, others become whole runs of one block for each process.
 */
static int64_t balanced(const struct hs_axis *axis, int64_t wish)
{
    const int64_t run = axis->nb * axis->nprocs;
    if (axis->nprocs == 1 || axis->n <= axis->first)
        return wish;
    return axis->n <= run ? hs_min(wish, run) : hs_cuts(wish, run) * run;
}

/*
 * The problem that represents the class: extents are rounded up, where what is in a single block stays in one; and
 * unless some processes are left out, the first block of C is on process (0,0).  Returns a hash of all that matters.
 */
static uint64_t represent(const hsumma_plan *plan, const struct hs_problem *problem, struct hs_problem *class)
{
    const struct hs_view *view = problem->view;
    const int *extent = problem->grid.extent;
    *class = *problem;
    for (int dim = 0; dim < 3; dim++)
        class->extent[dim] = rounded(problem->extent[dim]);
    for (int x = 0; x < 3; x++)
        for (int logical = 0; logical < 2; logical++) {
            int64_t *of = &class->extent[hs_operand_dims[x][logical]];
            *of = balanced(&view[x].axis[hs_view_stored(&view[x], logical)], *of);
        }
    uint64_t hash = hs_mix((uint64_t)plan->grid->number + 1, (uint64_t)problem->scalar->letter);
    for (int x = 0; x < 3; x++) {
        hash = hs_mix(hs_mix(hash, (uint64_t) class->extent[x]), (uint64_t)view[x].op);
        for (int logical = 0; logical < 2; logical++) {
            const int a = hs_view_stored(&view[x], logical);
            struct hs_axis *axis = &class->view[x].axis[a];
            const struct hs_axis *of_c = &view[HS_C].axis[a];
            axis->n = class->extent[hs_operand_dims[x][logical]];
            if (view[x].axis[a].n <= axis->first)
                axis->first = axis->nb = axis->n;
            if (!plan->ranks && axis->nprocs > 1 && of_c->nprocs > 1)
                axis->src = (axis->src + axis->nprocs - of_c->src) % axis->nprocs;
            hash = hs_mix(hs_mix(hash, (uint64_t)axis->nb), (uint64_t)axis->first);
            hash = hs_mix(hs_mix(hash, (uint64_t)axis->src), (uint64_t)axis->nprocs);
        }
    }
    for (int i = 0; plan->ranks && i < extent[0] * extent[1]; i++)
        hash = hs_mix(hash, (uint64_t)plan->ranks[i]);
    return hs_mix(hs_mix(hash, (uint64_t)extent[0]), (uint64_t)extent[1]) | 1;
}

hsumma_status hs_class_choice(hsumma_plan *plan, const struct hs_request *request, const struct hs_subject *subject,
                              const struct hs_settings *settings, const struct hs_planner *planner,
                              struct hs_message *message, int *found)
{
    static const double LONG = 0.05; /* seconds of a product for which a search of its own is worth its time */
    hsumma_context *ctx = plan->ctx;
    struct hs_ranking *ranking = &plan->ranking;
    const struct hs_topology *topology = planner->topology;
    const int64_t *extent = request->extent;
    *found = 0;
    if (!request->alone || !request->for_cache || request->largest || request->whole || settings->bits || !topology ||
        topology->division[HS_NODE].parts == 1 || settings->node == HS_NODE_EVEN || extent[0] == 0 || extent[1] == 0 ||
        extent[2] == 0)
        return HSUMMA_OK;
    struct hs_problem class;
    const uint64_t key = represent(plan, &subject->without_idle, &class);
    if (!ctx->classes)
        ctx->classes = hs_get_zero(&ctx->memory, 1, sizeof *ctx->classes);
    struct hs_class_choices *known = ctx->classes;
    const int at = (int)(key / 2 % CLASSES);
    if (known && known->key[at] == key) {
        ranking->choice[0] = known->choice[at];
        ranking->considered = known->considered[at];
    } else {
        hsumma_status status = hs_choose(&class, settings, planner, ranking, message);
        if (status)
            return hs_is_own_failure(status) ? status : HSUMMA_OK;
        if (known) {
            known->key[at] = key;
            known->choice[at] = ranking->choice[0];
            known->considered[at] = ranking->considered;
        }
    }
    ranking->workspace_limit =
        hs_workspace_limit(&settings->workspace, subject->without_idle.view, 3, plan->scalar.size);
    *found =
        ranking->choice[0].workspace_bytes <= ranking->workspace_limit && ranking->choice[0].prediction.seconds <= LONG;
    ranking->count = *found;
    for (int x = 0; x < 3; x++)
        ranking->stationary[x] = -1;
    ranking->stationary[ranking->choice[0].spec.stationary] = ranking->choice[0].prediction.seconds;
    return HSUMMA_OK;
}
