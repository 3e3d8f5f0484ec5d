/* Memory that processes of one node share: without a name, so that nothing is left behind whatever happens. */
#ifndef HS_COLL_NODE_MAPPING_H
#define HS_COLL_NODE_MAPPING_H

#include <mpi.h>
#include <stddef.h>

/*
 * Maps `bytes` of zeros in all processes of `mates`, each at an address of its own.  reserve: every page is taken now,
 * so that a shortage shows here; else pages come as they are touched, and bytes may be more than the machine has.
 * Collective over mates, and the same answer on all: NULL where it cannot be had (no /proc, other users, no memory).
 */
void *hs_mapping_make(MPI_Comm mates, size_t bytes, int reserve);
void hs_mapping_free(void *base, size_t bytes); /* NULL is ignored */

#endif
