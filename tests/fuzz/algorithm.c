/*
 * Step lists of a registered algorithm: the input is the program of a builder. Whatever it emits, proving it says yes
 * or no; lists that are proved can be printed and priced.
 *
 * Input: collective, ranks, root, elements, size of an element, flags; then the steps, each with the set of ranks that
 * emit it.
 */
#include "api/context_parts.h"
#include "coll/model/clock.h"
#include "coll/schedule/dump.h"
#include "fuzz/input.h"
#include "hsumma/context/context.h"

enum { RANKS = 5, ELEMENTS = 9, STEPS = 24 };

static hsumma_place draw_place(struct input *input)
{
    return (hsumma_place){(enum hsumma_buffer)(draw_byte(input) % 17 == 16 ? 9 : draw_below(input, 3)),
                          draw_number(input)};
}

/* Emits one step for the ranks of its set. */
static int emit(hsumma_builder *builder, const hsumma_shape *shape, struct input *input)
{
    int mine = (draw_byte(input) >> shape->rank & 1) != 0, kind = draw_below(input, 4), step = -1;
    int peer = draw_byte(input) % 2 ? (shape->rank + draw_below(input, 8)) % shape->size : (int)draw_number(input);
    hsumma_place to = draw_place(input), left = draw_place(input), right = draw_place(input);
    int64_t bytes = draw_byte(input) % 2 ? shape->bytes : draw_number(input);
    if (!mine)
        return -1;
    switch (kind) {
    case 0:
        step = hsumma_step_send(builder, peer, left, bytes);
        break;
    case 1:
        step = hsumma_step_recv(builder, peer, to, bytes);
        break;
    case 2:
        step = hsumma_step_copy(builder, to, left, bytes);
        break;
    default:
        step = hsumma_step_reduce(builder, to, left, right, bytes);
    }
    return step;
}

static void build(hsumma_builder *builder, const hsumma_shape *shape, void *state)
{
    struct input input = *(const struct input *)state;
    int last = -1;
    for (int i = 0; i < STEPS && input.left; i++) {
        int step = emit(builder, shape, &input), after = (int)draw_number(&input);
        if (step >= 0 && after % 4)
            hsumma_step_after(builder, step, after % 4 == 1 ? last : after);
        last = step >= 0 ? step : last;
    }
}

/* Prints and prices a proved algorithm. */
static void use(const hsumma_algorithm *theirs, const struct hs_shape *shape)
{
    static hsumma_context ctx;
    struct hs_machine machine = {.alpha = 1e-6, .beta = 1e-9, .gamma = 1e-9, .copy = 1e-10};
    struct hs_topology topology;
    struct hs_clock_report report;
    ctx.memory = hs_heap;
    REQUIRE(hsumma_coll_register(&ctx, theirs) == HSUMMA_OK);
    const struct hs_alg *alg = hs_alg_find_in(&ctx.own, (enum hs_collective)theirs->collective, theirs->name);
    struct hs_shape one = *shape;
    char *text = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&text, &length);
    REQUIRE(alg && file && hs_topology_blocks(&topology, shape->size, 1, 1, &hs_heap) == HSUMMA_OK);
    for (one.rank = 0; one.rank < one.size; one.rank++) {
        struct hs_list list;
        REQUIRE(hs_build(alg, &one, &hs_heap, &list) == HSUMMA_OK);
        hs_dump_list(file, &list);
        hs_list_free(&hs_heap, &list);
    }
    fclose(file);
    free(text);
    one.rank = 0;
    one.topology = &topology;
    if (one.size > 1 && one.bytes > 0) {
        hsumma_status status = hs_clock(alg, &one, &machine, &hs_heap, &report);
        REQUIRE(status == HSUMMA_OK && report.seconds >= 0);
    }
    hs_topology_free(&topology, &hs_heap);
    hs_own_algorithms_free(&ctx.own, &hs_heap);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int64_t units[] = {1, 4, 8, 3};
    struct input input = {data, size};
    char text[64];
    hsumma_algorithm theirs = {.name = "fuzz", .build = build};
    theirs.collective = (hsumma_collective)draw_below(&input, HS_COLLECTIVES);
    int ranks = 1 + draw_below(&input, RANKS), root = draw_below(&input, ranks);
    int64_t elements = draw_below(&input, ELEMENTS), unit = units[draw_below(&input, 4)];
    theirs.flags = draw_byte(&input) & (HSUMMA_TRUE_ROOT | HSUMMA_KEEPS_ORDER | HSUMMA_UNIFORM);
    theirs.state = &input;
    hsumma_status status = hsumma_coll_prove(&theirs, ranks, root, elements * unit, unit, text, sizeof text);
    REQUIRE(status == HSUMMA_OK || status == HSUMMA_ERR_INTERNAL || status == HSUMMA_ERR_MEMORY ||
            status == HSUMMA_ERR_ARGUMENT);
    REQUIRE(status == HSUMMA_OK || text[0]);
    if (!status) {
        struct hs_shape shape = {.size = ranks, .root = root, .bytes = elements * unit, .unit = unit};
        use(&theirs, &shape);
    }
    return 0;
}
