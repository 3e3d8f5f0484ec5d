/*
 * The public interface: errors in arguments and options, with the same status on every rank and a message that names
 * argument and value; errors and different arguments on one rank only; replicated operands; grids, and processes
 * outside a grid; the environment; lines that reproduce a plan; empty and scaled products.
 */
#include "support/product/gemm_case.h"

#include <hsumma_coll.h>

static void test_arguments(hsumma_context *ctx, const hsumma_grid *grid, const hsumma_grid *other)
{
    struct gemm_case good = gemm_case_of(grid, HSUMMA_D, 'N', 'T', 12, 10, 14, 2), c;
    char text[64];
    int P, Q;
    hsumma_grid_info(grid, &P, &Q, NULL, NULL);
#define REFUSE(change, what, word, other_word)                             \
    do {                                                                   \
        c = good;                                                          \
        change;                                                            \
        gemm_refuse(ctx, &c, HSUMMA_ERR_ARGUMENT, what, word, other_word); \
    } while (0)
    REFUSE(c.ta = 'X', "transa = X", "transa", "'X'");
    REFUSE(c.tb = '-', "transb = -", "transb", "'-'");
    REFUSE(c.m = -1, "m = -1", "m is", "-1");
    REFUSE(c.n = -2, "n = -2", "n is", "-2");
    REFUSE(c.k = INT64_MIN, "k = -2^63", "k is", "-9223372036854775808");
    REFUSE(c.m = 13, "op(A) does not fit: m = 13", "A has 12 rows", "m = 13");
    REFUSE(c.n = 11, "op(B) does not fit: n = 11", "B has 10 rows", "n = 11"); /* B is transposed */
    REFUSE(c.k = INT64_MAX, "k = 2^63 - 1", "A has 14 columns", "k = 9223372036854775807");
    REFUSE(c.desc[2].m = 11, "C does not fit: 11 rows", "C has 11 rows", "m = 12");
    REFUSE(c.desc[2].j = 1, "C does not fit: j = 1", "C has 9 columns", "j = 1");
    REFUSE(c.desc[0].m = -1, "descriptor: m = -1", "descriptor of A: m is -1", "expected at least 0");
    REFUSE(c.desc[1].n = -7, "descriptor: n = -7", "descriptor of B: n is -7", "expected at least 0");
    REFUSE(c.desc[0].mb = 0, "mb = 0", "descriptor of A: mb is 0", "expected at least 1");
    REFUSE(c.desc[1].nb = -3, "nb = -3", "descriptor of B: nb is -3", "expected at least 1");
    REFUSE(c.desc[2].imb = 0, "imb = 0", "descriptor of C: imb is 0", "expected at least 1");
    REFUSE(c.desc[2].inb = -1, "inb = -1", "descriptor of C: inb is -1", "expected at least 1");
    snprintf(text, sizeof text, "-1 to %d", P - 1);
    REFUSE(c.desc[0].rsrc = P, "rsrc past the grid", "descriptor of A: rsrc is", text);
    REFUSE(c.desc[0].rsrc = -2, "rsrc = -2", "descriptor of A: rsrc is -2", text);
    snprintf(text, sizeof text, "-1 to %d", Q - 1);
    REFUSE(c.desc[1].csrc = Q, "csrc past the grid", "descriptor of B: csrc is", text);
    REFUSE(c.desc[0].i = 13, "i past the end", "descriptor of A: i is 13", "0 to 12");
    REFUSE(c.desc[0].j = -1, "j = -1", "descriptor of A: j is -1", "0 to 14");
    REFUSE(c.desc[1].grid = NULL, "no grid", "descriptor of B", "NULL");
#undef REFUSE
    c = good;
    c.desc[2].grid = other;
    if (size > 1)
        gemm_refuse(ctx, &c, HSUMMA_ERR_UNSUPPORTED, "C on fewer processes",
                    "the grids of A and C have different processes", "same processes");

    hsumma_plan *plan = NULL;
    hsumma_status status[2];
    status[0] = hsumma_plan_create(ctx, (hsumma_type)9, 'N', 'N', 1, 1, 1, &good.desc[0], &good.desc[1], &good.desc[2],
                                   NULL, &plan);
    int named = strstr(hsumma_message(ctx), "type is 9") != NULL;
    status[1] = hsumma_dgemm(ctx, 'N', 'T', 12, 10, 14, 1, NULL, &good.desc[0], NULL, NULL, 1, NULL, &good.desc[2]);
    named = named && strstr(hsumma_message(ctx), "descriptor of B") != NULL;
    tap_ok(everywhere(status[0] == HSUMMA_ERR_ARGUMENT && status[1] == HSUMMA_ERR_ARGUMENT && named),
           "type = 9, and a descriptor that is NULL");
    tap_ok(everywhere(gemm_multiplies(ctx, &good, 0) && gemm_multiplies(ctx, &good, 1)),
           "after all that a good call is right");
}

/* A C that is A or B on one process is refused on all. Disjoint parts of one matrix are no overlap. */
static void test_overlap(hsumma_context *ctx)
{
    enum { N = 12, HALF = N / 2 };
    static double data[3][N * N];
    double *a = data[0], *b = data[1];
    const double two = 2, zero = 0;
    hsumma_grid *grid = NULL;
    hsumma_plan *plan = NULL;
    hsumma_desc desc, lower;
    int good = !hsumma_grid_create(ctx, 1, size, 'R', NULL, &grid);
    hsumma_desc_init(&desc, grid, N, N, N, 1); /* every process owns columns */
    good = good && !hsumma_plan_create(ctx, HSUMMA_D, 'N', 'N', N, N, N, &desc, &desc, &desc, NULL, &plan);
    for (int i = 0; i < N * N; i++)
        a[i] = b[i] = data[2][i] = 1;
    for (int x = 0; x < 2 && good; x++) {
        double *c = data[rank == size - 1 ? x : 2];
        good &= hsumma_plan_execute(plan, &two, a, b, &zero, c) == HSUMMA_ERR_ARGUMENT && c[0] == 1;
        good &= hsumma_dgemm(ctx, 'N', 'N', N, N, N, 2, a, &desc, b, &desc, 0, c, &desc) == HSUMMA_ERR_ARGUMENT;
        good = good && c[0] == 1 && strstr(hsumma_message(ctx), rank == size - 1 ? "C begins at" : "C overlaps A or B");
    }
    tap_ok(everywhere(good), "C is A or B on the last process: %s", hsumma_message(ctx));
    good = good && !hsumma_dgemm(ctx, 'N', 'N', N, N, N, 0, a, &desc, a, &desc, 3, a, &desc) && a[0] == 3;
    tap_ok(everywhere(good), "with alpha = 0, which reads neither A nor B, C may be both");
    for (int i = 0; i < N * N; i++)
        a[i] = 1;
    hsumma_plan_free(&plan);
    lower = desc;
    lower.i = HALF;
    good = !hsumma_dgemm(ctx, 'N', 'N', HALF, N, HALF, 1, a, &desc, b, &desc, 0, b, &lower);
    for (int i = 0; i < N * (int)hsumma_local_cols(&desc); i++)
        good &= b[i] == (i % N < HALF ? 1 : HALF);
    tap_ok(everywhere(good), "B and C are disjoint parts of one matrix: %s", hsumma_message(ctx));
    hsumma_grid_free(&grid);
}

/* Letters of either case are the same arguments, also if the case differs between processes. */
static void test_lower_case(hsumma_context *ctx, const hsumma_grid *grid)
{
    static const char upper[] = "NTC", lower[] = "ntc";
    int good = 1;
    for (int ops = 0; ops < 9; ops++) {
        const struct gemm_case c = gemm_case_of(grid, HSUMMA_Z, upper[ops / 3], upper[ops % 3], 12, 10, 14, 2);
        struct gemm_case small = c;
        small.ta = rank ? lower[ops / 3] : c.ta;
        small.tb = lower[ops % 3];
        for (int by_plan = 0; by_plan < 2; by_plan++) {
            struct gemm_part local[3];
            hsumma_plan *plan = NULL;
            gemm_make(&c, local);
            hsumma_status status = by_plan ? gemm_plan_create(ctx, &small, &plan) : gemm_one_call(ctx, &small, local);
            if (plan)
                status = gemm_begin(plan, &c, local, 1);
            good &= !status && gemm_wrong(&c, &local[2], 0) == 0;
            hsumma_plan_free(&plan);
            gemm_drop(local);
        }
    }
    tap_ok(everywhere(good), "transa and transb in lower case: %s", hsumma_message(ctx));
}

static void refuse_options(hsumma_context *ctx, const hsumma_grid *grid, const char *options, hsumma_status wanted,
                           const char *word, const char *other)
{
    struct gemm_case c = gemm_case_of(grid, HSUMMA_D, 'N', 'N', 12, 10, 14, 2);
    c.options = options;
    gemm_refuse(ctx, &c, wanted, options, word, other);
}

static void test_options(hsumma_context *ctx, const hsumma_grid *grid)
{
    int P, Q;
    char text[96], word[32];
    hsumma_grid_info(grid, &P, &Q, NULL, NULL);
    refuse_options(ctx, grid, "block=2 nonsense=1", HSUMMA_ERR_OPTION, "unknown option \"nonsense\"", "lists all");
    refuse_options(ctx, grid, "lookahead=1000", HSUMMA_ERR_OPTION, "lookahead", "\"1000\"");
    refuse_options(ctx, grid, "lokahead=2", HSUMMA_ERR_OPTION, "unknown option \"lokahead\"",
                   "did you mean lookahead?");
    refuse_options(ctx, grid, "workspace-limit=2", HSUMMA_ERR_OPTION, "workspace-limit",
                   "did you mean workspace_limit?");
    refuse_options(ctx, grid, "node=shard", HSUMMA_ERR_OPTION, "\"shard\"", "did you mean shared?");
    refuse_options(ctx, grid, "bcast=van_de_gejn", HSUMMA_ERR_OPTION, "van_de_gejn", "did you mean van_de_geijn?");
    refuse_options(ctx, grid, "bcast=pigeon", HSUMMA_ERR_OPTION, "bcast=pigeon", "van_de_geijn");
    refuse_options(ctx, grid, "reduce=pigeon", HSUMMA_ERR_OPTION, "reduce=pigeon", "binomial");
    snprintf(text, sizeof text, "groups=%dx1", P + 1);
    snprintf(word, sizeof word, "%dx%d", P, Q);
    refuse_options(ctx, grid, text, HSUMMA_ERR_ARGUMENT, text + 7, word);
    snprintf(text, sizeof text, "levels=1x1,1x%d", Q + 1);
    refuse_options(ctx, grid, text, HSUMMA_ERR_ARGUMENT, "divide", word);
    if (size == 1) {
        tap_skip(3, "needs a grid of more than one process");
        return;
    }
    snprintf(text, sizeof text, "groups=%dx%d outer=7 block=2", P, Q);
    refuse_options(ctx, grid, text, HSUMMA_ERR_ARGUMENT, "have width 7", "2");
    snprintf(text, sizeof text, "groups=%dx%d bcast=flat,flat,flat", P, Q);
    refuse_options(ctx, grid, text, HSUMMA_ERR_OPTION, "bcast names 3", "2 levels");
    refuse_options(ctx, grid, "workspace_limit=1 block=2 stationary=C lookahead=0", HSUMMA_ERR_WORKSPACE, "panels of 2",
                   "workspace_limit allows 1; ");
}

/* A replicated A or B cannot be stationary, and neither A nor B can if C is replicated; C always can. */
static void test_replicas(hsumma_context *ctx, const hsumma_grid *grid)
{
    int P, Q;
    hsumma_grid_info(grid, &P, &Q, NULL, NULL);
    if (P * Q == 1) {
        tap_skip(7, "nothing is replicated on one process");
        return;
    }
    for (int x = 0; x < 3; x++) {
        struct gemm_case c = gemm_case_of(grid, HSUMMA_D, 'N', 'T', 12, 10, 14, 2);
        const struct gemm_layout all = {3, 2, -1, 4, 0}, one = {3, 1, 0, 1, 1};
        gemm_spread(&c, x, P > 1 ? &all : &one, Q > 1 ? &all : &one);
        c.options = x == 1 ? "stationary=B" : "stationary=A";
        gemm_refuse(ctx, &c, HSUMMA_ERR_UNSUPPORTED, "replicated, and not C stays",
                    x == 2 ? "C is replicated" : "is replicated", "expected stationary=C");
        c.options = NULL;
        tap_ok(everywhere(gemm_multiplies(ctx, &c, 1) && gemm_multiplies(ctx, &c, 0)), "%c on every process", "ABC"[x]);
    }
    /* candidates that the search rejects must leave no message */
    hsumma_context *fresh;
    hsumma_grid *own;
    if (!gemm_open(NULL, P, Q, &fresh, &own))
        return;
    int good = hsumma_message(fresh)[0] == 0;
    struct gemm_case c = gemm_case_of(own, HSUMMA_D, 'N', 'N', 12, 10, 14, 2);
    if (P > 1)
        c.desc[2].rsrc = -1;
    else
        c.desc[2].csrc = -1;
    c.desc[2].ld = 12 + GEMM_PAD;
    good &= gemm_multiplies(fresh, &c, 1);
    tap_ok(everywhere(good && hsumma_message(fresh)[0] == 0),
           "C stays where only C can; without an error no message: \"%s\"", hsumma_message(fresh));
    gemm_close(&fresh, &own);
}

/* An error on one rank is reported on all ranks; the messages of the other ranks name that rank. */
static void test_local(hsumma_context *ctx, const hsumma_grid *grid, int victim)
{
    char who[32];
    snprintf(who, sizeof who, "rank %d", victim);
    for (int x = 0; x < 3; x++) {
        struct gemm_case c = gemm_case_of(grid, HSUMMA_D, 'N', 'N', 12, 10, 14, 2);
        struct gemm_part local[3];
        hsumma_plan *plan = NULL;
        char value[32], name[16];
        int good = 1, seen = 0;
        gemm_make(&c, local);
        int64_t ld = c.desc[x].ld, bad[] = {local[x].rows - 1, 0, -5, (int64_t)INT32_MAX + 1};
        for (int i = 0; i < 4; i++) {
            if (rank == victim)
                c.desc[x].ld = bad[i];
            hsumma_status status = gemm_plan_create(ctx, &c, &plan);
            snprintf(value, sizeof value, "%" PRId64, bad[i]);
            snprintf(name, sizeof name, "of %c is", "ABC"[x]);
            seen += status == HSUMMA_ERR_ARGUMENT && !plan && strstr(hsumma_message(ctx), name) &&
                    strstr(hsumma_message(ctx), rank == victim ? value : who);
            seen += gemm_one_call(ctx, &c, local) == HSUMMA_ERR_ARGUMENT;
            c.desc[x].ld = ld;
        }
        tap_ok(everywhere(seen == 8), "leading dimension of %c too small or large on rank %d only: %s", "ABC"[x],
               victim, hsumma_message(ctx));

        void *data = local[x].data;
        good = gemm_plan_create(ctx, &c, &plan) == HSUMMA_OK;
        if (rank == victim)
            local[x].data = NULL;
        snprintf(name, sizeof name, rank == victim ? "%c is NULL" : "(%c:", "ABC"[x]);
        for (int by_plan = 0; plan && by_plan < 2; by_plan++) {
            hsumma_status status = by_plan ? gemm_begin(plan, &c, local, 1) : gemm_one_call(ctx, &c, local);
            good &= status == HSUMMA_ERR_ARGUMENT && strstr(hsumma_message(ctx), name) &&
                    strstr(hsumma_message(ctx), rank == victim ? "NULL" : who);
        }
        local[x].data = data;
        good = good && gemm_wrong(&c, &local[2], 1) == 0;
        tap_ok(everywhere(good), "%c NULL on rank %d only, C unchanged: %s", "ABC"[x], victim, hsumma_message(ctx));
        good = plan && gemm_begin(plan, &c, local, 1) == HSUMMA_OK && gemm_wrong(&c, &local[2], 0) == 0;
        tap_ok(everywhere(good), "and the plan still works");
        hsumma_plan_free(&plan);
        gemm_drop(local);
    }
}

static void test_grids(hsumma_context *ctx)
{
    int *ranks = malloc((size_t)size * sizeof *ranks), good = 1;
    struct {
        int nprow, npcol;
        char order;
        int spoiled; /* value that replaces the last rank of the list; -2: no list */
        const char *word;
    } bad[] = {{size + 1, 1, 'R', -2, "the processes of the context"},
               {0, 1, 'R', -2, "nprow is 0"},
               {1, -1, 'R', -2, "npcol is -1"},
               {65536, 65536, 'R', -2, "nprow is 65536"},
               {1, size, 'X', -2, "order is"},
               {1, size, 'R', size, "ranks["},
               {size, 1, 'C', -1, "is -1"},
               {1, size, 'R', 0, "each once"}};
    for (int i = 0; i < 8; i++) {
        hsumma_grid *grid = (hsumma_grid *)&rank;
        for (int r = 0; r < size; r++)
            ranks[r] = r == size - 1 && bad[i].spoiled > -2 ? bad[i].spoiled : r;
        if (i == 7 && size == 1)
            continue; /* with one rank, rank 0 is no duplicate */
        hsumma_status status = hsumma_grid_create(ctx, bad[i].nprow, bad[i].npcol, bad[i].order,
                                                  bad[i].spoiled > -2 ? ranks : NULL, &grid);
        good = good && status == HSUMMA_ERR_ARGUMENT && !grid && strstr(hsumma_message(ctx), bad[i].word);
    }
    tap_ok(everywhere(good), "grids that do not fit, orders and rank lists that are none: %s", hsumma_message(ctx));

    for (int P = 1; P <= size; P++) {
        if (size % P)
            continue;
        int Q = size / P, reversed = size - 1 - rank, nprow, npcol, row, col;
        for (int r = 0; r < size; r++)
            ranks[r] = size - 1 - r;
        good = 1;
        for (int listed = 0; listed < 2; listed++)
            for (int i = 0; i < 6; i++) {
                hsumma_grid *grid;
                int place = listed ? reversed : rank, order = i % 3;
                if (hsumma_grid_create(ctx, P, Q, "RCArca"[i], listed ? ranks : NULL, &grid)) {
                    good = 0;
                    continue;
                }
                hsumma_grid_info(grid, &nprow, &npcol, &row, &col);
                good &= nprow == P && npcol == Q && hsumma_grid_rank(grid, row, col) == rank &&
                        hsumma_grid_rank(grid, P, 0) == -1 && hsumma_grid_rank(grid, 0, -1) == -1;
                if (order < 2) /* in other orders the library chooses the places */
                    good &= row == (order ? place % P : place / Q) && col == (order ? place / P : place % Q);
                struct gemm_case c = gemm_case_of(grid, HSUMMA_S, 'T', 'N', 9, 7, 11, 2);
                good &= gemm_multiplies(ctx, &c, listed);
                hsumma_grid_free(&grid);
                good &= grid == NULL;
            }
        tap_ok(everywhere(good), "grid %d x %d by rows, by columns, in any order, and of ranks in reverse", P, Q);
    }
    free(ranks);
}

/* Processes outside a grid make every call and own nothing. */
static void test_outside(hsumma_context *ctx)
{
    int used = size > 1 ? size - 1 : 1, ranks[64], row, col, good = 1;
    hsumma_grid *grid = NULL;
    if (size == 1) {
        tap_skip(1, "needs a process to leave out");
        return;
    }
    for (int r = 0; r < used; r++)
        ranks[r] = r + 1; /* rank 0 is not in the grid */
    good = hsumma_grid_create(ctx, used, 1, 'R', ranks, &grid) == HSUMMA_OK;
    hsumma_grid_info(grid, NULL, NULL, &row, &col);
    good = good && row == rank - 1 && col == (rank ? 0 : -1);
    struct gemm_case c = gemm_case_of(grid, HSUMMA_Z, 'N', 'C', 9, 8, 7, 2);
    good = good && (rank || (hsumma_local_rows(&c.desc[0]) == 0 && hsumma_local_cols(&c.desc[1]) == 0));
    for (int i = 0; i < 4; i++)
        good &= gemm_multiplies(ctx, &c, i % 2);
    c.m = 10; /* does not fit; the process outside the grid must report the error, too */
    good &= gemm_one_call(ctx, &c, NULL) == HSUMMA_ERR_ARGUMENT;
    hsumma_grid_free(&grid);
    tap_ok(everywhere(good), "rank 0 outside the grid");
}

static void test_nothing(hsumma_context *ctx, const hsumma_grid *grid)
{
    static const char *const stays[] = {"stationary=A", "stationary=B", "stationary=C", NULL};
    static const int64_t extent[][3] = {{0, 5, 6}, {5, 0, 6}, {5, 6, 0}, {0, 0, 0}, {1, 1, 1}, {7, 6, 5}};
    for (int s = 0; s < 4; s++) {
        int good = 1;
        for (int e = 0; e < 6; e++)
            for (int zero = 0; zero < 4; zero++) {
                struct gemm_case c = gemm_case_of(grid, zero % 2 ? HSUMMA_Z : HSUMMA_D, 'N', 'T', extent[e][0],
                                                  extent[e][1], extent[e][2], e % 2 ? 2 : 0);
                c.alpha = zero & 1 ? 0 : 2; /* with alpha = 0, A and B contain NaN */
                c.beta = zero & 2 ? 0 : 3;  /* with beta = 0, C contains NaN */
                c.options = stays[s];
                good &= gemm_multiplies(ctx, &c, 1);
                if (!c.options)
                    good &= gemm_multiplies(ctx, &c, 0);
            }
        tap_ok(everywhere(good), "empty dimensions, alpha = 0 with NaN in A and B, beta = 0 with NaN in C: %s",
               stays[s] ? stays[s] : "auto, and in one call");
    }
}

/* The environment of process 0 applies; the context's options override it, the plan's options override both. */
static void test_environment(void)
{
    hsumma_context *ctx = (hsumma_context *)&rank;
    char message[256] = "";
    hsumma_status status = hsumma_create(MPI_COMM_WORLD, "block=2 wings=2", &ctx, message, sizeof message);
    tap_ok(everywhere(status == HSUMMA_ERR_OPTION && !ctx && strstr(message, "unknown option \"wings\"")),
           "context: %s", message);
    setenv("HSUMMA_BLOCK", rank ? "9" : "many", 1);
    status = hsumma_create(MPI_COMM_WORLD, NULL, &ctx, message, sizeof message);
    tap_ok(everywhere(status == HSUMMA_ERR_OPTION && !ctx && strstr(message, "block") && strstr(message, "\"many\"") &&
                      strstr(message, "environment") &&
                      hsumma_create(MPI_COMM_WORLD, NULL, &ctx, message, 5) == HSUMMA_ERR_OPTION &&
                      strlen(message) == 4 && hsumma_create(MPI_COMM_WORLD, NULL, &ctx, NULL, 0) == HSUMMA_ERR_OPTION),
           "the first process's environment: its message, cut, and not wanted");
    setenv("HSUMMA_BLOCK", rank ? "9" : "5", 1);
    for (int who = 0; who < 4; who++) {
        static const char *const sayer[] = {"environment", "context", "caller", "caller"};
        hsumma_grid *grid;
        hsumma_plan *plan = NULL;
        char word[32];
        if (!gemm_open(who & 1 ? "block=6" : "", 1, size, &ctx, &grid))
            continue;
        struct gemm_case c = gemm_case_of(grid, HSUMMA_D, 'N', 'N', 40, 41, 42, 4);
        c.options = who & 2 ? "stationary=C\tblock=7" : NULL;
        int good = !gemm_plan_create(ctx, &c, &plan);
        hsumma_plan_info info = plan_query(plan);
        snprintf(word, sizeof word, "block: %s", sayer[who]);
        good = good && info.level[info.nlevels - 1].block == (who & 2 ? 7 : who & 1 ? 6 : 5) && strstr(info.why, word);
        tap_ok(everywhere(good), "block said by the environment%s%s: %s", who & 1 ? ", the context" : "",
               who & 2 ? ", the caller" : "", info.why);
        hsumma_plan_free(&plan);
        gemm_close(&ctx, &grid);
    }
    unsetenv("HSUMMA_BLOCK");
}

/* Whether two infos describe the same plan. */
static int same_plan(const hsumma_plan_info *x, const hsumma_plan_info *y)
{
    int same = strcmp(x->line, y->line) == 0 && x->stationary == y->stationary && x->nlevels == y->nlevels &&
               x->lookahead == y->lookahead && x->segment == y->segment && x->threads == y->threads &&
               x->panels == y->panels && x->chunk == y->chunk && x->workspace_bytes == y->workspace_bytes &&
               x->workspace_bytes_max == y->workspace_bytes_max;
    for (int l = 0; same && l < x->nlevels; l++)
        same = x->level[l].rows == y->level[l].rows && x->level[l].cols == y->level[l].cols &&
               x->level[l].block == y->level[l].block && strcmp(x->level[l].bcast, y->level[l].bcast) == 0 &&
               strcmp(x->level[l].reduce, y->level[l].reduce) == 0;
    return same;
}

/* Makes a plan from another plan's line; returns 1 if it is the same plan and gives the same bits. */
static int repeats(hsumma_context *ctx, struct gemm_case c, char *line, size_t length)
{
    hsumma_plan *plan = NULL, *again = NULL;
    c.fractions = 1;
    int64_t bits = gemm_bits(ctx, &c, 1, NULL);
    int good = gemm_plan_create(ctx, &c, &plan) == HSUMMA_OK;
    hsumma_plan_info info = plan_query(plan);
    snprintf(line, length, "%s", good ? info.line : hsumma_message(ctx));
    c.options = line;
    good = good && gemm_plan_create(ctx, &c, &again) == HSUMMA_OK;
    hsumma_plan_info copy = plan_query(again);
    good = good && same_plan(&info, &copy) && bits >= 0 && gemm_bits(ctx, &c, 1, NULL) == bits;
    hsumma_plan_free(&plan);
    hsumma_plan_free(&again);
    return good;
}

/* The line of a plan with layers says the options of its context, too, also if the plans of layers differ. */
static void test_lines_of_contexts(void)
{
    hsumma_context *ctx[2];
    hsumma_grid *grid[2];
    int good = gemm_open("stationary=A lookahead=0", 1, size, &ctx[0], &grid[0]) &&
               gemm_open("", 1, size, &ctx[1], &grid[1]),
        differ = 0;
    for (int layers = 2; good && layers <= size; layers++) {
        hsumma_plan *plan[2] = {NULL, NULL};
        hsumma_plan_info info[2];
        char given[32];
        snprintf(given, sizeof given, "layers=%d", layers);
        for (int i = 0; i < 2; i++) {
            struct gemm_case c = gemm_case_of(grid[i], HSUMMA_D, 'N', 'N', 40, 37, 150, 4);
            c.options = i == 0 ? given : info[0].line;
            good &= !gemm_plan_create(ctx[i], &c, &plan[i]);
            info[i] = plan_query(plan[i]);
        }
        good &= same_plan(&info[0], &info[1]) && info[0].stationary == 'A' && info[0].lookahead == 0;
        differ += strstr(info[0].line, "block=") == NULL;
        for (int i = 0; i < 2; i++)
            hsumma_plan_free(&plan[i]);
    }
    tap_ok(everywhere(good), "lines say the options of the context; %d products whose layers have different plans",
           differ);
    for (int i = 0; i < 2; i++)
        gemm_close(&ctx[i], &grid[i]);
}

static void test_lines(hsumma_context *ctx, const hsumma_grid *grid)
{
    int P, Q, good = 1, plans = 0;
    char line[600] = "", by_rows[96], by_both[96], by_cols[96];
    const char *const options[] = {
        NULL,
        "groups=1x1 stationary=A lookahead=0 threads=user",
        by_rows,
        by_both,
        by_cols,
        "stationary=A workspace_limit=20k",
        "stationary=B workspace_limit=20k",
        grid->shared.bytes && grid->shared.directory.ranks == size && size > 1 ? "node=shared block=7 chunk=5" : NULL};
    hsumma_grid_info(grid, &P, &Q, NULL, NULL);
    snprintf(by_rows, sizeof by_rows, "groups=%dx1 block=3 outer=6 bcast=outer=flat,inner=chain segment=100", P);
    snprintf(by_both, sizeof by_both, "levels=1x1,%dx1,1x%d block=2 outer=8,4,4 lookahead=3 stationary=B", P, Q);
    snprintf(by_cols, sizeof by_cols, "groups=1x%d threads=3 stationary=C bcast=binomial", Q);
    for (int ops = 0; ops < 4; ops++)
        for (unsigned o = 0; o < sizeof options / sizeof *options; o++, plans++) {
            struct gemm_case c =
                gemm_case_of(grid, (hsumma_type)ops, "NT"[ops % 2], "NC"[ops / 2], 40, 37, 50, o % 2 ? 4 : 0);
            c.options = options[o];
            if (o == 6)
                gemm_unalign(&c, ops);
            good &= repeats(ctx, c, line, sizeof line);
        }
    tap_ok(everywhere(good), "the line of a plan gives it again, and its bits: %d plans, such as %s", plans, line);
    int differ = 0; /* layers have unequal shares of k, and on several nodes perhaps different plans */
    good = 1;
    for (int layers = 2; layers <= size; layers++)
        for (int k = 50; k < 250; k += 67) {
            struct gemm_case c = gemm_case_of(grid, HSUMMA_D, 'N', 'T', 40, 37, k, 0);
            snprintf(by_rows, sizeof by_rows, "lookahead=1 layers=%d", layers);
            c.options = by_rows;
            good &= repeats(ctx, c, line, sizeof line);
            differ += !strstr(line, "stationary=");
        }
    tap_ok(everywhere(good), "also with layers: %d products whose layers have different plans, %s", differ, line);
    struct gemm_case c = gemm_case_of(grid, HSUMMA_D, 'N', 'N', 12, 10, 14, 2);
    c.options = "segment=5G slice=8G";
    tap_ok(everywhere(repeats(ctx, c, line, sizeof line)), "also with numbers over 2^32: %s", hsumma_message(ctx));
    struct gemm_case big = gemm_case_of(grid, HSUMMA_D, 'N', 'N', 600, 600, 600, 0);
    big.options = "stationary=C groups=1x1 block=600 lookahead=1 workspace_limit=1G";
    tap_ok(everywhere(repeats(ctx, big, line, sizeof line)),
           "also where it needs more than the default workspace: %s (%s)", line, hsumma_message(ctx));
    hsumma_grid *column = NULL;
    good = !hsumma_grid_create(ctx, size, 1, 'R', NULL, &column);
    for (int o = 0; column && o < 4; o++) { /* the last processes of the column own nothing */
        static const char *const words[] = {NULL, "block=5 lookahead=64", "stationary=B block=5",
                                            "block=1 lookahead=0"};
        struct gemm_case some =
            gemm_case_of(column, HSUMMA_C, 'N', 'C', 10, 16, 56, (16 + size - 2) / (size > 1 ? size - 1 : 1));
        some.options = words[o];
        good &= repeats(ctx, some, line, sizeof line);
    }
    tap_ok(everywhere(good), "also where some processes own nothing: %s", line);
    hsumma_grid_free(&column);
}

/* Calls with NULL handles, as after a failed creation or hsumma_free. */
static void test_null(hsumma_context *ctx, const hsumma_grid *grid)
{
    hsumma_grid *made[3] = {(hsumma_grid *)&rank, NULL, NULL};
    hsumma_plan *plan = (hsumma_plan *)&rank;
    hsumma_request *request = (hsumma_request *)&rank;
    void *memory = &rank;
    hsumma_desc desc;
    const double one = 1;
    double x = 1, seconds;
    float s = 1;
    int n;
    const hsumma_coll coll = {.collective = HSUMMA_BCAST, .out = &x, .count = 8};
    const hsumma_algorithm algorithm = {.name = NULL};
    hsumma_desc_init(&desc, grid, 1, 1, 1, 1);
    const hsumma_status status[] = {
        hsumma_create(MPI_COMM_WORLD, NULL, NULL, NULL, 0),
        hsumma_trace_write(NULL),
        hsumma_set_stream(NULL, NULL),
        hsumma_synchronize(NULL),
        hsumma_copy(NULL, &x, &one, sizeof x),
        hsumma_grid_create(ctx, 1, 1, 'R', NULL, NULL),
        hsumma_grid_create(NULL, 1, 1, 'R', NULL, &made[0]),
        hsumma_plan_create(ctx, HSUMMA_D, 'N', 'N', 1, 1, 1, &desc, &desc, &desc, NULL, NULL),
        hsumma_plan_create(NULL, HSUMMA_D, 'N', 'N', 1, 1, 1, &desc, &desc, &desc, NULL, &plan),
        hsumma_plan_execute(NULL, &one, &one, &one, &one, &x),
        hsumma_plan_start(NULL, &one, &one, &one, &one, &x),
        hsumma_plan_test(NULL, &n),
        hsumma_plan_wait(NULL),
        hsumma_malloc(ctx, 1, NULL),
        hsumma_malloc(NULL, 1, &memory),
        hsumma_redistribute(NULL, HSUMMA_D, 1, 1, &one, &desc, &x, &desc),
        hsumma_choose_grid(NULL, HSUMMA_D, 'N', 'N', 1, 1, 1, 0, 1, NULL, &n, &n, &seconds),
        hsumma_desc_best(NULL, HSUMMA_D, 'N', 'N', 1, 1, 1, NULL, made, &desc, &desc, &desc),
        hsumma_sgemm(NULL, 'N', 'N', 1, 1, 1, 1, &s, &desc, &s, &desc, 1, &s, &desc),
        hsumma_dgemm(NULL, 'N', 'N', 1, 1, 1, 1, &one, &desc, &one, &desc, 1, &x, &desc),
        hsumma_cgemm(NULL, 'N', 'N', 1, 1, 1, &one, &one, &desc, &one, &desc, &one, &x, &desc),
        hsumma_zgemm(NULL, 'N', 'N', 1, 1, 1, &one, &one, &desc, &one, &desc, &one, &x, &desc),
        hsumma_tune(NULL, HSUMMA_D, 'N', 'N', 1, 1, 1, &desc, &desc, &desc, NULL, NULL, 0),
        hsumma_coll_run(NULL, &coll),
        hsumma_coll_start(ctx, &coll, NULL),
        hsumma_coll_start(NULL, &coll, &request),
        hsumma_coll_test(NULL, NULL),
        hsumma_coll_describe(NULL, &coll, NULL, 0),
        hsumma_bcast(NULL, &x, 8, 0),
        hsumma_reduce(NULL, &one, &x, 1, HSUMMA_DOUBLE, HSUMMA_SUM, 0),
        hsumma_allreduce(NULL, &one, &x, 1, HSUMMA_DOUBLE, HSUMMA_SUM),
        hsumma_allgather(NULL, &one, &x, 8),
        hsumma_reduce_scatter(NULL, &one, &x, 1, HSUMMA_DOUBLE, HSUMMA_SUM),
        hsumma_coll_register(NULL, &algorithm),
    };
    int wrong = 0;
    for (size_t i = 0; i < sizeof status / sizeof *status; i++)
        wrong += status[i] != HSUMMA_ERR_ARGUMENT;
    hsumma_mfree(NULL, &x);
    hsumma_set_message(NULL, "");
    tap_ok(everywhere(!wrong && !made[0] && !plan && !request && !memory), "NULL handles: %d of %zu calls are wrong",
           wrong, sizeof status / sizeof *status);
}

static void test_odds(void)
{
    int good = 1, major = -1, P, Q;
    for (int i = HSUMMA_OK; i <= HSUMMA_ERR_INTERNAL; i++)
        for (int j = 0; j <= i; j++)
            good &= (strcmp(hsumma_status_string((hsumma_status)i), hsumma_status_string((hsumma_status)j)) == 0) ==
                    (i == j);
    good &= strlen(hsumma_status_string((hsumma_status)99)) > 0 && strlen(hsumma_status_string((hsumma_status)-1)) > 0;
    hsumma_version(&major, NULL, NULL);
    good &= major == HSUMMA_VERSION_MAJOR;
    for (int n = 1; n <= 64; n++) { /* the most nearly square shape: no divisor of n lies between P and sqrt(n) */
        hsumma_grid_shape(n, &P, &Q);
        good &= P * Q == n && P <= Q;
        for (int i = P + 1; i * i <= n; i++)
            good &= n % i != 0;
    }
    hsumma_context *none = (hsumma_context *)&rank;
    good &= hsumma_create(MPI_COMM_NULL, NULL, &none, NULL, 0) == HSUMMA_ERR_ARGUMENT && !none;
    tap_ok(everywhere(good), "names of statuses, version, shapes of grids");
}

/* Tests that a plan is refused on all ranks because the victim's arguments differ. */
static void refuse_unlike(hsumma_context *ctx, const struct gemm_case *c, const hsumma_desc *a, const char *what,
                          int victim, const char *said)
{
    hsumma_plan *plan = NULL;
    hsumma_status status = hsumma_plan_create(ctx, c->type, c->ta, c->tb, c->m, c->n, c->k, a, &c->desc[1], &c->desc[2],
                                              c->options, &plan);
    char words[80];
    snprintf(words, sizeof words, said, victim);
    tap_ok(everywhere(status == HSUMMA_ERR_ARGUMENT && !plan &&
                      strstr(hsumma_message(ctx), rank == victim && !strstr(words, " gave ") ? "descriptor" : words)),
           "%s on rank %d: %s", what, victim, hsumma_message(ctx));
}

/* Arguments that differ on one rank: the calls fail on all ranks, and no rank hangs. */
static void test_unlike(hsumma_context *ctx, const hsumma_grid *grid, int victim)
{
    const struct gemm_case c = gemm_case_of(grid, HSUMMA_D, 'N', 'N', 12, 14, 16, 3);
    struct gemm_case other = c;
    struct gemm_part local[3];
    hsumma_plan *plan = NULL;
    hsumma_context *none = NULL;
    int mine = rank == victim;
    refuse_unlike(ctx, &c, mine ? NULL : &c.desc[0], "a NULL descriptor", victim, "rank %d: descriptor of A is NULL");
    other.m = mine ? 11 : 12;
    refuse_unlike(ctx, &other, &c.desc[0], "another m", victim, "rank %d gave m = 11, rank 0 gave 12");
    hsumma_desc desc = c.desc[0];
    desc.nb = mine ? 5 : 4;
    refuse_unlike(ctx, &c, &desc, "another nb of A", victim, "rank %d gave nb of A's descriptor = 5, rank 0 gave 4");
    other = c;
    other.ta = mine ? 'C' : 'T'; /* equivalent for real elements, but not the same argument */
    other.m = other.k = 12;
    refuse_unlike(ctx, &other, &c.desc[0], "another transa", victim, "rank %d gave transa = C, rank 0 gave T");
    other = c;
    other.options = mine ? "block=3" : "block=4";
    refuse_unlike(ctx, &other, &c.desc[0], "other options", victim,
                  "rank %d gave options = block=3, rank 0 gave block=4");
    char said[200] = "";
    hsumma_status status = hsumma_create(MPI_COMM_WORLD, mine ? "block=0" : NULL, &none, said, sizeof said);
    tap_ok(everywhere(status == HSUMMA_ERR_OPTION && !none && strstr(said, "block is \"0\"")),
           "a context with bad options on rank %d: %s", victim, said);
    static const char *const differs[][2] = {
        {"block=32", "block=16"}, {"node=shared", "node=messages"}, {"guard=product", ""}, {"check=always", NULL}};
    for (size_t i = 0; i < sizeof differs / sizeof *differs; i++) {
        char words[80];
        const char *rare = differs[i][1] && differs[i][1][0] ? differs[i][1] : "\"\"";
        snprintf(words, sizeof words, "rank %d gave options = %s, rank 0 gave %s", victim, rare, differs[i][0]);
        status = hsumma_create(MPI_COMM_WORLD, differs[i][mine], &none, said, sizeof said);
        tap_ok(everywhere(status == HSUMMA_ERR_ARGUMENT && !none && strstr(said, words)),
               "a context with other options on rank %d: %s", victim, said);
        hsumma_free(&none);
    }
    status = hsumma_create(MPI_COMM_WORLD, mine ? "" : NULL, &none, said, sizeof said);
    tap_ok(everywhere(status == HSUMMA_OK), "a context with empty options on rank %d and NULL on the others", victim);
    hsumma_free(&none);
    gemm_make(&c, local);
    double one = 1;
    status = gemm_plan_create(ctx, &c, &plan);
    if (!status)
        status = hsumma_plan_execute(plan, mine ? NULL : &one, local[0].data, local[1].data, &one, local[2].data);
    tap_ok(everywhere(status == HSUMMA_ERR_ARGUMENT && gemm_wrong(&c, &local[2], 1) == 0),
           "alpha is NULL on rank %d: %s", victim, hsumma_message(ctx));
    hsumma_plan_free(&plan);
    gemm_drop(local);
}

static void test_all(hsumma_context *ctx, const hsumma_grid *grid)
{
    hsumma_grid *other = NULL;
    hsumma_grid_create(ctx, size > 1 ? size - 1 : 1, 1, 'R', NULL, &other);
    test_arguments(ctx, grid, other);
    hsumma_grid_free(&other);
    test_lower_case(ctx, grid);
    test_overlap(ctx);
    test_options(ctx, grid);
    test_replicas(ctx, grid);
    test_local(ctx, grid, 0);
    if (size > 1)
        test_unlike(ctx, grid, size - 1);
    if (size > 1)
        test_local(ctx, grid, size - 1);
    test_grids(ctx);
    test_outside(ctx);
    test_nothing(ctx, grid);
    test_environment();
    test_lines(ctx, grid);
    test_lines_of_contexts();
    test_null(ctx, grid);
    test_odds();
}

int main(int argc, char **argv)
{
    return gemm_main(argc, argv, test_all);
}
