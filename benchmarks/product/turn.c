/* One timed product. */
#include "product/turn.h"

#include <math.h>

#include "common/command.h"
#include "measure/simulated.h"
#include "measure/timing.h"

const char *const api_names[API_COUNT] = {"plan", "call", "pdgemm", "scalapack"};

hsumma_status call_gemm(const problem *p, void *c)
{
    const arguments *args = p->args;
    const hsumma_desc *a = &p->a.desc, *b = &p->b.desc, *to = &p->c.desc;
    char ta = args->transa, tb = args->transb;

    switch (args->type) {
    case HSUMMA_S:
        return hsumma_sgemm(p->ctx, ta, tb, args->m, args->n, args->k, p->alpha.s, p->a.local, a, p->b.local, b,
                            p->beta.s, c, to);
    case HSUMMA_D:
        return hsumma_dgemm(p->ctx, ta, tb, args->m, args->n, args->k, p->alpha.d, p->a.local, a, p->b.local, b,
                            p->beta.d, c, to);
    case HSUMMA_C:
        return hsumma_cgemm(p->ctx, ta, tb, args->m, args->n, args->k, &p->alpha, p->a.local, a, p->b.local, b,
                            &p->beta, c, to);
    default:
        return hsumma_zgemm(p->ctx, ta, tb, args->m, args->n, args->k, &p->alpha, p->a.local, a, p->b.local, b,
                            &p->beta, c, to);
    }
}

/* Makes `calls` products. Returns the seconds of all on this rank; *last: those of the last call (pdgemm, scalapack:
 * 0). */
static double multiply(const problem *p, const gemm_contender *who, int calls, double *last, hsumma_status *status)
{
    double start, end;

    *status = HSUMMA_OK;
    *last = 0;
    if (who->how >= API_PDGEMM)
        return pblas_run(who->blacs, p, who->how == API_PDGEMM ? PBLAS_HSUMMA : PBLAS_SCALAPACK, who->c, calls);
    start = *last = MPI_Wtime();
    for (int i = 0; i < calls && !*status; i++) {
        if (i == calls - 1)
            *last = MPI_Wtime();
        *status = who->how == API_CALL
                      ? call_gemm(p, who->c)
                      : hsumma_plan_execute(who->plan, &p->alpha, p->a.local, p->b.local, &p->beta, who->c);
    }
    if (!*status)
        *status = problem_settle(p);
    end = MPI_Wtime();
    *last = end - *last;
    return end - start;
}

/* Reads the parts of the last call's time from the plan; `last` is that time as this process measured it. */
static void read_parts(const problem *p, const hsumma_plan *plan, double last, turn *t)
{
    hsumma_plan_info info;
    double slowest[3], all[6];

    hsumma_plan_query(plan, &info);
    quiet_allreduce((double[]){info.comm_seconds, info.gemm_seconds, info.copy_seconds}, slowest, 3, MPI_DOUBLE,
                    MPI_MAX, p->comm);
    quiet_allreduce(
        (double[]){info.seconds, info.comm_seconds, info.gemm_seconds, info.copy_seconds, info.wait_seconds, last}, all,
        6, MPI_DOUBLE, MPI_SUM, p->comm);
    t->comm = slowest[0];
    t->gemm = slowest[1];
    t->copy = slowest[2];
    for (int i = 1; i < 5 && all[0] > 0; i++)
        all[i] /= all[0];
    t->comm_share = all[1];
    t->gemm_share = all[2];
    t->copy_share = all[3];
    t->wait_share = all[4];
    t->library_share = 1 - t->gemm_share - t->copy_share - t->wait_share;
    t->timed_share = all[5] > 0 ? all[0] / all[5] : NAN;
}

int execute_turn(const problem *p, const gemm_contender *who, int calls, turn *t)
{
    hsumma_status status, before = problem_refresh(p, who->c); /* complete on return, on a device too */
    double seconds, last;
    int code, worst;

    if (!before)
        before = problem_settle(p);
    simulated_links_begin(p->comm);
    common_start(p->comm);
    seconds = multiply(p, who, calls, &last, &status) / calls;
    quiet_barrier(p->comm); /* ranks that are done yield their cores */
    simulated_links_end(p->comm, &t->links);
    code = command_code(before ? before : status);
    quiet_allreduce(&code, &worst, 1, MPI_INT, MPI_MAX, p->comm);
    if (worst) {
        command_fail(p->comm, code, "%s", hsumma_message(p->ctx));
        return worst;
    }
    quiet_allreduce(&seconds, &t->seconds, 1, MPI_DOUBLE, MPI_MAX, p->comm);
    t->comm = t->gemm = t->copy = t->timed_share = NAN;
    t->comm_share = t->gemm_share = t->copy_share = t->wait_share = t->library_share = NAN;
    if (who->how == API_PLAN)
        read_parts(p, who->plan, last, t);
    if (p->mach.blas_share > 1)
        sleep_seconds(0.05); /* until idle BLAS threads have stopped spinning */
    return COMMAND_OK;
}

plan_sent plan_sent_of(const problem *p, const hsumma_plan_info *info)
{
    int64_t most[3];

    quiet_allreduce((int64_t[]){info->bytes_sent, info->messages_sent, (int64_t)info->workspace_bytes}, most, 3,
                    MPI_INT64_T, MPI_MAX, p->comm);
    return (plan_sent){most[0], most[1], most[2]};
}
