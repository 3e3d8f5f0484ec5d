/* What hsumma_bench gemm prints: a table for people, or csv, or json whose keys are a contract. */
#ifndef HS_BENCHMARKS_GEMM_REPORT_H
#define HS_BENCHMARKS_GEMM_REPORT_H

#include "check/result.h"
#include "gemm/floor.h"
#include "gemm/rate.h"
#include "measure/timing.h"
#include "product/problem.h"
#include "product/turn.h"
#include "report/columns.h"
#include "report/product.h"

/* What the model says of a plan, in seconds; NaN where it says nothing. */
typedef struct prediction {
    double all, gemm, copy;
    double comm;    /* all of it, ... */
    double visible; /* ... and what of it the local GEMM does not hide, which is what an execution can measure */
} prediction;

/* The result of one contender. A number is NaN or -1 where it is not known: a foreign library does not count its
 * messages. */
typedef struct result {
    const char *name;
    const double *times; /* one per round */
    const char *api;
    const char *plan; /* what was run: for hsumma, options that give this plan again */
    const char *why;  /* NULL if there is nothing to say */
    const char *node; /* how the ranks of a node share; NULL where it is not known */
    int64_t chunk;
    spread seconds;  /* of the slowest rank */
    double gflops;   /* at the median */
    spread fraction; /* of the GEMM rate, round by round */
    spread ratio;    /* of this contender's time to hsumma's, round by round */
    turn typical;    /* of the round with the median time */
    prediction predicted;
    int64_t bytes_max, messages_max; /* sent by the rank that sends most */
    int64_t workspace;               /* of the rank that needs most */
    int64_t peak_rss, peak_above;    /* of the rank that held most; and beyond its A, B and C */
    int64_t matrices;                /* bytes of A, B and C, of the rank that has most */
    check_outcome check;
    double row_error; /* of the check, where it is strict */
} result;

typedef struct gemm_report {
    const problem *p;
    const gemm_rate *rate;
    const double *rate_times; /* one per round */
    spread rate_seconds;
    const result *results; /* the measured routine first */
    api how;               /* of the measured routine */
    int count;
    int calls;                    /* in a row; the times are of one */
    const hsumma_plan_info *info; /* of the plan, or of one that stands for it; NULL: there is none */
    int planted;                  /* an error was planted: said in the output */
    const floor_result *floor;    /* of host-resident matrices on a device; not measured elsewhere */
} gemm_report;

/* Prints in the format of the arguments. Call it on rank 0. Returns 0 if writing failed. */
int report_gemm(const gemm_report *report, FILE *file);

/* Communication, GEMM, copies and all: predicted, measured (of the slowest rank each, in the typical turn), and the
 * ratio of the two. */
void report_phases(const result *r, const hsumma_plan_info *info, FILE *file);
json_t *report_phases_json(const result *r);

/* report_floor.c: where A, B and C lie, and what the copies to a device leave to a product. */
void report_floor(const gemm_report *report, double factor, const char *unit, FILE *file);
void report_floor_json(const gemm_report *report, json_t *object);
/* "A device, B host, C device", and the device's name; NULL without a device. */
const char *report_memory(const problem *p, char *text, size_t size);

#endif
