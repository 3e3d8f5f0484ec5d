#include "hsumma/tuned/tuned.h"

#include "base/options.h"
#include "base/plain_numbers.h"
#include "coll/select/select.h"
#include "hsumma/network/network.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int is_seconds(double seconds)
{
    return isfinite(seconds) && seconds >= 0;
}

static int read_seconds(const char *text, size_t size, double *seconds)
{
    char *end;
    if (strspn(text, "0123456789.eE+-") < size)
        return 0;
    *seconds = strtod(text, &end);
    return end == text + size && is_seconds(*seconds);
}

static int is_key(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)text[i] <= ' ' || text[i] == '#' || text[i] == 127)
            return 0;
    return size > 0 && size < HS_TUNED_KEY;
}

/* Checks that a line has at least one option, and only known options. */
static hsumma_status check_options(const char *text, struct hs_message *message)
{
    struct hs_options scratch;
    size_t size = strlen(text);
    if (size >= HS_TUNED_LINE || text[strspn(text, " \t")] == 0 || text[strcspn(text, "#\r\n")])
        return hs_fail(message, HSUMMA_ERR_OPTION, "\"%.80s\": expected NAME=VALUE ... of fewer than %d characters",
                       text, (int)HS_TUNED_LINE);
    hs_options_default(&scratch, NULL);
    return hs_options_apply(&scratch, text, HS_BY_TUNED, message);
}

static int compare_key(const void *key, const void *entry)
{
    return strcmp(key, ((const struct hs_tuned_entry *)entry)->key);
}

/* Orders entries by key, and entries of one key by their place in memory, so that the later entry comes last. */
static int compare_place(const void *first, const void *second)
{
    const struct hs_tuned_entry *a = *(struct hs_tuned_entry *const *)first;
    const struct hs_tuned_entry *b = *(struct hs_tuned_entry *const *)second;
    int order = strcmp(a->key, b->key);
    return order ? order : (a > b) - (a < b);
}

/* Sorts the entries by key, and keeps the last entry of each key. */
static hsumma_status sort(struct hs_tuned *tuned, const struct hs_allocator *memory)
{
    size_t count = (size_t)tuned->count;
    if (count < 2)
        return HSUMMA_OK;
    struct hs_tuned_entry **place = hs_get(memory, count, sizeof *place), *sorted = NULL;
    if (place)
        sorted = hs_get(memory, count, sizeof *sorted);
    if (sorted) {
        for (size_t i = 0; i < count; i++)
            place[i] = &tuned->entry[i];
        qsort(place, count, sizeof *place, compare_place);
        tuned->count = 0;
        for (size_t i = 0; i < count; i++)
            if (i + 1 == count || strcmp(place[i]->key, place[i + 1]->key) != 0)
                sorted[tuned->count++] = *place[i];
        hs_put(memory, tuned->entry);
        tuned->entry = sorted;
        tuned->capacity = count;
    }
    hs_put(memory, place);
    return sorted ? HSUMMA_OK : HSUMMA_ERR_MEMORY;
}

hsumma_status hs_tuned_reserve(struct hs_tuned *tuned, int more, const struct hs_allocator *memory)
{
    void *array = tuned->entry;
    if (hs_grow(memory, &array, sizeof *tuned->entry, &tuned->capacity, (size_t)tuned->count + (size_t)more))
        return HSUMMA_ERR_MEMORY;
    tuned->entry = array;
    return HSUMMA_OK;
}

/* Reads a line "gemm KEY SECONDS OPTION ..." into an entry. */
static hsumma_status read_line(struct hs_tuned_entry *entry, const struct hs_tuned_fields *line, int number,
                               struct hs_message *message)
{
    const char *options = line->text[3];
    if (line->count < 4 || !is_key(line->text[1], line->size[1]) ||
        !read_seconds(line->text[2], line->size[2], &entry->seconds) || line->end - options >= HS_TUNED_LINE) {
        size_t length = (size_t)(line->end - line->text[0]);
        return hs_fail(message, HSUMMA_ERR_OPTION,
                       "tuned: line %d, \"%.*s\": expected gemm KEY SECONDS NAME=VALUE ... with a key of fewer than %d "
                       "characters and options of fewer than %d",
                       number, (int)(length < 80 ? length : 80), line->text[0], (int)HS_TUNED_KEY, (int)HS_TUNED_LINE);
    }
    snprintf(entry->key, sizeof entry->key, "%.*s", (int)line->size[1], line->text[1]);
    snprintf(entry->line, sizeof entry->line, "%.*s", (int)(line->end - options), options);
    struct hs_message why;
    hsumma_status status = check_options(entry->line, &why);
    return status ? hs_fail(message, status, "tuned: line %d: %s", number, why.text) : HSUMMA_OK;
}

/* Checks a line "network KEY NAME=VALUE ...".  It is not stored: hs_network_recall reads it from the text. */
static hsumma_status check_network(const struct hs_tuned_fields *line, int number, struct hs_message *message)
{
    struct hs_network network;
    uint64_t key;
    size_t length = (size_t)(line->end - line->text[0]);
    return hs_network_read(line, &key, &network)
               ? HSUMMA_OK
               : hs_fail(
                     message, HSUMMA_ERR_OPTION,
                     "tuned: line %d, \"%.*s\": expected network KEY eager=BYTES alpha=S ... as the library writes it",
                     number, (int)(length < 80 ? length : 80), line->text[0]);
}

static hsumma_status read_lines(struct hs_tuned *tuned, const char *text, const struct hs_allocator *memory,
                                struct hs_message *message)
{
    hsumma_status status = HSUMMA_OK;
    struct hs_tuned_fields line;
    for (int number = 1; !status && *text; text = line.next, number++) {
        hs_tuned_split(text, &line);
        if (hs_tuned_is(&line, 0, hs_tuned_network, strlen(hs_tuned_network)))
            status = check_network(&line, number, message);
        if (!hs_tuned_is(&line, 0, hs_tuned_gemm, strlen(hs_tuned_gemm)))
            continue;
        status = hs_tuned_reserve(tuned, 1, memory);
        if (!status)
            status = read_line(&tuned->entry[tuned->count], &line, number, message);
        tuned->count += !status;
    }
    return status ? status : sort(tuned, memory);
}

hsumma_status hs_tuned_read(struct hs_tuned *tuned, const char *text, const struct hs_allocator *memory,
                            struct hs_message *message)
{
    int before = tuned->count;
    hsumma_status status = hs_tuned_check_head(text, message);
    if (status)
        return status;
    struct hs_plain_numbers numbers = hs_plain_numbers_begin();
    status = read_lines(tuned, text, memory, message);
    hs_plain_numbers_end(numbers);
    if (status)
        tuned->count = before;
    return status == HSUMMA_ERR_MEMORY ? hs_fail(message, status, "tuned: no memory for the products") : status;
}

void hs_tuned_free(struct hs_tuned *tuned, const struct hs_allocator *memory)
{
    hs_put(memory, tuned->entry);
    *tuned = (struct hs_tuned){0};
}

const struct hs_tuned_entry *hs_tuned_find(const struct hs_tuned *tuned, const char *key)
{
    return tuned->count ? bsearch(key, tuned->entry, (size_t)tuned->count, sizeof *tuned->entry, compare_key) : NULL;
}

hsumma_status hs_tuned_put(struct hs_tuned *tuned, const char *key, double seconds, const char *line,
                           const struct hs_allocator *memory)
{
    if (!is_key(key, strlen(key)) || !is_seconds(seconds) || check_options(line, NULL))
        return HSUMMA_ERR_OPTION;
    /* a copy, because key and line may point into the array that hs_tuned_reserve moves */
    struct hs_tuned_entry entry = {.seconds = seconds};
    snprintf(entry.key, sizeof entry.key, "%s", key);
    snprintf(entry.line, sizeof entry.line, "%s", line);
    if (hs_tuned_reserve(tuned, 1, memory))
        return HSUMMA_ERR_MEMORY;
    int at = 0, end = tuned->count;
    while (at < end) {
        int middle = at + (end - at) / 2;
        if (strcmp(tuned->entry[middle].key, entry.key) < 0)
            at = middle + 1;
        else
            end = middle;
    }
    struct hs_tuned_entry *place = &tuned->entry[at];
    if (at == tuned->count || strcmp(place->key, entry.key) != 0)
        memmove(place + 1, place, sizeof *place * (size_t)(tuned->count++ - at));
    *place = entry;
    return HSUMMA_OK;
}

int hs_tuned_write(const struct hs_tuned_entry *entry, char *text, size_t size)
{
    struct hs_plain_numbers numbers = hs_plain_numbers_begin();
    int length = snprintf(text, size, "%s %s %.9g %s", hs_tuned_gemm, entry->key, entry->seconds, entry->line);
    hs_plain_numbers_end(numbers);
    return length;
}
