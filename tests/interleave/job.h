/* A multiplication: a problem with random layouts, its spec, its data, and the right result. */
#ifndef HS_TESTS_INTERLEAVE_JOB_H
#define HS_TESTS_INTERLEAVE_JOB_H

#include "summa/pack.h"
#include "summa/problem.h"

enum { PROCESSES_MOST = 24, DATA_SETS = 2 };

/* The layout of one dimension of a matrix along a grid axis; the operand is a range of that dimension. */
struct spread_dimension {
    int64_t block, first, before, behind; /* before, behind: number of indices outside the operand */
    int src;                              /* process of the first block; -1: every process has all indices */
};

/* One process's local part of a matrix. */
struct local_part {
    int64_t ld, origin; /* index of the operand's first element in the local part */
    size_t elements;
    double *fresh[DATA_SETS]; /* contents before an execution, by data set */
    double *after[DATA_SETS]; /* right contents of C after the execution, by data set */
};

struct job {
    int extent[2];
    int rank[PROCESSES_MOST]; /* rank of each process of the grid, by rows */
    struct spread_dimension spread[3][2];
    char op[3];
    int64_t size[3]; /* m, n, k */
    double alpha, beta;
    /* Both specs have the same innermost panels. If specs is 2, an execution in two spans uses the first spec, then the
     * second. spec[0].node is HS_NODE_SHARED or HS_NODE_EVEN if the product inside one node is used. */
    struct hs_spec spec[2];
    int specs;
    struct local_part part[PROCESSES_MOST][3];
};

/* Sets the library's GEMM to one that multiplies doubles. Entries are small integers, so sums are exact. The GEMM calls
 * `yields` while it works. */
void job_begin(void (*yields)(double));

/*
 * Draws a job for a grid of `extent` processes, whose ranks are `rank` by rows, or for a part of this grid. With
 * one_node the job may use the product inside one node. Returns 0 if the operand that was drawn cannot be stationary,
 * because this operand or C is replicated.
 */
int job_draw(struct job *job, const int extent[2], const int *rank, int one_node, uint64_t *random);
/* The problem as seen by process `process` of the job's grid; the job must outlive it. */
struct hs_problem job_problem(const struct job *job, int process);
/* The process of a rank in the job's grid, or -1 if it is not a member. */
int job_index_of(const struct job *job, int rank);
int job_by_node(const struct job *job);
/* Allocates the matrices from the case's memory and fills them. Returns 0 if memory is exhausted. */
int job_fill(struct job *job, uint64_t *random);
/* The number of wrong elements of C on a process after an execution with data set `set`. */
int job_wrong(const struct job *job, int process, int set, const double *c);
void job_describe(const struct job *job, char *text, size_t room);

#endif
