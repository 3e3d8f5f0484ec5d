/*
 * The matrix of cases: grids x operations x stationary operands x layouts, with random types, hierarchies, algorithms,
 * lookahead, scalars, sizes and offsets from a seeded generator. About half of the cases use the node's shared memory
 * if all ranks have it, the others messages. Entries are small integers, so every sum is exact in every precision and
 * order.
 *
 *     gemm [ROUNDS [SEED]] [OPTION=WORD ...]     the options are the library's and apply to all contexts
 */
#include "support/product/gemm_random.h"

static int rounds = 2;

/* Draws options for the product inside one node. */
static void draw_sharing(char stationary, char *text, size_t room)
{
    static const char *const cuts[] = {"",         " block=1",          " block=9",           " chunk=1 block=5",
                                       " chunk=7", " block=40 chunk=3", " workspace_limit=4k"};
    snprintf(text, room, "stationary=%c threads=1%s", stationary, cuts[draw(7)]);
}

/* Places operands inside larger matrices, at a block boundary, with sources that keep pinned dimensions aligned. */
static void shift(struct gemm_case *c, int64_t nb)
{
    int P = gemm_extent_of(c, 0), Q = gemm_extent_of(c, 1);
    for (int x = 0; x < 3; x++) {
        const struct gemm_layout rows = {nb, nb, (P - (x + 1) % P) % P, nb * (x + 1), 1},
                                 cols = {nb, nb, (Q - 2 % Q) % Q, nb * 2, 2};
        gemm_spread(c, x, &rows, &cols);
    }
}

/* Draws a case. nb: block size, 0 for one block per process; stationary: an index in gemm_stays. */
static struct gemm_case draw_case(hsumma_grid *const grid[2], int ops, int stationary, int64_t nb, char *options,
                                  size_t room)
{
    struct gemm_case c = gemm_draw_product(grid[draw(2)], ops, nb);
    if (nb > 0 && draw(3) == 0)
        shift(&c, nb);
    if (draw(2))
        draw_sharing(gemm_stays[stationary], options, room);
    else
        gemm_draw_hierarchy(&c, stationary, options, room);
    c.options = options;
    return c;
}

static void test_stationary(hsumma_context *ctx, hsumma_grid *const grid[2], int stationary)
{
    static const int64_t blocks[] = {1, 3, 8};
    int cases = 0, failed = 0, P, Q;
    hsumma_grid_info(grid[0], &P, &Q, NULL, NULL);
    for (int ops = 0; ops < 9; ops++)
        for (int i = 0; i < 2 * rounds; i++, cases++) {
            char options[256];
            struct gemm_case c = draw_case(grid, ops, stationary, i % 2 ? blocks[draw(3)] : 0, options, sizeof options);
            const char *what = gemm_failure(ctx, &c, 0);
            int first = (int)world_reduce(what ? rank : size, MPI_MIN);
            if (first < size && failed++ < 5)
                gemm_report(first, &c, cases, what);
        }
    tap_ok(failed == 0, "%d ranks, grid %d x %d, stationary %c: %d cases, %d wrong", size, P, Q, gemm_stays[stationary],
           cases, failed);
}

/* Tests grids of all processes, or all but one, in each shape, with a new context for each shape. */
static void test_all(hsumma_context *unused, const hsumma_grid *none)
{
    (void)unused, (void)none;
    for (int P = 1; P <= size; P++) {
        hsumma_context *ctx;
        hsumma_grid *grid[2] = {NULL};
        int Q = size % P ? 1 : size / P;
        if (size % P && P != size - 1) /* the grid of size - 1 processes leaves out one */
            continue;
        if (!gemm_open(NULL, P, Q, &ctx, &grid[0]))
            return;
        tap_ok(everywhere(!hsumma_grid_create(ctx, P, Q, 'C', NULL, &grid[1])), "grids %d x %d", P, Q);
        for (int s = 0; grid[1] && s < 3; s++)
            test_stationary(ctx, grid, s);
        hsumma_grid_free(&grid[1]);
        gemm_close(&ctx, &grid[0]);
    }
}

int main(int argc, char **argv)
{
    if (argc > 1)
        rounds = atoi(argv[1]);
    draw_seed(argc > 2 ? strtoull(argv[2], NULL, 10) : 1);
    return gemm_main(argc, argv, test_all);
}
