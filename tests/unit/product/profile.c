/* The profile's file: written values are read back bit for bit. Damaged files, and files of other programs and
 * versions, are refused with the line's number, and change nothing. */
#include "hsumma/cost/blas_kernels.h"
#include "support/random.h"
#include "support/tap.h"

#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXT = 8192 };
#define HOST "Some Processor; 8 cores; Some MPI 1.0; Some BLAS"

/* Permitted contents of a file, independent of the library's code. */
enum kind { SECONDS, SHARE, FLOP, WHOLE, SMALL };
static const struct field {
    const char *name;
    size_t offset;
    enum kind kind;
    int64_t least; /* least value of whole numbers */
} fields[] = {
#define FIELD(name, kind, least, member)                       \
    {                                                          \
        name, offsetof(struct hs_profile, member), kind, least \
    }
#define SECONDS_OF(name, member) FIELD(name, SECONDS, 0, member)
#define LINK(name, link)                                                                       \
    SECONDS_OF(name ".alpha_s", link.alpha), SECONDS_OF(name ".beta_s_per_byte", link.beta),   \
        SECONDS_OF(name ".gap_s", link.gap), FIELD(name ".eager_bytes", WHOLE, 0, link.eager), \
        SECONDS_OF(name ".rendezvous_alpha_s", link.alpha_long),                               \
        SECONDS_OF(name ".rendezvous_beta_s_per_byte", link.beta_long)
    LINK("network", machine.network),
    SECONDS_OF("network.overhead_s", machine.overhead),
    LINK("node", machine.node),
    LINK("socket", machine.socket),
    SECONDS_OF("exchange.alpha_s", exchange_alpha),
    SECONDS_OF("shm.alpha_s", machine.shm.alpha),
    SECONDS_OF("shm.beta_s_per_byte", machine.shm.beta),
    SECONDS_OF("read.alpha_s", machine.read.alpha),
    SECONDS_OF("read.beta_s_per_byte", machine.read.beta),
    SECONDS_OF("inject_s_per_byte", machine.inject),
    SECONDS_OF("offload.alpha_s", machine.offload.alpha),
    SECONDS_OF("offload.beta_s_per_byte", machine.offload.beta),
    SECONDS_OF("signal_s", machine.signal),
    SECONDS_OF("copy_s_per_byte", machine.copy),
    SECONDS_OF("gamma_s_per_byte", machine.gamma),
    FIELD("ports", SMALL, 0, machine.ports),
    SECONDS_OF("device.network.alpha_s", device_machine.network.alpha),
    SECONDS_OF("device.network.beta_s_per_byte", device_machine.network.beta),
    SECONDS_OF("device.node.alpha_s", device_machine.node.alpha),
    SECONDS_OF("device.node.beta_s_per_byte", device_machine.node.beta),
    SECONDS_OF("device.shm.alpha_s", device_machine.shm.alpha),
    SECONDS_OF("device.shm.beta_s_per_byte", device_machine.shm.beta),
    SECONDS_OF("device.inject_s_per_byte", device_machine.inject),
    SECONDS_OF("device.signal_s", device_machine.signal),
    SECONDS_OF("device.turn_s", device_machine.turn),
    SECONDS_OF("device.copy_s_per_byte", device_machine.copy),
    SECONDS_OF("device.gamma_s_per_byte", device_machine.gamma),
    FIELD("overlap", SHARE, 0, overlap),
    FIELD("pipelining", SHARE, 0, pipelining),
    FIELD("gemm.double.flop_s", FLOP, 0, gemm[0].flop),
    SECONDS_OF("gemm.double.c_s", gemm[0].c),
    SECONDS_OF("gemm.double.ab_s", gemm[0].ab),
    SECONDS_OF("gemm.double.call_s", gemm[0].call),
    FIELD("gemm.single.flop_s", FLOP, 0, gemm[1].flop),
    SECONDS_OF("gemm.single.c_s", gemm[1].c),
    SECONDS_OF("gemm.single.ab_s", gemm[1].ab),
    SECONDS_OF("gemm.single.call_s", gemm[1].call),
    FIELD("gemm.threads", SMALL, 1, threads),
    FIELD("gemm.knee", WHOLE, 1, knee),
    FIELD("gemm.slice", WHOLE, 1, slice),
};
enum { FIELDS = sizeof fields / sizeof *fields };

static size_t bytes_of(const struct field *field)
{
    return field->kind == SMALL ? sizeof(int) : 8;
}

static char *at(struct hs_profile *profile, const struct field *field)
{
    return (char *)profile + field->offset;
}

/* The number of fields whose bits differ. */
static int differ(struct hs_profile *a, struct hs_profile *b)
{
    int count = 0;
    for (int f = 0; f < FIELDS; f++)
        count += memcmp(at(a, &fields[f]), at(b, &fields[f]), bytes_of(&fields[f])) != 0;
    return count;
}

/* A profile of random doubles that use all bits. */
static struct hs_profile random_profile(void)
{
    struct hs_profile profile = hs_profile_builtin;
    for (int f = 0; f < FIELDS; f++) {
        double share = draw_fraction(), real = share;
        int64_t whole = fields[f].least + draw(100000000);
        int small = 1 + draw(64);
        if (fields[f].kind != SHARE)
            real = ldexp(share + 0.5, -draw(60));
        if (fields[f].kind < WHOLE)
            memcpy(at(&profile, &fields[f]), &real, sizeof real);
        else if (fields[f].kind == WHOLE)
            memcpy(at(&profile, &fields[f]), &whole, sizeof whole);
        else
            memcpy(at(&profile, &fields[f]), &small, sizeof small);
    }
    return profile;
}

/* Whether the text is read as the profile `want`; one_node and source, which are not in files, must stay unchanged. */
static int gives(const char *text, const char *host, struct hs_profile *want)
{
    struct hs_profile profile = random_profile();
    struct hs_message message = {""};
    profile.one_node = draw(2);
    snprintf(profile.source, sizeof profile.source, "%d", draw(100));
    struct hs_profile before = profile;
    if (hs_profile_read(text, host, &profile, &message)) {
        tap_diag("refused: %s", message.text);
        return 0;
    }
    return differ(&profile, want) == 0 && profile.one_node == before.one_node &&
           strcmp(profile.source, before.source) == 0;
}

/* Whether the text is refused with a message that names the line (0: any line) and contains `words`, and the profile is
 * unchanged. */
static int refused(const char *text, const char *host, int line, const char *words)
{
    struct hs_profile profile = random_profile(), before;
    struct hs_message message = {""};
    char number[32];
    memcpy(&before, &profile, sizeof profile);
    hsumma_status status = hs_profile_read(text, host, &profile, &message);
    snprintf(number, sizeof number, line ? "line %d, " : "line ", line);
    int good = status == HSUMMA_ERR_OPTION && strncmp(message.text, number, strlen(number)) == 0 &&
               strstr(message.text, words) && !memcmp(&profile, &before, sizeof profile);
    if (!good)
        tap_diag("status %d: %s; expected %s and \"%s\"", (int)status, message.text, number, words);
    return good;
}

static void test_round_trip(void)
{
    char text[TEXT];
    int wrong = 0, sizes = 0;
    for (int i = 0; i < 2000; i++) {
        struct hs_profile profile = i ? random_profile() : hs_profile_builtin;
        int length = hs_profile_write(&profile, i % 2 ? HOST : NULL, text, sizeof text);
        wrong += length <= 0 || (size_t)length != strlen(text) || !gives(text, HOST, &profile);
    }
    tap_ok(wrong == 0, "what is written is read again bit for bit: %d of 2000 wrong", wrong);
    struct hs_profile profile = random_profile();
    int length = hs_profile_write(&profile, HOST, text, sizeof text);
    wrong = 0;
    for (int size = 0; size <= length + 1; size++, sizes++) {
        char part[TEXT];
        memset(part, '@', sizeof part);
        wrong += hs_profile_write(&profile, HOST, part, (size_t)size) != length || part[size] != '@' ||
                 (size && (strlen(part) != (size_t)(size - 1) || memcmp(part, text, (size_t)(size - 1)) != 0));
    }
    wrong += hs_profile_write(&profile, HOST, NULL, 0) != length;
    tap_ok(wrong == 0, "into too little room as much as fits, and the length as if all did: %d sizes, %d wrong", sizes,
           wrong);
}

/* Reads and writes a profile in a locale with a decimal comma, if one is installed; the locale must not change. */
static void test_language(void)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8", "nl_NL.utf8"};
    char text[TEXT], plain[TEXT], number[16];
    struct hs_profile profile = random_profile();
    const char *set = NULL;
    hs_profile_write(&profile, HOST, plain, sizeof plain);
    for (unsigned i = 0; !set && i < sizeof names / sizeof *names; i++)
        set = setlocale(LC_NUMERIC, names[i]);
    if (!set) {
        tap_skip(1, "no locale with a decimal comma");
        return;
    }
    hs_profile_write(&profile, HOST, text, sizeof text);
    int good = strcmp(text, plain) == 0 && gives(text, HOST, &profile);
    snprintf(number, sizeof number, "%.1f", 0.5);
    good = good && strcmp(number, "0,5") == 0;
    setlocale(LC_NUMERIC, "C");
    tap_ok(good, "the same file in every language, and the language is left as it was");
}

static void test_by_hand(void)
{
    static const char text[] = "hsumma profile 1   # the version\r\n\n  # a comment\nhost " HOST "\t # here\n"
                               "\tnetwork.alpha_s  1e-5\nnode.eager_bytes 65536\nnode.rendezvous_alpha_s .5e-5\n"
                               "measured.pairs 1 2 3\nmeasured.pairs 1 2 3\nnode.rendezvous_beta_s_per_byte 2E-10\n"
                               "overlap 1\ngemm.threads 4\ngemm.knee 128\nend  # of it\n";
    struct hs_profile want = hs_profile_builtin;
    want.machine.network.alpha = 1e-5;
    want.machine.node.eager = 65536;
    want.machine.node.alpha_long = 5e-6;
    want.machine.node.beta_long = 2e-10;
    want.overlap = 1;
    want.threads = 4;
    want.knee = 128;
    tap_ok(gives(text, HOST, &want), "comments, blanks and tables for people; what is not said is built in");
    tap_ok(gives(text, NULL, &want) && refused(text, "Another; 8 cores", 4, "expected \"Another; 8 cores\""),
           "another machine's is refused, unless any will do");
    struct hs_profile builtin = hs_profile_builtin;
    tap_ok(gives("hsumma profile 1\nend\n", HOST, &builtin), "a file that says nothing is the built-in profile");
}

/* Finds line i of the text: sets *begin to its offset, and returns its length with the newline, 0 if there is none. */
static size_t line_of(const char *text, int i, size_t *begin)
{
    for (*begin = 0; i > 0 && text[*begin]; i--)
        *begin += strcspn(text + *begin, "\n") + 1;
    return text[*begin] ? strcspn(text + *begin, "\n") + 1 : 0;
}

static void test_cuts(void)
{
    char text[TEXT], part[TEXT];
    struct hs_profile profile = random_profile();
    int length = hs_profile_write(&profile, HOST, text, sizeof text), wrong = 0;
    for (int i = 0; i < length; i++) {
        int lines = 1;
        memcpy(part, text, (size_t)i);
        part[i] = 0;
        for (int c = 0; c < i; c++)
            lines += part[c] == '\n';
        wrong += !refused(part, HOST, lines, "the file ends here");
    }
    tap_ok(wrong == 0 && length > 1000, "cut after any of %d bytes: %d not refused", length, wrong);
    wrong = 0;
    for (int i = 0; i < length; i++) {
        memcpy(part, text, (size_t)length + 1);
        part[i] = '@';
        wrong += !refused(part, HOST, 0, "expected");
        part[i] = '\n';
        wrong += text[i] != ' ' && text[i] != '\n' && text[i + 1] != '\n' && !refused(part, HOST, 0, "");
    }
    tap_ok(wrong == 0, "any byte lost to @, or to a newline where that is seen: %d not refused", wrong);
}

static void test_lines(void)
{
    char text[TEXT], other[TEXT];
    struct hs_profile profile = random_profile();
    int removed = 0, doubled = 0, lines = 0;
    hs_profile_write(&profile, HOST, text, sizeof text);
    size_t begin, length;
    for (; (length = line_of(text, lines, &begin)) > 0; lines++) {
        const char *line = text + begin;
        const struct field *field = NULL;
        for (int f = 0; f < FIELDS; f++)
            if (strncmp(line, fields[f].name, strlen(fields[f].name)) == 0 && line[strlen(fields[f].name)] == ' ')
                field = &fields[f];
        snprintf(other, sizeof other, "%.*s%s", (int)begin, text, line + length);
        struct hs_profile want = profile, builtin = hs_profile_builtin;
        if (field)
            memcpy(at(&want, field), at(&builtin, field), bytes_of(field));
        if (field && strstr(field->name, "rendezvous"))
            removed += !refused(other, HOST, 0, field->name);
        else if (field || strncmp(line, "host ", 5) == 0)
            removed += !gives(other, HOST, &want);
        else
            removed += !refused(other, HOST, 0, begin ? "the file ends here" : "expected \"hsumma profile 1\"");
        snprintf(other, sizeof other, "%.*s%.*s%s", (int)begin, text, (int)length, line, line);
        char words[40];
        snprintf(words, sizeof words, "already given on line %d", lines + 1);
        doubled += !refused(other, HOST, lines + 2,
                            !begin                           ? "unknown name"
                            : strncmp(line, "end\n", 4) == 0 ? "nothing after"
                                                             : words);
    }
    tap_ok(lines == FIELDS + 3 && removed == 0, "each of %d lines removed: its built-in value, or refused; %d wrong",
           lines, removed);
    tap_ok(doubled == 0, "each line twice: %d not refused", doubled);
}

/* The text of a file with one name and value; with an eager limit also the values that it requires. */
static const char *one(const char *name, const char *value)
{
    static char text[512];
    const char *eager = strstr(name, ".eager_bytes");
    int used = snprintf(text, sizeof text, "hsumma profile 1\n%s %s\n", name, value);
    if (eager)
        used += snprintf(text + used, sizeof text - (size_t)used,
                         "%.*s.rendezvous_alpha_s 0\n%.*s.rendezvous_beta_s_per_byte 0\n", (int)(eager - name), name,
                         (int)(eager - name), name);
    snprintf(text + used, sizeof text - (size_t)used, "end\n");
    return text;
}

static void test_ranges(void)
{
    static const char *const never[] = {"nan", "inf", "-inf", "0x1p-3", "1e999", "1,5", "1 2",
                                        "-1",  "1e",  "e1",   "--1",    "one",   "1s",  "1e-6x"};
    int wrong = 0, tried = 0;
    for (int f = 0; f < FIELDS; f++) {
        const struct field *field = &fields[f];
        char value[64];
        for (unsigned i = 0; i < sizeof never / sizeof *never; i++, tried++)
            wrong += !refused(one(field->name, never[i]), HOST, 2, "number from");
        struct hs_profile want = hs_profile_builtin;
        if (field->kind >= WHOLE) {
            int64_t least = field->least;
            int small = (int)least;
            memcpy(at(&want, field), field->kind == WHOLE ? (void *)&least : (void *)&small, bytes_of(field));
            snprintf(value, sizeof value, "%" PRId64, least);
            wrong += !gives(one(field->name, value), HOST, &want);
            snprintf(value, sizeof value, "%" PRId64, least - 1);
            wrong += !refused(one(field->name, value), HOST, 2, "whole number from");
            wrong += !refused(one(field->name, "1.5"), HOST, 2, "whole number from");
            wrong += !refused(one(field->name, "99999999999999999999"), HOST, 2, "whole number from");
            continue;
        }
        double real = 0.75, zero = 0;
        memcpy(at(&want, field), &real, sizeof real);
        wrong += !gives(one(field->name, "0.75"), HOST, &want);
        memcpy(at(&want, field), &zero, sizeof zero);
        wrong += field->kind == FLOP ? !refused(one(field->name, "0"), HOST, 2, "number from")
                                     : !gives(one(field->name, "0"), HOST, &want);
        wrong += !refused(one(field->name, field->kind == SHARE ? "1.0000001" : "1e7"), HOST, 2, "number from");
    }
    tap_ok(wrong == 0, "numbers that are none or out of range: %d tried, %d wrong", tried, wrong);
}

static void test_damage(void)
{
    static const struct {
        const char *text;
        int line;
        const char *words;
    } bad[] = {
        {"", 1, "the file ends here"},
        {"\n", 1, "expected \"hsumma profile 1\""},
        {"end\n", 1, "expected \"hsumma profile 1\""},
        {"hsumma profile\nend\n", 1, "expected \"hsumma profile 1\""},
        {"hsumma profile \nend\n", 1, "expected \"hsumma profile 1\""},
        {"hsumma profile 1.0\nend\n", 1, "expected \"hsumma profile 1\""},
        {"hsumma profile 01\nend\n", 1, "expected \"hsumma profile 1\""},
        {"hsumma tuned 1\nend\n", 1, "expected \"hsumma profile 1\""},
        {"hsumma profile 0\nend\n", 1, "older"},
        {"hsumma profile 2\nend\n", 1, "later"},
        {"hsumma profile 12345678901234567890\nend\n", 1, "later"},
        {"\nhsumma profile 1\nend\n", 1, "expected \"hsumma profile 1\""},
        {"hsumma profile 1\nend\n\n", 3, "nothing after"},
        {"hsumma profile 1\nend\ngemm.knee 3\n", 3, "nothing after"},
        {"hsumma profile 1\nend\nend\n", 3, "nothing after"},
        {"hsumma profile 1\nend", 2, "the file ends here"},
        {"hsumma profile 1\nend it\n", 2, "unknown name"},
        {"hsumma profile 1\ngemm.knee\nend\n", 2, "expected NAME VALUE"},
        {"hsumma profile 1\ngemm.knee # 3\nend\n", 2, "expected NAME VALUE"},
        {"hsumma profile 1\nhost\nend\n", 2, "expected NAME VALUE"},
        {"hsumma profile 1\nmeasured.rate\nend\n", 2, "expected NAME VALUE"},
        {"hsumma profile 1\nmeasured. 3\nend\n", 2, "unknown name"},
        {"hsumma profile 1\n\ngemm.double 3\nend\n", 3, "unknown name"},
        {"hsumma profile 1\ngemm.knees 3\nend\n", 2, "unknown name"},
        {"hsumma profile 1\nexchange.beta_s_per_byte 1e-9\nend\n", 2, "unknown name"},
        {"hsumma profile 1\nnode.eager_bytes 8\nend\n", 3, "node.rendezvous_alpha_s"},
        {"hsumma profile 1\nnode.eager_bytes 8\nnode.rendezvous_alpha_s 1e-6\nend\n", 4, "node.rendezvous_beta_s"},
    };
    int wrong = 0, cases = sizeof bad / sizeof *bad;
    for (int i = 0; i < cases; i++)
        wrong += !refused(bad[i].text, HOST, bad[i].line, bad[i].words);
    tap_ok(wrong == 0, "texts that are no profile: %d cases, %d wrong", cases, wrong);
}

static void test_signature(void)
{
    char mine[HS_HOST_TEXT], again[HS_HOST_TEXT], text[TEXT], cores[32];
    struct hs_profile profile = random_profile();
    memset(mine, '@', sizeof mine);
    hs_host_signature(mine);
    hs_host_signature(again);
    snprintf(cores, sizeof cores, "; %ld cores; ", sysconf(_SC_NPROCESSORS_ONLN));
    const char *middle = strstr(mine, cores);
    int good = strcmp(mine, again) == 0 && strlen(mine) < HS_HOST_TEXT - 1 && !strpbrk(mine, "#\n\r\t") &&
               !strstr(mine, "  ") && middle > mine && strstr(middle, "MPI");
    hs_profile_write(&profile, mine, text, sizeof text);
    tap_ok(good && gives(text, mine, &profile), "this machine: %s", mine);
    tap_ok(refused(text, HOST, 2, HOST), "which is no other one");
}

/* The built-in profile follows the BLAS's kernels; measured ones do not, but for what the file does not have. */
static void test_kernels(void)
{
    struct hs_blas_kernels avx512 = {"SkylakeX", HS_VECTORS_AVX512, 1}, avx2 = {"zen", HS_VECTORS_AVX2, 0};
    struct hs_blas_kernels sse = {"Prescott", HS_VECTORS_SSE, 0}, avx = {"Bulldozer", HS_VECTORS_AVX, 0};
    struct hs_blas_kernels none = {.name = ""}, *kernels[] = {&avx512, &avx2, &none, &avx, &sse};
    const double slower[] = {1, 1, 1, 2, 4};
    int wrong = 0, measured = 0;
    for (int i = 0; i < 5; i++) {
        struct hs_profile profile = hs_profile_builtin, file = random_profile();
        double rate = file.gemm[0].flop;
        hs_profile_adapt(&profile, kernels[i], 3);
        strcpy(file.source, "a file");
        hs_profile_adapt(&file, kernels[i], 3);
        for (int j = 0; j < 2; j++)
            wrong += profile.gemm[j].flop != slower[i] * hs_profile_builtin.gemm[j].flop;
        wrong += (profile.unpacked > 0) != (i == 0) || (slower[i] > 1) != (strstr(profile.source, "kernels") != NULL);
        wrong += profile.crowded != 3;
        measured += file.crowded || file.gemm[0].flop != rate || strcmp(file.source, "a file") != 0 ||
                    (file.unpacked > 0) != (i == 0);
    }
    tap_ok(!wrong, "the built-in rate is that of the BLAS's kernels, and its source says so: %d do not", wrong);
    tap_ok(!measured, "a file's rate stays: %d do not", measured);
}

int main(void)
{
    test_kernels();
    test_round_trip();
    test_language();
    test_by_hand();
    test_cuts();
    test_lines();
    test_ranges();
    test_damage();
    test_signature();
    return tap_done();
}
