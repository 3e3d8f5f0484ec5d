/* Shared memory of a node and the properties that algorithms claim: verify accepts correct lists and finds faults. */
#include "coll/schedule/lists.h"
#include "coll/schedule/rows.h"
#include "support/coll/planted_fault.h"
#include "support/coll/sweep.h"
#include "support/tap.h"

#include <stdlib.h>
#include <string.h>

enum { RANKS = 3, UNIT = PLANT_UNIT, BYTES = PLANT_BYTES, HALF = BYTES / 2 };

/* Broadcast from rank 0: one half through SHARED, announced by the message with the other half. A JOIN lies between the
 * message and the COPY from SHARED. */
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

static const struct hs_alg by_message = {HS_BCAST, "by_message", "", 0, .build = told_by_message};

/*
 * The lists in which faults are planted.
 *
 * Allreduce "shared_buffer" in three chunks of four elements and three places each, two chunks at a time. Steps of
 * ranks 1 and 2: 0 COPY in, 1 SIGNAL 1, 2 COPY in, 3 SIGNAL 2, 4 WAIT 1, 5 COPY out, 6 COPY in, 7 SIGNAL 3, 8 WAIT 2, 9
 * COPY out, 10 WAIT 3, 11 COPY out. Steps of rank 0, per chunk: 0 1 WAIT, 2 JOIN, 3 4 REDUCE, 5 SIGNAL, 6 COPY out.
 *
 * Reduce_scatter "spread", which reads peers' IN. Steps: 0 SIGNAL 1, 1 2 WAIT, 3 JOIN, 4 5 REDUCE, 6 SIGNAL 2, 7 8
 * WAIT, 9 JOIN.
 */
enum { ROOM = 2 * 3 * 4 * UNIT };

static const struct planted_fault faults[] = {
    /* Races. */
    {"a WAIT for too small a value", &hs_alg_allreduce_shared_buffer, 3, SET_COUNT, 1, 10, HS_WAIT, 2,
     "rank 1 step 11 (COPY) reads rank 0's SHARED while step 17 (REDUCE) of rank 0 may write it"},
    {"a read without a WAIT", &hs_alg_allreduce_shared_buffer, 3, FORGET, 1, 5, HS_COPY, 4,
     "rank 1 step 5 (COPY) reads rank 0's SHARED while step 3 (REDUCE)"},
    {"a message before what it announces", &by_message, 3, FORGET, 0, 2, HS_SEND, 0,
     "rank 2 step 2 (COPY) reads rank 0's SHARED while step 0"},
    {"a peer's IN without a WAIT", &hs_alg_reduce_scatter_spread, 3, FORGET, 0, 3, HS_JOIN, 1,
     "rank 0 step 4 (REDUCE) reads rank 1's IN, which may not have entered yet"},
    {"a peer's IN, and the peer does not wait at its end", &hs_alg_reduce_scatter_spread, 3, SET_PEER, 1, 7, HS_WAIT, 2,
     "rank 0 step 4 (REDUCE) reads rank 1's IN, which does not wait for it at its end"},
    {"a place is written again before its owner has read it", &hs_alg_allreduce_shared_buffer, 3, FORGET, 1, 6, HS_COPY,
     4, "rank 1 step 6 (COPY) writes rank 0's SHARED while step 0 (COPY) of rank 1 may write it"},
    {"a sum is written again before a peer has read it", &hs_alg_allreduce_shared_buffer, 3, FORGET, 1, 7, HS_SIGNAL, 5,
     "rank 1 step 5 (COPY) reads rank 0's SHARED while step 17 (REDUCE) of rank 0 may write it"},
    {"two ranks write the same bytes of a third", &hs_alg_allreduce_shared_buffer, 3, SET_DST_AT, 2, 0, HS_COPY, 0,
     "rank 2 step 0 (COPY) writes rank 0's SHARED while step 0 (COPY) of rank 1 may write it"},
    {"two ranks write bytes of a third that overlap in one element", &hs_alg_allreduce_shared_buffer, 3, SET_DST_AT, 2,
     0, HS_COPY, 3 * UNIT, "rank 2 step 0 (COPY) writes rank 0's SHARED while step 0 (COPY) of rank 1 may write it"},
    {"one rank writes the same bytes of another one twice, in no order", &hs_alg_allreduce_shared_buffer, 3, SET_DST_AT,
     1, 2, HS_COPY, 0, "rank 1 step 2 (COPY) writes rank 0's SHARED while step 0 (COPY) of rank 1 may write it"},
    {"the owner does not wait for a peer that writes", &hs_alg_allreduce_shared_buffer, 3, FORGET, 0, 2, HS_JOIN, 0,
     "rank 0 step 3 (REDUCE) reads rank 0's SHARED while step 0 (COPY) of rank 1 may write it"},
    {"a SIGNAL before the copy into a peer's memory", &hs_alg_allreduce_shared_buffer, 3, FORGET, 1, 1, HS_SIGNAL, 0,
     "rank 0 step 3 (REDUCE) reads rank 0's SHARED while step 0 (COPY) of rank 1 may write it"},
    {"a SIGNAL before the sum in the own memory", &hs_alg_allreduce_shared_buffer, 3, FORGET, 0, 19, HS_SIGNAL, 18,
     "reads rank 0's SHARED while step 17 (REDUCE) of rank 0 may write it"},
    {"a peer writes after the owner's last look", &hs_alg_allreduce_shared_buffer, 3, CUT_LIST, 2, 0, 0, 10, NULL},
    {"  and", NULL, 0, SET_PEER, 0, 14, HS_WAIT, 2, "reads rank 0's SHARED while step 6 (COPY) of rank 1 may write it"},
    /* Wrong signals. */
    {"a SIGNAL is missing", &hs_alg_allreduce_shared_buffer, 3, CUT_LIST, 0, 0, 0, 19,
     "waits for a signal that never comes: rank 0, 3"},
    {"SIGNALs that do not ascend", &hs_alg_allreduce_shared_buffer, 3, SET_COUNT, 1, 3, HS_SIGNAL, 1,
     "does not ascend"},
    {"SIGNALs that do not wait for each other", &hs_alg_allreduce_shared_buffer, 3, FORGET, 1, 3, HS_SIGNAL, 1,
     "does not wait for step 1, the SIGNAL before"},
    {"a SIGNAL of nothing", &hs_alg_allreduce_shared_buffer, 3, SET_COUNT, 1, 1, HS_SIGNAL, 0, "count 0"},
    {"a WAIT for oneself", &hs_alg_allreduce_shared_buffer, 3, SET_PEER, 1, 4, HS_WAIT, 1, "peer 1 is no other rank"},
    {"two that wait for each other", &hs_alg_allreduce_shared_buffer, 3, SET_COUNT, 0, 0, HS_WAIT, 3,
     "deadlock: rank 0 step 4 (REDUCE) waits for rank 0 step 3 (REDUCE)"},
    {"a SIGNAL without shared memory", &hs_alg_reduce_scatter_spread, 3, SET_ROOM, 0, 0, 0, 0,
     "there is no shared memory"},
    /* Accesses to invalid places. */
    {"SHARED that nobody has written", &hs_alg_allreduce_shared_buffer, 3, SET_COUNT, 1, 0, HS_COPY, 3 * UNIT,
     "reads unwritten memory"},
    {"more SHARED than there is room", &hs_alg_allreduce_shared_buffer, 3, SET_ROOM, 0, 0, 0, ROOM - UNIT,
     "uses 192 bytes of SHARED, but there is room for 184"},
    {"behind the room of a peer's SHARED, written", &hs_alg_allreduce_shared_buffer, 3, SET_DST_AT, 1, 0, HS_COPY,
     ROOM - UNIT, "bytes 184..216 are outside SHARED of rank 0, which has 192"},
    {"behind the room of a peer's SHARED, read", &hs_alg_allreduce_shared_buffer, 3, SET_LEFT_AT, 1, 5, HS_COPY,
     ROOM - UNIT, "bytes 184..216 are outside SHARED of rank 0, which has 192"},
    {"a place that is not whole elements", &hs_alg_allreduce_shared_buffer, 3, SET_DST_AT, 1, 0, HS_COPY,
     4 * UNIT + UNIT / 2, "offset 36 in SHARED is no multiple of the unit"},
    {"a WAIT for another node", &hs_alg_allreduce_shared_buffer, 3, MOVE_AWAY, 2, 0, 0, 0,
     "rank 0 step 1 (WAIT): rank 2 is on another node"},
    {"a peer on another node", &by_message, 3, MOVE_AWAY, 2, 0, 0, 0,
     "uses SHARED of rank 0, which is on another node"},
    {"a peer's SCRATCH", &hs_alg_allreduce_shared_buffer, 3, SET_LEFT_SLOT, 1, 5, HS_COPY, HS_SCRATCH,
     "uses SCRATCH of rank 0, which is private"},
    {"a write into a peer's OUT", &hs_alg_allreduce_shared_buffer, 3, SET_DST_SLOT, 1, 0, HS_COPY, HS_OUT,
     "uses OUT of rank 0, which only that rank may write"},
    {"a write into a peer's SCRATCH", &hs_alg_allreduce_shared_buffer, 3, SET_DST_SLOT, 1, 0, HS_COPY, HS_SCRATCH,
     "uses SCRATCH of rank 0, which only that rank may write"},
    {"a SEND from a peer's slot", &by_message, 3, SET_LEFT_OF, 0, 1, HS_SEND, 1 + 1, NULL},
    {"  and", NULL, 0, SET_LEFT_SLOT, 0, 1, HS_SEND, HS_SHARED, "which only COPY and REDUCE may read"},
    {"a RECV into a peer's slot", &by_message, 3, SET_DST_OF, 1, 0, HS_RECV, 1 + 2, NULL},
    {"  and", NULL, 0, SET_DST_SLOT, 1, 0, HS_RECV, HS_SHARED, "which only COPY and REDUCE may read or write"},
    {"a slot of nobody", &hs_alg_allreduce_shared_buffer, 3, SET_LEFT_OF, 1, 5, HS_COPY, 1 + RANKS,
     "which is no other rank"},
    {"a peer's IN where peers cannot read it", &hs_alg_reduce_scatter_spread, 3, SET_DIRECT, 0, 0, 0, 0,
     "which peers cannot read on this topology"},
    {"only some ranks expose their memory", &hs_alg_reduce_scatter_spread, 3, SET_EXPOSED, 1, 0, 0, 0,
     "rank 0 step 4 (REDUCE): uses IN of rank 1, which is not"},
    {"one rank does not expose its memory", &hs_alg_reduce_scatter_spread, 3, SET_EXPOSED, 0, 0, 0, 0, NULL},
    {"  and", NULL, 0, SET_EXPOSED, 2, 0, 0, 0, NULL},
    {"  and", NULL, 0, CUT_LIST, 0, 0, 0, 1, NULL},
    {"  and", NULL, 0, CUT_LIST, 2, 0, 0, 1, "uses IN of rank 0, which is not exposed"},
};

static void sound(const struct hs_alg *alg, int signals, int rounds)
{
    static const int windows[] = {0, 1, 4, 64};
    struct hs_topology topology = topology_blocks(RANKS, 1, 1, ROOM, 1);
    struct hs_shape shape = {.size = RANKS, .bytes = BYTES, .unit = UNIT, .topology = &topology};
    int bad = 0;
    for (int i = 0; i < 2 * HS_SCHEDULES * 4; i++) {
        struct hs_verify_options options = {(enum hs_schedule)(i / 2 % HS_SCHEDULES), (uint64_t)i, i % 2, 1 + i % 3,
                                            windows[i / (2 * HS_SCHEDULES)],          i % 5,       5};
        struct hs_verify_report report;
        bad += hs_verify(alg, &shape, &options, &hs_heap, &report) != HSUMMA_OK;
        bad += report.signals != signals || !report.uniform;
        bad += report.rounds != rounds || report.inter_node_messages != 0;
    }
    tap_ok(bad == 0, "%s is right under every schedule, window and number of instances", alg->name);
    hs_topology_free(&topology, &hs_heap);
}

/* Recursive doubling, in which rank 1 swaps its operands. */
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
        exit(99);
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
    struct hs_topology topology = topology_blocks(8, 4, 1, 0, 0);
    struct hs_shape shape = {.size = 8, .bytes = BYTES, .unit = UNIT, .topology = &topology};
    struct hs_verify_report report;
    hsumma_status status = hs_verify(&hs_alg_allreduce_recursive_doubling, &shape, NULL, &hs_heap, &report);
    tap_ok(status == HSUMMA_OK && report.messages == 24 && report.inter_node_messages == 16 &&
               report.inter_node_messages_rank_max == 2 && report.node_pair_messages_max == 2,
           "8 ranks on 4 nodes: 16 of 24 messages between nodes, 2 of one rank, 2 of one pair");
    hs_topology_free(&topology, &hs_heap);
}

int main(void)
{
    sound(&hs_alg_allreduce_shared_buffer, 9, 0);
    sound(&by_message, 0, 1);
    plant_faults(faults, sizeof faults / sizeof *faults, ROOM);
    promises();
    counts();
    return tap_done();
}
