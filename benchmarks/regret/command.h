/* hsumma regret: what the library chooses, against a forced sweep over a named, bounded set of candidates. */
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
    double cap;     /* beyond that many times the best so far a candidate has one turn */
    double seconds; /* no case begins later; 0: no limit */
} regret_arguments;

/* A plan that takes turns, and its best turn. */
typedef struct regret_plan {
    char name[96];
    hsumma_plan *plan; /* NULL: there is none */
    hsumma_plan_info info;
    int turns;
    turn last, best;
    int in_set;            /* it is one of the candidates */
    double *times, *comms; /* of the final rounds; NULL: not in the final */
    spread total, final_comm;
} regret_plan;

/* A plan of the library's choice against the best of the others in the final. */
typedef struct regret_verdict {
    const regret_plan *plan, *best; /* plan NULL: not asked for; best NULL: there is no other */
    spread ratio;                   /* of plan's time to best's, round by round */
    int executions;                 /* until it was measured; tune=measure */
    double tuning_seconds;
} regret_verdict;

enum { REGRET_ESTIMATE, REGRET_MEASURE, REGRET_VERDICTS };
extern const char *const regret_verdict_names[REGRET_VERDICTS];

/* Everything about one case. */
typedef struct regret_run {
    const regret_arguments *of;
    const product_case *which;
    problem p;
    int calls; /* in a row in each turn: for small products */
    regret_plan set[REGRET_CANDIDATES];
    int count, refused, alike; /* candidates in the set; those that the library refuses; those with a plan twice */
    regret_plan automatic[REGRET_VERDICTS];
    regret_plan blocking; /* the estimated plan with lookahead 0, where it sends messages */
    double blocking_comm; /* the median */
    regret_plan *final[REGRET_FINALS];
    int finals;
    double *final_times;
    regret_verdict verdict[REGRET_VERDICTS];
    int checked;
    check_outcome check;
    double seconds; /* that the case took */
    struct progress *bar;
} regret_run;

/* candidates.c: the i-th candidate of a problem by the table there: its name and the options that force it; 0
 * past the last.  A function of global arguments. */
int regret_candidate(const problem *p, int i, char *name, size_t name_size, char *text, size_t size);
/* The table for people. */
void regret_candidates_help(FILE *file);

/* measure.c: shows which case it is, and how much of it is done. */
void regret_show(const regret_run *run, double done);

/* measure.c: all turns of one case.  Collective; returns an exit status. */
int regret_measure(regret_run *run);

/* The gap exceeds the spread: the quartiles of the rounds' ratios do not include 1. */
int regret_is_loss(const regret_verdict *verdict);

/* report.c; rank 0.  Each returns 0 if writing failed. */
int regret_report_case(const regret_run *run, FILE *file);
int regret_report_failed(const product_case *which, report_format format, FILE *file);

/* The totals of a table. */
typedef struct regret_totals {
    int cases, failed, left_out;
    int within[REGRET_VERDICTS], losses[REGRET_VERDICTS];
    double worst[REGRET_VERDICTS];
} regret_totals;
void regret_add(regret_totals *totals, const regret_run *run);
int regret_report_totals(const regret_totals *totals, const regret_arguments *args, FILE *file);

#endif
