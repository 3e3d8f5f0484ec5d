/* hsumma coll: the command and its arguments. */
#include <stddef.h>
#include <string.h>

#include "coll/command.h"
#include "report/plot.h"

enum { MOST_RANKS = 4096 };

static void print_help(void)
{
    printf("Usage: hsumma coll --list | --dump | --verify | --from FILE [OPTION...]\n"
           "       mpiexec -n RANKS hsumma coll --op NAME [OPTION...]\n"
           "       mpiexec -n RANKS hsumma coll --pairs [OPTION...]\n"
           "\n"
           "Times collectives and MPI's own, in turns within each repetition. A measurement is a loop of consecutive "
           "calls\n"
           "that lasts at least 200 us (in the simulator one call); the slowest rank counts. Results are checked.\n"
           "\n"
           "Instead of timing\n"
           "  --list                  list the algorithms\n"
           "  --dump                  print the rounds and steps of --alg for --ranks, with their modelled cost\n"
           "  --verify                prove all schedules, or those of --op and --alg, without communication\n"
           "  --pairs                 time messages of 1, 2, 4, ... concurrent pairs of ranks, each in one half of\n"
           "                          the ranks: the throughput relative to one pair, by --bytes\n"
           "  --from FILE             print the table of an earlier run's csv output and, with --plot, draw it\n"
           "\n"
           "Measurement\n"
           "  --op NAME               bcast, reduce, allreduce, allgather or reduce_scatter (default: allreduce)\n"
           "  --alg LIST              all, auto (the library's choice) or names, with parameters in parentheses:\n"
           "                          \"auto,dpml(l=4,k=2)\" (default: all,auto); --dump: one name with parameters;\n"
           "                          --verify: all or one name\n"
           "  --bytes N or FROM..TO   size of the whole vector, up to 4G; 64k is 65536 (default: 8..1M; --dump: 1k)\n"
           "  --factor N              ratio of consecutive sizes (default: 4)\n"
           "  --element NAME          float, double, float_complex, double_complex, int32, int64 (default: double);\n"
           "                          the operation is the sum\n"
           "  --root N                of bcast and reduce (default: 0)\n"
           "\n"
           "Repetitions and output\n"
           "  --repetitions N         (default: 11)\n"
           "  --format table|csv|json (default: table; --list: table or json)\n"
           "  --plot FILE             also draw time against size, as SVG (needs gnuplot)\n"
           "  --verify-bits           also show a checksum of each result, of numbers whose sum depends on\n"
           "                          its order: two devices with equal checksums have equal bits\n"
           "  -q, --quiet             no progress on standard error\n"
           "  -h, --help              this text\n"
           "\n"
           "With --device\n"
           "  --memory device|host    memory of the vectors (default: device); for MPI they are copied to\n"
           "                          pinned host memory and back; --alg nccl is available, too\n"
           "  --init                  also time a new context and each algorithm's first call in it, and\n"
           "                          print after how many calls this pays off against MPI\n"
           "\n"
           "For --dump\n"
           "  --ranks N               (default: 8); with --verify: groups of at most N ranks, a shorter proof\n"
           "  --nodes N               nodes, each with a block of consecutive ranks (default: 1 with --sockets or\n"
           "                          --room, else one per rank)\n"
           "  --sockets N             sockets of each node (default: 1)\n"
           "  --room N                bytes of shared memory of each rank (default: 0)\n"
           "  --rank R                only the steps of this rank (default: the first 8)\n"
           "\n"
           "The context: options of the library\n");
}

/* --- elements ----------------------------------------------------------------------------------------------------- */

coll_element coll_element_of(hsumma_element element)
{
    const coll_element elements[] = {
        [HSUMMA_FLOAT] = {"float", MPI_FLOAT, 4, 4, 0},
        [HSUMMA_DOUBLE] = {"double", MPI_DOUBLE, 8, 8, 0},
        [HSUMMA_FLOAT_COMPLEX] = {"float_complex", MPI_C_FLOAT_COMPLEX, 8, 4, 0},
        [HSUMMA_DOUBLE_COMPLEX] = {"double_complex", MPI_C_DOUBLE_COMPLEX, 16, 8, 0},
        [HSUMMA_INT32] = {"int32", MPI_INT32_T, 4, 4, 1},
        [HSUMMA_INT64] = {"int64", MPI_INT64_T, 8, 8, 1},
    };

    return elements[element];
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

char *coll_word(const char *words, int i)
{
    for (;; i--) {
        const char *end = words;

        for (int depth = 0; *end && (depth > 0 || *end != ','); end++)
            depth += (*end == '(') - (*end == ')');
        if (i == 0)
            return strndup(words, (size_t)(end - words));
        if (!*end)
            return NULL;
        words = end + 1;
    }
}

/* Reads "8" or "8..16M". */
static int read_range(const argument_given *given, void *at)
{
    coll_arguments *args = at;
    char copy[64], *dots;

    if (strlen(given->text) >= sizeof copy)
        return 0;
    strcpy(copy, given->text);
    dots = strstr(copy, "..");
    if (dots)
        *dots = 0;
    if (!parse_int64(copy, &args->from) || !parse_int64(dots ? dots + 2 : copy, &args->to))
        return 0;
    return args->from >= 0 && args->to >= args->from && args->to <= (int64_t)4 << 30;
}

/* Reads an option that selects a mode: row->least. */
static int read_mode(const argument_given *given, void *at)
{
    coll_arguments *args = at;
    coll_mode mode = (coll_mode)given->row->least;

    if (args->mode != COLL_TIME && args->mode != mode)
        return !command_refuse(given->options,
                               "--list, --dump, --verify, --pairs, --from: expected at most one of them");
    args->mode = mode;
    if (given->text)
        args->again = given->text;
    return 1;
}

#define AT(member) .field = offsetof(coll_arguments, member)
static const argument own_arguments[] = {
    {"list", .read = read_mode, .least = COLL_LIST, .value = WITHOUT_VALUE},
    {"dump", .read = read_mode, .least = COLL_DUMP, .value = WITHOUT_VALUE},
    {"verify", .read = read_mode, .least = COLL_VERIFY, .value = WITHOUT_VALUE},
    {"pairs", .read = read_mode, .least = COLL_PAIRS, .value = WITHOUT_VALUE},
    {"from", .read = read_mode, .least = COLL_AGAIN},
    {"op", .read = argument_word, AT(collective), .words = "bcast|reduce|allreduce|allgather|reduce_scatter",
     .expected = "bcast, reduce, allreduce, allgather or reduce_scatter"},
    {"alg", .read = argument_text, AT(algorithm)},
    {"bytes", .read = read_range, .expected = "a number of bytes, or FROM..TO, up to 4G"},
    {"factor", .read = argument_int64, AT(factor), .least = 2, .most = 1 << 20},
    {"repetitions", .read = argument_int, AT(reps), .least = 1, .most = 100000},
    {"element", .read = argument_word, AT(element), .words = "float|double|float_complex|double_complex|int32|int64",
     .expected = "float, double, float_complex, double_complex, int32 or int64"},
    {"root", .read = argument_int, AT(root), .least = 0, .most = INT32_MAX},
    {"format", .read = argument_word, AT(format), .words = "table|csv|json", .expected = "table, csv or json"},
    {"plot", .read = argument_text, AT(plot)},
    {"memory", .read = argument_word, AT(host_memory), .words = "device|host", .expected = "device or host"},
    {"verify-bits", .read = argument_flag, AT(bits)},
    {"init", .read = argument_flag, AT(init)},
    {"ranks", .read = argument_int64, AT(ranks), .least = 1, .most = MOST_RANKS},
    {"nodes", .read = argument_int64, AT(nodes), .least = 1, .most = MOST_RANKS},
    {"sockets", .read = argument_int64, AT(sockets), .least = 1, .most = MOST_RANKS},
    {"room", .read = argument_int64, AT(shared_bytes), .least = 0, .most = INT64_MAX >> 16},
    {"rank", .read = argument_int64, AT(rank), .least = 0, .most = MOST_RANKS - 1},
    {"quiet", 'q', .read = argument_flag, AT(quiet)},
    {"help", 'h', .read = argument_help},
    {.name = NULL}};

/* Sets defaults that depend on other arguments, and checks combinations. */
static int finish(void *of, command_options *options)
{
    coll_arguments *args = of;

    if (command_operands(options))
        return 1;
    if (args->collective < 0 && (args->mode == COLL_TIME || args->mode == COLL_DUMP))
        args->collective = HS_ALLREDUCE;
    if (!args->ranks && args->mode != COLL_VERIFY)
        args->ranks = 8;
    if (args->from < 0) {
        args->from = args->mode == COLL_DUMP ? 1024 : 8;
        args->to = args->mode == COLL_DUMP ? 1024 : 1 << 20;
    }
    if (args->mode != COLL_TIME && args->mode != COLL_AGAIN && args->plot)
        return command_bad_value(options, "plot", args->plot, "a measurement or --from with it");
    if (args->init && args->host_memory)
        return command_bad_value(options, "init", "with --memory host", "--memory device");
    if (args->mode == COLL_LIST && args->format == REPORT_CSV)
        return command_bad_value(options, "format", "csv", "table or json");
    if ((args->mode == COLL_DUMP || args->mode == COLL_VERIFY || args->mode == COLL_AGAIN) &&
        args->format != REPORT_TABLE)
        return command_bad_value(options, "format", args->format == REPORT_CSV ? "csv" : "json",
                                 "table with --dump, --verify and --from");
    if (args->mode != COLL_DUMP)
        return 0;
    if (!args->algorithm)
        return command_refuse(options, "--dump needs an algorithm; give --alg NAME");
    if (args->root >= args->ranks)
        return command_refuse(options, "--root %d: expected less than --ranks %lld", args->root,
                              (long long)args->ranks);
    if (args->rank >= args->ranks)
        return command_refuse(options, "--rank %lld: expected less than --ranks %lld", (long long)args->rank,
                              (long long)args->ranks);
    if (args->nodes > args->ranks)
        return command_refuse(options, "--nodes %lld: expected at most --ranks %lld", (long long)args->nodes,
                              (long long)args->ranks);
    return 0;
}

/* --- the command ------------------------------------------------------------------------------------------------- */

/* Runs a mode that needs only one rank, on rank 0; the others wait. */
static int alone(const coll_arguments *args, MPI_Comm comm)
{
    int rank, code = COMMAND_OK;

    MPI_Comm_rank(comm, &rank);
    if (rank == 0)
        code = args->mode == COLL_LIST    ? coll_list(args)
               : args->mode == COLL_DUMP  ? coll_dump(args)
               : args->mode == COLL_AGAIN ? coll_again(args)
                                          : coll_verify(args);
    quiet_bcast(&code, 1, MPI_INT, 0, comm);
    return code;
}

static int run(const void *of, const char *options, MPI_Comm comm)
{
    const coll_arguments *args = of;
    struct hs_message message = {""};
    const char *complaint = NULL;
    int rank;

    MPI_Comm_rank(comm, &rank);
    if (args->plot && rank == 0)
        complaint = plot_check(args->plot, &message);
    if (command_fail(comm, complaint != NULL, "coll: --plot %s: %s", args->plot, complaint))
        return COMMAND_BAD_INPUT;
    if (args->mode == COLL_PAIRS)
        return coll_pairs(args, comm);
    return args->mode == COLL_TIME ? coll_time(args, options, comm) : alone(args, comm);
}

const subcommand cmd_coll = {
    .name = "coll",
    .summary = "list, prove and print collectives, and time them against MPI's own",
    .help = print_help,
    .ending = "Exit status: 0 done, 1 a check or the run failed, 2 the input was wrong.\n",
    .table = own_arguments,
    .size = sizeof(coll_arguments),
    .defaults =
        &(const coll_arguments){
            .collective = -1, .from = -1, .factor = 4, .reps = 11, .element = HSUMMA_DOUBLE, .sockets = 1, .rank = -1},
    .finish = finish,
    .run = run,
};
