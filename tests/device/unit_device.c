/*
 * The table of devices: every function against what is computed another way.  The host device under each policy, and
 * CUDA where a device opens.
 */
#include "support/device_memory.h"
#include "support/device_order.h"
#include "support/device_work.h"

#include <sys/wait.h>
#include <unistd.h>

/* "hold": so long that nothing is done before somebody asks. */
static const struct policy {
    const char *text;
    int late;
} policies[] = {
    {"eager", 0},  {"lazy,hold=3600000000", 1}, {"lazy,hold=0", 0},
    {"random", 0}, {"random:7,hold=10", 0},     {"random:8", 0},
};

/* Opens the host device as HSUMMA_HOST_DEVICE=text. */
static int open_host(struct ground *ground, const char *text, struct hs_message *message)
{
    setenv("HSUMMA_HOST_DEVICE", text, 1);
    return ground_open(ground, &hs_device_host, text, message);
}

static void test_host(const struct policy *policy)
{
    struct ground ground;
    struct hs_message message;
    if (!tap_ok(open_host(&ground, policy->text, &message), "the host device opens with %s", policy->text))
        return;
    test_memory(&ground);
    test_work(&ground);
    test_order(&ground, policy->late);
    ground_close(&ground);
}

static void test_cuda(void)
{
    struct ground ground;
    struct hs_message message = {""};
    const struct hs_device_kind *kind = hs_device_kind_find("cuda");
    if (!kind) {
        tap_skip(1, "cuda: this library has been built without CUDA");
        return;
    }
    if (!ground_open(&ground, kind, "cuda", &message)) {
        char reason[512];
        snprintf(reason, sizeof reason, "cuda: %s", message.text);
        tap_skip(1, reason);
        ground_close(&ground);
        return;
    }
    test_memory(&ground);
    test_work(&ground);
    test_order(&ground, 0);
    ground_close(&ground);
}

/* Words that the policy knows, and others. */
static void test_words(void)
{
    static const char *const bad[] = {"lazily", "lazy:1", "random:", "random:x", "random=1",   "hold",     "hold=-1",
                                      "fail=0", "memory", "noipc=1", "noip",     "lazy;noipc", "devices=0"};
    static const char *const good[] = {"", "lazy,noipc", "random:12,fail=3,memory=1000", "devices=3,noevents"};
    int wrong = 0;
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct ground ground;
        struct hs_message message = {""};
        wrong += open_host(&ground, bad[i], &message) || !strstr(message.text, bad[i]) ||
                 !strstr(message.text, "expected eager");
        ground_close(&ground);
    }
    for (unsigned i = 0; i < sizeof good / sizeof *good; i++) {
        struct ground ground;
        struct hs_message message = {""};
        wrong += !open_host(&ground, good[i], &message);
        ground_close(&ground);
    }
    tap_ok(wrong == 0, "HSUMMA_HOST_DEVICE: what cannot be read is named, with what was expected: %d wrong", wrong);
}

static void test_places(void)
{
    char place[4][64];
    for (int i = 0; i < 4; i++) {
        struct hs_device *device = NULL;
        struct hs_message message;
        setenv("HSUMMA_HOST_DEVICE", "devices=2", 1);
        hs_device_host.open(i < 3 ? -1 : 1, i, &hs_heap, &device, &message);
        strcpy(place[i], device ? device->location : "none");
        hs_device_host.close(device);
    }
    tap_ok(strcmp(place[0], place[1]) != 0 && strcmp(place[0], place[2]) == 0 && strcmp(place[1], place[3]) == 0,
           "processes are spread over two devices: %s %s %s; and the one that is named: %s", place[0], place[1],
           place[2], place[3]);
}

static void test_refusals(void)
{
    struct ground opened, *ground = &opened;
    struct hs_message message;
    void *memory = NULL, *more = NULL;
    int64_t left = 0, total = 0;
    int wrong = !open_host(ground, "lazy,memory=100000,noevents,event=2", &message);
    struct hs_event *event = NULL, *second = NULL;
    struct hs_exported exported;
    GROUND_DO(ground->kind->get(ground->device, 60000, &memory));
    GROUND_DO(ground->kind->memory_left(ground->device, &left, &total));
    hsumma_status status = ground->kind->get(ground->device, 60000, &more);
    tap_ok(!wrong && left == 40000 && total == 100000 && status == HSUMMA_ERR_MEMORY && !more &&
               strstr(ground->device->message.text, "60000 bytes") && strstr(ground->device->message.text, "40000"),
           "memory is short: %s", ground->device->message.text);
    ground->kind->put(ground->device, memory);
    GROUND_DO(ground->kind->get(ground->device, 100000, &memory));
    ground->kind->put(ground->device, memory);
    GROUND_DO(ground->kind->make_event(ground->device, 1, &event));
    status = ground->kind->export_event(ground->device, event, &exported);
    tap_ok(!wrong && !ground->device->shares_events && status == HSUMMA_ERR_DEVICE, "no events of others: %s",
           ground->device->message.text);
    status = ground->kind->make_event(ground->device, 0, &second);
    tap_ok(status == HSUMMA_ERR_DEVICE && !second, "the second event: %s", ground->device->message.text);
    ground->kind->free_event(ground->device, event);
    ground_close(ground);
}

/* Work on memory of the host, or beyond an end, or that has gone. */
static void test_addresses(void)
{
    struct ground opened, *ground = &opened;
    struct hs_message message;
    int wrong = !open_host(ground, "lazy,hold=3600000000", &message);
    _Alignas(16) char here[4096] = {0};
    char *memory = ground_place(ground, here, 4096);
    void *pinned = NULL;
    GROUND_DO(ground->kind->get_pinned(ground->device, 4096, &pinned));
    const void *const bad[] = {here, pinned, memory + 8};
    int found = 0;
    for (int i = 0; i < 3; i++) {
        const void *operand[2] = {memory, bad[i]};
        found += ground->kind->combine(ground->device, ground->stream, memory, operand, 2, 512, HSUMMA_DOUBLE,
                                       HSUMMA_SUM) == HSUMMA_ERR_DEVICE;
    }
    const double one = 1;
    found += ground->kind->gemm(ground->device, ground->stream, HSUMMA_D, 'N', 'T', 8, 8, 8, &one, memory, 8, memory, 8,
                                &one, here, 8) == HSUMMA_ERR_DEVICE;
    found += ground->kind->update(ground->device, ground->stream, HSUMMA_D, 8, 8, &one, memory, 8, memory + 4088, 8) ==
             HSUMMA_ERR_DEVICE;
    found += ground->kind->copy(ground->device, ground->stream, memory + 4000, here, 97) == HSUMMA_ERR_DEVICE;
    tap_ok(!wrong && found == 6 && ground_is(ground, memory, here, 4096),
           "work is refused on memory that is not the device's, and beyond its end: %d of 6; %s", found,
           ground->device->message.text);
    ground->kind->put_pinned(ground->device, pinned);
    ground->kind->put(ground->device, memory);
    ground_close(ground);
}

/* The third piece of work fails: whoever comes later hears of it, and everything can be given back. */
static void test_failure(const char *text)
{
    struct ground opened, *ground = &opened;
    struct hs_message message;
    char here[64] = {0};
    int wrong = !open_host(ground, text, &message), complete = 0;
    struct hs_event *event = NULL;
    char *memory = ground_place(ground, here, 64);
    const void *operand[2] = {memory, memory};
    GROUND_DO(ground->kind->make_event(ground->device, 0, &event));
    GROUND_DO(ground->kind->copy(ground->device, ground->stream, memory, here, 64));
    hsumma_status status =
        ground->kind->combine(ground->device, ground->stream, memory, operand, 2, 8, HSUMMA_DOUBLE, HSUMMA_SUM);
    for (int i = 0; i < 10 && !status; i++) {
        status = ground->kind->record(ground->device, ground->stream, event);
        if (!status)
            status = ground->kind->complete(ground->device, event, &complete);
        if (!status)
            status = ground->kind->synchronize(ground->device, ground->stream);
    }
    void *more = here;
    hsumma_status later = ground->kind->get(ground->device, 8, &more);
    tap_ok(!wrong && status == HSUMMA_ERR_DEVICE && later == HSUMMA_ERR_DEVICE && !more &&
               strstr(ground->device->message.text, "work 3") && strstr(ground->device->message.text, "combine"),
           "%s: %s", text, ground->device->message.text);
    ground->kind->free_event(ground->device, event);
    ground->kind->put(ground->device, memory);
    ground_close(ground);
}

/* Memory that is not pinned is read late; a stream whose maker has freed it takes nothing more. */
static void test_late(void)
{
    struct ground opened, *ground = &opened;
    struct hs_message message;
    char here[64];
    int wrong = !open_host(ground, "lazy,hold=3600000000", &message);
    memset(here, 'a', sizeof here);
    char *memory = ground_place(ground, here, sizeof here);
    memset(here, 'b', sizeof here);
    GROUND_DO(ground->kind->copy(ground->device, ground->stream, memory, here, sizeof here));
    memset(here, 'c', sizeof here);
    GROUND_DO(ground->kind->synchronize(ground->device, ground->stream));
    tap_ok(!wrong && ground_is(ground, memory, here, sizeof here), "memory of the host is read late");
    struct hs_stream *same = NULL;
    GROUND_DO(
        ground->kind->adopt_stream(ground->device, ground->kind->show_stream(ground->device, ground->stream), &same));
    ground->kind->free_stream(ground->device, ground->stream);
    ground->stream = same;
    hsumma_status status = ground->kind->copy(ground->device, same, memory, here, sizeof here);
    tap_ok(!wrong && status == HSUMMA_ERR_DEVICE && strstr(ground->device->message.text, "freed"), "%s",
           ground->device->message.text);
    ground->kind->put(ground->device, memory);
    ground_close(ground);
}

/* A process of its own, which shows an event and memory, and ends before the work that the event stands for is done. */
static void neighbour(int to, int from)
{
    struct ground opened, *ground = &opened;
    struct hs_message message;
    struct hs_exported exported[2];
    int wrong = !open_host(ground, "lazy,hold=3600000000", &message);
    struct hs_event *event = NULL;
    char here[64] = {0};
    char *memory = ground_place(ground, here, 64);
    GROUND_DO(ground->kind->make_event(ground->device, 1, &event));
    GROUND_DO(ground->kind->export_memory(ground->device, memory, &exported[0]));
    GROUND_DO(ground->kind->export_event(ground->device, event, &exported[1]));
    GROUND_DO(ground->kind->record(ground->device, ground->stream, event));
    if (wrong || write(to, exported, sizeof exported) != sizeof exported || read(from, here, 1) != 1)
        _exit(1);
    _exit(0);
}

/* Whoever waits for a process that is no more hears of it; what he has mapped stays. */
static void test_ended(void)
{
    struct ground opened, *ground = &opened;
    struct hs_message message;
    struct hs_exported exported[2];
    struct hs_event *event = NULL;
    void *memory = NULL;
    int to[2], from[2], wrong = pipe(to) || pipe(from);
    pid_t child = fork();
    if (child == 0)
        neighbour(from[1], to[0]);
    wrong += read(from[0], exported, sizeof exported) != sizeof exported;
    wrong += !open_host(ground, "lazy", &message);
    GROUND_DO(ground->kind->import_memory(ground->device, &exported[0], &memory));
    GROUND_DO(ground->kind->import_event(ground->device, &exported[1], &event));
    GROUND_DO(ground->kind->wait(ground->device, ground->stream, event));
    wrong += write(to[1], "x", 1) != 1;
    hsumma_status status = ground->kind->synchronize(ground->device, ground->stream);
    tap_ok(!wrong && status == HSUMMA_ERR_DEVICE && strstr(ground->device->message.text, "has ended") &&
               ((char *)memory)[63] == 0,
           "a process that ends while others wait for its work: %s", ground->device->message.text);
    waitpid(child, NULL, 0);
    ground->kind->free_event(ground->device, event);
    ground->kind->unmap(ground->device, memory);
    ground_close(ground);
    for (int i = 0; i < 2; i++) {
        close(to[i]);
        close(from[i]);
    }
}

int main(void)
{
    for (unsigned i = 0; i < sizeof policies / sizeof *policies; i++)
        test_host(&policies[i]);
    test_words();
    test_places();
    test_refusals();
    test_addresses();
    test_failure("eager,fail=3");
    test_failure("lazy,fail=3");
    test_failure("random:3,fail=3");
    test_late();
    test_ended();
    test_cuda();
    return tap_done();
}
