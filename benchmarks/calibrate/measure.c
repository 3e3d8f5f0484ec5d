/* hsumma calibrate: repeated trials. */
#include "calibrate/command.h"

#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/wait.h"
#include "measure/timing.h"

/* If the first call takes longer than this many seconds, a trial is one call. */
static const double long_call = 0.1;

enum { MOST_TIMED_CALLS = 100000, LEAST_TRIALS = 3, MOST_TRIALS = 64 };

/* Least seconds of a trial.  least_of_messages is for calibrate_slowest, indexed by cal->crowded: on a crowded node
 * messages wait until ranks are scheduled.  least_of_work is for calibrate_together. */
static const double least_of_messages[] = {500e-6, 2e-3}, least_of_work = 4e-3;

void calibrate_wait_word(_Atomic int64_t *word, int64_t value)
{
    for (int polls = 0; atomic_load_explicit(word, memory_order_acquire) < value;)
        if (++polls > HS_POLLS_BEFORE_YIELD)
            sched_yield();
}

void *calibrate_get(calibration *cal, size_t bytes)
{
    void *memory = malloc(bytes);

    if (memory)
        memset(memory, 1, bytes);
    cal->lacks |= !memory;
    return cal->held[cal->holds++] = memory;
}

double calibrate_clock(const calibration *cal)
{
    double now = hs_now() - cal->begun;

    quiet_bcast(&now, 1, MPI_DOUBLE, 0, cal->comm);
    return now;
}

/* Seconds of one trial: those of its slowest rank or, if `together`, those until all ranks are done. *elapsed: seconds
 * since `start`, by rank 0's clock. */
static double try_once(calibration *cal, calibrate_trial *trial, void *state, int calls, int together, double start,
                       double *elapsed)
{
    double begin = hs_now(), mine[2] = {trial(cal, state, calls), 0}, all[2];

    if (cal->rank == 0) {
        double share = (hs_now() - cal->begun) / cal->args->seconds;

        mine[1] = hs_now() - start;
        progress_update(&cal->bar, cal->phase, share < 0.99 ? share : 0.99);
    }
    quiet_allreduce(mine, all, 2, MPI_DOUBLE, MPI_MAX, cal->comm);
    *elapsed = all[1];
    if (together) {
        all[0] = hs_now() - begin;
        quiet_bcast(all, 1, MPI_DOUBLE, 0, cal->comm);
    }
    return all[0];
}

static double repeat(calibration *cal, calibrate_trial *trial, void *state, int together, double budget)
{
    double least = together ? least_of_work : least_of_messages[cal->crowded];
    double start = hs_now(), elapsed = 0, seconds[MOST_TRIALS], first;
    int calls = 1, trials = 0, wanted = budget > 0 ? LEAST_TRIALS : 1;

    first = try_once(cal, trial, state, 1, together, start, &elapsed); /* warm-up: connections, pages, caches */
    for (int longer = first < long_call; longer;) {
        first = try_once(cal, trial, state, calls, together, start, &elapsed);
        longer = first > 0 && first < 0.8 * least && calls < MOST_TIMED_CALLS;
        if (longer)
            calls = (int)ceil(calls * fmin(10, least / first));
    }
    while (trials < wanted || (elapsed < budget && trials < MOST_TRIALS))
        seconds[trials++] = try_once(cal, trial, state, calls, together, start, &elapsed) / calls;
    return fast_median(seconds, trials);
}

double calibrate_slowest(calibration *cal, calibrate_trial *trial, void *state, double budget)
{
    return repeat(cal, trial, state, 0, budget);
}

double calibrate_together(calibration *cal, calibrate_trial *trial, void *state, double budget)
{
    return repeat(cal, trial, state, 1, budget);
}

void calibrate_note(calibration *cal, const char *name, int numbers, const int64_t number[3], double seconds)
{
    void *array = cal->sample;

    if (hs_grow(&hs_heap, &array, sizeof *cal->sample, &cal->capacity, (size_t)cal->samples + 1)) {
        cal->out_of_memory = 1;
        return;
    }
    cal->sample = array;
    calibrate_sample *s = &cal->sample[cal->samples++];
    *s = (calibrate_sample){.name = name, .numbers = numbers, .seconds = seconds};
    for (int i = 0; i < numbers; i++)
        s->number[i] = number[i];
}
