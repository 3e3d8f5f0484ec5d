/* The machine that the ranks run on: nodes, cores and memory. */
#ifndef HS_BENCHMARKS_MEASURE_MACHINE_H
#define HS_BENCHMARKS_MEASURE_MACHINE_H

#include <mpi.h>
#include <sched.h>
#include <stdint.h>

#include "hsumma/context/context.h"

typedef struct machine {
    MPI_Comm node;  /* ranks of this rank's node; freed by machine_free */
    int nodes;      /* nodes of the communicator */
    int node_ranks; /* ranks on rank 0's node */
    int cores;      /* logical processors of rank 0's node that its ranks may use */
    cpu_set_t cpus; /* the processors that ranks of this rank's own node may use */
    int blas_share; /* BLAS threads per rank if the ranks of rank 0's node share its cores evenly, at least 1 */
} machine;

/* Collective over comm. */
void machine_init(machine *mach, MPI_Comm comm);
void machine_free(machine *mach);

/* Bytes that can be allocated on this node without swapping; INT64_MAX if unknown. */
int64_t memory_available(void);

/* The peak memory of this process so far, in bytes. */
int64_t peak_rss(void);

/* A communicator of the ranks that share this rank's device, in rank order; free it with MPI_Comm_free. Collective over
 * comm; an exit status, after printing an error. */
int device_mates(const hsumma_context *ctx, MPI_Comm comm, MPI_Comm *mates);

#endif
