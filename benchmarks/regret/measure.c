/* Measures one case: the automatic plan, the sweep, the final rounds. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/command.h"
#include "regret/command.h"
#include "report/progress.h"

/* Seconds; shorter products are repeated within a turn. */
static const double shortest_turn = 5e-3;

enum { MOST_REPEATS = 1000, WARM_UPS = 3, EXECUTIONS = 64, BLOCKING_TURNS = 3, RIVAL_BYTES = 96 };

const char *const regret_verdict_names[REGRET_VERDICTS] = {"estimate", "measure"};

/* --- plans and turns ---------------------------------------------------------------------------------------------- */

/* Makes a plan. Returns an exit status without printing; text says why there is no plan. */
static int make_plan(regret_run *run, regret_plan *x, const char *name, const char *words, char *text, size_t size)
{
    snprintf(x->name, sizeof x->name, "%s", name);
    return problem_plan(&run->p, words, &x->plan, &x->info, text, size);
}

/* Makes a plan that the library must accept; prints if it does not. */
static int must_plan(regret_run *run, regret_plan *x, const char *name, const char *words)
{
    char text[400];
    int code = make_plan(run, x, name, words, text, sizeof text);

    command_fail(run->p.comm, code && text[0], "regret: plan %s: %s", name, text);
    return code;
}

static int take_turn(regret_run *run, regret_plan *x, int calls)
{
    int code = execute_turn(&run->p, &(gemm_contender){API_PLAN, x->plan, NULL, run->p.c.local}, calls, &x->last);

    if (code)
        return code;
    if (!x->turns++ || x->last.seconds < x->best.seconds)
        x->best = x->last;
    return COMMAND_OK;
}

/* Broadcasts rank 0's value. Decisions are the same on all ranks anyway, but a difference would deadlock them. */
static int agreed(const regret_run *run, int value)
{
    quiet_bcast(&value, 1, MPI_INT, 0, run->p.comm);
    return value;
}

static int is_same(const regret_plan *x, const regret_plan *y)
{
    return x->plan && y->plan && !strcmp(x->info.line, y->info.line);
}

/* --- the automatic plan ------------------------------------------------------------------------------------------- */

/* Makes the automatic plan, chooses in warm-up turns how many calls make a turn long enough, and takes this plan's
 * turns of the sweep. With |beta| above 1 a turn has one call, because C would grow. */
static int start(regret_run *run)
{
    const arguments *args = &run->which->args;
    regret_plan *x = &run->automatic[REGRET_ESTIMATE];
    int most = hypot(args->beta[0], args->beta[1]) <= 1 ? MOST_REPEATS : 1;
    int code = must_plan(run, x, "automatic", "tune=estimate");

    run->verdict[REGRET_ESTIMATE].plan = x;
    run->calls = 1;
    for (int i = 0; i < WARM_UPS && !code; i++) {
        code = take_turn(run, x, run->calls);
        if (!code && x->best.seconds * run->calls < shortest_turn)
            run->calls = (int)fmin(most, ceil(shortest_turn / fmax(x->best.seconds, 1e-9)));
    }
    x->turns = 0;
    for (int i = 0; i < run->of->sweep_reps && !code; i++)
        code = take_turn(run, x, run->calls);
    return code;
}

/* Executes the plan of tune=measure until the library no longer measures, at least twice and at most EXECUTIONS times;
 * then takes one turn. */
static int tune(regret_run *run)
{
    regret_plan *x = &run->automatic[REGRET_MEASURE];
    regret_verdict *verdict = &run->verdict[REGRET_MEASURE];
    int code = must_plan(run, x, "measured", "tune=measure"), done = 0;
    double begin = MPI_Wtime();

    verdict->plan = x;
    while (!code && !done && verdict->executions < EXECUTIONS) {
        hsumma_plan_query(x->plan, &x->info);
        done = verdict->executions > 1 && agreed(run, x->info.tuned && strcmp(x->info.tuned, "measuring"));
        if (!done) {
            code = take_turn(run, x, 1);
            verdict->executions++;
        }
    }
    if (code)
        return code;
    verdict->tuning_seconds = MPI_Wtime() - begin;
    hsumma_plan_query(x->plan, &x->info);
    x->turns = 0;
    return take_turn(run, x, run->calls);
}

/* --- the sweep ---------------------------------------------------------------------------------------------------- */

/* Whether a candidate's plan equals an earlier one. */
static int is_known(const regret_run *run, const regret_plan *x)
{
    int known = 0;

    for (int i = 0; i < run->count && !known; i++)
        known = is_same(x, &run->set[i]);
    return agreed(run, known);
}

static int make_set(regret_run *run)
{
    char name[RIVAL_BYTES], words[REGRET_WORDS], text[400];
    size_t length;

    for (int i = 0; run->count < REGRET_CANDIDATES; i++) {
        regret_plan *x = &run->set[run->count];

        if (!regret_candidate(&run->p, i, name, sizeof name, words, sizeof words))
            break;
        length = strlen(words); /* options of the caller apply to candidates too */
        snprintf(words + length, sizeof words - length, " tune=off %s", run->which->options);
        int code = make_plan(run, x, name, words, text, sizeof text);
        if (code == COMMAND_INTERNAL) {
            command_fail(run->p.comm, text[0], "regret: %s: %s", name, text);
            return code;
        }
        if (code) {
            run->refused++;
        } else if (is_known(run, x)) {
            run->alike++;
            hsumma_plan_free(&x->plan);
        } else {
            x->in_set = 1;
            run->count++;
        }
        if (!x->in_set)
            memset(x, 0, sizeof *x);
    }
    return COMMAND_OK;
}

/* Runs a candidate's turns: only the first if that is far slower than `best`; one more if the first takes more than
 * twice as long as the second, because it served as a warm-up. */
static int try_out(regret_run *run, regret_plan *x, double best)
{
    int most = run->of->sweep_reps, code;
    double first = 0;

    for (int i = 0; i < most; i++) {
        if ((code = take_turn(run, x, run->calls)))
            return code;
        if (i == 0)
            first = x->last.seconds;
        if (i == 0 && first > run->of->cap * best)
            break;
        if (i == 1 && first > 2 * x->last.seconds)
            most++;
    }
    return COMMAND_OK;
}

void regret_show(const regret_run *run, double done)
{
    const product_cases *set = &run->of->set;
    int number = (int)(run->which - set->list);
    char phase[40];

    snprintf(phase, sizeof phase, "case %d of %d", number + 1, set->count);
    progress_update(run->bar, phase, (number + done) / set->count);
}

static int sweep_set(regret_run *run)
{
    double best = run->automatic[REGRET_ESTIMATE].best.seconds;
    int code = make_set(run);

    for (int i = 0; i < run->count && !code; i++) {
        regret_show(run, 0.6 * i / run->count);
        code = try_out(run, &run->set[i], best);
        best = fmin(best, run->set[i].best.seconds);
    }
    return code;
}

/* Times the estimated plan with lookahead 0, unless it shares panels inside nodes. */
static int time_blocking(regret_run *run)
{
    const regret_plan *from = &run->automatic[REGRET_ESTIMATE];
    char words[REGRET_WORDS], text[400];
    double comms[BLOCKING_TURNS];

    if (!from->info.node || strcmp(from->info.node, "messages"))
        return COMMAND_OK;
    snprintf(words, sizeof words, "%s lookahead=0 tune=off", from->info.line);
    if (make_plan(run, &run->blocking, "blocking", words, text, sizeof text))
        return COMMAND_OK; /* the library refuses it, for example if the workspace is too small */
    for (int i = 0; i < BLOCKING_TURNS; i++) {
        int code = take_turn(run, &run->blocking, run->calls);
        if (code)
            return code;
        comms[i] = run->blocking.last.comm;
    }
    run->blocking_comm = spread_of(comms, BLOCKING_TURNS).median;
    return COMMAND_OK;
}

/* --- the final ---------------------------------------------------------------------------------------------------- */

/* The best candidate that is not yet a finalist; NULL: none left. */
static regret_plan *next_best(regret_run *run)
{
    regret_plan *best = NULL;

    for (int i = 0; i < run->count; i++) {
        regret_plan *x = &run->set[i];
        int in_final = 0;

        for (int f = 0; f < run->finals && !in_final; f++)
            in_final = is_same(x, run->final[f]);
        if (!in_final && (!best || x->best.seconds < best->best.seconds))
            best = x;
    }
    return best;
}

/* Chooses the finalists: the automatic plans, without duplicates, and the best candidates that differ from them. */
static void choose_finals(regret_run *run)
{
    regret_plan *next;

    run->final[run->finals++] = &run->automatic[REGRET_ESTIMATE];
    if (run->of->measure) {
        if (is_same(&run->automatic[REGRET_MEASURE], run->final[0]))
            run->verdict[REGRET_MEASURE].plan = run->final[0];
        else
            run->final[run->finals++] = &run->automatic[REGRET_MEASURE];
    }
    for (int f = 0; f < run->finals; f++)
        for (int i = 0; i < run->count; i++)
            run->final[f]->in_set |= is_same(&run->set[i], run->final[f]);
    for (int i = 0; i < REGRET_BEST && (next = next_best(run)); i++)
        run->final[run->finals++] = next;
}

static int final_rounds(regret_run *run)
{
    int reps = run->which->args.reps, code;

    run->final_times = calloc((size_t)reps * REGRET_FINALS * 2, sizeof *run->final_times);
    if (command_fail(run->p.comm, !run->final_times, "no memory for the times of --reps %d; give a smaller number",
                     reps))
        return COMMAND_INTERNAL;
    for (int f = 0; f < run->finals; f++) {
        run->final[f]->times = run->final_times + (size_t)f * 2 * (size_t)reps;
        run->final[f]->comms = run->final[f]->times + reps;
    }
    for (int r = 0; r < reps; r++)
        for (int i = 0; i < run->finals; i++) {
            regret_plan *x = run->final[(i + r) % run->finals];

            regret_show(run, 0.6 + 0.4 * r / reps);
            if ((code = take_turn(run, x, run->calls)))
                return code;
            x->times[r] = x->last.seconds;
            x->comms[r] = x->last.comm;
        }
    for (int f = 0; f < run->finals; f++) {
        run->final[f]->total = spread_of(run->final[f]->times, reps);
        run->final[f]->final_comm = spread_of(run->final[f]->comms, reps);
    }
    return COMMAND_OK;
}

/* Compares an automatic plan with the best other finalist that is a candidate. */
static void judge(const regret_run *run, regret_verdict *verdict)
{
    verdict->ratio = (spread){.median = 1, .lower = 1, .upper = 1};
    for (int f = 0; f < run->finals; f++) {
        const regret_plan *x = run->final[f];

        if (x != verdict->plan && x->in_set && (!verdict->best || x->total.median < verdict->best->total.median))
            verdict->best = x;
    }
    if (verdict->best)
        verdict->ratio = spread_of_ratio(verdict->plan->times, verdict->best->times, run->which->args.reps);
}

int regret_is_loss(const regret_verdict *verdict)
{
    return verdict->ratio.lower > 1;
}

/* Checks the result of a single product by the automatic plan. */
static int check(regret_run *run)
{
    regret_plan alone = run->automatic[REGRET_ESTIMATE];
    int code = take_turn(run, &alone, 1);

    run->checked = 1;
    return code ? code : check_product(&run->p, run->p.c.local, 1, &run->check);
}

int regret_measure(regret_run *run)
{
    int code;

    if ((code = start(run)) || (code = sweep_set(run)) || (code = time_blocking(run)) ||
        (run->of->measure && (code = tune(run))))
        return code;
    choose_finals(run);
    if ((code = final_rounds(run)) || (run->which->args.check && (code = check(run))))
        return code;
    for (int i = 0; i < REGRET_VERDICTS; i++)
        if (run->verdict[i].plan)
            judge(run, &run->verdict[i]);
    return COMMAND_OK;
}
