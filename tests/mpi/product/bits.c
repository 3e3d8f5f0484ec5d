/*
 * The same bits: with block, stationary operand and lookahead fixed, every hierarchy gives what SUMMA gives, bit for
 * bit, and so does every further execution of a plan and every size of the pieces in which messages go. The entries are
 * random fractions, so that another order or bracketing of the sums shows.
 */
#include "hsumma/context/context.h"

#include "support/tap.h"
#include "support/world.h"

#include <complex.h>
#include <stdlib.h>
#include <string.h>

/* One product: shapes, layout and what is fixed. */
struct product {
    hsumma_type type;
    char ta, tb, stationary;
    int64_t m, n, k, nb, block; /* nb = 0: checkerboard */
    int lookahead, P, Q;
    double alpha, beta;
    const char *slice; /* NULL: auto */
};

struct local {
    hsumma_desc desc;
    int64_t elements; /* doubles */
    double *data;
};

/* Uniform in (-1, 1), with all bits of the fraction in use. */
static double fraction(int x, int part, int64_t i, int64_t j)
{
    uint64_t h = (uint64_t)(i * 4 + part) * 0x9e3779b97f4a7c15ULL + (uint64_t)(j * 3 + x) * 0xc2b2ae3d27d4eb4fULL + 1;
    h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9ULL;
    h = (h ^ h >> 27) * 0x94d049bb133111ebULL;
    h ^= h >> 31;
    return (double)(int64_t)h / 9.3e18;
}

static void fill(struct local *x, int id, int parts)
{
    int64_t rows = hsumma_local_rows(&x->desc), cols = hsumma_local_cols(&x->desc);
    for (int64_t j = 0; j < cols; j++)
        for (int64_t i = 0; i < rows; i++)
            for (int part = 0; part < parts; part++)
                x->data[(j * x->desc.ld + i) * parts + part] =
                    fraction(id, part, hsumma_global_row(&x->desc, i), hsumma_global_col(&x->desc, j));
}

static void make(struct local x[3], const struct product *p, const hsumma_grid *grid)
{
    int64_t shape[3][2] = {{p->ta == 'N' ? p->m : p->k, p->ta == 'N' ? p->k : p->m},
                           {p->tb == 'N' ? p->k : p->n, p->tb == 'N' ? p->n : p->k},
                           {p->m, p->n}};
    int parts = p->type == HSUMMA_Z ? 2 : 1;
    for (int id = 0; id < 3; id++) {
        if (p->nb)
            hsumma_desc_init(&x[id].desc, grid, shape[id][0], shape[id][1], p->nb, p->nb);
        else
            hsumma_desc_checkerboard(&x[id].desc, grid, shape[id][0], shape[id][1]);
        x[id].elements = x[id].desc.ld * (hsumma_local_cols(&x[id].desc) + 1) * parts;
        x[id].data = calloc((size_t)x[id].elements, sizeof *x[id].data);
        fill(&x[id], id, parts);
    }
}

static void drop(struct local x[3])
{
    for (int id = 0; id < 3; id++)
        free(x[id].data);
}

/* Element (i, j) of op(X). */
static double complex op_entry(const struct product *p, int id, char op, int64_t i, int64_t j)
{
    int64_t r = op == 'N' ? i : j, c = op == 'N' ? j : i;
    double im = p->type == HSUMMA_Z ? fraction(id, 1, r, c) : 0;
    return fraction(id, 0, r, c) + (op == 'C' ? -im : im) * I;
}

/* Entries of this rank's C that are not the product, up to rounding. */
static int64_t wrong(const struct product *p, const struct local *c, const double *result)
{
    int complex_type = p->type == HSUMMA_Z;
    double complex alpha = complex_type ? p->alpha + 0.25 * I : p->alpha;
    int64_t rows = hsumma_local_rows(&c->desc), cols = hsumma_local_cols(&c->desc), count = 0;
    for (int64_t j = 0; j < cols; j++)
        for (int64_t i = 0; i < rows; i++) {
            const double *at = &result[(j * c->desc.ld + i) * (1 + complex_type)];
            int64_t gi = hsumma_global_row(&c->desc, i), gj = hsumma_global_col(&c->desc, j);
            double complex sum = 0, got = complex_type ? at[0] + at[1] * I : at[0];
            for (int64_t l = 0; l < p->k; l++)
                sum += op_entry(p, 0, p->ta, gi, l) * op_entry(p, 1, p->tb, l, gj);
            count += !(cabs(got - alpha * sum - p->beta * op_entry(p, 2, 'N', gi, gj)) < 1e-12);
        }
    return count;
}

static int64_t sent; /* messages of the last execution on this rank */

/* Executes a hierarchy `times` times, always from the same C; the last C is copied to `result`.  0: they differ, or a
 * status. */
static int run(hsumma_context *ctx, const struct product *p, const struct local x[3], const char *hierarchy, int times,
               double *result)
{
    char options[256];
    double alpha[2] = {p->alpha, 0.25}, beta[2] = {p->beta, 0};
    hsumma_plan *plan = NULL;
    struct local c = x[2];
    size_t bytes = (size_t)c.elements * sizeof *c.data;
    snprintf(options, sizeof options, "stationary=%c block=%d lookahead=%d slice=%s threads=1 workspace_limit=64M %s",
             p->stationary, (int)p->block, p->lookahead, p->slice ? p->slice : "auto", hierarchy);
    if (hsumma_plan_create(ctx, p->type, p->ta, p->tb, p->m, p->n, p->k, &x[0].desc, &x[1].desc, &x[2].desc, options,
                           &plan)) {
        tap_diag("%s: %s", options, hsumma_message(ctx));
        return 0;
    }
    int good = 1;
    c.data = malloc(bytes);
    for (int i = 0; i < times; i++) {
        memcpy(c.data, x[2].data, bytes);
        good &= hsumma_plan_execute(plan, alpha, x[0].data, x[1].data, beta, c.data) == HSUMMA_OK;
        good &= i == 0 || memcmp(c.data, result, bytes) == 0;
        memcpy(result, c.data, bytes);
    }
    hsumma_plan_info info;
    hsumma_plan_query(plan, &info);
    sent = info.messages_sent;
    free(c.data);
    hsumma_plan_free(&plan);
    return good;
}

/* What has been compared, and how often it differed on this rank. */
static struct tally {
    int wrong, hierarchies, differ, unequal_runs, pieces, pieces_differ, lookaheads, lookahead_differs, products;
} tally;

static void compare(hsumma_context *ctx, const struct product *p, const struct local x[3], const double *summa,
                    const char *hierarchy, double *room)
{
    int good = run(ctx, p, x, hierarchy, 1, room);
    tally.hierarchies++;
    good = good && memcmp(room, summa, (size_t)x[2].elements * sizeof *room) == 0;
    if (world_reduce(good, MPI_MIN))
        return;
    if (tally.differ++ < 5)
        tap_diag("differs: type %d %c%c %dx%dx%d nb %d grid %dx%d stationary %c block %d lookahead %d: %s",
                 (int)p->type, p->ta, p->tb, (int)p->m, (int)p->n, (int)p->k, (int)p->nb, p->P, p->Q, p->stationary,
                 (int)p->block, p->lookahead, hierarchy);
}

/* Every group grid of two levels, with outer panels of one to three blocks. */
static void all_groups(hsumma_context *ctx, const struct product *p, const struct local x[3], const double *summa,
                       double *room)
{
    char hierarchy[128];
    for (int i = 1, turn = 0; i <= p->P; i++)
        for (int j = 1; j <= p->Q; j++) {
            if (p->P % i || p->Q % j)
                continue;
            snprintf(hierarchy, sizeof hierarchy, "groups=%dx%d outer=%d", i, j, (int)p->block * (1 + turn++ % 3));
            compare(ctx, p, x, summa, hierarchy, room);
        }
}

/* Some hierarchies of three levels: what is left of the grid inside is split again. */
static void some_deeper(hsumma_context *ctx, const struct product *p, const struct local x[3], const double *summa,
                        double *room)
{
    static const char *const bcasts[] = {"flat", "chain,binomial,van_de_geijn", "binomial",
                                         "outer=van_de_geijn,inner=chain"};
    char hierarchy[160];
    int turn = 0;
    for (int i = p->P > 3 ? 2 : 1; i <= p->P; i++)
        for (int j = p->Q > 3 ? 2 : 1; j <= p->Q; j++)
            for (int s = 2; s <= 4; s++) { /* split off on the second level */
                int k = p->P / i % s == 0 ? s : 1, l = p->Q / j % s == 0 ? s : 1;
                if (p->P % i || p->Q % j || i * j == 1 || k * l == 1)
                    continue;
                snprintf(hierarchy, sizeof hierarchy, "levels=%dx%d,%dx%d outer=%d,%d bcast=%s segment=%d", i, j, k, l,
                         (int)p->block * 6, (int)p->block * (1 + turn % 2), bcasts[turn % 4], 64 << turn % 3);
                turn++;
                compare(ctx, p, x, summa, hierarchy, room);
            }
}

/* Messages in pieces, and other lookaheads. */
static void variations(hsumma_context *ctx, const struct product *p, const struct local x[3], const double *summa,
                       double *room)
{
    const int64_t cuts[] = {300, p->n < 100 ? 8 : 500, 500}; /* bytes; elements may fall apart */
    static const int lookaheads[] = {0, 1, 4};
    size_t bytes = (size_t)x[2].elements * sizeof *room;
    char hierarchy[64];
    snprintf(hierarchy, sizeof hierarchy, "groups=%dx1 outer=%d", p->P, (int)p->block * 2);
    for (int i = 0; i < 3; i++) {
        int64_t cut = ctx->comm.cut;
        const char *one = i % 2 ? "groups=1x1" : hierarchy;
        int good = run(ctx, p, x, one, 1, room);
        int64_t whole = world_reduce(sent, MPI_SUM);
        ctx->comm.cut = cuts[i];
        good &= run(ctx, p, x, one, 1, room) && memcmp(room, summa, bytes) == 0;
        ctx->comm.cut = cut;
        good &= world_reduce(sent, MPI_SUM) > whole; /* they do go in pieces */
        tally.pieces++;
        tally.pieces_differ += !world_reduce(good, MPI_MIN);
    }
    for (int i = 0; i < 3; i++) {
        struct product other = *p;
        other.lookahead = lookaheads[i];
        int good = run(ctx, &other, x, "groups=1x1", 1, room) && memcmp(room, summa, bytes) == 0;
        tally.lookaheads++;
        tally.lookahead_differs += !world_reduce(good, MPI_MIN);
    }
}

static void test_product(hsumma_context *ctx, const struct product *p)
{
    hsumma_grid *grid;
    struct local x[3];
    if (hsumma_grid_create(ctx, p->P, p->Q, 'R', NULL, &grid)) {
        tally.differ++;
        return;
    }
    make(x, p, grid);
    double *summa = malloc((size_t)x[2].elements * sizeof *summa), *room = malloc((size_t)x[2].elements * sizeof *room);
    tally.products++;
    tally.unequal_runs += !world_reduce(run(ctx, p, x, "groups=1x1", 3, summa), MPI_MIN);
    tally.wrong += world_reduce(wrong(p, &x[2], summa), MPI_SUM) != 0;
    all_groups(ctx, p, x, summa, room);
    some_deeper(ctx, p, x, summa, room);
    variations(ctx, p, x, summa, room);
    free(summa);
    free(room);
    drop(x);
    hsumma_grid_free(&grid);
}

/* That the data tell orders apart: sums of the same products forwards and in halves. */
static int64_t orders_that_show(int64_t k)
{
    int64_t show = 0;
    for (int64_t i = 0; i < 20; i++)
        for (int64_t j = 0; j < 20; j++) {
            double all = 0, half[2] = {0, 0};
            for (int64_t l = 0; l < k; l++) {
                double term = fraction(0, 0, i, l) * fraction(1, 0, l, j);
                all += term;
                half[2 * l >= k] += term;
            }
            show += all != half[0] + half[1];
        }
    return show;
}

int main(int argc, char **argv)
{
    hsumma_context *ctx;
    char text[256] = "";
    world_begin(&argc, &argv);
    if (!tap_ok(hsumma_create(MPI_COMM_WORLD, NULL, &ctx, text, sizeof text) == HSUMMA_OK, "context on %d ranks %s",
                size, text)) {
        MPI_Finalize();
        return tap_done();
    }
    int64_t show = orders_that_show(53);
    tap_ok(show > 100, "the order of the sums shows in %d of 400 entries", (int)show);
    int draw = 0, rounds = argc > 1 ? atoi(argv[1]) : 4; /* products per grid and stationary operand */
    for (int P = 1; P <= size; P++) {
        if (size % P)
            continue;
        for (int s = 0; s < 3; s++) {
            memset(&tally, 0, sizeof tally);
            for (int i = 0; i < rounds; i++, draw++) {
                static const int64_t extent[][3] = {{53, 47, 61}, {31, 64, 53}, {71, 37, 45}};
                static const int64_t blocks[] = {0, 5, 0, 3};
                const int64_t *e = extent[draw % 3];
                struct product p = {i % 2 ? HSUMMA_Z : HSUMMA_D,
                                    "NTC"[draw % 3],
                                    "NNT"[draw / 3 % 3],
                                    "CAB"[s],
                                    e[0],
                                    e[1],
                                    e[2],
                                    blocks[(i + draw / 4) % 4],
                                    3 + draw % 4,
                                    draw % 3,
                                    P,
                                    size / P,
                                    1.3,
                                    draw % 5 == 3 ? 0 : -0.7,
                                    NULL};
                test_product(ctx, &p);
            }
            /* wide enough for the local products to be cut into slices of so many flops */
            struct product wide = {HSUMMA_D, 'N', 'N', "CAB"[s], 24, 830, 41, 0, 12, 1, P, size / P, 1, 1, "10000"};
            test_product(ctx, &wide);
            tap_ok(tally.wrong == 0, "grid %d x %d, stationary %c: %d products by SUMMA, %d wrong", P, size / P,
                   "CAB"[s], tally.products, tally.wrong);
            tap_ok(tally.differ == 0, "%d hierarchies, %d with other bits than SUMMA", tally.hierarchies, tally.differ);
            tap_ok(tally.unequal_runs == 0, "the same plan three times: %d products, %d with other bits",
                   tally.products, tally.unequal_runs);
            tap_ok(tally.pieces_differ == 0, "messages in pieces of 8 to 500 bytes: %d plans, %d with other bits",
                   tally.pieces, tally.pieces_differ);
            if (tally.lookahead_differs)
                tap_diag("lookahead: %d of %d plans with other bits (not promised)", tally.lookahead_differs,
                         tally.lookaheads);
        }
    }
    hsumma_free(&ctx);
    MPI_Finalize();
    return tap_done();
}
