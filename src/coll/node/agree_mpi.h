/* Agreement by MPI_Allreduce: used before the library's own collectives can run, and for groups without them. */
#ifndef HS_COLL_NODE_AGREE_MPI_H
#define HS_COLL_NODE_AGREE_MPI_H

#include "coll/node/verdict.h"

#include <mpi.h>

/*
 * Combines the votes of all ranks. Blocking and collective over comm. If MPI fails, the verdict is HSUMMA_ERR_MPI with
 * this rank.
 */
struct hs_verdict hs_agree_by_mpi(MPI_Comm comm, struct hs_vote mine);
/* Returns the worst status of all ranks. Blocking and collective over comm; HSUMMA_ERR_MPI if MPI fails. */
hsumma_status hs_agreed(MPI_Comm comm, hsumma_status mine);

#endif
