/* Stages of hierarchical collectives: a collective among some of the ranks, those of a node or one of each node. */
#ifndef HS_COLL_PATTERN_STAGES_H
#define HS_COLL_PATTERN_STAGES_H

#include "coll/pattern/embed.h"

/*
 * The row of a stage is chosen so.  The row that the caller named (with.inner, with.outer) counts for every stage that
 * has a row of that name in its collective, and gives way to the default where it does not fit.  Default inside a node:
 * "shared" if there is shared memory, else as between nodes: binomial (broadcast, reduction), recursive_doubling
 * (allreduce; between nodes elimination_32), ring (allgather), pairwise (reduce_scatter).
 */

/*
 * Where a stage keeps its signals and its shared memory: stages of one list have different numbers, ascending in list
 * order on every rank and alike on all of them, below HS_STAGES_MOST.  Every number has its own bytes of SHARED, since
 * the end of a stage on one rank does not mean that its peers have read all of its memory.  A row that has stages
 * itself runs without shared memory.
 */
enum { HS_STAGES_MOST = HS_SIGNAL_MAX / HS_STAGE_SIGNALS };

struct hs_stage {
    enum hs_collective collective;
    int between;     /* nodes: with.outer; 0: inside one, with.inner */
    const int *rank; /* its ranks, as the builder numbers them */
    int size, me;    /* me: place of shape->rank among them; -1: not in this stage */
    int root;        /* place of the root */
    int64_t bytes;
    const int64_t *part; /* allgather, reduce_scatter: like hs_shape.part, of the stage's ranks */
    struct hs_ref in, out;
    int direct;         /* in and out are the same bytes of IN, OUT or SHARED on all ranks of the stage */
    int number, stages; /* number-th of `stages` equal shares of the shared memory; stages = 0: without it */
    int after;          /* step that it waits for; -1: none */
};

/*
 * Emits a stage: returns the step that is done when it is (`after` if there is nothing to do), and moves *scratch,
 * where its scratch begins, to the end of it.
 */
int hs_emit_stage(struct hs_builder *builder, const struct hs_shape *shape, const struct hs_stage *stage,
                  int64_t *scratch);

/* Whether the row that the caller named serves the stage, a row of its collective, so that hs_emit_stage takes it. */
int hs_stage_is_named(struct hs_builder *builder, const struct hs_shape *shape, const struct hs_stage *stage);

/* The step after which both are done, a JOIN if need be; -1 stands for nothing to wait for. */
int hs_emit_both(struct hs_builder *builder, int a, int b);

/* The ranks of the own node, or socket (with.level), and one of every node. */
struct hs_two_levels {
    int nodes, node;   /* node: the own one */
    const int *leader; /* of every node: its lowest rank; of the root's node: the root */
    int leads;         /* the place among the leaders; -1: not one of them */
    const int *member; /* of the own node */
    int members, me;   /* me: place in the own node */
    int leader_place;  /* of the own node's leader */
    int root_node;
};

/* Without a topology every rank is a node of its own. */
struct hs_two_levels hs_two_levels(struct hs_builder *builder, const struct hs_shape *shape);

/* Stages of the whole vector among the own node's ranks, whose root is the leader, and among the leaders. */
struct hs_stage hs_stage_inside(const struct hs_two_levels *on, const struct hs_shape *shape,
                                enum hs_collective collective);
struct hs_stage hs_stage_between(const struct hs_two_levels *on, const struct hs_shape *shape,
                                 enum hs_collective collective);

#endif
