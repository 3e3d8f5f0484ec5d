/* Measurements in the simulator, where one run suffices and links report the bytes that they carried. */
#ifndef HS_BENCHMARKS_MEASURE_SIMULATED_H
#define HS_BENCHMARKS_MEASURE_SIMULATED_H

#include <mpi.h>

#include "base/simulator.h"
#include "hsumma/context/context.h"

int is_simulated(void);

/* Whether matrices hold no data (compute=time): nothing is generated or checked then. */
int is_timed_only(const hsumma_context *ctx);

/* Starts all ranks at the same simulated time; outside the simulator, a quiet_barrier. Collective. */
void common_start(MPI_Comm comm);

/* If hsumma_sim asks for it (HSUMMA_SIM_LINKS in the environment), measure the traffic on the links from begin to end.
 * On rank 0 end then fills *links; in all other cases it sets *links to zero. */
void simulated_links_begin(MPI_Comm comm);
void simulated_links_end(MPI_Comm comm, struct hs_simulated_links *links);

#endif
