/* CRCs of the panels that a cell's members share (conveyor.h), while a product is checked. */
#include "summa/messages/conveyor.h"

/* The CRCs at the end of the buffer of channel s that begins at `buffer`, one per member of the cell. */
static uint32_t *crcs_of(const struct hs_conveyor *conveyor, int s, char *buffer)
{
    return (uint32_t *)(void *)(buffer + conveyor->slot_bytes[s] - conveyor->crc_bytes);
}

/* This process's index in its cell. */
static int place_of(const struct hs_mover *mover)
{
    return hs_place_in_part(mover->cells->division, mover->line);
}

static void compare(const struct hs_conveyor *conveyor, int member, uint32_t crc, uint32_t expected)
{
    const struct hs_mover *mover = &conveyor->mover;
    const struct hs_grid *grid = &mover->problem->grid;
    const int along = mover->role->line_axis, at = hs_part_rank(mover->cells->division, mover->cells->me, member);
    const int rank = hs_grid_rank(grid, hs_grid_index(grid, along, at, grid->coord[!along]));
    hs_shared_crc_compare(conveyor->checks, mover->operand, rank, crc, expected);
}

/* The buffer of panel o of channel s. */
static char *buffer_of(const struct hs_conveyor *conveyor, int s, int o)
{
    return hs_conveyor_panel(conveyor, s, conveyor->mover.panels->tier[conveyor->channel[s].tier].first[o]).base;
}

static uint32_t crc_of_panel(const struct hs_conveyor *feed, int s, int o)
{
    const struct hs_mover *mover = &feed->mover;
    const int64_t elements = hs_tier_width(mover->panels, feed->channel[s].tier, o) * mover->length;
    return hs_crc32c(buffer_of(feed, s, o), (size_t)elements * mover->problem->scalar->size);
}

void hs_feed_take_crc(const struct hs_conveyor *feed, int s, int o)
{
    const struct hs_mover *mover = &feed->mover;
    const int first = mover->panels->tier[feed->channel[s].tier].first[o];
    if (hs_feed_channel(feed, first) == s && hs_mover_carries(mover, hs_feed_root_on_line(feed, first)))
        *crcs_of(feed, s, buffer_of(feed, s, o)) = crc_of_panel(feed, s, o);
}

void hs_feed_check_crc(const struct hs_conveyor *feed, int t)
{
    const struct hs_mover *mover = &feed->mover;
    const int s = hs_feed_channel(feed, t), root = hs_feed_root_on_line(feed, t);
    const struct hs_tier *tier = &mover->panels->tier[feed->channel[s].tier];
    const int o = tier->of[t];
    if (tier->first[o] == t && !hs_mover_carries(mover, root))
        compare(feed, hs_mover_carrier(mover, root), crc_of_panel(feed, s, o),
                *crcs_of(feed, s, buffer_of(feed, s, o)));
}

static uint32_t crc_of_share(const struct hs_conveyor *drain, int o, const char *buffer, int member)
{
    int64_t from;
    const int64_t bytes = hs_drain_share(drain, o, member, &from);
    return hs_crc32c(buffer + from, (size_t)bytes);
}

void hs_drain_take_crcs(const struct hs_conveyor *drain, int t)
{
    const struct hs_tier *tier = &drain->mover.panels->tier[drain->channel[0].tier];
    const int o = tier->of[t];
    char *buffer = buffer_of(drain, 0, o);
    for (int i = 0; i < drain->mover.members && tier->first[o + 1] == t + 1; i++)
        crcs_of(drain, 0, buffer)[i] = crc_of_share(drain, o, buffer, i);
}

void hs_drain_check_parts(const struct hs_conveyor *drain, int o)
{
    const int me = place_of(&drain->mover);
    for (int i = 0; i < drain->mover.members; i++) {
        char *buffer = buffer_of(drain, 0, o) + (i - me) * drain->slots[0] * drain->slot_bytes[0];
        if (i != me)
            compare(drain, i, crc_of_share(drain, o, buffer, me), crcs_of(drain, 0, buffer)[me]);
    }
}

void hs_drain_take_crc_of_sum(const struct hs_conveyor *drain, int o)
{
    const int me = place_of(&drain->mover);
    char *sum = buffer_of(drain, 1, o);
    crcs_of(drain, 1, sum)[me] = crc_of_share(drain, o, sum, me);
}

void hs_drain_check_sum(const struct hs_conveyor *drain, int o)
{
    char *sum = buffer_of(drain, 1, o);
    for (int i = 0; i < drain->mover.members; i++)
        if (i != place_of(&drain->mover))
            compare(drain, i, crc_of_share(drain, o, sum, i), crcs_of(drain, 1, sum)[i]);
}
