/*
 * Products of matrices in device memory, on the stand-in, which delays work, so that memory read or overwritten too
 * early gives wrong results. Random layouts are compared with a direct triple loop, with each operand on the device or
 * on the host. Further tests: bits; several plans in turn, with more and more memory for tiles; executions that do not
 * wait for the previous one.
 *
 *     mpi_gemm [CASES [FIRST]]     FIRST is the number of the first case, as reported by a failing one
 */
#include "support/device/gemm_device.h"
#include "support/product/gemm_random.h"

/* Whether the execution must run on the devices: every process that owns elements of C has them in device memory.  The
 * stand-in, which is always preferred to the BLAS, also gets the matrices of several processes from the host, unless C
 * is only scaled. */
static int belongs_there(const hsumma_plan *plan, const struct gemm_case *c, const struct gemm_matrices *m)
{
    int here = 0;
    for (int64_t col = 0; col < m->home[2].cols && plan->in_grid; col++)
        for (int64_t row = 0; row < m->home[2].rows; row++) {
            int64_t i, j;
            here |= gemm_inside(c, 2, &m->home[2], row, col, &i, &j) && !(m->on_device & ON_C);
        }
    here = world_reduce(here, MPI_MAX);
    int several = plan->problem.grid.extent[0] * plan->problem.grid.extent[1] > 1;
    return !here || (plan->ctx->device->kind->is_stand_in && several && c->alpha != 0 && c->k > 0);
}

/* Runs one execution; returns NULL, or a description of the error on this rank. *hash, unless NULL, becomes a hash of
 * the bits of C. */
static const char *wrong_execution(hsumma_context *ctx, hsumma_plan *plan, const struct gemm_case *c, int on_device,
                                   int64_t *hash)
{
    struct gemm_matrices m;
    const char *what = gemm_place(ctx, c, on_device, &m) ? NULL : "no device memory for the matrices";
    hsumma_status status = gemm_begin(plan, c, m.used, 1);
    int there = belongs_there(plan, c, &m);
    if (status)
        what = hsumma_message(ctx);
    else if (!gemm_bring_home(ctx, &m))
        what = ctx->device->message.text;
    else if (gemm_fault(plan, c, m.home, status))
        what = gemm_fault(plan, c, m.home, status);
    else if (plan->in_grid && (strcmp(plan_query(plan).node, "device") == 0) != there)
        what = there ? "not on the device" : "on the device, with C on the host";
    if (hash)
        *hash = gemm_hash_of_c(c, &m.home[2]);
    gemm_forget(ctx, &m);
    return what;
}

/* Draws options for the product inside one node, without chunks, which devices do not support. */
static void draw_words(int stationary, char *options, size_t room)
{
    static const int widths[] = {0, 1, 2, 3, 5, 8, 30, 100};
    int block = widths[draw(8)], used = 0;
    options[0] = 0;
    if (stationary != GEMM_AUTO)
        used = snprintf(options, room, "stationary=%c ", gemm_stays[stationary]);
    if (block)
        snprintf(options + used, room - (size_t)used, "block=%d", block);
}

static const char *failure(hsumma_context *ctx, const struct gemm_case *c, int stationary)
{
    hsumma_plan *plan = NULL;
    const char *what = gemm_wrong_verdict(ctx, c, stationary, gemm_plan_create(ctx, c, &plan));
    for (int i = 0; plan && i < 3 && !what; i++) {
        int all = draw(3) == 0 ? draw(8) : ON_ALL,
            mine = draw(4) ? 0 : (int)(hs_scrambled((uint64_t)(draw(64) + rank)) % 8);
        what = wrong_execution(ctx, plan, c, i == 0 ? ON_ALL : all ^ mine, NULL);
        what = everywhere(what == NULL) ? NULL : what ? what : "";
    }
    hsumma_plan_free(&plan);
    return what;
}

/* A context with a device, and three grids of all processes: one row, one column, nearly square. */
struct shapes {
    hsumma_context *ctx;
    hsumma_grid *grid[3];
};

static int shapes_open(struct shapes *shapes, const char *words)
{
    int P, Q;
    *shapes = (struct shapes){.ctx = gemm_device_context(words)};
    hsumma_grid_shape(size, &P, &Q);
    return everywhere(shapes->ctx && !hsumma_grid_create(shapes->ctx, 1, size, 'R', NULL, &shapes->grid[0]) &&
                      !hsumma_grid_create(shapes->ctx, size, 1, 'C', NULL, &shapes->grid[1]) &&
                      !hsumma_grid_create(shapes->ctx, P, Q, 'R', NULL, &shapes->grid[2]));
}

static void shapes_close(struct shapes *shapes)
{
    for (int i = 0; i < 3; i++)
        hsumma_grid_free(&shapes->grid[i]);
    hsumma_free(&shapes->ctx);
}

/* Random layouts on each of the three grids. */
static void test_layouts(const char *words, int64_t first, int count)
{
    struct shapes shapes;
    int bad = 0, opened = shapes_open(&shapes, words);
    for (int64_t number = first; opened && number < first + count; number++) {
        char options[256];
        int stationary = (int)(number % 4);
        draw_seed((uint64_t)number + 1);
        struct gemm_case c = gemm_draw_case(shapes.grid[number % 3], stationary, options, sizeof options);
        draw_words(stationary, options, sizeof options);
        const char *what = failure(shapes.ctx, &c, stationary);
        int who = (int)world_reduce(what && *what ? rank : size, MPI_MIN);
        bad += who < size;
        if (who < size && bad <= 5)
            gemm_report(who, &c, number, what);
    }
    tap_ok(opened && bad == 0, "%s: %d layouts, %d wrong", words, count, bad);
    shapes_close(&shapes);
}

/* C has the same bits whether A is in host or device memory, and in whatever order the stand-in does its work. */
static void test_bits(void)
{
    static const char *const words[] = {"eager", "lazy", "random:5"};
    int64_t first[9], cases = 0, differ = 0;
    for (int w = 0; w < 3; w++) {
        struct shapes shapes;
        int opened = shapes_open(&shapes, words[w]);
        for (int i = 0; opened && i < 9; i++) {
            char options[64];
            struct gemm_case c =
                gemm_case_of(shapes.grid[2], (hsumma_type)(i % 4), "NTC"[i % 3], "NTC"[i / 3], 37, 41, 150, 8);
            hsumma_plan *plan = NULL;
            c.fractions = 1;
            c.alpha = 1.3;
            snprintf(options, sizeof options, "stationary=%c block=16", "ABC"[i % 3]);
            c.options = options;
            int good = !gemm_plan_create(shapes.ctx, &c, &plan);
            for (int again = 0; good && again < 2; again++) {
                int64_t hash = 0;
                good = !wrong_execution(shapes.ctx, plan, &c, again ? ON_ALL : ON_ALL - ON_A, &hash);
                first[i] = w || again ? first[i] : hash;
                good &= hash == first[i];
                cases++;
            }
            differ += !everywhere(good);
            hsumma_plan_free(&plan);
        }
        shapes_close(&shapes);
    }
    tap_ok(cases == 54 && differ == 0, "bits: %d executions, %d differ", (int)cases, (int)differ);
}

/* Products on one grid, each with larger tiles than the one before; every second has partial results of C. */
enum { PLANS = 4 };
static struct gemm_case call_in_turn(const hsumma_grid *grid, int p)
{
    static const int64_t extent[PLANS][3] = {{60, 4, 20}, {1000, 200, 4}, {1400, 4, 300}, {1500, 300, 4}};
    struct gemm_case c =
        gemm_case_of(grid, HSUMMA_Z, "NT"[p % 2], "TN"[p / 2], extent[p][0], extent[p][1], extent[p][2], 16);
    c.options = p % 2 ? "stationary=A block=300" : "stationary=C block=300";
    return c;
}

/* Executes several plans in turn, and creates each while others are in progress; the host never waits for the devices'
 * work between them. */
static void test_turns(const char *words)
{
    enum { TURNS = 3 };
    struct shapes shapes;
    hsumma_plan *plan[PLANS] = {NULL};
    struct gemm_case c[PLANS];
    struct gemm_matrices m[TURNS][PLANS];
    int good = shapes_open(&shapes, words), right = 1;
    hsumma_context *ctx = shapes.ctx;
    for (int p = 0; good && p < PLANS; p++)
        c[p] = call_in_turn(shapes.grid[2], p);
    good = good && !gemm_plan_create(ctx, &c[0], &plan[0]);
    for (int t = 0; good && t < TURNS; t++)
        for (int p = 0; good && p < PLANS; p++) {
            good &= gemm_place(ctx, &c[p], ON_ALL, &m[t][p]) && !gemm_begin(plan[p], &c[p], m[t][p].used, 0);
            if (p + 1 < PLANS && !plan[p + 1])
                good &= !gemm_plan_create(ctx, &c[p + 1], &plan[p + 1]);
            good &= !hsumma_plan_wait(plan[p]);
        }
    good = everywhere(good);
    for (int p = 0; p < PLANS; p++)
        hsumma_plan_free(&plan[p]); /* the plans' work may still be in progress */
    for (int t = 0; good && t < TURNS; t++)
        for (int p = 0; p < PLANS; p++) {
            right &= gemm_bring_home(ctx, &m[t][p]) &&
                     gemm_wrong(&c[p], &m[t][p].home[2], 0) + gemm_changed(&c[p], m[t][p].home) == 0;
            gemm_forget(ctx, &m[t][p]);
        }
    tap_ok(good && everywhere(right), "%s: %d plans in turn on one grid, made while others run", words, PLANS);
    shapes_close(&shapes);
}

/* Executes one plan repeatedly without waiting: each execution overwrites the tiles of the previous one. */
static int chain(hsumma_context *ctx, const struct gemm_case *c)
{
    enum { TIMES = 12 };
    struct gemm_matrices m[TIMES];
    struct gemm_case call[TIMES];
    hsumma_plan *plan = NULL;
    int right = 1, good = everywhere(!gemm_plan_create(ctx, c, &plan));
    for (int t = 0; good && t < TIMES; t++) {
        call[t] = *c;
        call[t].alpha = t % 7 - 2; /* alpha is sometimes 0 */
        good &= gemm_place(ctx, &call[t], ON_ALL, &m[t]) && !gemm_begin(plan, &call[t], m[t].used, 1);
    }
    good = everywhere(good);
    for (int t = 0; good && t < TIMES; t++) {
        right &= gemm_bring_home(ctx, &m[t]) &&
                 gemm_wrong(&call[t], &m[t].home[2], 0) + gemm_changed(&call[t], m[t].home) == 0;
        gemm_forget(ctx, &m[t]);
    }
    hsumma_plan_free(&plan);
    return everywhere(good && right);
}

static void test_chains(const char *words)
{
    struct shapes shapes;
    int bad = 0, chains = 0, opened = shapes_open(&shapes, words);
    for (int i = 0; opened && i < 3; i++)
        for (int s = 0; s < 4; s++, chains++) {
            /* s = 0, with A transposed: A and B may have the same layout in k, so only C moves. s = 3, few columns: one
             * column of processes owns all of C, and reads panels that no other process needs. */
            struct gemm_case c = gemm_case_of(shapes.grid[i], HSUMMA_D, "TN"[s > 0], 'N', 40, s == 3 ? 5 : 32, 60, 8);
            c.options = s == 0 ? "stationary=A block=8" : s == 1 ? "stationary=B block=8" : "stationary=C block=4";
            bad += !chain(shapes.ctx, &c);
        }
    tap_ok(chains == 12 && bad == 0, "%s: %d plans executed again without a wait, %d wrong", words, chains, bad);
    shapes_close(&shapes);
}

int main(int argc, char **argv)
{
    static const char *const words[] = {"eager", "lazy", "random:1", "random:2,noevents", "lazy,noevents"};
    world_begin(&argc, &argv);
    int count = argc > 1 ? atoi(argv[1]) : 60;
    int64_t first = argc > 2 ? atoll(argv[2]) : 0;
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        test_layouts(words[i], argc > 2 ? first : first + (int64_t)i * count, count);
    test_bits();
    for (unsigned i = 1; i < sizeof words / sizeof *words; i++)
        test_turns(words[i]);
    for (unsigned i = 1; i < sizeof words / sizeof *words; i++)
        test_chains(words[i]);
    return world_end();
}
