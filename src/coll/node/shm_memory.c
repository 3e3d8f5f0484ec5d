#include "coll/node/shm_memory.h"

#include "coll/node/mapping.h"

#include <string.h>
#include <unistd.h>

enum { LEAST_SHARED_BYTES = 32 * 1024, MOST_SHARED_BYTES = 512 * 1024, NODE_MEMORY = 8 * 1024 * 1024 };

/* Bytes of SHARED per rank and slot: what a node may take divided by its ranks, within bounds. */
static int64_t shared_bytes_for(int ranks, int64_t wish)
{
    int64_t shared_bytes = NODE_MEMORY / HS_RING / ranks;
    shared_bytes = shared_bytes < LEAST_SHARED_BYTES  ? LEAST_SHARED_BYTES
                   : shared_bytes > MOST_SHARED_BYTES ? MOST_SHARED_BYTES
                                                      : shared_bytes;
    if (wish > 0)
        shared_bytes = wish;
    return (shared_bytes + HS_PAGE - 1) / HS_PAGE * HS_PAGE;
}

/* Where descriptors cannot be opened (no /proc, other users): MPI's window. */
static void *map_by_mpi(struct hs_shm *shm, MPI_Comm mates, size_t bytes, const struct hs_allocator *memory)
{
    MPI_Win *win = hs_get(memory, 1, sizeof *win);
    void *base = NULL;
    MPI_Aint size;
    int unit;
    if (!hs_all_well(mates, win != NULL)) {
        hs_put(memory, win);
        return NULL;
    }
    MPI_Comm_set_errhandler(mates, MPI_ERRORS_RETURN);
    int made =
        MPI_Win_allocate_shared(shm->me == 0 ? (MPI_Aint)bytes : 0, 1, MPI_INFO_NULL, mates, &base, win) == MPI_SUCCESS;
    int everywhere = hs_all_well(mates, made);
    if (everywhere)
        everywhere = hs_all_well(mates, MPI_Win_shared_query(*win, 0, &size, &unit, &base) == MPI_SUCCESS);
    if (!everywhere) { /* made by some only: then freeing it, which is collective, is not possible either */
        hs_put(memory, win);
        return NULL;
    }
    shm->fallback = win;
    return base;
}

/* Its tables: who is which member, and their processes. */
static int fill_tables(struct hs_shm *shm, MPI_Comm mates, const struct hs_comm *comm,
                       const struct hs_allocator *memory)
{
    const struct hs_division *node = &comm->topology.division[HS_NODE];
    shm->process = hs_get(memory, (size_t)shm->members, sizeof *shm->process);
    shm->bounce = hs_get(memory, 1, HS_BOUNCE);
    shm->index = node->index; /* members are the ranks of the node, ascending */
    int64_t mine = getpid();
    int64_t *all = hs_get(memory, (size_t)shm->members, sizeof *all);
    int well = hs_all_well(mates, shm->process && shm->bounce && all) &&
               MPI_Allgather(&mine, 1, MPI_INT64_T, all, 1, MPI_INT64_T, mates) == MPI_SUCCESS;
    for (int m = 0; well && m < shm->members; m++)
        shm->process[m] = (pid_t)all[m];
    hs_put(memory, all);
    return well;
}

struct hs_shm *hs_shm_make(MPI_Comm mates, const struct hs_comm *comm, int most,
                           const struct hs_discover_options *options, const struct hs_allocator *memory)
{
    struct hs_shm *shm = hs_get_zero(memory, 1, sizeof *shm);
    if (!hs_all_well(mates, shm != NULL)) {
        hs_put(memory, shm);
        return NULL;
    }
    MPI_Comm_rank(mates, &shm->me);
    MPI_Comm_size(mates, &shm->members);
    shm->shared_bytes = options->posts ? 0 : shared_bytes_for(most, options->shared_bytes);
    shm->pitch = shm->shared_bytes + HS_POST_BYTES; /* a page for the post: rooms begin on pages of their own */
    shm->bytes = (size_t)shm->pitch * HS_RING * (size_t)shm->members;
    int well = fill_tables(shm, mates, comm, memory);
    if (well && !options->window)
        shm->base = hs_mapping_make(mates, shm->bytes, 1);
    if (well && !shm->base)
        shm->base = map_by_mpi(shm, mates, shm->bytes, memory);
    if (!hs_all_well(mates, shm->base != NULL)) {
        hs_shm_free_memory(shm, memory);
        return NULL;
    }
    /* New memory of the system is zero; MPI's may be used. */
    for (int64_t s = 0; s < HS_RING; s++)
        memset(hs_shm_post(shm, s, shm->me), 0, sizeof(struct hs_post));
    hs_all_well(mates, 1);
    return shm;
}

int hs_shm_probe(struct hs_shm *shm, MPI_Comm mates)
{
    const uint64_t word = 0x6873756d6d610000u;
    volatile uint64_t mine = word + (uint64_t)shm->me;
    hs_shm_publish(shm, 0, (const void *)(uintptr_t)&mine, NULL);
    int well = hs_all_well(mates, 1); /* all have published */
    for (int m = 0; m < shm->members && well; m++) {
        uint64_t read = 0;
        well = hs_shm_read(shm, 0, m, 0, 0, &read, sizeof read) == HSUMMA_OK && read == word + (uint64_t)m;
    }
    return hs_all_well(mates, well); /* and all have read, so that `mine` may go */
}

void hs_shm_free_memory(struct hs_shm *shm, const struct hs_allocator *memory)
{
    if (!shm)
        return;
    int finalised = 1;
    MPI_Finalized(&finalised);
    if (shm->fallback && !finalised)
        MPI_Win_free((MPI_Win *)shm->fallback);
    else if (shm->base && !shm->fallback)
        hs_mapping_free(shm->base, shm->bytes);
    hs_put(memory, shm->fallback);
    hs_put(memory, shm->process);
    hs_put(memory, shm->bounce);
    hs_put(memory, shm);
}
