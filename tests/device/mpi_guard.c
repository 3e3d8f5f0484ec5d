/*
 * guard=product in contexts with a device: bits flipped in the result of a local product on the device, in an operand
 * as a local product reads it, and in the caller's A and B while a product runs.  The bit is the highest of an
 * exponent, so every flip that reaches C must be found; then C has the bits of an undisturbed execution, and A and B
 * have their old bits.  Matrices are in device memory, in host memory, or in both.
 *
 *     mpi_guard [FLIPS [SEED]]     FLIPS of each kind
 *
 * The test stands between the library and the device: it replaces the device's table of functions.  Flips are work on
 * the product's streams, so they delay nothing.
 */
#include "support/device/gemm_device.h"
#include "support/product/gemm_random.h"

enum kind { NOTHING, RESULT, LEFT, RIGHT, OWN_A, OWN_B, KINDS };
static const char *const kind_name[] = {[RESULT] = "a local product's result",
                                        [LEFT] = "A as a local product reads it",
                                        [RIGHT] = "B as a local product reads it",
                                        [OWN_A] = "the caller's A",
                                        [OWN_B] = "the caller's B"};

/* The fault to be planted in call number `at` of the product on this process, and what has happened. */
static struct {
    enum kind kind;
    int at, calls, planted, there; /* there: in device memory */
    uint64_t bits;                 /* choose the element */
    const struct gemm_case *c;
    const struct gemm_matrices *m;
} plant;

static const struct hs_device_kind *real;
static struct hs_device_kind between;
static hsumma_context *ctx;

/* Added to the word with sign and exponent of a number, this flips the exponent's highest bit (and the sign, if the bit
 * was set); the second undoes it. */
static const int32_t adds[2] = {1 << 30, -(1 << 30)};
static int32_t *adds_there; /* on the device */

/* The word with sign and exponent of a part of a random element among rows x cols. */
static char *word_in(hsumma_type type, const void *matrix, int64_t rows, int64_t cols, int64_t ld)
{
    const size_t unit = gemm_element_size(type), part = type == HSUMMA_S || type == HSUMMA_C ? 4 : 8;
    const int64_t at = (int64_t)(plant.bits % (uint64_t)rows) + (int64_t)((plant.bits >> 20) % (uint64_t)cols) * ld;
    const size_t parts = (plant.bits >> 40) % (unit / part);
    return (char *)matrix + (size_t)at * unit + parts * part + part - 4;
}

static void flip_there(struct hs_device *device, struct hs_stream *stream, char *word, int back)
{
    const void *const operand[2] = {word, &adds_there[back]};
    plant.planted = plant.there = !real->combine(device, stream, word, operand, 2, 1, HSUMMA_INT32, HSUMMA_SUM);
}

/* Flips a bit in an element of the operand that this process owns. */
static void flip_own(struct hs_device *device, struct hs_stream *stream, int x)
{
    const struct gemm_part *local = &plant.m->used[x];
    const int64_t count = local->data ? local->rows * local->cols : 0, ld = plant.c->desc[x].ld;
    for (int64_t t = 0; t < count && !plant.planted; t++) {
        int64_t i, j, element = (int64_t)((plant.bits + (uint64_t)t) % (uint64_t)count);
        const int64_t row = element % local->rows, col = element / local->rows;
        if (!gemm_inside(plant.c, x, local, row, col, &i, &j))
            continue;
        char *base = (char *)local->data + (size_t)(row + col * ld) * gemm_element_size(plant.c->type);
        char *word = word_in(plant.c->type, base, 1, 1, 1);
        uint32_t is;
        if (plant.m->on_device >> x & 1) {
            flip_there(device, stream, word, 0);
            return;
        }
        memcpy(&is, word, sizeof is);
        is += (uint32_t)adds[0];
        memcpy(word, &is, sizeof is);
        plant.planted = 1;
    }
}

/* Whether a fault is to be planted with this call.  The product's own work is on other streams than the context's, on
 * which the guard and copies of whole matrices are. */
static int is_turn(const struct hs_stream *stream, int multiplies)
{
    return stream != ctx->stream && (multiplies || plant.kind >= OWN_A) && plant.calls++ == plant.at;
}

static hsumma_status copy_block(struct hs_device *device, struct hs_stream *stream, void *dst, size_t dst_pitch,
                                const void *src, size_t src_pitch, size_t bytes, size_t columns)
{
    if (is_turn(stream, 0))
        flip_own(device, stream, plant.kind - OWN_A);
    return real->copy_block(device, stream, dst, dst_pitch, src, src_pitch, bytes, columns);
}

static hsumma_status gemm(struct hs_device *device, struct hs_stream *stream, hsumma_type type, char transa,
                          char transb, int64_t m, int64_t n, int64_t k, const void *alpha, const void *a, int64_t lda,
                          const void *b, int64_t ldb, const void *beta, void *c, int64_t ldc)
{
    char *word = NULL;
    const enum kind kind = m > 0 && n > 0 && k > 0 && is_turn(stream, 1) ? plant.kind : NOTHING;
    if (kind >= OWN_A)
        flip_own(device, stream, kind - OWN_A);
    if (kind == LEFT)
        word = word_in(type, a, transa == 'N' ? m : k, transa == 'N' ? k : m, lda);
    if (kind == RIGHT)
        word = word_in(type, b, transb == 'N' ? k : n, transb == 'N' ? n : k, ldb);
    if (word)
        flip_there(device, stream, word, 0);
    hsumma_status status =
        real->gemm(device, stream, type, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    if (word)
        flip_there(device, stream, word, 1);
    if (kind == RESULT)
        flip_there(device, stream, word_in(type, c, m, n, ldc), 0);
    return status;
}

/* Creates the context, with this table in place of the device's. */
static int open_context(const char *words)
{
    ctx = gemm_device_context(words);
    if (!everywhere(ctx != NULL))
        return 0;
    real = ctx->device->kind;
    between = *real;
    between.copy_block = copy_block;
    between.gemm = gemm;
    ctx->device->kind = &between;
    void *memory = NULL;
    int good = !real->get(ctx->device, sizeof adds, &memory) &&
               !real->copy(ctx->device, ctx->stream, memory, adds, sizeof adds) && !hsumma_synchronize(ctx);
    adds_there = memory;
    return everywhere(good);
}

/* Executes the plan on new matrices, those of the mask on the device; afterwards all are in m->home. */
static hsumma_status execute(hsumma_plan *plan, const struct gemm_case *c, int on_device, enum kind kind, int at,
                             struct gemm_matrices *m)
{
    int good = gemm_place(ctx, c, on_device, m);
    memset(&plant, 0, sizeof plant);
    plant.kind = kind;
    plant.at = at;
    plant.bits = draw_bits();
    plant.c = c;
    plant.m = m;
    hsumma_status status = gemm_begin(plan, c, m->used, 1);
    good &= gemm_bring_home(ctx, m);
    return status ? status : good ? HSUMMA_OK : HSUMMA_ERR_DEVICE;
}

struct counts {
    int64_t planted, found, repaired, there, by_node, wrong;
};

/* An undisturbed execution of a plan, and one with a fault on one process. */
static void try_fault(hsumma_plan *plan, const struct gemm_case *c, int on_device, enum kind kind,
                      struct counts *counts)
{
    struct gemm_matrices m;
    const int victim = draw(size), turn = draw(1 << 20);
    hsumma_status status = execute(plan, c, on_device, NOTHING, 0, &m);
    const int calls = plant.calls, false_alarm = gemm_changed(c, m.home) > 0 || plan_query(plan).guard_found > 0;
    const int64_t hash = gemm_hash_of_c(c, &m.home[2]);
    gemm_forget(ctx, &m);
    /* a change of the caller's matrices has an effect while they are still to be read */
    const int at = kind >= OWN_A ? turn % 2 : calls > 0 ? turn % calls : 0;
    hsumma_status again = execute(plan, c, on_device, rank == victim ? kind : NOTHING, at, &m);
    const hsumma_plan_info info = plan_query(plan); /* processes outside the grid check nothing */
    const int found = (int)world_reduce(info.guard_found, MPI_MAX), same = gemm_hash_of_c(c, &m.home[2]) == hash;
    const int repaired = (int)world_reduce(info.guard_repaired, MPI_MAX), kept = gemm_changed(c, m.home) == 0;
    const int planted = (int)world_reduce(plant.planted, MPI_MAX), reaches_c = kind < OWN_A;
    const int right = !status && !again && !false_alarm && found <= planted && repaired == found && same &&
                      (found == planted || !reaches_c) && (kept || !(found || reaches_c));
    if (!right)
        tap_diag("rank %d: status %d (%s), %d planted, %d found, %d repaired, C %s, A and B %s; %s", rank, (int)again,
                 hsumma_message(ctx), planted, found, repaired, same ? "equal" : "differs", kept ? "equal" : "differ",
                 info.line);
    counts->planted += planted;
    counts->found += found;
    counts->repaired += repaired;
    counts->there += found && world_reduce(plant.there, MPI_MAX);
    counts->by_node += found && world_reduce(strcmp(info.node, "device") == 0, MPI_MAX);
    counts->wrong += !everywhere(right);
    gemm_forget(ctx, &m);
}

static void test_kind(enum kind kind, const char *words, int flips)
{
    static const char *const stays[] = {"stationary=C", "stationary=A", "stationary=B", ""}, *const widths[] = {
                                                                                                 "", "block=1",
                                                                                                 "block=5", "block=30"};
    struct counts n = {0};
    int opened = open_context(words);
    for (int i = 0; opened && n.planted < flips && i < 5 * flips; i++) {
        hsumma_grid *grid = gemm_draw_grid(ctx);
        hsumma_plan *plan = NULL;
        const int here = draw(3) ? 0 : (int)(hs_scrambled((uint64_t)(draw(64) + rank)) % 8); /* differs by rank */
        const int on_device = here ^ (draw(2) ? ON_ALL : draw(8));
        char options[100];
        if (!everywhere(grid != NULL))
            break;
        struct gemm_case c = gemm_draw_product(grid, draw(9), 1 + draw(8));
        gemm_draw_layouts(&c);
        snprintf(options, sizeof options, "guard=product %s %s %s", stays[draw(4)], widths[draw(4)],
                 draw(4) ? "" : "node=messages");
        c.options = options;
        c.fractions = 1;
        if (everywhere(!gemm_plan_create(ctx, &c, &plan)))
            try_fault(plan, &c, on_device, kind, &n);
        hsumma_plan_free(&plan);
        hsumma_grid_free(&grid);
    }
    if (ctx)
        real->put(ctx->device, adds_there);
    hsumma_free(&ctx);
    tap_ok(opened && n.wrong == 0 && n.planted == flips && n.repaired == n.found && n.there > 0,
           "%s: a bit flipped in %s, %d times: %d found (%d in device memory, %d in products on devices), %d of these "
           "repaired, %d wrong",
           words, kind_name[kind], (int)n.planted, (int)n.found, (int)n.there, (int)n.by_node, (int)n.repaired,
           (int)n.wrong);
}

int main(int argc, char **argv)
{
    static const char *const words[KINDS] = {
        [RESULT] = "random:1", [LEFT] = "lazy", [RIGHT] = "random:2,noevents", [OWN_A] = "random:3", [OWN_B] = "lazy"};
    world_begin(&argc, &argv);
    draw_seed(argc > 2 ? strtoull(argv[2], NULL, 10) : 1);
    for (enum kind kind = RESULT; kind < KINDS; kind++)
        test_kind(kind, words[kind], argc > 1 ? atoi(argv[1]) : 20);
    return world_end();
}
