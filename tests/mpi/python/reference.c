/*
 * Reference results for the tests of the Python package.
 *
 * reference layout: prints the sizes of the public structures and the offsets of their members.
 *
 * reference product TYPE OPS M N K NB FILE: computes C := 2 op(A) op(B) - C by hsumma_?gemm on matrices of known
 * elements, in blocks of NB (0: one per process), and writes each rank's part to FILE.RANK.
 *
 * reference overhead M CALLS: prints seconds per call of hsumma_dgemm, hsumma_plan_execute and hsumma_allreduce.
 */
#include <hsumma.h>
#include <hsumma_coll.h>

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE(structure) printf(#structure " %zu\n", sizeof(structure))
#define AT(structure, member) printf(#structure " " #member " %zu\n", offsetof(structure, member))

static void print_layout(void)
{
    SIZE(MPI_Comm);
    SIZE(hsumma_desc);
    AT(hsumma_desc, grid), AT(hsumma_desc, m), AT(hsumma_desc, n), AT(hsumma_desc, mb), AT(hsumma_desc, nb);
    AT(hsumma_desc, imb), AT(hsumma_desc, inb), AT(hsumma_desc, rsrc), AT(hsumma_desc, csrc), AT(hsumma_desc, i);
    AT(hsumma_desc, j), AT(hsumma_desc, ld);
    SIZE(hsumma_level);
    AT(hsumma_level, rows), AT(hsumma_level, cols), AT(hsumma_level, block), AT(hsumma_level, bcast);
    AT(hsumma_level, reduce);
    SIZE(hsumma_movement);
    AT(hsumma_movement, how), AT(hsumma_movement, exchange_bytes), AT(hsumma_movement, exchange_seconds);
    SIZE(hsumma_rival);
    AT(hsumma_rival, line), AT(hsumma_rival, seconds), AT(hsumma_rival, measured);
    SIZE(hsumma_plan_info);
    AT(hsumma_plan_info, line), AT(hsumma_plan_info, why), AT(hsumma_plan_info, stationary);
    AT(hsumma_plan_info, nprow), AT(hsumma_plan_info, npcol), AT(hsumma_plan_info, nlevels);
    AT(hsumma_plan_info, level), AT(hsumma_plan_info, lookahead), AT(hsumma_plan_info, segment);
    AT(hsumma_plan_info, threads), AT(hsumma_plan_info, panels), AT(hsumma_plan_info, node);
    AT(hsumma_plan_info, chunk), AT(hsumma_plan_info, workspace_bytes), AT(hsumma_plan_info, workspace_bytes_max);
    AT(hsumma_plan_info, workspace_limit_bytes), AT(hsumma_plan_info, predicted_seconds);
    AT(hsumma_plan_info, predicted_comm_seconds), AT(hsumma_plan_info, predicted_gemm_seconds);
    AT(hsumma_plan_info, predicted_copy_seconds), AT(hsumma_plan_info, predicted_bytes_sent);
    AT(hsumma_plan_info, predicted_messages_sent), AT(hsumma_plan_info, lower_bound_bytes);
    AT(hsumma_plan_info, profile), AT(hsumma_plan_info, tuned), AT(hsumma_plan_info, nrivals);
    AT(hsumma_plan_info, rival), AT(hsumma_plan_info, predicted_stationary), AT(hsumma_plan_info, operand);
    AT(hsumma_plan_info, seconds), AT(hsumma_plan_info, gemm_seconds), AT(hsumma_plan_info, copy_seconds);
    AT(hsumma_plan_info, comm_seconds), AT(hsumma_plan_info, wait_seconds), AT(hsumma_plan_info, bytes_sent);
    AT(hsumma_plan_info, messages_sent), AT(hsumma_plan_info, local), AT(hsumma_plan_info, steps);
    AT(hsumma_plan_info, steps_run);
    AT(hsumma_plan_info, guard_checked), AT(hsumma_plan_info, guard_found), AT(hsumma_plan_info, guard_repaired);
    AT(hsumma_plan_info, guard_unchecked), AT(hsumma_plan_info, guard_seconds);
    SIZE(hsumma_operator);
    AT(hsumma_operator, op), AT(hsumma_operator, element), AT(hsumma_operator, combine), AT(hsumma_operator, state);
    AT(hsumma_operator, size), AT(hsumma_operator, commutative);
    SIZE(hsumma_coll);
    AT(hsumma_coll, collective), AT(hsumma_coll, in), AT(hsumma_coll, out), AT(hsumma_coll, count);
    AT(hsumma_coll, counts), AT(hsumma_coll, size), AT(hsumma_coll, op), AT(hsumma_coll, root);
    AT(hsumma_coll, algorithm);
}

struct world {
    hsumma_context *ctx;
    hsumma_grid *grid;
    int rank;
};

static struct world begin(void)
{
    struct world world = {.rank = 0};
    char why[512] = "";
    int size, nprow, npcol;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &world.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    hsumma_grid_shape(size, &nprow, &npcol);
    if (hsumma_create(MPI_COMM_WORLD, NULL, &world.ctx, why, sizeof why) ||
        hsumma_grid_create(world.ctx, nprow, npcol, 'A', NULL, &world.grid)) {
        fprintf(stderr, "reference: %s\n", why);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return world;
}

static void end(struct world *world)
{
    hsumma_grid_free(&world->grid);
    hsumma_free(&world->ctx);
    MPI_Finalize();
}

static hsumma_desc describe(const struct world *world, int64_t m, int64_t n, int64_t nb)
{
    hsumma_desc desc;
    if (nb)
        hsumma_desc_init(&desc, world->grid, m, n, nb, nb);
    else
        hsumma_desc_checkerboard(&desc, world->grid, m, n);
    return desc;
}

/* An element of a matrix; sums of such elements depend on their order. */
static double element(int64_t row, int64_t col, int64_t seed)
{
    return (double)((row * 37 + col * 101 + seed) % 251 - 125) / 3.0;
}

static void *fill(hsumma_type type, const hsumma_desc *desc, int64_t seed, size_t *bytes)
{
    static const size_t sizes[] = {4, 8, 8, 16};
    int64_t rows = hsumma_local_rows(desc), cols = hsumma_local_cols(desc);
    int complex = type >= HSUMMA_C;
    *bytes = (size_t)(rows * cols) * sizes[type];
    char *data = malloc(*bytes + 1);
    for (int64_t x = 0; data && x < rows * cols; x++)
        for (int part = 0; part <= complex; part++) {
            double value =
                element(hsumma_global_row(desc, x % rows), hsumma_global_col(desc, x / rows), seed + 7 * part);
            if (type == HSUMMA_S || type == HSUMMA_C)
                ((float *)data)[x * (1 + complex) + part] = (float)value;
            else
                ((double *)data)[x * (1 + complex) + part] = value;
        }
    return data;
}

static int multiply(char **word)
{
    struct world world = begin();
    hsumma_type type = (hsumma_type)(strchr("sdcz", word[0][0]) - "sdcz");
    char ta = word[1][0], tb = word[1][1], path[4096];
    int64_t m = atol(word[2]), n = atol(word[3]), k = atol(word[4]), nb = atol(word[5]);
    hsumma_desc desc[3] = {ta == 'N' ? describe(&world, m, k, nb) : describe(&world, k, m, nb),
                           tb == 'N' ? describe(&world, k, n, nb) : describe(&world, n, k, nb),
                           describe(&world, m, n, nb)};
    size_t bytes = 0;
    void *a = fill(type, &desc[0], 1, &bytes), *b = fill(type, &desc[1], 2, &bytes),
         *c = fill(type, &desc[2], 3, &bytes);
    const float two[] = {2, 0}, minus[] = {-1, 0};
    const double ztwo[] = {2, 0}, zminus[] = {-1, 0};
    hsumma_status status =
        type == HSUMMA_S   ? hsumma_sgemm(world.ctx, ta, tb, m, n, k, 2, a, &desc[0], b, &desc[1], -1, c, &desc[2])
        : type == HSUMMA_D ? hsumma_dgemm(world.ctx, ta, tb, m, n, k, 2, a, &desc[0], b, &desc[1], -1, c, &desc[2])
        : type == HSUMMA_C
            ? hsumma_cgemm(world.ctx, ta, tb, m, n, k, two, a, &desc[0], b, &desc[1], minus, c, &desc[2])
            : hsumma_zgemm(world.ctx, ta, tb, m, n, k, ztwo, a, &desc[0], b, &desc[1], zminus, c, &desc[2]);
    if (status)
        fprintf(stderr, "reference: %s\n", hsumma_message(world.ctx));
    snprintf(path, sizeof path, "%s.%d", word[6], world.rank);
    FILE *file = fopen(path, "wb");
    int bad = !file || fwrite(c, 1, bytes, file) != bytes || fclose(file) || status;
    free(a), free(b), free(c);
    end(&world);
    return bad;
}

static double run(int what, const struct world *world, hsumma_plan *plan, const hsumma_desc *desc, double *data[3],
                  int64_t m)
{
    const double one = 1, zero = 0;
    double began = MPI_Wtime();
    if (what == 0)
        hsumma_dgemm(world->ctx, 'N', 'N', m, m, m, 1, data[0], desc, data[1], desc, 0, data[2], desc);
    else if (what == 1)
        hsumma_plan_execute(plan, &one, data[0], data[1], &zero, data[2]);
    else
        hsumma_allreduce(world->ctx, data[0], data[2], 1, HSUMMA_DOUBLE, HSUMMA_SUM);
    return MPI_Wtime() - began;
}

static int by_value(const void *x, const void *y)
{
    double d = *(const double *)x - *(const double *)y;
    return (d > 0) - (d < 0);
}

/* Prints the median time of each call, in seconds. */
static int time_calls(int64_t m, int calls)
{
    static const char *const names[] = {"matmul", "execute", "allreduce"};
    struct world world = begin();
    hsumma_desc desc = describe(&world, m, m, 0);
    hsumma_plan *plan = NULL;
    double *data[3], *seconds = calloc((size_t)calls, sizeof *seconds);
    for (int x = 0; x < 3; x++)
        data[x] = calloc((size_t)(desc.ld * hsumma_local_cols(&desc)) + 1, sizeof **data);
    if (!seconds || hsumma_plan_create(world.ctx, HSUMMA_D, 'N', 'N', m, m, m, &desc, &desc, &desc, NULL, &plan))
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int what = 0; what < 3; what++) {
        for (int i = 0; i < calls; i++)
            seconds[i] = run(what, &world, plan, &desc, data, m);
        qsort(seconds, (size_t)calls, sizeof *seconds, by_value);
        if (!world.rank)
            printf("%s %.9f\n", names[what], seconds[calls / 2]);
    }
    hsumma_plan_free(&plan);
    free(data[0]), free(data[1]), free(data[2]), free(seconds);
    end(&world);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "layout") == 0)
        print_layout();
    else if (argc == 9 && strcmp(argv[1], "product") == 0)
        return multiply(argv + 2);
    else if (argc == 4 && strcmp(argv[1], "overhead") == 0)
        return time_calls(atol(argv[2]), atoi(argv[3]));
    else
        return 2;
    return 0;
}
