/* Agreement by MPI itself: used before the library's own collectives exist, and for groups that have none. */
#ifndef HS_COLL_NODE_AGREE_MPI_H
#define HS_COLL_NODE_AGREE_MPI_H

#include "coll/node/verdict.h"

#include <mpi.h>

/* Blocking and collective over comm. If MPI fails, the verdict is HSUMMA_ERR_MPI with this rank. */
struct hs_verdict hs_agree_by_mpi(MPI_Comm comm, struct hs_vote mine);
/* As hs_agree_by_mpi, for a status alone: returns the worst of all. */
hsumma_status hs_agreed(MPI_Comm comm, hsumma_status mine);

#endif
