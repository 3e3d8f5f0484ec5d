/*
 * Who uses which tags of the library's communicator.  A channel is a sequence of instances over the same group for the
 * same purpose, numbered alike on all ranks and started in the same order by all members.  The tag says (channel,
 * instance modulo); messages of an ordered pair inside an instance match in list order.
 */
#ifndef HS_COLL_NODE_TAGS_H
#define HS_COLL_NODE_TAGS_H

#include <stdint.h>

/* The loop of the plan that runs has the channels from 0 on. */
enum {
    HS_CHANNELS = 32,
    HS_INSTANCES = 1024,
    HS_CHANNEL_AGREE = HS_CHANNELS - 1,
    HS_CHANNEL_COLL = HS_CHANNELS - 2,
    HS_CHANNEL_MOVE = HS_CHANNELS - 3,  /* redistributions */
    HS_CHANNEL_MOVE_B = HS_CHANNELS - 4 /* of B while A's is under way */
};

/* Numbers in HS_CHANNEL_AGREE: agreements that may be open at the same time, notices of failure, bells (bells.h), and
 * timelines that are gathered. */
enum hs_agreement_number {
    HS_AGREE_CONTEXT,
    HS_AGREE_PLAN,
    HS_AGREE_TRIAL,
    HS_AGREE_TEAM,
    HS_NOTICE,
    HS_BELL,
    HS_TRACE
};

static inline int hs_tag(int channel, int64_t instance)
{
    return channel * HS_INSTANCES + (int)(instance % HS_INSTANCES);
}

#endif
