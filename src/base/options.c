/* Options: the types of values, the table, and precedence. */
#include "base/options.h"

#include <ctype.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum option_owner { OF_CONTEXT, OF_PLAN, OF_PRODUCT, OF_MESSAGES };

enum { OPTION_WORDS = 5 };

struct option_row {
    const char *name, *values, *initial, *help, *environment, *expected;
    enum option_owner of;
    const struct option_type *type;
    size_t field, width; /* offset and size in struct hs_settings; for texts the offset in struct hs_texts */
    struct {
        const char *text;
        int64_t value;
    } words[OPTION_WORDS];
    int64_t least, most;
};

/* `at` is the value's field.  read parses a whole text; it returns 0, or -1 and may have changed the field. */
struct option_type {
    int (*read)(const struct option_row *row, const char *text, void *at);
    void (*write)(const struct option_row *row, const void *at, char *text, size_t size);
    /* For lists: parses the element at *text, appends it, and moves *text past it. */
    int (*read_element)(const struct option_row *row, const char **text, void *at);
    int has_factors; /* 1: numbers may have a factor, such as 64k */
    int stays_text;  /* 1: read only checks the text; the field is in struct hs_texts */
};

/* --- numbers ------------------------------------------------------------------------------------------------------ */

static int whole_number(const char **text, int64_t least, int64_t most, int64_t *value)
{
    char *end;
    if (**text < '0' || **text > '9')
        return -1;
    long long number = strtoll(*text, &end, 10);
    if (number < least || number > most)
        return -1;
    *value = number;
    *text = end;
    return 0;
}

static const char factors[] = {0, 'k', 'M', 'G', 0};

int hs_size_text(const char *text, int64_t least, int64_t *value)
{
    if (whole_number(&text, 0, INT64_MAX - 1, value)) /* strtoll returns INT64_MAX for larger numbers too */
        return -1;
    const char *factor = *text ? strchr(factors + 1, *text == 'K' ? 'k' : *text) : NULL;
    int shift = factor ? 10 * (int)(factor - factors) : 0;
    if (*value > INT64_MAX >> shift)
        return -1;
    *value <<= shift;
    return text[factor != NULL] || *value < least ? -1 : 0;
}

void hs_size_write(int64_t value, char *text, size_t size)
{
    int i = 0;
    for (; i < 3 && value && value % 1024 == 0; i++)
        value /= 1024;
    snprintf(text, size, "%" PRId64 "%.1s", value, &factors[i]);
}

static void put_number(const struct option_row *row, void *at, int64_t value)
{
    if (row->width == sizeof(int))
        *(int *)at = (int)value;
    else
        *(int64_t *)at = value;
}

/* The index of the row's keyword that equals a text; -1: none. */
static int find_word(const struct option_row *row, const char *text, size_t length)
{
    for (int i = 0; i < OPTION_WORDS && row->words[i].text; i++)
        if (strlen(row->words[i].text) == length && memcmp(row->words[i].text, text, length) == 0)
            return i;
    return -1;
}

static int read_word(const struct option_row *row, const char *text, void *at)
{
    int i = find_word(row, text, strlen(text));
    if (i >= 0)
        put_number(row, at, row->words[i].value);
    return i < 0 ? -1 : 0;
}

/* Parses a keyword or a number; a size may have a factor. */
static int read_number(const struct option_row *row, const char *text, void *at)
{
    int64_t value;
    if (read_word(row, text, at) == 0)
        return 0;
    if (row->type->has_factors ? hs_size_text(text, row->least, &value) || value > row->most
                               : whole_number(&text, row->least, row->most, &value) || *text)
        return -1;
    put_number(row, at, value);
    return 0;
}

static const char *word_for(const struct option_row *row, int64_t value)
{
    for (int i = 0; i < OPTION_WORDS && row->words[i].text; i++)
        if (row->words[i].value == value)
            return row->words[i].text;
    return NULL;
}

static void write_number(const struct option_row *row, const void *at, char *text, size_t size)
{
    int64_t value = row->width == sizeof(int) ? *(const int *)at : *(const int64_t *)at;
    const char *word = word_for(row, value);
    if (word)
        snprintf(text, size, "%s", word);
    else
        snprintf(text, size, "%" PRId64, value);
}

static const struct option_type word_type = {.read = read_word, .write = write_number};
static const struct option_type number_type = {.read = read_number, .write = write_number};
static const struct option_type size_type = {.read = read_number, .write = write_number, .has_factors = 1};

/* Parses a percentage up to the row's .most, or a number of bytes. */
static int read_part(const struct option_row *row, const char *text, void *at)
{
    struct hs_part *part = at;
    char *end;
    *part = (struct hs_part){0};
    double percent = strtod(text, &end);
    if (end == text || end[0] != '%')
        return hs_size_text(text, 1, &part->bytes);
    part->share = percent / 100;
    return !end[1] && percent > 0 && percent <= (double)row->most ? 0 : -1;
}

static void write_part(const struct option_row *row, const void *at, char *text, size_t size)
{
    const struct hs_part *part = at;
    (void)row;
    if (part->bytes)
        hs_size_write(part->bytes, text, size);
    else
        snprintf(text, size, "%.9g%%", part->share * 100);
}

static const struct option_type part_type = {.read = read_part, .write = write_part};

/* --- lists -------------------------------------------------------------------------------------------------------- */

/* Parses the row's keyword, which means the empty list, or elements separated by commas. */
static int read_list(const struct option_row *row, const char *text, void *at)
{
    memset(at, 0, row->width);
    if (strcmp(text, row->words[0].text) == 0)
        return 0;
    for (;; text++) {
        if (row->type->read_element(row, &text, at))
            return -1;
        if (*text != ',')
            return *text ? -1 : 0;
    }
}

/* Parses one grid IxJ; a list has at most row->most. */
static int read_grid(const struct option_row *row, const char **text, void *at)
{
    struct hs_group_grids *grids = at;
    int64_t rows, cols;
    if (grids->count == row->most || whole_number(text, 1, INT32_MAX, &rows) || *(*text)++ != 'x' ||
        whole_number(text, 1, INT32_MAX, &cols))
        return -1;
    grids->grid[grids->count][0] = (int)rows;
    grids->grid[grids->count++][1] = (int)cols;
    return 0;
}

static int read_width(const struct option_row *row, const char **text, void *at)
{
    struct hs_widths *widths = at;
    if (widths->count == row->most || whole_number(text, 1, INT32_MAX, &widths->width[widths->count]))
        return -1;
    widths->count++;
    return 0;
}

/* The length of a name: up to a comma outside parentheses, or to the end. */
static size_t name_length(const char *text)
{
    size_t length = strcspn(text, ",(");
    if (text[length] == '(')
        length += strcspn(text + length, ")");
    return text[length] == ')' ? length + 1 : length;
}

static const char *const prefix[] = {"outer=", "inner="};

/* Parses NAME, with or without parameters, or an element of the list outer=NAME,inner=NAME. */
static int read_name(const struct option_row *row, const char **text, void *at)
{
    struct hs_names *names = at;
    (void)row;
    if (names->count == 0)
        names->outer_inner = strncmp(*text, prefix[0], 6) == 0;
    if (names->outer_inner) {
        if (names->count == 2 || strncmp(*text, prefix[names->count], 6) != 0)
            return -1;
        *text += 6;
    }
    size_t length = name_length(*text);
    if (length == 0 || length >= HS_WORD_TEXT || names->count == HS_LEVELS)
        return -1;
    memcpy(names->name[names->count++], *text, length);
    *text += length;
    return names->outer_inner && names->count == 1 && !**text ? -1 : 0;
}

static void write_grids(const struct option_row *row, const void *at, char *text, size_t size)
{
    const struct hs_group_grids *grids = at;
    snprintf(text, size, "%s", grids->count ? "" : row->words[0].text);
    for (int l = 0; l < grids->count; l++)
        hs_append(text, size, "%s%dx%d", l ? "," : "", grids->grid[l][0], grids->grid[l][1]);
}

static void write_widths(const struct option_row *row, const void *at, char *text, size_t size)
{
    const struct hs_widths *widths = at;
    snprintf(text, size, "%s", widths->count ? "" : row->words[0].text);
    for (int l = 0; l < widths->count; l++)
        hs_append(text, size, "%s%" PRId64, l ? "," : "", widths->width[l]);
}

static void write_names(const struct option_row *row, const void *at, char *text, size_t size)
{
    const struct hs_names *names = at;
    snprintf(text, size, "%s", names->count ? "" : row->words[0].text);
    for (int l = 0; l < names->count; l++)
        hs_append(text, size, "%s%s%s", l ? "," : "", names->outer_inner ? prefix[l] : "", names->name[l]);
}

static const struct option_type grids_type = {.read = read_list, .read_element = read_grid, .write = write_grids};
static const struct option_type widths_type = {.read = read_list, .read_element = read_width, .write = write_widths};
static const struct option_type names_type = {.read = read_list, .read_element = read_name, .write = write_names};

/* --- texts and others --------------------------------------------------------------------------------------------- */

/* coll/select parses rules, since it knows the algorithms; only the characters are checked here. */
static int check_rules(const struct option_row *row, const char *text, void *at)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-:,;=().";
    (void)at;
    return strcmp(text, row->initial) == 0 ? 0 : strspn(text, letters) != strlen(text) || !strchr(text, ':') ? -1 : 0;
}

static int check_file(const struct option_row *row, const char *text, void *at)
{
    (void)row, (void)at;
    return *text ? 0 : -1;
}

static const struct option_type rules_type = {.read = check_rules, .stays_text = 1};
static const struct option_type file_type = {.read = check_file, .stays_text = 1};

int hs_is_fabric(const char *text)
{
    return strncmp(text, "torus:", 6) == 0 || strncmp(text, "tree:", 5) == 0 || strncmp(text, "dragonfly:", 10) == 0;
}

int hs_topology_text(const char *text, struct hs_nodes *nodes)
{
    enum { MOST_NODES = 1 << 20 };
    int64_t count = 0, sockets = 1;
    *nodes = (struct hs_nodes){0, 0, ""};
    if (strcmp(text, "auto") == 0)
        return 0;
    if (strncmp(text, "nodes:", 6) == 0) {
        text += 6;
        if (whole_number(&text, 1, MOST_NODES, &count) ||
            (strncmp(text, ",sockets:", 9) == 0 && (text += 9, whole_number(&text, 1, MOST_NODES, &sockets))))
            return -1;
        *nodes = (struct hs_nodes){(int)count, (int)sockets, text + (*text == ',')};
        return *text && (*text != ',' || !hs_is_fabric(text + 1)) ? -1 : 0;
    }
    nodes->fabric = text; /* a name with a colon but no directory is a misspelt word */
    return !*text || (strchr(text, ':') && !strchr(text, '/') && !hs_is_fabric(text)) ? -1 : 0;
}

static int check_topology(const struct option_row *row, const char *text, void *at)
{
    struct hs_nodes nodes;
    (void)row, (void)at;
    return hs_topology_text(text, &nodes);
}

static const struct option_type topology_type = {.read = check_topology, .stays_text = 1};

/* Parses a keyword of the row, followed by a number if the keyword's value allows one. */
static int read_device(const struct option_row *row, const char *text, void *at)
{
    struct hs_device_name *device = at;
    size_t length = strcspn(text, ":");
    int64_t number = -1;
    int i = find_word(row, text, length);
    if (i < 0 || (text[length] && !row->words[i].value))
        return -1;
    snprintf(device->kind, sizeof device->kind, "%s", row->words[i].text);
    text += length;
    if (*text && (text++, whole_number(&text, row->least, row->most, &number) || *text))
        return -1;
    device->number = (int)number;
    return 0;
}

static void write_device(const struct option_row *row, const void *at, char *text, size_t size)
{
    const struct hs_device_name *device = at;
    (void)row;
    if (device->number < 0)
        snprintf(text, size, "%s", device->kind);
    else
        snprintf(text, size, "%s:%d", device->kind, device->number);
}

static const struct option_type device_type = {.read = read_device, .write = write_device};

/* --- the table ---------------------------------------------------------------------------------------------------- */

#define AT(member) .field = offsetof(struct hs_settings, member), .width = sizeof((struct hs_settings *)0)->member
#define TEXT(member) .field = offsetof(struct hs_texts, member)
#define OPTION(id, ...) [HS_OPT_##id] = {.environment = "HSUMMA_" #id, __VA_ARGS__},
static const struct option_row table[HS_OPTIONS] = {
#include "base/options.inc"
};

int hsumma_option(int i, hsumma_option_info *info)
{
    if (i < 0 || i >= HS_OPTIONS)
        return 0;
    *info = (hsumma_option_info){.name = table[i].name,
                                 .value_name = table[i].values,
                                 .default_value = table[i].initial,
                                 .help = table[i].help,
                                 .environment = table[i].environment};
    return 1;
}

void hs_option_write(enum hs_option option, const struct hs_settings *settings, char *text, size_t size)
{
    const struct option_row *row = &table[option];
    row->type->write(row, (const char *)settings + row->field, text, size);
}

const char *hs_option_word(enum hs_option option, int64_t value)
{
    return word_for(&table[option], value);
}

/* --- precedence --------------------------------------------------------------------------------------------------- */

static const char *const sayer[] = {[HS_BY_DEFAULT] = "default",
                                    [HS_BY_TUNED] = "tuned file",
                                    [HS_BY_ENVIRONMENT] = "environment",
                                    [HS_BY_CONTEXT] = "context options",
                                    [HS_BY_PLAN] = "plan options"};

int hs_option_taken(enum hs_option option, enum hs_said_by by)
{
    enum option_owner of = table[option].of;
    return by == HS_BY_PLAN ? of != OF_CONTEXT : by == HS_BY_TUNED ? of >= OF_PRODUCT : 1;
}

/* Derives the hierarchy from the options groups and levels. The later one wins; in the environment, levels does. */
static void settle_hierarchy(struct hs_options *options, enum hs_option given)
{
    struct hs_settings *settings = &options->settings;
    if (given == HS_OPT_GROUPS) {
        settings->given_levels.count = 0;
        settings->for_messages &= ~((uint64_t)1 << HS_OPT_LEVELS);
    }
    const struct hs_group_grids *said =
        settings->given_levels.count ? &settings->given_levels : &settings->given_groups;
    settings->levels = said->count ? said->count : -1;
    memcpy(settings->factor, said->grid, sizeof settings->factor);
}

/* Parses one value of `length` characters, and removes its quotation marks. */
static hsumma_status set(struct hs_options *options, enum hs_option option, const char *said, size_t length,
                         enum hs_said_by by, struct hs_message *message)
{
    const struct option_row *row = &table[option];
    struct hs_options scratch;
    struct hs_options *to = hs_option_taken(option, by) ? options : &scratch;
    void *at = row->type->stays_text ? NULL : (char *)&to->settings + row->field;
    const uint64_t bit = (uint64_t)1 << option;
    char value[HS_OPTION_TEXT];
    if (length >= 2 && said[0] == '"' && said[length - 1] == '"') {
        said++;
        length -= 2;
    }
    snprintf(value, sizeof value, "%.*s", (int)(length < sizeof value ? length : 0), said);
    if (length >= sizeof value)
        return hs_fail(message, HSUMMA_ERR_OPTION, "%s: %s has %zu characters; expected fewer than %zu", sayer[by],
                       row->name, length, sizeof value);
    if (row->type->read(row, value, at)) {
        struct hs_guess guess = hs_guess_of(said, length);
        char meant[80];
        for (int i = 0; i < OPTION_WORDS && row->words[i].text; i++)
            hs_guess_try(&guess, row->words[i].text, strlen(row->words[i].text));
        return hs_fail(message, HSUMMA_ERR_OPTION, "%s: %s is \"%.*s\"; expected %s%s", sayer[by], row->name,
                       (int)(length < 80 ? length : 80), said, row->expected,
                       hs_guess_text(&guess, "", meant, sizeof meant));
    }
    if (to == &scratch)
        return HSUMMA_OK;
    if (row->type->stays_text && options->texts)
        memcpy((char *)options->texts + row->field, value, sizeof value);
    options->said_by[option] = (unsigned char)by;
    if (row->of == OF_MESSAGES)
        options->settings.for_messages =
            (options->settings.for_messages & ~bit) | (strcmp(value, row->initial) ? bit : 0);
    settle_hierarchy(options, option);
    return HSUMMA_OK;
}

void hs_options_default(struct hs_options *options, struct hs_texts *texts)
{
    memset(options, 0, sizeof *options);
    options->texts = texts;
    for (int i = 0; i < HS_OPTIONS; i++)
        set(options, (enum hs_option)i, table[i].initial, strlen(table[i].initial), HS_BY_DEFAULT, NULL);
}

static hsumma_status apply_one(struct hs_options *options, const char *word, size_t length, enum hs_said_by by,
                               struct hs_message *message)
{
    const char *equals = memchr(word, '=', length);
    size_t name = equals ? (size_t)(equals - word) : length;
    struct hs_guess guess = hs_guess_of(word, name);
    char meant[80];
    for (int i = 0; i < HS_OPTIONS; i++) {
        if (equals && strlen(table[i].name) == name && memcmp(table[i].name, word, name) == 0)
            return set(options, (enum hs_option)i, equals + 1, length - name - 1, by, message);
        hs_guess_try(&guess, table[i].name, strlen(table[i].name));
    }
    if (!equals)
        return hs_fail(message, HSUMMA_ERR_OPTION, "%s: \"%.*s\" has no value; expected name=value%s", sayer[by],
                       (int)(length < 80 ? length : 80), word, hs_guess_text(&guess, "", meant, sizeof meant));
    hs_guess_text(&guess, "", meant, sizeof meant);
    return hs_fail(message, HSUMMA_ERR_OPTION, "%s: unknown option \"%.*s\"%s", sayer[by], (int)(name < 80 ? name : 80),
                   word, meant[0] ? meant : "; hsumma gemm --help lists all");
}

/* The length of an option, which ends at a blank outside quotation marks. */
static size_t word_length(const char *text)
{
    size_t length = strcspn(text, " \t\n");
    const char *equals = memchr(text, '=', length);
    if (!equals || equals[1] != '"')
        return length;
    const char *end = strchr(equals + 2, '"');
    return end ? (size_t)(end + 1 - text) : strlen(text);
}

hsumma_status hs_options_apply(struct hs_options *options, const char *text, enum hs_said_by by,
                               struct hs_message *message)
{
    hsumma_status status = HSUMMA_OK;
    while (!status && text && *(text += strspn(text, " \t\n"))) {
        size_t length = word_length(text);
        status = apply_one(options, text, length, by, message);
        text += length;
    }
    return status;
}

const char *hs_environment(const char *name)
{
    return secure_getenv(name);
}

hsumma_status hs_options_environment(struct hs_options *options, struct hs_message *message)
{
    hsumma_status status = HSUMMA_OK;
    for (int i = 0; !status && i < HS_OPTIONS; i++) {
        const char *value = hs_environment(table[i].environment);
        if (value && *value)
            status = set(options, (enum hs_option)i, value, strlen(value), HS_BY_ENVIRONMENT, message);
    }
    return status;
}

int hs_options_plan_said(const struct hs_options *options)
{
    for (int i = 0; i < HS_OPTIONS; i++)
        if (table[i].of >= OF_PRODUCT && options->said_by[i] > HS_BY_TUNED)
            return 1;
    return 0;
}

void hs_options_write_plan_said(const struct hs_options *options, char *text, size_t size)
{
    for (int i = 0; i < HS_OPTIONS; i++) {
        char value[HS_OPTION_TEXT];
        if (table[i].of < OF_PRODUCT || options->said_by[i] <= HS_BY_DEFAULT)
            continue;
        hs_option_write((enum hs_option)i, &options->settings, value, sizeof value);
        hs_append(text, size, " %s=%s", table[i].name, value);
    }
}

int hs_options_layers(const struct hs_options *options, int alone)
{
    int given = options->said_by[HS_OPT_LAYERS] > HS_BY_DEFAULT;
    return given || (!alone && !hs_options_plan_said(options)) ? options->settings.layers : 1;
}

extern char **environ;

/* The name of known variable i: of an option, of other programs and tests, of module systems and CMake; NULL after the
 * last. */
static const char *known_variable(int i)
{
    static const char *const others[] = {"HSUMMA_PMPI",        "HSUMMA_SIM_LINKS",   "HSUMMA_SIM_BENCH",
                                         "HSUMMA_SIM_EXPLAIN", "HSUMMA_PROGRESS",    "HSUMMA_HOST_DEVICE_LIBRARY",
                                         "HSUMMA_HOST_DEVICE", "HSUMMA_TEST_DEVICE", "HSUMMA_LIBRARY",
                                         "HSUMMA_ROOT",        "HSUMMA_DIR",         "HSUMMA_HOME",
                                         "HSUMMA_LIB",         "HSUMMA_BIN",         "HSUMMA_INC",
                                         "HSUMMA_INCLUDE",     "HSUMMA_BASE",        "HSUMMA_PATH",
                                         "HSUMMA_PREFIX",      "HSUMMA_VERSION"};
    if (i < HS_OPTIONS)
        return table[i].environment ? table[i].environment : "";
    i -= HS_OPTIONS;
    return i < (int)(sizeof others / sizeof *others) ? others[i] : NULL;
}

enum { CLOSE = 2 }; /* most wrong letters of a name that does not begin with HSUMMA_ */

/* Whether a name begins with the letters of HSUMMA_, in any order, up to CLOSE wrong or missing ones: only such a name
 * can be CLOSE to a known one.  Hardly any other program's variable is; comparing one with all known names takes 50 us.
 */
static int begins_alike(const char *name, size_t length)
{
    char missing[] = "HSUMMA_"; /* letters not found yet; found ones become blanks */
    const size_t letters = strlen(missing), most = letters + CLOSE;
    size_t found = 0;
    for (size_t i = 0; i < length && i < most; i++) {
        char *at = strchr(missing, name[i] == '-' ? '_' : toupper((unsigned char)name[i]));
        if (at && *at != ' ') {
            *at = ' ';
            found++;
        }
    }
    return found + CLOSE >= letters;
}

static int is_misspelt(const char *name, size_t length, struct hs_guess *guess)
{
    enum { LONGEST_NAME = 48 };
    const char *other;
    if (!begins_alike(name, length))
        return 0;
    *guess = hs_guess_of(name, length);
    for (int i = 0; length < LONGEST_NAME && (other = known_variable(i)) != NULL; i++)
        hs_guess_try(guess, other, strlen(other));
    return guess->name[0] && (strlen(guess->name) != length || strncmp(guess->name, name, length) != 0) &&
           ((guess->far <= CLOSE && strlen(guess->name) <= length + CLOSE) || !strncasecmp(name, "HSUMMA_", 7));
}

const char *hs_environment_misspelt(int *at, struct hs_guess *guess)
{
    while (environ && environ[*at]) {
        const char *variable = environ[(*at)++];
        if (is_misspelt(variable, strcspn(variable, "="), guess))
            return variable;
    }
    return NULL;
}

int hs_environment_misspelt_text(char *text, size_t size)
{
    struct hs_guess guess;
    const char *variable;
    char meant[80];
    int at = 0, found = 0;
    text[0] = 0;
    while ((variable = hs_environment_misspelt(&at, &guess)) != NULL)
        if (hs_guess_is_near(&guess))
            hs_append(text, size, "%s%.*s in the environment has no effect%s", found++ ? "; " : "",
                      (int)strcspn(variable, "="), variable, hs_guess_text(&guess, "", meant, sizeof meant));
    return found;
}
