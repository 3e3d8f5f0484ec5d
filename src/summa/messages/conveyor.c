#include "summa/messages/conveyor.h"

#include "base/wait.h"

#include <string.h>

static int is_drain(const struct hs_mover *mover)
{
    return mover->operand == HS_C;
}

/* The mover's level that channel s serves; -1: it fills from the matrix, or empties into it. */
static int level_of(const struct hs_mover *mover, int s)
{
    return is_drain(mover) ? mover->levels - 1 - s : s - 1;
}

static int tier_of(const struct hs_mover *mover, int s)
{
    int level = level_of(mover, s);
    return level < 0 ? mover->tier0 : mover->tier[level];
}

/* A line of one process without an exchange: panels are only gathered, or added, beside the multiplication. */
static int is_local(const struct hs_mover *mover)
{
    return mover->levels == 0 && !mover->role->exchanged;
}

static int ahead_of(const struct hs_mover *mover, const struct hs_spec *spec, int s)
{
    int64_t inner = spec->width[spec->levels - 1], width = spec->width[tier_of(mover, s)];
    return is_local(mover) ? 0 : (int)((spec->lookahead * inner + width - 1) / width);
}

/* What is emptied is so at once. */
static int slots_of(const struct hs_mover *mover, const struct hs_spec *spec, const struct hs_pairs *pairs, int s)
{
    if (is_local(mover))
        return pairs->in_place[mover->index] ? 0 : 1;
    return is_drain(mover) && level_of(mover, s) < 0 ? 1 : ahead_of(mover, spec, s) + 1;
}

static int shares_buffers(const struct hs_mover *mover, const struct hs_spec *spec, int s)
{
    return !is_drain(mover) && s > 0 && spec->width[tier_of(mover, s)] == spec->width[mover->tier0];
}

/*
 * Scratch of a channel in panels: what arrives, and between the root and the leaves the sum so far
 * (coll/reduce/binomial.c). One reduction of a channel is under way at a time, so it is needed once.
 */
static int scratch_panels(const struct hs_mover *mover, int s)
{
    int level = level_of(mover, s);
    return !is_drain(mover) || level < 0 ? 0 : mover->factors.size[level] > 2 ? 2 : 1;
}

int64_t hs_conveyor_bytes(const struct hs_mover *mover, const struct hs_spec *spec, const struct hs_pairs *pairs,
                          int64_t length)
{
    int64_t bytes = hs_mover_exchange_bytes(mover, spec, pairs);
    for (int s = 0; s <= mover->levels; s++) {
        int slots = shares_buffers(mover, spec, s) ? 0 : slots_of(mover, spec, pairs, s);
        bytes +=
            (slots + scratch_panels(mover, s)) * hs_mover_buffer_bytes(mover, spec, pairs, tier_of(mover, s), length);
    }
    return bytes;
}

static int panels_of(const struct hs_conveyor *conveyor, int s)
{
    return conveyor->mover.panels->tier[conveyor->channel[s].tier].count;
}

static hsumma_status make_lists(struct hs_conveyor *conveyor, const struct hs_spec *spec, int s, struct hs_cache *lists)
{
    const struct hs_mover *mover = &conveyor->mover;
    int *list = conveyor->channel[s].list, level = level_of(mover, s);
    if (level >= 0)
        return hs_mover_lists(mover, level, spec->segment, lists, list);
    if (mover->role->exchanged)
        return hs_mover_exchange_lists(mover, is_drain(mover), lists, list);
    memset(list, -1, ((size_t)panels_of(conveyor, s) + 1) * sizeof *list);
    return HSUMMA_OK;
}

hsumma_status hs_conveyor_init(struct hs_conveyor *conveyor, const struct hs_spec *spec, const struct hs_mover *mover,
                               struct hs_cache *lists, const struct hs_allocator *memory)
{
    const struct hs_pairs *pairs = &mover->panels->pairs;
    memset(conveyor, 0, sizeof *conveyor);
    conveyor->mover = *mover;
    conveyor->channels = 1 + mover->levels;
    hsumma_status status = hs_mover_share(&conveyor->mover, memory);
    for (int s = 0; s < conveyor->channels; s++) {
        struct hs_channel *channel = &conveyor->channel[s];
        channel->id = mover->operand * 8 + s;
        channel->tier = tier_of(mover, s);
        conveyor->ahead[s] = ahead_of(mover, spec, s);
        conveyor->slots[s] = slots_of(mover, spec, pairs, s);
        channel->slots = is_drain(mover) || s == 0 ? 1 : conveyor->slots[s];
        conveyor->slot_bytes[s] = hs_mover_buffer_bytes(mover, spec, pairs, channel->tier, mover->length);
        conveyor->shares[s] = shares_buffers(mover, spec, s);
        channel->list = hs_get(memory, (size_t)panels_of(conveyor, s) + 1, sizeof *channel->list);
        if (!status)
            status = channel->list ? make_lists(conveyor, spec, s, lists) : HSUMMA_ERR_MEMORY;
    }
    return status;
}

void hs_conveyor_free(struct hs_conveyor *conveyor, const struct hs_allocator *memory)
{
    for (int s = 0; s < conveyor->channels; s++)
        hs_put(memory, conveyor->channel[s].list);
    hs_mover_unshare(&conveyor->mover, memory);
    conveyor->channels = 0;
}

void hs_conveyor_lay_out(struct hs_conveyor *conveyor, const struct hs_cache *lists, struct hs_arena *arena)
{
    for (int s = 0; s < conveyor->channels; s++) {
        struct hs_channel *channel = &conveyor->channel[s];
        int panels = panels_of(conveyor, s);
        hs_channel_lay_out(channel, lists, panels, arena);
        conveyor->scratch_bytes[s] = 0;
        for (int o = 0; scratch_panels(&conveyor->mover, s) && o < panels; o++) {
            int64_t scratch = channel->list[o] >= 0 ? lists->list[channel->list[o]].extent[HS_SCRATCH] : 0;
            if (scratch > conveyor->scratch_bytes[s])
                conveyor->scratch_bytes[s] = scratch;
        }
    }
    if (!is_drain(&conveyor->mover))
        conveyor->source = hs_arena_take(arena, (size_t)(conveyor->slots[0] + 1) * sizeof *conveyor->source);
}

void hs_conveyor_place_buffers(struct hs_conveyor *conveyor, struct hs_arena *arena)
{
    const struct hs_mover *mover = &conveyor->mover;
    for (int s = 0; s < conveyor->channels; s++) {
        conveyor->ring[s] = conveyor->shares[s]
                                ? conveyor->ring[0]
                                : hs_arena_take(arena, (size_t)(conveyor->slots[s] * conveyor->slot_bytes[s]));
        conveyor->scratch[s] = hs_arena_take(arena, (size_t)conveyor->scratch_bytes[s]);
    }
    if (!mover->role->exchanged)
        return;
    int64_t line = hs_tier_width_max(mover->panels, mover->tier0) * (int64_t)mover->problem->scalar->size;
    conveyor->outgoing = hs_arena_take(arena, (size_t)(line * hs_mover_lines(mover, !is_drain(mover))));
    conveyor->incoming = hs_arena_take(arena, (size_t)(line * hs_mover_lines(mover, is_drain(mover))));
}

void hs_conveyor_reset(struct hs_conveyor *conveyor, const struct hs_matrix *matrix, const void *beta, int from, int to)
{
    conveyor->matrix = *matrix;
    conveyor->beta = beta;
    conveyor->copy_seconds = 0;
    for (int s = 0; s < conveyor->channels; s++) {
        struct hs_channel *channel = &conveyor->channel[s];
        hs_channel_reset(channel, &conveyor->mover.panels->tier[channel->tier], from, to);
    }
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

char *hs_conveyor_at(const struct hs_conveyor *conveyor, const struct hs_matrix *matrix, int64_t local)
{
    const struct hs_mover *mover = &conveyor->mover;
    return matrix->base +
           local * (mover->role->loop_axis == 0 ? 1 : matrix->ld) * (int64_t)mover->problem->scalar->size;
}

/* The buffer of tier0 panel o on the side of the matrix. */
static char *outer_slabs(const struct hs_conveyor *conveyor, int o)
{
    const struct hs_mover *mover = &conveyor->mover;
    int s = is_drain(mover) ? mover->levels : 0;
    return hs_conveyor_panel(conveyor, s, mover->panels->tier[mover->tier0].first[o]).base;
}

/* Puts what this process gives away in the exchange of panel o into its messages. */
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
    conveyor->copy_seconds += hs_now() - begin;
}

/* What arrived in the exchange goes to its place as soon as the instance is over, before the next one may start. */
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
    conveyor->copy_seconds += hs_now() - begin;
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

/* The collective of the next panel of channel s on its level. */
static struct hs_binding bind_level(const struct hs_conveyor *conveyor, int s)
{
    const struct hs_mover *mover = &conveyor->mover;
    const struct hs_channel *channel = &conveyor->channel[s];
    int o = channel->next, first = mover->panels->tier[channel->tier].first[o];
    struct hs_binding binding = hs_mover_binding(mover, level_of(mover, s), hs_mover_pair(mover, channel->tier, o));
    if (is_drain(mover)) {
        binding.slot[HS_IN] = hs_conveyor_panel(conveyor, s, first).base;
        binding.slot[HS_OUT] = hs_conveyor_panel(conveyor, s + 1, first).base;
        binding.slot[HS_SCRATCH] = conveyor->scratch[s];
    } else {
        binding.slot[HS_OUT] = hs_feed_panel(conveyor, first).base;
    }
    return binding;
}

/* The next panel of channel s: an instance where this process takes part in one. */
static hsumma_status start_next(struct hs_conveyor *conveyor, int s, struct hs_comm *comm, const struct hs_cache *lists)
{
    const struct hs_mover *mover = &conveyor->mover;
    struct hs_channel *channel = &conveyor->channel[s];
    int o = channel->next, collective = level_of(mover, s) >= 0;
    if (channel->list[o] >= 0 && collective) {
        struct hs_binding binding = bind_level(conveyor, s);
        return hs_channel_start(channel, comm, &binding, lists);
    }
    if (channel->list[o] >= 0) {
        struct hs_binding binding = {.group = hs_grid_all(&mover->problem->grid),
                                     .slot = {conveyor->outgoing, conveyor->incoming},
                                     .combine = mover->problem->scalar->add,
                                     .compute = mover->problem->scalar->compute};
        pack_exchange(conveyor, o);
        return hs_channel_start(channel, comm, &binding, lists);
    }
    if (!collective && !mover->role->exchanged && hs_mover_takes(mover, hs_mover_pair(mover, channel->tier, o))) {
        if (is_drain(mover))
            hs_drain_empty(conveyor, o);
        else
            hs_feed_fill(conveyor, o);
    }
    channel->next++; /* it needs no instance here */
    return HSUMMA_OK;
}

static int may_start(const struct hs_conveyor *conveyor, int s, int now)
{
    if (!hs_channel_open(&conveyor->channel[s]))
        return 0;
    return is_drain(&conveyor->mover) ? hs_drain_may_start(conveyor, s, now) : hs_feed_may_start(conveyor, s, now);
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
        if (!hs_channel_idle(&conveyor->channel[s]))
            return 0;
    return 1;
}

int hs_conveyor_done(const struct hs_conveyor *conveyor)
{
    for (int s = 0; s < conveyor->channels; s++)
        if (!hs_channel_done(&conveyor->channel[s]))
            return 0;
    return 1;
}
