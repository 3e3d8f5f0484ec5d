/* The values of options: what each may be, and where it goes. */
#include "base/options_read.h"

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
    settings->segment = 0;
    return is_auto(text) ? 0 : hs_size_text(text, 1, &settings->segment);
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

/* A part of something, up to `most` per cent, or bytes, which are 0 otherwise. */
static int read_part(const char *text, double most, double *share, int64_t *bytes)
{
    char *end;
    *bytes = 0;
    double percent = strtod(text, &end);
    if (end == text || end[0] != '%')
        return hs_size_text(text, 1, bytes);
    *share = percent / 100;
    return !end[1] && percent > 0 && percent <= most ? 0 : -1;
}

static int read_workspace(const char *text, struct hs_settings *settings)
{
    return read_part(text, 1e6, &settings->workspace_share, &settings->workspace_bytes);
}

static int read_device_memory(const char *text, struct hs_settings *settings)
{
    return read_part(text, 100, &settings->device_share, &settings->device_bytes);
}

static int read_tune(const char *text, struct hs_settings *settings)
{
    static const char *const words[] = {"estimate", "measure", "off"};
    for (int i = 0; i < 3; i++)
        if (strcmp(text, words[i]) == 0) {
            settings->tune = i;
            return 0;
        }
    return -1;
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

/* The name of a kind, with a number where there may be several. */
static int read_device(const char *text, struct hs_settings *settings)
{
    static const char *const words[] = {"none", "auto", "cuda", "host"};
    int64_t number = -1;
    settings->device_number = -1;
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(text, words[i]) == 0)
            return 0;
    if (strncmp(text, "cuda:", 5) != 0 || (text += 5, whole_number(&text, 0, 4096, &number) || *text))
        return -1;
    settings->device_number = (int)number;
    return 0;
}

static int read_gpu_aware(const char *text, struct hs_settings *settings)
{
    settings->gpu_aware = -1;
    return is_auto(text) ? 0 : one_of(text, "0", "1", "1", &settings->gpu_aware);
}

static int read_scalapack(const char *text, struct hs_settings *settings)
{
    settings->scalapack = strcmp(text, "off") == 0 ? INT64_MAX : 0;
    return strcmp(text, "on") == 0 || settings->scalapack ? 0 : hs_size_text(text, 0, &settings->scalapack);
}

const char *const hs_node_modes[3] = {"messages", "shared", "device"};

static int read_node(const char *text, struct hs_settings *settings)
{
    settings->node = HS_NODE_AUTO;
    for (int i = 0; i < 3; i++)
        if (strcmp(text, hs_node_modes[i]) == 0)
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

static reader *const readers[HS_OPTIONS] = {
    [HS_OPT_STATIONARY] = read_stationary,
    [HS_OPT_GROUPS] = read_groups,
    [HS_OPT_LEVELS] = read_deeper,
    [HS_OPT_BLOCK] = read_block,
    [HS_OPT_OUTER] = read_outer,
    [HS_OPT_BCAST] = read_bcast,
    [HS_OPT_REDUCE] = read_reduce,
    [HS_OPT_SEGMENT] = read_segment,
    [HS_OPT_EXCHANGE] = read_exchange,
    [HS_OPT_LOOKAHEAD] = read_lookahead,
    [HS_OPT_SLICE] = read_slice,
    [HS_OPT_THREADS] = read_threads,
    [HS_OPT_WORKSPACE] = read_workspace,
    [HS_OPT_NODE] = read_node,
    [HS_OPT_CHUNK] = read_chunk,
    [HS_OPT_EXPLAIN] = read_explain,
    [HS_OPT_COLL] = read_coll,
    [HS_OPT_PROFILE] = read_file_name,
    [HS_OPT_TUNE] = read_tune,
    [HS_OPT_TUNED] = read_file_name,
    [HS_OPT_TOPOLOGY] = read_topology,
    [HS_OPT_SHARED] = read_shared,
    [HS_OPT_DIRECT] = read_direct,
    [HS_OPT_CHECK] = read_check,
    [HS_OPT_DEVICE] = read_device,
    [HS_OPT_GPU_AWARE_MPI] = read_gpu_aware,
    [HS_OPT_DEVICE_MEMORY] = read_device_memory,
    [HS_OPT_SCALAPACK] = read_scalapack,
    [HS_OPT_LOG] = read_file_name,
};

int hs_option_read(enum hs_option option, const char *text, struct hs_settings *settings)
{
    return readers[option](text, settings);
}
