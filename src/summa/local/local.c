#include "summa/local/local.h"

#include "base/threads.h"
#include "summa/local/device_state.h"

#include <string.h>

enum { JOBS_AT_ONCE = 4 };

const struct hs_local_limits hs_local_usual = {
    .memory = INT64_MAX,
    .piece = 4 << 20,
    .edge = 4096,
    .host = {5e10, 1e11},
    .device = {6e13, 6e13},
    .link = 5e10,
    .copies = 1e10,
    .start = 1e-4,
};

hsumma_status hs_local_make(struct hs_device *device, struct hs_stream *const *order,
                            const struct hs_local_limits *limits, const struct hs_allocator *memory,
                            struct hs_local **result)
{
    struct hs_local *local = hs_get_zero(memory, 1, sizeof *local);
    *result = local;
    if (!local)
        return HSUMMA_ERR_MEMORY;
    local->device = device;
    local->order = order;
    local->limits = *limits;
    local->memory = memory;
    return HSUMMA_OK;
}

void hs_local_free(struct hs_local *local)
{
    if (!local)
        return;
    hs_local_stop(local);
    hs_local_release(local);
    hs_put(local->memory, local);
}

const char *hs_local_note(const struct hs_local *local)
{
    return local ? local->note.text : "";
}

const char *hs_local_news(struct hs_local *local)
{
    if (!local || !local->off || local->reported)
        return "";
    local->reported = 1;
    return local->note.text;
}

/* Whether operand memory is pinned is not considered, because it must not change the bits of the result. */
int hs_local_prefers(const struct hs_local *local, const struct hs_scalar *scalar, const int64_t extent[3], double more)
{
    if (!local || local->off)
        return 0;
    const struct hs_local_limits *limits = &local->limits;
    double m = (double)extent[HS_M], n = (double)extent[HS_N], k = (double)extent[HS_K];
    double flops = 2 * m * n * k * (scalar->complex_type ? 4 : 1);
    double bytes = (m * k + k * n + m * n) * (double)scalar->size;
    double host = limits->host[hs_is_single(scalar)], device = limits->device[hs_is_single(scalar)];
    return host == 0 || flops / host > limits->start + more + bytes / limits->copies + flops / device;
}

const char *hs_local_maker(const struct hs_local *local, const struct hs_scalar *scalar, const int64_t extent[3])
{
    return hs_local_prefers(local, scalar, extent, 0) ? local->device->kind->name : "BLAS";
}

int64_t hs_local_memory(const struct hs_local *local)
{
    return local->limits.memory;
}

void hs_local_disable(struct hs_local *local, hsumma_status status)
{
    local->off = 1;
    hs_fail(&local->note, status, "%.*s", (int)sizeof local->note.text - 1, local->device->message.text);
}

static enum hs_way way_of(const struct hs_local *local, const void *operand)
{
    switch (local->device->kind->classify(local->device, operand)) {
    case HS_MEMORY_DEVICE:
        return HS_RESIDENT;
    case HS_MEMORY_HOST:
        return HS_BY_HAND;
    default:
        return HS_DIRECT;
    }
}

static int any(const enum hs_way way[3], enum hs_way this)
{
    return way[0] == this || way[1] == this || way[2] == this;
}

/* Computes C(row : row + rows, col : col + cols) with the BLAS. */
static void multiply_on_host(const struct hs_product *product, int64_t row, int64_t rows, int64_t col, int64_t cols)
{
    const struct hs_scalar *scalar = product->scalar;
    size_t size = scalar->size;
    const char *a = product->a, *b = product->b;
    char *c = product->c;
    if (!hs_compute_gemm(scalar->compute, size, scalar->complex_type, product->threads, rows, cols,
                         product->extent[HS_K]))
        return;
    int threads = hs_threads_set(product->threads);
    scalar->gemm(product->op[0], product->op[1], rows, cols, product->extent[HS_K], &product->alpha,
                 a + (size_t)(product->op[0] == 'N' ? row : row * product->lda) * size, product->lda,
                 b + (size_t)(product->op[1] == 'N' ? col * product->ldb : col) * size, product->ldb, &product->beta,
                 c + (size_t)(row + col * product->ldc) * size, product->ldc);
    hs_threads_restore(threads);
}

/* Computes the parts of C that the device has not written. */
static void complete_on_host(struct hs_local *local)
{
    const struct hs_tiling *tiling = &local->tiling;
    struct hs_walk walk = {0};
    struct hs_job job;
    if (local->gone == 0 && local->columns_gone == 0) {
        multiply_on_host(&local->product, 0, local->product.extent[HS_M], 0, local->product.extent[HS_N]);
        return;
    }
    for (int64_t tile = 0; hs_walk_peek(tiling, &walk, &job); hs_walk_next(tiling, &walk)) {
        if (!job.last)
            continue;
        int64_t row, col, rows = hs_tile_range(tiling, HS_M, job.i, &row),
                          cols = hs_tile_range(tiling, HS_N, job.j, &col);
        int64_t done = tile < local->gone ? cols : tile == local->gone ? local->columns_gone : 0;
        if (done < cols)
            multiply_on_host(&local->product, row, rows, col + done, cols - done);
        tile++;
    }
}

void hs_local_stop(struct hs_local *local)
{
    struct hs_stream *const stream[] = {local->in, local->multiply, local->out};
    for (unsigned i = 0; i < sizeof stream / sizeof *stream; i++)
        if (stream[i])
            local->device->kind->synchronize(local->device, stream[i]);
    local->running = 0;
}

/* After a device failure: the BLAS completes the product if possible, and computes later products of host matrices. */
static hsumma_status give_up(struct hs_local *local, hsumma_status status)
{
    int torn = local->way[2] == HS_DIRECT && local->leaving.begun > local->leaving.done &&
               !local->product.scalar->is_zero(&local->product.beta);
    hs_local_disable(local, status);
    hs_local_stop(local);
    if (torn || any(local->way, HS_RESIDENT))
        return status;
    local->counts[2]++;
    complete_on_host(local);
    return HSUMMA_OK;
}

/* Makes the tiling and reserves memory for it; retries with less memory until the device has enough. */
static hsumma_status make_tiles(struct hs_local *local)
{
    const struct hs_product *product = &local->product;
    const struct hs_local_limits *limits = &local->limits;
    int single = hs_is_single(product->scalar), adds = local->way[2] == HS_DIRECT;
    double per_index = (product->scalar->complex_type ? 8 : 2) / limits->device[single];
    struct hs_tiling_wish wish = {
        .size = product->scalar->size,
        .edge = limits->edge,
        .deep = 1 + (int64_t)(1.25 * (double)product->scalar->size / limits->link / per_index),
        .needs = {local->way[0] != HS_RESIDENT, local->way[1] != HS_RESIDENT, local->way[2] != HS_RESIDENT,
                  adds && !product->scalar->is_zero(&product->beta)}};
    memcpy(wish.extent, product->extent, sizeof wish.extent);
    for (;; local->limits.memory /= 2) {
        wish.bytes = limits->memory;
        if (hs_tiling_make(&local->tiling, &wish))
            return hs_fail(&local->device->message, HSUMMA_ERR_MEMORY,
                           "%lld bytes of device memory are too few for tiles; expected a larger device_memory",
                           (long long)limits->memory);
        hsumma_status status = hs_local_reserve(local);
        if (status != HSUMMA_ERR_MEMORY || local->tile_bytes >= local->tiling.bytes)
            return status;
        if (limits->memory > (int64_t)local->tiling.bytes)
            local->limits.memory = (int64_t)local->tiling.bytes;
    }
}

/* Makes the streams wait until operands that the device accesses in place are ready. */
static hsumma_status enter(struct hs_local *local)
{
    struct hs_device *device = local->device;
    const struct hs_device_kind *kind = device->kind;
    struct hs_stream *const stream[] = {local->in, local->multiply, local->out};
    if (!local->order || !*local->order || !(any(local->way, HS_RESIDENT) || any(local->way, HS_DIRECT)))
        return HSUMMA_OK;
    hsumma_status status = kind->record(device, *local->order, local->begun);
    for (unsigned i = 0; !status && i < sizeof stream / sizeof *stream; i++)
        status = kind->wait(device, stream[i], local->begun);
    return status;
}

/* Whether the product adds nothing to C. */
static int is_empty(const struct hs_product *product)
{
    const int64_t *extent = product->extent;
    return extent[HS_M] <= 0 || extent[HS_N] <= 0 || extent[HS_K] <= 0 || product->scalar->is_zero(&product->alpha);
}

/* Determines how each operand reaches the device.  Only C matters in an empty product. */
static void look(const struct hs_local *local, const struct hs_product *product, enum hs_way way[3])
{
    const void *const operand[3] = {product->a, product->b, product->c};
    for (int x = 0; x < 3; x++)
        way[x] = x < 2 && is_empty(product) ? HS_BY_HAND : way_of(local, operand[x]);
}

int hs_local_takes(const struct hs_local *local, const struct hs_product *product)
{
    enum hs_way way[3];
    if (!local)
        return 0;
    if (!is_empty(product) && hs_local_prefers(local, product->scalar, product->extent, 0))
        return 1;
    look(local, product, way);
    return any(way, HS_RESIDENT);
}

void hs_local_start(struct hs_local *local, const struct hs_product *product)
{
    if (!local) {
        multiply_on_host(product, 0, product->extent[HS_M], 0, product->extent[HS_N]);
        return;
    }
    local->product = *product;
    if (is_empty(product))
        local->product.extent[HS_K] = 0;
    look(local, product, local->way);
    local->on_device = hs_local_takes(local, product);
    local->running = 1;
    local->status = HSUMMA_OK;
    local->tiling = (struct hs_tiling){0};
    local->planned = local->multiplied = (struct hs_walk){0};
    local->loading = (struct hs_loading){0};
    local->coming.begun = local->coming.done = local->leaving.begun = local->leaving.done = 0;
    local->complete = local->left = local->gone = local->columns_left = local->columns_gone = 0;
    local->ending = 0;
    if (!local->on_device)
        return;
    if (local->off)
        local->status = hs_fail(&local->device->message, HSUMMA_ERR_DEVICE, "%s", local->note.text);
    else if (!is_empty(product))
        local->status = make_tiles(local);
    else
        local->status = hs_local_reserve(local);
    if (!local->status)
        local->status = enter(local);
}

/* Enqueues one multiplication whose tiles are present or in flight. */
static hsumma_status multiply(struct hs_local *local, const struct hs_job *job)
{
    struct hs_device *device = local->device;
    const struct hs_device_kind *kind = device->kind;
    const struct hs_product *product = &local->product;
    const struct hs_scalar *scalar = product->scalar;
    struct hs_tile_slot *slot[3];
    char *at[3];
    int64_t ld[3];
    hsumma_status status = HSUMMA_OK;
    for (int x = 0; !status && x < 3; x++) {
        slot[x] = hs_local_find(local, x, hs_local_tile(local, x, job));
        struct hs_source_tile region = hs_local_source_tile(local, x, job);
        at[x] = slot[x] ? slot[x]->at : region.at;
        ld[x] = slot[x] ? region.pitch : region.ld;
        if (slot[x] && (x < HS_TILES_C || job->first))
            status = kind->wait(device, local->multiply, x < HS_TILES_C ? slot[x]->ready : slot[x]->free);
    }
    int64_t ignored, m = hs_tile_range(&local->tiling, HS_M, job->i, &ignored);
    int64_t n = hs_tile_range(&local->tiling, HS_N, job->j, &ignored),
            k = hs_tile_range(&local->tiling, HS_K, job->l, &ignored);
    const void *beta = !job->first ? scalar->one : slot[HS_TILES_C] ? scalar->zero : &product->beta;
    if (!status)
        status = kind->gemm(device, local->multiply, local->product.scalar->type, product->op[0], product->op[1], m, n,
                            k, &product->alpha, at[0], ld[0], at[1], ld[1], beta, at[2], ld[2]);
    for (int x = 0; !status && x < 2; x++)
        if (slot[x])
            status = kind->record(device, local->multiply, slot[x]->free);
    if (!status && job->last && slot[HS_TILES_C]) {
        local->queue[local->complete++ % HS_TILES_MOST] = (struct hs_complete){*job, slot[HS_TILES_C]};
        status = kind->record(device, local->multiply, slot[HS_TILES_C]->ready);
    }
    return status;
}

/* Enqueues some multiplications whose tiles have been planned. */
static hsumma_status multiply_some(struct hs_local *local, int *worked)
{
    hsumma_status status = HSUMMA_OK;
    struct hs_job job;
    for (int i = 0; !status && i < JOBS_AT_ONCE && local->multiplied.number < local->planned.number; i++) {
        hs_walk_peek(&local->tiling, &local->multiplied, &job);
        status = multiply(local, &job);
        hs_walk_next(&local->tiling, &local->multiplied);
        *worked = 1;
    }
    return status;
}

/* Sets *complete to whether C in device memory is complete.  The first call enqueues the scaling of C if nothing is
 * multiplied. */
static hsumma_status is_complete(struct hs_local *local, int *complete)
{
    const struct hs_product *product = &local->product;
    const struct hs_device_kind *kind = local->device->kind;
    hsumma_status status = HSUMMA_OK;
    if (!local->ending && product->extent[HS_K] == 0)
        status = kind->update(local->device, local->multiply, local->product.scalar->type, product->extent[HS_M],
                              product->extent[HS_N], &product->beta, product->c, product->ldc, NULL, 0);
    if (!status && !local->ending)
        status = kind->record(local->device, local->multiply, local->ended);
    local->ending = 1;
    return status ? status : kind->complete(local->device, local->ended, complete);
}

static hsumma_status step(struct hs_local *local, int *worked)
{
    const struct hs_tiling *tiling = &local->tiling;
    int complete = 0;
    hsumma_status status = hs_local_take(local, worked);
    if (!status)
        status = multiply_some(local, worked);
    if (!status)
        status = hs_local_bring(local, worked);
    if (status || local->multiplied.number < tiling->count[HS_M] * tiling->count[HS_N] * tiling->count[HS_K])
        return status;
    if (local->way[2] == HS_RESIDENT)
        status = is_complete(local, &complete);
    else
        complete = local->gone == tiling->count[HS_M] * tiling->count[HS_N];
    if (!status && complete) {
        local->counts[1]++;
        local->running = 0;
        *worked = 1;
    }
    return status;
}

hsumma_status hs_local_advance(void *state, int *worked, int *done)
{
    struct hs_local *local = state;
    hsumma_status status = HSUMMA_OK;
    if (!local) { /* hs_local_start has completed the product */
        *worked = *done = 1;
        return HSUMMA_OK;
    }
    const struct hs_product *product = &local->product;
    if (local->running && !local->on_device) {
        multiply_on_host(product, 0, product->extent[HS_M], 0, product->extent[HS_N]);
        local->counts[0]++;
        local->running = 0;
        *worked = 1;
    } else if (local->running) {
        status = local->status ? local->status : step(local, worked);
        if (status) {
            status = give_up(local, status);
            *worked = 1;
        }
    }
    *done = !local->running;
    return status;
}

int hs_local_is_busy(const struct hs_local *local)
{
    return local && local->running && local->on_device;
}
