/* The library's options on a command line; declared in command.h. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/command.h"

static int is_own(const struct option *own, const char *name)
{
    for (; own->name; own++)
        if (!strcmp(own->name, name))
            return 1;
    return 0;
}

/* The library's name as it is typed: '-' for '_'. In memory of its own; NULL without memory. */
static char *typed_name(const char *name)
{
    char *typed = strdup(name);

    for (char *c = typed; c && *c; c++)
        if (*c == '_')
            *c = '-';
    return typed;
}

int command_options_init(command_options *options, const struct option *own)
{
    hsumma_option_info info;
    int count = 0, theirs = 0, used;

    memset(options, 0, sizeof *options);
    while (own[count].name)
        count++;
    while (hsumma_option(theirs, &info))
        theirs++;
    options->all = calloc((size_t)(count + theirs + 1), sizeof *options->all);
    options->text = calloc(1, 1);
    options->size = 1;
    if (!options->all || !options->text)
        goto no_memory;
    memcpy(options->all, own, (size_t)count * sizeof *own);
    used = count;
    for (int i = 0; i < theirs; i++) {
        hsumma_option(i, &info);
        char *name = typed_name(info.name);
        if (!name)
            goto no_memory;
        if (is_own(own, name))
            free(name);
        else
            options->all[used++] = (struct option){name, required_argument, NULL, COMMAND_LIBRARY + i};
    }
    optind = 0; /* GNU: a new command line, and options that follow operands are found */
    opterr = 0; /* each rank would print */
    return 0;
no_memory:
    snprintf(options->error, sizeof options->error, "no memory");
    return 1;
}

void command_options_free(command_options *options)
{
    for (struct option *o = options->all; o && o->name; o++)
        if (o->val >= COMMAND_LIBRARY)
            free((char *)o->name);
    free(options->all);
    free(options->text);
    options->all = NULL;
    options->text = NULL;
}

/* The variable of the option whose name is the first `length` characters; NULL if there is none. */
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
    if (bad)
        snprintf(options->error, sizeof options->error, "the options could not be put into the environment");
    return bad;
}

int command_bad_value(command_options *options, const char *name, const char *text, const char *expected)
{
    snprintf(options->error, sizeof options->error, "--%s %s: expected %s", name, text, expected);
    return 1;
}

/* ":" first, so that a missing argument is told from an unknown option, then the letters. */
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

/* Appends "name=value" of the library's option i. */
static int collect(command_options *options, int i, const char *value)
{
    hsumma_option_info info;
    size_t length = strlen(options->text), more;
    char *text;

    hsumma_option(i, &info);
    for (const char *c = value; *c; c++)
        if (isspace((unsigned char)*c)) {
            snprintf(options->error, sizeof options->error, "--%s '%s': a value cannot contain blanks", info.name,
                     value);
            return 1;
        }
    more = strlen(info.name) + strlen(value) + 3;
    text = realloc(options->text, length + more);
    if (!text) {
        snprintf(options->error, sizeof options->error, "no memory");
        return 1;
    }
    snprintf(text + length, more, "%s%s=%s", length ? " " : "", info.name, value);
    options->text = text;
    options->size = length + more;
    return 0;
}

/* Why getopt_long returned '?' or ':'. */
static void explain(command_options *options, int opt, const char *word)
{
    char letter[3] = {'-', (char)optopt, 0};
    int is_short = optopt > 0 && optopt < 256 && strncmp(word, "--", 2);

    if (opt == ':')
        snprintf(options->error, sizeof options->error, "%s needs a value", is_short ? letter : word);
    else if (is_short)
        snprintf(options->error, sizeof options->error, "there is no option %s", letter);
    else if (optopt)
        snprintf(options->error, sizeof options->error, "%s: this option takes no value", word);
    else
        snprintf(options->error, sizeof options->error, "there is no option %s, or it is short for several", word);
}

int command_next(command_options *options, int argc, char **argv)
{
    char letters[128];
    int opt;

    options->error[0] = 0;
    short_options(options->all, letters, sizeof letters);
    for (;;) {
        opt = getopt_long(argc, argv, letters, options->all, NULL);
        if (opt == '?' || opt == ':') {
            explain(options, opt, optind > 0 && optind <= argc ? argv[optind - 1] : "");
            return '?';
        }
        if (opt < COMMAND_LIBRARY)
            return opt;
        if (collect(options, opt - COMMAND_LIBRARY, optarg))
            return '?';
    }
}

/* --- a command's table ------------------------------------------------------------------------------------------- */

int argument_int64(const argument *row, command_options *options, const char *text, void *at)
{
    int64_t number;

    (void)options;
    if (!parse_int64(text, &number) || number < row->least || number > row->most)
        return 0;
    *(int64_t *)at = number;
    return 1;
}

int argument_int(const argument *row, command_options *options, const char *text, void *at)
{
    int64_t number;

    if (!argument_int64(row, options, text, &number))
        return 0;
    *(int *)at = (int)number;
    return 1;
}

/* A real number, least and most included. */
int argument_double(const argument *row, command_options *options, const char *text, void *at)
{
    double number;

    (void)options;
    if (!parse_double(text, &number) || number < (double)row->least || number > (double)row->most)
        return 0;
    *(double *)at = number;
    return 1;
}

int argument_text(const argument *row, command_options *options, const char *text, void *at)
{
    (void)row, (void)options;
    *(const char **)at = text;
    return 1;
}

int argument_flag(const argument *row, command_options *options, const char *text, void *at)
{
    (void)row, (void)options, (void)text;
    return *(int *)at = 1;
}

int argument_letter(const argument *row, command_options *options, const char *text, void *at)
{
    int c = toupper((unsigned char)text[0]);

    (void)options;
    if (!c || text[1] || !strchr(row->words, c))
        return 0;
    *(char *)at = (char)c;
    return 1;
}

int argument_seconds(const argument *row, command_options *options, const char *text, void *at)
{
    (void)row, (void)options;
    return parse_double(text, at) && *(double *)at > 0;
}

int argument_blocking(const argument *row, command_options *options, const char *text, void *at)
{
    (void)row, (void)options;
    return parse_blocking(text, at);
}

int argument_scalar(const argument *row, command_options *options, const char *text, void *at)
{
    (void)row, (void)options;
    return parse_scalar(text, at);
}

int argument_refused(const argument *row, command_options *options, const char *text, void *at)
{
    (void)text, (void)at;
    snprintf(options->error, sizeof options->error, "%s", row->expected);
    return 0;
}

/* The number of a word; enums are ints here. */
int argument_word(const argument *row, command_options *options, const char *text, void *at)
{
    const char *word = row->words;
    int number = (int)row->least;

    (void)options;
    for (size_t length; *word; word += length + (word[length] == '|'), number++) {
        length = strcspn(word, "|");
        if (length && strlen(text) == length && !strncmp(word, text, length)) {
            *(int *)at = number;
            return 1;
        }
    }
    return 0;
}

/* A table with the rows of its tables in line. */
enum { MOST_ARGUMENTS = 40 };
struct flat {
    int count;
    struct option own[MOST_ARGUMENTS + 1];
    const argument *row[MOST_ARGUMENTS];
    char *at[MOST_ARGUMENTS];
};

static void flatten(struct flat *flat, const argument *table, char *arguments)
{
    enum { FIRST = 0x100 };

    for (const argument *row = table; row->name || row->rows; row++) {
        int i = flat->count;

        if (row->rows) {
            flatten(flat, row->rows, arguments + row->field);
        } else if (i < MOST_ARGUMENTS) {
            int bare = row->value == WITHOUT_VALUE || row->read == argument_flag;
            int has = row->value == MAY_HAVE_VALUE ? optional_argument : bare ? no_argument : required_argument;

            flat->own[i] = (struct option){row->name, has, NULL, row->letter ? row->letter : FIRST + i};
            flat->row[i] = row;
            flat->at[i] = arguments + row->field;
            flat->count++;
        }
    }
}

/* Takes one option by its row; returns nonzero if its value is bad. */
static int take(command_options *options, const argument *row, char *at)
{
    char expected[80];

    if (row->read(row, options, optarg, at))
        return 0;
    snprintf(expected, sizeof expected, "a number from %lld to %lld", (long long)row->least, (long long)row->most);
    return options->error[0] || command_bad_value(options, row->name, optarg, row->expected ? row->expected : expected);
}

int command_read(command_options *options, const argument *table, void *arguments, int argc, char **argv)
{
    struct flat flat = {0};
    int bad, opt;

    flatten(&flat, table, arguments);
    bad = command_options_init(options, flat.own);
    while (!bad && (opt = command_next(options, argc, argv)) != -1) {
        int i = 0;

        while (opt != '?' && flat.own[i].val != opt)
            i++;
        bad = opt == '?' || take(options, flat.row[i], flat.at[i]);
    }
    return bad;
}

int command_operands(command_options *options, int argc, char **argv)
{
    if (optind < argc)
        snprintf(options->error, sizeof options->error, "%s: no operand is expected", argv[optind]);
    return optind < argc;
}

void command_print_options(FILE *file)
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
