/*
 * The rows of one node over shared memory, through verify: sizes, rooms, units, roots, schedules; signals and bytes
 * copied against theory; a stage to which only some ranks contribute; and every kind of ordering in the lists, taken
 * away once.
 */
#include "coll/pattern/embed.h"
#include "coll/proof/verify.h"
#include "coll/schedule/lists.h"
#include "support/random.h"
#include "support/tap.h"

#include <string.h>

static const enum hs_collective collectives[] = {HS_ALLREDUCE, HS_REDUCE_TO, HS_BCAST};
enum { ROWS = sizeof collectives / sizeof *collectives, BIG = 65536 /* a unit with which few elements are much */ };

static const struct hs_alg *row(int i)
{
    return hs_alg_find(collectives[i], "shared");
}

struct tally {
    int runs, exposed, refused, bad;
    uint64_t mix;
    char text[400];
};

static int64_t one_of(struct tally *tally, const int64_t *choice, int choices)
{
    return choice[draw_of(&tally->mix, choices)];
}
#define ONE_OF(tally, ...) one_of(tally, (const int64_t[]){__VA_ARGS__}, (int)(sizeof((int64_t[]){__VA_ARGS__}) / 8))

static struct hs_verify_options pick_options(struct tally *tally, int p)
{
    struct hs_verify_options options = {.schedule = (enum hs_schedule)draw_of(&tally->mix, HS_SCHEDULES)};
    options.seed = draw_of(&tally->mix, 1 << 30);
    options.eager = draw_of(&tally->mix, 2);
    options.instances = 1 + draw_of(&tally->mix, 3) * (p <= 9);
    options.window = (int)ONE_OF(tally, 0, 1, 4, 64);
    options.run = draw_of(&tally->mix, 6);
    options.ld = options.run + draw_of(&tally->mix, 4);
    return options;
}

static void fault(struct tally *tally, const struct hs_shape *shape, const char *what)
{
    if (tally->bad++ == 0)
        snprintf(tally->text, sizeof tally->text,
                 "p %d root %d bytes %lld unit %lld room %lld direct %d segment %lld threshold %lld: %s", shape->size,
                 shape->root, (long long)shape->bytes, (long long)shape->unit, (long long)shape->topology->shared_bytes,
                 shape->topology->direct, (long long)shape->segment, (long long)shape->with.threshold, what);
}

/* One shape at random.  A row may refuse it only if three elements do not fit. */
static void one(struct tally *tally, const struct hs_alg *alg, struct hs_topology *topology)
{
    int p = topology->size;
    struct hs_shape shape = {.size = p, .unit = ONE_OF(tally, 1, 4, 8, 16, BIG), .topology = topology};
    int64_t scale = shape.unit == BIG ? BIG : 1;
    shape.root = alg->collective == HS_ALLREDUCE ? 0 : draw_of(&tally->mix, p);
    shape.segment = alg->flags & HS_USES_SEGMENT ? scale * ONE_OF(tally, 0, 1, 24, 100, 5000) : 0;
    shape.with.threshold = alg->flags & HS_USES_THRESHOLD ? ONE_OF(tally, 0, 1, 64, 500, 1 << 22) : 0;
    topology->shared_bytes = scale * ONE_OF(tally, 1, 17, 48, 100, 300, 1000, 4096) + draw_of(&tally->mix, 9);
    topology->direct = draw_of(&tally->mix, 2);
    int64_t most = topology->shared_bytes / shape.unit *
                       (p > 9   ? 1
                        : p > 4 ? 2
                                : 5) +
                   2,
            elements = ONE_OF(tally, 0, 1, p - 1, p, p + 1, 2 * p + 1);
    elements = draw_of(&tally->mix, 3) ? 1 + draw_of(&tally->mix, most < 400 / p ? most : 400 / p) : elements;
    shape.bytes = shape.unit * (elements < most ? elements : most);

    struct hs_verify_options options = pick_options(tally, p);
    struct hs_verify_report report;
    struct hs_list list;
    hsumma_status status = hs_verify(alg, &shape, &options, &hs_heap, &report);
    tally->runs++;
    if (status == HSUMMA_ERR_UNSUPPORTED && topology->shared_bytes < 3 * shape.unit)
        tally->refused++;
    else if (status)
        fault(tally, &shape, report.text);
    else if (!report.same_bits || report.messages > 0)
        fault(tally, &shape, report.messages ? "there are messages" : "the bits differ");
    if (!status && !hs_build(alg, &shape, &hs_heap, &list)) {
        tally->exposed += list.exposed;
        hs_list_free(&hs_heap, &list);
    }
}

/* Returns how many of them read peers' IN or OUT. */
static int shapes(int i, int p)
{
    struct tally tally = {.mix = (uint64_t)(100 * i + p)};
    struct hs_topology topology;
    int made = hs_topology_blocks(&topology, p, 1, 1, &hs_heap) == HSUMMA_OK;
    for (int run = 0; made && run < (p > 9 ? 120 / p : 40); run++)
        one(&tally, row(i), &topology);
    if (!tap_ok(made && tally.bad == 0, "%s shared, p = %d: %d runs, %d direct, %d refused",
                hs_collective_name(collectives[i]), p, tally.runs, tally.exposed, tally.refused))
        tap_diag("%d bad, the first: %s", tally.bad, tally.text);
    hs_topology_free(&topology, &hs_heap);
    return tally.exposed;
}

/* What the ranks do, all together. */
struct work {
    int64_t signals, copied, summed;
};

static struct work work_of(const struct hs_list *list, int p)
{
    struct work work = {0};
    for (int r = 0; r < p; r++)
        for (const struct hs_step *step = list[r].step; step < list[r].step + list[r].steps; step++) {
            work.signals += step->kind == HS_SIGNAL;
            work.copied += step->kind == HS_COPY ? step->count : 0;
            work.summed += step->kind == HS_REDUCE ? step->count : 0;
        }
    return work;
}

static int same_work(struct work a, struct work b)
{
    return a.signals == b.signals && a.copied == b.copied && a.summed == b.summed;
}

/* Signals and bytes of p ranks for m bytes in s chunks or segments. */
static void counts(const char *what, int i, int64_t unit, int64_t threshold, int64_t shared_bytes, int direct,
                   int64_t m, struct work want)
{
    enum { P = 8 };
    struct hs_topology topology;
    struct hs_list *list = NULL;
    struct work work = {-1, -1, -1};
    if (hs_topology_blocks(&topology, P, 1, 1, &hs_heap))
        return;
    topology.shared_bytes = shared_bytes;
    topology.direct = direct;
    struct hs_shape shape = {.size = P, .root = i ? 3 : 0, .bytes = m, .unit = unit, .topology = &topology};
    shape.with.threshold = threshold;
    shape.segment = i == 2 ? shared_bytes / 4 : 0;
    if (!hs_build_all(row(i), &shape, &hs_heap, &list))
        work = work_of(list, P);
    hs_free_all(&hs_heap, list, P);
    hs_topology_free(&topology, &hs_heap);
    if (!tap_ok(same_work(work, want), "%s shared, %s: %lld signals, %lld bytes copied, %lld summed",
                hs_collective_name(collectives[i]), what, (long long)want.signals, (long long)want.copied,
                (long long)want.summed))
        tap_diag("have %lld, %lld, %lld", (long long)work.signals, (long long)work.copied, (long long)work.summed);
}

/* Of 8 ranks; m in bytes; s chunks of room / 3 bytes, or segments of room / 4. */
static void all_counts(void)
{
    int64_t m = 9600, big = 24 * BIG; /* direct: a part of one element in each slot, 8 of them in a chunk */
    counts("whole", 0, 8, 10000, 10000, 0, m, (struct work){8, 8 * m, 8 * 7 * m});
    counts("one chunk", 0, 8, 1, 10000, 0, m, (struct work){8 * 2, 8 * m - m + 8 * m, 7 * m});
    counts("ten chunks", 0, 8, 1, 3 * 960, 0, m, (struct work){8 * 11, 8 * m - m + 8 * m, 7 * m});
    counts("direct", 0, BIG, 1, 3 * BIG, 1, big, (struct work){8 * 4, 8 * big, 7 * big});
    counts("whole", 1, 8, 10000, 10000, 0, m, (struct work){8, 7 * m, 7 * m});
    counts("one chunk", 1, 8, 1, 10000, 0, m, (struct work){8 * 2, 7 * m + 7 * m / 8, 7 * m});
    counts("ten chunks", 1, 8, 1, 3 * 960, 0, m, (struct work){8 * 11, 7 * m + 7 * m / 8, 7 * m});
    counts("direct", 1, BIG, 1, 3 * BIG, 1, big, (struct work){8 * 4, 7 * big / 8, 7 * big});
    counts("ten segments in four slots", 2, 8, 0, 4 * 960, 0, m, (struct work){10 + 7 * 6, 8 * m, 0});
    counts("direct", 2, BIG, 0, 4 * BIG, 1, big, (struct work){8, 7 * big, 0});
}

/*
 * A row of its own for verify: rank contributors + i sends IN to rank i, which adds it to its own, and the first ones'
 * sums are the contributions to the stage.
 */
static void build_folded(struct hs_builder *builder, const struct hs_shape *shape)
{
    int first = shape->with.contributors, rank = shape->rank, mate = rank < first ? rank + first : rank - first,
        after = -1;
    if (rank >= first) {
        hs_emit_send(builder, mate, hs_in(0), shape->bytes, -1);
    } else {
        after = mate < shape->size ? hs_emit_recv(builder, mate, hs_scratch(0), shape->bytes, -1) : -1;
        int sum = mate < shape->size ? hs_emit_reduce(builder, hs_scratch(0), hs_in(0), hs_scratch(0), shape->bytes, -1)
                                     : hs_emit_copy(builder, hs_scratch(0), hs_in(0), shape->bytes, -1);
        hs_after(builder, sum, after);
        after = sum;
    }
    struct hs_embedding how = {
        .in = hs_scratch(0), .out = hs_out(0), .scratch = shape->bytes, .signal = 100, .after = after};
    hs_embed(builder, row(0), shape, &how, NULL);
}

static void contributors(void)
{
    static const struct hs_alg folded = {.collective = HS_ALLREDUCE,
                                         .name = "folded",
                                         .flags = HS_USES_SHARED | HS_USES_THRESHOLD,
                                         .build = build_folded};
    struct tally tally = {.mix = 1};
    for (int p = 2; p <= 9; p++)
        for (int first = (p + 1) / 2; first <= p; first++)
            for (int run = 0; run < 12; run++) {
                struct hs_topology topology;
                if (hs_topology_blocks(&topology, p, 1, 1, &hs_heap))
                    return;
                topology.shared_bytes = ONE_OF(&tally, 24, 100, 500);
                struct hs_shape shape = {
                    .size = p, .bytes = 8 * draw_of(&tally.mix, 50), .unit = 8, .topology = &topology};
                shape.with.contributors = first;
                shape.with.threshold = ONE_OF(&tally, 0, 1);
                struct hs_verify_options options = pick_options(&tally, p);
                struct hs_verify_report report;
                tally.runs++;
                if (hs_verify(&folded, &shape, &options, &hs_heap, &report) || !report.same_bits)
                    fault(&tally, &shape, report.text);
                hs_topology_free(&topology, &hs_heap);
            }
    if (!tap_ok(tally.bad == 0, "allreduce shared, only the first ranks contribute: %d runs", tally.runs))
        tap_diag("%d bad, the first: %s", tally.bad, tally.text);
}

/* Takes the dependencies of steps of one kind on steps of another out of a list; returns how many there were. */
static int untie(struct hs_list *list, enum hs_kind kind, enum hs_kind on)
{
    int gone = 0;
    for (int i = 0; i < list->steps; i++) {
        struct hs_step *step = &list->step[i];
        int *dep = list->dep + step->first_dep, kept = 0;
        for (int d = 0; d < step->deps; d++)
            if (step->kind != kind || list->step[dep[d]].kind != on)
                dep[kept++] = dep[d];
        gone += step->kind == kind ? step->deps - kept : 0;
        step->deps = step->kind == kind ? kept : step->deps;
    }
    return gone;
}

/*
 * Every kind of ordering in the lists of a shape must be missed when it is taken away; but where all parts are alike,
 * what a JOIN collects and the order of the SIGNALs follow from the others.
 */
static void untied(int i, const struct hs_shape *shape)
{
    int kinds = 0, missed = 0;
    for (int pair = 0; pair < HS_KINDS * HS_KINDS; pair++) {
        enum hs_kind kind = (enum hs_kind)(pair / HS_KINDS), on = (enum hs_kind)(pair % HS_KINDS);
        struct hs_list *list = NULL;
        struct hs_verify_report report;
        int gone = 0;
        if (kind == HS_JOIN || on == HS_JOIN || (kind == HS_SIGNAL && on == HS_SIGNAL))
            continue;
        if (hs_build_all(row(i), shape, &hs_heap, &list))
            return;
        for (int r = 0; r < shape->size; r++)
            gone += untie(&list[r], kind, on);
        hsumma_status status = hs_verify_lists(collectives[i], list, shape, NULL, &hs_heap, &report);
        hs_free_all(&hs_heap, list, shape->size);
        kinds += gone > 0;
        missed += gone > 0 && status == HSUMMA_ERR_INTERNAL;
        if (gone > 0 && !status)
            tap_diag("kind %d need not wait for kind %d", (int)kind, (int)on);
    }
    tap_ok(kinds > 0 && missed == kinds, "%s shared, %s: each of %d kinds of ordering is needed",
           hs_collective_name(collectives[i]), shape->topology->direct ? "direct" : "in slots", kinds);
}

static void all_untied(void)
{
    for (int i = 0; i < ROWS; i++)
        for (int direct = 0; direct < 2; direct++) {
            int64_t unit = direct ? BIG : 8;
            struct hs_topology topology;
            if (hs_topology_blocks(&topology, 4, 1, 1, &hs_heap))
                return;
            topology.shared_bytes = 12 * unit;
            topology.direct = direct;
            struct hs_shape shape = {
                .size = 4, .bytes = (direct ? 32 : 43) * unit, .unit = unit, .topology = &topology};
            shape.root = i ? 2 : 0;
            shape.segment = 2 * unit;
            shape.with.threshold = 1;
            untied(i, &shape);
            hs_topology_free(&topology, &hs_heap);
        }
}

int main(void)
{
    for (int i = 0; i < ROWS; i++) {
        int exposed = 0;
        for (int p = 1; p <= 33; p += p < 16 ? 1 : 17)
            exposed += shapes(i, p);
        tap_ok(exposed >= 10, "%s shared: direct and not", hs_collective_name(collectives[i]));
    }
    all_counts();
    contributors();
    all_untied();
    return tap_done();
}
