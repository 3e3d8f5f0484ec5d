/* hsumma_bench gemm: one product, timed in turns with the local GEMM and with ScaLAPACK, and checked. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "command.h"
#include "commands.h"
#include "contender_scalapack.h"
#include "gemm_rate.h"
#include "problem.h"
#include "report.h"
#include "timing.h"
#include "turn.h"

enum { OPTION_COMPARE = ARGUMENT_OWN, OPTION_PLANT };

typedef struct gemm_arguments {
    arguments common;
    int scalapack;
    int plant; /* an error is planted */
    double plant_value;
    int64_t plant_row, plant_col;
} gemm_arguments;

/* Everything of one run. */
typedef struct run {
    problem p;
    hsumma_plan *plan;
    gemm_rate rate;
    scalapack other;
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
    printf("  --compare scalapack     run ScaLAPACK's p?gemm in turns and print the ratio%s\n"
           "\nTesting\n"
           "  --plant-error VALUE@I,J add VALUE to entry (I, J) of C (from 0) before the check, which must fail\n"
           "\nThe plan: options of the library\n",
           scalapack_available() ? "" : " (not in this build)");
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

/* Returns nonzero, with options->error set, if something is wrong. */
static int read_arguments(gemm_arguments *args, command_options *options, int argc, char **argv)
{
    static const struct option own[] = {ARGUMENT_OPTIONS,
                                        {"compare", required_argument, NULL, OPTION_COMPARE},
                                        {"plant-error", required_argument, NULL, OPTION_PLANT},
                                        {NULL, 0, NULL, 0}};
    int bad, opt;

    memset(args, 0, sizeof *args);
    arguments_init(&args->common);
    bad = command_options_init(options, own);
    while (!bad && (opt = command_next(options, argc, argv)) != -1) {
        if (opt == '?')
            return 1;
        if (opt == OPTION_COMPARE) {
            args->scalapack = 1;
            bad = strcmp(optarg, "scalapack") && command_bad_value(options, "compare", optarg, "scalapack");
        } else if (opt == OPTION_PLANT) {
            bad = !parse_plant(optarg, args) && command_bad_value(options, "plant-error", optarg, "VALUE@I,J");
        } else {
            bad = arguments_take(&args->common, options, opt) < 0;
        }
    }
    if (bad || args->common.help || arguments_finish(&args->common, options, argc, argv))
        return bad || !args->common.help;
    if (args->plant && (args->plant_row >= args->common.m || args->plant_col >= args->common.n)) {
        snprintf(options->error, sizeof options->error, "--plant-error: there is no entry (%lld, %lld) in C",
                 (long long)args->plant_row, (long long)args->plant_col);
        return 1;
    }
    return 0;
}

/* The peak of memory so far, into r: collective. */
static void read_memory(const problem *p, result *r)
{
    int64_t most[2] = {peak_rss(), peak_rss() - problem_bytes(p)}, all[2];

    quiet_allreduce(most, all, 2, MPI_INT64_T, MPI_MAX, p->comm);
    r->peak_rss = all[0];
    r->peak_above = all[1];
}

/* One turn of ScaLAPACK; the seconds of the slowest rank. */
static double scalapack_turn(run *r)
{
    double seconds, slowest;

    problem_refresh(&r->p, r->other.c);
    quiet_barrier(r->p.comm);
    seconds = scalapack_run(&r->other, &r->p);
    quiet_barrier(r->p.comm);
    quiet_allreduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, r->p.comm);
    if (r->p.mach.blas_share > 1)
        sleep_seconds(0.05); /* until idle BLAS threads have stopped spinning */
    return slowest;
}

/* The warm-ups, ours first and alone, so that its memory is its own, then the rounds. */
static int measure(run *r, const gemm_arguments *args)
{
    turn t;
    int code = execute_turn(&r->p, r->plan, &t);

    if (code)
        return code;
    read_memory(&r->p, &r->results[0]);
    if (args->scalapack && (code = scalapack_create(&r->other, &r->p)))
        return code;
    if ((code = gemm_rate_create(&r->rate, &r->p)))
        return code;
    if (args->scalapack)
        scalapack_turn(r);
    gemm_rate_run(&r->rate, &r->p);
    for (int i = 0; i < args->common.reps; i++) {
        if ((code = execute_turn(&r->p, r->plan, &t)))
            return code;
        r->times[i] = t.seconds;
        r->comm[i] = t.comm;
        r->gemm[i] = t.gemm;
        r->copy[i] = t.copy;
        r->share[i] = t.comm_share;
        if (args->scalapack)
            r->other_times[i] = scalapack_turn(r);
        r->rate_times[i] = gemm_rate_run(&r->rate, &r->p);
    }
    if (args->scalapack)
        read_memory(&r->p, &r->results[1]);
    return COMMAND_OK;
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

static void fill_ours(run *r)
{
    result *x = &r->results[0];
    hsumma_plan_info info;
    int64_t most[3], all[3];
    int reps = r->p.args->reps;

    hsumma_plan_query(r->plan, &info);
    memcpy(most, (int64_t[]){info.bytes_sent, info.messages_sent, (int64_t)info.workspace_bytes}, sizeof most);
    quiet_allreduce(most, all, 3, MPI_INT64_T, MPI_MAX, r->p.comm);
    x->name = "hsumma";
    x->plan = info.line;
    x->why = info.why;
    x->bytes_max = all[0];
    x->messages_max = all[1];
    x->workspace = all[2];
    x->predicted_s = info.predicted_seconds;
    x->comm_share = spread_of(r->share, reps).median;
    x->comm_s = spread_of(r->comm, reps).median;
    x->gemm_s = spread_of(r->gemm, reps).median;
    x->copy_s = spread_of(r->copy, reps).median;
    fill_times(x, r, r->times);
}

static void fill_other(run *r)
{
    result *x = &r->results[1];

    x->name = "scalapack";
    x->plan = r->other.how;
    x->bytes_max = x->messages_max = x->workspace = -1;
    x->predicted_s = x->comm_share = x->comm_s = x->gemm_s = x->copy_s = NAN;
    fill_times(x, r, r->other_times);
}

static int check_results(run *r, const gemm_arguments *args)
{
    int code;

    if (args->plant)
        check_plant(&r->p, r->p.c.local, args->plant_value, args->plant_row, args->plant_col);
    code = check_product(&r->p, r->p.c.local, args->common.check, &r->results[0].check);
    if (!code && args->scalapack)
        code = check_product(&r->p, r->other.c, args->common.check, &r->results[1].check);
    return code;
}

/* Measures, checks, prints. */
static int carry_out(run *r, const gemm_arguments *args, const char *options, MPI_Comm comm)
{
    gemm_report report;
    char text[400];
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
    code = problem_plan(&r->p, NULL, &r->plan, text, sizeof text);
    if (command_fail(comm, code && text[0], "%s", text))
        return code;
    if ((code = measure(r, args)))
        return code;
    fill_ours(r);
    if (args->scalapack)
        fill_other(r);
    if ((code = check_results(r, args)))
        return code;
    report =
        (gemm_report){&r->p, &r->rate, spread_of(r->rate_times, reps), r->results, 1 + args->scalapack, args->plant};
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
    } else if (command_fail(comm, args.scalapack && !scalapack_available(),
                            "gemm: --compare scalapack: this hsumma_bench was built without ScaLAPACK")) {
        code = COMMAND_BAD_INPUT;
    } else {
        code = carry_out(&r, &args, options.text, comm);
    }
    gemm_rate_free(&r.rate);
    scalapack_free(&r.other);
    hsumma_plan_free(&r.plan);
    problem_free(&r.p);
    free(r.times);
    command_options_free(&options);
    return code;
}
