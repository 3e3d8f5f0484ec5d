/*
 * The algorithms for one node over shared memory, through verify: every number of ranks, shared memory from too little
 * to plenty, chunks, parameter k, roots; signals, copies and sums as claimed in their files; as stages of other
 * algorithms; and every kind of ordering in the lists, removed in turn.
 */
#include "coll/pattern/embed.h"
#include "coll/schedule/lists.h"
#include "support/coll/sweep.h"
#include "support/random.h"
#include "support/tap.h"

#include <string.h>

enum { UNIT = 8, BIG = 65536 /* a large unit, so that few elements are many bytes */ };

/* How an algorithm treats long vectors, and (BY_MESSAGES) whether it sends messages; PLACES: see row. */
enum { CHUNKS = 1 /* cuts them into chunks */, EXPOSES = 2 /* reads them in place */, BY_MESSAGES = 4, PLACES = 8 };

static const struct row {
    enum hs_collective collective;
    const char *name;
    /* PLACES: may refuse less than 2 p + 1 elements of SHARED per rank, and a topology without direct reads; otherwise
     * may refuse only less than three elements. */
    int flags;
} rows[] = {
    {HS_ALLREDUCE, "shared", CHUNKS},
    {HS_REDUCE_TO, "shared", CHUNKS},
    {HS_BCAST, "shared", CHUNKS},
    {HS_ALLREDUCE, "shared_buffer", CHUNKS | PLACES},
    {HS_REDUCE_TO, "shared_buffer", CHUNKS | PLACES},
    {HS_ALLREDUCE, "binomial", CHUNKS | PLACES},
    {HS_ALLREDUCE, "spread", CHUNKS | EXPOSES | PLACES},
    {HS_REDUCE_TO, "spread", CHUNKS | EXPOSES | PLACES},
    {HS_REDUCE_SCATTER, "shared_buffer", CHUNKS | PLACES},
    {HS_REDUCE_SCATTER, "spread", EXPOSES | PLACES},
    {HS_ALLGATHER, "shared_buffer", CHUNKS | PLACES},
    {HS_ALLGATHER, "spread", EXPOSES | PLACES},
    {HS_ALLREDUCE, "host_staged", BY_MESSAGES},
    {HS_REDUCE_TO, "host_staged", BY_MESSAGES},
    {HS_BCAST, "host_staged", BY_MESSAGES},
    {HS_BCAST, "direct", EXPOSES | PLACES},
};
enum { ROWS = sizeof rows / sizeof *rows };

static const struct hs_alg *find(const struct row *row)
{
    return hs_alg_find(row->collective, row->name);
}

static int64_t one_of(struct coll_sweep *sweep, const int64_t *choice, int choices)
{
    return choice[draw_of(&sweep->mix, choices)];
}
#define ONE_OF(sweep, ...) one_of(sweep, (const int64_t[]){__VA_ARGS__}, (int)(sizeof((int64_t[]){__VA_ARGS__}) / 8))

/* Numbers of runs with several chunks (chunked), with IN or OUT that peers may read (exposed), and of refusals. */
struct kinds {
    int chunked, exposed, refused;
};

/* Counts a run as chunked if the root signals more often than for one chunk, as exposed if peers may read the root's IN
 * or OUT. */
static void note_kind(struct kinds *kinds, const struct hs_alg *alg, const struct hs_shape *shape)
{
    struct hs_list list;
    int signals = 0;
    if (hs_build_rank(alg, shape, shape->root, &hs_heap, &list))
        return;
    for (int i = 0; i < list.steps; i++)
        signals += list.step[i].kind == HS_SIGNAL;
    kinds->chunked += signals > 3;
    kinds->exposed += list.exposed != 0;
    hs_list_free(&hs_heap, &list);
}

/* Tests one random shape. */
static void one(struct coll_sweep *sweep, const struct row *row, struct hs_topology *topology, struct kinds *kinds)
{
    const struct hs_alg *alg = find(row);
    int p = topology->size, rooted = row->collective == HS_REDUCE_TO || row->collective == HS_BCAST;
    int64_t unit = ONE_OF(sweep, 1, 4, 8, 16, BIG), scale = unit == BIG ? BIG : 1;
    int64_t room = ONE_OF(sweep, 1, 3, p - 1, p, p + 1, 2 * p - 1, 2 * p, 2 * p + 1, 5 * p, 16 * p + 3, 80 * p);
    int64_t elements = ONE_OF(sweep, 0, 1, 2, p - 1, p, p + 1, 2 * p + 1, 3 * p + 1, 40, 400 / p, 400 / p);
    struct hs_shape shape = {.size = p, .unit = unit, .bytes = elements * unit, .topology = topology};
    struct hs_verify_report report;
    shape.root = rooted ? draw_of(&sweep->mix, p) : 0;
    shape.segment = alg->flags & HS_USES_SEGMENT ? scale * ONE_OF(sweep, 0, 1, 16, 24, 100, 5000) : 0;
    shape.with.threshold = alg->flags & HS_USES_THRESHOLD ? ONE_OF(sweep, 0, 1, 64, 500, 1 << 22) : 0;
    shape.with.pieces = alg->flags & HS_USES_PIECES ? draw_of(&sweep->mix, 9) : 0;
    topology->shared_bytes = room * unit + draw_of(&sweep->mix, 9);
    topology->direct = draw_of(&sweep->mix, 2);
    if (hs_alg_unfit(alg, &shape)) {
        int little = topology->shared_bytes < (row->flags & PLACES ? 2 * p + 1 : 3) * unit;
        kinds->refused++;
        if (!little && (topology->direct || !(row->flags & PLACES)))
            sweep_fault(sweep, &shape, hs_alg_unfit(alg, &shape));
        return;
    }
    if (!sweep_verify(sweep, alg, &shape, &report))
        return;
    if (!(row->flags & BY_MESSAGES))
        sweep_expect(sweep, &shape, "messages", report.messages, 0);
    note_kind(kinds, alg, &shape);
}

static void test_row(const struct row *row)
{
    struct coll_sweep sweep = {.mix = (uint64_t)(row - rows), .no_messages = !(row->flags & BY_MESSAGES)};
    struct kinds kinds = {0};
    for (int p = 1; p <= (row->flags & PLACES ? 130 : 40); p += p < 20 ? 1 : p < 70 ? 7 : 20) {
        struct hs_topology topology = topology_blocks(p, 1, 1, 0, 0);
        for (int run = 0; run < (p < 20 ? 60 : 8); run++)
            one(&sweep, row, &topology, &kinds);
        hs_topology_free(&topology, &hs_heap);
    }
    sweep_end(&sweep,
              (kinds.chunked >= 50 || !(row->flags & CHUNKS)) && (kinds.exposed >= 50 || !(row->flags & EXPOSES)) &&
                  kinds.refused < 2 * sweep.runs,
              "%s %s: %d in chunks, %d direct, %d refused", hs_collective_name(row->collective), row->name,
              kinds.chunked, kinds.exposed, kinds.refused);
}

enum { P = 8, M = 9600 };

/* Sizes in bytes. A chunk has room / 3 bytes, a segment room / 4. */
static const struct setting {
    int64_t unit, bytes, room, segment;
    int threshold, direct;
} whole = {8, M, 10000, 0, M, 0}, one_chunk = {8, M, 10000, 0, 1, 0}, ten_chunks = {8, M, 3 * 960, 0, 1, 0},
  ten_segments = {8, M, 4 * 960, 960, 0, 0}, plenty = {8, M, 1 << 20, 0, 0, 1},
  four_chunks = {8, M, 1 << 20, M / 4, 0, 1};

/* Expected counts for all P ranks together, and for the rank with most; -1: not checked. */
static const struct count {
    const char *what;
    enum hs_collective collective;
    const char *name;
    const struct setting *in;
    int pieces;
    struct coll_work work;
} counts[] = {
    {"whole", HS_ALLREDUCE, "shared", &whole, 0, {P, P *M, P * 7 * M, -1, -1}},
    {"one chunk", HS_ALLREDUCE, "shared", &one_chunk, 0, {P * 2, 15 * M, 7 * M, -1, -1}},
    {"ten chunks", HS_ALLREDUCE, "shared", &ten_chunks, 0, {P * 11, 15 * M, 7 * M, -1, -1}},
    {"whole", HS_REDUCE_TO, "shared", &whole, 0, {P, 7 * M, 7 * M, -1, -1}},
    {"one chunk", HS_REDUCE_TO, "shared", &one_chunk, 0, {P * 2, 7 * M + 7 * M / P, 7 * M, -1, -1}},
    {"ten chunks", HS_REDUCE_TO, "shared", &ten_chunks, 0, {P * 11, 7 * M + 7 * M / P, 7 * M, -1, -1}},
    {"ten segments in four slots", HS_BCAST, "shared", &ten_segments, 0, {10 + 7 * 6, P *M, 0, -1, -1}},
    {"one copy each", HS_BCAST, "direct", &plenty, 0, {P, 7 * M, 0, -1, -1}},
    {"p-1 copies, all sums are the root's", HS_REDUCE_TO, "shared_buffer", &plenty, 0, {P - 1, 7 * M, 7 * M, 7 * M, 1}},
    {"p-1 copies in, p out, all sums are rank 0's",
     HS_ALLREDUCE,
     "shared_buffer",
     &plenty,
     0,
     {P, 15 * M, 7 * M, 7 * M, 1}},
    {"in four chunks four times the signals",
     HS_ALLREDUCE,
     "shared_buffer",
     &four_chunks,
     0,
     {4 * P, 15 * M, 7 * M, 7 * M, 4}},
    {"log2 p sums one after the other for rank 0", HS_ALLREDUCE, "binomial", &plenty, 0, {P, 15 * M, 7 * M, 3 * M, 3}},
    {"a group of four, then of two", HS_ALLREDUCE, "binomial", &plenty, 2, {P, 15 * M, 7 * M, 4 * M, 2}},
    {"all at once", HS_ALLREDUCE, "binomial", &plenty, 3, {P, 15 * M, 7 * M, 7 * M, 1}},
    {"a slice each, p-1 slices for the root",
     HS_REDUCE_TO,
     "spread",
     &plenty,
     0,
     {2 * P, M - M / P, 7 * M, 7 * M / P, 3}},
    {"everybody sums a slice and copies the others",
     HS_ALLREDUCE,
     "spread",
     &plenty,
     1,
     {3 * P, 7 * M, 7 * M, 7 * M / P, 3}},
    {"in four pieces", HS_ALLREDUCE, "spread", &plenty, 4, {6 * P, 7 * M, 7 * M, 7 * M / P, 6}},
    {"sums alone", HS_REDUCE_SCATTER, "spread", &plenty, 0, {2 * P, 0, 7 * M, 7 * M / P, 2}},
};

static int as_said(int64_t is, int64_t want)
{
    return want < 0 || is == want;
}

static void test_count(const struct count *count)
{
    const struct setting *in = count->in;
    const struct coll_work *want = &count->work;
    struct hs_topology topology = topology_blocks(P, 1, 1, in->room, in->direct);
    struct hs_shape shape = {.size = P, .bytes = in->bytes, .unit = in->unit, .segment = in->segment};
    shape.root = count->collective == HS_REDUCE_TO || count->collective == HS_BCAST ? 3 : 0;
    shape.topology = &topology;
    shape.with = (struct hs_parameters){.threshold = in->threshold, .pieces = count->pieces};
    struct coll_work is = coll_work_of(hs_alg_find(count->collective, count->name), &shape);
    if (!tap_ok(is.signals == want->signals && is.copied == want->copied && is.summed == want->summed &&
                    as_said(is.summed_most, want->summed_most) && as_said(is.joins_most, want->joins_most),
                "%s %s (k = %d): %s", hs_collective_name(count->collective), count->name, count->pieces, count->what))
        tap_diag("%lld signals, %lld copied, %lld summed, %lld by one, %lld joins", (long long)is.signals,
                 (long long)is.copied, (long long)is.summed, (long long)is.summed_most, (long long)is.joins_most);
    hs_topology_free(&topology, &hs_heap);
}

static void test_refusals(void)
{
    struct hs_topology topology = topology_blocks(P, 1, 1, (P - 1) * UNIT, 0);
    struct hs_shape shape = {.size = P, .bytes = M, .unit = UNIT, .topology = &topology};
    const char *why = hs_alg_unfit(hs_alg_find(HS_ALLREDUCE, "spread"), &shape);
    tap_ok(why && strstr(why, "read each other's memory"), "spread where memory cannot be read: %s",
           why ? why : "fits");
    why = hs_alg_unfit(hs_alg_find(HS_ALLREDUCE, "shared_buffer"), &shape);
    tap_ok(why && strstr(why, "too little shared memory"), "a buffer with less than p places: %s", why ? why : "fits");
    hs_topology_free(&topology, &hs_heap);
}

/* The sums of a chain directly follow each other after one JOIN, so that an executor can merge them. */
static void test_chains(void)
{
    enum { SIX = 6 };
    struct hs_topology topology = topology_blocks(SIX, 1, 1, 40 * SIX * UNIT, 1);
    struct hs_shape shape = {.size = SIX, .bytes = 30 * SIX * UNIT, .unit = UNIT, .topology = &topology};
    int bad = 0, chained = 0;
    shape.with.pieces = 2;
    for (const struct row *row = rows; row < rows + ROWS; row++) {
        struct hs_list *list;
        if (!(row->flags & PLACES) || row->collective == HS_ALLGATHER)
            continue;
        if (hs_build_all(find(row), &shape, &hs_heap, &list)) {
            bad++;
            continue;
        }
        for (int r = 0; r < SIX; r++)
            for (int s = 0; s < list[r].steps; s++) {
                const struct hs_step *step = &list[r].step[s];
                if (step->kind != HS_REDUCE)
                    continue;
                int on = step->deps == 1 ? list[r].dep[step->first_dep] : s, next = list[r].step[on].kind == HS_REDUCE;
                bad += next ? on != s - 1 : list[r].step[on].kind != HS_JOIN;
                chained += next;
            }
        hs_free_all(&hs_heap, list, SIX);
    }
    tap_ok(bad == 0 && chained > 50, "every REDUCE depends on one step: a JOIN, or the REDUCE right before it");
    hs_topology_free(&topology, &hs_heap);
}

/* Counts in the lists of all ranks the COPYs to a peer's SHARED, and the REDUCEs whose right operand is a peer's IN or
 * OUT. */
static void count_peers(const struct hs_list *list, int size, int *writes, int *reads)
{
    *writes = *reads = 0;
    for (int r = 0; r < size; r++)
        for (const struct hs_step *step = list[r].step; step < list[r].step + list[r].steps; step++) {
            *writes += step->kind == HS_COPY && step->dst.of > 0;
            *reads += step->kind == HS_REDUCE && step->right.of > 0 && step->right.slot != HS_SHARED;
        }
}

/* Gives algorithm `inner` to `outer` for the stages inside nodes: the lists must use it in more than half of the cases,
 * and the results must be right. */
static void test_inside(const char *outer, const char *inner, int nodes, int level)
{
    struct coll_sweep sweep = {0};
    const struct hs_alg *alg = hs_alg_find(HS_ALLREDUCE, outer);
    int used = 0;
    for (int ppn = 2; ppn <= 6; ppn++)
        for (int turn = 0; turn < 8; turn++) {
            int64_t room = (turn % 2 ? 300 : 30 * ppn) * UNIT;
            struct hs_topology topology = topology_blocks(nodes * ppn, nodes, 1 + level, room, 1);
            struct hs_shape shape = {.size = nodes * ppn, .unit = UNIT, .topology = &topology};
            struct hs_verify_report report;
            struct hs_list *list;
            int writes, reads;
            shape.bytes = (1 + turn * 5) * UNIT;
            shape.with.level = level ? HS_SOCKET : HS_NODE;
            shape.with.inner = hs_alg_find(HS_ALLREDUCE, inner);
            sweep_verify(&sweep, alg, &shape, &report);
            if (hs_build_all(alg, &shape, &hs_heap, &list))
                continue;
            count_peers(list, shape.size, &writes, &reads);
            used += writes + reads > 0;
            hs_free_all(&hs_heap, list, shape.size);
            hs_topology_free(&topology, &hs_heap);
        }
    sweep_end(&sweep, used > sweep.runs / 2, "%s(inner=%s) on %d nodes%s, %d as a stage", outer, inner, nodes,
              level ? " of sockets" : "", used);
}

/* The stage between the sockets of a node uses the node's shared memory; with "reduce_bcast" it consists of two stages.
 */
static void test_between_sockets(void)
{
    struct coll_sweep sweep = {0};
    for (int p = 4; p <= 12; p++)
        for (int turn = 0; turn < 12; turn++) {
            struct hs_topology topology =
                topology_blocks(p, 1, 2 + turn % 3, (turn % 2 ? 300 : 30 * p) * UNIT, turn % 4 > 1);
            struct hs_shape shape = {.size = p, .unit = UNIT, .bytes = (1 + turn * 5) * UNIT, .topology = &topology};
            struct hs_verify_report report;
            shape.with.level = HS_SOCKET;
            shape.with.outer = hs_alg_find(HS_ALLREDUCE, "reduce_bcast");
            sweep_verify(&sweep, hs_alg_find(HS_ALLREDUCE, "smp"), &shape, &report);
            hs_topology_free(&topology, &hs_heap);
        }
    sweep_end(&sweep, 1, "smp(level=socket,outer=reduce_bcast)");
}

/* Removes the dependencies of steps of kind `kind` on steps of kind `on` from a list; returns their number. */
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
 * Removing any kind of ordering from the lists of a shape must be detected. Dependencies of and on JOINs, and the order
 * of SIGNALs, are not removed: if all parts are equal, they follow from other dependencies.
 */
static void untied(const struct row *row, const struct hs_shape *shape)
{
    int kinds = 0, missed = 0;
    for (int pair = 0; pair < HS_KINDS * HS_KINDS; pair++) {
        enum hs_kind kind = (enum hs_kind)(pair / HS_KINDS), on = (enum hs_kind)(pair % HS_KINDS);
        struct hs_list *list = NULL;
        struct hs_verify_report report;
        int gone = 0;
        if (kind == HS_JOIN || on == HS_JOIN || (kind == HS_SIGNAL && on == HS_SIGNAL))
            continue;
        if (hs_build_all(find(row), shape, &hs_heap, &list))
            return;
        for (int r = 0; r < shape->size; r++)
            gone += untie(&list[r], kind, on);
        hsumma_status status = hs_verify_lists(row->collective, list, shape, NULL, &hs_heap, &report);
        hs_free_all(&hs_heap, list, shape->size);
        kinds += gone > 0;
        missed += gone > 0 && status == HSUMMA_ERR_INTERNAL;
        if (gone > 0 && !status)
            tap_diag("kind %d need not wait for kind %d", (int)kind, (int)on);
    }
    tap_ok(kinds > 0 && missed == kinds, "%s %s: each of %d kinds of ordering is needed",
           hs_collective_name(row->collective), row->name, kinds);
}

/* Tests the algorithms that the model may choose for host memory. */
static void test_untied(void)
{
    struct hs_topology topology = topology_blocks(4, 1, 1, 12 * UNIT, 1);
    for (const struct row *row = rows; row < rows + ROWS; row++) {
        struct hs_shape shape = {
            .size = 4, .bytes = 43 * UNIT, .unit = UNIT, .segment = 2 * UNIT, .topology = &topology};
        shape.root = find(row)->flags & HS_TRUE_ROOT ? 2 : 0;
        shape.with.threshold = 1;
        if (!(find(row)->flags & HS_FOR_DEVICES) && !(row->flags & BY_MESSAGES))
            untied(row, &shape);
    }
    hs_topology_free(&topology, &hs_heap);
}

int main(void)
{
    for (const struct row *row = rows; row < rows + ROWS; row++)
        test_row(row);
    for (const struct count *count = counts; count < counts + sizeof counts / sizeof *counts; count++)
        test_count(count);
    test_refusals();
    test_chains();
    test_untied();
    test_inside("smp", "shared_buffer", 1, 0);
    test_inside("smp", "shared_buffer", 3, 0);
    test_inside("smp", "shared_buffer", 2, 1);
    test_inside("smp", "spread", 1, 0);
    test_inside("smp", "spread", 3, 0);
    test_inside("smp", "binomial", 1, 0);
    test_inside("dpml", "shared_buffer", 1, 0);
    test_inside("dpml", "shared_buffer", 3, 0);
    test_inside("dpml", "shared_buffer", 2, 1);
    test_inside("dpml", "spread", 3, 0);
    test_inside("reduce_bcast", "shared_buffer", 1, 0);
    test_inside("reduce_bcast", "spread", 1, 0);
    test_between_sockets();
    return tap_done();
}
