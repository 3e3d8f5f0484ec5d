#include "summa/stream.h"

void hs_stream_lay_out(struct hs_stream *stream, const struct hs_cache *lists, int panels, struct hs_arena *arena)
{
    int most = 0;
    for (int o = 0; o < panels; o++)
        if (stream->list[o] >= 0 && lists->list[stream->list[o]].steps > most)
            most = lists->list[stream->list[o]].steps;
    stream->instance = hs_arena_take(arena, (size_t)stream->slots * sizeof *stream->instance);
    for (int i = 0; i < stream->slots; i++) {
        void *room = hs_arena_take(arena, hs_instance_bytes(most));
        if (room)
            hs_instance_init(&stream->instance[i], room, most);
    }
}

void hs_stream_reset(struct hs_stream *stream, const struct hs_tier *tier, int from, int to)
{
    stream->next = stream->done = tier->of[from];
    stream->end = tier->of[to];
}

hsumma_status hs_stream_progress(struct hs_stream *stream, int *worked)
{
    for (int o = stream->done; o < stream->next; o++) {
        hsumma_status status = hs_progress(&stream->instance[o % stream->slots], worked);
        if (status)
            return status;
    }
    while (stream->done < stream->next && !stream->instance[stream->done % stream->slots].active)
        stream->done++;
    return HSUMMA_OK;
}

hsumma_status hs_stream_start(struct hs_stream *stream, struct hs_comm *comm, struct hs_binding *binding,
                              const struct hs_cache *lists)
{
    int o = stream->next++;
    binding->list = &lists->list[stream->list[o]];
    binding->tag = hs_tag(stream->id, o);
    return hs_start(&stream->instance[o % stream->slots], comm, binding);
}
