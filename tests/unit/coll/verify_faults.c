/* Faults planted in correct lists of messages: verify must find and describe each one. */
#include "coll/schedule/lists.h"
#include "coll/schedule/rows.h"
#include "support/coll/planted_fault.h"
#include "support/tap.h"

#include <string.h>

enum { UNIT = PLANT_UNIT, BYTES = PLANT_BYTES };

/* An allreduce of two ranks by an exchange; the RECV waits for the SEND (send_first), or the SEND for the RECV. */
static void exchange(struct hs_builder *builder, const struct hs_shape *shape, int send_first)
{
    int me = shape->rank, peer = 1 - me, send = send_first ? hs_emit_send(builder, peer, hs_in(0), BYTES, -1) : -1;
    int receive = hs_emit_recv(builder, peer, hs_scratch(0), BYTES, send);
    if (!send_first)
        hs_emit_send(builder, peer, hs_in(0), BYTES, receive);
    if (me == 0)
        hs_emit_reduce(builder, hs_out(0), hs_in(0), hs_scratch(0), BYTES, receive);
    else
        hs_emit_reduce(builder, hs_out(0), hs_scratch(0), hs_in(0), BYTES, receive);
}

static void receive_first(struct hs_builder *builder, const struct hs_shape *shape)
{
    exchange(builder, shape, 0);
}

static void send_first(struct hs_builder *builder, const struct hs_shape *shape)
{
    exchange(builder, shape, 1);
}

static const struct hs_alg receiving = {HS_ALLREDUCE, "receive_first", "", HS_SUMS_IN_ORDER, .build = receive_first};
static const struct hs_alg sending = {HS_ALLREDUCE, "send_first", "", HS_SUMS_IN_ORDER, .build = send_first};

static const struct planted_fault faults[] = {
    /* Faults in messages. */
    {"two peers swapped", &hs_alg_bcast_van_de_geijn, 5, SET_PEER, 0, 0, HS_SEND, 2, NULL},
    {"  and", NULL, 0, SET_PEER, 0, 1, HS_SEND, 4, "bytes, but step"},
    {"a message to the wrong peer", &hs_alg_allgather_ring, 5, SET_PEER, 2, 2, HS_SEND, 4, "unmatched"},
    {"a SEND dropped", &hs_alg_bcast_chain, 4, TAKE_OUT, 1, 5, HS_SEND, 0, "unmatched RECV from 1"},
    {"a RECV dropped", &hs_alg_bcast_binomial, 4, TAKE_OUT, 3, 0, HS_RECV, 0, "unmatched SEND to 3"},
    {"a SEND too short", &hs_alg_allgather_ring, 5, SET_COUNT, 3, 0, HS_SEND, UNIT, "bytes, but step"},
    {"both ends too short", &hs_alg_bcast_flat, 3, SET_COUNT, 0, 1, HS_SEND, BYTES - UNIT, NULL},
    {"  and", NULL, 0, SET_COUNT, 2, 0, HS_RECV, BYTES - UNIT, "element 11 of OUT is never written"},
    {"two messages in the wrong order", &hs_alg_bcast_chain, 2, SET_LEFT_AT, 0, 0, HS_SEND, 2 * UNIT, NULL},
    {"  and", NULL, 0, SET_LEFT_AT, 0, 1, HS_SEND, 0, "wrong data"},
    /* Values out of range. */
    {"a peer outside the group", &hs_alg_bcast_binomial, 4, SET_PEER, 0, 0, HS_SEND, 4, "peer 4"},
    {"a message to oneself", &hs_alg_bcast_binomial, 4, SET_PEER, 2, 1, HS_SEND, 2, "peer 2"},
    {"an empty step", &hs_alg_bcast_flat, 2, SET_COUNT, 1, 0, HS_RECV, 0, "count 0"},
    {"a torn element", &hs_alg_bcast_flat, 2, SET_COUNT, 1, 0, HS_RECV, BYTES - 1, "count 95"},
    {"an offset inside an element", &hs_alg_bcast_chain, 3, SET_DST_AT, 1, 2, HS_RECV, 2 * UNIT + 4,
     "no multiple of the unit"},
    {"an offset before the buffer", &hs_alg_bcast_chain, 3, SET_DST_AT, 1, 0, HS_RECV, -UNIT, "outside OUT"},
    /* Accesses outside a buffer. */
    {"a step beyond the buffer", &hs_alg_allreduce_recursive_doubling, 4, SET_DST_AT, 1, 2, HS_REDUCE, UNIT, "outside"},
    {"OUT on a rank that has none", &hs_alg_reduce_binomial, 4, SET_DST_SLOT, 2, 1, HS_REDUCE, HS_OUT, NULL},
    {"  and", NULL, 0, SET_EXTENT, 2, HS_OUT, 0, BYTES, "outside OUT"},
    {"less scratch than is used", &hs_alg_reduce_binomial, 4, SET_EXTENT, 0, HS_SCRATCH, 0, BYTES, "outside SCRATCH"},
    {"a write to IN", &hs_alg_allreduce_recursive_doubling, 2, SET_DST_SLOT, 1, 1, HS_RECV, HS_IN, "writes to IN"},
    {"a write to the root's OUT", &hs_alg_bcast_flat, 3, SET_DST_SLOT, 0, 0, HS_SEND, HS_OUT, NULL},
    {"  and", NULL, 0, SET_KIND, 0, 0, HS_SEND, HS_RECV, "writes to OUT"},
    {"a REDUCE shifted over its operand", &hs_alg_allreduce_recursive_doubling, 4, SET_COUNT, 0, 2, HS_REDUCE,
     BYTES - UNIT, NULL},
    {"  and", NULL, 0, SET_DST_AT, 0, 2, HS_REDUCE, UNIT, "overlap"},
    /* Wrong dependencies. */
    {"a dependency forwards", &hs_alg_bcast_chain, 3, SET_DEP, 1, 1, HS_SEND, 5, "not an earlier one"},
    {"a dependency on itself", &hs_alg_bcast_chain, 3, SET_DEP, 1, 1, HS_SEND, 1, "not an earlier one"},
    {"a dependency on nothing", &hs_alg_bcast_chain, 3, SET_DEP, 1, 1, HS_SEND, -1, "not an earlier one"},
    {"sent before it has arrived", &hs_alg_bcast_chain, 3, SET_DEPS, 1, 1, HS_SEND, 0, "may run at once"},
    {"overwritten before it is sent", &hs_alg_allreduce_recursive_doubling, 8, SET_DEPS, 0, 4, HS_RECV, 1, NULL},
    {"  and", NULL, 0, SET_DEPS, 0, 7, HS_RECV, 1, "may run at once"},
    {"two receptions in one place", &hs_alg_bcast_chain, 3, SET_DST_AT, 2, 1, HS_RECV, 0, "may run at once"},
    {"summed before its operand is complete", &hs_alg_reduce_binomial, 4, SET_DEPS, 0, 3, HS_REDUCE, 1,
     "may run at once"},
    /* Wrong data. */
    {"scratch is sent that nobody has written", &hs_alg_reduce_binomial, 4, SET_LEFT_SLOT, 1, 0, HS_SEND, HS_SCRATCH,
     NULL},
    {"  and", NULL, 0, SET_EXTENT, 1, HS_SCRATCH, 0, BYTES, "unwritten"},
    {"a segment sent twice", &hs_alg_bcast_chain, 3, SET_LEFT_AT, 0, 3, HS_SEND, 4 * UNIT, "wrong data at element 6"},
    {"two parts in each other's place", &hs_alg_allgather_ring, 3, SET_DST_AT, 1, 4, HS_COPY, 0, NULL},
    {"  and", NULL, 0, SET_DST_AT, 1, 1, HS_RECV, 4 * UNIT, NULL},
    {"  and", NULL, 0, SET_LEFT_AT, 1, 2, HS_SEND, 4 * UNIT, "wrong data at element 0"},
    {"an operand summed twice", &hs_alg_reduce_binomial, 2, SET_LEFT_SLOT, 0, 1, HS_REDUCE, HS_SCRATCH, "wrong data"},
    {"a sum left out", &hs_alg_allreduce_recursive_doubling, 4, TAKE_OUT, 2, 5, HS_REDUCE, 0, "wrong data"},
    {"an EXACT step with an operand too few", &hs_alg_allreduce_exact, 4, SET_PEER, 0, 6, HS_EXACT, 3, "wrong data"},
    {"an EXACT step with an operand too many", &hs_alg_allreduce_exact, 4, SET_PEER, 0, 6, HS_EXACT, 40, "outside"},
    {"an EXACT step without operands", &hs_alg_allreduce_exact, 4, SET_PEER, 0, 6, HS_EXACT, 0, "0 operands"},
    {"the wrong part of the vector sent", &hs_alg_reduce_scatter_pairwise, 3, SET_LEFT_AT, 1, 0, HS_SEND, BYTES / 3,
     "wrong data"},
    /* Deadlocks. */
    {"both receive first", &receiving, 2, SET_EAGER, 0, 0, 0, 1, "deadlock: rank"},
    {"both send first, rendezvous", &sending, 2, SET_EAGER, 0, 0, 0, 0, "waits for rank"},
    {"a window too small for the ring", &hs_alg_allgather_ring, 4, SET_WINDOW, 0, 0, 0, 1, "deadlock"},
};

/* Sums of sums are not exact, although each is an EXACT step and the result has every contribution once. */
static void exact_in_pairs(struct hs_builder *builder, const struct hs_shape *shape)
{
    int received[4] = {-1, -1, -1, -1};
    for (int r = 0; r < shape->size; r++) {
        if (r == shape->rank) {
            received[r] = hs_emit_copy(builder, hs_scratch(r * BYTES), hs_in(0), BYTES, -1);
        } else {
            hs_emit_send(builder, r, hs_in(0), BYTES, -1);
            received[r] = hs_emit_recv(builder, r, hs_scratch(r * BYTES), BYTES, -1);
        }
    }
    int pairs = hs_emit_join(builder);
    for (int r = 0; r < shape->size; r++)
        hs_after(builder, pairs, received[r]);
    int first = hs_emit_exact(builder, hs_scratch(4 * BYTES), hs_scratch(0), 2, BYTES, pairs);
    int second = hs_emit_exact(builder, hs_scratch(5 * BYTES), hs_scratch(2 * BYTES), 2, BYTES, pairs);
    int sum = hs_emit_exact(builder, hs_out(0), hs_scratch(4 * BYTES), 2, BYTES, first);
    hs_after(builder, sum, second);
}

static void sums_of_sums(void)
{
    static const struct hs_alg in_pairs = {HS_ALLREDUCE, "in_pairs", "", HS_EXACT_SUMS, .build = exact_in_pairs};
    const struct hs_shape shape = {.size = 4, .bytes = BYTES, .unit = UNIT};
    struct hs_verify_report report;
    hsumma_status status = hs_verify(&in_pairs, &shape, NULL, &hs_heap, &report);
    tap_ok(status == HSUMMA_ERR_INTERNAL && strstr(report.text, "not exact"), "exact sums of sums: \"%s\"",
           report.text);
    status = hs_verify(&hs_alg_allreduce_exact, &shape, NULL, &hs_heap, &report);
    tap_ok(status == HSUMMA_OK && report.exact, "exact sums of contributions");
}

/* A wrong shape, with right lists. */
static void partition(void)
{
    static const int64_t part[3] = {0, BYTES - 3, BYTES};
    struct hs_shape shape = {.size = 2, .bytes = BYTES, .unit = UNIT, .part = part};
    struct hs_verify_report report;
    hsumma_status status = hs_verify(&hs_alg_bcast_flat, &shape, NULL, &hs_heap, &report);
    tap_ok(status == HSUMMA_ERR_INTERNAL && strstr(report.text, "part[1]"), "a partition through an element: \"%s\"",
           report.text);
}

static void swap(struct hs_step *reduce)
{
    struct hs_ref left = reduce->left;
    reduce->left = reduce->right;
    reduce->right = left;
}

static void swap_operands(struct hs_builder *builder, const struct hs_shape *shape)
{
    hs_alg_reduce_binomial.build(builder, shape);
    for (int i = 0; i < builder->list.steps; i++)
        if (builder->list.step[i].kind == HS_REDUCE && shape->rank == 2)
            swap(&builder->list.step[i]);
}

static const char *never(const struct hs_alg *alg, const struct hs_shape *shape)
{
    (void)alg, (void)shape;
    return "never";
}

static void order(void)
{
    static const struct hs_alg rows[] = {
        {HS_REDUCE_TO, "ordered", "", HS_TRUE_ROOT | HS_KEEPS_ORDER, .build = swap_operands},
        {HS_REDUCE_TO, "any order", "", HS_TRUE_ROOT, .build = swap_operands},
        {HS_REDUCE_TO, "never", "", HS_TRUE_ROOT, .unfit = never, .build = swap_operands},
    };
    struct hs_shape shape = {.size = 4, .bytes = BYTES, .unit = UNIT};
    struct hs_verify_report report;

    hsumma_status status = hs_verify(&rows[0], &shape, NULL, &hs_heap, &report);
    tap_ok(status == HSUMMA_ERR_INTERNAL && strstr(report.text, "order not kept") && !report.keeps_order,
           "operands swapped: \"%s\"", report.text);
    status = hs_verify(&rows[1], &shape, NULL, &hs_heap, &report);
    tap_ok(status == HSUMMA_OK && !report.keeps_order, "an algorithm that promises no order may swap them");
    status = hs_verify(&rows[2], &shape, NULL, &hs_heap, &report);
    tap_ok(status == HSUMMA_ERR_UNSUPPORTED, "an algorithm that does not fit: \"%s\"", report.text);

    struct hs_list *list = NULL;
    shape.size = 2;
    status = hs_build_all(&hs_alg_allreduce_recursive_doubling, &shape, &hs_heap, &list);
    if (!status)
        swap(&list[1].step[2]);
    status |= hs_verify_lists(HS_ALLREDUCE, list, &shape, NULL, &hs_heap, &report);
    tap_ok(status == HSUMMA_OK && !report.keeps_order && !report.same_bits, "an exchange whose ends differ in order");
    hs_free_all(&hs_heap, list, 2);
}

/* A deadlock of three ranks in a cycle, with three instances: verify finds it in any order, eager or not. */
static void circles(void)
{
    struct hs_shape shape = {.size = 3, .bytes = BYTES, .unit = UNIT};
    int missed = 0;
    for (int s = 0; s < 2 * HS_SCHEDULES; s++) {
        struct hs_verify_options options = {
            .schedule = (enum hs_schedule)(s / 2), .seed = 5, .eager = s % 2, .instances = 3};
        struct hs_verify_report report;
        struct hs_list *rank = NULL;
        hsumma_status status = hs_build_all(&hs_alg_allgather_ring, &shape, &hs_heap, &rank);
        for (struct hs_list *list = rank; !status && list < rank + 3; list++) {
            struct hs_step send = list->step[0];
            list->step[0] = list->step[1];
            list->step[1] = send; /* RECV, SEND, SEND, RECV, COPY */
            list->dep[list->step[2].first_dep] = 0;
            list->step[1].first_dep = list->step[2].first_dep;
            list->step[1].deps = 1;
        }
        status = status ? status : hs_verify_lists(HS_ALLGATHER, rank, &shape, &options, &hs_heap, &report);
        missed += status != HSUMMA_ERR_INTERNAL || !strstr(report.text, "deadlock: rank");
        hs_free_all(&hs_heap, rank, 3);
    }
    tap_ok(missed == 0, "everybody receives before sending: found by all but %d of %d schedules", missed,
           2 * HS_SCHEDULES);
}

int main(void)
{
    struct hs_shape two = {.size = 2, .bytes = BYTES, .unit = UNIT};
    struct hs_verify_report report;
    plant_faults(faults, sizeof faults / sizeof *faults, 0);
    tap_ok(hs_verify(&sending, &two, &(struct hs_verify_options){.eager = 1}, &hs_heap, &report) == HSUMMA_OK,
           "both send first: goes well with eager messages");
    partition();
    sums_of_sums();
    order();
    circles();
    return tap_done();
}
