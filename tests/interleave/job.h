/* What is multiplied: a problem with drawn layouts, how it is done, its data, and what has to come out. */
#ifndef HS_TESTS_INTERLEAVE_JOB_H
#define HS_TESTS_INTERLEAVE_JOB_H

#include "summa/pack.h"
#include "summa/problem.h"

enum { PROCESSES_MOST = 24, DATA_SETS = 2 };

/* How a dimension of a matrix is spread along an axis of the grid; the operand is a part of it. */
struct spread_dimension {
    int64_t block, first, before, behind; /* indices in front of the operand and behind it */
    int src;                              /* -1: every process has all */
};

/* What a process has of a matrix. */
struct local_part {
    int64_t ld, origin; /* the operand's first local element */
    size_t elements;
    double *fresh[DATA_SETS]; /* before an execution ... */
    double *after[DATA_SETS]; /* ... and of C, behind it */
};

struct job {
    int extent[2];
    int rank[PROCESSES_MOST]; /* of the grid's processes */
    struct spread_dimension spread[3][2];
    char op[3];
    int64_t size[3]; /* m, n, k */
    double alpha, beta;
    /* node: HS_NODE_SHARED for the node's engine.  Loops may have two that differ in all but what decides the panels:
       an execution in two spans then begins with one and ends with the other. */
    struct hs_spec spec[2];
    int specs;
    struct local_part part[PROCESSES_MOST][3];
};

/* The element type: doubles that hold small integers, so that sums are exact; `yields` is called wherever work is done.
 */
void job_begin(void (*yields)(double));

/*
 * A job for a part of the grid, which has `extent` processes in the order of `rank`; only on one node it may be for the
 * node's engine.  0: the draw is no product.
 */
int job_draw(struct job *job, const int extent[2], const int *rank, int one_node, uint64_t *random);
/* As the process with index `process` of the job's grid sees it; the job must outlive it. */
struct hs_problem job_problem(const struct job *job, int process);
/* The process of the job's grid that a rank is, or -1; whether it is for the node's engine. */
int job_index_of(const struct job *job, int rank);
int job_by_node(const struct job *job);
/* Its data, in memory of the case. */
int job_fill(struct job *job, uint64_t *random);
/* The elements of C that are wrong on a process behind an execution. */
int job_wrong(const struct job *job, int process, int set, const double *c);
void job_describe(const struct job *job, char *text, size_t room);

#endif
