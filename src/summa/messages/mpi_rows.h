/*
 * The rows "mpi" inside the multiplication: MPI's own collectives need a communicator per line of processes and level,
 * which a plan makes and frees.
 */
#ifndef HS_SUMMA_MESSAGES_MPI_ROWS_H
#define HS_SUMMA_MESSAGES_MPI_ROWS_H

#include "summa/messages/mover.h"

/* Whether a spec names such a row. */
int hs_native_wanted(const struct hs_spec *spec);
/* Collective over the grid; goes on after a failure, since others take part.  rank: room for a line of the grid.  What
 * was made is freed by hs_native_disconnect. */
hsumma_status hs_native_connect(struct hs_mover *mover, const struct hs_comm *comm, int *rank);
/* Frees the communicators; does nothing after MPI_Finalize. */
void hs_native_disconnect(struct hs_mover *mover);

#endif
