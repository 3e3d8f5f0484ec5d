/*
 * The arguments of p?gemm: three descriptors, offsets, extents. The check rejects them with an argument's number, or
 * every process's part of each matrix lies inside what its descriptor describes.
 *
 * Input: the grid, this process, letters; then numbers.
 */
#include "api/scalapack/shim.h"
#include "fuzz/input.h"

static int context_of_grid, grid_shape[2], grid_coord[2];

/* In place of the BLACS. */
int hs_blacs_grid(int context, int shape[2], int coord[2])
{
    memcpy(shape, grid_shape, sizeof grid_shape);
    memcpy(coord, grid_coord, sizeof grid_coord);
    return context == context_of_grid;
}

/* The local indices of a process among [0, below) of an axis, block by block. */
static int64_t count_below(const struct hs_axis *axis, int proc, int64_t below)
{
    int64_t count = 0;
    for (int64_t at = 0, block = 0, size = axis->first; at < below; at += size, size = axis->nb, block++)
        if ((axis->src + block) % axis->nprocs == proc)
            count += below - at < size ? below - at : size;
    return count;
}

static void check_operand(const struct hs_arguments *args, int x)
{
    enum { BLOCKS = 300 };
    const struct hs_matrix_argument *matrix = &args->matrix[x];
    struct hs_view view = hs_argument_view(args, x);
    REQUIRE(view.rows >= 0 && view.cols >= 0 && view.origin[0] >= 0 && view.origin[1] >= 0);
    REQUIRE(view.rows == 0 || view.cols == 0 || view.origin[0] + view.rows <= view.ld);
    for (int d = 0; d < 2; d++) {
        struct hs_axis axis = hs_argument_axis(args, x, d);
        int proc = axis.nprocs == 1 ? 0 : args->coord[d];
        int64_t first = matrix->first[d], end = first + matrix->part[d];
        if (matrix->part[0] == 0 || matrix->part[1] == 0 || end / axis.nb > BLOCKS)
            continue;
        int64_t before = count_below(&axis, proc, first);
        REQUIRE(view.origin[d] == before && (d ? view.cols : view.rows) == count_below(&axis, proc, end) - before);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, size};
    int number[3], first[3][2], desc[3][HS_ENTRIES];
    char trans[2];
    struct hs_pgemm call = {.type = HSUMMA_D, .trans = {&trans[0], &trans[1]}};
    struct hs_arguments args;
    context_of_grid = 7;
    for (int d = 0; d < 2; d++) {
        grid_shape[d] = 1 + draw_below(&input, 5);
        grid_coord[d] = draw_below(&input, grid_shape[d]);
        trans[d] = "NTCntcX\0"[draw_below(&input, 8)];
    }
    for (int i = 0; i < 3; i++) {
        number[i] = (int)draw_number(&input);
        call.extent[i] = &number[i];
    }
    for (int x = 0; x < 3; x++) {
        for (int d = 0; d < 2; d++) {
            first[x][d] = (int)draw_number(&input);
            call.first[x][d] = &first[x][d];
        }
        for (int e = 0; e < HS_ENTRIES; e++)
            desc[x][e] = (int)draw_number(&input);
        if (draw_byte(&input) % 4) { /* else hardly any descriptor would be right */
            desc[x][HS_DTYPE] = 2;
            desc[x][HS_CTXT] = context_of_grid;
            desc[x][HS_LLD] = INT32_MAX;
        }
        call.desc[x] = desc[x];
    }
    char complaint[HS_COMPLAINT] = "";
    int info = hs_arguments_read(&call, &args, complaint);
    REQUIRE(info == 0 || (info <= -1 && info >= -(19 * 100 + HS_ENTRIES) && strstr(complaint, "; expected ")));
    for (int x = 0; x < 3 && !info; x++)
        check_operand(&args, x);
    return 0;
}
