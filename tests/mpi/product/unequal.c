/*
 * Unequal arguments of one-call products (check=always): all processes get the same error, which names the argument,
 * also where each has a plan for its own arguments. MPI failures between nodes: a call of MPI that fails because a
 * process has died ends a call with HSUMMA_ERR_PEER, another failure with HSUMMA_ERR_MPI.
 */
#include "coll/node/agree_mpi.h"
#include "support/left_in_mpi.h"
#include "support/tap.h"
#include "support/world.h"

#include <hsumma_coll.h>
#include <string.h>

static int fail_with; /* an error code, or 0: what MPI_Testsome returns on this process */

int MPI_Testsome(int count, MPI_Request *request, int *out, int *index, MPI_Status *status)
{
    if (!fail_with)
        return PMPI_Testsome(count, request, out, index, status);
    *out = 1;
    index[0] = 0;
    status[0].MPI_ERROR = fail_with;
    return MPI_ERR_IN_STATUS;
}

static hsumma_context *ctx;

static int open_context(const char *options)
{
    char text[480] = "";
    hsumma_status status = hsumma_create(MPI_COMM_WORLD, options, &ctx, text, sizeof text);
    return tap_ok(world_worst(status) == 0, "a context with %s %s", options, text);
}

static void test_arguments(void)
{
    static double a[576], c[576];
    hsumma_grid *grid = NULL;
    hsumma_desc desc;
    if (!open_context("check=always"))
        return;
    hsumma_status status = hsumma_grid_create(ctx, 1, size, 'R', NULL, &grid);
    hsumma_desc_init(&desc, grid, 24, 24, 4, 4);
    for (int m = 20; m <= 24 && !status; m += 4) /* plans for both sizes on all processes */
        status = hsumma_dgemm(ctx, 'N', 'N', m, 24, 24, 1, a, &desc, a, &desc, 0, c, &desc);
    tap_ok(world_worst(status) == 0, "equal arguments: %s", hsumma_message(ctx));
    status = hsumma_dgemm(ctx, 'N', 'N', rank == 0 ? 20 : 24, 24, 24, 1, a, &desc, a, &desc, 0, c, &desc);
    const char *text = hsumma_message(ctx);
    int good = status == HSUMMA_ERR_ARGUMENT && strstr(text, "gave m = ") && strstr(text, "rank 0 gave ");
    tap_ok(world_reduce(good, MPI_MIN) == 1, "another m on rank 0: %s", text);
    for (int beta = 0; beta < 2; beta++) {
        const double mine = rank == 0 ? 2.5 : 1;
        status =
            hsumma_dgemm(ctx, 'N', 'N', 24, 24, 24, beta ? 1 : mine, a, &desc, a, &desc, beta ? mine : 1, c, &desc);
        good = status == HSUMMA_ERR_ARGUMENT &&
               strstr(hsumma_message(ctx),
                      beta ? "rank 1 gave beta = 1, rank 0 gave 2.5" : "rank 1 gave alpha = 1, rank 0 gave 2.5");
        tap_ok(world_reduce(good || size == 1, MPI_MIN) == 1, "another %s on rank 0: %s", beta ? "beta" : "alpha",
               hsumma_message(ctx));
    }
    status = hsumma_dgemm(ctx, 'N', rank == size - 1 ? 'X' : 'N', 24, 24, 24, 1, a, &desc, a, &desc, 0, c, &desc);
    good = status == HSUMMA_ERR_ARGUMENT && strstr(hsumma_message(ctx), "transb is 'X'");
    tap_ok(world_reduce(good, MPI_MIN) == 1, "a wrong argument on the last rank: %s", hsumma_message(ctx));
    status = hsumma_dgemm(ctx, 'N', 'N', 24, 24, 24, 1, a, &desc, a, &desc, 0, c, &desc);
    tap_ok(world_worst(status) == 0, "equal arguments again: %s", hsumma_message(ctx));
    hsumma_grid_free(&grid);
    hsumma_free(&ctx);
}

/* Rank 0 executes plan `first`, the others plan `other`. */
static hsumma_status execute(hsumma_plan *const plan[], int first, int other)
{
    static double a[576], c[576];
    const double one = 1, zero = 0;
    return hsumma_plan_execute(plan[rank == 0 ? first : other], &one, a, a, &zero, c);
}

static void test_executions(const char *options)
{
    static const int64_t m[3] = {20, 24, 24};
    hsumma_grid *grid = NULL;
    hsumma_plan *plan[3] = {NULL};
    hsumma_desc desc;
    if (!open_context(options))
        return;
    hsumma_status status = hsumma_grid_create(ctx, 1, size, 'R', NULL, &grid);
    hsumma_desc_init(&desc, grid, 24, 24, 4, 4);
    for (int i = 0; i < 3 && !status; i++)
        status = hsumma_plan_create(ctx, HSUMMA_D, 'N', 'N', m[i], 24, 24, &desc, &desc, &desc, NULL, &plan[i]);
    for (int i = 0; i < 2 && !status; i++)
        status = execute(plan, i, i);
    tap_ok(world_worst(status) == 0, "two of three plans are executed: %s", hsumma_message(ctx));
    for (int other = 0; other < 3; other += 2) { /* plan 2 differs from plan 1 in the number of executions only */
        status = execute(plan, 1, other);
        const char *text = hsumma_message(ctx);
        int good = status == HSUMMA_ERR_ARGUMENT && strstr(text, "different plans or pass different scalars: rank ") &&
                   strstr(text, other && rank ? "execution 1 of a product with m = 24" : "execution 2 of a product");
        tap_ok(world_reduce(good, MPI_MIN) == 1, "rank 0 executes plan 1, the others plan %d: %s", other, text);
    }
    const double scalar[] = {1, rank ? -0.25 : 1};
    for (int beta = 0; beta < 2; beta++) {
        static double x[576], c[576];
        status = hsumma_plan_execute(plan[1], &scalar[!beta], x, x, &scalar[beta], c);
        const char *text = hsumma_message(ctx);
        int good = status == HSUMMA_ERR_ARGUMENT && strstr(text, !rank  ? "alpha = 1, beta = 1;"
                                                                 : beta ? "alpha = 1, beta = -0.25;"
                                                                        : "alpha = -0.25, beta = 1;");
        tap_ok(world_reduce(good, MPI_MIN) == 1, "another %s on rank 0: %s", beta ? "beta" : "alpha", text);
    }
    for (int i = 2; i >= 0; i--)
        tap_ok(world_worst(execute(plan, i, i)) == 0, "then all execute plan %d: %s", i, hsumma_message(ctx));
    for (int i = 0; i < 3; i++)
        hsumma_plan_free(&plan[i]);
    hsumma_grid_free(&grid);
    hsumma_free(&ctx);
}

/* All ranks fail in the same call, so that none waits. */
static void test_mpi_error(int code, hsumma_status expected, const char *what)
{
    double in[100] = {1}, out[100] = {0};
    if (!open_context("shared=0"))
        return;
    fail_with = code;
    hsumma_status status = hsumma_allreduce(ctx, in, out, 100, HSUMMA_DOUBLE, HSUMMA_SUM);
    fail_with = 0;
    tap_ok(world_reduce(status == expected, MPI_MIN) == 1, "%s: %s", what, hsumma_message(ctx));
    hsumma_free(&ctx);
}

int main(int argc, char **argv)
{
    world_begin(&argc, &argv);
    test_arguments();
    test_executions("check=always");
    test_executions("check=always node=messages");
    test_mpi_error(MPI_ERR_OTHER, HSUMMA_ERR_MPI, "an error of MPI");
#ifdef MPIX_ERR_PROC_FAILED
    test_mpi_error(MPIX_ERR_PROC_FAILED, HSUMMA_ERR_PEER, "MPI reports a process that has died");
    test_mpi_error(MPIX_ERR_PROC_FAILED_PENDING, HSUMMA_ERR_PEER, "MPI reports it for a pending receive");
    test_mpi_error(MPIX_ERR_REVOKED, HSUMMA_ERR_PEER, "another process has revoked the communicator");
#else
    tap_skip(3, "this MPI has no MPIX_ERR_PROC_FAILED");
#endif
    return world_end();
}
