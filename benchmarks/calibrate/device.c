/* hsumma calibrate on a device: copies, sums and products by one process per device; the cost of events and of
 * switching between processes; messages staged through the host. */
#include "calibrate/command.h"

#include <math.h>
#include <string.h>

#include "base/scalar.h"
#include "base/wait.h"
#include "coll/node/device_share.h"

enum { LARGEST = 128 << 20, SMALL = 64, SIZES = 6, LINK_SIZES = 5, DEVICE_TAG = 9 };

static const int64_t sizes[SIZES] = {256, 4 << 10, 64 << 10, 1 << 20, 16 << 20, LARGEST};
static const int64_t link_sizes[LINK_SIZES] = {256, 4 << 10, 64 << 10, 1 << 20, 8 << 20};

typedef struct device_bench {
    struct hs_device *device;
    void (*work)(struct device_bench *g, int i); /* the i-th piece of a trial on one process */
    struct hs_stream *stream, *other;
    MPI_Comm mates;
    int me, first; /* rank in mates; 1 if this rank measures for its device */
    char *left, *right, *pinned;
    int64_t bytes;
    hsumma_type type;
    int64_t edge; /* m, n and k of a product */
    struct hs_event *event[2];
    struct hs_device_share share;
    _Atomic int64_t *word[2]; /* flags of the first two mates, in memory that they share */
    int64_t round;
    struct hs_rank_pairs pairs;
    hsumma_status status; /* the first failure; reported at the end, since other ranks would wait if this one stopped */
} device_bench;

static void keep(device_bench *g, hsumma_status status)
{
    g->status = g->status ? g->status : status;
}

/* --- one process ------------------------------------------------------------------------------------------------- */

static void copy_inside(device_bench *g, int i)
{
    (void)i;
    keep(g, g->device->kind->copy(g->device, g->stream, g->right, g->left, (size_t)g->bytes));
}

static void sum_inside(device_bench *g, int i)
{
    const void *terms[2] = {g->left, g->right};

    (void)i;
    keep(g, g->device->kind->combine(g->device, g->stream, g->right, terms, 2, g->bytes / (int64_t)sizeof(float),
                                     HSUMMA_FLOAT, HSUMMA_SUM));
}

static void multiply_inside(device_bench *g, int i)
{
    const struct hs_scalar *s = &hs_scalars[g->type];

    (void)i;
    keep(g, g->device->kind->gemm(g->device, g->stream, g->type, 'N', 'N', g->edge, g->edge, g->edge, s->one, g->left,
                                  g->edge, g->left, g->edge, s->zero, g->right, g->edge));
}

/* Copies a few bytes on one of two streams, which take turns; each copy waits for the event of the copy before it. */
static void hop_inside(device_bench *g, int i)
{
    const struct hs_device_kind *kind = g->device->kind;
    struct hs_stream *stream[2] = {g->stream, g->other};

    keep(g, kind->copy(g->device, stream[i % 2], g->right, g->left, SMALL));
    keep(g, kind->record(g->device, stream[i % 2], g->event[i % 2]));
    keep(g, kind->wait(g->device, stream[1 - i % 2], g->event[i % 2]));
}

static double work_inside(calibration *cal, void *state, int calls)
{
    device_bench *g = state;
    double start = hs_now();

    (void)cal;
    if (!g->first)
        return 0;
    for (int i = 0; i < calls; i++)
        g->work(g, i);
    keep(g, g->device->kind->synchronize(g->device, g->stream));
    if (g->work == hop_inside)
        keep(g, g->device->kind->synchronize(g->device, g->other));
    return hs_now() - start;
}

static double time_inside(calibration *cal, device_bench *g, void (*work)(device_bench *g, int i), double budget)
{
    g->work = work;
    return calibrate_slowest(cal, work_inside, g, budget);
}

/* --- two processes ----------------------------------------------------------------------------------------------- */

/* The first two processes on each device copy a few bytes in turn, `calls` times each. They signal through host memory,
 * as SIGNAL and WAIT do. Returns half the seconds, the time of `calls` copies. */
static double hop_between(calibration *cal, void *state, int calls)
{
    device_bench *g = state;
    const struct hs_device_kind *kind = g->device->kind;
    int64_t begin = g->round;
    double start;

    (void)cal;
    if (g->me > 1)
        return 0;
    g->round += 2 * (int64_t)calls + 1;
    atomic_store_explicit(g->word[g->me], begin + 1, memory_order_release); /* common start */
    calibrate_wait_word(g->word[1 - g->me], begin + 1);
    start = hs_now();
    for (int i = 0; i < 2 * calls; i++) {
        if (i % 2 != g->me)
            continue;
        if (i > 0) {
            calibrate_wait_word(g->word[1 - g->me], begin + 1 + i);
            keep(g, kind->wait(g->device, g->stream, hs_device_share_event(&g->share, 1 - g->me, 0)));
        }
        keep(g, kind->copy(g->device, g->stream, g->right, g->left, SMALL));
        keep(g, kind->record(g->device, g->stream, hs_device_share_event(&g->share, g->me, 0)));
        atomic_store_explicit(g->word[g->me], begin + 2 + i, memory_order_release);
    }
    keep(g, kind->synchronize(g->device, g->stream));
    return (hs_now() - start) / 2;
}

/* The first pair passes a message from device to device and back, through pinned host memory, `calls` times. Returns
 * half the seconds, the time of `calls` messages. */
static double pass_staged(calibration *cal, void *state, int calls)
{
    device_bench *g = state;
    const struct hs_device_kind *kind = g->device->kind;
    double start = hs_now();

    if (g->pairs.number != 0)
        return 0;
    for (int i = 0; i < 2 * calls; i++) {
        int sends = (i % 2 == 0) == g->pairs.first;
        MPI_Request request;

        if (sends) {
            keep(g, kind->copy(g->device, g->stream, g->pinned, g->left, (size_t)g->bytes));
            keep(g, kind->synchronize(g->device, g->stream));
            MPI_Isend(g->pinned, (int)g->bytes, MPI_BYTE, g->pairs.peer, DEVICE_TAG, cal->comm, &request);
        } else {
            MPI_Irecv(g->pinned, (int)g->bytes, MPI_BYTE, g->pairs.peer, DEVICE_TAG, cal->comm, &request);
        }
        hs_wait_for_requests(&request, 1, NULL);
        if (!sends) {
            keep(g, kind->copy(g->device, g->stream, g->left, g->pinned, (size_t)g->bytes));
            keep(g, kind->synchronize(g->device, g->stream));
        }
    }
    return (hs_now() - start) / 2;
}

/* --- results ----------------------------------------------------------------------------------------------------- */

/* Measures a trial at several sizes, and fits alpha + n beta to its seconds. */
static struct hs_link measure_line(calibration *cal, device_bench *g, calibrate_trial *trial, const char *name,
                                   const int64_t *size, int count, enum calibrate_fit which, double budget)
{
    double bytes[SIZES], seconds[SIZES];
    struct hs_link link;

    for (int i = 0; i < count; i++) {
        g->bytes = size[i];
        bytes[i] = (double)size[i];
        seconds[i] = calibrate_slowest(cal, trial, g, budget / count);
        calibrate_note(cal, name, 1, (int64_t[3]){size[i]}, seconds[i]);
    }
    cal->error[which] = fit_line(bytes, seconds, count, &link);
    return link;
}

static void measure_inside(calibration *cal, device_bench *g, double budget)
{
    struct hs_machine *device = &cal->profile.device_machine;

    g->work = copy_inside;
    device->shm = measure_line(cal, g, work_inside, "device.copy", sizes, SIZES, FIT_DEVICE, 0.4 * budget);
    g->bytes = LARGEST;
    device->copy = time_inside(cal, g, copy_inside, 0.1 * budget) / LARGEST;
    device->gamma = time_inside(cal, g, sum_inside, 0.2 * budget) / LARGEST;
    calibrate_note(cal, "device.sum", 1, (int64_t[3]){LARGEST}, device->gamma * LARGEST);
    for (int t = 0; t < 2; t++) {
        g->type = t ? HSUMMA_S : HSUMMA_D;
        for (g->edge = 256; g->edge * g->edge * 8 <= LARGEST; g->edge *= 2) {
            double seconds = time_inside(cal, g, multiply_inside, 0.02 * budget);

            calibrate_note(cal, t ? "device.gemm float" : "device.gemm double", 1, (int64_t[3]){g->edge}, seconds);
            cal->device_rate[t] = fmax(cal->device_rate[t], 2 * pow((double)g->edge, 3) / seconds);
            if (seconds > 0.02)
                break;
        }
    }
}

/* Measures `signal`, the seconds from the end of work on one stream to the start of work on another that waits for it,
 * including a signal between ranks in host memory; and `turn`, the seconds added if the streams belong to different
 * processes on one device. */
static void measure_hops(calibration *cal, device_bench *g, double budget)
{
    double copy, hop, between;
    int two = g->share.device && g->share.shares_events, all;

    g->bytes = SMALL;
    copy = time_inside(cal, g, copy_inside, budget / 4);
    hop = time_inside(cal, g, hop_inside, budget / 4);
    calibrate_note(cal, "device.hop", 0, NULL, hop);
    quiet_allreduce(&two, &all, 1, MPI_INT, MPI_MIN, cal->comm);
    cal->profile.device_machine.signal = fmax(hop - copy, 0) + cal->profile.machine.signal;
    if (!all)
        return;
    between = calibrate_slowest(cal, hop_between, g, budget / 2);
    calibrate_note(cal, "device.turn", 0, NULL, between);
    cal->profile.device_machine.turn = fmax(between - copy - cal->profile.device_machine.signal, 0);
    cal->device_turned = 1;
}

static void measure_links(calibration *cal, device_bench *g, double budget)
{
    static const enum hs_tier_kind tiers[] = {HS_IN_SOCKET, HS_IN_NODE, HS_BETWEEN_NODES};

    for (int i = 0; i < 3; i++) {
        int between = tiers[i] == HS_BETWEEN_NODES;
        struct hs_machine *device = &cal->profile.device_machine;

        g->pairs = hs_rank_pairs_of(&cal->ctx->comm.topology, tiers[i], cal->rank);
        if (g->pairs.count == 0 || (tiers[i] == HS_IN_NODE && !isnan(cal->error[FIT_STAGED].worst)))
            continue;
        struct hs_link link =
            measure_line(cal, g, pass_staged, between ? "device.staged.network" : "device.staged.node", link_sizes,
                         LINK_SIZES, between ? FIT_STAGED_NETWORK : FIT_STAGED, budget / 2);
        *(between ? &device->network : &device->node) = link;
    }
}

/* --- setup ------------------------------------------------------------------------------------------------------- */

/* Allocates the flags of the first two mates, in shared memory. */
static int share_words(device_bench *g, MPI_Win *window)
{
    MPI_Aint bytes;
    int unit;
    void *base;

    if (MPI_Win_allocate_shared(128, 1, MPI_INFO_NULL, g->mates, &base, window) != MPI_SUCCESS)
        return 0;
    memset(base, 0, 128);
    for (int r = 0; r < 2; r++) {
        MPI_Win_shared_query(*window, r, &bytes, &unit, &base);
        g->word[r] = base;
    }
    quiet_barrier(g->mates);
    return 1;
}

static void make_ground(calibration *cal, device_bench *g, MPI_Win *window)
{
    const struct hs_device_kind *kind = g->device->kind;
    size_t bytes = g->first ? LARGEST : (size_t)link_sizes[LINK_SIZES - 1];
    struct hs_message why;
    int ranks;
    void *memory[3] = {NULL, NULL, NULL};

    keep(g, kind->get(g->device, bytes, &memory[0]));
    keep(g, kind->get(g->device, bytes, &memory[1]));
    keep(g, kind->get_pinned(g->device, (size_t)link_sizes[LINK_SIZES - 1], &memory[2]));
    g->left = memory[0], g->right = memory[1], g->pinned = memory[2];
    keep(g, kind->make_stream(g->device, &g->other));
    keep(g, kind->make_event(g->device, 0, &g->event[0]));
    keep(g, kind->make_event(g->device, 0, &g->event[1]));
    if (g->pinned)
        memset(g->pinned, 0, (size_t)link_sizes[LINK_SIZES - 1]);
    for (size_t at = 0; at < bytes && !g->status; at += (size_t)link_sizes[LINK_SIZES - 1])
        for (int i = 0; i < 2 && !g->status; i++)
            keep(g, kind->copy(g->device, g->stream, (char *)memory[i] + at, g->pinned,
                               (size_t)link_sizes[LINK_SIZES - 1]));
    if (!g->status)
        keep(g, kind->synchronize(g->device, g->stream));
    MPI_Comm_size(g->mates, &ranks);
    if (ranks > 1 && share_words(g, window) &&
        hs_device_share_make(&g->share, g->mates, NULL, g->device, 1, SMALL, &cal->ctx->memory, &why))
        g->share.device = NULL; /* without a share no turn is measured */
}

static void leave_ground(calibration *cal, device_bench *g, MPI_Win *window)
{
    const struct hs_device_kind *kind = g->device->kind;

    if (g->share.device) {
        hs_device_share_leave(&g->share);
        quiet_barrier(g->mates);
        hs_device_share_free(&g->share, &cal->ctx->memory);
    }
    if (*window != MPI_WIN_NULL)
        MPI_Win_free(window);
    kind->free_event(g->device, g->event[0]);
    kind->free_event(g->device, g->event[1]);
    if (g->other)
        kind->free_stream(g->device, g->other);
    kind->put(g->device, g->left);
    kind->put(g->device, g->right);
    kind->put_pinned(g->device, g->pinned);
    MPI_Comm_free(&g->mates);
}

int calibrate_device(calibration *cal, double budget)
{
    device_bench g = {.device = cal->ctx->device, .stream = cal->ctx->stream};
    MPI_Win window = MPI_WIN_NULL;
    int good;

    if (!g.device)
        return 1;
    if (device_mates(cal->ctx, cal->comm, &g.mates))
        return 0;
    MPI_Comm_rank(g.mates, &g.me);
    g.first = g.me == 0;
    make_ground(cal, &g, &window);
    good = !command_fail(cal->comm, g.status != HSUMMA_OK, "calibrate: %s", g.device->message.text);
    if (good) {
        measure_inside(cal, &g, 0.5 * budget);
        measure_hops(cal, &g, 0.2 * budget);
        measure_links(cal, &g, 0.3 * budget);
        good = !command_fail(cal->comm, g.status != HSUMMA_OK, "calibrate: %s", g.device->message.text);
    }
    leave_ground(cal, &g, &window);
    return good;
}
