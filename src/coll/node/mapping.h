/* Memory shared by processes of one node. It has no name, so the system frees it even if processes crash. */
#ifndef HS_COLL_NODE_MAPPING_H
#define HS_COLL_NODE_MAPPING_H

#include "base/wait.h"

#include <mpi.h>
#include <stddef.h>

/* The reason why a mapping failed: of several, the last in this order. */
enum hs_mapping_fault { HS_MAPPED, HS_NOT_MAPPED, HS_NOT_OPENED, HS_NOT_MADE };
const char *hs_mapping_fault_text(enum hs_mapping_fault fault);

/*
 * Maps `bytes` bytes of zeros in all processes of `mates`, at different addresses. With `reserve`, every page is
 * allocated at once, so that a shortage is detected; otherwise pages are allocated when touched, and `bytes` may exceed
 * the machine's memory. In a simulator `reserve` has no effect. Collective over mates, same result on all: NULL if
 * impossible (no /proc, different users, no memory). *fault, unless `fault` is NULL, is then the reason.
 * watch: NULL, or looks after the waits, which it may end on some processes only (HS_NOT_MADE).
 */
void *hs_mapping_make(MPI_Comm mates, size_t bytes, int reserve, const struct hs_watch *watch,
                      enum hs_mapping_fault *fault);
void hs_mapping_free(void *base, size_t bytes); /* NULL is ignored */

#endif
