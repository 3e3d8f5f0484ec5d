/*
 * A process that ends while the others need it: on its node they return HSUMMA_ERR_PEER, whatever the call, and so do
 * processes of other nodes that receive a notice. Run by programs/peer_ends.py, which starts it under an mpiexec that
 * lets the survivors live: peer CALL HOW [OPTION=VALUE...]. In CALL the last rank is missing: HOW is killed (it kills
 * itself before the call), exits (it frees its context and ends) or stays (it frees its context and waits for the
 * others to end). Each survivor prints "rank R: STATUS after S s: MESSAGE", makes the call again and prints "rank R:
 * then STATUS", then frees everything and prints "rank R: freed".
 */
#include "support/product/gemm_case.h"
#include "support/world.h"

#include <hsumma_coll.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct stage {
    hsumma_context *ctx;
    hsumma_grid *grid;
    hsumma_plan *plan;
    hsumma_desc desc;
    struct gemm_case c;
    struct gemm_part local[3];
};

static hsumma_status multiply(struct stage *stage)
{
    return gemm_begin(stage->plan, &stage->c, stage->local, 1);
}

/* Polls until the product is complete. */
static hsumma_status test_product(struct stage *stage)
{
    hsumma_status status = gemm_begin(stage->plan, &stage->c, stage->local, 0);
    for (int done = 0; !status && !done;)
        status = hsumma_plan_test(stage->plan, &done);
    return status;
}

static hsumma_status add_up(struct stage *stage)
{
    double in[100] = {1}, out[100] = {0};
    return hsumma_allreduce(stage->ctx, in, out, 100, HSUMMA_DOUBLE, HSUMMA_SUM);
}

static hsumma_status test_sum(struct stage *stage)
{
    double in[100] = {1}, out[100] = {0};
    hsumma_request *request = NULL;
    const hsumma_coll call = {.collective = HSUMMA_ALLREDUCE,
                              .in = in,
                              .out = out,
                              .count = 100,
                              .op = {.op = HSUMMA_SUM, .element = HSUMMA_DOUBLE}};
    hsumma_status status = hsumma_coll_start(stage->ctx, &call, &request);
    for (int done = 0; !status && !done;)
        status = hsumma_coll_test(request, &done);
    hsumma_coll_wait(&request);
    return status;
}

static hsumma_status make_grid(struct stage *stage)
{
    hsumma_grid *grid = NULL;
    hsumma_status status = hsumma_grid_create(stage->ctx, 1, size, 'R', NULL, &grid);
    hsumma_grid_free(&grid);
    return status;
}

static hsumma_status make_plan(struct stage *stage)
{
    hsumma_plan *plan = NULL;
    hsumma_status status = hsumma_plan_create(stage->ctx, HSUMMA_D, 'N', 'N', 20, 20, 20, &stage->desc, &stage->desc,
                                              &stage->desc, NULL, &plan);
    hsumma_plan_free(&plan);
    return status;
}

static hsumma_status allocate(struct stage *stage)
{
    void *memory;
    return hsumma_malloc(stage->ctx, 1000, &memory);
}

static hsumma_status move(struct stage *stage)
{
    static double a[400], b[400];
    return hsumma_redistribute(stage->ctx, HSUMMA_D, 20, 20, a, &stage->desc, b, &stage->desc);
}

static const struct {
    const char *name;
    hsumma_status (*run)(struct stage *stage);
} calls[] = {{"multiply", multiply}, {"test", test_product}, {"sum", add_up},      {"testsum", test_sum},
             {"grid", make_grid},    {"plan", make_plan},    {"malloc", allocate}, {"redistribute", move}};

static void leave(struct stage *stage)
{
    hsumma_plan_free(&stage->plan);
    hsumma_grid_free(&stage->grid);
    hsumma_free(&stage->ctx);
}

/* Waits until the caller of this program kills it: an mpiexec may end all processes when one ends without MPI_Finalize.
 */
static void wait_for_end(void)
{
    for (;;)
        pause();
}

/* The part of the last rank. */
static void go_missing(struct stage *stage, const char *how)
{
    if (strcmp(how, "killed") == 0)
        raise(SIGKILL);
    leave(stage);
    if (strcmp(how, "stays") == 0)
        wait_for_end();
    _exit(0);
}

int main(int argc, char **argv)
{
    struct stage stage = {0};
    char text[600] = "";
    world_begin(&argc, &argv);
    size_t i = 0, count = sizeof calls / sizeof *calls;
    while (i < count && strcmp(calls[i].name, argc > 2 ? argv[1] : ""))
        i++;
    hsumma_status status = i < count ? HSUMMA_OK : HSUMMA_ERR_ARGUMENT;
    if (!status)
        status = hsumma_create(MPI_COMM_WORLD, NULL, &stage.ctx, text, sizeof text);
    if (!status)
        status = hsumma_grid_create(stage.ctx, 1, size, 'R', NULL, &stage.grid);
    if (!status) {
        hsumma_desc_init(&stage.desc, stage.grid, 20, 20, 4, 4);
        stage.c = gemm_case_of(stage.grid, HSUMMA_D, 'N', 'N', 20, 20, 20, 4);
        gemm_make(&stage.c, stage.local);
        status = gemm_plan_create(stage.ctx, &stage.c, &stage.plan);
    }
    if (!status) /* once with all ranks, so that the next call needs no preparation */
        status = calls[i].run(&stage);
    if (status) {
        printf("cannot begin: %s %s\n", hsumma_status_string(status), text);
        return 1;
    }
    for (int r = 0; rank == size - 1 && r < size - 1; r++) /* the others need nothing more from this rank */
        MPI_Recv(NULL, 0, MPI_BYTE, r, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank < size - 1)
        MPI_Send(NULL, 0, MPI_BYTE, size - 1, 0, MPI_COMM_WORLD);
    if (rank == size - 1)
        go_missing(&stage, argv[2]);
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    status = calls[i].run(&stage);
    clock_gettime(CLOCK_MONOTONIC, &end);
    printf("rank %d: %d after %.1f s: %s\n", rank, (int)status,
           (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec),
           hsumma_message(stage.ctx));
    fflush(stdout); /* one write for each line, so that the lines of ranks do not mix */
    status = calls[i].run(&stage);
    printf("rank %d: then %d\n", rank, (int)status);
    fflush(stdout);
    leave(&stage);
    printf("rank %d: freed\n", rank);
    fflush(stdout);
    wait_for_end(); /* MPI_Finalize would wait for the missing rank */
}
