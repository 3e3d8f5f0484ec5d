/* Measurements in the simulator. */
#include "measure/simulated.h"

#include "common/command.h"

int is_simulated(void)
{
    return hs_simulator() != NULL;
}

int is_timed_only(const hsumma_context *ctx)
{
    return !hs_compute_is_real(ctx->compute);
}

void common_start(MPI_Comm comm)
{
    double now = MPI_Wtime(), start;

    if (!is_simulated()) {
        quiet_barrier(comm);
        return;
    }
    quiet_allreduce(&now, &start, 1, MPI_DOUBLE, MPI_MAX, comm);
    start += 1; /* more than the reduction took on any rank */
    hs_simulator()->advance(start - MPI_Wtime());
}

static int wanted(MPI_Comm comm)
{
    int rank;

    MPI_Comm_rank(comm, &rank);
    return rank == 0 && is_simulated() && hs_environment("HSUMMA_SIM_LINKS");
}

void simulated_links_begin(MPI_Comm comm)
{
    if (wanted(comm))
        hs_simulator()->watch_links();
}

void simulated_links_end(MPI_Comm comm, struct hs_simulated_links *links)
{
    *links = (struct hs_simulated_links){0};
    if (wanted(comm))
        hs_simulator()->read_links(links);
}
