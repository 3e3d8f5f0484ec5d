/*
 * The local product on a device (summa/local/local.h), on the stand-in, against the BLAS: shapes, operations, types,
 * places of the operands and amounts of memory are drawn from a seeded generator.  Entries are small integers, so that
 * every sum is exact whatever the tiles and their order; then random ones with a residual.  A table between the product
 * and the device counts what is asked of it and lets one call fail.
 */
#include "summa/local/local.h"
#include "gpu/devices.h"
#include "summa/local/tiles.h"

#include "support/random.h"
#include "support/tap.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PAD = 3, GUARD = 77, MOST = 1 << 16 };

/* What stands between: the row of the stand-in with some calls replaced. */
static struct {
    struct hs_device_kind kind;
    const struct hs_device_kind *real;
    long calls, fail_at; /* of those that can fail; 0: none fails */
    int sticky;          /* all that follow fail, too */
    size_t room;         /* bytes that get gives at most; 0: as many as there are */
    int held;            /* allocations, pinned or not, streams and events */
} between;

static int fails(struct hs_device *device, hsumma_status *status)
{
    long call = ++between.calls;
    if (between.fail_at == 0 || call < between.fail_at || (call > between.fail_at && !between.sticky))
        return 0;
    *status = hs_fail(&device->message, HSUMMA_ERR_DEVICE, "call %ld fails because the test wants it", call);
    return 1;
}

static hsumma_status get(struct hs_device *device, size_t bytes, void **memory)
{
    hsumma_status status;
    *memory = NULL;
    if (fails(device, &status))
        return status;
    if (between.room && bytes > between.room)
        return hs_fail(&device->message, HSUMMA_ERR_MEMORY, "no %zu bytes", bytes);
    status = between.real->get(device, bytes, memory);
    between.held += !status;
    return status;
}

static void put(struct hs_device *device, void *memory)
{
    between.held -= memory != NULL;
    between.real->put(device, memory);
}

static hsumma_status get_pinned(struct hs_device *device, size_t bytes, void **memory)
{
    hsumma_status status;
    *memory = NULL;
    if (fails(device, &status))
        return status;
    status = between.real->get_pinned(device, bytes, memory);
    between.held += !status;
    return status;
}

static void put_pinned(struct hs_device *device, void *memory)
{
    between.held -= memory != NULL;
    between.real->put_pinned(device, memory);
}

static hsumma_status make_stream(struct hs_device *device, struct hs_stream **stream)
{
    hsumma_status status;
    *stream = NULL;
    if (fails(device, &status))
        return status;
    between.held++;
    return between.real->make_stream(device, stream);
}

static void free_stream(struct hs_device *device, struct hs_stream *stream)
{
    between.held -= stream != NULL;
    between.real->free_stream(device, stream);
}

static hsumma_status make_event(struct hs_device *device, int shared, struct hs_event **event)
{
    hsumma_status status;
    *event = NULL;
    if (fails(device, &status))
        return status;
    between.held++;
    return between.real->make_event(device, shared, event);
}

static void free_event(struct hs_device *device, struct hs_event *event)
{
    between.held -= event != NULL;
    between.real->free_event(device, event);
}

static hsumma_status record(struct hs_device *device, struct hs_stream *stream, struct hs_event *event)
{
    hsumma_status status;
    return fails(device, &status) ? status : between.real->record(device, stream, event);
}

static hsumma_status wait(struct hs_device *device, struct hs_stream *stream, struct hs_event *event)
{
    hsumma_status status;
    return fails(device, &status) ? status : between.real->wait(device, stream, event);
}

static hsumma_status complete(struct hs_device *device, struct hs_event *event, int *is)
{
    hsumma_status status;
    return fails(device, &status) ? status : between.real->complete(device, event, is);
}

/* One that fails has written half of it, wrongly. */
static hsumma_status copy_block(struct hs_device *device, struct hs_stream *stream, void *dst, size_t dst_pitch,
                                const void *src, size_t src_pitch, size_t bytes, size_t columns)
{
    hsumma_status status;
    if (!fails(device, &status))
        return between.real->copy_block(device, stream, dst, dst_pitch, src, src_pitch, bytes, columns);
    for (size_t j = 0; j < (columns + 1) / 2; j++)
        memset((char *)dst + j * dst_pitch, 0xee, bytes);
    return status;
}

static hsumma_status update(struct hs_device *device, struct hs_stream *stream, hsumma_type type, int64_t rows,
                            int64_t cols, const void *beta, void *c, int64_t ldc, const void *s, int64_t lds)
{
    hsumma_status status;
    return fails(device, &status) ? status
                                  : between.real->update(device, stream, type, rows, cols, beta, c, ldc, s, lds);
}

static hsumma_status gemm(struct hs_device *device, struct hs_stream *stream, hsumma_type type, char transa,
                          char transb, int64_t m, int64_t n, int64_t k, const void *alpha, const void *a, int64_t lda,
                          const void *b, int64_t ldb, const void *beta, void *c, int64_t ldc)
{
    hsumma_status status;
    return fails(device, &status)
               ? status
               : between.real->gemm(device, stream, type, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

static struct hs_device *open_device(const char *policy)
{
    struct hs_device *device = NULL;
    struct hs_message message;
    memset(&between, 0, sizeof between);
    setenv("HSUMMA_HOST_DEVICE", policy, 1);
    const struct hs_device_kind *kind = hs_device_kind_find("host", &message);
    if (!kind || kind->open(-1, 0, &hs_heap, &device, &message))
        return NULL;
    between.real = device->kind;
    between.kind = *device->kind;
    between.kind.get = get;
    between.kind.put = put;
    between.kind.get_pinned = get_pinned;
    between.kind.put_pinned = put_pinned;
    between.kind.make_stream = make_stream;
    between.kind.free_stream = free_stream;
    between.kind.make_event = make_event;
    between.kind.free_event = free_event;
    between.kind.record = record;
    between.kind.wait = wait;
    between.kind.complete = complete;
    between.kind.copy_block = copy_block;
    between.kind.update = update;
    between.kind.gemm = gemm;
    device->kind = &between.kind;
    return device;
}

/* One product. */
enum where { HOST, PINNED, DEVICE };
struct test_case {
    hsumma_type type;
    char op[2];
    int64_t extent[3];
    double alpha, beta;
    enum where where[3];
    int whole; /* small integers, compared exactly */
};

struct matrix {
    int64_t rows, cols, ld;
    size_t bytes;
    char *host, *data; /* what it is to be; where the product finds it */
};

static void store(hsumma_type type, void *at, int64_t index, double re, double im)
{
    switch (type) {
    case HSUMMA_S:
        ((float *)at)[index] = (float)re;
        break;
    case HSUMMA_D:
        ((double *)at)[index] = re;
        break;
    case HSUMMA_C:
        ((float complex *)at)[index] = (float)re + (float)im * I;
        break;
    case HSUMMA_Z:
        ((double complex *)at)[index] = re + im * I;
        break;
    }
}

static double complex load(hsumma_type type, const void *at, int64_t index)
{
    switch (type) {
    case HSUMMA_S:
        return ((const float *)at)[index];
    case HSUMMA_D:
        return ((const double *)at)[index];
    case HSUMMA_C:
        return ((const float complex *)at)[index];
    default:
        return ((const double complex *)at)[index];
    }
}

/* poison: NaN instead of entries; padding is GUARD. */
static void fill(const struct test_case *t, struct matrix *x, int poison)
{
    for (int64_t j = 0; j < x->cols; j++)
        for (int64_t i = 0; i < x->ld; i++) {
            double re = t->whole ? draw(7) - 3 : draw(2000001) / 1e6 - 1;
            double im = t->whole ? draw(7) - 3 : draw(2000001) / 1e6 - 1;
            re = i >= x->rows ? GUARD : poison ? NAN : re;
            store(t->type, x->host, i + j * x->ld, re, i >= x->rows ? 0 : im);
        }
}

static void make(const struct test_case *t, struct matrix *x, int id, int64_t rows, int64_t cols,
                 struct hs_device *device)
{
    size_t size = hs_scalars[t->type].size;
    *x = (struct matrix){rows, cols, rows + PAD, 0, NULL, NULL};
    x->bytes = size * (size_t)(x->ld * cols + 1);
    x->host = calloc(1, x->bytes);
    void *memory = NULL;
    if (t->where[id] == DEVICE)
        between.real->get(device, x->bytes, &memory);
    else if (t->where[id] == PINNED)
        between.real->get_pinned(device, x->bytes, &memory);
    x->data = t->where[id] == HOST ? malloc(x->bytes) : memory;
}

static void drop(const struct test_case *t, struct matrix *x, int id, struct hs_device *device)
{
    if (t->where[id] == DEVICE)
        between.real->put(device, x->data);
    else if (t->where[id] == PINNED)
        between.real->put_pinned(device, x->data);
    else
        free(x->data);
    free(x->host);
}

/* Elements that differ from what the BLAS makes of the same, by more than rounding. */
static int64_t compare(const struct test_case *t, const struct matrix *want, const char *got)
{
    double most = t->whole ? 0 : 16 * hs_scalars[t->type].epsilon * (double)(t->extent[2] + 8) * 8;
    int64_t wrong = 0;
    for (int64_t i = 0; i < want->ld * want->cols; i++)
        wrong += !(cabs(load(t->type, got, i) - load(t->type, want->host, i)) <= most);
    return wrong;
}

/* The status of the product, and how many elements are wrong. */
static hsumma_status run(struct hs_local *local, struct hs_device *device, const struct test_case *t, int64_t *wrong)
{
    const struct hs_scalar *scalar = &hs_scalars[t->type];
    const int64_t *e = t->extent;
    struct matrix x[3];
    union hs_value alpha, beta;
    make(t, &x[0], 0, t->op[0] == 'N' ? e[0] : e[2], t->op[0] == 'N' ? e[2] : e[0], device);
    make(t, &x[1], 1, t->op[1] == 'N' ? e[2] : e[1], t->op[1] == 'N' ? e[1] : e[2], device);
    make(t, &x[2], 2, e[0], e[1], device);
    store(t->type, &alpha, 0, t->alpha, 0);
    store(t->type, &beta, 0, t->beta, 0);
    for (int id = 0; id < 3; id++) {
        fill(t, &x[id], id == 2 && t->beta == 0);
        memcpy(x[id].data, x[id].host, x[id].bytes);
    }
    hsumma_status status = hs_local_gemm(local, scalar, t->op[0], t->op[1], e[0], e[1], e[2], &alpha, x[0].data,
                                         x[0].ld, x[1].data, x[1].ld, &beta, x[2].data, x[2].ld);
    scalar->gemm(t->op[0], t->op[1], e[0], e[1], e[2], &alpha, x[0].host, x[0].ld, x[1].host, x[1].ld, &beta, x[2].host,
                 x[2].ld);
    *wrong = compare(t, &x[2], x[2].data);
    for (int id = 0; id < 3; id++)
        drop(t, &x[id], id, device);
    return status;
}

static struct hs_local_limits limits_of(int64_t memory, int64_t edge, int64_t piece)
{
    struct hs_local_limits limits = hs_local_usual;
    limits.memory = memory;
    limits.edge = edge;
    limits.piece = piece;
    limits.host[0] = limits.host[1] = 0; /* always on the device */
    limits.link = (double)(1 + draw(4)) * 1e10;
    return limits;
}

static struct test_case draw_case(int64_t most, int with_device)
{
    static const double scalars[] = {1, -2, 0, 3};
    struct test_case t = {.type = (hsumma_type)draw(4), .whole = draw(4) > 0};
    for (int x = 0; x < 3; x++) {
        t.extent[x] = draw(8) ? 1 + draw((int)most) : draw(3);
        t.where[x] = (enum where)draw(with_device ? 3 : 2);
    }
    t.op[0] = "NTC"[draw(3)];
    t.op[1] = "NTC"[draw(3)];
    t.alpha = scalars[draw(8) ? draw(2) : 2 + draw(2)];
    t.beta = scalars[draw(4)];
    return t;
}

static void describe(char *text, size_t size, const struct test_case *t)
{
    snprintf(text, size, "%c %c%c %lldx%lldx%lld alpha %g beta %g in %d %d %d%s", hs_scalars[t->type].letter, t->op[0],
             t->op[1], (long long)t->extent[0], (long long)t->extent[1], (long long)t->extent[2], t->alpha, t->beta,
             t->where[0], t->where[1], t->where[2], t->whole ? "" : ", random");
}

/* Products of all kinds through one local after the other. */
static void test_products(const char *policy, int64_t memory, int64_t edge, int64_t piece, int64_t most, int cases)
{
    struct hs_device *device = open_device(policy);
    struct hs_local *local = NULL;
    struct hs_local_limits limits = limits_of(memory, edge, piece);
    hsumma_status status = hs_local_make(device, NULL, &limits, &hs_heap, &local);
    int64_t wrong = 0, moved = 0, many = 0;
    char first[160] = "";
    for (int i = 0; !status && i < cases && !wrong; i++) {
        struct test_case t = draw_case(most, 1);
        status = run(local, device, &t, &wrong);
        if (status || wrong)
            describe(first, sizeof first, &t);
    }
    if (local) {
        moved = hs_local_bytes(local)[0];
        many = hs_local_counts(local)[1];
    }
    tap_ok(status == HSUMMA_OK && wrong == 0 && many > cases / 2 && moved > 0 && !hs_local_note(local)[0],
           "%s: %lld of %d products up to %lld in %lld bytes, tiles of %lld, pieces of %lld: status %d, %lld wrong %s",
           policy, (long long)many, cases, (long long)most, (long long)memory, (long long)edge, (long long)piece,
           (int)status, (long long)wrong, first);
    hs_local_free(local);
    tap_ok(between.held == 0, "nothing is held afterwards: %d", between.held);
    between.real->close(device);
}

/* Each call fails once: C is right, or the status says so; and it is as it was, or the status says so. */
static void test_failures(enum where where, double beta, int sticky)
{
    int64_t bad = 0, saved = 0, lost = 0;
    long at = 0;
    for (at = 1; bad == 0; at += at < 40 ? 1 : 1 + at / 8) {
        struct hs_device *device = open_device("lazy");
        struct hs_local *local = NULL;
        struct hs_local_limits limits = limits_of(16 << 10, 16, 256);
        struct test_case t = {.type = HSUMMA_D,
                              .op = {'N', 'T'},
                              .extent = {50, 40, 37},
                              .alpha = 2,
                              .beta = beta,
                              .where = {HOST, PINNED, where},
                              .whole = 1};
        int64_t wrong;
        between.fail_at = at;
        between.sticky = sticky;
        hsumma_status status = hs_local_make(device, NULL, &limits, &hs_heap, &local);
        if (!status)
            status = run(local, device, &t, &wrong);
        int failed = between.calls >= at, off = hs_local_note(local)[0] != 0;
        bad += status ? status != HSUMMA_ERR_DEVICE || !off : wrong != 0 || off != failed;
        bad += status && where == HOST;
        bad += off != failed;
        saved += failed && !status;
        lost += failed && status;
        if (off && !status) { /* the next one is the BLAS's */
            hsumma_status next = run(local, device, &t, &wrong);
            bad += next || wrong || hs_local_counts(local)[0] != 1;
        }
        hs_local_free(local);
        bad += between.held != 0;
        between.real->close(device);
        if (!failed)
            break;
    }
    tap_ok(bad == 0 && (saved > 0) == (where != DEVICE) &&
               (lost > 0) == (where == DEVICE || (where == PINNED && beta != 0)),
           "failures of one call%s, C %s, beta %g: %lld saved by the BLAS, %lld lost and told, %lld bad (call %ld)",
           sticky ? " and all that follow" : "",
           where == HOST     ? "anywhere"
           : where == PINNED ? "pinned"
                             : "on the device",
           beta, (long long)saved, (long long)lost, (long long)bad, at);
}

/* Less memory than was thought, and too little for anything. */
static void test_short_of_memory(void)
{
    static const size_t rooms[] = {64 << 10, 16 << 10, 64};
    for (unsigned i = 0; i < sizeof rooms / sizeof *rooms; i++) {
        struct hs_device *device = open_device("lazy");
        struct hs_local *local = NULL;
        struct hs_local_limits limits = limits_of(INT64_MAX, 64, 512);
        struct test_case t = {.type = HSUMMA_D,
                              .op = {'T', 'N'},
                              .extent = {200, 130, 150},
                              .alpha = 1,
                              .beta = 1,
                              .where = {HOST, HOST, HOST},
                              .whole = 1};
        int64_t wrong = -1;
        between.room = rooms[i];
        hsumma_status status = hs_local_make(device, NULL, &limits, &hs_heap, &local);
        if (!status)
            status = run(local, device, &t, &wrong);
        int on_device = hs_local_counts(local)[1] == 1;
        tap_ok(!status && wrong == 0 && on_device == (rooms[i] > 64) && on_device == !hs_local_note(local)[0],
               "%zu bytes of the device: status %d, %lld wrong, %s", rooms[i], (int)status, (long long)wrong,
               on_device ? "there" : hs_local_note(local));
        hs_local_free(local);
        between.real->close(device);
    }
}

/* What crosses over is what the head of summa/local/tiles.h says. */
static void test_traffic(void)
{
    static const struct {
        int64_t memory;
        enum where c;
        double beta;
        int64_t in, out; /* elements */
    } cases[] = {
        {INT64_MAX, HOST, 0, 2 * 256 * 256, 256 * 256},
        {INT64_MAX, HOST, 1, 2 * 256 * 256, 256 * 256}, /* added up by the host */
        {INT64_MAX, PINNED, 1, 3 * 256 * 256, 256 * 256},
        {INT64_MAX, DEVICE, 1, 2 * 256 * 256, 0},
        /* blocks of 2 x 2 tiles of 64 x 64, panels of 32; a strip of A is 8 panels, 5 more than there is room for */
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hs_device *device = open_device("lazy");
        struct hs_local *local = NULL;
        struct hs_local_limits limits = limits_of(cases[i].memory, 64, 4096);
        struct test_case t = {.type = HSUMMA_D,
                              .op = {'N', 'N'},
                              .extent = {256, 256, 256},
                              .alpha = 1,
                              .beta = cases[i].beta,
                              .where = {HOST, PINNED, cases[i].c},
                              .whole = 1};
        int64_t wrong = -1;
        hsumma_status status = hs_local_make(device, NULL, &limits, &hs_heap, &local);
        if (!status)
            status = run(local, device, &t, &wrong);
        const int64_t *bytes = hs_local_bytes(local);
        tap_ok(!status && !wrong && bytes[0] == 8 * cases[i].in && bytes[1] == 8 * cases[i].out,
               "C in %d, beta %g: %lld bytes in, %lld out", (int)cases[i].c, cases[i].beta, (long long)bytes[0],
               (long long)bytes[1]);
        hs_local_free(local);
        between.real->close(device);
    }
}

/* Every multiplication once; each tile of C sees its panels one after the other; places suffice for a block. */
static void test_tilings(void)
{
    int64_t bad = 0, tilings = 0, blocks = 0;
    for (int round = 0; round < 400; round++) {
        struct hs_tiling tiling;
        struct hs_tiling_wish wish = {.size = 8,
                                      .needs = {1, 1, 1, draw(2)},
                                      .edge = 16 << draw(4),
                                      .deep = draw(200),
                                      .bytes = (int64_t)(4096 + draw(400000))};
        for (int d = 0; d < 3; d++)
            wish.extent[d] = 1 + draw(600);
        if (hs_tiling_make(&tiling, &wish))
            continue;
        int64_t tiles = tiling.count[0] * tiling.count[1], jobs = tiles * tiling.count[2];
        int64_t *seen = calloc((size_t)tiles, sizeof *seen), *last = calloc((size_t)tiles, sizeof *last);
        struct hs_walk walk = {0};
        struct hs_job job;
        for (; hs_walk_peek(&tiling, &walk, &job); hs_walk_next(&tiling, &walk)) {
            int64_t c = job.i * tiling.count[1] + job.j, from;
            bad += job.i < 0 || job.j < 0 || job.l < 0 || hs_tile_range(&tiling, 0, job.i, &from) < 1 ||
                   hs_tile_range(&tiling, 1, job.j, &from) < 1 || hs_tile_range(&tiling, 2, job.l, &from) < 1;
            bad += job.first != (seen[c] == 0) || job.last != (seen[c] == tiling.count[2] - 1);
            bad += seen[c] > 0 && job.l - last[c] != (walk.block % 2 ? -1 : 1);
            seen[c]++;
            last[c] = job.l;
        }
        for (int64_t c = 0; c < tiles; c++)
            bad += seen[c] != tiling.count[2];
        bad += walk.number != jobs || (int64_t)tiling.bytes > wish.bytes;
        blocks += tiling.blocks[0] * tiling.blocks[1] > 1;
        tilings++;
        free(seen);
        free(last);
    }
    tap_ok(bad == 0 && tilings > 100 && blocks > 100, "%lld tilings, %lld of several blocks: %lld bad",
           (long long)tilings, (long long)blocks, (long long)bad);
}

/* Small products stay with the BLAS, large ones do not, and without a device all do. */
static void test_choice(void)
{
    struct hs_device *device = open_device("lazy");
    struct hs_local *local = NULL;
    struct hs_local_limits limits = hs_local_usual;
    struct test_case t = {
        .type = HSUMMA_D, .op = {'N', 'N'}, .extent = {20, 30, 40}, .alpha = 1, .beta = 1, .whole = 1};
    int64_t wrong;
    limits.host[0] = 1e9;
    hsumma_status status = hs_local_make(device, NULL, &limits, &hs_heap, &local);
    if (!status)
        status = run(local, device, &t, &wrong);
    tap_ok(!status && !wrong && hs_local_counts(local)[0] == 1 && between.calls == 0,
           "a small product asks nothing of the device but where its operands lie");
    t.extent[0] = t.extent[1] = t.extent[2] = 300;
    status = run(local, device, &t, &wrong);
    tap_ok(!status && !wrong && hs_local_counts(local)[1] == 1, "a large one is made there");
    t.extent[0] = 3;
    t.where[1] = DEVICE;
    status = run(local, device, &t, &wrong);
    tap_ok(!status && !wrong && hs_local_counts(local)[1] == 2, "so is a small one with an operand that lies there");
    t.where[1] = HOST;
    status = run(NULL, device, &t, &wrong);
    tap_ok(!status && !wrong, "without a device the BLAS does it");
    hs_local_free(local);
    hs_local_free(NULL);
    between.real->close(device);
}

int main(void)
{
    test_tilings();
    test_choice();
    static const char *const policies[] = {"eager", "lazy", "random:1", "random:2,hold=0"};
    for (unsigned p = 0; p < sizeof policies / sizeof *policies; p++) {
        test_products(policies[p], INT64_MAX, 4096, 4 << 20, 150, 200);
        test_products(policies[p], INT64_MAX, 32, 1024, 150, 200);
        test_products(policies[p], 100 << 10, 32, 256, 150, 200);
        test_products(policies[p], 40 << 10, 64, 100, 200, 200);
        test_products(policies[p], 16 << 10, 16, 64, 60, 200);
    }
    test_short_of_memory();
    test_traffic();
    for (int sticky = 0; sticky < 2; sticky++)
        for (int where = HOST; where <= DEVICE; where++)
            for (int beta = 0; beta < 2; beta++)
                test_failures((enum where)where, beta, sticky);
    return tap_done();
}
