/*
 * Products inside one node, which use shared memory and send nothing. Results are compared with a triple loop, for
 * every stationary operand, transposition and type, any width of panels and chunks, little memory, replicas, and
 * operands read in place. Further tests: the plan's information; bits.
 *
 *     node node=shared|nodes     with "nodes" the ranks seem to be on two hosts
 */
#include "support/product/gemm_library.h"
#include "support/product/gemm_random.h"
#include "support/product/virtual_hosts.h"

#include <unistd.h>

/* Checks the info of a plan with shared memory, before (ran = 0) or after an execution; returns NULL, or the error. */
static const char *wrong_info(const hsumma_plan *plan, int ran)
{
    hsumma_plan_info info = plan_query(plan);
    if (strcmp(info.node, strstr(info.line, "node=even") ? "even" : "shared") != 0 ||
        strcmp(info.level[0].bcast, "none") != 0 || info.nlevels != 1)
        return "not by shared memory";
    if (info.bytes_sent || info.messages_sent)
        return "messages";
    if (info.workspace_bytes > info.workspace_limit_bytes || info.workspace_bytes > info.workspace_bytes_max)
        return "workspace above its limit";
    if (!(info.seconds >= info.gemm_seconds + info.copy_seconds + info.wait_seconds) ||
        !(info.comm_seconds >= info.wait_seconds) || info.gemm_seconds < 0 || info.copy_seconds < 0 ||
        info.wait_seconds < 0 || (ran && !(info.seconds > 0)))
        return "times that do not add up";
    return NULL;
}

/* Makes a plan and executes it twice; returns NULL, or a description of this rank's error. */
static const char *failure(hsumma_context *ctx, const struct gemm_case *c)
{
    hsumma_plan *plan = NULL;
    if (gemm_plan_create(ctx, c, &plan))
        return hsumma_message(ctx);
    const char *what = wrong_info(plan, 0);
    for (int i = 0; i < 2; i++) {
        const char *fault = gemm_execution_fault(plan, c, GEMM_AT_ONCE);
        what = what ? what : fault;
    }
    what = what ? what : wrong_info(plan, plan->member);
    hsumma_plan_free(&plan);
    return what;
}

/* Runs a case with these options; prints a failure, and returns 1 if there was one. */
static int failed(hsumma_context *ctx, struct gemm_case *c, const char *options)
{
    c->options = options;
    const char *what = failure(ctx, c);
    if (what)
        gemm_report(rank, c, 0, what);
    return !everywhere(!what);
}

/* Products with panels and chunks of various widths; 0 leaves the width to the library. */
static void test_products(hsumma_context *ctx, const hsumma_grid *grid)
{
    static const int cuts[][2] = {{0, 0}, {1, 1}, {7, 0}, {0, 7}, {40, 1}, {1, 40}, {7, 40}};
    for (int stationary = 0; stationary < 3; stationary++) {
        int bad = 0, count = 0;
        for (int ops = 0; ops < 9; ops++)
            for (int i = 0; i < 7; i++, count++) {
                char options[128];
                struct gemm_case c = gemm_case_of(grid, (hsumma_type)((ops + i) % 4), "NTC"[ops % 3], "NTC"[ops / 3],
                                                  29, 31, 43, (ops + i) % 3 * 3);
                int used = snprintf(options, sizeof options, "stationary=%c", "ABC"[stationary]);
                if (cuts[i][0])
                    used += snprintf(options + used, sizeof options - (size_t)used, " block=%d", cuts[i][0]);
                if (cuts[i][1])
                    snprintf(options + used, sizeof options - (size_t)used, " chunk=%d", cuts[i][1]);
                if (i % 2)
                    gemm_unalign(&c, ops + i);
                c.beta = ops % 2 ? -1 : 0; /* with beta = 0, C contains NaN */
                bad += failed(ctx, &c, options);
            }
        tap_ok(bad == 0, "stationary %c: %d plans, %d wrong", "ABC"[stationary], count, bad);
    }
}

/* Plans with less and less memory, down to panels and chunks of one index and no lookahead; then with too little. */
static void test_limits(hsumma_context *ctx, const hsumma_grid *grid)
{
    for (int stationary = 0; stationary < 3; stationary++) {
        int bad = 0, blocking = 0, refused = 0;
        for (int ops = 0; ops < 4; ops++) {
            struct gemm_case c = gemm_case_of(grid, HSUMMA_D, "NT"[ops % 2], "NT"[ops / 2], 61, 62, 63, 5);
            int64_t limit = 1 << 14;
            if (ops % 2)
                gemm_unalign(&c, ops);
            for (int i = 0; i < 24 && refused <= ops; i++, limit = limit * 3 / 5) {
                hsumma_plan *plan = NULL;
                char options[128];
                snprintf(options, sizeof options, "stationary=%c workspace_limit=%" PRId64, "ABC"[stationary], limit);
                c.options = options;
                hsumma_status status = gemm_plan_create(ctx, &c, &plan);
                if (plan)
                    blocking += plan->choice.spec.lookahead == 0;
                bad += plan && hs_plan_bytes(plan) > limit;
                hsumma_plan_free(&plan);
                if (status == HSUMMA_ERR_WORKSPACE && strstr(hsumma_message(ctx), "bytes of shared memory"))
                    refused++;
                else
                    bad += failed(ctx, &c, options);
            }
        }
        tap_ok(bad == 0 && blocking > 0 && refused == 4,
               "stationary %c with less and less memory: %d wrong, %d without lookahead, %d refused: %s",
               "ABC"[stationary], bad, blocking, refused, hsumma_message(ctx));
    }
}

/* Replicas of A, of B and of C, over process rows, columns and both. */
static void test_replicas(hsumma_context *ctx, const hsumma_grid *grid)
{
    int bad = 0, count = 0;
    for (int x = 0; x < 3; x++)
        for (int over = 1; over < 4; over++)
            for (int ops = 0; ops < 4; ops++, count++) {
                struct gemm_case c =
                    gemm_case_of(grid, HSUMMA_D, "NT"[ops % 2], "NT"[ops / 2], 19, 18, 23, ops % 2 ? 4 : 0);
                if (over & 1)
                    c.desc[x].rsrc = -1;
                if (over & 2)
                    c.desc[x].csrc = -1;
                c.desc[x].ld = hsumma_local_rows(&c.desc[x]) + GEMM_PAD;
                bad += failed(ctx, &c, ops % 2 ? "stationary=C block=5 chunk=4" : NULL);
            }
    tap_ok(bad == 0, "A, B or C on every row or column of processes: %d plans, %d wrong", count, bad);
}

/* Restores the initial contents of A, B and C, in whichever memory they are. */
static void refill(const struct gemm_case *call, struct gemm_placed *placed)
{
    struct gemm_part fresh[3];
    gemm_make(call, fresh);
    for (int x = 0; x < 3; x++)
        if (fresh[x].data)
            memcpy(placed->local[x].data, fresh[x].data, fresh[x].bytes);
    gemm_drop(fresh);
}

/* Executes a plan with matrices in library memory (mask, but: see gemm_make_in_library), several times. Each process
 * starts after another delay, and overwrites A and B as soon as its execution has returned. Returns the hash of C, or
 * -1; *copied: bytes that this process copied into shared memory. */
static int64_t in_memory(hsumma_context *ctx, const struct gemm_case *call, int mask, int but, int64_t *copied)
{
    struct gemm_placed p;
    hsumma_plan *plan = NULL;
    int64_t hash = -1;
    int good = gemm_make_in_library(ctx, call, mask, but, 16, &p) && gemm_plan_create(ctx, call, &plan) == HSUMMA_OK &&
               !wrong_info(plan, 0);
    *copied = 0;
    for (int i = 0; everywhere(good) && i < 3; i++) {
        refill(call, &p);
        if (i)
            usleep((unsigned)(hs_scrambled((uint64_t)(rank * 3 + i + mask)) % 1000));
        good = gemm_begin(plan, call, p.local, 1) == HSUMMA_OK &&
               (call->fractions || !gemm_wrong(call, &p.local[2], 0)) && !gemm_changed(call, p.local);
        for (int x = 0; x < 2; x++) /* after the execution returns, A and B may be overwritten */
            if (p.local[x].data)
                memset(p.local[x].data, 0x7f, p.local[x].bytes);
        *copied += plan->node.last.bytes;
        int64_t now = gemm_hash_of_c(call, &p.local[2]);
        good &= i == 0 || now == hash;
        hash = now;
    }
    if (everywhere(good)) /* another execution, with new matrices: the overwritten ones must not be read */
        good = !gemm_execution_fault(plan, call, GEMM_AT_ONCE);
    hsumma_plan_free(&plan);
    gemm_drop_in_library(ctx, &p);
    return good ? hash : -1;
}

static void test_in_place(hsumma_context *ctx, const hsumma_grid *grid)
{
    for (int layout = 0; layout < 4; layout++) {
        struct gemm_case c =
            gemm_case_of(grid, layout % 2 ? HSUMMA_S : HSUMMA_D, "NT"[layout % 2], "NT"[layout / 2], 24, 20, 1024, 0);
        int bad = 0, P, Q;
        int64_t copied, all;
        hsumma_grid_info(grid, &P, &Q, NULL, NULL);
        if (layout)
            for (int x = 0; x < 3; x++) {
                struct gemm_layout of[2] = {{3, 3, 0, 0, 0}, {3, 3, 0, 0, 0}};
                if (x < 2)
                    of[x == 0 ? c.ta == 'N' : c.tb != 'N'].block = of[x == 0 ? c.ta == 'N' : c.tb != 'N'].first = 256;
                gemm_spread(&c, x, &of[0], &of[1]); /* ld differs between ranks */
            }
        c.options = "stationary=C block=256 threads=1";
        c.fractions = layout > 1;
        int64_t plain = in_memory(ctx, &c, 0, 0, &all);
        bad += !everywhere(plain >= 0);
        for (int mask = 1; mask < 8; mask++)
            for (int but = 0; but < 4; but++) {
                int mine = rank % 2 ? but : 0;
                bad += !everywhere(in_memory(ctx, &c, mask, mine, &copied) == plain && copied <= all);
                if ((mask & 3) == 3 && !mine && c.ta == 'N' && c.tb == 'N')
                    bad += copied != 0 && 1024 / (layout ? 1 : P * Q) % 256 == 0;
            }
        tap_ok(everywhere(bad == 0),
               "%s, %c%c: A, B, C in the library's memory, or on some ranks: the bits of plain "
               "memory, %d differ (%" PRId64 " bytes copied on rank 0 else)",
               layout ? "blocks of 256" : "one block each", c.ta, c.tb, bad, all);
    }
}

/* Replicas that are read in place: all readers use the replica of one process, which waits until they have read it. */
static void test_replicas_in_place(hsumma_context *ctx, const hsumma_grid *grid)
{
    int bad = 0;
    for (int i = 0; i < 16; i++) {
        struct gemm_case c = gemm_case_of(grid, HSUMMA_D, 'N', 'N', 24, 20, 64, 0);
        int x = i % 2;
        int64_t copied;
        *(x ? &c.desc[1].csrc : &c.desc[0].rsrc) =
            -1; /* every process has the whole pinned dimension of A or B; in half of the cases C is replicated, too */
        if (i / 2 % 2)
            *(x ? &c.desc[2].csrc : &c.desc[2].rsrc) = -1;
        for (int y = 0; y < 3; y++)
            c.desc[y].ld = hsumma_local_rows(&c.desc[y]) + GEMM_PAD;
        c.options = "stationary=C block=16 threads=1";
        for (int but = 0; but < 4; but += 3)
            bad += !everywhere(in_memory(ctx, &c, 3, (rank + i / 4) % 2 ? but : 0, &copied) >= 0);
    }
    tap_ok(bad == 0, "replicas in the library's memory: %d wrong", bad);
}

/* The even division: of layouts that are uneven, of one owner's matrices, of replicas. */
static void test_even(hsumma_context *ctx, const hsumma_grid *grid)
{
    static const char *const cuts[] = {"node=even", "node=even block=1", "node=even block=7 chunk=3",
                                       "node=even block=40 chunk=1", "node=even workspace_limit=64k"};
    static const struct {
        int size[3], block;
    } shapes[] = {{{29, 31, 43}, 64}, {{29, 31, 43}, 20}, {{29, 31, 43}, 3}, {{90, 70, 50}, 80}, {{1, 2, 40}, 16}};
    int bad = 0, count = 0;
    for (int s = 0; s < 5; s++)
        for (int ops = 0; ops < 9; ops++)
            for (int i = 0; i < 5; i++, count++) {
                const int *n = shapes[s].size;
                struct gemm_case c = gemm_case_of(grid, (hsumma_type)((ops + i) % 4), "NTC"[ops % 3], "NTC"[ops / 3],
                                                  n[0], n[1], n[2], shapes[s].block);
                if ((ops + i) % 3 == 0)
                    gemm_unalign(&c, ops + i);
                if (i == 0 && ops % 4) /* a replica of A, of B or of C */
                    c.desc[ops % 4 - 1].csrc = -1;
                for (int x = 0; x < 3; x++)
                    c.desc[x].ld = hsumma_local_rows(&c.desc[x]) + GEMM_PAD;
                c.beta = ops % 2 ? -1 : 0; /* with beta = 0, C contains NaN */
                bad += failed(ctx, &c, cuts[i]);
            }
    tap_ok(bad == 0, "an even division: %d plans, %d wrong", count, bad);
    hsumma_plan *plan = NULL;
    struct gemm_case c = gemm_case_of(grid, HSUMMA_D, 'N', 'T', 512, 512, 512, 512);
    c.options = "node=auto";
    int good = gemm_plan_create(ctx, &c, &plan) == HSUMMA_OK && strcmp(plan_query(plan).node, "even") == 0 &&
               gemm_executes(plan, &c);
    tap_ok(everywhere(good), "one owner of everything: %s", plan_query(plan).line);
    hsumma_plan_free(&plan);
    c.options = "node=even stationary=A";
    gemm_refuse(ctx, &c, HSUMMA_ERR_UNSUPPORTED, c.options, "node=even", "stationary");
}

/* Options of the product over messages: accepted with node=auto, an error together with node=shared. */
static void test_words(hsumma_context *ctx, const hsumma_grid *grid)
{
    static const char *const words[] = {"groups=1x1",     "levels=1x1",      "groups=1x1 outer=8",
                                        "bcast=binomial", "reduce=binomial", "exchange=root",
                                        "segment=100",    "lookahead=1",     "slice=1000"};
    int good = 1;
    for (int i = 0; i < 9; i++) {
        struct gemm_case c = gemm_case_of(grid, HSUMMA_D, 'N', 'N', 20, 21, 22, 4);
        hsumma_plan *plan = NULL;
        char options[128];
        snprintf(options, sizeof options, "%s node=auto", words[i]);
        c.options = options;
        good &= gemm_plan_create(ctx, &c, &plan) == HSUMMA_OK && strcmp(plan_query(plan).node, "messages") == 0 &&
                gemm_executes(plan, &c);
        hsumma_plan_free(&plan);
        c.options = words[i];
        good &= gemm_plan_create(ctx, &c, &plan) == HSUMMA_ERR_ARGUMENT && !plan &&
                strstr(hsumma_message(ctx), "node=shared") != NULL;
    }
    tap_ok(everywhere(good), "words for messages, alone and with node=shared: %s", hsumma_message(ctx));
}

/* 2^30 steps would carry a counter into the number of the next execution: the plan is refused, or takes fewer steps. */
static void test_steps(hsumma_context *ctx)
{
    hsumma_grid *grid = NULL;
    hsumma_plan *plan = NULL;
    int good = hsumma_grid_create(ctx, 1, size, 'R', NULL, &grid) == HSUMMA_OK;
    struct gemm_case c = gemm_case_of(grid, HSUMMA_S, 'N', 'N', 1 << 20, size, 1 << 10, 0);
    c.options = "stationary=C block=1 chunk=1";
    hsumma_status status = gemm_plan_create(ctx, &c, &plan);
    good &= plan ? plan->node.steps < 1 << 24 : status == HSUMMA_ERR_UNSUPPORTED || status == HSUMMA_ERR_ARGUMENT;
    tap_ok(everywhere(good), "2^30 steps: %s", status ? hsumma_message(ctx) : "taken, in fewer");
    hsumma_plan_free(&plan);
    hsumma_grid_free(&grid);
}

/* By default the tiles of a product of 2048 x 2048 take little memory beside its matrices. */
static void test_little(hsumma_context *ctx)
{
    hsumma_grid *grid = NULL;
    hsumma_plan *plan = NULL;
    const double matrices = 3.0 * 2048 * 2048 * sizeof(double);
    double tiles = -1;
    if (hsumma_grid_create(ctx, 1, size, 'R', NULL, &grid) == HSUMMA_OK) {
        struct gemm_case c = gemm_case_of(grid, HSUMMA_D, 'N', 'N', 2048, 2048, 2048, 64);
        if (gemm_plan_create(ctx, &c, &plan) == HSUMMA_OK)
            tiles = (double)plan_query(plan).workspace_bytes * size;
    }
    tap_ok(everywhere(tiles > 0 && tiles < 0.07 * matrices), "2048 cubed: tiles take %.1f %% of the memory of matrices",
           100 * tiles / matrices);
    hsumma_plan_free(&plan);
    hsumma_grid_free(&grid);
}

static void test_nodes(hsumma_context *ctx, const hsumma_grid *grid)
{
    struct gemm_case c = gemm_case_of(grid, HSUMMA_D, 'N', 'T', 20, 21, 22, 4);
    static const struct {
        const char *words, *row, *node; /* row: text of the option in the plan's line */
    } rows[] = {{NULL, "", "shared"},
                {"node=shared", "", "shared"},
                {"node=messages", "", "messages"},
                {"stationary=C bcast=hierarchical", "bcast=hierarchical ", "messages"},
                {"stationary=C bcast=hierarchical(outer=chain)", "bcast=hierarchical(outer=chain) ", "messages"},
                {"stationary=A reduce=smp", "reduce=smp ", "shared"},
                {"stationary=A reduce=nap", "reduce=nap ", "shared"},
                {"stationary=A reduce=dpml(l=2,k=2)", "reduce=dpml(l=2,k=2) ", "shared"},
                {"stationary=A reduce=elimination_32", "reduce=elimination_32 ", "shared"},
                {"stationary=A reduce=butterfly node=messages", "reduce=butterfly ", "messages"}};
    enum { ROWS = sizeof rows / sizeof *rows };
    if (ctx->profile.one_node) {
        tap_skip(1 + ROWS, "this MPI has one node");
        return;
    }
    c.options = "node=shared bcast=mpi";
    gemm_refuse(ctx, &c, HSUMMA_ERR_UNSUPPORTED, c.options, "MPI's own", "node=shared");
    for (unsigned i = 0; i < ROWS; i++) {
        hsumma_plan *plan = NULL;
        c.options = rows[i].words;
        int good =
            gemm_multiplies(ctx, &c, 0) && gemm_plan_create(ctx, &c, &plan) == HSUMMA_OK && gemm_executes(plan, &c);
        good = good && strstr(plan_query(plan).line, rows[i].row) && strcmp(plan_query(plan).node, rows[i].node) == 0;
        tap_ok(everywhere(good), "two nodes, %s: %s, %s", rows[i].words ? rows[i].words : "no word",
               plan_query(plan).node, plan_query(plan).line);
        hsumma_plan_free(&plan);
    }
}

static void test_all(hsumma_context *ctx, const hsumma_grid *grid)
{
    if (size == 1 || !grid->shared.bytes) {
        tap_skip(1, "the processes cannot share memory");
        return;
    }
    test_products(ctx, grid);
    test_limits(ctx, grid);
    test_replicas(ctx, grid);
    test_even(ctx, grid);
    test_in_place(ctx, grid);
    test_replicas_in_place(ctx, grid);
    test_words(ctx, grid);
    test_steps(ctx);
    test_little(ctx);
}

int main(int argc, char **argv)
{
    int nodes = argc > 1 && strcmp(argv[1], "nodes") == 0;
    if (nodes)
        virtual_hosts(2, 0);
    return gemm_main(argc, argv, nodes ? test_nodes : test_all);
}
