/* Options: what each accepts and refuses, who wins, what a refusal says, and the public listing. */
#include "base/options.h"
#include "support/tap.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The setting behind an option, as text; "?" for an option that this test does not know. */
static void show_names(const struct hs_names *names, char *text, size_t size)
{
    int used = snprintf(text, size, "%s", names->outer_inner ? "outer-inner" : "");
    for (int i = 0; i < names->count; i++)
        used += snprintf(text + used, size - (size_t)used, "<%s>", names->name[i]);
}

static void show(enum hs_option option, const struct hs_settings *s, char *text, size_t size)
{
    int used = 0;
    text[0] = 0;
    switch (option) {
    case HS_OPT_STATIONARY:
        snprintf(text, size, "%d", s->stationary);
        break;
    case HS_OPT_GROUPS:
    case HS_OPT_LEVELS:
        used = snprintf(text, size, "%d", s->levels);
        for (int l = 0; l < s->levels; l++)
            used += snprintf(text + used, size - (size_t)used, ":%dx%d", s->factor[l][0], s->factor[l][1]);
        break;
    case HS_OPT_BLOCK:
        snprintf(text, size, "%" PRId64, s->block);
        break;
    case HS_OPT_OUTER:
        used = snprintf(text, size, "%d", s->outer.count);
        for (int l = 0; l < s->outer.count; l++)
            used += snprintf(text + used, size - (size_t)used, ":%" PRId64, s->outer.width[l]);
        break;
    case HS_OPT_BCAST:
        show_names(&s->bcast, text, size);
        break;
    case HS_OPT_REDUCE:
        show_names(&s->reduce, text, size);
        break;
    case HS_OPT_SEGMENT:
        snprintf(text, size, "%" PRId64, s->segment);
        break;
    case HS_OPT_LOOKAHEAD:
        snprintf(text, size, "%d", s->lookahead);
        break;
    case HS_OPT_EXCHANGE:
        snprintf(text, size, "%d", s->exchange);
        break;
    case HS_OPT_NODE:
        snprintf(text, size, "%d", s->node);
        break;
    case HS_OPT_CHUNK:
        snprintf(text, size, "%" PRId64, s->chunk);
        break;
    case HS_OPT_SCALAPACK:
        snprintf(text, size, "%" PRId64, s->scalapack);
        break;
    case HS_OPT_SLICE:
        snprintf(text, size, "%" PRId64, s->slice);
        break;
    case HS_OPT_THREADS:
        snprintf(text, size, "%d", s->threads);
        break;
    case HS_OPT_WORKSPACE_LIMIT:
        snprintf(text, size, "%g %" PRId64, s->workspace.share, s->workspace.bytes);
        break;
    case HS_OPT_EXPLAIN:
        snprintf(text, size, "%d", s->explain);
        break;
    case HS_OPT_TUNE:
        snprintf(text, size, "%d", s->tune);
        break;
    case HS_OPT_COLL:
    case HS_OPT_PROFILE:
    case HS_OPT_TUNED:
    case HS_OPT_LOG: /* stay text */
        snprintf(text, size, "text");
        break;
    case HS_OPT_TOPOLOGY:
        snprintf(text, size, "%dx%d", s->nodes.count, s->nodes.sockets);
        break;
    case HS_OPT_SHARED:
        snprintf(text, size, "%" PRId64, s->shared);
        break;
    case HS_OPT_DIRECT:
        snprintf(text, size, "%d", s->direct);
        break;
    case HS_OPT_CHECK:
        snprintf(text, size, "%d", s->check_always);
        break;
    case HS_OPT_DEVICE: /* the kind stays text */
        snprintf(text, size, "%d", s->device.number);
        break;
    case HS_OPT_DEVICE_MEMORY:
        if (s->device_memory.bytes)
            snprintf(text, size, "%" PRId64, s->device_memory.bytes);
        else
            snprintf(text, size, "%g", s->device_memory.share);
        break;
    case HS_OPT_GPU_AWARE_MPI:
        snprintf(text, size, "%d", s->gpu_aware);
        break;
    default:
        snprintf(text, size, "?");
    }
}

static int number_of(const char *name)
{
    hsumma_option_info info;
    int i = 0;
    while (hsumma_option(i, &info) && strcmp(info.name, name) != 0)
        i++;
    return i;
}

/* Texts and what they set; NULL: refused. */
static const struct value {
    const char *name, *text, *sets;
} values[] = {
    {"stationary", "auto", "-1"},
    {"stationary", "A", "0"},
    {"stationary", "B", "1"},
    {"stationary", "C", "2"},
    {"stationary", "D", NULL},
    {"stationary", "a", NULL},
    {"stationary", "AB", NULL},
    {"stationary", "", NULL},
    {"groups", "auto", "-1"},
    {"groups", "1x1", "1:1x1"},
    {"groups", "2x3", "1:2x3"},
    {"groups", "2147483647x1", "1:2147483647x1"},
    {"groups", "2147483648x1", NULL},
    {"groups", "0x1", NULL},
    {"groups", "1x0", NULL},
    {"groups", "2", NULL},
    {"groups", "2x", NULL},
    {"groups", "x2", NULL},
    {"groups", "-1x2", NULL},
    {"groups", "2x2x2", NULL},
    {"groups", "2x2,2x2", NULL},
    {"groups", "", NULL},
    {"groups", "2X2", NULL},
    {"levels", "2x2", "1:2x2"},
    {"levels", "2x1,3x4", "2:2x1:3x4"},
    {"levels", "1x1,2x2,1x3,4x1,1x5", "5:1x1:2x2:1x3:4x1:1x5"},
    {"levels", "", "-1"},
    {"levels", "1x1,1x1,1x1,1x1,1x1,1x1", NULL},
    {"levels", "2x2,", NULL},
    {"levels", ",2x2", NULL},
    {"levels", "2x2;2x2", NULL},
    {"levels", "auto", NULL},
    {"levels", "2x2,0x1", NULL},
    {"block", "auto", "0"},
    {"block", "1", "1"},
    {"block", "64", "64"},
    {"block", "2k", "2048"},
    {"block", "1M", "1048576"},
    {"block", "2147483647", "2147483647"},
    {"block", "2147483648", NULL},
    {"block", "2G", NULL},
    {"block", "0", NULL},
    {"block", "-1", NULL},
    {"block", "+1", NULL},
    {"block", "1.5", NULL},
    {"block", "12x", NULL},
    {"block", "", NULL},
    {"block", "1kk", NULL},
    {"block", "99999999999999999999", NULL},
    {"outer", "auto", "0"},
    {"outer", "128", "1:128"},
    {"outer", "512,256,128,64,32", "5:512:256:128:64:32"},
    {"outer", "6,5,4,3,2,1", NULL},
    {"outer", "0", NULL},
    {"outer", "8,", NULL},
    {"outer", "8,,4", NULL},
    {"outer", "", NULL},
    {"outer", "auto,8", NULL},
    {"bcast", "auto", ""},
    {"bcast", "flat", "<flat>"},
    {"bcast", "outer=flat,inner=chain", "outer-inner<flat><chain>"},
    {"bcast", "a,b,c", "<a><b><c>"},
    {"bcast", "a,b,c,d,e,f", "<a><b><c><d><e><f>"},
    {"bcast", "a,b,c,d,e,f,g", NULL},
    {"bcast", "outer=flat", NULL},
    {"bcast", "outer=flat,chain", NULL},
    {"bcast", "outer=a,inner=b,c", NULL},
    {"bcast", "outer=,inner=b", NULL},
    {"bcast", "a,,b", NULL},
    {"bcast", "a,", NULL},
    {"bcast", "", NULL},
    {"bcast", "a2345678901234567890123456789012", NULL}, /* 32 letters: one more than a name has */
    {"bcast", "a234567890123456789012345678901", "<a234567890123456789012345678901>"},
    {"reduce", "auto", ""},
    {"reduce", "binomial", "<binomial>"},
    {"reduce", "outer=x,inner=y", "outer-inner<x><y>"},
    {"reduce", "outer=x", NULL},
    {"reduce", "", NULL},
    {"segment", "1", "1"},
    {"segment", "64k", "65536"},
    {"segment", "64K", "65536"},
    {"segment", "3M", "3145728"},
    {"segment", "2G", "2147483648"},
    {"segment", "0", NULL},
    {"segment", "k", NULL},
    {"segment", "1m", NULL},
    {"segment", "auto", "0"},
    {"segment", "-5", NULL},
    {"segment", "", NULL},
    {"slice", "auto", "0"},
    {"slice", "none", "9223372036854775807"},
    {"slice", "1", "1"},
    {"slice", "100M", "104857600"},
    {"slice", "0", NULL},
    {"slice", "-1", NULL},
    {"slice", "all", NULL},
    {"slice", "none1", NULL},
    {"slice", "", NULL},
    {"exchange", "auto", "-1"},
    {"exchange", "root", "0"},
    {"exchange", "all", "1"},
    {"exchange", "none", NULL},
    {"exchange", "", NULL},
    {"node", "auto", "-1"},
    {"node", "messages", "0"},
    {"node", "shared", "1"},
    {"node", "device", "2"},
    {"node", "read", NULL},
    {"node", "none", NULL},
    {"node", "", NULL},
    {"chunk", "auto", "0"},
    {"chunk", "1", "1"},
    {"chunk", "2k", "2048"},
    {"chunk", "0", NULL},
    {"chunk", "2147483648", NULL},
    {"chunk", "", NULL},
    {"scalapack", "on", "0"},
    {"scalapack", "off", "9223372036854775807"},
    {"scalapack", "100", "100"},
    {"scalapack", "1k", "1024"},
    {"scalapack", "-1", NULL},
    {"scalapack", "yes", NULL},
    {"scalapack", "", NULL},
    {"log", "none", "text"},
    {"log", "/some/file", "text"},
    {"log", "", NULL},
    {"log", "\"/a file\"", "text"},
    {"lookahead", "auto", "-1"},
    {"lookahead", "0", "0"},
    {"lookahead", "64", "64"},
    {"lookahead", "65", NULL},
    {"lookahead", "-1", NULL},
    {"lookahead", "1x", NULL},
    {"lookahead", "", NULL},
    {"threads", "auto", "-1"},
    {"threads", "user", "0"},
    {"threads", "1", "1"},
    {"threads", "4096", "4096"},
    {"threads", "0", NULL},
    {"threads", "4097", NULL},
    {"threads", "users", NULL},
    {"threads", "2x", NULL},
    {"threads", "", NULL},
    {"workspace_limit", "15%", "0.15 0"},
    {"workspace_limit", "12.5%", "0.125 0"},
    {"workspace_limit", "200%", "2 0"},
    {"workspace_limit", "1", "0 1"},
    {"workspace_limit", "64k", "0 65536"},
    {"workspace_limit", "8G", "0 8589934592"},
    {"workspace_limit", "0", NULL},
    {"workspace_limit", "0%", NULL},
    {"workspace_limit", "-5%", NULL},
    {"workspace_limit", "%", NULL},
    {"workspace_limit", "5%%", NULL},
    {"workspace_limit", "nan%", NULL},
    {"workspace_limit", "inf%", NULL},
    {"workspace_limit", "", NULL},
    {"workspace_limit", "auto", NULL},
    {"explain", "0", "0"},
    {"explain", "1", "1"},
    {"explain", "2", NULL},
    {"explain", "yes", NULL},
    {"explain", "", NULL},
    {"explain", "11", NULL},
    {"coll", "auto", "text"},
    {"coll", "bcast:chain", "text"},
    {"coll", "allreduce:0-2k:nap,2k-inf:dpml(l=4,outer=ring);bcast:chain(segment=64k)", "text"},
    {"coll", "chain", NULL},
    {"coll", "", NULL},
    {"coll", "bcast:chain|flat", NULL},
    {"profile", "auto", "text"},
    {"profile", "builtin", "text"},
    {"profile", "/a/file.profile", "text"},
    {"profile", "", NULL},
    {"tune", "estimate", "0"},
    {"tune", "measure", "1"},
    {"tune", "off", "2"},
    {"tune", "on", NULL},
    {"tune", "", NULL},
    {"tuned", "auto", "text"},
    {"tuned", "none", "text"},
    {"tuned", "/a/file.tuned", "text"},
    {"tuned", "", NULL},
    {"topology", "auto", "0x0"},
    {"topology", "nodes:4", "4x1"},
    {"topology", "nodes:4,sockets:2", "4x2"},
    {"topology", "nodes:0", NULL},
    {"topology", "nodes:4,sockets:0", NULL},
    {"topology", "nodes:4,", NULL},
    {"topology", "4", NULL},
    {"topology", "sockets:2", NULL},
    {"topology", "nodes:4,sockets:2,cores:2", NULL},
    {"topology", "", NULL},
    {"shared", "auto", "-1"},
    {"shared", "0", "0"},
    {"shared", "64k", "65536"},
    {"shared", "5G", "5368709120"},
    {"shared", "-1", NULL},
    {"shared", "none", NULL},
    {"shared", "", NULL},
    {"direct", "auto", "1"},
    {"direct", "on", "1"},
    {"direct", "off", "0"},
    {"direct", "1", NULL},
    {"direct", "", NULL},
    {"check", "first", "0"},
    {"check", "always", "1"},
    {"check", "never", NULL},
    {"check", "", NULL},
    {"device", "none", "-1"},
    {"device", "auto", "-1"},
    {"device", "cuda", "-1"},
    {"device", "host", "-1"},
    {"device", "cuda:0", "0"},
    {"device", "cuda:4096", "4096"},
    {"device", "cuda:", NULL},
    {"device", "cuda:4097", NULL},
    {"device", "cuda:-1", NULL},
    {"device", "cuda:1x", NULL},
    {"device", "host:1", NULL},
    {"device", "gpu", NULL},
    {"device", "", NULL},
    {"device_memory", "80%", "0.8"},
    {"device_memory", "12.5%", "0.125"},
    {"device_memory", "100%", "1"},
    {"device_memory", "3G", "3221225472"},
    {"device_memory", "1", "1"},
    {"device_memory", "101%", NULL},
    {"device_memory", "0%", NULL},
    {"device_memory", "50%%", NULL},
    {"device_memory", "0", NULL},
    {"device_memory", "auto", NULL},
    {"device_memory", "", NULL},
    {"gpu_aware_mpi", "auto", "-1"},
    {"gpu_aware_mpi", "0", "0"},
    {"gpu_aware_mpi", "1", "1"},
    {"gpu_aware_mpi", "2", NULL},
    {"gpu_aware_mpi", "on", NULL},
    {"gpu_aware_mpi", "", NULL},
};
enum { VALUES = sizeof values / sizeof *values };

/* Applies "name=text" to the defaults and shows what it sets; the status. */
static hsumma_status set_one(const char *name, const char *text, enum hs_said_by by, char *sets, size_t size,
                             struct hs_message *message)
{
    char word[256];
    struct hs_options options;
    hs_options_default(&options, NULL);
    snprintf(word, sizeof word, " %s=%s\n", name, text);
    hsumma_status status = hs_options_apply(&options, word, by, message);
    if (!status)
        show((enum hs_option)number_of(name), &options.settings, sets, size);
    return status;
}

static void test_values(void)
{
    hsumma_option_info info;
    for (int i = 0; hsumma_option(i, &info); i++) {
        int accepted = 0, refused = 0, wrong = 0;
        for (int v = 0; v < VALUES; v++) {
            char sets[200] = "";
            struct hs_message message = {""};
            if (strcmp(values[v].name, info.name) != 0)
                continue;
            hsumma_status status = set_one(info.name, values[v].text, HS_BY_CONTEXT, sets, sizeof sets, &message);
            int right =
                values[v].sets ? status == HSUMMA_OK && strcmp(sets, values[v].sets) == 0 : status == HSUMMA_ERR_OPTION;
            *(status ? &refused : &accepted) += 1;
            wrong += !right;
            if (!right)
                tap_diag("%s=%s: status %d, sets %s, not %s; %s", info.name, values[v].text, (int)status, sets,
                         values[v].sets ? values[v].sets : "refused", message.text);
        }
        tap_ok(wrong == 0 && accepted > 0 && refused > 0, "%s: %d values accepted, %d refused, %d wrongly", info.name,
               accepted, refused, wrong);
    }
    char sets[200] = "";
    struct hs_message message = {""};
    hsumma_status status = set_one("segment", "5000000000", HS_BY_PLAN, sets, sizeof sets, &message);
    status = status ? status : set_one("workspace_limit", "5000000000", HS_BY_PLAN, sets, sizeof sets, &message);
    tap_ok(!status && strcmp(sets, "0 5000000000") == 0, "a number of bytes needs no factor, however large: %s %s",
           sets, message.text);
}

/* A refusal names who said it, the option, the value and what was expected. */
static void test_messages(void)
{
    static const struct {
        const char *name, *text, *expected;
    } refused[] = {
        {"stationary", "D", "auto, A, B or C"},
        {"groups", "2y2", "auto or IxJ"},
        {"levels", "2x2,9", "IxJ,IxJ"},
        {"block", "0", "1 to 2147483647"},
        {"outer", "no", "numbers of at least 1"},
        {"bcast", "a,,b", "NAME"},
        {"reduce", "outer=a", "outer=NAME,inner=NAME"},
        {"segment", "-1", "a number of bytes"},
        {"exchange", "some", "auto, root or all"},
        {"node", "some", "auto, messages, shared or device"},
        {"chunk", "no", "1 to 2147483647"},
        {"scalapack", "yes", "on, off or a number"},
        {"log", "", "name of a file"},
        {"lookahead", "65", "0 to 64"},
        {"slice", "no", "auto, none or"},
        {"threads", "0", "1 to 4096"},
        {"workspace_limit", "x", "percentage"},
        {"explain", "2", "0 or 1"},
        {"coll", "ring", "COLLECTIVE:RANGE:WORD"},
        {"profile", "", "auto, builtin or the name of a file"},
        {"tune", "on", "estimate, measure or off"},
        {"tuned", "", "the name of a file"},
        {"topology", "nodes:0", "nodes:N,sockets:S"},
        {"shared", "x", "number of bytes"},
        {"direct", "yes", "on or off"},
        {"check", "2", "first or always"},
        {"device", "gpu", "none, auto, cuda, cuda:N or host"},
        {"device_memory", "101%", "a percentage up to 100%"},
        {"gpu_aware_mpi", "yes", "auto, 0 or 1"},
    };
    static const char *const sayer[] = {
        [HS_BY_ENVIRONMENT] = "environment", [HS_BY_CONTEXT] = "context", [HS_BY_PLAN] = "plan"};
    int wrong = 0, said = 0;
    for (unsigned i = 0; i < sizeof refused / sizeof *refused; i++)
        for (int by = HS_BY_ENVIRONMENT; by <= HS_BY_PLAN; by++, said++) {
            char sets[200], quoted[64];
            struct hs_message message = {""};
            snprintf(quoted, sizeof quoted, "\"%s\"", refused[i].text);
            hsumma_status status =
                set_one(refused[i].name, refused[i].text, (enum hs_said_by)by, sets, sizeof sets, &message);
            if (status != HSUMMA_ERR_OPTION || !strstr(message.text, refused[i].name) ||
                !strstr(message.text, quoted) || !strstr(message.text, refused[i].expected) ||
                !strstr(message.text, sayer[by])) {
                wrong++;
                tap_diag("%s=%s: %d, %s", refused[i].name, refused[i].text, (int)status, message.text);
            }
        }
    tap_ok(wrong == 0 && said == 3 * HS_OPTIONS,
           "%d refusals name the sayer, the option, the value and what was expected", said);

    static const char *const unknown[] = {"nonsense=1", "bloc=1", "blockk=1", "Block=1",
                                          "block",      "=1",     "block =1", "--block=1"};
    struct hs_options options;
    wrong = 0;
    for (unsigned i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        struct hs_message message = {""};
        char word[32];
        snprintf(word, sizeof word, "%.*s", (int)strcspn(unknown[i], " "), unknown[i]);
        hs_options_default(&options, NULL);
        wrong += hs_options_apply(&options, unknown[i], HS_BY_CONTEXT, &message) != HSUMMA_ERR_OPTION ||
                 !strstr(message.text, word) || !strstr(message.text, "context") || !strstr(message.text, "name=value");
    }
    tap_ok(wrong == 0, "unknown words are refused and named: %d wrong", wrong);

    char text[4096] = "bcast=";
    struct hs_message message = {""};
    memset(text + 6, 'x', 4000);
    text[4006] = 0;
    hs_options_default(&options, NULL);
    tap_ok(hs_options_apply(&options, text, HS_BY_PLAN, &message) == HSUMMA_ERR_OPTION && strlen(message.text) < 400 &&
               strstr(message.text, "bcast") && hs_options_apply(&options, text, HS_BY_PLAN, NULL) == HSUMMA_ERR_OPTION,
           "a value of 4000 letters is refused, its message cut; no message is wanted");
}

/* Shows what is set after three texts; NULL: none. */
static const char *after(const char *environment, const char *context, const char *plan, const char *name, char *sets,
                         size_t size)
{
    struct hs_options options;
    hs_options_default(&options, NULL);
    if (hs_options_apply(&options, environment, HS_BY_ENVIRONMENT, NULL) ||
        hs_options_apply(&options, context, HS_BY_CONTEXT, NULL) || hs_options_apply(&options, plan, HS_BY_PLAN, NULL))
        return "refused";
    show((enum hs_option)number_of(name), &options.settings, sets, size);
    return sets;
}

static void test_precedence(void)
{
    hsumma_option_info info;
    int wrong = 0, tested = 0;
    for (int i = 0; hsumma_option(i, &info); i++) {
        const struct value *two[2] = {NULL, NULL}; /* the last two values that set something */
        for (int v = 0; v < VALUES; v++)
            if (strcmp(values[v].name, info.name) == 0 && values[v].sets && values[v].text[0]) {
                two[0] = two[1];
                two[1] = &values[v];
            }
        if (!two[0])
            continue;
        for (int who = 0; who < 8; who++) { /* bit b: sayer b says the first value, the last of them wins */
            char word[2][256], got[200], want[200];
            snprintf(word[0], sizeof word[0], "%s=%s", info.name, two[0]->text);
            snprintf(word[1], sizeof word[1], "%s=%s", info.name, two[1]->text);
            const char *text[3] = {word[who & 1], word[who >> 1 & 1], word[who >> 2 & 1]};
            tested += 4;
            snprintf(want, sizeof want, "%s",
                     two[who >> (hs_option_taken((enum hs_option)i, HS_BY_PLAN) ? 2 : 1) & 1]->sets);
            wrong += strcmp(after(text[0], text[1], text[2], info.name, got, sizeof got), want) != 0;
            snprintf(want, sizeof want, "%s", two[who >> 1 & 1]->sets);
            wrong += strcmp(after(text[0], text[1], NULL, info.name, got, sizeof got), want) != 0;
            wrong += strcmp(after(text[0], text[1], "", info.name, got, sizeof got), want) != 0;
            snprintf(want, sizeof want, "%s", two[who & 1]->sets);
            wrong += strcmp(after(text[0], NULL, "\n \t", info.name, got, sizeof got), want) != 0;
        }
    }
    tap_ok(wrong == 0 && tested == 32 * HS_OPTIONS,
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

/* groups and levels say the same thing: the later word wins, and in one place levels over an earlier groups. */
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
        char got[200];
        after(cases[i].environment, cases[i].context, cases[i].plan, "groups", got, sizeof got);
        if (strcmp(got, cases[i].levels) != 0) {
            wrong++;
            tap_diag("case %u: %s, not %s", i, got, cases[i].levels);
        }
    }
    tap_ok(wrong == 0, "groups and levels: the later word wins: %d wrong", wrong);
}

static void test_listing(void)
{
    hsumma_option_info info, other;
    char sets[200];
    int wrong = 0, count = 0;
    for (; hsumma_option(count, &info); count++) {
        char environment[64] = "HSUMMA_";
        for (size_t c = 0; c <= strlen(info.name); c++)
            environment[7 + c] = (char)toupper((unsigned char)info.name[c]);
        wrong += strcmp(environment, info.environment) != 0 || !info.value_name[0] || !info.help[0];
        for (int j = 0; j < count; j++)
            wrong += hsumma_option(j, &other) && strcmp(info.name, other.name) == 0;
        wrong += set_one(info.name, info.default_value, HS_BY_CONTEXT, sets, sizeof sets, NULL) != HSUMMA_OK;
        char bare[200];
        wrong += strcmp(after(NULL, NULL, NULL, info.name, bare, sizeof bare), sets) != 0 || strcmp(sets, "?") == 0;
    }
    wrong += hsumma_option(-1, &info) || hsumma_option(count + 1, &info) || hsumma_option(1 << 30, &info);
    tap_ok(wrong == 0 && count == HS_OPTIONS,
           "the listing: %d options, each with its variable, help, and a default that it accepts; %d wrong", count,
           wrong);
}

/* What a variable of the environment sets, or that it is refused. */
static const char *by_environment(const char *name, char *sets, size_t size)
{
    struct hs_options options;
    hs_options_default(&options, NULL);
    if (hs_options_environment(&options, NULL))
        return "refused";
    show((enum hs_option)number_of(name), &options.settings, sets, size);
    return sets;
}

static void test_environment(void)
{
    hsumma_option_info info;
    struct hs_options options;
    char got[200], direct[200];
    int wrong = 0;
    for (int i = 0; hsumma_option(i, &info); i++)
        unsetenv(info.environment);
    hs_options_default(&options, NULL);
    wrong += hs_options_environment(&options, NULL) != HSUMMA_OK || hs_options_plan_said(&options);
    for (int v = 0; v < VALUES; v++) {
        if (!values[v].sets || !values[v].text[0])
            continue;
        hsumma_option(number_of(values[v].name), &info);
        setenv(info.environment, values[v].text, 1);
        by_environment(values[v].name, got, sizeof got);
        unsetenv(info.environment);
        set_one(values[v].name, values[v].text, HS_BY_ENVIRONMENT, direct, sizeof direct, NULL);
        if (strcmp(got, direct) != 0) {
            wrong++;
            tap_diag("%s=%s sets \"%s\"", info.environment, values[v].text, got);
        }
    }
    setenv("HSUMMA_BLOCK", "7", 1);
    setenv("HSUMMA_LOOKAHEAD", "3", 1);
    setenv("HSUMMA_SEGMENT", "", 1); /* not set */
    wrong += strcmp(by_environment("block", got, sizeof got), "7") != 0;
    wrong += strcmp(by_environment("lookahead", got, sizeof got), "3") != 0;
    wrong += strcmp(by_environment("segment", got, sizeof got), "0") != 0;
    tap_ok(wrong == 0, "variables of the environment are options: %d wrong", wrong);

    static char words[3000];
    memset(words, 'x', sizeof words - 1);
    setenv("HSUMMA_BCAST", words, 1);
    tap_ok(strcmp(by_environment("lookahead", got, sizeof got), "refused") == 0,
           "a variable that does not fit is an error, as in every other place: lookahead is %s", got);
    unsetenv("HSUMMA_BCAST");
    setenv("HSUMMA_TUNED", "/a file \"of mine\"", 1);
    struct hs_texts texts;
    hs_options_default(&options, &texts);
    wrong = hs_options_environment(&options, NULL) != HSUMMA_OK || strcmp(texts.tuned, "/a file \"of mine\"") != 0;
    wrong += hs_options_apply(&options, "tuned=/other coll=bcast:flat block=8", HS_BY_PLAN, NULL) != HSUMMA_OK;
    wrong += strcmp(texts.tuned, "/a file \"of mine\"") != 0 || strcmp(texts.coll, "auto") != 0;
    tap_ok(wrong == 0, "texts are the context's, blanks and quotation marks included: %d wrong", wrong);
}

/* What can be written reads as the same value again. */
static void test_writing(void)
{
    static const char *const written[] = {"stationary", "block",  "segment",       "exchange",
                                          "node",       "chunk",  "scalapack",     "slice",
                                          "threads",    "device", "device_memory", "workspace_limit"};
    int wrong = 0, count = 0;
    for (int v = 0; v < VALUES; v++)
        for (unsigned i = 0; i < sizeof written / sizeof *written; i++) {
            struct hs_options options;
            char word[100], text[64], got[200] = "", again[200] = "";
            if (!values[v].sets || strcmp(values[v].name, written[i]) != 0)
                continue;
            hs_options_default(&options, NULL);
            snprintf(word, sizeof word, "%s=%s", written[i], values[v].text);
            wrong += hs_options_apply(&options, word, HS_BY_CONTEXT, NULL) != HSUMMA_OK;
            hs_option_write((enum hs_option)number_of(written[i]), &options.settings, text, sizeof text);
            show((enum hs_option)number_of(written[i]), &options.settings, got, sizeof got);
            wrong += set_one(written[i], text, HS_BY_CONTEXT, again, sizeof again, NULL) || strcmp(got, again) != 0;
            count++;
        }
    tap_ok(wrong == 0 && count > 40, "values written as text read as the same: %d, %d wrong", count, wrong);
}

/* A tuned file says how a product is done, and nothing else. */
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
    test_messages();
    test_precedence();
    test_hierarchy();
    test_listing();
    test_environment();
    test_writing();
    test_tuned();
    return tap_done();
}
