/* hsumma trace: the report as a table, CSV or JSON. */

#include "report/columns.h"
#include "trace/trace.h"

static const report_column columns[] = {
    {"rank", REPORT_VALUE(trace_rank, rank), REPORT_SHOWN("rank", 6, 0)},
    {"node", REPORT_VALUE(trace_rank, node), REPORT_SHOWN("node", 5, 0)},
    {"all_s", REPORT_VALUE(trace_rank, all), REPORT_TIMES("all")},
    {"gemm_s", REPORT_VALUE(trace_rank, gemm), REPORT_TIMES("GEMM")},
    {"copy_s", REPORT_VALUE(trace_rank, copy), REPORT_TIMES("copies")},
    {"wait_s", REPORT_VALUE(trace_rank, wait), REPORT_TIMES("waits")},
    {"rest_s", REPORT_VALUE(trace_rank, rest), REPORT_TIMES("rest")},
    {"sent_bytes", REPORT_VALUE(trace_rank, sent), REPORT_SHOWN("sent", 9, 0), .style = 'b'},
    {"messages", REPORT_VALUE(trace_rank, messages), REPORT_SHOWN("messages", 8, 0)},
    {"lost", REPORT_VALUE(trace_rank, lost)},
    REPORT_END};

/* A line of a table of waits: the waiting rank or node, the cause, and the awaited rank or node. */
typedef struct debt_row {
    char waiter[24], what[24], peer[40];
    double seconds, part;
    int times;
} debt_row;

static const report_column debts[] = {
    {"waiter", REPORT_VALUE(debt_row, waiter), REPORT_SHOWN("", -9, 0)},
    {"wait_s", REPORT_VALUE(debt_row, seconds), REPORT_TIMES("waits")},
    {"part", REPORT_VALUE(debt_row, part), REPORT_SHOWN("of all", 7, 1), .unit = "%", .factor = 100},
    {"times", REPORT_VALUE(debt_row, times), REPORT_SHOWN("times", 6, 0)},
    {"what", REPORT_VALUE(debt_row, what), REPORT_SHOWN("for", -16, 0)},
    {"peer", REPORT_VALUE(debt_row, peer), REPORT_SHOWN("of", -20, 0)},
    REPORT_END};

static debt_row row_of(const trace_file *trace, const trace_debt *debt)
{
    debt_row row = {.seconds = debt->seconds, .times = debt->times};
    double all = 0;

    for (int r = 0; r < trace->ranks; r++)
        if (debt->waiter < 0 ? trace->rank[r].node == debt->waiter_node : r == debt->waiter)
            all += trace->rank[r].all;
    row.part = all > 0 ? debt->seconds / all : 0;
    trace_say(debt->awaited, debt->what, row.what, sizeof row.what);
    snprintf(row.waiter, sizeof row.waiter, debt->waiter < 0 ? "node %d" : "rank %d",
             debt->waiter < 0 ? debt->waiter_node : debt->waiter);
    if (debt->peer >= 0 && trace->nodes > 1)
        snprintf(row.peer, sizeof row.peer, "rank %d, node %d", debt->peer, debt->peer_node);
    else if (debt->peer >= 0)
        snprintf(row.peer, sizeof row.peer, "rank %d", debt->peer);
    else
        snprintf(row.peer, sizeof row.peer, debt->peer_node < 0 ? "-" : "node %d", debt->peer_node);
    return row;
}

static void print_debts(const trace_file *trace, const report_table *like, const trace_debt *list, int count, int top,
                        FILE *file)
{
    report_table table = *like;
    int number = 0;

    table.columns = debts;
    report_table_head(&table, NULL, file);
    for (int i = 0; i < count; i++) {
        int goes_on = i > 0 && list[i].waiter == list[i - 1].waiter && list[i].waiter >= 0;
        debt_row row = row_of(trace, &list[i]);

        number = goes_on || (i > 0 && list[i].waiter < 0) ? number + 1 : 1;
        if (number <= top)
            report_table_row(&table, &row, (unsigned)REPORT_ALL, NULL, file);
    }
}

/* Time outside the GEMM: waits, copies, and other time in the library and in MPI. */
static double exposed(const trace_rank *rank)
{
    return rank->all - rank->gemm;
}

static void print_summary(const trace_file *trace, const report_table *table, FILE *file)
{
    double mean = 0, all = 0, gemm = 0, wait = 0;
    int most = 0, ranks = 0;

    for (int r = 0; r < trace->ranks; r++) {
        const trace_rank *rank = &trace->rank[r];

        if (rank->all <= 0)
            continue;
        ranks++;
        mean += exposed(rank);
        wait += rank->wait;
        gemm = rank->gemm > gemm ? rank->gemm : gemm;
        all = rank->all > all ? rank->all : all;
        most = exposed(rank) > exposed(&trace->rank[most]) ? r : most;
    }
    if (ranks)
        fprintf(file,
                "\noutside GEMM: %.3f %s per rank on average, of which waits %.3f; most on rank %d: %.3f of %.3f\n"
                "longest GEMM time of a rank: %.3f %s, longest product: %.3f\n",
                mean / ranks * table->factor, table->unit, wait / ranks * table->factor, most,
                exposed(&trace->rank[most]) * table->factor, trace->rank[most].all * table->factor,
                gemm * table->factor, table->unit, all * table->factor);
}

static void print_prediction(const trace_file *trace, const report_table *table, FILE *file)
{
    const double *seconds = trace->predicted;

    if (seconds[0] > 0)
        fprintf(file, "predicted: %.3f %s, GEMM %.3f, copies %.3f, the rest communication; %.2f of the measured time\n",
                seconds[0] * table->factor, table->unit, seconds[1] * table->factor, seconds[2] * table->factor,
                seconds[0] / (trace->end - trace->begin));
}

static void print_course(const char *name, const trace_course *course, double factor, int digits, FILE *file)
{
    fprintf(file, "%-9s", name);
    for (int i = 0; i < TRACE_TENTHS; i++)
        fprintf(file, " %7.*f", digits, course->tenth[i] * factor);
    fputc('\n', file);
}

/* Prints for each tenth of the time the bytes per second that enter each node, and the mean number of ranks in the
 * GEMM. */
static void print_courses(const trace_file *trace, FILE *file)
{
    char name[24];

    fprintf(file, "\nIn each tenth of the time: %snumber of ranks in the GEMM\n",
            trace->nodes > 1 ? "MB/s that enter a node; " : "");
    for (int n = 0; trace->nodes > 1 && n < trace->nodes; n++) {
        snprintf(name, sizeof name, "node %d", n);
        print_course(name, &trace->entering[n], 1e-6, 0, file);
    }
    print_course("GEMM", &trace->multiplying, 1, 1, file);
}

static void print_table(const trace_file *trace, const trace_arguments *args, FILE *file)
{
    report_table table = {.columns = columns};
    double span = trace->end - trace->begin;

    table.factor = report_time_unit(span, &table.unit);
    fprintf(file, "hsumma trace: %d rank%s, %d node%s, ", trace->ranks, report_plural(trace->ranks), trace->nodes,
            report_plural(trace->nodes));
    if (trace->product)
        fprintf(file, "product %d of %d", trace->product, trace->products);
    else
        fprintf(file, "%d product%s", trace->products, report_plural(trace->products));
    fprintf(file, ", %.3f %s; clocks agree within %.3g us\n", span * table.factor, table.unit,
            trace->clock_error * 1e6);
    if (trace->lost)
        fprintf(file, "note: the oldest %lld entries are lost, because the rings of the timeline were full\n",
                (long long)trace->lost);
    fputc('\n', file);
    report_table_head(&table, NULL, file);
    for (int r = 0; r < trace->ranks; r++)
        report_table_row(&table, &trace->rank[r], (unsigned)REPORT_ALL, NULL, file);
    print_summary(trace, &table, file);
    print_prediction(trace, &table, file);
    print_courses(trace, file);
    if (trace->nodes > 1 && trace->node_debts) {
        fprintf(file, "\nWaits by cause: totals of each node\n");
        print_debts(trace, &table, trace->by_node, trace->node_debts, 4 * args->top, file);
    }
    if (trace->rank_debts) {
        fprintf(file, "\nWaits by cause: the longest %d of each rank\n", args->top);
        print_debts(trace, &table, trace->by_rank, trace->rank_debts, args->top, file);
    }
}

static json_t *debts_json(const trace_file *trace, const trace_debt *list, int count)
{
    json_t *array = json_array();

    for (int i = 0; i < count; i++) {
        debt_row row = row_of(trace, &list[i]);
        json_t *object = report_object(debts, &row, (unsigned)REPORT_ALL);

        json_object_set_new(object, "awaited", json_string(list[i].awaited));
        json_object_set_new(object, "operand", json_string(list[i].what));
        json_object_set_new(object, "peer_rank", report_integer(list[i].peer));
        json_object_set_new(object, "peer_node", report_integer(list[i].peer_node));
        json_array_append_new(array, object);
    }
    return array;
}

static int print_json(const trace_file *trace, FILE *file)
{
    json_t *ranks = json_array(), *entering = json_array();

    for (int r = 0; r < trace->ranks; r++)
        json_array_append_new(ranks, report_object(columns, &trace->rank[r], (unsigned)REPORT_ALL));
    for (int n = 0; n < trace->nodes; n++)
        json_array_append_new(entering, report_reals(trace->entering[n].tenth, TRACE_TENTHS));
    return report_json(json_pack("{s:s,s:i,s:i,s:i,s:f,s:f,s:f,s:f,s:f,s:I,s:o,s:o,s:o,s:o,s:o}", "command", "trace",
                                 "nodes", trace->nodes, "products", trace->products, "product", trace->product,
                                 "seconds", trace->end - trace->begin, "predicted_s", trace->predicted[0],
                                 "predicted_gemm_s", trace->predicted[1], "predicted_copy_s", trace->predicted[2],
                                 "clock_error_s", trace->clock_error, "lost", (json_int_t)trace->lost, "ranks", ranks,
                                 "entering_bytes_per_s", entering, "multiplying",
                                 report_reals(trace->multiplying.tenth, TRACE_TENTHS), "waits_of_nodes",
                                 debts_json(trace, trace->by_node, trace->node_debts), "waits_of_ranks",
                                 debts_json(trace, trace->by_rank, trace->rank_debts)),
                       0, 9, file);
}

int trace_report(const trace_file *trace, const trace_arguments *args, FILE *file)
{
    int good = 1;

    if (args->format == REPORT_JSON)
        good = print_json(trace, file);
    else if (args->format == REPORT_CSV) {
        report_csv_head(columns, file);
        for (int r = 0; r < trace->ranks; r++)
            report_csv_row(columns, &trace->rank[r], (unsigned)REPORT_ALL, file);
    } else
        print_table(trace, args, file);
    return good && report_written(file);
}
