/*
 * A channel: the sequence of instances that move one operand on one level, one instance per tier panel, started in
 * ascending order; as many at a time as it has slots.  An execution runs those of a span of panels.
 */
#ifndef HS_SUMMA_MESSAGES_CHANNEL_H
#define HS_SUMMA_MESSAGES_CHANNEL_H

#include "coll/run/executor.h"
#include "coll/schedule/list_cache.h"
#include "summa/messages/arena.h"
#include "summa/panels.h"

struct hs_channel {
    int id; /* of the tag: alike on all ranks */
    int tier;
    int slots;
    struct hs_instance *instance; /* tier panel o uses instance[o % slots] */
    int *list;                    /* per tier panel: index of its list, or -1 where this process takes no part */
    int next, done, end; /* of the span: panels below next have been started or passed over, below done completed */
};

/* Sizes: slots instances for the longest of the channel's lists. */
void hs_channel_lay_out(struct hs_channel *channel, const struct hs_cache *lists, int panels, struct hs_arena *arena);
/* Begins with the panel that holds innermost panel `from` and ends before the one that holds `to`. */
void hs_channel_reset(struct hs_channel *channel, const struct hs_tier *tier, int from, int to);
hsumma_status hs_channel_progress(struct hs_channel *channel, int *worked);
/* Starts the instance of panel `next` and goes on to the one after it. */
hsumma_status hs_channel_start(struct hs_channel *channel, struct hs_comm *comm, struct hs_binding *binding,
                               const struct hs_cache *lists);

/* 1 if panel `next` is of the span and a slot is free for it. */
static inline int hs_channel_open(const struct hs_channel *channel)
{
    return channel->next < channel->end && channel->next - channel->done < channel->slots;
}

static inline int hs_channel_idle(const struct hs_channel *channel)
{
    return channel->done == channel->next;
}

/* 1 if all panels of the span are over. */
static inline int hs_channel_done(const struct hs_channel *channel)
{
    return channel->done == channel->end;
}

#endif
