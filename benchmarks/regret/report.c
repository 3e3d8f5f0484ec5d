/* hsumma regret: the report as a table, or as one JSON object per line and case. */
#include <math.h>

#include "regret/command.h"
#include "report/columns.h"
#include "report/product.h"

/* --- json --------------------------------------------------------------------------------------------------------- */

/* Conditions for columns. FINAL: a plan of the final rounds, with medians; MEASURED: the verdict on tune=measure. */
enum { FINAL = 1, MEASURED = 2 };

static const report_column plan_columns[] = {
    {"name", REPORT_VALUE(regret_plan, name), REPORT_SHOWN("", -34, 0)},
    {"median_s", REPORT_VALUE(regret_plan, total.median), REPORT_TIMES("median"), .when = FINAL},
    {"min_s", REPORT_VALUE(regret_plan, total.min), REPORT_TIMES("min"), .when = FINAL},
    {"max_s", REPORT_VALUE(regret_plan, total.max), REPORT_TIMES("max"), .when = FINAL},
    {"predicted_s", REPORT_VALUE(regret_plan, info.predicted_seconds), REPORT_TIMES("predicted")},
    {"median_comm_s", REPORT_VALUE(regret_plan, final_comm.median), REPORT_TIMES("comm"), .when = FINAL},
    {"predicted_comm_s", REPORT_VALUE(regret_plan, info.predicted_comm_seconds), REPORT_TIMES("predicted")},
    {"plan", REPORT_VALUE(regret_plan, info.line), REPORT_SHOWN("", -1, 0)},
    {"in_set", REPORT_TRUTH(regret_plan, in_set)},
    {"turns", REPORT_VALUE(regret_plan, turns)},
    {"lookahead", REPORT_VALUE(regret_plan, info.lookahead)},
    {"node", REPORT_VALUE(regret_plan, info.node)},
    {"shortest_s", REPORT_VALUE(regret_plan, best.seconds)},
    {"comm_s", REPORT_VALUE(regret_plan, best.comm)},
    {"gemm_s", REPORT_VALUE(regret_plan, best.gemm)},
    {"comm_share", REPORT_VALUE(regret_plan, best.comm_share)},
    {"predicted_gemm_s", REPORT_VALUE(regret_plan, info.predicted_gemm_seconds)},
    REPORT_END};

/* The columns of a verdict's plan. best_columns has those of the best rival, which stay null if there is no rival. */
static const report_column choice_columns[] = {{"name", REPORT_VALUE(regret_plan, name)},
                                               {"plan", REPORT_VALUE(regret_plan, info.line)},
                                               {"why", REPORT_VALUE(regret_plan, info.why)},
                                               {"profile", REPORT_VALUE(regret_plan, info.profile)},
                                               {"in_set", REPORT_TRUTH(regret_plan, in_set)},
                                               {"median_s", REPORT_VALUE(regret_plan, total.median)},
                                               REPORT_END};

static const report_column best_columns[] = {{"best", REPORT_VALUE(regret_plan, name)},
                                             {"best_plan", REPORT_VALUE(regret_plan, info.line)},
                                             {"best_median_s", REPORT_VALUE(regret_plan, total.median)},
                                             REPORT_END};

static const report_column verdict_columns[] = {
    {"ratio", REPORT_VALUE(regret_verdict, ratio.median)},
    {"ratio_lower", REPORT_VALUE(regret_verdict, ratio.lower)},
    {"ratio_upper", REPORT_VALUE(regret_verdict, ratio.upper)},
    {"executions", REPORT_VALUE(regret_verdict, executions), .when = MEASURED},
    {"tuning_s", REPORT_VALUE(regret_verdict, tuning_seconds), .when = MEASURED},
    REPORT_END};

static json_t *verdict_json(const regret_run *run, int which)
{
    const regret_verdict *v = &run->verdict[which];
    json_t *object;

    if (!v->plan)
        return json_null();
    object = report_object(choice_columns, v->plan, REPORT_ALL);
    json_object_update_new(object, json_pack("{s:n,s:n,s:n,s:s?,s:f,s:b}", "best", "best_plan", "best_median_s",
                                             "tuned", run->automatic[which].info.tuned, "regret", v->ratio.median - 1,
                                             "loss", regret_is_loss(v)));
    if (v->best)
        report_add(object, best_columns, v->best, REPORT_ALL);
    report_add(object, verdict_columns, v, which == REGRET_MEASURE ? MEASURED : 0);
    return object;
}

static json_t *blocking_json(const regret_run *run)
{
    json_t *object;

    if (!run->blocking.plan)
        return json_null();
    object = report_object(plan_columns, &run->blocking, 0);
    json_object_set_new(object, "median_comm_s", report_real(run->blocking_comm));
    return object;
}

static int print_json(const regret_run *run, FILE *file)
{
    json_t *object = report_head_json(&run->p, "regret"), *set = json_array(), *final = json_array();

    json_object_set_new(object, "case", json_string(run->which->text));
    json_object_set_new(object, "line", json_integer(run->which->line));
    json_object_set_new(object, "calls", json_integer(run->calls));
    for (int i = 0; i < run->count; i++)
        json_array_append_new(set, report_object(plan_columns, &run->set[i], 0));
    for (int f = 0; f < run->finals; f++)
        json_array_append_new(final, report_object(plan_columns, run->final[f], FINAL));
    json_object_set_new(object, "candidates", set);
    json_object_set_new(object, "refused", json_integer(run->refused));
    json_object_set_new(object, "alike", json_integer(run->alike));
    json_object_set_new(object, "final", final);
    for (int i = 0; i < REGRET_VERDICTS; i++)
        json_object_set_new(object, regret_verdict_names[i], verdict_json(run, i));
    json_object_set_new(object, "blocking", blocking_json(run));
    json_object_set_new(object, "passed", run->checked ? json_boolean(run->check.passed) : json_null());
    json_object_set_new(object, "seconds", report_real(run->seconds));
    return report_json(object, 1, 6, file);
}

/* --- table -------------------------------------------------------------------------------------------------------- */

static void print_verdict(const regret_run *run, int which, FILE *file)
{
    const regret_verdict *v = &run->verdict[which];

    if (!v->plan)
        return;
    fprintf(file, "%-8s  ", regret_verdict_names[which]);
    if (which == REGRET_MEASURE)
        fprintf(file, "%d executions, ", v->executions);
    if (!v->best)
        fprintf(file, "no other candidate\n");
    else
        fprintf(file, "%s / %s: %.3f (quartiles %.3f, %.3f): %s\n", v->plan->name, v->best->name, v->ratio.median,
                v->ratio.lower, v->ratio.upper,
                regret_is_loss(v)    ? "a loss"
                : v->ratio.upper < 1 ? "a gain"
                                     : "no difference beyond the spread");
}

static void print_table(const regret_run *run, FILE *file)
{
    report_table table = {.columns = plan_columns, .shown = FINAL};

    table.factor = report_time_unit(run->automatic[REGRET_ESTIMATE].total.median, &table.unit);
    report_head(&run->p, "regret", file);
    fprintf(file, "case       %s\n", run->which->text[0] ? run->which->text : "the defaults");
    fprintf(file, "set        %d candidates; %d had the same plan as another, %d were refused; %d call%s per turn\n",
            run->count, run->alike, run->refused, run->calls, report_plural(run->calls));
    fputc('\n', file);
    report_table_head(&table, NULL, file);
    for (int f = 0; f < run->finals; f++)
        report_table_row(&table, run->final[f], FINAL, NULL, file);
    fputc('\n', file);
    for (int i = 0; i < REGRET_VERDICTS; i++)
        print_verdict(run, i, file);
    if (run->blocking.plan)
        fprintf(file, "blocking  the automatic plan with lookahead 0: communication %.3f %s, predicted %.3f\n",
                run->blocking_comm * table.factor, table.unit,
                run->blocking.info.predicted_comm_seconds * table.factor);
    if (run->checked)
        fprintf(file, "check     the automatic plan: %s, residual %.2g\n", run->check.passed ? "passed" : "FAILED",
                run->check.residual);
    fprintf(file, "%.1f s\n\n", run->seconds);
}

int regret_report_case(const regret_run *run, FILE *file)
{
    if (run->of->set.common.format == REPORT_JSON)
        return print_json(run, file);
    print_table(run, file);
    return report_written(file);
}

int regret_report_failed(const product_case *which, report_format format, FILE *file)
{
    if (format == REPORT_JSON)
        return report_json(
            json_pack("{s:s,s:s,s:i,s:b}", "command", "regret", "case", which->text, "line", which->line, "failed", 1),
            1, 6, file);
    fprintf(file, "case       %s\nnot measured; see the error message\n\n", which->text);
    return report_written(file);
}

/* --- totals ------------------------------------------------------------------------------------------------------- */

void regret_add(regret_totals *totals, const regret_run *run)
{
    totals->cases++;
    for (int i = 0; i < REGRET_VERDICTS; i++) {
        const regret_verdict *v = &run->verdict[i];

        if (!v->plan)
            continue;
        totals->within[i] += v->ratio.median <= 1.1;
        totals->losses[i] += regret_is_loss(v);
        totals->worst[i] = fmax(totals->worst[i], v->ratio.median - 1);
    }
}

int regret_report_totals(const regret_totals *totals, const regret_arguments *args, FILE *file)
{
    if (args->set.common.format == REPORT_JSON)
        return 1; /* JSON has one line per case and no totals */
    fprintf(file, "%d case%s", totals->cases, report_plural(totals->cases));
    if (totals->failed)
        fprintf(file, ", %d failed", totals->failed);
    if (totals->left_out)
        fprintf(file, ", %d skipped: --seconds reached", totals->left_out);
    fputc('\n', file);
    for (int i = 0; i < REGRET_VERDICTS && totals->cases; i++)
        if (i == REGRET_ESTIMATE || args->measure)
            fprintf(file, "%-8s  %d within 10 %% of the best, %d losses, worst %.1f %%\n", regret_verdict_names[i],
                    totals->within[i], totals->losses[i], 100 * totals->worst[i]);
    return report_written(file);
}
