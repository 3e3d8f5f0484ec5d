#include "report/progress.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/options.h"
#include "base/simulator.h"
#include "base/wait.h"

enum { WIDTH = 40, BAR_LINE = 80 };

static const double delay = 2, period_of_bar = 0.5, period_of_lines = 5;

void progress_begin(progress *bar, int forced, int quiet)
{
    const char *word = hs_environment("HSUMMA_PROGRESS");
    int off = !forced && (quiet || (word && !strcmp(word, "off")));

    *bar = (progress){.shown = !hs_simulator() && !off, .begun = hs_now()};
    if (!bar->shown)
        return;
    bar->bar = forced || isatty(STDERR_FILENO);
    bar->delay = forced ? 0 : delay;
    bar->period = bar->bar ? period_of_bar : period_of_lines;
    pthread_mutex_init(&bar->lock, NULL);
    pthread_cond_init(&bar->changed, NULL);
}

static double part_done(const progress *bar)
{
    double part = bar->expected > 0 ? (hs_now() - bar->since) / bar->expected : bar->done;

    return part < 0.99 || bar->expected <= 0 ? part : 0.99;
}

/* The caller holds the lock. */
static void draw(progress *bar)
{
    double part = part_done(bar), seconds = hs_now() - bar->begun;
    int percent = part < 0 ? 0 : part < 1 ? (int)(100 * part) : 100, filled = percent * WIDTH / 100;
    char marks[WIDTH + 1];

    memset(marks, ' ', WIDTH);
    memset(marks, '#', (size_t)filled);
    marks[WIDTH] = 0;
    if (part < 0)
        fprintf(stderr, bar->bar ? "\r%s, %.0f s " : "hsumma: %s, %.0f s\n", bar->phase, seconds);
    else if (bar->bar)
        fprintf(stderr, "\r%-20.20s [%s] %3d%% %5.0f s", bar->phase, marks, percent, seconds);
    else
        fprintf(stderr, "hsumma: %s, %d %%, %.0f s\n", bar->phase, percent, seconds);
    fflush(stderr);
    bar->drawn = 1;
}

/* Lines are at least a twentieth of the elapsed time apart, so that long runs do not fill a log. */
static double next_period(const progress *bar)
{
    double twentieth = (hs_now() - bar->begun) / 20;

    return !bar->bar && twentieth > bar->period ? twentieth : bar->period;
}

static void *draw_on(void *of)
{
    progress *bar = of;
    double next = bar->begun + bar->delay;

    pthread_mutex_lock(&bar->lock);
    while (!bar->stop) {
        double left = next - hs_now();
        struct timespec until;

        if (left <= 0) {
            draw(bar);
            left = next_period(bar);
            next = hs_now() + left;
        }
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += (time_t)left;
        until.tv_nsec += (long)(1e9 * (left - (double)(time_t)left));
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&bar->changed, &bar->lock, &until);
    }
    pthread_mutex_unlock(&bar->lock);
    return NULL;
}

static void set(progress *bar, const char *phase, double done, double expected)
{
    if (!bar->shown)
        return;
    pthread_mutex_lock(&bar->lock);
    snprintf(bar->phase, sizeof bar->phase, "%s", phase);
    bar->done = done;
    bar->expected = expected;
    bar->since = hs_now();
    if (bar->delay <= 0) /* forced: shown at once */
        draw(bar);
    pthread_mutex_unlock(&bar->lock);
    if (!bar->running) {
        bar->stop = 0;
        bar->running = !pthread_create(&bar->thread, NULL, draw_on, bar);
    }
}

void progress_update(progress *bar, const char *phase, double done)
{
    set(bar, phase, done, 0);
}

void progress_expect(progress *bar, const char *phase, double seconds)
{
    set(bar, phase, seconds > 0 ? 0 : -1, seconds);
}

void progress_end(progress *bar)
{
    if (bar->running) {
        pthread_mutex_lock(&bar->lock);
        bar->stop = 1;
        pthread_cond_signal(&bar->changed);
        pthread_mutex_unlock(&bar->lock);
        pthread_join(bar->thread, NULL);
        bar->running = 0;
    }
    if (bar->bar && bar->drawn) {
        fprintf(stderr, "\r%*s\r", BAR_LINE - 1, "");
        fflush(stderr);
    }
    bar->drawn = 0;
}
