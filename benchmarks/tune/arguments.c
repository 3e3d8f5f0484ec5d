/* The arguments of hsumma_bench tune. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "coll/schedule/registry.h"
#include "tune/command.h"

void tune_help(void)
{
    printf(
        "Usage: mpiexec -n RANKS hsumma_bench tune [-m M -n N -k K] [--cases FILE] [OPTION...]\n"
        "       mpiexec -n RANKS hsumma_bench tune --coll [LIST] [--sizes FROM-TO] [--seconds S] [OPTION...]\n\n"
        "Measures what could serve and remembers the fastest in the tuned file, which later programs read (option "
        "tuned):\n"
        "plans of these products on so many ranks; or, with --coll, the algorithms of the collectives.\n\n"
        "  -o, --tuned FILE        the file; made if it is not there, else added to (default: HSUMMA_TUNED, else the\n"
        "                          user's own, $XDG_CONFIG_HOME/hsumma/tuned or ~/.config/hsumma/tuned)\n"
        "  --cases FILE            a product on each line, as -m, -n, -k, --type, --layout, ... say it; # begins a\n"
        "                          comment; what the command line says holds for all\n\n"
        "Collectives\n"
        "  --coll [LIST]           of bcast,reduce,allreduce,allgather,reduce_scatter (default: all)\n"
        "  --sizes FROM-TO         bytes of the whole vector, by factors of 4 (default: 8-4M)\n"
        "  --seconds S             about so long at most (default: 30)\n\n");
    arguments_help(stdout);
    printf("\n--reps, --check and --format are not for this command.\n\nThe context: options of the library\n");
    command_print_options(stdout);
    printf("\nExit status: 0 done, 1 the run failed, 2 the input was wrong.\n");
}

/* --- collectives -------------------------------------------------------------------------------------------------- */

/* "bcast,reduce" */
static int take_list(tune_arguments *args, command_options *options, const char *list)
{
    char *copy = strdup(list), *rest = copy;
    int bad = !copy;

    for (char *word; !bad && (word = strtok_r(rest, ",", &rest));) {
        int c = 0;

        while (c < TUNE_COLLECTIVES && strcmp(word, hs_collective_name((enum hs_collective)c)))
            c++;
        bad = c == TUNE_COLLECTIVES;
        if (!bad)
            args->chosen[c] = 1;
    }
    free(copy);
    return bad && command_bad_value(options, "coll", list,
                                    "some of bcast, reduce, allreduce, allgather, reduce_scatter, with commas");
}

/* "8-4M" */
static int read_sizes(const argument *row, command_options *options, const char *text, void *at)
{
    tune_arguments *args = at;
    char copy[64], *dash;

    (void)row, (void)options;
    snprintf(copy, sizeof copy, "%s", text);
    dash = strchr(copy, '-');
    if (dash)
        *dash = 0;
    return strlen(text) < sizeof copy && dash && parse_int64(copy, &args->from) && parse_int64(dash + 1, &args->to) &&
           args->from >= 1 && args->from <= args->to && args->to <= (int64_t)1 << 30;
}

/* The rest of the command line is of LIST. */
static int finish_coll(tune_arguments *args, command_options *options, int argc, char **argv)
{
    int any = 0, bad = 0;

    while (!bad && optind < argc)
        bad = take_list(args, options, argv[optind++]);
    for (int c = 0; c < TUNE_COLLECTIVES; c++)
        any |= args->chosen[c];
    for (int c = 0; !any && c < TUNE_COLLECTIVES; c++)
        args->chosen[c] = 1;
    if (!bad && args->set.file)
        bad = snprintf(options->error, sizeof options->error, "--coll and --cases: expected one of them");
    return bad;
}

/* --- the command line --------------------------------------------------------------------------------------------- */

static int read_coll(const argument *row, command_options *options, const char *text, void *at)
{
    tune_arguments *args = at;

    (void)row;
    args->coll = 1;
    return !text || !take_list(args, options, text);
}

#define AT(member) .field = offsetof(tune_arguments, member)
#define NOT_HERE .read = argument_refused, .expected = "--reps, --check and --format are not for this command"
static const argument own_arguments[] = {
    {.rows = arguments_product, AT(set.common)},
    {.rows = arguments_values, AT(set.common)},
    {"reps", NOT_HERE},
    {"check", NOT_HERE, .value = WITHOUT_VALUE},
    {"format", NOT_HERE},
    {"help", 'h', .read = argument_flag, AT(set.common.help)},
    {"tuned", 'o', .read = argument_text, AT(file)},
    {"cases", .read = argument_text, AT(set.file)},
    {"coll", .read = read_coll, .value = MAY_HAVE_VALUE},
    {"sizes", .read = read_sizes, .expected = "FROM-TO bytes from 1 to 1G, such as 8-4M"},
    {"seconds", .read = argument_seconds, AT(seconds), .expected = "a number of seconds above 0"},
    {.name = NULL}};

int tune_arguments_read(tune_arguments *args, command_options *options, int argc, char **argv, MPI_Comm comm)
{
    memset(args, 0, sizeof *args);
    arguments_init(&args->set.common);
    args->from = 8;
    args->to = 4 << 20;
    args->seconds = 30;
    if (command_read(options, own_arguments, args, argc, argv))
        return 1;
    if (args->set.common.help)
        return 0;
    if (args->coll)
        return finish_coll(args, options, argc, argv);
    return cases_read(&args->set, "", options, argc, argv, comm);
}
