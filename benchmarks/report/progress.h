/*
 * Progress on standard error, for work of more than two seconds: on a terminal a bar in one line that is rewritten,
 * else a line every few seconds, because a launcher may collect the output. A thread draws, so that long steps show
 * too; the caller only reports the current phase.
 */
#ifndef HS_BENCHMARKS_REPORT_PROGRESS_H
#define HS_BENCHMARKS_REPORT_PROGRESS_H

#include <pthread.h>

/* When zeroed, it shows nothing. */
typedef struct progress {
    int shown;
    int bar;                     /* 1: one line is rewritten; 0: lines are added */
    double begun, delay, period; /* seconds: start time; delay of the first drawing; time between drawings */
    pthread_t thread;            /* draws, while `running` */
    int running;
    pthread_mutex_t lock; /* protects the members below */
    pthread_cond_t changed;
    int stop, drawn;
    char phase[48];
    /* done: the fraction done; negative: unknown.  If expected > 0, the fraction is instead estimated as the seconds
     * since `since` divided by `expected`. */
    double done, since, expected;
} progress;

/* Starts. forced: shows the bar at once, also without a terminal; else nothing is shown if `quiet`, or with
 * HSUMMA_PROGRESS=off in the environment. In the simulator nothing is shown. Local; for one rank. */
void progress_begin(progress *bar, int forced, int quiet);

/* Sets the phase, and the fraction done of all work, from 0 to 1. */
void progress_update(progress *bar, const char *phase, double done);
/* Sets a phase of one step that should take `seconds`; its fraction is estimated from the time. 0: unknown, no fraction
 * is shown. */
void progress_expect(progress *bar, const char *phase, double seconds);

/* Removes the bar, so that other output starts on an empty line; a later update shows it again. Always call it at the
 * end. */
void progress_end(progress *bar);

#endif
