/* The arguments of hsumma_bench tune. */
#include <stdlib.h>
#include <string.h>

#include "coll/schedule/registry.h"
#include "tune/command.h"

enum { TUNE_OPTION_CASES = ARGUMENT_OWN, TUNE_OPTION_COLL, TUNE_OPTION_SIZES, TUNE_OPTION_SECONDS };

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
static int take_sizes(tune_arguments *args, command_options *options)
{
    char copy[64], *dash;

    snprintf(copy, sizeof copy, "%s", optarg);
    dash = strchr(copy, '-');
    if (dash)
        *dash = 0;
    if (strlen(optarg) < sizeof copy && dash && parse_int64(copy, &args->from) && parse_int64(dash + 1, &args->to) &&
        args->from >= 1 && args->from <= args->to && args->to <= (int64_t)1 << 30)
        return 0;
    return command_bad_value(options, "sizes", optarg, "FROM-TO bytes from 1 to 1G, such as 8-4M");
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

static int take(tune_arguments *args, command_options *options, int opt)
{
    switch (opt) {
    case 'o':
        args->file = optarg;
        return 0;
    case TUNE_OPTION_CASES:
        args->set.file = optarg;
        return 0;
    case TUNE_OPTION_COLL:
        args->coll = 1;
        return optarg && take_list(args, options, optarg);
    case TUNE_OPTION_SIZES:
        return take_sizes(args, options);
    case TUNE_OPTION_SECONDS:
        return (!parse_double(optarg, &args->seconds) || args->seconds <= 0) &&
               command_bad_value(options, "seconds", optarg, "a number of seconds above 0");
    case ARGUMENT_REPS:
    case ARGUMENT_CHECK:
    case ARGUMENT_FORMAT:
        return snprintf(options->error, sizeof options->error, "--reps, --check and --format are not for this command");
    default:
        return arguments_take(&args->set.common, options, opt) < 0;
    }
}

int tune_arguments_read(tune_arguments *args, command_options *options, int argc, char **argv, MPI_Comm comm)
{
    static const struct option own[] = {ARGUMENT_OPTIONS,
                                        {"tuned", required_argument, NULL, 'o'},
                                        {"cases", required_argument, NULL, TUNE_OPTION_CASES},
                                        {"coll", optional_argument, NULL, TUNE_OPTION_COLL},
                                        {"sizes", required_argument, NULL, TUNE_OPTION_SIZES},
                                        {"seconds", required_argument, NULL, TUNE_OPTION_SECONDS},
                                        {NULL, 0, NULL, 0}};
    int bad, opt;

    memset(args, 0, sizeof *args);
    arguments_init(&args->set.common);
    args->from = 8;
    args->to = 4 << 20;
    args->seconds = 30;
    bad = command_options_init(options, own);
    while (!bad && (opt = command_next(options, argc, argv)) != -1)
        bad = opt == '?' || take(args, options, opt);
    if (bad || args->set.common.help)
        return bad;
    if (args->coll)
        return finish_coll(args, options, argc, argv);
    return cases_read(&args->set, "", options, argc, argv, comm);
}
