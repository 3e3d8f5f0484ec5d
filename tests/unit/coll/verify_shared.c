/* Shared memory of a node and the promises of rows: verify accepts correct lists and names each fault planted in them.
 */
#include "coll/proof/verify.h"
#include "coll/schedule/lists.h"
#include "coll/schedule/rows.h"
#include "support/tap.h"

#include <stdlib.h>
#include <string.h>

enum { RANKS = 3, UNIT = 8, BYTES = 12 * UNIT, HALF = BYTES / 2 };

/* Lists of three ranks of one node, to be broken. */
struct patient {
    struct hs_topology topology;
    struct hs_shape shape;
    struct hs_list *list;
};

static struct hs_ref of(int rank, int me, struct hs_ref ref)
{
    return rank == me ? ref : hs_of(rank, ref);
}

/* WAITs for both peers, each after `after`; fills wait[0 .. 2). */
static void wait_for_both(struct hs_builder *builder, int me, int64_t value, int after, int *wait)
{
    for (int r = 0; r < RANKS; r++)
        if (r != me) {
            *wait = hs_emit_wait(builder, r, value);
            hs_after(builder, *wait++, after);
        }
}

/* Allreduce through half a vector of SHARED, used twice.  Steps: 0 COPY, 1 SIGNAL 1, 2 3 WAIT, 4 5 REDUCE, 6 SIGNAL 2,
 * 7 8 WAIT, 9 COPY, 10 SIGNAL 3, 11 12 WAIT, 13 14 REDUCE, 15 SIGNAL 4. */
static void sum_in_shared(struct hs_builder *builder, const struct hs_shape *shape)
{
    int me = shape->rank, signal = -1;
    for (int half = 0; half < 2; half++) {
        int wait[2] = {-1, -1};
        if (half > 0)
            wait_for_both(builder, me, 2, signal, wait);
        int copy = hs_emit_copy(builder, hs_shared(0), hs_in(half * HALF), HALF, signal);
        hs_after(builder, copy, wait[0]);
        hs_after(builder, copy, wait[1]);
        int ready = hs_emit_signal(builder, 2 * half + 1, copy);
        hs_after(builder, ready, signal);
        wait_for_both(builder, me, 2 * half + 1, -1, wait);
        int first =
            hs_emit_reduce(builder, hs_out(half * HALF), of(0, me, hs_shared(0)), of(1, me, hs_shared(0)), HALF, copy);
        hs_after(builder, first, wait[0]);
        hs_after(builder, first, wait[1]);
        int second =
            hs_emit_reduce(builder, hs_out(half * HALF), hs_out(half * HALF), of(2, me, hs_shared(0)), HALF, first);
        signal = hs_emit_signal(builder, 2 * half + 2, second);
        hs_after(builder, signal, ready);
    }
}

/* Allreduce that reads the peers' IN.  Steps: 0 SIGNAL 1, 1 2 WAIT, 3 4 REDUCE, 5 SIGNAL 2, 6 7 WAIT. */
static void sum_directly(struct hs_builder *builder, const struct hs_shape *shape)
{
    int me = shape->rank, wait[2];
    hs_expose(builder);
    int entered = hs_emit_signal(builder, 1, -1);
    wait_for_both(builder, me, 1, -1, wait);
    int first = hs_emit_reduce(builder, hs_out(0), of(0, me, hs_in(0)), of(1, me, hs_in(0)), BYTES, wait[0]);
    hs_after(builder, first, wait[1]);
    int second = hs_emit_reduce(builder, hs_out(0), hs_out(0), of(2, me, hs_in(0)), BYTES, first);
    int done = hs_emit_signal(builder, 2, entered);
    hs_after(builder, done, second);
    wait_for_both(builder, me, 2, -1, wait);
}

/* Broadcast from rank 0: one half through SHARED, which the message with the other half announces; a JOIN. */
static void told_by_message(struct hs_builder *builder, const struct hs_shape *shape)
{
    if (shape->rank == 0) {
        int copy = hs_emit_copy(builder, hs_shared(0), hs_out(0), HALF, -1);
        for (int r = 1; r < RANKS; r++)
            hs_emit_send(builder, r, hs_out(HALF), HALF, copy);
        return;
    }
    int receive = hs_emit_recv(builder, 0, hs_out(HALF), HALF, -1), join = hs_emit_join(builder);
    hs_after(builder, join, receive);
    hs_emit_copy(builder, hs_out(0), hs_of(0, hs_shared(0)), HALF, join);
}

static const struct hs_alg in_shared = {HS_ALLREDUCE, "in_shared", "", HS_KEEPS_ORDER | HS_UNIFORM,
                                        .build = sum_in_shared};
static const struct hs_alg directly = {HS_ALLREDUCE, "directly", "", HS_KEEPS_ORDER | HS_UNIFORM,
                                       .build = sum_directly};
static const struct hs_alg by_message = {HS_BCAST, "by_message", "", 0, .build = told_by_message};

static struct patient *patient_with_room(const struct hs_alg *alg, int64_t shared_bytes)
{
    static const int node[RANKS] = {0, 0, 0};
    struct patient *p = hs_get_zero(&hs_heap, 1, sizeof *p);
    if (!p || hs_topology_make(&p->topology, RANKS, node, NULL, &hs_heap))
        exit(99);
    p->topology.shared_bytes = shared_bytes;
    p->topology.direct = 1;
    p->shape = (struct hs_shape){.size = RANKS, .bytes = BYTES, .unit = UNIT, .topology = &p->topology};
    if (hs_build_all(alg, &p->shape, &hs_heap, &p->list) != HSUMMA_OK)
        exit(98);
    return p;
}

static struct patient *patient(const struct hs_alg *alg)
{
    return patient_with_room(alg, HALF);
}

/*
 * Allreduce "shared_buffer" in three chunks, two at a time, of four elements and three places each.  Steps of ranks 1
 * and 2: 0 COPY in, 1 SIGNAL 1, 2 COPY in, 3 SIGNAL 2, 4 WAIT 1, 5 COPY out, 6 COPY in, 7 SIGNAL 3, 8 WAIT 2, 9 COPY
 * out, 10 WAIT 3, 11 COPY out; of rank 0, per chunk: 0 1 WAIT, 2 JOIN, 3 4 REDUCE, 5 SIGNAL, 6 COPY out.
 */
static struct patient *buffer(void)
{
    return patient_with_room(hs_alg_find(HS_ALLREDUCE, "shared_buffer"), 2 * 3 * 4 * UNIT);
}

static void discharge(struct patient *p)
{
    hs_free_all(&hs_heap, p->list, RANKS);
    hs_topology_free(&p->topology, &hs_heap);
    hs_put(&hs_heap, p);
}

static struct hs_step *step(const struct patient *p, int rank, int i, enum hs_kind kind)
{
    if (p->list[rank].step[i].kind != kind)
        exit(97);
    return &p->list[rank].step[i];
}

/* Takes a dependency out. */
static void forget(struct patient *p, int rank, int i, int dep)
{
    struct hs_step *step = &p->list[rank].step[i];
    int *deps = p->list[rank].dep + step->first_dep, kept = 0;
    for (int d = 0; d < step->deps; d++)
        if (deps[d] != dep)
            deps[kept++] = deps[d];
    if (kept == step->deps)
        exit(96);
    step->deps = kept;
}

static void expect(struct patient *p, enum hs_collective collective, const char *fault, const char *words)
{
    struct hs_verify_report report;
    hsumma_status status = hs_verify_lists(collective, p->list, &p->shape, NULL, &hs_heap, &report);
    if (!tap_ok(status == HSUMMA_ERR_INTERNAL && strstr(report.text, words), "%s: \"%s\"", fault, report.text))
        tap_diag("status %d, expected the words \"%s\"", (int)status, words);
    discharge(p);
}

static void sound(const struct hs_alg *alg)
{
    static const int windows[] = {0, 1, 4, 64};
    struct patient *p = patient(alg);
    int bad = 0;
    for (int i = 0; i < 2 * HS_SCHEDULES * 4; i++) {
        struct hs_verify_options options = {(enum hs_schedule)(i / 2 % HS_SCHEDULES), (uint64_t)i, i % 2, 1 + i % 3,
                                            windows[i / (2 * HS_SCHEDULES)],          i % 5,       5};
        struct hs_verify_report report;
        bad += hs_verify(alg, &p->shape, &options, &hs_heap, &report) != HSUMMA_OK;
        bad += report.signals != (alg == &in_shared ? 12 : alg == &directly ? 6 : 0) || !report.uniform;
        bad += report.rounds != (alg == &by_message) || report.inter_node_messages != 0;
    }
    tap_ok(bad == 0, "%s is right under every schedule, window and number of instances", alg->name);
    discharge(p);
}

static void races(void)
{
    struct patient *p = patient(&in_shared);
    step(p, 0, 11, HS_WAIT)->count = 2;
    expect(p, HS_ALLREDUCE, "a WAIT for too small a value",
           "rank 0 step 13 (REDUCE) reads rank 1's SHARED while step 9 (COPY) of rank 1 may write it");

    p = patient(&in_shared);
    forget(p, 0, 4, 2);
    expect(p, HS_ALLREDUCE, "a read without a WAIT",
           "rank 0 step 4 (REDUCE) reads rank 1's SHARED while step 0 (COPY)");

    p = patient(&in_shared);
    forget(p, 1, 9, 7);
    expect(p, HS_ALLREDUCE, "rewritten before the readers are done",
           "rank 0 step 4 (REDUCE) reads rank 1's SHARED while step 9 (COPY)");

    p = patient(&in_shared);
    forget(p, 2, 1, 0);
    expect(p, HS_ALLREDUCE, "a SIGNAL before what it announces", "reads rank 2's SHARED while step 0 (COPY)");

    p = patient(&by_message);
    forget(p, 0, 2, 0);
    expect(p, HS_BCAST, "a message before what it announces",
           "rank 2 step 2 (COPY) reads rank 0's SHARED while step 0");

    p = patient(&directly);
    forget(p, 0, 3, 1);
    expect(p, HS_ALLREDUCE, "a peer's IN without a WAIT",
           "rank 0 step 3 (REDUCE) reads rank 1's IN, which may not have entered yet");

    p = patient(&directly);
    step(p, 1, 6, HS_WAIT)->peer = 2;
    expect(p, HS_ALLREDUCE, "a peer's IN, and the peer does not wait at its end",
           "rank 0 step 3 (REDUCE) reads rank 1's IN, which does not wait for it at its end");
}

/* Of ranks that write into the memory of another one. */
static void writes(void)
{
    struct patient *p = buffer();
    forget(p, 1, 6, 4);
    expect(p, HS_ALLREDUCE, "a place is written again before its owner has read it",
           "rank 1 step 6 (COPY) writes rank 0's SHARED while step 0 (COPY) of rank 1 may write it");

    p = buffer();
    forget(p, 1, 7, 5);
    expect(p, HS_ALLREDUCE, "a sum is written again before a peer has read it",
           "rank 1 step 5 (COPY) reads rank 0's SHARED while step 17 (REDUCE) of rank 0 may write it");

    p = buffer();
    step(p, 2, 0, HS_COPY)->dst = step(p, 1, 0, HS_COPY)->dst;
    expect(p, HS_ALLREDUCE, "two ranks write the same bytes of a third",
           "rank 2 step 0 (COPY) writes rank 0's SHARED while step 0 (COPY) of rank 1 may write it");

    p = buffer();
    step(p, 2, 0, HS_COPY)->dst.at = step(p, 1, 0, HS_COPY)->dst.at + 3 * UNIT;
    expect(p, HS_ALLREDUCE, "two ranks write bytes of a third that overlap in one element",
           "rank 2 step 0 (COPY) writes rank 0's SHARED while step 0 (COPY) of rank 1 may write it");

    p = buffer();
    step(p, 1, 2, HS_COPY)->dst.at = step(p, 1, 0, HS_COPY)->dst.at;
    expect(p, HS_ALLREDUCE, "one rank writes the same bytes of another one twice, in no order",
           "rank 1 step 2 (COPY) writes rank 0's SHARED while step 0 (COPY) of rank 1 may write it");

    p = buffer();
    forget(p, 0, 2, 0);
    expect(p, HS_ALLREDUCE, "the owner does not wait for a peer that writes",
           "rank 0 step 3 (REDUCE) reads rank 0's SHARED while step 0 (COPY) of rank 1 may write it");

    p = buffer();
    forget(p, 1, 1, 0);
    expect(p, HS_ALLREDUCE, "a SIGNAL before the copy into a peer's memory",
           "rank 0 step 3 (REDUCE) reads rank 0's SHARED while step 0 (COPY) of rank 1 may write it");

    p = buffer();
    forget(p, 0, 19, 18);
    expect(p, HS_ALLREDUCE, "a SIGNAL before the sum in the own memory",
           "reads rank 0's SHARED while step 17 (REDUCE) of rank 0 may write it");

    p = buffer();
    p->list[2].steps = 10; /* without the last WAIT and COPY */
    step(p, 0, 14, HS_WAIT)->peer = 2;
    expect(p, HS_ALLREDUCE, "a peer writes after the owner's last look",
           "reads rank 0's SHARED while step 6 (COPY) of rank 1 may write it");

    p = buffer();
    step(p, 1, 0, HS_COPY)->dst.at = p->topology.shared_bytes - UNIT;
    expect(p, HS_ALLREDUCE, "behind the room of a peer's SHARED",
           "bytes 184..216 are outside SHARED of rank 0, which has 192");

    p = buffer();
    step(p, 1, 0, HS_COPY)->dst.at = 4 * UNIT + UNIT / 2;
    expect(p, HS_ALLREDUCE, "a place that is not whole elements", "offset 36 in SHARED is no multiple of the unit");

    p = patient(&by_message);
    step(p, 1, 0, HS_RECV)->dst = hs_of(2, hs_shared(0));
    expect(p, HS_BCAST, "a RECV into a peer's slot", "which only COPY and REDUCE may read or write");
}

static void signals(void)
{
    struct patient *p = patient(&in_shared);
    p->list[1].steps = 10; /* without SIGNAL 3 and what follows */
    expect(p, HS_ALLREDUCE, "a SIGNAL is missing", "waits for a signal that never comes: rank 1, 3");

    p = patient(&in_shared);
    step(p, 1, 6, HS_SIGNAL)->count = 1;
    expect(p, HS_ALLREDUCE, "SIGNALs that do not ascend", "does not ascend");

    p = patient(&in_shared);
    forget(p, 1, 6, 1);
    expect(p, HS_ALLREDUCE, "SIGNALs that do not wait for each other", "does not wait for step 1, the SIGNAL before");

    p = patient(&in_shared);
    step(p, 1, 1, HS_SIGNAL)->count = 0;
    expect(p, HS_ALLREDUCE, "a SIGNAL of nothing", "count 0");

    p = patient(&in_shared);
    step(p, 1, 2, HS_WAIT)->peer = 1;
    expect(p, HS_ALLREDUCE, "a WAIT for oneself", "peer 1 is no other rank");

    p = patient(&in_shared);
    step(p, 0, 2, HS_WAIT)->count = 2;
    step(p, 1, 2, HS_WAIT)->count = 2;
    expect(p, HS_ALLREDUCE, "two that wait for each other", "deadlock: rank 0 step 2 (WAIT for 1) waits for rank 1");

    p = patient(&in_shared);
    p->topology.shared_bytes = 0;
    for (int r = 0; r < RANKS; r++)
        p->list[r].extent[HS_SHARED] = 0;
    p->list[0].step[0] = p->list[0].step[1];
    expect(p, HS_ALLREDUCE, "a SIGNAL without shared memory", "there is no shared memory");
}

/* Places that are not there, or not to be touched. */
static void places(void)
{
    static const int apart[RANKS] = {0, 0, 1};
    struct patient *p = patient(&in_shared);
    step(p, 1, 0, HS_COPY)->count = HALF - UNIT;
    expect(p, HS_ALLREDUCE, "SHARED that nobody has written", "reads unwritten memory");

    p = patient(&in_shared);
    p->topology.shared_bytes = HALF - UNIT;
    expect(p, HS_ALLREDUCE, "more SHARED than there is room", "uses 48 bytes of SHARED, but there is room for 40");

    p = patient(&in_shared);
    step(p, 0, 4, HS_REDUCE)->right.at = UNIT;
    expect(p, HS_ALLREDUCE, "behind a peer's SHARED", "bytes 8..56 are outside SHARED of rank 1, which has 48");

    p = patient(&in_shared);
    hs_topology_free(&p->topology, &hs_heap);
    if (hs_topology_make(&p->topology, RANKS, apart, NULL, &hs_heap))
        exit(95);
    p->topology.shared_bytes = HALF;
    expect(p, HS_ALLREDUCE, "a WAIT for another node", "rank 0 step 3 (WAIT): rank 2 is on another node");

    p = patient(&by_message);
    hs_topology_free(&p->topology, &hs_heap);
    if (hs_topology_make(&p->topology, RANKS, apart, NULL, &hs_heap))
        exit(95);
    p->topology.shared_bytes = HALF;
    expect(p, HS_BCAST, "a peer on another node", "uses SHARED of rank 0, which is on another node");

    p = patient(&in_shared);
    step(p, 0, 4, HS_REDUCE)->right.slot = HS_SCRATCH;
    expect(p, HS_ALLREDUCE, "a peer's SCRATCH", "uses SCRATCH of rank 1, which is private");

    p = patient(&in_shared);
    step(p, 0, 4, HS_REDUCE)->dst = hs_of(1, hs_out(0));
    expect(p, HS_ALLREDUCE, "a write into a peer's OUT", "uses OUT of rank 1, which only that rank may write");

    p = patient(&in_shared);
    step(p, 0, 4, HS_REDUCE)->dst = hs_of(1, hs_scratch(0));
    expect(p, HS_ALLREDUCE, "a write into a peer's SCRATCH", "uses SCRATCH of rank 1, which only that rank may write");

    p = patient(&by_message);
    step(p, 0, 1, HS_SEND)->left = hs_of(1, hs_shared(0));
    expect(p, HS_BCAST, "a SEND from a peer's slot", "which only COPY and REDUCE may read");

    p = patient(&in_shared);
    step(p, 0, 4, HS_REDUCE)->right.of = 1 + RANKS;
    expect(p, HS_ALLREDUCE, "a slot of nobody", "which is no other rank");

    p = patient(&directly);
    p->topology.direct = 0;
    expect(p, HS_ALLREDUCE, "a peer's IN where peers cannot read it", "which peers cannot read on this topology");

    p = patient(&directly);
    p->list[1].exposed = 0;
    expect(p, HS_ALLREDUCE, "only some ranks expose their memory",
           "rank 0 step 3 (REDUCE): uses IN of rank 1, which is not");

    p = patient(&directly);
    for (int r = 0; r < RANKS; r++)
        p->list[r].exposed = r == 1;
    p->list[0].steps = 1;
    p->list[2].steps = 1;
    expect(p, HS_ALLREDUCE, "one rank does not expose its memory", "uses IN of rank 0, which is not exposed");
}

/* Rank 1 swaps its operands. */
static void swap_operands(struct hs_builder *builder, const struct hs_shape *shape)
{
    hs_alg_allreduce_recursive_doubling.build(builder, shape);
    for (int i = 0; i < builder->list.steps; i++) {
        struct hs_step *reduce = &builder->list.step[i];
        struct hs_ref left = reduce->left;
        if (reduce->kind == HS_REDUCE && shape->rank == 1) {
            reduce->left = reduce->right;
            reduce->right = left;
        }
    }
}

static void promises(void)
{
    static const struct hs_alg differs = {HS_ALLREDUCE, "differs", "", 0, .build = swap_operands};
    struct hs_alg uniform = hs_alg_allreduce_ring, blocks = hs_alg_allreduce_ring;
    static const int scattered[4] = {0, 1, 0, 1};
    struct hs_shape shape = {.size = 4, .bytes = BYTES, .unit = UNIT};
    struct hs_topology topology;
    struct hs_verify_report report;

    uniform.flags = HS_UNIFORM;
    blocks.flags = HS_KEEPS_ORDER_IF;
    tap_ok(hs_verify(&differs, &shape, NULL, &hs_heap, &report) == HSUMMA_ERR_INTERNAL &&
               strstr(report.text, "different bits"),
           "ranks of an allreduce that bracket differently: \"%s\"", report.text);
    tap_ok(hs_verify(&uniform, &shape, NULL, &hs_heap, &report) == HSUMMA_ERR_INTERNAL &&
               strstr(report.text, "bracketed differently"),
           "elements that are bracketed differently: \"%s\"", report.text);
    tap_ok(hs_verify(&blocks, &shape, NULL, &hs_heap, &report) == HSUMMA_ERR_INTERNAL &&
               strstr(report.text, "order not kept"),
           "order is promised without a topology: \"%s\"", report.text);
    if (hs_topology_make(&topology, 4, scattered, NULL, &hs_heap))
        exit(94);
    shape.topology = &topology;
    tap_ok(hs_verify(&blocks, &shape, NULL, &hs_heap, &report) == HSUMMA_OK && !report.keeps_order,
           "order is not promised where nodes are scattered");
    hs_topology_free(&topology, &hs_heap);
    shape.topology = NULL;
    tap_ok(hs_verify(hs_alg_find(HS_ALLREDUCE, "mpi"), &shape, NULL, &hs_heap, &report) == HSUMMA_ERR_UNSUPPORTED,
           "MPI's own: \"%s\"", report.text);
}

static void counts(void)
{
    struct hs_topology topology;
    struct hs_shape shape = {.size = 8, .bytes = BYTES, .unit = UNIT, .topology = &topology};
    struct hs_verify_report report;
    if (hs_topology_blocks(&topology, 8, 4, 1, &hs_heap))
        exit(93);
    hsumma_status status = hs_verify(hs_alg_find(HS_ALLREDUCE, "recursive_doubling"), &shape, NULL, &hs_heap, &report);
    tap_ok(status == HSUMMA_OK && report.messages == 24 && report.inter_node_messages == 16 &&
               report.inter_node_messages_rank_max == 2 && report.node_pair_messages_max == 2,
           "8 ranks on 4 nodes: 16 of 24 messages between nodes, 2 of one rank, 2 of one pair");
    hs_topology_free(&topology, &hs_heap);
}

int main(void)
{
    sound(&in_shared);
    sound(&directly);
    sound(&by_message);
    races();
    writes();
    signals();
    places();
    promises();
    counts();
    return tap_done();
}
