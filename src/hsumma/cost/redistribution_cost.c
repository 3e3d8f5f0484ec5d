#include "hsumma/cost/redistribution_cost.h"

#include <math.h>

struct links {
    double between, inside, alpha; /* seconds per byte between nodes, per byte inside nodes, and per message */
};

static struct links links_of(const struct hs_profile *profile)
{
    const struct hs_machine *machine = &profile->machine;
    struct links links = {.between = machine->network.eager > 0 ? machine->network.beta_long : machine->network.beta,
                          .inside = machine->node.beta,
                          .alpha = profile->exchange_alpha > 0 ? profile->exchange_alpha : machine->network.alpha};
    if (links.inside <= 0)
        links.inside = links.between;
    if (profile->one_node && machine->node.alpha > 0)
        links.alpha = machine->node.alpha;
    return links;
}

/* The seconds of one process: those of its slower direction, plus its copies.  Adds the bytes that it receives [0] and
 * sends [1] between nodes to node_bytes. */
static double process_seconds(const struct hs_redistribution_load *load, const struct links *links,
                              const struct hs_machine *machine, double bytes, double node_bytes[2])
{
    double seconds = 0, copied = 0;
    for (int way = 0; way < 2; way++) {
        const int64_t *elements = load->elements[way];
        double between = (double)elements[HS_LOAD_BETWEEN] * bytes, inside = (double)elements[HS_LOAD_INSIDE] * bytes;
        seconds = fmax(seconds,
                       between * links->between + inside * links->inside + (double)load->messages[way] * links->alpha);
        copied += between + inside + (double)elements[HS_LOAD_HERE] * bytes;
        node_bytes[way] += between;
    }
    return seconds + copied * machine->copy;
}

hsumma_status hs_redistribution_seconds(const struct hs_profile *profile, const struct hs_topology *topology, int size,
                                        const struct hs_layout *source, int sources, const struct hs_layout *target,
                                        size_t bytes, const struct hs_allocator *memory, double *seconds)
{
    const struct hs_layout *ends[] = {source, &source[sources - 1], target, target};
    const struct links links = links_of(profile);
    struct hs_topology apart = {.size = 0}, together = {.size = 0};
    hsumma_status status = HSUMMA_OK;
    if (!topology && profile->one_node)
        status = hs_topology_blocks(&together, size, 1, 1, memory);
    const struct hs_topology *counted = topology ? topology : profile->one_node ? &together : &apart;
    const struct hs_division *nodes = topology ? &topology->division[HS_NODE] : NULL;
    *seconds = 0;
    for (int e = 0; e < 4 && !status; e++) {
        int last = ends[e]->extent[0] * ends[e]->extent[1] - 1;
        int end = hs_rank_in(ends[e]->rank, e % 2 ? last : 0), part = nodes ? hs_part_of(nodes, end) : 0;
        int count = nodes ? hs_division_size(nodes, part) : 1; /* the processes on its node, if nodes are known */
        double node_bytes[2] = {0, 0};
        for (int i = 0; i < count && !status; i++) {
            struct hs_redistribution_load load;
            int rank = nodes ? hs_part_rank(nodes, part, i) : end;
            status = hs_redistribution_count(source, sources, target, counted, size, rank, memory, &load);
            if (!status)
                *seconds = fmax(*seconds, process_seconds(&load, &links, &profile->machine, (double)bytes, node_bytes));
        }
        *seconds = fmax(*seconds, fmax(node_bytes[0], node_bytes[1]) * profile->machine.inject);
    }
    hs_topology_free(&together, memory);
    return status;
}
