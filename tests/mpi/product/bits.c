/*
 * The same bits: with block, stationary operand and lookahead fixed, every hierarchy gives what SUMMA gives, bit for
 * bit, and so does every further execution of a plan and every size of the pieces in which messages go. The entries are
 * random fractions, so that another order or bracketing of the sums shows.
 *
 *     mpi_bits [PRODUCTS]     for each grid and stationary operand
 */
#include "support/product/gemm_case.h"

/* One product, what is fixed of its plans, and the bits that they have to give. */
struct product {
    struct gemm_case call;
    char stationary;
    int block, lookahead, P, Q;
    const char *slice;
    int64_t summa;
};

/* What has been compared, and how often it differed on this rank. */
static struct tally {
    int wrong, hierarchies, differ, unequal_runs, pieces, pieces_differ, lookaheads, lookahead_differs, products;
} tally;

static int rounds = 4;

/* The product with the words for a hierarchy. */
static struct gemm_case call_by(const struct product *p, const char *hierarchy, char *options, size_t room)
{
    struct gemm_case call = p->call;
    snprintf(options, room, "stationary=%c block=%d lookahead=%d slice=%s threads=1 workspace_limit=64M %s",
             p->stationary, p->block, p->lookahead, p->slice, hierarchy);
    call.options = options;
    return call;
}

/* The bits of a hierarchy, or -1 after an error.  sent: messages on all ranks, or NULL. */
static int64_t bits_of(hsumma_context *ctx, const struct product *p, const char *hierarchy, int64_t *sent)
{
    char options[256];
    hsumma_plan_info info;
    struct gemm_case call = call_by(p, hierarchy, options, sizeof options);
    int64_t bits = gemm_bits(ctx, &call, 1, &info);
    if (bits < 0)
        tap_diag("%s: %s", options, hsumma_message(ctx));
    if (sent)
        *sent = world_reduce(info.messages_sent, MPI_SUM);
    return bits;
}

static void compare(hsumma_context *ctx, const struct product *p, const char *hierarchy)
{
    const struct gemm_case *c = &p->call;
    tally.hierarchies++;
    if (everywhere(bits_of(ctx, p, hierarchy, NULL) == p->summa))
        return;
    if (tally.differ++ < 5)
        tap_diag("differs: type %d %c%c %dx%dx%d mb %d grid %dx%d stationary %c block %d lookahead %d: %s",
                 (int)c->type, c->ta, c->tb, (int)c->m, (int)c->n, (int)c->k, (int)c->desc[0].mb, p->P, p->Q,
                 p->stationary, p->block, p->lookahead, hierarchy);
}

/* Every group grid of two levels, with outer panels of one to three blocks. */
static void all_groups(hsumma_context *ctx, const struct product *p)
{
    char hierarchy[128];
    for (int i = 1, turn = 0; i <= p->P; i++)
        for (int j = 1; j <= p->Q; j++) {
            if (p->P % i || p->Q % j)
                continue;
            snprintf(hierarchy, sizeof hierarchy, "groups=%dx%d outer=%d", i, j, p->block * (1 + turn++ % 3));
            compare(ctx, p, hierarchy);
        }
}

/* Some hierarchies of three levels: what is left of the grid inside is split again. */
static void some_deeper(hsumma_context *ctx, const struct product *p)
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
                         p->block * 6, p->block * (1 + turn % 2), bcasts[turn % 4], 64 << turn % 3);
                turn++;
                compare(ctx, p, hierarchy);
            }
}

/* Messages in pieces, and other lookaheads. */
static void variations(hsumma_context *ctx, const struct product *p)
{
    const int64_t cuts[] = {300, p->call.n < 100 ? 8 : 500, 500}; /* bytes; elements may fall apart */
    static const int lookaheads[] = {0, 1, 4};
    char hierarchy[64];
    snprintf(hierarchy, sizeof hierarchy, "groups=%dx1 outer=%d", p->P, p->block * 2);
    for (int i = 0; i < 3; i++) {
        int64_t cut = ctx->comm.cut, whole, pieces;
        const char *one = i % 2 ? "groups=1x1" : hierarchy;
        int good = bits_of(ctx, p, one, &whole) >= 0;
        ctx->comm.cut = cuts[i];
        good &= bits_of(ctx, p, one, &pieces) == p->summa;
        ctx->comm.cut = cut;
        tally.pieces++;
        tally.pieces_differ += !everywhere(good && pieces > whole); /* they do go in pieces */
    }
    for (int i = 0; i < 3; i++) {
        struct product other = *p;
        other.lookahead = lookaheads[i];
        tally.lookaheads++;
        tally.lookahead_differs += !everywhere(bits_of(ctx, &other, "groups=1x1", NULL) == p->summa);
    }
}

static void test_product(hsumma_context *ctx, struct product *p)
{
    char options[256];
    p->call.fractions = 1;
    struct gemm_case by_summa = call_by(p, "groups=1x1", options, sizeof options);
    p->summa = gemm_bits(ctx, &by_summa, 3, NULL);
    tally.products++;
    tally.unequal_runs += !everywhere(p->summa >= 0);
    tally.wrong += !everywhere(gemm_multiplies(ctx, &by_summa, 1));
    all_groups(ctx, p);
    some_deeper(ctx, p);
    variations(ctx, p);
}

static void test_grid(hsumma_context *ctx, const hsumma_grid *grid)
{
    static const int64_t extent[][3] = {{53, 47, 61}, {31, 64, 53}, {71, 37, 45}};
    static const int64_t blocks[] = {0, 5, 0, 3};
    static int turn;
    int P, Q;
    hsumma_grid_info(grid, &P, &Q, NULL, NULL);
    for (int s = 0; s < 3; s++) {
        memset(&tally, 0, sizeof tally);
        for (int i = 0; i < rounds; i++, turn++) {
            const int64_t *e = extent[turn % 3];
            struct product p = {gemm_case_of(grid, i % 2 ? HSUMMA_Z : HSUMMA_D, "NTC"[turn % 3], "NNT"[turn / 3 % 3],
                                             e[0], e[1], e[2], blocks[(i + turn / 4) % 4]),
                                "CAB"[s],
                                3 + turn % 4,
                                turn % 3,
                                P,
                                Q,
                                "auto",
                                0};
            p.call.alpha = i % 2 ? 1.3 + 0.25 * I : 1.3;
            p.call.beta = turn % 5 == 3 ? 0 : -0.7;
            test_product(ctx, &p);
        }
        /* wide enough for the local products to be cut into slices of so many flops */
        struct product wide = {
            gemm_case_of(grid, HSUMMA_D, 'N', 'N', 24, 830, 41, 0), "CAB"[s], 12, 1, P, Q, "10000", 0};
        wide.call.alpha = wide.call.beta = 1;
        test_product(ctx, &wide);
        tap_ok(tally.wrong == 0, "grid %d x %d, stationary %c: %d products by SUMMA, %d wrong", P, Q, "CAB"[s],
               tally.products, tally.wrong);
        tap_ok(tally.differ == 0, "%d hierarchies, %d with other bits than SUMMA", tally.hierarchies, tally.differ);
        tap_ok(tally.unequal_runs == 0, "the same plan three times: %d products, %d with other bits", tally.products,
               tally.unequal_runs);
        tap_ok(tally.pieces_differ == 0, "messages in pieces of 8 to 500 bytes: %d plans, %d with other bits",
               tally.pieces, tally.pieces_differ);
        if (tally.lookahead_differs)
            tap_diag("lookahead: %d of %d plans with other bits (not promised)", tally.lookahead_differs,
                     tally.lookaheads);
    }
}

/* That the data tell orders apart: sums of the same products forwards and in halves. */
static int orders_that_show(const hsumma_grid *grid, int k)
{
    struct gemm_case c = gemm_case_of(grid, HSUMMA_D, 'N', 'N', 20, 20, k, 0);
    int show = 0;
    c.fractions = 1;
    for (int64_t i = 0; i < 20; i++)
        for (int64_t j = 0; j < 20; j++) {
            double all = 0, half[2] = {0, 0};
            for (int64_t l = 0; l < k; l++) {
                double term = creal(gemm_entry(&c, 0, i, l) * gemm_entry(&c, 1, l, j));
                all += term;
                half[2 * l >= k] += term;
            }
            show += all != half[0] + half[1];
        }
    return show;
}

static void test_all(hsumma_context *ctx, const hsumma_grid *grid)
{
    int show = orders_that_show(grid, 53);
    tap_ok(show > 100, "the order of the sums shows in %d of 400 entries", show);
    gemm_on_each_shape(ctx, test_grid);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        rounds = atoi(argv[1]);
    return gemm_main(argc, argv, test_all);
}
