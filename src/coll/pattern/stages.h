/* Stages of hierarchical collectives: collectives among the ranks of a node, or among one rank of each node. */
#ifndef HS_COLL_PATTERN_STAGES_H
#define HS_COLL_PATTERN_STAGES_H

#include "coll/pattern/embed.h"

/*
 * The choice of a stage's row. The row that the caller named (with.inner, with.outer) is used in every stage whose
 * collective has a row of that name, if that row fits the stage. The default of a broadcast, reduction or
 * allreduce inside a node is "shared" if it fits. Other defaults, inside and between nodes: binomial (broadcast,
 * reduction), recursive_doubling (allreduce; between nodes elimination_32), ring (allgather), pairwise
 * (reduce_scatter).
 *
 * Row "mpi" and rows performed by a function of the caller are never defaults, and are never replaced: if the caller
 * named one for a stage that it cannot perform, the builder fails with HSUMMA_ERR_UNSUPPORTED. They cannot perform
 * allgather and reduce_scatter as stages.
 */

/*
 * The limit of stage numbers. The number of a stage selects its signal values and its share of SHARED. Within a
 * list, stages that may use shared memory have different numbers, which ascend in list order, are equal on all ranks
 * and below HS_STAGES_MOST. No two stages share bytes of SHARED, since peers may still read a rank's SHARED after its
 * stage has ended. As a stage, a row that has stages of its own (HS_USES_LEVEL, HS_USES_OUTER
 * or HS_USES_INNER) runs without shared memory.
 */
enum { HS_STAGES_MOST = HS_SIGNAL_MAX / HS_STAGE_SIGNALS };

struct hs_stage {
    enum hs_collective collective;
    int between;     /* 1 for a stage between nodes (row with.outer), 0 for one inside a node (row with.inner) */
    const int *rank; /* the stage's ranks, in the builder's numbering */
    int size, me;    /* me: index of shape->rank in rank[], -1 if it is not a member */
    int root;        /* index of the root in rank[] */
    int64_t bytes;
    const int64_t *part; /* for allgather and reduce_scatter: the parts of the stage's ranks, as hs_shape.part */
    struct hs_ref in, out;
    int direct;         /* true if in and out are at the same offset of IN, OUT or SHARED on all ranks of the stage */
    int number, stages; /* the stage uses share `number` of `stages` equal shares of SHARED; stages 0: no SHARED */
    int after;          /* step that the stage depends on; -1 if none */
};

/*
 * Emits a stage and returns the step that completes it, or stage->after if it has no steps. *scratch is the offset in
 * SCRATCH where the stage's memory begins; it is advanced to the end of that memory.
 */
int hs_emit_stage(struct hs_builder *builder, const struct hs_shape *shape, const struct hs_stage *stage,
                  int64_t *scratch);

/* True if hs_emit_stage will use the row that the caller named, which exists and fits. */
int hs_stage_is_named(struct hs_builder *builder, const struct hs_shape *shape, const struct hs_stage *stage);

/* A step after which both steps are complete: one of them, or a new JOIN. -1 stands for no step. */
int hs_emit_both(struct hs_builder *builder, int a, int b);

/* The ranks of this rank's node (or socket, according to with.level), and the leaders of all nodes. */
struct hs_two_levels {
    const struct hs_division *division;
    int nodes, node;   /* node: the node of this rank */
    const int *leader; /* leader of each node, indexed by node: the lowest rank, or the root in the root's node */
    int leads;         /* index of this rank in leader[]; -1 if it is not a leader */
    const int *member; /* ranks of this node */
    int members, me;   /* me: index of this rank in member[] */
    int leader_place;  /* index of this node's leader in member[] */
    int root_node;
};

/* Without a topology every rank is its own node. If memory is exhausted, the builder fails and `nodes` is 0. */
struct hs_two_levels hs_two_levels(struct hs_builder *builder, const struct hs_shape *shape);

/*
 * Stages for the entire vector: among the ranks of this node, rooted at the leader (hs_stage_inside), and among the
 * leaders, rooted at the root (hs_stage_between).
 */
struct hs_stage hs_stage_inside(const struct hs_two_levels *on, const struct hs_shape *shape,
                                enum hs_collective collective);
struct hs_stage hs_stage_between(const struct hs_two_levels *on, const struct hs_shape *shape,
                                 enum hs_collective collective);

#endif
