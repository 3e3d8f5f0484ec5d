/*
 * Sums in a tree through shared memory; the total ends in the memory of the tree's owner. On each level every child
 * copies its sum into its own place in its parent's SHARED and signals; the parent adds up these places and its own
 * vector, in rank order, in one pass. If all ranks need the total, the owner stores it in one more place and signals,
 * and the other ranks copy it to their OUT. A rank's own vector is read in place.
 *
 * Two shapes of tree, from Faraji and Afsahi, GPU-Aware Intranode MPI_Allreduce (EuroMPI/ASIA 2014):
 *
 * "shared_buffer", Section 3.1: one level, in which all other ranks are the owner's children. It is meant for devices:
 * one kernel sums the q vectors, but all copies use one rank's memory and one rank computes all sums. Cost: 2 (q-1)
 * copies of m bytes, q-1 at a time, and for the owner (q-1) m gamma and one more copy; 2 successive signals, and s q
 * signals in total for s segments. The reduction: q-1 copies, 1 successive signal.
 *
 * "binomial", Section 3.2: a tree of radix 2^k, that is a binomial tree in which every k levels are merged into one, so
 * that a parent has 2^k - 1 children on a level; the paper's tree has k = 1. A parent has a lower rank than its
 * children, and only ranks at multiples of 2^k need a buffer. Cost with L = ceil(log2 q): ceil(L / k) rounds, in each
 * of which 2^k - 1 children per parent copy m bytes each at the same time and the parent computes (2^k - 1) m gamma; at
 * the end q-1 simultaneous copies of the total, and one by the owner; ceil(L / k) + 1 successive signals.
 *
 * Signal s + 1 of a rank means two things. First, its sum of segment s is in its parent's SHARED (for the owner: the
 * total is in its place), so the places of its children are free again. Second, the rank and its children have copied
 * the previous total from the slot of segment s.
 */
#include "coll/pattern/pipeline.h"
#include "coll/schedule/rows.h"

struct shared_tree {
    struct hs_pipe pipe; /* its places are the owner's: one per child, and one for the total if all need it */
    struct hs_builder *builder;
    int64_t size, me, radix;
    int owner, everybody;   /* everybody: true if all ranks need the total */
    int levels;             /* true for the row "binomial", whose tree has several levels if there are enough ranks */
    struct hs_ref *operand; /* operands of a sum, at most `radix` */
    /* The latest copies, indexed by slot. passed: of this rank's sum to its parent; taken: of the total to OUT. */
    int passed[HS_PIPE_SLOTS], taken[HS_PIPE_SLOTS];
};

enum { BINOMIAL = 1 };

static struct shared_tree tree_of(const struct hs_alg *alg, const struct hs_shape *shape)
{
    struct shared_tree tree = {.size = shape->size,
                               .me = shape->rank,
                               .radix = 2,
                               .owner = alg->collective == HS_REDUCE_TO ? shape->root : 0,
                               .everybody = alg->collective == HS_ALLREDUCE,
                               .levels = alg->variant == BINOMIAL,
                               .passed = {-1, -1},
                               .taken = {-1, -1}};
    int64_t most = shape->bytes, places = tree.everybody;
    for (int k = 1; k < shape->with.pieces && tree.radix < shape->size; k++)
        tree.radix *= 2;
    if (!tree.levels)
        tree.radix = shape->size;
    if (alg->flags & HS_USES_SEGMENT && shape->segment && shape->segment < most)
        most = shape->segment < shape->unit ? shape->unit : shape->segment / shape->unit * shape->unit;
    for (int64_t stride = 1; stride < shape->size; stride *= tree.radix)
        places += hs_min(tree.radix - 1, (shape->size - 1) / stride);
    tree.pipe = hs_pipe_cut(shape, shape->bytes, most, places, 0);
    return tree;
}

static const char *unfit(const struct hs_alg *alg, const struct hs_shape *shape)
{
    const char *why = hs_unfit_shared(alg, shape);
    if (why || shape->bytes == 0)
        return why;
    struct shared_tree tree = tree_of(alg, shape);
    return hs_pipe_unfit(&tree.pipe, tree.levels ? 4 * tree.pipe.places : 2 * tree.size);
}

/* The lowest of the ranks whose sums are added up together with this rank's on a level; they are `stride` apart. */
static int64_t lowest(const struct shared_tree *t, int64_t stride)
{
    return t->me - t->me % (stride * t->radix);
}

static int64_t parent_of(const struct shared_tree *t, int64_t stride)
{
    return t->radix < t->size ? lowest(t, stride) : t->owner;
}

/* The position of the total, the owner's last place. */
static struct hs_ref sum_at(const struct shared_tree *t, int64_t segment)
{
    return hs_pipe_place(&t->pipe, segment, t->pipe.places - 1);
}

/*
 * Adds up the sums of this rank and its children on one level, whose ranks are `stride` apart, after step `after`.
 * *place: number of this rank's places that the levels below use; advanced by the children. Returns the last step.
 */
static int add_children(struct shared_tree *t, int64_t segment, int64_t stride, int *place, int after)
{
    struct hs_span span = hs_pipe_span(&t->pipe, segment);
    int first = t->builder->list.steps, operands = 0;
    int last = t->me == t->owner && stride * t->radix >= t->size;
    struct hs_ref dst = last && t->everybody ? sum_at(t, segment) : hs_out(span.at);
    for (int64_t rank = lowest(t, stride); operands < t->radix && rank < t->size; rank += stride, operands++) {
        if (rank == t->me) {
            t->operand[operands] = stride == 1 ? hs_in(span.at) : hs_out(span.at);
            continue;
        }
        hs_emit_wait(t->builder, (int)rank, segment + 1);
        t->operand[operands] = hs_pipe_place(&t->pipe, segment, (*place)++);
    }
    if (operands == 1)
        return after;
    int ready = hs_emit_join_of(t->builder, HS_WAIT, first, after);
    if (last)
        hs_after(t->builder, ready, t->taken[segment % t->pipe.slots]);
    return hs_emit_sum_chain(t->builder, dst, t->operand, operands, span.count, ready);
}

/* The owner signals that the total is in place, if any rank waits for it, and copies it to OUT if all ranks need it. */
static void publish(struct shared_tree *t, int64_t segment, int summed)
{
    struct hs_span span = hs_pipe_span(&t->pipe, segment);
    int *taken = &t->taken[segment % t->pipe.slots];
    if (t->everybody || segment + t->pipe.slots < t->pipe.segments)
        hs_emit_signal_next(t->builder, segment + 1, summed, -1);
    if (!t->everybody)
        return;
    *taken = hs_emit_copy(t->builder, hs_out(span.at), sum_at(t, segment), span.count, summed);
}

/* Copies the total to OUT if all ranks need it. Returns the WAIT for the total. */
static int take(struct shared_tree *t, int64_t segment)
{
    struct hs_span span = hs_pipe_span(&t->pipe, segment);
    int slot = (int)(segment % t->pipe.slots), there = hs_emit_wait(t->builder, t->owner, segment + 1);
    if (!t->everybody)
        return there;
    t->taken[slot] = hs_emit_copy(t->builder, hs_out(span.at), hs_of(t->owner, sum_at(t, segment)), span.count, there);
    hs_after(t->builder, t->taken[slot], t->passed[slot]);
    return there;
}

/* Copies this rank's sum to its parent, and signals. level: number of the level; stride: distance of its ranks. */
static void pass(struct shared_tree *t, int64_t segment, int64_t level, int64_t stride, int summed, int taken)
{
    struct hs_span span = hs_pipe_span(&t->pipe, segment);
    int64_t parent = parent_of(t, stride), child = (t->me - lowest(t, stride)) / stride;
    int64_t place = level * (t->radix - 1) + child - (t->me > parent);
    int slot = (int)(segment % t->pipe.slots), free = taken;
    if (segment >= t->pipe.slots && parent != t->owner)
        free = hs_emit_wait(t->builder, (int)parent, segment - t->pipe.slots + 1);
    struct hs_ref to = hs_of((int)parent, hs_pipe_place(&t->pipe, segment, place));
    int copy = hs_emit_copy(t->builder, to, summed < 0 ? hs_in(span.at) : hs_out(span.at), span.count, summed);
    hs_after(t->builder, copy, free);
    hs_emit_signal_next(t->builder, segment + 1, copy, t->taken[slot]);
    t->passed[slot] = t->levels ? copy : -1; /* the copy may read OUT, which must stay until it completes */
}

static void reduce(struct shared_tree *t, int64_t segment)
{
    int64_t level = 0, stride = 1;
    int place = 0, summed = -1, taken = -1;
    if (t->me != t->owner && segment >= t->pipe.slots)
        taken = take(t, segment - t->pipe.slots);
    for (; stride < t->size && t->me == parent_of(t, stride); level++, stride *= t->radix)
        summed = add_children(t, segment, stride, &place, summed);
    if (t->me == t->owner)
        publish(t, segment, summed);
    else
        pass(t, segment, level, stride, summed, taken);
}

static void build(struct hs_builder *builder, const struct hs_shape *shape)
{
    struct shared_tree t = tree_of(builder->alg, shape);
    t.builder = t.pipe.builder = builder;
    if (t.pipe.segments == 0)
        hs_builder_fail(builder, HSUMMA_ERR_UNSUPPORTED);
    t.operand = hs_builder_get(builder, (size_t)t.radix, sizeof *t.operand);
    if (!t.operand || t.pipe.segments == 0)
        return;
    for (int64_t segment = 0; segment < t.pipe.segments; segment++)
        reduce(&t, segment);
    int64_t left = t.pipe.segments > t.pipe.slots ? t.pipe.segments - t.pipe.slots : 0;
    for (int64_t segment = left; t.everybody && t.me != t.owner && segment < t.pipe.segments; segment++)
        take(&t, segment);
}

#define FLAGS (HS_SUMS_IN_ORDER | HS_KNOWS_NODES | HS_FOR_DEVICES)
HS_ALG(HS_ALLREDUCE, allreduce_shared_buffer, "shared_buffer", .build = build, .unfit = unfit,
       .flags = FLAGS | HS_USES_SEGMENT,
       .doc = "one node: all copy their vectors into rank 0's memory, rank 0 sums them in one pass, all copy the sum; "
              "Faraji and Afsahi (2014), Section 3.1");
HS_ALG(HS_ALLREDUCE, allreduce_binomial, "binomial", .build = build, .unfit = unfit, .variant = BINOMIAL,
       .flags = FLAGS | HS_USES_PIECES,
       .doc = "one node: tree of radix 2^k to rank 0 (children copy into their parent's memory), all copy the sum; "
              "Faraji and Afsahi (2014), Section 3.2");
HS_ALG(HS_REDUCE_TO, reduce_shared_buffer, "shared_buffer", .build = build, .unfit = unfit,
       .flags = HS_TRUE_ROOT | FLAGS | HS_USES_SEGMENT,
       .doc = "one node: all copy their vectors into the root's memory, and the root sums them in one pass; Faraji and "
              "Afsahi (2014), Section 3.1");
