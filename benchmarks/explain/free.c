/* hsumma explain --free: the best P x Q x L grids for products whose layouts may be chosen, and the lower bound;
 * declared in command.h. */
#include <math.h>
#include <string.h>

#include "common/command.h"
#include "dist/bound.h"
#include "dist/layers.h"
#include "explain/command.h"

/* At most one process in 32 may stay idle, as in COSMA (SC19), if such a grid exists. */
enum { USED_OF = 32 };

/* The best grid with one layer, or with any number. */
typedef struct free_grid {
    char name[40];
    int64_t received, memory; /* most bytes that a process receives, and that it stores; -1: no grid fits */
    double ratio;             /* received bytes over the bound */
} free_grid;

typedef struct free_row {
    int64_t extent[3], ranks, bound;
    const char *limit; /* name of the limit that sets the bound */
    free_grid one, layered;
} free_row;

/* Reads items of `numbers` numbers each, such as "4x4x8,..." or "128,512,...". Returns their count, 0 if invalid. */
static int read_items(const char *text, int numbers, int64_t *items)
{
    int count = 0;

    for (;; text++, count++) {
        int64_t number[3] = {0, 0, 0};

        for (int i = 0; i < numbers; i++) {
            char word[32];
            size_t length = strcspn(text, i + 1 < numbers ? "xX" : ",");

            if (length == 0 || length >= sizeof word)
                return 0;
            memcpy(word, text, length);
            word[length] = 0;
            if (!parse_int64(word, &number[i]) || number[i] < 1)
                return 0;
            text += length;
            if (i + 1 < numbers && !*text++)
                return 0;
        }
        if (count == EXPLAIN_ITEMS)
            return 0;
        memcpy(items + count * numbers, number, (size_t)numbers * sizeof *items);
        if (!*text)
            return count + 1;
    }
}

int explain_read_free_ranks(const argument_given *given, void *at)
{
    explain_free_items *items = at;

    items->count = read_items(given->text, 1, items->number);
    for (int i = 0; i < items->count; i++)
        if (items->number[i] > INT32_MAX)
            return 0;
    return items->count > 0;
}

int explain_read_free_shapes(const argument_given *given, void *at)
{
    explain_free_items *items = at;

    items->count = read_items(given->text, 3, items->number);
    for (int i = 0; i < items->count * 3; i++)
        if (items->number[i] > 1 << 29) /* keeps a matrix to at most 2^58 elements */
            return 0;
    return items->count > 0;
}

static void fill_grid(free_grid *grid, const struct hs_layers *found, double bound, size_t size)
{
    *grid = (free_grid){.name = "none", .received = -1, .memory = -1, .ratio = NAN};
    if (found->extent[0] == 0)
        return;
    snprintf(grid->name, sizeof grid->name, "%d x %d x %d", found->extent[0], found->extent[1], found->extent[2]);
    grid->received = found->received * (int64_t)size;
    grid->memory = found->memory * (int64_t)size;
    if (bound > 0)
        grid->ratio = (double)found->received / bound;
}

static free_row row_of(const explain_arguments *args, const int64_t extent[3], int64_t ranks)
{
    size_t size = type_size(args->common.type);
    int64_t memory = args->memory / (int64_t)size;
    int processes = (int)ranks, least = processes - processes / USED_OF;
    double bound = hs_bound_elements(extent, (double)ranks, (double)memory);
    struct hs_layers one = hs_layers_choose(extent, processes, least, 1, memory);
    struct hs_layers any = hs_layers_choose(extent, processes, least, 0, memory);
    free_row row = {
        .extent = {extent[0], extent[1], extent[2]}, .ranks = ranks, .bound = (int64_t)(bound * (double)size)};

    row.limit = memory && bound > hs_bound_elements(extent, (double)ranks, 0) ? "memory" : "processes";
    fill_grid(&row.one, &one, bound, size);
    fill_grid(&row.layered, &any, bound, size);
    return row;
}

#define GRID(member, head, key)                                                                                   \
    {key "_grid", .kind = REPORT_CHARS, .at = offsetof(free_row, member.name), .title = head, .width = -14},      \
        {key "_bytes", REPORT_VALUE(free_row, member.received), REPORT_SHOWN("received", 9, 0), .style = 'b'},    \
        {key "_memory_bytes", REPORT_VALUE(free_row, member.memory), REPORT_SHOWN("memory", 9, 0), .style = 'b'}, \
    {                                                                                                             \
        key "_to_bound", REPORT_VALUE(free_row, member.ratio), REPORT_SHOWN("/ bound", 7, 3)                      \
    }
static const report_column columns[] = {
    {"m", REPORT_VALUE(free_row, extent[0]), REPORT_SHOWN("m", 9, 0)},
    {"n", REPORT_VALUE(free_row, extent[1]), REPORT_SHOWN("n", 9, 0)},
    {"k", REPORT_VALUE(free_row, extent[2]), REPORT_SHOWN("k", 9, 0)},
    {"ranks", REPORT_VALUE(free_row, ranks), REPORT_SHOWN("ranks", 7, 0)},
    {"bound_bytes", REPORT_VALUE(free_row, bound), REPORT_SHOWN("bound", 9, 0), .style = 'b'},
    {"bound_limited_by", REPORT_VALUE(free_row, limit), .title = "by", .width = -9},
    GRID(one, "one layer", "one_layer"),
    GRID(layered, "layers", "layers"),
    REPORT_END};

int explain_free(const explain_arguments *args, FILE *file)
{
    static const report_table table = {.columns = columns, .shown = REPORT_ALL};
    const int64_t own[3] = {args->common.m, args->common.n, args->common.k};
    int shapes = args->shapes.count ? args->shapes.count : 1;
    json_t *rows = json_array();

    if (args->common.format == REPORT_TABLE) {
        fprintf(file,
                "bytes that the busiest process receives, P x Q x L processes for m, n, k, %s; bound: Al Daas et al.,\n"
                "SPAA 2022%s (by: what sets it); memory: of its parts of A, B, C and its\n"
                "partial sums of C; at most one process in %d is idle\n\n",
                type_name(args->common.type), args->memory ? ", and for limited memory Kwasniewski et al., SC19" : "",
                USED_OF);
        report_table_head(&table, NULL, file);
    }
    for (int s = 0; s < shapes; s++)
        for (int i = 0; i < args->processes.count; i++) {
            free_row row =
                row_of(args, args->shapes.count ? &args->shapes.number[3 * s] : own, args->processes.number[i]);

            if (args->common.format == REPORT_TABLE)
                report_table_row(&table, &row, REPORT_ALL, NULL, file);
            else
                json_array_append_new(rows, report_object(columns, &row, REPORT_ALL));
        }
    if (args->common.format == REPORT_TABLE) {
        json_decref(rows);
        return !ferror(file);
    }
    return report_json(
        json_pack("{s:s,s:I,s:o}", "command", "explain", "memory_bytes", (json_int_t)args->memory, "free", rows), 0, 0,
        file);
}
