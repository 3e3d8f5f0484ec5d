/* What a process does while its plan waits for others: it polls, yields, sleeps, and lets MPI progress. */
#include "base/simulator.h"
#include "hsumma/plan/plan.h"

#include <sched.h>

/* Lets MPI progress. */
static void probe(const struct hs_comm *comm)
{
    int found;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm->comm, &found, MPI_STATUS_IGNORE);
}

/*
 * Waits in a product over several nodes.  With messages in flight this process polls.  Otherwise it waits only for
 * processes of its node and may sleep, but still probes MPI from time to time.
 */
static hsumma_status idle_in_cells(hsumma_plan *plan, int times)
{
    enum { BETWEEN = 64 };
    struct hs_directory *directory = &plan->grid->shared.directory;
    int awake =
        !hs_loop_idle(&plan->loop) || hs_plan_holder(plan)->trial.stepping || hs_local_is_busy(plan->problem.local);
    if ((!awake && hs_directory_sleeps(directory, times)) || times % BETWEEN == BETWEEN - 1)
        probe(&plan->ctx->comm);
    return awake ? hs_idle_yield(NULL, times) : hs_directory_idle(directory, times);
}

static const struct hs_agreement *agreement_of(hsumma_plan *plan)
{
    return plan->phase == HS_PLAN_TIMING ? &hs_plan_holder(plan)->trial.agreement : &plan->agreement;
}

/*
 * Progresses MPI between two tests by the caller.  A process that waits only for signals in its node's memory does not
 * call MPI otherwise, but processes of other nodes may wait for its earlier messages.  In a simulator messages progress
 * by themselves.
 */
void hs_plan_let_messages_move(hsumma_plan *plan)
{
    const struct hs_comm *comm = &plan->ctx->comm;
    if (plan->layered && plan->phase == HS_PLAN_MULTIPLYING && hs_layered_running(plan))
        plan = hs_layered_running(plan);
    if (plan->phase == HS_PLAN_SUMMING || plan->phase == HS_PLAN_CHECKING)
        return;
    int awaits = plan->phase == HS_PLAN_MULTIPLYING ? plan->choice.spec.cells && hs_loop_idle(&plan->loop)
                                                    : hs_agreement_awaits_mates(agreement_of(plan));
    if (awaits && comm->mates.count < comm->size && !hs_simulator())
        probe(comm);
}

/*
 * Waits once for other processes.  With shared memory, this process may sleep until their signal arrives.  It also
 * probes MPI, because the other processes may wait for its earlier messages.
 */
hsumma_status hs_plan_idle(void *state, int times)
{
    enum { BETWEEN = 16 };
    hsumma_plan *plan = state;
    struct hs_directory *directory = &plan->grid->shared.directory;
    if (plan->ctx->comm.block)
        return hs_block_idle(plan->ctx->comm.block, times);
    int multiplying = plan->phase == HS_PLAN_MULTIPLYING;
    if (plan->layered && multiplying)
        return hs_layered_running(plan) ? hs_plan_idle(hs_layered_running(plan), times) : hs_idle_yield(NULL, times);
    if (plan->phase == HS_PLAN_SUMMING || plan->phase == HS_PLAN_CHECKING) /* checksums travel in messages */
        return hs_idle_yield(NULL, times);
    if (multiplying && !plan->on_device && plan->choice.spec.cells)
        return idle_in_cells(plan, times);
    int sharing = multiplying ? plan->by_node || plan->on_device : hs_agreement_awaits_mates(agreement_of(plan));
    int busy = hs_local_is_busy(plan->problem.local); /* no signal wakes this process when its device completes */
    if (multiplying && plan->on_device && !hs_plan_holder(plan)->device.tiles->share.shares_events) {
        sched_yield(); /* this process polls for completion of its own device work, which other processes wait for */
    } else if (sharing) {
        if ((!busy && hs_directory_sleeps(directory, times)) || (times > HS_POLLS_BEFORE_YIELD && times % BETWEEN == 0))
            probe(&plan->ctx->comm);
        if (busy)
            sched_yield();
        else
            hs_directory_idle(directory, times);
    } else {
        return hs_idle_yield(NULL, times);
    }
    return HSUMMA_OK;
}
