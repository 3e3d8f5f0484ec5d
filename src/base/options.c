#include "base/options.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Readers: each reads a whole text into its place and returns 0, or -1. */
typedef int reader(const char *text, struct hs_settings *settings);

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

int hs_size_text(const char *text, int64_t least, int64_t *value)
{
    static const char factor[] = "kMG";
    if (whole_number(&text, 0, INT64_MAX - 1, value)) /* strtoll's INT64_MAX may stand for more */
        return -1;
    for (int i = 0; i < 3; i++) {
        if (*text == factor[i] || (*text == 'K' && i == 0)) {
            if (*value > INT64_MAX >> 10 * (i + 1))
                return -1;
            *value <<= 10 * (i + 1);
            text++;
            break;
        }
    }
    return *text || *value < least ? -1 : 0;
}

static int is_auto(const char *text)
{
    return strcmp(text, "auto") == 0;
}

static int read_stationary(const char *text, struct hs_settings *settings)
{
    settings->stationary = -1;
    if (is_auto(text))
        return 0;
    if (text[0] < 'A' || text[0] > 'C' || text[1])
        return -1;
    settings->stationary = text[0] - 'A';
    return 0;
}

/* IxJ,IxJ,...: at most HS_LEVELS - 1 of them, for one more level is what is left. */
static int read_levels(const char *text, struct hs_settings *settings)
{
    settings->levels = 0;
    for (;; text++) {
        int64_t factor[2];
        if (settings->levels == HS_LEVELS - 1 || whole_number(&text, 1, INT32_MAX, &factor[0]) || *text++ != 'x' ||
            whole_number(&text, 1, INT32_MAX, &factor[1]))
            return -1;
        settings->factor[settings->levels][0] = (int)factor[0];
        settings->factor[settings->levels++][1] = (int)factor[1];
        if (!*text)
            return 0;
        if (*text != ',')
            return -1;
    }
}

static int read_groups(const char *text, struct hs_settings *settings)
{
    if (is_auto(text)) {
        settings->levels = -1;
        return 0;
    }
    return read_levels(text, settings) || settings->levels != 1 ? -1 : 0;
}

/* levels wins over groups where both are given; "" is "not given". */
static int read_deeper(const char *text, struct hs_settings *settings)
{
    return *text ? read_levels(text, settings) : 0;
}

static int read_block(const char *text, struct hs_settings *settings)
{
    settings->block = 0;
    if (is_auto(text))
        return 0;
    return hs_size_text(text, 1, &settings->block) || settings->block > INT32_MAX ? -1 : 0;
}

static int read_outer(const char *text, struct hs_settings *settings)
{
    settings->outers = 0;
    if (is_auto(text))
        return 0;
    for (;; text++) {
        if (settings->outers == HS_LEVELS - 1 || whole_number(&text, 1, INT32_MAX, &settings->outer[settings->outers]))
            return -1;
        settings->outers++;
        if (!*text)
            return 0;
        if (*text != ',')
            return -1;
    }
}

static int read_names(const char *text, struct hs_names *names)
{
    memset(names, 0, sizeof *names);
    if (is_auto(text))
        return 0;
    names->outer_inner = strncmp(text, "outer=", 6) == 0;
    for (;; text++) {
        static const char *const prefix[] = {"outer=", "inner="};
        if (names->outer_inner) {
            if (names->count == 2 || strncmp(text, prefix[names->count], 6) != 0)
                return -1;
            text += 6;
        }
        size_t length = strcspn(text, ",");
        if (length == 0 || length >= HS_NAME_TEXT || names->count == HS_LEVELS)
            return -1;
        memcpy(names->name[names->count++], text, length);
        text += length;
        if (!*text)
            return names->outer_inner && names->count != 2 ? -1 : 0;
    }
}

static int read_bcast(const char *text, struct hs_settings *settings)
{
    return read_names(text, &settings->bcast);
}

static int read_reduce(const char *text, struct hs_settings *settings)
{
    return read_names(text, &settings->reduce);
}

static int read_segment(const char *text, struct hs_settings *settings)
{
    return hs_size_text(text, 1, &settings->segment);
}

static int read_lookahead(const char *text, struct hs_settings *settings)
{
    int64_t value = -1;
    if (!is_auto(text) && (whole_number(&text, 0, 64, &value) || *text))
        return -1;
    settings->lookahead = (int)value;
    return 0;
}

static int read_exchange(const char *text, struct hs_settings *settings)
{
    settings->exchange = is_auto(text) ? -1 : strcmp(text, "all") == 0;
    return settings->exchange == 0 && strcmp(text, "root") != 0 ? -1 : 0;
}

static int read_slice(const char *text, struct hs_settings *settings)
{
    settings->slice = strcmp(text, "none") == 0 ? INT64_MAX : 0;
    return is_auto(text) || settings->slice ? 0 : hs_size_text(text, 1, &settings->slice);
}

static int read_threads(const char *text, struct hs_settings *settings)
{
    int64_t value = is_auto(text) ? -1 : 0;
    if (value == 0 && strcmp(text, "user") != 0 && (whole_number(&text, 1, 4096, &value) || *text))
        return -1;
    settings->threads = (int)value;
    return 0;
}

static int read_workspace(const char *text, struct hs_settings *settings)
{
    char *end;
    settings->workspace_bytes = 0;
    double share = strtod(text, &end);
    if (end != text && end[0] == '%' && !end[1] && share > 0 && share <= 1e6) {
        settings->workspace_share = share / 100;
        return 0;
    }
    return hs_size_text(text, 1, &settings->workspace_bytes);
}

static int read_explain(const char *text, struct hs_settings *settings)
{
    settings->explain = text[0] == '1';
    return (text[0] != '0' && text[0] != '1') || text[1] ? -1 : 0;
}

/* The words are read by those who know the algorithms; here only what they are made of. */
static int read_coll(const char *text, struct hs_settings *settings)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-:,;=().";
    (void)settings;
    return is_auto(text) ? 0 : strspn(text, letters) != strlen(text) || !strchr(text, ':') ? -1 : 0;
}

static int read_file_name(const char *text, struct hs_settings *settings)
{
    (void)settings;
    return *text ? 0 : -1;
}

static int read_topology(const char *text, struct hs_settings *settings)
{
    int64_t nodes = 0, sockets = 0;
    settings->nodes = settings->sockets = 0;
    if (is_auto(text))
        return 0;
    if (strncmp(text, "nodes:", 6) != 0 || (text += 6, whole_number(&text, 1, INT32_MAX, &nodes)))
        return -1;
    if (strncmp(text, ",sockets:", 9) == 0 && (text += 9, whole_number(&text, 1, INT32_MAX, &sockets)))
        return -1;
    settings->nodes = (int)nodes;
    settings->sockets = sockets ? (int)sockets : 1;
    return *text ? -1 : 0;
}

static int read_shared(const char *text, struct hs_settings *settings)
{
    settings->shared = -1;
    return is_auto(text) ? 0 : hs_size_text(text, 0, &settings->shared);
}

static int one_of(const char *text, const char *no, const char *yes, const char *other, int *value)
{
    *value = strcmp(text, no) != 0;
    return *value && strcmp(text, yes) != 0 && strcmp(text, other) != 0 ? -1 : 0;
}

static int read_direct(const char *text, struct hs_settings *settings)
{
    return one_of(text, "off", "on", "auto", &settings->direct);
}

static int read_check(const char *text, struct hs_settings *settings)
{
    return one_of(text, "first", "always", "always", &settings->check_always);
}

static int read_scalapack(const char *text, struct hs_settings *settings)
{
    settings->scalapack = strcmp(text, "off") == 0 ? INT64_MAX : 0;
    return strcmp(text, "on") == 0 || settings->scalapack ? 0 : hs_size_text(text, 0, &settings->scalapack);
}

const char *const hs_node_words[3] = {"messages", "shared", "read"};

static int read_node(const char *text, struct hs_settings *settings)
{
    settings->node = HS_NODE_AUTO;
    for (int i = 0; i < 3; i++)
        if (strcmp(text, hs_node_words[i]) == 0)
            settings->node = i;
    return settings->node == HS_NODE_AUTO && !is_auto(text) ? -1 : 0;
}

static int read_chunk(const char *text, struct hs_settings *settings)
{
    settings->chunk = 0;
    if (is_auto(text))
        return 0;
    return hs_size_text(text, 1, &settings->chunk) || settings->chunk > INT32_MAX ? -1 : 0;
}

static const struct row {
    hsumma_option_info info;
    const char *expected;
    reader *read;
} table[HS_OPTIONS] = {
    [HS_OPT_STATIONARY] = {{"stationary", "auto|A|B|C", "auto", "the operand that does not move", "HSUMMA_STATIONARY"},
                           "auto, A, B or C",
                           read_stationary},
    [HS_OPT_GROUPS] = {{"groups", "auto|IxJ", "auto",
                        "group grid of two-level HSUMMA; 1x1 is SUMMA; auto takes the one of least modelled cost",
                        "HSUMMA_GROUPS"},
                       "auto or IxJ with I and J at least 1",
                       read_groups},
    [HS_OPT_LEVELS] = {{"levels", "IxJ,IxJ...", "",
                        "group grids of the outer levels, outermost first (one is the same as groups)",
                        "HSUMMA_LEVELS"},
                       "IxJ or IxJ,IxJ... with all at least 1, five at most",
                       read_deeper},
    [HS_OPT_BLOCK] = {{"block", "auto|b", "auto", "width of the innermost panels", "HSUMMA_BLOCK"},
                      "auto or a number from 1 to 2147483647",
                      read_block},
    [HS_OPT_OUTER] = {{"outer", "auto|B[,B...]", "auto",
                       "width of the panels of the outer levels, outermost first, each a multiple of the next and of "
                       "block",
                       "HSUMMA_OUTER"},
                      "auto or numbers of at least 1, one for each outer level",
                      read_outer},
    [HS_OPT_BCAST] = {{"bcast", "auto|NAME|outer=NAME,inner=NAME", "auto",
                       "broadcast algorithm, for all levels, for outer and innermost, or one for each level",
                       "HSUMMA_BCAST"},
                      "auto, NAME, outer=NAME,inner=NAME or NAME,NAME,...",
                      read_bcast},
    [HS_OPT_REDUCE] = {{"reduce", "auto|NAME|outer=NAME,inner=NAME", "auto", "reduction algorithm, likewise",
                        "HSUMMA_REDUCE"},
                       "auto, NAME, outer=NAME,inner=NAME or NAME,NAME,...",
                       read_reduce},
    [HS_OPT_SEGMENT] = {{"segment", "BYTES", "64k", "segment of pipelined broadcasts", "HSUMMA_SEGMENT"},
                        "a number of bytes, at least 1, with k, M or G for powers of 1024",
                        read_segment},
    [HS_OPT_EXCHANGE] = {{"exchange", "auto|root|all", "auto",
                          "panels of A and B that are not aligned go to a root, which broadcasts them, or at once to "
                          "all that need them",
                          "HSUMMA_EXCHANGE"},
                         "auto, root or all",
                         read_exchange},
    [HS_OPT_LOOKAHEAD] = {{"lookahead", "auto|N", "auto",
                           "innermost panels that travel ahead of the multiplication; 0 is blocking",
                           "HSUMMA_LOOKAHEAD"},
                          "auto or a number from 0 to 64",
                          read_lookahead},
    [HS_OPT_SLICE] = {{"slice", "auto|none|FLOPS", "auto",
                       "flops of the local GEMM between two looks at the messages, while some are under way",
                       "HSUMMA_SLICE"},
                      "auto, none or a number of at least 1, with k, M or G for powers of 1024",
                      read_slice},
    [HS_OPT_THREADS] = {{"threads", "auto|user|N", "auto",
                         "BLAS threads of a process: auto is its share of the node's cores unless OPENBLAS_NUM_THREADS "
                         "or OMP_NUM_THREADS is set",
                         "HSUMMA_THREADS"},
                        "auto, user or a number from 1 to 4096",
                        read_threads},
    [HS_OPT_WORKSPACE] = {{"workspace_limit", "PERCENT%|BYTES", "15%",
                           "panel buffers of a process at most, in per cent of its part of A, B and C (but 8 MiB may "
                           "always be used)",
                           "HSUMMA_WORKSPACE_LIMIT"},
                          "a percentage such as 15% or a number of bytes, with k, M or G for powers of 1024",
                          read_workspace},
    [HS_OPT_NODE] = {{"node", "auto|messages|shared|read", "auto",
                      "processes of one node send messages, or read panels from shared memory, or each other's memory; "
                      "auto shares, unless words for messages are given (groups, levels, outer, bcast, reduce, "
                      "exchange, segment, lookahead, slice)",
                      "HSUMMA_NODE"},
                     "auto, messages, shared or read",
                     read_node},
    [HS_OPT_CHUNK] = {{"chunk", "auto|N", "auto",
                       "rows or columns of a panel that are handed over at a time where a node shares memory",
                       "HSUMMA_CHUNK"},
                      "auto or a number from 1 to 2147483647",
                      read_chunk},
    [HS_OPT_EXPLAIN] = {{"explain", "0|1", "0", "1 prints each new plan on standard error", "HSUMMA_EXPLAIN"},
                        "0 or 1",
                        read_explain},
    [HS_OPT_COLL] = {{"coll", "auto|COLLECTIVE:[RANGE:]WORD[,RANGE:WORD...][;...]", "auto",
                      "algorithms of collective calls by collective and bytes, such as "
                      "allreduce:0-2k:nap,2k-inf:dpml(l=4);bcast:chain",
                      "HSUMMA_COLL"},
                     "auto or rules COLLECTIVE:RANGE:WORD,RANGE:WORD;COLLECTIVE:WORD",
                     read_coll},
    [HS_OPT_TUNED] = {{"tuned", "none|FILE", "none", "a file of measured choices for collective calls", "HSUMMA_TUNED"},
                      "none or the name of a file",
                      read_file_name},
    [HS_OPT_TOPOLOGY] = {{"topology", "auto|nodes:N[,sockets:S]", "auto",
                          "where the processes are: as found, or N nodes of S sockets as if, in blocks of ranks",
                          "HSUMMA_TOPOLOGY"},
                         "auto, nodes:N or nodes:N,sockets:S with both at least 1",
                         read_topology},
    [HS_OPT_SHARED] = {{"shared", "auto|BYTES", "auto",
                        "shared memory of a process for each of the collectives under way; 0: none", "HSUMMA_SHARED"},
                       "auto or a number of bytes, with k, M or G for powers of 1024",
                       read_shared},
    [HS_OPT_DIRECT] = {{"direct", "auto|on|off", "auto",
                        "whether processes of one node may read each other's memory with one copy", "HSUMMA_DIRECT"},
                       "auto, on or off",
                       read_direct},
    [HS_OPT_CHECK] = {{"check", "first|always", "first",
                       "whether a collective call is checked on all processes together when its kind is new, or always",
                       "HSUMMA_CHECK"},
                      "first or always",
                      read_check},
    [HS_OPT_SCALAPACK] = {{"scalapack", "on|off|N", "on",
                           "for programs of ScaLAPACK: off leaves p?gemm to ScaLAPACK, N those with m n k up to N^3",
                           "HSUMMA_SCALAPACK"},
                          "on, off or a number",
                          read_scalapack},
    [HS_OPT_LOG] = {{"log", "none|FILE", "none",
                     "for programs of ScaLAPACK: each call of p?gemm as a command line that repeats it, added to FILE",
                     "HSUMMA_LOG"},
                    "none or the name of a file",
                    read_file_name},
};

int hsumma_option(int i, hsumma_option_info *info)
{
    if (i < 0 || i >= HS_OPTIONS)
        return 0;
    *info = table[i].info;
    return 1;
}

void hs_options_default(struct hs_options *options)
{
    memset(options, 0, sizeof *options);
    for (int i = 0; i < HS_OPTIONS; i++)
        snprintf(options->value[i], HS_OPTION_TEXT, "%s", table[i].info.default_value);
}

static int find(const char *name, size_t length)
{
    for (int i = 0; i < HS_OPTIONS; i++)
        if (strlen(table[i].info.name) == length && memcmp(table[i].info.name, name, length) == 0)
            return i;
    return -1;
}

static const char *sayer(enum hs_said_by by)
{
    static const char *const names[] = {"default", "environment", "context options", "plan options"};
    return names[by];
}

static hsumma_status apply_one(struct hs_options *options, const char *word, size_t length, enum hs_said_by by,
                               struct hs_message *message)
{
    const char *equals = memchr(word, '=', length);
    int i = equals ? find(word, (size_t)(equals - word)) : -1;
    if (i < 0)
        return hs_fail(message, HSUMMA_ERR_OPTION, "%s: \"%.*s\" is not a known option of the form name=value",
                       sayer(by), (int)(length < 80 ? length : 80), word);
    char value[HS_OPTION_TEXT];
    size_t size = length - (size_t)(equals + 1 - word);
    const char *said = equals + 1;
    if (size >= 2 && said[0] == '"' && said[size - 1] == '"') {
        said++;
        size -= 2;
    }
    struct hs_settings scratch;
    memset(&scratch, 0, sizeof scratch);
    if (size < sizeof value) {
        memcpy(value, said, size);
        value[size] = 0;
    }
    if (size >= sizeof value || table[i].read(value, &scratch))
        return hs_fail(message, HSUMMA_ERR_OPTION, "%s: %s is \"%.*s\"; expected %s", sayer(by), table[i].info.name,
                       (int)(size < 80 ? size : 80), said, table[i].expected);
    memcpy(options->value[i], value, sizeof value);
    options->said_by[i] = (unsigned char)by;
    if (i == HS_OPT_GROUPS && options->said_by[HS_OPT_LEVELS] <= by) /* the later word for the hierarchy wins */
        options->value[HS_OPT_LEVELS][0] = 0;
    return HSUMMA_OK;
}

/* A word ends at a blank, but for a value in quotation marks. */
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

void hs_options_environment(char *text, size_t size)
{
    size_t used = 0;
    text[0] = 0;
    for (int i = 0; i < HS_OPTIONS; i++) {
        const char *value = getenv(table[i].info.environment);
        if (!value || !*value)
            continue;
        /* what is too long is cut to what will be refused as too long */
        const char *quote = strpbrk(value, " \t\n") && !strchr(value, '"') ? "\"" : "";
        int more =
            snprintf(text + used, size - used, "%s=%s%.*s%s ", table[i].info.name, quote, HS_OPTION_TEXT, value, quote);
        if (more < 0 || (size_t)more >= size - used) {
            text[used] = 0;
            return;
        }
        used += (size_t)more;
    }
}

hsumma_status hs_settings_read(const struct hs_options *options, struct hs_settings *settings,
                               struct hs_message *message)
{
    memset(settings, 0, sizeof *settings);
    for (int i = 0; i < HS_OPTIONS; i++)
        if (table[i].read(options->value[i], settings))
            return hs_fail(message, HSUMMA_ERR_OPTION, "%s is \"%s\"; expected %s", table[i].info.name,
                           options->value[i], table[i].expected);
    static const enum hs_option for_messages[] = {HS_OPT_GROUPS,  HS_OPT_LEVELS,    HS_OPT_OUTER,
                                                  HS_OPT_BCAST,   HS_OPT_REDUCE,    HS_OPT_EXCHANGE,
                                                  HS_OPT_SEGMENT, HS_OPT_LOOKAHEAD, HS_OPT_SLICE};
    for (unsigned i = 0; i < sizeof for_messages / sizeof *for_messages; i++)
        settings->for_messages |=
            strcmp(options->value[for_messages[i]], table[for_messages[i]].info.default_value) != 0;
    return HSUMMA_OK;
}
