#include "regret/cases.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { CASE_WORDS = 64 };

/* Joins two texts, either of which may be empty, with a space; NULL if out of memory. */
static char *join(const char *a, const char *b)
{
    char *text;

    return asprintf(&text, "%s%s%s", a, *a && *b ? " " : "", b) < 0 ? NULL : text;
}

/* Joins argv[1] .. with spaces; NULL if out of memory. */
static char *join_words(int argc, char **argv)
{
    char *text = strdup("");

    for (int i = 1; i < argc && text; i++) {
        char *longer = join(text, argv[i]);

        free(text);
        text = longer;
    }
    return text;
}

static int no_memory(command_options *options)
{
    return command_refuse(options, "no memory for the cases");
}

/* Appends a new case, still without text; NULL if out of memory. */
static product_case *append(product_cases *cases)
{
    product_case *more = realloc(cases->list, (size_t)(cases->count + 1) * sizeof *more);

    if (!more)
        return NULL;
    cases->list = more;
    more[cases->count] = (product_case){.args = cases->common};
    return &more[cases->count++];
}

static int read_words(product_case *x, command_options *scan, int argc, char **argv)
{
#define NOT_HERE              \
    .read = argument_refused, \
    .expected = "--help, --format, --reps and --check: not allowed in a case; give them on the command line"
    static const argument table[] = {{.rows = arguments_product},
                                     {.rows = arguments_values},
                                     {"reps", NOT_HERE},
                                     {"check", NOT_HERE, .value = WITHOUT_VALUE},
                                     {"format", NOT_HERE},
                                     {"help", 'h', NOT_HERE, .value = WITHOUT_VALUE},
                                     {.name = NULL}};

    return command_read(scan, table, &x->args, argc, argv) || arguments_finish(&x->args, scan);
}

/* Reads one line of the file, splitting it into words in place. */
static int read_line(product_cases *cases, command_options *options, char *text, int number)
{
    static char name[] = "case";
    char *argv[CASE_WORDS + 2] = {name};
    int argc = 1, bad;
    command_options scan;
    product_case *x;

    text[strcspn(text, "#")] = 0;
    for (char *word, *rest = text; argc <= CASE_WORDS && (word = strtok_r(rest, " \t\r", &rest));)
        argv[argc++] = word;
    if (argc == 1)
        return 0;
    if (argc > CASE_WORDS)
        return command_refuse(options, "%s:%d: expected at most %d options and values in a line", cases->file, number,
                              CASE_WORDS - 1);
    if (!(x = append(cases)))
        return no_memory(options);
    x->line = number;
    if (!(x->text = join_words(argc, argv)))
        return no_memory(options);
    bad = read_words(x, &scan, argc, argv);
    if (bad)
        command_refuse(options, "%s:%d: %.300s", cases->file, number, scan.error);
    else if (!(x->options = join(cases->options, scan.text)))
        bad = no_memory(options);
    command_options_free(&scan);
    return bad;
}

/* Reads the whole file on this rank; NULL with an error. */
static char *load(const char *path, command_options *options)
{
    FILE *file = fopen(path, "r");
    char *text = NULL;
    size_t size = 0;

    if (!file || getdelim(&text, &size, 0, file) < 0) {
        command_refuse(options, "--cases %.200s: %s", path,
                       !file || ferror(file) ? strerror(errno) : "the file is empty");
        free(text);
        text = NULL;
    }
    if (file)
        fclose(file);
    return text;
}

/* Reads the file on rank 0 and broadcasts it. If any rank fails, returns NULL on all ranks, with rank 0's error. */
static char *share_file(const char *path, command_options *options)
{
    char *text = NULL;
    MPI_Comm comm = options->comm;
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

static int read_file(product_cases *cases, command_options *options)
{
    char *text = share_file(cases->file, options);
    int bad = 0, number = 0;

    if (!text)
        return 1;
    for (char *line, *rest = text; !bad && (line = strsep(&rest, "\n"));)
        bad = read_line(cases, options, line, ++number);
    free(text);
    return bad ||
           (!cases->count &&
            command_refuse(options, "--cases %.200s: the file has no case; expected at least one line of options",
                           cases->file));
}

/* Adds the case given on the command line. */
static int read_one(product_cases *cases, command_options *options)
{
    product_case *x = append(cases);

    if (!x || !(x->options = strdup(cases->options)) || !(x->text = join_words(options->argc, options->argv)))
        return no_memory(options);
    return arguments_finish(&x->args, options);
}

int cases_read(product_cases *cases, const char *first, command_options *options)
{
    if (!(cases->options = join(first, options->text)))
        return no_memory(options);
    if (!cases->file)
        return read_one(cases, options);
    return command_operands(options) || read_file(cases, options);
}

void cases_free(product_cases *cases)
{
    for (int i = 0; i < cases->count; i++) {
        free(cases->list[i].text);
        free(cases->list[i].options);
    }
    free(cases->list);
    free(cases->options);
}
