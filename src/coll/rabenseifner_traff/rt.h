/*
 * The algorithms of Rabenseifner and Traeff, More Efficient Reduction Algorithms for Non-power-of-two Number of
 * Processors in Message-Passing Parallel Systems (2004), as one engine.
 *
 * A plan is the list of exchange steps (Fig. 1 of the paper), called levels here. Before level z the ranks form an
 * ordered sequence of groups. A group represents a range of consecutive ranks, and each of its active members has the
 * sum of that range for its piece of the vector. Members with the same index have the same piece in all groups. A level
 * joins runs of adjacent groups (clusters); the members of equal index in a cluster cooperate:
 *   - exchange of r: the piece, of m' bytes, is cut into r and each member keeps one cut (m' > b), or it is exchanged
 *     undivided (m' <= b, or m' has fewer than r elements). r = 2 is the butterfly. With r = 2 and an odd number of
 *     groups, the first three perform a 3-2 elimination step, after which the third group is inactive; successive
 *     levels of this kind form the overlapping protocol of Section 3.2.
 *   - elimination: in some pairs of groups the second group sends its piece undivided and becomes inactive (2-1
 *     elimination).
 *
 * The reduction phase ascends the levels. The routing phase descends them and sends every member the bytes that the
 * ranks of its group need: the entire result (allreduce; reduce if the root is among them), or their parts
 * (reduce_scatter).
 *
 * The bracketing of a sum depends on the plan alone, not on the piece, the threshold or the root.
 */
#ifndef HS_COLL_RABENSEIFNER_TRAFF_RT_H
#define HS_COLL_RABENSEIFNER_TRAFF_RT_H

#include "coll/schedule/registry.h"

enum { RT_LEVELS = 64 };

enum rt_kind { RT_EXCHANGE, RT_ELIMINATE };

struct rt_level {
    enum rt_kind kind;
    int groups;      /* number of groups before the level */
    int ways;        /* EXCHANGE: number of groups in a cluster, except the one of a 3-2 step; ELIMINATE: 1 */
    int skip, pairs; /* ELIMINATE: number of groups before the first pair; number of pairs */
};

struct rt_plan {
    struct rt_level level[RT_LEVELS];
    int levels;
    int groups; /* number of groups after the last level: initially the number of ranks, finally 1 */
};

/* levels.c builds plans. rt_exchange and rt_eliminate add a level, unless it would have no effect. */
void rt_exchange(struct rt_plan *plan, int ways);
void rt_eliminate(struct rt_plan *plan, int skip, int pairs);
/* Exchanges in pairs while the number of groups is even; or, with 3-2 elimination, until one is left. */
void rt_halve_while_even(struct rt_plan *plan);
void rt_halve(struct rt_plan *plan);

/* The smallest prime factor of an odd number; 1 for 1. */
int rt_odd_factor(int number);
/*
 * The combination (Section 3.6): the butterfly for 2^n, then, for the odd factor of p, the plan that the parameters
 * rings and rest specify; 3-2 elimination if rest is HS_REST_CHOSEN.
 */
void rt_combine(struct rt_plan *plan, const struct hs_shape *shape);
/*
 * Sets those of rings, rest and b that are 0 to the cheapest values for an allreduce (combination.c). If prices is
 * NULL, uses those of the built-in profile between nodes.
 */
void rt_complete(const struct hs_shape *shape, const struct hs_prices *prices, struct hs_parameters *with);

/*
 * A cluster becomes a group of the next level. rt_cluster returns the cluster of a group and sets *place to the group's
 * position in it; rt_first returns the first group of a cluster.
 */
int rt_cluster(const struct rt_level *level, int group, int *place);
int rt_first(const struct rt_level *level, int cluster);
/* The rank of active member `index` of a group before level z; that of member 0 is the lowest of the group. */
int rt_rank(const struct rt_plan *plan, int z, int group, int index);

/* True if a piece is cut: longer than b (shape->with.threshold or its default), with at least `ways` elements. */
int rt_cuts(const struct hs_shape *shape, int64_t bytes, int ways);

/* The role of a rank in a level. */
enum rt_step { RT_PASS, RT_RING, RT_32, RT_21 };

struct rt_visit {
    enum rt_step step;
    int z, first, size; /* the cluster is groups first .. first + size - 1 of level z */
    int place;          /* position of this rank's group in the cluster */
    int index;          /* index of this rank in its group */
    int cut;            /* true if the piece is cut, false if it is exchanged undivided */
    int64_t lo, hi;     /* the piece before the level: byte offsets in the vector */
    int sent;           /* the last SEND of the reduction phase up to the end of this level */
};

/* The rank that this rank cooperates with in group `place` of the cluster. */
static inline int rt_mate(const struct rt_plan *plan, const struct rt_visit *visit, int place)
{
    return rt_rank(plan, visit->z, visit->first + place, visit->index);
}
/* The byte offset of cut i of the piece, which the member in group i of the cluster keeps. */
static inline int64_t rt_cut_at(const struct hs_shape *shape, const struct rt_visit *visit, int i)
{
    return visit->lo + hs_part_equal(visit->hi - visit->lo, shape->unit, visit->step == RT_RING ? visit->size : 2, i);
}
static inline int rt_leaves(const struct rt_visit *visit)
{
    return (visit->step == RT_32 && visit->place == 2) || (visit->step == RT_21 && visit->place == 1);
}

/* State while a rank's list is built. */
struct rt_state {
    struct hs_builder *builder;
    const struct hs_shape *shape;
    const struct rt_plan *plan;
    enum hs_collective collective;
    struct rt_visit visit[RT_LEVELS];
    int visits;
    struct hs_ref work; /* buffer for an entire vector, in which sums are computed and results received */
    struct hs_ref sum;  /* position of the current sum: IN at first, then work */
    int64_t area[2];    /* offsets in SCRATCH of two areas for operands, used alternately */
    int area_free[2], areas;
    int *got; /* RECVs of a level, indexed by place in the cluster or by round */
    int have; /* step that completes this rank's piece of the current sum, or of the result in the routing phase */
    int sent; /* the last SEND, on which the next one depends so that one message at a time uses the link */
};

/* The two phases, in reduction.c and routing.c. */
void rt_reduce_level(struct rt_state *state, struct rt_visit *visit);
void rt_route_level(struct rt_state *state, const struct rt_visit *visit);

/* Steps used in both phases, in build.c. */
void rt_send(struct rt_state *state, int peer, struct hs_ref source, int64_t count, int after);
/* Returns the next area. The caller must set area_free[*turn] to the last step that uses the area. */
struct hs_ref rt_take(struct rt_state *state, int *turn);
/*
 * Bruck's allgather (Bruck et al. 1997) among the `visit->size` members of a cluster: ceil(log2 size) rounds. Blocks
 * are in `area` in ring order, beginning with this rank's own, which step `own` completes; block i begins at offset[i].
 * Stores the RECVs, which depend on step `free`, in state->got and returns their number.
 */
int rt_bruck(struct rt_state *state, const struct rt_visit *visit, struct hs_ref area, int free, const int64_t *offset,
             int own);
/* Builds the list of shape->rank for the collective of builder->alg, following the plan. */
void rt_build(struct hs_builder *builder, const struct hs_shape *shape, const struct rt_plan *plan);

#endif
