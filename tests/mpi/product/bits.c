/*
 * bits=anywhere: random products on random grids, distributions, hierarchies and algorithms, each element of C compared
 * bit for bit with its definition (ordered_entry), which knows nothing of processes; what is refused; the plan's line.
 * The first products are on a grid of each shape in turn; one in 16 has m and n of several hundred.
 *
 *     bits [PRODUCTS [SEED]] [OPTION=WORD ...]
 */
#include "support/product/gemm_random.h"
#include "support/product/ordered_entry.h"

static int products = 60;

/* op(A) by rows, or op(B) by columns, rounded to the type: k entries for each of `count` rows or columns. */
static double complex *lines_of(const struct gemm_case *c, int x, int64_t count)
{
    const char op = x ? c->tb : c->ta;
    double complex *line = calloc((size_t)(count * c->k) + 1, sizeof *line), rounded;
    for (int64_t i = 0; i < count; i++)
        for (int64_t l = 0; l < c->k; l++) {
            int rows_first = (x == 0) == (op == 'N');
            gemm_store(c->type, &rounded, 0, rows_first ? gemm_entry(c, x, i, l) : gemm_entry(c, x, l, i));
            double complex v = gemm_load(c->type, &rounded, 0);
            line[i * c->k + l] = op == 'C' ? conj(v) : v;
        }
    return line;
}

/* The number of elements of this process's part of C that differ from their definition. */
static int64_t different(const struct gemm_case *c, const struct gemm_part *local)
{
    double complex *a = lines_of(c, 0, c->m), *b = lines_of(c, 1, c->n), rounded;
    int64_t count = 0;
    gemm_store(c->type, &rounded, 0, c->alpha);
    double complex alpha = gemm_load(c->type, &rounded, 0);
    gemm_store(c->type, &rounded, 0, c->beta);
    double beta = creal(gemm_load(c->type, &rounded, 0));
    for (int64_t col = 0; col < local->cols; col++)
        for (int64_t row = 0; row < local->rows; row++) {
            int64_t i, j;
            if (!gemm_inside(c, 2, local, row, col, &i, &j))
                continue;
            gemm_store(c->type, &rounded, 0, gemm_entry(c, 2, i, j));
            double complex want =
                ordered_entry(c->type, c->k, alpha, a + i * c->k, b + j * c->k, beta, gemm_load(c->type, &rounded, 0));
            gemm_store(c->type, &rounded, 0, want);
            const size_t bytes = hs_scalars[c->type].size;
            const char *found = (const char *)local->data + (size_t)(row + col * c->desc[2].ld) * bytes;
            count += memcmp(found, &rounded, bytes) != 0;
        }
    free(a);
    free(b);
    return count;
}

/* The number of shapes of a grid of at most all ranks. */
static int count_shapes(void)
{
    int shapes = 0;
    for (int P = 1; P <= size; P++)
        shapes += size / P;
    return shapes;
}

/* Draws a grid; those of the first products have all shapes in turn. */
static hsumma_grid *draw_grid(hsumma_context *ctx, int64_t number)
{
    for (int P = 1; P <= size; number -= size / P++)
        if (number < size / P)
            return gemm_draw_grid_of(ctx, P, (int)number + 1);
    return gemm_draw_grid(ctx);
}

/* Draws a product with scalars that round, and sometimes many panels or a large C. */
static struct gemm_case draw_product(const hsumma_grid *grid, int64_t number)
{
    static const double scalars[] = {1, 1, 0, -1, 0.3, -1.7};
    int64_t nb = draw(8) ? 1 + draw(30) : 100 + draw(200);
    struct gemm_case c = gemm_draw_product(grid, draw(9), nb);
    if (number % 16 == 15)
        c = gemm_case_of(grid, c.type, c.ta, c.tb, 200 + draw(300), 200 + draw(300), 1 + draw(60), nb);
    else if (!draw(4))
        c = gemm_case_of(grid, c.type, c.ta, c.tb, c.m, c.n, 1 + draw(600), nb);
    c.alpha = scalars[draw(6)] + (c.type >= HSUMMA_C && draw(2) ? 0.6 * I : 0);
    c.beta = scalars[draw(6)];
    c.fractions = 1;
    if (draw(2))
        gemm_draw_layouts(&c);
    return c;
}

static void draw_options(const struct gemm_case *c, char *text, size_t room)
{
    static const char *const simple[] = {"", "node=messages", "node=messages block=7 lookahead=3", "block=13 chunk=5"};
    if (draw(2))
        gemm_draw_hierarchy(c, draw(2) ? 0 : GEMM_AUTO, text, room);
    else
        snprintf(text, room, "%s", simple[draw(4)]);
}

struct counts {
    int64_t products, large, different, wrong, plain, failed, alarms;
    int shapes;
};

static unsigned char drawn[65][65]; /* by P and Q: 1 if a grid of this shape was drawn */

/* One product with bits=anywhere, with the options of its plan's line, and with bits=plan. */
static void try_product(hsumma_context *ctx, int64_t number, struct counts *counts)
{
    char words[300], options[400], line[1200];
    hsumma_grid *grid = draw_grid(ctx, number);
    struct gemm_case c = draw_product(grid, number);
    unsigned char *shape = &drawn[gemm_extent_of(&c, 0)][gemm_extent_of(&c, 1)];
    counts->shapes += !*shape;
    *shape = 1;
    counts->large += c.m >= 200 && c.n >= 200;
    draw_options(&c, words, sizeof words);
    for (int pass = 0, passes = draw(4) ? 1 : 3; pass < passes; pass++) {
        struct gemm_part local[3];
        hsumma_plan *plan = NULL;
        snprintf(options, sizeof options, "%s bits=%s%s", words, pass < 2 ? "anywhere" : "plan",
                 draw(6) ? "" : " guard=product");
        c.options = pass == 1 ? line : options;
        gemm_make(&c, local);
        hsumma_status status = gemm_plan_create(ctx, &c, &plan);
        if (!status)
            status = gemm_step_through(plan, &c, local, draw(2) ? 1000000 : GEMM_AT_ONCE);
        snprintf(line, sizeof line, "%s", plan_query(plan).line);
        int64_t bad = status ? 0 : different(&c, &local[2]), wrong = status ? 0 : gemm_wrong(&c, &local[2], 0);
        counts->alarms += plan_query(plan).guard_found;
        int named = status || !line[0] || (strstr(line, "bits=anywhere") != NULL) == (pass < 2);
        const char *maker = status ? "none" : plan_query(plan).local;
        named &= !strcmp(maker, "none") || !strcmp(maker, pass < 2 ? "hsumma" : "BLAS");
        if (pass < 2 && (status || bad || !named))
            gemm_report(rank, &c, number, status ? hsumma_message(ctx) : named ? "other bits" : "not in the line");
        counts->products++;
        counts->failed += status != HSUMMA_OK || !named;
        counts->wrong += wrong;
        counts->different += pass < 2 ? bad : 0;
        counts->plain += pass < 2 ? 0 : bad;
        gemm_drop(local);
        hsumma_plan_free(&plan);
    }
    hsumma_grid_free(&grid);
}

static void test_products(hsumma_context *ctx)
{
    const int shapes = count_shapes();
    struct counts counts = {0};
    for (int i = 0; i < products; i++)
        try_product(ctx, i, &counts);
    int64_t plain = world_reduce(counts.plain, MPI_SUM);
    tap_ok(world_worst(counts.failed) == 0, "%d products: all complete", (int)counts.products);
    tap_ok(counts.shapes == (products < shapes ? products : shapes), "%d of %d shapes P x Q", counts.shapes, shapes);
    tap_ok(counts.large == products / 16, "%d products with m and n from 200 to 499", (int)counts.large);
    tap_ok(world_worst(counts.alarms) == 0, "no false alarm of guard=product");
    tap_ok(world_worst(counts.different) == 0, "bits=anywhere: every element has the bits of its definition");
    tap_ok(world_worst(counts.wrong) == 0, "every element is within the error bound of the triple loop");
    tap_ok(plain > 0 || products < 40, "bits=plan: %" PRId64 " elements have other bits", plain);
}

static void test_refusals(hsumma_context *ctx, const hsumma_grid *grid)
{
    static const char *const options[][2] = {{"stationary=A", "stationary=C"}, {"stationary=B", "stationary=C"},
                                             {"turn=8", "turn=all"},           {"layers=2", "layers=1"},
                                             {"threads=2", "threads=1"},       {"tune=measure", "tune=estimate"}};
    hsumma_grid *other = NULL;
    char text[80];
    for (unsigned i = 0; i < sizeof options / sizeof *options; i++) {
        struct gemm_case c = gemm_case_of(grid, HSUMMA_D, 'N', 'N', 8, 8, 8, 4);
        snprintf(text, sizeof text, "bits=anywhere %s", options[i][0]);
        c.options = text;
        gemm_refuse(ctx, &c, HSUMMA_ERR_UNSUPPORTED, text, options[i][1], "bits=anywhere");
    }
    struct gemm_case c = gemm_case_of(grid, HSUMMA_D, 'N', 'N', 8, 8, 8, 4);
    hsumma_grid_create(ctx, 1, size, 'R', NULL, &other);
    hsumma_desc_init(&c.desc[1], other, 8, 8, 4, 4);
    c.options = "bits=anywhere";
    gemm_refuse(ctx, &c, HSUMMA_ERR_UNSUPPORTED, "B on another grid", "one grid", "bits=anywhere");
    hsumma_grid_free(&other);
}

static void test_all(hsumma_context *ctx, const hsumma_grid *grid)
{
    test_refusals(ctx, grid);
    test_products(ctx);
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strchr(argv[1], '='))
        products = atoi(argv[1]);
    draw_seed(argc > 2 && !strchr(argv[2], '=') ? strtoull(argv[2], NULL, 10) : 1);
    return gemm_main(argc, argv, test_all);
}
