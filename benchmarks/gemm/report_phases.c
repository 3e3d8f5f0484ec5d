/* What the model has said of a plan beside what its execution took; declared in report.h. */
#include <math.h>
#include <string.h>

#include "gemm/report.h"

enum { PHASES = 4 };

/* Predicted beside measured. */
typedef struct phase {
    const char *name, *key;
    double predicted, measured, ratio; /* NaN: not known */
} phase;

/* The measured phases are those of the slowest rank each in the typical turn. */
static void read_phases(const result *r, phase phases[PHASES])
{
    const phase all[PHASES] = {{"communication", "comm", r->predicted.visible, r->typical.comm, NAN},
                               {"GEMM", "gemm", r->predicted.gemm, r->typical.gemm, NAN},
                               {"copies", "copy", r->predicted.copy, r->typical.copy, NAN},
                               {"all", "all", r->predicted.all, r->typical.seconds, NAN}};

    memcpy(phases, all, sizeof all);
    for (int i = 0; i < PHASES; i++)
        if (phases[i].measured > 0)
            phases[i].ratio = phases[i].predicted / phases[i].measured;
}

json_t *report_phases_json(const result *r)
{
    json_t *object = json_object();
    phase phases[PHASES];

    read_phases(r, phases);
    for (int i = 0; i < PHASES; i++)
        json_object_set_new(object, phases[i].key,
                            json_pack("{s:o,s:o,s:o}", "predicted_s", report_real(phases[i].predicted), "measured_s",
                                      report_real(phases[i].measured), "ratio", report_real(phases[i].ratio)));
    return object;
}

static void cell(FILE *file, int digits, double value)
{
    if (isfinite(value))
        fprintf(file, "  %9.*f", digits, value);
    else
        fprintf(file, "  %9s", "-");
}

void report_phases(const result *r, const hsumma_plan_info *info, FILE *file)
{
    phase phases[PHASES];
    const char *unit;
    double factor = report_time_unit(r->seconds.median, &unit);
    int hidden = info->lookahead > 0 && r->predicted.comm > r->predicted.visible * 1.01;

    read_phases(r, phases);
    fprintf(file, "%-13s  %9s  %9s  %9s", "phase", "predicted", "measured", "pred/meas");
    if (info->profile && *info->profile)
        fprintf(file, "  by profile %s", info->profile);
    fputc('\n', file);
    fprintf(file, "%-13s  %9s  %9s\n", "", unit, unit);
    for (int i = 0; i < PHASES; i++) {
        fprintf(file, "%-13s", phases[i].name);
        cell(file, 3, phases[i].predicted * factor);
        cell(file, 3, phases[i].measured * factor);
        cell(file, 2, phases[i].ratio);
        if (i == 0 && hidden)
            fprintf(file, "  what the GEMM does not hide of %.3f %s predicted", r->predicted.comm * factor, unit);
        fputc('\n', file);
    }
    fputc('\n', file);
}
