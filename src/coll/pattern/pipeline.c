#include "coll/pattern/pipeline.h"

static int64_t grain_of(int64_t unit)
{
    return HS_CACHE_LINE % unit ? HS_CACHE_LINE * unit : HS_CACHE_LINE;
}

int64_t hs_place_bytes(int64_t bytes, int64_t unit)
{
    int64_t grain = grain_of(unit);
    return (bytes + grain - 1) / grain * grain;
}

int64_t hs_place_within(int64_t bytes, int64_t unit)
{
    int64_t grain = bytes < grain_of(unit) ? unit : grain_of(unit);
    return bytes / grain * grain;
}

struct hs_pipe hs_pipe_cut(const struct hs_shape *shape, int64_t bytes, int64_t most, int64_t places, int needed)
{
    struct hs_pipe cut = {.shape = shape, .slots = 1, .places = places};
    int64_t room = shape->topology->shared_bytes / places, unit = shape->unit;
    if (most < bytes || hs_place_bytes(most, unit) > room) {
        cut.slots = needed || room / HS_PIPE_SLOTS >= unit ? HS_PIPE_SLOTS : 1;
        most = hs_min(most, hs_place_within(room / cut.slots, unit));
    }
    if (most == 0)
        return cut;
    cut.segments = (bytes + most - 1) / most;
    if (needed && cut.segments == 1)
        cut.slots = 1; /* no segment would follow in the second slot */
    cut.pitch = hs_min(hs_place_bytes(most, unit), room / cut.slots / unit * unit);
    return cut;
}

struct hs_pipe hs_pipe_cut_parts(const struct hs_shape *shape, int64_t places)
{
    int64_t longest = hs_longest_part(shape);
    longest = longest > 0 ? longest : shape->unit;
    return hs_pipe_cut(shape, longest, longest, places, 1);
}

const char *hs_pipe_unfit(const struct hs_pipe *pipeline, int64_t steps)
{
    if (pipeline->segments == 0)
        return "there is too little shared memory for this number of ranks";
    return pipeline->segments > HS_MOST_STEPS / steps ? "there is too little shared memory for a vector of this length"
                                                      : NULL;
}

static struct hs_span span_of(const struct hs_pipe *pipeline, int64_t begin, int64_t end, int64_t segment)
{
    struct hs_span span = hs_span_equal(end - begin, pipeline->shape->unit, pipeline->segments, segment);
    span.at += begin;
    return span;
}

struct hs_span hs_pipe_span(const struct hs_pipe *pipeline, int64_t segment)
{
    return span_of(pipeline, 0, pipeline->shape->bytes, segment);
}

struct hs_span hs_pipe_part(const struct hs_pipe *pipeline, int rank, int64_t segment)
{
    return span_of(pipeline, hs_part_at(pipeline->shape, rank), hs_part_at(pipeline->shape, rank + 1), segment);
}

int hs_emit_join_of(struct hs_builder *builder, enum hs_kind kind, int first, int after)
{
    int join = hs_emit_join(builder);
    for (int i = first; i < join; i++)
        if (builder->list.step[i].kind == kind)
            hs_after(builder, join, i);
    hs_after(builder, join, after);
    return join;
}

int hs_emit_wait_all(struct hs_builder *builder, const struct hs_shape *shape, int64_t value, int after)
{
    int first = builder->list.steps;
    for (int r = 0; r < shape->size; r++)
        if (r != shape->rank)
            hs_emit_wait(builder, r, value);
    return hs_emit_join_of(builder, HS_WAIT, first, after);
}

int hs_emit_sum_chain(struct hs_builder *builder, struct hs_ref dst, const struct hs_ref *operand, int operands,
                      int64_t count, int after)
{
    int last = after;
    if (count == 0)
        return -1;
    for (int i = 1; i < operands; i++)
        last = hs_emit_reduce(builder, dst, i == 1 ? operand[0] : dst, operand[i], count, last);
    return last;
}

void hs_emit_rounds(struct hs_pipe *pipeline, hs_round *put, hs_round *work, void *state)
{
    int ready = -1;
    for (int64_t segment = 0; segment <= pipeline->segments; segment++) {
        int is_put = segment < pipeline->segments ? put(state, segment, segment >= pipeline->slots ? ready : -1) : -1;
        int done = segment > 0 ? work(state, segment - 1, ready) : -1;
        if (segment == pipeline->segments)
            return;
        hs_emit_signal_next(pipeline->builder, segment + 1, is_put, done);
        ready = hs_emit_wait_all(pipeline->builder, pipeline->shape, segment + 1, pipeline->builder->signalled);
    }
}
