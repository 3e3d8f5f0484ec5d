/*
 * The layouts that hsumma_desc_best chooses. No even layout on any grid of as many processes may require fewer elements
 * to move; these elements are counted for every triple (i, j, l). Further tests: products in the chosen layouts; wrong
 * arguments; memory that fails on one rank.
 *
 *     best [topology=nodes:N]
 */
#include "support/failing_memory.h"
#include "support/product/gemm_case.h"

/* Matrix extents are multiples of 12 (20 with 5 processes), which every grid dimension divides. */
enum { LAYOUTS = 4, UNIT = 12, UNIT_OF_5 = 20, EDGE = 5 * UNIT_OF_5 };

static const int64_t block_of[LAYOUTS] = {0, 1, 2, 5};

/* Elements that must move, counted triple by triple. */

/* The rank that owns element (i, j) of a whole matrix, as stored. */
static int owner_of(const hsumma_desc *desc, int64_t i, int64_t j)
{
    struct hs_axis rows = hs_desc_axis(desc, 0), cols = hs_desc_axis(desc, 1);
    return hsumma_grid_rank(desc->grid, hs_axis_owner(&rows, i), hs_axis_owner(&cols, j));
}

/* at: indices along m, n and k. Returns the column-major position, in the stored X, of the element that these indices
 * select; sets *owner to its rank. */
static int64_t element_of(const struct gemm_case *c, int x, const int64_t at[3], int *owner)
{
    int64_t i = at[hs_operand_dims[x][0]], j = at[hs_operand_dims[x][1]];
    if (x < 2 && (x ? c->tb : c->ta) != 'N') {
        int64_t t = i;
        i = j;
        j = t;
    }
    *owner = owner_of(&c->desc[x], i, j);
    return j * c->desc[x].m + i;
}

/* The most elements that move into any part (part[r]: the part of rank r). These are the elements of A and B that the
 * part needs but does not own, and the elements of C that it owns and to which another part contributes. Elements of
 * the stationary operand do not move. */
static int64_t most_moved(const struct gemm_case *c, int stationary, const int *part, int parts)
{
    size_t room = (size_t)parts * EDGE * EDGE;
    unsigned char *uses[3] = {calloc(room, 1), calloc(room, 1), calloc(room, 1)};
    int64_t *moved = calloc((size_t)parts, sizeof *moved), most = 0, at[3];
    int worker, owner;
    for (at[0] = 0; at[0] < c->m; at[0]++)
        for (at[1] = 0; at[1] < c->n; at[1]++)
            for (at[2] = 0; at[2] < c->k; at[2]++) {
                element_of(c, stationary, at, &worker);
                for (int x = 0; x < 3; x++) {
                    size_t element = (size_t)element_of(c, x, at, &owner);
                    int into = x == 2 ? part[owner] : part[worker], from = x == 2 ? part[worker] : part[owner];
                    unsigned char *use = &uses[x][(size_t)into * EDGE * EDGE + element];
                    moved[into] += x != stationary && into != from && !*use;
                    *use |= x != stationary && into != from;
                }
            }
    for (int i = 0; i < parts; i++)
        most = moved[i] > most ? moved[i] : most;
    for (int x = 0; x < 3; x++)
        free(uses[x]);
    free(moved);
    return most;
}

struct traffic {
    int64_t nodes, processes;
};

/* Of the plan without layers, which most_moved counts. */
static struct traffic traffic_of(hsumma_context *ctx, const struct gemm_case *c)
{
    const struct hs_division *node = &ctx->comm.topology.division[HS_NODE];
    struct traffic found = {-1, -1};
    int alone[64], on_node[64];
    hsumma_plan *plan = NULL;
    struct gemm_case one = *c;
    one.options = c->options ? c->options : "layers=1";
    if (gemm_plan_create(ctx, &one, &plan))
        return found;
    int stationary = plan_query(plan).stationary - 'A';
    for (int i = 0; i < size; i++)
        alone[i] = i;
    for (int i = 0; i < size; i++)
        on_node[i] = hs_part_of(node, i);
    found = (struct traffic){most_moved(c, stationary, on_node, node->parts), most_moved(c, stationary, alone, size)};
    hsumma_plan_free(&plan);
    return found;
}

static int is_above(struct traffic a, struct traffic b)
{
    return a.nodes != b.nodes ? a.nodes > b.nodes : a.processes > b.processes;
}

/* The tests. */

struct product {
    char ta, tb;
    int64_t m, n, k; /* in multiples of the unit */
};

static const struct product products[] = {{'N', 'N', 3, 3, 3}, {'N', 'T', 1, 1, 5}, {'T', 'N', 1, 2, 5},
                                          {'N', 'N', 5, 1, 1}, {'T', 'C', 2, 5, 1}, {'N', 'N', 1, 4, 4}};

static void free_all(hsumma_grid *grid[3])
{
    for (int x = 0; x < 3; x++)
        hsumma_grid_free(&grid[x]);
}

/* Whether all processes of the grid own equal parts of each matrix. (If one owned everything, nothing would move.) */
static int is_even(const struct gemm_case *c)
{
    for (int x = 0; x < 3; x++)
        for (int axis = 0; axis < 2; axis++) {
            struct hs_axis it = hs_desc_axis(&c->desc[x], axis);
            for (int i = 0; i < it.nprocs; i++)
                if (hs_axis_count(&it, i) != hs_axis_count(&it, 0))
                    return 0;
        }
    return 1;
}

/* The number of even layouts on grids of as many processes that move less than the best one, which must be 0; -1 on an
 * error. */
static int count_better(hsumma_context *ctx, const struct gemm_case *best, struct traffic least, int layouts,
                        int *tried)
{
    int rows, cols, better = 0;
    hsumma_grid_info(best->desc[0].grid, &rows, &cols, NULL, NULL);
    for (int p = 1; p <= rows * cols; p++)
        for (int layout = 0; layout < layouts && rows * cols % p == 0; layout++) {
            hsumma_grid *grid = NULL;
            if (hsumma_grid_create(ctx, p, rows * cols / p, 'A', NULL, &grid))
                return -1;
            struct gemm_case c =
                gemm_case_of(grid, best->type, best->ta, best->tb, best->m, best->n, best->k, block_of[layout]);
            c.options = best->options;
            if (is_even(&c)) {
                struct traffic other = traffic_of(ctx, &c);
                better += other.processes >= 0 && is_above(least, other);
                if (other.processes >= 0 && is_above(least, other) && rank == 0)
                    printf("# BETTER %d x %d, nb %d: %d %d\n", p, rows * cols / p, (int)block_of[layout],
                           (int)other.nodes, (int)other.processes);
                ++*tried;
            }
            hsumma_grid_free(&grid);
        }
    return better;
}

/* With options, which name the stationary operand, layouts with several block sizes are compared. Without options the
 * model may choose another stationary operand for another block size, so only grids are compared. */
static void test_product(hsumma_context *ctx, const struct product *p, const char *options)
{
    int64_t unit = size == 5 ? UNIT_OF_5 : UNIT, m = p->m * unit, n = p->n * unit, k = p->k * unit;
    hsumma_grid *grid[3];
    hsumma_desc desc[3];
    int rows = 0, cols = 0, tried = 0;
    hsumma_status status =
        hsumma_desc_best(ctx, HSUMMA_D, p->ta, p->tb, m, n, k, options, grid, &desc[0], &desc[1], &desc[2]);
    if (!tap_ok(everywhere(!status), "descriptors: %s", status ? hsumma_message(ctx) : "made"))
        return;
    struct gemm_case c = gemm_case_of(grid[0], HSUMMA_D, p->ta, p->tb, m, n, k, 0);
    memcpy(c.desc, desc, sizeof desc);
    c.options = options;
    hsumma_grid_info(grid[0], &rows, &cols, NULL, NULL);
    struct traffic least = traffic_of(ctx, &c);
    int better = count_better(ctx, &c, least, options ? LAYOUTS : 1, &tried);
    tap_ok(everywhere(better == 0 && least.processes >= 0 && tried > 0),
           "%c%c %d x %d x %d, %s: %d x %d moves %d elements into a node, %d into a process; %d of %d move less", p->ta,
           p->tb, (int)m, (int)n, (int)k, options ? options : "no words", rows, cols, (int)least.nodes,
           (int)least.processes, better, tried);
    tap_ok(everywhere(gemm_multiplies(ctx, &c, 1)), "  and the product is right");
    free_all(grid);
    tap_ok(everywhere(!grid[0] && !grid[1] && !grid[2]), "  each grid is freed");
}

static void test_least(hsumma_context *ctx)
{
    static const char *const words[] = {NULL, "stationary=A", "stationary=B", "stationary=C"};
    for (unsigned i = 0; i < sizeof products / sizeof *products; i++)
        for (unsigned w = 0; w < sizeof words / sizeof *words; w++)
            if (w == 0 || (i + w) % 3 == 0)
                test_product(ctx, &products[i], words[w]);
}

/* Random sizes, also 0; all types; processes that own nothing. */
static void test_products(hsumma_context *ctx)
{
    int wrong = 0, made = 0;
    for (int i = 0; i < 24; i++) {
        hsumma_type type = (hsumma_type)(i % 4);
        char ta = "NTC"[draw(3)], tb = "NTC"[draw(3)];
        int64_t m = draw(40), n = draw(40), k = draw(i % 2 ? 3 : 90);
        hsumma_grid *grid[3];
        hsumma_desc desc[3];
        if (hsumma_desc_best(ctx, type, ta, tb, m, n, k, i % 3 ? NULL : "node=messages", grid, &desc[0], &desc[1],
                             &desc[2])) {
            tap_diag("%s", hsumma_message(ctx));
            wrong++;
            continue;
        }
        struct gemm_case c = gemm_case_of(grid[0], type, ta, tb, m, n, k, 0);
        memcpy(c.desc, desc, sizeof desc);
        c.options = i % 3 ? NULL : "node=messages";
        wrong += !gemm_multiplies(ctx, &c, 1);
        made++;
        free_all(grid);
    }
    tap_ok(everywhere(wrong == 0), "%d products of all types in their distributions, %d are wrong", made, wrong);
}

/* Wrong arguments: all ranks get the same status, and nothing leaks. */
static void test_refused(hsumma_context *ctx)
{
    static const struct {
        hsumma_type type;
        char ta;
        int64_t m;
        const char *options;
        hsumma_status status;
    } cases[] = {{HSUMMA_D, 'N', -1, NULL, HSUMMA_ERR_ARGUMENT},
                 {HSUMMA_D, 'X', 9, NULL, HSUMMA_ERR_ARGUMENT},
                 {(hsumma_type)9, 'N', 9, NULL, HSUMMA_ERR_ARGUMENT},
                 {HSUMMA_D, 'N', 9, "block=x", HSUMMA_ERR_OPTION},
                 {HSUMMA_D, 'N', 9, "no_such=1", HSUMMA_ERR_OPTION}};
    hsumma_grid *grid[3];
    hsumma_desc desc[3], before[3];
    memset(desc, 0x5a, sizeof desc);
    memcpy(before, desc, sizeof desc);
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        hsumma_status status = hsumma_desc_best(ctx, cases[i].type, cases[i].ta, 'N', cases[i].m, 8, 8,
                                                cases[i].options, grid, &desc[0], &desc[1], &desc[2]);
        tap_ok(everywhere(status == cases[i].status && !grid[0] && !grid[1] && !grid[2] && hsumma_message(ctx)[0] &&
                          !memcmp(desc, before, sizeof desc)),
               "refused: %s: %s", hsumma_status_string(status), hsumma_message(ctx));
    }
    if (size == 1)
        return;
    int64_t mine = rank == size - 1 ? -4 : 30;
    hsumma_status status =
        hsumma_desc_best(ctx, HSUMMA_D, 'N', 'N', mine, 30, 30, NULL, grid, &desc[0], &desc[1], &desc[2]);
    tap_ok(everywhere(status == HSUMMA_ERR_ARGUMENT && !grid[0]), "wrong on one rank alone: %s", hsumma_message(ctx));
    mine = rank == size - 1 ? 31 : 30;
    status = hsumma_desc_best(ctx, HSUMMA_D, 'N', 'N', mine, 30, 30, NULL, grid, &desc[0], &desc[1], &desc[2]);
    tap_ok(everywhere(status == HSUMMA_ERR_ARGUMENT && !grid[0]), "another product on one rank: %s",
           hsumma_message(ctx));
}

/* In each call another allocation fails, on another rank: all ranks get the same status, and nothing leaks. */
static void test_memory(hsumma_context *ctx)
{
    int reached = 1, wrong = 0, failed = 0, tried = 0;
    for (int64_t n = 0; reached && n < 100000; n += n < 8 ? 1 : n / 3, tried++) {
        int victim = tried % size;
        struct failing_memory scarce = {0, rank == victim ? n : -1, 0, tried % 2};
        hsumma_grid *grid[3];
        hsumma_desc desc[3];
        ctx->memory = (struct hs_allocator){failing_memory_get, failing_memory_put, &scarce};
        hsumma_status status =
            hsumma_desc_best(ctx, HSUMMA_D, 'N', 'N', 30, 20, 10, NULL, grid, &desc[0], &desc[1], &desc[2]);
        int same = alike(status);
        reached = (int)world_reduce(rank == victim && scarce.calls > n, MPI_MAX);
        failed += status == HSUMMA_ERR_MEMORY;
        int good = same && (status ? status == HSUMMA_ERR_MEMORY && !grid[0] : grid[0] != NULL);
        free_all(grid);
        good = good && scarce.out == 0;
        ctx->memory = hs_heap;
        wrong += !everywhere(good);
    }
    tap_ok(everywhere(!wrong && failed > 3), "memory fails on one rank: %d times of %d, %d are wrong", failed, tried,
           wrong);
}

static void test_all(hsumma_context *ctx, const hsumma_grid *grid)
{
    (void)grid;
    test_least(ctx);
    test_products(ctx);
    test_refused(ctx);
    test_memory(ctx);
}

int main(int argc, char **argv)
{
    return gemm_main(argc, argv, test_all);
}
