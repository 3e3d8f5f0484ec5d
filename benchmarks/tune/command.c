/* hsumma tune: measures candidates, and remembers the fastest. */
#include <stddef.h>
#include <string.h>

#include "base/options.h"
#include "hsumma/tuned/tuned.h"
#include "tune/command.h"

static void print_help(void)
{
    printf("Usage: mpiexec -n RANKS hsumma tune [-m M -n N -k K] [--cases FILE] [OPTION...]\n"
           "       mpiexec -n RANKS hsumma tune --coll [LIST] [--sizes FROM-TO] [--seconds S] [OPTION...]\n"
           "\n"
           "Measures candidates and writes the fastest to the tuned file, which later programs read (option tuned): "
           "plans of\n"
           "these products on this number of ranks; or, with --coll, algorithms of the collectives.\n"
           "\n"
           "  -o, --tuned FILE        the file, created or extended (default: HSUMMA_TUNED, else the user's own,\n"
           "                          $XDG_CONFIG_HOME/hsumma/tuned or ~/.config/hsumma/tuned)\n"
           "  --cases FILE            one product per line, as options -m, -n, -k, --type, --layout, ...; # begins a\n"
           "                          comment; options of the command line apply to all lines\n"
           "\n"
           "Collectives\n"
           "  --coll [LIST]           some of bcast,reduce,allreduce,allgather,reduce_scatter (default: all)\n"
           "  --sizes FROM-TO         sizes of the whole vector in bytes, in steps of a factor of 4 (default: 8-4M)\n"
           "  --seconds S             approximate limit of the duration in seconds (default: 30)\n"
           "\n");
    arguments_help();
    printf("\n"
           "  -q, --quiet             no progress on standard error\n"
           "  -h, --help              this text\n"
           "\n"
           "The context: options of the library\n");
}

/* --- collectives -------------------------------------------------------------------------------------------------- */

/* Reads "bcast,reduce". */
static int take_list(tune_arguments *args, command_options *options, const char *list)
{
    int chosen = parse_words("bcast|reduce|allreduce|allgather|reduce_scatter", list);

    args->chosen |= chosen;
    return chosen < 0 && command_bad_value(options, "coll", list,
                                           "some of bcast, reduce, allreduce, allgather, reduce_scatter, with commas "
                                           "between");
}

/* Reads "8-4M". */
static int read_sizes(const argument_given *given, void *at)
{
    tune_arguments *args = at;
    char copy[64], *dash;

    snprintf(copy, sizeof copy, "%s", given->text);
    dash = strchr(copy, '-');
    if (dash)
        *dash = 0;
    return strlen(given->text) < sizeof copy && dash && parse_int64(copy, &args->from) &&
           parse_int64(dash + 1, &args->to) && args->from >= 1 && args->from <= args->to &&
           args->to <= (int64_t)1 << 30;
}

/* Reads the remaining operands as part of --coll's LIST; an empty list means all collectives. */
static int finish_coll(tune_arguments *args, command_options *options)
{
    int bad = 0;

    while (!bad && optind < options->argc)
        bad = take_list(args, options, options->argv[optind++]);
    if (!args->chosen)
        args->chosen = (1 << TUNE_COLLECTIVES) - 1;
    return bad || (args->set.file &&
                   command_refuse(options, "--coll and --cases %s: expected only one of them", args->set.file));
}

/* --- the command line --------------------------------------------------------------------------------------------- */

static int read_coll(const argument_given *given, void *at)
{
    tune_arguments *args = at;

    args->coll = 1;
    return !given->text || !take_list(args, given->options, given->text);
}

#define AT(member) .field = offsetof(tune_arguments, member)
#define NOT_HERE .read = argument_refused, .expected = "--reps, --check and --format: not allowed with tune; omit them"
static const argument own_arguments[] = {
    {.rows = arguments_product, AT(set.common)},
    {.rows = arguments_values, AT(set.common)},
    {"reps", NOT_HERE},
    {"check", NOT_HERE, .value = WITHOUT_VALUE},
    {"format", NOT_HERE},
    {"quiet", 'q', .read = argument_flag, AT(set.common.quiet)},
    {"help", 'h', .read = argument_help},
    {"tuned", 'o', .read = argument_text, AT(file)},
    {"cases", .read = argument_text, AT(set.file)},
    {"coll", .read = read_coll, .value = MAY_HAVE_VALUE},
    {"sizes", .read = read_sizes, .expected = "FROM-TO bytes from 1 to 1G, such as 8-4M"},
    {"seconds", .read = argument_seconds, AT(seconds), .expected = "a number of seconds above 0"},
    {.name = NULL}};

static int finish(void *of, command_options *options)
{
    tune_arguments *args = of;

    return args->coll ? finish_coll(args, options) : cases_read(&args->set, "", options);
}

/* --- the file ----------------------------------------------------------------------------------------------------- */

/* Finds the path of the tuned file. Returns NULL or an error message. */
static const char *name_file(const tune_arguments *args, char path[TUNE_PATH])
{
    const char *said = args->file ? args->file : hs_environment("HSUMMA_TUNED");
    int length;

    if (said && (args->file || (*said && strcmp(said, "auto"))))
        length = snprintf(path, TUNE_PATH, "%s", said);
    else
        length = hs_config_path("tuned", path, TUNE_PATH);
    if (length < 0)
        return "neither XDG_CONFIG_HOME nor HOME is set; give -o FILE";
    if (length >= TUNE_PATH)
        return "the name is too long; give a shorter one by -o FILE";
    if (!length || strchr(path, '"') || !strcmp(path, "none") || !strcmp(path, "auto"))
        return "expected the name of a file, without quotation marks, and not none or auto (./none is one)";
    return NULL;
}

/* Finds the tuned file, the same on all ranks: -o, rank 0's HSUMMA_TUNED, or the user's own file. Collective; an exit
 * status. */
static int find_file(const tune_arguments *args, char path[TUNE_PATH], MPI_Comm comm)
{
    const char *complaint = NULL;
    int rank;

    memset(path, 0, TUNE_PATH);
    MPI_Comm_rank(comm, &rank);
    if (rank == 0)
        complaint = name_file(args, path);
    if (command_fail(comm, complaint != NULL, "tune: -o \"%s\": %s", path, complaint))
        return COMMAND_BAD_INPUT;
    quiet_bcast(path, TUNE_PATH, MPI_CHAR, 0, comm);
    return COMMAND_OK;
}

char *tune_options(const char *options, const char *path, const char *more)
{
    char *text;

    return asprintf(&text, "%s tuned=\"%s\" %s", options, path, more) < 0 ? NULL : text;
}

/* --- the command ------------------------------------------------------------------------------------------------- */

static int run(const void *of, const char *options, MPI_Comm comm)
{
    const tune_arguments *args = of;
    char path[TUNE_PATH];
    int code = find_file(args, path, comm);

    if (code)
        return code;
    return args->coll ? tune_collectives(args, options, path, comm) : tune_products(args, path, comm);
}

static void release(void *of)
{
    tune_arguments *args = of;

    cases_free(&args->set);
}

const subcommand cmd_tune = {
    .name = "tune",
    .summary = "measure the best candidates for a product, or the collectives, and keep the fastest in the tuned file",
    .help = print_help,
    .ending = "Exit status: 0 done, 1 the run failed, 2 the input was wrong.\n",
    .table = own_arguments,
    .size = sizeof(tune_arguments),
    .defaults = &(const tune_arguments){.set.common = ARGUMENTS_DEFAULT(5), .from = 8, .to = 4 << 20, .seconds = 30},
    .finish = finish,
    .run = run,
    .release = release,
};
