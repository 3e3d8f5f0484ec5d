/*
 * Between a user's local matrix and panels.
 *
 * A panel in memory is its innermost panels one after the other; each of those (a slab) is contiguous, in the operand's
 * own orientation: width x length where the looped dimension lies on the stored rows (leading dimension: its width),
 * length x width where it lies on the stored columns (leading dimension: the length).  So any inner part of an outer
 * panel is contiguous, can be sent on as it is, and goes to the local GEMM with the operand's own transposition flag.
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

/* What an execution has taken. */
struct hs_times {
    double begin, seconds, gemm, copy, wait;
    int64_t bytes, messages; /* sent; inside a node: bytes copied into shared memory */
};

/* A run of innermost panels [begin, end) of one tier panel, for one moving operand. */
struct hs_run_of_panels {
    const struct hs_panels *panels;
    const struct hs_role *role;
    const struct hs_scalar *scalar;
    int loop_coord; /* coordinate of the owner on the axis of the looped dimension */
    int begin, end;
};

/*
 * The local index (on the looped axis) where the run begins if its intervals lie one after the other in the owner's
 * memory, else -1.
 */
int64_t hs_in_place(const struct hs_run_of_panels *run);

/* Gathers the owner's part of the run into slabs; length is the local extent of the pinned dimension. */
void hs_pack(const struct hs_run_of_panels *run, const struct hs_matrix *from, int64_t length, char *slabs);
/* The way back: matrix = beta * matrix + slabs. */
void hs_unpack(const struct hs_run_of_panels *run, const char *slabs, int64_t length, const void *beta,
               const struct hs_matrix *to);

/*
 * The exchange of a panel.  The process with coordinate q on the pinned dimension's own axis holds, and the one with
 * coordinate i on the wanted axis takes, what both layouts give to them; a message is these blocks, each tight, in one
 * order on both sides.  What stays on a process goes between its matrix and its slabs.
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

/* alpha = 0 or an empty product: C = beta C where it lies, each process for itself, and A and B are not read. */
int hs_only_scales(const struct hs_problem *problem, const void *alpha);
/* Does it then; 0: there is something to multiply, and nothing has been done. */
int hs_only_scale(const struct hs_problem *problem, const void *alpha, const void *beta, const struct hs_matrix *c);

#endif
