/*
 * The algorithms of Rabenseifner and Traeff, More Efficient Reduction Algorithms for Non-power-of-two Number of
 * Processors in Message-Passing Parallel Systems (2004), as one engine.
 *
 * A plan is the list of exchange steps (Fig. 1 of the paper, "levels" here).  Before level z the ranks form an ordered
 * row of groups; a group stands for a range of consecutive ranks, and each of its active members holds the sum of that
 * range for its piece of the vector.  Members with the same index hold the same piece in all groups.  A level joins
 * runs of neighbouring groups (clusters); members of equal index of a cluster work together:
 *   exchange of r   the piece is cut in r and everybody keeps one cut (m' > b), or is exchanged whole (m' <= b).
 *                   r = 2: the butterfly.  If the number of groups is odd then, the first three make a 3-2 elimination
 *                   step (the third group leaves), so levels of two are the overlapping protocol of Section 3.2.
 *   elimination     some pairs of groups, in which the second sends its piece whole and leaves (2-1 elimination).
 * The reduction phase goes up the levels; the routing phase goes down again and gives every member what the ranks of
 * its group need: everything (allreduce), everything if the root is among them (reduce), their parts (reduce_scatter).
 *
 * The bracketing of a sum is a property of the plan alone, not of the piece, the threshold or the root.
 */
#ifndef HS_COLL_RABENSEIFNER_TRAFF_RT_H
#define HS_COLL_RABENSEIFNER_TRAFF_RT_H

#include "coll/schedule/registry.h"

enum { RT_LEVELS = 64 };

enum rt_kind { RT_EXCHANGE, RT_ELIMINATE };

struct rt_level {
    enum rt_kind kind;
    int groups;      /* before it */
    int ways;        /* EXCHANGE: groups in a cluster */
    int skip, pairs; /* ELIMINATE: groups that pass before the first pair; pairs */
};

struct rt_plan {
    struct rt_level level[RT_LEVELS];
    int levels;
    int groups; /* after the last level: as many as ranks at first, 1 when the plan is complete */
};

/* levels.c: making plans, which begin without levels.  None of them adds a level that does nothing. */
void rt_exchange(struct rt_plan *plan, int ways);
void rt_eliminate(struct rt_plan *plan, int skip, int pairs);
/* Exchanges of two while the number of groups is even / until one group is left (with 3-2 elimination). */
void rt_halve_while_even(struct rt_plan *plan);
void rt_halve(struct rt_plan *plan);

/* Groups: the cluster of a group and its place in it, the first group of a cluster; a cluster is a group one level up.
 */
int rt_cluster(const struct rt_level *level, int group, int *place);
int rt_first(const struct rt_level *level, int cluster);
/* Rank of the active member `index` of a group before level z, and the first of the ranks that the group stands for. */
int rt_rank(const struct rt_plan *plan, int z, int group, int index);
int rt_first_rank(const struct rt_plan *plan, int z, int group);

/* Whether a piece is cut in `ways`: it is longer than b, and there is an element for everybody. */
int rt_cuts(const struct hs_shape *shape, int64_t bytes, int ways);

/* What a rank's part in a level is. */
enum rt_step { RT_PASS, RT_RING, RT_32, RT_21 };

struct rt_visit {
    enum rt_step step;
    int z, first, size; /* groups first .. first + size of the level z make the cluster */
    int place;          /* of the own group among them */
    int index;          /* of the member in its group */
    int cut;            /* the piece is cut, else taken whole */
    int64_t lo, hi;     /* the piece before the level: bytes of the vector */
    int sent;           /* the last SEND of the reduction phase in this level */
};

/* Rank of the member in cluster place `place`. */
static inline int rt_mate(const struct rt_plan *plan, const struct rt_visit *visit, int place)
{
    return rt_rank(plan, visit->z, visit->first + place, visit->index);
}
/* Where cut i of the piece begins; cut i is what cluster place i keeps. */
static inline int64_t rt_cut_at(const struct hs_shape *shape, const struct rt_visit *visit, int i)
{
    return visit->lo + hs_part_equal(visit->hi - visit->lo, shape->unit, visit->step == RT_RING ? visit->size : 2, i);
}
static inline int rt_leaves(const struct rt_visit *visit)
{
    return (visit->step == RT_32 && visit->place == 2) || (visit->step == RT_21 && visit->place == 1);
}

/* A rank's list while it is built. */
struct rt_state {
    struct hs_builder *builder;
    const struct hs_shape *shape;
    const struct rt_plan *plan;
    enum hs_collective collective;
    struct rt_visit visit[RT_LEVELS];
    int visits;
    struct hs_ref work; /* where the vector lies, whole: sums end there, results arrive there */
    struct hs_ref sum;  /* where the current sum is: IN at first, then work */
    int64_t area[2];    /* two places in scratch for operands, used in turn */
    int area_free[2], areas;
    int *got; /* RECVs of a level by cluster place */
    int have; /* step that completes the current sum (or result) of the piece */
    int sent; /* the last SEND: one message at a time on the link */
};

/* reduction.c, routing.c: the two phases. */
void rt_reduce_level(struct rt_state *state, struct rt_visit *visit);
void rt_route_level(struct rt_state *state, const struct rt_visit *visit);

/* build.c: steps that both phases use. */
void rt_send(struct rt_state *state, int peer, struct hs_ref source, int64_t count, int after);
/* The next area and, in *turn, the number under which rt_release gives it back once `step` is done. */
struct hs_ref rt_take(struct rt_state *state, int *turn);
/*
 * Bruck's allgather (Bruck et al. 1997) among the `visit->size` members of a cluster: ceil(log2 size) rounds.  Blocks
 * stand in `area` in ring order from the own one on, which is there once `own` is done; offset[i] is where block i
 * begins.  Writes the RECVs to state->got and returns their number.
 */
int rt_bruck(struct rt_state *state, const struct rt_visit *visit, struct hs_ref area, int free, const int64_t *offset,
             int own);
/* The list of shape->rank for the collective of builder->alg, by the plan. */
void rt_build(struct hs_builder *builder, const struct hs_shape *shape, const struct rt_plan *plan);

#endif
