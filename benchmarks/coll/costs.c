/* Rounds and costs of one schedule. */
#include "coll/costs.h"

#include <string.h>

#include "coll/schedule/lists.h"
#include "gemm/report.h"

int coll_find(const char *name)
{
    int c = 0;

    while (c < HS_COLLECTIVES && strcmp(hs_collective_name((enum hs_collective)c), name))
        c++;
    return c;
}

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

void coll_costs_heading(FILE *file)
{
    fprintf(file, "%-20s %6s %9s %9s %12s  %10s\n", "algorithm", "rounds", "messages", "most by", "most bytes",
            "predicted");
    fprintf(file, "%-20s %6s %9s %9s %12s\n", "", "", "", "a process", "by a process");
}

hsumma_status coll_costs_line(FILE *file, const struct hs_alg *alg, const struct hs_shape *shape,
                              const struct hs_machine *model)
{
    struct hs_clock_report report;
    const char *unit;
    double scale;
    hsumma_status status = hs_clock(alg, shape, model, &hs_heap, &report);

    if (status)
        return status;
    scale = report_time_unit(report.seconds, &unit);
    fprintf(file, "%-20s %6d %9lld %9lld %12lld  %10.4g %s\n", alg->name, count_rounds(alg, shape),
            (long long)report.messages, (long long)report.messages_rank_max, (long long)report.bytes_rank_max,
            report.seconds * scale, unit);
    return HSUMMA_OK;
}
