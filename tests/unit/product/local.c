/*
 * The local product on a device (summa/local/local.h), on the stand-in, compared with the BLAS, with random shapes,
 * operations, types, kinds of memory and amounts of device memory. In most cases entries are small integers, so every
 * sum is exact for any tiles in any order; the others have random entries and a bound on the error. A table of
 * functions between the product and the device counts calls and can make one fail.
 */
#include "summa/local/local.h"
#include "gpu/devices.h"
#include "summa/local/device_state.h"

#include "support/product/gemm_case.h"

/* The table of functions between the product and the device: the stand-in's functions, some of them replaced. */
static struct {
    struct hs_device *device;
    struct hs_device_kind kind;
    const struct hs_device_kind *real;
    long calls, fail_at; /* calls: so far, of functions that can fail; fail_at: the call that fails, 0: none */
    int sticky;          /* nonzero: all later calls fail, too */
    size_t room;         /* limit of `get` in bytes; 0: no limit */
    int held;            /* number of live allocations, pinned or not, streams and events */
} between;

/* Counts a call of a function that can fail, and returns its status; on an error the function must do nothing else. */
static hsumma_status verdict(struct hs_device *device)
{
    long call = ++between.calls;
    if (between.fail_at == 0 || call < between.fail_at || (call > between.fail_at && !between.sticky))
        return HSUMMA_OK;
    return hs_fail(&device->message, HSUMMA_ERR_DEVICE, "call %ld fails because the test wants it", call);
}

static hsumma_status taken(hsumma_status status)
{
    between.held += !status;
    return status;
}

static hsumma_status get(struct hs_device *device, size_t bytes, void **memory)
{
    hsumma_status status = verdict(device);
    *memory = NULL;
    if (!status && between.room && bytes > between.room)
        status = hs_fail(&device->message, HSUMMA_ERR_MEMORY, "no %zu bytes", bytes);
    return status ? status : taken(between.real->get(device, bytes, memory));
}

static void put(struct hs_device *device, void *memory)
{
    between.held -= memory != NULL;
    between.real->put(device, memory);
}

static hsumma_status get_pinned(struct hs_device *device, size_t bytes, void **memory)
{
    hsumma_status status = verdict(device);
    *memory = NULL;
    return status ? status : taken(between.real->get_pinned(device, bytes, memory));
}

static void put_pinned(struct hs_device *device, void *memory)
{
    between.held -= memory != NULL;
    between.real->put_pinned(device, memory);
}

static hsumma_status make_stream(struct hs_device *device, struct hs_stream **stream)
{
    hsumma_status status = verdict(device);
    *stream = NULL;
    return status ? status : taken(between.real->make_stream(device, stream));
}

static void free_stream(struct hs_device *device, struct hs_stream *stream)
{
    between.held -= stream != NULL;
    between.real->free_stream(device, stream);
}

static hsumma_status make_event(struct hs_device *device, int shared, struct hs_event **event)
{
    hsumma_status status = verdict(device);
    *event = NULL;
    return status ? status : taken(between.real->make_event(device, shared, event));
}

static void free_event(struct hs_device *device, struct hs_event *event)
{
    between.held -= event != NULL;
    between.real->free_event(device, event);
}

static hsumma_status record(struct hs_device *device, struct hs_stream *stream, struct hs_event *event)
{
    hsumma_status status = verdict(device);
    return status ? status : between.real->record(device, stream, event);
}

static hsumma_status wait(struct hs_device *device, struct hs_stream *stream, struct hs_event *event)
{
    hsumma_status status = verdict(device);
    return status ? status : between.real->wait(device, stream, event);
}

static hsumma_status complete(struct hs_device *device, struct hs_event *event, int *is)
{
    hsumma_status status = verdict(device);
    return status ? status : between.real->complete(device, event, is);
}

/* Copies a block; if the copy must fail, it first writes wrong bytes to half of the block. */
static hsumma_status copy_block(struct hs_device *device, struct hs_stream *stream, void *dst, size_t dst_pitch,
                                const void *src, size_t src_pitch, size_t bytes, size_t columns)
{
    hsumma_status status = verdict(device);
    if (!status)
        return between.real->copy_block(device, stream, dst, dst_pitch, src, src_pitch, bytes, columns);
    for (size_t j = 0; j < (columns + 1) / 2; j++)
        memset((char *)dst + j * dst_pitch, 0xee, bytes);
    return status;
}

static hsumma_status update(struct hs_device *device, struct hs_stream *stream, hsumma_type type, int64_t rows,
                            int64_t cols, const void *beta, void *c, int64_t ldc, const void *s, int64_t lds)
{
    hsumma_status status = verdict(device);
    return status ? status : between.real->update(device, stream, type, rows, cols, beta, c, ldc, s, lds);
}

static hsumma_status gemm(struct hs_device *device, struct hs_stream *stream, hsumma_type type, char transa,
                          char transb, int64_t m, int64_t n, int64_t k, const void *alpha, const void *a, int64_t lda,
                          const void *b, int64_t ldb, const void *beta, void *c, int64_t ldc)
{
    hsumma_status status = verdict(device);
    return status
               ? status
               : between.real->gemm(device, stream, type, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

/* Opens the stand-in with a policy; returns 0 on failure. */
static int open_device(const char *policy)
{
    struct hs_device *device = NULL;
    struct hs_message message;
    memset(&between, 0, sizeof between);
    setenv("HSUMMA_HOST_DEVICE", policy, 1);
    const struct hs_device_kind *kind = hs_device_kind_find("host", &message);
    if (!kind || kind->open(-1, 0, &hs_heap, &device, &message))
        return 0;
    between.device = device;
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
    return 1;
}

/* One product, and the memory in which each operand lies. */
enum where { HOST, PINNED, DEVICE };
struct test_case {
    hsumma_type type;
    char op[2];
    int64_t extent[3];
    double alpha, beta;
    enum where where[3];
    int whole; /* entries are small integers, and results are compared exactly */
};

struct matrix {
    int64_t rows, cols, ld;
    size_t bytes;
    char *host, *data; /* contents in host memory; address that the product uses */
};

/* Fills a matrix with entries, or (poison) with NaN; the padding gets guards. */
static void fill(const struct test_case *t, struct matrix *x, int poison)
{
    for (int64_t j = 0; j < x->cols; j++)
        for (int64_t i = 0; i < x->ld; i++) {
            double re = t->whole ? draw(7) - 3 : draw(2000001) / 1e6 - 1;
            double im = t->whole ? draw(7) - 3 : draw(2000001) / 1e6 - 1;
            double complex entry = (poison ? NAN : re) + im * I;
            gemm_store(t->type, x->host, i + j * x->ld, i >= x->rows ? GEMM_GUARD : entry);
        }
}

static void make(const struct test_case *t, struct matrix *x, int id, int64_t rows, int64_t cols)
{
    *x = (struct matrix){rows, cols, rows + GEMM_PAD, 0, NULL, NULL};
    x->bytes = hs_scalars[t->type].size * (size_t)(x->ld * cols + 1);
    x->host = calloc(1, x->bytes);
    void *memory = NULL;
    if (t->where[id] == DEVICE)
        between.real->get(between.device, x->bytes, &memory);
    else if (t->where[id] == PINNED)
        between.real->get_pinned(between.device, x->bytes, &memory);
    x->data = t->where[id] == HOST ? malloc(x->bytes) : memory;
    fill(t, x, id == 2 && t->beta == 0);
    memcpy(x->data, x->host, x->bytes);
}

static void drop(const struct test_case *t, struct matrix *x, int id)
{
    if (t->where[id] == DEVICE)
        between.real->put(between.device, x->data);
    else if (t->where[id] == PINNED)
        between.real->put_pinned(between.device, x->data);
    else
        free(x->data);
    free(x->host);
}

/* The number of elements that differ from the BLAS's result by more than rounding. */
static int64_t compare(const struct test_case *t, const struct matrix *want, const char *got)
{
    double most = t->whole ? 0 : 16 * hs_scalars[t->type].epsilon * (double)(t->extent[2] + 8) * 8;
    int64_t wrong = 0;
    for (int64_t i = 0; i < want->ld * want->cols; i++)
        wrong += !(cabs(gemm_load(t->type, got, i) - gemm_load(t->type, want->host, i)) <= most);
    return wrong;
}

/* Runs the product; *wrong becomes the number of wrong elements. */
static hsumma_status run(struct hs_local *local, const struct test_case *t, int64_t *wrong)
{
    const struct hs_scalar *scalar = &hs_scalars[t->type];
    const int64_t *e = t->extent;
    struct matrix x[3];
    union hs_value alpha, beta;
    make(t, &x[0], 0, t->op[0] == 'N' ? e[0] : e[2], t->op[0] == 'N' ? e[2] : e[0]);
    make(t, &x[1], 1, t->op[1] == 'N' ? e[2] : e[1], t->op[1] == 'N' ? e[1] : e[2]);
    make(t, &x[2], 2, e[0], e[1]);
    gemm_store(t->type, &alpha, 0, t->alpha);
    gemm_store(t->type, &beta, 0, t->beta);
    const struct hs_product product = {.scalar = scalar,
                                       .op = {t->op[0], t->op[1]},
                                       .extent = {e[0], e[1], e[2]},
                                       .alpha = alpha,
                                       .beta = beta,
                                       .a = x[0].data,
                                       .b = x[1].data,
                                       .c = x[2].data,
                                       .lda = x[0].ld,
                                       .ldb = x[1].ld,
                                       .ldc = x[2].ld};
    hs_local_start(local, &product);
    hsumma_status status = hs_wait_idle(hs_local_advance, local, hs_idle_yield, NULL, NULL);
    scalar->gemm(t->op[0], t->op[1], e[0], e[1], e[2], &alpha, x[0].host, x[0].ld, x[1].host, x[1].ld, &beta, x[2].host,
                 x[2].ld);
    *wrong = compare(t, &x[2], x[2].data);
    for (int id = 0; id < 3; id++)
        drop(t, &x[id], id);
    return status;
}

/* Makes a new hs_local on the open device and runs its first product. */
static hsumma_status run_first(const struct hs_local_limits *limits, const struct test_case *t, struct hs_local **local,
                               int64_t *wrong)
{
    hsumma_status status = hs_local_make(between.device, NULL, limits, &hs_heap, local);
    *wrong = -1;
    return status ? status : run(*local, t, wrong);
}

/* Frees the hs_local and closes the device; returns the number of objects still allocated. */
static int closed(struct hs_local *local)
{
    hs_local_free(local);
    between.real->close(between.device);
    return between.held;
}

static struct hs_local_limits limits_of(int64_t memory, int64_t edge, int64_t piece)
{
    struct hs_local_limits limits = hs_local_usual;
    limits.memory = memory;
    limits.edge = edge;
    limits.piece = piece;
    limits.host[0] = limits.host[1] = 0; /* all sizes run on the device */
    limits.link = (double)(1 + draw(4)) * 1e10;
    return limits;
}

static struct test_case draw_case(int64_t most)
{
    static const double scalars[] = {1, -2, 0, 3};
    struct test_case t = {.type = (hsumma_type)draw(4), .whole = draw(4) > 0};
    for (int x = 0; x < 3; x++) {
        t.extent[x] = draw(8) ? 1 + draw((int)most) : draw(3);
        t.where[x] = (enum where)draw(3);
    }
    t.op[0] = "NTC"[draw(3)];
    t.op[1] = "NTC"[draw(3)];
    t.alpha = scalars[draw(8) ? draw(2) : 2 + draw(2)];
    t.beta = scalars[draw(4)];
    return t;
}

static void describe(char *text, size_t room, const struct test_case *t)
{
    snprintf(text, room, "%c %c%c %lldx%lldx%lld alpha %g beta %g in %d %d %d%s", hs_scalars[t->type].letter, t->op[0],
             t->op[1], (long long)t->extent[0], (long long)t->extent[1], (long long)t->extent[2], t->alpha, t->beta,
             t->where[0], t->where[1], t->where[2], t->whole ? "" : ", random");
}

/* Products of all kinds through one hs_local. */
static void test_products(const char *policy, int64_t memory, int64_t edge, int64_t piece, int64_t most, int cases)
{
    struct hs_local *local = NULL;
    struct hs_local_limits limits = limits_of(memory, edge, piece);
    hsumma_status status =
        open_device(policy) ? hs_local_make(between.device, NULL, &limits, &hs_heap, &local) : HSUMMA_ERR_DEVICE;
    int64_t wrong = 0, moved = 0, many = 0;
    char first[160] = "";
    for (int i = 0; !status && i < cases && !wrong; i++) {
        struct test_case t = draw_case(most);
        status = run(local, &t, &wrong);
        if (status || wrong)
            describe(first, sizeof first, &t);
    }
    if (local) {
        moved = local->bytes[0];
        many = local->counts[1];
    }
    tap_ok(status == HSUMMA_OK && wrong == 0 && many > cases / 2 && moved > 0 && !hs_local_note(local)[0],
           "%s: %lld of %d products up to %lld in %lld bytes, tiles of %lld, pieces of %lld: status %d, %lld wrong %s",
           policy, (long long)many, cases, (long long)most, (long long)memory, (long long)edge, (long long)piece,
           (int)status, (long long)wrong, first);
    tap_ok(closed(local) == 0, "nothing is held afterwards: %d", between.held);
}

/* Makes the device's calls fail in turn: C is right or the status is an error; in unpinned host memory C is always
 * right. */
static void test_failures(enum where where, double beta, int sticky)
{
    int64_t bad = 0, saved = 0, lost = 0;
    long at = 0;
    for (at = 1; bad == 0; at += at < 40 ? 1 : 1 + at / 8) {
        struct hs_local *local = NULL;
        struct hs_local_limits limits = limits_of(16 << 10, 16, 256);
        struct test_case t = {HSUMMA_D, {'N', 'T'}, {50, 40, 37}, 2, beta, {HOST, PINNED, where}, 1};
        int64_t wrong;
        open_device("lazy");
        between.fail_at = at;
        between.sticky = sticky;
        hsumma_status status = run_first(&limits, &t, &local, &wrong);
        int failed = between.calls >= at, off = hs_local_note(local)[0] != 0;
        bad += status ? status != HSUMMA_ERR_DEVICE || !off : wrong != 0 || off != failed;
        bad += status && where == HOST;
        bad += off != failed;
        saved += failed && !status;
        lost += failed && status;
        if (off && !status) { /* the BLAS computes the next product */
            hsumma_status next = run(local, &t, &wrong);
            bad += next || wrong || local->counts[0] != 1;
        }
        bad += closed(local) != 0;
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

/* Less device memory than expected, and too little for any product. */
static void test_short_of_memory(void)
{
    static const size_t rooms[] = {64 << 10, 16 << 10, 64};
    for (unsigned i = 0; i < sizeof rooms / sizeof *rooms; i++) {
        struct hs_local *local = NULL;
        struct hs_local_limits limits = limits_of(INT64_MAX, 64, 512);
        struct test_case t = {HSUMMA_D, {'T', 'N'}, {200, 130, 150}, 1, 1, {HOST, HOST, HOST}, 1};
        int64_t wrong;
        open_device("lazy");
        between.room = rooms[i];
        hsumma_status status = run_first(&limits, &t, &local, &wrong);
        int on_device = local->counts[1] == 1;
        tap_ok(!status && wrong == 0 && on_device == (rooms[i] > 64) && on_device == !hs_local_note(local)[0],
               "%zu bytes of the device: status %d, %lld wrong, %s", rooms[i], (int)status, (long long)wrong,
               on_device ? "there" : hs_local_note(local));
        closed(local);
    }
}

/* The traffic must equal the formulas of summa/local/tiles.h. */
static void test_traffic(void)
{
    static const struct {
        enum where c;
        double beta;
        int64_t in, out; /* expected traffic, in elements */
    } cases[] = {
        {HOST, 0, 2 * 256 * 256, 256 * 256},
        {HOST, 1, 2 * 256 * 256, 256 * 256}, /* the host adds the old C */
        {PINNED, 1, 3 * 256 * 256, 256 * 256},
        {DEVICE, 1, 2 * 256 * 256, 0},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hs_local *local = NULL;
        struct hs_local_limits limits = limits_of(INT64_MAX, 64, 4096);
        struct test_case t = {HSUMMA_D, {'N', 'N'}, {256, 256, 256}, 1, cases[i].beta, {HOST, PINNED, cases[i].c}, 1};
        int64_t wrong;
        open_device("lazy");
        hsumma_status status = run_first(&limits, &t, &local, &wrong);
        const int64_t *bytes = local->bytes;
        tap_ok(!status && !wrong && bytes[0] == 8 * cases[i].in && bytes[1] == 8 * cases[i].out,
               "C in %d, beta %g: %lld bytes in, %lld out", (int)cases[i].c, cases[i].beta, (long long)bytes[0],
               (long long)bytes[1]);
        closed(local);
    }
}

/* Checks tilings: every multiplication occurs once; tiles of C get their panels in ascending order, in every second
 * block in descending order; the memory is within the limit. */
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

/* Small products use the BLAS, large ones the device; without a device all products use the BLAS. */
static void test_choice(void)
{
    struct hs_local *local = NULL;
    struct hs_local_limits limits = hs_local_usual;
    struct test_case t = {HSUMMA_D, {'N', 'N'}, {20, 30, 40}, 1, 1, {HOST, HOST, HOST}, 1};
    int64_t wrong;
    open_device("lazy");
    limits.host[0] = 1e9;
    hsumma_status status = run_first(&limits, &t, &local, &wrong);
    tap_ok(!status && !wrong && local->counts[0] == 1 && between.calls == 0,
           "a small product asks nothing of the device but where its operands lie");
    t.extent[0] = t.extent[1] = t.extent[2] = 300;
    status = run(local, &t, &wrong);
    tap_ok(!status && !wrong && local->counts[1] == 1, "a large one is made there");
    t.extent[0] = 3;
    t.where[1] = DEVICE;
    status = run(local, &t, &wrong);
    tap_ok(!status && !wrong && local->counts[1] == 2, "so is a small one with an operand that lies there");
    t.where[1] = HOST;
    status = run(NULL, &t, &wrong);
    tap_ok(!status && !wrong, "without a device the BLAS does it");
    closed(local);
    hs_local_free(NULL);
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
