#include "report/progress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/wait.h"

enum { WIDTH = 40 };

void progress_begin(progress *bar, int forced)
{
    *bar = (progress){.shown = forced || isatty(STDERR_FILENO)};
}

void progress_update(progress *bar, const char *phase, double done)
{
    char marks[WIDTH + 1];
    int permille, filled;
    double time;

    if (!bar->shown)
        return;
    permille = done > 0 ? done < 1 ? (int)(1000 * done) : 1000 : 0;
    time = hs_now();
    if (bar->phase && !strcmp(bar->phase, phase) &&
        (permille == bar->permille || (permille < 1000 && time - bar->drawn < 0.1)))
        return;
    filled = permille * WIDTH / 1000;
    memset(marks, ' ', WIDTH);
    memset(marks, '#', (size_t)filled);
    marks[WIDTH] = 0;
    fprintf(stderr, "\r%-20.20s [%s] %3d%%", phase, marks, permille / 10);
    fflush(stderr);
    bar->phase = phase;
    bar->permille = permille;
    bar->drawn = time;
}

void progress_end(progress *bar)
{
    if (!bar->shown || !bar->phase)
        return;
    fprintf(stderr, "\r%*s\r", 20 + 2 + WIDTH + 1 + 5, "");
    fflush(stderr);
    bar->phase = NULL;
}
