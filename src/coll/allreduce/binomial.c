/*
 * Allreduce on one node, binomial reduction and broadcast in shared memory: on each level of the tree the ranks that
 * are odd there copy their sums into the SHARED of their even neighbours, which add them up; in the end rank 0 puts the
 * sum of all into its SHARED, and the others copy it out.
 *
 * Parameter k: the reduction is put off over k levels, so that a parent gets the vectors of 2^k - 1 children into
 * places of their own and adds them up in one go: a tree of radix 2^k, with fewer and larger pieces of work.  k = 1 is
 * the paper's.  Any number of ranks; a parent's range of ranks lies left of its children's.  Only ranks at multiples of
 * 2^k need a buffer: half of them at most.
 *
 * A vector for which the buffer has not enough room goes through it in chunks, two of them at a time.  The signal c + 1
 * of a rank tells that its sum of chunk c is at its parent's (rank 0: that the sum of all is there), so the places of
 * its children are free again; and that it and its children have copied out the sum that lies where that of chunk c is
 * to go.
 *
 * Cost with L = ceil(log2 q) levels: ceil(L / k) rounds of one copy of m bytes, at 2^k - 1 ranks per parent at a time,
 * and (2^k - 1) m gamma; then one copy, and q-1 at a time: L + 1 signals deep for k = 1.  Faraji and Afsahi, GPU-Aware
 * Intranode MPI_Allreduce (EuroMPI/ASIA 2014), Section 3.2; a rank's own vector is read where it is, which the paper
 * copies first.
 */
#include "coll/pattern/sum_chain.h"
#include "coll/schedule/rows.h"

struct tree {
    int64_t radix, chunks, pitch; /* pitch: bytes of a place */
    int slots, places;            /* places of a slot, as rank 0 needs them: one for each child, and one for the sum */
};

struct binomial {
    struct hs_builder *builder;
    const struct hs_shape *shape;
    struct tree tree;
    struct hs_ref *operand; /* of a sum: `radix` at most */
    int signalled;
    int passed[2], taken[2]; /* per slot: the last copies, of the own sum to the parent, of the sum of all to OUT */
};

/* No chunk if there is too little room. */
static struct tree tree_of(const struct hs_shape *shape)
{
    int64_t shared_bytes = shape->topology->shared_bytes, unit = shape->unit, most = shape->bytes;
    struct tree tree = {.radix = 2, .slots = 1, .places = 1};
    for (int k = 1; k < shape->with.pieces && tree.radix < shape->size; k++)
        tree.radix *= 2;
    for (int64_t stride = 1; stride < shape->size; stride *= tree.radix)
        tree.places += (int)hs_least(tree.radix - 1, (shape->size - 1) / stride);
    if (hs_place_bytes(most, unit) > shared_bytes / tree.places) {
        tree.slots = shared_bytes / 2 / tree.places >= unit ? 2 : 1;
        most = hs_least(most, hs_place_within(shared_bytes / tree.slots / tree.places, unit));
    }
    if (most == 0)
        return tree;
    tree.chunks = (shape->bytes + most - 1) / most;
    tree.pitch = hs_least(hs_place_bytes(most, unit), shared_bytes / tree.slots / tree.places / unit * unit);
    return tree;
}

static const char *unfit(const struct hs_shape *shape)
{
    const char *why = hs_unfit_shared(shape);
    if (why || shape->bytes == 0)
        return why;
    struct tree tree = tree_of(shape);
    if (tree.chunks == 0)
        return "there is too little shared memory for so many children";
    return tree.chunks > HS_MOST_STEPS / 4 / tree.places ? "there is too little shared memory for so long a vector"
                                                         : NULL;
}

static int64_t chunk_at(const struct binomial *b, int64_t chunk)
{
    return hs_part_equal(b->shape->bytes, b->shape->unit, b->tree.chunks, chunk);
}

static int64_t chunk_bytes(const struct binomial *b, int64_t chunk)
{
    return chunk_at(b, chunk + 1) - chunk_at(b, chunk);
}

/* Children have the first places of their parent, by rank; the sum of all has rank 0's last one. */
static struct hs_ref place_of(const struct binomial *b, int64_t chunk, int64_t place)
{
    return hs_shared((chunk % b->tree.slots * b->tree.places + place) * b->tree.pitch);
}

static void announce(struct binomial *b, int64_t chunk, int done, int also)
{
    int signal = hs_emit_signal(b->builder, chunk + 1);
    hs_after(b->builder, signal, done);
    hs_after(b->builder, signal, also);
    hs_after(b->builder, signal, b->signalled);
    b->signalled = signal;
}

/* Adds up the children of one level, whose ranks are `stride` apart, once `after` is done.  Returns the last step. */
static int add_children(struct binomial *b, int64_t chunk, int64_t stride, int *place, int after)
{
    int64_t me = b->shape->rank;
    int first = b->builder->list.steps, children = 0;
    int last = me == 0 && stride * b->tree.radix >= b->shape->size;
    struct hs_ref own = hs_out(chunk_at(b, chunk));
    b->operand[0] = stride == 1 ? hs_in(chunk_at(b, chunk)) : own;
    while (children < b->tree.radix - 1 && me + (children + 1) * stride < b->shape->size) {
        hs_emit_wait(b->builder, (int)(me + ++children * stride), chunk + 1);
        b->operand[children] = place_of(b, chunk, (*place)++);
    }
    if (children == 0)
        return after;
    int ready = hs_emit_join(b->builder);
    for (int i = 0; i < children; i++)
        hs_after(b->builder, ready, first + i);
    hs_after(b->builder, ready, after);
    if (last)
        hs_after(b->builder, ready, b->taken[chunk % b->tree.slots]);
    return hs_emit_sum_chain(b->builder, last ? place_of(b, chunk, b->tree.places - 1) : own, b->operand, children + 1,
                             chunk_bytes(b, chunk), ready);
}

/* The sum of all, to OUT.  Returns the WAIT for it. */
static int take(struct binomial *b, int64_t chunk)
{
    int slot = (int)(chunk % b->tree.slots), there = hs_emit_wait(b->builder, 0, chunk + 1);
    struct hs_ref sum = hs_of(0, place_of(b, chunk, b->tree.places - 1));
    b->taken[slot] = hs_emit_copy(b->builder, hs_out(chunk_at(b, chunk)), sum, chunk_bytes(b, chunk));
    hs_after(b->builder, b->taken[slot], there);
    hs_after(b->builder, b->taken[slot], b->passed[slot]);
    return there;
}

/* The own sum, to the parent; level: its number, stride: of the ranks on it. */
static void pass(struct binomial *b, int64_t chunk, int64_t level, int64_t stride, int summed, int taken)
{
    int64_t me = b->shape->rank, parent = me - me % (stride * b->tree.radix);
    int64_t place = level * (b->tree.radix - 1) + (me - parent) / stride - 1;
    int slot = (int)(chunk % b->tree.slots), free = taken;
    if (chunk >= b->tree.slots && parent > 0)
        free = hs_emit_wait(b->builder, (int)parent, chunk - b->tree.slots + 1);
    struct hs_ref from = summed < 0 ? hs_in(chunk_at(b, chunk)) : hs_out(chunk_at(b, chunk));
    int copy = hs_emit_copy(b->builder, hs_of((int)parent, place_of(b, chunk, place)), from, chunk_bytes(b, chunk));
    hs_after(b->builder, copy, summed);
    hs_after(b->builder, copy, free);
    announce(b, chunk, copy, b->taken[slot]);
    b->passed[slot] = copy;
}

static void reduce(struct binomial *b, int64_t chunk)
{
    int64_t me = b->shape->rank, level = 0, stride = 1;
    int slot = (int)(chunk % b->tree.slots), place = 0, summed = -1, taken = -1;
    if (me > 0 && chunk >= b->tree.slots)
        taken = take(b, chunk - b->tree.slots);
    for (; stride < b->shape->size && me % (stride * b->tree.radix) == 0; level++, stride *= b->tree.radix)
        summed = add_children(b, chunk, stride, &place, summed);
    if (me > 0) {
        pass(b, chunk, level, stride, summed, taken);
        return;
    }
    announce(b, chunk, summed, -1);
    b->taken[slot] = hs_emit_copy(b->builder, hs_out(chunk_at(b, chunk)), place_of(b, chunk, b->tree.places - 1),
                                  chunk_bytes(b, chunk));
    hs_after(b->builder, b->taken[slot], summed);
}

static void build(struct hs_builder *builder, const struct hs_shape *shape)
{
    struct binomial b = {builder, shape, .signalled = -1, .passed = {-1, -1}, .taken = {-1, -1}};
    b.tree = tree_of(shape);
    if (b.tree.chunks == 0)
        hs_builder_fail(builder, HSUMMA_ERR_UNSUPPORTED);
    b.operand = hs_builder_get(builder, (size_t)b.tree.radix, sizeof *b.operand);
    if (!b.operand || b.tree.chunks == 0)
        return;
    for (int64_t chunk = 0; chunk < b.tree.chunks; chunk++)
        reduce(&b, chunk);
    int64_t left = b.tree.chunks > b.tree.slots ? b.tree.chunks - b.tree.slots : 0;
    for (int64_t chunk = left; shape->rank > 0 && chunk < b.tree.chunks; chunk++)
        take(&b, chunk);
}

HS_ALG(HS_ALLREDUCE, allreduce_binomial, "binomial", .build = build, .unfit = unfit,
       .flags = HS_SUMS_IN_ORDER | HS_KNOWS_NODES | HS_FOR_DEVICES | HS_USES_PIECES,
       .doc = "one node: tree of radix 2^k to rank 0 (children copy into their parent's memory), all copy the sum; "
              "Faraji and Afsahi (2014), Section 3.2");
