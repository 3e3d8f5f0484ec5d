/*
 * The functions of a device's table, each compared with an independent computation: on the stand-in under each policy,
 * and on CUDA if a device opens.
 */
#include "support/device/cases.h"

/* Policies; late: `hold` is so long that no work is done before a query or wait. */
static const struct policy {
    const char *text;
    int late;
} policies[] = {
    {"eager", 0},  {"lazy,hold=3600000000", 1}, {"lazy,hold=0", 0},
    {"random", 0}, {"random:7,hold=10", 0},     {"random:8", 0},
};

static const struct hs_device_kind *host;

static void test_host(const struct policy *policy)
{
    struct device_fixture fixture;
    if (tap_ok(fixture_open(&fixture, host, policy->text), "the stand-in opens with %s", policy->text))
        device_test_all(&fixture, policy->late);
}

static void test_cuda(void)
{
    struct device_fixture fixture;
    struct hs_message message = {""};
    const struct hs_device_kind *kind = hs_device_kind_find("cuda", &message);
    if (!kind) {
        tap_skip(1, "cuda: this library has been built without CUDA");
    } else if (fixture_open(&fixture, kind, "cuda")) {
        device_test_all(&fixture, 0);
    } else {
        char reason[512];
        snprintf(reason, sizeof reason, "cuda: %s", fixture.message.text);
        tap_skip(1, reason);
        fixture_close(&fixture);
    }
}

/* Valid and invalid settings in HSUMMA_HOST_DEVICE. */
static void test_words(void)
{
    static const char *const bad[] = {"lazily", "lazy:1", "random:", "random:x", "random=1",   "hold",     "hold=-1",
                                      "fail=0", "memory", "noipc=1", "noip",     "lazy;noipc", "devices=0"};
    static const char *const good[] = {"", "lazy,noipc", "random:12,fail=3,memory=1000", "devices=3,noevents"};
    int wrong = 0;
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct device_fixture fixture;
        wrong += fixture_open(&fixture, host, bad[i]) || !strstr(fixture.message.text, bad[i]) ||
                 !strstr(fixture.message.text, "expected eager");
        fixture_close(&fixture);
    }
    for (unsigned i = 0; i < sizeof good / sizeof *good; i++) {
        struct device_fixture fixture;
        wrong += !fixture_open(&fixture, host, good[i]);
        fixture_close(&fixture);
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
        host->open(i < 3 ? -1 : 1, i, &hs_heap, &device, &message);
        strcpy(place[i], device ? device->location : "none");
        host->close(device);
    }
    tap_ok(strcmp(place[0], place[1]) != 0 && strcmp(place[0], place[2]) == 0 && strcmp(place[1], place[3]) == 0,
           "processes are spread over two devices: %s %s %s; and the one that is named: %s", place[0], place[1],
           place[2], place[3]);
}

static void test_refusals(void)
{
    struct device_fixture opened, *fixture = &opened;
    void *memory = NULL, *more = NULL;
    int64_t left = 0, total = 0;
    int wrong = !fixture_open(fixture, host, "lazy,memory=100000,noevents,event=2");
    struct hs_event *event = NULL, *second = NULL;
    struct hs_exported exported;
    FIXTURE_DO(host->get(fixture->device, 60000, &memory));
    FIXTURE_DO(host->memory_left(fixture->device, &left, &total));
    hsumma_status status = host->get(fixture->device, 60000, &more);
    tap_ok(!wrong && left == 40000 && total == 100000 && status == HSUMMA_ERR_MEMORY && !more &&
               strstr(fixture->device->message.text, "60000 bytes") && strstr(fixture->device->message.text, "40000"),
           "memory is short: %s", fixture->device->message.text);
    host->put(fixture->device, memory);
    FIXTURE_DO(host->get(fixture->device, 100000, &memory));
    host->put(fixture->device, memory);
    FIXTURE_DO(host->make_event(fixture->device, 1, &event));
    status = host->export_event(fixture->device, event, &exported);
    tap_ok(!wrong && !fixture->device->shares_events && status == HSUMMA_ERR_DEVICE, "no events of others: %s",
           fixture->device->message.text);
    status = host->make_event(fixture->device, 0, &second);
    tap_ok(status == HSUMMA_ERR_DEVICE && !second, "the second event: %s", fixture->device->message.text);
    host->free_event(fixture->device, event);
    fixture_close(fixture);
}

/* Operands in host memory, pinned or not, or beyond the end of a block. */
static void test_addresses(void)
{
    struct device_fixture opened, *fixture = &opened;
    int wrong = !fixture_open(fixture, host, "lazy,hold=3600000000");
    _Alignas(16) char here[4096] = {0};
    char *memory = fixture_place(fixture, here, 4096);
    void *pinned = NULL;
    FIXTURE_DO(host->get_pinned(fixture->device, 4096, &pinned));
    const void *const bad[] = {here, pinned, memory + 8};
    int found = 0;
    for (int i = 0; i < 3; i++) {
        const void *operand[2] = {memory, bad[i]};
        found += host->combine(fixture->device, fixture->stream, memory, operand, 2, 512, HSUMMA_DOUBLE, HSUMMA_SUM) ==
                 HSUMMA_ERR_DEVICE;
    }
    const double one = 1;
    found += host->gemm(fixture->device, fixture->stream, HSUMMA_D, 'N', 'T', 8, 8, 8, &one, memory, 8, memory, 8, &one,
                        here, 8) == HSUMMA_ERR_DEVICE;
    found += host->update(fixture->device, fixture->stream, HSUMMA_D, 8, 8, &one, memory, 8, memory + 4088, 8) ==
             HSUMMA_ERR_DEVICE;
    found += host->copy(fixture->device, fixture->stream, memory + 4000, here, 97) == HSUMMA_ERR_DEVICE;
    tap_ok(!wrong && found == 6 && fixture_is(fixture, memory, here, 4096),
           "work is refused on memory that is not the device's, and beyond its end: %d of 6; %s", found,
           fixture->device->message.text);
    host->put_pinned(fixture->device, pinned);
    host->put(fixture->device, memory);
    fixture_close(fixture);
}

/* Makes the third piece of work fail: later calls must report the failure, and everything can be freed. */
static void test_failure(const char *text)
{
    struct device_fixture opened, *fixture = &opened;
    char here[64] = {0};
    int wrong = !fixture_open(fixture, host, text), complete = 0;
    struct hs_event *event = NULL;
    char *memory = fixture_place(fixture, here, 64);
    const void *operand[2] = {memory, memory};
    FIXTURE_DO(host->make_event(fixture->device, 0, &event));
    FIXTURE_DO(host->copy(fixture->device, fixture->stream, memory, here, 64));
    hsumma_status status =
        host->combine(fixture->device, fixture->stream, memory, operand, 2, 8, HSUMMA_DOUBLE, HSUMMA_SUM);
    for (int i = 0; i < 10 && !status; i++) {
        status = host->record(fixture->device, fixture->stream, event);
        if (!status)
            status = host->complete(fixture->device, event, &complete);
        if (!status)
            status = host->synchronize(fixture->device, fixture->stream);
    }
    void *more = here;
    hsumma_status later = host->get(fixture->device, 8, &more);
    tap_ok(!wrong && status == HSUMMA_ERR_DEVICE && later == HSUMMA_ERR_DEVICE && !more &&
               strstr(fixture->device->message.text, "work 3") && strstr(fixture->device->message.text, "combine"),
           "%s: %s", text, fixture->device->message.text);
    host->free_event(fixture->device, event);
    host->put(fixture->device, memory);
    fixture_close(fixture);
}

/* Unpinned memory may be read after the call returns; a stream freed by its creator accepts no more work. */
static void test_late(void)
{
    struct device_fixture opened, *fixture = &opened;
    char here[64];
    int wrong = !fixture_open(fixture, host, "lazy,hold=3600000000");
    memset(here, 'a', sizeof here);
    char *memory = fixture_place(fixture, here, sizeof here);
    memset(here, 'b', sizeof here);
    FIXTURE_DO(host->copy(fixture->device, fixture->stream, memory, here, sizeof here));
    memset(here, 'c', sizeof here);
    FIXTURE_DO(host->synchronize(fixture->device, fixture->stream));
    tap_ok(!wrong && fixture_is(fixture, memory, here, sizeof here), "memory of the host is read late");
    struct hs_stream *same = NULL;
    FIXTURE_DO(host->adopt_stream(fixture->device, host->show_stream(fixture->device, fixture->stream), &same));
    host->free_stream(fixture->device, fixture->stream);
    fixture->stream = same;
    hsumma_status status = host->copy(fixture->device, same, memory, here, sizeof here);
    tap_ok(!wrong && status == HSUMMA_ERR_DEVICE && strstr(fixture->device->message.text, "freed"), "%s",
           fixture->device->message.text);
    host->put(fixture->device, memory);
    fixture_close(fixture);
}

/* If a process ends before it has done the work that its event marks, waiting for the event is an error; memory mapped
 * from the process stays valid. */
static void test_ended(void)
{
    struct device_fixture opened, *fixture = &opened;
    struct device_neighbour neighbour;
    struct hs_event *event = NULL;
    void *memory = NULL;
    int wrong = !neighbour_start(&neighbour, host, "lazy,hold=3600000000");
    wrong += !fixture_open(fixture, host, "lazy");
    FIXTURE_DO(host->import_memory(fixture->device, &neighbour.memory, &memory));
    FIXTURE_DO(host->import_event(fixture->device, &neighbour.event, &event));
    FIXTURE_DO(host->wait(fixture->device, fixture->stream, event));
    neighbour_end(&neighbour);
    hsumma_status status = host->synchronize(fixture->device, fixture->stream);
    tap_ok(!wrong && status == HSUMMA_ERR_DEVICE && strstr(fixture->device->message.text, "has ended") &&
               ((char *)memory)[63] == 0,
           "a process that ends while others wait for its work: %s", fixture->device->message.text);
    host->free_event(fixture->device, event);
    host->unmap(fixture->device, memory);
    fixture_close(fixture);
}

int main(void)
{
    struct hs_message message = {""};
    host = hs_device_kind_find("host", &message);
    if (!tap_ok(host != NULL, "the stand-in is found: %s", message.text))
        return tap_done();
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
