/*
 * The device "cuda" without a GPU: its code over a fake of CUDA's run-time library (fake_cuda). All cases of
 * unit_device; errors when the device is opened; every CUDA call failing in turn; the caller's own context; leaks.
 */
#include "support/tap.h"

#if HSUMMA_HAVE_CUDA

#include "device/fake_cuda/fake.h"
#include "support/device/cases.h"
#include "support/failing_memory.h"

static struct device_neighbour neighbour;

/* Returns 1 if no CUDA object and no error is left, and no CUDA call was invalid; closes the stand-in. */
static int nothing_left(const char *label)
{
    int64_t out = fake_cuda_out();
    int good = out == 0 && fake_cuda.faults == 0;
    if (!good)
        tap_diag("%s: %lld left: memory %lld, pinned %lld, mapped %lld, events %lld, streams %lld, handles %lld, "
                 "libraries %lld, an error %lld; %lld faults: %s",
                 label, (long long)out, (long long)fake_cuda.memory, (long long)fake_cuda.pinned,
                 (long long)fake_cuda.mapped, (long long)fake_cuda.events, (long long)fake_cuda.streams,
                 (long long)fake_cuda.handles, (long long)fake_cuda.libraries, (long long)fake_cuda.last,
                 (long long)fake_cuda.faults, fake_cuda.fault);
    fake_cuda_end();
    return good;
}

static void test_cases(const char *policy, int late)
{
    struct device_fixture fixture;
    fake_cuda_reset();
    if (!tap_ok(fixture_open(&fixture, &hs_device_cuda, policy), "%s: opens: %s", policy, fixture.message.text))
        return;
    device_test_all(&fixture, late);
    tap_ok(nothing_left(policy), "%s: nothing is left, nothing was called wrongly", policy);
}

/* The GPU that each process gets, and the locations that identify GPUs. */
static void test_choice(void)
{
    char place[5][64];
    struct hs_device *device = NULL;
    struct hs_message message;
    int wrong = 0;
    fake_cuda_reset();
    fake_cuda.devices = 3;
    for (int i = 0; i < 5; i++) {
        wrong += hs_device_cuda.open(i == 4 ? 2 : -1, i, &hs_heap, &device, &message) != HSUMMA_OK;
        strcpy(place[i], device ? device->location : "none");
        hs_device_cuda.close(device);
    }
    tap_ok(!wrong && strcmp(place[0], place[1]) && strcmp(place[1], place[2]) && strcmp(place[0], place[2]) &&
               strcmp(place[0], place[3]) == 0 && strcmp(place[2], place[4]) == 0 && nothing_left("choice"),
           "the processes of a node go round its GPUs, or take the one that is named: %s, %s", place[0], place[1]);
    hsumma_status status = hs_device_cuda.open(3, 0, &hs_heap, &device, &message);
    tap_ok(status == HSUMMA_ERR_DEVICE && !device && strstr(message.text, "number 3") &&
               strstr(message.text, "access to 3") && nothing_left("a number too large"),
           "a number too large: %s", message.text);
}

/* Objects that the caller has made on the library's GPU, and on another one. */
static void test_theirs(void)
{
    struct device_fixture opened, *fixture = &opened;
    void *here = NULL, *there = NULL, *pinned = NULL;
    struct hs_stream *adopted = NULL;
    cudaStream_t stream = NULL;
    unsigned char old[64] = {1, 2, 3}, back[64];
    fake_cuda_reset();
    fake_cuda.devices = 2;
    int wrong = !fixture_open(fixture, &hs_device_cuda, "random");
    fake_cuda_choose(1);
    wrong += cudaMalloc(&there, 4096) != cudaSuccess;
    fake_cuda_choose(0);
    wrong += cudaMalloc(&here, 4096) != cudaSuccess || cudaHostAlloc(&pinned, 4096, 0) != cudaSuccess ||
             cudaStreamCreateWithFlags(&stream, 0) != cudaSuccess;
    fake_cuda_choose(-1);
    tap_ok(!wrong && fixture->kind->classify(fixture->device, (char *)here + 4095) == HS_MEMORY_DEVICE &&
               fixture->kind->classify(fixture->device, there) == HS_MEMORY_OTHER &&
               fixture->kind->classify(fixture->device, pinned) == HS_MEMORY_PINNED &&
               fixture->kind->classify(fixture->device, old) == HS_MEMORY_HOST,
           "memory of the caller's: on this GPU, on another one, pinned, and plain");
    FIXTURE_DO(fixture->kind->adopt_stream(fixture->device, stream, &adopted));
    FIXTURE_DO(fixture->kind->copy(fixture->device, adopted, here, old, sizeof old));
    FIXTURE_DO(fixture->kind->copy(fixture->device, adopted, back, here, sizeof back));
    FIXTURE_DO(fixture->kind->synchronize(fixture->device, adopted));
    tap_ok(!wrong && memcmp(old, back, sizeof old) == 0 &&
               fixture->kind->show_stream(fixture->device, adopted) == (void *)stream,
           "work on a stream of the caller's");
    const double one = 1;
    FIXTURE_DO(fixture->kind->gemm(fixture->device, adopted, HSUMMA_D, 'N', 'N', 2, 2, 2, &one, here, 2, here, 2, &one,
                                   (char *)here + 2048, 2));
    fixture->kind->free_stream(fixture->device, adopted);
    hsumma_status status = fixture->kind->adopt_stream(fixture->device, old, &adopted);
    tap_ok(!wrong && fake_cuda.streams == 2 && status == HSUMMA_ERR_DEVICE && !adopted &&
               strstr(fixture->device->message.text, "cudaErrorInvalidResourceHandle"),
           "it stays, and what is no stream is refused: %s", fixture->device->message.text);
    fixture_close(fixture);
    tap_ok(fake_cuda.memory == 2 && fake_cuda.pinned == 1 && fake_cuda.streams == 1 && fake_cuda.faults == 0,
           "what is the caller's outlives the device: %s", fake_cuda.fault);
    fake_cuda_choose(0);
    cudaStreamDestroy(stream);
    cudaFree(here);
    cudaFreeHost(pinned);
    fake_cuda_choose(1);
    cudaFree(there);
    tap_ok(nothing_left("theirs"), "and nothing else is left");
}

/* The state of a tour, which calls every function of the device's table at least once, up to the first failure. */
struct tour {
    struct device_fixture fixture;
    struct failing_memory scarce;
    struct hs_allocator memory;
    void *here, *more, *pinned, *theirs, *same;
    struct hs_stream *second, *adopted;
    struct hs_event *event, *shared, *their_event;
    struct hs_message message;
    int strayed; /* number of calls that changed the current context or left CUDA's last error set */
};

#define STEP(call)                                                            \
    do {                                                                      \
        int found = fake_cuda_current();                                      \
        if (!status && (status = (call)) != HSUMMA_OK)                        \
            tour->message = device->message;                                  \
        tour->strayed += fake_cuda_current() != found || fake_cuda.last != 0; \
    } while (0)

static hsumma_status tour_work(struct tour *tour)
{
    struct hs_device *device = tour->fixture.device;
    const struct hs_device_kind *kind = device->kind;
    struct hs_stream *stream = tour->fixture.stream;
    hsumma_status status = HSUMMA_OK;
    const double one = 1, zero = 0;
    const void *operand[] = {tour->here, tour->more, tour->theirs};
    static double here[1024];
    int complete = 0;
    STEP(kind->copy(device, stream, tour->here, here, sizeof here));
    STEP(kind->copy_block(device, stream, tour->more, 256, tour->here, 512, 128, 8));
    STEP(kind->copy_block(device, stream, tour->more, 2 << 20, tour->here, 2048, 128, 2));
    STEP(kind->combine(device, stream, tour->more, operand, 3, 100, HSUMMA_DOUBLE, HSUMMA_SUM));
    STEP(kind->combine(device, stream, tour->more, operand, 1, 100, HSUMMA_DOUBLE, HSUMMA_SUM));
    STEP(kind->update(device, stream, HSUMMA_D, 5, 5, &one, tour->more, 5, tour->here, 5));
    STEP(kind->gemm(device, stream, HSUMMA_D, 'N', 'T', 8, 8, 8, &one, tour->here, 8, tour->here, 8, &zero, tour->more,
                    8));
    STEP(kind->gemm(device, tour->second, HSUMMA_D, 'N', 'T', 8, 8, 8, &one, tour->here, 8, tour->here, 8, &zero,
                    tour->more, 8));
    STEP(kind->gemm(device, stream, HSUMMA_D, 'N', 'T', 8, 8, 0, &one, tour->here, 8, tour->here, 8, &zero, tour->more,
                    8));
    STEP(kind->record(device, stream, tour->event));
    STEP(kind->wait(device, tour->second, tour->event));
    STEP(kind->wait(device, tour->adopted, tour->their_event));
    STEP(kind->copy(device, tour->second, tour->pinned, tour->more, 4096));
    while (!complete && !status)
        STEP(kind->complete(device, tour->event, &complete));
    STEP(kind->synchronize(device, tour->second));
    STEP(kind->synchronize(device, stream));
    return status;
}

/* Makes a tour, except that tour_end frees its objects; fail_at: number of the host allocation that fails, -1: none. */
static hsumma_status tour_begin(struct tour *tour, int64_t fail_at)
{
    *tour = (struct tour){.scarce = {.fail_at = fail_at}};
    tour->memory = (struct hs_allocator){failing_memory_get, failing_memory_put, &tour->scarce};
    tour->fixture.kind = &hs_device_cuda;
    hsumma_status status = hs_device_cuda.open(-1, 0, &tour->memory, &tour->fixture.device, &tour->message);
    struct hs_device *device = tour->fixture.device;
    if (status)
        return status;
    const struct hs_device_kind *kind = device->kind;
    struct hs_exported mine;
    int64_t left, total;
    STEP(kind->make_stream(device, &tour->fixture.stream));
    STEP(kind->make_stream(device, &tour->second));
    STEP(kind->adopt_stream(device, kind->show_stream(device, tour->second), &tour->adopted));
    STEP(kind->make_event(device, 0, &tour->event));
    STEP(kind->make_event(device, 1, &tour->shared));
    STEP(kind->get(device, 100000, &tour->here));
    STEP(kind->get(device, 3000000, &tour->more));
    STEP(kind->get_pinned(device, 4096, &tour->pinned));
    STEP(kind->memory_left(device, &left, &total));
    STEP(kind->export_memory(device, tour->here, &mine));
    STEP(kind->import_memory(device, &mine, &tour->same));
    STEP(kind->export_event(device, tour->shared, &mine));
    STEP(kind->import_memory(device, &neighbour.memory, &tour->theirs));
    if (!status)
        kind->unmap(device, tour->same);
    STEP(kind->import_memory(device, &neighbour.memory, &tour->same)); /* import the same memory a second time */
    STEP(kind->import_event(device, &neighbour.event, &tour->their_event));
    kind->classify(device, &left);
    return status ? status : tour_work(tour);
}

static void tour_end(struct tour *tour)
{
    struct hs_device *device = tour->fixture.device;
    int found = fake_cuda_current();
    if (!device)
        return;
    const struct hs_device_kind *kind = device->kind;
    kind->unmap(device, tour->theirs);
    kind->unmap(device, tour->same == tour->here ? NULL : tour->same);
    kind->free_event(device, tour->event);
    kind->free_event(device, tour->shared);
    kind->free_event(device, tour->their_event);
    kind->free_stream(device, tour->adopted);
    kind->free_stream(device, tour->second);
    kind->free_stream(device, tour->fixture.stream);
    kind->put_pinned(device, tour->pinned);
    kind->put(device, tour->here);
    kind->put(device, tour->more);
    kind->close(device);
    tour->strayed += fake_cuda_current() != found;
}

/* Whether errors of this call are not reported, because it frees something or only queries. */
static int is_silent(const char *call)
{
    static const char *const silent[] = {
        "cudaFree",         "cudaFreeHost",          "cudaEventDestroy",      "cudaStreamDestroy",
        "cublasDestroy_v2", "cudaIpcCloseMemHandle", "cudaDeviceSynchronize", "cudaPointerGetAttributes"};
    int is = 0;
    for (unsigned i = 0; i < sizeof silent / sizeof *silent; i++)
        is |= strcmp(silent[i], call) == 0;
    return is;
}

/* Whether the message names the failed call. */
static int says(const char *text, const char *call)
{
    char name[64];
    const char *end = strstr(call, "ByVersion") ? strstr(call, "ByVersion") : strstr(call, "_v2");
    snprintf(name, sizeof name, "%.*s", end ? (int)(end - call) : (int)strlen(call), call);
    if (strcmp(call, "hs_kernels_prepare") == 0)
        strcpy(name, "kernels");
    return strstr(text, name) && strstr(text, strncmp(call, "cublas", 6) == 0 ? "CUBLAS_STATUS_" : "cudaError");
}

/* Makes every CUDA call fail, one after another, while the caller has GPU `theirs` current (-1: none). */
static void test_failures(int theirs)
{
    int64_t calls = 0;
    int wrong = 0, told = 0;
    setenv("HSUMMA_HOST_DEVICE", "random:3", 1);
    for (;; calls++) {
        struct tour tour;
        fake_cuda_reset();
        fake_cuda.devices = 2;
        fake_cuda_choose(theirs);
        fake_cuda.fail = "*";
        fake_cuda.which = calls + 1;
        hsumma_status status = tour_begin(&tour, -1);
        tour_end(&tour);
        const char *failed = fake_cuda.failed;
        /* if calls on contexts fail, nothing can be freed, and the caller's context cannot be restored */
        int contexts = failed && strncmp(failed, "cuCtx", 5) == 0;
        int good = status ? failed && says(tour.message.text, failed) : !failed || contexts || is_silent(failed);
        good &= (contexts || (tour.strayed == 0 && fake_cuda_current() == theirs)) && tour.scarce.out == 0;
        if (contexts)
            fake_cuda_abandon();
        else
            good &= nothing_left(failed ? failed : "none");
        told += status != HSUMMA_OK;
        if (!good && wrong++ < 10)
            tap_diag("call %lld, %s: status %d, %s; %d strayed, %lld blocks out", (long long)calls + 1,
                     failed ? failed : "none", (int)status, tour.message.text, tour.strayed,
                     (long long)tour.scarce.out);
        if (!failed)
            break;
    }
    tap_ok(wrong == 0 && told > 50, "%lld calls of CUDA fail in turn, with %s: %d told by name and error, %d wrong",
           (long long)calls, theirs < 0 ? "no context" : "the context of another GPU", told, wrong);
}

/* Makes every allocation of host memory fail, one after another. */
static void test_scarce(void)
{
    int64_t calls = 0;
    int wrong = 0;
    hsumma_status status = HSUMMA_ERR_MEMORY;
    for (; status && calls < 100; calls++) {
        struct tour tour;
        fake_cuda_reset();
        status = tour_begin(&tour, calls);
        wrong += status && (status != HSUMMA_ERR_MEMORY || !tour.message.text[0]);
        tour_end(&tour);
        wrong += tour.scarce.out != 0 || !nothing_left("scarce");
    }
    tap_ok(wrong == 0 && calls > 5 && !status, "%lld allocations of the host's fail in turn: %d wrong",
           (long long)calls - 1, wrong);
}

/* Whether a text contains each of the parts, which are separated by semicolons. */
static int has_parts(const char *text, const char *parts)
{
    char part[64];
    for (size_t length; *parts; parts += length + (parts[length] == ';')) {
        length = strcspn(parts, ";");
        snprintf(part, sizeof part, "%.*s", (int)length, parts);
        if (!strstr(text, part))
            return 0;
    }
    return 1;
}

/* Refusals and the errors that cause them. opens: nonzero if the device itself can be opened. */
static const struct refusal {
    const char *what;
    const char *fail; /* the call that returns the error */
    int error, driver, opens;
    const char *without; /* what is missing: "libcublas", or a symbol of cuBLAS or of the driver */
    const char *text;    /* expected parts of the message */
} refusals[] = {
    {"no device", "cudaGetDeviceCount", cudaErrorNoDevice, 13000, 0, NULL, "cudaGetDeviceCount;NoDevice"},
    {"no driver", "cudaGetDeviceCount", cudaErrorInsufficientDriver, 0, 0, NULL,
     "cudaErrorInsufficientDriver;no NVIDIA driver"},
    {"an old driver", "cudaGetDeviceCount", cudaErrorInsufficientDriver, 11040, 0, NULL,
     "cudaErrorInsufficientDriver;11.4"},
    {"a driver that does not fit", "cudaGetDeviceCount", cudaErrorSystemDriverMismatch, 13000, 0, NULL,
     "cudaErrorSystemDriverMismatch"},
    {"no cuBLAS", NULL, 0, 13000, 0, "libcublas", "cannot load;cuBLAS"},
    {"another cuBLAS", NULL, 0, 13000, 0, "cublasZgemm_v2_64", "cuBLAS has no;cublasZgemm_v2_64"},
    {"another cuBLAS", NULL, 0, 13000, 0, "cublasSetWorkspace_v2", "cuBLAS has no;cublasSetWorkspace_v2"},
    {"another driver", NULL, 0, 13000, 0, "cuDevicePrimaryCtxRetain", "cuDevicePrimaryCtxRetain"},
    {"no code for it", "hs_kernels_prepare", cudaErrorNoKernelImageForDevice, 13000, 0, NULL,
     "cudaErrorNoKernelImageForDevice;8.0;80 90"},
    {"IPC in a container", "cudaIpcOpenMemHandle", cudaErrorInvalidResourceHandle, 13000, 1, NULL,
     "cudaIpcOpenMemHandle;cudaErrorInvalidResourceHandle;process"},
    {"IPC that is not there", "cudaIpcGetMemHandle", cudaErrorNotSupported, 13000, 1, NULL,
     "cudaIpcGetMemHandle;cudaErrorNotSupported"},
    {"a mapping that fails", "cudaIpcOpenMemHandle", cudaErrorMapBufferObjectFailed, 13000, 1, NULL,
     "cudaErrorMapBufferObjectFailed"},
    {"peers that cannot", "cudaIpcOpenMemHandle", cudaErrorPeerAccessUnsupported, 13000, 1, NULL,
     "cudaErrorPeerAccessUnsupported"},
    {"an event of another process", "cudaIpcOpenEventHandle", cudaErrorNotSupported, 13000, 1, NULL,
     "cudaIpcOpenEventHandle;cudaErrorNotSupported"},
    {"memory that is short", "cudaMalloc", cudaErrorMemoryAllocation, 13000, 1, NULL,
     "cudaMalloc;cudaErrorMemoryAllocation;bytes"},
    {"pinned memory that is short", "cudaHostAlloc", cudaErrorMemoryAllocation, 13000, 1, NULL,
     "cudaHostAlloc;cudaErrorMemoryAllocation"},
    {"work that has failed", "cudaStreamSynchronize", cudaErrorIllegalAddress, 13000, 1, NULL,
     "cudaStreamSynchronize;cudaErrorIllegalAddress"},
    {"work that fails on its stream", "work", 0, 13000, 1, NULL, "cudaErrorIllegalAddress"},
};

static void test_refusals(void)
{
    for (unsigned i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        const struct refusal *is = &refusals[i];
        struct tour tour;
        int on_stream = is->fail && strcmp(is->fail, "work") == 0;
        setenv("HSUMMA_HOST_DEVICE", on_stream ? "eager,fail=1" : "random", 1);
        fake_cuda_reset();
        fake_cuda.fail = is->fail;
        fake_cuda.error = is->error;
        fake_cuda.driver = is->driver;
        fake_cuda.no_cublas = is->without && strcmp(is->without, "libcublas") == 0;
        fake_cuda.no_symbol = is->without;
        hsumma_status status = tour_begin(&tour, -1);
        int good = status == (is->error == cudaErrorMemoryAllocation ? HSUMMA_ERR_MEMORY : HSUMMA_ERR_DEVICE);
        good &= has_parts(tour.message.text, is->text) && (tour.fixture.device != NULL) == is->opens;
        tour_end(&tour);
        good &= nothing_left(is->what);
        tap_ok(good, "%s: %s", is->what, tour.message.text);
    }
}

static void test_events_of_its_own(void)
{
    struct device_fixture opened, *fixture = &opened;
    struct hs_event *event = NULL;
    fake_cuda_reset();
    fake_cuda.shares_events = 0;
    int wrong = !fixture_open(fixture, &hs_device_cuda, "lazy");
    int shares = fixture->device->shares_events;
    FIXTURE_DO(fixture->kind->make_event(fixture->device, 1, &event));
    fixture->kind->free_event(fixture->device, event);
    fixture_close(fixture);
    tap_ok(!wrong && !shares && nothing_left("events"), "a device whose events cannot be shared has others");
}

int main(void)
{
    fake_cuda_reset();
    if (!tap_ok(neighbour_start(&neighbour, &hs_device_cuda, "eager"), "another process shows memory and an event"))
        return tap_done();
    test_choice();
    test_theirs();
    test_refusals();
    test_events_of_its_own();
    test_scarce();
    test_failures(-1);
    test_failures(1);
    test_cases("eager", 0);
    test_cases("lazy,hold=3600000000", 1);
    test_cases("random:4", 0);
    neighbour_end(&neighbour);
    return tap_done();
}

#else

int main(void)
{
    tap_skip(1, "there was no nvcc when this was built (CUDA=1)");
    return tap_done();
}

#endif
