#include "support/product/model_product.h"

static const int *all_ranks(void)
{
    static int rank[RANKS];
    for (int i = 0; i < RANKS && rank[RANKS - 1] == 0; i++)
        rank[i] = i;
    return rank;
}

struct model_product model_product_square(int64_t n, int q)
{
    return (struct model_product){HSUMMA_D, "NNN", {q, q}, {-1, -1}, {n, n, n}, {{0}}, {0}};
}

struct hs_problem model_problem(const struct model_product *product)
{
    struct hs_problem problem;
    memset(&problem, 0, sizeof problem);
    problem.scalar = &hs_scalars[product->type];
    problem.grid =
        (struct hs_grid){{product->extent[0], product->extent[1]}, {product->coord[0], product->coord[1]}, all_ranks()};
    memcpy(problem.extent, product->size, sizeof problem.extent);
    for (int x = 0; x < 3; x++) {
        struct hs_axis axis[2];
        int flip = product->op[x] != 'N';
        for (int a = 0; a < 2; a++) {
            int64_t n = product->size[hs_operand_dims[x][a ^ flip]], procs = product->extent[a];
            int64_t even = (n + procs - 1) / procs, block = product->block[x][a];
            block = block ? block : even ? even : 1;
            axis[a] = hs_axis_make(n, block, block, product->src[x] % (int)procs, (int)procs);
        }
        problem.view[x] =
            hs_view_make(&axis[0], &axis[1], 0, 0, axis[0].n, axis[1].n, problem.grid.coord, 1, product->op[x]);
    }
    return problem;
}

struct hs_prediction model_price(const struct hs_problem *problem, const struct hs_spec *spec,
                                 const struct hs_profile *profile, const struct hs_topology *nodes, int64_t *workspace)
{
    static struct hs_clock_memo memo;
    const struct hs_prediction none = {.seconds = NAN, .comm = NAN};
    struct hs_prediction prediction = none;
    struct hs_variant variant;
    struct hs_pairs pairs;
    struct hs_line_table lines;
    struct hs_message message;
    int x = spec->stationary == HS_A ? HS_B : HS_A, y = spec->stationary == HS_C ? HS_B : HS_C;
    if (hs_variant_make(problem, spec->stationary, &variant, &message) ||
        hs_pairs_make(variant.role[x].looped, variant.role[y].looped, 0, &hs_heap, &pairs))
        return none;
    hs_clock_memo_begin(&memo, profile, &hs_heap);
    hsumma_status status = hs_line_table_init(&lines, nodes, profile->one_node, &problem->grid, &hs_heap);
    if (!status && spec->cells)
        status = hs_line_table_share(&lines, &hs_heap);
    const struct hs_pricing pricing = {&memo, &lines, problem, &variant, &pairs, 1};
    if (!status)
        status = hs_predict(&pricing, spec, &prediction, NULL);
    if (workspace)
        *workspace = hs_need_of(&pricing, spec).workspace;
    hs_line_table_free(&lines, &hs_heap);
    hs_pairs_free(&hs_heap, &pairs);
    return status ? none : prediction;
}

struct hs_spec model_spec(const struct model_product *product, const struct model_how *how)
{
    struct hs_spec spec = {.stationary = how->stationary,
                           .levels = how->levels + 1,
                           .segment = how->segment ? how->segment : 1 << 20,
                           .turn = how->turn ? how->turn : HS_WHOLE_TURN,
                           .lookahead = how->lookahead,
                           .owners = how->owners,
                           .spread = how->spread,
                           .slice = how->slice ? how->slice : INT64_MAX};
    for (int l = 0; l <= how->levels; l++) {
        spec.width[l] = l == how->levels ? how->block : how->outer;
        spec.bcast[l] = hs_alg_find(HS_BCAST, how->bcast ? how->bcast : "binomial");
        spec.reduce[l] = hs_alg_find(HS_REDUCE_TO, "binomial");
    }
    for (int axis = 0; axis < 2; axis++)
        if (!hs_factors_make(&spec.factors[axis], product->extent[axis], how->levels, &how->groups[axis]))
            spec.levels = 0;
    return spec;
}

struct hs_prediction model_predict(const struct model_product *product, const struct model_how *how,
                                   const struct hs_profile *profile, const struct hs_topology *nodes)
{
    struct hs_problem problem = model_problem(product);
    struct hs_spec spec = model_spec(product, how);
    if (spec.levels == 0)
        return (struct hs_prediction){.seconds = NAN, .comm = NAN};
    return model_price(&problem, &spec, profile, nodes, NULL);
}

int model_near(double is, double want)
{
    return fabs(is - want) <= 1e-9 * fabs(want) + 1e-18;
}
