/* The arguments of hsumma explain. */
#include <stddef.h>
#include <string.h>

#include "explain/command.h"

enum { MOST_PROCESSES = 1 << 22, MOST_TIMED = 100000, COLLECTIVE_RANKS = 8 };

static void print_help(void)
{
    printf("Usage: hsumma explain [OPTION...]\n"
           "       hsumma explain --free RANKS [--shapes LIST] [--memory BYTES]\n"
           "       hsumma explain --collective NAME [--alg NAME] [OPTION...]\n"
           "\n"
           "Prints the plan of a product on any grid and its cost by the library's model, without running it: one\n"
           "process is enough. With --free, compares the best layouts of a product with the lower bound on\n"
           "communication. With --collective, prints the algorithms of one collective and their costs.\n"
           "\n"
           "The product C := op(A) op(B)\n"
           "  -m, -n, -k SIZE         op(A) is m x k, op(B) is k x n (defaults: 1024, m, m); 4k is 4096\n"
           "  --type s|d|c|z          float, double, and their complex forms (default: d)\n"
           "  --transa, --transb OP   N: as stored, T: transposed, C: conjugate transposed (default: N)\n"
           "\n"
           "Processes and distribution\n"
           "  --grid PxQ              process grid (default: 4x4)\n"
           "  --ranks P               choose the best grid for P processes or, if all of those are oblong, fewer\n"
           "  --nodes N               nodes, each with a block of consecutive processes (default: 1); with\n"
           "                          several nodes the processes of a node share panels\n"
           "  --sockets N             sockets of each node (default: 1)\n"
           "  --map LIST              instead of --nodes: the node of each process, from 0, e.g. 0,0,1,0,1,1\n"
           "  --order R|C|A           processes fill the grid by rows, by columns, or with a near-square tile for\n"
           "                          each node (default: R; with --ranks A)\n"
           "  --nb NB|checkerboard    NB x NB blocks, or one block per process (default: 128)\n"
           "  --layout LIST           fields of the descriptors of A, B and C, as for gemm, where pad has no effect\n"
           "  --layout-a, --layout-b, --layout-c LIST\n"
           "                          the same for one matrix; later options override earlier ones\n"
           "  --model alpha=S,beta=S[,gamma=S]\n"
           "                          the papers' machine, instead of a profile: alpha seconds per message, beta per\n"
           "                          byte (or element_beta per element, as in the HSUMMA paper), gamma per\n"
           "                          multiplication with its addition (of a collective: per byte summed); nothing\n"
           "                          overlaps; without --nodes each process is a node\n"
           "\n"
           "Output\n"
           "  --timing N              also time planning itself (with --collective the choice): N times with an\n"
           "                          empty cache, N with a filled one\n"
           "  --all                   all parts of --show, up to some hundred lines\n"
           "  --show LIST             parts of the report, with commas (default: plan)\n"
           "                            plan      the plan, its cost and the lower bounds\n"
           "                            groups    all group grids I x J, priced by the model\n"
           "                            cuts      the indices of each panel\n"
           "                            map       the owner of a panel, and its receivers on each level\n"
           "                            messages  the messages that move the panel\n"
           "  --panels N              for map and messages: the first outermost panel of each of the first N\n"
           "                          pairs of owners (default: 1)\n"
           "  --format table|json     (default: table)\n"
           "  -q, --quiet             no progress on standard error\n"
           "  -h, --help              this text\n"
           "\n");
    printf("Free layouts\n"
           "  --free RANKS            process counts, e.g. 128,1024: for each, the P x Q x L grid whose processes\n"
           "                          receive least, with one layer and with any number; at most one process\n"
           "                          in 32 is idle. --nodes, --map and layouts have no effect\n"
           "  --shapes LIST           products m x n x k, e.g. 4kx4kx4k,512x512x1M (default: that of -m, -n, -k)\n"
           "  --memory BYTES          limit of a process's parts of A, B and C and its partial sums of C\n"
           "                          (default: no limit)\n"
           "\n"
           "One collective\n"
           "  --collective NAME       bcast, reduce, allreduce, allgather or reduce_scatter: a table of its\n"
           "                          algorithms, and the choice of auto\n"
           "  --alg NAME              the rounds of this algorithm, with parameters as in option coll\n"
           "  --ranks, --nodes, --map the processes, as above (default: 8 on one node)\n"
           "  --bytes N               of the whole vector (default: 1024 for each process)\n"
           "  --root N                (default: 0)\n"
           "  --devices N             vectors are in the memory of N devices per node, which its processes share\n"
           "\n"
           "The plan: options of the library (--threads auto is one thread per process here;\n"
           "--profile FILE may be that of another machine)\n");
}

/* Reads "plan,map". */
static int read_show(const argument_given *given, void *at)
{
    int show = parse_words(given->row->words, given->text);

    *(int *)at = show;
    return show > 0;
}

#define AT(member) .field = offsetof(explain_arguments, member)
static const argument own_arguments[] = {
    {.rows = arguments_product, AT(common)},
    {"format", .read = argument_word, AT(common.format), .words = "table||json", .expected = "table or json"},
    {"help", 'h', .read = argument_help},
    {"panels", .read = argument_int64, AT(panels), .least = 0, .most = INT32_MAX},
    {"map", .read = argument_text, AT(map)},
    {"order", .read = argument_letter, AT(order), .words = "RCA", .expected = "R, C or A"},
    {"nodes", .read = argument_int64, AT(nodes), .least = 1, .most = MOST_PROCESSES},
    {"sockets", .read = argument_int64, AT(sockets), .least = 1, .most = 1024},
    {"all", .read = argument_flag, AT(all)},
    {"quiet", 'q', .read = argument_flag, AT(quiet)},
    {"ranks", .read = argument_int64, AT(ranks), .least = 1, .most = MOST_PROCESSES},
    {"model", .read = explain_read_model, AT(model),
     .expected = "alpha=S,beta=S or alpha=S,element_beta=S, and ,gamma=S, with seconds of at least 0"},
    {"timing", .read = argument_int64, AT(timing), .least = 1, .most = MOST_TIMED},
    {"show", .read = read_show, AT(show), .words = "plan|groups|cuts|map|messages",
     .expected = "one or more of plan, groups, cuts, map, messages, with commas between"},
    {"free", .read = explain_read_free_ranks, AT(processes),
     .expected = "at most 32 numbers of processes with commas between, each from 1 to 2^31 - 1"},
    {"shapes", .read = explain_read_free_shapes, AT(shapes),
     .expected = "products such as 512x512x1M with commas between, 32 at most, each extent from 1 to 512M"},
    {"memory", .read = argument_int64, AT(memory), .least = 1, .most = INT64_MAX >> 8,
     .expected = "a number of bytes, 1 or more, with k, M or G for powers of 1024"},
    {"collective", .read = argument_text, AT(collective)},
    {"alg", .read = argument_text, AT(alg)},
    {"bytes", .read = argument_int64, AT(bytes), .least = 0, .most = INT64_MAX >> 8,
     .expected = "a number of bytes, 0 or more, with k, M or G for powers of 1024"},
    {"root", .read = argument_int64, AT(root), .least = 0, .most = MOST_PROCESSES},
    {"devices", .read = argument_int64, AT(devices), .least = 1, .most = MOST_PROCESSES},
    {.name = NULL}};

/* Checks the options that place the processes, and sets their defaults. */
static int finish_places(explain_arguments *args, command_options *options, int64_t processes)
{
    if (args->nodes > processes)
        return command_refuse(options, "--nodes %lld: expected at most the number of processes, %lld",
                              (long long)args->nodes, (long long)processes);
    if (args->map && args->nodes)
        return command_refuse(options, "--map: not allowed with --nodes; expected only one of them");
    if (args->collective && args->order)
        return command_refuse(options, "--order %c: not allowed with --collective; omit it, or give --map",
                              args->order);
    if (args->ranks && args->order && args->order != 'A')
        return command_refuse(
            options,
            "--order %c: --ranks chooses the grid for order A; expected --order A, or --grid instead of --ranks",
            args->order);
    if (!args->order)
        args->order = args->ranks ? 'A' : 'R';
    if (args->model.text && options->text && strstr(options->text, "profile="))
        return command_refuse(options, "--model: not allowed with --profile; expected only one of them");
    const char *topology = options->text ? strstr(options->text, "topology=") : NULL;
    topology = topology ? topology + strlen("topology=") : "torus:1";
    if (strncmp(topology, "nodes:", strlen("nodes:")) == 0)
        return command_refuse(options, "--topology nodes:N: not allowed here; expected --nodes N, with --topology "
                                       "torus:XxYx..., tree:... or dragonfly:... if the links between them are known");
    if (!hs_is_fabric(topology))
        return command_refuse(options,
                              "--topology %.*s: expected torus:XxYx..., tree:... or dragonfly:...; a file names "
                              "the hosts of a job, which explain does not have",
                              (int)strcspn(topology, " "), topology);
    if (!args->nodes)
        args->nodes = args->model.text && !args->map ? processes : 1;
    if (args->map && args->sockets)
        return command_refuse(options, "--map: not allowed with --sockets; expected --nodes");
    if (!args->sockets)
        args->sockets = 1;
    return 0;
}

static int finish_free(explain_arguments *args, command_options *options)
{
    const arguments *common = &args->common;

    if (!args->processes.count && (args->shapes.count || args->memory))
        return command_refuse(options, "--%s: allowed only with --free RANKS",
                              args->shapes.count ? "shapes" : "memory");
    if (args->processes.count && (args->collective || args->ranks || common->nprow))
        return command_refuse(options, "--free: not allowed with --%s; omit one of them",
                              args->collective ? "collective"
                              : args->ranks    ? "ranks"
                                               : "grid");
    if (args->processes.count && !args->shapes.count && (common->m < 1 || common->n < 1 || common->k < 1))
        return command_refuse(options, "--free: m=%lld n=%lld k=%lld; expected all at least 1", (long long)common->m,
                              (long long)common->n, (long long)common->k);
    return 0;
}

/* Checks combinations of arguments, and sets defaults that depend on others. */
static int finish(void *of, command_options *options)
{
    explain_arguments *args = of;
    arguments *common = &args->common;

    if (arguments_finish(common, options) || finish_free(args, options))
        return 1;
    if (args->ranks && common->nprow)
        return command_refuse(options, "--ranks %lld: not allowed with --grid; expected only one of them",
                              (long long)args->ranks);
    if (args->collective && common->nprow)
        return command_refuse(options, "--grid %dx%d: not allowed with --collective; expected --ranks", common->nprow,
                              common->npcol);
    if (args->collective && !args->ranks)
        args->ranks = COLLECTIVE_RANKS;
    if (!common->nprow)
        common->nprow = common->npcol = 4;
    int64_t processes = args->ranks ? args->ranks : (int64_t)common->nprow * common->npcol;
    args->show = args->all ? SHOW_ALL : args->show;
    if (args->bytes < 0)
        args->bytes = processes * 1024;
    if (processes > MOST_PROCESSES)
        return command_refuse(options, "--grid %dx%d: expected at most %d processes", common->nprow, common->npcol,
                              MOST_PROCESSES);
    if (finish_places(args, options, processes))
        return 1;
    if (args->devices && !args->collective)
        return command_refuse(options, "--devices %lld: allowed only with --collective NAME", (long long)args->devices);
    if (args->alg && !args->collective)
        return command_refuse(options, "--alg %s: allowed only with --collective NAME", args->alg);
    if (args->collective && common->format != REPORT_TABLE)
        return command_refuse(options, "--format json: not allowed with --collective; expected table");
    if (args->collective && args->root >= processes)
        return command_refuse(options, "--root %lld: expected less than the number of processes, %lld",
                              (long long)args->root, (long long)processes);
    return 0;
}

const subcommand cmd_explain = {
    .name = "explain",
    .summary = "print the plan and the modelled cost of a product on any grid, without running it",
    .help = print_help,
    .ending = "Exit status: 0 done, 1 it failed, 2 the input was wrong.\n",
    .table = own_arguments,
    .size = sizeof(explain_arguments),
    .defaults =
        &(const explain_arguments){
            .common = ARGUMENTS_DEFAULT(5), .panels = 1, .bytes = -1, .show = SHOW_PLAN | SHOW_HINT},
    .finish = finish,
    .alone = 1,
    .run = explain_run,
};
