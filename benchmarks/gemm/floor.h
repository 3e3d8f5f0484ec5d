/* What a product on a device cannot undercut when its matrices lie on the host: the larger of the time to bring them
 * there and back, and the time of the product itself, measured apart in the same rounds. */
#ifndef HS_BENCHMARKS_GEMM_FLOOR_H
#define HS_BENCHMARKS_GEMM_FLOOR_H

#include "measure/timing.h"
#include "product/problem.h"

/* The ways of one round, in seconds of the slowest rank; all ranks copy at the same time. */
enum floor_way {
    FLOOR_IN,     /* this rank's host-resident operands that a product reads, from pinned memory to the device */
    FLOOR_OUT,    /* and C back */
    FLOOR_OWN_IN, /* the same from and to the matrices' own pages, by hsumma_copy */
    FLOOR_OWN_OUT,
    FLOOR_WAYS
};

typedef struct gemm_floor {
    int64_t in, out; /* bytes of this rank */
    void *pinned, *there;
    size_t piece;              /* bytes of both */
    double *times[FLOOR_WAYS]; /* per round */
    int reps, round;
} gemm_floor;

/* For a problem whose host-resident operands are those without `shared`.  Collective, an exit status, after printing.
 * Free in any case, before the problem. */
int gemm_floor_create(gemm_floor *floor, const problem *p, int reps);
/* One round.  Collective; an exit status. */
int gemm_floor_turn(gemm_floor *floor, const problem *p);
void gemm_floor_free(gemm_floor *floor, const problem *p);

/* Of so many rounds. */
typedef struct floor_result {
    int measured;
    spread way[FLOOR_WAYS], copy, compute, ratio; /* copy: in and out; ratio: of the product's times to the larger */
} floor_result;
/* times of the product and of the same one with all in the device's memory, per round. */
floor_result gemm_floor_judge(const gemm_floor *floor, const double *times, const double *resident);

#endif
