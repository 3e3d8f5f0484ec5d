#include "hsumma/context/context.h"

hsumma_status hsumma_grid_create(hsumma_context *ctx, int nprow, int npcol, char order, const int *ranks,
                                 hsumma_grid **result)
{
    const int extent[2] = {nprow, npcol};
    if (!result)
        return HSUMMA_ERR_ARGUMENT;
    *result = NULL;
    return !ctx ? HSUMMA_ERR_ARGUMENT : hs_grid_create(ctx, extent, hs_upper(order), ranks, result);
}

void hsumma_grid_free(hsumma_grid **grid)
{
    if (!grid || !*grid)
        return;
    hs_grid_release(*grid);
    *grid = NULL;
}

void hsumma_grid_info(const hsumma_grid *grid, int *nprow, int *npcol, int *row, int *col)
{
    if (nprow)
        *nprow = grid->grid.extent[0];
    if (npcol)
        *npcol = grid->grid.extent[1];
    if (row)
        *row = grid->grid.coord[0];
    if (col)
        *col = grid->grid.coord[1];
}

int hsumma_grid_rank(const hsumma_grid *grid, int row, int col)
{
    const struct hs_grid *of = &grid->grid;
    if (row < 0 || row >= of->extent[0] || col < 0 || col >= of->extent[1])
        return -1;
    return hs_grid_rank(of, hs_grid_index(of, 0, row, col));
}

void hsumma_grid_shape(int size, int *nprow, int *npcol)
{
    int rows = 1;
    for (int i = 1; (int64_t)i * i <= size; i++)
        if (size % i == 0)
            rows = i;
    *nprow = rows;
    *npcol = size / rows;
}

void hsumma_desc_init(hsumma_desc *desc, const hsumma_grid *grid, int64_t m, int64_t n, int64_t mb, int64_t nb)
{
    *desc = hs_desc_make(grid, m, n, mb, nb);
}

void hsumma_desc_checkerboard(hsumma_desc *desc, const hsumma_grid *grid, int64_t m, int64_t n)
{
    int64_t mb = (m + grid->grid.extent[0] - 1) / grid->grid.extent[0];
    int64_t nb = (n + grid->grid.extent[1] - 1) / grid->grid.extent[1];
    hsumma_desc_init(desc, grid, m, n, mb > 1 ? mb : 1, nb > 1 ? nb : 1);
}

static int64_t global_index(const hsumma_desc *desc, int axis, int64_t local)
{
    struct hs_axis it = hs_desc_axis(desc, axis);
    return hs_axis_global(&it, desc->grid->grid.coord[axis], local);
}

int64_t hsumma_local_rows(const hsumma_desc *desc)
{
    return hs_desc_local(desc, 0);
}

int64_t hsumma_local_cols(const hsumma_desc *desc)
{
    return hs_desc_local(desc, 1);
}

int64_t hsumma_global_row(const hsumma_desc *desc, int64_t local)
{
    return global_index(desc, 0, local);
}

int64_t hsumma_global_col(const hsumma_desc *desc, int64_t local)
{
    return global_index(desc, 1, local);
}
