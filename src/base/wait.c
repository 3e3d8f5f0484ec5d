#include "base/wait.h"

#include <sched.h>
#include <time.h>

enum { POLLS_BEFORE_YIELD = 64 };

hsumma_status hs_wait(hs_advance *advance, void *state)
{
    int idle = 0;
    for (;;) {
        int worked = 0, done = 0;
        hsumma_status status = advance(state, &worked, &done);
        if (status || done)
            return status;
        if (worked)
            idle = 0;
        else if (++idle > POLLS_BEFORE_YIELD)
            sched_yield();
    }
}

double hs_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}
