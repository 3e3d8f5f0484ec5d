/* One timed execution of a plan. */
#include <string.h>

#include "command.h"
#include "timing.h"
#include "turn.h"

int execute_turn(const problem *p, hsumma_plan *plan, turn *t)
{
    hsumma_plan_info info;
    hsumma_status status;
    double seconds, sums[2], all[2], slowest[4];

    problem_refresh(p, p->c.local);
    quiet_barrier(p->comm);
    seconds = MPI_Wtime();
    status = hsumma_plan_execute(plan, p->alpha.byte, p->a.local, p->b.local, p->beta.byte, p->c.local);
    seconds = MPI_Wtime() - seconds;
    quiet_barrier(p->comm); /* whoever is done leaves the cores to the others */
    if (command_fail(p->comm, status != HSUMMA_OK, "%s", hsumma_message(p->ctx)))
        return COMMAND_INTERNAL;
    hsumma_plan_query(plan, &info);
    quiet_allreduce((double[]){seconds, info.comm_seconds, info.gemm_seconds, info.copy_seconds}, slowest, 4,
                    MPI_DOUBLE, MPI_MAX, p->comm);
    sums[0] = info.comm_seconds;
    sums[1] = info.seconds;
    quiet_allreduce(sums, all, 2, MPI_DOUBLE, MPI_SUM, p->comm);
    t->seconds = slowest[0];
    t->comm = slowest[1];
    t->gemm = slowest[2];
    t->copy = slowest[3];
    t->comm_share = all[1] > 0 ? all[0] / all[1] : 0;
    if (p->mach.blas_share > 1)
        sleep_seconds(0.05); /* until idle BLAS threads have stopped spinning */
    return COMMAND_OK;
}
