/* hsumma sweep: the report as a table, CSV or JSON. */
#include "measure/simulated.h"
#include "report/columns.h"
#include "report/product.h"
#include "sweep/command.h"

#define CHOSEN "  <- chosen"

/* Conditions for columns. WITH_GROUPS: groupings other than SUMMA; WITH_CHECK: with a plan and a checked result. */
enum { WITH_GROUPS = 1, WITH_PLAN = 2, WITH_CHECK = 4, WITHOUT_PLAN = 8 };

static const report_column columns[] = {
    {.title = "", REPORT_VALUE(candidate, mark), .width = 2},
    {.title = "I x J", REPORT_VALUE(candidate, grid.name), .width = -8, .narrow = 1},
    {"groups", REPORT_VALUE(candidate, grid.name), .when = WITH_GROUPS},
    {"i", REPORT_VALUE(candidate, grid.rows), .when = WITH_GROUPS},
    {"j", REPORT_VALUE(candidate, grid.cols), .when = WITH_GROUPS},
    {"g", REPORT_VALUE(candidate, grid.groups), REPORT_SHOWN("G", 6, 0), .narrow = 1, .when = WITH_GROUPS},
    {"best_of_g", REPORT_TRUTH(candidate, best_of_g), .when = WITH_GROUPS},
    {"best", REPORT_TRUTH(candidate, best), .when = WITH_GROUPS},
    {"median_s", REPORT_VALUE(candidate, total.median), REPORT_TIMES("total"), .when = WITH_PLAN},
    {"min_s", REPORT_VALUE(candidate, total.min), REPORT_TIMES("min"), .when = WITH_PLAN},
    {"max_s", REPORT_VALUE(candidate, total.max), REPORT_TIMES("max"), .when = WITH_PLAN},
    {"comm_s", REPORT_VALUE(candidate, comm.median), REPORT_TIMES("comm"), .when = WITH_PLAN},
    {"comm_min_s", REPORT_VALUE(candidate, comm.min), .when = WITH_PLAN},
    {"comm_max_s", REPORT_VALUE(candidate, comm.max), .when = WITH_PLAN},
    {"gemm_s", REPORT_VALUE(candidate, gemm.median), REPORT_TIMES("gemm"), .when = WITH_PLAN},
    {"predicted_s", REPORT_VALUE(candidate, info.predicted_seconds), REPORT_TIMES("model"), .when = WITH_PLAN},
    {"predicted_comm_s", REPORT_VALUE(candidate, info.predicted_comm_seconds), REPORT_TIMES("its comm"),
     .when = WITH_PLAN},
    {"ratio", REPORT_VALUE(candidate, ratio.median), REPORT_SHOWN("ratio", 6, 3), .when = WITH_PLAN},
    {"ratio_min", REPORT_VALUE(candidate, ratio.min), REPORT_SHOWN("min", 6, 3), .when = WITH_PLAN},
    {"ratio_max", REPORT_VALUE(candidate, ratio.max), REPORT_SHOWN("max", 6, 3), .when = WITH_PLAN},
    {"bytes_per_rank_max", REPORT_VALUE(candidate, sent.bytes), REPORT_SHOWN("sent/rank", 9, 0), .style = 'b',
     .when = WITH_PLAN},
    {"messages_per_rank_max", REPORT_VALUE(candidate, sent.messages), REPORT_SHOWN("messages", 8, 0),
     .when = WITH_PLAN},
    {"workspace_bytes", REPORT_VALUE(candidate, sent.workspace), .when = WITH_PLAN},
    {"residual", REPORT_VALUE(candidate, check.residual), REPORT_SHOWN("residual", 8, 2), .style = 'g',
     .when = WITH_CHECK},
    {"passed", REPORT_TRUTH(candidate, check.passed), .when = WITH_CHECK},
    {"chosen", REPORT_TRUTH(candidate, chosen)},
    {"plan", REPORT_VALUE(candidate, info.line), .when = WITH_PLAN},
    {"error", REPORT_VALUE(candidate, message), .when = WITHOUT_PLAN},
    REPORT_END};

static unsigned present(const candidate *c)
{
    return (c->grid.rows ? WITH_GROUPS : 0U) | (c->plan ? WITH_PLAN : WITHOUT_PLAN) |
           (c->plan && c->checked ? WITH_CHECK : 0U);
}

/* The automatic plan, or null if the library made none. */
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

    json_object_set_new(object, "summa", report_object(columns, &s->candidates[0], present(&s->candidates[0])));
    for (int i = 1; i < s->count; i++)
        json_array_append_new(list, report_object(columns, &s->candidates[i], present(&s->candidates[i])));
    json_object_set_new(object, "hsumma", list);
    json_object_set_new(object, "automatic", automatic_json(&s->own));
    return report_json(object, 0, 9, file);
}

static void print_csv(const sweep *s, FILE *file)
{
    fputs("candidate,", file);
    report_csv_head(columns, file);
    for (int i = 0; i < s->count; i++) {
        const candidate *c = &s->candidates[i];

        fprintf(file, "%s,", c->grid.rows ? "HSUMMA" : "SUMMA");
        report_csv_row(columns, c, WITH_GROUPS | present(c), file);
    }
}

static void print_row(const report_table *table, const candidate *c, FILE *file)
{
    char note[500] = "";

    if (!c->plan)
        snprintf(note, sizeof note, "  not run: %s%s", c->message, c->chosen ? CHOSEN : "");
    else
        snprintf(note, sizeof note, "%s%s",
                 !c->checked       ? ""
                 : c->check.passed ? " passed"
                                   : " FAILED",
                 c->chosen ? CHOSEN : "");
    report_table_row(table, c, present(c), note, file);
}

static void print_table(const sweep *s, FILE *file)
{
    report_table table = {.columns = columns, .shown = WITH_PLAN | WITH_GROUPS | (s->p.args->check ? WITH_CHECK : 0U)};
    int with_plan = 0;

    while (with_plan < s->count - 1 && !s->candidates[with_plan].plan)
        with_plan++;
    table.factor = report_time_unit(s->candidates[with_plan].total.median, &table.unit);
    report_head(&s->p, "sweep", file);
    fprintf(file, "%d group grid%s I x J of the grid in turns, %d round%s%s\n", s->count - 1, s->count > 2 ? "s" : "",
            s->p.args->reps, report_plural(s->p.args->reps), is_simulated() ? "" : " after one warm-up");
    if (s->candidates[0].plan)
        fprintf(file, "SUMMA's plan  %s\n", s->candidates[0].info.line);
    if (s->own.line[0])
        fprintf(file, "automatic     %s\n", s->own.line);
    if (s->own.shared[0])
        fprintf(file,
                "              (with --node messages; without it the library chooses a plan without groups: %s)\n",
                s->own.shared);
    fputc('\n', file);
    report_table_head(&table, NULL, file);
    for (int i = 0; i < s->count; i++)
        print_row(&table, &s->candidates[i], file);
    fputs("\n* fastest for its G, ** fastest of all; comm, gemm: of the slowest rank, median over the rounds; model, "
          "its\n"
          "comm: predicted total and communication time; chosen: the groups of the automatic plan; ratio above 1: "
          "faster\n"
          "than SUMMA; 1x1 and one group per process also run SUMMA: how far their rows differ from SUMMA's shows the "
          "noise\n",
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
    return good && report_written(file);
}
