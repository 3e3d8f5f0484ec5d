/*
 * The executor for device memory, on a single rank: the REDUCEs that it merges into one pass, and the bits of its
 * results, which must be those of the executor for host memory.
 */
#include "base/operators.h"
#include "coll/run/device_comm.h"
#include "coll/run/executor_device.h"
#include "gpu/devices.h"
#include "support/random.h"
#include "support/tap.h"

#include <stdlib.h>
#include <string.h>

enum { CELL = 1000, CELLS = 12, BYTES = CELLS * CELL * (int)sizeof(float), MOST_STEPS = 60, MOST_PASSES = 64 };

static struct hs_device_kind counting;
static const struct hs_device_kind *counted;
static int passes, operands_of[MOST_PASSES];

static hsumma_status combine(struct hs_device *device, struct hs_stream *stream, void *dst, const void *const *operand,
                             int operands, int64_t count, hsumma_element element, hsumma_op op)
{
    if (passes < MOST_PASSES)
        operands_of[passes++] = operands;
    return counted->combine(device, stream, dst, operand, operands, count, element, op);
}

static struct hs_device_comm on;
static struct hs_stream *stream;
static struct hs_comm comm;
static float *there[3]; /* IN, OUT and SCRATCH in device memory */

static int open_device(void)
{
    struct hs_message why;
    struct hs_device *device;
    counted = hs_device_kind_find("host", &why);
    if (!counted || counted->open(-1, 0, &hs_heap, &device, &why))
        return 0;
    counting = *counted;
    counting.combine = combine;
    device->kind = &counting;
    on = (struct hs_device_comm){.device = device, .stream = &stream, .memory = &hs_heap};
    comm = (struct hs_comm){.size = 1, .cut = HS_CUT, .device = &on};
    int made = counting.make_stream(device, &stream) == HSUMMA_OK;
    for (int i = 0; i < 3; i++) {
        void *memory = NULL;
        made &= counting.get(device, BYTES, &memory) == HSUMMA_OK;
        there[i] = memory;
    }
    return made;
}

static struct hs_ref cell(enum hs_slot slot, int i)
{
    return (struct hs_ref){slot, 0, (int64_t)i * CELL * (int64_t)sizeof(float)};
}

static void fill(float *memory, int slot)
{
    for (int i = 0; i < CELLS * CELL; i++)
        memory[i] = 1.0f / (float)(1 + i % 97 + 13 * slot);
}

static int run(const struct hs_list *list, struct hs_binding *binding)
{
    static const int rank = 0;
    struct hs_instance instance;
    int worked = 0;
    void *memory = malloc(hs_instance_bytes(list->steps));
    hs_instance_init(&instance, memory, list->steps);
    binding->list = list;
    binding->group = (struct hs_group){.table = &rank, .stride = 1, .size = 1};
    hsumma_status status = hs_start(&instance, &comm, binding);
    for (int i = 0; i < 1000 && !status && instance.active; i++)
        status = hs_progress(&instance, &worked);
    int right = !status && !instance.active;
    free(memory);
    return right;
}

/* Runs a list in host and in device memory; returns 1 if OUT and SCRATCH then have equal bits. */
static int alike(const struct hs_list *list)
{
    static float here[3][CELLS * CELL], back[CELLS * CELL];
    passes = 0;
    struct hs_binding host = {.slot = {here[0], here[1], here[2], NULL},
                              .combine = hs_operator_of(HSUMMA_FLOAT, HSUMMA_SUM),
                              .unit = sizeof(float)};
    struct hs_binding device = {
        .slot = {there[0], there[1], there[2], NULL}, .device = &on, .element = HSUMMA_FLOAT, .op = HSUMMA_SUM};
    hsumma_status status = HSUMMA_OK;
    for (int i = 0; i < 3; i++) {
        fill(here[i], i);
        status |= counting.copy(on.device, stream, there[i], here[i], BYTES);
    }
    status |= counting.synchronize(on.device, stream);
    int right = !status && run(list, &host) && run(list, &device);
    for (int i = 0; i < 3; i++) {
        status |= counting.copy(on.device, stream, back, there[i], BYTES);
        status |= counting.synchronize(on.device, stream);
        right &= !status && memcmp(back, here[i], BYTES) == 0;
    }
    return right;
}

static void expect(struct hs_builder *builder, const char *what, int count, const int *operands)
{
    struct hs_list list;
    int right = hs_list_finish(builder, &list) == HSUMMA_OK && alike(&list) && passes == count;
    for (int i = 0; i < count && right; i++)
        right = operands_of[i] == operands[i];
    tap_ok(right, "%s: %d passes, the first of %d operands", what, passes, passes ? operands_of[0] : 0);
    hs_list_free(&hs_heap, &list);
}

static int add(struct hs_builder *builder, struct hs_ref dst, struct hs_ref left, struct hs_ref right, int after)
{
    int step = hs_emit_reduce(builder, dst, left, right, CELL * (int64_t)sizeof(float), after);
    return step;
}

/* Adds the step dst = IN 0 + IN 1, then `more` further sums, to the list. */
static int chain(struct hs_builder *builder, struct hs_ref dst, int more)
{
    int last = add(builder, dst, cell(HS_IN, 0), cell(HS_IN, 1), -1);
    for (int i = 0; i < more; i++)
        last = add(builder, dst, dst, cell(HS_IN, (i + 2) % CELLS), last);
    return last;
}

static void test_passes(void)
{
    const struct hs_ref sum = cell(HS_OUT, 0), other = cell(HS_SCRATCH, 3);
    struct hs_builder builder;

    hs_list_begin(&builder, &hs_heap);
    chain(&builder, sum, 4);
    expect(&builder, "a chain is one pass", 1, (int[]){6});

    hs_list_begin(&builder, &hs_heap);
    chain(&builder, sum, 39);
    expect(&builder, "a long chain", 2, (int[]){HS_COMBINE_MOST, 41 - HS_COMBINE_MOST + 1});

    hs_list_begin(&builder, &hs_heap);
    int last = chain(&builder, sum, 1);
    add(&builder, sum, sum, sum, last);
    expect(&builder, "a sum that is added to itself", 2, (int[]){3, 2});

    hs_list_begin(&builder, &hs_heap);
    int first = add(&builder, sum, cell(HS_IN, 0), cell(HS_IN, 1), -1);
    int copy = hs_emit_copy(&builder, other, cell(HS_IN, 5), CELL * (int64_t)sizeof(float), -1);
    last = add(&builder, sum, sum, other, first);
    hs_after(&builder, last, copy);
    add(&builder, sum, sum, cell(HS_IN, 7), last);
    expect(&builder, "an operand that is not there yet", 2, (int[]){2, 3});

    hs_list_begin(&builder, &hs_heap);
    first = add(&builder, sum, cell(HS_IN, 0), cell(HS_IN, 1), -1);
    int second = add(&builder, other, cell(HS_IN, 2), cell(HS_IN, 3), -1);
    first = add(&builder, sum, sum, cell(HS_IN, 4), first);
    second = add(&builder, other, other, cell(HS_IN, 5), second);
    last = add(&builder, sum, sum, other, first);
    hs_after(&builder, last, second);
    expect(&builder, "two chains, one of which goes into the other", 3, (int[]){3, 3, 2});

    hs_list_begin(&builder, &hs_heap);
    first = add(&builder, sum, cell(HS_IN, 0), cell(HS_IN, 1), -1);
    last = hs_emit_reduce(&builder, sum, sum, cell(HS_IN, 2), CELL / 2 * (int64_t)sizeof(float), first);
    expect(&builder, "a shorter sum", 2, (int[]){2, 2});

    hs_list_begin(&builder, &hs_heap);
    first = add(&builder, sum, cell(HS_IN, 0), cell(HS_IN, 1), -1);
    last = add(&builder, sum, cell(HS_IN, 2), sum, first);
    expect(&builder, "the sum on the right", 2, (int[]){2, 2});
}

/* Whether two steps must keep their order, because one of them writes a cell that the other accesses. */
static int conflict(const struct hs_step *a, const struct hs_step *b)
{
    const struct hs_ref read[2][2] = {{a->left, a->kind == HS_REDUCE ? a->right : a->left},
                                      {b->left, b->kind == HS_REDUCE ? b->right : b->left}};
    const struct hs_ref written[2] = {a->dst, b->dst};
    int found = written[0].slot == written[1].slot && written[0].at == written[1].at;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            found |= written[i].slot == read[!i][j].slot && written[i].at == read[!i][j].at;
    return found;
}

/* Random lists of COPYs and REDUCEs on few cells, with only the necessary dependencies. */
static void test_random(int lists)
{
    const int64_t bytes = CELL * (int64_t)sizeof(float);
    int wrong = 0, fused = 0;
    for (int l = 0; l < lists; l++) {
        struct hs_builder builder;
        struct hs_list list;
        int cells = 2 + draw(4), steps = 1 + draw(MOST_STEPS), reduces = 0;
        hs_list_begin(&builder, &hs_heap);
        for (int s = 0; s < steps; s++) {
            struct hs_ref dst = cell(draw(2) ? HS_OUT : HS_SCRATCH, draw(cells)), left = cell(draw(3), draw(cells)),
                          right = cell(draw(3), draw(cells));
            int step, in_turn = draw(3) > 0;
            if (draw(4) == 0 && (left.slot != dst.slot || left.at != dst.at))
                step = hs_emit_copy(&builder, dst, left, bytes, -1);
            else
                step = hs_emit_reduce(&builder, dst, in_turn ? dst : left, right, bytes, -1);
            reduces += builder.list.step[step].kind == HS_REDUCE;
            for (int before = 0; before < step; before++)
                if (conflict(&builder.list.step[before], &builder.list.step[step]))
                    hs_after(&builder, step, before);
        }
        wrong += hs_list_finish(&builder, &list) || !alike(&list);
        fused += passes < reduces;
        hs_list_free(&hs_heap, &list);
    }
    tap_ok(wrong == 0 && fused > lists / 10, "%d random lists, %d with sums in one pass: %d wrong", lists, fused,
           wrong);
}

int main(void)
{
    if (!tap_ok(open_device(), "a device"))
        return tap_done();
    test_passes();
    test_random(200);
    for (int i = 0; i < 3; i++)
        counting.put(on.device, there[i]);
    counting.free_stream(on.device, stream);
    counting.close(on.device);
    return tap_done();
}
