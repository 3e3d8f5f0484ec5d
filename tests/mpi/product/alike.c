/*
 * Products in one call that differ in one respect only: each is computed with a plan of its own, not with the one that
 * the library keeps for the other.
 */
#include "support/product/gemm_case.h"

enum { ORDER = 12 };
enum { BLOCK, FIRST_BLOCK, SOURCE, OFFSET, FIELDS };
static const char *const field_name[FIELDS] = {"block", "first block", "source", "offset"};

/* A product of square matrices; in dimension `dim` of operand `x` (-1: in none) one field of the layout differs. */
static struct gemm_case product(const hsumma_grid *grid, int x, int dim, int field)
{
    struct gemm_case c = gemm_case_of(grid, HSUMMA_D, 'N', 'N', ORDER, ORDER, ORDER, 3);
    for (int y = 0; y < 3; y++) {
        struct gemm_layout layout[2];
        for (int d = 0; d < 2; d++) {
            int differs = y == x && d == dim;
            layout[d] = (struct gemm_layout){.block = 3 + (differs && field == BLOCK),
                                             .first = 3 - (differs && field == FIRST_BLOCK),
                                             .src = differs && field == SOURCE,
                                             .offset = differs && field == OFFSET,
                                             .behind = !(differs && field == OFFSET)};
        }
        gemm_spread(&c, y, &layout[0], &layout[1]);
    }
    return c;
}

static int is_right(hsumma_context *ctx, const struct gemm_case *c)
{
    struct gemm_part local[3];
    gemm_make(c, local);
    int right = gemm_one_call(ctx, c, local) == HSUMMA_OK && gemm_wrong(c, &local[2], 0) == 0;
    gemm_drop(local);
    return everywhere(right);
}

/* In turns, so that each call finds the other's plan. */
static int are_right(hsumma_context *ctx, const struct gemm_case *one, const struct gemm_case *other)
{
    int right = 1;
    for (int turn = 0; turn < 2; turn++)
        right &= is_right(ctx, one) & is_right(ctx, other);
    return right;
}

static void test_all(hsumma_context *ctx, const hsumma_grid *grid)
{
    const struct gemm_case base = product(grid, -1, 0, 0);
    int extent[2];
    hsumma_grid_info(grid, &extent[0], &extent[1], NULL, NULL);
    for (int field = 0; field < FIELDS; field++) {
        int wrong = 0;
        for (int at = 0; at < 6; at++) {
            if (field == SOURCE && extent[at % 2] == 1) /* there is no other source */
                continue;
            const struct gemm_case other = product(grid, at / 2, at % 2, field);
            wrong += !are_right(ctx, &base, &other);
        }
        tap_ok(!wrong, "products that differ in the %s of a dimension: %d of 6 are wrong", field_name[field], wrong);
    }
    struct gemm_case other = base;
    other.ta = 'T';
    tap_ok(are_right(ctx, &base, &other), "products that differ in op(A)");
    other.ta = 'N';
    other.tb = 'T';
    tap_ok(are_right(ctx, &base, &other), "products that differ in op(B)");
    other = base;
    other.type = HSUMMA_S;
    tap_ok(are_right(ctx, &base, &other), "products that differ in the type");
    other = base;
    other.k = ORDER - 1;
    tap_ok(are_right(ctx, &base, &other), "products that differ in k");
}

int main(int argc, char **argv)
{
    return gemm_main(argc, argv, test_all);
}
