/* Reports the model's prediction for a plan and the times of its execution. */
#include <math.h>
#include <string.h>

#include "gemm/command.h"

enum { PHASES = 4 };

/* A phase, predicted and measured. */
typedef struct phase {
    const char *name, *key;
    double predicted, measured, ratio; /* NaN: unknown */
} phase;

/* Predicted communication that the local GEMM does not hide: the only part that can be measured. */
static double visible(const hsumma_plan_info *info)
{
    double seconds = info->predicted_seconds - (info->predicted_gemm_seconds + info->predicted_copy_seconds);

    return seconds < 0 ? 0 : seconds;
}

/* Fills in the phases; a measured time is that of the phase's slowest rank in the typical turn. */
static void read_phases(const contender *x, phase phases[PHASES])
{
    const hsumma_plan_info *info = &x->info;
    const phase all[PHASES] = {{"communication", "comm", visible(info), x->typical.comm, NAN},
                               {"GEMM", "gemm", info->predicted_gemm_seconds, x->typical.gemm, NAN},
                               {"copies", "copy", info->predicted_copy_seconds, x->typical.copy, NAN},
                               {"all", "all", info->predicted_seconds, x->typical.seconds, NAN}};

    memcpy(phases, all, sizeof all);
    for (int i = 0; i < PHASES; i++)
        if (phases[i].measured > 0)
            phases[i].ratio = phases[i].predicted / phases[i].measured;
}

static const report_column columns[] = {{.title = "phase", REPORT_VALUE(phase, name), .width = -13},
                                        {"predicted_s", REPORT_VALUE(phase, predicted), REPORT_TIMES("predicted")},
                                        {"measured_s", REPORT_VALUE(phase, measured), REPORT_TIMES("measured")},
                                        {"ratio", REPORT_VALUE(phase, ratio), REPORT_SHOWN("pred/meas", 9, 2)},
                                        REPORT_END};

json_t *report_phases_json(const contender *x)
{
    json_t *object = json_object();
    phase phases[PHASES];

    read_phases(x, phases);
    for (int i = 0; i < PHASES; i++)
        json_object_set_new(object, phases[i].key, report_object(columns, &phases[i], REPORT_ALL));
    return object;
}

void report_phases(const contender *x, FILE *file)
{
    const hsumma_plan_info *info = &x->info;
    report_table table = {.columns = columns};
    char note[400] = "", hidden[120] = "";
    phase phases[PHASES];

    table.factor = report_time_unit(x->seconds.median, &table.unit);
    read_phases(x, phases);
    if (info->profile && *info->profile)
        snprintf(note, sizeof note, "  by profile %s", info->profile);
    if (info->lookahead > 0 && info->predicted_comm_seconds > phases[0].predicted * 1.01)
        snprintf(hidden, sizeof hidden, "  not hidden by the GEMM, of %.3f %s predicted",
                 info->predicted_comm_seconds * table.factor, table.unit);
    report_table_head(&table, note, file);
    for (int i = 0; i < PHASES; i++)
        report_table_row(&table, &phases[i], REPORT_ALL, i == 0 ? hidden : NULL, file);
    fputc('\n', file);
}
