/* The arguments of hsumma_bench coll. */
#include <stdlib.h>
#include <string.h>

#include "coll/command.h"
#include "coll/costs.h"

enum {
    COLL_OPTION_LIST = 0x100,
    COLL_OPTION_DUMP,
    COLL_OPTION_VERIFY,
    COLL_OPTION_OP,
    COLL_OPTION_ALG,
    COLL_OPTION_BYTES,
    COLL_OPTION_FACTOR,
    COLL_OPTION_REPS,
    COLL_OPTION_ELEMENT,
    COLL_OPTION_ROOT,
    COLL_OPTION_FORMAT,
    COLL_OPTION_PLOT,
    COLL_OPTION_FROM,
    COLL_OPTION_MEMORY,
    COLL_OPTION_BITS,
    COLL_OPTION_INIT,
    COLL_OPTION_RANKS,
    COLL_OPTION_NODES,
    COLL_OPTION_SOCKETS,
    COLL_OPTION_ROOM,
    COLL_OPTION_RANK
};

enum { MOST_RANKS = 4096 };

void coll_help(void)
{
    printf("Usage: hsumma_bench coll --list | --dump | --verify | --from FILE [OPTION...]\n"
           "       mpiexec -n RANKS hsumma_bench coll --op NAME [OPTION...]\n\n"
           "Times collectives beside MPI's own: in every repetition all take their turn. A measurement is a loop of "
           "calls\n"
           "back to back that lasts 200 us at least, of the slowest rank. Results are checked.\n\n"
           "What to do, if not that\n"
           "  --list                  the algorithms\n"
           "  --dump                  the rounds and steps of --alg for --ranks, and what they cost by the model\n"
           "  --verify                prove all schedules, or those of --op and --alg, in this process\n"
           "  --from FILE             what a run has printed as csv: its table and, with --plot, its drawing\n\n"
           "What\n"
           "  --op NAME               bcast, reduce, allreduce, allgather or reduce_scatter (default: allreduce)\n"
           "  --alg LIST              all, auto (what the library chooses) or names, with parameters in brackets:\n"
           "                          \"auto,dpml(l=4,k=2)\" (default: all,auto)\n"
           "  --bytes N or FROM..TO   of the whole vector; 64k is 65536 (default: 8..1M; --dump: 1k)\n"
           "  --factor N              from one size to the next (default: 4)\n"
           "  --element NAME          float, double, float_complex, double_complex, int32, int64 (default: double);\n"
           "                          the operation is the sum\n"
           "  --root N                (default: 0)\n\n"
           "How\n"
           "  --repetitions N         (default: 11)\n"
           "  --format table|csv|json (default: table; --list: table or json)\n"
           "  --plot FILE             also draw time against size, as SVG, by gnuplot\n"
           "  --verify-bits           also show a checksum of each result, of numbers whose sum depends\n"
           "                          on its order: two devices that show the same have the same bits\n"
           "  -h, --help              this text\n\n"
           "With --device\n"
           "  --memory device|host    where vectors lie (default: device); MPI gets them by copies to\n"
           "                          pinned memory of the host and back; --alg knows nccl, too\n"
           "  --init                  also time a new context and each algorithm's first call in it:\n"
           "                          after how many calls has it made up for that against MPI\n\n"
           "Of --dump\n"
           "  --ranks N               (default: 8); of --verify: groups of up to so many, for a shorter proof\n"
           "  --nodes N               blocks of consecutive ranks (default: 1 with --sockets or --room, else one per "
           "rank)\n"
           "  --sockets N             of each node (default: 1)\n"
           "  --room N                bytes of shared memory that each rank has (default: 0)\n"
           "  --rank R                the steps of this rank (default: of all, up to 8)\n"
           "\nThe context: options of the library\n");
    command_print_options(stdout);
    printf("\nExit status: 0 done, 1 a check or the run failed, 2 the input was wrong.\n");
}

/* --- elements ----------------------------------------------------------------------------------------------------- */

enum { ELEMENT_KINDS = HSUMMA_INT64 + 1 };

coll_element coll_element_of(hsumma_element element)
{
    switch (element) {
    case HSUMMA_FLOAT:
        return (coll_element){"float", sizeof(float), MPI_FLOAT};
    case HSUMMA_FLOAT_COMPLEX:
        return (coll_element){"float_complex", 2 * sizeof(float), MPI_C_FLOAT_COMPLEX};
    case HSUMMA_DOUBLE_COMPLEX:
        return (coll_element){"double_complex", 2 * sizeof(double), MPI_C_DOUBLE_COMPLEX};
    case HSUMMA_INT32:
        return (coll_element){"int32", sizeof(int32_t), MPI_INT32_T};
    case HSUMMA_INT64:
        return (coll_element){"int64", sizeof(int64_t), MPI_INT64_T};
    default:
        return (coll_element){"double", sizeof(double), MPI_DOUBLE};
    }
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

/* "8" or "8..16M" */
static int parse_range(const char *text, int64_t *from, int64_t *to)
{
    char copy[64], *dots;

    if (strlen(text) >= sizeof copy)
        return 0;
    strcpy(copy, text);
    dots = strstr(copy, "..");
    if (dots)
        *dots = 0;
    if (!parse_int64(copy, from) || !parse_int64(dots ? dots + 2 : copy, to))
        return 0;
    return *from >= 0 && *to >= *from && *to <= (int64_t)4 << 30;
}

static int parse_element(const char *text, hsumma_element *element)
{
    int e = 0;

    while (e < ELEMENT_KINDS && strcmp(text, coll_element_of((hsumma_element)e).name))
        e++;
    *element = (hsumma_element)e;
    return e < ELEMENT_KINDS;
}

static int parse_format(const char *text, report_format *format)
{
    *format = text[0] == 't' ? REPORT_TABLE : text[0] == 'c' ? REPORT_CSV : REPORT_JSON;
    return !strcmp(text, "table") || !strcmp(text, "csv") || !strcmp(text, "json");
}

static int expect(command_options *options, int good, const char *name, const char *expected)
{
    return good ? 0 : command_bad_value(options, name, optarg, expected);
}

/* A number within limits; nonzero if it is none. */
static int take_number(command_options *options, const char *name, int64_t least, int64_t most, int64_t *value)
{
    char expected[80];

    snprintf(expected, sizeof expected, "a number from %lld to %lld", (long long)least, (long long)most);
    return expect(options, parse_int64(optarg, value) && *value >= least && *value <= most, name, expected);
}

static int take_int(command_options *options, const char *name, int64_t least, int64_t most, int *value)
{
    int64_t number = *value;
    int bad = take_number(options, name, least, most, &number);

    *value = bad ? *value : (int)number;
    return bad;
}

static int take_mode(coll_arguments *args, command_options *options, coll_mode mode)
{
    if (args->mode != COLL_TIME && args->mode != mode) {
        snprintf(options->error, sizeof options->error, "--list, --dump, --verify and --from: expected one of them");
        return 1;
    }
    args->mode = mode;
    return 0;
}

/* What and how. */
static int take(coll_arguments *args, command_options *options, int opt)
{
    switch (opt) {
    case COLL_OPTION_LIST:
        return take_mode(args, options, COLL_LIST);
    case COLL_OPTION_DUMP:
        return take_mode(args, options, COLL_DUMP);
    case COLL_OPTION_VERIFY:
        return take_mode(args, options, COLL_VERIFY);
    case COLL_OPTION_OP:
        args->collective = coll_find(optarg);
        return expect(options, args->collective < HS_COLLECTIVES, "op",
                      "bcast, reduce, allreduce, allgather or reduce_scatter");
    case COLL_OPTION_ALG:
        args->algorithm = optarg;
        return 0;
    case COLL_OPTION_BYTES:
        return expect(options, parse_range(optarg, &args->from, &args->to), "bytes", "a size, or FROM..TO, up to 4G");
    case COLL_OPTION_FACTOR:
        return take_number(options, "factor", 2, 1 << 20, &args->factor);
    case COLL_OPTION_REPS:
        return take_int(options, "repetitions", 1, 100000, &args->reps);
    case COLL_OPTION_ELEMENT:
        return expect(options, parse_element(optarg, &args->element), "element",
                      "float, double, float_complex, double_complex, int32 or int64");
    case COLL_OPTION_ROOT:
        return take_int(options, "root", 0, INT32_MAX, &args->root);
    case COLL_OPTION_FORMAT:
        return expect(options, parse_format(optarg, &args->format), "format", "table, csv or json");
    case COLL_OPTION_PLOT:
        args->plot = optarg;
        return 0;
    case COLL_OPTION_FROM:
        args->again = optarg;
        return take_mode(args, options, COLL_AGAIN);
    case COLL_OPTION_MEMORY:
        args->host_memory = !strcmp(optarg, "host");
        return expect(options, args->host_memory || !strcmp(optarg, "device"), "memory", "device or host");
    case COLL_OPTION_BITS:
        args->bits = 1;
        return 0;
    case COLL_OPTION_INIT:
        args->init = 1;
        return 0;
    default:
        args->help = 1;
        return opt != 'h';
    }
}

/* Who would be where, or one of the others. */
static int take_place(coll_arguments *args, command_options *options, int opt)
{
    switch (opt) {
    case COLL_OPTION_RANKS:
        return take_number(options, "ranks", 1, MOST_RANKS, &args->ranks);
    case COLL_OPTION_NODES:
        return take_number(options, "nodes", 1, MOST_RANKS, &args->nodes);
    case COLL_OPTION_SOCKETS:
        return take_number(options, "sockets", 1, MOST_RANKS, &args->sockets);
    case COLL_OPTION_ROOM:
        return take_number(options, "room", 0, INT64_MAX >> 16, &args->shared_bytes);
    case COLL_OPTION_RANK:
        return take_number(options, "rank", 0, MOST_RANKS - 1, &args->rank);
    default:
        return take(args, options, opt);
    }
}

/* What is not given, and what does not fit together. */
static int finish(coll_arguments *args, command_options *options, int argc, char **argv)
{
    if (optind < argc) {
        snprintf(options->error, sizeof options->error, "%s: no operand is expected", argv[optind]);
        return 1;
    }
    if (args->collective < 0 && (args->mode == COLL_TIME || args->mode == COLL_DUMP))
        args->collective = HS_ALLREDUCE;
    if (!args->ranks && args->mode != COLL_VERIFY)
        args->ranks = 8;
    if (args->from < 0) {
        args->from = args->mode == COLL_DUMP ? 1024 : 8;
        args->to = args->mode == COLL_DUMP ? 1024 : 1 << 20;
    }
    if (args->mode != COLL_TIME && args->mode != COLL_AGAIN && args->plot)
        return command_bad_value(options, "plot", args->plot, "a measurement with it");
    if (args->init && args->host_memory)
        return command_bad_value(options, "init", "with --memory host", "vectors on the device with it");
    if (args->mode == COLL_LIST && args->format == REPORT_CSV)
        return command_bad_value(options, "format", "csv", "table or json");
    if ((args->mode == COLL_DUMP || args->mode == COLL_VERIFY || args->mode == COLL_AGAIN) &&
        args->format != REPORT_TABLE)
        return command_bad_value(options, "format", "csv or json", "table here");
    if (args->mode == COLL_DUMP && !args->algorithm)
        snprintf(options->error, sizeof options->error, "--dump: expected --alg NAME with it");
    else if (args->mode == COLL_DUMP && args->root >= args->ranks)
        snprintf(options->error, sizeof options->error, "--root %d: expected less than --ranks %lld", args->root,
                 (long long)args->ranks);
    else if (args->mode == COLL_DUMP && args->rank >= args->ranks)
        snprintf(options->error, sizeof options->error, "--rank %lld: expected less than --ranks %lld",
                 (long long)args->rank, (long long)args->ranks);
    else if (args->mode == COLL_DUMP && args->nodes > args->ranks)
        snprintf(options->error, sizeof options->error, "--nodes %lld: expected --ranks %lld at most",
                 (long long)args->nodes, (long long)args->ranks);
    return options->error[0] != 0;
}

int coll_arguments_read(coll_arguments *args, command_options *options, int argc, char **argv)
{
    static const struct option own[] = {{"list", no_argument, NULL, COLL_OPTION_LIST},
                                        {"dump", no_argument, NULL, COLL_OPTION_DUMP},
                                        {"verify", no_argument, NULL, COLL_OPTION_VERIFY},
                                        {"op", required_argument, NULL, COLL_OPTION_OP},
                                        {"alg", required_argument, NULL, COLL_OPTION_ALG},
                                        {"bytes", required_argument, NULL, COLL_OPTION_BYTES},
                                        {"factor", required_argument, NULL, COLL_OPTION_FACTOR},
                                        {"repetitions", required_argument, NULL, COLL_OPTION_REPS},
                                        {"element", required_argument, NULL, COLL_OPTION_ELEMENT},
                                        {"root", required_argument, NULL, COLL_OPTION_ROOT},
                                        {"format", required_argument, NULL, COLL_OPTION_FORMAT},
                                        {"plot", required_argument, NULL, COLL_OPTION_PLOT},
                                        {"from", required_argument, NULL, COLL_OPTION_FROM},
                                        {"memory", required_argument, NULL, COLL_OPTION_MEMORY},
                                        {"verify-bits", no_argument, NULL, COLL_OPTION_BITS},
                                        {"init", no_argument, NULL, COLL_OPTION_INIT},
                                        {"ranks", required_argument, NULL, COLL_OPTION_RANKS},
                                        {"nodes", required_argument, NULL, COLL_OPTION_NODES},
                                        {"sockets", required_argument, NULL, COLL_OPTION_SOCKETS},
                                        {"room", required_argument, NULL, COLL_OPTION_ROOM},
                                        {"rank", required_argument, NULL, COLL_OPTION_RANK},
                                        {"help", no_argument, NULL, 'h'},
                                        {NULL, 0, NULL, 0}};
    int bad, opt;

    *args = (coll_arguments){
        .collective = -1, .from = -1, .factor = 4, .reps = 11, .element = HSUMMA_DOUBLE, .sockets = 1, .rank = -1};
    bad = command_options_init(options, own);
    while (!bad && (opt = command_next(options, argc, argv)) != -1)
        bad = opt == '?' || take_place(args, options, opt);
    return bad || (!args->help && finish(args, options, argc, argv));
}
