#include "summa/messages/feed.h"

#include "base/wait.h"

#include <string.h>

int hs_ahead(const struct hs_spec *spec, int tier)
{
    int64_t inner = spec->width[spec->levels - 1];
    return (int)((spec->lookahead * inner + spec->width[tier] - 1) / spec->width[tier]);
}

/* A line of one process without an exchange only gathers, just before the multiplication: nothing to overlap. */
static int local_only(const struct hs_mover *mover)
{
    return mover->levels == 0 && !mover->role->exchanged;
}

static int fill_slots(const struct hs_mover *mover, const struct hs_spec *spec, const struct hs_pairs *pairs)
{
    if (local_only(mover))
        return pairs->in_place[mover->index] ? 0 : 1;
    return hs_ahead(spec, mover->tier0) + 1;
}

int64_t hs_feed_bytes(const struct hs_mover *mover, const struct hs_spec *spec, const struct hs_pairs *pairs,
                      int64_t length)
{
    int64_t bytes = fill_slots(mover, spec, pairs) * hs_mover_buffer_bytes(mover, spec, pairs, mover->tier0, length);
    for (int l = 1; l < mover->levels; l++)
        if (spec->width[mover->tier[l]] != spec->width[mover->tier0])
            bytes += (hs_ahead(spec, mover->tier[l]) + 1) *
                     hs_mover_buffer_bytes(mover, spec, pairs, mover->tier[l], length);
    return bytes + hs_mover_exchange_bytes(mover, spec, pairs);
}

static int panels_of(const struct hs_feed *feed, int s)
{
    return feed->mover.panels->tier[feed->channel[s].tier].count;
}

hsumma_status hs_feed_init(struct hs_feed *feed, const struct hs_spec *spec, const struct hs_mover *mover,
                           struct hs_cache *lists, const struct hs_allocator *memory)
{
    memset(feed, 0, sizeof *feed);
    feed->mover = *mover;
    feed->channels = 1 + mover->levels;
    hsumma_status status = hs_mover_share(&feed->mover, memory);
    for (int s = 0; s < feed->channels; s++) {
        struct hs_channel *channel = &feed->channel[s];
        channel->id = mover->operand * 8 + s;
        channel->tier = s == 0 ? mover->tier0 : mover->tier[s - 1];
        feed->ahead[s] = s == 0 && local_only(mover) ? 0 : hs_ahead(spec, channel->tier);
        feed->slots[s] = s == 0 ? fill_slots(mover, spec, &mover->panels->pairs) : feed->ahead[s] + 1;
        channel->slots = s == 0 ? 1 : feed->slots[s];
        feed->slot_bytes[s] = hs_mover_buffer_bytes(mover, spec, &mover->panels->pairs, channel->tier, mover->length);
        feed->shares[s] = s > 0 && spec->width[channel->tier] == spec->width[mover->tier0];
        int panels = panels_of(feed, s);
        channel->list = hs_get(memory, (size_t)panels + 1, sizeof *channel->list);
        if (!channel->list)
            status = HSUMMA_ERR_MEMORY;
        else if (s > 0 && !status)
            status = hs_mover_lists(&feed->mover, s - 1, spec->segment, lists, channel->list);
        else if (mover->role->exchanged && !status)
            status = hs_mover_exchange_lists(&feed->mover, 0, lists, channel->list);
        else
            memset(channel->list, -1, ((size_t)panels + 1) * sizeof *channel->list);
    }
    return status;
}

void hs_feed_free(struct hs_feed *feed, const struct hs_allocator *memory)
{
    for (int s = 0; s < feed->channels; s++)
        hs_put(memory, feed->channel[s].list);
    hs_mover_unshare(&feed->mover, memory);
    feed->channels = 0;
}

void hs_feed_lay_out(struct hs_feed *feed, const struct hs_cache *lists, struct hs_arena *arena)
{
    for (int s = 0; s < feed->channels; s++)
        hs_channel_lay_out(&feed->channel[s], lists, panels_of(feed, s), arena);
    feed->source = hs_arena_take(arena, (size_t)(feed->slots[0] + 1) * sizeof *feed->source);
}

void hs_feed_place_buffers(struct hs_feed *feed, struct hs_arena *arena)
{
    const struct hs_mover *mover = &feed->mover;
    for (int s = 0; s < feed->channels; s++)
        feed->ring[s] =
            feed->shares[s] ? feed->ring[0] : hs_arena_take(arena, (size_t)(feed->slots[s] * feed->slot_bytes[s]));
    if (!mover->role->exchanged)
        return;
    int64_t line = hs_tier_width_max(mover->panels, mover->tier0) * (int64_t)mover->problem->scalar->size;
    feed->outgoing = hs_arena_take(arena, (size_t)(line * hs_mover_gives(mover)));
    feed->incoming = hs_arena_take(arena, (size_t)(line * hs_mover_takings(mover)));
}

void hs_feed_reset(struct hs_feed *feed, const struct hs_matrix *matrix, int from, int to)
{
    feed->matrix = *matrix;
    feed->copy_seconds = 0;
    for (int s = 0; s < feed->channels; s++)
        hs_channel_reset(&feed->channel[s], &feed->mover.panels->tier[feed->channel[s].tier], from, to);
}

/* The channel by which this process gets innermost panel t: 0 if it is the root of its line. */
static int channel_of(const struct hs_feed *feed, int t)
{
    return 1 + hs_mover_level(&feed->mover, hs_mover_root(&feed->mover, feed->mover.panels->panel[t].pair));
}

int hs_feed_ready(const struct hs_feed *feed, int t)
{
    const struct hs_channel *channel = &feed->channel[channel_of(feed, t)];
    return feed->mover.panels->tier[channel->tier].of[t] < channel->done;
}

struct hs_matrix hs_feed_panel(const struct hs_feed *feed, int t)
{
    const struct hs_mover *mover = &feed->mover;
    int s = channel_of(feed, t), tier = feed->channel[s].tier, loop_axis = mover->role->loop_axis;
    int64_t offset = hs_tier_offset(mover->panels, tier, t), size = (int64_t)mover->problem->scalar->size;
    int slots = feed->slots[s] ? feed->slots[s] : 1, slot = mover->panels->tier[tier].of[t] % slots;
    if (s == 0 && feed->source[slot].in_place) {
        const struct hs_source *source = &feed->source[slot];
        return (struct hs_matrix){source->base + offset * (loop_axis == 0 ? 1 : source->ld) * size, source->ld};
    }
    return (struct hs_matrix){feed->ring[s] + slot * feed->slot_bytes[s] + offset * mover->length * size,
                              loop_axis == 0 ? mover->panels->panel[t].width : mover->length};
}

/* 1 if the buffer that tier panel o of channel s would use is no longer needed by what was in it before. */
static int buffer_free(const struct hs_feed *feed, int s, int o, int now)
{
    const struct hs_panels *panels = feed->mover.panels;
    int before = o - feed->slots[s];
    if (before < 0)
        return 1;
    int last = panels->tier[feed->channel[s].tier].first[before + 1] - 1;
    if (last >= now)
        return 0;
    for (int j = 1; j < feed->channels; j++)
        if (panels->tier[feed->channel[j].tier].of[last] >= feed->channel[j].done)
            return 0;
    return 1;
}

/* The owner's panel o: in place if it may be sent and multiplied from there, else packed. */
static void fill(struct hs_feed *feed, int o)
{
    const struct hs_mover *mover = &feed->mover;
    struct hs_run_of_panels run = hs_mover_run(mover, mover->tier0, o);
    int64_t width = hs_tier_width(mover->panels, mover->tier0, o), size = (int64_t)mover->problem->scalar->size;
    int slots = feed->slots[0] ? feed->slots[0] : 1, one_slab = run.end - run.begin == 1;
    struct hs_source *source = &feed->source[o % slots];
    /* to be sent it must be as contiguous as a packed panel; to be multiplied only, any leading dimension will do */
    int contiguous =
        mover->role->loop_axis == 0 ? one_slab && feed->matrix.ld == width : feed->matrix.ld == mover->length;
    int64_t start = mover->levels == 0 || contiguous ? hs_in_place(&run) : -1;
    *source = (struct hs_source){.ld = feed->matrix.ld, .in_place = start >= 0};
    if (source->in_place) {
        source->base = feed->matrix.base + start * (mover->role->loop_axis == 0 ? 1 : feed->matrix.ld) * size;
        return;
    }
    double begin = hs_now();
    hs_pack(&run, &feed->matrix, mover->length, feed->ring[0] + o % slots * feed->slot_bytes[0]);
    feed->copy_seconds += hs_now() - begin;
}

static hsumma_status start_exchange(struct hs_feed *feed, struct hs_comm *comm, const struct hs_cache *lists, int o)
{
    const struct hs_mover *mover = &feed->mover;
    double begin = hs_now();
    if (hs_mover_holds(mover, hs_mover_pair(mover, mover->tier0, o)))
        hs_mover_exchange_copy(mover, o, HS_MATRIX_TO_MESSAGE, feed->outgoing, &feed->matrix, NULL, NULL);
    feed->copy_seconds += hs_now() - begin;
    feed->source[o % feed->slots[0]].in_place = 0;
    struct hs_binding binding = {.group = hs_grid_all(&mover->problem->grid),
                                 .slot = {feed->outgoing, feed->incoming},
                                 .combine = mover->problem->scalar->add};
    return hs_channel_start(&feed->channel[0], comm, &binding, lists);
}

static hsumma_status start_fill(struct hs_feed *feed, struct hs_comm *comm, const struct hs_cache *lists)
{
    struct hs_channel *channel = &feed->channel[0];
    int o = channel->next, pair = hs_mover_pair(&feed->mover, channel->tier, o);
    if (channel->list[o] >= 0)
        return start_exchange(feed, comm, lists, o);
    if (!feed->mover.role->exchanged && hs_mover_takes(&feed->mover, pair))
        fill(feed, o);
    hs_channel_skip(channel);
    return HSUMMA_OK;
}

static hsumma_status start_bcast(struct hs_feed *feed, int s, struct hs_comm *comm, const struct hs_cache *lists)
{
    struct hs_channel *channel = &feed->channel[s];
    int o = channel->next, first = feed->mover.panels->tier[channel->tier].first[o];
    if (channel->list[o] < 0) {
        hs_channel_skip(channel);
        return HSUMMA_OK;
    }
    struct hs_binding binding = hs_mover_binding(&feed->mover, s - 1, hs_mover_pair(&feed->mover, channel->tier, o));
    binding.slot[HS_OUT] = hs_feed_panel(feed, first).base;
    return hs_channel_start(channel, comm, &binding, lists);
}

/* 1 if the next panel of channel s may start: inside the window, buffer free, and what it forwards is here. */
static int may_start(const struct hs_feed *feed, int s, int now)
{
    const struct hs_channel *channel = &feed->channel[s];
    const struct hs_tier *tier = &feed->mover.panels->tier[channel->tier];
    int o = channel->next;
    if (!hs_channel_open(channel) || o > tier->of[now] + feed->ahead[s])
        return 0;
    int first = tier->first[o], from = channel_of(feed, first);
    if (s == 0 || from == s)
        return feed->slots[s] == 0 || buffer_free(feed, s, o, now);
    return from > s || hs_feed_ready(feed, first);
}

/* 1 when nothing is under way. */
static int idle(const struct hs_feed *feed)
{
    for (int s = 0; s < feed->channels; s++)
        if (!hs_channel_idle(&feed->channel[s]))
            return 0;
    return 1;
}

hsumma_status hs_feed_start(struct hs_feed *feed, struct hs_comm *comm, const struct hs_cache *lists, int now,
                            int one_at_a_time, int *worked)
{
    for (int s = 0; s < feed->channels; s++) {
        while ((!one_at_a_time || idle(feed)) && may_start(feed, s, now)) {
            *worked = 1;
            hsumma_status status = s == 0 ? start_fill(feed, comm, lists) : start_bcast(feed, s, comm, lists);
            if (!status)
                status = hs_feed_progress(feed, worked);
            if (status)
                return status;
        }
    }
    return HSUMMA_OK;
}

/* What arrived in the exchange goes to its place as soon as the instance is over, before the next one may start. */
static void take_exchanged(struct hs_feed *feed, int o)
{
    const struct hs_mover *mover = &feed->mover;
    if (feed->channel[0].list[o] < 0 || !hs_mover_takes(mover, hs_mover_pair(mover, mover->tier0, o)))
        return;
    double begin = hs_now();
    char *slabs = feed->ring[0] + o % feed->slots[0] * feed->slot_bytes[0];
    hs_mover_exchange_copy(mover, o, HS_MESSAGE_TO_SLABS, feed->incoming, NULL, slabs, NULL);
    hs_mover_exchange_own(mover, o, HS_MATRIX_TO_SLABS, &feed->matrix, slabs, NULL);
    feed->copy_seconds += hs_now() - begin;
}

hsumma_status hs_feed_progress(struct hs_feed *feed, int *worked)
{
    for (int s = 0; s < feed->channels; s++) {
        int before = feed->channel[s].done;
        hsumma_status status = hs_channel_progress(&feed->channel[s], worked);
        if (status)
            return status;
        for (int o = before; s == 0 && feed->mover.role->exchanged && o < feed->channel[0].done; o++)
            take_exchanged(feed, o);
    }
    return HSUMMA_OK;
}

int hs_feed_done(const struct hs_feed *feed)
{
    for (int s = 0; s < feed->channels; s++)
        if (!hs_channel_done(&feed->channel[s]))
            return 0;
    return 1;
}

int hs_feed_settled(const struct hs_feed *feed, int now)
{
    for (int s = 0; s < feed->channels; s++)
        if (feed->channel[s].next < feed->channel[s].end &&
            feed->channel[s].next <= feed->mover.panels->tier[feed->channel[s].tier].of[now])
            return 0;
    return idle(feed);
}
