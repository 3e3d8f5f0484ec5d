/*
 * The multiplication as the loops see it, and the spec that says how to execute it.
 *
 * C is m x n, op(A) m x k, op(B) k x n.  A variant is a row in a table: stationary X pins X's two dimensions to the
 * grid axes on which X lies, and loops over the third dimension.
 */
#ifndef HS_SUMMA_PROBLEM_H
#define HS_SUMMA_PROBLEM_H

#include "base/scalar.h"
#include "base/trace.h"
#include "coll/schedule/registry.h"
#include "dist/grid.h"
#include "dist/view.h"
#include "summa/local/local.h"

enum hs_operand { HS_A, HS_B, HS_C };

struct hs_problem {
    const struct hs_scalar *scalar;
    int64_t extent[3]; /* m, n, k */
    struct hs_view view[3];
    struct hs_grid grid;
    struct hs_local *local; /* does the local products; NULL: the BLAS does */
    struct hs_trace *trace; /* NULL: nothing is recorded */
};

/* The role of one operand in a variant. */
struct hs_role {
    int moves;     /* 0 for the stationary operand; the other fields are for moving operands */
    int pinned;    /* the dimension that it shares with the stationary operand */
    int own_axis;  /* grid axis of the pinned dimension in this operand */
    int want_axis; /* grid axis of the pinned dimension in the stationary operand */
    int exchanged; /* own_axis and want_axis, or the layouts on them, differ: panels pass through an exchange */
    /* Of an exchange: most indices of the pinned dimension that a process packs for others, and takes from them; [1]:
     * with spread (hs_spec). */
    int64_t give_max[2], take_max[2];
    /* Of an exchange: each taker has a single holder, whose message is the panel as the taker stores it. */
    int direct;
    /* Processes that hold the same indices of the pinned dimension, any of which may send them; 1: not replicated. */
    int replicas;
    int line_axis; /* broadcasts and reductions run along this grid axis, which is not want_axis */
    int loop_axis; /* stored axis of the looped dimension; 0: panels are width x length, 1: length x width */
    const struct hs_axis *own, *want, *looped;
};

struct hs_variant {
    int stationary, looped;
    struct hs_role role[3];
    const struct hs_axis *axis[3]; /* the pinned dimensions as the stationary operand has them; NULL for looped */
    int axis_of[3];                /* grid axis of each pinned dimension */
};

/* The dimensions of op(X): rows, columns. */
extern const int hs_operand_dims[3][2];

/*
 * Makes the variant with the given stationary operand.  HSUMMA_ERR_UNSUPPORTED for replicated operands: a replicated A
 * or B cannot be stationary (sums would count it several times), and a replicated C cannot move.
 */
hsumma_status hs_variant_make(const struct hs_problem *problem, int stationary, struct hs_variant *variant,
                              struct hs_message *message);

/* All choices about one multiplication: the planner makes them, this layer executes them. */
struct hs_spec {
    int stationary;
    int levels;
    struct hs_factors factors[2]; /* of the grid's rows and columns into levels */
    int64_t width[HS_LEVELS_MAX]; /* panel width of each level, outermost first; each is a multiple of the next */
    /* Indices that a pair of owners contributes before the next pair does: a multiple of width[0], or HS_WHOLE_TURN
     * (panels.h). */
    int64_t turn;
    /* For each axis, number of neighbours on a line that share a node, the same on all lines: turns alternate between
     * nodes.  0: not known. */
    int mates[2];
    /* reduce: algorithms of HS_REDUCE_TO or HS_ALLREDUCE. */
    const struct hs_alg *bcast[HS_LEVELS_MAX], *reduce[HS_LEVELS_MAX];
    struct hs_parameters bcast_with[HS_LEVELS_MAX], reduce_with[HS_LEVELS_MAX];
    int64_t segment;
    int lookahead;
    /* Without lookahead: number of outermost panels in a batch, each of another pair of owners if turns are that short;
     * 0 means 1. */
    int owners;
    /* Exchanged panels of A and B go directly to all members of their lines, not to a root that broadcasts them. */
    int spread;
    int64_t slice; /* flops of one slice of the local GEMM, between progress calls; INT64_MAX: not cut */
    int threads;   /* of the local BLAS; 0: leave as set */
    /* Members of a line on one node share its panels, and send none to each other (hs_spec_shares). */
    int cells;
    /* HS_NODE_MESSAGES: all of the above applies.  Else node.h executes, with one level, width[0] and lookahead. */
    int node;
    int chunked;   /* in node.h: the operand passed in chunks */
    int64_t chunk; /* indices of its pinned dimension per chunk */
};

/* Indices that may be in flight beyond the panel being multiplied. */
static inline int64_t hs_spec_ahead(const struct hs_spec *spec)
{
    return spec->owners > 1 ? (spec->owners - 1) * spec->width[0] : spec->lookahead * spec->width[spec->levels - 1];
}

/* Whether cells share the panels of a moving operand.  They do not if one of its algorithms uses the topology: that one
 * runs over all members of the line. */
static inline int hs_spec_shares(const struct hs_spec *spec, int operand)
{
    const struct hs_alg *const *alg = operand == HS_C ? spec->reduce : spec->bcast;
    int shares = spec->cells;
    for (int l = 0; l < spec->levels; l++)
        shares = shares && !(alg[l] && alg[l]->flags & HS_USES_TOPOLOGY);
    return shares;
}

#endif
