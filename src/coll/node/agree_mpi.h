/* Agreement by MPI itself: for what comes before our own collectives can be used, and for groups that have none. */
#ifndef HS_COLL_NODE_AGREE_MPI_H
#define HS_COLL_NODE_AGREE_MPI_H

#include "coll/node/verdict.h"

#include <mpi.h>

/* Blocking, and collective over comm.  Where MPI fails the verdict is HSUMMA_ERR_MPI, of this rank. */
struct hs_verdict hs_agree_by_mpi(MPI_Comm comm, struct hs_vote mine);
/* The same of a status alone: the worst of all. */
hsumma_status hs_agreed(MPI_Comm comm, hsumma_status mine);

#endif
