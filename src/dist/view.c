#include "dist/view.h"

struct hs_view hs_view_make(const struct hs_axis *rows, const struct hs_axis *cols, int64_t i, int64_t j, int64_t m,
                            int64_t n, const int coord[2], int64_t ld, char op)
{
    struct hs_view view = {.axis = {hs_axis_part(rows, i, m), hs_axis_part(cols, j, n)}, .ld = ld, .op = op};
    if (coord[0] >= 0) {
        view.origin[0] = hs_axis_before(rows, coord[0], i);
        view.origin[1] = hs_axis_before(cols, coord[1], j);
        view.rows = hs_axis_count(&view.axis[0], coord[0]);
        view.cols = hs_axis_count(&view.axis[1], coord[1]);
    }
    return view;
}
