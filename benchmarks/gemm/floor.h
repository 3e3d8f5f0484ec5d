/* A lower bound on the time to multiply host matrices on a device. Each round measures two times separately: that of
 * the copies, and that of the product of device matrices. The larger one is the bound. */
#ifndef HS_BENCHMARKS_GEMM_FLOOR_H
#define HS_BENCHMARKS_GEMM_FLOOR_H

#include "measure/timing.h"
#include "product/problem.h"

/* The copies timed in each round. All ranks copy at once, and the slowest rank counts. In: as many bytes as the host
 * operands that the product reads. Out: as many bytes as C, if C is in host memory. */
enum floor_way {
    FLOOR_IN,     /* from pinned memory to the device */
    FLOOR_OUT,    /* from the device to pinned memory */
    FLOOR_OWN_IN, /* from and to the matrices' own pages, by hsumma_copy */
    FLOOR_OWN_OUT,
    FLOOR_WAYS
};

typedef struct gemm_floor {
    int64_t in, out; /* bytes that this rank copies to and from the device */
    void *pinned, *there;
    size_t piece;              /* bytes of each buffer */
    double *times[FLOOR_WAYS]; /* seconds, indexed by way and round */
    int reps, round;
} gemm_floor;

/* For a problem whose operands lie in host memory, except those with `shared`. Collective; an exit status, after
 * printing an error. Always call gemm_floor_free, before the problem is freed. */
int gemm_floor_create(gemm_floor *floor, const problem *p, int reps);
/* Runs one round. Collective; an exit status. */
int gemm_floor_turn(gemm_floor *floor, const problem *p);
void gemm_floor_free(gemm_floor *floor, const problem *p);

/* The results of all rounds. */
typedef struct floor_result {
    int measured;
    spread way[FLOOR_WAYS], copy, compute, ratio; /* copy: in plus out; compute: the product of device matrices; ratio:
                                                     the product's time over the larger of copy and compute, by round */
} floor_result;
/* Evaluates the rounds. times: seconds of the product, by round; resident: the same with all matrices in device
 * memory. */
floor_result gemm_floor_judge(const gemm_floor *floor, const double *times, const double *resident);

#endif
