/* hsumma coll on a device: measurements other than the times of calls. */
#ifndef HS_BENCHMARKS_COLL_DEVICE_H
#define HS_BENCHMARKS_COLL_DEVICE_H

#include "coll/time.h"

/* All are collective and return an exit status, the same on all ranks, after printing an error. */

/* Finds the ranks that share a device, and the copy rate of one process alone on it. Once per run; without a device
 * run->mates is MPI_COMM_NULL and the rate 0. */
int coll_device_survey(coll_run *run);
/* The bytes that a call must read and write in the memory of the most loaded device: every contribution once, every
 * result once. */
int64_t coll_device_traffic(const coll_run *run, const coll_case *c);
/* Hashes the bits of x's result, for contributions whose sum depends on its order. */
int coll_device_bits(coll_run *run, coll_case *c, coll_contender *x);
/* Measures the creation of a context with a device, and x's first call in it. */
int coll_device_init(coll_run *run, const coll_case *c, coll_contender *x);

/* NCCL, loaded if present. */
typedef struct coll_nccl coll_nccl;
/* Opens NCCL on all ranks; NULL, with the reason in why (at most n bytes), if one of them cannot. */
coll_nccl *coll_nccl_open(const coll_run *run, char *why, size_t n);
/* Runs NCCL's call on the context's stream. NULL, or an error message. */
const char *coll_nccl_run(const coll_nccl *nccl, const coll_case *c);
void coll_nccl_close(coll_nccl *nccl);

#endif
