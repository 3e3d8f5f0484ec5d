/*
 * The matrix of cases: grids x operations x stationary operands x layouts, with types, hierarchies, algorithms,
 * lookahead, scalars, sizes and offsets drawn from a seeded generator; half of them where the node shares memory, half
 * by messages.  The entries are small integers, so that every sum is exact in every precision and order, and each
 * process compares its part of C with a direct triple loop: equal or wrong. C holds NaN where beta = 0, A and B hold
 * NaN where alpha = 0, and padding must stay as it was.
 */
#include <hsumma.h>

#include "support/random.h"
#include "support/tap.h"
#include "support/world.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct test_case {
    hsumma_type type;
    char ta, tb;
    int64_t m, n, k;
    int P, Q;
    int64_t nb;  /* 0: checkerboard */
    int shifted; /* operands begin inside larger matrices, first blocks are short, sources are not 0 */
    double alpha, beta;
    char options[256];
};

static int value_at(int matrix, int64_t i, int64_t j)
{
    uint64_t h = (uint64_t)(i * 1000003 + j * 7919 + matrix * 104729 + 12345);
    h ^= h >> 33;
    h *= 0xff51afd7ed558ccdULL;
    h ^= h >> 29;
    return (int)(h % 7) - 3;
}

static double complex entry(const struct test_case *c, int matrix, int64_t i, int64_t j)
{
    double re = value_at(matrix, i, j), im = value_at(matrix + 10, i, j);
    return c->type >= HSUMMA_C ? re + im * I : re;
}

static size_t size_of(hsumma_type type)
{
    static const size_t sizes[] = {4, 8, 8, 16};
    return sizes[type];
}

static void store(hsumma_type type, void *at, int64_t index, double complex v)
{
    switch (type) {
    case HSUMMA_S:
        ((float *)at)[index] = (float)creal(v);
        break;
    case HSUMMA_D:
        ((double *)at)[index] = creal(v);
        break;
    case HSUMMA_C:
        ((float complex *)at)[index] = (float complex)v;
        break;
    case HSUMMA_Z:
        ((double complex *)at)[index] = v;
        break;
    }
}

static double complex load(hsumma_type type, const void *at, int64_t index)
{
    switch (type) {
    case HSUMMA_S:
        return ((const float *)at)[index];
    case HSUMMA_D:
        return ((const double *)at)[index];
    case HSUMMA_C:
        return ((const float complex *)at)[index];
    default:
        return ((const double complex *)at)[index];
    }
}

/* A local matrix with two rows of padding; entries outside the operand and padding hold 77. */
struct matrix {
    hsumma_desc desc;
    int64_t rows, cols; /* local */
    int64_t m, n;       /* of the operand, as stored */
    void *data;
};

enum { PAD = 2, GUARD = 77 };

static void make(struct matrix *x, const struct test_case *c, const hsumma_grid *grid, int id, int64_t m, int64_t n)
{
    int64_t oi = c->shifted ? 2 + id : 0, oj = c->shifted ? 3 : 0;
    /* what is pinned has to be spread alike: with offsets the blocks are chosen so that the operands begin a block */
    if (c->nb == 0) {
        hsumma_desc_checkerboard(&x->desc, grid, m, n);
    } else if (c->shifted) {
        oi = c->nb * (id + 1);
        oj = c->nb * 2;
        hsumma_desc_init(&x->desc, grid, m + oi + 1, n + oj + 2, c->nb, c->nb);
        /* the block (oi / nb) of this matrix has to land on grid row 0: so the source is turned back by as much */
        x->desc.rsrc = (int)((c->P - oi / c->nb % c->P) % c->P);
        x->desc.csrc = (int)((c->Q - oj / c->nb % c->Q) % c->Q);
        x->desc.i = oi;
        x->desc.j = oj;
    } else {
        hsumma_desc_init(&x->desc, grid, m, n, c->nb, c->nb);
    }
    x->rows = hsumma_local_rows(&x->desc);
    x->cols = hsumma_local_cols(&x->desc);
    x->desc.ld = x->rows + PAD;
    x->m = m;
    x->n = n;
    x->data = malloc(size_of(c->type) * (size_t)(x->desc.ld * (x->cols + 1)));
}

static int inside(const struct matrix *x, int64_t i, int64_t j, int64_t *gi, int64_t *gj)
{
    if (i >= x->rows || j >= x->cols)
        return 0;
    *gi = hsumma_global_row(&x->desc, i) - x->desc.i;
    *gj = hsumma_global_col(&x->desc, j) - x->desc.j;
    return *gi >= 0 && *gj >= 0 && *gi < x->m && *gj < x->n;
}

static void fill(struct matrix *x, const struct test_case *c, int id, int poison)
{
    for (int64_t j = 0; j < x->cols + 1; j++)
        for (int64_t i = 0; i < x->desc.ld; i++) {
            int64_t gi, gj;
            double complex v = GUARD;
            if (inside(x, i, j, &gi, &gj))
                v = poison ? NAN : entry(c, id, gi, gj);
            store(c->type, x->data, j * x->desc.ld + i, v);
        }
}

static double complex op_entry(const struct test_case *c, int id, char op, int64_t i, int64_t j)
{
    if (op == 'N')
        return entry(c, id, i, j);
    return op == 'T' ? entry(c, id, j, i) : conj(entry(c, id, j, i));
}

static int64_t wrong_entries(const struct matrix *x, const struct test_case *c)
{
    int64_t wrong = 0;
    for (int64_t j = 0; j < x->cols + 1; j++)
        for (int64_t i = 0; i < x->desc.ld; i++) {
            int64_t gi, gj;
            double complex got = load(c->type, x->data, j * x->desc.ld + i), want = GUARD;
            if (inside(x, i, j, &gi, &gj)) {
                double complex sum = 0;
                for (int64_t l = 0; c->alpha != 0 && l < c->k; l++)
                    sum += op_entry(c, 0, c->ta, gi, l) * op_entry(c, 1, c->tb, l, gj);
                want = c->alpha * sum + (c->beta != 0 ? c->beta * entry(c, 2, gi, gj) : 0);
            }
            wrong += !(got == want);
        }
    return wrong;
}

static void scalar(hsumma_type type, double value, void *out)
{
    store(type, out, 0, value);
}

/* Runs a case twice (the plan is used again); returns wrong entries, or -1 - status. */
static int64_t run_case(hsumma_context *ctx, const hsumma_grid *grid, const struct test_case *c, int step_by_step,
                        const char **message)
{
    hsumma_plan *plan = NULL;
    struct matrix x[3];
    double complex alpha, beta;
    int64_t wrong = 0;
    make(&x[0], c, grid, 0, c->ta == 'N' ? c->m : c->k, c->ta == 'N' ? c->k : c->m);
    make(&x[1], c, grid, 1, c->tb == 'N' ? c->k : c->n, c->tb == 'N' ? c->n : c->k);
    make(&x[2], c, grid, 2, c->m, c->n);
    scalar(c->type, c->alpha, &alpha);
    scalar(c->type, c->beta, &beta);
    hsumma_status status = hsumma_plan_create(ctx, c->type, c->ta, c->tb, c->m, c->n, c->k, &x[0].desc, &x[1].desc,
                                              &x[2].desc, c->options, &plan);
    for (int again = 0; !status && again < 2; again++) {
        for (int id = 0; id < 3; id++)
            fill(&x[id], c, id, id == 2 ? c->beta == 0 : c->alpha == 0);
        if (step_by_step) {
            int done = 0;
            status = hsumma_plan_start(plan, &alpha, x[0].data, x[1].data, &beta, x[2].data);
            for (int i = 0; !status && !done && i < 5 + again * 1000000; i++)
                status = hsumma_plan_test(plan, &done);
            if (!status)
                status = hsumma_plan_wait(plan);
        } else {
            status = hsumma_plan_execute(plan, &alpha, x[0].data, x[1].data, &beta, x[2].data);
        }
        wrong += wrong_entries(&x[2], c);
    }
    *message = hsumma_message(ctx);
    hsumma_plan_free(&plan);
    for (int id = 0; id < 3; id++)
        free(x[id].data);
    return status ? -1 - (int64_t)status : wrong;
}

/* A random hierarchy that divides P x Q: 1, 2 or 3 levels. */
static void draw_hierarchy(const struct test_case *c, char *text, size_t room)
{
    int levels = draw(3), P = c->P, Q = c->Q;
    int64_t block = 1 + draw(9), outer = block * (1 + draw(3));
    int used = snprintf(text, room, "block=%d ", (int)block);
    for (int l = 0; l < levels; l++) {
        int i = 1 + draw(P), j = 1 + draw(Q);
        while (P % i)
            i--;
        while (Q % j)
            j--;
        used += snprintf(text + used, room - (size_t)used, "%s%dx%d", l ? "," : "levels=", i, j);
        P /= i;
        Q /= j;
    }
    if (levels == 0)
        used += snprintf(text + used, room - (size_t)used, "groups=1x1");
    else if (levels == 1)
        used += snprintf(text + used, room - (size_t)used, " outer=%d", (int)outer);
    else
        used += snprintf(text + used, room - (size_t)used, " outer=%d,%d", (int)(outer * 2), (int)outer);
}

/* Words for a node that shares memory. */
static void draw_sharing(char stationary, char *text, size_t room)
{
    static const char *const cuts[] = {"",         " block=1",          " block=9",           " chunk=1 block=5",
                                       " chunk=7", " block=40 chunk=3", " workspace_limit=4k"};
    snprintf(text, room, "stationary=%c threads=1%s", stationary, cuts[draw(7)]);
}

static void draw_case(struct test_case *c, char ta, char tb, char stationary, int64_t nb)
{
    static const double scalars[] = {1, 1, 1, 0, -1, 2};
    static const char *const bcast[] = {"auto", "flat", "binomial", "van_de_geijn", "chain", "binary_tree", "mpi"};
    static const char *const reduce[] = {"auto", "binomial", "rabenseifner_traff", "mpi"};
    static const int lookahead[] = {0, 0, 1, 1, 2, 5};
    char hierarchy[128];
    c->type = (hsumma_type)draw(4);
    c->ta = ta;
    c->tb = tb;
    c->nb = nb;
    c->shifted = nb > 0 && draw(3) == 0;
    c->m = draw(8) ? 1 + draw(40) : draw(3);
    c->n = draw(8) ? 1 + draw(40) : draw(3);
    c->k = draw(8) ? 1 + draw(50) : draw(3);
    c->alpha = scalars[draw(6)];
    c->beta = scalars[draw(6)];
    if (draw(2)) {
        draw_sharing(stationary, c->options, sizeof c->options);
        return;
    }
    draw_hierarchy(c, hierarchy, sizeof hierarchy);
    snprintf(c->options, sizeof c->options, "stationary=%c %s bcast=%s reduce=%s lookahead=%d segment=%d threads=1",
             stationary, hierarchy, bcast[draw(7)], reduce[draw(4)], lookahead[draw(6)], 1 + draw(200));
}

int main(int argc, char **argv)
{
    hsumma_context *ctx;
    world_begin(&argc, &argv);
    char text[256] = "";
    hsumma_status status = hsumma_create(MPI_COMM_WORLD, NULL, &ctx, text, sizeof text);
    if (!tap_ok(status == HSUMMA_OK, "context on %d ranks %s", size, text)) {
        MPI_Finalize();
        return tap_done();
    }
    int rounds = argc > 1 ? atoi(argv[1]) : 2;
    draw_seed(argc > 2 ? strtoull(argv[2], NULL, 10) : 1);
    char contexts[256] = ""; /* options, from the third argument on */
    for (int i = 3; i < argc; i++)
        snprintf(contexts + strlen(contexts), sizeof contexts - strlen(contexts), " %s", argv[i]);
    static const int64_t blocks[] = {0, 1, 3, 8};
    hsumma_free(&ctx);
    for (int P = 1; P <= size; P++) {
        hsumma_grid *grid[2] = {NULL};
        int Q = size % P ? 1 : size / P;
        if (size % P && !(P == size - 1)) /* also a grid that leaves one process out */
            continue;
        /* the first grids of a context have shared memory */
        if (!tap_ok(!hsumma_create(MPI_COMM_WORLD, contexts, &ctx, NULL, 0) &&
                        !hsumma_grid_create(ctx, P, Q, 'C', NULL, &grid[0]) &&
                        !hsumma_grid_create(ctx, P, Q, 'R', NULL, &grid[1]),
                    "grids %d x %d", P, Q))
            break;
        for (int s = 0; s < 3; s++) {
            int cases = 0;
            int64_t failed = 0;
            for (int ops = 0; ops < 9; ops++) {
                for (int i = 0; i < 2 * rounds; i++) {
                    struct test_case c;
                    memset(&c, 0, sizeof c);
                    c.P = P;
                    c.Q = Q;
                    draw_case(&c, "NTC"[ops % 3], "NTC"[ops / 3], "CAB"[s], i % 2 ? blocks[1 + draw(3)] : 0);
                    const char *message = "";
                    if (getenv("CASES"))
                        tap_diag("%c%c %dx%dx%d nb %d %s", c.ta, c.tb, (int)c.m, (int)c.n, (int)c.k, (int)c.nb,
                                 c.options);
                    int64_t wrong = run_case(ctx, grid[c.m % 2], &c, draw(2), &message);
                    int64_t worst = world_worst(wrong);
                    cases++;
                    if (worst) {
                        failed++;
                        tap_diag(
                            "wrong %lld: type %d %c%c %lldx%lldx%lld grid %dx%d nb %lld shifted %d alpha %g beta %g "
                            "%s: %s",
                            (long long)worst, (int)c.type, c.ta, c.tb, (long long)c.m, (long long)c.n, (long long)c.k,
                            c.P, c.Q, (long long)c.nb, c.shifted, c.alpha, c.beta, c.options, message);
                    }
                }
            }
            tap_ok(failed == 0, "%d ranks, grid %d x %d, stationary %c: %d cases, %lld wrong", size, P, Q, "CAB"[s],
                   cases, (long long)failed);
        }
        hsumma_grid_free(&grid[0]);
        hsumma_grid_free(&grid[1]);
        hsumma_free(&ctx);
    }
    MPI_Finalize();
    return tap_done();
}
