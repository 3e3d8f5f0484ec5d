/* The three forms of the report on one product. */
#include "gemm/report.h"

#include <math.h>
#include <string.h>

#include "common/command.h"

/* Rows that have no product are of the local GEMM; the measured routine's ratio to itself is not shown. */
enum { PRODUCT = 1, RATIO = 2 };

static const report_column columns[] = {
    {.title = "", REPORT_VALUE(result, name), .width = -10},
    {"api", REPORT_VALUE(result, api)},
    {"median_s", REPORT_VALUE(result, seconds.median), REPORT_TIMES("median")},
    {"min_s", REPORT_VALUE(result, seconds.min), REPORT_TIMES("min")},
    {"max_s", REPORT_VALUE(result, seconds.max), REPORT_TIMES("max")},
    {"gflops", REPORT_VALUE(result, gflops), REPORT_SHOWN("GFLOP/s", 8, 1)},
    {"fraction_of_gemm_rate", REPORT_VALUE(result, fraction.median), REPORT_SHOWN("of GEMM", 7, 2), .unit = "rate",
     .when = PRODUCT},
    {"fraction_min", REPORT_VALUE(result, fraction.min)},
    {"fraction_max", REPORT_VALUE(result, fraction.max)},
    {"ratio", REPORT_VALUE(result, ratio.median), .when = RATIO},
    {"ratio_min", REPORT_VALUE(result, ratio.min), .when = RATIO},
    {"ratio_max", REPORT_VALUE(result, ratio.max), .when = RATIO},
    {"comm_share", REPORT_VALUE(result, typical.comm_share), REPORT_SHOWN("comm", 5, 1), .unit = "%", .factor = 100,
     .when = PRODUCT},
    {"comm_s", REPORT_VALUE(result, typical.comm)},
    {"gemm_s", REPORT_VALUE(result, typical.gemm)},
    {"copy_s", REPORT_VALUE(result, typical.copy)},
    {"gemm_share", REPORT_VALUE(result, typical.gemm_share)},
    {"copy_share", REPORT_VALUE(result, typical.copy_share)},
    {"wait_share", REPORT_VALUE(result, typical.wait_share)},
    {"library_share", REPORT_VALUE(result, typical.library_share)},
    {"timed_share", REPORT_VALUE(result, typical.timed_share)},
    {"predicted_s", REPORT_VALUE(result, predicted.all)},
    {"predicted_comm_s", REPORT_VALUE(result, predicted.comm)},
    {"predicted_gemm_s", REPORT_VALUE(result, predicted.gemm)},
    {"predicted_copy_s", REPORT_VALUE(result, predicted.copy)},
    {"bytes_per_rank_max", REPORT_VALUE(result, bytes_max), REPORT_SHOWN("sent/rank", 9, 0), .unit = "max",
     .style = 'b', .when = PRODUCT},
    {"messages_per_rank_max", REPORT_VALUE(result, messages_max), REPORT_SHOWN("messages", 8, 0), .unit = "max",
     .when = PRODUCT},
    {"workspace_bytes", REPORT_VALUE(result, workspace), REPORT_SHOWN("workspace", 9, 0), .style = 'b',
     .when = PRODUCT},
    {"residual", REPORT_VALUE(result, check.residual), REPORT_SHOWN("residual", 8, 2), .style = 'g', .when = PRODUCT},
    {"row_error", REPORT_VALUE(result, row_error)},
    {"peak_rss_bytes", REPORT_VALUE(result, peak_rss)},
    {"peak_rss_above_matrices_bytes", REPORT_VALUE(result, peak_above)},
    {"matrices_bytes", REPORT_VALUE(result, matrices)},
    {"passed", REPORT_TRUTH(result, check.passed)},
    {"plan", REPORT_VALUE(result, plan)},
    REPORT_END};

/* --- json --------------------------------------------------------------------------------------------------------- */

/* Only a strict check counts entries, only a wrong row is looked into. */
static json_t *check_json(const check_outcome *check)
{
    enum { STRICT = 1, WRONG_ROW = 2 };

    static const report_column found[] = {{"entries", REPORT_VALUE(check_outcome, entries), .when = STRICT},
                                          {"entry_error", REPORT_VALUE(check_outcome, entry_error), .when = STRICT},
                                          {"row_error", REPORT_VALUE(check_outcome, row_error), .when = STRICT},
                                          {"row", REPORT_VALUE(check_outcome, row), .when = WRONG_ROW},
                                          {"col", REPORT_VALUE(check_outcome, col), .when = WRONG_ROW},
                                          {"difference", REPORT_VALUE(check_outcome, difference), .when = WRONG_ROW},
                                          REPORT_END};
    json_t *object = json_pack("{s:b,s:f}", "passed", check->passed, "residual_limit", CHECK_RESIDUAL_LIMIT);

    report_add(object, found, check,
               (check->strict ? STRICT : 0U) | (check->strict && check->row_error > 1 ? WRONG_ROW : 0U));
    return object;
}

static void add_result(json_t *object, const result *r, int reps, unsigned present)
{
    report_add(object, columns, r, present);
    json_object_set_new(object, "phases", report_phases_json(r));
    json_object_set_new(object, "times_s", report_reals(r->times, reps));
    if (r->why)
        json_object_set_new(object, "why", json_string(r->why));
    if (r->node) {
        json_object_set_new(object, "node", json_string(r->node));
        json_object_set_new(object, "chunk", json_integer(r->chunk));
    }
    json_object_set_new(object, "check", check_json(&r->check));
}

static json_t *rate_json(const gemm_report *report)
{
    const gemm_rate *rate = report->rate;

    return json_pack("{s:I,s:I,s:I,s:i,s:i,s:o,s:o,s:o,s:o,s:o}", "m", (json_int_t)rate->m, "n", (json_int_t)rate->n,
                     "k", (json_int_t)rate->k, "threads", rate->threads, "nodes", report->p->mach.nodes, "median_s",
                     report_real(report->rate_seconds.median), "min_s", report_real(report->rate_seconds.min), "max_s",
                     report_real(report->rate_seconds.max), "gflops_per_node",
                     report_real(rate->flops / report->rate_seconds.median * 1e-9), "times_s",
                     report_reals(report->rate_times, report->p->args->reps));
}

static int print_json(const gemm_report *report, FILE *file)
{
    json_t *object = report_head_json(report->p, "gemm"), *others = json_object();
    int reps = report->p->args->reps;

    for (int i = 1; i < report->count; i++) {
        json_t *one = json_object();

        add_result(one, &report->results[i], reps, PRODUCT | RATIO);
        json_object_set_new(others, report->results[i].name, one);
    }
    if (report->count > 1) /* the ratio is the first contender's, all else of the measured routine */
        report_add(object, columns, &report->results[1], RATIO);
    add_result(object, &report->results[0], reps, PRODUCT);
    json_object_set_new(object, "calls", json_integer(report->calls));
    if (report->info)
        report_moves_json(report->info, object);
    json_object_set_new(object, "gemm_rate", rate_json(report));
    json_object_set_new(object, "contenders", others);
    report_floor_json(report, object);
    return report_json(object, 0, 9, file);
}

/* --- csv ---------------------------------------------------------------------------------------------------------- */

static void print_csv(const gemm_report *report, FILE *file)
{
    const arguments *args = report->p->args;

    fputs("contender,type,m,n,k,transa,transb,nprow,npcol,ranks,reps,calls,", file);
    report_csv_head(columns, file);
    for (int c = 0; c < report->count; c++) {
        fprintf(file, "%s,%c,%lld,%lld,%lld,%c,%c,%d,%d,%d,%d,%d,", report->results[c].name, "sdcz"[args->type],
                (long long)args -> m, (long long)args -> n, (long long)args -> k, args -> transa, args -> transb,
                report -> p -> nprow, report -> p -> npcol, report -> p -> ranks, args -> reps, report -> calls);
        report_csv_row(columns, &report->results[c], REPORT_ALL, file);
    }
}

/* --- table -------------------------------------------------------------------------------------------------------- */

static void print_rate(const gemm_report *report, const report_table *table, FILE *file)
{
    const gemm_rate *rate = report->rate;
    const result row = {
        .name = "GEMM", .seconds = report->rate_seconds, .gflops = rate->flops / report->rate_seconds.median * 1e-9};
    char note[200], size[80];
    int length;

    if (problem_on_device(report->p))
        return;
    if (rate->flops == 0) {
        fprintf(file, "GEMM        not measured: the product has no operations\n");
        return;
    }
    snprintf(size, sizeof size, "%lld x %lld x %lld", (long long)rate->m, (long long)rate->n, (long long)rate->k);
    length = snprintf(note, sizeof note, "  one process, %d %s thread%s%s", rate->threads, blas_name(),
                      report_plural(rate->threads), report->p->mach.nodes > 1 ? ", one node" : "");
    if (rate->local)
        length += snprintf(note + length, sizeof note - (size_t)length, ", rank 0's part: %s", size);
    if (rate->shrunk)
        snprintf(note + length, sizeof note - (size_t)length, ", %s (half of the free memory)", size);
    report_table_row(table, &row, 0, note, file);
}

/* Where the time of all ranks went. */
static void print_shares(const result *r, FILE *file)
{
    const turn *t = &r->typical;

    if (!isfinite(t->gemm_share))
        return;
    fprintf(file, "%-10s GEMM %.1f %%, copies %.1f %%, waits %.1f %%, all else %.1f %% of the ranks' time", r->name,
            100 * t->gemm_share, 100 * t->copy_share, 100 * t->wait_share, 100 * t->library_share);
    if (r->node)
        fprintf(file, "; in a node: %s", r->node);
    if (r->chunk)
        fprintf(file, ", %lld at a time", (long long)r->chunk);
    fputc('\n', file);
}

static void print_verdict(const result *r, FILE *file)
{
    const check_outcome *check = &r->check;

    if (isnan(check->residual)) {
        fprintf(file, "check      %s: only with --check\n", r->name);
        return;
    }
    fprintf(file, "check      %s: %s, residual %.2g (below %g)", r->name, check->passed ? "passed" : "FAILED",
            check->residual, CHECK_RESIDUAL_LIMIT);
    if (check->strict)
        fprintf(file, "; %lld entries, worst %.2g of the bound; rows, worst %.2g of the bound",
                (long long)check->entries, check->entry_error, check->row_error);
    fputc('\n', file);
    if (check->row_error > 1 && check->col >= 0)
        fprintf(file, "           %s: C[%lld,%lld] (from 0) is off by %.3g\n", r->name, (long long)check->row,
                (long long)check->col, check->difference);
    else if (check->row_error > 1)
        fprintf(file, "           %s: row %lld (from 0) is wrong\n", r->name, (long long)check->row);
}

/* What was timed. */
static void print_routine(const gemm_report *report, FILE *file)
{
    const result *ours = &report->results[0];

    if (report->how == API_CALL || report->how == API_PDGEMM)
        fprintf(file, "api        hsumma_%s%cgemm%s; the plan below is made of the same arguments\n",
                report->how == API_PDGEMM ? "p" : "", "sdcz"[report->p->args->type],
                report -> how == API_PDGEMM ? "_" : "");
    fprintf(file, "%-10s %s\n", report->how == API_SCALAPACK ? "scalapack" : "plan", ours->plan);
    if (ours->why && ours->why[0])
        fprintf(file, "why        %s\n", ours->why);
    if (report->info)
        report_moves(report->info, "moves      ", file);
    if (report->calls > 1)
        fprintf(file, "calls      %d in a row in each round; times are of one call\n", report->calls);
}

static void print_table(const gemm_report *report, FILE *file)
{
    const result *ours = &report->results[0];
    char text[2][200];
    const char *unit;
    double factor = report_time_unit(ours->seconds.median, &unit);
    report_table table = {.columns = columns, .shown = PRODUCT, .factor = factor, .unit = unit};

    report_head(report->p, "gemm", file);
    print_routine(report, file);
    for (int i = 1; i < report->count; i++)
        if (!strcmp(report->results[i].api, api_names[API_SCALAPACK]))
            fprintf(file, "%-10s %s\n", report->results[i].name, report->results[i].plan);
    if (report_memory(report->p, text[0], sizeof text[0]))
        fprintf(file, "memory     %s\n", text[0]);
    fputc('\n', file);
    report_table_head(&table, NULL, file);
    for (int i = 0; i < report->count; i++)
        report_table_row(&table, &report->results[i], PRODUCT, NULL, file);
    print_rate(report, &table, file);
    fputc('\n', file);
    if (report->info && isfinite(ours->predicted.all))
        report_phases(ours, report->info, file);
    for (int i = 1; i < report->count; i++)
        fprintf(file, "ratio      %s / %s: %.3f (%.3f to %.3f over %d round%s); above 1: %s is faster\n",
                report->results[i].name, ours->name, report->results[i].ratio.median, report->results[i].ratio.min,
                report->results[i].ratio.max, report->p->args->reps, report_plural(report->p->args->reps),
                report->how == API_SCALAPACK ? "the first" : ours->name);
    report_floor(report, factor, unit, file);
    for (int i = 0; i < report->count; i++)
        print_shares(&report->results[i], file);
    for (int i = 0; i < report->count; i++)
        fprintf(file, "%-10s peak memory of a rank %s, %s beyond its A, B and C%s\n", report->results[i].name,
                report_bytes(text[0], sizeof text[0], report->results[i].peak_rss),
                report_bytes(text[1], sizeof text[1], report->results[i].peak_above),
                i ? " (and what ran before it)" : " (MPI and the program itself included)");
    if (report->planted)
        fprintf(file, "testing    an error was planted in %s's C\n", ours->name);
    for (int i = 0; i < report->count; i++)
        print_verdict(&report->results[i], file);
}

int report_gemm(const gemm_report *report, FILE *file)
{
    int good = 1;

    if (report->p->args->format == REPORT_JSON)
        good = print_json(report, file);
    else if (report->p->args->format == REPORT_CSV)
        print_csv(report, file);
    else
        print_table(report, file);
    return good && report_written(file);
}
