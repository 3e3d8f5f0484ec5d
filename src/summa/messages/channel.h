/*
 * A channel: the sequence of instances that move one operand on one level.  There is one instance per tier panel; they
 * start in ascending order, and at most `slots` of them are in flight.  An execution runs the instances of a span of
 * panels.
 */
#ifndef HS_SUMMA_MESSAGES_CHANNEL_H
#define HS_SUMMA_MESSAGES_CHANNEL_H

#include "coll/run/executor.h"
#include "coll/schedule/list_cache.h"
#include "summa/panels.h"

struct hs_channel {
    int id; /* the channel's number in tags (hs_tag), equal on all ranks */
    int tier;
    int slots;
    struct hs_instance *instance; /* tier panel o uses instance[o % slots] */
    int *list;                    /* list[o]: index of the list for tier panel o; -1 if this process runs none */
    /* Indices of tier panels: panels below `next` have been started or skipped, panels below `done` are complete, and
     * `end` is one past the last panel of the span. */
    int next, done, end;
};

/* Takes the instances from the arena, each with room for the longest of the channel's lists. */
void hs_channel_lay_out(struct hs_channel *channel, const struct hs_cache *lists, int panels, struct hs_arena *arena);
/* Advances all instances in flight. */
hsumma_status hs_channel_progress(struct hs_channel *channel, int *worked);
/* Starts the instance of panel `next` and increments `next`. */
hsumma_status hs_channel_start(struct hs_channel *channel, struct hs_comm *comm, struct hs_binding *binding,
                               const struct hs_cache *lists);

/* 1 if panel `next` is in the span and a slot is free for it. */
static inline int hs_channel_open(const struct hs_channel *channel)
{
    return channel->next < channel->end && channel->next - channel->done < channel->slots;
}

#endif
