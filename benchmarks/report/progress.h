/* A progress bar in one line of a terminal. */
#ifndef HS_BENCHMARKS_REPORT_PROGRESS_H
#define HS_BENCHMARKS_REPORT_PROGRESS_H

typedef struct progress {
    int shown;         /* nothing is written otherwise */
    const char *phase; /* what is being done; NULL when no line is drawn */
    int permille;      /* drawn last */
    double drawn;      /* when */
} progress;

/* Shows a bar on standard error if that is a terminal, or if it is forced. A zeroed progress shows nothing. */
void progress_begin(progress *bar, int forced);

/* Draws "phase [#####     ]  50%" if that looks different from what is there, ten times a second at most. */
void progress_update(progress *bar, const char *phase, double done);

/* Removes the line, so that messages start on an empty one. A later update draws it again. */
void progress_end(progress *bar);

#endif
