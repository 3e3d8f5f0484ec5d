/* The two forms of the report on choices: a table, or an object of json on a line for each case. */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "gemm/report.h"
#include "regret/regret.h"

/* --- json --------------------------------------------------------------------------------------------------------- */

static json_t *plan_json(const regret_plan *x)
{
    json_t *object = json_pack("{s:s,s:s,s:b,s:i,s:i}", "name", x->name, "plan", x->info.line, "in_set", x->in_set,
                               "turns", x->turns, "lookahead", x->info.lookahead);

    json_object_set_new(object, "node", x->info.node ? json_string(x->info.node) : json_null());
    json_object_set_new(object, "shortest_s", report_real(x->seconds));
    json_object_set_new(object, "comm_s", report_real(x->comm));
    json_object_set_new(object, "gemm_s", report_real(x->gemm));
    json_object_set_new(object, "comm_share", report_real(x->comm_share));
    json_object_set_new(object, "predicted_s", report_real(x->info.predicted_seconds));
    json_object_set_new(object, "predicted_comm_s", report_real(x->info.predicted_comm_seconds));
    json_object_set_new(object, "predicted_gemm_s", report_real(x->info.predicted_gemm_seconds));
    return object;
}

static json_t *final_json(const regret_plan *x)
{
    json_t *object = plan_json(x);

    json_object_set_new(object, "median_s", report_real(x->total.median));
    json_object_set_new(object, "min_s", report_real(x->total.min));
    json_object_set_new(object, "max_s", report_real(x->total.max));
    json_object_set_new(object, "median_comm_s", report_real(x->final_comm.median));
    return object;
}

static json_t *verdict_json(const regret_run *run, int which)
{
    const regret_verdict *v = &run->verdict[which];
    json_t *object;

    if (!v->plan)
        return json_null();
    object = json_pack("{s:s,s:s,s:s?,s:s?,s:s?}", "name", v->plan->name, "plan", v->plan->info.line, "why",
                       v->plan->info.why, "tuned", run->automatic[which].info.tuned, "profile", v->plan->info.profile);
    json_object_set_new(object, "in_set", json_boolean(v->plan->in_set));
    json_object_set_new(object, "median_s", report_real(v->plan->total.median));
    json_object_set_new(object, "best", v->best ? json_string(v->best->name) : json_null());
    json_object_set_new(object, "best_plan", v->best ? json_string(v->best->info.line) : json_null());
    json_object_set_new(object, "best_median_s", v->best ? report_real(v->best->total.median) : json_null());
    json_object_set_new(object, "ratio", report_real(v->ratio));
    json_object_set_new(object, "ratio_lower", report_real(v->lower));
    json_object_set_new(object, "ratio_upper", report_real(v->upper));
    json_object_set_new(object, "regret", report_real(v->ratio - 1));
    json_object_set_new(object, "loss", json_boolean(regret_is_loss(v)));
    if (which == REGRET_MEASURE) {
        json_object_set_new(object, "executions", json_integer(v->executions));
        json_object_set_new(object, "tuning_s", report_real(v->tuning_seconds));
    }
    return object;
}

static json_t *blocking_json(const regret_run *run)
{
    json_t *object;

    if (!run->blocking.plan)
        return json_null();
    object = plan_json(&run->blocking);
    json_object_set_new(object, "median_comm_s", report_real(run->blocking_comm));
    return object;
}

/* One line. */
static int print_line(json_t *object, FILE *file)
{
    int failed = json_dumpf(object, file, JSON_COMPACT | JSON_REAL_PRECISION(6));

    fputc('\n', file);
    json_decref(object);
    return !failed && fflush(file) == 0 && !ferror(file);
}

static int print_json(const regret_run *run, FILE *file)
{
    json_t *object = report_head_json(&run->p, "regret"), *set = json_array(), *final = json_array();

    json_object_set_new(object, "case", json_string(run->which->text));
    json_object_set_new(object, "line", json_integer(run->which->line));
    json_object_set_new(object, "calls", json_integer(run->calls));
    for (int i = 0; i < run->count; i++)
        json_array_append_new(set, plan_json(&run->set[i]));
    for (int f = 0; f < run->finals; f++)
        json_array_append_new(final, final_json(run->final[f]));
    json_object_set_new(object, "candidates", set);
    json_object_set_new(object, "refused", json_integer(run->refused));
    json_object_set_new(object, "alike", json_integer(run->alike));
    json_object_set_new(object, "final", final);
    for (int i = 0; i < REGRET_VERDICTS; i++)
        json_object_set_new(object, regret_verdict_names[i], verdict_json(run, i));
    json_object_set_new(object, "blocking", blocking_json(run));
    json_object_set_new(object, "passed", run->checked ? json_boolean(run->check.passed) : json_null());
    json_object_set_new(object, "seconds", report_real(run->seconds));
    return print_line(object, file);
}

/* --- table -------------------------------------------------------------------------------------------------------- */

static void print_plan(const regret_plan *x, double unit, FILE *file)
{
    fprintf(file, "%-34s  %9.3f  %9.3f  %9.3f  %9.3f  %9.3f  %9.3f  %s\n", x->name, x->total.median * unit,
            x->total.min * unit, x->total.max * unit, x->info.predicted_seconds * unit, x->final_comm.median * unit,
            x->info.predicted_comm_seconds * unit, x->info.line);
}

static void print_verdict(const regret_run *run, int which, FILE *file)
{
    const regret_verdict *v = &run->verdict[which];

    if (!v->plan)
        return;
    fprintf(file, "%-8s  ", regret_verdict_names[which]);
    if (which == REGRET_MEASURE)
        fprintf(file, "%d executions, ", v->executions);
    if (!v->best)
        fprintf(file, "nothing to choose from\n");
    else
        fprintf(file, "%s / %s: %.3f (quartiles %.3f, %.3f): %s\n", v->plan->name, v->best->name, v->ratio, v->lower,
                v->upper,
                regret_is_loss(v) ? "a loss"
                : v->upper < 1    ? "a gain"
                                  : "no gap beyond the spread");
}

static void print_table(const regret_run *run, FILE *file)
{
    const char *unit;
    double factor = report_time_unit(run->automatic[REGRET_ESTIMATE].total.median, &unit);

    report_head(&run->p, "regret", file);
    fprintf(file, "case       %s\n", run->which->text[0] ? run->which->text : "the defaults");
    fprintf(file, "set        %d candidates; %d gave the plan of another, %d were refused; %d call%s a turn\n",
            run->count, run->alike, run->refused, run->calls, run->calls > 1 ? "s" : "");
    fprintf(file, "\n%-34s  %9s  %9s  %9s  %9s  %9s  %9s\n%-34s  %9s  %9s  %9s  %9s  %9s  %9s\n", "", "median", "min",
            "max", "predicted", "comm", "predicted", "", unit, unit, unit, unit, unit, unit);
    for (int f = 0; f < run->finals; f++)
        print_plan(run->final[f], factor, file);
    fputc('\n', file);
    for (int i = 0; i < REGRET_VERDICTS; i++)
        print_verdict(run, i, file);
    if (run->blocking.plan)
        fprintf(file, "blocking  the automatic plan with lookahead 0: communication %.3f %s, predicted %.3f\n",
                run->blocking_comm * factor, unit, run->blocking.info.predicted_comm_seconds * factor);
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
    return fflush(file) == 0 && !ferror(file);
}

int regret_report_failed(const product_case *which, report_format format, FILE *file)
{
    if (format == REPORT_JSON)
        return print_line(
            json_pack("{s:s,s:s,s:i,s:b}", "command", "regret", "case", which->text, "line", which->line, "failed", 1),
            file);
    fprintf(file, "case       %s\nnot measured, see the message\n\n", which->text);
    return fflush(file) == 0 && !ferror(file);
}

/* --- totals ------------------------------------------------------------------------------------------------------- */

void regret_add(regret_totals *totals, const regret_run *run)
{
    totals->cases++;
    for (int i = 0; i < REGRET_VERDICTS; i++) {
        const regret_verdict *v = &run->verdict[i];

        if (!v->plan)
            continue;
        totals->within[i] += v->ratio <= 1.1;
        totals->losses[i] += regret_is_loss(v);
        totals->worst[i] = fmax(totals->worst[i], v->ratio - 1);
    }
}

int regret_report_totals(const regret_totals *totals, const regret_arguments *args, FILE *file)
{
    if (args->set.common.format == REPORT_JSON)
        return 1; /* one line per case, and nothing else */
    fprintf(file, "%d case%s", totals->cases, totals->cases == 1 ? "" : "s");
    if (totals->failed)
        fprintf(file, ", %d failed", totals->failed);
    if (totals->left_out)
        fprintf(file, ", %d left out: the time was up", totals->left_out);
    fputc('\n', file);
    for (int i = 0; i < REGRET_VERDICTS && totals->cases; i++)
        if (i == REGRET_ESTIMATE || args->measure)
            fprintf(file, "%-8s  %d within 10 %% of the best, %d losses, worst %.1f %%\n", regret_verdict_names[i],
                    totals->within[i], totals->losses[i], 100 * totals->worst[i]);
    return fflush(file) == 0 && !ferror(file);
}
