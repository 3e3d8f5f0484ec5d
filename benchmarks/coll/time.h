/* Times of collectives, and reports of them. */
#ifndef HS_BENCHMARKS_COLL_TIME_H
#define HS_BENCHMARKS_COLL_TIME_H

#include "coll/case.h"
#include "measure/timing.h"
#include "report/columns.h"
#include "report/progress.h"

/* One algorithm at one size: measured, printed, and read back by --from. */
typedef struct coll_contender {
    const char *word;      /* borrowed from the run; NULL: MPI's own; "nccl": NCCL's */
    char why[300];         /* why it was left out, or "" */
    char chosen[300];      /* auto's choice, and why */
    char checksum[20];     /* hash of the result for inputs whose sum depends on the order */
    double *seconds;       /* seconds of a call, indexed by repetition */
    int64_t bytes;         /* size of the vector */
    int64_t traffic;       /* coll_device_traffic; 0 if vectors are in host memory */
    int calls;             /* number of calls per measurement */
    int right;             /* 1: the result is right */
    int same;              /* 1: ranks whose results must be equal have the same bits */
    spread time, ratio;    /* ratio: MPI's time divided by the contender's, by repetition; above 1: faster than MPI */
    double created, first; /* seconds to create a context for this contender, and of the first call in it */
    /* further columns of reports; note: `why` or `chosen`; bits: `checksum`; init: text of created, first and
     * pays_after */
    const char *op, *element, *label, *device, *note, *bits, *init;
    unsigned present; /* COLL_ flags of the columns present */
    int ranks, reps;
    int64_t pays_after; /* number of calls after which the setup cost is recovered; -1: never, or unknown */
    /* bytes per second in the device's memory, of this contender and of a copy, and their ratio */
    double bandwidth, copy_rate, of_copy;
} coll_contender;

/* Conditions for columns. */
enum {
    COLL_LINE = 1,   /* CSV and the table */
    COLL_RAN = 2,    /* the contender ran */
    COLL_RATIO = 4,  /* it is compared with MPI */
    COLL_PLACED = 8, /* vectors are on a device */
    COLL_BITS = 16,  /* --verify-bits */
    COLL_INIT = 32   /* --init, and the first call in a new context was timed */
};
extern const report_column coll_columns[];

typedef struct coll_run {
    const char *command; /* command name, for messages */
    const coll_arguments *args;
    const char *options; /* options of the context */
    MPI_Comm comm;
    int rank, size;
    machine mach;
    hsumma_context *ctx;
    char **word; /* names of the contenders; the first is NULL */
    int count;
    coll_contender *row; /* sorted by size, then by contender, MPI's first */
    double *seconds;     /* storage of all rows */
    int points;          /* number of sizes */
    progress bar;        /* rank 0's progress bar */
    json_t *sizes;       /* array of the sizes in a JSON report */
    /* with a device: */
    int placed;       /* 1: vectors are in device memory */
    double created;   /* seconds to create the context, including the device's own start */
    MPI_Comm mates;   /* the ranks that share this rank's device */
    double copy_rate; /* bytes read and written per second by copies of `copied` bytes on the device */
    int64_t copied;
    struct coll_nccl *nccl; /* NULL if NCCL is not used; no_nccl then says why */
    char no_nccl[200];
} coll_run;

/* coll_call_of returns the library call of a contender. coll_call makes any contender's call and completes it; returns
 * an exit status, after printing an error. */
hsumma_coll coll_call_of(const coll_case *c, const coll_contender *x);
int coll_call(coll_run *run, const coll_case *c, const coll_contender *x);
/* Makes `calls` calls from a common start; *seconds is the mean time of a call on the slowest rank. Returns an exit
 * status, after printing an error. */
int coll_measure(const coll_run *run, const coll_case *c, const coll_contender *x, int calls, double *seconds);
/* The number of calls, each of `seconds`, for a measurement of sufficient length; at most `most`. */
int coll_calls(double seconds, int most);

/* report.c: print the head, the lines of a size that has been measured, and the end. On rank 0 only. */
void coll_report_begin(coll_run *run, FILE *file);
void coll_report_point(coll_run *run, int point, FILE *file);
/* Returns 0 if writing failed. */
int coll_report_end(coll_run *run, FILE *file);
/* Prints the table of a run that was read back; the name of the device is in run->options. */
void coll_report_again(const coll_run *run, FILE *file);
/* The name printed for a contender. */
const char *coll_label(const coll_run *run, const coll_contender *contender);

/* plot.c: draws time against size. NULL, or an error message, which may be in *message. */
const char *coll_plot(const coll_run *run, const char *path, struct hs_message *message);

#endif
