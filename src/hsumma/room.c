#include "hsumma/room.h"

#include "coll/segment.h"
#include "hsumma/context.h"

#include <string.h>
#include <unistd.h>

enum { PAGE = 4096 };

/* What the panel buffers of one grid may take at most: a quarter of the node's memory. */
static size_t quarter_of_memory(void)
{
    const size_t least = (size_t)64 << 20, most = (size_t)1 << 36;
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    size_t quarter = pages > 0 && size > 0 ? (size_t)pages / 4 * (size_t)size : 0;
    return quarter < least ? least : quarter > most ? most : quarter / PAGE * PAGE;
}

static size_t directory_bytes(const hsumma_context *ctx)
{
    return (hs_directory_bytes(ctx->comm.size) + PAGE - 1) / PAGE * PAGE;
}

void hs_rooms_make(hsumma_context *ctx)
{
    struct hs_rooms *rooms = &ctx->rooms;
    uint64_t quarter = quarter_of_memory();
    /* one node, but a container may show its processes different limits */
    if (!ctx->profile.one_node || ctx->comm.size == 1 ||
        MPI_Bcast(&quarter, 1, MPI_UINT64_T, 0, ctx->comm.comm) != MPI_SUCCESS)
        return;
    for (int tries = 0; !rooms->base && tries < 8; tries++, quarter /= 2) { /* limits on address space */
        rooms->pitch = directory_bytes(ctx) + (size_t)quarter / PAGE * PAGE;
        rooms->bytes = HS_ROOMS * rooms->pitch;
        rooms->base = hs_segment_make(ctx->comm.comm, rooms->bytes, 0);
    }
}

void hs_rooms_free(struct hs_rooms *rooms)
{
    hs_segment_free(rooms->base, rooms->bytes);
    rooms->base = NULL;
}

hsumma_status hs_room_take(hsumma_context *ctx, struct hs_node_room *room)
{
    struct hs_rooms *rooms = &ctx->rooms;
    int number = rooms->grids++;
    memset(room, 0, sizeof *room);
    if (!rooms->base || number >= HS_ROOMS)
        return HSUMMA_OK;
    room->taken = hs_get_zero(&ctx->memory, (size_t)ctx->comm.size, sizeof *room->taken);
    if (!room->taken)
        return HSUMMA_ERR_MEMORY;
    char *base = rooms->base + (size_t)number * rooms->pitch;
    room->directory = (struct hs_directory){.entry = (struct hs_words *)base,
                                            .ranks = ctx->comm.size,
                                            .me = ctx->comm.rank,
                                            .crowded = ctx->comm.size > sysconf(_SC_NPROCESSORS_ONLN),
                                            .awaited = -1};
    room->directory.entry[ctx->comm.rank].process = getpid();
    room->memory = base + directory_bytes(ctx);
    room->bytes = rooms->pitch - directory_bytes(ctx);
    return HSUMMA_OK;
}

void hs_room_leave(hsumma_context *ctx, struct hs_node_room *room)
{
    hs_put(&ctx->memory, room->taken);
    room->taken = NULL;
}
