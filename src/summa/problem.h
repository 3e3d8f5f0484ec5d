/*
 * The multiplication as the loop sees it, and how it is to be done.
 *
 * Dimensions: C is m x n, op(A) m x k, op(B) k x n.  A variant is a row in a table: stationary X pins X's two
 * dimensions to the axes of the grid on which X lies and loops over the third dimension.
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
    struct hs_local *local; /* how this process multiplies; NULL: by its BLAS */
    struct hs_trace *trace; /* NULL: nothing is recorded */
};

/* How one operand takes part. */
struct hs_role {
    int moves;     /* 0 for the stationary operand; the rest is for those that move */
    int pinned;    /* its dimension that the stationary operand shares ... */
    int own_axis;  /* ... the grid axis on which it lies in this operand ... */
    int want_axis; /* ... and in the stationary one */
    int exchanged; /* these axes differ, or the layouts on them: the panel passes once through an exchange */
    /* of an exchange: lines that a process packs for others and takes from them at most; [1]: spread (hs_spec) */
    int64_t give_max[2], take_max[2];
    int replicas;  /* an exchange may take what this operand has of the pinned dimension from any of so many; 1: no */
    int line_axis; /* broadcasts and reductions run along this axis of the grid (the other one than want_axis) */
    int loop_axis; /* stored axis of the looped dimension: 0: panels are width x length, 1: length x width */
    const struct hs_axis *own, *want, *looped;
};

struct hs_variant {
    int stationary, looped;
    struct hs_role role[3];
    const struct hs_axis *axis[3]; /* of the pinned dimensions, as the stationary operand has them; NULL for looped */
    int axis_of[3];                /* grid axis of each pinned dimension */
};

/* The operand's dimensions in the order rows, columns of op(X). */
extern const int hs_operand_dims[3][2];

/*
 * The table.  HSUMMA_ERR_UNSUPPORTED for operands that are replicated over processes: A and B cannot be stationary then
 * (sums would count them several times), and C cannot move.
 */
hsumma_status hs_variant_make(const struct hs_problem *problem, int stationary, struct hs_variant *variant,
                              struct hs_message *message);

/* Everything that is to be chosen; the layer above chooses, this one executes. */
struct hs_spec {
    int stationary;
    int levels;
    struct hs_factors factors[2]; /* of the grid's rows and columns */
    int64_t width[HS_LEVELS_MAX]; /* of panels per level, outermost first; each a multiple of the next */
    int64_t turn; /* indices that a pair of owners contributes before the next pair does: a multiple of width[0], or
                     HS_WHOLE_TURN (panels.h) */
    int mates[2]; /* for each axis, the number of neighbours on a line that share a node, alike on all lines: turns
                     alternate between nodes; 0: not known */
    const struct hs_alg *bcast[HS_LEVELS_MAX], *reduce[HS_LEVELS_MAX]; /* reduce: of HS_REDUCE_TO or HS_ALLREDUCE */
    struct hs_parameters bcast_with[HS_LEVELS_MAX], reduce_with[HS_LEVELS_MAX];
    int64_t segment;
    int lookahead;
    int owners; /* without lookahead: outermost panels that are brought at a time, a batch, each of another pair of
                   owners where turns are as short; 0 as 1 */
    int spread; /* exchanged panels of A and B go straight to all of their lines, not to a root that broadcasts them */
    int64_t slice; /* flops of one slice of the local GEMM; progress runs between slices; INT64_MAX: not cut */
    int threads;   /* of the local BLAS; 0: leave alone */
    int cells;     /* members of a line that are on one node share its panels, and send none to each other
                      (hs_spec_shares) */
    int node;      /* HS_NODE_MESSAGES: all of the above; else node.h, with one level, width[0] and lookahead */
    int chunked;   /* there: the operand that is handed over in chunks, ... */
    int64_t chunk; /* ... cut along its pinned dimension */
};

/* Indices that may be under way beyond the panel that is multiplied. */
static inline int64_t hs_spec_ahead(const struct hs_spec *spec)
{
    return spec->owners > 1 ? (spec->owners - 1) * spec->width[0] : spec->lookahead * spec->width[spec->levels - 1];
}

/* Whether cells share the panels of an operand that moves: not where a row of its own knows nodes, for such a row runs
 * over all members. */
static inline int hs_spec_shares(const struct hs_spec *spec, int operand)
{
    const struct hs_alg *const *alg = operand == HS_C ? spec->reduce : spec->bcast;
    int shares = spec->cells;
    for (int l = 0; l < spec->levels; l++)
        shares = shares && !(alg[l] && alg[l]->flags & HS_USES_TOPOLOGY);
    return shares;
}

#endif
