/* The text of tuned files: lines that are read, found, written and refused; the path of the file; without MPI. */
#include "hsumma/tuned/tuned.h"
#include "support/tap.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HEAD "hsumma tuned 2\n"

static void test_read(void)
{
    static const char text[] = HEAD "# comment\n\nbcast 8 2 0-64k chain\ngemm k2 0.5 block=64 lookahead=1\r\n"
                                    "gemm\tk1  1e-3\tstationary=A   block=32 # here as well\ngemm k2 2 block=128";
    struct hs_tuned tuned = {0};
    struct hs_message message = {""};
    int wrong = hs_tuned_find(&tuned, "k1") || hs_tuned_read(&tuned, text, &hs_heap, &message) || tuned.count != 2;
    const struct hs_tuned_entry *one = hs_tuned_find(&tuned, "k1"), *two = hs_tuned_find(&tuned, "k2");
    wrong += !one || one->seconds != 1e-3 || strcmp(one->line, "stationary=A   block=32") != 0;
    wrong += !two || two->seconds != 2 || strcmp(two->line, "block=128") != 0 || hs_tuned_find(&tuned, "k");
    wrong +=
        hs_tuned_read(&tuned, HEAD "gemm k1 3 block=1\ngemm k0 3 block=2\n", &hs_heap, &message) || tuned.count != 3;
    one = hs_tuned_find(&tuned, "k1");
    wrong += !one || one->seconds != 3 || !hs_tuned_find(&tuned, "k0") || !hs_tuned_find(&tuned, "k2");
    wrong += hs_tuned_read(&tuned, HEAD "gemm a 1 block=2\ngemm", &hs_heap, NULL) == HSUMMA_OK || tuned.count != 3 ||
             hs_tuned_find(&tuned, "a") || !hs_tuned_find(&tuned, "k1");
    hs_tuned_free(&tuned, &hs_heap);
    tap_ok(wrong == 0, "products are read, the later ones count, and none of a text with a fault: %d wrong %s", wrong,
           message.text);
}

static void test_damage(void)
{
    static char key[HS_TUNED_KEY + 40], options[HS_TUNED_LINE + 60];
    snprintf(key, sizeof key, HEAD "gemm %0*d 1 block=2", (int)HS_TUNED_KEY, 7);
    snprintf(options, sizeof options, HEAD "gemm key 1 block=%0*d", (int)HS_TUNED_LINE - 6, 7);
    const struct {
        const char *text, *says;
    } bad[] = {
        {"", "the first line is \"\""},
        {"hsumma profile 1\n", "the first line is \"hsumma profile 1\""},
        {"hsumma tuned\n", "expected \"hsumma tuned 2\""},
        {"hsumma tuned x\n", "expected \"hsumma tuned 2\""},
        {"hsumma tuned 2 \n", "expected \"hsumma tuned 2\""},
        {"hsumma tuned 2\rgemm k 1 block=2", "expected \"hsumma tuned 2\""},
        {"hsumma tuned 0\n", "version 0; this library reads version 2"},
        {"hsumma tuned 1\nbcast 8 2 * chain\n", "version 1; this library reads version 2"},
        {"hsumma tuned 3\ngemm k 1 block=2 # in one line\n", "version 3; this library reads version 2"},
        {HEAD "\n\ngemm", "line 4, \"gemm\""},
        {HEAD "gemm k", "line 2"},
        {HEAD "gemm k 1", "line 2"},
        {HEAD "gemm k block=2", "line 2"},
        {HEAD "gemm k -1 block=2", "line 2"},
        {HEAD "gemm k nan block=2", "line 2"},
        {HEAD "gemm k inf block=2", "line 2"},
        {HEAD "gemm k 1e999 block=2", "line 2"},
        {HEAD "gemm k 0x1 block=2", "line 2"},
        {HEAD "gemm k 1,5 block=2", "line 2"},
        {HEAD "gemm k 1s block=2", "line 2"},
        {HEAD "gemm k 1 # block=2", "line 2"},
        {HEAD "gemm k 1 block", "line 2: tuned file: \"block\" has no value; expected name=value"},
        {HEAD "gemm k 1 block=2 blocks=3", "unknown option \"blocks\"; did you mean block?"},
        {HEAD "gemm k 1 block=0", "block is \"0\""},
        {HEAD "gemm k\1y 1 block=2", "line 2"},
        {key, "key of fewer than 224"},
        {options, "options of fewer than 1280"},
    };
    int wrong = 0;
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct hs_tuned tuned = {0};
        struct hs_message message = {""};
        int right = hs_tuned_read(&tuned, bad[i].text, &hs_heap, &message) == HSUMMA_ERR_OPTION && tuned.count == 0 &&
                    strncmp(message.text, "tuned: ", 7) == 0 && strstr(message.text, bad[i].says);
        if (!right)
            tap_diag("%u: %s", i, message.text);
        wrong += !right;
        hs_tuned_free(&tuned, &hs_heap);
    }
    tap_ok(wrong == 0, "%zu kinds of damage are refused by name: %d wrong", sizeof bad / sizeof *bad, wrong);
}

/* Adds and replaces thousands of products, and compares with an array indexed by number. */
static void test_put(void)
{
    enum { KEYS = 5000, ROUNDS = 12000 };
    static double expected[KEYS];
    struct hs_tuned tuned = {0};
    char key[32], line[64];
    int wrong = 0, count = 0;
    for (int i = 0; i < ROUNDS; i++) {
        int at = (int)((uint64_t)i * 2654435761u % 1000003u % KEYS);
        snprintf(key, sizeof key, "%d,k", at);
        snprintf(line, sizeof line, "block=%d", i + 1);
        count += expected[at] == 0;
        expected[at] = i + 1;
        wrong += hs_tuned_put(&tuned, key, expected[at], line, &hs_heap) != HSUMMA_OK;
    }
    for (int at = 0; at < KEYS; at++) {
        snprintf(key, sizeof key, "%d,k", at);
        const struct hs_tuned_entry *entry = hs_tuned_find(&tuned, key);
        snprintf(line, sizeof line, "block=%.0f", expected[at]);
        wrong +=
            expected[at] == 0 ? entry != NULL : !entry || entry->seconds != expected[at] || strcmp(entry->line, line);
    }
    const struct hs_tuned_entry *own = &tuned.entry[0]; /* points into the array, which moves when it grows */
    snprintf(key, sizeof key, "%.31s", own->key);
    wrong +=
        hs_tuned_put(&tuned, "!", 1, own->line, &hs_heap) || hs_tuned_put(&tuned, own->key, 1, "block=1", &hs_heap);
    wrong += !hs_tuned_find(&tuned, key) || hs_tuned_find(&tuned, "!")->seconds != 1;
    tap_ok(wrong == 0 && tuned.count == count + 1, "%d products found: %d wrong", count, wrong);

    static char length[HS_TUNED_LINE + 8];
    snprintf(length, sizeof length, "block=%0*d", (int)HS_TUNED_LINE - 6, 7);
    const char *const keys[] = {"", "a b", "a#", "a\nb"}, *const lines[] = {"",    " ",         "block=1\n",
                                                                            "x=1", "block=2 #", length};
    const double seconds[] = {-1, NAN, INFINITY};
    wrong = 0;
    for (int i = 0; i < 4; i++)
        wrong += hs_tuned_put(&tuned, keys[i], 1, "block=1", &hs_heap) != HSUMMA_ERR_OPTION;
    for (int i = 0; i < 6; i++)
        wrong += hs_tuned_put(&tuned, "new", 1, lines[i], &hs_heap) != HSUMMA_ERR_OPTION;
    for (int i = 0; i < 3; i++)
        wrong += hs_tuned_put(&tuned, "new", seconds[i], "block=1", &hs_heap) != HSUMMA_ERR_OPTION;
    tap_ok(wrong == 0 && tuned.count == count + 1, "what no file may say is not put: %d wrong", wrong);
    hs_tuned_free(&tuned, &hs_heap);
}

static int round_trip(void)
{
    const double seconds[] = {0, 1e-9, 0.00123456789, 0.5, 1e300};
    int wrong = 0;
    for (int i = 0; i < 5; i++) {
        struct hs_tuned tuned = {0};
        struct hs_tuned_entry entry = {
            .key = "d:NN:1x2", .seconds = seconds[i], .line = "block=2 workspace_limit=12.5%"};
        char line[1000], text[1100], little[8];
        int length = hs_tuned_write(&entry, line, sizeof line);
        wrong += length != (int)strlen(line) || hs_tuned_write(&entry, little, sizeof little) != length;
        snprintf(text, sizeof text, HEAD "%s\n", line);
        const struct hs_tuned_entry *got =
            hs_tuned_read(&tuned, text, &hs_heap, NULL) ? NULL : hs_tuned_find(&tuned, entry.key);
        wrong += !got || fabs(got->seconds - seconds[i]) > 1e-8 * seconds[i] || strcmp(got->line, entry.line) != 0;
        hs_tuned_free(&tuned, &hs_heap);
    }
    return wrong;
}

static void test_write(void)
{
    static const char *const commas[] = {"de_DE.UTF-8", "de_DE.utf8", "de_DE",
                                         "fr_FR.UTF-8", "fr_FR.utf8", "nl_NL.UTF-8"};
    int wrong = round_trip(), found = 0;
    tap_ok(wrong == 0, "lines are read as they were written: %d wrong", wrong);
    for (unsigned i = 0; !found && i < sizeof commas / sizeof *commas; i++)
        found = setlocale(LC_ALL, commas[i]) != NULL;
    if (found) {
        wrong = round_trip();
        tap_ok(wrong == 0 && strtod("0,5", NULL) == 0.5, "also where numbers have a comma: %d wrong", wrong);
    } else
        tap_skip(1, "no locale with a decimal comma is installed");
    setlocale(LC_ALL, "C");
}

static void test_config_path(void)
{
    static const struct {
        const char *xdg, *home, *path;
    } cases[] = {
        {"/x", "/home/me", "/x/hsumma/tuned"},
        {"/x", NULL, "/x/hsumma/tuned"},
        {NULL, "/home/me", "/home/me/.config/hsumma/tuned"},
        {"", "/home/me", "/home/me/.config/hsumma/tuned"},
        {"x/y", "/home/me", "/home/me/.config/hsumma/tuned"},
        {"x/y", NULL, NULL},
        {NULL, "", NULL},
        {NULL, NULL, NULL},
    };
    int wrong = 0;
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[64] = "", little[4];
        unsetenv("XDG_CONFIG_HOME"), unsetenv("HOME");
        if (cases[i].xdg)
            setenv("XDG_CONFIG_HOME", cases[i].xdg, 1);
        if (cases[i].home)
            setenv("HOME", cases[i].home, 1);
        int length = hs_config_path("tuned", path, sizeof path), want = cases[i].path ? (int)strlen(cases[i].path) : -1;
        wrong += length != want || hs_config_path("tuned", little, sizeof little) != want ||
                 (cases[i].path && strcmp(path, cases[i].path) != 0);
    }
    tap_ok(wrong == 0, "the place of the files by the environment: %d wrong", wrong);
}

int main(void)
{
    test_read();
    test_damage();
    test_put();
    test_write();
    test_config_path();
    return tap_done();
}
