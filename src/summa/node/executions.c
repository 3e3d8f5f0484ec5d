/* Which executions may use the node's product memory: they are numbered, and wait for earlier ones (node.h). */
#include "summa/node/node.h"

static uint64_t progress_at_end(uint64_t execution)
{
    return (execution + 1) << HS_NODE_STEP_BITS;
}

uint64_t hs_node_count(struct hs_product_memory *shared, const struct hs_grid *grid)
{
    uint64_t execution = ++shared->executions;
    for (int i = 0; i < grid->extent[0] * grid->extent[1]; i++) {
        int mate = hs_mate_index(shared->mates, hs_grid_rank(grid, i));
        if (mate >= 0)
            shared->taken[mate] = (struct hs_taken){shared->taken[mate].last, execution};
    }
    return execution;
}

uint64_t hs_node_taken_before(const struct hs_product_memory *shared, uint64_t execution, int rank)
{
    const struct hs_taken *taken = &shared->taken[rank];
    return taken->last == execution ? taken->before : taken->last;
}

int hs_node_vacant(struct hs_product_memory *shared, uint64_t execution)
{
    for (int r = 0; r < shared->directory.ranks; r++) {
        uint64_t last = hs_node_taken_before(shared, execution, r);
        if (last && r != shared->directory.me &&
            (!hs_signalled(&shared->directory, r, HS_USED, progress_at_end(last)) ||
             !hs_signalled(&shared->directory, r, HS_SUMMED, progress_at_end(last))))
            return 0;
    }
    return 1;
}

void hs_node_leave(struct hs_product_memory *shared, uint64_t execution)
{
    static const enum hs_counter counters[] = {HS_FILLED, HS_USED, HS_SUMMED};
    for (unsigned i = 0; i < sizeof counters / sizeof *counters; i++)
        hs_signal(&shared->directory, counters[i], progress_at_end(execution));
}
