/* hsumma calibrate: messages between pairs of ranks, one pair alone and all at once (DPML, Section 3). */
#include "calibrate/command.h"

#include <math.h>

enum { MOST_BYTES = 4 << 20, STREAM_BYTES = 1 << 20, SHORT_BYTES = 1024, LEAST_OF_ALL = 64 << 10 };

static const int64_t all_sizes[] = {8,        64,       256,      1 << 10,   4 << 10, 8 << 10,
                                    16 << 10, 32 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20};
static const int64_t quick_sizes[] = {8, 256, 1 << 10, 4 << 10, 8 << 10, 16 << 10, 32 << 10, 128 << 10, 1 << 20};

enum { ROUNDS = 3, MOST_SIZES = sizeof all_sizes / sizeof *all_sizes };

/* Times for a given number of sending pairs, by message size. */
typedef struct series {
    int points;
    double bytes[MOST_SIZES], seconds[MOST_SIZES];
} series;

typedef struct messages {
    struct hs_rank_pairs pairs;
    int active; /* number of sending pairs */
    int64_t bytes;
    int length; /* messages of a stream, which counts as one call; 0: a call is a round trip */
    char *out, *in;
} messages;

/* Makes `calls` calls of this rank's pair. Returns the seconds, for round trips half of them; 0 if the pair does not
 * send. */
static double pass_all(calibration *cal, void *state, int calls)
{
    const messages *m = state;
    const struct hs_message_trial trial = {.comm = cal->comm,
                                           .peer = m->pairs.peer,
                                           .first = m->pairs.first,
                                           .bytes = m->bytes,
                                           .length = m->length,
                                           .out = m->out,
                                           .in = m->in};
    double seconds = 0;

    if (m->pairs.peer >= 0 && m->pairs.number < m->active)
        hs_message_trial_run(&trial, calls, &seconds);
    return seconds;
}

/* Measures all sizes once, each in its share of the budget, and keeps the fastest times of all rounds. Skips sizes
 * above LEAST_OF_ALL once twice the budget is used up. */
static void measure_round(calibration *cal, messages *m, double budget, series *s)
{
    const int64_t *size = cal->args->quick ? quick_sizes : all_sizes;
    int sizes = cal->args->quick ? (int)(sizeof quick_sizes / sizeof *quick_sizes) : MOST_SIZES;
    double until = calibrate_clock(cal) + budget;

    for (int i = 0; i < sizes; i++) {
        double left = until - calibrate_clock(cal), seconds;

        if (left < -budget && size[i] > LEAST_OF_ALL)
            break;
        m->bytes = size[i];
        seconds = calibrate_slowest(cal, pass_all, m, left > 0 ? left / (sizes - i) : 0);
        s->bytes[i] = (double)size[i];
        s->seconds[i] = i < s->points && s->seconds[i] < seconds ? s->seconds[i] : seconds;
        s->points = i < s->points ? s->points : i + 1;
    }
}

/* Measures messages of all sizes between `active` pairs, in rounds, so that a disturbance affects only one round. */
static series measure(calibration *cal, messages *m, const char *name, int active, double budget)
{
    double start = calibrate_clock(cal), spent = 0;
    series s = {0};

    m->active = active;
    for (int round = 0; round < ROUNDS && (round == 0 || spent < budget * 2 / 3); round++) {
        measure_round(cal, m, (budget - spent) / (ROUNDS - round), &s);
        spent = calibrate_clock(cal) - start;
    }
    for (int i = 0; i < s.points; i++)
        calibrate_note(cal, name, 2, (int64_t[3]){active, (int64_t)s.bytes[i]}, s.seconds[i]);
    return s;
}

static double time_stream(calibration *cal, messages *m, int active, int64_t bytes, double budget)
{
    double seconds;

    m->active = active;
    m->bytes = bytes;
    m->length = bytes < STREAM_BYTES ? (int)(STREAM_BYTES / bytes)
                                     : 1; /* long enough to exceed the burst that an idle network accepts */
    seconds = calibrate_slowest(cal, pass_all, m, budget) / m->length;
    m->length = 0;
    calibrate_note(cal, "stream.network", 2, (int64_t[3]){active, bytes}, seconds);
    return seconds;
}

/*
 * Between nodes the model itself divides a node's bandwidth among its ranks. So the time per byte is that of one pair
 * alone, in round trips or in a stream, whichever is slower: a network may exceed its sustained rate for a moment. The
 * cost per message is measured with all pairs at once, because all lines of a product broadcast at once.
 */
static series series_between_nodes(calibration *cal, messages *m, const series *one, const series *all, double budget)
{
    series s = *one;

    for (int i = 0; i < s.points; i++)
        if (s.bytes[i] > SHORT_BYTES)
            s.seconds[i] = fmax(s.seconds[i], time_stream(cal, m, 1, (int64_t)s.bytes[i], budget / s.points));
        else if (i < all->points)
            s.seconds[i] = all->seconds[i];
    return s;
}

/* The max-rate model (Gropp, Olson and Samfass 2016): k concurrent messages take max(k inject, beta) per byte.
 * Returns inject, or 0 if no limit is seen. */
static double inject_of(calibration *cal, messages *m, double budget)
{
    double one = time_stream(cal, m, 1, STREAM_BYTES, budget / 2);
    double all = time_stream(cal, m, m->pairs.count, STREAM_BYTES, budget / 2);

    return all > 1.1 * one ? all / m->pairs.per_node / STREAM_BYTES : 0;
}

/* The seconds for which a short message occupies its port, less the time of its bytes; at most alpha. Measured in a
 * stream of messages, with all pairs at once. */
static double gap_of(calibration *cal, messages *m, const struct hs_link *link, double budget)
{
    double gap = time_stream(cal, m, m->pairs.count, SHORT_BYTES, budget) - SHORT_BYTES * link->beta;

    return fmin(fmax(gap, 1e-9), link->alpha);
}

/* Measures 2, 4, ... pairs at once, fewer than all, in the time that is left; not with --quick. The times are reported
 * but not fitted. */
static void measure_between(calibration *cal, messages *m, const char *name, double until)
{
    int steps = 0;

    for (int n = 2; n < m->pairs.count; n *= 2)
        steps++;
    for (int n = 2; n < m->pairs.count && !cal->args->quick; n *= 2) {
        double left = until - calibrate_clock(cal);

        if (left <= 0)
            return;
        measure(cal, m, name, n, left / steps--);
    }
}

static void measure_tier(calibration *cal, messages *m, enum hs_tier_kind tier, double budget)
{
    static const char *const names[] = {"pairs.socket", "pairs.node", "pairs.network"};
    static const enum calibrate_fit fits[] = {FIT_SOCKET, FIT_NODE, FIT_NETWORK};
    struct hs_machine *fitted = &cal->profile.machine;
    struct hs_link *link;
    double until = calibrate_clock(cal) + budget;
    int several = m->pairs.count > 1;
    series one, all;

    one = all = measure(cal, m, names[tier], 1, several ? 0.3 * budget : 0.9 * budget);
    if (several)
        all = measure(cal, m, names[tier], m->pairs.count, 0.3 * budget);
    /* Inside a node, the times with all pairs active are fitted, since the model has no contention there; only a node's
     * network is shared among its ranks. */
    if (tier == HS_BETWEEN_NODES) {
        all = series_between_nodes(cal, m, &one, &all, 0.1 * budget);
        fitted->inject = m->pairs.per_node > 1 ? inject_of(cal, m, 0.1 * budget) : 0;
    }
    link = tier == HS_BETWEEN_NODES ? &fitted->network : tier == HS_IN_NODE ? &fitted->node : &fitted->socket;
    hs_fit_link(all.bytes, all.seconds, all.points, link);
    if (tier == HS_BETWEEN_NODES)
        link->gap = gap_of(cal, m, link, 0.05 * budget);
    cal->error[fits[tier]] = fit_link_error(link, all.bytes, all.seconds, all.points);
    if (several)
        measure_between(cal, m, names[tier], until);
}

int calibrate_network(calibration *cal, double budget)
{
    static const struct {
        enum hs_tier_kind tier;
        const char *phase;
        double share;
    } tiers[] = {{HS_BETWEEN_NODES, "between nodes", 0.6},
                 {HS_IN_NODE, "inside nodes", 0.25},
                 {HS_IN_SOCKET, "inside sockets", 0.15}};
    messages m = {.out = calibrate_get(cal, MOST_BYTES), .in = calibrate_get(cal, MOST_BYTES)};

    if (command_fail(cal->comm, cal->lacks, "calibrate: no memory for messages of %d bytes", MOST_BYTES))
        return 0;
    for (int i = 0; i < 3; i++) {
        m.pairs = hs_rank_pairs_of(&cal->ctx->comm.topology, tiers[i].tier, cal->rank);
        cal->phase = tiers[i].phase;
        if (m.pairs.count > 0)
            measure_tier(cal, &m, tiers[i].tier, tiers[i].share * budget);
    }
    return 1;
}
