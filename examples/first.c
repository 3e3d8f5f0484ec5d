/* C := A B for 1000 x 1000 matrices on any number of processes: mpicc first.c -lhsumma && mpiexec -n 4 ./a.out */
#include <hsumma.h>

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    const int64_t n = 1000;
    int size, rank, nprow, npcol;
    char text[256];
    hsumma_context *ctx;
    hsumma_grid *grid;
    hsumma_desc desc;

    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (hsumma_create(MPI_COMM_WORLD, NULL, &ctx, text, sizeof text)) {
        fprintf(stderr, "rank %d: %s\n", rank, text);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    hsumma_grid_shape(size, &nprow, &npcol);
    hsumma_grid_create(ctx, nprow, npcol, 'R', NULL, &grid);
    hsumma_desc_init(&desc, grid, n, n, 64, 64); /* blocks of 64 x 64, dealt out cyclically, as in ScaLAPACK */

    int64_t rows = hsumma_local_rows(&desc), cols = hsumma_local_cols(&desc);
    double *a = malloc(sizeof *a * rows * cols), *b = malloc(sizeof *b * rows * cols),
           *c = malloc(sizeof *c * rows * cols);
    for (int64_t j = 0; j < cols; j++)
        for (int64_t i = 0; i < rows; i++) { /* A(i, j) = i + j, B = the identity */
            int64_t row = hsumma_global_row(&desc, i), col = hsumma_global_col(&desc, j);
            a[i + j * desc.ld] = (double)(row + col);
            b[i + j * desc.ld] = row == col;
        }
    if (hsumma_dgemm(ctx, 'N', 'N', n, n, n, 1.0, a, &desc, b, &desc, 0.0, c, &desc))
        fprintf(stderr, "rank %d: %s\n", rank, hsumma_message(ctx));
    else if (rank == 0)
        printf("C(0, 0) = %g, C(1, 0) = %g\n", c[0], c[1]);
    free(a), free(b), free(c);
    hsumma_grid_free(&grid);
    hsumma_free(&ctx);
    MPI_Finalize();
}
