/* The arguments of hsumma gemm. */
#include "gemm/command.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

const char *const compared_names[COMPARE_COUNT] = {"plan",     "call",   "pdgemm",    "guarded",
                                                   "anywhere", "shared", "scalapack", "device"};
const char *const memory_names[MEMORY_COUNT] = {"default", "host", "device", "mixed"};

static void print_help(void)
{
    printf(
        "Usage: mpiexec -n RANKS hsumma gemm [OPTION...]\n"
        "\n"
        "Times one distributed product: the slowest rank, from a common start, with C restored before each run.\n"
        "Contenders run in turns within each round, so that ratios compare neighbouring measurements. For comparison\n"
        "it prints the GEMM rate: that of one process with the BLAS threads of a node, times the number of nodes (not\n"
        "with --device, nor in the simulator).\n"
        "\n");
    arguments_help();
    arguments_help_run("timed repetitions after one warm-up, which the simulator omits (default: 5)",
                       "also compare 64 entries of C per process with direct sums, and every row with\n"
                       "                          a strict bound; a weaker bound on the residual is always checked",
                       "table|csv|json");
    printf(
        "  --api NAME              the routine that is timed (default: plan)%s:\n"
        "                            plan       hsumma_plan_execute on an existing plan\n"
        "                            call       hsumma_?gemm, which caches its plans\n"
        "                            pdgemm     hsumma_p?gemm_, the drop-in routine; it receives the library's\n"
        "                                       options by the environment\n"
        "                            scalapack  ScaLAPACK's own p?gemm, e.g. to see its memory\n"
        "  --calls N               for small products: N consecutive calls in each repetition, whose time is\n"
        "                          divided by N. C is restored before the first call only, so |beta| must not\n"
        "                          exceed 1; with beta = 0 the last call's C is checked, else that of an\n"
        "                          additional call (default: 1)\n"
        "  --best                  grids and layouts of hsumma_desc_best; --order, --nb and --layout have no effect,\n"
        "                          --layers L has; not with --grid, --link, pdgemm or scalapack\n"
        "  --compare LIST          also run these, separated by commas, in turns, and print the ratios: scalapack,\n"
        "                          plan, call or pdgemm as above; guarded (plan with option guard=product);\n"
        "                          anywhere (plan with option bits=anywhere); shared\n"
        "                          (the timed routine with matrices of hsumma_malloc; with a device, in its memory,\n"
        "                          as contender resident); device (the whole product by one process on its device,\n"
        "                          which the column \"of GEMM\" then refers to)\n"
        "  --memory host|device|mixed\n"
        "                          with --device, the memory of A, B and C; mixed: A and C on the device, B on\n"
        "                          the host (default: device). With matrices on the host, the product of device\n"
        "                          matrices and the copies alone are timed, too, in turns. --api pdgemm and\n"
        "                          scalapack need host\n"
        "  --gemm-threads N        BLAS threads for the GEMM rate, on the cores of all ranks of the node (default:\n"
        "                          the ranks of the node, at most one per core)\n"
        "  --gemm-local            take as GEMM rate that of rank 0's part of C alone, by one thread, times the\n"
        "                          processes of the grid\n"
        "  --link RATE             rate of a node's link in each direction: 1gbit, 100mbit, 64kbit (powers of 1000).\n"
        "                          Also print each time divided by the sum of two: that of this link for the bytes\n"
        "                          that must enter the busiest node, and that of the local GEMMs, all ranks at\n"
        "                          once. Not with --device, nor in the simulator\n"
        "\n"
        "Testing\n"
        "  --plant-error VALUE@I,J add VALUE to entry (I, J) of C (from 0) before the check, which must fail\n"
        "\n"
        "The plan: options of the library\n",
        HSUMMA_HAVE_SCALAPACK ? "" : "; this build has no ScaLAPACK, only plan and call");
}

/* Reads "1e-9@3,4". */
static int read_plant(const argument_given *given, void *target)
{
    gemm_arguments *args = target;
    char copy[128], *at, *comma;

    if (strlen(given->text) >= sizeof copy)
        return 0;
    strcpy(copy, given->text);
    at = strchr(copy, '@');
    comma = at ? strchr(at, ',') : NULL;
    if (!comma)
        return 0;
    *at = *comma = 0;
    args->plant = 1;
    return parse_double(copy, &args->plant_value) && parse_int64(at + 1, &args->plant_row) &&
           parse_int64(comma + 1, &args->plant_col) && args->plant_row >= 0 && args->plant_col >= 0;
}

/* Reads "1gbit". */
static int read_link(const argument_given *given, void *at)
{
    static const char *const unit[] = {"bit", "kbit", "mbit", "gbit"};
    char *end;
    double rate = strtod(given->text, &end);

    for (int i = 0; i < 4; i++, rate *= 1000)
        if (!strcmp(end, unit[i]) && isfinite(rate) && rate > 0) {
            *(double *)at = rate;
            return 1;
        }
    return 0;
}

/* Reads "shared,scalapack". */
static int read_compare(const argument_given *given, void *at)
{
    int bits = parse_words(given->row->words, given->text);

    *(int *)at |= bits > 0 ? bits : 0;
    return bits > 0;
}

#define AT(member) .field = offsetof(gemm_arguments, member)
static const argument own_arguments[] = {
    {.rows = arguments_all, AT(common)},
    {"compare", .read = read_compare, AT(compare), .words = "plan|call|pdgemm|guarded|anywhere|shared|scalapack|device",
     .expected = "a list NAME,... of plan, call, pdgemm, guarded, anywhere, shared, scalapack, device"},
    {"plant-error", .read = read_plant, .expected = "VALUE@I,J with I and J at least 0, e.g. 1e-9@3,4"},
    {"api", .read = argument_word, AT(how), .words = "plan|call|pdgemm|scalapack",
     .expected = "plan, call, pdgemm or scalapack"},
    {"best", .read = argument_flag, AT(common.best)},
    {"calls", .read = argument_int, AT(calls), .least = 1, .most = 1000000000,
     .expected = "a number of calls from 1 to 1000000000"},
    {"gemm-threads", .read = argument_int, AT(gemm_threads), .least = 1, .most = 1024,
     .expected = "a number of threads from 1 to 1024"},
    {"gemm-local", .read = argument_flag, AT(gemm_local)},
    {"link", .read = read_link, AT(link),
     .expected = "a positive number with bit, kbit, mbit or gbit (powers of 1000 bits/s), e.g. 1gbit"},
    {"memory", .read = argument_word, AT(memory), .words = "host|device|mixed", .least = MEMORY_HOST,
     .expected = "host, device or mixed"},
    {.name = NULL}};

/* An argument that needs ScaLAPACK; NULL if none does. */
static const char *foreign_word(const gemm_arguments *args)
{
    return args->compare & 1 << COMPARE_SCALAPACK ? "compare scalapack"
           : args->compare & 1 << COMPARE_PDGEMM  ? "compare pdgemm"
           : args->how == API_PDGEMM              ? "api pdgemm"
           : args->how == API_SCALAPACK           ? "api scalapack"
                                                  : NULL;
}

/* Checks combinations of arguments, and exports the library's options for p?gemm, which reads the environment. */
static int finish(void *of, command_options *options)
{
    gemm_arguments *args = of;
    const double *beta = args->common.beta;
    const char *foreign = foreign_word(args);

    if (arguments_finish(&args->common, options))
        return 1;
    if (args->plant && (args->plant_row >= args->common.m || args->plant_col >= args->common.n))
        return command_refuse(options, "--plant-error ...@%lld,%lld: expected a row below %lld and a column below %lld",
                              (long long)args->plant_row, (long long)args->plant_col, (long long)args->common.m,
                              (long long)args->common.n);
    if (args->common.best && (foreign || args->common.nprow || args->link > 0))
        return command_refuse(options,
                              "--best: not allowed with --grid, --link, pdgemm or scalapack; omit one of them");
    if (args->calls > 1 && hypot(beta[0], beta[1]) > 1)
        return command_refuse(
            options,
            "--calls %d with |beta| = %g: expected |beta| of at most 1, because each call multiplies C by beta",
            args->calls, hypot(beta[0], beta[1]));
    if (foreign && !HSUMMA_HAVE_SCALAPACK)
        return command_refuse(options,
                              "--%s: this hsumma was built without ScaLAPACK; install it (Debian: "
                              "libscalapack-mpich-dev or libscalapack-openmpi-dev) and build again",
                              foreign);
    if (args->how == API_PDGEMM || (args->compare & 1 << COMPARE_PDGEMM))
        return command_options_export(options);
    return 0;
}

const subcommand cmd_gemm = {
    .name = "gemm",
    .summary = "time and check one product, compared with the local GEMM rate and ScaLAPACK",
    .help = print_help,
    .ending = "Exit status: 0 done, 1 a check or the run failed, 2 the input was wrong.\n",
    .table = own_arguments,
    .size = sizeof(gemm_arguments),
    .defaults = &(const gemm_arguments){.common = ARGUMENTS_DEFAULT(5), .calls = 1},
    .finish = finish,
    .run = gemm_run,
};
