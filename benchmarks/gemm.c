/* hsumma_bench gemm: one product, timed in turns with the local GEMM and with ScaLAPACK, and checked. */
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
#include "turn.h"

enum { OPTION_COMPARE = ARGUMENT_OWN, OPTION_PLANT, OPTION_API, OPTION_CALLS };

typedef struct gemm_arguments {
    arguments common;
    api how;
    int compare; /* with ScaLAPACK */
    int calls;   /* in a row in each repetition */
    int plant;   /* an error is planted */
    double plant_value;
    int64_t plant_row, plant_col;
} gemm_arguments;

/* Everything of one run. */
typedef struct run {
    problem p;
    pblas blacs;
    gemm_rate rate;
    gemm_contender ours, other;
    hsumma_plan_info info;                    /* of the plan, if there is one */
    char text[400];                           /* why there is none */
    double *times, *other_times, *rate_times; /* one per round */
    double *comm, *gemm, *copy, *share;
    result results[2];
} run;

static void print_help(void)
{
    printf("Usage: mpiexec -n RANKS hsumma_bench gemm [OPTION...]\n\n"
           "Times one distributed product: the slowest rank, from a common start, C refreshed before each run.\n"
           "In every round all contenders take their turn, so that ratios compare what was measured side by side.\n"
           "Beside it stands the GEMM rate: one process with the BLAS threads of a node, times the nodes.\n\n");
    arguments_help(stdout);
    printf("  --api NAME              what is timed (default: plan)%s:\n"
           "                            plan       hsumma_plan_execute on a plan made before\n"
           "                            call       hsumma_?gemm, which keeps its plans\n"
           "                            pdgemm     hsumma_p?gemm_, the drop-in routine; it gets the library's options\n"
           "                                       by the environment\n"
           "                            scalapack  ScaLAPACK's p?gemm itself, e.g. to see its memory\n"
           "  --calls N               calls in a row in each repetition, whose time is divided by N: for small\n"
           "                          products. C is refreshed before the first of them only, so |beta| must not\n"
           "                          exceed 1; with beta = 0 the last call's C is checked, else that of one call\n"
           "                          more (default: 1)\n"
           "  --compare scalapack     run ScaLAPACK's p?gemm in turns and print the ratio\n"
           "\nTesting\n"
           "  --plant-error VALUE@I,J add VALUE to entry (I, J) of C (from 0) before the check, which must fail\n"
           "\nThe plan: options of the library\n",
           pblas_available() ? "" : "; this build has no ScaLAPACK, only plan and call");
    command_print_options(stdout);
    printf("\nExit status: 0 done, 1 a check or the run failed, 2 the input was wrong.\n");
}

/* "1e-9@3,4" */
static int parse_plant(const char *text, gemm_arguments *args)
{
    char copy[128], *at, *comma;

    if (strlen(text) >= sizeof copy)
        return 0;
    strcpy(copy, text);
    at = strchr(copy, '@');
    comma = at ? strchr(at, ',') : NULL;
    if (!comma)
        return 0;
    *at = *comma = 0;
    args->plant = 1;
    return parse_double(copy, &args->plant_value) && parse_int64(at + 1, &args->plant_row) &&
           parse_int64(comma + 1, &args->plant_col) && args->plant_row >= 0 && args->plant_col >= 0;
}

static int take_api(gemm_arguments *args, command_options *options)
{
    for (int i = 0; i < API_COUNT; i++)
        if (!strcmp(optarg, api_names[i])) {
            args->how = (api)i;
            return 0;
        }
    return command_bad_value(options, "api", optarg, "plan, call, pdgemm or scalapack");
}

static int take_calls(gemm_arguments *args, command_options *options)
{
    int64_t number;

    if (!parse_int64(optarg, &number) || number < 1 || number > 1000000000)
        return command_bad_value(options, "calls", optarg, "a number of calls from 1 to 1000000000");
    args->calls = (int)number;
    return 0;
}

static int take(gemm_arguments *args, command_options *options, int opt)
{
    switch (opt) {
    case OPTION_COMPARE:
        args->compare = 1;
        return strcmp(optarg, "scalapack") && command_bad_value(options, "compare", optarg, "scalapack");
    case OPTION_PLANT:
        return !parse_plant(optarg, args) && command_bad_value(options, "plant-error", optarg, "VALUE@I,J");
    case OPTION_API:
        return take_api(args, options);
    case OPTION_CALLS:
        return take_calls(args, options);
    default:
        return arguments_take(&args->common, options, opt) < 0;
    }
}

/* What does not fit together. */
static int finish_arguments(gemm_arguments *args, command_options *options, int argc, char **argv)
{
    const double *beta = args->common.beta;

    if (arguments_finish(&args->common, options, argc, argv))
        return 1;
    if (args->plant && (args->plant_row >= args->common.m || args->plant_col >= args->common.n))
        snprintf(options->error, sizeof options->error, "--plant-error: there is no entry (%lld, %lld) in C",
                 (long long)args->plant_row, (long long)args->plant_col);
    else if (args->calls > 1 && hypot(beta[0], beta[1]) > 1)
        snprintf(options->error, sizeof options->error,
                 "--calls %d: expected a beta of at most 1 with it, for C would overflow", args->calls);
    else if ((args->compare || args->how >= API_PDGEMM) && !pblas_available())
        snprintf(options->error, sizeof options->error, "--%s: this hsumma_bench was built without ScaLAPACK",
                 args->compare             ? "compare scalapack"
                 : args->how == API_PDGEMM ? "api pdgemm"
                                           : "api scalapack");
    else if (args->how == API_PDGEMM)
        return command_options_export(options);
    return options->error[0] != 0;
}

/* Returns nonzero, with options->error set, if something is wrong. */
static int read_arguments(gemm_arguments *args, command_options *options, int argc, char **argv)
{
    static const struct option own[] = {ARGUMENT_OPTIONS,
                                        {"compare", required_argument, NULL, OPTION_COMPARE},
                                        {"plant-error", required_argument, NULL, OPTION_PLANT},
                                        {"api", required_argument, NULL, OPTION_API},
                                        {"calls", required_argument, NULL, OPTION_CALLS},
                                        {NULL, 0, NULL, 0}};
    int bad, opt;

    memset(args, 0, sizeof *args);
    arguments_init(&args->common);
    args->calls = 1;
    bad = command_options_init(options, own);
    while (!bad && (opt = command_next(options, argc, argv)) != -1)
        bad = opt == '?' || take(args, options, opt);
    return bad || (!args->common.help && finish_arguments(args, options, argc, argv));
}

/* The peak of memory so far, into r: collective. */
static void read_memory(const problem *p, result *r)
{
    int64_t most[3] = {peak_rss(), peak_rss() - problem_bytes(p), problem_bytes(p)}, all[3];

    quiet_allreduce(most, all, 3, MPI_INT64_T, MPI_MAX, p->comm);
    r->peak_rss = all[0];
    r->peak_above = all[1];
    r->matrices = all[2];
}

/* What the measured routine needs. */
static int make_ours(run *r, const gemm_arguments *args)
{
    int code = COMMAND_OK;

    r->ours = (gemm_contender){args->how, NULL, &r->blacs, r->p.c.local};
    if (args->how >= API_PDGEMM)
        return pblas_create(&r->blacs, &r->p);
    if (args->how == API_PLAN) {
        code = problem_plan(&r->p, NULL, &r->ours.plan, r->text, sizeof r->text);
        command_fail(r->p.comm, code && r->text[0], "%s", r->text);
    }
    return code;
}

static int make_other(run *r)
{
    int code = r->blacs.made ? COMMAND_OK : pblas_create(&r->blacs, &r->p), good;

    if (code)
        return code;
    r->other = (gemm_contender){API_SCALAPACK, NULL, &r->blacs, NULL};
    good = !r->p.c.bytes || !posix_memalign(&r->other.c, 64, r->p.c.bytes);
    if (command_fail(r->p.comm, !good, "no memory for ScaLAPACK's copy of C, %zu bytes", r->p.c.bytes))
        return COMMAND_INTERNAL;
    return COMMAND_OK;
}

/* The warm-ups, ours first and alone, so that its memory is its own. */
static int warm_up(run *r, const gemm_arguments *args)
{
    turn t;
    int code = make_ours(r, args);

    if (code || (code = execute_turn(&r->p, &r->ours, args->calls, &t)))
        return code;
    read_memory(&r->p, &r->results[0]);
    if (args->compare && ((code = make_other(r)) || (code = execute_turn(&r->p, &r->other, args->calls, &t))))
        return code;
    if ((code = gemm_rate_create(&r->rate, &r->p)))
        return code;
    gemm_rate_run(&r->rate, &r->p, args->calls);
    return COMMAND_OK;
}

/* The rounds. Where C has gone on through several calls there is one call more, for the check. */
static int measure(run *r, const gemm_arguments *args)
{
    const double *beta = args->common.beta;
    turn t;
    int code;

    for (int i = 0; i < args->common.reps; i++) {
        if ((code = execute_turn(&r->p, &r->ours, args->calls, &t)))
            return code;
        r->times[i] = t.seconds;
        r->comm[i] = t.comm;
        r->gemm[i] = t.gemm;
        r->copy[i] = t.copy;
        r->share[i] = t.comm_share;
        if (args->compare && (code = execute_turn(&r->p, &r->other, args->calls, &t)))
            return code;
        r->other_times[i] = t.seconds;
        r->rate_times[i] = gemm_rate_run(&r->rate, &r->p, args->calls);
    }
    if (args->compare)
        read_memory(&r->p, &r->results[1]);
    if (args->calls == 1 || (beta[0] == 0 && beta[1] == 0))
        return COMMAND_OK;
    code = execute_turn(&r->p, &r->ours, 1, &t);
    return code || !args->compare ? code : execute_turn(&r->p, &r->other, 1, &t);
}

/* What is derived from the times of any contender. */
static void fill_times(result *x, const run *r, const double *times)
{
    double nodes = r->p.mach.nodes, scale = 0;
    int reps = r->p.args->reps;

    x->seconds = spread_of(times, reps);
    x->gflops = x->seconds.median > 0 ? problem_flops(&r->p) / x->seconds.median * 1e-9 : 0;
    x->ratio = spread_of_ratio(times, r->times, reps);
    x->fraction = spread_of_ratio(r->rate_times, times, reps); /* as if the products were the same */
    if (r->rate.flops > 0)
        scale = problem_flops(&r->p) / r->rate.flops / nodes;
    x->fraction.median *= scale;
    x->fraction.min *= scale;
    x->fraction.max *= scale;
}

/* The plan, what its last execution has sent, and its workspace. With an API that keeps its plans to itself, one of the
 * same arguments stands for them: made only now, so that its memory and its time are in no measurement. */
static void fill_plan(run *r)
{
    result *x = &r->results[0];
    int64_t most[3], all[3];

    if (!r->ours.plan && problem_plan(&r->p, NULL, &r->ours.plan, r->text, sizeof r->text)) {
        memmove(r->text + 6, r->text, sizeof r->text - 7);
        memcpy(r->text, "none: ", 6);
        x->plan = r->text;
        return;
    }
    hsumma_plan_query(r->ours.plan, &r->info);
    x->plan = r->info.line;
    x->why = r->info.why;
    x->predicted_s = r->info.predicted_seconds;
    if (r->ours.how != API_PLAN)
        return;
    memcpy(most, (int64_t[]){r->info.bytes_sent, r->info.messages_sent, (int64_t)r->info.workspace_bytes}, sizeof most);
    quiet_allreduce(most, all, 3, MPI_INT64_T, MPI_MAX, r->p.comm);
    x->bytes_max = all[0];
    x->messages_max = all[1];
    x->workspace = all[2];
}

static void fill(run *r, int which, const double *times)
{
    result *x = &r->results[which];
    int reps = r->p.args->reps;

    x->how = which ? r->other.how : r->ours.how;
    x->name = x->how == API_SCALAPACK ? "scalapack" : "hsumma";
    x->plan = r->blacs.how;
    x->bytes_max = x->messages_max = x->workspace = -1;
    x->predicted_s = x->comm_share = x->comm_s = x->gemm_s = x->copy_s = NAN;
    if (x->how != API_SCALAPACK)
        fill_plan(r);
    if (x->how == API_PLAN) {
        x->comm_share = spread_of(r->share, reps).median;
        x->comm_s = spread_of(r->comm, reps).median;
        x->gemm_s = spread_of(r->gemm, reps).median;
        x->copy_s = spread_of(r->copy, reps).median;
    }
    fill_times(x, r, times);
}

static int check_results(run *r, const gemm_arguments *args)
{
    int code;

    if (args->plant)
        check_plant(&r->p, r->p.c.local, args->plant_value, args->plant_row, args->plant_col);
    code = check_product(&r->p, r->p.c.local, args->common.check, &r->results[0].check);
    if (!code && args->compare)
        code = check_product(&r->p, r->other.c, args->common.check, &r->results[1].check);
    return code;
}

/* Measures, checks, prints. */
static int carry_out(run *r, const gemm_arguments *args, const char *options, MPI_Comm comm)
{
    gemm_report report;
    int code, reps = args->common.reps, bad = 0;

    r->times = calloc((size_t)reps * 7, sizeof *r->times);
    if (command_fail(comm, !r->times, "no memory for %d repetitions", reps))
        return COMMAND_INTERNAL;
    r->other_times = r->times + reps;
    r->rate_times = r->other_times + reps;
    r->comm = r->rate_times + reps;
    r->gemm = r->comm + reps;
    r->copy = r->gemm + reps;
    r->share = r->copy + reps;
    if ((code = problem_create(&r->p, &args->common, options, comm)))
        return code;
    if ((code = warm_up(r, args)) || (code = measure(r, args)))
        return code;
    fill(r, 0, r->times);
    if (args->compare)
        fill(r, 1, r->other_times);
    if ((code = check_results(r, args)))
        return code;
    report = (gemm_report){&r->p,
                           &r->rate,
                           spread_of(r->rate_times, reps),
                           r->results,
                           1 + args->compare,
                           args->calls,
                           r->ours.plan ? &r->info : NULL,
                           args->plant};
    if (r->p.rank == 0)
        bad = !report_gemm(&report, stdout);
    if (command_fail(comm, bad, "the report could not be written"))
        return COMMAND_INTERNAL;
    return r->results[0].check.passed ? COMMAND_OK : COMMAND_INTERNAL;
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
    bad = read_arguments(&args, &options, argc, argv);
    if (command_fail(comm, bad, "gemm: %s", options.error)) {
        code = COMMAND_BAD_INPUT;
    } else if (args.common.help) {
        if (rank == 0)
            print_help();
        code = COMMAND_OK;
    } else {
        code = carry_out(&r, &args, options.text, comm);
    }
    gemm_rate_free(&r.rate);
    free(r.other.c);
    pblas_free(&r.blacs);
    hsumma_plan_free(&r.ours.plan);
    problem_free(&r.p);
    free(r.times);
    command_options_free(&options);
    return code;
}
