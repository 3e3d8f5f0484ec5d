/* The arguments of hsumma_bench explain. */
#include <stdlib.h>
#include <string.h>

#include "explain/command.h"

enum {
    EXPLAIN_OPTION_PANELS = ARGUMENT_OWN,
    EXPLAIN_OPTION_NODES,
    EXPLAIN_OPTION_RANKS,
    EXPLAIN_OPTION_TIMING,
    EXPLAIN_OPTION_ALL,
    EXPLAIN_OPTION_SHOW,
    EXPLAIN_OPTION_COLLECTIVE,
    EXPLAIN_OPTION_ALG,
    EXPLAIN_OPTION_SIZE,
    EXPLAIN_OPTION_BYTES,
    EXPLAIN_OPTION_ROOT
};

enum { MOST_PROCESSES = 1 << 22, MOST_TIMED = 100000 };

void explain_help(void)
{
    printf("Usage: hsumma_bench explain [OPTION...]\n"
           "       hsumma_bench explain --collective NAME [--alg NAME] [OPTION...]\n\n"
           "Says what the library would do with a product on any grid, and what it would cost by its model, without\n"
           "running it: one process is enough. With --collective, the same of one collective.\n\n"
           "The product C := op(A) op(B)\n"
           "  -m, -n, -k SIZE         op(A) is m x k, op(B) is k x n (defaults: 1024, m, m); 4k is 4096\n"
           "  --type s|d|c|z          float, double, and their complex forms (default: d)\n"
           "  --transa, --transb OP   N: as stored, T: transposed, C: conjugate transposed (default: N)\n"
           "\n"
           "Processes and distribution\n"
           "  --grid PxQ              process grid (default: 4x4)\n"
           "  --ranks P               choose the grid, of all that use up to P processes, with blocks by --nb\n"
           "  --nodes N               nodes that the processes are spread over in blocks (default: 1)\n"
           "  --nb NB|checkerboard    NB x NB blocks, or one block per process (default: 128)\n"
           "  --layout LIST           fields of all three descriptors: m n mb nb imb inb rsrc csrc i j, as for gemm\n"
           "  --layout-a, --layout-b, --layout-c LIST\n"
           "                          the same for one matrix; the last word counts\n"
           "\n"
           "Output\n"
           "  --timing N              also time planning itself: N plans cold, N warm\n"
           "  --all                   also compare all grids I x J of groups, by the model\n"
           "  --panels N              draw the first outermost panel of the first N pairs of owners (default: 1)\n"
           "  --show LIST             of plan, groups, cuts, map, messages (default: plan,map,messages);\n"
           "                          groups is as --all; cuts: which indices go into which panel\n"
           "  --format table|json     (default: table)\n"
           "  -h, --help              this text\n"
           "\n"
           "One collective\n"
           "  --collective NAME       bcast, reduce, allreduce or allgather: a table of its algorithms\n"
           "  --alg NAME              the rounds of this one\n"
           "  --size N                processes (default: 8)\n"
           "  --bytes N               of the whole vector (default: 1024 for each process)\n"
           "  --root N                (default: 0)\n"
           "\nThe plan: options of the library (--threads auto is one thread per process here;\n"
           "--profile FILE may be that of another machine)\n");
    command_print_options(stdout);
    printf("\nExit status: 0 done, 1 it failed, 2 the input was wrong.\n");
}

/* "plan,map" */
static int parse_show(const char *text, int *show)
{
    static const char *const names[] = {"plan", "groups", "cuts", "map", "messages"};

    enum { SHOW_NAMES = sizeof names / sizeof *names };

    *show = 0;
    for (;;) {
        size_t length = strcspn(text, ",");
        int i = 0;

        while (i < SHOW_NAMES && (strlen(names[i]) != length || strncmp(names[i], text, length)))
            i++;
        if (i == SHOW_NAMES)
            return 0;
        *show |= 1 << i;
        if (!text[length])
            return 1;
        text += length + 1;
    }
}

static int take_number(command_options *options, const char *name, int64_t least, int64_t most, int64_t *value)
{
    char expected[80];
    int64_t number;

    if (parse_int64(optarg, &number) && number >= least && number <= most) {
        *value = number;
        return 0;
    }
    snprintf(expected, sizeof expected, "a number from %lld to %lld", (long long)least, (long long)most);
    return command_bad_value(options, name, optarg, expected);
}

/* Takes one option; returns nonzero if it is bad. */
static int take(explain_arguments *args, command_options *options, int opt)
{
    switch (opt) {
    case EXPLAIN_OPTION_PANELS:
        return take_number(options, "panels", 0, INT32_MAX, &args->panels);
    case EXPLAIN_OPTION_NODES:
        return take_number(options, "nodes", 1, MOST_PROCESSES, &args->nodes);
    case EXPLAIN_OPTION_RANKS:
        return take_number(options, "ranks", 1, MOST_PROCESSES, &args->ranks);
    case EXPLAIN_OPTION_TIMING:
        return take_number(options, "timing", 1, MOST_TIMED, &args->timing);
    case EXPLAIN_OPTION_ALL:
        args->all = 1;
        return 0;
    case EXPLAIN_OPTION_SHOW:
        return !parse_show(optarg, &args->show) &&
               command_bad_value(options, "show", optarg, "plan, groups, cuts, map or messages, with commas between");
    case EXPLAIN_OPTION_COLLECTIVE:
        args->collective = optarg;
        return 0;
    case EXPLAIN_OPTION_ALG:
        args->alg = optarg;
        return 0;
    case EXPLAIN_OPTION_SIZE:
        return take_number(options, "size", 1, 4096, &args->size);
    case EXPLAIN_OPTION_BYTES:
        return take_number(options, "bytes", 0, INT64_MAX >> 8, &args->bytes);
    case EXPLAIN_OPTION_ROOT:
        return take_number(options, "root", 0, 4095, &args->root);
    default:
        return arguments_take(&args->common, options, opt) < 0;
    }
}

/* What does not fit together. */
static int finish_arguments(explain_arguments *args, command_options *options, int argc, char **argv)
{
    arguments *common = &args->common;

    if (arguments_finish(common, options, argc, argv))
        return 1;
    if (args->ranks && common->nprow) {
        snprintf(options->error, sizeof options->error, "--ranks %lld: expected without --grid",
                 (long long)args->ranks);
        return 1;
    }
    if (!common->nprow)
        common->nprow = common->npcol = 4;
    int64_t processes = args->ranks ? args->ranks : (int64_t)common->nprow * common->npcol;
    args->show |= args->all ? SHOW_GROUPS : 0;
    if (args->bytes < 0)
        args->bytes = args->size * 1024;
    if (common->format == REPORT_CSV)
        return command_bad_value(options, "format", "csv", "table or json");
    if (processes > MOST_PROCESSES)
        snprintf(options->error, sizeof options->error, "--grid %dx%d: expected %d processes at most", common->nprow,
                 common->npcol, MOST_PROCESSES);
    else if (args->nodes > processes)
        snprintf(options->error, sizeof options->error, "--nodes %lld: expected at most one for each of %lld processes",
                 (long long)args->nodes, (long long)processes);
    else if (args->alg && !args->collective)
        snprintf(options->error, sizeof options->error, "--alg %s: expected --collective NAME with it", args->alg);
    else if (args->collective && common->format != REPORT_TABLE)
        snprintf(options->error, sizeof options->error, "--collective: only as a table");
    else if (args->collective && args->root >= args->size)
        snprintf(options->error, sizeof options->error, "--root %lld: expected less than --size %lld",
                 (long long)args->root, (long long)args->size);
    return options->error[0] != 0;
}

int explain_arguments_read(explain_arguments *args, command_options *options, int argc, char **argv)
{
    static const struct option own[] = {{"m", required_argument, NULL, 'm'},
                                        {"n", required_argument, NULL, 'n'},
                                        {"k", required_argument, NULL, 'k'},
                                        {"type", required_argument, NULL, ARGUMENT_TYPE},
                                        {"grid", required_argument, NULL, ARGUMENT_GRID},
                                        {"nb", required_argument, NULL, ARGUMENT_NB},
                                        {"layout", required_argument, NULL, ARGUMENT_LAYOUT},
                                        {"layout-a", required_argument, NULL, ARGUMENT_LAYOUT_A},
                                        {"layout-b", required_argument, NULL, ARGUMENT_LAYOUT_B},
                                        {"layout-c", required_argument, NULL, ARGUMENT_LAYOUT_C},
                                        {"transa", required_argument, NULL, ARGUMENT_TRANSA},
                                        {"transb", required_argument, NULL, ARGUMENT_TRANSB},
                                        {"format", required_argument, NULL, ARGUMENT_FORMAT},
                                        {"help", no_argument, NULL, 'h'},
                                        {"panels", required_argument, NULL, EXPLAIN_OPTION_PANELS},
                                        {"nodes", required_argument, NULL, EXPLAIN_OPTION_NODES},
                                        {"all", no_argument, NULL, EXPLAIN_OPTION_ALL},
                                        {"ranks", required_argument, NULL, EXPLAIN_OPTION_RANKS},
                                        {"timing", required_argument, NULL, EXPLAIN_OPTION_TIMING},
                                        {"show", required_argument, NULL, EXPLAIN_OPTION_SHOW},
                                        {"collective", required_argument, NULL, EXPLAIN_OPTION_COLLECTIVE},
                                        {"alg", required_argument, NULL, EXPLAIN_OPTION_ALG},
                                        {"size", required_argument, NULL, EXPLAIN_OPTION_SIZE},
                                        {"bytes", required_argument, NULL, EXPLAIN_OPTION_BYTES},
                                        {"root", required_argument, NULL, EXPLAIN_OPTION_ROOT},
                                        {NULL, 0, NULL, 0}};
    int bad, opt;

    memset(args, 0, sizeof *args);
    arguments_init(&args->common);
    args->nodes = args->panels = 1;
    args->size = 8;
    args->bytes = -1;
    args->show = SHOW_PLAN | SHOW_MAP | SHOW_MESSAGES;
    bad = command_options_init(options, own);
    while (!bad && (opt = command_next(options, argc, argv)) != -1)
        bad = opt == '?' || take(args, options, opt);
    return bad || (!args->common.help && finish_arguments(args, options, argc, argv));
}
