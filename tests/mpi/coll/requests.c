/* Concurrent collective calls: started in one order, completed in others, many of one kind, together with a plan. */
#include "support/coll/data.h"
#include "support/tap.h"
#include "support/world.h"

#include <inttypes.h>
#include <sched.h>

static hsumma_context *ctx;

enum { DOUBLES = 700 };

/* An allreduce (sum) or a broadcast, of doubles that identify the call. */
struct task {
    hsumma_request *request;
    double in[DOUBLES], out[DOUBLES];
    int count, number, broadcast, root;
};

static double value(int from, int number, int i)
{
    return (from + 1) * 3 + number % 1000 + i % 7;
}

static hsumma_status begin(struct task *task, int number, int count, const char *word)
{
    *task = (struct task){.count = count, .number = number, .broadcast = number % 3 == 1, .root = number % size};
    for (int i = 0; i < count; i++) {
        task->in[i] = value(rank, number, i);
        task->out[i] = task->broadcast && rank == task->root ? task->in[i] : -1;
    }
    hsumma_coll call = {.collective = task->broadcast ? HSUMMA_BCAST : HSUMMA_ALLREDUCE,
                        .in = task->broadcast ? NULL : task->in,
                        .out = task->out,
                        .count = count,
                        .size = task->broadcast ? sizeof(double) : 0,
                        .root = task->root,
                        .op = {.op = HSUMMA_SUM, .element = HSUMMA_DOUBLE},
                        .algorithm = task->broadcast ? NULL : word};
    return hsumma_coll_start(ctx, &call, &task->request);
}

static int wrong_in(const struct task *task)
{
    int wrong = 0;
    for (int i = 0; i < task->count; i++) {
        double sum = 0;
        for (int r = 0; r < size; r++)
            sum += value(r, task->number, i);
        wrong += task->out[i] != (task->broadcast ? value(task->root, task->number, i) : sum);
    }
    return wrong;
}

/* Completes all tasks. order: 0: as started; 1: the last first; 2: in another order on each rank. */
static int end(struct task *task, int tasks, int order)
{
    int wrong = 0;
    for (int i = 0; i < tasks; i++) {
        int at = order == 0 ? i : order == 1 ? tasks - 1 - i : (i * 7 + rank * 5) % tasks;
        hsumma_status status = hsumma_coll_wait(&task[at].request);
        wrong += status != HSUMMA_OK || task[at].request || wrong_in(&task[at]);
    }
    return wrong;
}

static void test_orders(struct task *task)
{
    static const char *const words[] = {NULL, "recursive_doubling", "shared", "ring", "mpi", "dpml", "smp", "nap"};
    enum { TASKS = 20 }; /* not a multiple of 7, the step of the third order */
    for (unsigned w = 0; w < sizeof words / sizeof *words; w++) {
        int wrong = 0;
        for (int order = 0; order < 3; order++) {
            for (int i = 0; i < TASKS; i++)
                wrong += begin(&task[i], i, 1 + i % 3 * 300, words[w]) != HSUMMA_OK;
            wrong += end(task, TASKS, order);
        }
        wrong = (int)world_worst(wrong);
        tap_ok(wrong == 0, "%d calls under way, waited for in three orders, %s: %d wrong", TASKS,
               words[w] ? words[w] : "chosen", wrong);
    }
}

/* Starts more calls of one kind than may be in progress at a time (half of the tags), before it waits for the first. */
static void test_many(struct task *task, int tasks)
{
    int wrong = 0;
    for (int i = 0; i < tasks; i++)
        wrong += begin(&task[i], 3 * i, 5, NULL) != HSUMMA_OK;
    wrong += end(task, tasks, 2);
    tap_ok(world_worst(wrong) == 0, "%d calls of one kind under way: %d wrong", tasks, wrong);
}

static void test_polling(struct task *task)
{
    int wrong = 0, done = 0, left = 6;
    for (int i = 0; i < 6; i++)
        wrong += begin(&task[i], i, DOUBLES, NULL) != HSUMMA_OK;
    for (int64_t tries = 0; left > 0 && tries < 100000000; tries++) {
        left = 0;
        for (int i = 0; i < 6; i++) {
            wrong += hsumma_coll_test(task[i].request, &done) != HSUMMA_OK;
            left += !done;
        }
        if (left)
            sched_yield();
    }
    wrong += left + end(task, 6, 0);
    hsumma_request *none = NULL;
    wrong += hsumma_coll_wait(&none) != HSUMMA_OK || hsumma_coll_test(NULL, &done) != HSUMMA_OK || !done;
    tap_ok(world_worst(wrong) == 0, "test until all are done: %d wrong", wrong);
}

/* Consecutive calls of mixed kinds, which reuse tags, slots of shared memory and prepared calls. */
static void test_one_after_the_other(struct task *task, int calls)
{
    static const char *const words[] = {NULL, "recursive_doubling", "shared", "smp", "ring"};
    int wrong = 0;
    for (int i = 0; i < calls; i++) {
        wrong += begin(task, i, 1 + i * 13 % 5 * 120, words[i % 5]) != HSUMMA_OK;
        wrong += end(task, 1, 0);
    }
    tap_ok(world_worst(wrong) == 0, "%d mixed calls one after the other: %d wrong", calls, wrong);
}

/* More kinds of calls than the context keeps prepared: the oldest are dropped even while their calls run. */
static void test_kinds(struct task *task)
{
    enum { KINDS = 160 };
    int wrong = 0;
    for (int i = 0; i < KINDS; i++)
        wrong += begin(&task[i], 3 * i, 1 + i, "recursive_doubling") != HSUMMA_OK;
    wrong += end(task, KINDS, 1);
    for (int i = 0; i < 2; i++)
        wrong += begin(&task[i], 3 * i, 1 + i, "recursive_doubling") != HSUMMA_OK;
    wrong += end(task, 2, 0);
    tap_ok(world_worst(wrong) == 0, "%d kinds of calls: %d wrong", KINDS, wrong);
}

/* Some ranks wait for a plan first, others for the collectives: each wait must progress both. With guard=messages only
 * the plan's messages carry CRCs. */
static void test_beside_a_plan(struct task *task, const char *options)
{
    const int64_t n = 90;
    const double one = 1, zero = 0;
    int nprow, npcol, wrong = 0;
    hsumma_grid *grid;
    hsumma_desc desc;
    hsumma_plan *plan = NULL;
    hsumma_grid_shape(size, &nprow, &npcol);
    hsumma_grid_create(ctx, nprow, npcol, 'R', NULL, &grid);
    hsumma_desc_init(&desc, grid, n, n, 8, 8);
    int64_t rows = hsumma_local_rows(&desc), cols = hsumma_local_cols(&desc);
    double *matrix[3];
    for (int x = 0; x < 3; x++) {
        matrix[x] = malloc(sizeof(double) * (size_t)(rows * cols + 1));
        for (int64_t j = 0; j < cols; j++)
            for (int64_t i = 0; i < rows; i++) {
                int64_t row = hsumma_global_row(&desc, i), col = hsumma_global_col(&desc, j);
                matrix[x][i + j * rows] = x == 0 ? (double)(row * n + col) : row == col;
            }
    }
    wrong += hsumma_plan_create(ctx, HSUMMA_D, 'N', 'N', n, n, n, &desc, &desc, &desc, options, &plan) != HSUMMA_OK;
    for (int repeat = 0; repeat < 4 && !wrong; repeat++) {
        for (int64_t i = 0; i < rows * cols; i++)
            matrix[2][i] = -1;
        wrong += begin(&task[0], repeat, 600, NULL) != HSUMMA_OK;
        wrong += hsumma_plan_start(plan, &one, matrix[0], matrix[1], &zero, matrix[2]) != HSUMMA_OK;
        if ((rank + repeat) % 2)
            wrong += hsumma_plan_wait(plan) != HSUMMA_OK;
        for (int i = 1; i < 5; i++) /* new kinds, on which ranks agree while other ranks wait for the plan */
            wrong += begin(&task[i], i, 10 + 5 * repeat + i, NULL) != HSUMMA_OK;
        wrong += end(task, 5, 2);
        wrong += hsumma_plan_wait(plan) != HSUMMA_OK;
        wrong += rows * cols > 0 && memcmp(matrix[2], matrix[0], sizeof(double) * (size_t)(rows * cols)) != 0;
    }
    /* an error of the plan is reported by the plan's own wait, even if the wait for the collective detects it first */
    wrong += begin(&task[0], 0, 600, NULL) != HSUMMA_OK;
    wrong += hsumma_plan_start(plan, &one, rank == 0 ? NULL : matrix[0], matrix[1], &zero, matrix[2]) != HSUMMA_OK;
    wrong += end(task, 1, 0);
    wrong += hsumma_plan_wait(plan) != HSUMMA_ERR_ARGUMENT;
    hsumma_plan_info info;
    hsumma_plan_query(plan, &info);
    wrong += info.guard_found > 0;
    tap_ok(world_worst(wrong) == 0, "beside a plan with %s: %d wrong %s", options, wrong, hsumma_message(ctx));
    for (int x = 0; x < 3; x++)
        free(matrix[x]);
    hsumma_plan_free(&plan);
    hsumma_grid_free(&grid);
}

int main(int argc, char **argv)
{
    enum { MANY = 640 };
    world_begin(&argc, &argv);
    static const char *const options[] = {"", "shared=0 check=always", "topology=nodes:2 shared=2k"};
    struct task *task = calloc(MANY, sizeof *task);
    for (int i = 0; i < (size > 2 ? 3 : 2); i++) {
        hsumma_status status = hsumma_create(MPI_COMM_WORLD, options[i], &ctx, NULL, 0);
        if (!tap_ok(world_worst(status) == 0, "a context with \"%s\"", options[i]))
            break;
        test_orders(task);
        test_polling(task);
        test_one_after_the_other(task, i == 0 ? 1000 : 100);
        test_beside_a_plan(task, "block=8");
        test_beside_a_plan(task, "block=8 guard=messages node=messages");
        if (i == 0) {
            test_many(task, MANY);
            test_kinds(task);
        }
        int wrong = begin(task, 0, 3, NULL) != HSUMMA_OK;
        hsumma_free(&ctx); /* the request keeps the context's resources alive */
        wrong += end(task, 1, 0);
        tap_ok(world_worst(wrong) == 0, "a request outlives its context: %d wrong", wrong);
    }
    free(task);
    return world_end();
}
