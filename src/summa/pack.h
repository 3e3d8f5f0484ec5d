/*
 * Copies between a user's local matrix and panels.
 *
 * A panel in memory is a sequence of its innermost panels.  Each of those (a slab) is contiguous and keeps the
 * operand's own orientation: width x length (leading dimension: its width) where the looped dimension is on the stored
 * rows, length x width (leading dimension: the length) where it is on the stored columns.  So any inner part of an
 * outer panel is contiguous, can be forwarded without packing, and goes to the local GEMM with the operand's own
 * transposition flag.
 */
#ifndef HS_SUMMA_PACK_H
#define HS_SUMMA_PACK_H

#include "summa/panels.h"
#include "summa/problem.h"

/* A local matrix: the address of the operand's first local element. */
struct hs_matrix {
    char *base;
    int64_t ld;
};

/* Times and traffic of one execution. */
struct hs_times {
    double begin, seconds, gemm, copy, wait;
    int64_t bytes, messages; /* sent; inside a node: bytes copied into shared memory */
};

/* Innermost panels [begin, end) of one tier panel, for one moving operand. */
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

/* Gathers the owner's part of the run into slabs; length: the local extent of the pinned dimension. */
void hs_pack(const struct hs_run_of_panels *run, const struct hs_matrix *from, int64_t length, char *slabs);
/* The inverse of hs_pack: matrix = beta * matrix + slabs. */
void hs_unpack(const struct hs_run_of_panels *run, const char *slabs, int64_t length, const void *beta,
               const struct hs_matrix *to);

/*
 * The exchange of a panel.  A holder (coordinate q on the axis where the operand's pinned dimension lies) sends to a
 * taker (coordinate i on the wanted axis) the indices that both layouts give them.  A message is a sequence of blocks
 * without gaps, in the same order on both sides; where each taker has a single holder (hs_role.direct), it is the
 * taker's slabs.  Indices that stay on a process are copied between its matrix and its slabs.
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

/* Whether the product is only C = beta C (alpha = 0, or an empty product): it is done locally, and A and B are not
 * read. */
int hs_only_scales(const struct hs_problem *problem, const void *alpha);
/* If so, scales C and returns 1.  Otherwise does nothing and returns 0. */
int hs_only_scale(const struct hs_problem *problem, const void *alpha, const void *beta, const struct hs_matrix *c);

#endif
