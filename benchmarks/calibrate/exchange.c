/* hsumma calibrate: all-to-all messages, and messages between nodes beside a multiplication. */
#include "calibrate/command.h"

#include <math.h>

#include "base/scalar.h"
#include "base/threads.h"
#include "base/wait.h"

/* --- all to all --------------------------------------------------------------------------------------------------- */

enum { EXCHANGE_TAG = 8, EXCHANGE_SIZES = 3, MOST_RECEIVED = 64 << 20 };

typedef struct exchange {
    int64_t bytes; /* bytes per message */
    char *out, *in;
    MPI_Request *request;
} exchange;

static double exchange_all(calibration *cal, void *state, int calls)
{
    const exchange *x = state;
    double start;

    quiet_barrier(cal->comm);
    start = hs_now();
    for (int i = 0; i < calls; i++) {
        int count = 0;

        for (int d = 1; d < cal->size; d++) {
            int from = (cal->rank - d + cal->size) % cal->size;

            MPI_Irecv(x->in + (d - 1) * x->bytes, (int)x->bytes, MPI_BYTE, from, EXCHANGE_TAG, cal->comm,
                      &x->request[count++]);
        }
        for (int d = 1; d < cal->size; d++)
            MPI_Isend(x->out, (int)x->bytes, MPI_BYTE, (cal->rank + d) % cal->size, EXCHANGE_TAG, cal->comm,
                      &x->request[count++]);
        hs_wait_for_requests(x->request, count, NULL);
    }
    return hs_now() - start;
}

static void fit_exchange(calibration *cal, exchange *x, double budget)
{
    static const int64_t sizes[EXCHANGE_SIZES] = {8, 8 << 10, 256 << 10};
    double bytes[EXCHANGE_SIZES], seconds[EXCHANGE_SIZES];
    struct hs_link link;
    int points = 0, others = cal->size - 1;

    for (int i = 0; i < EXCHANGE_SIZES && (i == 0 || sizes[i] * others <= MOST_RECEIVED); i++) {
        double all;

        x->bytes = sizes[i];
        all = calibrate_slowest(cal, exchange_all, x, budget / EXCHANGE_SIZES);
        calibrate_note(cal, "exchange", 2, (int64_t[3]){others, sizes[i]}, all);
        bytes[points] = (double)sizes[i];
        seconds[points++] = all / others;
    }
    cal->error[FIT_EXCHANGE] = fit_line(bytes, seconds, points, &link);
    cal->profile.exchange_alpha = link.alpha; /* the bytes are priced by the ports and nodes that carry them */
}

int calibrate_exchange(calibration *cal, double budget)
{
    size_t others = (size_t)cal->size - 1, bytes = 256 << 10;
    exchange x;

    if (cal->size == 1)
        return 1;
    while (bytes > 8 && bytes * others > MOST_RECEIVED)
        bytes /= 2;
    x.out = calibrate_get(cal, bytes);
    x.in = calibrate_get(cal, bytes * others);
    x.request = calibrate_get(cal, 2 * others * sizeof *x.request);
    if (command_fail(cal->comm, cal->lacks, "calibrate: no memory for an exchange with %zu others", others))
        return 0;
    fit_exchange(cal, &x, budget);
    return 1;
}

/* --- beside a multiplication ------------------------------------------------------------------------------------- */

enum { OVERLAP_TAG = 9, MESSAGE = 1 << 20, MOST_MESSAGES = 32, OVERLAP_EDGE = 384 };

/* Target times in seconds.  A slice is about as long as a slice of the library's local GEMM; all messages together are
 * long compared with noise. */
static const double slice_seconds = 20e-3, least_together = 60e-3;

typedef struct overlap {
    struct hs_rank_pairs pairs;
    int messages; /* number of messages each way */
    int products; /* number of products in a slice */
    int slices;
    int sends, multiplies; /* 1 if the trial sends messages; 1 if it multiplies */
    char *out, *in;
    double *a; /* three matrices */
    MPI_Request request[2 * MOST_MESSAGES];
} overlap;

static void multiply(const overlap *o)
{
    const struct hs_scalar *d = &hs_scalars[HSUMMA_D];

    for (int i = 0; i < o->products; i++)
        d->gemm('N', 'N', OVERLAP_EDGE, OVERLAP_EDGE, OVERLAP_EDGE, d->one, o->a, OVERLAP_EDGE,
                o->a + OVERLAP_EDGE * OVERLAP_EDGE, OVERLAP_EDGE, d->one, o->a + 2 * OVERLAP_EDGE * OVERLAP_EDGE,
                OVERLAP_EDGE);
}

/* Sends messages, multiplies, or does both, progressing messages between slices. */
static double run(calibration *cal, void *state, int calls)
{
    overlap *o = state;
    double start;

    quiet_barrier(cal->comm);
    start = hs_now();
    for (int i = 0; i < calls; i++) {
        int count = 0, done = 0;

        for (int t = 0; t < o->messages && o->sends && o->pairs.peer >= 0; t++) {
            MPI_Irecv(o->in + (size_t)t * MESSAGE, MESSAGE, MPI_BYTE, o->pairs.peer, OVERLAP_TAG, cal->comm,
                      &o->request[count++]);
            MPI_Isend(o->out, MESSAGE, MPI_BYTE, o->pairs.peer, OVERLAP_TAG, cal->comm, &o->request[count++]);
        }
        for (int s = 0; s < o->slices && o->multiplies; s++) {
            multiply(o);
            if (count > 0 && !done)
                MPI_Testall(count, o->request, &done, MPI_STATUSES_IGNORE);
        }
        if (count > 0 && !done)
            hs_wait_for_requests(o->request, count, NULL);
    }
    return hs_now() - start;
}

static double measure(calibration *cal, overlap *o, int sends, int multiplies, double budget)
{
    o->sends = sends;
    o->multiplies = multiplies;
    return calibrate_slowest(cal, run, o, budget);
}

/* Chooses the numbers of messages and of slices, so that both take about the same time. */
static void choose_amounts(calibration *cal, overlap *o, double budget)
{
    double message, slice;

    o->messages = 4;
    message = measure(cal, o, 1, 0, budget / 3) / o->messages;
    o->products = o->slices = 1;
    o->products = (int)fmax(1, slice_seconds / measure(cal, o, 0, 1, budget / 3));
    slice = measure(cal, o, 0, 1, budget / 3);
    o->messages = (int)fmin(MOST_MESSAGES, ceil(least_together / message));
    o->slices = (int)fmax(1, round(o->messages * message / slice));
}

static void measure_overlap(calibration *cal, overlap *o, double budget)
{
    double messages, product, both, least;
    int before = hs_threads_set(cal->ctx->threads);

    choose_amounts(cal, o, 0.2 * budget);
    messages = measure(cal, o, 1, 0, 0.25 * budget);
    product = measure(cal, o, 0, 1, 0.25 * budget);
    both = measure(cal, o, 1, 1, 0.3 * budget);
    hs_threads_restore(before);
    calibrate_note(cal, "overlap.messages", 1, (int64_t[3]){o->messages}, messages);
    calibrate_note(cal, "overlap.gemm", 1, (int64_t[3]){o->slices}, product);
    calibrate_note(cal, "overlap.both", 0, NULL, both);
    least = fmin(messages, product);
    cal->profile.overlap = fmax(0, fmin(1, (messages + product - both) / least));
}

int calibrate_overlap(calibration *cal, double budget)
{
    overlap o = {.pairs = hs_rank_pairs_of(&cal->ctx->comm.topology, HS_BETWEEN_NODES, cal->rank)};
    size_t reals = (size_t)3 * OVERLAP_EDGE * OVERLAP_EDGE;

    if (o.pairs.count == 0)
        return 1;
    o.out = calibrate_get(cal, MESSAGE);
    o.in = calibrate_get(cal, (size_t)MESSAGE * MOST_MESSAGES);
    o.a = calibrate_get(cal, reals * sizeof *o.a);
    if (command_fail(cal->comm, cal->lacks, "calibrate: no memory for %d messages of %d bytes", MOST_MESSAGES, MESSAGE))
        return 0;
    for (size_t i = 0; i < reals; i++)
        o.a[i] = 1.0 / (double)(i % 1000 + 1);
    measure_overlap(cal, &o, budget);
    return 1;
}
