/* Shared segments: creation, mapping, probing and release. */
#ifndef HS_COLL_NODE_SHM_MAKE_H
#define HS_COLL_NODE_SHM_MAKE_H

#include "coll/node/discover.h"

/*
 * Shared memory for the ranks of a node; its size depends on the largest node. Collective over mates; NULL on all if
 * one of them cannot have it.
 */
struct hs_shm *hs_shm_make(MPI_Comm mates, const struct hs_comm *comm, const struct hs_discover_options *options,
                           const struct hs_allocator *memory);
/* Bytes of SHARED per rank and slot on a node of `ranks` ranks. wish: the caller's number; <= 0: chosen here. */
int64_t hs_shm_bytes_for(int ranks, int64_t wish);
/* Whether this rank can read the memory of all mates directly. Collective over mates. */
int hs_shm_probe(struct hs_shm *shm, MPI_Comm mates);
/* NULL is ignored. */
void hs_shm_free_memory(struct hs_shm *shm, const struct hs_allocator *memory);

#endif
