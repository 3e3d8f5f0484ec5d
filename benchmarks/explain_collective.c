/* One collective, by its step lists; declared in explain.h. */
#include <string.h>

#include "coll/clock.h"
#include "coll/dump.h"
#include "coll/lists.h"
#include "explain.h"
#include "report.h"

/* The rounds of all ranks, or -1 if that fails. */
static int count_rounds(const struct hs_alg *alg, const struct hs_shape *shape)
{
    struct hs_lists lists;
    int *round, last = 0;

    if (hs_lists_build(alg, shape, &hs_heap, &lists))
        return -1;
    round = hs_get(&hs_heap, (size_t)lists.steps + 1, sizeof *round);
    if (!round || hs_lists_rounds(&lists, &hs_heap, round))
        last = -1;
    for (int g = 0; last >= 0 && g < lists.steps; g++)
        last = round[g] > last ? round[g] : last;
    hs_put(&hs_heap, round);
    hs_lists_free(&hs_heap, &lists);
    return last;
}

/* One line of numbers. */
static hsumma_status print_costs(FILE *file, const struct hs_alg *alg, const struct hs_shape *shape,
                                 const hsumma_context *ctx)
{
    struct hs_clock_report report;
    const char *unit;
    double scale;
    hsumma_status status = hs_clock(alg, shape, &ctx->profile.machine, &hs_heap, &report);

    if (status)
        return status;
    scale = report_time_unit(report.seconds, &unit);
    fprintf(file, "%-20s %6d %9lld %9lld %12lld  %10.4g %s\n", alg->name, count_rounds(alg, shape),
            (long long)report.messages, (long long)report.messages_rank_max, (long long)report.bytes_rank_max,
            report.seconds * scale, unit);
    return HSUMMA_OK;
}

static void print_heading(FILE *file)
{
    fprintf(file, "%-20s %6s %9s %9s %12s  %10s\n", "algorithm", "rounds", "messages", "most by", "most bytes",
            "predicted");
    fprintf(file, "%-20s %6s %9s %9s %12s\n", "", "", "", "a process", "by a process");
}

static int find_collective(const char *name)
{
    int c = 0;

    while (c < HS_COLLECTIVES && strcmp(hs_collective_name((enum hs_collective)c), name))
        c++;
    return c;
}

/* The names of the algorithms of a collective, with commas. */
static const char *known(enum hs_collective collective, char *text, size_t size)
{
    const struct hs_alg *row;
    size_t used = 0;

    text[0] = 0;
    for (int i = 0; (row = hs_alg_at(i)) != NULL; i++)
        if (row->collective == collective && used < size)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", row->name);
    return text;
}

hsumma_status explain_collective(const explain_arguments *args, const hsumma_context *ctx, FILE *file,
                                 struct hs_message *message)
{
    int collective = find_collective(args->collective);
    const struct hs_alg *row = NULL;
    struct hs_settings settings;
    hsumma_status status = hs_settings_read(&ctx->options, &settings, message);
    char names[300];

    if (status)
        return status;
    if (collective == HS_COLLECTIVES)
        return hs_fail(message, HSUMMA_ERR_OPTION, "--collective %s: expected bcast, reduce, allreduce or allgather",
                       args->collective);
    if (args->alg && !(row = hs_alg_find((enum hs_collective)collective, args->alg)))
        return hs_fail(message, HSUMMA_ERR_OPTION, "--alg %s: expected one of: %s", args->alg,
                       known((enum hs_collective)collective, names, sizeof names));
    struct hs_shape shape = {0, (int)args->size, (int)args->root, args->bytes, 1, settings.segment, NULL};
    fprintf(file, "%s of %lld bytes over %d processes, root %d\n", args->collective, (long long)shape.bytes, shape.size,
            shape.root);
    if (row)
        fprintf(file, "%s: %s\n", row->name, row->doc);
    fputc('\n', file);
    print_heading(file);
    for (int i = 0; hs_alg_at(i) && !status; i++) {
        const struct hs_alg *alg = hs_alg_at(i);

        if (row ? alg == row : alg->collective == (enum hs_collective)collective && (!alg->fits || alg->fits(&shape)))
            status = print_costs(file, alg, &shape, ctx);
    }
    if (status || !row)
        return status;
    fputc('\n', file);
    return hs_dump_rounds(file, row, &shape, &hs_heap);
}
