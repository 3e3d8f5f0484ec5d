/*
 * The multiplication as the loops see it, and the spec that says how to execute it.
 *
 * C is m x n, op(A) m x k, op(B) k x n.  The variant with stationary operand X pins the two dimensions of X
 * (hs_operand_dims) to the grid axes on which X lies, and loops over the third dimension.
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
    struct hs_local *local; /* computes the local products; NULL if the BLAS computes them */
    struct hs_trace *trace; /* NULL if no timeline is recorded */
};

/* Records work from `begin` to `end` on the timeline.  operand, panel: -1 if there is none. */
static inline void hs_problem_worked(const struct hs_problem *problem, enum hs_trace_kind kind, double begin,
                                     double end, int operand, int64_t panel, int64_t amount)
{
    hs_trace_work(problem->trace, (struct hs_trace_entry){.begin = begin,
                                                          .end = end,
                                                          .amount = amount,
                                                          .peer = -1,
                                                          .tag = HS_TRACE_NO_TAG,
                                                          .panel = (int32_t)panel,
                                                          .kind = (int8_t)kind,
                                                          .operand = (int8_t)operand});
}

/* The role of one operand in a variant. */
struct hs_role {
    int moves;     /* 0 for the stationary operand; the other fields are for moving operands */
    int pinned;    /* the dimension that this operand shares with the stationary operand */
    int own_axis;  /* grid axis of the pinned dimension in this operand */
    int want_axis; /* grid axis of the pinned dimension in the stationary operand */
    /* 1 if panels pass through an exchange: own_axis and want_axis, or the layouts on them, differ, and the grid has
     * several processes. */
    int exchanged;
    /* Upper bounds on the pinned indices in one process's messages of an exchange (pack.h): as a holder (give_max) and
     * as a taker (take_max).  [0]: without hs_spec.spread, [1]: with it. */
    int64_t give_max[2], take_max[2];
    /* 1 if each taker of an exchange has a single holder, whose message has the layout of the taker's panel. */
    int direct;
    /* Number of processes along own_axis that have the same pinned indices; 1 if the operand is not replicated along
     * that axis.  In an exchange each taker receives from one of them. */
    int replicas;
    int line_axis; /* broadcasts and reductions run along this grid axis, which is not want_axis */
    int loop_axis; /* stored (and grid) axis of the looped dimension; 0: the rows of a panel, 1: its columns */
    const struct hs_axis *own, *want, *looped;
};

struct hs_variant {
    int stationary, looped;
    int ordered; /* 1 if panels are multiplied in ascending order of their indices (hs_scalar.ordered) */
    struct hs_role role[3];
    const struct hs_axis *axis[3]; /* axis of each pinned dimension in the stationary operand; NULL for `looped` */
    int axis_of[3];                /* grid axis of each pinned dimension in the stationary operand */
    /* 1: the product inside one node with an even division of C, whatever its owners (hs_variant_divide). C does not
     * move between panels, but its parts are handed over to their owners at the end. */
    int even;
    struct hs_axis part[2]; /* with `even`, the axes of that division, to which axis[] points */
};

/* hs_operand_dims[X] names the dimensions of op(X): [0] that of its rows, [1] that of its columns. */
extern const int hs_operand_dims[3][2];

/*
 * Makes the variant with the given stationary operand.  HSUMMA_ERR_UNSUPPORTED for replicated operands: a replicated A
 * or B cannot be stationary (sums would count it several times), and a replicated C cannot move.
 */
hsumma_status hs_variant_make(const struct hs_problem *problem, int stationary, struct hs_variant *variant,
                              struct hs_message *message);

/* Makes the variant in which each process of the grid computes an equal, contiguous part of C.  The variant must stay
 * at its address, since it points to itself. */
void hs_variant_divide(const struct hs_problem *problem, struct hs_variant *variant);

/* All choices about one multiplication: the planner makes them, this layer executes them. */
struct hs_spec {
    int stationary;
    int levels;
    struct hs_factors factors[2]; /* the factors, by level, of the number of grid rows [0] and grid columns [1] */
    int64_t width[HS_LEVELS_MAX]; /* panel width of each level, outermost first; each is a multiple of the next */
    /* Indices that a pair of owners contributes before the next pair does: a multiple of width[0], or HS_WHOLE_TURN
     * (panels.h). */
    int64_t turn;
    /* For each axis, the number of consecutive members of a line that share a node; the least common multiple if lines
     * differ.  hs_pairs_alternate uses it to put consecutive short turns on different nodes.  0 if unknown, or if cells
     * of one line differ in size or are not contiguous. */
    int mates[2];
    /* The algorithms of each level.  Those of `reduce` implement HS_REDUCE_TO or HS_ALLREDUCE. */
    const struct hs_alg *bcast[HS_LEVELS_MAX], *reduce[HS_LEVELS_MAX];
    struct hs_parameters bcast_with[HS_LEVELS_MAX], reduce_with[HS_LEVELS_MAX];
    int64_t segment;
    int lookahead;
    /* Outermost panels that are started together as a batch (lookahead 0 only; 0 means 1).  If a turn is one outermost
     * panel, the panels of a batch have different pairs of owners, as far as there are enough pairs. */
    int owners;
    /* 1 if exchanged panels of A and B go directly to all members of their lines, not to a root that broadcasts them.
     */
    int spread;
    int64_t slice; /* flops of the local GEMM between two progress calls; INT64_MAX if the GEMM is not sliced */
    int steps;     /* number of outermost panels that an execution multiplies; 0 for all */
    int threads;   /* number of threads of the local BLAS; 0 if its setting stays as it is */
    int checked;   /* 1 if panels in shared memory have room for CRCs (summa/shared_crc.h) */
    /* 1 if the members of a line on one node share the line's panels instead of sending them to each other.
     * Exceptions: operands for which hs_spec_shares is 0 or `spread` applies, and levels that hs_cells_factors cannot
     * convert. */
    int cells;
    /* HS_NODE_EVEN: hs_variant.even.  HS_NODE_MESSAGES if all fields above apply.  Otherwise node.h executes the
     * product with one level; of these fields it uses stationary, width[0], lookahead, threads and checked. */
    int node;
    int chunked;   /* in node.h, the operand whose pinned dimension is cut into chunks; negative if none is */
    int64_t chunk; /* number of indices of that dimension per chunk */
};

/* Number of indices that may be in flight beyond the panel being multiplied. */
static inline int64_t hs_spec_ahead(const struct hs_spec *spec)
{
    return spec->owners > 1 ? (spec->owners - 1) * spec->width[0] : spec->lookahead * spec->width[spec->levels - 1];
}

/* Whether cells share the panels of a moving operand.  They do not if one of its algorithms uses the topology, because
 * that algorithm runs over all members of the line. */
static inline int hs_spec_shares(const struct hs_spec *spec, int operand)
{
    const struct hs_alg *const *alg = operand == HS_C ? spec->reduce : spec->bcast;
    int shares = spec->cells;
    for (int l = 0; l < spec->levels; l++)
        shares = shares && !(alg[l] && alg[l]->flags & HS_USES_TOPOLOGY);
    return shares;
}

#endif
