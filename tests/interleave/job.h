/* A multiplication: a problem with random layouts, its spec, its data, and the right result. */
#ifndef HS_TESTS_INTERLEAVE_JOB_H
#define HS_TESTS_INTERLEAVE_JOB_H

#include "summa/pack.h"
#include "summa/problem.h"

enum { PROCESSES_MOST = 24, DATA_SETS = 2 };

/* The layout of one dimension of a matrix along an axis of the grid; the operand is a part of it. */
struct spread_dimension {
    int64_t block, first, before, behind; /* indices before and after the operand */
    int src;                              /* -1: every process has everything */
};

/* A process's part of a matrix. */
struct local_part {
    int64_t ld, origin; /* index of the operand's first local element */
    size_t elements;
    double *fresh[DATA_SETS]; /* before an execution */
    double *after[DATA_SETS]; /* C after the execution */
};

struct job {
    int extent[2];
    int rank[PROCESSES_MOST]; /* ranks of the grid's processes */
    struct spread_dimension spread[3][2];
    char op[3];
    int64_t size[3]; /* m, n, k */
    double alpha, beta;
    /* node is HS_NODE_SHARED for the node's engine. Loops may have two specs with equal panels; an execution in two
     * spans then starts with one and ends with the other. */
    struct hs_spec spec[2];
    int specs;
    struct local_part part[PROCESSES_MOST][3];
};

/* The element type: doubles holding small integers, so that sums are exact; `yields` is called wherever work is
 * done. */
void job_begin(void (*yields)(double));

/*
 * Draws a job for a part of the grid with `extent` processes, in the order of `rank`; only on one node may it use the
 * node's engine. 0: nothing to multiply.
 */
int job_draw(struct job *job, const int extent[2], const int *rank, int one_node, uint64_t *random);
/* The problem as seen by process `process` of the job's grid; the job must outlive it. */
struct hs_problem job_problem(const struct job *job, int process);
/* job_index_of: a rank's process in the job's grid, or -1. job_by_node: whether the node's engine does the job. */
int job_index_of(const struct job *job, int rank);
int job_by_node(const struct job *job);
/* Makes the data, in memory of the case. */
int job_fill(struct job *job, uint64_t *random);
/* The number of wrong elements of C on a process after an execution. */
int job_wrong(const struct job *job, int process, int set, const double *c);
void job_describe(const struct job *job, char *text, size_t room);

#endif
