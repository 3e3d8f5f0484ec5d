/* What hsumma_bench gemm is asked for. */
#ifndef HS_BENCHMARKS_GEMM_COMMAND_H
#define HS_BENCHMARKS_GEMM_COMMAND_H

#include "common/arguments.h"
#include "product/turn.h"

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
    int plant;                  /* an error is planted */
    double plant_value;
    int64_t plant_row, plant_col;
} gemm_arguments;

/* Measures, checks, prints: the command, when its arguments are known.  Collective; an exit status. */
int gemm_run(const void *args, const char *options, MPI_Comm comm);

#endif
