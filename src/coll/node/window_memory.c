#include "coll/node/window_memory.h"

#include "coll/node/segment.h"

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
static void *map_by_mpi(struct hs_window *window, MPI_Comm mates, size_t bytes, const struct hs_allocator *memory)
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
    int made = MPI_Win_allocate_shared(window->me == 0 ? (MPI_Aint)bytes : 0, 1, MPI_INFO_NULL, mates, &base, win) ==
               MPI_SUCCESS;
    int everywhere = hs_all_well(mates, made);
    if (everywhere)
        everywhere = hs_all_well(mates, MPI_Win_shared_query(*win, 0, &size, &unit, &base) == MPI_SUCCESS);
    if (!everywhere) { /* made by some only: then freeing it, which is collective, is not possible either */
        hs_put(memory, win);
        return NULL;
    }
    window->fallback = win;
    return base;
}

/* The tables of a window: who is which member, and their processes. */
static int fill_tables(struct hs_window *window, MPI_Comm mates, const struct hs_comm *comm,
                       const struct hs_allocator *memory)
{
    const struct hs_division *node = &comm->topology.level[HS_NODE];
    window->process = hs_get(memory, (size_t)window->members, sizeof *window->process);
    window->bounce = hs_get(memory, 1, HS_BOUNCE);
    window->index = node->index; /* members are the ranks of the node, ascending */
    int64_t mine = getpid();
    int64_t *all = hs_get(memory, (size_t)window->members, sizeof *all);
    int well = hs_all_well(mates, window->process && window->bounce && all) &&
               MPI_Allgather(&mine, 1, MPI_INT64_T, all, 1, MPI_INT64_T, mates) == MPI_SUCCESS;
    for (int m = 0; well && m < window->members; m++)
        window->process[m] = (pid_t)all[m];
    hs_put(memory, all);
    return well;
}

struct hs_window *hs_window_make(MPI_Comm mates, const struct hs_comm *comm, int most,
                                 const struct hs_place_options *options, const struct hs_allocator *memory)
{
    struct hs_window *window = hs_get_zero(memory, 1, sizeof *window);
    if (!hs_all_well(mates, window != NULL)) {
        hs_put(memory, window);
        return NULL;
    }
    MPI_Comm_rank(mates, &window->me);
    MPI_Comm_size(mates, &window->members);
    window->shared_bytes = options->posts ? 0 : shared_bytes_for(most, options->shared_bytes);
    window->pitch = window->shared_bytes + HS_POST_BYTES; /* a page for the post: rooms begin on pages of their own */
    window->bytes = (size_t)window->pitch * HS_RING * (size_t)window->members;
    int well = fill_tables(window, mates, comm, memory);
    if (well && !options->window)
        window->base = hs_segment_make(mates, window->bytes, 1);
    if (well && !window->base)
        window->base = map_by_mpi(window, mates, window->bytes, memory);
    if (!hs_all_well(mates, window->base != NULL)) {
        hs_window_free_memory(window, memory);
        return NULL;
    }
    /* New memory of the system is zero; MPI's may be used. */
    for (int64_t s = 0; s < HS_RING; s++)
        memset(hs_window_post(window, s, window->me), 0, sizeof(struct hs_post));
    hs_all_well(mates, 1);
    return window;
}

int hs_window_probe(struct hs_window *window, MPI_Comm mates)
{
    const uint64_t word = 0x6873756d6d610000u;
    volatile uint64_t mine = word + (uint64_t)window->me;
    hs_window_publish(window, 0, (const void *)(uintptr_t)&mine, NULL);
    int well = hs_all_well(mates, 1); /* all have published */
    for (int m = 0; m < window->members && well; m++) {
        uint64_t read = 0;
        well = hs_window_read(window, 0, m, 0, 0, &read, sizeof read) == HSUMMA_OK && read == word + (uint64_t)m;
    }
    return hs_all_well(mates, well); /* and all have read, so that `mine` may go */
}

void hs_window_free_memory(struct hs_window *window, const struct hs_allocator *memory)
{
    if (!window)
        return;
    int finalised = 1;
    MPI_Finalized(&finalised);
    if (window->fallback && !finalised)
        MPI_Win_free((MPI_Win *)window->fallback);
    else if (window->base && !window->fallback)
        hs_segment_free(window->base, window->bytes);
    hs_put(memory, window->fallback);
    hs_put(memory, window->process);
    hs_put(memory, window->bounce);
    hs_put(memory, window);
}
