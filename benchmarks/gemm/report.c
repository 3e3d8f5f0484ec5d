/* hsumma gemm: the report as a table, CSV or JSON. */
#include "gemm/command.h"

#include <math.h>

#include "base/threads.h"
#include "common/command.h"
#include "report/bounds.h"
#include "report/product.h"

/* Conditions for columns. PRODUCT: rows of products, not of the local GEMM; RATIO: rows with a ratio, not the measured
 * routine's own; LINK: with --link. */
enum { PRODUCT = 1, RATIO = 2, LINK = 4 };

static unsigned present(const contest *run)
{
    return PRODUCT | (run->link.rate > 0 ? LINK : 0U);
}

static const report_column columns[] = {
    {.title = "", REPORT_VALUE(contender, name), .width = -10},
    {"api", REPORT_VALUE(contender, api)},
    {"median_s", REPORT_VALUE(contender, seconds.median), REPORT_TIMES("median")},
    {"min_s", REPORT_VALUE(contender, seconds.min), REPORT_TIMES("min")},
    {"max_s", REPORT_VALUE(contender, seconds.max), REPORT_TIMES("max")},
    {"gflops", REPORT_VALUE(contender, gflops), REPORT_SHOWN("GFLOP/s", 8, 1)},
    {"fraction_of_gemm_rate", REPORT_VALUE(contender, fraction.median), REPORT_SHOWN("of GEMM", 7, 2), .unit = "rate",
     .when = PRODUCT},
    {"fraction_min", REPORT_VALUE(contender, fraction.min)},
    {"fraction_max", REPORT_VALUE(contender, fraction.max)},
    {"of_link", REPORT_VALUE(contender, of_link.median), REPORT_SHOWN("of link", 7, 2), .unit = "+ GEMM", .when = LINK},
    {"of_link_min", REPORT_VALUE(contender, of_link.min), .when = LINK},
    {"of_link_max", REPORT_VALUE(contender, of_link.max), .when = LINK},
    {"ratio", REPORT_VALUE(contender, ratio.median), .when = RATIO},
    {"ratio_min", REPORT_VALUE(contender, ratio.min), .when = RATIO},
    {"ratio_max", REPORT_VALUE(contender, ratio.max), .when = RATIO},
    {"comm_share", REPORT_VALUE(contender, typical.comm_share), REPORT_SHOWN("comm", 5, 1), .unit = "%", .factor = 100,
     .when = PRODUCT},
    {"comm_s", REPORT_VALUE(contender, typical.comm)},
    {"gemm_s", REPORT_VALUE(contender, typical.gemm)},
    {"copy_s", REPORT_VALUE(contender, typical.copy)},
    {"gemm_share", REPORT_VALUE(contender, typical.gemm_share)},
    {"copy_share", REPORT_VALUE(contender, typical.copy_share)},
    {"wait_share", REPORT_VALUE(contender, typical.wait_share)},
    {"library_share", REPORT_VALUE(contender, typical.library_share)},
    {"timed_share", REPORT_VALUE(contender, typical.timed_share)},
    {"predicted_s", REPORT_VALUE(contender, info.predicted_seconds)},
    {"predicted_comm_s", REPORT_VALUE(contender, info.predicted_comm_seconds)},
    {"predicted_gemm_s", REPORT_VALUE(contender, info.predicted_gemm_seconds)},
    {"predicted_copy_s", REPORT_VALUE(contender, info.predicted_copy_seconds)},
    {"bytes_per_rank_max", REPORT_VALUE(contender, sent.bytes), REPORT_SHOWN("sent/rank", 9, 0), .unit = "max",
     .style = 'b', .when = PRODUCT},
    {"messages_per_rank_max", REPORT_VALUE(contender, sent.messages), REPORT_SHOWN("messages", 8, 0), .unit = "max",
     .when = PRODUCT},
    {"workspace_bytes", REPORT_VALUE(contender, sent.workspace), REPORT_SHOWN("workspace", 9, 0), .style = 'b',
     .when = PRODUCT},
    REPORT_BOUNDS(contender, bounds),
    {"residual", REPORT_VALUE(contender, check.residual), REPORT_SHOWN("residual", 8, 2), .style = 'g',
     .when = PRODUCT},
    {"row_error", REPORT_VALUE(contender, row_error)},
    {"peak_rss_bytes", REPORT_VALUE(contender, peak_rss)},
    {"peak_rss_above_matrices_bytes", REPORT_VALUE(contender, peak_above)},
    {"matrices_bytes", REPORT_VALUE(contender, matrices)},
    {"passed", REPORT_TRUTH(contender, check.passed)},
    {"plan", REPORT_VALUE(contender, plan)},
    REPORT_END};

/* --- json --------------------------------------------------------------------------------------------------------- */

/* A strict check also reports entries and errors and, if a row is wrong, that row's worst entry. */
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

static void add_result(json_t *object, const contender *x, int reps, unsigned present)
{
    report_add(object, columns, x, present);
    json_object_set_new(object, "phases", report_phases_json(x));
    json_object_set_new(object, "times_s", report_reals(x->times, reps));
    if (x->info.why)
        json_object_set_new(object, "why", json_string(x->info.why));
    if (x->node) {
        json_object_set_new(object, "node", json_string(x->node));
        json_object_set_new(object, "chunk", json_integer(x->chunk));
    }
    json_object_set_new(object, "check", check_json(&x->check));
}

static json_t *rate_json(const contest *run)
{
    const gemm_rate *rate = &run->rate;

    return json_pack("{s:I,s:I,s:I,s:i,s:i,s:o,s:o,s:o,s:o,s:o}", "m", (json_int_t)rate->m, "n", (json_int_t)rate->n,
                     "k", (json_int_t)rate->k, "threads", rate->threads, "nodes", run->measured->mach.nodes, "median_s",
                     report_real(run->rate_seconds.median), "min_s", report_real(run->rate_seconds.min), "max_s",
                     report_real(run->rate_seconds.max), "gflops_per_node",
                     report_real(rate->flops / run->rate_seconds.median * 1e-9), "times_s",
                     report_reals(run->rate_times, run->args->common.reps));
}

static int print_json(const contest *run, FILE *file)
{
    json_t *object = report_head_json(run->measured, "gemm"), *others = json_object();
    int reps = run->args->common.reps;

    for (int i = 1; i < run->count; i++) {
        json_t *one = json_object();

        add_result(one, &run->contenders[i], reps, present(run) | RATIO);
        json_object_set_new(others, run->contenders[i].name, one);
    }
    if (run->count > 1) /* the ratio is that of contender 1, all other columns are those of the measured routine */
        report_add(object, columns, &run->contenders[1], RATIO);
    add_result(object, run->contenders, reps, present(run));
    if (run->warning[0])
        json_object_set_new(object, "warning", json_string(run->warning));
    json_object_set_new(object, "calls", json_integer(run->args->calls));
    if (run->plan)
        report_moves_json(&run->info, object);
    json_object_set_new(object, "gemm_rate", rate_json(run));
    json_object_set_new(object, "contenders", others);
    report_floor_json(run, object);
    report_link_json(run, object);
    report_simulated_json(run, object);
    return report_json(object, 0, 9, file);
}

/* --- csv ---------------------------------------------------------------------------------------------------------- */

static void print_csv(const contest *run, FILE *file)
{
    const arguments *args = &run->args->common;

    fputs("contender,type,m,n,k,transa,transb,nprow,npcol,ranks,reps,calls,", file);
    report_csv_head(columns, file);
    for (int c = 0; c < run->count; c++) {
        fprintf(file, "%s,%c,%lld,%lld,%lld,%c,%c,%d,%d,%d,%d,%d,", run->contenders[c].name,
                hs_scalars[args->type].letter, (long long)args->m, (long long)args->n, (long long)args->k, args->transa,
                args->transb, run->measured->nprow, run->measured->npcol, run->measured->ranks, args->reps,
                run->args->calls);
        report_csv_row(columns, &run->contenders[c], REPORT_ALL, file);
    }
}

/* --- table -------------------------------------------------------------------------------------------------------- */

static void print_rate(const contest *run, const report_table *table, FILE *file)
{
    const gemm_rate *rate = &run->rate;
    const contender row = {
        .name = "GEMM", .seconds = run->rate_seconds, .gflops = rate->flops / run->rate_seconds.median * 1e-9};
    char note[200], size[80];
    int length;

    if (problem_on_device(run->measured) || is_simulated())
        return;
    if (rate->flops == 0) {
        fprintf(file, "GEMM        not measured: the product has no operations\n");
        return;
    }
    snprintf(size, sizeof size, "%lld x %lld x %lld", (long long)rate->m, (long long)rate->n, (long long)rate->k);
    length = snprintf(note, sizeof note, "  one process, %d %s thread%s%s", rate->threads, hs_threads_library(),
                      report_plural(rate->threads), run->measured->mach.nodes > 1 ? ", one node" : "");
    if (rate->kind == RATE_LOCAL)
        length += snprintf(note + length, sizeof note - (size_t)length, ", rank 0's part: %s", size);
    if (rate->shrunk)
        snprintf(note + length, sizeof note - (size_t)length, ", measured with %s, which fit in memory", size);
    report_table_row(table, &row, 0, note, file);
}

/* Prints how the ranks spent their time. */
static void print_shares(const contender *x, FILE *file)
{
    const turn *t = &x->typical;

    if (!isfinite(t->gemm_share))
        return;
    fprintf(file, "%-10s GEMM %.1f %%, copies %.1f %%, waits %.1f %%, other %.1f %% of the ranks' time", x->name,
            100 * t->gemm_share, 100 * t->copy_share, 100 * t->wait_share, 100 * t->library_share);
    if (x->node)
        fprintf(file, "; inside a node: %s", x->node);
    if (x->chunk)
        fprintf(file, ", chunks of %lld", (long long)x->chunk);
    fputc('\n', file);
}

static void print_verdict(const contender *x, FILE *file)
{
    const check_outcome *check = &x->check;

    if (isnan(check->residual)) {
        fprintf(file, "check      %s: not done; it needs %s\n", x->name,
                x->alone ? "--check" : "data, see option compute");
        return;
    }
    fprintf(file, "check      %s: %s, residual %.2g (limit %g)", x->name, check->passed ? "passed" : "FAILED",
            check->residual, CHECK_RESIDUAL_LIMIT);
    if (check->strict)
        fprintf(file, "; %lld entries: errors up to %.2g of the bound; rows: up to %.2g", (long long)check->entries,
                check->entry_error, check->row_error);
    fputc('\n', file);
    if (check->row_error > 1 && check->col >= 0)
        fprintf(file, "           %s: C[%lld,%lld] (from 0) is off by %.3g\n", x->name, (long long)check->row,
                (long long)check->col, check->difference);
    else if (check->row_error > 1)
        fprintf(file, "           %s: row %lld (from 0) is wrong\n", x->name, (long long)check->row);
}

/* Prints the routine that was timed, and its plan. */
static void print_routine(const contest *run, FILE *file)
{
    const contender *ours = run->contenders;

    if (run->args->how == API_CALL || run->args->how == API_PDGEMM)
        fprintf(file, "api        hsumma_%s%cgemm%s; the plan below is made from the same arguments\n",
                run->args->how == API_PDGEMM ? "p" : "", hs_scalars[run->args->common.type].letter,
                run->args->how == API_PDGEMM ? "_" : "");
    fprintf(file, "%-10s %s\n", run->args->how == API_SCALAPACK ? "scalapack" : "plan", ours->plan);
    if (ours->info.why && ours->info.why[0])
        fprintf(file, "why        %s\n", ours->info.why);
    if (run->plan)
        report_moves(&run->info, "moves      ", file);
    if (run->args->calls > 1)
        fprintf(file, "calls      %d consecutive calls in each round; times are per call\n", run->args->calls);
}

static void print_table(const contest *run, FILE *file)
{
    const contender *ours = run->contenders, *end = ours + run->count;
    int reps = run->args->common.reps;
    char text[2][200];
    report_table table = {.columns = columns, .shown = present(run)};

    table.factor = report_time_unit(ours->seconds.median, &table.unit);
    report_head(run->measured, "gemm", file);
    if (run->warning[0])
        fprintf(file, "note: %s, which costs more than 10 %% of a product's time; see hsumma doctor\n", run->warning);
    print_routine(run, file);
    for (const contender *x = ours + 1; x < end; x++)
        if (x->who.how == API_SCALAPACK)
            fprintf(file, "%-10s %s\n", x->name, x->plan);
    if (report_memory(run->measured, text[0], sizeof text[0]))
        fprintf(file, "memory     %s\n", text[0]);
    fputc('\n', file);
    report_table_head(&table, NULL, file);
    for (const contender *x = ours; x < end; x++)
        report_table_row(&table, x, present(run), NULL, file);
    print_rate(run, &table, file);
    fputc('\n', file);
    if (isfinite(ours->info.predicted_seconds))
        report_phases(ours, file);
    for (const contender *x = ours + 1; x < end; x++)
        fprintf(file, "ratio      %s / %s: %.3f (%.3f to %.3f over %d round%s); above 1: %s is faster\n", x->name,
                ours->name, x->ratio.median, x->ratio.min, x->ratio.max, reps, report_plural(reps),
                run->args->how == API_SCALAPACK ? "the routine of --api" : ours->name);
    report_bounds(&ours->bounds, 11, file);
    report_link(run, &table, file);
    report_floor(run, &table, file);
    report_simulated(run, file);
    for (const contender *x = ours; x < end; x++)
        print_shares(x, file);
    for (const contender *x = ours; x < end && x->peak_rss >= 0; x++)
        fprintf(file, "%-10s peak memory of a rank %s, %s beyond its A, B and C%s\n", x->name,
                report_bytes(text[0], sizeof text[0], x->peak_rss),
                report_bytes(text[1], sizeof text[1], x->peak_above),
                x > ours ? " (including earlier contenders)" : " (including MPI and the program)");
    if (run->args->plant)
        fprintf(file, "testing    an error was planted in %s's C\n", ours->name);
    for (const contender *x = ours; x < end; x++)
        print_verdict(x, file);
}

int report_gemm(const contest *run, FILE *file)
{
    int good = 1;

    if (run->args->common.format == REPORT_JSON)
        good = print_json(run, file);
    else if (run->args->common.format == REPORT_CSV)
        print_csv(run, file);
    else
        print_table(run, file);
    return good && report_written(file);
}
