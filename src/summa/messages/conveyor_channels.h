/* Internal to conveyor.c and conveyor_buffers.c: what channel s of a mover's conveyor does. */
#ifndef HS_SUMMA_MESSAGES_CONVEYOR_CHANNELS_H
#define HS_SUMMA_MESSAGES_CONVEYOR_CHANNELS_H

#include "summa/messages/conveyor.h"

static inline int hs_is_drain(const struct hs_mover *mover)
{
    return mover->operand == HS_C;
}

/* Whether partial panels of C are summed inside the cell before they are reduced between cells. */
static inline int hs_sums_in_cell(const struct hs_mover *mover)
{
    return hs_is_drain(mover) && mover->members > 1;
}

/*
 * The mover's level on which channel s works; -1 if the channel copies from or to the matrix, or exchanges;
 * mover->levels if it sums inside the cell.
 */
static inline int hs_level_of_channel(const struct hs_mover *mover, int s)
{
    return hs_is_drain(mover) ? mover->levels - 1 - s + hs_sums_in_cell(mover) : s - 1;
}

static inline int hs_channel_is_collective(const struct hs_mover *mover, int s)
{
    int level = hs_level_of_channel(mover, s);
    return level >= 0 && level < mover->levels;
}

static inline int hs_channel_sums_cell(const struct hs_mover *mover, int s)
{
    return hs_sums_in_cell(mover) && s == 0;
}

#endif
