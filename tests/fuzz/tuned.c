/*
 * The tuned file: its three readers (products, rules of collectives, networks), and merging. A merged file is valid,
 * has the new line, and does not change if the line is merged again. Works in the current directory.
 */
#include "hsumma/tuned/tuned.h"
#include "fuzz/input.h"
#include "hsumma/network/network.h"

#include <time.h>

enum { LONGEST = 1 << 20 };

/* Merging sleeps for the sake of other processes; here are none. */
int nanosleep(const struct timespec *time, struct timespec *left)
{
    (void)time, (void)left;
    return 0;
}

static int put(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    int bad = !file || fputs(text, file) < 0;
    return (file && fclose(file)) || bad;
}

static char *get(const char *path)
{
    static char text[LONGEST];
    FILE *file = fopen(path, "r");
    size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
    REQUIRE(file && fclose(file) == 0);
    text[length] = 0;
    return text;
}

/* Whether all readers accept the text; then the products that it has. */
static int is_valid(const char *text, struct hs_tuned *tuned)
{
    struct hs_message message = {""};
    struct hs_rules rules = {0};
    hsumma_status status = hs_tuned_read(tuned, text, &hs_heap, &message);
    REQUIRE(status == HSUMMA_OK || (status == HSUMMA_ERR_OPTION && message.text[0]));
    hsumma_status other = hs_rules_read_tuned(&rules, text, &hs_heap, &message);
    REQUIRE(other == HSUMMA_OK || other == HSUMMA_ERR_OPTION);
    hs_rules_free(&rules, &hs_heap);
    return !status && !other;
}

static void check_networks(const char *text)
{
    struct hs_network network;
    struct hs_tuned_fields line;
    for (const char *at = text; *at; at = line.next) {
        uint64_t key, again;
        char written[1024];
        hs_tuned_split(at, &line);
        if (line.count == 0 || !hs_tuned_is(&line, 0, hs_tuned_network, strlen(hs_tuned_network)) ||
            !hs_network_read(&line, &key, &network))
            continue;
        REQUIRE(hs_network_recall(text, key, &network));
        int length = hs_network_write(key, &network, written, sizeof written);
        REQUIRE(length > 0 && (size_t)length < sizeof written);
        hs_tuned_split(written, &line);
        REQUIRE(hs_network_read(&line, &again, &network) && again == key);
        hs_tuned_split(at, &line);
    }
}

static void check_products(const struct hs_tuned *tuned)
{
    for (int i = 0; i < tuned->count; i++) {
        char line[HS_TUNED_LINE + HS_TUNED_KEY + 100];
        struct hs_tuned again = {0};
        const struct hs_tuned_entry *entry = hs_tuned_find(tuned, tuned->entry[i].key);
        REQUIRE(entry == &tuned->entry[i]);
        memcpy(line, "hsumma tuned 2\n", 15);
        int length = hs_tuned_write(entry, line + 15, sizeof line - 15);
        REQUIRE(length > 0 && (size_t)length < sizeof line - 15);
        REQUIRE(hs_tuned_read(&again, line, &hs_heap, NULL) == HSUMMA_OK && again.count == 1);
        REQUIRE(strcmp(again.entry->key, entry->key) == 0 && strcmp(again.entry->line, entry->line) == 0);
        hs_tuned_free(&again, &hs_heap);
    }
}

static void check_merge(const char *text)
{
    static const char *const lines[] = {"gemm fuzz 1 block=2", "bcast 4 1 * chain"};
    struct hs_message message = {""};
    struct hs_tuned tuned = {0};
    REQUIRE(put("tuned", text) == 0);
    hsumma_status status = hs_tuned_merge("tuned", lines, 2, &hs_heap, &message);
    if (status) {
        REQUIRE(status == HSUMMA_ERR_OPTION && message.text[0] && strcmp(get("tuned"), text) == 0);
        return;
    }
    char *merged = strdup(get("tuned"));
    REQUIRE(is_valid(merged, &tuned) && hs_tuned_find(&tuned, "fuzz") != NULL);
    REQUIRE(hs_tuned_merge("tuned", lines, 2, &hs_heap, &message) == HSUMMA_OK);
    REQUIRE(strcmp(get("tuned"), merged) == 0);
    hs_tuned_free(&tuned, &hs_heap);
    free(merged);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = input_text(data, size);
    struct hs_tuned tuned = {0};
    if (is_valid(text, &tuned))
        check_products(&tuned);
    hs_tuned_free(&tuned, &hs_heap);
    check_networks(text);
    if (size % 8 == 0) /* files take most of the time */
        check_merge(text);
    free(text);
    return 0;
}
