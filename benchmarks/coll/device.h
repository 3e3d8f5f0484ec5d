/* hsumma coll on a device: measurements other than the times of calls. */
#ifndef HS_BENCHMARKS_COLL_DEVICE_H
#define HS_BENCHMARKS_COLL_DEVICE_H

#include "coll/time.h"

/* All functions are collective. Those of type int return an exit status, the same on all ranks, after printing an
 * error. */

/* Finds the ranks that share a device, and the copy rate of rank 0 alone on its device. Called once per run, if the
 * context has a device; otherwise run->mates stays MPI_COMM_NULL, and the rate 0. */
int coll_device_survey(coll_run *run);
/* The bytes that a call must read and write in the memory of the most loaded device: every contribution once, every
 * result once. */
int64_t coll_device_traffic(const coll_run *run, const coll_case *c);
/* Sets x->checksum and x->same, by a call of x with contributions whose sum depends on its order. */
int coll_device_bits(coll_run *run, coll_case *c, coll_contender *x);
/* Sets x->created and x->first: times the creation of a context with a device, and x's first call in it. */
int coll_device_init(coll_run *run, const coll_case *c, coll_contender *x);

/* NCCL, loaded if present. */
typedef struct coll_nccl coll_nccl;
/* Opens NCCL on all ranks; NULL, with the reason in `why` (at most `n` bytes), if one of them cannot. */
coll_nccl *coll_nccl_open(const coll_run *run, char *why, size_t n);
/* Enqueues NCCL's call on the context's stream. NULL, or an error message. */
const char *coll_nccl_run(const coll_nccl *nccl, const coll_case *c);
void coll_nccl_close(coll_nccl *nccl);

#endif
