/* Times of collectives, and their report. */
#ifndef HS_BENCHMARKS_COLL_TIME_H
#define HS_BENCHMARKS_COLL_TIME_H

#include "coll/case.h"
#include "measure/timing.h"
#include "report/columns.h"

/* One algorithm at one size: measured, printed, and read again by --from. */
typedef struct coll_contender {
    const char *word;      /* borrowed from the run; NULL: MPI's own; "nccl": NCCL's */
    char why[300];         /* why it was left out; "" if it was not */
    char chosen[300];      /* by auto: which, and why */
    char checksum[20];     /* of the result of rough numbers */
    double *seconds;       /* of a call, for each repetition */
    int64_t bytes;         /* of the vector */
    int64_t traffic;       /* of a device's memory in a call, at least; 0 without one */
    int calls;             /* of one measurement */
    int right;             /* the result */
    int same;              /* the checksum, on all ranks that have the result */
    spread time, ratio;    /* ratio: MPI's time to this one's, repetition by repetition; above 1: faster than MPI */
    double created, first; /* s: a context of its own, and its first call */
    /* what else is printed; note: why it was left out, or what was chosen; the last two are made of other columns */
    const char *op, *element, *label, *device, *note, *bits, *init;
    unsigned present; /* see below */
    int ranks, reps;
    int64_t pays_after;
    double bandwidth, copy_rate, of_copy; /* bytes of the device's memory per second; a copy's; the fraction */
} coll_contender;

/* When a column is there: in lines of CSV and of the table; when the contender ran; beside MPI; with these options. */
enum { COLL_LINE = 1, COLL_RAN = 2, COLL_RATIO = 4, COLL_PLACED = 8, COLL_BITS = 16, COLL_INIT = 32 };
extern const report_column coll_columns[];

typedef struct coll_run {
    const char *command; /* for messages */
    const coll_arguments *args;
    const char *options; /* of the context */
    MPI_Comm comm;
    int rank, size;
    machine mach;
    hsumma_context *ctx;
    char **word; /* one per contender, the first NULL */
    int count;
    coll_contender *row; /* all contenders of a size, MPI's first; size after size */
    double *seconds;     /* of all */
    int points;          /* sizes */
    json_t *sizes;       /* of the report as json */
    /* on a device */
    int placed;       /* vectors are in its memory */
    double created;   /* s: the context, with the device's own start */
    MPI_Comm mates;   /* the ranks that share this rank's device */
    double copy_rate; /* bytes read and written per second by copies of so many bytes inside it */
    int64_t copied;
    struct coll_nccl *nccl; /* NULL: no_nccl says why not */
    char no_nccl[200];
} coll_run;

/* The library's call of a contender; and the call of any contender, complete: an exit status after printing. */
hsumma_coll coll_call_of(const coll_case *c, const coll_contender *x);
int coll_call(coll_run *run, const coll_case *c, const coll_contender *x);
/* So many calls from a common start: seconds of one, of the slowest rank.  An exit status after printing. */
int coll_measure(const coll_run *run, const coll_case *c, const coll_contender *x, int calls, double *seconds);
/* How many calls of so many seconds make a measurement long enough. */
int coll_calls(double seconds, int most);

/* report.c: the head, a point as soon as it has been measured, the end.  Call them on rank 0. */
void coll_report_begin(coll_run *run, FILE *file);
void coll_report_point(coll_run *run, int point, FILE *file);
/* Returns 0 if writing failed. */
int coll_report_end(coll_run *run, FILE *file);
/* The table of a run that has been read: its device's name is in run->options. */
void coll_report_again(const coll_run *run, FILE *file);
/* What is printed for a contender. */
const char *coll_label(const coll_run *run, const coll_contender *contender);

/* plot.c: time against size.  NULL, or a complaint. */
const char *coll_plot(const coll_run *run, const char *path);

#endif
