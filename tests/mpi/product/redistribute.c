/*
 * hsumma_redistribute, and hs_redistribution below it: random layouts compared with a map that counts blocks one by
 * one; errors; parts of one array; memory that fails.
 *
 *     redistribute [CASES [SEED]] [OPTION=VALUE...]
 */
#include "hsumma/context/context.h"
#include "summa/redistribute/redistribution.h"
#include "support/failing_memory.h"
#include "support/product/spread_case.h"
#include <inttypes.h>

enum { GRIDS = 6, SOURCES = 3, CHANNEL = 20 };

struct pool {
    hsumma_grid *grid[GRIDS];
    struct spread_matrix on[GRIDS]; /* shape and ranks of each grid */
};

static int make_pool(hsumma_context *ctx, struct pool *pool)
{
    int good = 1;
    memset(pool, 0, sizeof *pool);
    for (int g = 0; g < GRIDS; g++) {
        spread_draw_grid(&pool->on[g]);
        good &= hsumma_grid_create(ctx, pool->on[g].extent[0], pool->on[g].extent[1], 'R', pool->on[g].ranks,
                                   &pool->grid[g]) == HSUMMA_OK;
    }
    return everywhere(good);
}

static void draw_part(struct spread_matrix *matrix, hsumma_type type, const int64_t length[2], uint64_t seed)
{
    matrix->type = type;
    matrix->pad = draw(3);
    matrix->seed = seed;
    for (int a = 0; a < 2; a++)
        spread_draw_side(&matrix->side[a], length[a], matrix->extent[a]);
}

/* Makes one call of the public function; returns 1 if the target is right on all processes. */
static int moves(hsumma_context *ctx, const struct pool *pool)
{
    int g = draw(GRIDS), h = draw(GRIDS), type = draw(4);
    const int64_t length[2] = {draw(10) ? draw(80) : 0, draw(60)};
    struct spread_matrix a = pool->on[g], b = pool->on[h];
    draw_part(&a, (hsumma_type)type, length, 1 + draw_bits() / 2);
    draw_part(&b, (hsumma_type)type, length, 1 + draw_bits() / 2);
    spread_make(&a);
    spread_make(&b);
    hsumma_desc desca = spread_desc(&a, pool->grid[g]), descb = spread_desc(&b, pool->grid[h]);
    hsumma_status status =
        hsumma_redistribute(ctx, (hsumma_type)type, length[0], length[1], a.data, &desca, b.data, &descb);
    int64_t wrong = spread_wrong(&b, 0, &a, 1);
    int good = everywhere(status == HSUMMA_OK && wrong == 0);
    if (!good) {
        tap_diag("type %d, %s %s, %" PRId64 " wrong on rank 0", type, hsumma_status_string(status), hsumma_message(ctx),
                 wrong);
        spread_print(&a, "A");
        spread_print(&b, "B");
    }
    spread_drop(&a);
    spread_drop(&b);
    return good;
}

static struct hs_layout layout_of(const struct spread_matrix *matrix)
{
    struct hs_layout layout = {.extent = {matrix->extent[0], matrix->extent[1]}, .rank = matrix->ranks};
    for (int a = 0; a < 2; a++) {
        const struct spread_side *side = &matrix->side[a];
        struct hs_axis whole = hs_axis_make(side->offset + side->length + side->extra, side->block, side->first,
                                            side->source, matrix->extent[a]);
        layout.axis[a] = hs_axis_part(&whole, side->offset, side->length);
    }
    return layout;
}

/* The local part of a matrix, from the first local element of the moved part on. */
static struct hs_matrix part_of(const struct spread_matrix *matrix)
{
    int64_t first[2];
    for (int a = 0; a < 2; a++)
        for (first[a] = 0; first[a] < matrix->count[a] && matrix->index[a][first[a]] < matrix->side[a].offset;)
            first[a]++;
    size_t offset = (size_t)(first[0] + first[1] * matrix->ld) * hs_scalars[matrix->type].size;
    return (struct hs_matrix){matrix->data ? matrix->data + offset : NULL, matrix->ld};
}

/* Adds several sources to beta times a target, often with little workspace; returns 1 if the target is right. */
static int adds(hsumma_context *ctx)
{
    static const double factors[] = {0, 1, 0.6};
    int sources = 1 + draw(SOURCES), type = draw(4);
    double factor = factors[draw(3)];
    const int64_t length[2] = {1 + draw(60), 1 + draw(60)};
    struct spread_matrix source[SOURCES] = {0}, target = {0};
    struct hs_layout from[SOURCES];
    struct hs_matrix part[SOURCES];
    const struct hs_scalar *scalar = &hs_scalars[type];
    for (int s = 0; s < sources; s++) {
        spread_draw_grid(&source[s]);
        draw_part(&source[s], (hsumma_type)type, length, 1 + draw_bits() / 2);
        for (int i = 0; s > 0 && i < 2; i++) { /* later sources have the first source's layout, on other ranks */
            memcpy(source[s].side, source[0].side, sizeof source[s].side);
            for (int r = 0; i == 0 && r < size; r++)
                source[s].ranks[r] = (source[0].ranks[r] + s) % size;
            source[s].extent[i] = source[0].extent[i];
        }
        spread_make(&source[s]);
        from[s] = layout_of(&source[s]);
        part[s] = part_of(&source[s]);
    }
    spread_draw_grid(&target);
    /* with beta = 0 the target's old contents are not read */
    draw_part(&target, (hsumma_type)type, length, factor != 0 ? 1 + draw_bits() / 2 : 0);
    spread_make(&target);
    const struct hs_layout to = layout_of(&target);
    union hs_value beta = {.z = factor};
    if (type == HSUMMA_S || type == HSUMMA_C)
        beta.c = (float)factor;
    if (type == HSUMMA_S || type == HSUMMA_C)
        factor = (float)factor;
    struct hs_redistribution r;
    int64_t needs, limit = draw(3) ? draw(6000) : 1 << 20;
    hsumma_status status =
        hs_redistribution_init(&r, &ctx->comm, CHANNEL, scalar, from, sources, &to, limit, &ctx->memory, &needs);
    if (status == HSUMMA_ERR_WORKSPACE) {
        limit = needs;
        status =
            hs_redistribution_init(&r, &ctx->comm, CHANNEL, scalar, from, sources, &to, limit, &ctx->memory, &needs);
    }
    int good = everywhere(!status && (int64_t)r.buffer_bytes <= limit);
    if (good) {
        char *buffers = malloc(r.buffer_bytes + 1);
        const struct hs_matrix whole = part_of(&target);
        hs_redistribution_start(&r, part, &beta, &whole, buffers, 0);
        status = hs_comm_wait(&ctx->comm, hs_redistribution_advance, &r);
        free(buffers);
    }
    int64_t wrong = spread_wrong(&target, factor, source, sources);
    good = good && everywhere(!status && wrong == 0);
    if (!good) {
        tap_diag("type %d, %d sources, beta %g, %" PRId64 " rounds, %s, %" PRId64 " wrong on rank 0", type, sources,
                 factor, r.rounds, hsumma_status_string(status), wrong);
        spread_print(&source[0], "source");
        spread_print(&target, "target");
    }
    hs_redistribution_free(&r, &ctx->memory);
    for (int s = 0; s < sources; s++)
        spread_drop(&source[s]);
    spread_drop(&target);
    return good;
}

static void test_cases(hsumma_context *ctx, int cases)
{
    struct pool pool;
    int bad = 0;
    if (!tap_ok(make_pool(ctx, &pool), "%d grids of any shapes and ranks", GRIDS))
        return;
    for (int i = 0; i < cases && bad < 3; i++)
        bad += !moves(ctx, &pool);
    tap_ok(bad == 0, "%d matrices from any layout to any other", cases);
    bad = 0;
    for (int i = 0; i < cases && bad < 3; i++)
        bad += !adds(ctx);
    tap_ok(bad == 0, "%d sums of several matrices, in the order of the sources, in rounds", cases);
    for (int g = 0; g < GRIDS; g++)
        hsumma_grid_free(&pool.grid[g]);
}

static void refuse(hsumma_context *ctx, int64_t m, int64_t n, const double *a, const hsumma_desc *desca, double *b,
                   const hsumma_desc *descb, const char *what, const char *word)
{
    hsumma_status status = hsumma_redistribute(ctx, HSUMMA_D, m, n, a, desca, b, descb);
    int named = strstr(hsumma_message(ctx), word) != NULL;
    tap_ok(everywhere(status == HSUMMA_ERR_ARGUMENT) && world_reduce(named, MPI_MAX), "%s: %s", what,
           hsumma_message(ctx));
}

/* Errors, with an 8 x 8 matrix in blocks of one column on a row of all processes. */
static void test_errors(hsumma_context *ctx, const hsumma_grid *grid, const hsumma_grid *foreign)
{
    enum { N = 8 };
    double a[N * N] = {0}, b[N * N];
    hsumma_desc desca, descb, bad;
    hsumma_desc_init(&desca, grid, N, N, N, 1);
    descb = desca;
    int last = rank == size - 1;
    for (int i = 0; i < N * N; i++)
        b[i] = 5;
#define REFUSE(change, what, word)                         \
    do {                                                   \
        bad = desca;                                       \
        change;                                            \
        refuse(ctx, N, N, a, &bad, b, &descb, what, word); \
    } while (0)
    REFUSE(bad.mb = 0, "mb = 0", "descriptor of A: mb is 0");
    REFUSE(bad.grid = NULL, "no grid", "descriptor of A is NULL");
    REFUSE(bad.grid = foreign, "a grid of another context", "another context");
    REFUSE(bad.j = 1, "a part that does not fit", "A has 7 columns from j = 1 on");
    REFUSE(bad.ld = last ? N - 1 : N, "ld on one process", "leading dimension of A is 7");
#undef REFUSE
    refuse(ctx, -1, N, a, &desca, b, &descb, "m = -1", "m is -1");
    refuse(ctx, N, N, a, &desca, last ? NULL : b, &descb, "NULL on one process", "B is NULL on process");
    refuse(ctx, N, N, last ? b : a, &desca, b, &descb, "one array on one process", "overlap");
    if (size > 1)
        refuse(ctx, N - last, N, a, &desca, b, &descb, "another m on one process", "gave m = 7, rank 0 gave 8");
    int kept = 1;
    for (int i = 0; i < N * N; i++)
        kept &= b[i] == 5;
    tap_ok(everywhere(kept), "after all that B is unchanged");
}

/* Moves a part of an array to another part of the array; parts that overlap are refused. */
static void test_one_array(hsumma_context *ctx, const hsumma_grid *grid)
{
    enum { N = 12 };
    int64_t wrong = 0, refused = 0, taken = 0;
    hsumma_desc from, to;
    hsumma_desc_init(&from, grid, N, N, 1, 1);
    int64_t rows = hsumma_local_rows(&from), cols = hsumma_local_cols(&from);
    double *x = malloc((size_t)(rows * cols + 1) * sizeof *x);
    for (int i = 0; i < 2 * N; i++) {
        int m = 1 + draw(N / 2), n = 1 + draw(N / 2), at[4] = {draw(N - m), draw(N - n), draw(N - m), draw(N - n)};
        int touch = abs(at[0] - at[2]) < m && abs(at[1] - at[3]) < n;
        for (int64_t c = 0; c < cols; c++)
            for (int64_t r = 0; r < rows; r++)
                x[r + c * rows] = (double)(hsumma_global_row(&from, r) * N + hsumma_global_col(&from, c));
        to = from;
        from.i = at[0], from.j = at[1], to.i = at[2], to.j = at[3];
        hsumma_status status = hsumma_redistribute(ctx, HSUMMA_D, m, n, x, &from, x, &to);
        refused += status == HSUMMA_ERR_ARGUMENT;
        taken += status == HSUMMA_OK;
        wrong += status != (touch ? HSUMMA_ERR_ARGUMENT : HSUMMA_OK);
        for (int64_t c = 0; c < cols && !touch; c++)
            for (int64_t r = 0; r < rows; r++) {
                int64_t g = hsumma_global_row(&from, r), h = hsumma_global_col(&from, c);
                if (g >= at[2] && g < at[2] + m && h >= at[3] && h < at[3] + n)
                    g += at[0] - at[2], h += at[1] - at[3];
                wrong += x[r + c * rows] != (double)(g * N + h);
            }
    }
    free(x);
    tap_ok(everywhere(wrong == 0 && taken > 0 && refused > 0), "parts of one array: %d moved, %d refused", (int)taken,
           (int)refused);
}

static void test_memory(hsumma_context *ctx, const hsumma_grid *grid)
{
    enum { N = 10 };
    double a[N * N], b[N * N];
    hsumma_desc desca, descb;
    hsumma_desc_init(&desca, grid, N, N, 3, 1);
    hsumma_desc_init(&descb, grid, N, N, 2, 2);
    for (int i = 0; i < N * N; i++)
        a[i] = 1;
    int64_t reached = 1, bad = 0, n = 0;
    for (int victim = 0; victim<size; victim += size> 1 ? size - 1 : 1)
        for (n = 0, reached = 1; reached; n++) {
            struct failing_memory scarce = {0, rank == victim ? n : -1, 0, 0};
            ctx->memory = (struct hs_allocator){failing_memory_get, failing_memory_put, &scarce};
            hsumma_status status = hsumma_redistribute(ctx, HSUMMA_D, N, N, a, &desca, b, &descb);
            reached = world_reduce(rank == victim && scarce.calls > n, MPI_MAX);
            bad += status != (reached ? HSUMMA_ERR_MEMORY : HSUMMA_OK) || scarce.out;
            ctx->memory = hs_heap;
        }
    tap_ok(world_reduce(bad, MPI_MAX) == 0 && n > 5, "memory that fails at each of %d calls", (int)n);
    ctx->options.settings.workspace.bytes = 8;
    hsumma_status status = hsumma_redistribute(ctx, HSUMMA_D, N, N, a, &desca, b, &descb);
    tap_ok(everywhere(status == HSUMMA_ERR_WORKSPACE), "workspace_limit=8: %s", hsumma_message(ctx));
    ctx->options.settings.workspace.bytes = 0;
}

int main(int argc, char **argv)
{
    hsumma_context *ctx = NULL, *other = NULL;
    hsumma_grid *grid = NULL, *foreign = NULL;
    world_begin(&argc, &argv);
    draw_seed(argc > 2 ? strtoull(argv[2], NULL, 10) : 1);
    int open = hsumma_create(MPI_COMM_WORLD, NULL, &ctx, NULL, 0) == HSUMMA_OK &&
               hsumma_create(MPI_COMM_WORLD, NULL, &other, NULL, 0) == HSUMMA_OK &&
               hsumma_grid_create(ctx, 1, size, 'R', NULL, &grid) == HSUMMA_OK &&
               hsumma_grid_create(other, 1, size, 'R', NULL, &foreign) == HSUMMA_OK;
    if (tap_ok(everywhere(open) && size <= SPREAD_RANKS, "two contexts on %d ranks", size)) {
        test_errors(ctx, grid, foreign);
        test_one_array(ctx, grid);
        test_memory(ctx, grid);
        test_cases(ctx, argc > 1 ? atoi(argv[1]) : 100);
    }
    hsumma_grid_free(&grid);
    hsumma_grid_free(&foreign);
    hsumma_free(&other);
    hsumma_free(&ctx);
    return world_end();
}
