/*
 * Agreement by MPI's own allreduce, used before the library's own collectives can run and for groups without them; and
 * other waits for MPI's collectives.
 */
#ifndef HS_COLL_NODE_AGREE_MPI_H
#define HS_COLL_NODE_AGREE_MPI_H

#include "base/wait.h"
#include "coll/node/verdict.h"

#include <mpi.h>

/* HSUMMA_OK for MPI_SUCCESS, HSUMMA_ERR_PEER for errors that MPI returns after the death of a process, else
 * HSUMMA_ERR_MPI. */
hsumma_status hs_mpi_status(int code);
/*
 * Waits for a request that a call of MPI with the result `code` has started. watch: NULL, or looks after the wait and
 * may end it with an error; MPI may then still access the request's buffers.
 */
hsumma_status hs_mpi_wait(int code, MPI_Request *request, const struct hs_watch *watch);

/*
 * Combines the votes of all ranks. Blocking and collective over comm. If MPI fails, the verdict is hs_mpi_status with
 * this rank.
 */
struct hs_verdict hs_agree_by_mpi(MPI_Comm comm, struct hs_vote mine);
/* hs_agree_by_mpi while watch, which may be NULL, looks after the wait and may end it with an error (hs_mpi_wait). */
struct hs_verdict hs_agree_watched(MPI_Comm comm, struct hs_vote mine, const struct hs_watch *watch);
/* Returns the worst status of all ranks. Blocking and collective over comm; hs_mpi_status if MPI fails. */
hsumma_status hs_agreed(MPI_Comm comm, hsumma_status mine);

#endif
