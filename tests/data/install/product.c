/* A user's ScaLAPACK program: C := A A by PDGEMM (a macro for the routine's name), checked against direct sums. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 37, NB = 5 };

void Cblacs_get(int context, int what, int *value);
void Cblacs_gridinit(int *context, const char *order, int nprow, int npcol);
void Cblacs_gridinfo(int context, int *nprow, int *npcol, int *myrow, int *mycol);
void Cblacs_gridexit(int context);
int numroc_(const int *n, const int *nb, const int *iproc, const int *isrc, const int *nprocs);
void descinit_(int *desc, const int *m, const int *n, const int *mb, const int *nb, const int *rsrc, const int *csrc,
               const int *context, const int *lld, int *info);
void PDGEMM(const char *transa, const char *transb, const int *m, const int *n, const int *k, const void *alpha,
            const void *a, const int *ia, const int *ja, const int *desca, const void *b, const int *ib, const int *jb,
            const int *descb, const void *beta, void *c, const int *ic, const int *jc, const int *descc);

static double entry(int i, int j)
{
    return i - 2 * j % 7;
}

static int global(int local, int proc, int procs)
{
    return (local / NB * procs + proc) * NB + local % NB;
}

int main(int argc, char **argv)
{
    const int n = N, nb = NB, zero = 0, one = 1;
    const double alpha = 1.0, beta = 0.0;
    int context, nprow, npcol, myrow, mycol, size, rank, info, desc[9], wrong = 0, all;

    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    Cblacs_get(-1, 0, &context);
    Cblacs_gridinit(&context, "R", 1, size);
    Cblacs_gridinfo(context, &nprow, &npcol, &myrow, &mycol);

    int rows = numroc_(&n, &nb, &myrow, &zero, &nprow), cols = numroc_(&n, &nb, &mycol, &zero, &npcol);
    double *a = malloc(sizeof *a * rows * (cols + 1)), *c = calloc((size_t)rows * (cols + 1), sizeof *c);
    descinit_(desc, &n, &n, &nb, &nb, &zero, &zero, &context, &rows, &info);
    for (int j = 0; j < cols; j++)
        for (int i = 0; i < rows; i++)
            a[i + j * rows] = entry(global(i, myrow, nprow), global(j, mycol, npcol));
    PDGEMM("N", "N", &n, &n, &n, &alpha, a, &one, &one, desc, a, &one, &one, desc, &beta, c, &one, &one, desc);
    for (int j = 0; j < cols; j++)
        for (int i = 0; i < rows; i++) {
            double sum = 0.0;
            for (int k = 0; k < N; k++)
                sum += entry(global(i, myrow, nprow), k) * entry(k, global(j, mycol, npcol));
            wrong += sum != c[i + j * rows];
        }
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d entries are wrong\n", all);
    free(a);
    free(c);
    Cblacs_gridexit(context);
    MPI_Finalize();
    return 0;
}
