/* Memory that processes of one node share: without a name, so that nothing is left behind whatever happens. */
#ifndef HS_COLL_NODE_MAPPING_H
#define HS_COLL_NODE_MAPPING_H

#include <mpi.h>
#include <stddef.h>

/* Why there is no mapping; where processes have met several the last of these counts. */
enum hs_mapping_fault { HS_MAPPED, HS_NOT_MAPPED, HS_NOT_OPENED, HS_NOT_MADE };
const char *hs_mapping_fault_text(enum hs_mapping_fault fault);

/*
 * Maps `bytes` of zeros in all processes of `mates`, each at an address of its own.  reserve: every page is taken now,
 * so that a shortage shows here; else pages come as they are touched, and bytes may be more than the machine has.
 * Collective over mates, and the same answer on all: NULL where it cannot be had (no /proc, other users, no memory),
 * and then *fault, unless it is NULL, is why.
 */
void *hs_mapping_make(MPI_Comm mates, size_t bytes, int reserve, enum hs_mapping_fault *fault);
void hs_mapping_free(void *base, size_t bytes); /* NULL is ignored */

#endif
