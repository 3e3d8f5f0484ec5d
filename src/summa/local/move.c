#include "summa/local/device_state.h"

struct hs_source_tile hs_local_source_tile(const struct hs_local *local, int x, const struct hs_job *job)
{
    static const int dims[HS_TILES][2] = {{HS_M, HS_K}, {HS_K, HS_N}, {HS_M, HS_N}, {HS_M, HS_N}};
    const struct hs_product *product = &local->product;
    const struct hs_tiling *tiling = &local->tiling;
    const void *const base[HS_TILES] = {product->a, product->b, product->c, product->c};
    const int64_t ld[HS_TILES] = {product->lda, product->ldb, product->ldc, product->ldc},
                  tile[3] = {job->i, job->j, job->l};
    int turned = x < HS_TILES_C && product->op[x] != 'N', row = dims[x][turned], col = dims[x][!turned];
    struct hs_source_tile region = {.ld = ld[x], .pitch = tiling->edge[row]};
    int64_t from_row, from_col;
    region.rows = hs_tile_range(tiling, row, tile[row], &from_row);
    region.cols = hs_tile_range(tiling, col, tile[col], &from_col);
    /* A and B are only read */
    region.at = (char *)base[x] + (size_t)(from_row + from_col * ld[x]) * product->scalar->size;
    return region;
}

struct hs_tile_slot *hs_local_find(struct hs_local *local, int x, int64_t tile)
{
    for (int i = 0; i < local->tiling.slots[x]; i++)
        if (local->slot[x][i].tile == tile)
            return &local->slot[x][i];
    return NULL;
}

/*
 * A slot of operand x for another tile, to be overwritten after the slot's event `free`: an empty slot; for A and B
 * otherwise the least recently used slot whose uses have all been enqueued.  NULL if there is none yet.
 */
static struct hs_tile_slot *make_way(struct hs_local *local, int x)
{
    struct hs_tile_slot *oldest = NULL;
    for (int i = 0; i < local->tiling.slots[x]; i++) {
        struct hs_tile_slot *slot = &local->slot[x][i];
        if (slot->tile >= 0 && (x >= HS_TILES_C || slot->used >= local->multiplied.number))
            continue;
        if (!oldest || slot->used < oldest->used)
            oldest = slot;
    }
    return oldest;
}

/* Number of columns of a tile, from column `from` on, that fit into a pinned piece. */
static int64_t columns_of(const struct hs_local *local, const struct hs_source_tile *region, int64_t from)
{
    int64_t fit = hs_local_piece(local) / (region->rows * (int64_t)local->product.scalar->size);
    return fit < region->cols - from ? fit : region->cols - from;
}

/* Copies the next columns of the tile in local->loading, through a pinned piece. */
static hsumma_status bring_piece(struct hs_local *local, int *worked)
{
    struct hs_device *device = local->device;
    const struct hs_device_kind *kind = device->kind;
    struct hs_pinned_ring *pieces = &local->coming;
    struct hs_pinned_piece *piece = &pieces->piece[pieces->begun % HS_PINNED_PIECES];
    struct hs_tile_slot *slot = local->loading.slot;
    const struct hs_job *job = &local->loading.job;
    struct hs_source_tile region = hs_local_source_tile(local, local->loading.operand, job);
    size_t size = local->product.scalar->size, rows = (size_t)region.rows * size;
    int64_t from = local->loading.columns, columns = columns_of(local, &region, from);
    hsumma_status status = HSUMMA_OK;
    if (pieces->begun - pieces->done == HS_PINNED_PIECES) {
        int complete = 0;
        status = kind->complete(device, piece->event, &complete);
        if (status || !complete)
            return status;
        pieces->done++;
    }
    hs_copy_block(size, region.rows, columns, piece->at, region.rows, region.at + (size_t)(from * region.ld) * size,
                  region.ld);
    status = kind->copy_block(device, local->in, slot->at + (size_t)(from * region.pitch) * size,
                              (size_t)region.pitch * size, piece->at, rows, rows, (size_t)columns);
    if (!status)
        status = kind->record(device, local->in, piece->event);
    pieces->begun++;
    local->loading.columns += columns;
    local->bytes[0] += (int64_t)rows * columns;
    *worked = 1;
    if (status || local->loading.columns < region.cols)
        return status;
    local->loading.slot = NULL;
    return kind->record(device, local->in, slot->ready);
}

/* Begins to copy a tile of operand x into a slot. */
static hsumma_status bring(struct hs_local *local, int x, const struct hs_job *job, struct hs_tile_slot *slot)
{
    struct hs_device *device = local->device;
    const struct hs_device_kind *kind = device->kind;
    struct hs_source_tile region = hs_local_source_tile(local, x, job);
    size_t size = local->product.scalar->size, rows = (size_t)region.rows * size;
    hsumma_status status = kind->wait(device, local->in, slot->free);
    if (!status && x < HS_TILES_C && local->way[x] == HS_BY_HAND) {
        local->loading = (struct hs_loading){.slot = slot, .operand = x, .job = *job};
        return HSUMMA_OK;
    }
    if (!status)
        status = kind->copy_block(device, local->in, slot->at, (size_t)region.pitch * size, region.at,
                                  (size_t)region.ld * size, rows, (size_t)region.cols);
    local->bytes[0] += (int64_t)rows * region.cols;
    return status ? status : kind->record(device, local->in, slot->ready);
}

hsumma_status hs_local_bring(struct hs_local *local, int *worked)
{
    struct hs_job job;
    if (local->loading.slot)
        return bring_piece(local, worked);
    if (!hs_walk_peek(&local->tiling, &local->planned, &job))
        return HSUMMA_OK;
    for (int x = 0; x < HS_TILES; x++) {
        if (local->tiling.slots[x] == 0 || (x == HS_TILES_ADD && !job.last))
            continue;
        int64_t tile = hs_local_tile(local, x, &job);
        struct hs_tile_slot *slot = hs_local_find(local, x, tile);
        int here = slot != NULL;
        if (!here)
            slot = make_way(local, x);
        if (!slot)
            return HSUMMA_OK;
        slot->tile = tile;
        slot->used = local->planned.number;
        *worked = 1;
        if (!here && x != HS_TILES_C) /* a tile of C is not copied: its first product has beta 0 */
            return bring(local, x, &job, slot);
    }
    hs_walk_next(&local->tiling, &local->planned);
    *worked = 1;
    return HSUMMA_OK;
}

/* If the oldest piece has arrived, writes it to C; a direct copy is only counted. */
static hsumma_status put_away(struct hs_local *local, int *worked)
{
    const struct hs_product *product = &local->product;
    struct hs_pinned_ring *pieces = &local->leaving;
    struct hs_pinned_piece *piece = &pieces->piece[pieces->done % HS_PINNED_PIECES];
    int complete = 0;
    hsumma_status status = local->device->kind->complete(local->device, piece->event, &complete);
    if (status || !complete)
        return status;
    struct hs_source_tile region = hs_local_source_tile(local, HS_TILES_C, &piece->job);
    if (local->way[HS_TILES_C] == HS_BY_HAND)
        product->scalar->update(region.rows, piece->columns, &product->beta,
                                region.at + (size_t)(piece->from * region.ld) * product->scalar->size, region.ld,
                                piece->at, region.rows);
    pieces->done++;
    local->columns_gone += piece->columns;
    if (local->columns_gone == region.cols) {
        local->columns_gone = 0;
        local->gone++;
    }
    *worked = 1;
    return HSUMMA_OK;
}

/* Enqueues the copy of a tile's next columns into a pinned piece. */
static hsumma_status send_piece(struct hs_local *local, struct hs_pinned_piece *piece, struct hs_tile_slot *slot,
                                const struct hs_source_tile *region)
{
    struct hs_device *device = local->device;
    size_t size = local->product.scalar->size, rows = (size_t)region->rows * size;
    piece->columns = columns_of(local, region, piece->from);
    return device->kind->copy_block(device, local->out, piece->at, rows,
                                    slot->at + (size_t)(piece->from * region->pitch) * size,
                                    (size_t)region->pitch * size, rows, (size_t)piece->columns);
}

/* Enqueues the copy of a whole tile directly to C.  If beta is not 0, the old tile is in a slot of its own, where the
 * new tile is added first. */
static hsumma_status send_tile(struct hs_local *local, struct hs_pinned_piece *piece, struct hs_tile_slot *slot,
                               const struct hs_source_tile *region)
{
    struct hs_device *device = local->device;
    const struct hs_device_kind *kind = device->kind;
    const struct hs_product *product = &local->product;
    size_t size = product->scalar->size, rows = (size_t)region->rows * size;
    struct hs_tile_slot *add = hs_local_find(local, HS_TILES_ADD, slot->tile);
    hsumma_status status = HSUMMA_OK;
    piece->columns = region->cols;
    if (add) {
        status = kind->wait(device, local->out, add->ready);
        if (!status)
            status = kind->update(device, local->out, local->product.scalar->type, region->rows, region->cols,
                                  &product->beta, add->at, region->pitch, slot->at, region->pitch);
    }
    if (!status)
        status = kind->copy_block(device, local->out, region->at, (size_t)region->ld * size, add ? add->at : slot->at,
                                  (size_t)region->pitch * size, rows, (size_t)region->cols);
    if (!status && add) {
        status = kind->record(device, local->out, add->free);
        add->tile = -1;
    }
    return status;
}

/* Enqueues the copy of the next part of a complete tile to C. */
static hsumma_status send(struct hs_local *local)
{
    struct hs_device *device = local->device;
    const struct hs_device_kind *kind = device->kind;
    struct hs_pinned_ring *pieces = &local->leaving;
    struct hs_pinned_piece *piece = &pieces->piece[pieces->begun % HS_PINNED_PIECES];
    struct hs_tile_slot *slot = local->queue[local->left % HS_TILES_MOST].slot;
    const struct hs_job *job = &local->queue[local->left % HS_TILES_MOST].job;
    struct hs_source_tile region = hs_local_source_tile(local, HS_TILES_C, job);
    hsumma_status status = local->columns_left == 0 ? kind->wait(device, local->out, slot->ready) : HSUMMA_OK;
    piece->job = *job;
    piece->from = local->columns_left;
    pieces->begun++;
    if (!status && local->way[HS_TILES_C] == HS_BY_HAND)
        status = send_piece(local, piece, slot, &region);
    else if (!status)
        status = send_tile(local, piece, slot, &region);
    if (!status)
        status = kind->record(device, local->out, piece->event);
    if (status)
        return status;
    local->bytes[1] += region.rows * piece->columns * (int64_t)local->product.scalar->size;
    local->columns_left += piece->columns;
    if (local->columns_left < region.cols)
        return HSUMMA_OK;
    local->columns_left = 0;
    local->left++;
    slot->tile = -1;
    return kind->record(device, local->out, slot->free);
}

hsumma_status hs_local_take(struct hs_local *local, int *worked)
{
    const struct hs_pinned_ring *pieces = &local->leaving;
    hsumma_status status = pieces->done < pieces->begun ? put_away(local, worked) : HSUMMA_OK;
    while (!status && local->left < local->complete && pieces->begun - pieces->done < HS_PINNED_PIECES) {
        status = send(local);
        *worked = 1;
    }
    return status;
}
