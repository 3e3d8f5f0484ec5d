/* hsumma_bench gemm: one product, timed in turns with the local GEMM and with other contenders, and checked. */
#include "gemm/command.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check/result.h"
#include "common/command.h"
#include "gemm/alone.h"
#include "gemm/floor.h"
#include "gemm/rate.h"
#include "gemm/report.h"
#include "measure/timing.h"
#include "product/pblas.h"
#include "product/problem.h"

enum { CONTENDERS = 1 + COMPARE_COUNT };

typedef struct contender {
    gemm_contender who;
    const problem *p; /* with its matrices */
    int alone;        /* the whole product by one process: r->alone */
    turn *turns;      /* one per round, and their seconds */
    double *times;
} contender;

/* Everything of one run. The contenders, the measured routine first, share C but for those in memory of hsumma_malloc.
 */
typedef struct run {
    problem p, placed, shared; /* placed: as --memory says, if not as p */
    const problem *measured;   /* p or placed */
    const char *options;       /* of the context */
    gemm_alone alone;
    gemm_floor floor;      /* if host-resident matrices are multiplied on a device */
    int floored, resident; /* whether so; the contender with all on the device, 0: none */
    floor_result under;
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
                     0,
                     r->turns + (size_t)r->count * (size_t)reps,
                     r->times + (size_t)r->count * (size_t)reps};
    r->results[r->count].name = name;
    r->results[r->count].api = api_names[how];
    r->count++;
    return code;
}

/* All in the device's memory.  What was not asked for may find no room there. */
static int add_resident(run *r, const gemm_arguments *args)
{
    int code = problem_share(&r->shared, &r->p, SHARE_ALL, !args->compare[COMPARE_SHARED]);

    if (code)
        problem_unshare(&r->shared);
    if (code)
        return args->compare[COMPARE_SHARED] ? code : COMMAND_OK;
    r->resident = r->count;
    return add_contender(r, problem_on_device(&r->p) ? "resident" : "shared", args->how, &r->shared, args->common.reps);
}

static int add_alone(run *r, const gemm_arguments *args)
{
    int code = gemm_alone_create(&r->alone, &r->p, r->options);

    if (!code)
        code = add_contender(r, compared_names[COMPARE_DEVICE], API_PLAN, &r->p, args->common.reps);
    r->contenders[r->count - 1].alone = !code;
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

    if (i == COMPARE_SHARED)
        return add_resident(r, args);
    if (i == COMPARE_DEVICE)
        return add_alone(r, args);
    return add_contender(r, compared_names[i], how[i], how[i] >= API_PDGEMM ? &r->p : r->measured, args->common.reps);
}

static int take_turn(run *r, const contender *x, int calls, turn *t)
{
    return x->alone ? gemm_alone_turn(&r->alone, &r->p, calls, t) : execute_turn(x->p, &x->who, calls, t);
}

static int first_turn(run *r, int calls)
{
    turn t;
    int code = take_turn(r, &r->contenders[r->count - 1], calls, &t);

    if (!code)
        read_memory(&r->p, &r->results[r->count - 1]);
    return code;
}

/* Where A, B and C lie, and what goes with that. */
static int place(run *r, const gemm_arguments *args)
{
    static const int which[MEMORY_COUNT] = {[MEMORY_DEVICE] = SHARE_ALL, [MEMORY_MIXED] = SHARE_A | SHARE_C};
    int device = problem_on_device(&r->p), code = COMMAND_OK;
    gemm_memory memory = args->memory ? args->memory : device ? MEMORY_DEVICE : MEMORY_HOST;

    if (command_fail(r->p.comm, !device && (memory != MEMORY_HOST || args->compare[COMPARE_DEVICE]),
                     "--%s: the context has no device; expected --device with it",
                     memory != MEMORY_HOST ? "memory device or mixed" : "compare device") ||
        command_fail(r->p.comm, args->how >= API_PDGEMM && memory != MEMORY_HOST,
                     "--api %s: expected --memory host with it", api_names[args->how]))
        return COMMAND_BAD_INPUT;
    r->measured = which[memory] ? &r->placed : &r->p;
    r->floored = device && memory != MEMORY_DEVICE;
    if (which[memory])
        code = problem_share(&r->placed, &r->p, which[memory], 0);
    return code || !r->floored ? code : gemm_floor_create(&r->floor, r->measured, args->common.reps);
}

/* The warm-ups, ours first and alone, so that its memory is its own. */
static int warm_up(run *r, const gemm_arguments *args)
{
    int code = place(r, args), before;

    if (code)
        return code;
    code = add_contender(r, args->how == API_SCALAPACK ? "scalapack" : "hsumma", args->how, r->measured,
                         args->common.reps);
    if (code || (code = first_turn(r, args->calls)))
        return code;
    for (int i = 0; i < COMPARE_COUNT; i++) {
        int wanted = args->compare[i] || (i == COMPARE_SHARED && r->floored);

        before = r->count;
        if (wanted &&
            ((code = add_compared(r, args, (compared)i)) || (r->count > before && (code = first_turn(r, args->calls)))))
            return code;
    }
    if (problem_on_device(&r->p))
        return COMMAND_OK;
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
    hsumma_status status;
    turn t;
    int code;
    void *c;

    r->results[i].bytes_max = r->results[i].messages_max = r->results[i].workspace = -1;
    if (x->who.how == API_PLAN && !x->alone)
        read_plan(r, &r->results[i]);
    if (args->calls > 1 && (beta[0] != 0 || beta[1] != 0) && (code = take_turn(r, x, 1, &t)))
        return code;
    if (x->alone)
        return gemm_alone_check(&r->alone, &r->p, args->common.check, &r->results[i].check);
    status = problem_fetch(x->p, x->who.c, &c);
    if (command_fail(r->p.comm, status != HSUMMA_OK, "%s", hsumma_message(r->p.ctx)))
        return COMMAND_INTERNAL;
    if (args->plant && i == 0)
        check_plant(x->p, c, args->plant_value, args->plant_row, args->plant_col);
    return check_product(x->p, c, args->common.check, &r->results[i].check);
}

/* The rounds. */
static int measure(run *r, const gemm_arguments *args)
{
    int code, reps = args->common.reps;

    for (int round = 0; round < reps; round++) {
        for (int i = 0; i < r->count; i++) {
            contender *x = &r->contenders[i];

            if ((code = take_turn(r, x, args->calls, &x->turns[round])))
                return code;
            x->times[round] = x->turns[round].seconds;
            if (round == reps - 1 && (code = finish_contender(r, args, i)))
                return code;
        }
        if (r->floored && (code = gemm_floor_turn(&r->floor, r->measured)))
            return code;
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

/* Of the GEMM rate, as if the products were the same; on a device, of what one process alone does on its own. */
static spread fraction_of(const run *r, const contender *x, int reps)
{
    spread all = {NAN, NAN, NAN};
    double scale = r->rate.flops > 0 ? problem_flops(&r->p) / r->rate.flops / r->rate.copies : 0;

    for (int i = 0; i < r->count; i++)
        if (r->contenders[i].alone)
            return spread_of_ratio(r->contenders[i].times, x->times, reps);
    if (problem_on_device(&r->p))
        return all;
    all = spread_of_ratio(r->rate_times, x->times, reps);
    return (spread){all.median * scale, all.min * scale, all.max * scale};
}

/* What a contender has shown. */
static void fill(run *r, int i)
{
    const contender *x = &r->contenders[i];
    result *to = &r->results[i];
    int reps = r->p.args->reps;

    to->times = x->times;
    to->predicted = (prediction){NAN, NAN, NAN, NAN, NAN};
    to->plan = r->blacs.how;
    if (x->alone)
        to->plan = "the whole product by one process";
    else if (x->who.how != API_SCALAPACK)
        fill_plan(r, to);
    to->seconds = spread_of(x->times, reps);
    to->gflops = to->seconds.median > 0 ? problem_flops(&r->p) / to->seconds.median * 1e-9 : 0;
    to->ratio = spread_of_ratio(x->times, r->contenders[0].times, reps);
    to->fraction = fraction_of(r, x, reps);
    to->typical = typical(x, reps);
    to->row_error = to->check.strict ? to->check.row_error : NAN;
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
    r->options = options;
    if ((code = problem_create(&r->p, &args->common, options, comm)))
        return code;
    if ((code = warm_up(r, args)) || (code = measure(r, args)))
        return code;
    for (int i = 0; i < r->count; i++)
        fill(r, i);
    if (r->resident)
        r->under = gemm_floor_judge(&r->floor, r->contenders[0].times, r->contenders[r->resident].times);
    report = (gemm_report){.p = r->measured,
                           .rate = &r->rate,
                           .rate_times = r->rate_times,
                           .rate_seconds = spread_of(r->rate_times, reps),
                           .results = r->results,
                           .how = args->how,
                           .count = r->count,
                           .calls = args->calls,
                           .info = r->plan ? &r->info : NULL,
                           .planted = args->plant,
                           .floor = &r->under};
    if (r->p.rank == 0)
        bad = !report_gemm(&report, stdout);
    if (command_fail(comm, bad, "the report could not be written"))
        return COMMAND_INTERNAL;
    for (int i = 0; i < r->count; i++)
        bad |= !r->results[i].check.passed;
    return bad ? COMMAND_INTERNAL : COMMAND_OK;
}

int gemm_run(const void *args, const char *options, MPI_Comm comm)
{
    run r = {.p.mach.node = MPI_COMM_NULL};
    int code = carry_out(&r, args, options, comm);

    gemm_rate_free(&r.rate);
    pblas_free(&r.blacs);
    hsumma_plan_free(&r.plan);
    gemm_alone_free(&r.alone);
    gemm_floor_free(&r.floor, &r.p);
    problem_unshare(&r.shared);
    problem_unshare(&r.placed);
    problem_free(&r.p);
    free(r.turns);
    free(r.times);
    return code;
}
