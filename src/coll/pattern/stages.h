/* Stages of hierarchical collectives: a collective among the ranks of a node, or among one rank of each node. */
#ifndef HS_COLL_PATTERN_STAGES_H
#define HS_COLL_PATTERN_STAGES_H

#include "coll/pattern/embed.h"

/*
 * How the row of a stage is chosen. The row that the caller named (with.inner, with.outer) is used in every stage whose
 * collective has a row of that name, unless it does not fit there. Default inside a node: "shared" if there is shared
 * memory. Otherwise, inside and between nodes: binomial (broadcast, reduction), recursive_doubling (allreduce; between
 * nodes elimination_32), ring (allgather), pairwise (reduce_scatter).
 */

/*
 * Stages of one list have different numbers, which select their signal values and shares of SHARED. Numbers ascend in
 * list order, are equal on all ranks and below HS_STAGES_MOST. No two stages share bytes of SHARED, since peers may
 * still read a rank's SHARED after its stage has ended. A row with stages of its own runs without shared memory.
 */
enum { HS_STAGES_MOST = HS_SIGNAL_MAX / HS_STAGE_SIGNALS };

struct hs_stage {
    enum hs_collective collective;
    int between;     /* 1: between nodes (with.outer); 0: inside one (with.inner) */
    const int *rank; /* the stage's ranks, in the builder's numbering */
    int size, me;    /* me: index of shape->rank in rank[]; -1: not a member */
    int root;        /* index of the root in rank[] */
    int64_t bytes;
    const int64_t *part; /* allgather, reduce_scatter: as hs_shape.part, for the stage's ranks */
    struct hs_ref in, out;
    int direct;         /* in and out are at the same place of IN, OUT or SHARED on all ranks of the stage */
    int number, stages; /* uses share `number` of `stages` equal shares of SHARED; stages = 0: no shared memory */
    int after;          /* step that the stage depends on; -1: none */
};

/*
 * Emits a stage and returns the step that completes it, or `after` if there is nothing to do. *scratch is where its
 * scratch begins; it is moved to the end of it.
 */
int hs_emit_stage(struct hs_builder *builder, const struct hs_shape *shape, const struct hs_stage *stage,
                  int64_t *scratch);

/* Whether hs_emit_stage will use the row that the caller named: the stage's collective has it and it fits. */
int hs_stage_is_named(struct hs_builder *builder, const struct hs_shape *shape, const struct hs_stage *stage);

/* The step after which both steps are complete, a JOIN if need be; -1 stands for no step. */
int hs_emit_both(struct hs_builder *builder, int a, int b);

/* The ranks of this rank's node (or socket: with.level), and the leaders of all nodes. */
struct hs_two_levels {
    int nodes, node;   /* node: this rank's */
    const int *leader; /* of each node: its lowest rank, but in the root's node the root */
    int leads;         /* index of this rank in leader[]; -1: it is no leader */
    const int *member; /* ranks of this node */
    int members, me;   /* me: index of this rank in member[] */
    int leader_place;  /* index of this node's leader in member[] */
    int root_node;
};

/* Without a topology every rank is its own node. */
struct hs_two_levels hs_two_levels(struct hs_builder *builder, const struct hs_shape *shape);

/* A stage of the whole vector among this node's ranks, rooted at the leader, and one among the leaders. */
struct hs_stage hs_stage_inside(const struct hs_two_levels *on, const struct hs_shape *shape,
                                enum hs_collective collective);
struct hs_stage hs_stage_between(const struct hs_two_levels *on, const struct hs_shape *shape,
                                 enum hs_collective collective);

#endif
