/* The channels of a conveyor, and the sizes and places of their panel buffers. */
#include "summa/messages/conveyor_channels.h"

#include <string.h>

static int tier_of(const struct hs_mover *mover, int s)
{
    int level = hs_level_of_channel(mover, s) - hs_channel_sums_cell(mover, s);
    return level < 0 ? mover->tier0 : mover->tier[level];
}

/* Whether panels need no message, because the line is one process and there is no exchange. */
static int is_local(const struct hs_mover *mover)
{
    return mover->levels == 0 && mover->members == 1 && !mover->role->exchanged;
}

/* Number of panels of a tier that may be in flight beyond the one that is multiplied. */
static int panels_ahead(const struct hs_spec *spec, int tier)
{
    int64_t width = spec->width[tier];
    return (int)hs_cuts(hs_spec_ahead(spec), width) + (spec->owners > 1 ? (int)(spec->width[0] / width) - 1 : 0);
}

static int ahead_of(const struct hs_mover *mover, const struct hs_spec *spec, int s)
{
    return is_local(mover) ? 0 : panels_ahead(spec, tier_of(mover, s));
}

/*
 * Number of panel buffers for a tier.  Without lookahead a feed has one more in cells of several members (`several`),
 * so that no member waits for another that still forwards the previous panel of the other operand.
 */
static int buffers_of(const struct hs_mover *mover, const struct hs_spec *spec, int tier, int several)
{
    int buffers = panels_ahead(spec, tier) + 1;
    if (hs_is_drain(mover))
        return buffers > mover->reductions ? buffers : mover->reductions;
    return buffers + (several && spec->lookahead == 0);
}

/* Number of panel buffers of channel s.  The drain's last channel has one for the sum of each reduction in flight. */
static int slots_of(const struct hs_mover *mover, const struct hs_spec *spec, const struct hs_pairs *pairs, int s)
{
    if (is_local(mover))
        return pairs->in_place[mover->index] ? 0 : 1;
    if (hs_is_drain(mover) && hs_level_of_channel(mover, s) < 0)
        return mover->reductions;
    return buffers_of(mover, spec, tier_of(mover, s), mover->members > 1);
}

static int reuses_ring(const struct hs_mover *mover, const struct hs_spec *spec, int s)
{
    return !hs_is_drain(mover) && s > 0 && spec->width[tier_of(mover, s)] == spec->width[mover->tier0];
}

/*
 * Scratch of channel s, in panels, for all its reductions in flight.  Each reduction needs two panels for a tree
 * (coll/reduce/binomial.c), one between two members, and four for stages inside and between nodes.
 */
static int scratch_panels(const struct hs_mover *mover, int s)
{
    if (!hs_is_drain(mover) || !hs_channel_is_collective(mover, s))
        return 0;
    const struct hs_alg *row =
        mover->alg[hs_level_of_channel(mover, s)]; /* NULL (not chosen yet) is taken to use no topology */
    if (row && row->flags & HS_USES_TOPOLOGY)
        return 4 * mover->reductions;
    return mover->reductions * (mover->factors.size[hs_level_of_channel(mover, s)] > 2 ? 2 : 1);
}

/* Number of rings of channel s in the node's memory: one per member for the drain's partial panels, otherwise one per
 * cell; 0 if its ring is in this process's memory. */
static int node_rings(const struct hs_mover *mover, int s)
{
    if (mover->members == 1 || (hs_is_drain(mover) && s > 1))
        return 0;
    return hs_is_drain(mover) && s == 0 ? mover->members : 1;
}

/* Bytes for the CRCs of a buffer in the node's memory, the same for all lines along an axis. */
static int64_t crc_bytes_of(const struct hs_mover *mover, const struct hs_spec *spec)
{
    const size_t members = (size_t)mover->problem->grid.extent[mover->role->line_axis];
    return spec->checked ? (int64_t)hs_aligned(members * sizeof(uint32_t)) : 0;
}

size_t hs_conveyor_shared_bytes(const struct hs_mover *mover, const struct hs_spec *spec, const struct hs_pairs *pairs,
                                int lines, int members)
{
    int64_t length = hs_axis_count_max(mover->role->want), most = 0, all = 0;
    for (int tier = 0; tier < spec->levels; tier++) {
        int64_t ring = buffers_of(mover, spec, tier, 1) *
                       (hs_mover_buffer_bytes(mover, spec, pairs, tier, length) + crc_bytes_of(mover, spec));
        most = ring > most ? ring : most;
        all += ring;
    }
    if (hs_is_drain(mover)) /* a ring of partial panels per member, and one of their sums per cell */
        return (size_t)most * (size_t)(lines + members);
    return (size_t)(all + most) * (size_t)lines; /* channels of all levels, and channel 0 */
}

int64_t hs_conveyor_bytes(const struct hs_mover *mover, const struct hs_spec *spec, const struct hs_pairs *pairs,
                          int64_t length)
{
    int64_t bytes = hs_mover_exchange_bytes(mover, spec, pairs);
    for (int s = 0; s <= mover->levels + hs_sums_in_cell(mover); s++) {
        int slots = reuses_ring(mover, spec, s) ? 0 : slots_of(mover, spec, pairs, s);
        int64_t panel = hs_mover_buffer_bytes(mover, spec, pairs, tier_of(mover, s), length);
        int of_cell = node_rings(mover, s) == 1; /* the cell shares the ring; a process counts its share */
        int64_t buffer = panel + (node_rings(mover, s) ? crc_bytes_of(mover, spec) : 0);
        bytes += scratch_panels(mover, s) * panel + slots * buffer / (of_cell ? mover->members : 1);
    }
    return bytes;
}

static hsumma_status make_lists(struct hs_conveyor *conveyor, const struct hs_spec *spec, int s, struct hs_cache *lists)
{
    const struct hs_mover *mover = &conveyor->mover;
    int *list = conveyor->channel[s].list, level = hs_level_of_channel(mover, s);
    if (hs_channel_is_collective(mover, s))
        return hs_mover_lists(mover, level, spec->segment, lists, list);
    if (level < 0 && mover->role->exchanged)
        return hs_mover_exchange_lists(mover, hs_is_drain(mover), lists, list);
    memset(list, -1, ((size_t)hs_conveyor_tier(conveyor, s)->count + 1) * sizeof *list);
    return HSUMMA_OK;
}

hsumma_status hs_conveyor_init(struct hs_conveyor *conveyor, const struct hs_spec *spec, const struct hs_mover *mover,
                               struct hs_cache *lists, const struct hs_allocator *memory)
{
    const struct hs_pairs *pairs = &mover->panels->pairs;
    memset(conveyor, 0, sizeof *conveyor);
    conveyor->mover = *mover;
    conveyor->channels = 1 + mover->levels + hs_sums_in_cell(mover);
    conveyor->crc_bytes = crc_bytes_of(mover, spec);
    conveyor->owners = spec->owners > 1 && !is_local(mover) ? spec->owners : 0;
    hsumma_status status = hs_mover_make_tables(&conveyor->mover, memory);
    for (int s = 0; s < conveyor->channels; s++) {
        struct hs_channel *channel = &conveyor->channel[s];
        /* Numbered by level, not by channel: cells of one member have no channel for sums, and lines that participate
         * in one exchange may differ in their levels. */
        channel->id = mover->operand * HS_CHANNELS_OF_OPERAND + 1 + hs_level_of_channel(mover, s);
        channel->tier = tier_of(mover, s);
        conveyor->ahead[s] = ahead_of(mover, spec, s);
        conveyor->slots[s] = slots_of(mover, spec, pairs, s);
        if (hs_is_drain(mover))
            channel->slots = hs_channel_is_collective(mover, s) ? mover->reductions : 1;
        else
            channel->slots = s == 0 && !mover->role->exchanged ? 1 : conveyor->ahead[s] + 1;
        conveyor->node_rings[s] = node_rings(mover, s);
        conveyor->slot_bytes[s] = hs_mover_buffer_bytes(mover, spec, pairs, channel->tier, mover->length) +
                                  (conveyor->node_rings[s] ? conveyor->crc_bytes : 0);
        conveyor->reuses_ring[s] = reuses_ring(mover, spec, s);
        channel->list = hs_get(memory, (size_t)hs_conveyor_tier(conveyor, s)->count + 1, sizeof *channel->list);
        if (!status)
            status = channel->list ? make_lists(conveyor, spec, s, lists) : HSUMMA_ERR_MEMORY;
    }
    return status;
}

void hs_conveyor_free(struct hs_conveyor *conveyor, const struct hs_allocator *memory)
{
    for (int s = 0; s < conveyor->channels; s++)
        hs_put(memory, conveyor->channel[s].list);
    hs_mover_free_tables(&conveyor->mover, memory);
    conveyor->channels = 0;
}

void hs_conveyor_lay_out(struct hs_conveyor *conveyor, const struct hs_cache *lists, struct hs_arena *arena)
{
    for (int s = 0; s < conveyor->channels; s++) {
        struct hs_channel *channel = &conveyor->channel[s];
        int panels = hs_conveyor_tier(conveyor, s)->count;
        hs_channel_lay_out(channel, lists, panels, arena);
        conveyor->scratch_bytes[s] = 0;
        for (int o = 0; scratch_panels(&conveyor->mover, s) && o < panels; o++) {
            int64_t scratch = channel->list[o] >= 0 ? lists->list[channel->list[o]].extent[HS_SCRATCH] : 0;
            if (scratch > conveyor->scratch_bytes[s])
                conveyor->scratch_bytes[s] = (int64_t)hs_aligned((size_t)scratch);
        }
    }
    if (!hs_is_drain(&conveyor->mover))
        conveyor->source = hs_arena_take(arena, (size_t)(conveyor->slots[0] + 1) * sizeof *conveyor->source);
}

static size_t ring_bytes(const struct hs_conveyor *conveyor, int s)
{
    return (size_t)(conveyor->slots[s] * conveyor->slot_bytes[s]);
}

size_t hs_conveyor_shared_part(const struct hs_conveyor *conveyor)
{
    size_t part = 0, members = (size_t)conveyor->mover.members;
    for (int s = 0; s < conveyor->channels; s++)
        if (conveyor->node_rings[s] && !conveyor->reuses_ring[s])
            part += ring_bytes(conveyor, s) * (size_t)conveyor->node_rings[s] / members;
    return part;
}

void hs_conveyor_place_shared(struct hs_conveyor *conveyor, char *memory)
{
    const struct hs_mover *mover = &conveyor->mover;
    struct hs_arena arena = {memory + conveyor->shared_at, 0};
    for (int s = 0; mover->cells && s < conveyor->channels; s++) {
        size_t bytes = ring_bytes(conveyor, s), mine = 0;
        if (conveyor->node_rings[s] > 1)
            mine = bytes * (size_t)hs_mover_place(mover);
        if (conveyor->node_rings[s])
            conveyor->ring[s] = conveyor->reuses_ring[s]
                                    ? conveyor->ring[0]
                                    : (char *)hs_arena_take(&arena, bytes * (size_t)conveyor->node_rings[s]) + mine;
    }
}

void hs_conveyor_place_buffers(struct hs_conveyor *conveyor, struct hs_arena *arena)
{
    const struct hs_mover *mover = &conveyor->mover;
    for (int s = 0; s < conveyor->channels; s++) {
        if (!conveyor->reuses_ring[s] && !conveyor->node_rings[s])
            conveyor->ring[s] = hs_arena_take(arena, ring_bytes(conveyor, s));
        else if (!conveyor->node_rings[s])
            conveyor->ring[s] = conveyor->ring[0];
        conveyor->scratch[s] = hs_arena_take(arena, (size_t)(conveyor->channel[s].slots * conveyor->scratch_bytes[s]));
    }
    if (!mover->role->exchanged)
        return;
    int64_t index_bytes = hs_tier_width_max(mover->panels, mover->tier0) * (int64_t)mover->problem->scalar->size;
    conveyor->outgoing =
        hs_arena_take(arena, (size_t)(index_bytes * hs_mover_exchange_indices(mover, !hs_is_drain(mover))));
    conveyor->incoming =
        hs_arena_take(arena, (size_t)(index_bytes * hs_mover_exchange_indices(mover, hs_is_drain(mover))));
}
