/* Matrices and devices: where they lie, what copies cost; declared in report.h. */
#include "gemm/report.h"

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

void report_floor(const gemm_report *report, double factor, const char *unit, FILE *file)
{
    const floor_result *f = report->floor;

    if (!f->measured)
        return;
    fprintf(file,
            "floor      copies %.3f %s (to the device %.3f, back %.3f, from and to pinned memory; from and to the\n"
            "           matrices' own pages %.3f, %.3f), the product with all on the device %.3f %s\n",
            f->copy.median * factor, unit, f->way[FLOOR_IN].median * factor, f->way[FLOOR_OUT].median * factor,
            f->way[FLOOR_OWN_IN].median * factor, f->way[FLOOR_OWN_OUT].median * factor, f->compute.median * factor,
            unit);
    fprintf(file, "ratio      %s / the larger of both: %.3f (%.3f to %.3f over %d round%s)\n", report->results[0].name,
            f->ratio.median, f->ratio.min, f->ratio.max, report->p->args->reps, report_plural(report->p->args->reps));
}

static json_t *spread_json(spread s)
{
    static const report_column columns[] = {{"median", REPORT_VALUE(spread, median)},
                                            {"min", REPORT_VALUE(spread, min)},
                                            {"max", REPORT_VALUE(spread, max)},
                                            REPORT_END};

    return report_object(columns, &s, REPORT_ALL);
}

void report_floor_json(const gemm_report *report, json_t *object)
{
    static const char *const way[FLOOR_WAYS] = {"in_s", "out_s", "own_pages_in_s", "own_pages_out_s"};
    const problem *p = report->p;
    const floor_result *f = report->floor;
    json_t *floor;

    if (!problem_on_device(p))
        return;
    json_object_set_new(object, "device", json_string(hsumma_device(p->ctx)));
    json_object_set_new(object, "memory", json_pack("[s,s,s]", where(&p->a), where(&p->b), where(&p->c)));
    if (!f->measured)
        return;
    floor = json_pack("{s:o,s:o,s:o}", "copy_s", spread_json(f->copy), "compute_s", spread_json(f->compute), "ratio",
                      spread_json(f->ratio));
    for (int i = 0; i < FLOOR_WAYS; i++)
        json_object_set_new(floor, way[i], spread_json(f->way[i]));
    json_object_set_new(object, "floor", floor);
}
