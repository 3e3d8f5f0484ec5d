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

hsumma_status hs_idle_yield(void *unused, int times)
{
    (void)unused;
    hs_idle_awake(HS_POLLS_BEFORE_YIELD, times);
    return HSUMMA_OK;
}

hsumma_status hs_wait_idle(hs_advance *advance, void *state, hs_idle *idle, void *idle_state)
{
    int times = 0;
    for (;;) {
        int worked = 0, done = 0;
        hsumma_status status = advance(state, &worked, &done);
        if (status || done)
            return status;
        if (worked)
            times = 0;
        else
            status = idle(idle_state, times < INT32_MAX ? ++times : times);
        if (status)
            return status;
    }
}

hsumma_status hs_wait(hs_advance *advance, void *state)
{
    return hs_wait_idle(advance, state, hs_idle_yield, NULL);
}

double hs_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}
