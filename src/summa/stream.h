/*
 * A stream: the sequence of instances that move one operand on one level, one instance per tier panel, started in
 * ascending order; as many at a time as it has slots.  An execution runs those of a span of panels.
 */
#ifndef HS_SUMMA_STREAM_H
#define HS_SUMMA_STREAM_H

#include "coll/cache.h"
#include "coll/exec_mpi.h"
#include "summa/arena.h"
#include "summa/panels.h"

struct hs_stream {
    int id; /* of the tag: alike on all ranks */
    int tier;
    int slots;
    struct hs_instance *instance; /* tier panel o uses instance[o % slots] */
    int *list;                    /* per tier panel: index of its list, or -1 where this process takes no part */
    int next, done, end; /* of the span: panels below next have been started or passed over, below done completed */
};

/* Sizes: slots instances for the longest of the stream's lists. */
void hs_stream_lay_out(struct hs_stream *stream, const struct hs_cache *lists, int panels, struct hs_arena *arena);
/* Begins with the panel that holds innermost panel `from` and ends before the one that holds `to`. */
void hs_stream_reset(struct hs_stream *stream, const struct hs_tier *tier, int from, int to);
hsumma_status hs_stream_progress(struct hs_stream *stream, int *worked);
/* Starts the instance of panel `next` and goes on to the one after it. */
hsumma_status hs_stream_start(struct hs_stream *stream, struct hs_comm *comm, struct hs_binding *binding,
                              const struct hs_cache *lists);

/* 1 if panel `next` is of the span and a slot is free for it. */
static inline int hs_stream_open(const struct hs_stream *stream)
{
    return stream->next < stream->end && stream->next - stream->done < stream->slots;
}

/* Passes over a panel that needs no instance here. */
static inline void hs_stream_skip(struct hs_stream *stream)
{
    stream->next++;
}

static inline int hs_stream_idle(const struct hs_stream *stream)
{
    return stream->done == stream->next;
}

/* 1 if all panels of the span are over. */
static inline int hs_stream_done(const struct hs_stream *stream)
{
    return stream->done == stream->end;
}

#endif
