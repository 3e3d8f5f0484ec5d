/*
 * Rows that write into a peer's memory or read a peer's vectors where they are (shared_buffer, binomial, spread) and
 * host_staged, through verify: every number of ranks with rooms from too little to plenty, chunks, levels k, roots,
 * schedules; signals, copies and sums against what their heads say; as stages of smp and reduce_bcast.
 */
#include "coll/proof/verify.h"
#include "coll/schedule/lists.h"
#include "support/tap.h"

#include <string.h>

enum { UNIT = 8 };

static const struct {
    enum hs_collective collective;
    const char *name;
    int chunks; /* long vectors go in several */
} rows[] = {
    {HS_ALLREDUCE, "shared_buffer", 1}, {HS_REDUCE_TO, "shared_buffer", 1}, {HS_ALLREDUCE, "binomial", 1},
    {HS_ALLREDUCE, "spread", 1},        {HS_REDUCE_TO, "spread", 1},        {HS_REDUCE_SCATTER, "shared_buffer", 1},
    {HS_REDUCE_SCATTER, "spread", 0},   {HS_ALLGATHER, "shared_buffer", 1}, {HS_ALLGATHER, "spread", 0},
    {HS_ALLREDUCE, "host_staged", 0},   {HS_REDUCE_TO, "host_staged", 0},   {HS_BCAST, "host_staged", 0},
};
enum { ROWS = sizeof rows / sizeof *rows };

struct tally {
    int runs, chunked, refused, bad;
    char text[400];
};

static void fault(struct tally *tally, const struct hs_shape *shape, const char *what)
{
    if (tally->bad++ == 0)
        snprintf(tally->text, sizeof tally->text, "p %d root %d bytes %lld room %lld segment %lld pieces %d: %s",
                 shape->size, shape->root, (long long)shape->bytes, (long long)shape->topology->shared_bytes,
                 (long long)shape->segment, shape->with.pieces, what);
}

static int64_t signals_of(const struct hs_list *list)
{
    int64_t signals = 0;
    for (int i = 0; i < list->steps; i++)
        signals += list->step[i].kind == HS_SIGNAL;
    return signals;
}

/* Verifies one shape; notes whether it goes in chunks: some rank signals more often than for one. */
static void one(struct tally *tally, const struct hs_alg *alg, struct hs_shape *shape, int turn)
{
    static const int windows[] = {0, 4, 7, 64};
    int window = alg->flags & HS_FOR_DEVICES && turn % 8 == 1 ? 1 : windows[turn % 4]; /* messages need more than 1 */
    struct hs_verify_options options = {.schedule = (enum hs_schedule)(turn % HS_SCHEDULES),
                                        .seed = (uint64_t)turn,
                                        .instances = 1 + turn % 3,
                                        .window = window};
    struct hs_verify_report report;
    struct hs_list list;
    tally->runs++;
    shape->root = alg->collective == HS_ALLREDUCE ? 0 : turn % shape->size;
    if (hs_alg_unfit(alg, shape)) {
        tally->refused++;
        return;
    }
    if (hs_verify(alg, shape, &options, &hs_heap, &report))
        fault(tally, shape, report.text);
    shape->rank = shape->size - 1;
    if (!hs_build(alg, shape, &hs_heap, &list))
        tally->chunked += signals_of(&list) > 3;
    hs_list_free(&hs_heap, &list);
}

/* Every number of ranks, rooms around what the rows need, chunks or levels. */
static void sweep(int row)
{
    const struct hs_alg *alg = hs_alg_find(rows[row].collective, rows[row].name);
    struct tally tally = {0};
    int turn = 0;
    for (int p = 1; p <= 20; p++) {
        struct hs_topology topology;
        struct hs_shape shape = {.size = p, .unit = UNIT, .topology = &topology};
        if (hs_topology_blocks(&topology, p, 1, 1, &hs_heap))
            return;
        topology.direct = 1;
        const int64_t rooms[] = {3, p - 1, p, p + 1, 2 * p - 1, 2 * p, 2 * p + 1, 5 * p, 16 * p + 3, 80 * p};
        const int64_t lengths[] = {0, 1, 2, p - 1, p, p + 1, 3 * p + 1, 40};
        for (int r = 0; r < 10; r++)
            for (int n = 0; n < 8; n++) {
                topology.shared_bytes = rooms[r] * UNIT + turn % UNIT;
                shape.bytes = lengths[n] * UNIT;
                shape.with.pieces = alg->flags & HS_USES_PIECES ? turn % 6 : 0;
                shape.segment = alg->flags & HS_USES_SEGMENT ? turn % 5 * UNIT : 0;
                one(&tally, alg, &shape, turn++);
            }
        hs_topology_free(&topology, &hs_heap);
    }
    if (!tap_ok(tally.bad == 0 && (tally.chunked >= 50 || !rows[row].chunks) && tally.refused < tally.runs / 2,
                "%s %s: %d runs, %d in chunks, %d refused", hs_collective_name(alg->collective), alg->name, tally.runs,
                tally.chunked, tally.refused))
        tap_diag("%d bad, the first: %s", tally.bad, tally.text);
}

/* Of binomial: every k up to more than the tree has levels, every number of ranks. */
static void levels(void)
{
    const struct hs_alg *alg = hs_alg_find(HS_ALLREDUCE, "binomial");
    struct tally tally = {0};
    for (int p = 1; p <= 130; p = p < 70 ? p + 1 : p + 30)
        for (int k = 0; k <= 8; k++) {
            struct hs_topology topology;
            struct hs_shape shape = {.size = p, .unit = UNIT, .bytes = 5 * UNIT, .topology = &topology};
            if (hs_topology_blocks(&topology, p, 1, 1, &hs_heap))
                return;
            topology.shared_bytes = (p + k % 2 * 5 * p) * 2 * UNIT; /* a chunk or several */
            shape.with.pieces = k;
            one(&tally, alg, &shape, p + k);
            hs_topology_free(&topology, &hs_heap);
        }
    if (!tap_ok(tally.bad == 0 && tally.refused <= 9, "binomial, k = 0 .. 8: %d runs, %d in chunks, %d refused",
                tally.runs, tally.chunked, tally.refused))
        tap_diag("%d bad, the first: %s", tally.bad, tally.text);
}

/* Of all ranks together, and of the one that has most. */
struct work {
    int64_t signals, copied, summed, summed_most, joins_most;
};

static struct work work_of(enum hs_collective collective, const char *name, const struct hs_shape *shape)
{
    struct work work = {0};
    struct hs_list *list;
    if (hs_build_all(hs_alg_find(collective, name), shape, &hs_heap, &list))
        return work;
    for (int r = 0; r < shape->size; r++) {
        int64_t summed = 0, joins = 0;
        for (const struct hs_step *step = list[r].step; step < list[r].step + list[r].steps; step++) {
            work.signals += step->kind == HS_SIGNAL;
            work.copied += step->kind == HS_COPY ? step->count : 0;
            summed += step->kind == HS_REDUCE ? step->count : 0;
            joins += step->kind == HS_JOIN;
        }
        work.summed += summed;
        work.summed_most = work.summed_most < summed ? summed : work.summed_most;
        work.joins_most = work.joins_most < joins ? joins : work.joins_most;
    }
    hs_free_all(&hs_heap, list, shape->size);
    return work;
}

static void expect(const char *what, struct work is, struct work want)
{
    if (!tap_ok(memcmp(&is, &want, sizeof is) == 0, "%s", what))
        tap_diag("%lld signals, %lld copied, %lld summed, %lld by one, %lld joins", (long long)is.signals,
                 (long long)is.copied, (long long)is.summed, (long long)is.summed_most, (long long)is.joins_most);
}

static void counts(void)
{
    enum { P = 8, M = 64 * P };
    struct hs_topology topology;
    struct hs_shape shape = {.size = P, .root = 3, .bytes = M, .unit = UNIT, .topology = &topology};
    if (hs_topology_blocks(&topology, P, 1, 1, &hs_heap))
        return;
    topology.shared_bytes = 1 << 20;
    topology.direct = 1;
    expect("reduce shared_buffer: p-1 copies, all sums are the root's", work_of(HS_REDUCE_TO, "shared_buffer", &shape),
           (struct work){P - 1, (P - 1) * M, (P - 1) * M, (P - 1) * M, 1});
    expect("reduce spread: a slice each, p-1 slices for the root", work_of(HS_REDUCE_TO, "spread", &shape),
           (struct work){2 * P, M - M / P, (P - 1) * M, (P - 1) * M / P, 3});
    shape.root = 0;
    expect("allreduce shared_buffer: p-1 copies in, p out, all sums are rank 0's",
           work_of(HS_ALLREDUCE, "shared_buffer", &shape),
           (struct work){P, (2 * P - 1) * M, (P - 1) * M, (P - 1) * M, 1});
    shape.segment = M / 4;
    expect("  in four chunks four times the signals", work_of(HS_ALLREDUCE, "shared_buffer", &shape),
           (struct work){4 * P, (2 * P - 1) * M, (P - 1) * M, (P - 1) * M, 4});
    shape.segment = 0;
    expect("binomial: log2 p sums one after the other for rank 0", work_of(HS_ALLREDUCE, "binomial", &shape),
           (struct work){P, (2 * P - 1) * M, (P - 1) * M, 3 * M, 3});
    shape.with.pieces = 2;
    expect("binomial, k = 2: a group of four, then of two", work_of(HS_ALLREDUCE, "binomial", &shape),
           (struct work){P, (2 * P - 1) * M, (P - 1) * M, 4 * M, 2});
    shape.with.pieces = 3;
    expect("binomial, k = 3: all at once", work_of(HS_ALLREDUCE, "binomial", &shape),
           (struct work){P, (2 * P - 1) * M, (P - 1) * M, (P - 1) * M, 1});
    shape.with.pieces = 1;
    expect("allreduce spread: everybody sums a slice and copies the others", work_of(HS_ALLREDUCE, "spread", &shape),
           (struct work){3 * P, P * M - M, (P - 1) * M, (P - 1) * M / P, 3});
    shape.with.pieces = 4;
    expect("  in four pieces", work_of(HS_ALLREDUCE, "spread", &shape),
           (struct work){6 * P, P * M - M, (P - 1) * M, (P - 1) * M / P, 6});
    shape.with.pieces = 0;
    expect("reduce_scatter spread: sums alone", work_of(HS_REDUCE_SCATTER, "spread", &shape),
           (struct work){2 * P, 0, (P - 1) * M, (P - 1) * M / P, 2});
    topology.direct = 0;
    const char *why = hs_alg_unfit(hs_alg_find(HS_ALLREDUCE, "spread"), &shape);
    tap_ok(why && strstr(why, "read each other's memory"), "spread where memory cannot be read: %s",
           why ? why : "fits");
    topology.shared_bytes = (P - 1) * UNIT;
    why = hs_alg_unfit(hs_alg_find(HS_ALLREDUCE, "shared_buffer"), &shape);
    tap_ok(why && strstr(why, "too little shared memory"), "a buffer with less than p places: %s", why ? why : "fits");
    hs_topology_free(&topology, &hs_heap);
}

/* The sums stand right behind each other, after one JOIN: what an executor can do as one piece of work. */
static void chains(void)
{
    enum { P = 6 };
    struct hs_topology topology;
    struct hs_shape shape = {.size = P, .bytes = 30 * P * UNIT, .unit = UNIT, .topology = &topology};
    int bad = 0, chained = 0;
    if (hs_topology_blocks(&topology, P, 1, 1, &hs_heap))
        return;
    topology.shared_bytes = 40 * P * UNIT;
    topology.direct = 1;
    shape.with.pieces = 2;
    for (int i = 0; i < 7; i++) {
        struct hs_list *list;
        if (hs_build_all(hs_alg_find(rows[i].collective, rows[i].name), &shape, &hs_heap, &list)) {
            bad++;
            continue;
        }
        for (int r = 0; r < P; r++)
            for (int s = 0; s < list[r].steps; s++) {
                const struct hs_step *step = &list[r].step[s];
                if (step->kind != HS_REDUCE)
                    continue;
                int on = step->deps == 1 ? list[r].dep[step->first_dep] : s, next = list[r].step[on].kind == HS_REDUCE;
                bad += next ? on != s - 1 : list[r].step[on].kind != HS_JOIN;
                chained += next;
            }
        hs_free_all(&hs_heap, list, P);
    }
    tap_ok(bad == 0 && chained > 50, "every REDUCE depends on one step: a JOIN, or the REDUCE right before it");
    hs_topology_free(&topology, &hs_heap);
}

/* How many steps of all lists write a peer's SHARED, or read a peer's IN or OUT. */
static void count_peers(const struct hs_list *list, int size, int *writes, int *reads)
{
    *writes = *reads = 0;
    for (int r = 0; r < size; r++)
        for (const struct hs_step *step = list[r].step; step < list[r].step + list[r].steps; step++) {
            *writes += step->kind == HS_COPY && step->dst.of > 0;
            *reads += step->kind == HS_REDUCE && step->right.of > 0 && step->right.slot != HS_SHARED;
        }
}

/* Inside the nodes of another row: it takes part, and the whole is right. */
static void inside(const char *outer, const char *inner, int nodes, int level)
{
    struct tally tally = {0};
    const struct hs_alg *alg = hs_alg_find(HS_ALLREDUCE, outer);
    int used = 0;
    for (int ppn = 2; ppn <= 6; ppn++)
        for (int turn = 0; turn < 8; turn++) {
            struct hs_topology topology;
            struct hs_list *list;
            struct hs_shape shape = {.size = nodes * ppn, .unit = UNIT, .topology = &topology};
            int writes, reads;
            if (hs_topology_blocks(&topology, nodes * ppn, nodes, 1 + level, &hs_heap))
                return;
            topology.shared_bytes = (turn % 2 ? 300 : 30 * ppn) * UNIT;
            topology.direct = 1;
            shape.bytes = (1 + turn * 5) * UNIT;
            shape.with.level = level ? HS_SOCKET : HS_NODE;
            shape.with.inner = hs_alg_find(HS_ALLREDUCE, inner);
            one(&tally, alg, &shape, turn);
            if (hs_build_all(alg, &shape, &hs_heap, &list))
                continue;
            count_peers(list, shape.size, &writes, &reads);
            used += writes + reads > 0;
            hs_free_all(&hs_heap, list, shape.size);
            hs_topology_free(&topology, &hs_heap);
        }
    if (!tap_ok(tally.bad == 0 && tally.refused == 0 && used > tally.runs / 2, "%s(inner=%s) on %d nodes%s: %d of %d",
                outer, inner, nodes, level ? " of sockets" : "", used, tally.runs))
        tap_diag("%d bad, the first: %s", tally.bad, tally.text);
}

int main(void)
{
    for (int i = 0; i < ROWS; i++)
        sweep(i);
    levels();
    counts();
    chains();
    inside("smp", "shared_buffer", 1, 0);
    inside("smp", "shared_buffer", 3, 0);
    inside("smp", "shared_buffer", 2, 1);
    inside("smp", "spread", 1, 0);
    inside("smp", "spread", 3, 0);
    inside("smp", "binomial", 1, 0);
    inside("dpml", "shared_buffer", 1, 0);
    inside("dpml", "shared_buffer", 3, 0);
    inside("dpml", "shared_buffer", 2, 1);
    inside("dpml", "spread", 3, 0);
    inside("reduce_bcast", "shared_buffer", 1, 0);
    inside("reduce_bcast", "spread", 1, 0);
    return tap_done();
}
