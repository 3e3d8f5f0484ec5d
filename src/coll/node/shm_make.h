/* Creation, probing and release of the shared memory of shm.h. */
#ifndef HS_COLL_NODE_SHM_MAKE_H
#define HS_COLL_NODE_SHM_MAKE_H

#include "coll/node/discover.h"

/*
 * Creates the memory that the ranks of a node share. Its size per rank is equal on all nodes; by default it depends on
 * the size of the largest node. Collective over mates; returns NULL on all of them if one cannot map it, and on a rank
 * without memory for the struct. The mates must agree on the result before they use it.
 */
struct hs_shm *hs_shm_make(MPI_Comm mates, const struct hs_comm *comm, const struct hs_discover_options *options,
                           const struct hs_allocator *memory);
/*
 * The bytes of SHARED per rank and slot on a node of `ranks` ranks: `wish` rounded up to pages, or the default if wish
 * <= 0.
 */
int64_t hs_shm_bytes_for(int ranks, int64_t wish);
/*
 * True if this rank can read the memory of all mates directly. Local, after an agreement of the mates that all have
 * made shm; none may start an instance until all have called it.
 */
int hs_shm_probe(const struct hs_shm *shm);
/* Frees shm; NULL is ignored. */
void hs_shm_free_memory(struct hs_shm *shm, const struct hs_allocator *memory);

#endif
