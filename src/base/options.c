#include "base/options_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct option_row {
    hsumma_option_info info;
    const char *expected;
} table[HS_OPTIONS] = {
    [HS_OPT_STATIONARY] = {{"stationary", "auto|A|B|C", "auto", "the operand that does not move", "HSUMMA_STATIONARY"},
                           "auto, A, B or C"},
    [HS_OPT_GROUPS] = {{"groups", "auto|IxJ", "auto",
                        "group grid of two-level HSUMMA; 1x1 is SUMMA; auto takes the one of least modelled cost",
                        "HSUMMA_GROUPS"},
                       "auto or IxJ with I and J at least 1"},
    [HS_OPT_LEVELS] = {{"levels", "IxJ,IxJ...", "",
                        "group grids of the outer levels, outermost first (one is the same as groups)",
                        "HSUMMA_LEVELS"},
                       "IxJ or IxJ,IxJ... with all at least 1, five at most"},
    [HS_OPT_BLOCK] = {{"block", "auto|b", "auto", "width of the innermost panels", "HSUMMA_BLOCK"},
                      "auto or a number from 1 to 2147483647"},
    [HS_OPT_OUTER] = {{"outer", "auto|B[,B...]", "auto",
                       "width of the panels of the outer levels, outermost first, each a multiple of the next and of "
                       "block",
                       "HSUMMA_OUTER"},
                      "auto or numbers of at least 1, one for each outer level"},
    [HS_OPT_BCAST] = {{"bcast", "auto|NAME|outer=NAME,inner=NAME", "auto",
                       "broadcast algorithm, for all levels, for outer and innermost, or one for each level",
                       "HSUMMA_BCAST"},
                      "auto, NAME, outer=NAME,inner=NAME or NAME,NAME,..."},
    [HS_OPT_REDUCE] = {{"reduce", "auto|NAME|outer=NAME,inner=NAME", "auto", "reduction algorithm, likewise",
                        "HSUMMA_REDUCE"},
                       "auto, NAME, outer=NAME,inner=NAME or NAME,NAME,..."},
    [HS_OPT_SEGMENT] = {{"segment", "auto|BYTES", "auto",
                         "segment of pipelined broadcasts; auto: as the model finds best, 64k in collective calls",
                         "HSUMMA_SEGMENT"},
                        "auto or a number of bytes, at least 1, with k, M or G for powers of 1024"},
    [HS_OPT_EXCHANGE] = {{"exchange", "auto|root|all", "auto",
                          "panels of A and B that are not aligned go to a root, which broadcasts them, or at once to "
                          "all that need them",
                          "HSUMMA_EXCHANGE"},
                         "auto, root or all"},
    [HS_OPT_LOOKAHEAD] = {{"lookahead", "auto|N", "auto",
                           "innermost panels that travel ahead of the multiplication; 0 is blocking",
                           "HSUMMA_LOOKAHEAD"},
                          "auto or a number from 0 to 64"},
    [HS_OPT_SLICE] = {{"slice", "auto|none|FLOPS", "auto",
                       "flops of the local GEMM between two looks at the messages, while some are under way",
                       "HSUMMA_SLICE"},
                      "auto, none or a number of at least 1, with k, M or G for powers of 1024"},
    [HS_OPT_THREADS] = {{"threads", "auto|user|N", "auto",
                         "BLAS threads of a process: auto is its share of the node's cores unless OPENBLAS_NUM_THREADS "
                         "or OMP_NUM_THREADS is set",
                         "HSUMMA_THREADS"},
                        "auto, user or a number from 1 to 4096"},
    [HS_OPT_WORKSPACE] = {{"workspace_limit", "PERCENT%|BYTES", "15%",
                           "panel buffers of a process at most, in per cent of its part of A, B and C (but 8 MiB may "
                           "always be used)",
                           "HSUMMA_WORKSPACE_LIMIT"},
                          "a percentage such as 15% or a number of bytes, with k, M or G for powers of 1024"},
    [HS_OPT_NODE] = {{"node", "auto|messages|shared|device", "auto",
                      "processes of one node send messages, or read panels from shared memory; "
                      "auto shares, unless words for messages are given (groups, levels, outer, bcast, reduce, "
                      "exchange, segment, lookahead, slice); in a context with a device, device (or auto) lets "
                      "products of matrices that lie there run there",
                      "HSUMMA_NODE"},
                     "auto, messages, shared or device"},
    [HS_OPT_CHUNK] = {{"chunk", "auto|N", "auto",
                       "rows or columns of a panel that are handed over at a time where a node shares memory",
                       "HSUMMA_CHUNK"},
                      "auto or a number from 1 to 2147483647"},
    [HS_OPT_EXPLAIN] = {{"explain", "0|1", "0", "1 prints each new plan on standard error", "HSUMMA_EXPLAIN"},
                        "0 or 1"},
    [HS_OPT_COLL] = {{"coll", "auto|COLLECTIVE:[RANGE:]WORD[,RANGE:WORD...][;...]", "auto",
                      "algorithms of collective calls by collective and bytes, such as "
                      "allreduce:0-2k:nap,2k-inf:dpml(l=4);bcast:chain",
                      "HSUMMA_COLL"},
                     "auto or rules COLLECTIVE:RANGE:WORD,RANGE:WORD;COLLECTIVE:WORD"},
    [HS_OPT_PROFILE] = {{"profile", "auto|builtin|FILE", "auto",
                         "what is known of the machine, measured by hsumma_bench calibrate; auto: the file profile in "
                         "$XDG_CONFIG_HOME/hsumma (or ~/.config/hsumma), if it is there",
                         "HSUMMA_PROFILE"},
                        "auto, builtin or the name of a file"},
    [HS_OPT_TUNE] = {{"tune", "estimate|measure|off", "estimate",
                      "plans by what has been measured before, else by the model; measure: executions try the best "
                      "candidates, and the fastest is kept and remembered; off: by the model alone",
                      "HSUMMA_TUNE"},
                     "estimate, measure or off"},
    [HS_OPT_TUNED] = {{"tuned", "auto|none|FILE", "auto",
                       "a file of measured choices, for products and collective calls; auto: the file tuned beside the "
                       "profile, if it is there",
                       "HSUMMA_TUNED"},
                      "auto, none or the name of a file"},
    [HS_OPT_TOPOLOGY] = {{"topology", "auto|nodes:N[,sockets:S]", "auto",
                          "where the processes are: as found, or N nodes of S sockets as if, in blocks of ranks",
                          "HSUMMA_TOPOLOGY"},
                         "auto, nodes:N or nodes:N,sockets:S with both at least 1"},
    [HS_OPT_SHARED] = {{"shared", "auto|BYTES", "auto",
                        "shared memory of a process for each of the collectives under way; 0: none", "HSUMMA_SHARED"},
                       "auto or a number of bytes, with k, M or G for powers of 1024"},
    [HS_OPT_DIRECT] = {{"direct", "auto|on|off", "auto",
                        "whether processes of one node may read each other's memory with one copy", "HSUMMA_DIRECT"},
                       "auto, on or off"},
    [HS_OPT_CHECK] = {{"check", "first|always", "first",
                       "whether a collective call is checked on all processes together when its kind is new, or always",
                       "HSUMMA_CHECK"},
                      "first or always"},
    [HS_OPT_DEVICE] = {{"device", "none|auto|cuda[:N]|host", "none",
                        "where matrices may lie and products are made: in a GPU's memory (N: which one, else by the "
                        "process's number on its node); auto: a GPU if every process has one; host: memory of the host "
                        "in its place, for tests",
                        "HSUMMA_DEVICE"},
                       "none, auto, cuda, cuda:N or host"},
    [HS_OPT_GPU_AWARE_MPI] = {{"gpu_aware_mpi", "auto|0|1", "auto",
                               "whether MPI takes device memory (auto: as it says itself); else messages from there go "
                               "through memory of the host",
                               "HSUMMA_GPU_AWARE_MPI"},
                              "auto, 0 or 1"},
    [HS_OPT_DEVICE_MEMORY] = {{"device_memory", "PERCENT%|BYTES", "80%",
                               "memory of the device for products of matrices that lie elsewhere: a part of what is "
                               "free when the context is made, which all processes share, or bytes of each process",
                               "HSUMMA_DEVICE_MEMORY"},
                              "a percentage up to 100% or a number of bytes, with k, M or G for powers of 1024"},
    [HS_OPT_SCALAPACK] = {{"scalapack", "on|off|N", "on",
                           "for programs of ScaLAPACK: off leaves p?gemm to ScaLAPACK, N those with m n k up to N^3",
                           "HSUMMA_SCALAPACK"},
                          "on, off or a number"},
    [HS_OPT_LOG] = {{"log", "none|FILE", "none",
                     "for programs of ScaLAPACK: each call of p?gemm as a command line that repeats it, added to FILE",
                     "HSUMMA_LOG"},
                    "none or the name of a file"},
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
    static const char *const names[] = {"default", "tuned file", "environment", "context options", "plan options"};
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
    if (size >= sizeof value || hs_option_read((enum hs_option)i, value, &scratch))
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

/* What a plan's line says. */
static const enum hs_option of_plans[] = {
    HS_OPT_STATIONARY, HS_OPT_GROUPS,   HS_OPT_LEVELS,    HS_OPT_BLOCK, HS_OPT_OUTER, HS_OPT_BCAST, HS_OPT_REDUCE,
    HS_OPT_SEGMENT,    HS_OPT_EXCHANGE, HS_OPT_LOOKAHEAD, HS_OPT_SLICE, HS_OPT_NODE,  HS_OPT_CHUNK};

int hs_options_plan_said(const struct hs_options *options)
{
    for (unsigned i = 0; i < sizeof of_plans / sizeof *of_plans; i++)
        if (options->said_by[of_plans[i]] > HS_BY_TUNED)
            return 1;
    return 0;
}

void hs_options_recall(struct hs_options *options, const struct hs_options *remembered)
{
    for (unsigned i = 0; i < sizeof of_plans / sizeof *of_plans; i++) {
        enum hs_option o = of_plans[i];
        if (!remembered->said_by[o] || options->said_by[o])
            continue;
        memcpy(options->value[o], remembered->value[o], HS_OPTION_TEXT);
        options->said_by[o] = HS_BY_TUNED;
    }
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
        if (hs_option_read((enum hs_option)i, options->value[i], settings))
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
