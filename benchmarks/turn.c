/* One timed product. */
#include "turn.h"

#include <math.h>
#include <string.h>

#include "command.h"
#include "timing.h"

const char *const api_names[API_COUNT] = {"plan", "call", "pdgemm", "scalapack"};

/* The one-call routine of the type. */
static hsumma_status one_call(const problem *p, void *c)
{
    const arguments *args = p->args;
    const hsumma_desc *a = &p->a.desc, *b = &p->b.desc, *to = &p->c.desc;
    char ta = args->transa, tb = args->transb;
    float single[2];
    double alpha, beta;

    memcpy(&single[0], p->alpha.byte, sizeof single[0]);
    memcpy(&single[1], p->beta.byte, sizeof single[1]);
    memcpy(&alpha, p->alpha.byte, sizeof alpha);
    memcpy(&beta, p->beta.byte, sizeof beta);
    switch (args->type) {
    case HSUMMA_S:
        return hsumma_sgemm(p->ctx, ta, tb, args->m, args->n, args->k, single[0], p->a.local, a, p->b.local, b,
                            single[1], c, to);
    case HSUMMA_D:
        return hsumma_dgemm(p->ctx, ta, tb, args->m, args->n, args->k, alpha, p->a.local, a, p->b.local, b, beta, c,
                            to);
    case HSUMMA_C:
        return hsumma_cgemm(p->ctx, ta, tb, args->m, args->n, args->k, p->alpha.byte, p->a.local, a, p->b.local, b,
                            p->beta.byte, c, to);
    default:
        return hsumma_zgemm(p->ctx, ta, tb, args->m, args->n, args->k, p->alpha.byte, p->a.local, a, p->b.local, b,
                            p->beta.byte, c, to);
    }
}

/* `calls` products on this rank; the seconds of all. */
static double multiply(const problem *p, const gemm_contender *who, int calls, hsumma_status *status)
{
    double seconds;

    *status = HSUMMA_OK;
    if (who->how >= API_PDGEMM)
        return pblas_run(who->blacs, p, who->how == API_PDGEMM ? PBLAS_HSUMMA : PBLAS_SCALAPACK, who->c, calls);
    seconds = MPI_Wtime();
    for (int i = 0; i < calls && !*status; i++)
        *status = who->how == API_CALL
                      ? one_call(p, who->c)
                      : hsumma_plan_execute(who->plan, p->alpha.byte, p->a.local, p->b.local, p->beta.byte, who->c);
    return MPI_Wtime() - seconds;
}

/* Where the time went, as the plan has counted. */
static void read_parts(const problem *p, const hsumma_plan *plan, turn *t)
{
    hsumma_plan_info info;
    double slowest[3], all[2];

    hsumma_plan_query(plan, &info);
    quiet_allreduce((double[]){info.comm_seconds, info.gemm_seconds, info.copy_seconds}, slowest, 3, MPI_DOUBLE,
                    MPI_MAX, p->comm);
    quiet_allreduce((double[]){info.comm_seconds, info.seconds}, all, 2, MPI_DOUBLE, MPI_SUM, p->comm);
    t->comm = slowest[0];
    t->gemm = slowest[1];
    t->copy = slowest[2];
    t->comm_share = all[1] > 0 ? all[0] / all[1] : 0;
}

int execute_turn(const problem *p, const gemm_contender *who, int calls, turn *t)
{
    hsumma_status status;
    double seconds;
    int code, worst;

    problem_refresh(p, who->c);
    quiet_barrier(p->comm);
    seconds = multiply(p, who, calls, &status) / calls;
    quiet_barrier(p->comm); /* whoever is done leaves the cores to the others */
    code = command_code(status);
    quiet_allreduce(&code, &worst, 1, MPI_INT, MPI_MAX, p->comm);
    if (worst) {
        command_fail(p->comm, code, "%s", hsumma_message(p->ctx));
        return worst;
    }
    quiet_allreduce(&seconds, &t->seconds, 1, MPI_DOUBLE, MPI_MAX, p->comm);
    t->comm = t->gemm = t->copy = t->comm_share = NAN;
    if (who->how == API_PLAN)
        read_parts(p, who->plan, t);
    if (p->mach.blas_share > 1)
        sleep_seconds(0.05); /* until idle BLAS threads have stopped spinning */
    return COMMAND_OK;
}
