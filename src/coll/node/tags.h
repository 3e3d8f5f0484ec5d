/*
 * Allocation of tags in the library's communicator. A channel is a sequence of instances over the same group for the
 * same purpose, numbered identically on all ranks and started in the same order by all members. The tag encodes
 * (channel, instance modulo HS_INSTANCES); within an instance, messages from one rank to another match in list order.
 */
#ifndef HS_COLL_NODE_TAGS_H
#define HS_COLL_NODE_TAGS_H

#include <stdint.h>

/* Channels. Those from 0 on, not named here, belong to the loop of the running plan. */
enum {
    HS_CHANNELS = 32,
    HS_INSTANCES = 1024,
    HS_CHANNEL_AGREE = HS_CHANNELS - 1,
    HS_CHANNEL_COLL = HS_CHANNELS - 2,
    HS_CHANNEL_MOVE = HS_CHANNELS - 3,  /* redistributions */
    HS_CHANNEL_MOVE_B = HS_CHANNELS - 4 /* redistribution of B while A's is in progress */
};

/*
 * Instance numbers in HS_CHANNEL_AGREE: of agreements that may be in progress at the same time, failure notices, bells
 * (bells.h), the gathering of timelines, and checksums of a product.
 */
enum hs_agreement_number {
    HS_AGREE_CONTEXT,
    HS_AGREE_PLAN,
    HS_AGREE_TRIAL,
    HS_AGREE_TEAM,
    HS_NOTICE,
    HS_NOTICE_OF_LOSS,
    HS_BELL,
    HS_TRACE,
    HS_GUARD
};

static inline int hs_tag(int channel, int64_t instance)
{
    return channel * HS_INSTANCES + (int)(instance % HS_INSTANCES);
}

#endif
