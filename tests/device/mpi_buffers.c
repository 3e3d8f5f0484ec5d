/*
 * Shared buffers in device memory: the bytes that each rank holds, copies and sums of each rank, several calls in one
 * buffer, a limit that is too small for the vector, memory that is short on one rank.
 */
#include "coll/run/device_comm.h"
#include "support/device/coll_device.h"

enum { COUNT = 20000, BYTES = COUNT * (int)sizeof(double), CALLS = HS_LONG_RING + 1 };

static struct hs_device_kind counting; /* counts work on its way to the device */
static const struct hs_device_kind *counted;
static int copies, sums;

static hsumma_status copy(struct hs_device *device, struct hs_stream *stream, void *dst, const void *src, size_t bytes)
{
    copies++;
    return counted->copy(device, stream, dst, src, bytes);
}

static hsumma_status combine(struct hs_device *device, struct hs_stream *stream, void *dst, const void *const *operand,
                             int operands, int64_t count, hsumma_element element, hsumma_op op)
{
    sums++;
    return counted->combine(device, stream, dst, operand, operands, count, element, op);
}

static void *memory[2];

static int open_counting(const char *options)
{
    char text[400] = "";
    hsumma_status status = coll_device_create(options, text, sizeof text);
    if (!tap_ok(world_worst(status) == 0, "a context with \"%s\" %s", options, text))
        return 0;
    counted = ctx->device->kind;
    counting = *counted;
    counting.copy = copy;
    counting.combine = combine;
    ctx->device->kind = &counting;
    for (int i = 0; i < 2 && !status; i++)
        status = hsumma_malloc(ctx, (size_t)CALLS * BYTES, &memory[i]);
    return tap_ok(world_worst(status) == 0, "memory in it");
}

static void close_counting(void)
{
    hsumma_mfree(ctx, memory[0]);
    hsumma_mfree(ctx, memory[1]);
    ctx->device->kind = counted;
    hsumma_free(&ctx);
}

static hsumma_coll sum(const char *algorithm, int call, int64_t count)
{
    return (hsumma_coll){.collective = HSUMMA_ALLREDUCE,
                         .in = (double *)memory[0] + (size_t)call * COUNT,
                         .out = (double *)memory[1] + (size_t)call * COUNT,
                         .count = count,
                         .algorithm = algorithm,
                         .op = {.op = HSUMMA_SUM, .element = HSUMMA_DOUBLE}};
}

/* Starts `calls` sums together. Returns 1 if all are right here. */
static int run(const char *algorithm, int calls, int64_t count)
{
    double *data = malloc((size_t)CALLS * BYTES);
    hsumma_request *request[CALLS];
    int wrong = 0;
    for (int64_t i = 0; i < (int64_t)CALLS * COUNT; i++)
        data[i] = (double)(i % 1013 + rank);
    hsumma_status status = hsumma_copy(ctx, memory[0], data, (size_t)CALLS * BYTES);
    copies = sums = 0;
    for (int c = 0; c < calls && !status; c++) {
        const hsumma_coll call = sum(algorithm, c, count);
        status = hsumma_coll_start(ctx, &call, &request[c]);
    }
    for (int c = 0; c < calls && !status; c++)
        status = hsumma_coll_wait(&request[c]);
    int made = copies;
    status |= hsumma_copy(ctx, data, memory[1], (size_t)CALLS * BYTES);
    copies = made;
    for (int64_t i = 0; i < (int64_t)calls * COUNT && !status; i++)
        wrong += i % COUNT < count && data[i] != (double)(size * (i % 1013) + size * (size - 1) / 2);
    if (status || wrong)
        printf("# rank %d: %s: %d elements wrong; %s\n", rank, algorithm, wrong, hsumma_message(ctx));
    free(data);
    return !status && !wrong;
}

static int64_t held(void)
{
    const struct hs_device_comm *on = ctx->comm.device;
    return on->held[on->shm->me] * on->shm->ring[HS_SHARED_RINGS - 1].depth;
}

/* The vectors' bytes in a place, and the pages of `places` places. */
static int64_t pages_of(int64_t places, int64_t count)
{
    return hs_in_pages(places *
                       ((count * (int64_t)sizeof(double) + HS_CACHE_LINE - 1) / HS_CACHE_LINE * HS_CACHE_LINE));
}

static void test_owner(void)
{
    if (!open_counting(""))
        return;
    tap_ok(world_worst(held() != 0) == 0, "no rank has a buffer before the first call");
    int right = run("shared_buffer", 1, 1000);
    tap_ok(world_worst(!right || held() != (rank ? 0 : HS_LONG_RING * pages_of(size, 1000))) == 0,
           "shared_buffer of 1000: rank 0 holds four times %d places", size);
    right = run("shared_buffer", 1, COUNT);
    tap_ok(world_worst(!right || held() != (rank ? 0 : HS_LONG_RING * pages_of(size, COUNT))) == 0,
           "a longer vector: the buffer grows with it");
    tap_ok(world_worst(copies != (rank ? 2 : 1) || sums != !rank) == 0, "two copies per rank, one sum on rank 0");
    const int64_t before = held();
    right = run("binomial", 1, COUNT);
    int parent = rank % 2 == 0 && rank + 1 < size;
    tap_ok(world_worst(!right || (held() > before) != (parent && rank > 0) || (!parent && held() > before)) == 0,
           "binomial: even ranks get a buffer, odd ranks none");
    tap_ok(world_worst(copies != (rank ? 2 : 1)) == 0, "and two copies per rank");
    right = run("shared_buffer", 1, 999);
    tap_ok(world_worst(!right || (rank % 2 && held())) == 0, "a shorter vector, in what there is");
    close_counting();
}

/* The limit is as long as one call's buffer, half as long, or a sixteenth. */
static void test_limits(const char *policy, int most)
{
    coll_device_policy(policy, "");
    for (int part = 1; part <= most; part *= part == 1 ? 2 : 8) {
        char options[60];
        const int64_t limit = hs_in_pages(pages_of(size, COUNT) / part);
        snprintf(options, sizeof options, "shared=%" PRId64, limit);
        if (!open_counting(options))
            return;
        int right = run("shared_buffer", 1, COUNT), few = copies == (rank ? 2 : 1);
        tap_ok(world_worst(!right || few != (part == 1) || held() > limit) == 0,
               "a limit of 1/%d of the buffer: %d copies", part, copies);
        right = run("shared_buffer", CALLS, COUNT);
        right &= run("binomial", CALLS, COUNT) && run("shared_buffer", CALLS, 100);
        tap_ok(world_worst(!right || held() > limit) == 0, "%d calls under way together, %s", CALLS, policy);
        close_counting();
    }
    coll_device_policy("", "");
}

/* Memory is short on one rank: a shorter buffer, or none, and right results on all. */
static void test_short(int short_rank, const char *algorithm, int64_t room)
{
    char few[60], text[1000] = "";
    snprintf(few, sizeof few, "memory=%" PRId64, 2 * (int64_t)CALLS * BYTES + room);
    if (rank == short_rank)
        coll_device_policy("", few);
    int opened = open_counting("device_memory=1k");
    coll_device_policy("", "");
    if (!opened)
        return;
    const hsumma_coll call = sum(algorithm, 0, COUNT);
    int right = run(algorithm, 2, COUNT);
    hsumma_status status = hsumma_coll_describe(ctx, &call, text, sizeof text);
    int told = strstr(text, "no memory for longer ones") != NULL, with = ctx->comm.device->topology.shared_bytes > 0;
    tap_ok(world_worst(!right || status || (with && !told)) == 0, "%" PRId64 " bytes on rank %d: %s", room, short_rank,
           text);
    close_counting();
}

int main(int argc, char **argv)
{
    coll_device_start(&argc, &argv);
    if (size > 1) {
        test_owner();
        test_limits("lazy", 16);
        test_limits("noevents,random:3", 1);
    } else {
        tap_skip(1, "one rank needs no buffers");
    }
    if (size > 1 && test_device_is_host()) {
        test_short(0, "shared_buffer", (int64_t)size * BYTES);
        test_short(0, "shared_buffer", 3 * HS_PAGE);
        test_short(0, "binomial", BYTES);
        test_short(size - 1, "reduce_bcast", HS_PAGE);
    }
    return world_end();
}
