#include "summa/messages/conveyor.h"

#include "base/wait.h"

#include <string.h>

static int is_drain(const struct hs_mover *mover)
{
    return mover->operand == HS_C;
}

/* Whether partial panels of C are summed inside the cell before they are reduced between cells. */
static int sums_in_cell(const struct hs_mover *mover)
{
    return is_drain(mover) && mover->members > 1;
}

/*
 * The mover's level on which channel s works; -1 if the channel copies from or to the matrix, or exchanges;
 * mover->levels if it sums inside the cell.
 */
static int level_of(const struct hs_mover *mover, int s)
{
    return is_drain(mover) ? mover->levels - 1 - s + sums_in_cell(mover) : s - 1;
}

static int is_collective(const struct hs_mover *mover, int s)
{
    int level = level_of(mover, s);
    return level >= 0 && level < mover->levels;
}

static int is_cell_sum(const struct hs_mover *mover, int s)
{
    return sums_in_cell(mover) && s == 0;
}

static int tier_of(const struct hs_mover *mover, int s)
{
    int level = level_of(mover, s) - is_cell_sum(mover, s);
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
    return (int)((hs_spec_ahead(spec) + width - 1) / width) +
           (spec->owners > 1 ? (int)(spec->width[0] / width) - 1 : 0);
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
    if (is_drain(mover))
        return buffers > mover->reductions ? buffers : mover->reductions;
    return buffers + (several && spec->lookahead == 0);
}

/* Number of panel buffers of channel s.  The drain's last channel has one for the sum of each reduction in flight. */
static int slots_of(const struct hs_mover *mover, const struct hs_spec *spec, const struct hs_pairs *pairs, int s)
{
    if (is_local(mover))
        return pairs->in_place[mover->index] ? 0 : 1;
    if (is_drain(mover) && level_of(mover, s) < 0)
        return mover->reductions;
    return buffers_of(mover, spec, tier_of(mover, s), mover->members > 1);
}

static int reuses_ring(const struct hs_mover *mover, const struct hs_spec *spec, int s)
{
    return !is_drain(mover) && s > 0 && spec->width[tier_of(mover, s)] == spec->width[mover->tier0];
}

/*
 * Scratch of channel s, in panels, for all its reductions in flight.  Each reduction needs two panels for a tree
 * (coll/reduce/binomial.c), one between two members, and four for stages inside and between nodes.
 */
static int scratch_panels(const struct hs_mover *mover, int s)
{
    if (!is_drain(mover) || !is_collective(mover, s))
        return 0;
    const struct hs_alg *row = mover->alg[level_of(mover, s)]; /* NULL (not chosen yet) is taken to use no topology */
    if (row && row->flags & HS_USES_TOPOLOGY)
        return 4 * mover->reductions;
    return mover->reductions * (mover->factors.size[level_of(mover, s)] > 2 ? 2 : 1);
}

/* Number of rings of channel s in the node's memory: one per member for the drain's partial panels, otherwise one per
 * cell; 0 if its ring is in this process's memory. */
static int node_rings(const struct hs_mover *mover, int s)
{
    if (mover->members == 1 || (is_drain(mover) && s > 1))
        return 0;
    return is_drain(mover) && s == 0 ? mover->members : 1;
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
    if (is_drain(mover)) /* a ring of partial panels per member, and one of their sums per cell */
        return (size_t)most * (size_t)(lines + members);
    return (size_t)(all + most) * (size_t)lines; /* channels of all levels, and channel 0 */
}

int64_t hs_conveyor_bytes(const struct hs_mover *mover, const struct hs_spec *spec, const struct hs_pairs *pairs,
                          int64_t length)
{
    int64_t bytes = hs_mover_exchange_bytes(mover, spec, pairs);
    for (int s = 0; s <= mover->levels + sums_in_cell(mover); s++) {
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
    int *list = conveyor->channel[s].list, level = level_of(mover, s);
    if (is_collective(mover, s))
        return hs_mover_lists(mover, level, spec->segment, lists, list);
    if (level < 0 && mover->role->exchanged)
        return hs_mover_exchange_lists(mover, is_drain(mover), lists, list);
    memset(list, -1, ((size_t)hs_conveyor_tier(conveyor, s)->count + 1) * sizeof *list);
    return HSUMMA_OK;
}

hsumma_status hs_conveyor_init(struct hs_conveyor *conveyor, const struct hs_spec *spec, const struct hs_mover *mover,
                               struct hs_cache *lists, const struct hs_allocator *memory)
{
    const struct hs_pairs *pairs = &mover->panels->pairs;
    memset(conveyor, 0, sizeof *conveyor);
    conveyor->mover = *mover;
    conveyor->channels = 1 + mover->levels + sums_in_cell(mover);
    conveyor->crc_bytes = crc_bytes_of(mover, spec);
    conveyor->owners = spec->owners > 1 && !is_local(mover) ? spec->owners : 0;
    hsumma_status status = hs_mover_make_tables(&conveyor->mover, memory);
    for (int s = 0; s < conveyor->channels; s++) {
        struct hs_channel *channel = &conveyor->channel[s];
        /* Numbered by level, not by channel: cells of one member have no channel for sums, and lines that participate
         * in one exchange may differ in their levels. */
        channel->id = mover->operand * HS_CHANNELS_OF_OPERAND + 1 + level_of(mover, s);
        channel->tier = tier_of(mover, s);
        conveyor->ahead[s] = ahead_of(mover, spec, s);
        conveyor->slots[s] = slots_of(mover, spec, pairs, s);
        if (is_drain(mover))
            channel->slots = is_collective(mover, s) ? mover->reductions : 1;
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
    if (!is_drain(&conveyor->mover))
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

/* Sets the rings that lie in the node's memory. */
static void place_shared(struct hs_conveyor *conveyor, char *memory)
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
        hs_arena_take(arena, (size_t)(index_bytes * hs_mover_exchange_indices(mover, !is_drain(mover))));
    conveyor->incoming =
        hs_arena_take(arena, (size_t)(index_bytes * hs_mover_exchange_indices(mover, is_drain(mover))));
}

void hs_conveyor_reset(struct hs_conveyor *conveyor, const struct hs_matrix *matrix, const void *beta,
                       struct hs_node_execution *execution, struct hs_comm *checks, int from, int to)
{
    conveyor->checks = conveyor->mover.members > 1 ? checks : NULL;
    conveyor->matrix = *matrix;
    conveyor->beta = beta;
    conveyor->execution = execution;
    conveyor->copy_seconds = 0;
    memset(conveyor->signalled, 0, sizeof conveyor->signalled);
    if (execution->shared)
        place_shared(conveyor, execution->shared->memory);
    for (int s = 0; s < conveyor->channels; s++) {
        struct hs_channel *channel = &conveyor->channel[s];
        const struct hs_tier *tier = hs_conveyor_tier(conveyor, s);
        channel->next = channel->done = tier->of[from];
        channel->end = tier->of[to];
    }
}

void hs_conveyor_signal(struct hs_conveyor *conveyor)
{
    const int takes_crcs = conveyor->checks && !is_drain(&conveyor->mover);
    if (conveyor->mover.members == 1)
        return;
    for (int s = 0; s < conveyor->channels; s++) {
        for (int o = conveyor->signalled[s]; takes_crcs && o < conveyor->channel[s].done; o++)
            hs_feed_take_crc(conveyor, s, o);
        if (conveyor->channel[s].done > conveyor->signalled[s])
            hs_signal(&conveyor->execution->shared->directory, hs_done_of(conveyor->mover.index, s),
                      hs_node_progress(conveyor->execution->number, conveyor->channel[s].done));
        conveyor->signalled[s] = conveyor->channel[s].done;
    }
}

int hs_conveyor_may_write(const struct hs_conveyor *conveyor)
{
    struct hs_node_execution *execution = conveyor->execution;
    if (conveyor->mover.members > 1 && !execution->entered)
        execution->entered = hs_node_vacant(execution->shared, execution->number);
    return conveyor->mover.members == 1 || execution->entered;
}

int hs_conveyor_all_done(const struct hs_conveyor *conveyor, int s, int count)
{
    const struct hs_mover *mover = &conveyor->mover;
    if (conveyor->channel[s].done < count)
        return 0;
    return mover->members == 1 ||
           hs_cells_all_signalled(mover->cells, conveyor->execution, hs_done_of(mover->index, s), count);
}

struct hs_matrix hs_conveyor_panel(const struct hs_conveyor *conveyor, int s, int t)
{
    const struct hs_mover *mover = &conveyor->mover;
    int tier = conveyor->channel[s].tier, slots = conveyor->slots[s] ? conveyor->slots[s] : 1;
    int64_t offset = hs_tier_offset(mover->panels, tier, t) * mover->length * (int64_t)mover->problem->scalar->size;
    return (struct hs_matrix){conveyor->ring[s] + mover->panels->tier[tier].of[t] % slots * conveyor->slot_bytes[s] +
                                  offset,
                              mover->role->loop_axis == 0 ? mover->panels->panel[t].width : mover->length};
}

char *hs_conveyor_buffer(const struct hs_conveyor *conveyor, int s, int o)
{
    return hs_conveyor_panel(conveyor, s, hs_conveyor_tier(conveyor, s)->first[o]).base;
}

char *hs_conveyor_at(const struct hs_conveyor *conveyor, const struct hs_matrix *matrix, int64_t local)
{
    const struct hs_mover *mover = &conveyor->mover;
    return matrix->base +
           local * (mover->role->loop_axis == 0 ? 1 : matrix->ld) * (int64_t)mover->problem->scalar->size;
}

/* The buffer of tier0 panel o that is copied from or to the matrix, or exchanged. */
static char *outer_slabs(const struct hs_conveyor *conveyor, int o)
{
    const struct hs_mover *mover = &conveyor->mover;
    return hs_conveyor_buffer(conveyor, is_drain(mover) ? conveyor->channels - 1 : 0, o);
}

/* Packs the messages that this process sends in the exchange of panel o; for C, also adds the sums that stay here. */
static void pack_exchange(struct hs_conveyor *conveyor, int o)
{
    const struct hs_mover *mover = &conveyor->mover;
    int pair = hs_mover_pair(mover, mover->tier0, o);
    double begin = hs_now();
    if (is_drain(mover) && hs_mover_takes(mover, pair)) {
        char *sum = outer_slabs(conveyor, o);
        hs_mover_exchange_copy(mover, o, HS_SLABS_TO_MESSAGE, conveyor->outgoing, NULL, sum, NULL);
        hs_mover_exchange_own(mover, o, HS_SLABS_TO_MATRIX, &conveyor->matrix, sum, conveyor->beta);
    } else if (!is_drain(mover)) {
        if (hs_mover_holds(mover, pair))
            hs_mover_exchange_copy(mover, o, HS_MATRIX_TO_MESSAGE, conveyor->outgoing, &conveyor->matrix, NULL, NULL);
        conveyor->source[o % conveyor->slots[0]].in_place = 0;
    }
    hs_conveyor_copied(conveyor, mover->tier0, o, HS_TRACE_COPY, begin);
}

/* Unpacks the messages received in the exchange of panel o, before the next exchange may overwrite them; for A and B,
 * also copies the indices that stay here. */
static void unpack_exchange(struct hs_conveyor *conveyor, int o)
{
    const struct hs_mover *mover = &conveyor->mover;
    int pair = hs_mover_pair(mover, mover->tier0, o);
    double begin = hs_now();
    if (is_drain(mover) && hs_mover_holds(mover, pair)) {
        hs_mover_exchange_copy(mover, o, HS_MESSAGE_TO_MATRIX, conveyor->incoming, &conveyor->matrix, NULL,
                               conveyor->beta);
    } else if (!is_drain(mover) && hs_mover_takes(mover, pair)) {
        char *slabs = outer_slabs(conveyor, o);
        hs_mover_exchange_copy(mover, o, HS_MESSAGE_TO_SLABS, conveyor->incoming, NULL, slabs, NULL);
        hs_mover_exchange_own(mover, o, HS_MATRIX_TO_SLABS, &conveyor->matrix, slabs, NULL);
    }
    hs_conveyor_copied(conveyor, mover->tier0, o, HS_TRACE_COPY, begin);
}

hsumma_status hs_conveyor_progress(struct hs_conveyor *conveyor, int *worked)
{
    const struct hs_mover *mover = &conveyor->mover;
    for (int s = 0; s < conveyor->channels; s++) {
        struct hs_channel *channel = &conveyor->channel[s];
        int before = channel->done;
        hsumma_status status = hs_channel_progress(channel, worked);
        if (status)
            return status;
        for (int o = before; mover->role->exchanged && level_of(mover, s) < 0 && o < channel->done; o++)
            if (channel->list[o] >= 0)
                unpack_exchange(conveyor, o);
    }
    return HSUMMA_OK;
}

/* The binding of channel s for its next panel: a collective of its level. */
static struct hs_binding bind_level(const struct hs_conveyor *conveyor, int s)
{
    const struct hs_mover *mover = &conveyor->mover;
    const struct hs_channel *channel = &conveyor->channel[s];
    int o = channel->next, first = hs_conveyor_tier(conveyor, s)->first[o];
    struct hs_binding binding = hs_mover_binding(mover, level_of(mover, s), hs_mover_pair(mover, channel->tier, o));
    if (is_drain(mover)) {
        binding.slot[HS_IN] = hs_conveyor_panel(conveyor, s, first).base;
        binding.slot[HS_OUT] = hs_conveyor_panel(conveyor, s + 1, first).base;
        binding.slot[HS_SCRATCH] = conveyor->scratch[s] + o % channel->slots * conveyor->scratch_bytes[s];
    } else {
        binding.slot[HS_OUT] = hs_feed_panel(conveyor, first).base;
    }
    return binding;
}

static struct hs_binding bind_exchange(const struct hs_conveyor *conveyor, int o)
{
    const struct hs_mover *mover = &conveyor->mover;
    struct hs_binding binding = {.group = hs_grid_all(&mover->problem->grid),
                                 .slot = {conveyor->outgoing, conveyor->incoming},
                                 .combine = mover->problem->scalar->add,
                                 .compute = mover->problem->scalar->compute};
    if (mover->role->direct && hs_mover_takes(mover, hs_mover_pair(mover, mover->tier0, o)))
        binding.slot[is_drain(mover) ? HS_IN : HS_OUT] = outer_slabs(conveyor, o);
    return binding;
}

/* Whether the message buffers for the next exchange are free.  A process has one buffer as a holder and, unless
 * hs_role.direct, one as a taker (pack.h); each has room for one panel. */
static int messages_free(const struct hs_conveyor *conveyor, int s)
{
    const struct hs_mover *mover = &conveyor->mover;
    const struct hs_channel *channel = &conveyor->channel[s];
    int next = hs_mover_pair(mover, mover->tier0, channel->next);
    for (int o = channel->done; o < channel->next; o++) {
        int pair = hs_mover_pair(mover, mover->tier0, o);
        if ((hs_mover_holds(mover, pair) && hs_mover_holds(mover, next)) ||
            (!mover->role->direct && hs_mover_takes(mover, pair) && hs_mover_takes(mover, next)))
            return 0;
    }
    return 1;
}

/* Whether this process copies the next panel of channel s between the matrix and a buffer, without an exchange. */
static int copies_next(const struct hs_conveyor *conveyor, int s)
{
    const struct hs_mover *mover = &conveyor->mover;
    const struct hs_channel *channel = &conveyor->channel[s];
    return level_of(mover, s) < 0 && !mover->role->exchanged &&
           hs_mover_takes(mover, hs_mover_pair(mover, channel->tier, channel->next));
}

/* Starts the next panel of channel s: an instance, a local copy or sum, or nothing. */
static hsumma_status start_next(struct hs_conveyor *conveyor, int s, struct hs_comm *comm, const struct hs_cache *lists)
{
    const struct hs_mover *mover = &conveyor->mover;
    struct hs_channel *channel = &conveyor->channel[s];
    int o = channel->next, collective = is_collective(mover, s);
    if (conveyor->checks && s > 0 && is_cell_sum(mover, s - 1) &&
        (collective ? channel->list[o] >= 0 : hs_mover_takes(mover, hs_mover_pair(mover, channel->tier, o))))
        hs_drain_check_sum(conveyor, o);
    if (channel->list[o] >= 0 && collective) {
        struct hs_binding binding = bind_level(conveyor, s);
        return hs_channel_start(channel, comm, &binding, lists);
    }
    if (channel->list[o] >= 0) {
        struct hs_binding binding = bind_exchange(conveyor, o);
        pack_exchange(conveyor, o);
        return hs_channel_start(channel, comm, &binding, lists);
    }
    if (is_cell_sum(mover, s))
        hs_drain_sum_cell(conveyor, o);
    if (copies_next(conveyor, s))
        (is_drain(mover) ? hs_drain_add : hs_feed_fill)(conveyor, o);
    channel->next++; /* complete without an instance */
    return HSUMMA_OK;
}

static int may_start(const struct hs_conveyor *conveyor, int s, int now)
{
    const struct hs_mover *mover = &conveyor->mover;
    const struct hs_channel *channel = &conveyor->channel[s];
    if (!hs_channel_open(channel))
        return 0;
    if (channel->list[channel->next] < 0 && !is_cell_sum(mover, s) && !copies_next(conveyor, s))
        return 1; /* this process has no part in the panel */
    if (mover->role->exchanged && level_of(mover, s) < 0 && !messages_free(conveyor, s))
        return 0;
    return is_drain(mover) ? hs_drain_may_start(conveyor, s, now) : hs_feed_may_start(conveyor, s, now);
}

hsumma_status hs_conveyor_start(struct hs_conveyor *conveyor, struct hs_comm *comm, const struct hs_cache *lists,
                                int now, int one_at_a_time, int *worked)
{
    for (int s = 0; s < conveyor->channels; s++) {
        while ((!one_at_a_time || hs_conveyor_idle(conveyor)) && may_start(conveyor, s, now)) {
            *worked = 1;
            hsumma_status status = start_next(conveyor, s, comm, lists);
            if (!status)
                status = hs_conveyor_progress(conveyor, worked);
            if (status)
                return status;
        }
    }
    return HSUMMA_OK;
}

int hs_conveyor_idle(const struct hs_conveyor *conveyor)
{
    for (int s = 0; s < conveyor->channels; s++)
        if (conveyor->channel[s].done < conveyor->channel[s].next)
            return 0;
    return 1;
}

int hs_conveyor_done(const struct hs_conveyor *conveyor)
{
    for (int s = 0; s < conveyor->channels; s++)
        if (conveyor->channel[s].done < conveyor->channel[s].end)
            return 0;
    return 1;
}
