/* hsumma_bench gemm: one product, timed in turns with the local GEMM and with other contenders, and checked. */
#include "gemm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "command.h"
#include "commands.h"
#include "gemm_rate.h"
#include "pblas.h"
#include "problem.h"
#include "report.h"
#include "timing.h"

enum { CONTENDERS = 1 + COMPARE_COUNT };

typedef struct contender {
    gemm_contender who;
    const problem *p; /* with its matrices */
    turn *turns;      /* one per round, and their seconds */
    double *times;
} contender;

/* Everything of one run. The contenders, the measured routine first, share C but for the one in shared memory. */
typedef struct run {
    problem p, shared;
    pblas blacs;
    gemm_rate rate;
    hsumma_plan *plan;
    hsumma_plan_info info; /* of the plan, if there is one */
    char text[400];        /* why there is none */
    contender contenders[CONTENDERS];
    result results[CONTENDERS];
    int count;
    turn *turns; /* of all contenders */
    double *times, *rate_times;
} run;

/* The peak of memory so far, into r: collective. */
static void read_memory(const problem *p, result *r)
{
    int64_t most[3] = {peak_rss(), peak_rss() - problem_bytes(p), problem_bytes(p)}, all[3];

    quiet_allreduce(most, all, 3, MPI_INT64_T, MPI_MAX, p->comm);
    r->peak_rss = all[0];
    r->peak_above = all[1];
    r->matrices = all[2];
}

/* Enters a contender, and makes what it needs. Collective. */
static int add_contender(run *r, const char *name, api how, const problem *p, int reps)
{
    contender *x = &r->contenders[r->count];
    int code = COMMAND_OK;

    if (how >= API_PDGEMM && !r->blacs.made)
        code = pblas_create(&r->blacs, &r->p);
    if (how == API_PLAN && !r->plan) {
        code = problem_plan(&r->p, NULL, &r->plan, r->text, sizeof r->text);
        command_fail(r->p.comm, code && r->text[0], "%s", r->text);
    }
    *x = (contender){{how, r->plan, &r->blacs, p->c.local},
                     p,
                     r->turns + (size_t)r->count * (size_t)reps,
                     r->times + (size_t)r->count * (size_t)reps};
    r->results[r->count].name = name;
    r->results[r->count].how = how;
    r->count++;
    return code;
}

/* Contender i of --compare. */
static int add_compared(run *r, const gemm_arguments *args, compared i)
{
    static const api how[COMPARE_COUNT] = {
        [COMPARE_PLAN] = API_PLAN,
        [COMPARE_CALL] = API_CALL,
        [COMPARE_PDGEMM] = API_PDGEMM,
        [COMPARE_SCALAPACK] = API_SCALAPACK,
    };
    int code = i == COMPARE_SHARED ? problem_share(&r->shared, &r->p) : COMMAND_OK;

    if (code)
        return code;
    return add_contender(r, compared_names[i], i == COMPARE_SHARED ? args->how : how[i],
                         i == COMPARE_SHARED ? &r->shared : &r->p, args->common.reps);
}

static int first_turn(run *r, int calls)
{
    const contender *x = &r->contenders[r->count - 1];
    turn t;
    int code = execute_turn(x->p, &x->who, calls, &t);

    if (!code)
        read_memory(&r->p, &r->results[r->count - 1]);
    return code;
}

/* The warm-ups, ours first and alone, so that its memory is its own. */
static int warm_up(run *r, const gemm_arguments *args)
{
    int code =
        add_contender(r, args->how == API_SCALAPACK ? "scalapack" : "hsumma", args->how, &r->p, args->common.reps);

    if (code || (code = first_turn(r, args->calls)))
        return code;
    for (int i = 0; i < COMPARE_COUNT; i++)
        if (args->compare[i] && ((code = add_compared(r, args, (compared)i)) || (code = first_turn(r, args->calls))))
            return code;
    if ((code = gemm_rate_create(&r->rate, &r->p, args->gemm_threads, args->gemm_local)))
        return code;
    gemm_rate_run(&r->rate, &r->p, args->calls);
    return COMMAND_OK;
}

/* What the plan says of itself, and what its last execution has sent; its workspace. */
static void read_plan(run *r, result *x)
{
    int64_t most[3], all[3];

    hsumma_plan_query(r->plan, &r->info);
    x->node = r->info.node;
    x->chunk = r->info.chunk;
    memcpy(most, (int64_t[]){r->info.bytes_sent, r->info.messages_sent, (int64_t)r->info.workspace_bytes}, sizeof most);
    quiet_allreduce(most, all, 3, MPI_INT64_T, MPI_MAX, r->p.comm);
    x->bytes_max = all[0];
    x->messages_max = all[1];
    x->workspace = all[2];
}

/* After a contender's last turn. Where C has gone on through several calls there is one call more, for the check. */
static int finish_contender(run *r, const gemm_arguments *args, int i)
{
    const contender *x = &r->contenders[i];
    const double *beta = args->common.beta;
    turn t;
    int code;

    r->results[i].bytes_max = r->results[i].messages_max = r->results[i].workspace = -1;
    if (x->who.how == API_PLAN)
        read_plan(r, &r->results[i]);
    if (args->calls > 1 && (beta[0] != 0 || beta[1] != 0) && (code = execute_turn(x->p, &x->who, 1, &t)))
        return code;
    if (args->plant && i == 0)
        check_plant(x->p, x->who.c, args->plant_value, args->plant_row, args->plant_col);
    return check_product(x->p, x->who.c, args->common.check, &r->results[i].check);
}

/* The rounds. */
static int measure(run *r, const gemm_arguments *args)
{
    int code, reps = args->common.reps;

    for (int round = 0; round < reps; round++) {
        for (int i = 0; i < r->count; i++) {
            contender *x = &r->contenders[i];

            if ((code = execute_turn(x->p, &x->who, args->calls, &x->turns[round])))
                return code;
            x->times[round] = x->turns[round].seconds;
            if (round == reps - 1 && (code = finish_contender(r, args, i)))
                return code;
        }
        r->rate_times[round] = gemm_rate_run(&r->rate, &r->p, args->calls);
    }
    return COMMAND_OK;
}

/* The plan. With an API that keeps its plans to itself, one of the same arguments stands for them: made only now, so
 * that its memory and its time are in no measurement. */
static void fill_plan(run *r, result *x)
{
    if (!r->plan && !r->text[0] && problem_plan(&r->p, NULL, &r->plan, r->text, sizeof r->text)) {
        memmove(r->text + 6, r->text, sizeof r->text - 7);
        memcpy(r->text, "none: ", 6);
    }
    x->plan = r->text;
    if (!r->plan)
        return;
    hsumma_plan_query(r->plan, &r->info);
    x->plan = r->info.line;
    x->why = r->info.why;
    double shown = r->info.predicted_gemm_seconds + r->info.predicted_copy_seconds;
    x->predicted = (prediction){.all = r->info.predicted_seconds,
                                .gemm = r->info.predicted_gemm_seconds,
                                .copy = r->info.predicted_copy_seconds,
                                .comm = r->info.predicted_comm_seconds,
                                .visible = fmax(0, r->info.predicted_seconds - shown)};
}

/* The turn of the median time (of two, the shorter one): its parts add up, medians of each part would not. */
static turn typical(const contender *x, int reps)
{
    double middle = spread_of(x->times, reps).median;
    int at = 0;

    for (int i = 1; i < reps; i++)
        if (x->times[i] <= middle && (x->times[at] > middle || x->times[i] > x->times[at]))
            at = i;
    return x->turns[at];
}

/* What a contender has shown. */
static void fill(run *r, int i)
{
    const contender *x = &r->contenders[i];
    result *to = &r->results[i];
    double scale = 0;
    int reps = r->p.args->reps;

    to->times = x->times;
    to->predicted = (prediction){NAN, NAN, NAN, NAN, NAN};
    to->plan = r->blacs.how;
    if (to->how != API_SCALAPACK)
        fill_plan(r, to);
    to->seconds = spread_of(x->times, reps);
    to->gflops = to->seconds.median > 0 ? problem_flops(&r->p) / to->seconds.median * 1e-9 : 0;
    to->ratio = spread_of_ratio(x->times, r->contenders[0].times, reps);
    to->fraction = spread_of_ratio(r->rate_times, x->times, reps); /* as if the products were the same */
    if (r->rate.flops > 0)
        scale = problem_flops(&r->p) / r->rate.flops / r->rate.copies;
    to->fraction.median *= scale;
    to->fraction.min *= scale;
    to->fraction.max *= scale;
    to->typical = typical(x, reps);
}

/* Rounds for every contender and the GEMM rate. */
static int make_room(run *r, int reps, MPI_Comm comm)
{
    r->turns = calloc((size_t)reps * CONTENDERS, sizeof *r->turns);
    r->times = calloc((size_t)reps * (CONTENDERS + 1), sizeof *r->times);
    r->rate_times = r->times ? r->times + (size_t)reps * CONTENDERS : NULL;
    return command_fail(comm, !r->turns || !r->times, "no memory for %d repetitions", reps);
}

/* Measures, checks, prints. */
static int carry_out(run *r, const gemm_arguments *args, const char *options, MPI_Comm comm)
{
    gemm_report report;
    int code, reps = args->common.reps, bad = 0;

    if (make_room(r, reps, comm))
        return COMMAND_INTERNAL;
    if ((code = problem_create(&r->p, &args->common, options, comm)))
        return code;
    if ((code = warm_up(r, args)) || (code = measure(r, args)))
        return code;
    for (int i = 0; i < r->count; i++)
        fill(r, i);
    report = (gemm_report){&r->p,      &r->rate, r->rate_times, spread_of(r->rate_times, reps),
                           r->results, r->count, args->calls,   r->plan ? &r->info : NULL,
                           args->plant};
    if (r->p.rank == 0)
        bad = !report_gemm(&report, stdout);
    if (command_fail(comm, bad, "the report could not be written"))
        return COMMAND_INTERNAL;
    for (int i = 0; i < r->count; i++)
        bad |= !r->results[i].check.passed;
    return bad ? COMMAND_INTERNAL : COMMAND_OK;
}

int cmd_gemm(int argc, char **argv, MPI_Comm comm)
{
    gemm_arguments args;
    command_options options;
    run r;
    int rank, bad, code;

    MPI_Comm_rank(comm, &rank);
    memset(&r, 0, sizeof r);
    r.p.mach.node = MPI_COMM_NULL;
    bad = gemm_arguments_read(&args, &options, argc, argv);
    if (command_fail(comm, bad, "gemm: %s", options.error)) {
        code = COMMAND_BAD_INPUT;
    } else if (args.common.help) {
        if (rank == 0)
            gemm_arguments_help();
        code = COMMAND_OK;
    } else {
        code = carry_out(&r, &args, options.text, comm);
    }
    gemm_rate_free(&r.rate);
    pblas_free(&r.blacs);
    hsumma_plan_free(&r.plan);
    problem_unshare(&r.shared);
    problem_free(&r.p);
    free(r.turns);
    free(r.times);
    command_options_free(&options);
    return code;
}
