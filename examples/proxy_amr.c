/*
 * A proxy of miniAMR in plain MPI. Every step works on a block of points, then sums a vector of integers and two
 * doubles over all processes. miniAMR sums numbers of blocks (1 to 64 KiB, to decide on refinement) and a checksum.
 *
 *   mpiexec -n RANKS proxy_amr [BYTES [STEPS [WORK]]]     (defaults: 16384, 200, 20000 points)
 *
 * Prints "iteration_us X allreduce_us Y share Z checksum C": means per step on the slowest process.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

/* Sweeps once over a block of points. */
static double work(double *block, int points)
{
    double sum = 0;

    for (int i = 1; i + 1 < points; i++) {
        block[i] = (block[i - 1] + block[i] + block[i + 1]) / 3;
        sum += block[i];
    }
    return sum;
}

/* Runs `steps` steps; adds the seconds in MPI_Allreduce to *waited. Returns a checksum, equal on all processes. */
static double run(int *mine, int *all, int count, double *block, int points, int steps, double *waited)
{
    double checksum = 0, start;

    for (int s = 0; s < steps; s++) {
        double sums[2] = {work(block, points), s}, total[2];

        for (int i = 0; i < count; i++)
            mine[i] = (i + s) % 8;
        start = MPI_Wtime();
        MPI_Allreduce(mine, all, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Allreduce(sums, total, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        *waited += MPI_Wtime() - start;
        checksum += all[count - 1] + total[1];
    }
    return checksum;
}

int main(int argc, char **argv)
{
    int bytes = argc > 1 ? atoi(argv[1]) : 16384, steps = argc > 2 ? atoi(argv[2]) : 200;
    int points = argc > 3 ? atoi(argv[3]) : 20000, count = bytes / (int)sizeof(int), rank;
    double seconds[2], most[2], waited = 0, checksum;
    int *mine, *all;
    double *block;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (count < 1 || points < 1 || steps < 1)
        MPI_Abort(MPI_COMM_WORLD, 1);
    mine = malloc((size_t)count * sizeof *mine);
    all = malloc((size_t)count * sizeof *all);
    block = calloc((size_t)points, sizeof *block);
    if (!mine || !all || !block)
        MPI_Abort(MPI_COMM_WORLD, 1);
    block[points / 2] = 1;
    run(mine, all, count, block, points, 3, &waited); /* warm-up */
    waited = 0;
    seconds[0] = MPI_Wtime();
    checksum = run(mine, all, count, block, points, steps, &waited);
    seconds[0] = MPI_Wtime() - seconds[0];
    seconds[1] = waited;
    MPI_Reduce(seconds, most, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("iteration_us %.3f allreduce_us %.3f share %.3f checksum %.0f\n", most[0] / steps * 1e6,
               most[1] / steps * 1e6, most[1] / most[0], checksum);
    free(mine);
    free(all);
    free(block);
    MPI_Finalize();
    return 0;
}
