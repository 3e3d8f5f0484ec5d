/* hsumma tune --coll: measures algorithms in turns and derives rules. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "coll/time.h"
#include "hsumma/context/context.h"
#include "measure/timing.h"
#include "report/columns.h"
#include "report/progress.h"
#include "tune/coll.h"

/* An entrant that takes more than this many times as long as the best is dropped after FIRST_ROUNDS rounds. */
static const double far_behind = 3;

enum { MOST_RULE_CALLS = 1000, FIRST_ROUNDS = 2, LEAST_ROUNDS = 3 };

typedef struct tuning {
    const tune_arguments *args;
    const char *path;
    coll_run coll; /* communicator and context of the measurements */
    const struct hs_topology *topology;
    progress bar;
    int points, done; /* sizes of all collectives: their number, and how many have been measured */
    double begin;
    tune_point *point; /* the `count` sizes of the current collective */
    int count;
} tuning;

/* --- one entrant ------------------------------------------------------------------------------------------------- */

/* Reads the model's choice from a description "... : WORD, by the model: ..."; returns 0 if there is none. */
static int model_word(const tuning *run, const coll_case *c, char word[TUNE_WORD])
{
    char text[400], *from, *to;

    if (hsumma_coll_describe(run->coll.ctx, &c->call, text, sizeof text))
        return 0;
    from = strstr(text, ": ");
    to = strstr(text, ", by the model");
    if (!from || !to || to - from - 2 >= TUNE_WORD)
        return 0;
    snprintf(word, TUNE_WORD, "%.*s", (int)(to - from - 2), from + 2);
    return 1;
}

/* Whether an algorithm serves the call itself, without a substitute. */
static int fits(const tuning *run, const coll_case *c, const char *word)
{
    hsumma_coll call = c->call;
    char text[400];

    call.algorithm = word;
    return !hsumma_coll_describe(run->coll.ctx, &call, text, sizeof text) && !strstr(text, " instead of ");
}

static void add(tune_point *point, const char *word)
{
    tune_entrant *x = &point->entrant[point->count++];

    snprintf(x->word, sizeof x->word, "%s", word);
}

/* Enters the fitting algorithms of the named set, and the model's choice. */
static void enter(const tuning *run, const coll_case *c, tune_point *point)
{
    const char *list[TUNE_WORDS];
    char word[TUNE_WORD];
    int count = tune_words(c->call.collective, run->topology, c->bytes, list);

    for (int i = 0; i < count; i++)
        if (fits(run, c, list[i]))
            add(point, list[i]);
    point->model = -1;
    if (!model_word(run, c, word))
        return;
    for (int i = 0; i < point->count && point->model < 0; i++)
        if (!strcmp(point->entrant[i].word, word))
            point->model = i;
    if (point->model < 0) {
        point->model = point->count;
        add(point, word);
    }
}

static int measure(const tuning *run, const coll_case *c, const tune_entrant *x, int calls, double *seconds)
{
    return coll_measure(&run->coll, c, &(coll_contender){.word = x->word}, calls, seconds);
}

/* Makes a first call, whose result is checked, then two that determine how many calls make a measurement. */
static int try_out(const tuning *run, coll_case *c, tune_entrant *x)
{
    double seconds, again;
    int code, right;

    coll_case_reset(c);
    if ((code = measure(run, c, x, 1, &seconds)))
        return code;
    right = coll_case_right(c);
    if (command_fail(run->coll.comm, !right, "tune: %s: the result is wrong", x->word))
        return COMMAND_INTERNAL;
    if ((code = measure(run, c, x, 1, &seconds)) || (code = measure(run, c, x, 1, &again)))
        return code;
    seconds = fmin(seconds, again);
    x->calls = coll_calls(seconds, MOST_RULE_CALLS);
    return COMMAND_OK;
}

/* --- one size ----------------------------------------------------------------------------------------------------- */

/* Drops entrants that are far behind, except the model's choice, whose loss is reported. */
static void leave_out(tune_point *point)
{
    double shortest[TUNE_WORDS], best = HUGE_VAL;

    for (int i = 0; i < point->count; i++) {
        shortest[i] = spread_of(point->entrant[i].times, point->entrant[i].count).min;
        best = fmin(best, shortest[i]);
    }
    for (int i = 0; i < point->count; i++)
        point->entrant[i].out = i != point->model && shortest[i] > far_behind * best;
}

/* Measures in LEAST_ROUNDS to TUNE_ROUNDS rounds, until the point's share of the time is used up; each round starts
 * with another entrant. */
static int take_turns(const tuning *run, const coll_case *c, tune_point *point, double end)
{
    int code = COMMAND_OK;

    for (int r = 0; r < TUNE_ROUNDS && !code && (r < LEAST_ROUNDS || !is_past(end, run->coll.comm)); r++) {
        if (r == FIRST_ROUNDS)
            leave_out(point);
        for (int i = 0; i < point->count && !code; i++) {
            tune_entrant *x = &point->entrant[(i + r) % point->count];

            if (!x->out)
                code = measure(run, c, x, x->calls, &x->times[x->count++]);
        }
    }
    for (int i = 0; i < point->count; i++) {
        tune_entrant *x = &point->entrant[i];
        x->seconds = x->count && !x->out ? spread_of(x->times, x->count).median : 0;
    }
    return code;
}

static int measure_point(tuning *run, hsumma_collective collective, int64_t bytes, tune_point *point)
{
    const coll_arguments what = {.collective = (int)collective, .element = HSUMMA_DOUBLE};
    double left = run->begin + run->args->seconds - MPI_Wtime(), end;
    coll_case c = {.in = NULL};
    int code, good;

    *point = (tune_point){.bytes = bytes, .chosen = -1, .next = -1, .model = -1};
    end = MPI_Wtime() + fmax(0, left) / (run->points - run->done);
    good = coll_case_make(&c, &what, bytes, run->coll.comm);
    code = command_fail(run->coll.comm, !good, "tune: no memory for a vector of %lld bytes", (long long)bytes);
    if (!code)
        enter(run, &c, point);
    for (int i = 0; i < point->count && !code; i++)
        code = try_out(run, &c, &point->entrant[i]);
    if (!code)
        code = take_turns(run, &c, point, end);
    coll_case_free(&c);
    run->done++;
    return code;
}

/* --- one collective ----------------------------------------------------------------------------------------------- */

/* A row of the report, for one size. */
typedef struct size_row {
    int64_t bytes;
    const char *word[3]; /* chosen, runner-up, the model's; NULL: not measured */
    double time[3], loss;
} size_row;

static const report_column columns[] = {
    {.title = "bytes", REPORT_VALUE(size_row, bytes), .width = 10},
    {.title = "chosen", REPORT_VALUE(size_row, word[0]), .width = -30},
    {.title = "us", REPORT_VALUE(size_row, time[0]), .width = 9, .digits = 2, .factor = 1e6, .narrow = 1},
    {.title = "runner-up", REPORT_VALUE(size_row, word[1]), .width = -30},
    {.title = "us", REPORT_VALUE(size_row, time[1]), .width = 9, .digits = 2, .factor = 1e6, .narrow = 1},
    {.title = "model's choice", REPORT_VALUE(size_row, word[2]), .width = -30},
    {.title = "us", REPORT_VALUE(size_row, time[2]), .width = 9, .digits = 2, .factor = 1e6, .narrow = 1},
    {.title = "loss %", REPORT_VALUE(size_row, loss), .width = 6, .digits = 1, .factor = 100, .when = 1},
    REPORT_END};

static void report(const tuning *run, hsumma_collective collective, int lines, char line[][TUNE_LINE])
{
    const report_table table = {.columns = columns, .shown = 1};

    printf("\n%s\n", hs_collective_name((enum hs_collective)collective));
    report_table_head(&table, NULL, stdout);
    for (int i = 0; i < run->count; i++) {
        const tune_point *point = &run->point[i];
        const int which[3] = {point->chosen, point->next, point->model};
        size_row row = {.bytes = point->bytes};

        for (int w = 0; w < 3; w++) {
            const tune_entrant *x = which[w] >= 0 ? &point->entrant[which[w]] : NULL;
            int measured = x && x->seconds > 0;

            row.word[w] = measured ? x->word : NULL;
            row.time[w] = measured ? x->seconds : NAN;
        }
        row.loss = row.time[2] / row.time[0] - 1;
        report_table_row(&table, &row, isfinite(row.loss), NULL, stdout);
    }
    for (int i = 0; i < lines; i++)
        printf("  %s\n", line[i]);
    fflush(stdout);
}

/* Reports a collective and writes its rules to the file, on rank 0. This is done after each collective, so that an
 * interrupted run keeps them. */
static int remember(const tuning *run, hsumma_collective collective)
{
    char line[COLL_SIZES][TUNE_LINE];
    const char *text[COLL_SIZES];
    struct hs_message message = {""};
    hsumma_status status = HSUMMA_OK;
    int lines;

    if (run->coll.rank == 0) {
        lines = tune_rules(collective, run->coll.size, run->topology->division[HS_NODE].parts, run->point, run->count,
                           line);
        for (int i = 0; i < lines; i++)
            text[i] = line[i];
        report(run, collective, lines, line);
        status = hs_tuned_merge(run->path, text, lines, &hs_heap, &message);
    }
    return command_fail(run->coll.comm, status != HSUMMA_OK, "%s", message.text);
}

/* Lists the sizes of --sizes, rounded as in coll_case_sizes; returns their number. */
static int sizes_of(const tuning *run, hsumma_collective collective, int64_t bytes[COLL_SIZES])
{
    const coll_arguments what = {.collective = (int)collective,
                                 .element = HSUMMA_DOUBLE,
                                 .from = run->args->from,
                                 .to = run->args->to,
                                 .factor = 4};

    return coll_case_sizes(&what, run->coll.size, bytes);
}

static int tune_one(tuning *run, hsumma_collective collective)
{
    int64_t bytes[COLL_SIZES];
    int count = sizes_of(run, collective, bytes), code = COMMAND_OK;

    run->count = 0;
    for (int i = 0; i < count && !code; i++) {
        if (run->coll.rank == 0)
            progress_update(&run->bar, hs_collective_name((enum hs_collective)collective),
                            (double)run->done / run->points);
        code = measure_point(run, collective, bytes[i], &run->point[run->count++]);
    }
    progress_end(&run->bar);
    if (code)
        return code;
    tune_choose(run->point, run->count);
    return remember(run, collective);
}

/* --- all collectives --------------------------------------------------------------------------------------------- */

static int carry_out(tuning *run)
{
    int64_t bytes[COLL_SIZES];
    int code = COMMAND_OK;

    run->point = calloc(COLL_SIZES, sizeof *run->point);
    if (command_fail(run->coll.comm, !run->point, "tune: no memory"))
        return COMMAND_INTERNAL;
    for (int c = 0; c < TUNE_COLLECTIVES; c++)
        run->points += run->args->chosen & 1 << c ? sizes_of(run, (hsumma_collective)c, bytes) : 0;
    if (run->coll.rank == 0) {
        int nodes = run->topology->division[HS_NODE].parts, sockets = run->topology->division[HS_SOCKET].parts;
        printf("hsumma tune: collectives on %d rank%s, %d node%s, %d socket%s; loss: by how much the model's choice is "
               "slower than the chosen\n",
               run->coll.size, report_plural(run->coll.size), nodes, report_plural(nodes), sockets,
               report_plural(sockets));
        progress_begin(&run->bar, 0, run->args->set.common.quiet);
    }
    run->begin = MPI_Wtime();
    for (int c = 0; c < TUNE_COLLECTIVES && !code; c++)
        if (run->args->chosen & 1 << c)
            code = tune_one(run, (hsumma_collective)c);
    if (run->coll.rank == 0 && !code)
        printf("\n%.1f s; written to %s\n", MPI_Wtime() - run->begin, run->path);
    return code;
}

int tune_collectives(const tune_arguments *args, const char *options, const char *path, MPI_Comm comm)
{
    tuning run = {.args = args, .path = path, .coll = {.command = "tune", .comm = comm}};
    char text[400] = "", *words = tune_options(options, "none", "coll=auto");
    hsumma_status status;
    int code = COMMAND_INTERNAL;

    MPI_Comm_rank(comm, &run.coll.rank);
    MPI_Comm_size(comm, &run.coll.size);
    if (!command_fail(comm, !words, "tune: no memory")) {
        status = hsumma_create(comm, words, &run.coll.ctx, text, sizeof text);
        if (command_fail(comm, status != HSUMMA_OK, "tune: %s", text)) {
            code = command_code(status);
        } else {
            run.topology = &run.coll.ctx->comm.topology;
            code = carry_out(&run);
        }
    }
    free(run.point);
    hsumma_free(&run.coll.ctx);
    free(words);
    return code;
}
