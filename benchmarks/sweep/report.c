/* The three forms of the report on a sweep. */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "common/command.h"
#include "gemm/report.h"
#include "sweep/sweep.h"

#define CHOSEN "  <- chosen"

static json_t *candidate_json(const candidate *c)
{
    json_t *object = json_object();

    if (c->rows) {
        json_object_set_new(object, "groups", json_string(c->name));
        json_object_set_new(object, "i", json_integer(c->rows));
        json_object_set_new(object, "j", json_integer(c->cols));
        json_object_set_new(object, "g", json_integer((json_int_t)c->rows * c->cols));
        json_object_set_new(object, "best_of_g", json_boolean(c->best_of_g));
        json_object_set_new(object, "best", json_boolean(c->best));
    }
    json_object_set_new(object, "chosen", json_boolean(c->chosen));
    if (!c->plan) {
        json_object_set_new(object, "error", json_string(c->message));
        return object;
    }
    json_object_set_new(object, "median_s", report_real(c->total.median));
    json_object_set_new(object, "min_s", report_real(c->total.min));
    json_object_set_new(object, "max_s", report_real(c->total.max));
    json_object_set_new(object, "comm_s", report_real(c->comm.median));
    json_object_set_new(object, "comm_min_s", report_real(c->comm.min));
    json_object_set_new(object, "comm_max_s", report_real(c->comm.max));
    json_object_set_new(object, "gemm_s", report_real(c->gemm.median));
    json_object_set_new(object, "predicted_s", report_real(c->predicted_s));
    json_object_set_new(object, "predicted_comm_s", report_real(c->predicted_comm_s));
    json_object_set_new(object, "ratio", report_real(c->ratio.median));
    json_object_set_new(object, "ratio_min", report_real(c->ratio.min));
    json_object_set_new(object, "ratio_max", report_real(c->ratio.max));
    json_object_set_new(object, "bytes_per_rank_max", report_integer(c->bytes_max));
    json_object_set_new(object, "messages_per_rank_max", report_integer(c->messages_max));
    json_object_set_new(object, "workspace_bytes", report_integer(c->workspace));
    json_object_set_new(object, "residual", c->checked ? report_real(c->check.residual) : json_null());
    json_object_set_new(object, "passed", c->checked ? json_boolean(c->check.passed) : json_null());
    json_object_set_new(object, "plan", json_string(c->line));
    return object;
}

/* null: the library could make no plan. */
static json_t *automatic_json(const automatic *own)
{
    if (!own->line[0])
        return json_null();
    return json_pack("{s:s,s:o,s:o,s:o}", "plan", own->line, "predicted_s", report_real(own->predicted_s),
                     "predicted_comm_s", report_real(own->predicted_comm_s), "shared_plan",
                     own->shared[0] ? json_string(own->shared) : json_null());
}

static int print_json(const sweep *s, FILE *file)
{
    json_t *object = report_head_json(&s->p, "sweep"), *list = json_array();
    int failed;

    json_object_set_new(object, "summa", candidate_json(&s->candidates[0]));
    for (int i = 1; i < s->count; i++)
        json_array_append_new(list, candidate_json(&s->candidates[i]));
    json_object_set_new(object, "hsumma", list);
    json_object_set_new(object, "automatic", automatic_json(&s->own));
    failed = json_dumpf(object, file, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
    fputc('\n', file);
    json_decref(object);
    return !failed;
}

static void print_csv(const sweep *s, FILE *file)
{
    fputs(
        "candidate,i,j,g,best_of_g,median_s,min_s,max_s,comm_s,comm_min_s,comm_max_s,gemm_s,ratio,ratio_min,ratio_max,"
        "bytes_per_rank_max,messages_per_rank_max,workspace_bytes,predicted_s,predicted_comm_s,chosen,plan\n",
        file);
    for (int i = 0; i < s->count; i++) {
        const candidate *c = &s->candidates[i];

        fprintf(file, "%s,%d,%d,%d,%s", c->rows ? "HSUMMA" : "SUMMA", c->rows, c->cols, c->rows * c->cols,
                c->best_of_g ? "true" : "false");
        if (!c->plan) {
            fprintf(file, ",,,,,,,,,,,,,,,,%s,", c->chosen ? "true" : "false");
            report_csv_text(file, c->message);
        } else {
            fprintf(file, ",%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%lld,%lld,%lld,%.9g,%.9g,%s,",
                    c->total.median, c->total.min, c->total.max, c->comm.median, c->comm.min, c->comm.max,
                    c->gemm.median, c->ratio.median, c->ratio.min, c->ratio.max, (long long)c->bytes_max,
                    (long long)c->messages_max, (long long)c->workspace, c->predicted_s, c->predicted_comm_s,
                    c->chosen ? "true" : "false");
            report_csv_text(file, c->line);
        }
        fputc('\n', file);
    }
}

static void print_row(const candidate *c, double unit, FILE *file)
{
    char text[32];

    if (!c->rows)
        fprintf(file, "  %-8s %6s", "SUMMA", "");
    else
        fprintf(file, "%s %-8s %6d", c->best_of_g ? c->best ? "**" : " *" : "  ", c->name, c->rows * c->cols);
    if (!c->plan) {
        fprintf(file, "  not run: %s%s\n", c->message, c->chosen ? CHOSEN : "");
        return;
    }
    fprintf(file, "  %9.3f  %9.3f  %9.3f  %9.3f  %9.3f  %9.3f  %9.3f  %6.3f  %6.3f  %6.3f  %9s", c->total.median * unit,
            c->total.min * unit, c->total.max * unit, c->comm.median * unit, c->gemm.median * unit,
            c->predicted_s * unit, c->predicted_comm_s * unit, c->ratio.median, c->ratio.min, c->ratio.max,
            report_bytes(text, sizeof text, c->bytes_max));
    fprintf(file, "  %8lld", (long long)c->messages_max);
    if (c->checked)
        fprintf(file, "  %8.2g %s", c->check.residual, c->check.passed ? "passed" : "FAILED");
    fprintf(file, "%s\n", c->chosen ? CHOSEN : "");
}

static void print_table(const sweep *s, FILE *file)
{
    const char *unit = "s";
    double factor = 1;
    int with_plan = 0;

    while (with_plan < s->count - 1 && !s->candidates[with_plan].plan)
        with_plan++;
    factor = report_time_unit(s->candidates[with_plan].total.median, &unit);
    report_head(&s->p, "sweep", file);
    fprintf(file, "%d grouping%s I x J of the grid in turns, %d round%s after one warm-up\n", s->count - 1,
            s->count > 2 ? "s" : "", s->p.args->reps, s->p.args->reps > 1 ? "s" : "");
    if (s->candidates[0].plan)
        fprintf(file, "SUMMA's plan  %s\n", s->candidates[0].line);
    if (s->own.line[0])
        fprintf(file, "automatic     %s\n", s->own.line);
    if (s->own.shared[0])
        fprintf(file, "              (without --node messages it has no groups: %s)\n", s->own.shared);
    fprintf(file, "\n   %-8s %6s  %9s  %9s  %9s  %9s  %9s  %9s  %9s  %22s  %9s  %8s%s\n", "I x J", "G", "total", "min",
            "max", "comm", "gemm", "model", "its comm", "SUMMA / this: min, max", "sent/rank", "messages",
            s->p.args->check ? "  residual" : "");
    fprintf(file, "   %-8s %6s  %9s  %9s  %9s  %9s  %9s  %9s  %9s\n", "", "", unit, unit, unit, unit, unit, unit, unit);
    for (int i = 0; i < s->count; i++)
        print_row(&s->candidates[i], factor, file);
    fputs("\n* the fastest of each G, ** of all; comm and gemm: medians of the slowest rank; model: predicted, in all "
          "and\n"
          "communication; chosen: the groups of the automatic plan; ratio above 1: faster than SUMMA; 1x1 is SUMMA "
          "again,\n"
          "and so is a group per process: their distance from its row is the noise\n",
          file);
}

int sweep_report(const sweep *s, FILE *file)
{
    int good = 1;

    if (s->p.args->format == REPORT_JSON)
        good = print_json(s, file);
    else if (s->p.args->format == REPORT_CSV)
        print_csv(s, file);
    else
        print_table(s, file);
    return good && fflush(file) == 0 && !ferror(file);
}
