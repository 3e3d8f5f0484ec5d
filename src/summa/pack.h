/*
 * Copies between a user's local matrix and panels.
 *
 * A panel in memory is the sequence of its innermost panels.  Each innermost panel is a contiguous array, a slab, which
 * keeps the operand's own orientation.  If the looped dimension is on the stored rows, a slab is width x length with
 * leading dimension `width`; otherwise length x width with leading dimension `length`.  `width` is the panel's width,
 * `length` the local extent of the pinned dimension.  So any inner part of an outer panel is contiguous, can be
 * forwarded without packing, and goes to the local GEMM with the operand's own transposition flag.
 */
#ifndef HS_SUMMA_PACK_H
#define HS_SUMMA_PACK_H

#include "summa/panels.h"
#include "summa/problem.h"

/* The address of a matrix in this process's memory, and its leading dimension in elements. */
struct hs_matrix {
    char *base;
    int64_t ld;
};

/* The local product of parts of the operands; the caller sets its extent. */
struct hs_product hs_part_of_product(const struct hs_problem *problem, const struct hs_spec *spec, const void *alpha,
                                     const struct hs_matrix matrix[3], const void *beta);

/* Times in seconds and traffic of one execution on this process. */
struct hs_times {
    double begin, seconds, gemm, copy, wait;
    int64_t bytes, messages; /* bytes and messages sent; in node.h, bytes copied into shared memory, and no messages */
};

/* The innermost panels [begin, end) of one moving operand, all in one tier panel. */
struct hs_run_of_panels {
    const struct hs_panels *panels;
    const struct hs_role *role;
    const struct hs_scalar *scalar;
    int loop_coord; /* the owner's coordinate on the grid axis of the looped dimension */
    int begin, end;
};

/*
 * The local index on the looped axis where the run begins, if its intervals are consecutive in the owner's memory; else
 * -1.
 */
int64_t hs_in_place(const struct hs_run_of_panels *run);

/* Gathers the owner's part of the run into slabs.  length: local extent of the pinned dimension. */
void hs_pack(const struct hs_run_of_panels *run, const struct hs_matrix *from, int64_t length, char *slabs);
/* The reverse of hs_pack: to = beta * to + slabs. */
void hs_unpack(const struct hs_run_of_panels *run, const char *slabs, int64_t length, const void *beta,
               const struct hs_matrix *to);

/*
 * The exchange of a panel.  A holder (coordinate q on hs_role.own_axis) and a taker (coordinate i on hs_role.want_axis)
 * exchange the pinned indices that the holder owns and the taker multiplies: the holder sends A and B, the taker sends
 * C.  A message is a sequence of blocks without gaps, in the same order on both sides; if each taker has a single
 * holder (hs_role.direct), the message has the layout of the taker's slabs.  Indices that stay on a process are copied
 * between its matrix and its slabs.
 */
enum hs_exchange_step {
    HS_MATRIX_TO_MESSAGE,
    HS_MESSAGE_TO_SLABS,
    HS_SLABS_TO_MESSAGE,
    HS_MESSAGE_TO_MATRIX,
    HS_MATRIX_TO_SLABS,
    HS_SLABS_TO_MATRIX
};
void hs_exchange_copy(const struct hs_run_of_panels *run, enum hs_exchange_step step, int q, int i, char *message,
                      const struct hs_matrix *matrix, char *slabs, const void *beta);

/* 1 if the product is only C = beta C, because alpha = 0 or the product is empty.  It is then done locally, and A and B
 * are not read. */
int hs_only_scales(const struct hs_problem *problem, const void *alpha);
/* Scales C and returns 1 if hs_only_scales; otherwise does nothing and returns 0. */
int hs_only_scale(const struct hs_problem *problem, const void *alpha, const void *beta, const struct hs_matrix *c);

#endif
