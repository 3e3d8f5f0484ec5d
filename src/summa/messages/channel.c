#include "summa/messages/channel.h"

void hs_channel_lay_out(struct hs_channel *channel, const struct hs_cache *lists, int panels, struct hs_arena *arena)
{
    int most = 0;
    for (int o = 0; o < panels; o++)
        if (channel->list[o] >= 0 && lists->list[channel->list[o]].steps > most)
            most = lists->list[channel->list[o]].steps;
    channel->instance = hs_arena_take(arena, (size_t)channel->slots * sizeof *channel->instance);
    for (int i = 0; i < channel->slots; i++) {
        void *block = hs_arena_take(arena, hs_instance_bytes(most));
        if (block)
            hs_instance_init(&channel->instance[i], block, most);
    }
}

hsumma_status hs_channel_progress(struct hs_channel *channel, int *worked)
{
    for (int o = channel->done; o < channel->next; o++) {
        hsumma_status status = hs_progress(&channel->instance[o % channel->slots], worked);
        if (status)
            return status;
    }
    while (channel->done < channel->next && !channel->instance[channel->done % channel->slots].active)
        channel->done++;
    return HSUMMA_OK;
}

hsumma_status hs_channel_start(struct hs_channel *channel, struct hs_comm *comm, struct hs_binding *binding,
                               const struct hs_cache *lists)
{
    int o = channel->next++;
    binding->list = &lists->list[channel->list[o]];
    binding->tag = hs_tag(channel->id, o);
    binding->checked = comm->checks_messages;
    return hs_start(&channel->instance[o % channel->slots], comm, binding);
}
