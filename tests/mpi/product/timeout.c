/*
 * Waits without progress (options timeout and on_timeout): while the last rank stays away from a call, rank 0 reports
 * that rank and the call; with on_timeout=error the call fails on all ranks. The last rank comes when rank 0's report
 * has been written, so the test does not depend on the machine's speed.
 */
#include "support/left_in_mpi.h"
#include "support/product/stage.h"
#include "support/product/tuned_plan.h"

#include <hsumma_coll.h>

#include <fcntl.h>
#include <time.h>

enum { MOST_REPORTS = 3 }; /* of a context */

static char path[TUNED_PATH]; /* of the file that takes rank 0's standard error */

/* Redirects the standard error of all ranks but the last: rank 0's, or with `all` that of each, to the file, else to
 * nowhere. Returns the former one. */
static int redirect(int all)
{
    int screen = dup(2), file = -1;
    fflush(stderr);
    if (rank == 0)
        file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0600);
    world_reduce(0, MPI_SUM);
    if (rank > 0 && all && rank < size - 1)
        file = open(path, O_RDWR | O_APPEND);
    else if (rank > 0 && rank < size - 1)
        file = open("/dev/null", O_WRONLY);
    if (file >= 0) {
        dup2(file, 2);
        close(file);
    }
    world_reduce(0, MPI_SUM);
    return screen;
}

static size_t read_report(char *text, size_t bytes)
{
    FILE *file = fopen(path, "r");
    size_t got = file ? fread(text, 1, bytes - 1, file) : 0;
    text[got] = 0;
    if (file)
        fclose(file);
    return got;
}

static void restore(int screen)
{
    fflush(stderr);
    dup2(screen, 2);
    close(screen);
}

static hsumma_status add_up(struct call_stage *stage)
{
    double in = 1, out = 0;
    return hsumma_allreduce(stage->ctx, &in, &out, 1, HSUMMA_DOUBLE, HSUMMA_SUM);
}

static MPI_Comm other; /* of all ranks: a creation that has been given up leaves an incomplete barrier in it */

static hsumma_status create(const char *options, char *text, size_t bytes)
{
    hsumma_context *ctx = NULL;
    hsumma_status status = hsumma_create(other, options, &ctx, text, bytes);
    hsumma_free(&ctx);
    return status;
}

static hsumma_status create_late(struct call_stage *stage)
{
    (void)stage;
    return create("timeout=1", NULL, 0);
}

static hsumma_status create_or_fail(struct call_stage *stage)
{
    (void)stage;
    char text[600] = "";
    hsumma_status status = create("timeout=1 on_timeout=error", text, sizeof text);
    return strstr(text, "hsumma_create ended early") && strstr(text, "has waited") ? status : HSUMMA_OK;
}

enum { CALLS = 4, CREATE = CALLS, CREATE_OR_FAIL };
static const struct {
    hsumma_status (*run)(struct call_stage *stage);
    const char *call, *awaited, *before; /* before: the call before it in test_reports */
} calls[] = {
    {stage_multiply, "in execution 1 of a product with m = 20, n = 20, k = 20: ", "has not begun this call",
     "hsumma_plan_create"},
    {add_up, "in a collective call, the first of its kind: ", "has not begun this call", "execution 1 of a product"},
    {add_up, "in allreduce: ", "", "hsumma_allreduce"},
    {stage_make_grid, "in hsumma_grid_create: ", "has not begun this call", ""},
    {create_late, "in hsumma_create: ", "no progress of other processes", ""},
    {create_or_fail, "in hsumma_create: ", "no progress of other processes", ""},
};

/* Runs call i, which the last rank enters after rank 0's report, or with `all` after any. text: the report, on rank 0.
 */
static hsumma_status run_late(struct call_stage *stage, int i, int all, char *text, size_t bytes)
{
    int screen = redirect(all), most = i != MOST_REPORTS ? 600 : 20;
    for (int tenths = 0; rank == size - 1 && tenths < most && !read_report(text, bytes); tenths++)
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    hsumma_status status = calls[i].run(stage);
    restore(screen);
    world_reduce(0, MPI_SUM);
    read_report(text, bytes);
    return status;
}

static int open_stage(struct call_stage *stage, const char *options)
{
    if (!tuned_open(NULL, options, &stage->ctx, &stage->grid))
        return 0;
    stage->c = gemm_case_of(stage->grid, HSUMMA_D, 'N', 'N', 20, 20, 20, 4);
    gemm_make(&stage->c, stage->local);
    return everywhere(!gemm_plan_create(stage->ctx, &stage->c, &stage->plan));
}

static void close_stage(struct call_stage *stage)
{
    stage_close(stage);
    gemm_drop(stage->local);
}

/* Whether the report ends with the late rank's last call, which only ranks of its node know. In a sum of more than two
 * ranks, rank 0 may wait for one that itself waits. */
static int names_last_call(const char *text, int i)
{
    char last[80];
    snprintf(last, sizeof last, "; its last call was %s (option timeout=1)\n", calls[i].before);
    return getenv("HSUMMA_TOPOLOGY") || (size > 2 && !calls[i].awaited[0]) || strstr(text, last);
}

/* Several ranks may be missing for rank 0: in a tree it waits for one that itself waits for the last. */
static int reports(const char *text, int i)
{
    int good = !strncmp(text, "hsumma: rank 0 of ", 18) && strstr(text, calls[i].call) &&
               strstr(text, calls[i].awaited) && strstr(text, "(option timeout=1)\n") && strstr(text, "rank ") &&
               names_last_call(text, i);
    char last[32];
    snprintf(last, sizeof last, ": rank %d ", size - 1);
    return good && (i >= CREATE || size > 2 || strstr(text, last) || strstr(text, "of rank 1 "));
}

static void test_reports(void)
{
    struct call_stage stage = {0};
    if (!tap_ok(open_stage(&stage, "timeout=1"), "a context with timeout=1"))
        return;
    for (int i = 0; i < CALLS; i++) {
        char text[2048] = "";
        hsumma_status status = run_late(&stage, i, 0, text, sizeof text);
        int good = everywhere(!status), silent = i >= MOST_REPORTS;
        tap_ok(good && (silent ? !text[0] : reports(text, i)), "%s%s", calls[i].call, text);
    }
    tap_ok(everywhere(gemm_wrong(&stage.c, &stage.local[2], 0) == 0), "the product is right");
    close_stage(&stage);
}

/* The last rank is late for hsumma_create, when it shares nothing with the others. */
static void test_create(int i)
{
    struct call_stage none = {0};
    char text[2048] = "";
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    hsumma_status status = run_late(&none, i, i == CREATE_OR_FAIL, text, sizeof text);
    tap_ok(everywhere(status == (i == CREATE ? HSUMMA_OK : HSUMMA_ERR_MPI)) &&
               (rank > 0 || strstr(text, calls[i].call)),
           "hsumma_create %s: %s", i == CREATE ? "waits for a late rank" : "fails on all ranks", text);
    if (i == CREATE)
        MPI_Comm_free(&other);
}

static void keep_report(const char *text, void *state)
{
    snprintf(state, 600, "%s", text);
}

/* A function receives the report instead of standard error, and the log receives it too. */
static void test_receiver(void)
{
    struct call_stage stage = {0};
    char options[TUNED_PATH + 40], printed[2048] = "", logged[2048] = "", text[600] = "";
    snprintf(options, sizeof options, "timeout=1 log=%s", path);
    if (!tap_ok(open_stage(&stage, options), "a context with timeout=1 and a log"))
        return;
    hsumma_set_report(stage.ctx, keep_report, text);
    hsumma_status status = run_late(&stage, 0, 0, logged, sizeof logged);
    /* any rank may be the first that reports */
    int good = !text[0] || (strstr(text, calls[0].call) && strstr(logged, text));
    good &= world_reduce(text[0] != 0, MPI_MAX) && !strncmp(logged, "# hsumma: rank ", 15);
    tap_ok(everywhere(!status && good), "a function and the log receive the report: %s", logged);
    hsumma_set_report(stage.ctx, NULL, NULL);
    if (rank == 0)
        unlink(path);
    run_late(&stage, 0, 0, printed, sizeof printed);
    good = strstr(printed, "in execution 2 of a product ") && strstr(printed, "(option timeout=1)\n");
    tap_ok(everywhere(rank > 0 || good), "then standard error: %s", printed);
    close_stage(&stage);
}

static void test_error(int i)
{
    struct call_stage stage = {0};
    char text[2048] = "";
    if (!tap_ok(open_stage(&stage, "timeout=1 on_timeout=error"), "a context with on_timeout=error"))
        return;
    hsumma_status status = run_late(&stage, i, 1, text, sizeof text);
    const char *message = hsumma_message(stage.ctx);
    /* the last rank may come before the timeout of a rank that began late: the two then wait in the call itself */
    int named = strstr(message, calls[i].call) || (i == 1 && strstr(message, calls[2].call));
    int good = status == HSUMMA_ERR_MPI && strstr(message, "has waited") && named;
    tap_ok(everywhere(good) && (rank > 0 || strstr(text, calls[i].call)), "%sfails on all: %s", calls[i].call, message);
    good = calls[i].run(&stage) == HSUMMA_ERR_MPI;
    message = hsumma_message(stage.ctx);
    tap_ok(everywhere(good && strstr(message, "has waited") != NULL), "the context can only be freed: %s", message);
    close_stage(&stage);
}

int main(int argc, char **argv)
{
    world_begin(&argc, &argv);
    if (tuned_directory_make()) {
        snprintf(path, sizeof path, "%s", tuned_path("report"));
        test_reports();
        test_error(0);
        test_error(1);
        test_error(3);
        test_receiver();
        test_create(CREATE);
        test_create(CREATE_OR_FAIL);
        tuned_directory_drop();
    } else
        tap_ok(0, "a directory for the test");
    return world_end();
}
