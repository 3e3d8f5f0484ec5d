/*
 * A proxy of HPCG in plain MPI: conjugate gradients on a 27-point stencil. Each process has an n^3 box; boxes are
 * joined along one dimension. Each iteration has three 8-byte allreduces, which wait for the slowest process.
 *
 *   mpiexec -n RANKS proxy_cg [N [ITERATIONS]]        (defaults: 16, 200)
 *
 * Prints "iteration_us X allreduce_us Y share Z residual R": means per iteration on the slowest process.
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

struct grid {
    int n, up, down; /* ranks of the neighbours, or MPI_PROC_NULL */
    size_t plane, count;
    double waited; /* total seconds in MPI_Allreduce */
};

static double dot(struct grid *g, const double *x, const double *y)
{
    double sum = 0, all, start;

    for (size_t i = 0; i < g->count; i++)
        sum += x[i] * y[i];
    start = MPI_Wtime();
    MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    g->waited += MPI_Wtime() - start;
    return all;
}

/* The sum over the 3 x 3 neighbourhood of (i, j) in a plane; points outside count as 0. */
static double around(const double *x, int n, int i, int j)
{
    double sum = 0;

    for (int a = i > 0 ? i - 1 : 0; a <= i + 1 && a < n; a++)
        for (int b = j > 0 ? j - 1 : 0; b <= j + 1 && b < n; b++)
            sum += x[a * n + b];
    return sum;
}

/* y = A x; x includes space for the neighbours' planes before and after it. */
static void apply(const struct grid *g, double *x, double *y)
{
    int n = g->n, plane = (int)g->plane;
    double *before = x - plane, *behind = x + g->count;

    MPI_Sendrecv(x, plane, MPI_DOUBLE, g->down, 0, behind, plane, MPI_DOUBLE, g->up, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(behind - plane, plane, MPI_DOUBLE, g->up, 1, before, plane, MPI_DOUBLE, g->down, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                const double *at = x + (size_t)k * g->plane;
                size_t here = (size_t)k * g->plane + (size_t)(i * n + j);

                y[here] =
                    27 * x[here] - around(at - plane, n, i, j) - around(at, n, i, j) - around(at + plane, n, i, j);
            }
}

/* Runs the iterations; returns the norm of the residual. */
static double solve(struct grid *g, double *x, double *r, double *p, double *q, int iterations)
{
    double rho = dot(g, r, r), norm = 0;

    for (int k = 0; k < iterations; k++) {
        double alpha, next;

        apply(g, p, q);
        alpha = rho > 0 ? rho / dot(g, p, q) : (dot(g, p, q), 0);
        for (size_t i = 0; i < g->count; i++) {
            x[i] += alpha * p[i];
            r[i] -= alpha * q[i];
        }
        next = dot(g, r, r);
        norm = sqrt(dot(g, r, r)); /* HPCG's third allreduce */
        for (size_t i = 0; i < g->count; i++)
            p[i] = r[i] + (rho > 0 ? next / rho : 0) * p[i];
        rho = next;
    }
    return norm;
}

int main(int argc, char **argv)
{
    struct grid g = {.n = argc > 1 ? atoi(argv[1]) : 16};
    int rank, size, iterations = argc > 2 ? atoi(argv[2]) : 200;
    double *memory, *x, *r, *p, *q, seconds[2], most[2], norm;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    g.plane = (size_t)g.n * (size_t)g.n;
    g.count = g.plane * (size_t)g.n;
    g.up = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    g.down = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    memory = calloc(4 * g.count + 2 * g.plane, sizeof *memory);
    if (!memory || g.n < 1)
        MPI_Abort(MPI_COMM_WORLD, 1);
    x = memory;
    r = x + g.count;
    q = r + g.count;
    p = q + g.count + g.plane;
    for (size_t i = 0; i < g.count; i++)
        r[i] = p[i] = 1;
    solve(&g, x, r, p, q, 3); /* warm-up */
    g.waited = 0;
    seconds[0] = MPI_Wtime();
    norm = solve(&g, x, r, p, q, iterations);
    seconds[0] = MPI_Wtime() - seconds[0];
    seconds[1] = g.waited;
    MPI_Reduce(seconds, most, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("iteration_us %.3f allreduce_us %.3f share %.3f residual %.3g\n", most[0] / iterations * 1e6,
               most[1] / iterations * 1e6, most[1] / most[0], norm);
    free(memory);
    MPI_Finalize();
    return 0;
}
