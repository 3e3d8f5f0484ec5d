#include "hsumma/search/search_cells.h"

const struct hs_alg *hs_named_row_of_mpi(const struct hs_settings *settings, const struct hs_registry *own)
{
    static const enum hs_collective collective[2] = {HS_BCAST, HS_REDUCE_TO};
    const struct hs_names *names[2] = {&settings->bcast, &settings->reduce};
    for (int i = 0; i < 2; i++)
        for (int n = 0; n < names[i]->count; n++) {
            const struct hs_alg *row = hs_alg_find_in(own, collective[i], names[i]->name[n]);
            if (row && row->flags & HS_BY_MPI)
                return row;
        }
    return NULL;
}

static hsumma_status refuse_sharing(const struct hs_chooser *chooser, const struct hs_alg *by_mpi)
{
    const char *why = chooser->planner->sharing.refused;
    if (by_mpi)
        return hs_fail(chooser->message, HSUMMA_ERR_UNSUPPORTED,
                       "node=shared: %s=%s is MPI's own collective, which runs only with node=messages; expected "
                       "another algorithm or node=messages",
                       hs_option_of(by_mpi->collective), by_mpi->name);
    return hs_fail(chooser->message, HSUMMA_ERR_UNSUPPORTED, "node=shared: %s; expected node=auto or messages",
                   why && *why ? why : "the processes of a node cannot share memory");
}

hsumma_status hs_what_is_shared(struct hs_chooser *chooser, int *by_node)
{
    const struct hs_settings *settings = chooser->settings;
    const int *extent = chooser->problem->grid.extent;
    const struct hs_topology *topology = chooser->planner->topology;
    int asked = settings->node == HS_NODE_SHARED, several = topology && topology->division[HS_NODE].parts > 1;
    int possible = chooser->planner->sharing.bytes > 0;
    *by_node = 0;
    if (asked && !several && settings->for_messages)
        return hs_fail(chooser->message, HSUMMA_ERR_ARGUMENT,
                       "node=shared: no messages are sent on one node, but an option of messages is given (groups, "
                       "levels, outer, turn, bcast, reduce, exchange, segment, lookahead, owners or slice); expected "
                       "node=messages, or none of these");
    if (extent[0] * extent[1] == 1 || settings->node == HS_NODE_MESSAGES || (settings->for_messages && !several))
        return HSUMMA_OK;
    const struct hs_alg *by_mpi = several ? hs_named_row_of_mpi(settings, chooser->planner->own) : NULL;
    if (asked && (!possible || by_mpi))
        return refuse_sharing(chooser, by_mpi);
    chooser->cells = possible && several && !by_mpi;
    chooser->apart = possible && by_mpi ? "MPI's own algorithm is given" : NULL;
    *by_node = possible && !several;
    return HSUMMA_OK;
}

/* Finds a group of `stride` members of a line along `axis`, and a node with members inside and outside of the group. */
static int find_group(const struct hs_chooser *chooser, int axis, int stride, int *group, int *node)
{
    const struct hs_grid *grid = &chooser->problem->grid;
    const struct hs_topology *topology = chooser->planner->topology;
    for (int line = 0; line < grid->extent[1 - axis]; line++)
        for (int m = 0; m < grid->extent[axis]; m++)
            for (int other = m + 1; other < grid->extent[axis]; other++) {
                *node = hs_node_on_line(topology, grid, axis, line, m);
                *group = m / stride;
                if (other / stride != *group && hs_node_on_line(topology, grid, axis, line, other) == *node)
                    return 1;
            }
    return 0;
}

int hs_find_cut(const struct hs_chooser *chooser, const struct hs_factors factors[2], struct hs_message *message)
{
    for (int x = 0; x < 3; x++) {
        const struct hs_role *role = &chooser->variant.role[x];
        const struct hs_factors *of = &factors[role->line_axis];
        int level = role->moves ? hs_line_cut(chooser->lines, role->line_axis, of) : -1, group, node;
        if (level < 0)
            continue;
        const char *what = role->line_axis ? "columns" : "rows";
        int stride = of->stride[level];
        if (message && find_group(chooser, role->line_axis, stride, &group, &node))
            hs_fail(
                message, HSUMMA_ERR_UNSUPPORTED,
                "node=shared: the group of grid %s %d to %d on level %d cuts through node %d; expected groups of whole "
                "nodes, or node=messages",
                what, group * stride, group * stride + stride - 1, level + 1, node);
        else if (message)
            hs_fail(message, HSUMMA_ERR_UNSUPPORTED,
                    "node=shared: level %d groups grid %s, which are spread unevenly over the nodes; expected no "
                    "groups, or node=messages",
                    level + 1, what);
        return 1;
    }
    return 0;
}
