/*
 * Products of matrices in device memory, on the host device, which does its work late: what is read too early, or
 * overwritten, is wrong.  Seeded layouts against a direct triple loop, with each operand on the device or on the host;
 * bits; plans in turn, memory for tiles that grows; refusals; errors of work and of memory.
 *
 *     mpi_gemm_device [CASES [FIRST]]     a case that fails is told by its number
 */
#include "hsumma/plan.h"
#include "layouts.h"

enum { ON_A = 1, ON_B = 2, ON_C = 4, ALL = 7 };

/* The matrices of one execution: `home` of the host has what they begin with, and what has come of them. */
struct matrices {
    struct local home[3], used[3];
    size_t bytes[3];
    int on_device; /* which of them, of this process's parts */
};

/* A context whose device does its work in the order that the words say. */
static hsumma_context *context(const char *words)
{
    hsumma_context *ctx = NULL;
    setenv("HSUMMA_HOST_DEVICE", words, 1);
    hsumma_status status = hsumma_create(MPI_COMM_WORLD, "device=host threads=1", &ctx, NULL, 0);
    unsetenv("HSUMMA_HOST_DEVICE");
    return status ? NULL : ctx;
}

/* Fills them by work on the context's stream, which may be under way when this returns. */
static int place(hsumma_context *ctx, const struct call *c, int on_device, struct matrices *m)
{
    struct hs_device *device = ctx->device;
    int good = 1;
    make(c, m->home);
    m->on_device = 0;
    for (int x = 0; x < 3; x++) {
        m->used[x] = m->home[x];
        m->bytes[x] = (size_t)(c->desc[x].ld * m->home[x].cols) * bytes_of(c->type);
        if (!(on_device >> x & 1) || !m->home[x].data)
            continue;
        good &= !device->kind->get(device, m->bytes[x], &m->used[x].data) &&
                !device->kind->copy(device, ctx->stream, m->used[x].data, m->home[x].data, m->bytes[x]);
        m->on_device |= 1 << x;
    }
    return good;
}

/* Brings what is on the device home. */
static int bring(hsumma_context *ctx, struct matrices *m)
{
    struct hs_device *device = ctx->device;
    int good = 1;
    for (int x = 0; x < 3; x++)
        if (m->on_device >> x & 1)
            good &= !device->kind->copy(device, ctx->stream, m->home[x].data, m->used[x].data, m->bytes[x]);
    return good && !device->kind->synchronize(device, ctx->stream);
}

static void forget(hsumma_context *ctx, struct matrices *m)
{
    for (int x = 0; x < 3; x++)
        if (m->on_device >> x & 1)
            ctx->device->kind->put(ctx->device, m->used[x].data);
    drop(m->home);
}

/* Whether the execution has to run on the devices: C of all processes is there. */
static int belongs_there(const hsumma_plan *plan, const struct call *c, const struct matrices *m)
{
    int here = 0;
    for (int64_t col = 0; col < m->home[2].cols && plan->in_grid; col++)
        for (int64_t row = 0; row < m->home[2].rows; row++) {
            int64_t i, j;
            here |= inside(c, 2, &m->home[2], row, col, &i, &j) && !(m->on_device & ON_C);
        }
    return !quiet_reduce(here, MPI_MAX);
}

/* One execution; NULL, or what is wrong on this rank. */
static const char *wrong_execution(hsumma_context *ctx, hsumma_plan *plan, const struct call *c, int on_device,
                                   int64_t *hash)
{
    struct matrices m;
    hsumma_plan_info info;
    const char *what = place(ctx, c, on_device, &m) ? NULL : "no device memory for the matrices";
    hsumma_status status = begin(plan, c, m.used, 1);
    int there = belongs_there(plan, c, &m);
    hsumma_plan_query(plan, &info);
    if (status)
        what = hsumma_message(ctx);
    else if (!bring(ctx, &m))
        what = ctx->device->message.text;
    else if (!hash && wrong(c, &m.home[2], 0))
        what = "C is wrong";
    else if (changed(c, m.home))
        what = "A or B has changed";
    else if (plan->in_grid && (strcmp(info.node, "device") == 0) != there)
        what = there ? "not on the device" : "on the device, with C on the host";
    if (hash)
        *hash = hash_of_c(c, &m.home[2]);
    forget(ctx, &m);
    return what;
}

/* Words for a node, without chunks, which devices have not. */
static void draw_words(int stationary, char *options, size_t room)
{
    static const int widths[] = {0, 1, 2, 3, 5, 8, 30, 100};
    int block = widths[draw(8)], used = 0;
    options[0] = 0;
    if (stationary != AUTO)
        used = snprintf(options, room, "stationary=%c ", stays[stationary]);
    if (block)
        snprintf(options + used, room - (size_t)used, "block=%d", block);
}

static const char *failure(hsumma_context *ctx, const struct call *c, int stationary)
{
    hsumma_plan *plan = NULL;
    const char *what = NULL;
    int possible = stationary == AUTO || can_stay(c, "\2\0\1"[stationary]);
    hsumma_status status = create(ctx, c, &plan);
    if (!possible)
        what = status == HSUMMA_ERR_UNSUPPORTED ? NULL : "not refused";
    else if (status)
        what = hsumma_message(ctx);
    for (int i = 0; plan && i < 3 && !what; i++) {
        int all = draw(3) == 0 ? draw(8) : ALL, mine = draw(4) ? 0 : (int)(scrambled((uint64_t)(draw(64) + rank)) % 8);
        what = wrong_execution(ctx, plan, c, i == 0 ? ALL : all ^ mine, NULL);
        what = everywhere(what == NULL) ? NULL : what ? what : "";
    }
    hsumma_plan_free(&plan);
    return what;
}

static hsumma_grid *grid_of(hsumma_context *ctx, int shape)
{
    static const char orders[] = "RCR";
    hsumma_grid *grid = NULL;
    int P = shape == 0 ? 1 : size, Q = shape == 0 ? size : 1;
    if (shape == 2)
        hsumma_grid_shape(size, &P, &Q);
    return hsumma_grid_create(ctx, P, Q, orders[shape], NULL, &grid) ? NULL : grid;
}

/* Random layouts on each shape of grid. */
static void test_layouts(const char *words, int64_t first, int count)
{
    hsumma_context *ctx = context(words);
    hsumma_grid *grid[3] = {NULL, NULL, NULL};
    int bad = 0;
    for (int i = 0; ctx && i < 3; i++)
        grid[i] = grid_of(ctx, i);
    for (int64_t number = first; grid[2] && number < first + count; number++) {
        char options[256];
        int stationary = (int)(number % 4);
        state = scrambled((uint64_t)number + 1);
        struct call c = draw_call(grid[number % 3], stationary, options, sizeof options);
        draw_words(stationary, options, sizeof options);
        const char *what = failure(ctx, &c, stationary);
        int who = (int)quiet_reduce(what && *what ? rank : size, MPI_MIN);
        bad += who < size;
        if (rank == who) {
            int silent = tap_state.silent;
            tap_state.silent = bad > 5;
            tell(&c, number, what);
            tap_state.silent = silent;
        }
    }
    tap_ok(everywhere(grid[2] != NULL) && bad == 0, "%s: %d layouts, %d wrong", words, count, bad);
    for (int i = 0; i < 3; i++)
        hsumma_grid_free(&grid[i]);
    hsumma_free(&ctx);
}

int main(int argc, char **argv)
{
    static const char *const words[] = {"eager", "lazy", "random:1", "random:2,noevents", "lazy,noevents"};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    tap_begin(rank == 0);
    int count = argc > 1 ? atoi(argv[1]) : 60;
    int64_t first = argc > 2 ? atoll(argv[2]) : 0;
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        test_layouts(words[i], argc > 2 ? first : first + (int64_t)i * count, count);
    MPI_Finalize();
    return tap_done();
}
