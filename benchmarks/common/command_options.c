/* Commands and their options, declared in command.h: reads a command line, prints the help, runs a command. */
#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "common/command.h"

void command_options_free(command_options *options)
{
    free(options->text);
    options->text = NULL;
}

/* The environment variable of the library's option whose name is the first `length` characters of `name`; NULL if none.
 */
static const char *variable_of(const char *name, size_t length)
{
    hsumma_option_info info;

    for (int i = 0; hsumma_option(i, &info); i++)
        if (strlen(info.name) == length && !strncmp(info.name, name, length))
            return info.environment;
    return NULL;
}

int command_options_export(command_options *options)
{
    char *copy = strdup(options->text), *rest = copy;
    int bad = !copy;

    for (char *word; !bad && (word = strtok_r(rest, " ", &rest));) {
        char *value = strchr(word, '=');
        const char *variable = variable_of(word, (size_t)(value - word));

        bad = !variable || setenv(variable, value + 1, 1);
    }
    free(copy);
    return bad && command_refuse(options, "no memory to copy the options to the environment");
}

int command_refuse(command_options *options, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(options->error, sizeof options->error, format, args);
    va_end(args);
    return 1;
}

int command_bad_value(command_options *options, const char *name, const char *text, const char *expected)
{
    return command_refuse(options, "--%s %s: expected %s", name, text, expected);
}

/* Appends "name=value" for the library's option i. */
static int collect(command_options *options, int i, const char *value)
{
    hsumma_option_info info;
    size_t length = strlen(options->text), more;
    char *text;

    hsumma_option(i, &info);
    for (const char *c = value; *c; c++)
        if (isspace((unsigned char)*c))
            return command_refuse(options,
                                  "%s '%s': expected a value without blanks; for a file name with blanks set %s",
                                  info.name, value, info.environment);
    more = strlen(info.name) + strlen(value) + 3;
    text = realloc(options->text, length + more);
    if (!text)
        return command_refuse(options, "no memory");
    snprintf(text + length, more, "%s%s=%s", length ? " " : "", info.name, value);
    options->text = text;
    return 0;
}

/* --- a command's table ------------------------------------------------------------------------------------------- */

int argument_int64(const argument_given *given, void *at)
{
    int64_t number;

    if (!parse_int64(given->text, &number) || number < given->row->least || number > given->row->most)
        return 0;
    *(int64_t *)at = number;
    return 1;
}

int argument_int(const argument_given *given, void *at)
{
    int64_t number;

    if (!argument_int64(given, &number))
        return 0;
    *(int *)at = (int)number;
    return 1;
}

/* Reads a real number from row->least to row->most. */
int argument_double(const argument_given *given, void *at)
{
    double number;

    if (!parse_double(given->text, &number) || number < (double)given->row->least || number > (double)given->row->most)
        return 0;
    *(double *)at = number;
    return 1;
}

int argument_text(const argument_given *given, void *at)
{
    *(const char **)at = given->text;
    return 1;
}

int argument_flag(const argument_given *given, void *at)
{
    (void)given;
    return *(int *)at = 1;
}

int argument_help(const argument_given *given, void *at)
{
    (void)at;
    return given->options->help = 1;
}

int argument_letter(const argument_given *given, void *at)
{
    int c = toupper((unsigned char)given->text[0]);

    if (!c || given->text[1] || !strchr(given->row->words, c))
        return 0;
    *(char *)at = (char)c;
    return 1;
}

int argument_seconds(const argument_given *given, void *at)
{
    return parse_double(given->text, at) && *(double *)at > 0;
}

int argument_refused(const argument_given *given, void *at)
{
    (void)at;
    return !command_refuse(given->options, "%s", given->row->expected);
}

int parse_word(const char *words, const char *text, size_t length)
{
    int number = 0;

    for (size_t all; *words; words += all + (words[all] == '|'), number++) {
        all = strcspn(words, "|");
        if (all && all == length && !strncmp(words, text, length))
            return number;
    }
    return -1;
}

int parse_words(const char *words, const char *text)
{
    int bits = 0;

    for (size_t length; bits >= 0 && *text; text += length + (text[length] == ',')) {
        length = strcspn(text, ",");
        int number = parse_word(words, text, length);
        if (length)
            bits = number < 0 ? -1 : bits | 1 << number;
    }
    return bits;
}

/* Stores the position of the given word in row->words, counted from row->least, as an int (also for an enum). */
int argument_word(const argument_given *given, void *at)
{
    int number = parse_word(given->row->words, given->text, strlen(given->text));

    if (number >= 0)
        *(int *)at = (int)given->row->least + number;
    return number >= 0;
}

/* --- reading a command line --------------------------------------------------------------------------------------- */

/* The options for getopt_long: the command's own, with nested rows flattened, then the library's. The val of own option
 * i is its short letter, or FIRST + i if it has none; that of the library's option i is LIBRARY + i. */
enum { MOST_ARGUMENTS = 40, FIRST = 0x100, LIBRARY = 0x1000 };
typedef struct scan {
    int count; /* number of own options */
    const argument *row[MOST_ARGUMENTS];
    char *at[MOST_ARGUMENTS];
    struct option *all; /* own, the library's, then the terminator */
} scan;

static int is_without_value(const argument *row)
{
    return row->value == WITHOUT_VALUE || row->read == argument_flag || row->read == argument_help;
}

static void flatten(scan *to, const argument *table, char *arguments)
{
    for (const argument *row = table; row->name || row->rows; row++) {
        if (row->rows) {
            flatten(to, row->rows, arguments + row->field);
        } else if (to->count < MOST_ARGUMENTS) {
            to->row[to->count] = row;
            to->at[to->count++] = arguments + row->field;
        }
    }
}

static int is_own(const scan *in, const char *name)
{
    for (int i = 0; i < in->count; i++)
        if (!strcmp(in->row[i]->name, name))
            return 1;
    return 0;
}

/* Starts a scan, which resets getopt. Returns 0 if out of memory. */
static int begin(scan *to, const argument *table, void *arguments)
{
    hsumma_option_info info;
    struct option *next;
    int theirs = 0;

    flatten(to, table, arguments);
    while (hsumma_option(theirs, &info))
        theirs++;
    next = to->all = calloc((size_t)(to->count + theirs + 1), sizeof *to->all);
    if (!next)
        return 0;
    for (int i = 0; i < to->count; i++) {
        const argument *row = to->row[i];
        int has = row->value == MAY_HAVE_VALUE ? optional_argument
                  : is_without_value(row)      ? no_argument
                                               : required_argument;

        *next++ = (struct option){row->name, has, NULL, row->letter ? row->letter : FIRST + i};
    }
    for (int i = 0; hsumma_option(i, &info); i++) {
        char *name = strdup(info.name);

        if (!name)
            return 0;
        for (char *c = name; *c; c++) /* spelled as on the command line */
            *c = *c == '_' ? '-' : *c;
        if (is_own(to, name))
            free(name);
        else
            *next++ = (struct option){name, required_argument, NULL, LIBRARY + i};
    }
    optind = 0; /* in GNU getopt, 0 restarts the scan and resets the order of operands */
    opterr = 0; /* else each rank would print errors */
    return 1;
}

static void end(scan *of)
{
    for (struct option *o = of->all; o && o->name; o++)
        if (o->val >= LIBRARY)
            free((char *)o->name);
    free(of->all);
}

/* Writes getopt's short options: ":", which makes getopt return ':' (not '?') for a missing value, and the letters. */
static void short_options(const struct option *all, char *text, size_t size)
{
    size_t used = 0;

    text[used++] = ':';
    for (; all->name; all++) {
        if (all->val > 255 || !isalpha(all->val) || used + 3 > size)
            continue;
        text[used++] = (char)all->val;
        if (all->has_arg == required_argument)
            text[used++] = ':';
    }
    text[used] = 0;
}

/* Reports "--word" or "--word=..." that is not an option, or is short for several. */
static int refuse_long(command_options *options, const struct option *all, const char *word)
{
    size_t length = strcspn(word + 2, "=");
    struct hs_guess guess = hs_guess_of(word + 2, length);
    char several[300] = "", meant[80];

    for (const struct option *o = all; o->name; o++) {
        hs_guess_try(&guess, o->name, strlen(o->name));
        if (!strncmp(o->name, word + 2, length))
            hs_append(several, sizeof several, "%s--%s", several[0] ? ", " : "", o->name);
    }
    if (several[0])
        return command_refuse(options, "--%.*s is short for several options: %s; give more letters", (int)length,
                              word + 2, several);
    return command_refuse(options, "there is no option --%.*s%s", (int)length, word + 2,
                          *hs_guess_text(&guess, "--", meant, sizeof meant) ? meant : "; see --help");
}

/* Reports getopt_long's result '?' or ':'. */
static int explain(command_options *options, const struct option *all, int opt, const char *word)
{
    char letter[3] = {'-', (char)optopt, 0};
    int is_short = optopt > 0 && optopt < 256 && strncmp(word, "--", 2);

    if (opt == ':')
        return command_refuse(options, "%s needs a value; see --help", is_short ? letter : word);
    if (is_short)
        return command_refuse(options, "there is no option %s; see --help", letter);
    if (optopt)
        return command_refuse(options, "%s: this option takes no value", word);
    return refuse_long(options, all, word);
}

/* Writes a guess for the first misspelt name in "NAME,NAME=VALUE,...": it resembles one of `words`, but equals none. */
static void guess_name(const char *list, const char *words, char *text, size_t size)
{
    text[0] = 0;
    for (const char *name = list; *name && !text[0]; name += strcspn(name, ","), name += *name == ',') {
        size_t length = strcspn(name, ",=");
        struct hs_guess guess = hs_guess_of(name, length);

        hs_guess_among(&guess, words);
        if (strlen(guess.name) != length || memcmp(guess.name, name, length))
            hs_guess_text(&guess, "", text, size);
    }
}

/* Reads one own option; returns nonzero if its value is invalid. */
static int take(command_options *options, const argument *row, char *at)
{
    char expected[256], meant[80];

    if (row->read(&(argument_given){row, optarg, options}, at))
        return 0;
    if (options->error[0])
        return 1;
    if (row->expected)
        snprintf(expected, sizeof expected, "%s", row->expected);
    else if (row->words)
        snprintf(expected, sizeof expected, "one of %s", row->words);
    else
        hs_range_text(row->least, row->most, expected, sizeof expected);
    guess_name(optarg ? optarg : "", row->words && row->read != argument_letter ? row->words : "", meant, sizeof meant);
    return command_refuse(options, "--%s %s: expected %s%s", row->name, optarg, expected, meant);
}

int command_read(command_options *options, const argument *table, void *arguments, int argc, char **argv)
{
    scan of = {.count = 0};
    char letters[128];
    int bad, opt;

    *options = (command_options){.text = calloc(1, 1), .argc = argc, .argv = argv};
    bad = (!begin(&of, table, arguments) || !options->text) && command_refuse(options, "no memory");
    if (!bad)
        short_options(of.all, letters, sizeof letters);
    while (!bad && (opt = getopt_long(argc, argv, letters, of.all, NULL)) != -1) {
        int i = 0;

        if (opt == '?' || opt == ':') {
            bad = explain(options, of.all, opt, optind > 0 && optind <= argc ? argv[optind - 1] : "");
        } else if (opt >= LIBRARY) {
            bad = collect(options, opt - LIBRARY, optarg);
        } else {
            while (of.all[i].val != opt)
                i++;
            bad = take(options, of.row[i], of.at[i]);
        }
    }
    end(&of);
    return bad;
}

int command_operands(command_options *options)
{
    return optind < options->argc &&
           command_refuse(options, "%s: unexpected operand; expected options only, which begin with - or --",
                          options->argv[optind]);
}

/* --- a command ---------------------------------------------------------------------------------------------------- */

/* Prints the library's options, each as a line "  --name VALUE" and an indented line "help (default: ...)". */
static void print_options(FILE *file)
{
    hsumma_option_info info;

    for (int i = 0; hsumma_option(i, &info); i++) {
        fputs("  --", file);
        for (const char *c = info.name; *c; c++)
            fputc(*c == '_' ? '-' : *c, file);
        fprintf(file, " %s\n        %s", info.value_name ? info.value_name : "VALUE", info.help ? info.help : "");
        if (info.default_value && *info.default_value)
            fprintf(file, " (default: %s)", info.default_value);
        fputc('\n', file);
    }
}

static void print_help(const subcommand *what)
{
    what->help();
    print_options(stdout);
    printf("\n%s", what->ending);
}

/* Warns of unknown variables whose name resembles a known one. */
static void warn_of_environment(void)
{
    char text[1024];

    if (hs_environment_misspelt_text(text, sizeof text))
        fprintf(stderr, "hsumma: warning: %s\n", text);
}

int command_run(const subcommand *what, int argc, char **argv, MPI_Comm comm)
{
    void *arguments = malloc(what->size);
    command_options options;
    int rank, bad, code = COMMAND_OK;

    MPI_Comm_rank(comm, &rank);
    if (command_fail(comm, !arguments, "%s: no memory for the arguments", what->name)) {
        free(arguments);
        return COMMAND_INTERNAL;
    }
    if (rank == 0 && !what->quiet_environment)
        warn_of_environment();
    memcpy(arguments, what->defaults, what->size);
    bad = command_read(&options, what->table, arguments, argc, argv);
    options.comm = comm;
    bad = bad || (!options.help && what->finish(arguments, &options));
    if (command_fail(comm, bad, "%s: %s%s", what->name, options.error,
                     what->hint && !strstr(options.error, "--help") ? what->hint : ""))
        code = COMMAND_BAD_INPUT;
    else if (!options.help && (rank == 0 || !what->alone))
        code = what->run(arguments, options.text, what->alone ? MPI_COMM_SELF : comm);
    else if (options.help && rank == 0)
        print_help(what);
    if (what->alone)
        quiet_bcast(&code, 1, MPI_INT, 0, comm);
    if (what->release)
        what->release(arguments);
    command_options_free(&options);
    free(arguments);
    return code;
}
