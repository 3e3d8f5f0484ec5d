/* An operand: a part of a matrix with a transposition flag.  Transposing flips both axes and moves no data. */
#ifndef HS_DIST_VIEW_H
#define HS_DIST_VIEW_H

#include "dist/axis.h"

struct hs_view {
    /* Axes of the part as stored: [0] its rows, distributed over the grid's rows; [1] its columns, over the grid's
     * columns. */
    struct hs_axis axis[2];
    int64_t origin[2];  /* local row and column at which the part begins on this process */
    int64_t rows, cols; /* local extent: rows and columns of the part on this process */
    int64_t ld;
    char op; /* 'N', 'T' or 'C' */
};

/* The stored axis (0 or 1), which is also the grid axis, of the view's logical rows (0) or columns (1). */
static inline int hs_view_stored(const struct hs_view *view, int logical)
{
    return view->op == 'N' ? logical : 1 - logical;
}

/* The view of rows [i, i + m) and columns [j, j + n), as stored, of a matrix with the given axes.  coord: grid
 * coordinates of this process. */
struct hs_view hs_view_make(const struct hs_axis *rows, const struct hs_axis *cols, int64_t i, int64_t j, int64_t m,
                            int64_t n, const int coord[2], int64_t ld, char op);

#endif
