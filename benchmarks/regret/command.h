/* hsumma regret: the library's choice against a sweep over a named, bounded set of candidates. */
#ifndef HS_BENCHMARKS_REGRET_COMMAND_H
#define HS_BENCHMARKS_REGRET_COMMAND_H

#include <stdio.h>

#include "check/result.h"
#include "measure/timing.h"
#include "product/turn.h"
#include "regret/cases.h"

enum { REGRET_CANDIDATES = 40, REGRET_BEST = 3, REGRET_FINALS = REGRET_BEST + 2, REGRET_WORDS = 1024 };

typedef struct regret_arguments {
    product_cases set;
    int measure;
    int sweep_reps;
    double cap;     /* a candidate slower than the best by this factor gets only one turn */
    double seconds; /* time after which no case starts; 0 for no limit */
} regret_arguments;

/* A plan that is measured, and its best turn. */
typedef struct regret_plan {
    char name[96];
    hsumma_plan *plan; /* NULL: there is none */
    hsumma_plan_info info;
    int turns;
    turn last, best;
    int in_set;            /* 1: the same plan as one of the candidates */
    double *times, *comms; /* indexed by final round; NULL if not a finalist */
    spread total, final_comm;
} regret_plan;

/* The library's choice against the best other finalist that is a candidate. */
typedef struct regret_verdict {
    const regret_plan *plan, *best; /* plan NULL: not requested; best NULL: no other finalist is a candidate */
    spread ratio;                   /* plan's time over best's, by round */
    int executions;                 /* executions until tune=measure decided */
    double tuning_seconds;
} regret_verdict;

enum { REGRET_ESTIMATE, REGRET_MEASURE, REGRET_VERDICTS };
extern const char *const regret_verdict_names[REGRET_VERDICTS];

/* State and results of one case. */
typedef struct regret_run {
    const regret_arguments *of;
    const product_case *which;
    problem p;
    int calls; /* consecutive calls per turn, for small products */
    regret_plan set[REGRET_CANDIDATES];
    /* count: candidates in the set; refused: by the library; alike: left out, since an earlier one has the same plan */
    int count, refused, alike;
    regret_plan automatic[REGRET_VERDICTS];
    regret_plan blocking; /* the estimated plan with lookahead 0, unless it shares panels inside nodes */
    double blocking_comm; /* median communication seconds of `blocking` */
    regret_plan *final[REGRET_FINALS];
    int finals;
    double *final_times;
    regret_verdict verdict[REGRET_VERDICTS];
    int checked;
    check_outcome check;
    double seconds; /* duration of the case */
    struct progress *bar;
} regret_run;

/* candidates.c: writes name and options of the i-th candidate of a problem; returns 0 past the last. Local, with the
 * same result on all ranks. */
int regret_candidate(const problem *p, int i, char *name, size_t name_size, char *text, size_t size);
/* Prints the table of candidates. */
void regret_candidates_help(FILE *file);

/* measure.c: shows the progress of a case. */
void regret_show(const regret_run *run, double done);

/* measure.c: runs all turns of one case. Collective; returns an exit status. */
int regret_measure(regret_run *run);

/* Whether the plan is slower by more than the spread: the lower quartile of the rounds' ratios is above 1. */
int regret_is_loss(const regret_verdict *verdict);

/* report.c, on rank 0. Each returns 0 if writing failed. */
int regret_report_case(const regret_run *run, FILE *file);
int regret_report_failed(const product_case *which, report_format format, FILE *file);

/* Totals over the cases. */
typedef struct regret_totals {
    int cases, failed, left_out;
    int within[REGRET_VERDICTS], losses[REGRET_VERDICTS];
    double worst[REGRET_VERDICTS];
} regret_totals;
void regret_add(regret_totals *totals, const regret_run *run);
int regret_report_totals(const regret_totals *totals, const regret_arguments *args, FILE *file);

#endif
