/*
 * Products inside one node in any order: plans of several kinds in turns over the same shared memory, on overlapping
 * grids; processes that are late, that start, test and wait differently, or have a wrong pointer; many grids; processes
 * that depend on no other process and must not wait for one.
 *
 *     node_turns [EXECUTIONS]
 */
#include "support/process.h"
#include "support/product/gemm_case.h"

#include <sched.h>
#include <unistd.h>

enum { MOST = 24 };

static uint64_t all_draw, own_draw; /* random states: all_draw is equal on all processes, own_draw is not */

/* A product to be executed repeatedly: its initial C, and the bits of C after the first execution. */
struct job {
    struct gemm_case call;
    struct gemm_part local[3];
    hsumma_plan *plan;
    void *fresh;
    int64_t bits;
    char options[128];
};

static int job_make(hsumma_context *ctx, struct job *job, const struct gemm_case *call, const char *options)
{
    memset(job, 0, sizeof *job);
    job->call = *call;
    snprintf(job->options, sizeof job->options, "%s", options);
    job->call.options = job->options;
    gemm_make(&job->call, job->local);
    job->fresh = malloc(job->local[2].bytes + 1);
    if (job->local[2].data)
        memcpy(job->fresh, job->local[2].data, job->local[2].bytes);
    int good = gemm_plan_create(ctx, &job->call, &job->plan) == HSUMMA_OK;
    if (!good)
        tap_diag("%s: %s", options, hsumma_message(ctx));
    good = everywhere(good) && gemm_begin(job->plan, &job->call, job->local, 1) == HSUMMA_OK &&
           gemm_wrong(&job->call, &job->local[2], 0) == 0;
    job->bits = gemm_hash_of_c(&job->call, &job->local[2]);
    return everywhere(good);
}

static void job_reset(struct job *job)
{
    if (job->local[2].data)
        memcpy(job->local[2].data, job->fresh, job->local[2].bytes);
}

/* Whether C has the bits of the job's first execution. */
static int job_right(const struct job *job)
{
    return gemm_hash_of_c(&job->call, &job->local[2]) == job->bits;
}

static void job_free(struct job *job)
{
    hsumma_plan_free(&job->plan);
    gemm_drop(job->local);
    free(job->fresh);
}

/* Executes a job; `late` adds pauses. way, which may differ between processes: 0: one call; 1: tests until it is
 * complete; n > 1: at most n tests, then a wait. */
static int job_run(struct job *job, int way, int late)
{
    int done = 0;
    job_reset(job);
    if (late)
        usleep((unsigned)draw_of(&own_draw, 1000));
    hsumma_status status = gemm_begin(job->plan, &job->call, job->local, way == 0);
    if (way == 0)
        return !status && job_right(job);
    if (late)
        usleep((unsigned)draw_of(&own_draw, 1000));
    for (int i = 0; !status && !done && (way == 1 || i < way); i++) {
        status = hsumma_plan_test(job->plan, &done);
        if (late && i < 3)
            usleep((unsigned)draw_of(&own_draw, 300));
        else
            sched_yield();
    }
    return !status && !hsumma_plan_wait(job->plan) && job_right(job);
}

/* Executes a job like p?gemm, without an agreement, so that processes may be far apart in time. */
static int job_run_alone(struct job *job)
{
    double complex scalar[2];
    gemm_store(job->call.type, &scalar[0], 0, job->call.alpha);
    gemm_store(job->call.type, &scalar[1], 0, job->call.beta);
    const void *data[3] = {job->local[0].data, job->local[1].data, job->local[2].data};
    const int64_t ld[3] = {job->call.desc[0].ld, job->call.desc[1].ld, job->call.desc[2].ld};
    return hs_plan_run(job->plan, &scalar[0], data, ld, &scalar[1]) == HSUMMA_OK && job_right(job);
}

/* Makes products of all kinds on a grid, and small ones that leave out the processes that own nothing. */
static int jobs_make(hsumma_context *ctx, const hsumma_grid *grid, struct job *jobs, int *made)
{
    static const char *const options[] = {"stationary=C node=shared block=5 chunk=4",
                                          "stationary=A node=shared block=4 chunk=6",
                                          "stationary=B node=shared block=3 workspace_limit=4k",
                                          "node=shared workspace_limit=8k",
                                          "stationary=C node=shared block=1 chunk=2 workspace_limit=2k",
                                          "stationary=C node=shared block=64"};
    int P, Q, good = 1;
    hsumma_grid_info(grid, &P, &Q, NULL, NULL);
    for (int i = 0; i < 6; i++) {
        struct gemm_case c =
            gemm_case_of(grid, (hsumma_type)(i % 4), "NT"[i % 2], "NC"[i / 2 % 2], 24 + i, 25, 26, i % 3 * 4);
        c.fractions = 0;
        if (i % 2)
            gemm_unalign(&c, i);
        good &= job_make(ctx, &jobs[(*made)++], &c, options[i]);
    }
    for (int i = 0; i < 4; i++) { /* products on two neighbours of a line, so that grids overlap */
        struct gemm_case c = gemm_case_of(grid, HSUMMA_D, 'N', "NT"[i % 2], 20, 20, 20, 10);
        for (int x = 0; x < 3; x++) {
            struct gemm_layout rows = {P > 1 ? 10 : 20, P > 1 ? 10 : 20, i % P, 0, 0}, cols = {10, 10, i % Q, 0, 0};
            gemm_spread(&c, x, &rows, &cols);
        }
        good &= job_make(ctx, &jobs[(*made)++], &c, i % 2 ? "node=shared block=3" : "node=shared stationary=A");
    }
    return good;
}

static void test_turns(hsumma_context *ctx, const hsumma_grid *grid, int executions)
{
    struct job jobs[MOST];
    hsumma_grid *other = NULL;
    int made = 0, bad = 0, shared = 0;
    int good = !hsumma_grid_create(ctx, size, 1, 'R', NULL, &other) && jobs_make(ctx, grid, jobs, &made);
    good = good && jobs_make(ctx, other, jobs, &made);
    for (int i = 0; i < made; i++)
        shared += jobs[i].plan && jobs[i].plan->by_node;
    tap_ok(good && shared == made, "%d plans on two grids and parts of them, right in their first execution, %d shared",
           made, shared);
    int64_t before = 0;
    for (int i = 0; good && i < executions; i++) {
        struct job *job = &jobs[draw_of(&all_draw, made)];
        int late = draw_of(&all_draw, 8) == 0;
        if (i == executions / 4)
            before = process_resident();
        bad += !job_run(job, draw_of(&own_draw, 4), late);
    }
    int64_t grown = process_resident() - before;
    tap_ok(everywhere(good && bad == 0), "%d executions in turns, each process in its own way: %d wrong on rank 0",
           executions, bad);
    tap_ok(everywhere(grown < 1 << 20), "and no growth: %" PRId64 " bytes on rank 0", grown);
    bad = 0;
    for (int i = 0; good && i < executions / 4; i++) { /* processes do not wait for each other between executions */
        struct job *job = &jobs[draw_of(&all_draw, made)];
        job_reset(job);
        if (draw_of(&own_draw, 8) == 0)
            usleep((unsigned)draw_of(&own_draw, 500));
        bad += !job_run_alone(job);
    }
    tap_ok(everywhere(good && bad == 0), "%d executions as p?gemm does them: %d wrong on rank 0", executions / 4, bad);
    for (int i = 0; i < made; i++)
        job_free(&jobs[i]);
    hsumma_grid_free(&other);
}

/* Large panels: some processes still read a panel when others start the next execution, which reuses the memory. */
static void test_reuse(hsumma_context *ctx, const hsumma_grid *grid)
{
    enum { JOBS = 4, ROUNDS = 60 };
    static const int extent[JOBS] = {200, 380, 260, 120};
    struct job jobs[JOBS];
    int good = 1, bad = 0;
    for (int i = 0; i < JOBS; i++) {
        struct gemm_case c = gemm_case_of(grid, HSUMMA_D, 'N', 'N', extent[i], extent[i], extent[i], i == 2 ? 50 : 0);
        char text[96];
        snprintf(text, sizeof text, "stationary=%c workspace_limit=64M%s node=shared", "CCAC"[i],
                 i == 2 ? "" : " block=400");
        good &= job_make(ctx, &jobs[i], &c, text);
    }
    for (int i = 0; good && i < ROUNDS; i++) {
        struct job *job = &jobs[draw_of(&all_draw, JOBS)];
        job_reset(job);
        if (draw_of(&own_draw, 4) == 0)
            usleep((unsigned)draw_of(&own_draw, 2000));
        bad += !job_run_alone(job);
    }
    tap_ok(everywhere(good && bad == 0), "%d executions with large panels: %d wrong on rank 0", ROUNDS, bad);
    for (int i = 0; i < JOBS; i++)
        job_free(&jobs[i]);
}

/* Delays one process by some milliseconds: before the start, before the first test, between tests, before the wait. */
static void test_late(hsumma_context *ctx, const hsumma_grid *grid)
{
    for (int s = 0; s < 3; s++) {
        struct gemm_case c = gemm_case_of(grid, HSUMMA_D, 'N', 'T', 40, 41, 42, s == 1 ? 0 : 4);
        struct job job;
        char options[64];
        snprintf(options, sizeof options, "stationary=%c node=shared block=6 chunk=9", "ABC"[s]);
        int good = job_make(ctx, &job, &c, options), bad = 0;
        for (int who = 0; good && who < size; who++)
            for (int when = 0; when < 4; when++) {
                int late = who == rank, done = 0;
                job_reset(&job);
                if (late && when == 0)
                    usleep(5000);
                hsumma_status status = gemm_begin(job.plan, &job.call, job.local, 0);
                if (late && when == 1)
                    usleep(5000);
                for (int i = 0; !status && !done && i < 3 + (who + rank) % 3; i++) {
                    status = hsumma_plan_test(job.plan, &done);
                    if (late && when == 2)
                        usleep(2000);
                }
                if (late && when == 3)
                    usleep(5000);
                bad += status || hsumma_plan_wait(job.plan) || !job_right(&job);
            }
        tap_ok(everywhere(good && bad == 0), "stationary %c, each process late in each place: %d wrong on rank 0",
               "ABC"[s], bad);
        job_free(&job);
    }
}

/* One process row or column has all of C and of A or B, so each of these processes fills tiles that only it reads. */
static void test_few(hsumma_context *ctx, const hsumma_grid *grid)
{
    int bad = 0, good = 1;
    for (int shape = 0; shape < 6 && good; shape++) {
        struct gemm_case c = gemm_case_of(grid, HSUMMA_S, 'N', shape % 2 ? 'T' : 'N', shape / 2 == 1 ? 22 : 1,
                                          shape / 2 == 0 ? 22 : 1, 25, 3);
        struct job job;
        good = job_make(ctx, &job, &c, "stationary=C node=shared block=1");
        for (int i = 0; good && i < 50; i++)
            bad += !job_run(&job, i % 4, 0);
        job_free(&job);
    }
    tap_ok(everywhere(good && bad == 0), "300 executions with one row, or one column, of C: %d wrong on rank 0", bad);
}

/* A NULL pointer on one process: all processes get the same error, nothing has changed, and the next call is right. */
static void test_missing(hsumma_context *ctx, const hsumma_grid *grid)
{
    struct gemm_case c = gemm_case_of(grid, HSUMMA_D, 'N', 'N', 24, 25, 26, 0);
    struct job job;
    int good = job_make(ctx, &job, &c, "node=shared block=5"), bad = 0;
    for (int who = 0; good && who < size; who++)
        for (int x = 0; x < 3; x++)
            for (int way = 0; way < 3; way++) {
                void *data = job.local[x].data;
                int done = 0;
                job_reset(&job);
                if (who == rank)
                    job.local[x].data = NULL;
                if (who == rank && way == 1)
                    usleep(2000);
                hsumma_status status = gemm_begin(job.plan, &job.call, job.local, way == 0);
                while (way && !status && !done)
                    status = way == 1 ? hsumma_plan_test(job.plan, &done) : hsumma_plan_wait(job.plan);
                job.local[x].data = data;
                bad += status != HSUMMA_ERR_ARGUMENT || gemm_wrong(&job.call, &job.local[2], 1);
                bad += !job_run(&job, way, 0);
            }
    tap_ok(everywhere(good && bad == 0), "A, B or C is NULL on one process: %d wrong: %s", bad, hsumma_message(ctx));
    job_free(&job);
}

/* Many grids of one context, each with its own memory, used in turn. */
static void test_grids(void)
{
    enum { GRIDS = 9 };
    hsumma_context *ctx = NULL;
    hsumma_grid *grid[GRIDS] = {NULL};
    struct job jobs[GRIDS + 1];
    int good = hsumma_create(MPI_COMM_WORLD, NULL, &ctx, NULL, 0) == HSUMMA_OK, bad = 0, members = size, made = 0;
    for (; made < GRIDS; made++) {
        int part = made % 3 == 1 && size > 2; /* the grid leaves out the last process */
        good &= !hsumma_grid_create(ctx, made % 2 ? 1 : members - part, made % 2 ? members - part : 1, 'R', NULL,
                                    &grid[made]);
        struct gemm_case c = gemm_case_of(grid[made], HSUMMA_D, 'N', 'N', 20 + made, 21, 22, 3);
        good &= job_make(ctx, &jobs[made], &c, "stationary=C block=7 node=auto");
        good &= jobs[made].plan && jobs[made].plan->by_node;
    }
    tap_ok(everywhere(good), "%d grids in one context, all share memory: %s", GRIDS, hsumma_message(ctx));
    for (int i = 0; good && i < 200; i++)
        bad += !job_run(&jobs[draw_of(&all_draw, made)], draw_of(&own_draw, 4), i % 16 == 0);
    tap_ok(everywhere(good && bad == 0), "200 executions on them in turns: %d wrong on rank 0", bad);
    for (int i = 0; i < made; i++) {
        job_free(&jobs[i]);
        hsumma_grid_free(&grid[i]);
    }
    hsumma_free(&ctx);
}

static void *no_memory(void *state, size_t bytes)
{
    (void)state, (void)bytes;
    return NULL;
}

/* One process has no memory for a grid: the next grid still has the same number on all processes, and works. */
static void test_grid_without_memory(void)
{
    hsumma_context *ctx = NULL;
    hsumma_grid *grid = NULL;
    int good = hsumma_create(MPI_COMM_WORLD, NULL, &ctx, NULL, 0) == HSUMMA_OK;
    if (rank == size - 1)
        ctx->memory = (struct hs_allocator){no_memory, hs_heap.put, hs_heap.state};
    hsumma_status status = hsumma_grid_create(ctx, 1, size, 'R', NULL, &grid);
    good &= status == HSUMMA_ERR_MEMORY && !grid;
    ctx->memory = hs_heap;
    hsumma_grid_free(&grid);
    good &= !hsumma_grid_create(ctx, 1, size, 'R', NULL, &grid);
    int64_t number = grid ? grid->number : -1;
    good &= alike(number);
    if (tap_ok(everywhere(good), "one process had no memory for a grid: the next one is number %d on rank 0",
               (int)number)) {
        struct gemm_case c = gemm_case_of(grid, HSUMMA_D, 'N', 'N', 20, 21, 22, 3);
        tap_ok(everywhere(gemm_multiplies(ctx, &c, 1)), "and works");
    }
    hsumma_grid_free(&grid);
    hsumma_free(&ctx);
}

enum { DONE_TAG = 7 };

/*
 * Executes a job once. The `earlies` processes with `early` set need nothing from process `late`, and report to it when
 * they are done. Process `late` starts after these reports; a report that is missing after PATIENCE_S is an error.
 * Returns the number of errors.
 */
static int run_alone(struct job *job, int late, int early, int earlies)
{
    int bad = 0;
    job_reset(job);
    if (rank == late) {
        double end = hs_now() + PATIENCE_S;
        for (int here = 0; earlies > 0 && hs_now() < end; sched_yield())
            for (here = 1; here && earlies > 0;) {
                MPI_Iprobe(MPI_ANY_SOURCE, DONE_TAG, MPI_COMM_WORLD, &here, MPI_STATUS_IGNORE);
                if (here)
                    MPI_Recv(NULL, 0, MPI_BYTE, MPI_ANY_SOURCE, DONE_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE), earlies--;
            }
        bad += earlies;
    }
    bad += !job_run_alone(job);
    if (early)
        MPI_Send(NULL, 0, MPI_BYTE, late, DONE_TAG, MPI_COMM_WORLD);
    for (; rank == late && earlies > 0; earlies--) /* reports that did not come in time */
        MPI_Recv(NULL, 0, MPI_BYTE, MPI_ANY_SOURCE, DONE_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return bad;
}

/* A process that has all its operands, or owns nothing, finishes before the other processes arrive. */
static void test_alone(hsumma_context *ctx)
{
    hsumma_grid *grid = NULL;
    struct job all, none;
    int good = !hsumma_grid_create(ctx, 1, size, 'R', NULL, &grid), bad = 0;
    struct gemm_case c = gemm_case_of(grid, HSUMMA_D, 'N', 'N', 20, 21, 22, 3), d = c;
    for (int x = 0; x < 2; x++) { /* A and B are replicated; each process computes its columns of C */
        c.desc[x].csrc = -1;
        c.desc[x].ld = hsumma_local_rows(&c.desc[x]) + GEMM_PAD;
    }
    for (int x = 0; x < 3; x++) /* the last two processes own everything */
        gemm_spread(&d, x, &(struct gemm_layout){30, 30, 0, 0, 0},
                    &(struct gemm_layout){11, 11, size > 2 ? size - 2 : 0, 0, 0});
    good = good && job_make(ctx, &all, &c, "stationary=C node=shared block=5") &&
           job_make(ctx, &none, &d, "stationary=C node=shared block=5");
    for (int last = 0; good && last < 2; last++) { /* the late process is the first one, or the last one */
        int late = last ? size - 1 : 0, me = rank == late, member = rank >= size - 2;
        everywhere(1);
        bad += run_alone(&all, late, !me, size - 1);
        everywhere(1); /* the owners need each other; the other processes need no process */
        bad += size > 2 ? run_alone(&none, late, !me && (!member || !last), last ? size - 2 : size - 1)
                        : run_alone(&none, late, 0, 0);
    }
    tap_ok(everywhere(good && bad == 0), "no process waits without need for one that comes later: %d wrong", bad);
    job_free(&all);
    job_free(&none);
    hsumma_grid_free(&grid);
}

static int executions = 2000;

static void test_all(hsumma_context *ctx, const hsumma_grid *grid)
{
    if (size == 1 || !grid->shared.bytes) {
        tap_skip(1, "the processes cannot share memory");
        return;
    }
    all_draw = 1;
    own_draw = (uint64_t)rank + 2;
    test_turns(ctx, grid, executions);
    test_reuse(ctx, grid);
    test_few(ctx, grid);
    test_late(ctx, grid);
    test_missing(ctx, grid);
    test_alone(ctx);
    test_grids();
    test_grid_without_memory();
}

int main(int argc, char **argv)
{
    executions = argc > 1 ? atoi(argv[1]) : executions;
    return gemm_main(argc, argv, test_all);
}
