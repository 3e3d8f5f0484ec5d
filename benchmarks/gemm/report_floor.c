/* Reports where the matrices lie, and the cost of copies to a device; declared in command.h. */
#include "gemm/command.h"

static const char *where(const operand *x)
{
    return x->shared ? "device" : "host";
}

const char *report_memory(const problem *p, char *text, size_t size)
{
    if (!problem_on_device(p))
        return NULL;
    snprintf(text, size, "A %s, B %s, C %s; device: %s", where(&p->a), where(&p->b), where(&p->c),
             hsumma_device(p->ctx));
    return text;
}

void report_floor(const contest *run, const report_table *times, FILE *file)
{
    const char *unit = times->unit;
    double factor = times->factor;
    int reps = run->args->common.reps;
    const floor_result *f = &run->under;

    if (!f->measured)
        return;
    fprintf(file,
            "floor      copies %.3f %s (pinned memory: to the device %.3f, back %.3f; the matrices' own pages: %.3f, "
            "%.3f),\n"
            "           product with all matrices on the device %.3f %s\n",
            f->copy.median * factor, unit, f->way[FLOOR_IN].median * factor, f->way[FLOOR_OUT].median * factor,
            f->way[FLOOR_OWN_IN].median * factor, f->way[FLOOR_OWN_OUT].median * factor, f->compute.median * factor,
            unit);
    fprintf(file, "ratio      %s / the larger of the two: %.3f (%.3f to %.3f over %d round%s)\n",
            run->contenders[0].name, f->ratio.median, f->ratio.min, f->ratio.max, reps, report_plural(reps));
}

void report_floor_json(const contest *run, json_t *object)
{
    static const report_column spreads[] = {{"median", REPORT_VALUE(spread, median)},
                                            {"min", REPORT_VALUE(spread, min)},
                                            {"max", REPORT_VALUE(spread, max)},
                                            REPORT_END};
    static const report_column columns[] = {
        {"copy_s", REPORT_INNER(floor_result, copy, spreads)},
        {"compute_s", REPORT_INNER(floor_result, compute, spreads)},
        {"ratio", REPORT_INNER(floor_result, ratio, spreads)},
        {"in_s", REPORT_INNER(floor_result, way[FLOOR_IN], spreads)},
        {"out_s", REPORT_INNER(floor_result, way[FLOOR_OUT], spreads)},
        {"own_pages_in_s", REPORT_INNER(floor_result, way[FLOOR_OWN_IN], spreads)},
        {"own_pages_out_s", REPORT_INNER(floor_result, way[FLOOR_OWN_OUT], spreads)},
        REPORT_END};
    const problem *p = run->measured;

    if (!problem_on_device(p))
        return;
    json_object_set_new(object, "device", json_string(hsumma_device(p->ctx)));
    json_object_set_new(object, "memory", json_pack("[s,s,s]", where(&p->a), where(&p->b), where(&p->c)));
    if (run->under.measured)
        json_object_set_new(object, "floor", report_object(columns, &run->under, REPORT_ALL));
}
