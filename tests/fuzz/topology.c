/*
 * Where ranks are: numbers of nodes and sockets in any order, blocks, and the list of explain --map.
 *
 * Input: a byte that says which; then numbers, or text.
 */
#include "explain/command.h"
#include "fuzz/input.h"

enum { RANKS = 24 };

/* Compares a division with the numbers from which it was made. */
static void check_division(const struct hs_division *division, const int *number, const int *outer, int size)
{
    int parts = 0;
    for (int r = 0; r < size; r++) {
        int part = hs_part_of(division, r), before = -1;
        for (int s = 0; s < r && before < 0; s++)
            before = number[s] == number[r] && outer[s] == outer[r] ? s : -1;
        REQUIRE(before < 0 ? part == parts : part == hs_part_of(division, before));
        parts += before < 0;
        REQUIRE(hs_rank_by_part(division, hs_ranks_before(division, part) + hs_place_in_part(division, r)) == r);
    }
    REQUIRE(division->parts == parts && hs_ranks_before(division, parts) == size);
}

static void check_numbers(struct input *input)
{
    struct hs_topology topology;
    int node[RANKS], socket[RANKS], same[RANKS] = {0}, size = 1 + draw_below(input, RANKS);
    for (int r = 0; r < size; r++) {
        node[r] = (int)draw_number(input);
        socket[r] = (int)draw_number(input);
    }
    REQUIRE(hs_topology_make(&topology, size, node, socket, &hs_heap) == HSUMMA_OK);
    check_division(&topology.division[HS_NODE], node, same, size);
    check_division(&topology.division[HS_SOCKET], socket, node, size);
    hs_topology_free(&topology, &hs_heap);
}

static void check_blocks(struct input *input)
{
    struct hs_topology topology;
    int size = draw_below(input, RANKS), nodes = (int)draw_number(input), sockets = (int)draw_number(input);
    hsumma_status status = hs_topology_blocks(&topology, size, nodes, sockets, &hs_heap);
    REQUIRE(status == HSUMMA_OK || status == HSUMMA_ERR_ARGUMENT);
    if (status)
        return;
    REQUIRE(topology.division[HS_NODE].parts <= nodes && topology.division[HS_NODE].parts <= size);
    REQUIRE(topology.division[HS_NODE].contiguous && topology.division[HS_SOCKET].contiguous);
    hs_topology_free(&topology, &hs_heap);
}

static void check_map(struct input *input)
{
    static hsumma_context ctx;
    int processes = 1 + draw_below(input, RANKS), numbers = 1;
    char *text = input_text(input->at, input->left);
    explain_arguments args = {.map = text};
    explanation e = {.args = &args, .ctx = &ctx};
    struct hs_message message = {""};
    ctx.memory = hs_heap;
    hsumma_status status = explain_places(&e, processes, &message);
    for (const char *at = text; *at; at++)
        numbers += *at == ',';
    REQUIRE(status == HSUMMA_ERR_OPTION || (status == HSUMMA_OK && numbers == processes));
    REQUIRE(status != HSUMMA_OK || (e.node->parts >= 1 && e.node->parts <= processes));
    hs_topology_free(&ctx.comm.topology, &hs_heap);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const checks[])(struct input *) = {check_numbers, check_blocks, check_map};
    struct input input = {data, size};
    checks[draw_below(&input, 3)](&input);
    return 0;
}
