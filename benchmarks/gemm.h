/* What hsumma_bench gemm is asked for. */
#ifndef HSUMMA_BENCHMARKS_GEMM_H
#define HSUMMA_BENCHMARKS_GEMM_H

#include "arguments.h"
#include "turn.h"

/* The words of --compare. */
typedef enum compared {
    COMPARE_PLAN,
    COMPARE_CALL,
    COMPARE_PDGEMM,
    COMPARE_SHARED, /* the measured routine, with A, B and C of hsumma_malloc */
    COMPARE_SCALAPACK,
    COMPARE_COUNT
} compared;
extern const char *const compared_names[COMPARE_COUNT];

typedef struct gemm_arguments {
    arguments common;
    api how;
    int compare[COMPARE_COUNT]; /* run in turns */
    int calls;                  /* in a row in each repetition */
    int gemm_threads;           /* of the GEMM rate; 0: min(ranks of a node, its cores) */
    int gemm_local;             /* the GEMM rate is that of rank 0's part of C */
    int plant;                  /* an error is planted */
    double plant_value;
    int64_t plant_row, plant_col;
} gemm_arguments;

/* Returns nonzero, with options->error set, if something is wrong. Free the options in any case. */
int gemm_arguments_read(gemm_arguments *args, command_options *options, int argc, char **argv);
void gemm_arguments_help(void);

#endif
