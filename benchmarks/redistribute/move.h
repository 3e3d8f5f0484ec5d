/* A matrix in two layouts, to be moved from one into the other. */
#ifndef HS_BENCHMARKS_REDISTRIBUTE_MOVE_H
#define HS_BENCHMARKS_REDISTRIBUTE_MOVE_H

#include "common/arguments.h"
#include "report/progress.h"

/* --from and --to: a grid, and the layout on it. */
typedef struct placement {
    int nprow, npcol;
    int checkerboard;
    int64_t layout[LAYOUT_FIELDS];
} placement;

typedef enum move_maker { MOVE_HSUMMA, MOVE_SCALAPACK, MOVE_MAKERS } move_maker;

typedef struct move_arguments {
    hsumma_type type;
    int64_t m, n; /* n defaults to m */
    placement end[2];
    uint64_t seed;
    int reps, check, alone, quiet;
    report_format format;
} move_arguments;

/* The matrix at one end. */
typedef struct move_end {
    hsumma_grid *grid;
    hsumma_desc desc;
    void *local; /* NULL if this rank owns nothing */
    size_t bytes;
} move_end;

typedef struct move {
    const move_arguments *args; /* borrowed */
    MPI_Comm comm;              /* borrowed */
    int rank, ranks;
    hsumma_context *ctx;
    move_end end[2];
    progress bar; /* rank 0's */
} move;

/* ScaLAPACK's p?gemr2d on the same grids. */
typedef struct gemr2d {
    int handle, made, context[3]; /* context: BLACS contexts of the two ends, and of all ranks */
    int desc[2][9];
} gemr2d;

/* The reason why ScaLAPACK cannot make the move; NULL if it can. The same on all ranks. */
const char *gemr2d_refuses(const move *m);
/* Collective; undo with gemr2d_free. */
void gemr2d_create(gemr2d *g, const move *m);
void gemr2d_free(gemr2d *g);
/* Collective. */
void gemr2d_run(const gemr2d *g, const move *m);

#endif
