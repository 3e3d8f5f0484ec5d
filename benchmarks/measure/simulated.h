/* What measuring is in the simulator: one run says everything, and the links can be asked what they have carried. */
#ifndef HS_BENCHMARKS_MEASURE_SIMULATED_H
#define HS_BENCHMARKS_MEASURE_SIMULATED_H

#include <mpi.h>

#include "base/simulator.h"
#include "hsumma/context/context.h"

int is_simulated(void);

/* Whether matrices hold nothing there (compute=time): then nothing is generated or checked. */
int is_timed_only(const hsumma_context *ctx);

/* All ranks leave it at the same moment of simulated time; elsewhere, a quiet_barrier. Collective. */
void common_start(MPI_Comm comm);

/* What links carry from here to simulated_links_end, which fills *links on rank 0. Only where hsumma_sim asks for it
 * (HSUMMA_SIM_LINKS in the environment); *links is zeros otherwise. */
void simulated_links_begin(MPI_Comm comm);
void simulated_links_end(MPI_Comm comm, struct hs_simulated_links *links);

#endif
