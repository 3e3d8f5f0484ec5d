/* The arguments of hsumma_bench tune. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "coll/registry.h"
#include "tune.h"

enum { OPTION_CASES = ARGUMENT_OWN, OPTION_COLL, OPTION_SIZES, OPTION_SECONDS, CASE_WORDS = 64 };

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

/* --- products ----------------------------------------------------------------------------------------------------- */

static int no_memory(command_options *options)
{
    snprintf(options->error, sizeof options->error, "no memory for the cases");
    return 1;
}

/* A new case at the end of the list with these words; NULL without memory. */
static tune_case *append(tune_arguments *args, int line)
{
    tune_case *more = realloc(args->list, (size_t)(args->count + 1) * sizeof *more);

    if (!more)
        return NULL;
    args->list = more;
    more[args->count] = (tune_case){.args = args->common, .line = line};
    return &more[args->count++];
}

static int set_options(tune_case *x, const char *first, const char *second, command_options *options)
{
    size_t size = strlen(first) + strlen(second) + 2;

    if (!(x->options = malloc(size)))
        return no_memory(options);
    snprintf(x->options, size, "%s %s", first, second);
    return 0;
}

/* One line of the file, which is cut into words. */
static int read_line(tune_arguments *args, command_options *options, char *text, int number)
{
    static const struct option own[] = {ARGUMENT_OPTIONS, {NULL, 0, NULL, 0}};
    static char name[] = "case";
    char *argv[CASE_WORDS + 2] = {name};
    int argc = 1, opt, bad;
    command_options scan;
    tune_case *x;

    text[strcspn(text, "#")] = 0;
    for (char *word, *rest = text; argc <= CASE_WORDS && (word = strtok_r(rest, " \t\r", &rest));)
        argv[argc++] = word;
    if (argc == 1)
        return 0;
    if (!(x = append(args, number)))
        return no_memory(options);
    bad = command_options_init(&scan, own);
    while (!bad && (opt = command_next(&scan, argc, argv)) != -1) {
        bad = opt == '?' || arguments_take(&x->args, &scan, opt) < 0;
        if (opt == 'h' || opt == ARGUMENT_FORMAT || opt == ARGUMENT_REPS || opt == ARGUMENT_CHECK) {
            snprintf(scan.error, sizeof scan.error, "--help, --format, --reps and --check are not for a case");
            bad = 1;
        }
    }
    if (!bad && argc > CASE_WORDS)
        bad = snprintf(scan.error, sizeof scan.error, "more than %d words", CASE_WORDS - 1);
    if (bad || arguments_finish(&x->args, &scan, argc, argv))
        bad = snprintf(options->error, sizeof options->error, "%s:%d: %.300s", args->cases, number, scan.error);
    else
        bad = set_options(x, options->text, scan.text, options);
    command_options_free(&scan);
    return bad;
}

/* The whole file, on this rank; NULL and an error. */
static char *load(const char *path, command_options *options)
{
    FILE *file = fopen(path, "r");
    char *text = NULL;
    size_t size = 0;

    if (!file || getdelim(&text, &size, 0, file) < 0) {
        snprintf(options->error, sizeof options->error, "--cases %.200s: %s", path,
                 !file || ferror(file) ? strerror(errno) : "the file is empty");
        free(text);
        text = NULL;
    }
    if (file)
        fclose(file);
    return text;
}

/* Rank 0's text and error on all ranks; NULL on all if it failed on one. */
static char *share_file(const char *path, command_options *options, MPI_Comm comm)
{
    char *text = NULL;
    int rank, size = 0, good, all;

    MPI_Comm_rank(comm, &rank);
    if (rank == 0 && (text = load(path, options)))
        size = (int)strlen(text) + 1;
    quiet_bcast(&size, 1, MPI_INT, 0, comm);
    if (rank > 0 && size)
        text = malloc((size_t)size);
    good = text != NULL;
    quiet_allreduce(&good, &all, 1, MPI_INT, MPI_MIN, comm);
    if (all) {
        quiet_bcast(text, size, MPI_CHAR, 0, comm);
        return text;
    }
    if (!options->error[0])
        no_memory(options);
    quiet_bcast(options->error, sizeof options->error, MPI_CHAR, 0, comm);
    free(text);
    return NULL;
}

static int read_cases(tune_arguments *args, command_options *options, MPI_Comm comm)
{
    char *text = share_file(args->cases, options, comm);
    int bad = 0, number = 0;

    if (!text)
        return 1;
    for (char *line, *rest = text; !bad && (line = strsep(&rest, "\n"));)
        bad = read_line(args, options, line, ++number);
    free(text);
    if (!bad && !args->count)
        bad = snprintf(options->error, sizeof options->error, "--cases %.200s: there is no case in it", args->cases);
    return bad;
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
    if (!bad && args->cases)
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
    case OPTION_CASES:
        args->cases = optarg;
        return 0;
    case OPTION_COLL:
        args->coll = 1;
        return optarg && take_list(args, options, optarg);
    case OPTION_SIZES:
        return take_sizes(args, options);
    case OPTION_SECONDS:
        return (!parse_double(optarg, &args->seconds) || args->seconds <= 0) &&
               command_bad_value(options, "seconds", optarg, "a number of seconds above 0");
    case ARGUMENT_REPS:
    case ARGUMENT_CHECK:
    case ARGUMENT_FORMAT:
        return snprintf(options->error, sizeof options->error, "--reps, --check and --format are not for this command");
    default:
        return arguments_take(&args->common, options, opt) < 0;
    }
}

int tune_arguments_read(tune_arguments *args, command_options *options, int argc, char **argv, MPI_Comm comm)
{
    static const struct option own[] = {ARGUMENT_OPTIONS,
                                        {"tuned", required_argument, NULL, 'o'},
                                        {"cases", required_argument, NULL, OPTION_CASES},
                                        {"coll", optional_argument, NULL, OPTION_COLL},
                                        {"sizes", required_argument, NULL, OPTION_SIZES},
                                        {"seconds", required_argument, NULL, OPTION_SECONDS},
                                        {NULL, 0, NULL, 0}};
    tune_case *x;
    int bad, opt;

    memset(args, 0, sizeof *args);
    arguments_init(&args->common);
    args->from = 8;
    args->to = 4 << 20;
    args->seconds = 30;
    bad = command_options_init(options, own);
    while (!bad && (opt = command_next(options, argc, argv)) != -1)
        bad = opt == '?' || take(args, options, opt);
    if (bad || args->common.help)
        return bad;
    if (args->coll)
        return finish_coll(args, options, argc, argv);
    if (args->cases && optind == argc)
        return read_cases(args, options, comm);
    if (arguments_finish(&args->common, options, argc, argv))
        return 1;
    x = append(args, 0);
    return x ? set_options(x, options->text, "", options) : no_memory(options);
}

void tune_arguments_free(tune_arguments *args)
{
    for (int i = 0; i < args->count; i++)
        free(args->list[i].options);
    free(args->list);
}
