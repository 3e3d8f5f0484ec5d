/* Times of collectives, and their report. */
#ifndef HSUMMA_BENCHMARKS_COLL_TIME_H
#define HSUMMA_BENCHMARKS_COLL_TIME_H

#include <jansson.h>

#include "coll_case.h"
#include "timing.h"

/* One algorithm at one size. */
typedef struct coll_contender {
    const char *word;      /* borrowed from the run; NULL: MPI's own */
    char why[300];         /* why it was left out; "" if it was not */
    char chosen[300];      /* by auto: which, and why */
    int calls;             /* of one measurement */
    int right;             /* the result */
    double *seconds;       /* of a call, for each repetition */
    quartiles time, ratio; /* ratio: MPI's time to this one's, repetition by repetition; above 1: faster than MPI */
} coll_contender;

typedef struct coll_point {
    int64_t bytes;
    coll_contender *contender; /* MPI's first */
    double *seconds;           /* of all contenders */
} coll_point;

typedef struct coll_run {
    const coll_arguments *args;
    const char *options; /* of the context */
    MPI_Comm comm;
    int rank, size;
    machine mach;
    hsumma_context *ctx;
    char **word; /* one per contender, the first NULL */
    int count;
    coll_point *point;
    int points;
    json_t *sizes; /* of the report as json */
} coll_run;

/* coll_report.c: the head, a point as soon as it has been measured, the end.  Call them on rank 0. */
void coll_report_begin(coll_run *run, FILE *file);
void coll_report_point(coll_run *run, const coll_point *point, FILE *file);
/* Returns 0 if writing failed. */
int coll_report_end(coll_run *run, FILE *file);
/* What is printed for a contender. */
const char *coll_label(const coll_run *run, const coll_contender *contender);

/* coll_plot.c: time against size.  NULL, or a complaint. */
const char *coll_plot(const coll_run *run, const char *path);

#endif
