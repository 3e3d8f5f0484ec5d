/* Memory shared by processes of one node; it has no name, so nothing is left behind whatever happens. */
#ifndef HS_COLL_NODE_MAPPING_H
#define HS_COLL_NODE_MAPPING_H

#include <mpi.h>
#include <stddef.h>

/* Why a mapping failed; if processes failed for different reasons, the last of these is reported. */
enum hs_mapping_fault { HS_MAPPED, HS_NOT_MAPPED, HS_NOT_OPENED, HS_NOT_MADE };
const char *hs_mapping_fault_text(enum hs_mapping_fault fault);

/*
 * Maps `bytes` of zeros in all processes of `mates`, at an address of its own in each. reserve: every page is allocated
 * now, so a shortage shows here; otherwise pages are allocated when touched, and bytes may exceed the machine's memory.
 * Collective over mates with the same result on all: NULL if impossible (no /proc, different users, no memory); then
 * *fault, unless fault is NULL, is the reason.
 */
void *hs_mapping_make(MPI_Comm mates, size_t bytes, int reserve, enum hs_mapping_fault *fault);
void hs_mapping_free(void *base, size_t bytes); /* NULL is ignored */

#endif
