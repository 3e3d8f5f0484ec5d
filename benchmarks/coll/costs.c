/* Rounds and costs of one schedule. */
#include "coll/costs.h"

#include <math.h>
#include <string.h>

#include "coll/schedule/lists.h"
#include "report/columns.h"

enum { MOST_COUNTED = 512 }; /* ranks; larger groups are estimated */

int coll_find(const char *name)
{
    int c = 0;

    while (c < HS_COLLECTIVES && strcmp(hs_collective_name((enum hs_collective)c), name))
        c++;
    return c;
}

/* The number of rounds of the schedule; -1 on failure. */
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

typedef struct contender_cost {
    const char *name;
    int rounds;
    int64_t messages, messages_max, bytes_max;
    double time;
} cost;

static const report_column columns[] = {
    {.title = "algorithm", REPORT_VALUE(cost, name), .width = -20},
    {.title = "rounds", REPORT_VALUE(cost, rounds), .width = 6, .narrow = 1},
    {.title = "messages", REPORT_VALUE(cost, messages), .width = 9, .narrow = 1},
    {.title = "most by", .unit = "a process", REPORT_VALUE(cost, messages_max), .width = 9, .narrow = 1},
    {.title = "most bytes", .unit = "by a process", REPORT_VALUE(cost, bytes_max), .width = 12, .narrow = 1},
    {.title = "predicted", REPORT_VALUE(cost, time), .width = 10, .digits = 4, .style = 'g'},
    REPORT_END};

/* Columns for groups of more than MOST_COUNTED ranks, whose time is only estimated. */
static const report_column columns_of_many[] = {
    {.title = "algorithm", REPORT_VALUE(cost, name), .width = -20},
    {.title = "predicted", REPORT_VALUE(cost, time), .width = 10, .digits = 4, .style = 'g'},
    REPORT_END};

static int is_counted(const struct hs_shape *shape)
{
    return shape->size <= MOST_COUNTED;
}

void coll_costs_heading(FILE *file, const struct hs_shape *shape)
{
    report_table_head(&(report_table){.columns = is_counted(shape) ? columns : columns_of_many}, NULL, file);
}

/* Computes all costs from the lists of all ranks. */
static hsumma_status count(const struct hs_alg *alg, const struct hs_shape *shape, const struct hs_machine *model,
                           cost *row)
{
    struct hs_clock_report report;
    hsumma_status status = hs_clock(alg, shape, model, &hs_heap, &report);

    row->rounds = status ? -1 : count_rounds(alg, shape);
    row->messages = report.messages;
    row->messages_max = report.messages_rank_max;
    row->bytes_max = report.bytes_rank_max;
    row->time = report.seconds;
    return status;
}

/* Estimates the seconds, with rank 0 as root. */
static hsumma_status estimate(const struct hs_alg *alg, const struct hs_shape *shape, const struct hs_machine *model,
                              cost *row)
{
    struct hs_shape from_first = *shape;
    struct hs_clock_estimate all;
    from_first.root = 0;
    hsumma_status status = hs_clock_estimate(alg, &from_first, model, &hs_heap, HUGE_VAL, &all);

    row->time = all.seconds;
    return status;
}

hsumma_status coll_costs_line(FILE *file, const struct hs_alg *alg, const struct hs_shape *shape,
                              const struct hs_machine *model, const struct hs_machine *device, int is_chosen)
{
    const report_table table = {.columns = is_counted(shape) ? columns : columns_of_many};
    cost row = {.name = alg->name};
    hsumma_status status = is_counted(shape) ? count(alg, shape, model, &row) : estimate(alg, shape, model, &row);
    const char *unit;
    char note[20];

    if (status)
        return status;
    if (device)
        row.time += hs_staging_seconds(device, model, shape->topology, shape->bytes);
    row.time *= report_time_unit(row.time, &unit);
    snprintf(note, sizeof note, " %s%s", unit, is_chosen ? "  <- auto" : "");
    report_table_row(&table, &row, REPORT_ALL, note, file);
    return HSUMMA_OK;
}
