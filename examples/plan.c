/* A plan: made once, queried, and executed often, on any number of processes. */
#include <hsumma.h>
#include <stdio.h>
#include <stdlib.h>

static double *part(const hsumma_desc *desc)
{
    return calloc((size_t)(desc->ld * hsumma_local_cols(desc)), sizeof(double));
}

int main(void)
{
    const int64_t m = 600, n = 400, k = 500;
    const double alpha = 1, beta = 0;
    int rank;
    char text[256];
    hsumma_context *ctx;
    hsumma_grid *grid[3];
    hsumma_desc desca, descb, descc;
    hsumma_plan *plan;
    hsumma_plan_info info;

    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (hsumma_create(MPI_COMM_WORLD, NULL, &ctx, text, sizeof text)) {
        fprintf(stderr, "rank %d: %s\n", rank, text);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    /* begin */
    /* The layouts are free here, so the library picks those with the least communication. */
    if (hsumma_desc_best(ctx, HSUMMA_D, 'N', 'N', m, n, k, NULL, grid, &desca, &descb, &descc) ||
        hsumma_plan_create(ctx, HSUMMA_D, 'N', 'N', m, n, k, &desca, &descb, &descc, "lookahead=1", &plan)) {
        fprintf(stderr, "rank %d: %s\n", rank, hsumma_message(ctx));
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    double *a = part(&desca), *b = part(&descb), *c = part(&descc);
    hsumma_plan_query(plan, &info);
    if (rank == 0)
        printf("plan %s\nwhy  %s\npredicted %.2g s, workspace %zu bytes\n", info.line, info.why, info.predicted_seconds,
               info.workspace_bytes);
    for (int step = 0; step < 3; step++) {
        if (hsumma_plan_execute(plan, &alpha, a, b, &beta, c))
            fprintf(stderr, "rank %d: %s\n", rank, hsumma_message(ctx));
        hsumma_plan_query(plan, &info);
        if (rank == 0)
            printf("step %d took %.2g s\n", step, info.seconds);
    }
    hsumma_plan_free(&plan);
    /* end */
    free(a), free(b), free(c);
    for (int x = 0; x < 3; x++)
        hsumma_grid_free(&grid[x]);
    hsumma_free(&ctx);
    MPI_Finalize();
}
