/*
 * hsumma coll --pairs: the throughput of concurrent pairs of ranks, relative to one pair, as in Figure 1 of Bayatpour
 * et al., DPML (SC17), after osu_mbw_mr of the OSU benchmarks. Rank i of the first half of the ranks sends to rank i of
 * the second half: with two nodes between them, with one inside it.
 */
#include <stdlib.h>

#include "coll/command.h"
#include "measure/simulated.h"
#include "measure/timing.h"
#include "report/columns.h"

enum { WINDOW = 64, MOST_PAIRS_ROWS = 64, MOST_LOOPS = 1 << 14 }; /* WINDOW: messages in flight of a pair */
static const double least_seconds = 500e-6;                       /* of a measurement */

/* The throughput of some pairs at one size. */
typedef struct pairs_row {
    const char *where;
    int64_t bytes;
    int pairs, loops, reps;
    double message_rate, rate,
        relative; /* messages and bytes per second of all pairs; throughput over that of one pair */
    spread time;  /* seconds per message of a pair */
    double *seconds;
} pairs_row;

typedef struct pairs_run {
    const coll_arguments *args;
    MPI_Comm comm;
    int rank, size, mate; /* mate: -1 if the number of ranks is odd and this is the last one */
    const char *where;
    char *memory;
    double *seconds;
} pairs_run;

static const report_column columns[] = {
    {"where", REPORT_VALUE(pairs_row, where), REPORT_SHOWN("where", -13, 0)},
    {"bytes", REPORT_VALUE(pairs_row, bytes), REPORT_SHOWN("bytes", 10, 0)},
    {"pairs", REPORT_VALUE(pairs_row, pairs), REPORT_SHOWN("pairs", 6, 0)},
    {"message_s", REPORT_VALUE(pairs_row, time.median), REPORT_SHOWN("a message", 10, 3), .unit = "us", .factor = 1e6},
    {"lower_s", REPORT_VALUE(pairs_row, time.lower), REPORT_SHOWN("lower", 10, 3), .unit = "us", .factor = 1e6},
    {"upper_s", REPORT_VALUE(pairs_row, time.upper), REPORT_SHOWN("upper", 10, 3), .unit = "us", .factor = 1e6},
    {"messages_per_s", REPORT_VALUE(pairs_row, message_rate), .title = "messages", .unit = "million/s", .width = 10,
     .digits = 4, .style = 'g', .factor = 1e-6},
    {"bytes_per_s", REPORT_VALUE(pairs_row, rate), .title = "MB/s", .width = 10, .digits = 1, .factor = 1e-6},
    {"relative", REPORT_VALUE(pairs_row, relative), .title = "relative", .unit = "to 1 pair", .width = 10, .digits = 3},
    {"repetitions", REPORT_VALUE(pairs_row, reps)},
    REPORT_END};

/* Sends windows of messages from the first half of the ranks to the second, which confirms each. Returns the seconds of
 * this rank; 0 if it is not in one of the pairs. */
static double exchange(const pairs_run *run, int64_t bytes, int pairs, int loops)
{
    MPI_Request request[WINDOW];
    int half = run->size / 2, sends = run->rank < half;
    char *memory = run->memory;
    common_start(run->comm);
    double start = MPI_Wtime();
    if (run->mate < 0 || (sends ? run->rank : run->rank - half) >= pairs)
        return 0;
    for (int loop = 0; loop < loops; loop++) {
        for (int i = 0; i < WINDOW; i++)
            if (sends)
                MPI_Isend(memory, (int)bytes, MPI_BYTE, run->mate, 1, run->comm, &request[i]);
            else
                MPI_Irecv(memory + i * bytes, (int)bytes, MPI_BYTE, run->mate, 1, run->comm, &request[i]);
        quiet_wait(WINDOW, request);
        if (sends)
            MPI_Irecv(memory, 0, MPI_BYTE, run->mate, 2, run->comm, request);
        else
            MPI_Isend(memory, 0, MPI_BYTE, run->mate, 2, run->comm, request);
        quiet_wait(1, request);
    }
    return MPI_Wtime() - start;
}

/* The seconds of the slowest pair. */
static double time_once(const pairs_run *run, int64_t bytes, int pairs, int loops)
{
    double mine = exchange(run, bytes, pairs, loops), most;
    quiet_allreduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, run->comm);
    return most;
}

/* Measures all numbers of pairs at one size in turns. Returns the number of rows. */
static int measure(pairs_run *run, int64_t bytes, pairs_row *row)
{
    int half = run->size / 2, rows = 0, reps = is_simulated() ? 1 : run->args->reps;
    for (int pairs = 1; pairs <= half; pairs = pairs < half && 2 * pairs > half ? half : 2 * pairs) {
        row[rows] = (pairs_row){.where = run->where, .bytes = bytes, .pairs = pairs, .loops = 1, .reps = reps};
        row[rows].seconds = run->seconds + (size_t)rows * (size_t)reps;
        while (!is_simulated() && row[rows].loops < MOST_LOOPS &&
               time_once(run, bytes, pairs, row[rows].loops) < least_seconds)
            row[rows].loops *= 2;
        rows++;
    }
    for (int i = 0; i < reps; i++)
        for (int r = 0; r < rows; r++)
            row[r].seconds[i] = time_once(run, bytes, row[r].pairs, row[r].loops) / row[r].loops / WINDOW;
    for (int r = 0; r < rows; r++) {
        row[r].time = spread_of(row[r].seconds, reps);
        row[r].message_rate = row[r].pairs / row[r].time.median;
        row[r].rate = row[r].message_rate * (double)bytes;
        row[r].relative = row[r].message_rate / row[0].message_rate;
    }
    return rows;
}

/* Whether the pairs are inside nodes or between them. Collective. */
static const char *place(const pairs_run *run, MPI_Comm node)
{
    int mine, *all = malloc((size_t)run->size * sizeof *all), apart = 0, half = run->size / 2;
    quiet_allreduce(&run->rank, &mine, 1, MPI_INT, MPI_MIN, node);
    if (!all)
        return "unknown";
    quiet_gather(&mine, all, 1, MPI_INT, run->comm);
    for (int i = 0; run->rank == 0 && i < half; i++)
        apart += all[i] != all[i + half];
    free(all);
    return apart == 0 ? "inside nodes" : apart == half ? "between nodes" : "mixed";
}

static void report(const pairs_run *run, const pairs_row *row, int rows, json_t *list)
{
    const report_table table = {.columns = columns};
    for (int r = 0; r < rows; r++)
        if (run->args->format == REPORT_JSON)
            json_array_append_new(list, report_object(columns, &row[r], REPORT_ALL));
        else if (run->args->format == REPORT_CSV)
            report_csv_row(columns, &row[r], REPORT_ALL, stdout);
        else
            report_table_row(&table, &row[r], REPORT_ALL, r + 1 < rows ? "" : "\n", stdout);
    fflush(stdout);
}

static int carry_out(pairs_run *run)
{
    const coll_arguments *args = run->args;
    pairs_row row[MOST_PAIRS_ROWS];
    json_t *list = run->rank == 0 ? json_array() : NULL;
    int good = 1;
    if (run->rank == 0 && args->format == REPORT_TABLE) {
        printf("hsumma coll --pairs: %d ranks, %s; windows of %d messages; medians and quartiles of %d repetition%s in "
               "turns\n\n",
               run->size, run->where, WINDOW, args->reps, report_plural(args->reps));
        report_table_head(&(report_table){.columns = columns}, NULL, stdout);
    } else if (run->rank == 0 && args->format == REPORT_CSV) {
        report_csv_head(columns, stdout);
    }
    for (int64_t bytes = args->from; bytes <= args->to; bytes = (bytes ? bytes : 1) * args->factor) {
        int rows = measure(run, bytes, row);
        if (run->rank == 0)
            report(run, row, rows, list);
    }
    if (run->rank == 0 && args->format == REPORT_JSON)
        good = report_json(json_pack("{s:s,s:i,s:O}", "command", "coll --pairs", "ranks", run->size, "rows", list), 0,
                           9, stdout);
    json_decref(list);
    good = good && (run->rank || report_written(stdout));
    return command_fail(run->comm, !good, "coll: the report could not be written");
}

int coll_pairs(const coll_arguments *args, MPI_Comm comm)
{
    pairs_run run = {.args = args, .comm = comm, .mate = -1};
    machine mach;
    int code = COMMAND_BAD_INPUT;
    MPI_Comm_rank(comm, &run.rank);
    MPI_Comm_size(comm, &run.size);
    machine_init(&mach, comm);
    int half = run.size / 2;
    if (run.rank < 2 * half)
        run.mate = run.rank < half ? run.rank + half : run.rank - half;
    run.where = place(&run, mach.node);
    if (!command_fail(comm, run.size < 2, "coll: --pairs on 1 rank: expected at least 2") &&
        !command_fail(comm, args->to > (int64_t)4 << 20, "coll: --bytes %lld: expected at most 4M with --pairs",
                      (long long)args->to)) {
        run.memory = calloc(WINDOW, args->to ? (size_t)args->to : 1);
        run.seconds = malloc(MOST_PAIRS_ROWS * (size_t)args->reps * sizeof *run.seconds);
        code = command_fail(comm, !run.memory || !run.seconds, "coll: no memory for %d messages of %lld bytes", WINDOW,
                            (long long)args->to);
        if (!code)
            code = carry_out(&run);
    }
    free(run.memory);
    free(run.seconds);
    machine_free(&mach);
    return code;
}
