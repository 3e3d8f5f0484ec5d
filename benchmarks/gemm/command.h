/* hsumma gemm: what it is asked for, who takes turns in it, and what it prints. */
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

/* The words of --compare. */
typedef enum compared {
    COMPARE_PLAN,
    COMPARE_CALL,
    COMPARE_PDGEMM,
    COMPARE_SHARED, /* the measured routine, with A, B and C of hsumma_malloc */
    COMPARE_SCALAPACK,
    COMPARE_DEVICE, /* the whole product by one process on its device */
    COMPARE_COUNT
} compared;
extern const char *const compared_names[COMPARE_COUNT];

/* The words of --memory: where A, B and C lie. */
typedef enum gemm_memory { MEMORY_DEFAULT, MEMORY_HOST, MEMORY_DEVICE, MEMORY_MIXED, MEMORY_COUNT } gemm_memory;
extern const char *const memory_names[MEMORY_COUNT];

typedef struct gemm_arguments {
    arguments common;
    api how;
    gemm_memory memory;         /* default: the device's, where there is one */
    int compare[COMPARE_COUNT]; /* run in turns */
    int calls;                  /* in a row in each repetition */
    int gemm_threads;           /* of the GEMM rate; 0: min(ranks of a node, its cores) */
    int gemm_local;             /* the GEMM rate is that of rank 0's part of C */
    double link;                /* bits per second that a node's link carries each way; 0: not asked for */
    int plant;                  /* an error is planted */
    double plant_value;
    int64_t plant_row, plant_col;
} gemm_arguments;

/* Measures, checks, prints: the command, when its arguments are known.  Collective; an exit status. */
int gemm_run(const void *args, const char *options, MPI_Comm comm);

/* One of those that take turns, and what it has shown. A number is NaN or -1 where it is not known: a foreign library
 * does not count its messages. */
typedef struct contender {
    const char *name, *api;
    gemm_contender who;
    const problem *p; /* with its matrices */
    int alone;        /* the whole product by one process */
    turn *turns;      /* one per round, and their seconds */
    double *times;
    const char *plan;      /* what was run: for hsumma, options that give this plan again */
    hsumma_plan_info info; /* its predictions */
    const char *node;      /* how the ranks of a node shared; NULL where it is not known */
    int64_t chunk;
    spread seconds;  /* of the slowest rank */
    double gflops;   /* at the median */
    spread fraction; /* of the GEMM rate, round by round */
    spread ratio;    /* of its time to the measured routine's, round by round */
    spread of_link;  /* of its time to that of the link and the GEMM alone, round by round */
    turn typical;    /* of the round with the median time */
    plan_sent sent;
    product_bounds bounds;        /* of the plan that is measured; else bounds_unknown */
    int64_t peak_rss, peak_above; /* of the rank that held most; and beyond its A, B and C */
    int64_t matrices;             /* bytes of A, B and C, of the rank that has most */
    check_outcome check;
    double row_error; /* of the check, where it is strict */
} contender;

enum { CONTENDERS = 1 + COMPARE_COUNT };

/* A part of a product in the simulator (gemm/simulated.c). */
typedef struct gemm_sampled {
    int steps, steps_total; /* outer panels that were multiplied, and all */
    int half_steps;         /* of the other execution; 0: all were multiplied */
    double half;            /* its seconds */
    double seconds, comm;   /* of the whole product */
} gemm_sampled;

/* Everything of one run. The contenders, the measured routine first, share C but for those in memory of hsumma_malloc.
 */
typedef struct contest {
    const gemm_arguments *args;
    const char *options;       /* of the context */
    problem p, placed, shared; /* placed: as --memory says, if not as p */
    const problem *measured;   /* p or placed */
    gemm_alone alone;
    gemm_floor floor;      /* if host-resident matrices are multiplied on a device */
    int floored, resident; /* whether so; the contender with all on the device, 0: none */
    floor_result under;
    gemm_sampled sampled;
    gemm_link link;
    pblas blacs;
    gemm_rate rate;
    double *rate_times; /* one per round */
    double *least;      /* likewise: the link and the GEMM alone */
    spread rate_seconds;
    hsumma_plan *plan;     /* NULL: there is none */
    hsumma_plan_info info; /* of the plan, which may stand for one that an API keeps to itself */
    char text[400];        /* why there is none */
    progress bar;          /* rank 0's */
    char warning[400];     /* of the doctor: what spoils the figures; "": nothing */
    contender contenders[CONTENDERS];
    int count;
    turn *turns;   /* of all contenders */
    double *times; /* likewise, of the rate, and of the link */
} contest;

/* Prints in the format of the arguments. Call it on rank 0. Returns 0 if writing failed. */
int report_gemm(const contest *run, FILE *file);

/* Communication, GEMM, copies and all: predicted, measured (of the slowest rank each, in the typical turn), and the
 * ratio of the two. */
void report_phases(const contender *x, FILE *file);
json_t *report_phases_json(const contender *x);

/* simulated.c: in the simulator, the other execution that a sample needs (collective; an exit status), and the report.
 */
int gemm_sample(contest *r);
void report_simulated(const contest *run, FILE *file);
void report_simulated_json(const contest *run, json_t *object);

/* report_floor.c: where A, B and C lie, and what the copies to a device leave to a product. */
void report_floor(const contest *run, const report_table *times, FILE *file);
void report_floor_json(const contest *run, json_t *object);
/* "A device, B host, C device", and the device's name; NULL without a device. */
const char *report_memory(const problem *p, char *text, size_t size);

/* bounds.c: what the plan moves, against lower bounds.  Collective; an exit status, after printing. */
int gemm_bounds(contest *r);

/* report_link.c: --link. */
void report_link(const contest *run, const report_table *times, FILE *file);
void report_link_json(const contest *run, json_t *object);

#endif
