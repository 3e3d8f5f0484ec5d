/* hsumma coll: times algorithms and MPI's own collectives in turns. */
#include "coll/time.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "coll/device.h"
#include "measure/simulated.h"

/* Least duration of a measurement in seconds; most calls in one. */
static const double least_seconds = 200e-6;

enum { MOST_CALLS = 10000 };

#define FIRST_CALLS 0.2 /* share of a size's progress that is shown before its repetitions */

/* --- contenders --------------------------------------------------------------------------------------------------- */

static int add_word(coll_run *run, const char *word)
{
    char **more = realloc(run->word, (size_t)(run->count + 1) * sizeof *more);

    if (!more)
        return 0;
    run->word = more;
    run->word[run->count++] = word ? strdup(word) : NULL;
    return !word || run->word[run->count - 1];
}

/* Adds MPI's own routine, then the algorithms that --alg names. */
static int add_words(coll_run *run)
{
    const char *words = run->args->algorithm ? run->args->algorithm : "all,auto";
    const struct hs_alg *alg;
    int good = add_word(run, NULL);
    char *word;

    for (int i = 0; good && (word = coll_word(words, i)); i++) {
        if (strcmp(word, "all"))
            good = add_word(run, word);
        for (int a = 0; good && !strcmp(word, "all") && (alg = hs_alg_at(a)); a++)
            if ((int)alg->collective == run->args->collective && !(is_simulated() && alg->flags & HS_BY_MPI))
                good = add_word(run, alg->name);
        free(word);
    }
    return good;
}

static int is_nccl(const coll_contender *x)
{
    return x->word && !strcmp(x->word, "nccl");
}

hsumma_coll coll_call_of(const coll_case *c, const coll_contender *x)
{
    hsumma_coll call = c->call;

    call.algorithm = x->word && strcmp(x->word, "auto") ? x->word : NULL;
    return call;
}

/* Makes `calls` consecutive calls, complete on return; NULL, or an error on this rank. */
static const char *call_often(const coll_run *run, const coll_case *c, const coll_contender *x, int calls,
                              hsumma_status *status)
{
    hsumma_coll call = coll_call_of(c, x);
    const char *complaint = NULL;

    *status = HSUMMA_OK;
    for (int i = 0; i < calls && !complaint && !*status; i++)
        if (is_nccl(x))
            complaint = coll_nccl_run(run->nccl, c);
        else if (x->word)
            *status = hsumma_coll_run(run->ctx, &call);
        else
            complaint = coll_case_mpi(c) ? "the call failed" : NULL;
    if (!*status && run->placed)
        *status = hsumma_synchronize(run->ctx);
    return *status ? hsumma_message(run->ctx) : complaint;
}

int coll_call(coll_run *run, const coll_case *c, const coll_contender *x)
{
    hsumma_status status;
    const char *complaint = call_often(run, c, x, 1, &status);

    return command_fail(run->comm, complaint != NULL, "coll: %s: %s", coll_label(run, x), complaint);
}

/* --- measuring ---------------------------------------------------------------------------------------------------- */

int coll_measure(const coll_run *run, const coll_case *c, const coll_contender *x, int calls, double *seconds)
{
    double zero = 0, start, mine[2], all[2];
    hsumma_status status = HSUMMA_OK;
    const char *complaint;

    if (is_simulated())
        common_start(run->comm);
    else
        status = hsumma_allreduce(run->ctx, &zero, &zero, 1, HSUMMA_DOUBLE, HSUMMA_SUM);
    start = MPI_Wtime();
    complaint = status ? hsumma_message(run->ctx) : call_often(run, c, x, calls, &status);
    mine[0] = (MPI_Wtime() - start) / calls;
    mine[1] = complaint != NULL;
    quiet_allreduce(mine, all, 2, MPI_DOUBLE, MPI_MAX, run->comm);
    *seconds = all[0];
    if (all[1] > 0) {
        command_fail(run->comm, mine[1] > 0, "%s: %s: %s", run->command, coll_label(run, x), complaint);
        return COMMAND_INTERNAL;
    }
    return COMMAND_OK;
}

/* Asks the library which algorithm serves the call: sets x->chosen for auto, x->why if the named one is not used. */
static void ask(coll_run *run, const hsumma_coll *call, coll_contender *x)
{
    char text[sizeof x->chosen], *why, *reason;

    if (hsumma_coll_describe(run->ctx, call, text, sizeof text))
        return;
    if (!call->algorithm) {
        memcpy(x->chosen, text, sizeof text);
        return;
    }
    why = strstr(text, " instead of ");
    if (!why)
        return;
    reason = strstr(why, "): ");
    snprintf(x->why, sizeof x->why, "%s", reason ? reason + strlen("): ") : text);
}

/* Makes the first call and checks its result. If the contender cannot serve the call, sets x->why instead. */
static int try_out(coll_run *run, coll_case *c, coll_contender *x)
{
    hsumma_coll call = coll_call_of(c, x);
    hsumma_status status;
    const char *complaint;
    int right;

    if (is_nccl(x))
        snprintf(x->why, sizeof x->why, "%s", run->nccl ? "" : run->no_nccl);
    else if (x->word)
        ask(run, &call, x);
    if (x->why[0])
        return COMMAND_OK;
    coll_case_reset(c);
    complaint = call_often(run, c, x, 1, &status);
    if (status == HSUMMA_ERR_UNSUPPORTED) {
        snprintf(x->why, sizeof x->why, "%s", complaint);
        return COMMAND_OK;
    }
    if (command_fail(run->comm, complaint != NULL, "coll: %s: %s", coll_label(run, x), complaint))
        return status == HSUMMA_ERR_OPTION || status == HSUMMA_ERR_ARGUMENT ? COMMAND_BAD_INPUT : COMMAND_INTERNAL;
    if (x->word && !call.algorithm) /* the first long broadcast may have measured prices */
        ask(run, &call, x);
    right = coll_case_right(c);
    quiet_allreduce(&right, &x->right, 1, MPI_INT, MPI_MIN, run->comm);
    return run->args->bits ? coll_device_bits(run, c, x) : COMMAND_OK;
}

int coll_calls(double seconds, int most)
{
    return seconds * most > least_seconds ? (int)ceil(least_seconds / seconds) : most;
}

static int calibrate(coll_run *run, const coll_case *c, coll_contender *x)
{
    double seconds = HUGE_VAL, now = 0;

    if (is_simulated()) { /* simulated calls all take the same time */
        x->calls = 1;
        return COMMAND_OK;
    }
    for (int i = 0; i < 3 && now < 50 * least_seconds; i++) { /* a long call needs only one estimate */
        int code = coll_measure(run, c, x, 2, &now);

        if (code)
            return code;
        seconds = now < seconds ? now : seconds;
    }
    x->calls = coll_calls(seconds, MOST_CALLS);
    return COMMAND_OK;
}

/* Shows the progress on rank 0; part: the fraction of this size that is done. */
static void show(coll_run *run, int point, double part)
{
    char phase[40];

    snprintf(phase, sizeof phase, "size %d of %d", point + 1, run->points);
    progress_update(&run->bar, phase, (point + part) / run->points);
}

/* Measures all repetitions. Each repetition begins with another contender. */
static int measure_all(coll_run *run, const coll_case *c, coll_contender *row)
{
    int code = COMMAND_OK;

    for (int r = 0; r < run->args->reps; r++)
        for (int i = 0; i < run->count && !code; i++) {
            coll_contender *x = &row[(i + r) % run->count];

            show(run, (int)(row - run->row) / run->count, FIRST_CALLS + (1 - FIRST_CALLS) * r / run->args->reps);
            if (!x->why[0])
                code = coll_measure(run, c, x, x->calls, &x->seconds[r]);
        }
    return code;
}

/* --- one size ----------------------------------------------------------------------------------------------------- */

static int measure_row(coll_run *run, coll_case *c, coll_contender *row)
{
    int reps = run->args->reps, code = COMMAND_OK;
    int64_t traffic = run->placed ? coll_device_traffic(run, c) : 0;

    for (int i = 0; i < run->count && !code; i++) {
        coll_contender *x = &row[i];

        x->word = run->word[i];
        x->seconds = run->seconds + (x - run->row) * reps;
        x->bytes = c->bytes;
        x->traffic = traffic;
        show(run, (int)(row - run->row) / run->count, FIRST_CALLS * i / run->count);
        code = try_out(run, c, x);
        if (!code && !x->why[0])
            code = calibrate(run, c, x);
        if (!code && !x->why[0] && run->args->init && x->word && !is_nccl(x))
            code = coll_device_init(run, c, x);
    }
    if (code || (code = measure_all(run, c, row)))
        return code;
    for (int i = 0; i < run->count; i++) {
        if (row[i].why[0])
            continue;
        row[i].time = spread_of(row[i].seconds, reps);
        row[i].ratio = spread_of_ratio(row[0].seconds, row[i].seconds, reps);
    }
    return COMMAND_OK;
}

static int measure_point(coll_run *run, int point, int64_t bytes)
{
    const char *complaint = NULL;
    coll_case c = {.in = NULL};
    int good = coll_case_make(&c, run->args, bytes, run->comm);
    int code = command_fail(run->comm, !good, "coll: no memory for a vector of %lld bytes; give fewer --bytes",
                            (long long)bytes);

    if (!code && run->placed)
        complaint = coll_case_place(&c, run->ctx);
    if (!code)
        code = command_fail(run->comm, complaint != NULL, "coll: %lld bytes: %s", (long long)bytes, complaint);
    if (!code)
        code = measure_row(run, &c, &run->row[point * run->count]);
    coll_case_free(&c);
    progress_end(&run->bar);
    if (!code && run->rank == 0)
        coll_report_point(run, point, stdout);
    return code;
}

/* --- the run ------------------------------------------------------------------------------------------------------ */

static int all_right(const coll_run *run)
{
    for (int i = 0; i < run->points * run->count; i++)
        if (!run->row[i].why[0] && !run->row[i].right)
            return 0;
    return 1;
}

/* Rejects unknown algorithms before anything is printed. */
static int check_words(coll_run *run)
{
    hsumma_coll call = {.collective = (hsumma_collective)run->args->collective,
                        .count = 1,
                        .size = 1,
                        .op = {.op = HSUMMA_SUM, .element = run->args->element}};
    char text[300];
    int bad = 0;

    for (int i = 1; i < run->count && !bad; i++) {
        if (!strcmp(run->word[i], "nccl"))
            continue;
        call.algorithm = run->word[i];
        bad = hsumma_coll_describe(run->ctx, &call, text, sizeof text) == HSUMMA_ERR_OPTION;
    }
    return command_fail(run->comm, bad, "coll: --alg: %s", hsumma_message(run->ctx)) ? COMMAND_BAD_INPUT : COMMAND_OK;
}

/* Checks --alg and the options that need a device, and prepares the device, if there is one. */
static int prepare(coll_run *run)
{
    int device = strcmp(hsumma_device(run->ctx), "none") != 0, code = check_words(run);

    run->placed = device && !run->args->host_memory;
    if (command_fail(run->comm, !device && (run->args->host_memory || run->args->init),
                     "coll: --%s: the context has no device; give --device, e.g. --device cuda",
                     run->args->init ? "init" : "memory host"))
        return COMMAND_BAD_INPUT;
    if (!code && device)
        code = coll_device_survey(run);
    snprintf(run->no_nccl, sizeof run->no_nccl, "expected vectors on a device");
    if (!code && run->placed)
        run->nccl = coll_nccl_open(run, run->no_nccl, sizeof run->no_nccl);
    return code;
}

static int carry_out(coll_run *run)
{
    const coll_arguments *args = run->args;
    struct hs_message message = {""};
    const char *complaint = NULL;
    int64_t bytes[COLL_SIZES];
    int code = prepare(run);
    size_t rows;

    if (!code && command_fail(run->comm, is_timed_only(run->ctx),
                              "coll: --compute time: not allowed, since results are checked; omit it"))
        code = COMMAND_BAD_INPUT;
    if (code)
        return code;
    run->points = coll_case_sizes(args, run->size, bytes);
    rows = (size_t)run->points * (size_t)run->count;
    run->row = calloc(rows, sizeof *run->row);
    run->seconds = calloc(rows * (size_t)args->reps, sizeof *run->seconds);
    if (command_fail(run->comm, !run->row || !run->seconds,
                     "coll: no memory for the times of --repetitions %d; give a smaller number", args->reps))
        return COMMAND_INTERNAL;
    if (run->rank == 0) {
        coll_report_begin(run, stdout);
        progress_begin(&run->bar, 0, args->quiet);
    }
    for (int p = 0; p < run->points && !code; p++)
        code = measure_point(run, p, bytes[p]);
    if (code)
        return code;
    if (run->rank == 0 && !coll_report_end(run, stdout))
        complaint = "the report could not be written";
    if (run->rank == 0 && args->plot && !complaint)
        complaint = coll_plot(run, args->plot, &message);
    if (command_fail(run->comm, complaint != NULL, "coll: %s", complaint))
        return COMMAND_INTERNAL;
    return all_right(run) ? COMMAND_OK : COMMAND_INTERNAL;
}

static void release(coll_run *run)
{
    coll_nccl_close(run->nccl);
    if (run->mates != MPI_COMM_NULL)
        MPI_Comm_free(&run->mates);
    free(run->row);
    free(run->seconds);
    for (int i = 0; i < run->count; i++)
        free(run->word[i]);
    free(run->word);
    json_decref(run->sizes);
    hsumma_free(&run->ctx);
    machine_free(&run->mach);
}

int coll_time(const coll_arguments *args, const char *options, MPI_Comm comm)
{
    coll_run run = {.command = "coll", .args = args, .options = options, .comm = comm, .mates = MPI_COMM_NULL};
    char text[400] = "";
    hsumma_status status;
    int code = COMMAND_OK;

    MPI_Comm_rank(comm, &run.rank);
    MPI_Comm_size(comm, &run.size);
    machine_init(&run.mach, comm);
    if (command_fail(comm, args->root >= run.size, "coll: --root %d: expected less than the number of ranks, %d",
                     args->root, run.size) ||
        command_fail(comm, !add_words(&run), "coll: no memory")) {
        code = COMMAND_BAD_INPUT;
    } else {
        double start = MPI_Wtime();

        status = hsumma_create(comm, options, &run.ctx, text, sizeof text);
        run.created = MPI_Wtime() - start;
        if (command_fail(comm, status != HSUMMA_OK, "coll: %s", text))
            code = status == HSUMMA_ERR_OPTION ? COMMAND_BAD_INPUT : COMMAND_INTERNAL;
        else
            code = command_trace(comm, run.ctx, carry_out(&run));
    }
    release(&run);
    return code;
}
