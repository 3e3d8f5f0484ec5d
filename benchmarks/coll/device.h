/* hsumma coll on a device: what is measured beside the calls. */
#ifndef HS_BENCHMARKS_COLL_DEVICE_H
#define HS_BENCHMARKS_COLL_DEVICE_H

#include "coll/time.h"

/* All are collective and return an exit status, the same everywhere, after printing what was wrong. */

/* Who shares a device with whom, and how fast one process alone copies inside it.  Once per run; MPI_COMM_NULL in
 * run->mates and 0 elsewhere. */
int coll_device_survey(coll_run *run);
/* Bytes that a call must read and write in the memory of the device that has most of them: every contribution once, and
 * every result once. */
int64_t coll_device_traffic(const coll_run *run, const coll_case *c);
/* The bits of x's result for contributions whose sum depends on its order. */
int coll_device_bits(coll_run *run, coll_case *c, coll_contender *x);
/* What a context with a device costs, and x's first call in it. */
int coll_device_init(coll_run *run, const coll_case *c, coll_contender *x);

/* NCCL, loaded if it is there. */
typedef struct coll_nccl coll_nccl;
/* NULL and why not (at most n bytes), or one that all ranks have. */
coll_nccl *coll_nccl_open(const coll_run *run, char *why, size_t n);
/* NULL, or what is wrong.  On the context's stream. */
const char *coll_nccl_run(const coll_nccl *nccl, const coll_case *c);
void coll_nccl_close(coll_nccl *nccl);

#endif
