/*
 * The algorithm "exact" gives the same bits for any number of processes. Vectors of badly scaled numbers are spread
 * over 1, 2, ... processes, each vector on a process drawn at random, while the other processes contribute zeros; every
 * result is compared with that of one process, which reduces the vectors at once (base/exact.c; unit/coll/exact proves
 * that function). Contexts are on one node, on virtual nodes, without shared memory and without direct reads. With an
 * argument: that many cases per context.
 */
#include "base/operators.h"
#include "support/coll/data.h"
#include "support/random.h"
#include "support/tap.h"
#include "support/world.h"

#include <math.h>

enum { MOST_BYTES = 4 << 20, MOST_VECTORS = 12, MOST_RANKS = 64 };

static const char *const contexts[] = {
    "", "topology=nodes:2", "shared=0", "direct=off", "segment=4k topology=nodes:3", "bits=anywhere"};
static const char *const algorithms[] = {"exact", "exact(b=1)", "exact(b=64M)"};

/* One drawn case, equal on all processes. */
struct exact_case {
    hsumma_collective collective;
    hsumma_element element;
    hsumma_op op;
    int64_t count, bytes;
    int vectors, home[MOST_VECTORS]; /* vectors is at most the number of processes; home: the process of each vector */
    int root, in_place, special;     /* special: some numbers are infinite or NaN */
    const char *algorithm;
    uint64_t seed;
};

static char *vectors, *in, *out, *want;

static void draw_case(struct exact_case *c, int processes, int most_vectors)
{
    static const hsumma_collective collectives[] = {HSUMMA_ALLREDUCE, HSUMMA_ALLREDUCE, HSUMMA_REDUCE,
                                                    HSUMMA_REDUCE_SCATTER};
    int bits = draw(40) ? draw(14) : 14 + draw(5);
    *c = (struct exact_case){.collective = collectives[draw(4)],
                             .element = (hsumma_element)draw(HS_ELEMENTS),
                             .op = draw(3)   ? HSUMMA_SUM
                                   : draw(2) ? HSUMMA_MAX
                                             : HSUMMA_MIN,
                             .in_place = draw(2),
                             .special = draw(8) == 0,
                             .root = draw(processes),
                             .vectors = 1 + draw(most_vectors < processes ? most_vectors : processes)};
    if (!hs_operator_of(c->element, c->op))
        c->op = HSUMMA_SUM;
    c->count = draw(1 << bits);
    if (c->collective == HSUMMA_REDUCE_SCATTER)
        c->count = c->count / processes * processes;
    c->bytes = c->count * (int64_t)hs_element_size(c->element);
    c->algorithm = algorithms[c->collective == HSUMMA_REDUCE_SCATTER ? 0 : draw(c->bytes < 65536 ? 3 : 2)];
    c->seed = draw_bits();
    int order[MOST_RANKS];
    for (int r = 0; r < processes; r++) {
        int at = draw(r + 1);
        order[r] = order[at];
        order[at] = r;
    }
    memcpy(c->home, order, (size_t)c->vectors * sizeof *order);
}

/* A number whose exponent is random; many numbers of one case cancel, because few fractions occur. */
static double draw_number(const struct exact_case *c, uint64_t *state)
{
    int wide = c->element == HSUMMA_DOUBLE || c->element == HSUMMA_DOUBLE_COMPLEX, range = wide ? 2000 : 240;
    double x = 1 + draw_of(state, 4) / 4.0 + ldexp(draw_of(state, 2), wide ? -52 : -23);
    if (c->special && draw_of(state, 20) == 0)
        return draw_of(state, 3) ? INFINITY : draw_of(state, 2) ? -INFINITY : NAN;
    x = ldexp(x, draw_of(state, 3) ? draw_of(state, 60) - 30 : draw_of(state, range) - range / 2);
    return draw_of(state, 2) ? x : -x;
}

static void draw_vectors(const struct exact_case *c)
{
    uint64_t state = c->seed;
    int64_t all = c->vectors * c->bytes;
    int is_float = c->element == HSUMMA_FLOAT || c->element == HSUMMA_FLOAT_COMPLEX;
    if (c->element >= HSUMMA_INT32)
        for (int64_t i = 0; i < all / 4; i++)
            ((uint32_t *)vectors)[i] = (uint32_t)hs_random(&state);
    else
        for (int64_t i = 0; i < all / (is_float ? 4 : 8); i++) {
            double x = draw_number(c, &state);
            if (is_float)
                ((float *)vectors)[i] = (float)x;
            else
                ((double *)vectors)[i] = x;
        }
}

/* The contribution of a process: its vector, or zeros of the operator. */
static void contribute(const struct exact_case *c, int me, char *to)
{
    memset(to, 0, (size_t)c->bytes);
    int mine = -1;
    for (int v = 0; v < c->vectors; v++)
        mine = c->home[v] == me ? v : mine;
    /* A maximum has no zero: processes without a vector contribute the first one once more. */
    if (mine < 0 && c->op != HSUMMA_SUM)
        mine = 0;
    if (mine >= 0)
        memcpy(to, vectors + mine * c->bytes, (size_t)c->bytes);
}

/* Returns 1 if the result of this process has the bits of one process's reduction. */
static int is_right(const struct exact_case *c, hsumma_context *ctx, int me, int processes)
{
    int scatter = c->collective == HSUMMA_REDUCE_SCATTER, gets = c->collective != HSUMMA_REDUCE || me == c->root;
    int64_t part = scatter ? c->bytes / processes : c->bytes;
    if (!scatter && c->bytes == 0)
        part = 0;
    draw_vectors(c);
    hs_reduce_exactly(c->element, c->op, want, vectors, c->vectors, c->bytes);
    contribute(c, me, c->in_place && gets ? out : in);
    hsumma_coll call = {.collective = c->collective,
                        .in = c->in_place && gets ? NULL : in,
                        .out = out,
                        .count = scatter ? c->count / processes : c->count,
                        .op = {.op = c->op, .element = c->element},
                        .root = c->collective == HSUMMA_REDUCE ? c->root : 0,
                        .algorithm = c->algorithm};
    hsumma_status status = hsumma_coll_run(ctx, &call);
    if (status)
        tap_diag("rank %d: %s", rank, hsumma_message(ctx));
    return !status && (!gets || memcmp(out, want + (scatter ? me * part : 0), (size_t)part) == 0);
}

/* Tests a context of the first `processes` ranks. */
static void test_context(const char *options, int processes, int cases)
{
    MPI_Comm comm;
    hsumma_context *ctx = NULL;
    char text[300] = "";
    int wrong = 0, member = rank < processes;
    MPI_Comm_split(MPI_COMM_WORLD, member ? 0 : MPI_UNDEFINED, rank, &comm);
    if (member)
        wrong = hsumma_create(comm, options, &ctx, text, sizeof text) != HSUMMA_OK;
    for (int i = 0; i < cases; i++) {
        struct exact_case c;
        draw_case(&c, processes, MOST_VECTORS);
        if (strstr(options, "bits="))
            c.algorithm = "auto";
        if (member && ctx && !is_right(&c, ctx, rank, processes)) {
            if (!wrong)
                tap_diag("rank %d of %d, case %d: %s, %s of %d vectors of %lld %s, in place %d", rank, processes, i,
                         c.algorithm, hs_op_name(c.op), c.vectors, (long long)c.count, hs_element_name(c.element),
                         c.in_place);
            wrong = 1;
        }
    }
    if (member) {
        hsumma_free(&ctx);
        MPI_Comm_free(&comm);
    }
    tap_ok(world_worst(wrong) == 0, "%d processes, \"%s\": %d cases have the bits of one process %s", processes,
           options, cases, text);
}

/* The algorithm refuses what it cannot do, and nothing else runs in its place. */
static void test_refusal(void)
{
    hsumma_context *ctx = NULL;
    double one = 1, sum = 0;
    hsumma_coll call = {.collective = HSUMMA_ALLREDUCE,
                        .in = &one,
                        .out = &sum,
                        .count = 1,
                        .op = {.op = HSUMMA_USER, .combine = coll_sum_of_doubles, .size = sizeof one, .commutative = 1},
                        .algorithm = "exact"};
    int right = hsumma_create(MPI_COMM_WORLD, "coll=allreduce:exact", &ctx, NULL, 0) == HSUMMA_OK;
    right &= hsumma_coll_run(ctx, &call) == HSUMMA_ERR_UNSUPPORTED && sum == 0 &&
             strstr(hsumma_message(ctx), "user-defined") != NULL;
    call.algorithm = NULL;
    call.op = (hsumma_operator){.op = HSUMMA_SUM, .element = HSUMMA_DOUBLE};
    char text[200] = "";
    right &= hsumma_coll_describe(ctx, &call, text, sizeof text) == HSUMMA_OK && strstr(text, "exact") != NULL;
    right &= hsumma_coll_run(ctx, &call) == HSUMMA_OK && sum == size;
    hsumma_free(&ctx);
    tap_ok(everywhere(right), "an operator of the caller is refused; the option coll names the algorithm: %s", text);
}

/* With bits=anywhere no other algorithm serves a sum of floating-point numbers. */
static void test_option(void)
{
    hsumma_context *ctx = NULL;
    double one = 1, sum = 0;
    int32_t ones = 1, total = 0;
    hsumma_coll call = {.collective = HSUMMA_ALLREDUCE,
                        .in = &one,
                        .out = &sum,
                        .count = 1,
                        .op = {.op = HSUMMA_SUM, .element = HSUMMA_DOUBLE},
                        .algorithm = "ring"};
    int right = hsumma_create(MPI_COMM_WORLD, "bits=anywhere", &ctx, NULL, 0) == HSUMMA_OK;
    right &= hsumma_coll_run(ctx, &call) == HSUMMA_ERR_UNSUPPORTED && sum == 0 &&
             strstr(hsumma_message(ctx), "bits=anywhere") != NULL;
    call.algorithm = NULL;
    char text[200] = "";
    right &= hsumma_coll_describe(ctx, &call, text, sizeof text) == HSUMMA_OK && strstr(text, "exact") != NULL;
    call.op =
        (hsumma_operator){.op = HSUMMA_USER, .combine = coll_sum_of_doubles, .size = sizeof one, .commutative = 1};
    right &= hsumma_coll_run(ctx, &call) == HSUMMA_ERR_UNSUPPORTED && sum == 0;
    call.in = &ones;
    call.out = &total;
    call.algorithm = "ring";
    call.op = (hsumma_operator){.op = HSUMMA_SUM, .element = HSUMMA_INT32};
    right &= hsumma_coll_run(ctx, &call) == HSUMMA_OK && total == size;
    int64_t long_one = 1, long_total = 0;
    call.in = &long_one;
    call.out = &long_total;
    call.op = (hsumma_operator){.op = HSUMMA_SUM, .element = HSUMMA_INT64};
    right &= hsumma_coll_run(ctx, &call) == HSUMMA_OK && long_total == size;
    call.in = &one; /* as many bytes, but these round */
    call.out = &sum;
    call.op = (hsumma_operator){.op = HSUMMA_SUM, .element = HSUMMA_DOUBLE};
    right &= hsumma_coll_run(ctx, &call) == HSUMMA_ERR_UNSUPPORTED && sum == 0;
    hsumma_free(&ctx);
    tap_ok(everywhere(right),
           "bits=anywhere: other algorithms and operators of the caller are refused, sums of integers are not: %s",
           text);
}

int main(int argc, char **argv)
{
    world_begin(&argc, &argv);
    int cases = argc > 1 ? atoi(argv[1]) : 40;
    vectors = malloc((size_t)MOST_VECTORS * MOST_BYTES);
    in = malloc(MOST_BYTES);
    out = malloc(MOST_BYTES);
    want = malloc(MOST_BYTES);
    draw_seed(2026);
    if (tap_ok(everywhere(vectors && in && out && want), "memory")) {
        for (int p = 1; p <= size; p++)
            for (unsigned o = 0; o < sizeof contexts / sizeof *contexts; o++)
                test_context(contexts[o], p, cases);
        test_refusal();
        test_option();
    }
    free(vectors);
    free(in);
    free(out);
    free(want);
    return world_end();
}
