/*
 * tune=measure: candidates are measured in turn, in executions with right results; other calls during a trial, and
 * memory that fails.
 */
#include "support/failing_memory.h"
#include "support/product/tuned_plan.h"

#include <sched.h>

/* The extent k, 12 times longer with block=1, so that candidates share an execution, span by span of its many panels
 * (hsumma/plan/trial.h). */
static int64_t depth(const char *words, int64_t k)
{
    return strstr(words, "block=1") ? 12 * k : k;
}

/* Whether a trial has taken the right number of executions: two per candidate, fewer if they share executions. */
static int right_count(const hsumma_plan *plan, int shared, int count)
{
    int most = 2 * plan->trial.count;
    return shared ? count > 0 && count <= most : count == most;
}

/* Executes in small steps, with late processes. */
static int stepwise(hsumma_plan *plan, const struct gemm_case *c, int i)
{
    for (double end = hs_now() + 1e-3 * ((rank + i) % 3); hs_now() < end;)
        sched_yield();
    return !gemm_execution_fault(plan, c, 40 * (i % 3));
}

/* One trial. */

/* Whether a decided trial has measured all candidates, except losers of a shared execution, and uses the fastest. */
static int well_decided(const hsumma_plan *plan, int shared)
{
    hsumma_plan_info info = plan_query(plan);
    const struct hs_trial *trial = &plan->trial;
    double served = trial->seconds[trial->turn];
    int measured = 0, good = strcmp(info.tuned, "measured") == 0 && served > 0;
    for (int i = 0; i < info.nrivals; i++) {
        measured += info.rival[i].measured > 0;
        good = good && (info.rival[i].measured == 0 || info.rival[i].measured >= 0.97 * served) &&
               strcmp(info.rival[i].line, info.line) != 0;
    }
    return good && (shared || measured == trial->count - 1);
}

static void test_trial(hsumma_context *ctx, const hsumma_grid *grid, const char *words)
{
    static const struct {
        hsumma_type type;
        char ta, tb;
        int64_t m, n, k, nb;
        int unalign, stepwise;
    } cases[] = {{HSUMMA_D, 'N', 'N', 24, 20, 28, 2, 0, 0},
                 {HSUMMA_S, 'T', 'N', 9, 40, 17, 3, 0, 0},
                 {HSUMMA_Z, 'N', 'C', 13, 11, 60, 0, 0, 0},
                 {HSUMMA_D, 'T', 'T', 15, 14, 21, 2, 1, 0},
                 {HSUMMA_D, 'N', 'T', 22, 26, 18, 2, 0, 1}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gemm_case c = gemm_case_of(grid, cases[i].type, cases[i].ta, cases[i].tb, cases[i].m, cases[i].n,
                                          depth(words, cases[i].k), cases[i].nb);
        if (cases[i].unalign)
            gemm_unalign(&c, 3);
        hsumma_plan *plan = plan_with(ctx, &c, words);
        if (!plan)
            continue;
        int candidates = plan->trial.count, shared = plan->trial.stepping, good = plan_is_alike(plan), count = 0;
        if (candidates == 0) {
            tap_ok(everywhere(good && plan_tuned_is(plan, "estimated") && gemm_executes(plan, &c)),
                   "%s: there is no choice", words);
            hsumma_plan_free(&plan);
            continue;
        }
        for (; cases[i].stepwise && good && plan_tuned_is(plan, "measuring") && count < TUNED_MOST; count++)
            good = stepwise(plan, &c, count);
        if (!cases[i].stepwise)
            count = plan_decide(plan, &c);
        tap_ok(everywhere(good && candidates > 1 && right_count(plan, shared, count)),
               "%s: %d candidates, %d executions%s%s", words, candidates, count,
               cases[i].stepwise ? ", started, tested and waited for" : "", shared ? ", the first shared" : "");
        tap_ok(everywhere(well_decided(plan, shared)) & plan_is_alike(plan), "the fastest serves: %s",
               plan_query(plan).line);
        const char *line = plan_query(plan).line;
        good = gemm_executes(plan, &c) && gemm_executes(plan, &c) && plan_tuned_is(plan, "measured") &&
               plan_query(plan).line == line && plan_query(plan).seconds > 0;
        tap_ok(everywhere(good) & plan_is_alike(plan), "and so it goes on");
        hsumma_plan_free(&plan);
    }
}

/* Frees the plan before any execution, after some, and during one, also the trial's last. */
static void test_freed(hsumma_context *ctx, const hsumma_grid *grid, const char *words)
{
    struct gemm_case c = gemm_case_of(grid, HSUMMA_C, 'N', 'N', 20, 19, depth(words, 18), 2);
    int good = 1, last = TUNED_MOST;
    for (int before = 0; before <= last; before++)
        for (int running = 0; running < 2; running++) {
            hsumma_plan *plan = plan_with(ctx, &c, words);
            struct gemm_part local[3];
            if (!plan)
                return;
            last = 2 * plan->trial.count;
            gemm_make(&c, local);
            for (int i = 0; i < before; i++)
                good &= gemm_executes(plan, &c);
            if (running)
                good &= gemm_begin(plan, &c, local, 0) == HSUMMA_OK;
            hsumma_plan_free(&plan);
            good &= !running || gemm_wrong(&c, &local[2], 0) == 0;
            gemm_drop(local);
        }
    tap_ok(everywhere(good), "%s: freed after 0 to %d executions, and while the next one runs", words, last);
}

/* Two plans in turn, with different numbers of executions. */
static void test_two(hsumma_context *ctx, const hsumma_grid *grid, const char *words)
{
    struct gemm_case c[2] = {gemm_case_of(grid, HSUMMA_D, 'N', 'N', 21, 23, depth(words, 25), 2),
                             gemm_case_of(grid, HSUMMA_S, 'T', 'N', 12, 33, 8, 3)};
    hsumma_plan *plan[2] = {plan_with(ctx, &c[0], words), plan_with(ctx, &c[1], words)};
    int good = plan[0] && plan[1];
    for (int i = 0; good && i < 48; i++)
        good = gemm_executes(plan[i % 3 == 1], &c[i % 3 == 1]);
    for (int i = 0; i < 2; i++)
        good = everywhere(good && !plan_tuned_is(plan[i], "measuring")) && plan_is_alike(plan[i]);
    tap_ok(good, "%s: two plans that alternate", words);
    hsumma_plan_free(&plan[0]);
    hsumma_plan_free(&plan[1]);
}

/* Starting a plan while another one runs is an error; the trial then continues. */
static void test_busy(hsumma_context *ctx, const hsumma_grid *grid, const char *words)
{
    struct gemm_case c[2] = {gemm_case_of(grid, HSUMMA_D, 'N', 'N', 21, 23, depth(words, 25), 2),
                             gemm_case_of(grid, HSUMMA_S, 'T', 'N', 12, 33, 8, 3)};
    hsumma_plan *plan[2] = {plan_with(ctx, &c[0], "tune=off"), plan_with(ctx, &c[1], words)};
    int good = plan[0] && plan[1];
    for (int i = 0; good && i < 12; i++) {
        struct gemm_part local[2][3];
        int first = i % 2, second = !first;
        gemm_make(&c[0], local[0]);
        gemm_make(&c[1], local[1]);
        good = gemm_begin(plan[first], &c[first], local[first], 0) == HSUMMA_OK;
        good &= gemm_begin(plan[second], &c[second], local[second], 1) == HSUMMA_ERR_BUSY &&
                gemm_begin(plan[first], &c[first], local[first], 0) == HSUMMA_ERR_BUSY &&
                gemm_wrong(&c[second], &local[second][2], 1) == 0;
        good &= hsumma_plan_wait(plan[first]) == HSUMMA_OK && gemm_wrong(&c[first], &local[first][2], 0) == 0;
        gemm_drop(local[0]);
        gemm_drop(local[1]);
    }
    tap_ok(everywhere(good), "%s: neither starts while the other runs", words);
    hsumma_plan_free(&plan[0]);
    hsumma_plan_free(&plan[1]);
}

/* A NULL pointer on one process during the trial: all processes get the error, and the trial continues. */
static void test_null(hsumma_context *ctx, const hsumma_grid *grid, const char *words)
{
    struct gemm_case c = gemm_case_of(grid, HSUMMA_D, 'N', 'N', 24, 24, depth(words, 24), 2);
    hsumma_plan *plan = plan_with(ctx, &c, words);
    if (!plan)
        return;
    int good = 1, count = 0, refused = 1, shared = plan->trial.stepping;
    for (; plan_tuned_is(plan, "measuring") && count < TUNED_MOST; count++) {
        struct gemm_part local[3];
        gemm_make(&c, local);
        void *kept = local[count % 3].data;
        if (rank == count % size)
            local[count % 3].data = NULL;
        refused &= gemm_begin(plan, &c, local, 1) == HSUMMA_ERR_ARGUMENT && hsumma_message(ctx)[0];
        local[count % 3].data = kept;
        refused &= gemm_wrong(&c, &local[2], 1) == 0 && plan_tuned_is(plan, "measuring");
        gemm_drop(local);
        good &= gemm_executes(plan, &c);
    }
    tap_ok(everywhere(refused), "%s: NULL on one process is refused on all: %s", words, hsumma_message(ctx));
    tap_ok(everywhere(good && right_count(plan, shared, count)) & plan_is_alike(plan),
           "and the trial goes on: %d executions", count);
    hsumma_plan_free(&plan);
}

/* A grid without the last process, which still makes the calls. */
static void test_outside(hsumma_context *ctx, const char *words)
{
    hsumma_grid *part = NULL;
    int good = hsumma_grid_create(ctx, 1, size - 1, 'R', NULL, &part) == HSUMMA_OK, count = 0;
    struct gemm_case c = gemm_case_of(part, HSUMMA_D, 'N', 'N', 20, 26, depth(words, 22), 2);
    hsumma_plan *plan = plan_with(ctx, &c, words);
    if (plan) {
        int inside = rank < size - 1, candidates = plan->trial.count;
        for (; good && count < 2 * candidates + 2; count++)
            good = gemm_executes(plan, &c);
        good = good && (!inside || !candidates || plan_tuned_is(plan, "measured"));
        tap_ok(everywhere(good), "%s: a grid of %d of %d processes, all of which call", words, size - 1, size);
        hsumma_plan_free(&plan);
        hsumma_plan *after = plan_with(ctx, &c, "tune=estimate");
        if (after)
            tap_ok(everywhere(gemm_executes(after, &c)), "the next plan is the same on all");
        hsumma_plan_free(&after);
    }
    hsumma_grid_free(&part);
}

static void test_idle(hsumma_context *ctx, const hsumma_grid *grid, const char *words)
{
    struct gemm_case c = gemm_case_of(grid, HSUMMA_D, 'N', 'N', 8, 40, depth(words, 40),
                                      depth(words, 40)); /* one block contains everything */
    hsumma_plan *plan = plan_with(ctx, &c, words);
    int count = plan ? plan_decide(plan, &c) : 0;
    if (plan)
        tap_ok(everywhere(count >= 0 && gemm_executes(plan, &c)) & plan_is_alike(plan),
               "%s: processes of the grid that own nothing: %d executions", words, count);
    hsumma_plan_free(&plan);
}

/* Accumulates with beta = 1 into one C during the whole trial. */
static void test_accumulates(hsumma_context *ctx, const hsumma_grid *grid, const char *words)
{
    struct gemm_case c = gemm_case_of(grid, HSUMMA_D, 'N', 'N', 19, 21, depth(words, 23), 2);
    hsumma_plan *plan = plan_with(ctx, &c, words);
    struct gemm_part local[3];
    int good = 1, times = 0;
    if (!plan)
        return;
    c.alpha = 1;
    c.beta = 1;
    gemm_make(&c, local);
    for (; good && times < 2 * plan->trial.count + 3; times++)
        good = gemm_begin(plan, &c, local, 1) == HSUMMA_OK;
    c.alpha = times; /* C + times A B has integer entries */
    tap_ok(everywhere(good && gemm_wrong(&c, &local[2], 0) == 0), "%s: beta = 1, %d times into one C", words, times);
    gemm_drop(local);
    hsumma_plan_free(&plan);
}

/* Memory that fails. */

/* Whether all processes remember the same choice, so that the next plan is equal on all. */
static int next_alike(hsumma_context *ctx, const struct gemm_case *given)
{
    struct gemm_case c = *given;
    hsumma_plan *plan = NULL;
    c.options = "tune=estimate";
    int good = everywhere(gemm_plan_create(ctx, &c, &plan) == HSUMMA_OK) && everywhere(plan_is_alike(plan)) &&
               gemm_executes(plan, &c);
    hsumma_plan_free(&plan);
    return good;
}

/* Makes one plan and its trial while allocation n of the victim fails (for_good: and all later ones). Returns 1 if all
 * ranks report the error or decide for the same plan, and the next plan is the same on all; *reached: whether the
 * victim made more than n allocations. */
static int survives(hsumma_context *ctx, const struct gemm_case *c, int victim, int64_t n, int for_good, int *reached)
{
    struct failing_memory scarce = {0, rank == victim ? n : -1, 0, for_good};
    hsumma_plan *plan = NULL;
    ctx->memory = (struct hs_allocator){failing_memory_get, failing_memory_put, &scarce};
    hsumma_status status = gemm_plan_create(ctx, c, &plan);
    int failed = (int)world_reduce(status != HSUMMA_OK, MPI_MAX), good;
    if (failed)
        good = status == HSUMMA_ERR_MEMORY && !plan && hsumma_message(ctx)[0] &&
               scarce.out == (ctx->tuned.entry != NULL); /* the context may keep an entry for the expected result */
    else
        good = plan_is_alike(plan);
    if (!failed && everywhere(good))
        good = plan_decide(plan, c) >= 0 && gemm_executes(plan, c);
    *reached = (int)world_reduce(rank == victim && scarce.calls > n, MPI_MAX);
    scarce.fail_at = -1;
    hsumma_plan_free(&plan);
    int next = next_alike(ctx, c);
    if (!everywhere(next && good))
        tap_diag("call %d %s, %s, trial %s, next plan %s, %d blocks left", (int)n, *reached ? "fails" : "is not made",
                 hsumma_status_string(status), good ? "right" : "wrong", next ? "right" : "wrong", (int)scarce.out);
    good = good && next;
    hs_tuned_free(&ctx->tuned, &ctx->memory);
    good = good && scarce.out == 0;
    ctx->memory = hs_heap;
    return everywhere(good);
}

static void test_memory(hsumma_context *ctx, const hsumma_grid *grid, const char *words)
{
    struct gemm_case c = gemm_case_of(grid, HSUMMA_D, 'N', 'T', 12, 10, 14, 2);
    c.options = words;
    for (int mode = 0; mode < 4; mode++) {
        int victim = mode % 2 ? size - 1 : 0, reached = 1, bad = 0;
        int64_t n = 0, first = -1;
        if (size == 1 && mode % 2)
            continue;
        for (; reached && bad < 3; n += n < 30 ? 1 : 1 + n / 8)
            if (!survives(ctx, &c, victim, n, mode / 2, &reached))
                first = bad++ ? first : n;
        tap_ok(bad == 0, "%s: memory fails on rank %d %s, up to call %d: %d wrong, the first at call %d", words, victim,
               mode / 2 ? "for good" : "once", (int)n, bad, (int)first);
    }
}

static void test_all(hsumma_context *unused, const hsumma_grid *none)
{
    static const char *const words[] = {"tune=measure", "tune=measure node=messages",
                                        "tune=measure node=messages stationary=C block=1",
                                        "tune=measure node=messages groups=1x1 lookahead=1"};
    (void)unused, (void)none;
    for (int w = 0; w < 4; w++) {
        hsumma_grid *grid;
        hsumma_context *ctx;
        if (!tuned_open(NULL, "", &ctx, &grid))
            continue;
        test_trial(ctx, grid, words[w]);
        hs_tuned_free(&ctx->tuned, &ctx->memory); /* makes the following tests measure again */
        if (w < 3) {
            test_two(ctx, grid, words[w]);
            test_busy(ctx, grid, words[w]);
            test_null(ctx, grid, words[w]);
            test_accumulates(ctx, grid, words[w]);
            test_idle(ctx, grid, words[w]);
            if (size > 1)
                test_outside(ctx, words[w]);
        }
        gemm_close(&ctx, &grid);
    }
    for (int w = 0; w < 3; w++) {
        hsumma_grid *grid;
        hsumma_context *ctx;
        if (tuned_open(NULL, "", &ctx, &grid))
            test_freed(ctx, grid, words[w]);
        gemm_close(&ctx, &grid);
        if (size <= 4 && tuned_open(NULL, "", &ctx, &grid))
            test_memory(ctx, grid, words[w]);
        gemm_close(&ctx, &grid);
    }
}

int main(int argc, char **argv)
{
    return gemm_main(argc, argv, test_all);
}
