/* CRCs of the panels that a cell's members share (conveyor.h), while a product is checked. */
#include "base/wait.h"
#include "summa/messages/conveyor.h"

/* The CRCs at the end of the buffer of channel s that begins at `buffer`, one per member of the cell. */
static uint32_t *crcs_of(const struct hs_conveyor *conveyor, int s, char *buffer)
{
    return (uint32_t *)(void *)(buffer + conveyor->slot_bytes[s] - conveyor->crc_bytes);
}

static void compare(const struct hs_conveyor *conveyor, int member, uint32_t crc, uint32_t expected)
{
    const struct hs_mover *mover = &conveyor->mover;
    const int at = hs_part_rank(mover->cells->division, mover->cells->me, member);
    hs_shared_crc_compare(conveyor->checks, mover->operand, hs_mover_rank(mover, at), crc, expected);
}

static uint32_t crc_of_panel(const struct hs_conveyor *feed, int s, int o)
{
    const struct hs_mover *mover = &feed->mover;
    const int64_t elements = hs_tier_width(mover->panels, feed->channel[s].tier, o) * mover->length;
    return hs_crc32c(hs_conveyor_buffer(feed, s, o), (size_t)elements * mover->problem->scalar->size);
}

void hs_feed_take_crc(struct hs_conveyor *feed, int s, int o)
{
    const int first = hs_conveyor_tier(feed, s)->first[o];
    if (hs_feed_channel(feed, first) != s || !hs_mover_carries(&feed->mover, hs_feed_root_on_line(feed, first)))
        return;
    const double begin = hs_now();
    *crcs_of(feed, s, hs_conveyor_buffer(feed, s, o)) = crc_of_panel(feed, s, o);
    hs_conveyor_copied(feed, feed->channel[s].tier, o, HS_TRACE_COPY, begin);
}

void hs_feed_check_crc(struct hs_conveyor *feed, int t)
{
    const struct hs_mover *mover = &feed->mover;
    const int s = hs_feed_channel(feed, t), root = hs_feed_root_on_line(feed, t);
    const struct hs_tier *tier = hs_conveyor_tier(feed, s);
    const int o = tier->of[t];
    if (tier->first[o] != t || hs_mover_carries(mover, root))
        return;
    const double begin = hs_now();
    compare(feed, hs_mover_carrier(mover, root), crc_of_panel(feed, s, o),
            *crcs_of(feed, s, hs_conveyor_buffer(feed, s, o)));
    hs_conveyor_copied(feed, feed->channel[s].tier, o, HS_TRACE_COPY, begin);
}

static uint32_t crc_of_share(const struct hs_conveyor *drain, int o, const char *buffer, int member)
{
    int64_t from;
    const int64_t bytes = hs_drain_share(drain, o, member, &from);
    return hs_crc32c(buffer + from, (size_t)bytes);
}

/* A member's own share is its own: it takes no CRC of it. */
void hs_drain_take_crcs(struct hs_conveyor *drain, int t)
{
    const struct hs_tier *tier = hs_conveyor_tier(drain, 0);
    const int o = tier->of[t];
    if (tier->first[o + 1] != t + 1)
        return;
    char *buffer = hs_conveyor_buffer(drain, 0, o);
    const double begin = hs_now();
    for (int i = 0; i < drain->mover.members; i++)
        if (i != hs_mover_place(&drain->mover))
            crcs_of(drain, 0, buffer)[i] = crc_of_share(drain, o, buffer, i);
    hs_conveyor_copied(drain, drain->channel[0].tier, o, HS_TRACE_COPY, begin);
}

void hs_drain_check_parts(const struct hs_conveyor *drain, int o)
{
    const int me = hs_mover_place(&drain->mover);
    for (int i = 0; i < drain->mover.members; i++) {
        char *buffer = hs_conveyor_buffer(drain, 0, o) + (i - me) * drain->slots[0] * drain->slot_bytes[0];
        if (i != me)
            compare(drain, i, crc_of_share(drain, o, buffer, me), crcs_of(drain, 0, buffer)[me]);
    }
}

void hs_drain_take_crc_of_sum(const struct hs_conveyor *drain, int o)
{
    const struct hs_mover *mover = &drain->mover;
    const int me = hs_mover_place(mover);
    char *sum = hs_conveyor_buffer(drain, 1, o);
    if (!hs_mover_carries(mover, hs_mover_root(mover, hs_mover_pair(mover, drain->channel[0].tier, o))))
        crcs_of(drain, 1, sum)[me] = crc_of_share(drain, o, sum, me);
}

void hs_drain_check_sum(struct hs_conveyor *drain, int o)
{
    char *sum = hs_conveyor_buffer(drain, 1, o);
    const double begin = hs_now();
    for (int i = 0; i < drain->mover.members; i++)
        if (i != hs_mover_place(&drain->mover))
            compare(drain, i, crc_of_share(drain, o, sum, i), crcs_of(drain, 1, sum)[i]);
    hs_conveyor_copied(drain, drain->channel[1].tier, o, HS_TRACE_COPY, begin);
}
