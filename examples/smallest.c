/* C := A A for a 1000 x 1000 matrix of ones on all processes; shown in README.md. examples/first.c does more. */
#include <hsumma.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    int processes, rank, nprow, npcol;
    hsumma_context *ctx;
    hsumma_grid *grid;
    hsumma_desc desc;

    MPI_Init(NULL, NULL);
    MPI_Comm_size(MPI_COMM_WORLD, &processes), MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (hsumma_create(MPI_COMM_WORLD, NULL, &ctx, NULL, 0))
        MPI_Abort(MPI_COMM_WORLD, 1);
    hsumma_grid_shape(processes, &nprow, &npcol); /* 2 x 2 for 4 processes, 8 x 8 for 64 */
    if (hsumma_grid_create(ctx, nprow, npcol, 'R', NULL, &grid))
        fprintf(stderr, "%s\n", hsumma_message(ctx)), MPI_Abort(MPI_COMM_WORLD, 1);
    hsumma_desc_init(&desc, grid, 1000, 1000, 64, 64); /* blocks of 64 x 64, dealt out cyclically, as in ScaLAPACK */
    int64_t size = desc.ld * hsumma_local_cols(&desc); /* this process's part, by columns */
    double *a = malloc(size * sizeof *a), *c = malloc(size * sizeof *c);
    for (int64_t i = 0; i < size; i++)
        a[i] = 1;
    if (hsumma_dgemm(ctx, 'N', 'N', 1000, 1000, 1000, 1.0, a, &desc, a, &desc, 0.0, c, &desc))
        fprintf(stderr, "%s\n", hsumma_message(ctx)); /* which argument, its value, what is allowed */
    else if (rank == 0)
        printf("%g\n", c[0]); /* rank 0 owns the first block */
    free(a), free(c), hsumma_grid_free(&grid), hsumma_free(&ctx);
    MPI_Finalize();
}
