/* hsumma doctor: prints the report. */
#include <string.h>

#include "common/command.h"
#include "doctor/doctor.h"
#include "report/columns.h"

enum { MOST_FACT_LINES = 16 }; /* lines per fact in the table */

enum { FINDING = 1 }; /* the condition for columns that facts lack */

static const report_column columns[] = {{"kind", REPORT_VALUE(doctor_row, kind)},
                                        {"name", REPORT_VALUE(doctor_row, name)},
                                        {"ranks", REPORT_VALUE(doctor_row, ranks)},
                                        {"what", REPORT_VALUE(doctor_row, what)},
                                        {"why", REPORT_VALUE(doctor_row, why), .when = FINDING},
                                        {"do", REPORT_VALUE(doctor_row, cure), .when = FINDING},
                                        REPORT_END};

static int is_fact(const doctor_row *row)
{
    return !strcmp(row->kind, "fact");
}

static int is_shown(const doctor_row *row, int quiet)
{
    return !quiet || !is_fact(row);
}

/* Writes "ranks 0-3: ", or "" for all ranks. */
static const char *name_ranks(const doctor_job *j, const doctor_row *row, char *text, size_t size)
{
    char all[32];

    snprintf(all, sizeof all, "0-%d", j->ranks - 1);
    *text = 0;
    if (j->ranks > 1 && strcmp(row->ranks, all))
        snprintf(text, size, "rank%s %s: ", strpbrk(row->ranks, "-,") ? "s" : "", row->ranks);
    return text;
}

static void print_facts(const doctor_job *j, const doctor_rows *rows, FILE *file)
{
    const char *last = "";
    char text[160];
    int lines = 0;

    for (const doctor_row *row = rows->row; row < rows->row + rows->count; row++) {
        if (!is_fact(row))
            continue;
        lines = strcmp(row->name, last) ? 1 : lines + 1;
        if (lines <= MOST_FACT_LINES)
            fprintf(file, "%-11s %s%s\n", lines == 1 ? row->name : "", name_ranks(j, row, text, sizeof text),
                    row->what);
        else if (lines == MOST_FACT_LINES + 1)
            fprintf(file, "%-11s ... (all: --format json)\n", "");
        last = row->name;
    }
}

static int print_table(const doctor_job *j, const doctor_rows *rows, int quiet, FILE *file)
{
    char text[160];
    int findings = 0, costly = 0;

    if (!quiet) {
        fprintf(file, "hsumma doctor: %d rank%s on %d node%s\n", j->ranks, report_plural(j->ranks), j->nodes,
                report_plural(j->nodes));
        print_facts(j, rows, file);
    }
    for (const doctor_row *row = rows->row; row < rows->row + rows->count; row++) {
        if (is_fact(row))
            continue;
        fprintf(file, "%s%s%s: %s%s\n  why  %s\n  do   %s\n", quiet && !findings ? "" : "\n", row->name,
                !strcmp(row->kind, "costly") ? " (costs more than 10 %)" : "", name_ranks(j, row, text, sizeof text),
                row->what, row->why, row->cure);
        findings++;
        costly += !strcmp(row->kind, "costly");
    }
    if (!quiet && !findings)
        fputs("\nno findings\n", file);
    else if (!quiet)
        fprintf(file, "\n%d finding%s, %d of them cost%s more than 10 %%\n", findings, report_plural(findings), costly,
                costly == 1 ? "s" : "");
    return 1;
}

static int print_csv(const doctor_rows *rows, int quiet, FILE *file)
{
    report_csv_head(columns, file);
    for (int i = 0; i < rows->count; i++)
        if (is_shown(&rows->row[i], quiet))
            report_csv_row(columns, &rows->row[i], is_fact(&rows->row[i]) ? 0 : FINDING, file);
    return 1;
}

static int print_json(const doctor_job *j, const doctor_rows *rows, int quiet, FILE *file)
{
    json_t *facts = json_array(), *findings = json_array();

    for (int i = 0; i < rows->count; i++)
        if (is_shown(&rows->row[i], quiet))
            json_array_append_new(is_fact(&rows->row[i]) ? facts : findings,
                                  report_object(columns, &rows->row[i], is_fact(&rows->row[i]) ? 0 : FINDING));
    return report_json(json_pack("{s:s,s:i,s:i,s:i,s:o,s:o}", "command", "doctor", "ranks", j->ranks, "nodes", j->nodes,
                                 "costly", rows->costly, "facts", facts, "findings", findings),
                       0, 0, file);
}

int doctor_report(const doctor_job *j, const doctor_rows *rows, int format, int quiet, FILE *file)
{
    int good = format == DOCTOR_JSON  ? print_json(j, rows, quiet, file)
               : format == DOCTOR_CSV ? print_csv(rows, quiet, file)
                                      : print_table(j, rows, quiet, file);

    return good && report_written(file);
}

/* --- the checks -------------------------------------------------------------------------------------------------- */

int doctor_report_checks(int format, FILE *file)
{
    static const report_column of_checks[] = {
        {"name", REPORT_VALUE(doctor_check, name)}, {"costly", REPORT_TRUTH(doctor_check, costly)},
        {"what", REPORT_VALUE(doctor_check, what)}, {"why", REPORT_VALUE(doctor_check, why)},
        {"do", REPORT_VALUE(doctor_check, cure)},   REPORT_END};
    json_t *list = json_array();
    int good = 1;

    if (format == DOCTOR_CSV)
        report_csv_head(of_checks, file);
    for (int s = 0; doctor_subjects[s]; s++)
        for (int i = 0; i < DOCTOR_CHECKS && doctor_subjects[s]->checks[i].found; i++) {
            const doctor_check *check = &doctor_subjects[s]->checks[i];

            if (format == DOCTOR_JSON)
                json_array_append_new(list, report_object(of_checks, check, REPORT_ALL));
            else if (format == DOCTOR_CSV)
                report_csv_row(of_checks, check, REPORT_ALL, file);
            else
                fprintf(file, "%s%s: %s\n  why  %s\n  do   %s\n", check->name,
                        check->costly ? " (costs more than 10 %)" : "", check->what, check->why, check->cure);
        }
    if (format == DOCTOR_JSON)
        good = report_json(json_pack("{s:o}", "checks", list), 0, 0, file);
    else
        json_decref(list);
    return good && report_written(file);
}
