/*
 * The timeline: the recorded entries of products and collective calls are complete and agree with other counts of the
 * messages and flops; the file is written at the right times.
 */
#include "support/product/tuned_plan.h"

#include <hsumma_coll.h>

#include "coll/node/tags.h"
#include "hsumma/context/context.h"

#include <sys/stat.h>

static const struct hs_trace_entry *entries_of(const hsumma_context *ctx, int *count)
{
    *count = ctx->comm.trace ? (int)ctx->comm.trace->count : 0;
    return ctx->comm.trace ? ctx->comm.trace->ring : NULL;
}

/* Creates a context with a timeline, whose file is `path` ("none": without one). */
static hsumma_context *open_context(const char *path, const char *more)
{
    char options[TUNED_WORDS], message[256] = "";
    hsumma_context *ctx = NULL;
    snprintf(options, sizeof options, "trace=%s tuned=none profile=builtin %s", path, more);
    if (hsumma_create(MPI_COMM_WORLD, options, &ctx, message, sizeof message) && rank == 0)
        tap_diag("%s", message);
    return ctx;
}

static int is_work(const struct hs_trace_entry *e)
{
    return e->kind == HS_TRACE_GEMM || e->kind == HS_TRACE_COPY || e->kind == HS_TRACE_SUM || e->kind == HS_TRACE_WAIT;
}

static int is_of_product(const struct hs_trace_entry *e)
{
    return e->tag / HS_INSTANCES < HS_CHANNEL_COLL;
}

/* Whether all entries have ended, and work and waits are in the order of their ends and do not overlap. */
static int is_in_order(const struct hs_trace_entry *e, int count)
{
    double end = 0;
    int good = 1;
    for (int i = 0; i < count; i++) {
        good &= e[i].end >= e[i].begin && e[i].begin > 0;
        good &= e[i].kind == HS_TRACE_PRODUCT || (e[i].peer >= -1 && e[i].peer < size);
        if (is_work(&e[i])) {
            good &= e[i].begin >= end;
            end = e[i].end;
        }
    }
    return good;
}

/* Whether all entries since the start of a product lie within it. */
static int is_inside(const struct hs_trace_entry *e, int from, int count)
{
    const struct hs_trace_entry *product = &e[count - 1];
    int good = product->kind == HS_TRACE_PRODUCT;
    for (int i = from; good && i < count - 1; i++)
        good = e[i].begin >= product->begin && e[i].end <= product->end;
    return good;
}

static int64_t sum_of(const struct hs_trace_entry *e, int from, int count, int kind, int64_t *number)
{
    int64_t sum = *number = 0;
    for (int i = from; i < count; i++)
        if (e[i].kind == kind && (kind == HS_TRACE_GEMM || is_of_product(&e[i]))) {
            sum += e[i].amount;
            ++*number;
        }
    return sum;
}

/* Whether each process has received exactly what every other process has sent to it, in bytes and messages. */
static int all_arrived(const struct hs_trace_entry *e, int count)
{
    int64_t *flow = calloc((size_t)size * 4, sizeof *flow), *back = flow + 2 * size;
    int good = flow != NULL;
    for (int i = 0; good && i < count; i++)
        if (e[i].kind == HS_TRACE_SEND || e[i].kind == HS_TRACE_RECEIVE) {
            flow[2 * e[i].peer] += e[i].kind == HS_TRACE_SEND ? e[i].amount : 0;
            flow[2 * e[i].peer + 1] += e[i].kind == HS_TRACE_SEND;
        }
    if (good)
        MPI_Alltoall(flow, 2, MPI_INT64_T, back, 2, MPI_INT64_T, MPI_COMM_WORLD);
    for (int i = 0; good && i < count; i++)
        if (e[i].kind == HS_TRACE_RECEIVE) {
            back[2 * e[i].peer] -= e[i].amount;
            back[2 * e[i].peer + 1]--;
        }
    for (int i = 0; good && i < 2 * size; i++)
        good = back[i] == 0;
    free(flow);
    return good;
}

/* Makes a grid of all processes in one row, or from 4 processes on in two rows, without the last of an odd number. */
static void make_grid(hsumma_context *ctx, hsumma_grid **grid)
{
    int rows = size >= 4 ? 2 : 1, cols = size / rows;
    hsumma_grid_create(ctx, rows, cols, 'R', NULL, grid);
}

/* Runs one product, tested a few times before it completes; compares entries with the plan's info and counts. */
static void test_product(hsumma_context *ctx, const hsumma_grid *grid, char ta, char tb, const char *options)
{
    struct gemm_case c = gemm_case_of(grid, HSUMMA_D, ta, tb, 40, 36, 52, 4);
    struct gemm_part local[3];
    hsumma_plan *plan = NULL;
    int from, count;
    int64_t messages, slices;
    c.options = options;
    gemm_make(&c, local);
    hsumma_status status = gemm_plan_create(ctx, &c, &plan);
    entries_of(ctx, &from);
    if (!status)
        status = gemm_step_through(plan, &c, local, 3);
    int good = status == HSUMMA_OK && gemm_wrong(&c, &local[2], 0) == 0;
    const struct hs_trace_entry *e = entries_of(ctx, &count);
    hsumma_plan_info info = plan_query(plan);
    int64_t bytes = sum_of(e, from, count, HS_TRACE_SEND, &messages);
    int counted = bytes == info.bytes_sent && messages == info.messages_sent && bytes == info.predicted_bytes_sent;
    int64_t flops = sum_of(e, from, count, HS_TRACE_GEMM, &slices);
    int fits = rank >= grid->grid.extent[0] * grid->grid.extent[1] ? count == from : is_inside(e, from, count);
    tap_ok(everywhere(good && fits && is_in_order(e, count)),
           "%c%c %s: entries end, do not overlap, and lie inside their product", ta, tb, info.line);
    tap_ok(everywhere(counted), "  sent: %" PRId64 " bytes in %" PRId64 " messages, as the plan counts", bytes,
           messages);
    tap_ok(everywhere(all_arrived(e + from, count - from)), "  each message has its receiver");
    tap_ok(world_reduce(flops, MPI_SUM) == 2 * c.m * c.n * c.k, "  the flops of all slices are those of the product");
    hsumma_plan_free(&plan);
    gemm_drop(local);
}

static void test_products(hsumma_context *ctx)
{
    static const char *const options[] = {"stationary=C", "stationary=A", "stationary=B",
                                          "stationary=C lookahead=0 block=8", "stationary=A lookahead=2 block=4"};
    hsumma_grid *grid = NULL;
    make_grid(ctx, &grid);
    for (unsigned i = 0; i < sizeof options / sizeof *options; i++)
        test_product(ctx, grid, i & 1 ? 'T' : 'N', i & 2 ? 'T' : 'N', options[i]);
    hsumma_grid_free(&grid);
}

/* Runs two concurrent collective calls. */
static void test_calls(hsumma_context *ctx)
{
    double in[64] = {0}, out[2][64];
    hsumma_request *request[2] = {NULL, NULL};
    int from, count, calls = 0, status = 0;
    entries_of(ctx, &from);
    for (int i = 0; i < 2; i++)
        status |= hsumma_coll_start(ctx,
                                    &(hsumma_coll){.collective = HSUMMA_ALLREDUCE,
                                                   .in = in,
                                                   .out = out[i],
                                                   .count = 64,
                                                   .op = {.op = HSUMMA_SUM, .element = HSUMMA_DOUBLE}},
                                    &request[i]);
    for (int i = 0; i < 2; i++)
        status |= hsumma_coll_wait(&request[i]);
    const struct hs_trace_entry *e = entries_of(ctx, &count);
    for (int i = from; i < count; i++)
        calls += e[i].kind == HS_TRACE_CALL && e[i].operand == HSUMMA_ALLREDUCE && e[i].amount == sizeof in;
    tap_ok(everywhere(!status && calls == 2 && is_in_order(e, count) && all_arrived(e + from, count - from)),
           "calls are recorded, and their messages");
}

/* Adds more entries than the ring has places: the last ones remain. */
static void test_ring(hsumma_context *ctx)
{
    struct hs_trace *trace = ctx->comm.trace;
    const uint64_t before = trace->count + trace->lost;
    enum { MORE = HS_TRACE_ENTRIES + 100 };
    int64_t open = hs_trace_add(trace, (struct hs_trace_entry){.begin = 1, .kind = HS_TRACE_CALL});
    for (int i = 0; i < MORE; i++)
        hs_trace_add(trace, (struct hs_trace_entry){.begin = 2 + i, .end = 2 + i, .kind = HS_TRACE_GEMM, .panel = i});
    hs_trace_close(trace, open); /* a newer entry has its place in the ring */
    int good = trace->ring[(trace->count - 1) % HS_TRACE_ENTRIES].panel == MORE - 1 &&
               trace->ring[(uint64_t)open % HS_TRACE_ENTRIES].kind == HS_TRACE_GEMM;
    good &= hsumma_trace_write(ctx) == HSUMMA_OK && trace->count == HS_TRACE_ENTRIES;
    good &= trace->count + trace->lost == before + MORE + 1 && trace->ring[0].panel == 100;
    tap_ok(everywhere(good), "a full ring keeps the last entries");
}

static int there(const char *path)
{
    struct stat found;
    return world_reduce(rank == 0 && stat(path, &found) == 0 && found.st_size > 0, MPI_MAX) > 0;
}

/* Two contexts, each with its own file, which is written when the context is freed or on request. */
static void test_files(void)
{
    const char *path[2] = {tuned_path("one.json"), tuned_path("two.json")};
    hsumma_context *ctx[2] = {open_context(path[0], ""), open_context(path[1], "")};
    int64_t sum = rank, all = -1;
    int good = ctx[0] && ctx[1] && !there(path[0]) && !there(path[1]);
    good = good && !hsumma_allreduce(ctx[0], &sum, &all, 1, HSUMMA_INT64, HSUMMA_SUM);
    good = good && !hsumma_trace_write(ctx[0]) && there(path[0]) && !there(path[1]);
    tap_ok(everywhere(good), "hsumma_trace_write writes its context's file alone");
    hsumma_free(&ctx[1]);
    hsumma_free(&ctx[0]);
    tap_ok(there(path[1]), "hsumma_free writes what has not been written");
    ctx[0] = open_context("none", "");
    tap_ok(everywhere(ctx[0] && !ctx[0]->comm.trace->ring && !hsumma_trace_write(ctx[0])), "trace=none: nothing");
    hsumma_free(&ctx[0]);
}

/* A path that cannot be written is an error of the context's creation or of the writing call; nothing else fails. */
static void test_errors(void)
{
    char message[256] = "", options[TUNED_WORDS];
    hsumma_context *ctx = NULL;
    snprintf(options, sizeof options, "trace=%s/file", tuned_path("missing"));
    hsumma_status status = hsumma_create(MPI_COMM_WORLD, options, &ctx, message, sizeof message);
    tap_ok(everywhere(status == HSUMMA_ERR_OPTION && !ctx && strstr(message, "trace: cannot create")),
           "a folder that is not there: %s", message);
    status = hsumma_create(MPI_COMM_WORLD, "trace=/dev/null", &ctx, message, sizeof message);
    tap_ok(everywhere(status == HSUMMA_ERR_OPTION && strstr(message, "is not a regular file")),
           "not a regular file: %s", message);
    const char *path = tuned_path("taken");
    ctx = open_context(path, "");
    if (rank == 0)
        mkdir(path, 0700);
    world_reduce(0, MPI_SUM);
    status = hsumma_trace_write(ctx);
    int64_t sum = 1, all = 0;
    int good = status == HSUMMA_ERR_OPTION && strstr(hsumma_message(ctx), "trace: ") &&
               !hsumma_allreduce(ctx, &sum, &all, 1, HSUMMA_INT64, HSUMMA_SUM) && all == size;
    tap_ok(everywhere(good), "a folder in the file's place: %s; the context goes on", hsumma_message(ctx));
    hsumma_free(&ctx);
}

static void test_busy(hsumma_context *ctx)
{
    hsumma_grid *grid = NULL;
    hsumma_plan *plan = NULL;
    struct gemm_part local[3];
    make_grid(ctx, &grid);
    struct gemm_case c = gemm_case_of(grid, HSUMMA_D, 'N', 'N', 20, 20, 20, 4);
    gemm_make(&c, local);
    hsumma_status status = gemm_plan_create(ctx, &c, &plan);
    if (!status)
        status = gemm_begin(plan, &c, local, 0);
    int good = !status && hsumma_trace_write(ctx) == HSUMMA_ERR_BUSY && strstr(hsumma_message(ctx), "not complete");
    good = good && !hsumma_plan_wait(plan) && gemm_wrong(&c, &local[2], 0) == 0 && !hsumma_trace_write(ctx);
    tap_ok(everywhere(good), "not while a plan is in progress");
    hsumma_plan_free(&plan);
    gemm_drop(local);
    hsumma_grid_free(&grid);
}

int main(int argc, char **argv)
{
    world_begin(&argc, &argv);
    if (tuned_directory_make()) {
        hsumma_context *ctx = open_context(tuned_path("timeline.json"), "");
        test_products(ctx);
        test_calls(ctx);
        test_busy(ctx);
        test_ring(ctx);
        hsumma_free(&ctx);
        test_files();
        test_errors();
        tuned_directory_drop();
    } else
        tap_ok(0, "a directory for the test");
    return world_end();
}
