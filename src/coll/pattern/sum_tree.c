#include "coll/pattern/sum_tree.h"

void hs_sum_begin(struct hs_sum *sum, struct hs_builder *builder, int leaves, int64_t count, struct hs_ref dst,
                  int64_t scratch, int after)
{
    *sum = (struct hs_sum){.builder = builder,
                           .leaves = leaves,
                           .count = count,
                           .dst = dst,
                           .scratch = scratch,
                           .after = after,
                           .total = -1};
}

int64_t hs_sum_end(const struct hs_sum *sum)
{
    return sum->scratch + sum->buffers * sum->count;
}

int hs_sum_most_buffers(int leaves)
{
    int levels = 0;
    while ((int64_t)1 << levels < leaves)
        levels++;
    /* per level a waiting partial sum at each end of the range; one buffer that is being received; one spare */
    return 2 * levels + 2;
}

/* Takes the buffer free longest, or a new one if at most `spare` are free: a RECV need not wait for a REDUCE. */
static int take(struct hs_sum *sum, int spare)
{
    int oldest = -1, unused = 0;
    for (int b = 0; b < sum->buffers; b++) {
        if (sum->buffer[b].used)
            continue;
        unused++;
        if (oldest < 0 || sum->buffer[b].free_after < sum->buffer[oldest].free_after)
            oldest = b;
    }
    if (unused <= spare && sum->buffers < HS_SUM_BUFFERS) {
        oldest = sum->buffers++;
        sum->buffer[oldest].free_after = sum->after;
    }
    if (oldest < 0) {
        hs_builder_fail(sum->builder, HSUMMA_ERR_INTERNAL);
        return 0;
    }
    sum->buffer[oldest].used = 1;
    return oldest;
}

static struct hs_ref place(const struct hs_sum *sum, int buffer)
{
    return hs_scratch(sum->scratch + buffer * sum->count);
}

static void release(struct hs_sum *sum, int buffer, int after)
{
    if (buffer >= 0) {
        sum->buffer[buffer].used = 0;
        sum->buffer[buffer].free_after = after;
    }
}

/* Computes left op right: in dst if it is the total, else in a buffer, if possible that of left or right. */
static struct hs_partial_sum join(struct hs_sum *sum, const struct hs_partial_sum *left,
                                  const struct hs_partial_sum *right)
{
    struct hs_partial_sum partial = {left->level + 1, left->index / 2, sum->dst, -1, -1};
    int last = ++sum->joined == sum->leaves - 1, fresh = 0;
    if (!last) {
        fresh = left->buffer < 0 && right->buffer < 0;
        partial.buffer = left->buffer >= 0 ? left->buffer : right->buffer >= 0 ? right->buffer : take(sum, 0);
        partial.at = place(sum, partial.buffer);
    }
    partial.ready = hs_emit_reduce(sum->builder, partial.at, left->at, right->at, sum->count, left->ready);
    hs_after(sum->builder, partial.ready, right->ready);
    if (fresh)
        hs_after(sum->builder, partial.ready, sum->buffer[partial.buffer].free_after);
    if (last)
        hs_after(sum->builder, partial.ready, sum->after);
    if (left->buffer != partial.buffer)
        release(sum, left->buffer, partial.ready);
    if (right->buffer != partial.buffer)
        release(sum, right->buffer, partial.ready);
    return partial;
}

/* Moves the other half of the same tree node to *other. Returns 0 if it is not waiting. */
static int other_half(struct hs_sum *sum, const struct hs_partial_sum *partial, struct hs_partial_sum *other)
{
    for (int i = 0; i < sum->waits; i++)
        if (sum->waiting[i].level == partial->level && sum->waiting[i].index == (partial->index ^ 1)) {
            *other = sum->waiting[i];
            sum->waiting[i] = sum->waiting[--sum->waits];
            return 1;
        }
    return 0;
}

static void arrive(struct hs_sum *sum, struct hs_partial_sum partial)
{
    while ((int64_t)1 << partial.level < sum->leaves) {
        struct hs_partial_sum other;
        if (((int64_t)partial.index ^ 1) << partial.level >= sum->leaves) { /* the right half is empty */
            partial.level++;
            partial.index /= 2;
        } else if (!other_half(sum, &partial, &other)) {
            if (sum->waits < HS_SUM_BUFFERS)
                sum->waiting[sum->waits++] = partial;
            else
                hs_builder_fail(sum->builder, HSUMMA_ERR_INTERNAL);
            return;
        } else {
            partial = partial.index % 2 == 0 ? join(sum, &partial, &other) : join(sum, &other, &partial);
        }
    }
    sum->total = partial.ready;
}

void hs_sum_add(struct hs_sum *sum, int leaf, struct hs_ref at, int ready)
{
    arrive(sum, (struct hs_partial_sum){0, leaf, at, -1, ready});
}

void hs_sum_receive(struct hs_sum *sum, int leaf, int peer)
{
    int buffer = take(sum, 1);
    int receive = hs_emit_recv(sum->builder, peer, place(sum, buffer), sum->count, sum->buffer[buffer].free_after);
    arrive(sum, (struct hs_partial_sum){0, leaf, place(sum, buffer), buffer, receive});
}
