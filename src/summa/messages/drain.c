#include "summa/messages/drain.h"

#include "base/wait.h"
#include "summa/messages/feed.h"

#include <string.h>

/* The GEMM writes C itself when nobody else adds to it and its lines lie together. */
static int is_direct(const struct hs_mover *mover, const struct hs_pairs *pairs)
{
    return mover->levels == 0 && !mover->role->exchanged && pairs->in_place[mover->index];
}

static int tier_of(const struct hs_mover *mover, int s)
{
    return s < mover->levels ? mover->tier[mover->levels - 1 - s] : mover->tier0;
}

/*
 * Scratch of a channel in panels: what arrives, and between the root and the leaves the sum so far
 * (coll/reduce/binomial.c). One reduction of a channel is under way at a time, so it is needed once.
 */
static int scratch_panels(const struct hs_mover *mover, int s)
{
    return s == mover->levels ? 0 : mover->factors.size[mover->levels - 1 - s] > 2 ? 2 : 1;
}

/* Buffers that channel s reads from; the last one's are emptied at once. */
static int slots_of(const struct hs_mover *mover, const struct hs_spec *spec, const struct hs_pairs *pairs, int s)
{
    if (s == mover->levels)
        return is_direct(mover, pairs) ? 0 : 1;
    return hs_ahead(spec, tier_of(mover, s)) + 1;
}

int64_t hs_drain_bytes(const struct hs_mover *mover, const struct hs_spec *spec, const struct hs_pairs *pairs,
                       int64_t length)
{
    int64_t bytes = 0;
    for (int s = 0; s <= mover->levels; s++) {
        int64_t panel = hs_mover_buffer_bytes(mover, spec, pairs, tier_of(mover, s), length);
        bytes += (slots_of(mover, spec, pairs, s) + scratch_panels(mover, s)) * panel;
    }
    return bytes + hs_mover_exchange_bytes(mover, spec, pairs);
}

static int panels_of(const struct hs_drain *drain, int s)
{
    return drain->mover.panels->tier[drain->channel[s].tier].count;
}

static hsumma_status make_lists(struct hs_drain *drain, const struct hs_spec *spec, int s, struct hs_cache *lists)
{
    struct hs_channel *channel = &drain->channel[s];
    if (s < drain->mover.levels)
        return hs_mover_lists(&drain->mover, drain->mover.levels - 1 - s, spec->segment, lists, channel->list);
    if (drain->mover.role->exchanged)
        return hs_mover_exchange_lists(&drain->mover, 1, lists, channel->list);
    memset(channel->list, -1, ((size_t)panels_of(drain, s) + 1) * sizeof *channel->list);
    return HSUMMA_OK;
}

hsumma_status hs_drain_init(struct hs_drain *drain, const struct hs_spec *spec, const struct hs_mover *mover,
                            struct hs_cache *lists, const struct hs_allocator *memory)
{
    const struct hs_pairs *pairs = &mover->panels->pairs;
    memset(drain, 0, sizeof *drain);
    drain->mover = *mover;
    drain->channels = mover->levels + 1;
    hsumma_status status = hs_mover_share(&drain->mover, memory);
    for (int s = 0; s < drain->channels; s++) {
        struct hs_channel *channel = &drain->channel[s];
        channel->id = mover->operand * 8 + s;
        channel->tier = tier_of(mover, s);
        drain->slots[s] = slots_of(mover, spec, pairs, s);
        channel->slots = 1;
        drain->slot_bytes[s] = hs_mover_buffer_bytes(mover, spec, pairs, channel->tier, mover->length);
        channel->list = hs_get(memory, (size_t)panels_of(drain, s) + 1, sizeof *channel->list);
        if (!status)
            status = channel->list ? make_lists(drain, spec, s, lists) : HSUMMA_ERR_MEMORY;
    }
    return status;
}

void hs_drain_free(struct hs_drain *drain, const struct hs_allocator *memory)
{
    for (int s = 0; s < drain->channels; s++)
        hs_put(memory, drain->channel[s].list);
    hs_mover_unshare(&drain->mover, memory);
    drain->channels = 0;
}

void hs_drain_lay_out(struct hs_drain *drain, const struct hs_cache *lists, struct hs_arena *arena)
{
    for (int s = 0; s < drain->channels; s++) {
        struct hs_channel *channel = &drain->channel[s];
        int panels = panels_of(drain, s);
        hs_channel_lay_out(channel, lists, panels, arena);
        drain->scratch_bytes[s] = 0;
        for (int o = 0; s < drain->mover.levels && o < panels; o++) {
            int64_t scratch = channel->list[o] >= 0 ? lists->list[channel->list[o]].extent[HS_SCRATCH] : 0;
            if (scratch > drain->scratch_bytes[s])
                drain->scratch_bytes[s] = scratch;
        }
    }
}

void hs_drain_place_buffers(struct hs_drain *drain, struct hs_arena *arena)
{
    const struct hs_mover *mover = &drain->mover;
    for (int s = 0; s < drain->channels; s++) {
        drain->ring[s] = hs_arena_take(arena, (size_t)(drain->slots[s] * drain->slot_bytes[s]));
        drain->scratch[s] = hs_arena_take(arena, (size_t)drain->scratch_bytes[s]);
    }
    if (!mover->role->exchanged)
        return;
    int64_t line = hs_tier_width_max(mover->panels, mover->tier0) * (int64_t)mover->problem->scalar->size;
    drain->outgoing = hs_arena_take(arena, (size_t)(line * hs_mover_takings(mover)));
    drain->incoming = hs_arena_take(arena, (size_t)(line * hs_mover_gives(mover)));
}

void hs_drain_reset(struct hs_drain *drain, const struct hs_matrix *matrix, const void *beta, int from, int to)
{
    drain->matrix = *matrix;
    drain->beta = beta;
    drain->copy_seconds = 0;
    for (int s = 0; s < drain->channels; s++)
        hs_channel_reset(&drain->channel[s], &drain->mover.panels->tier[drain->channel[s].tier], from, to);
}

/* Where innermost panel t lies in the buffers that channel s reads from. */
static char *place(const struct hs_drain *drain, int s, int t)
{
    const struct hs_mover *mover = &drain->mover;
    int tier = drain->channel[s].tier, slots = drain->slots[s] ? drain->slots[s] : 1;
    int64_t offset = hs_tier_offset(mover->panels, tier, t) * mover->length * (int64_t)mover->problem->scalar->size;
    return drain->ring[s] + mover->panels->tier[tier].of[t] % slots * drain->slot_bytes[s] + offset;
}

/* 1 if the buffer that channel s reads tier panel `of[t]` from has been emptied of what was in it before. */
static int emptied(const struct hs_drain *drain, int s, int t)
{
    int o = drain->mover.panels->tier[drain->channel[s].tier].of[t];
    return o - (drain->slots[s] ? drain->slots[s] : 1) < drain->channel[s].done;
}

int hs_drain_open(const struct hs_drain *drain, int t)
{
    return emptied(drain, 0, t);
}

struct hs_matrix hs_drain_panel(const struct hs_drain *drain, int t, int *direct)
{
    const struct hs_mover *mover = &drain->mover;
    int loop_axis = mover->role->loop_axis;
    *direct = is_direct(mover, &mover->panels->pairs);
    if (!*direct)
        return (struct hs_matrix){place(drain, 0, t), loop_axis == 0 ? mover->panels->panel[t].width : mover->length};
    int64_t local = hs_axis_before(mover->role->looped, mover->loop_coord, mover->panels->panel[t].at);
    return (struct hs_matrix){drain->matrix.base + local * (loop_axis == 0 ? 1 : drain->matrix.ld) *
                                                       (int64_t)mover->problem->scalar->size,
                              drain->matrix.ld};
}

static hsumma_status start_reduce(struct hs_drain *drain, int s, struct hs_comm *comm, const struct hs_cache *lists)
{
    struct hs_channel *channel = &drain->channel[s];
    const struct hs_mover *mover = &drain->mover;
    int o = channel->next, first = mover->panels->tier[channel->tier].first[o];
    struct hs_binding binding = hs_mover_binding(mover, mover->levels - 1 - s, hs_mover_pair(mover, channel->tier, o));
    binding.slot[HS_IN] = place(drain, s, first);
    binding.slot[HS_OUT] = place(drain, s + 1, first);
    binding.slot[HS_SCRATCH] = drain->scratch[s];
    return hs_channel_start(channel, comm, &binding, lists);
}

/* The last channel: the root adds the sum to C, or the exchange brings it to the holders. */
static hsumma_status start_finish(struct hs_drain *drain, struct hs_comm *comm, const struct hs_cache *lists)
{
    const struct hs_mover *mover = &drain->mover;
    struct hs_channel *channel = &drain->channel[mover->levels];
    int o = channel->next, pair = hs_mover_pair(mover, channel->tier, o);
    char *sum = place(drain, mover->levels, mover->panels->tier[channel->tier].first[o]);
    double begin = hs_now();
    if (channel->list[o] < 0) {
        struct hs_run_of_panels run = hs_mover_run(mover, channel->tier, o);
        if (!mover->role->exchanged && hs_mover_takes(mover, pair) && !is_direct(mover, &mover->panels->pairs))
            hs_unpack(&run, sum, mover->length, drain->beta, &drain->matrix);
        drain->copy_seconds += hs_now() - begin;
        hs_channel_skip(channel);
        return HSUMMA_OK;
    }
    if (hs_mover_takes(mover, pair)) {
        hs_mover_exchange_copy(mover, o, HS_SLABS_TO_MESSAGE, drain->outgoing, NULL, sum, NULL);
        hs_mover_exchange_own(mover, o, HS_SLABS_TO_MATRIX, &drain->matrix, sum, drain->beta);
    }
    drain->copy_seconds += hs_now() - begin;
    struct hs_binding binding = {.group = hs_grid_all(&mover->problem->grid),
                                 .slot = {drain->outgoing, drain->incoming},
                                 .combine = mover->problem->scalar->add};
    return hs_channel_start(channel, comm, &binding, lists);
}

/* 1 if the next panel of channel s may start: its sums are complete, and the root has where to put the result. */
static int may_start(const struct hs_drain *drain, int s, int computed)
{
    const struct hs_mover *mover = &drain->mover;
    const struct hs_channel *channel = &drain->channel[s];
    const struct hs_tier *tier = &mover->panels->tier[channel->tier];
    if (!hs_channel_open(channel))
        return 0;
    int first = tier->first[channel->next], last = tier->first[channel->next + 1] - 1;
    if (last >= computed)
        return 0;
    if (s > 0 && mover->panels->tier[drain->channel[s - 1].tier].of[last] >= drain->channel[s - 1].done)
        return 0;
    return s == mover->levels || emptied(drain, s + 1, first);
}

hsumma_status hs_drain_start(struct hs_drain *drain, struct hs_comm *comm, const struct hs_cache *lists, int computed,
                             int *worked)
{
    for (int s = 0; s < drain->channels; s++) {
        while (may_start(drain, s, computed)) {
            hsumma_status status = HSUMMA_OK;
            *worked = 1;
            if (s == drain->mover.levels)
                status = start_finish(drain, comm, lists);
            else if (drain->channel[s].list[drain->channel[s].next] < 0)
                hs_channel_skip(&drain->channel[s]);
            else
                status = start_reduce(drain, s, comm, lists);
            if (!status)
                status = hs_drain_progress(drain, worked);
            if (status)
                return status;
        }
    }
    return HSUMMA_OK;
}

hsumma_status hs_drain_progress(struct hs_drain *drain, int *worked)
{
    const struct hs_mover *mover = &drain->mover;
    for (int s = 0; s < drain->channels; s++) {
        int before = drain->channel[s].done;
        hsumma_status status = hs_channel_progress(&drain->channel[s], worked);
        if (status)
            return status;
        for (int o = before; s == mover->levels && mover->role->exchanged && o < drain->channel[s].done; o++) {
            if (drain->channel[s].list[o] < 0 || !hs_mover_holds(mover, hs_mover_pair(mover, mover->tier0, o)))
                continue;
            double begin = hs_now();
            hs_mover_exchange_copy(mover, o, HS_MESSAGE_TO_MATRIX, drain->incoming, &drain->matrix, NULL, drain->beta);
            drain->copy_seconds += hs_now() - begin;
        }
    }
    return HSUMMA_OK;
}

int hs_drain_done(const struct hs_drain *drain)
{
    for (int s = 0; s < drain->channels; s++)
        if (!hs_channel_done(&drain->channel[s]))
            return 0;
    return 1;
}

int hs_drain_idle(const struct hs_drain *drain)
{
    for (int s = 0; s < drain->channels; s++)
        if (!hs_channel_idle(&drain->channel[s]))
            return 0;
    return 1;
}
