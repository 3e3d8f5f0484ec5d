/* The three forms of the report on one product. */
#include "gemm/report.h"

#include <math.h>
#include <string.h>

#include "common/command.h"

/* The columns of csv and the keys of json that every contender has. */
enum { REALS = 25, INTEGERS = 6 };
static const char *const real_keys[REALS] = {"median_s",
                                             "min_s",
                                             "max_s",
                                             "gflops",
                                             "fraction_of_gemm_rate",
                                             "fraction_min",
                                             "fraction_max",
                                             "ratio",
                                             "ratio_min",
                                             "ratio_max",
                                             "comm_share",
                                             "comm_s",
                                             "gemm_s",
                                             "copy_s",
                                             "predicted_s",
                                             "residual",
                                             "row_error",
                                             "gemm_share",
                                             "copy_share",
                                             "wait_share",
                                             "library_share",
                                             "timed_share",
                                             "predicted_comm_s",
                                             "predicted_gemm_s",
                                             "predicted_copy_s"};
static const char *const integer_keys[INTEGERS] = {
    "bytes_per_rank_max", "messages_per_rank_max",         "workspace_bytes",
    "peak_rss_bytes",     "peak_rss_above_matrices_bytes", "matrices_bytes"};

static void numbers(const result *r, double real[REALS], int64_t integer[INTEGERS])
{
    const turn *t = &r->typical;
    const double reals[REALS] = {r->seconds.median,
                                 r->seconds.min,
                                 r->seconds.max,
                                 r->gflops,
                                 r->fraction.median,
                                 r->fraction.min,
                                 r->fraction.max,
                                 r->ratio.median,
                                 r->ratio.min,
                                 r->ratio.max,
                                 t->comm_share,
                                 t->comm,
                                 t->gemm,
                                 t->copy,
                                 r->predicted.all,
                                 r->check.residual,
                                 r->check.strict ? r->check.row_error : NAN,
                                 t->gemm_share,
                                 t->copy_share,
                                 t->wait_share,
                                 1 - t->gemm_share - t->copy_share - t->wait_share,
                                 t->timed_share,
                                 r->predicted.comm,
                                 r->predicted.gemm,
                                 r->predicted.copy};
    const int64_t integers[INTEGERS] = {r->bytes_max, r->messages_max, r->workspace,
                                        r->peak_rss,  r->peak_above,   r->matrices};

    memcpy(real, reals, sizeof reals);
    memcpy(integer, integers, sizeof integers);
}

/* --- json --------------------------------------------------------------------------------------------------------- */

static json_t *list_json(const double *values, int count)
{
    json_t *list = json_array();

    for (int i = 0; i < count; i++)
        json_array_append_new(list, report_real(values[i]));
    return list;
}

static json_t *check_json(const check_outcome *check)
{
    json_t *object = json_pack("{s:b,s:f}", "passed", check->passed, "residual_limit", CHECK_RESIDUAL_LIMIT);

    if (!check->strict)
        return object;
    json_object_set_new(object, "entries", json_integer(check->entries));
    json_object_set_new(object, "entry_error", report_real(check->entry_error));
    json_object_set_new(object, "row_error", report_real(check->row_error));
    if (check->row_error > 1) {
        json_object_set_new(object, "row", report_integer(check->row));
        json_object_set_new(object, "col", report_integer(check->col));
        json_object_set_new(object, "difference", report_real(check->difference));
    }
    return object;
}

static void add_result(json_t *object, const result *r, int reps)
{
    double real[REALS];
    int64_t integer[INTEGERS];

    numbers(r, real, integer);
    for (int i = 0; i < REALS; i++)
        json_object_set_new(object, real_keys[i], report_real(real[i]));
    for (int i = 0; i < INTEGERS; i++)
        json_object_set_new(object, integer_keys[i], report_integer(integer[i]));
    json_object_set_new(object, "phases", report_phases_json(r));
    json_object_set_new(object, "times_s", list_json(r->times, reps));
    json_object_set_new(object, "api", json_string(api_names[r->how]));
    json_object_set_new(object, "plan", json_string(r->plan));
    if (r->why)
        json_object_set_new(object, "why", json_string(r->why));
    if (r->node) {
        json_object_set_new(object, "node", json_string(r->node));
        json_object_set_new(object, "chunk", json_integer(r->chunk));
    }
    json_object_set_new(object, "passed", json_boolean(r->check.passed));
    json_object_set_new(object, "check", check_json(&r->check));
}

static int print_json(const gemm_report *report, FILE *file)
{
    const result *ours = &report->results[0];
    json_t *object = report_head_json(report->p, "gemm"), *others = json_object();
    int failed;

    add_result(object, ours, report->p->args->reps);
    json_object_set_new(object, "calls", json_integer(report->calls));
    if (report->info)
        report_moves_json(report->info, object);
    json_object_del(object, "ratio"); /* of the contender; ours would be 1 */
    json_object_del(object, "ratio_min");
    json_object_del(object, "ratio_max");
    json_object_set_new(
        object, "gemm_rate",
        json_pack("{s:I,s:I,s:I,s:i,s:i,s:o,s:o,s:o,s:o,s:o}", "m", (json_int_t)report->rate->m, "n",
                  (json_int_t)report->rate->n, "k", (json_int_t)report->rate->k, "threads", report->rate->threads,
                  "nodes", report->p->mach.nodes, "median_s", report_real(report->rate_seconds.median), "min_s",
                  report_real(report->rate_seconds.min), "max_s", report_real(report->rate_seconds.max),
                  "gflops_per_node", report_real(report->rate->flops / report->rate_seconds.median * 1e-9), "times_s",
                  list_json(report->rate_times, report->p->args->reps)));
    for (int i = 1; i < report->count; i++) {
        json_t *one = json_object();

        add_result(one, &report->results[i], report->p->args->reps);
        json_object_set_new(others, report->results[i].name, one);
    }
    if (report->count > 1) {
        json_object_set_new(object, "ratio", report_real(report->results[1].ratio.median));
        json_object_set_new(object, "ratio_min", report_real(report->results[1].ratio.min));
        json_object_set_new(object, "ratio_max", report_real(report->results[1].ratio.max));
    }
    json_object_set_new(object, "contenders", others);
    report_floor_json(report, object);
    failed = json_dumpf(object, file, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
    fputc('\n', file);
    json_decref(object);
    return !failed;
}

/* --- csv ---------------------------------------------------------------------------------------------------------- */

static void print_csv(const gemm_report *report, FILE *file)
{
    const arguments *args = report->p->args;

    fputs("contender,type,m,n,k,transa,transb,nprow,npcol,ranks,reps,calls,api", file);
    for (int i = 0; i < REALS; i++)
        fprintf(file, ",%s", real_keys[i]);
    for (int i = 0; i < INTEGERS; i++)
        fprintf(file, ",%s", integer_keys[i]);
    fputs(",passed,plan\n", file);
    for (int c = 0; c < report->count; c++) {
        const result *r = &report->results[c];
        double real[REALS];
        int64_t integer[INTEGERS];

        numbers(r, real, integer);
        const char letter = "sdcz"[args->type];
        fprintf(file, "%s,%c,%lld,%lld,%lld,%c,%c,%d,%d,%d,%d,%d,%s", r->name, letter, (long long)args->m,
                (long long)args->n, (long long)args->k, args->transa, args->transb, report->p->nprow, report->p->npcol,
                report->p->ranks, args->reps, report->calls, api_names[r->how]);
        for (int i = 0; i < REALS; i++)
            if (isfinite(real[i]))
                fprintf(file, ",%.9g", real[i]);
            else
                fputc(',', file);
        for (int i = 0; i < INTEGERS; i++)
            if (integer[i] >= 0)
                fprintf(file, ",%lld", (long long)integer[i]);
            else
                fputc(',', file);
        fprintf(file, ",%s,", r->check.passed ? "true" : "false");
        report_csv_text(file, r->plan);
        fputc('\n', file);
    }
}

/* --- table -------------------------------------------------------------------------------------------------------- */

/* A number in a column, or '-' where it is not known. */
static void cell(FILE *file, int width, int digits, double value)
{
    if (isfinite(value))
        fprintf(file, "  %*.*f", width, digits, value);
    else
        fprintf(file, "  %*s", width, isinf(value) ? "inf" : "-");
}

static void print_row(const result *r, double unit, FILE *file)
{
    char text[32];

    fprintf(file, "%-10s", r->name);
    cell(file, 9, 3, r->seconds.median * unit);
    cell(file, 9, 3, r->seconds.min * unit);
    cell(file, 9, 3, r->seconds.max * unit);
    cell(file, 8, 1, r->gflops);
    cell(file, 7, 2, r->fraction.median);
    cell(file, 5, 1, r->typical.comm_share * 100);
    fprintf(file, "  %9s", report_bytes(text, sizeof text, r->bytes_max));
    if (r->messages_max >= 0)
        fprintf(file, "  %8lld", (long long)r->messages_max);
    else
        fprintf(file, "  %8s", "-");
    fprintf(file, "  %9s", report_bytes(text, sizeof text, r->workspace));
    if (isfinite(r->check.residual))
        fprintf(file, "  %8.2g\n", r->check.residual);
    else
        fprintf(file, "  %8s\n", isinf(r->check.residual) ? "inf" : "-");
}

static void print_rate(const gemm_report *report, double unit, FILE *file)
{
    const gemm_rate *rate = report->rate;

    if (problem_on_device(report->p))
        return;
    if (rate->flops == 0) {
        fprintf(file, "GEMM        not measured: the product has no operations\n");
        return;
    }
    fprintf(file, "%-10s", "GEMM");
    cell(file, 9, 3, report->rate_seconds.median * unit);
    cell(file, 9, 3, report->rate_seconds.min * unit);
    cell(file, 9, 3, report->rate_seconds.max * unit);
    cell(file, 8, 1, rate->flops / report->rate_seconds.median * 1e-9);
    fprintf(file, "  one process, %d %s thread%s%s", rate->threads, blas_name(), rate->threads > 1 ? "s" : "",
            report->p->mach.nodes > 1 ? ", one node" : "");
    if (rate->local)
        fprintf(file, ", rank 0's part: %lld x %lld x %lld", (long long)rate->m, (long long)rate->n,
                (long long)rate->k);
    if (rate->shrunk)
        fprintf(file, ", %lld x %lld x %lld (half of the free memory)", (long long)rate->m, (long long)rate->n,
                (long long)rate->k);
    fputc('\n', file);
}

/* Where the time of all ranks went. */
static void print_shares(const result *r, FILE *file)
{
    const turn *t = &r->typical;

    if (!isfinite(t->gemm_share))
        return;
    fprintf(file, "%-10s GEMM %.1f %%, copies %.1f %%, waits %.1f %%, all else %.1f %% of the ranks' time", r->name,
            100 * t->gemm_share, 100 * t->copy_share, 100 * t->wait_share,
            100 * (1 - t->gemm_share - t->copy_share - t->wait_share));
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

    if (ours->how == API_CALL || ours->how == API_PDGEMM)
        fprintf(file, "api        hsumma_%s%cgemm%s; the plan below is made of the same arguments\n",
                ours->how == API_PDGEMM ? "p" : "", "sdcz"[report->p->args->type],
                ours -> how == API_PDGEMM ? "_" : "");
    fprintf(file, "%-10s %s\n", ours->how == API_SCALAPACK ? "scalapack" : "plan", ours->plan);
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

    report_head(report->p, "gemm", file);
    print_routine(report, file);
    for (int i = 1; i < report->count; i++)
        if (report->results[i].how == API_SCALAPACK)
            fprintf(file, "%-10s %s\n", report->results[i].name, report->results[i].plan);
    if (report_memory(report->p, text[0], sizeof text[0]))
        fprintf(file, "memory     %s\n", text[0]);
    fprintf(file, "\n%-10s  %9s  %9s  %9s  %8s  %7s  %5s  %9s  %8s  %9s  %8s\n", "", "median", "min", "max", "GFLOP/s",
            "of GEMM", "comm", "sent/rank", "messages", "workspace", "residual");
    fprintf(file, "%-10s  %9s  %9s  %9s  %8s  %7s  %5s  %9s  %8s\n", "", unit, unit, unit, "", "rate", "%", "max",
            "max");
    for (int i = 0; i < report->count; i++)
        print_row(&report->results[i], factor, file);
    print_rate(report, factor, file);
    fputc('\n', file);
    if (report->info && isfinite(ours->predicted.all))
        report_phases(ours, report->info, file);
    for (int i = 1; i < report->count; i++)
        fprintf(file, "ratio      %s / %s: %.3f (%.3f to %.3f over %d round%s); above 1: %s is faster\n",
                report->results[i].name, ours->name, report->results[i].ratio.median, report->results[i].ratio.min,
                report->results[i].ratio.max, report->p->args->reps, report->p->args->reps > 1 ? "s" : "",
                ours->how == API_SCALAPACK ? "the first" : ours->name);
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
    return good && fflush(file) == 0 && !ferror(file);
}
