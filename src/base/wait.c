#include "base/wait.h"

#include <sched.h>
#include <stdint.h>
#include <time.h>

void hs_idle_awake(int spins, int times)
{
    if (times > spins)
        sched_yield();
#if defined(__x86_64__) || defined(__i386__)
    else
        __builtin_ia32_pause();
#endif
}

hsumma_status hs_idle_yield(void *crowded, int times)
{
    const int *is_crowded = crowded;
    hs_idle_awake(is_crowded && *is_crowded ? HS_POLLS_CROWDED : HS_POLLS_BEFORE_YIELD, times);
    return HSUMMA_OK;
}

/* Readings of the clock are this many polls apart: with naps of 2 ms an eighth of a second. */
enum { POLLS_PER_CLOCK = 64 };

hsumma_status hs_wait_idle(hs_advance *advance, void *state, hs_idle *idle, void *idle_state,
                           const struct hs_watch *watch)
{
    int times = 0;
    double since = 0, looked = 0;
    for (;;) {
        int worked = 0, done = 0;
        hsumma_status status = advance(state, &worked, &done);
        if (status || done)
            return status;
        if (worked)
            times = 0;
        else
            status = idle(idle_state, times = times < INT32_MAX ? times + 1 : INT32_MAX - POLLS_PER_CLOCK + 1);
        if (!status && watch && !worked && times % POLLS_PER_CLOCK == 0) {
            double now = hs_now();
            if (times == POLLS_PER_CLOCK)
                since = looked = now;
            if (now - looked >= watch->interval) {
                looked = now;
                status = watch->look(watch->state, now - since);
            }
        }
        if (status)
            return status;
    }
}

double hs_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}
