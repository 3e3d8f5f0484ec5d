#include "support/coll/sweep.h"

#include "coll/schedule/lists.h"
#include "support/random.h"
#include "support/tap.h"

#include <math.h>
#include <stdlib.h>

/* Draws options for hs_verify. */
static struct hs_verify_options draw_options(struct coll_sweep *sweep, int ranks)
{
    static const int windows[] = {0, 0, 4, 7, 64, 1};
    struct hs_verify_options options = {.schedule = (enum hs_schedule)draw_of(&sweep->mix, HS_SCHEDULES),
                                        .seed = (uint64_t)draw_of(&sweep->mix, 1 << 30),
                                        .eager = draw_of(&sweep->mix, 2),
                                        .instances = 1 + draw_of(&sweep->mix, 3) * (ranks <= 16)};
    options.window = windows[draw_of(&sweep->mix, sweep->no_messages ? 6 : 5)];
    options.run = draw_of(&sweep->mix, 6);
    options.ld = options.run + draw_of(&sweep->mix, 4);
    return options;
}

/* Describes the sweep's first failure; later ones are only counted. */
static void describe(struct coll_sweep *sweep, const struct hs_shape *shape, const struct hs_verify_options *options,
                     const char *what)
{
    static const struct hs_verify_options none;
    const struct hs_topology *topology = shape->topology;
    if (sweep->bad++ > 0)
        return;
    options = options ? options : &none;
    snprintf(sweep->text, sizeof sweep->text,
             "p %d root %d bytes %lld unit %lld segment %lld part %s threshold %lld l %d k %d nodes %d level %d "
             "room %lld direct %d schedule %d eager %d window %d: %s",
             shape->size, shape->root, (long long)shape->bytes, (long long)shape->unit, (long long)shape->segment,
             shape->part ? "given" : "equal", (long long)shape->with.threshold, shape->with.leaders, shape->with.pieces,
             topology ? topology->division[HS_NODE].parts : 0, (int)shape->with.level,
             topology ? (long long)topology->shared_bytes : 0, topology ? topology->direct : 0, (int)options->schedule,
             options->eager, options->window, what);
}

int sweep_verify(struct coll_sweep *sweep, const struct hs_alg *alg, const struct hs_shape *shape,
                 struct hs_verify_report *report)
{
    struct hs_verify_options options = draw_options(sweep, shape->size);
    hsumma_status status = hs_verify(alg, shape, &options, &hs_heap, report);
    sweep->runs++;
    if (status)
        describe(sweep, shape, &options, report->text[0] ? report->text : hsumma_status_string(status));
    return !status;
}

void sweep_fault(struct coll_sweep *sweep, const struct hs_shape *shape, const char *what)
{
    describe(sweep, shape, NULL, what);
}

void sweep_expect(struct coll_sweep *sweep, const struct hs_shape *shape, const char *what, int64_t have, int64_t want)
{
    char text[120];
    snprintf(text, sizeof text, "%s: %lld, expected %lld", what, (long long)have, (long long)want);
    if (have != want)
        describe(sweep, shape, NULL, text);
}

void sweep_at_most(struct coll_sweep *sweep, const struct hs_shape *shape, const char *what, int64_t have, int64_t most)
{
    if (have > most)
        sweep_expect(sweep, shape, what, have, most);
}

void sweep_end(const struct coll_sweep *sweep, int enough, const char *what, ...)
{
    char text[200];
    va_list args;
    va_start(args, what);
    vsnprintf(text, sizeof text, what, args);
    va_end(args);
    if (!tap_ok(sweep->bad == 0 && enough, "%s: %d runs", text, sweep->runs))
        tap_diag("%d bad, the first: %s", sweep->bad, sweep->text);
}

struct hs_topology topology_blocks(int size, int nodes, int sockets, int64_t shared_bytes, int direct)
{
    struct hs_topology topology;
    if (hs_topology_blocks(&topology, size, nodes, sockets, &hs_heap))
        exit(99);
    topology.shared_bytes = shared_bytes;
    topology.direct = direct;
    return topology;
}

struct coll_work coll_work_of(const struct hs_alg *alg, const struct hs_shape *shape)
{
    struct coll_work work = {0};
    struct hs_list *list;
    if (hs_build_all(alg, shape, &hs_heap, &list))
        return work;
    for (int r = 0; r < shape->size; r++) {
        int64_t summed = 0, joins = 0;
        for (const struct hs_step *step = list[r].step; step < list[r].step + list[r].steps; step++) {
            work.signals += step->kind == HS_SIGNAL;
            work.copied += step->kind == HS_COPY ? step->count : 0;
            summed += step->kind == HS_REDUCE ? step->count : step->kind == HS_EXACT ? step->peer * step->count : 0;
            joins += step->kind == HS_JOIN;
        }
        work.summed += summed;
        work.summed_most = work.summed_most < summed ? summed : work.summed_most;
        work.joins_most = work.joins_most < joins ? joins : work.joins_most;
    }
    hs_free_all(&hs_heap, list, shape->size);
    return work;
}

double price_of(const struct hs_alg *alg, const struct hs_shape *shape, const struct hs_machine *machine,
                struct hs_clock_load *load)
{
    double seconds = 0;
    hsumma_status status = hs_clock_seconds(alg, shape, machine, &hs_heap, &seconds, load);
    return status ? -(double)status : seconds;
}

double price_of_steps(void (*build)(struct hs_builder *, const struct hs_shape *), int size, int nodes, int64_t bytes,
                      const struct hs_machine *machine)
{
    static const int own; /* .own marks the row as user-defined; such rows are also built for one rank */
    struct hs_alg alg = {HS_ALLREDUCE, "steps", "", HS_TRUE_ROOT | HS_KNOWS_NODES, .build = build, .own = &own};
    struct hs_topology topology = topology_blocks(size, nodes, 2, 1 << 20, 1);
    struct hs_shape shape = {.size = size, .bytes = bytes, .unit = 8, .topology = &topology};
    double seconds = price_of(&alg, &shape, machine, NULL);
    hs_topology_free(&topology, &hs_heap);
    return seconds;
}

int same_price(double is, double want)
{
    if (fabs(is - want) <= 1e-12 * fabs(want))
        return 1;
    tap_diag("%.17g instead of %.17g", is, want);
    return 0;
}

int log_up(int base, int64_t n)
{
    int steps = 0;
    for (int64_t reach = 1; reach < n; reach *= base)
        steps++;
    return steps;
}

int log2_up(int64_t n)
{
    return log_up(2, n);
}

int64_t doubling_messages(int n)
{
    int bits = log2_up((int64_t)n + 1) - 1;
    return ((int64_t)bits << bits) + 2 * (n - (1 << bits));
}
