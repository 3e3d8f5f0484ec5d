/*
 * Collective calls on device memory: many in flight, long vectors, slow devices, memory of different kinds or that
 * cannot be shared, devices that fail.
 */
#include "support/device/coll_device.h"
#include "support/left_in_mpi.h"

#include <unistd.h>

/* One of many calls in flight; its result is checked after all have been started. */
struct one_of_many {
    hsumma_coll call;
    hsumma_request *request;
    int64_t elements;
    int number;
};
enum { MANY = 24, MOST_ELEMENTS = 3000 };

static double value_of(int number, int r, int64_t i)
{
    return (double)((number * 7 + r * 3 + i) % 17);
}

static double wanted_of(const struct one_of_many *one, int64_t i)
{
    int64_t each = one->elements;
    double sum = 0;
    if (one->call.collective == HSUMMA_BCAST)
        return value_of(one->number, one->call.root, i);
    if (one->call.collective == HSUMMA_ALLGATHER)
        return value_of(one->number, (int)(i / each), i % each);
    for (int r = 0; r < size; r++)
        sum += value_of(one->number, r, one->call.collective == HSUMMA_REDUCE_SCATTER ? rank * each + i : i);
    return sum;
}

static hsumma_coll sum(const void *in, void *out, int64_t count, const char *algorithm)
{
    return (hsumma_coll){.collective = HSUMMA_ALLREDUCE,
                         .in = in,
                         .out = out,
                         .count = count,
                         .algorithm = algorithm,
                         .op = {.op = HSUMMA_SUM, .element = HSUMMA_DOUBLE}};
}

/* The number of wrong elements in the sum of call `number`. */
static int wrong_sums(const double *out, int number, int64_t count)
{
    const struct one_of_many one = {.call = {.collective = HSUMMA_ALLREDUCE}, .number = number, .elements = count};
    int wrong = 0;
    for (int64_t i = 0; i < count; i++)
        wrong += out[i] != wanted_of(&one, i);
    return wrong;
}

/*
 * Makes many calls without waiting. With `started` each call has memory of its own, and all calls are then completed in
 * reverse order. Otherwise calls share memory: work on the stream overwrites an input after its call has read it, and
 * copies a result elsewhere before the next call overwrites the result.
 */
static int many_calls(int started)
{
    const struct hs_device_kind *kind = ctx->device->kind;
    struct one_of_many one[MANY];
    hsumma_algorithm_info info;
    void *pinned = NULL;
    int rows = 0, wrong = 0;
    hsumma_status status = kind->get_pinned(ctx->device, (size_t)2 * MANY * MOST_ELEMENTS * sizeof(double), &pinned);
    double *data = pinned;
    while (hsumma_coll_algorithm(ctx, rows, &info))
        rows++;
    for (int n = 0; n < MANY && !status; n++) {
        double *from = data + 2 * n * MOST_ELEMENTS, *to = from + MOST_ELEMENTS;
        hsumma_coll_algorithm(ctx, (n * 5 + 3) % rows, &info);
        int parted = info.collective == HSUMMA_ALLGATHER || info.collective == HSUMMA_REDUCE_SCATTER;
        int64_t each = (n * 211 % MOST_ELEMENTS + 1) / (parted ? size : 1) + 1;
        int64_t ins = info.collective == HSUMMA_REDUCE_SCATTER ? each * size : each;
        int64_t outs = info.collective == HSUMMA_ALLGATHER ? each * size : each;
        enum where where = n % 3 ? IN_SHARED : IN_OWN;
        char *in = coll_arena[where][0], *out = started ? coll_arena[where][1] + n * 32768 : coll_arena[where][1];
        one[n] = (struct one_of_many){.elements = each, .number = n};
        one[n].call = (hsumma_coll){.collective = info.collective,
                                    .in = started ? in + n * 32768 : in,
                                    .out = out,
                                    .count = each,
                                    .size = sizeof(double),
                                    .op = {.op = HSUMMA_SUM, .element = HSUMMA_DOUBLE},
                                    .root = n % size,
                                    .algorithm = info.name};
        char *source = info.collective == HSUMMA_BCAST ? out : (char *)(uintptr_t)one[n].call.in;
        for (int64_t i = 0; i < ins; i++)
            from[i] = value_of(n, rank, i);
        if (info.collective != HSUMMA_BCAST || rank == n % size)
            status |= kind->copy(ctx->device, ctx->stream, source, from, (size_t)ins * sizeof(double));
        status |= started ? hsumma_coll_start(ctx, &one[n].call, &one[n].request) : hsumma_coll_run(ctx, &one[n].call);
        if (!started && !status)
            status |= kind->copy(ctx->device, ctx->stream, to, out, (size_t)outs * sizeof(double));
    }
    for (int n = MANY - 1; n >= 0 && started && !status; n--)
        status |= hsumma_coll_wait(&one[n].request);
    status |= hsumma_synchronize(ctx);
    for (int n = 0; n < MANY && !status; n++) {
        double *to = data + (2 * n + 1) * MOST_ELEMENTS;
        int64_t outs = one[n].elements * (one[n].call.collective == HSUMMA_ALLGATHER ? size : 1);
        int there = one[n].call.collective != HSUMMA_REDUCE || rank == one[n].call.root, bad = 0;
        if (started)
            status |= hsumma_copy(ctx, to, one[n].call.out, (size_t)outs * sizeof(double));
        for (int64_t i = 0; i < outs && there; i++)
            bad |= to[i] != wanted_of(&one[n], i);
        if (bad)
            printf("# rank %d: call %d, %s %s of %" PRId64 ": wrong data\n", rank, n,
                   coll_names[one[n].call.collective], one[n].call.algorithm, one[n].elements);
        wrong += bad;
    }
    if (status)
        printf("# rank %d: %s\n", rank, hsumma_message(ctx));
    kind->put_pinned(ctx->device, pinned);
    return !status && !wrong;
}

/* Broadcasts on slow devices. The root does not wait for the other ranks, and each slot of the ring is reused several
 * times. */
static int late_readers(void)
{
    enum { CALLS = 4 * HS_RING, EACH = 500 };
    const struct hs_device_kind *kind = ctx->device->kind;
    void *pinned = NULL;
    int wrong = 0;
    hsumma_status status = kind->get_pinned(ctx->device, CALLS * EACH * sizeof(double), &pinned);
    double *data = pinned;
    for (int n = 0; n < CALLS && !status; n++) {
        double *from = data + n * EACH;
        hsumma_coll call = {.collective = HSUMMA_BCAST,
                            .out = coll_arena[IN_OWN][1] + (size_t)n * EACH * sizeof(double),
                            .count = EACH * (int64_t)sizeof(double),
                            .algorithm = "shared"};
        for (int i = 0; i < EACH; i++)
            from[i] = rank == 0 ? value_of(n, 0, i) : -1;
        status |= kind->copy(ctx->device, ctx->stream, call.out, from, EACH * sizeof(double));
        status |= hsumma_coll_run(ctx, &call);
    }
    if (rank > 0)
        usleep(10000);
    status |= hsumma_copy(ctx, data, coll_arena[IN_OWN][1], CALLS * EACH * sizeof(double));
    for (int i = 0; i < CALLS * EACH && !status; i++)
        wrong |= data[i] != value_of(i / EACH, 0, i % EACH);
    kind->put_pinned(ctx->device, pinned);
    return !status && !wrong;
}

/* Several long sums in flight, in memory that peers have not mapped, so the sums use the staging buffers in turn. */
static int long_together(void)
{
    enum { CALLS = 4, EACH = 80000 };
    const struct hs_device_kind *kind = ctx->device->kind;
    hsumma_request *request[CALLS];
    double *data = malloc(EACH * sizeof *data);
    void *memory[CALLS] = {NULL};
    int wrong = 0;
    hsumma_status status = HSUMMA_OK;
    for (int n = 0; n < CALLS && !status; n++) {
        status = kind->get(ctx->device, 2 * EACH * sizeof *data, &memory[n]);
        for (int i = 0; i < EACH; i++)
            data[i] = value_of(n, rank, i);
        status |= hsumma_copy(ctx, memory[n], data, EACH * sizeof *data);
    }
    for (int n = 0; n < CALLS && !status; n++) {
        const hsumma_coll call = sum(memory[n], (double *)memory[n] + EACH, EACH, "shared");
        status = hsumma_coll_start(ctx, &call, &request[n]);
    }
    for (int n = 0; n < CALLS && !status; n++)
        status |= hsumma_coll_wait(&request[n]);
    for (int n = 0; n < CALLS && !status; n++) {
        status |= hsumma_copy(ctx, data, (double *)memory[n] + EACH, EACH * sizeof *data);
        wrong |= wrong_sums(data, n, EACH);
    }
    for (int n = 0; n < CALLS; n++)
        kind->put(ctx->device, memory[n]);
    free(data);
    return !status && !wrong;
}

/* Short sums at which processes arrive at different times. */
static int short_sums(void)
{
    enum { CALLS = 60, EACH = 64 };
    double in[EACH], out[EACH];
    int wrong = 0;
    hsumma_status status = HSUMMA_OK;
    for (int n = 0; n < CALLS && !status; n++) {
        const hsumma_coll call = sum(coll_arena[IN_OWN][0], coll_arena[IN_OWN][1], EACH, "shared");
        for (int i = 0; i < EACH; i++)
            in[i] = value_of(n, rank, i);
        status = hsumma_copy(ctx, coll_arena[IN_OWN][0], in, sizeof in);
        usleep((unsigned)((n * 7 + rank * 5) % 4) * 300);
        status |= hsumma_coll_run(ctx, &call);
        status |= hsumma_copy(ctx, out, coll_arena[IN_OWN][1], sizeof out);
        wrong |= wrong_sums(out, n, EACH);
    }
    return !status && !wrong;
}

static void test_order(void)
{
    coll_device_policy("", "lazy,hold=50000");
    if (coll_device_open("shared=16k")) {
        tap_ok(world_worst(!late_readers()) == 0, "a slot is written again when all have read it");
        tap_ok(world_worst(!long_together()) == 0, "stand-ins that peers read are for one call at a time");
        tap_ok(world_worst(!short_sums()) == 0, "a sum goes on with what is there");
        coll_device_close();
    }
    coll_device_policy("", "");
}

static void test_many(const char *options, const char *words)
{
    coll_device_policy(words, "");
    if (!coll_device_open(options))
        return;
    for (int turn = 0; turn < 2; turn++) {
        tap_ok(world_worst(!many_calls(0)) == 0, "%d calls one upon another, %s", MANY, options);
        tap_ok(world_worst(!many_calls(1)) == 0, "%d calls under way together, %s", MANY, options);
    }
    coll_device_close();
}

/* Vectors of many pieces. */
static void test_long(const char *options, const char *algorithm, hsumma_collective collective)
{
    const int64_t bytes = (5 << 20) + 3, ints = bytes / 4;
    const int sums = collective != HSUMMA_BCAST;
    void *memory[2] = {NULL, NULL};
    int32_t *image = calloc((size_t)ints + 1, sizeof *image);
    int wrong = 0;
    hsumma_status status = coll_device_create(options, NULL, 0);
    for (int i = 0; i < 2 && !status; i++)
        status = ctx->device->kind->get(ctx->device, (size_t)bytes, &memory[i]);
    for (int64_t i = 0; i < ints; i++)
        image[i] = (int32_t)(i * 31 + rank);
    status |= hsumma_copy(ctx, memory[0], image, (size_t)bytes);
    hsumma_coll call = {.collective = collective,
                        .in = memory[0],
                        .out = memory[sums],
                        .count = sums ? ints : bytes,
                        .op = {.op = HSUMMA_SUM, .element = HSUMMA_INT32},
                        .algorithm = algorithm};
    status |= hsumma_coll_run(ctx, &call);
    status |= hsumma_copy(ctx, image, call.out, (size_t)ints * sizeof *image);
    for (int64_t i = 0; i < ints; i++)
        wrong |= image[i] != (int32_t)(sums ? i * 31 * size + size * (size - 1) / 2 : i * 31);
    if (status)
        printf("# rank %d: %s\n", rank, hsumma_message(ctx));
    tap_ok(world_worst(wrong || status) == 0, "%s %s of %" PRId64 " bytes, %s", coll_names[collective], algorithm,
           bytes, options);
    for (int i = 0; i < 2; i++)
        ctx->device->kind->put(ctx->device, memory[i]);
    free(image);
    hsumma_free(&ctx);
}

/* One process passes host memory, or NULL: all processes must report the error, and the next call works. */
static void test_mixed(void)
{
    if (!coll_device_open(""))
        return;
    enum where where = rank == size - 1 ? IN_HOST : IN_OWN;
    hsumma_status status =
        hsumma_allreduce(ctx, coll_arena[where][0], coll_arena[where][1], 10, HSUMMA_DOUBLE, HSUMMA_SUM);
    int told = strstr(hsumma_message(ctx), "memory = host") != NULL;
    tap_ok(world_worst(status != HSUMMA_ERR_ARGUMENT || !told) == 0, "memory of different kinds: %s",
           hsumma_message(ctx));
    status = hsumma_allreduce(ctx, coll_arena[IN_OWN][0], rank ? coll_arena[IN_SHARED][1] : NULL, 11, HSUMMA_DOUBLE,
                              HSUMMA_SUM);
    tap_ok(world_worst(status != HSUMMA_ERR_ARGUMENT) == 0, "no memory on one process: %s", hsumma_message(ctx));
    status = hsumma_allreduce(ctx, coll_arena[IN_OWN][0], coll_arena[IN_SHARED][1], 10, HSUMMA_INT32, HSUMMA_SUM);
    tap_ok(world_worst(status) == 0, "then all is well again");
    coll_device_close();
}

/* Returns 1 if the description of a call contains `words` (wanted = 1), or does not contain them (wanted = 0). */
static int says(const hsumma_coll *call, const char *words, int wanted)
{
    char text[1000] = "";
    hsumma_status status = hsumma_coll_describe(ctx, call, text, sizeof text);
    int right = !status && (strstr(text, words) != NULL) == wanted;
    if (!right)
        printf("# rank %d: \"%s\" %s \"%s\"\n", rank, text, wanted ? "does not say" : "says", words);
    return right;
}

static void test_descriptions(void)
{
    if (!coll_device_open(""))
        return;
    hsumma_coll call = sum(coll_arena[IN_OWN][0], coll_arena[IN_OWN][1], 1000, "ring");
    int right = says(&call, "in device memory", 1);
    call.algorithm = "host_staged";
    right &= says(&call, "staged in host memory: the algorithm requires it", 1);
    call.algorithm = "mpi";
    right &= says(&call, "staged in host memory: the algorithm is MPI's own", 1);
    call.algorithm = NULL;
    call.op = (hsumma_operator){HSUMMA_USER, HSUMMA_FLOAT, coll_product, &combined, 16, 0};
    right &= says(&call, "staged in host memory: the operator is user-defined", 1);
    call.in = call.out = coll_arena[IN_HOST][0];
    right &= says(&call, "memory", 0);
    tap_ok(world_worst(!right) == 0, "descriptions say who does the work");
    coll_device_close();
}

static void test_no_ipc(void)
{
    coll_device_policy("", "noipc");
    if (!coll_device_open("")) {
        coll_device_policy("", "");
        return;
    }
    const hsumma_coll call = sum(coll_arena[IN_OWN][0], coll_arena[IN_OWN][1], 1000, "shared");
    int right = strstr(ctx->note, "cannot share device memory") != NULL && says(&call, "staged in host memory", 1);
    tap_ok(world_worst(!right) == 0, "memory that cannot be shared is told: %s", ctx->note);
    tap_ok(world_worst(!many_calls(0)) == 0, "and calls go through the host's");
    coll_device_close();
    coll_device_policy("", "");
}

/* Makes operation `piece` of one process's device fail: all processes must report the failure and free everything. */
static void test_failure(const char *options, const char *algorithm, hsumma_collective collective, int piece)
{
    char fail[40], text[40];
    int sick = size - 1;
    snprintf(fail, sizeof fail, "fail=%d", piece);
    snprintf(text, sizeof text, "process %d: ", sick);
    if (rank == sick)
        coll_device_policy("", fail);
    hsumma_status status = coll_device_create(options, NULL, 0);
    coll_device_policy("", "");
    void *memory[2] = {NULL, NULL};
    for (int i = 0; i < 2 && !status; i++)
        status = hsumma_malloc(ctx, 40000, &memory[i]);
    hsumma_coll call = sum(memory[0], memory[1], collective == HSUMMA_BCAST ? 40000 : 5000, algorithm);
    call.collective = collective;
    int calls = 0;
    while (!status && calls++ < 100)
        status = hsumma_coll_run(ctx, &call);
    int right = status == HSUMMA_ERR_DEVICE && strstr(hsumma_message(ctx), text) != NULL;
    if (!right)
        printf("# rank %d: %d after %d calls: %s\n", rank, (int)status, calls, hsumma_message(ctx));
    tap_ok(world_worst(!right) == 0, "a device fails at piece %d of %s %s, %s: %s", piece, coll_names[collective],
           algorithm, options, hsumma_message(ctx));
    status = hsumma_coll_run(ctx, &call);
    tap_ok(world_worst(status != HSUMMA_ERR_DEVICE) == 0, "and nothing more is begun: %s", hsumma_message(ctx));
    hsumma_free(&ctx);
}

static void test_several(void)
{
    test_long("shared=0", "ring", HSUMMA_ALLREDUCE);
    test_long("shared=0", "binomial", HSUMMA_BCAST);
    test_long(test_device_is_host() ? "shared=0 gpu_aware_mpi=1" : "shared=0", "rabenseifner_traff", HSUMMA_ALLREDUCE);
    test_long("shared=64k", "shared", HSUMMA_ALLREDUCE);
    test_long("shared=64k direct=off", "shared", HSUMMA_ALLREDUCE);
    test_long("shared=64k", "shared", HSUMMA_BCAST);
    test_order();
    test_mixed();
    if (!test_device_is_host()) {
        tap_skip(1, "memory that cannot be shared, and failures, are the stand-in's");
        return;
    }
    test_no_ipc();
    for (int piece = 1; piece < 40; piece += 13) {
        test_failure("", "shared", HSUMMA_ALLREDUCE, piece);
        test_failure("shared=0", "ring", HSUMMA_ALLREDUCE, piece);
        test_failure("", "mpi", HSUMMA_ALLREDUCE, piece);
        test_failure("", "binomial", HSUMMA_BCAST, piece);
    }
}

int main(int argc, char **argv)
{
    coll_device_start(&argc, &argv);
    test_many("shared=16k", "lazy");
    test_many(test_device_is_host() ? "shared=0 gpu_aware_mpi=1" : "shared=0", "lazy");
    if (size > 2)
        test_many("shared=16k topology=nodes:2", "noevents,lazy");
    coll_device_policy("", "");
    test_descriptions();
    if (size > 1)
        test_several();
    return world_end();
}
