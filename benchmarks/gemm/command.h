/* hsumma gemm: its arguments, contenders and results. */
#ifndef HS_BENCHMARKS_GEMM_COMMAND_H
#define HS_BENCHMARKS_GEMM_COMMAND_H

#include "check/result.h"
#include "common/arguments.h"
#include "gemm/alone.h"
#include "gemm/floor.h"
#include "gemm/link.h"
#include "gemm/rate.h"
#include "measure/simulated.h"
#include "measure/timing.h"
#include "product/bounds.h"
#include "product/turn.h"
#include "report/columns.h"
#include "report/progress.h"

/* The contenders of --compare. */
typedef enum compared {
    COMPARE_PLAN,
    COMPARE_CALL,
    COMPARE_PDGEMM,
    COMPARE_GUARDED,  /* a plan with guard=product */
    COMPARE_ANYWHERE, /* a plan with bits=anywhere */
    COMPARE_SHARED,   /* the measured routine, with A, B and C in memory of hsumma_malloc */
    COMPARE_SCALAPACK,
    COMPARE_DEVICE, /* the whole product on one process's device */
    COMPARE_COUNT
} compared;
extern const char *const compared_names[COMPARE_COUNT];

/* The values of --memory: where A, B and C lie. */
typedef enum gemm_memory { MEMORY_DEFAULT, MEMORY_HOST, MEMORY_DEVICE, MEMORY_MIXED, MEMORY_COUNT } gemm_memory;
extern const char *const memory_names[MEMORY_COUNT];

typedef struct gemm_arguments {
    arguments common;
    api how;
    gemm_memory memory; /* default: device memory, if there is a device */
    int compare;        /* bit 1 << COMPARE_... for each contender to run */
    int calls;          /* consecutive calls in each repetition */
    int gemm_threads;   /* BLAS threads of the GEMM rate; 0: one per rank of a node, at most one per core */
    int gemm_local;     /* 1: the GEMM rate is that of rank 0's part of C */
    double link;        /* bits per second that a node's link carries each way; 0: --link not given */
    int plant;          /* 1: add an error to C, as a test of the check */
    double plant_value;
    int64_t plant_row, plant_col;
} gemm_arguments;

/* Runs the command with these arguments. Collective; an exit status. */
int gemm_run(const void *args, const char *options, MPI_Comm comm);

/* A contender and its results. Unknown numbers, such as another library's messages, are NaN or -1. */
typedef struct contender {
    const char *name, *api;
    gemm_contender who;
    const problem *p; /* the problem with its matrices */
    int alone;        /* 1: one process computes the whole product */
    turn *turns;      /* indexed by round; `times` holds their seconds */
    double *times;
    const char *plan; /* options that reproduce hsumma's plan, or "none: ..."; for other contenders a description */
    hsumma_plan_info info; /* the plan's predictions */
    const char *node;      /* hsumma_plan_info.node after the last turn; NULL: unknown */
    int64_t chunk;
    spread seconds;  /* seconds on the slowest rank */
    double gflops;   /* Gflop/s at the median time */
    spread fraction; /* fraction of the GEMM rate, by round */
    spread ratio;    /* its time over the measured routine's, by round */
    spread of_link;  /* its time over that of the link plus the local GEMM (gemm/link.h), by round */
    turn typical;    /* the turn with the median time */
    plan_sent sent;
    product_bounds bounds; /* of the measured routine's plan; bounds_unknown for other contenders */
    /* peak memory of a rank: in total, and beyond its A, B and C; each on the rank with most */
    int64_t peak_rss, peak_above;
    int64_t matrices; /* bytes of A, B and C on the rank with most */
    check_outcome check;
    double row_error; /* the worst row's error in a strict check */
} contender;

enum { CONTENDERS = 1 + COMPARE_COUNT };

/* A product of which the simulator runs only a part (gemm/simulated.c). */
typedef struct gemm_sampled {
    int steps, steps_total; /* outer panels multiplied, and their total */
    int half_steps;         /* outer panels of the second execution; 0: not needed, since the first multiplied all */
    double half;            /* seconds of the second execution */
    double seconds, comm;   /* extrapolated to the whole product */
} gemm_sampled;

/* The state of one run. The measured routine is the first contender. Contenders with the same problem (p, placed or
 * shared) share its matrices; the contender on one process has its own matrices (gemm_alone). */
typedef struct contest {
    const gemm_arguments *args;
    const char *options;       /* options of the context */
    problem p, placed, shared; /* placed: with the matrices where --memory says, if that differs from p; shared: with
                                  all in memory of hsumma_malloc */
    const problem *measured;   /* p or placed */
    gemm_alone alone;
    gemm_floor floor; /* used if host matrices are multiplied on a device */
    /* floored: 1 if floor is used; resident: index of the contender whose matrices are all in memory of hsumma_malloc,
     * which was added for --compare shared or for the floor; 0: none */
    int floored, resident;
    floor_result under;
    gemm_sampled sampled;
    gemm_link link;
    pblas blacs;
    gemm_rate rate;
    double *rate_times; /* one per round */
    double *least;      /* one per round: seconds of the link plus the local GEMM */
    spread rate_seconds;
    hsumma_plan *plan;                /* NULL: there is none */
    hsumma_plan *with[COMPARE_COUNT]; /* plans of --compare guarded and anywhere, or NULL */
    hsumma_plan_info info;            /* of the plan, or of one that stands for a plan hidden by an API */
    char text[400];                   /* why there is no plan */
    progress bar;                     /* on rank 0 */
    char warning[400];                /* the first finding of the doctor that disturbs measurements, or "" */
    contender contenders[CONTENDERS];
    int count;
    turn *turns;   /* storage of all contenders' turns */
    double *times; /* storage of the times of all contenders, of the rate and of the link */
} contest;

/* Prints the report in the format of the arguments. On rank 0 only. Returns 0 if writing failed. */
int report_gemm(const contest *run, FILE *file);

/* Prints communication, GEMM, copies and total: predicted, measured (on the slowest rank of each, in the typical turn),
 * and their ratio. */
void report_phases(const contender *x, FILE *file);
json_t *report_phases_json(const contender *x);

/* simulated.c: gemm_sample runs the second execution that extrapolation needs (collective; an exit status); the others
 * report. */
int gemm_sample(contest *r);
void report_simulated(const contest *run, FILE *file);
void report_simulated_json(const contest *run, json_t *object);

/* report_floor.c: where A, B and C lie, and the bound that copies to a device set. */
void report_floor(const contest *run, const report_table *times, FILE *file);
void report_floor_json(const contest *run, json_t *object);
/* "A device, B host, C device", and the device's name; NULL without a device. */
const char *report_memory(const problem *p, char *text, size_t size);

/* bounds.c: compares the plan's traffic with lower bounds. Collective; an exit status, after printing an error. */
int gemm_bounds(contest *r);

/* report_link.c: the results of --link. */
void report_link(const contest *run, const report_table *times, FILE *file);
void report_link_json(const contest *run, json_t *object);

#endif
