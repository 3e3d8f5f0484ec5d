#include "support/product/damaged_memory.h"

#include "summa/messages/conveyor.h"
#include "summa/node/shape.h"

int (*damaged_memory_due)(uint64_t *bits);

static int is_due(uint64_t *bits)
{
    return damaged_memory_due && damaged_memory_due(bits);
}

void damaged_memory_flip(void *matrix, int64_t rows, int64_t cols, int64_t ld, size_t unit, uint64_t bits)
{
    int64_t at = (int64_t)(bits >> 8) % rows + (int64_t)(bits >> 24) % cols * ld;
    ((unsigned char *)matrix)[(size_t)at * unit + (bits >> 48) % unit] ^= (unsigned char)(1 << (bits & 7));
}

static void damage(char *data, int64_t bytes)
{
    uint64_t bits;
    if (bytes > 0 && is_due(&bits))
        damaged_memory_flip(data, bytes, 1, bytes, 1, bits);
}

/* The head of a function that the linker puts around one of the library. */
#define AROUND(name, ...)            \
    void __real_##name(__VA_ARGS__); \
    void __wrap_##name(__VA_ARGS__); \
    void __wrap_##name(__VA_ARGS__)

/* Copies a matrix with a flipped bit into the tile, of which other processes fill parts. */
AROUND(hs_node_take_crcs, struct hs_node_product *node, const struct hs_supply *supply, int64_t step)
{
    const struct hs_role *role = supply->role;
    const struct hs_view *view = &node->problem->view[supply->operand];
    const struct hs_range panel = hs_node_panel(node, hs_panel_of(node, step));
    const int own = hs_coord_on(role->looped, node->problem->grid.coord[role->loop_axis]);
    const int64_t begin = hs_axis_before(role->looped, own, panel.begin);
    const int64_t count = hs_axis_before(role->looped, own, panel.begin + panel.length) - begin;
    const struct hs_matrix *matrix = &node->matrix[supply->operand];
    const size_t unit = node->problem->scalar->size;
    const int by_rows = role->loop_axis == 0;
    const int64_t rows = by_rows ? count : view->rows, cols = by_rows ? view->cols : count;
    uint64_t bits;
    __real_hs_node_take_crcs(node, supply, step);
    if (rows == 0 || cols == 0 || !is_due(&bits))
        return;
    char *part = matrix->base + (size_t)(begin * (by_rows ? 1 : matrix->ld)) * unit;
    damaged_memory_flip(part, rows, cols, matrix->ld, unit, bits);
    hs_node_fill(node, supply, step);
    damaged_memory_flip(part, rows, cols, matrix->ld, unit, bits);
}

AROUND(hs_node_take_crcs_of_sum, struct hs_node_product *node, int64_t panel)
{
    const struct hs_grid *grid = &node->problem->grid;
    const int me = hs_grid_me(grid);
    __real_hs_node_take_crcs_of_sum(node, panel);
    damage(hs_supply_slot(node, &node->out, panel * node->chunks, me), (int64_t)node->out.crcs);
}

AROUND(hs_even_take_crcs, struct hs_node_product *node)
{
    const struct hs_grid *grid = &node->problem->grid;
    const int me = hs_grid_me(grid);
    __real_hs_even_take_crcs(node);
    damage(node->tiles + node->even.at + (size_t)(me * node->even.pitch),
           node->even.own[HS_C] ? 0 : (int64_t)node->even.crcs);
}

AROUND(hs_feed_take_crc, struct hs_conveyor *feed, int s, int o)
{
    const int first = feed->mover.panels->tier[feed->channel[s].tier].first[o];
    __real_hs_feed_take_crc(feed, s, o);
    if (hs_feed_channel(feed, first) == s && hs_mover_carries(&feed->mover, hs_feed_root_on_line(feed, first)))
        damage(hs_conveyor_buffer(feed, s, o), feed->slot_bytes[s] - feed->crc_bytes);
}

/* What this member adds up itself is its own. */
AROUND(hs_drain_take_crcs, struct hs_conveyor *drain, int t)
{
    const struct hs_mover *mover = &drain->mover;
    const int o = mover->panels->tier[drain->channel[0].tier].of[t];
    const int other = (hs_mover_place(mover) + 1) % mover->members;
    int64_t from, bytes = hs_drain_share(drain, o, other, &from);
    __real_hs_drain_take_crcs(drain, t);
    if (mover->panels->tier[drain->channel[0].tier].first[o + 1] == t + 1)
        damage(hs_conveyor_buffer(drain, 0, o) + from, bytes);
}

AROUND(hs_drain_take_crc_of_sum, const struct hs_conveyor *drain, int o)
{
    const struct hs_mover *mover = &drain->mover;
    const int root = hs_mover_root(mover, hs_mover_pair(mover, drain->channel[0].tier, o));
    int64_t from, bytes = hs_drain_share(drain, o, hs_mover_place(mover), &from);
    __real_hs_drain_take_crc_of_sum(drain, o);
    if (!hs_mover_carries(mover, root))
        damage(hs_conveyor_buffer(drain, 1, o) + from, bytes);
}
