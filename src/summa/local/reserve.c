#include "summa/local/device_state.h"

static hsumma_status make_event(struct hs_local *local, struct hs_event **event)
{
    return *event ? HSUMMA_OK : local->device->kind->make_event(local->device, 0, event);
}

static hsumma_status make_stream(struct hs_local *local, struct hs_stream **stream)
{
    return *stream ? HSUMMA_OK : local->device->kind->make_stream(local->device, stream);
}

/* Pinned pieces are allocated once, large enough for the longest possible column. */
static hsumma_status make_pieces(struct hs_local *local, struct hs_pinned_ring *pieces)
{
    const struct hs_device_kind *kind = local->device->kind;
    hsumma_status status = HSUMMA_OK;
    for (int i = 0; !status && i < HS_PINNED_PIECES; i++) {
        struct hs_pinned_piece *piece = &pieces->piece[i];
        if (!piece->at)
            status = kind->get_pinned(local->device, (size_t)hs_local_piece(local), &piece->at);
        if (!status)
            status = make_event(local, &piece->event);
    }
    return status;
}

static hsumma_status make_places(struct hs_local *local)
{
    const struct hs_device_kind *kind = local->device->kind;
    const struct hs_tiling *tiling = &local->tiling;
    hsumma_status status = HSUMMA_OK;
    if (local->tile_bytes < tiling->bytes) {
        kind->put(local->device, local->tile_memory);
        local->tile_memory = NULL;
        local->tile_bytes = 0;
        status = kind->get(local->device, tiling->bytes, &local->tile_memory);
        local->tile_bytes = status ? 0 : tiling->bytes;
    }
    char *at = local->tile_memory;
    for (int x = 0; x < HS_TILES; x++)
        for (int i = 0; !status && i < tiling->slots[x]; i++, at += tiling->slot_bytes[x]) {
            struct hs_tile_slot *slot = &local->slot[x][i];
            slot->tile = slot->used = -1;
            slot->at = at;
            status = make_event(local, &slot->ready);
            if (!status)
                status = make_event(local, &slot->free);
        }
    return status;
}

hsumma_status hs_local_reserve(struct hs_local *local)
{
    hsumma_status status = make_places(local);
    struct hs_stream **const stream[] = {&local->in, &local->multiply, &local->out};
    for (unsigned i = 0; !status && i < sizeof stream / sizeof *stream; i++)
        status = make_stream(local, stream[i]);
    if (!status)
        status = make_event(local, &local->begun);
    if (!status)
        status = make_event(local, &local->ended);
    if (!status)
        status = make_pieces(local, &local->coming);
    if (!status)
        status = make_pieces(local, &local->leaving);
    return status;
}

static void free_pieces(struct hs_local *local, struct hs_pinned_ring *pieces)
{
    const struct hs_device_kind *kind = local->device->kind;
    for (int i = 0; i < HS_PINNED_PIECES; i++) {
        kind->free_event(local->device, pieces->piece[i].event);
        kind->put_pinned(local->device, pieces->piece[i].at);
    }
}

void hs_local_release(struct hs_local *local)
{
    struct hs_device *device = local->device;
    const struct hs_device_kind *kind = device->kind;
    struct hs_stream *const stream[] = {local->in, local->multiply, local->out};
    for (int x = 0; x < HS_TILES; x++)
        for (int i = 0; i < HS_TILES_MOST; i++) {
            kind->free_event(device, local->slot[x][i].ready);
            kind->free_event(device, local->slot[x][i].free);
        }
    free_pieces(local, &local->coming);
    free_pieces(local, &local->leaving);
    kind->free_event(device, local->begun);
    kind->free_event(device, local->ended);
    for (unsigned i = 0; i < sizeof stream / sizeof *stream; i++)
        if (stream[i])
            kind->free_stream(device, stream[i]);
    kind->put(device, local->tile_memory);
}
