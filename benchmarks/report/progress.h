/*
 * Progress on standard error, of whatever takes longer than two seconds: a bar in a line that is rewritten where that
 * is a terminal, else a line every few seconds (a launcher passes them on).  A thread of its own draws, so that long
 * steps show as well; the caller only says what is being done.
 */
#ifndef HS_BENCHMARKS_REPORT_PROGRESS_H
#define HS_BENCHMARKS_REPORT_PROGRESS_H

#include <pthread.h>

/* How much is shown.  By default nothing in the simulator, and nothing with HSUMMA_PROGRESS=off in the environment. */
enum { PROGRESS_DEFAULT, PROGRESS_QUIET, PROGRESS_FORCED /* a bar at once, on no terminal either */ };

/* Zeroed, it shows nothing. */
typedef struct progress {
    int shown;
    int bar;                     /* one line, rewritten */
    double begun, delay, period; /* s: when, until the first drawing, between two */
    pthread_t thread;            /* draws, while `running` */
    int running;
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t changed;
    int stop, drawn;
    char phase[48];
    double done, since, expected; /* a part of the work; or, if expected > 0, by time: seconds since */
} progress;

/* What --progress and --quiet come to. */
static inline int progress_wish(int forced, int quiet)
{
    return forced ? PROGRESS_FORCED : quiet ? PROGRESS_QUIET : PROGRESS_DEFAULT;
}

/* How: PROGRESS_...  Local; for one rank. */
void progress_begin(progress *bar, int how);

/* What is being done, and how much of it all: from 0 to 1. */
void progress_update(progress *bar, const char *phase, double done);
/* The same of one step that should take so many seconds (0: unknown): it is taken to be done by time. */
void progress_expect(progress *bar, const char *phase, double seconds);

/* Removes the bar, so that other lines start on an empty one; a later update shows it again.  Always at the end. */
void progress_end(progress *bar);

#endif
