/*
 * MPI's own collectives (rows "mpi") as algorithms of a product.  They need a communicator per level of a line, which a
 * plan makes and frees.
 */
#ifndef HS_SUMMA_MESSAGES_MPI_ROWS_H
#define HS_SUMMA_MESSAGES_MPI_ROWS_H

#include "summa/messages/mover.h"

/* Whether a spec names a row "mpi" on any level. */
int hs_native_wanted(const struct hs_spec *spec);
/* Makes the communicators of a mover.  Collective over the grid; continues after an error, because other processes
 * participate.  rank: scratch for the ranks of a line.  HSUMMA_ERR_MPI.  The caller frees the communicators with
 * hs_native_disconnect, also after an error. */
hsumma_status hs_native_connect(struct hs_mover *mover, const struct hs_comm *comm, int *rank);
/* Frees the communicators; does nothing after MPI_Finalize. */
void hs_native_disconnect(struct hs_mover *mover);

#endif
