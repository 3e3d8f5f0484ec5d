/* The command line of hsumma_bench regret, and its file of cases. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "regret.h"

enum { OPTION_CASES = ARGUMENT_OWN, OPTION_MEASURE, OPTION_SWEEP_REPS, OPTION_CAP, OPTION_SECONDS };

enum { CASE_WORDS = 64 };

void regret_help(void)
{
    printf("Usage: mpiexec -n RANKS hsumma_bench regret [OPTION...]\n\n"
           "How good is what the library chooses?  For each case: the automatic plan; a sweep over at most %d other\n"
           "plans, forced by options; then the best %d of them and the automatic plan in turns.  Regret is how much\n"
           "longer the automatic plan takes than the best of the others, as the median of the rounds' ratios; a loss\n"
           "is a regret whose quartiles do not include 1.  Communication is predicted for every plan that runs, and\n"
           "the automatic one is timed once more with lookahead 0, where communication hides behind nothing.\n\n",
           REGRET_CANDIDATES, REGRET_BEST);
    arguments_help(stdout);
    printf("  --cases FILE            cases, one on a line: options of the product, of processes and distribution and\n"
           "                          of the library, beyond those of the command line; # begins a comment.  Without\n"
           "                          it there is the one case of the command line\n"
           "  --measure               also the plan that tune=measure ends with\n"
           "  --sweep-reps N          turns of each candidate, of which the shortest counts (default: 2)\n"
           "  --cap FACTOR            a candidate whose first turn takes FACTOR times the best so far has no other\n"
           "                          (default: 3)\n"
           "  --seconds S             begin no case later than S seconds after the start (default: no limit)\n"
           "--reps counts the rounds of the last comparison (default: 7); --format: table, or json, one line per case\n"
           "\nThe candidates: rows of cross products, refused ones and those that give the plan of another left out\n");
    regret_candidates_help(stdout);
    printf("  largest, others: of op(A), op(B), C; each: all group grids if they are four, else the squarest of each\n"
           "  number of groups, nearest to the root of the processes first; middle: the first of these\n"
           "\nThe plan: options of the library, for all plans; tuned is none unless it is given\n");
    command_print_options(stdout);
    printf("\nExit status: 0 done, 1 a check or a case failed, 2 the input was wrong.\n");
}

/* --- cases -------------------------------------------------------------------------------------------------------- */

/* "a b" of two texts, either of which may be empty; NULL without memory. */
static char *join(const char *a, const char *b)
{
    size_t size = strlen(a) + strlen(b) + 2;
    char *text = malloc(size);

    if (text)
        snprintf(text, size, "%s%s%s", a, *a && *b ? " " : "", b);
    return text;
}

static int no_memory(command_options *options)
{
    snprintf(options->error, sizeof options->error, "no memory for the cases");
    return 1;
}

/* A new case at the end of the list, without its text; NULL without memory. */
static regret_case *append(regret_arguments *args)
{
    regret_case *more = realloc(args->list, (size_t)(args->count + 1) * sizeof *more);

    if (!more)
        return NULL;
    args->list = more;
    more[args->count] = (regret_case){.args = args->common};
    return &more[args->count++];
}

/* Reads the words of a case. */
static int read_words(regret_case *x, command_options *scan, int argc, char **argv)
{
    static const struct option own[] = {ARGUMENT_OPTIONS, {NULL, 0, NULL, 0}};
    int opt, bad = command_options_init(scan, own);

    while (!bad && (opt = command_next(scan, argc, argv)) != -1) {
        bad = opt == '?';
        if (opt == 'h' || opt == ARGUMENT_FORMAT || opt == ARGUMENT_REPS || opt == ARGUMENT_CHECK) {
            snprintf(scan->error, sizeof scan->error,
                     "--help, --format, --reps and --check are for all cases together, on the command line");
            bad = 1;
        }
        bad = bad || arguments_take(&x->args, scan, opt) < 0;
    }
    return bad || arguments_finish(&x->args, scan, argc, argv);
}

/* One line of the file, which is cut into words. */
static int read_line(regret_arguments *args, command_options *options, char *text, int number)
{
    static char name[] = "case";
    char *argv[CASE_WORDS + 2] = {name};
    int argc = 1, bad;
    command_options scan;
    regret_case *x;

    text[strcspn(text, "#")] = 0;
    for (char *word, *rest = text; argc <= CASE_WORDS && (word = strtok_r(rest, " \t\r", &rest));)
        argv[argc++] = word;
    if (argc == 1)
        return 0;
    if (argc > CASE_WORDS) {
        snprintf(options->error, sizeof options->error, "%s:%d: more than %d words", args->cases, number,
                 CASE_WORDS - 1);
        return 1;
    }
    if (!(x = append(args)))
        return no_memory(options);
    x->line = number;
    x->text = strdup("");
    for (int i = 1; i < argc && x->text; i++) {
        char *longer = join(x->text, argv[i]);
        free(x->text);
        x->text = longer;
    }
    if (!x->text)
        return no_memory(options);
    bad = read_words(x, &scan, argc, argv);
    if (bad)
        snprintf(options->error, sizeof options->error, "%s:%d: %.300s", args->cases, number, scan.error);
    else if (!(x->options = join(args->options, scan.text)))
        bad = no_memory(options);
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

/* The same on all ranks; NULL on all if it failed on one, with rank 0's error. */
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

static int read_file(regret_arguments *args, command_options *options, MPI_Comm comm)
{
    char *text = share_file(args->cases, options, comm);
    int bad = 0, number = 0;

    if (!text)
        return 1;
    for (char *line, *rest = text; !bad && (line = strsep(&rest, "\n"));)
        bad = read_line(args, options, line, ++number);
    free(text);
    if (!bad && !args->count) {
        snprintf(options->error, sizeof options->error, "--cases %.200s: there is no case in it", args->cases);
        bad = 1;
    }
    return bad;
}

/* The command line's own case. */
static int read_one(regret_arguments *args, command_options *options, int argc, char **argv)
{
    regret_case *x = append(args);

    if (!x || !(x->options = strdup(args->options)) || !(x->text = strdup("")))
        return no_memory(options);
    for (int i = 1; i < argc; i++) {
        char *longer = join(x->text, argv[i]);
        free(x->text);
        if (!(x->text = longer))
            return no_memory(options);
    }
    return arguments_finish(&x->args, options, argc, argv);
}

/* --- the command line -------------------------------------------------------------------------------------------- */

static int take(regret_arguments *args, command_options *options, int opt)
{
    int64_t number = 0;

    switch (opt) {
    case OPTION_CASES:
        args->cases = optarg;
        return 0;
    case OPTION_MEASURE:
        args->measure = 1;
        return 0;
    case OPTION_SWEEP_REPS:
        if (!parse_int64(optarg, &number) || number < 1 || number > 1000)
            return command_bad_value(options, "sweep-reps", optarg, "a number of turns from 1 to 1000");
        args->sweep_reps = (int)number;
        return 0;
    case OPTION_CAP:
        if (!parse_double(optarg, &args->cap) || args->cap < 1)
            return command_bad_value(options, "cap", optarg, "a factor of at least 1");
        return 0;
    case OPTION_SECONDS:
        if (!parse_double(optarg, &args->seconds) || args->seconds <= 0)
            return command_bad_value(options, "seconds", optarg, "a number of seconds above 0");
        return 0;
    default:
        if (arguments_take(&args->common, options, opt) < 0)
            return 1;
        return args->common.format == REPORT_CSV && command_bad_value(options, "format", "csv", "table or json");
    }
}

int regret_arguments_read(regret_arguments *args, command_options *options, int argc, char **argv, MPI_Comm comm)
{
    static const struct option own[] = {ARGUMENT_OPTIONS,
                                        {"cases", required_argument, NULL, OPTION_CASES},
                                        {"measure", no_argument, NULL, OPTION_MEASURE},
                                        {"sweep-reps", required_argument, NULL, OPTION_SWEEP_REPS},
                                        {"cap", required_argument, NULL, OPTION_CAP},
                                        {"seconds", required_argument, NULL, OPTION_SECONDS},
                                        {NULL, 0, NULL, 0}};
    int bad, opt;

    memset(args, 0, sizeof *args);
    arguments_init(&args->common);
    args->common.reps = 7;
    args->sweep_reps = 2;
    args->cap = 3;
    bad = command_options_init(options, own);
    while (!bad && (opt = command_next(options, argc, argv)) != -1)
        bad = opt == '?' || take(args, options, opt);
    if (bad || args->common.help)
        return bad;
    if (!(args->options = join("tuned=none", options->text)))
        return no_memory(options);
    if (!args->cases)
        return read_one(args, options, argc, argv);
    if (optind < argc) {
        snprintf(options->error, sizeof options->error, "%s: no operand is expected", argv[optind]);
        return 1;
    }
    return read_file(args, options, comm);
}

void regret_arguments_free(regret_arguments *args)
{
    for (int i = 0; i < args->count; i++) {
        free(args->list[i].text);
        free(args->list[i].options);
    }
    free(args->list);
    free(args->options);
}
