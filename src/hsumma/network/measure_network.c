/*
 * The measurement of the network.  Pairs of ranks on different nodes (in the last step on one node) send to each other,
 * all pairs of a step at once.  After each step all ranks agree on the slowest pair's times and on the time left, so
 * that all skip the same steps.  Short messages are measured with all pairs, because all lines of a product send at
 * once.  Long messages are measured with one pair of ranks per pair of nodes, because the model itself divides a node's
 * outgoing link among its ranks (clock.h, Injection).
 */
#include "hsumma/network/network.h"

#include "base/threads.h"
#include "base/wait.h"
#include "coll/node/agree_mpi.h"
#include "hsumma/network/link_fit.h"
#include "hsumma/network/message_trial.h"
#include "hsumma/network/rank_pairs.h"

#include <math.h>
#include <string.h>

enum { SHORT_MESSAGE = 1 << 10, LONG_MESSAGE = 128 << 10, STREAM = 1 << 20, LEAST_STREAM = 64 << 10, GAP_LENGTH = 16 };
enum { STEP_SIZES = 3, MOST_POINTS = 8, FEW_TRIALS = 2, ALL_TRIALS = 4, CALLS_OF_SHORT = 16 };

struct network_bench {
    struct hs_comm *comm;
    struct hs_message_trial trial;
    double begun, budget, left; /* start, budget and rest of the time in seconds; `left` is equal on all ranks */
    int place;                  /* hs_rank_pairs.place of this rank's pair; -1 if it has none */
    hsumma_status status;       /* the first error of this rank, which continues nevertheless */
    int points;
    double bytes[MOST_POINTS], seconds[MOST_POINTS]; /* measured sizes and times of messages between nodes */
};

/* Replaces each value by its maximum over all ranks, and updates b->left. */
static void agree(struct network_bench *b, double *value, int count)
{
    value[count] = hs_now() - b->begun;
    hsumma_status status = hs_mpi_allreduce(value, count + 1, MPI_DOUBLE, MPI_MAX, b->comm->comm, b->comm->watch);
    b->status = b->status ? b->status : status;
    b->left = b->budget - value[count];
}

/* True if waits have been given up: the peers then return errors, too, and need no messages. */
static int has_given_up(const struct network_bench *b)
{
    const struct hs_watch *watch = b->comm->watch;
    return b->status && watch && watch->look(watch->state, 0);
}

/* The messages of a step: several sizes, sent by the pairs whose place is below `places`. */
struct network_step {
    int64_t size[STEP_SIZES];
    int sizes, places, length, calls, trials;
};

/* Measures the seconds per message of each size: the fastest trial of each pair, and of these the slowest pair's. */
static void run_step(struct network_bench *b, const struct network_step *s, double seconds[STEP_SIZES + 1])
{
    memset(seconds, 0, (STEP_SIZES + 1) * sizeof *seconds);
    for (int i = 0; i < s->sizes && b->place >= 0 && b->place < s->places && !has_given_up(b); i++) {
        int messages = (s->length ? s->length : 1) * s->calls;
        b->trial.bytes = s->size[i];
        b->trial.length = s->length;
        for (int t = 0; t < s->trials; t++) {
            double took;
            hsumma_status status = hs_message_trial_run(&b->trial, s->calls, &took);
            took /= messages;
            seconds[i] = t == 0 || took < seconds[i] ? took : seconds[i];
            b->status = b->status ? b->status : status;
        }
    }
    agree(b, seconds, s->sizes);
}

/* Number of trials of a step, each of which takes about `seconds`: as many as a tenth of the budget allows, at least
 * one if there is time for it.  0 if the step must be skipped. */
static int trials_for(const struct network_bench *b, double seconds, int most)
{
    double count = b->budget / 10 / seconds;
    return seconds > b->left ? 0 : count < 1 ? 1 : count < most ? (int)count : most;
}

static void add_points(struct network_bench *b, const struct network_step *s, const double *seconds)
{
    for (int i = 0; i < s->sizes; i++, b->points++) {
        b->bytes[b->points] = (double)s->size[i];
        b->seconds[b->points] = seconds[i];
    }
}

/* Measures round trips of several sizes.  A first step, whose times are not kept, makes the connections. */
static void measure_sizes(struct network_bench *b)
{
    static const struct network_step steps[] = {
        {.size = {8, SHORT_MESSAGE}, .sizes = 2, .places = INT32_MAX, .calls = 1},
        {.size = {4 << 10, 8 << 10, 16 << 10}, .sizes = 3, .places = 1, .calls = 1},
        {.size = {32 << 10}, .sizes = 1, .places = 1, .calls = 1},
        {.size = {LONG_MESSAGE}, .sizes = 1, .places = 1, .calls = 1}};
    double seconds[STEP_SIZES + 1], last = 0;
    run_step(b, &(struct network_step){.size = {8}, .sizes = 1, .places = INT32_MAX, .calls = 1, .trials = 2}, seconds);
    last = seconds[0];
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        struct network_step step = steps[i];
        int64_t bytes = 0;
        for (int size = 0; size < step.sizes; size++)
            bytes += step.size[size];
        /* upper bound on the growth of the time from the last step to this one */
        double growth = i ? (double)bytes / b->bytes[b->points - 1] : step.sizes;
        if (i == 0) /* several calls, because on oversubscribed nodes the first ones wait for ranks to be scheduled */
            step.calls = (int)fmin(fmax(b->budget / 20 / (2 * growth * last), 1), CALLS_OF_SHORT);
        step.trials = trials_for(b, 2 * step.calls * growth * last, i ? FEW_TRIALS : ALL_TRIALS);
        if (i == 0 && step.trials == 0)
            step.trials = 1;
        if (step.trials == 0)
            return;
        run_step(b, &step, seconds);
        add_points(b, &step, seconds);
        last = seconds[step.sizes - 1];
    }
}

/* From each sending node, sends a megabyte, divided among its first `places` pairs (at least LEAST_STREAM per pair).
 * Returns the seconds per byte of one pair; 0 if there was no time. */
static double measure_stream(struct network_bench *b, int places, double guess)
{
    double seconds[STEP_SIZES + 1];
    int64_t bytes = STREAM / places > LEAST_STREAM ? STREAM / places : LEAST_STREAM;
    struct network_step step = {.size = {bytes}, .sizes = 1, .places = places, .length = 1, .calls = 1};
    step.trials = trials_for(b, guess * (double)(bytes * places), FEW_TRIALS);
    if (step.trials == 0)
        return 0;
    run_step(b, &step, seconds);
    return seconds[0] / (double)bytes;
}

/* Limits the measured rates to the sustained rate, because a network may be faster for a short time, and adds a point
 * with that rate.  pace: seconds per byte of the sustained rate; 0 if unknown. */
static void slow_down(struct network_bench *b, double pace)
{
    for (int i = 0; i < b->points; i++)
        if (b->bytes[i] > SHORT_MESSAGE)
            b->seconds[i] = fmax(b->seconds[i], b->bytes[i] * pace);
    if (pace > 0) {
        b->bytes[b->points] = STREAM;
        b->seconds[b->points++] = STREAM * pace;
    }
}

/* Seconds per message in a sequence of short messages, with all pairs at once; 0 if there was no time. */
static double measure_row(struct network_bench *b)
{
    double seconds[STEP_SIZES + 1];
    struct network_step step = {
        .size = {SHORT_MESSAGE}, .sizes = 1, .places = INT32_MAX, .length = GAP_LENGTH, .calls = 1};
    step.trials = trials_for(b, GAP_LENGTH * b->seconds[1], ALL_TRIALS);
    if (step.trials == 0)
        return 0;
    run_step(b, &step, seconds);
    /* minus the latencies of the first message and of the answer */
    return fmax(seconds[0] - 2 * b->seconds[0] / GAP_LENGTH, 1e-9);
}

static void measure_between(struct network_bench *b, const struct hs_rank_pairs *pairs, struct hs_network *network)
{
    measure_sizes(b);
    double in_row = measure_row(b);
    const double *last = &b->seconds[b->points - 1];
    double one = measure_stream(b, 1, *last / b->bytes[b->points - 1]), all = one;
    if (pairs->per_node > 1 && one > 0)
        all = measure_stream(b, pairs->per_node, one);
    slow_down(b, one);
    hs_fit_link(b->bytes, b->seconds, b->points, &network->between);
    network->between.alpha = fmax(network->between.alpha, 1e-9);
    double pace = one > 0 ? one : hs_long_beta(&network->between);
    if (pairs->per_node > 1) /* without a measurement, assume that one pair saturates the node */
        network->inject = all <= 0 ? pace : all > 1.1 * one ? all / pairs->per_node : 0;
    if (in_row > 0) /* a message keeps its ports busy for in_row = gap + n beta */
        network->between.gap = fmin(fmax(in_row - SHORT_MESSAGE * network->between.beta, 1e-9), network->between.alpha);
}

static void measure_inside(struct network_bench *b, struct hs_network *network)
{
    static const double bytes[] = {8, LEAST_STREAM};
    struct network_step step = {.size = {8, LEAST_STREAM}, .sizes = 2, .places = INT32_MAX, .calls = 1, .trials = 3};
    double seconds[STEP_SIZES + 1];
    struct hs_rank_pairs pairs = hs_rank_pairs_of(&b->comm->topology, HS_IN_NODE, b->comm->rank);
    if (pairs.count == 0 || b->left <= 0)
        return;
    b->place = pairs.peer < 0 ? -1 : 0;
    b->trial.peer = pairs.peer;
    b->trial.first = pairs.first;
    run_step(b, &step, seconds);
    hs_fit_line(bytes, seconds, step.sizes, &network->inside);
}

/* Times the local GEMM on all ranks at the same time, from the first to the last, so that it counts if ranks share
 * cores.  in, out: memory for three matrices. */
static void measure_gemm(struct network_bench *b, hs_gemm *gemm, int threads, char *in, char *out,
                         struct hs_network *network)
{
    enum { N = 96, MOST_GEMMS = 1 << 10 };
    const double one = 1, enough = 1e-3;
    char *second = out + N * N * sizeof(double);
    double seconds[STEP_SIZES + 1] = {-1e9}; /* negative: the maximum is that of the fastest rank */
    int before = hs_threads_set(threads), used = threads > 0 ? threads : hs_threads_now();
    for (int t = 0; t < 2; t++) { /* the first one does not count */
        double start = hs_now();
        gemm('N', 'N', N, N, N, &one, out, N, second, N, &one, in, N);
        seconds[0] = start - hs_now();
    }
    agree(b, seconds, 1);
    const double fastest = fmax(-seconds[0], 1e-9), warm = b->left;
    int calls = (int)fmin(fmax(enough / fastest, 1), MOST_GEMMS);
    agree(b, seconds, 0); /* how long an agreement takes */
    const double agreement = warm - b->left, begin = b->left;
    for (int i = 0; i < calls; i++)
        gemm('N', 'N', N, N, N, &one, out, N, second, N, &one, in, N);
    agree(b, seconds, 0);
    double call = fmax((begin - b->left - agreement) / calls, fastest);
    double model = hs_gemm_seconds(&hs_profile_builtin, sizeof(double), 0, used > 0 ? used : 1, N, N, N);
    seconds[0] = call / model; /* not alike on all ranks if they have different numbers of threads */
    agree(b, seconds, 1);
    network->gemm = fmin(fmax(seconds[0], 1e-3), 1e3);
    hs_threads_restore(before);
}

hsumma_status hs_network_measure(struct hs_comm *comm, double budget, hs_gemm *gemm, int threads,
                                 const struct hs_allocator *memory, struct hs_network *network, double *seconds)
{
    struct hs_rank_pairs pairs = hs_rank_pairs_of(&comm->topology, HS_BETWEEN_NODES, comm->rank);
    size_t most = pairs.peer >= 0 && pairs.place == 0 ? STREAM : STREAM / 2;
    const double messages = 0.8; /* their part of the budget; the local GEMM takes the rest */
    char *out = hs_get_zero(memory, most, 1), *in = hs_get_zero(memory, most, 1);
    struct network_bench b = {
        .comm = comm,
        .trial =
            {.comm = comm->comm, .watch = comm->watch, .peer = pairs.peer, .first = pairs.first, .out = out, .in = in},
        .begun = hs_now(),
        .budget = gemm ? messages * budget : budget,
        .left = gemm ? messages * budget : budget,
        .place = pairs.peer < 0 ? -1 : pairs.place,
    };
    *network = (struct hs_network){.inject = 0};
    hsumma_status status = hs_agreed(comm->comm, out && in ? HSUMMA_OK : HSUMMA_ERR_MEMORY, comm->watch);
    if (!status) {
        measure_between(&b, &pairs, network);
        measure_inside(&b, network);
        if (gemm && budget > 0)
            measure_gemm(&b, gemm, threads, in, out, network);
        status = hs_agreed(comm->comm, b.status, comm->watch);
    }
    *seconds = b.budget - b.left;
    if (hs_status_is_final(status)) {
        hs_keep(in);
        hs_keep(out);
    } else {
        hs_put(memory, in);
        hs_put(memory, out);
    }
    return status;
}

void hs_network_use(const struct hs_network *network, const char *source, struct hs_profile *profile)
{
    struct hs_machine *machine = &profile->machine, *device = &profile->device_machine;
    double bus = device->network.alpha - machine->network.alpha;
    machine->network = device->network = network->between;
    device->network.alpha += bus;
    device->network.alpha_long += bus;
    machine->inject = device->inject = network->inject;
    if (network->inside.alpha > 0)
        machine->node = network->inside;
    for (int i = 0; i < 2 && network->gemm > 0; i++) {
        struct hs_gemm_cost *cost = &profile->gemm[i];
        *cost = hs_profile_builtin.gemm[i];
        cost->flop *= network->gemm;
        cost->c *= network->gemm;
        cost->ab *= network->gemm;
        cost->call *= network->gemm;
    }
    memset(profile->source, 0, sizeof profile->source);
    memcpy(profile->source, source, strlen(source));
}
