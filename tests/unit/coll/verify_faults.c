/* Faults planted in correct lists: verify must find each and name it. */
#include "coll/proof/verify.h"
#include "coll/schedule/lists.h"
#include "support/tap.h"

#include <stdlib.h>
#include <string.h>

enum { ELEMENTS = 12, UNIT = 8, BYTES = ELEMENTS * UNIT };

/* The lists of a correct algorithm, to be broken. */
struct patient {
    const struct hs_alg *alg;
    struct hs_shape shape;
    struct hs_verify_options options;
    struct hs_list *list;
};

static struct patient patient(enum hs_collective collective, const char *name, int size)
{
    struct patient p = {.alg = hs_alg_find(collective, name)};
    p.shape = (struct hs_shape){.size = size, .bytes = BYTES, .unit = UNIT, .segment = 2 * UNIT};
    if (hs_build_all(p.alg, &p.shape, &hs_heap, &p.list) != HSUMMA_OK)
        exit(99);
    return p;
}

/* The n-th step of a kind in a rank's list; the test is wrong if there is none. */
static int nth(const struct patient *p, int rank, enum hs_kind kind, int n)
{
    for (int i = 0; i < p->list[rank].steps; i++)
        if (p->list[rank].step[i].kind == kind && n-- == 0)
            return i;
    exit(98);
}

static struct hs_step *step(const struct patient *p, int rank, enum hs_kind kind, int n)
{
    return &p->list[rank].step[nth(p, rank, kind, n)];
}

/* Takes step i out; those that waited for it wait no more. */
static void take_out(struct hs_list *list, int i)
{
    list->steps--;
    for (int s = i; s < list->steps; s++)
        list->step[s] = list->step[s + 1];
    for (int s = 0; s < list->steps; s++) {
        int kept = 0, *dep = list->dep + list->step[s].first_dep;
        for (int d = 0; d < list->step[s].deps; d++)
            if (dep[d] != i)
                dep[kept++] = dep[d] - (dep[d] > i);
        list->step[s].deps = kept;
    }
}

/* Verifies the broken lists, frees them, and looks for `words` in what verify says. */
static void expect(struct patient *p, const char *fault, const char *words)
{
    struct hs_verify_report report;
    hsumma_status status = hs_verify_lists(p->alg->collective, p->list, &p->shape, &p->options, &hs_heap, &report);
    if (!tap_ok(status == HSUMMA_ERR_INTERNAL && strstr(report.text, words), "%s: \"%s\"", fault, report.text))
        tap_diag("status %d, expected the words \"%s\"", (int)status, words);
    hs_free_all(&hs_heap, p->list, p->shape.size);
    p->list = NULL;
}

static void messages(void)
{
    struct patient p = patient(HS_BCAST, "van_de_geijn", 5);
    int to = step(&p, 0, HS_SEND, 0)->peer;
    step(&p, 0, HS_SEND, 0)->peer = step(&p, 0, HS_SEND, 1)->peer;
    step(&p, 0, HS_SEND, 1)->peer = to;
    expect(&p, "two peers swapped", "bytes, but step");

    p = patient(HS_ALLGATHER, "ring", 5);
    step(&p, 2, HS_SEND, 1)->peer = 4;
    expect(&p, "a message to the wrong peer", "unmatched");

    p = patient(HS_BCAST, "chain", 4);
    take_out(&p.list[1], nth(&p, 1, HS_SEND, 2));
    expect(&p, "a SEND dropped", "unmatched RECV from 1");

    p = patient(HS_BCAST, "binomial", 4);
    take_out(&p.list[3], nth(&p, 3, HS_RECV, 0));
    expect(&p, "a RECV dropped", "unmatched SEND to 3");

    p = patient(HS_ALLGATHER, "ring", 5);
    step(&p, 3, HS_SEND, 0)->count -= UNIT;
    expect(&p, "a SEND too short", "bytes, but step");

    p = patient(HS_BCAST, "flat", 3);
    step(&p, 0, HS_SEND, 1)->count -= UNIT;
    step(&p, 2, HS_RECV, 0)->count -= UNIT;
    expect(&p, "both ends too short", "element 11 of OUT is never written");
}

static void ranges(void)
{
    struct patient p = patient(HS_BCAST, "binomial", 4);
    step(&p, 0, HS_SEND, 0)->peer = 4;
    expect(&p, "a peer outside the group", "peer 4");

    p = patient(HS_BCAST, "binomial", 4);
    step(&p, 2, HS_SEND, 0)->peer = 2;
    expect(&p, "a message to oneself", "peer 2");

    p = patient(HS_BCAST, "flat", 2);
    step(&p, 1, HS_RECV, 0)->count = 0;
    expect(&p, "an empty step", "count 0");

    p = patient(HS_BCAST, "flat", 2);
    step(&p, 1, HS_RECV, 0)->count = BYTES - 1;
    expect(&p, "a torn element", "count 95");

    p = patient(HS_BCAST, "chain", 3);
    step(&p, 1, HS_RECV, 1)->dst.at += 4;
    expect(&p, "an offset inside an element", "no multiple of the unit");

    p = patient(HS_BCAST, "chain", 3);
    step(&p, 1, HS_RECV, 0)->dst.at = -UNIT;
    expect(&p, "an offset before the buffer", "outside OUT");
}

static void buffers(void)
{
    struct patient p = patient(HS_ALLREDUCE, "recursive_doubling", 4);
    step(&p, 1, HS_REDUCE, 0)->dst.at += UNIT;
    expect(&p, "a step beyond the buffer", "outside");

    p = patient(HS_REDUCE_TO, "binomial", 4);
    step(&p, 2, HS_REDUCE, 0)->dst = hs_out(0);
    p.list[2].extent[HS_OUT] = BYTES;
    expect(&p, "OUT on a rank that has none", "outside OUT");

    p = patient(HS_REDUCE_TO, "binomial", 4);
    p.list[0].extent[HS_SCRATCH] = BYTES;
    expect(&p, "less scratch than is used", "outside SCRATCH");

    p = patient(HS_ALLREDUCE, "recursive_doubling", 2);
    step(&p, 1, HS_RECV, 0)->dst = hs_in(0);
    expect(&p, "a write to IN", "writes to IN");

    p = patient(HS_BCAST, "flat", 3);
    p.list[0].step[0].kind = HS_RECV;
    p.list[0].step[0].dst = hs_out(0);
    expect(&p, "a write to the root's OUT", "writes to OUT");

    p = patient(HS_ALLREDUCE, "recursive_doubling", 4);
    struct hs_step *reduce = step(&p, 0, HS_REDUCE, 0);
    reduce->count -= UNIT;
    reduce->dst.at += UNIT;
    expect(&p, "a REDUCE shifted over its operand", "overlap");

    p = patient(HS_BCAST, "flat", 2);
    int64_t part[3] = {0, BYTES - 3, BYTES};
    p.shape.part = part;
    expect(&p, "a partition through an element", "part 1");
}

static void dependencies(void)
{
    struct patient p = patient(HS_BCAST, "chain", 3);
    p.list[1].dep[step(&p, 1, HS_SEND, 0)->first_dep] = nth(&p, 1, HS_SEND, 2);
    expect(&p, "a dependency forwards", "not an earlier one");

    p = patient(HS_BCAST, "chain", 3);
    p.list[1].dep[step(&p, 1, HS_SEND, 0)->first_dep] = nth(&p, 1, HS_SEND, 0);
    expect(&p, "a dependency on itself", "not an earlier one");

    p = patient(HS_BCAST, "chain", 3);
    p.list[1].dep[step(&p, 1, HS_SEND, 0)->first_dep] = -1;
    expect(&p, "a dependency on nothing", "not an earlier one");

    p = patient(HS_BCAST, "chain", 3);
    step(&p, 1, HS_SEND, 0)->deps = 0;
    expect(&p, "sent before it has arrived", "may run at once");

    p = patient(HS_ALLREDUCE, "recursive_doubling", 8);
    step(&p, 0, HS_RECV, 1)->deps = 1; /* it no longer waits for the SEND of the round before */
    step(&p, 0, HS_RECV, 2)->deps = 1;
    expect(&p, "overwritten before it is sent", "may run at once");

    p = patient(HS_BCAST, "chain", 3);
    step(&p, 2, HS_RECV, 1)->dst = hs_out(0);
    expect(&p, "two receptions in one place", "may run at once");

    p = patient(HS_REDUCE_TO, "binomial", 4);
    step(&p, 0, HS_REDUCE, 1)->deps = 1; /* of two: it waits for its RECV only */
    expect(&p, "summed before its operand is complete", "may run at once");
}

static void data(void)
{
    struct patient p = patient(HS_REDUCE_TO, "binomial", 4);
    step(&p, 1, HS_SEND, 0)->left = hs_scratch(0);
    p.list[1].extent[HS_SCRATCH] = BYTES;
    expect(&p, "scratch is sent that nobody has written", "unwritten");

    p = patient(HS_BCAST, "chain", 3);
    step(&p, 0, HS_SEND, 3)->left.at -= 2 * UNIT;
    expect(&p, "a segment sent twice", "wrong data at element 6");

    p = patient(HS_ALLGATHER, "ring", 3);
    step(&p, 1, HS_COPY, 0)->dst.at = 0;
    step(&p, 1, HS_RECV, 0)->dst.at = 4 * UNIT;
    step(&p, 1, HS_SEND, 1)->left.at = 4 * UNIT;
    expect(&p, "two parts in each other's place", "wrong data at element 0");

    p = patient(HS_REDUCE_TO, "binomial", 2);
    step(&p, 0, HS_REDUCE, 0)->left = step(&p, 0, HS_REDUCE, 0)->right;
    expect(&p, "an operand summed twice", "wrong data");

    p = patient(HS_ALLREDUCE, "recursive_doubling", 4);
    take_out(&p.list[2], nth(&p, 2, HS_REDUCE, 1));
    expect(&p, "a sum left out", "wrong data");

    p = patient(HS_REDUCE_SCATTER, "pairwise", 3);
    struct hs_step *send = step(&p, 1, HS_SEND, 0);
    send->left.at = send->left.at ? 0 : BYTES / 3;
    expect(&p, "the wrong part of the vector sent", "wrong data");
}

static void swap_operands(struct hs_builder *builder, const struct hs_shape *shape)
{
    hs_alg_find(HS_REDUCE_TO, "binomial")->build(builder, shape);
    for (int i = 0; i < builder->list.steps; i++) {
        struct hs_step *reduce = &builder->list.step[i];
        struct hs_ref left = reduce->left;
        if (reduce->kind == HS_REDUCE && shape->rank == 2) {
            reduce->left = reduce->right;
            reduce->right = left;
        }
    }
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

    struct patient p = patient(HS_ALLREDUCE, "recursive_doubling", 2);
    struct hs_step *reduce = step(&p, 1, HS_REDUCE, 0);
    struct hs_ref left = reduce->left;
    reduce->left = reduce->right;
    reduce->right = left;
    status = hs_verify_lists(HS_ALLREDUCE, p.list, &p.shape, NULL, &hs_heap, &report);
    tap_ok(status == HSUMMA_OK && !report.keeps_order && !report.same_bits, "an exchange whose ends differ in order");
    hs_free_all(&hs_heap, p.list, 2);
}

/* Two ranks that exchange; the SEND waits for the RECV or the other way round. */
static struct hs_list *exchange(int send_first)
{
    struct hs_list *list = hs_get_zero(&hs_heap, 2, sizeof *list);
    for (int r = 0; list && r < 2; r++) {
        struct hs_builder builder;
        hs_list_begin(&builder, &hs_heap);
        int send = send_first ? hs_emit_send(&builder, 1 - r, hs_in(0), BYTES, -1) : -1;
        int receive = hs_emit_recv(&builder, 1 - r, hs_scratch(0), BYTES, send);
        if (!send_first) {
            send = hs_emit_send(&builder, 1 - r, hs_in(0), BYTES, receive);
        }
        int reduce = r == 0 ? hs_emit_reduce(&builder, hs_out(0), hs_in(0), hs_scratch(0), BYTES, -1)
                            : hs_emit_reduce(&builder, hs_out(0), hs_scratch(0), hs_in(0), BYTES, -1);
        hs_after(&builder, reduce, receive);
        if (hs_list_finish(&builder, &list[r]) != HSUMMA_OK)
            exit(97);
    }
    return list;
}

static void deadlocks(void)
{
    struct patient p = patient(HS_ALLREDUCE, "recursive_doubling", 2);
    struct hs_verify_report report;
    hs_free_all(&hs_heap, p.list, 2);
    p.list = exchange(0);
    p.options.eager = 1;
    expect(&p, "both receive first", "deadlock: rank");

    p.list = exchange(1);
    p.options.eager = 0;
    tap_ok(hs_verify_lists(HS_ALLREDUCE, p.list, &p.shape, &(struct hs_verify_options){.eager = 1}, &hs_heap,
                           &report) == HSUMMA_OK,
           "both send first: goes well with eager messages");
    expect(&p, "both send first, rendezvous", "waits for rank");

    /* Two messages of one pair, posted in another order at the other end: with equal sizes, the wrong data arrive. */
    p = patient(HS_BCAST, "chain", 2);
    struct hs_step first = p.list[0].step[0];
    p.list[0].step[0].left = p.list[0].step[1].left;
    p.list[0].step[1].left = first.left;
    expect(&p, "two messages in the wrong order", "wrong data");

    p = patient(HS_ALLGATHER, "ring", 4);
    p.options.window = 1;
    expect(&p, "a window too small for the ring", "deadlock");

    /* Three ranks in a circle, and three instances of it: found by every schedule, eager or not. */
    for (int s = 0; s < 2 * HS_SCHEDULES; s++) {
        p = patient(HS_ALLGATHER, "ring", 3);
        p.options = (struct hs_verify_options){.schedule = (enum hs_schedule)(s / 2), .seed = 5, .eager = s % 2};
        p.options.instances = 3;
        for (int r = 0; r < 3; r++) {
            struct hs_list *list = &p.list[r];
            struct hs_step send = list->step[0];
            list->step[0] = list->step[1];
            list->step[1] = send; /* RECV, SEND, SEND, RECV, COPY */
            list->dep[list->step[2].first_dep] = 0;
            list->step[1].first_dep = list->step[2].first_dep;
            list->step[1].deps = 1;
        }
        expect(&p, "everybody receives before sending", "deadlock: rank");
    }
}

int main(void)
{
    messages();
    ranges();
    buffers();
    dependencies();
    data();
    order();
    deadlocks();
    return tap_done();
}
