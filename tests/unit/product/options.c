/* Options: accepted and refused values, precedence, error messages, and the public list of options. */
#include "base/options.h"
#include "support/tap.h"

#include <ctype.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define FIELD(how, member) .kind = how, .at = offsetof(struct hs_settings, member)

/* For each option: accepted values and the settings that they make, as printed by `show`; refused values; and a part of
 * the message that describes valid values. */
static const struct row {
    enum { UNKNOWN, TEXT, INT, LONG, PART, NODES, WIDTHS, NAMES, GRIDS } kind; /* TEXT: the value is kept as text */
    size_t at;                                                                 /* offset in struct hs_settings */
    const char *expected;
    struct {
        const char *text, *sets;
    } accepts[7];
    const char *refuses[13];
} rows[HS_OPTIONS] = {
    [HS_OPT_STATIONARY] = {FIELD(INT, stationary), .expected = "auto, A, B or C",
                           .accepts = {{"auto", "-1"}, {"A", "0"}, {"B", "1"}, {"C", "2"}},
                           .refuses = {"D", "a", "AB", ""}},
    [HS_OPT_GROUPS] =
        {FIELD(GRIDS, levels), .expected = "auto or IxJ",
         .accepts = {{"auto", "-1"}, {"1x1", "1:1x1"}, {"2x3", "1:2x3"}, {"2147483647x1", "1:2147483647x1"}},
         .refuses = {"2147483648x1", "0x1", "1x0", "2", "2x", "x2", "-1x2", "2x2x2", "2x2,2x2", "", "2X2", "2y2"}},
    [HS_OPT_LEVELS] = {FIELD(GRIDS, levels), .expected = "IxJ,IxJ",
                       .accepts = {{"2x2", "1:2x2"},
                                   {"2x1,3x4", "2:2x1:3x4"},
                                   {"1x1,2x2,1x3,4x1,1x5", "5:1x1:2x2:1x3:4x1:1x5"},
                                   {"", "-1"}},
                       .refuses = {"1x1,1x1,1x1,1x1,1x1,1x1", "2x2,", ",2x2", "2x2;2x2", "auto", "2x2,0x1", "2x2,9"}},
    [HS_OPT_BLOCK] =
        {FIELD(LONG, block), .expected = "1 to 2^31 - 1",
         .accepts =
             {{"auto", "0"}, {"1", "1"}, {"64", "64"}, {"2k", "2048"}, {"1M", "1048576"}, {"2147483647", "2147483647"}},
         .refuses = {"2147483648", "2G", "0", "-1", "+1", "1.5", "12x", "", "1kk", "99999999999999999999"}},
    [HS_OPT_OUTER] = {FIELD(WIDTHS, outer), .expected = "numbers from 1",
                      .accepts = {{"auto", "0"}, {"128", "1:128"}, {"512,256,128,64,32", "5:512:256:128:64:32"}},
                      .refuses = {"6,5,4,3,2,1", "0", "8,", "8,,4", "", "auto,8", "no"}},
    [HS_OPT_TURN] = {FIELD(LONG, turn), .expected = "auto, all or a number",
                     .accepts = {{"auto", "0"}, {"all", "9223372036854775807"}, {"64", "64"}, {"2k", "2048"}},
                     .refuses = {"0", "-1", "2G", "none", "64,128", ""}},
    [HS_OPT_BCAST] = {FIELD(NAMES, bcast), .expected = "NAME",
                      .accepts = {{"auto", ""},
                                  {"flat", "<flat>"},
                                  {"outer=flat,inner=chain", "outer-inner<flat><chain>"},
                                  {"a,b,c", "<a><b><c>"},
                                  {"a,b,c,d,e,f", "<a><b><c><d><e><f>"},
                                  {"a234567890123456789012345678901", "<a234567890123456789012345678901>"}},
                      .refuses = {"a,b,c,d,e,f,g", "outer=flat", "outer=flat,chain", "outer=a,inner=b,c",
                                  "outer=,inner=b", "a,,b", "a,", "",
                                  "a23456789012345678901234567890123456789012345678901234567890(l=4"
                                  /* 64 letters: one more than allowed */}},
    [HS_OPT_REDUCE] = {FIELD(NAMES, reduce), .expected = "outer=NAME,inner=NAME",
                       .accepts = {{"auto", ""},
                                   {"binomial", "<binomial>"},
                                   {"outer=x,inner=y", "outer-inner<x><y>"},
                                   {"outer=dpml(l=4,outer=ring),inner=smp(level=socket)",
                                    "outer-inner<dpml(l=4,outer=ring)><smp(level=socket)>"},
                                   {"x(a,b),y", "<x(a,b)><y>"}},
                       .refuses = {"outer=x", "", "outer=a"}},
    [HS_OPT_SEGMENT] = {FIELD(LONG, segment), .expected = "a number of bytes",
                        .accepts = {{"1", "1"},
                                    {"64k", "65536"},
                                    {"64K", "65536"},
                                    {"3M", "3145728"},
                                    {"2G", "2147483648"},
                                    {"auto", "0"}},
                        .refuses = {"0", "k", "1m", "-5", "", "-1"}},
    [HS_OPT_SLICE] = {FIELD(LONG, slice), .expected = "auto, none or",
                      .accepts = {{"auto", "0"}, {"none", "9223372036854775807"}, {"1", "1"}, {"100M", "104857600"}},
                      .refuses = {"0", "-1", "all", "none1", "", "no"}},
    [HS_OPT_EXCHANGE] = {FIELD(INT, exchange), .expected = "auto, root or all",
                         .accepts = {{"auto", "-1"}, {"root", "0"}, {"all", "1"}}, .refuses = {"none", "", "some"}},
    [HS_OPT_NODE] = {FIELD(INT, node), .expected = "auto, messages, shared, even or device",
                     .accepts = {{"auto", "-1"}, {"messages", "0"}, {"shared", "1"}, {"device", "2"}, {"even", "3"}},
                     .refuses = {"read", "none", "", "some"}},
    [HS_OPT_CHUNK] = {FIELD(LONG, chunk), .expected = "1 to 2^31 - 1",
                      .accepts = {{"auto", "0"}, {"1", "1"}, {"2k", "2048"}}, .refuses = {"0", "2147483648", "", "no"}},
    [HS_OPT_SCALAPACK] = {FIELD(LONG, scalapack), .expected = "on, off or a number",
                          .accepts = {{"on", "0"}, {"off", "9223372036854775807"}, {"100", "100"}, {"1k", "1024"}},
                          .refuses = {"-1", "yes", ""}},
    [HS_OPT_GEMR2D] = {FIELD(INT, gemr2d), .expected = "scalapack or hsumma",
                       .accepts = {{"scalapack", "0"}, {"hsumma", "1"}}, .refuses = {"on", ""}},
    [HS_OPT_LOG] = {.kind = TEXT,
                    .expected = "name of a file",
                    .accepts = {{"none", "text"}, {"/some/file", "text"}, {"\"/a file\"", "text"}},
                    .refuses = {""}},
    [HS_OPT_TRACE] = {.kind = TEXT,
                      .expected = "name of a file",
                      .accepts = {{"none", "text"}, {"/some/file", "text"}, {"\"/a file\"", "text"}},
                      .refuses = {""}},
    [HS_OPT_LAYERS] = {FIELD(INT, layers), .expected = "1 to 1048576",
                       .accepts = {{"auto", "0"}, {"1", "1"}, {"12", "12"}},
                       .refuses = {"0", "all", "-1", "1048577", ""}},
    [HS_OPT_LOOKAHEAD] = {FIELD(INT, lookahead), .expected = "0 to 64",
                          .accepts = {{"auto", "-1"}, {"0", "0"}, {"64", "64"}}, .refuses = {"65", "-1", "1x", ""}},
    [HS_OPT_OWNERS] = {FIELD(INT, owners), .expected = "1 to 64", .accepts = {{"auto", "0"}, {"1", "1"}, {"64", "64"}},
                       .refuses = {"65", "0", "-1", "all", ""}},
    [HS_OPT_THREADS] = {FIELD(INT, threads), .expected = "1 to 4096",
                        .accepts = {{"auto", "-1"}, {"user", "0"}, {"1", "1"}, {"4096", "4096"}},
                        .refuses = {"0", "4097", "users", "2x", ""}},
    [HS_OPT_WORKSPACE_LIMIT] = {FIELD(PART, workspace), .expected = "percentage",
                                .accepts = {{"15%", "0.15 0"},
                                            {"12.5%", "0.125 0"},
                                            {"200%", "2 0"},
                                            {"1", "0 1"},
                                            {"64k", "0 65536"},
                                            {"8G", "0 8589934592"}},
                                .refuses = {"0", "0%", "-5%", "%", "5%%", "nan%", "inf%", "", "auto", "x"}},
    [HS_OPT_EXPLAIN] = {FIELD(INT, explain), .expected = "0 or 1", .accepts = {{"0", "0"}, {"1", "1"}},
                        .refuses = {"2", "yes", "", "11"}},
    [HS_OPT_COLL] = {.kind = TEXT,
                     .expected = "rules such as allreduce:0-2k:nap",
                     .accepts = {{"auto", "text"},
                                 {"bcast:chain", "text"},
                                 {"allreduce:0-2k:nap,2k-inf:dpml(l=4,outer=ring);bcast:chain(segment=64k)", "text"}},
                     .refuses = {"chain", "", "bcast:chain|flat", "ring"}},
    [HS_OPT_PROFILE] = {.kind = TEXT,
                        .expected = "auto, builtin or the name of a file",
                        .accepts = {{"auto", "text"}, {"builtin", "text"}, {"/a/file.profile", "text"}},
                        .refuses = {""}},
    [HS_OPT_TUNE] = {FIELD(INT, tune), .expected = "estimate, measure or off",
                     .accepts = {{"estimate", "0"}, {"measure", "1"}, {"off", "2"}}, .refuses = {"on", ""}},
    [HS_OPT_TUNED] = {.kind = TEXT,
                      .expected = "the name of a file",
                      .accepts = {{"auto", "text"}, {"none", "text"}, {"/a/file.tuned", "text"}},
                      .refuses = {""}},
    [HS_OPT_TOPOLOGY] = {.kind = TEXT,
                         .expected = "nodes:N,sockets:S",
                         .accepts = {{"auto", "text"},
                                     {"nodes:4", "text"},
                                     {"nodes:4,sockets:2", "text"},
                                     {"nodes:4,torus:2x2", "text"},
                                     {"torus:8x8x8", "text"},
                                     {"/a/file:1", "text"}},
                         .refuses = {"nodes:0", "nodes:4,sockets:0", "nodes:4,", "sockets:2", "nodes:4,file",
                                     "nodes:4,sockets:2,cores:2", ""}},
    [HS_OPT_SHARED] = {FIELD(LONG, shared), .expected = "number of bytes",
                       .accepts = {{"auto", "-1"}, {"0", "0"}, {"64k", "65536"}, {"5G", "5368709120"}},
                       .refuses = {"-1", "none", "", "x"}},
    [HS_OPT_DIRECT] = {FIELD(INT, direct), .expected = "on or off",
                       .accepts = {{"auto", "1"}, {"on", "1"}, {"off", "0"}}, .refuses = {"1", "", "yes"}},
    [HS_OPT_CHECK] = {FIELD(INT, check_always), .expected = "first or always",
                      .accepts = {{"first", "0"}, {"always", "1"}}, .refuses = {"never", "", "2"}},
    [HS_OPT_DEVICE] = {FIELD(INT, device.number), .expected = "cuda:N with N from 0 to 4096, or host",
                       .accepts = {{"none", "-1"},
                                   {"auto", "-1"},
                                   {"cuda", "-1"},
                                   {"host", "-1"},
                                   {"cuda:0", "0"},
                                   {"cuda:4096", "4096"}},
                       .refuses = {"cuda:", "cuda:4097", "cuda:-1", "cuda:1x", "host:1", "gpu", ""}},
    [HS_OPT_DEVICE_MEMORY] =
        {FIELD(PART, device_memory), .expected = "up to 100%",
         .accepts = {{"80%", "0.8 0"}, {"12.5%", "0.125 0"}, {"100%", "1 0"}, {"3G", "0 3221225472"}, {"1", "0 1"}},
         .refuses = {"101%", "0%", "50%%", "0", "auto", ""}},
    [HS_OPT_GPU_AWARE_MPI] = {FIELD(INT, gpu_aware), .expected = "auto, 0 or 1",
                              .accepts = {{"auto", "-1"}, {"0", "0"}, {"1", "1"}}, .refuses = {"2", "on", "", "yes"}},
    [HS_OPT_WAIT] = {FIELD(INT, wait), .expected = "auto, poll or block",
                     .accepts = {{"auto", "0"}, {"poll", "1"}, {"block", "2"}}, .refuses = {"sleep", "", "1"}},
    [HS_OPT_BITS] = {FIELD(INT, bits), .expected = "plan or anywhere", .accepts = {{"plan", "0"}, {"anywhere", "1"}},
                     .refuses = {"", "any", "1"}},
    [HS_OPT_GUARD] = {FIELD(INT, guard), .expected = "off, product, messages, all or panels",
                      .accepts = {{"off", "0"}, {"product", "1"}, {"messages", "2"}, {"all", "3"}, {"panels", "5"}},
                      .refuses = {"on", "panel", ""}},
    [HS_OPT_TIMEOUT] = {FIELD(INT, timeout), .expected = "off or a number of seconds",
                        .accepts = {{"off", "0"}, {"1", "1"}, {"1000000", "1000000"}},
                        .refuses = {"0", "1000001", "-1", "1s", "", "none"}},
    [HS_OPT_ON_TIMEOUT] = {FIELD(INT, timeout_fails), .expected = "report or error",
                           .accepts = {{"report", "0"}, {"error", "1"}}, .refuses = {"1", "", "abort"}},
    [HS_OPT_COMPUTE] = {FIELD(INT, compute_time), .expected = "auto or time", .accepts = {{"auto", "0"}, {"time", "1"}},
                        .refuses = {"model", "", "0"}},
    [HS_OPT_STEPS] = {FIELD(INT, steps), .expected = "all or a number of at least 1",
                      .accepts = {{"all", "0"}, {"1", "1"}, {"2147483647", "2147483647"}},
                      .refuses = {"0", "-1", "2147483648", "", "half"}},
};

typedef struct shown {
    char text[200];
} shown;

/* The setting of an option as text; "?" if this test does not know the option. */
static shown show(enum hs_option option, const struct hs_settings *settings)
{
    const void *at = (const char *)settings + rows[option].at;
    const struct hs_part *part = at;
    const struct hs_nodes *nodes = at;
    const struct hs_widths *widths = at;
    const struct hs_names *names = at;
    shown is = {"?"};
    char *text = is.text;
    const size_t size = sizeof is.text;
    int used = 0;
    switch (rows[option].kind) {
    case UNKNOWN:
        break;
    case TEXT:
        snprintf(text, size, "text");
        break;
    case INT:
        snprintf(text, size, "%d", *(const int *)at);
        break;
    case LONG:
        snprintf(text, size, "%" PRId64, *(const int64_t *)at);
        break;
    case PART:
        snprintf(text, size, "%g %" PRId64, part->share, part->bytes);
        break;
    case NODES:
        snprintf(text, size, "%dx%d", nodes->count, nodes->sockets);
        break;
    case WIDTHS:
        used = snprintf(text, size, "%d", widths->count);
        for (int l = 0; l < widths->count; l++)
            used += snprintf(text + used, size - (size_t)used, ":%" PRId64, widths->width[l]);
        break;
    case NAMES:
        used = snprintf(text, size, "%s", names->outer_inner ? "outer-inner" : "");
        for (int i = 0; i < names->count; i++)
            used += snprintf(text + used, size - (size_t)used, "<%s>", names->name[i]);
        break;
    case GRIDS: /* groups or levels, whichever is set */
        used = snprintf(text, size, "%d", settings->levels);
        for (int l = 0; l < settings->levels; l++)
            used +=
                snprintf(text + used, size - (size_t)used, ":%dx%d", settings->factor[l][0], settings->factor[l][1]);
        break;
    }
    return is;
}

static const char *name_of(enum hs_option option)
{
    hsumma_option_info info;
    hsumma_option((int)option, &info);
    return info.name;
}

/* The text "name=value" of an option. */
static shown word_of(enum hs_option option, const char *text)
{
    shown word;
    snprintf(word.text, sizeof word.text, " %s=%s\n", name_of(option), text);
    return word;
}

/* The setting after three sources have given a value; NULL: the source gives none. */
static shown after(const char *environment, const char *context, const char *plan, enum hs_option option)
{
    struct hs_options options;
    hs_options_default(&options, NULL);
    if (hs_options_apply(&options, environment, HS_BY_ENVIRONMENT, NULL) ||
        hs_options_apply(&options, context, HS_BY_CONTEXT, NULL) || hs_options_apply(&options, plan, HS_BY_PLAN, NULL))
        return (shown){"refused"};
    return show(option, &options.settings);
}

/* The setting that the environment variables make. */
static shown by_environment(enum hs_option option)
{
    struct hs_options options;
    hs_options_default(&options, NULL);
    return hs_options_environment(&options, NULL) ? (shown){"refused"} : show(option, &options.settings);
}

/* Compares a setting with the expected one; reports a difference. */
static int sets(enum hs_option option, const char *text, shown is, const char *wanted)
{
    int right = strcmp(is.text, wanted) == 0;
    if (!right)
        tap_diag("%s=%s sets \"%s\", not \"%s\"", name_of(option), text, is.text, wanted);
    return right;
}

static void test_values(void)
{
    for (enum hs_option i = 0; i < HS_OPTIONS; i++) {
        int accepted = 0, wrong = 0;
        for (; rows[i].accepts[accepted].text; accepted++) {
            const char *text = rows[i].accepts[accepted].text;
            wrong += !sets(i, text, after(NULL, word_of(i, text).text, NULL, i), rows[i].accepts[accepted].sets);
        }
        tap_ok(wrong == 0 && accepted > 1, "%s: %d values accepted, %d wrongly", name_of(i), accepted, wrong);
    }
    tap_ok(sets(HS_OPT_SEGMENT, "5000000000", after(NULL, NULL, "segment=5000000000", HS_OPT_SEGMENT), "5000000000") &&
               sets(HS_OPT_WORKSPACE_LIMIT, "5000000000",
                    after(NULL, NULL, "workspace_limit=5000000000", HS_OPT_WORKSPACE_LIMIT), "0 5000000000"),
           "a number of bytes needs no factor, however large");
}

/* Tests that a value is refused with a message that names the source, the option, the value and valid values. */
static int refuses(enum hs_option option, const char *text, enum hs_said_by by)
{
    static const char *const sayer[] = {
        [HS_BY_ENVIRONMENT] = "environment", [HS_BY_CONTEXT] = "context", [HS_BY_PLAN] = "plan"};
    char quoted[64];
    struct hs_options options;
    struct hs_message message = {""};
    hs_options_default(&options, NULL);
    snprintf(quoted, sizeof quoted, "\"%s\"", text);
    hsumma_status status = hs_options_apply(&options, word_of(option, text).text, by, &message);
    int right = status == HSUMMA_ERR_OPTION && strstr(message.text, name_of(option)) && strstr(message.text, quoted) &&
                strstr(message.text, rows[option].expected) && strstr(message.text, sayer[by]);
    if (!right)
        tap_diag("%s=%s: %d, %s", name_of(option), text, (int)status, message.text);
    return right;
}

static void test_refusals(void)
{
    for (enum hs_option i = 0; i < HS_OPTIONS; i++) {
        int refused = 0, wrong = 0;
        for (; rows[i].refuses[refused]; refused++)
            for (enum hs_said_by by = HS_BY_ENVIRONMENT; by <= HS_BY_PLAN; by++)
                wrong += !refuses(i, rows[i].refuses[refused], by);
        tap_ok(wrong == 0 && refused > 0,
               "%s: %d values refused; the sayer, the option, the value and what was expected are named: %d wrong",
               name_of(i), refused, wrong);
    }

    static const struct {
        const char *word, *named, *advice;
    } unknown[] = {{"nonsense=1", "unknown option \"nonsense\"", "lists all"},
                   {"bloc=1", "unknown option \"bloc\"", "did you mean block?"},
                   {"blockk=1", "unknown option \"blockk\"", "did you mean block?"},
                   {"Block=1", "unknown option \"Block\"", "did you mean block?"},
                   {"look=1", "unknown option \"look\"", "did you mean lookahead?"},
                   {"block", "\"block\" has no value", "name=value"},
                   {"=1", "unknown option \"\"", "lists all"},
                   {"block =1", "\"block\" has no value", "name=value"},
                   {"--block=1", "unknown option \"--block\"", "did you mean block?"}};
    struct hs_options options;
    int wrong = 0;
    for (unsigned i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        struct hs_message message = {""};
        hs_options_default(&options, NULL);
        wrong += hs_options_apply(&options, unknown[i].word, HS_BY_CONTEXT, &message) != HSUMMA_ERR_OPTION ||
                 !strstr(message.text, unknown[i].named) || !strstr(message.text, "context") ||
                 !strstr(message.text, unknown[i].advice);
    }
    tap_ok(wrong == 0, "unknown words are refused and named: %d wrong", wrong);

    char text[4096] = "bcast=";
    struct hs_message message = {""};
    memset(text + 6, 'x', 4000);
    text[4006] = 0;
    hs_options_default(&options, NULL);
    tap_ok(hs_options_apply(&options, text, HS_BY_PLAN, &message) == HSUMMA_ERR_OPTION && strlen(message.text) < 400 &&
               strstr(message.text, "bcast has 4000 characters") &&
               hs_options_apply(&options, text, HS_BY_PLAN, NULL) == HSUMMA_ERR_OPTION,
           "a value of 4000 letters is refused by its length; no message is wanted");
}

static void test_precedence(void)
{
    int wrong = 0, tested = 0;
    for (enum hs_option i = 0; i < HS_OPTIONS; i++) {
        int last = 0; /* index of the last value with text; it and the one before are used */
        for (int v = 0; rows[i].accepts[v].text; v++)
            last = rows[i].accepts[v].text[0] ? v : last;
        const char *wanted[2] = {rows[i].accepts[last - 1].sets, rows[i].accepts[last].sets};
        const shown word[2] = {word_of(i, rows[i].accepts[last - 1].text), word_of(i, rows[i].accepts[last].text)};
        int plan_counts = hs_option_taken(i, HS_BY_PLAN);
        for (int who = 0; who < 8; who++) { /* bit b: source b gives the second value; the last source wins */
            const int environment = who & 1, context = who >> 1 & 1, plan = who >> 2 & 1;
            const char *text[3] = {word[environment].text, word[context].text, word[plan].text};
            wrong += !sets(i, "of three", after(text[0], text[1], text[2], i), wanted[plan_counts ? plan : context]);
            wrong += !sets(i, "of two", after(text[0], text[1], NULL, i), wanted[context]);
            wrong += !sets(i, "of two", after(text[0], text[1], "", i), wanted[context]);
            wrong += !sets(i, "of one", after(text[0], NULL, "\n \t", i), wanted[environment]);
            tested += 4;
        }
    }
    tap_ok(wrong == 0,
           "plan over context over environment over default, but for options of contexts: %d cases, %d wrong", tested,
           wrong);

    struct hs_options options;
    hs_options_default(&options, NULL);
    wrong = 0;
    for (int i = 0; i < HS_OPTIONS; i++)
        wrong += options.said_by[i] != HS_BY_DEFAULT;
    wrong += hs_options_apply(&options, "block=1 segment=2", HS_BY_ENVIRONMENT, NULL) ||
             hs_options_apply(&options, "segment=3 block=4 block=5", HS_BY_CONTEXT, NULL) ||
             hs_options_apply(&options, "segment=6", HS_BY_PLAN, NULL);
    wrong += options.said_by[HS_OPT_BLOCK] != HS_BY_CONTEXT || options.said_by[HS_OPT_SEGMENT] != HS_BY_PLAN ||
             options.said_by[HS_OPT_OUTER] != HS_BY_DEFAULT || options.settings.block != 5;
    tap_ok(wrong == 0, "who has said it is remembered; in one text the last word wins");
}

/* groups and levels set the same field: the later one wins; an empty levels= restores the groups given before. */
static void test_hierarchy(void)
{
    static const struct {
        const char *environment, *context, *plan, *levels;
    } cases[] = {
        {NULL, NULL, NULL, "-1"},
        {"groups=2x2", NULL, NULL, "1:2x2"},
        {"levels=2x2,1x2", NULL, NULL, "2:2x2:1x2"},
        {"levels=2x2,1x2", "groups=1x1", NULL, "1:1x1"},
        {"levels=2x2,1x2", "groups=auto", NULL, "-1"},
        {"groups=2x2", "levels=1x2,2x1", NULL, "2:1x2:2x1"},
        {NULL, "levels=1x2,2x1", "groups=3x1", "1:3x1"},
        {NULL, "groups=3x1", "levels=1x2,2x1", "2:1x2:2x1"},
        {"levels=2x2", "groups=3x1", "levels=5x5", "1:5x5"},
        {NULL, "levels=1x2,2x1", "levels=", "-1"},
        {NULL, "groups=2x1 levels=1x2", "levels=", "1:2x1"},
        {NULL, NULL, "groups=2x1 levels=1x2", "1:1x2"},
        {NULL, NULL, "levels=1x2 groups=2x1", "1:2x1"},
    };
    int wrong = 0;
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        shown is = after(cases[i].environment, cases[i].context, cases[i].plan, HS_OPT_GROUPS);
        if (strcmp(is.text, cases[i].levels) != 0) {
            wrong++;
            tap_diag("case %u: %s, not %s", i, is.text, cases[i].levels);
        }
    }
    tap_ok(wrong == 0, "groups and levels: the later word wins: %d wrong", wrong);
}

static void test_listing(void)
{
    hsumma_option_info info, other;
    int wrong = 0, count = 0;
    for (; hsumma_option(count, &info); count++) {
        enum hs_option option = (enum hs_option)count;
        char environment[64] = "HSUMMA_";
        for (size_t c = 0; c <= strlen(info.name); c++)
            environment[7 + c] = (char)toupper((unsigned char)info.name[c]);
        wrong += strcmp(environment, info.environment) != 0 || !info.value_name[0] || !info.help[0];
        for (int j = 0; j < count; j++)
            wrong += hsumma_option(j, &other) && strcmp(info.name, other.name) == 0;
        const shown said = after(NULL, word_of(option, info.default_value).text, NULL, option);
        wrong += !sets(option, "(nothing)", after(NULL, NULL, NULL, option), said.text) || strcmp(said.text, "?") == 0;
    }
    wrong += hsumma_option(-1, &info) || hsumma_option(count + 1, &info) || hsumma_option(1 << 30, &info);
    tap_ok(wrong == 0 && count == HS_OPTIONS,
           "the listing: %d options, each with its variable, help, and a default that it accepts; %d wrong", count,
           wrong);
}

static void test_environment(void)
{
    hsumma_option_info info;
    struct hs_options options;
    int wrong = 0;
    for (int i = 0; hsumma_option(i, &info); i++)
        unsetenv(info.environment);
    hs_options_default(&options, NULL);
    wrong += hs_options_environment(&options, NULL) != HSUMMA_OK || hs_options_plan_said(&options);
    for (enum hs_option i = 0; hsumma_option((int)i, &info); i++)
        for (int v = 0; rows[i].accepts[v].text; v++) {
            const char *text = rows[i].accepts[v].text;
            setenv(info.environment, text, 1);
            wrong += text[0] && !sets(i, text, by_environment(i), after(word_of(i, text).text, NULL, NULL, i).text);
            unsetenv(info.environment);
        }
    setenv("HSUMMA_BLOCK", "7", 1);
    setenv("HSUMMA_LOOKAHEAD", "3", 1);
    setenv("HSUMMA_SEGMENT", "", 1); /* an empty variable counts as not set */
    wrong += !sets(HS_OPT_BLOCK, "7", by_environment(HS_OPT_BLOCK), "7");
    wrong += !sets(HS_OPT_LOOKAHEAD, "3", by_environment(HS_OPT_LOOKAHEAD), "3");
    wrong += !sets(HS_OPT_SEGMENT, "", by_environment(HS_OPT_SEGMENT), "0");
    tap_ok(wrong == 0, "variables of the environment are options: %d wrong", wrong);

    static char words[3000];
    memset(words, 'x', sizeof words - 1);
    setenv("HSUMMA_BCAST", words, 1);
    tap_ok(sets(HS_OPT_LOOKAHEAD, "(a text that does not fit)", by_environment(HS_OPT_LOOKAHEAD), "refused"),
           "a variable that does not fit is an error, as in every other place");
    unsetenv("HSUMMA_BCAST");
    setenv("HSUMMA_TUNED", "/a file \"of mine\"", 1);
    struct hs_texts texts;
    hs_options_default(&options, &texts);
    wrong = hs_options_environment(&options, NULL) != HSUMMA_OK || strcmp(texts.tuned, "/a file \"of mine\"") != 0;
    wrong += hs_options_apply(&options, "tuned=/other coll=bcast:flat block=8", HS_BY_PLAN, NULL) != HSUMMA_OK;
    wrong += strcmp(texts.tuned, "/a file \"of mine\"") != 0 || strcmp(texts.coll, "auto") != 0;
    tap_ok(wrong == 0, "texts are the context's, blanks and quotation marks included: %d wrong", wrong);
}

/* Options that are written as text are read back with the same values. */
static void test_writing(void)
{
    static const enum hs_option written[] = {
        HS_OPT_STATIONARY, HS_OPT_BLOCK,  HS_OPT_SEGMENT, HS_OPT_EXCHANGE, HS_OPT_NODE,          HS_OPT_CHUNK,
        HS_OPT_SCALAPACK,  HS_OPT_SLICE,  HS_OPT_THREADS, HS_OPT_DEVICE,   HS_OPT_DEVICE_MEMORY, HS_OPT_WORKSPACE_LIMIT,
        HS_OPT_GROUPS,     HS_OPT_LEVELS, HS_OPT_OUTER,   HS_OPT_BCAST,    HS_OPT_REDUCE};
    int wrong = 0, count = 0;
    for (unsigned w = 0; w < sizeof written / sizeof *written; w++) {
        enum hs_option i = written[w];
        for (int v = 0; rows[i].accepts[v].text; v++, count++) {
            struct hs_options options;
            char text[128];
            hs_options_default(&options, NULL);
            wrong +=
                hs_options_apply(&options, word_of(i, rows[i].accepts[v].text).text, HS_BY_CONTEXT, NULL) != HSUMMA_OK;
            hs_option_write(i, &options.settings, text, sizeof text);
            wrong += !sets(i, text, after(NULL, word_of(i, text).text, NULL, i), rows[i].accepts[v].sets);
        }
    }
    tap_ok(wrong == 0 && count > 60, "values written as text read as the same: %d, %d wrong", count, wrong);
}

/* Of a tuned file's options only those that choose how a product is computed take effect; others are only checked. */
static void test_tuned(void)
{
    struct hs_options options;
    hs_options_default(&options, NULL);
    int wrong = hs_options_apply(&options, "block=9 lookahead=1 threads=3 workspace_limit=1G shared=0 bcast=chain",
                                 HS_BY_TUNED, NULL) != HSUMMA_OK;
    const struct hs_settings *set = &options.settings;
    wrong += set->block != 9 || set->lookahead != 1 || set->bcast.count != 1 || !set->for_messages;
    wrong += set->threads != -1 || set->workspace.bytes || set->shared != -1 || options.said_by[HS_OPT_THREADS];
    wrong += hs_options_plan_said(&options) || options.said_by[HS_OPT_BLOCK] != HS_BY_TUNED;
    wrong += hs_options_apply(&options, "threads=0", HS_BY_TUNED, NULL) != HSUMMA_ERR_OPTION;
    wrong += hs_options_apply(&options, "bcast=auto lookahead=auto", HS_BY_PLAN, NULL) || set->for_messages;
    tap_ok(wrong == 0, "a tuned file's line sets a product's options only, and its others are checked: %d wrong",
           wrong);
}

int main(void)
{
    test_values();
    test_refusals();
    test_precedence();
    test_hierarchy();
    test_listing();
    test_environment();
    test_writing();
    test_tuned();
    return tap_done();
}
