#include "summa/messages/conveyor_channels.h"

#include "base/wait.h"

#include <string.h>

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
        hs_conveyor_place_shared(conveyor, execution->shared->memory);
    for (int s = 0; s < conveyor->channels; s++) {
        struct hs_channel *channel = &conveyor->channel[s];
        const struct hs_tier *tier = hs_conveyor_tier(conveyor, s);
        channel->next = channel->done = tier->of[from];
        channel->end = tier->of[to];
    }
}

void hs_conveyor_signal(struct hs_conveyor *conveyor)
{
    const int takes_crcs = conveyor->checks && !hs_is_drain(&conveyor->mover);
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
    return hs_conveyor_buffer(conveyor, hs_is_drain(mover) ? conveyor->channels - 1 : 0, o);
}

/* Packs the messages that this process sends in the exchange of panel o; for C, also adds the sums that stay here. */
static void pack_exchange(struct hs_conveyor *conveyor, int o)
{
    const struct hs_mover *mover = &conveyor->mover;
    int pair = hs_mover_pair(mover, mover->tier0, o);
    double begin = hs_now();
    if (hs_is_drain(mover) && hs_mover_takes(mover, pair)) {
        char *sum = outer_slabs(conveyor, o);
        hs_mover_exchange_copy(mover, o, HS_SLABS_TO_MESSAGE, conveyor->outgoing, NULL, sum, NULL);
        hs_mover_exchange_own(mover, o, HS_SLABS_TO_MATRIX, &conveyor->matrix, sum, conveyor->beta);
    } else if (!hs_is_drain(mover)) {
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
    if (hs_is_drain(mover) && hs_mover_holds(mover, pair)) {
        hs_mover_exchange_copy(mover, o, HS_MESSAGE_TO_MATRIX, conveyor->incoming, &conveyor->matrix, NULL,
                               conveyor->beta);
    } else if (!hs_is_drain(mover) && hs_mover_takes(mover, pair)) {
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
        for (int o = before; mover->role->exchanged && hs_level_of_channel(mover, s) < 0 && o < channel->done; o++)
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
    struct hs_binding binding =
        hs_mover_binding(mover, hs_level_of_channel(mover, s), hs_mover_pair(mover, channel->tier, o));
    if (hs_is_drain(mover)) {
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
        binding.slot[hs_is_drain(mover) ? HS_IN : HS_OUT] = outer_slabs(conveyor, o);
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
    return hs_level_of_channel(mover, s) < 0 && !mover->role->exchanged &&
           hs_mover_takes(mover, hs_mover_pair(mover, channel->tier, channel->next));
}

/* Starts the next panel of channel s: an instance, a local copy or sum, or nothing. */
static hsumma_status start_next(struct hs_conveyor *conveyor, int s, struct hs_comm *comm, const struct hs_cache *lists)
{
    const struct hs_mover *mover = &conveyor->mover;
    struct hs_channel *channel = &conveyor->channel[s];
    int o = channel->next, collective = hs_channel_is_collective(mover, s);
    if (conveyor->checks && s > 0 && hs_channel_sums_cell(mover, s - 1) &&
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
    if (hs_channel_sums_cell(mover, s))
        hs_drain_sum_cell(conveyor, o);
    if (copies_next(conveyor, s))
        (hs_is_drain(mover) ? hs_drain_add : hs_feed_fill)(conveyor, o);
    channel->next++; /* complete without an instance */
    return HSUMMA_OK;
}

static int may_start(const struct hs_conveyor *conveyor, int s, int now)
{
    const struct hs_mover *mover = &conveyor->mover;
    const struct hs_channel *channel = &conveyor->channel[s];
    if (!hs_channel_open(channel))
        return 0;
    if (channel->list[channel->next] < 0 && !hs_channel_sums_cell(mover, s) && !copies_next(conveyor, s))
        return 1; /* this process has no part in the panel */
    if (mover->role->exchanged && hs_level_of_channel(mover, s) < 0 && !messages_free(conveyor, s))
        return 0;
    return hs_is_drain(mover) ? hs_drain_may_start(conveyor, s, now) : hs_feed_may_start(conveyor, s, now);
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
