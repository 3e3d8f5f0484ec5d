/*
 * Reproducible bits. With fixed block, turn, stationary operand and order of reductions every hierarchy has the bits of
 * SUMMA, whatever its algorithms, segment, lookahead and size of messages. Repeated executions have the same bits, and
 * so have several loops that take turns on random spans of the innermost panels. Random delays put processes in
 * different spans.
 *
 *     spans [PRODUCTS]     number of products per grid and stationary operand
 */
#include "support/product/gemm_case.h"

#include <unistd.h>

enum { LOOPS = 3, TURNS = 3 }; /* LOOPS: plans that share a product; TURNS: repetitions with other spans */

static int divisor(int of)
{
    int d;
    do
        d = 1 + draw(of);
    while (of % d);
    return d;
}

static int rounds = 16; /* number of products per grid and stationary operand */

static const double scalars[] = {0, 1, -3};

/* The common properties of the plans (loops) of one product. */
struct shared {
    struct gemm_case call;
    char stationary;
    int block, wide, P, Q;      /* wide: blocks in a turn; 0: all indices that a pair of owners has */
    char slice[16], summa[384]; /* summa: options of the reference plan */
    int segment;                /* segment of the reference plan, in bytes */
};

/* Numbers of tests, and of failures on this rank. */
static struct tally {
    int products, spans, differ, whole, pieces, wrong, failed, unbounded, miscounted;
} tally;

/* Makes a plan of the shared product: SUMMA if `first`, else with a hierarchy of its own. */
static hsumma_plan *plan_of(hsumma_context *ctx, struct shared *shared, int first)
{
    static const char *const bcasts[] = {"flat", "chain", "binomial", "van_de_geijn"};
    char options[384], levels[96] = "groups=1x1", turn[16] = "all";
    int b = shared->block, rows = divisor(shared->P), cols = divisor(shared->Q);
    int outer = divisor(shared->wide ? shared->wide : 4), inner = divisor(outer), segment = 64 << draw(6);
    if (!first && draw(2))
        snprintf(levels, sizeof levels, "groups=%dx%d outer=%d", rows, cols, b * outer);
    else if (!first)
        snprintf(levels, sizeof levels, "levels=%dx%d,%dx%d outer=%d,%d", rows, cols, divisor(shared->P / rows),
                 divisor(shared->Q / cols), b * outer, b * inner);
    if (shared->wide)
        snprintf(turn, sizeof turn, "%d", b * shared->wide);
    snprintf(options, sizeof options,
             "node=messages stationary=%c block=%d turn=%s slice=%s threads=1 workspace_limit=64M reduce=binomial "
             "lookahead=%d segment=%d bcast=%s %s",
             shared->stationary, b, turn, shared->slice, draw(4), segment, bcasts[draw(4)], levels);
    shared->call.options = options;
    if (first) {
        snprintf(shared->summa, sizeof shared->summa, "%s", options);
        shared->segment = segment;
    }
    hsumma_plan *plan = NULL;
    if (gemm_plan_create(ctx, &shared->call, &plan))
        tap_diag("%s: %s", options, hsumma_message(ctx));
    shared->call.options = NULL;
    return plan;
}

/* Whether hs_loop_boundary finds exactly the panels at which panels of all tiers begin. */
static int finds_boundaries(const struct hs_loop *loop)
{
    const struct hs_panels *panels = &loop->panels;
    int next = panels->count, good = 1;
    for (int t = panels->count; t >= 0; t--) {
        int begins = 0;
        for (int l = 0; l < panels->tiers; l++)
            for (int o = 0; o < panels->tier[l].count; o++)
                begins += panels->tier[l].first[o] == t;
        if (begins == panels->tiers)
            next = t;
        good &= hs_loop_boundary(loop, t) == next;
    }
    return good;
}

/* Executes panels from..to of one plan's loop; returns 1 on success. */
static int run_span(hsumma_plan *plan, const struct gemm_case *call, const struct gemm_part local[3], char *buffers,
                    int from, int to)
{
    struct hs_matrix matrix[3];
    double complex alpha, beta;
    gemm_store(call->type, &alpha, 0, call->alpha);
    gemm_store(call->type, &beta, 0, call->beta);
    for (int x = 0; x < 3; x++) {
        const int64_t *origin = plan->problem.view[x].origin;
        size_t at = (size_t)(origin[0] + origin[1] * call->desc[x].ld) * gemm_element_size(call->type);
        matrix[x] = (struct hs_matrix){local[x].data ? (char *)local[x].data + at : (char *)plan, call->desc[x].ld};
    }
    tally.spans++;
    hs_loop_start(&plan->loop, &alpha, matrix, &beta, buffers, NULL, hs_now(), from, to);
    return hs_comm_wait(NULL, hs_loop_advance, &plan->loop) == HSUMMA_OK;
}

/* Draws the end of a span that begins at panel `at`: a panel where `one` can stop and `other` can continue. */
static int cut(const struct hs_loop *one, const struct hs_loop *other, int at)
{
    int to = at + draw(one->panels.count / 3 + 2), before;
    do {
        before = to;
        to = hs_loop_boundary(other, hs_loop_boundary(one, to));
    } while (to != before);
    return to;
}

/* Executes a product by several loops in turn until all panels are done; returns 1 on success. */
static int take_turns(hsumma_plan *const plan[LOOPS], const struct gemm_case *call, const struct gemm_part local[3],
                      char *const buffers)
{
    int good = 1, from = 0, count = plan[0]->loop.panels.count, i = draw(LOOPS);
    do {
        int next = draw(LOOPS), to = cut(&plan[i]->loop, &plan[next]->loop, from);
        int late = draw(size), pause = draw(4) ? 0 : draw(1000); /* all ranks draw the pause; rank `late` makes it */
        if (late == rank && pause)
            usleep((useconds_t)pause);
        good &= run_span(plan[i], call, local, buffers, from, to == count && draw(2) ? HS_ALL : to);
        from = to;
        i = next;
    } while (from < count);
    return good;
}

/* Whether the bytes and messages of one loop, summed over its spans, equal those of a single run. */
static int counts(hsumma_plan *plan, const struct gemm_case *call, const struct gemm_part local[3], char *buffers)
{
    const struct hs_loop *loop = &plan->loop;
    int good = run_span(plan, call, local, buffers, 0, HS_ALL), from = 0;
    struct hs_times all = loop->last;
    do {
        int to = cut(loop, loop, from);
        good &= run_span(plan, call, local, buffers, from, to);
        all.bytes -= loop->last.bytes;
        all.messages -= loop->last.messages;
        good &= loop->last.seconds >= loop->last.gemm && loop->last.seconds < PATIENCE_S;
        from = to;
    } while (from < loop->panels.count);
    return good && all.bytes == 0 && all.messages == 0;
}

/* Whole executions by separate plans: the bits of each hierarchy, of repeated SUMMA, and of SUMMA with cut messages. */
static void test_whole(hsumma_context *ctx, const struct shared *shared, hsumma_plan *const plan[LOOPS], int64_t bits)
{
    const int64_t cuts[] = {60, 8, 60}; /* bytes per message; may cut elements */
    struct gemm_case call = shared->call;
    int64_t whole = ctx->comm.cut;
    int large = call.n > 100 && call.m > 100;
    hsumma_plan_info info[2];
    for (int i = 0; i < LOOPS; i++) {
        call.options = plan_query(plan[i]).line;
        tally.whole += gemm_bits(ctx, &call, 1, NULL) != bits;
    }
    call.options = shared->summa;
    ctx->comm.cut = 1 << 30;
    tally.whole += gemm_bits(ctx, &call, 3, &info[0]) != bits;
    ctx->comm.cut = large && shared->segment > 500 ? 500 : cuts[tally.products % 3];
    tally.pieces += gemm_bits(ctx, &call, 1, &info[1]) != bits;
    ctx->comm.cut = whole;
    int64_t more = world_reduce(info[1].messages_sent, MPI_SUM) - world_reduce(info[0].messages_sent, MPI_SUM);
    int64_t least = call.n < 100 && tally.products % 3 != 1 ? 0 : 1; /* small messages are not cut */
    tally.pieces += more < least && call.k > 0 && call.alpha != 0 && size > 1;
}

static void test_product(hsumma_context *ctx, struct shared *shared)
{
    struct gemm_case *call = &shared->call;
    struct gemm_part local[3], other[3];
    hsumma_plan *whole = plan_of(ctx, shared, 1), *plan[LOOPS];
    size_t room = 1;
    int good = whole != NULL, differed = tally.differ;
    for (int i = 0; i < LOOPS; i++) {
        plan[i] = plan_of(ctx, shared, 0);
        good &= plan[i] && plan[i]->member && !plan[i]->by_node;
        room = good && plan[i]->loop.buffer_bytes > room ? plan[i]->loop.buffer_bytes : room;
    }
    tally.products++;
    tally.failed += !everywhere(good);
    char *buffers = aligned_alloc(64, (room + 63) / 64 * 64);
    gemm_make(call, local);
    if (everywhere(good)) {
        good = gemm_begin(whole, call, local, 1) == HSUMMA_OK;
        tally.wrong += !call->fractions && gemm_wrong(call, &local[2], 0);
        for (int i = 0; i < LOOPS; i++)
            tally.unbounded += !finds_boundaries(&plan[i]->loop);
        for (int turn = 0; turn < TURNS; turn++) {
            gemm_make(call, other);
            good &= take_turns(plan, call, other, buffers);
            tally.differ +=
                gemm_hash_of_c(call, &local[2]) != gemm_hash_of_c(call, &other[2]) || gemm_changed(call, other);
            if (turn == TURNS - 1)
                tally.miscounted += !counts(plan[0], call, other, buffers);
            gemm_drop(other);
        }
        test_whole(ctx, shared, plan, gemm_hash_of_c(call, &local[2]));
        tally.failed += !good;
    }
    if (world_reduce(tally.differ - differed, MPI_SUM) > 0)
        tap_diag("%d x %d, stationary %c, %c%c, %d x %d x %d by %d, turns of %d, alpha %g, beta %g", shared->P,
                 shared->Q, shared->stationary, call->ta, call->tb, (int)call->m, (int)call->n, (int)call->k,
                 shared->block, shared->wide, creal(call->alpha), call->beta);
    gemm_drop(local);
    free(buffers);
    hsumma_plan_free(&whole);
    for (int i = 0; i < LOOPS; i++)
        hsumma_plan_free(&plan[i]);
}

/* Draws a product. Of eight in succession six are small, one of these with k = 0; one has a GEMM cut into slices, one
 * has long messages. */
static struct shared draw_product(const hsumma_grid *grid, char stationary, int turn)
{
    struct shared shared = {.stationary = stationary, .block = 3 + draw(4), .wide = draw(5), .slice = "auto"};
    int64_t m = 31 + draw(41), n = 31 + draw(41), k = 31 + draw(41), nb = draw(4) ? 3 + draw(5) : 0;
    hsumma_type type = (hsumma_type)draw(4);
    char ta = "NTC"[draw(3)], tb = "NTC"[draw(3)];
    int large = turn % 8 == 3, wide = turn % 8 == 6;
    if (large) {
        shared.block = 32;
        m = 300, n = 290, k = 310, nb = 40, type = HSUMMA_D;
    } else if (wide) {
        m = 24, n = 830, shared.block = 12;
        snprintf(shared.slice, sizeof shared.slice, "10000");
    } else if (turn % 8 == 5) {
        k = 0;
    }
    hsumma_grid_info(grid, &shared.P, &shared.Q, NULL, NULL);
    shared.call = gemm_case_of(grid, type, ta, tb, m, n, k, nb);
    if (draw(3) == 0 && !large)
        gemm_unalign(&shared.call, draw(12));
    shared.call.fractions = large || wide || draw(3) > 0; /* 0: exact, so the triple loop is the reference */
    shared.call.alpha = turn % 8 == 2 ? 0 : type >= HSUMMA_C ? 2 + 0.25 * I : 2;
    shared.call.beta = scalars[turn % 3];
    return shared;
}

static void test_grid(hsumma_context *ctx, const hsumma_grid *grid)
{
    int P, Q;
    hsumma_grid_info(grid, &P, &Q, NULL, NULL);
    for (int s = 0; s < 3; s++) {
        memset(&tally, 0, sizeof tally);
        for (int turn = 0; turn < rounds; turn++) {
            struct shared shared = draw_product(grid, "CAB"[s], turn);
            int64_t whole = ctx->comm.cut;
            if (draw(4) == 0)
                ctx->comm.cut = 300; /* messages of at most 300 bytes */
            test_product(ctx, &shared);
            ctx->comm.cut = whole;
        }
        tap_ok(everywhere(tally.failed == 0), "%d x %d, stationary %c: %d products by %d loops each, in %d spans", P, Q,
               "CAB"[s], tally.products, LOOPS, tally.spans);
        tap_ok(everywhere(tally.differ == 0), "the bits of one loop over all panels");
        tap_ok(everywhere(tally.whole == 0), "and so has each of them alone, and one plan three times");
        tap_ok(everywhere(tally.pieces == 0), "messages in pieces of 8 to 500 bytes: the same bits");
        tap_ok(everywhere(tally.wrong == 0), "which are right");
        tap_ok(everywhere(tally.unbounded == 0), "spans end where panels of all levels do");
        tap_ok(everywhere(tally.miscounted == 0), "each span counts its own bytes and messages");
    }
}

/* Checks the test's data: counts the entries whose sum in order differs from the sum of its two halves. */
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
    rounds = argc > 1 ? atoi(argv[1]) : rounds;
    return gemm_main(argc, argv, test_all);
}
