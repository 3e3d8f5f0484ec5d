#include "hsumma/cost/redistribution_cost.h"

#include "hsumma/cost/links.h"

#include <math.h>

/* Seconds per byte between nodes and inside nodes, per message of the first round, per message of another round, and
 * per round. */
struct links {
    double between, inside, alpha, again, round;
};

static struct links links_of(const struct hs_profile *profile)
{
    const struct hs_machine *machine = &profile->machine;
    struct links links = {.between = hs_long_beta(&machine->network),
                          .inside = machine->node.beta,
                          .alpha = profile->exchange_alpha > 0 ? profile->exchange_alpha : machine->network.alpha};
    if (links.inside <= 0)
        links.inside = links.between;
    if (profile->one_node && machine->node.alpha > 0)
        links.alpha = machine->node.alpha;
    /* the messages of a round, and of as many rounds as run at a time, wait together */
    const double gap = profile->one_node ? machine->node.gap : machine->network.gap;
    links.again = gap > 0 && profile->exchange_alpha <= 0 ? gap : links.alpha;
    links.round = links.alpha / HS_ROUNDS_AT_A_TIME;
    return links;
}

/* About as many transfers are listed at most; fewer processes represent all if there are more. */
enum { TRANSFERS_LISTED = 1 << 14 };

/* What is moved. */
struct move_job {
    const struct hs_layout *source, *target;
    int sources, size;
    double bytes;                       /* of an element */
    const struct hs_topology *topology; /* size 0: every process counts as a node */
    int64_t rounds;
};

/* How many of `count` processes are examined. */
static int examined_of(int count, int size)
{
    int affordable = TRANSFERS_LISTED / size + 1;
    return count < affordable ? count : affordable;
}

static int is_between(const struct move_job *job, const struct hs_transfer *transfer)
{
    return transfer->far >= job->size || (job->topology->size == 0 && transfer->far > 0);
}

static hsumma_status transfers_of(const struct move_job *job, int rank, int sends, const struct hs_allocator *memory,
                                  struct hs_transfer **transfer, int *count)
{
    return hs_redistribution_transfers(job->source, job->sources, job->target, job->topology, job->size, rank, sends,
                                       memory, transfer, count);
}

/* Sets *seconds to those of one process: its slower direction, plus its copies.  Adds the bytes that it receives [0]
 * and sends [1] between nodes to node_bytes. */
static hsumma_status process_seconds(const struct move_job *job, int rank, const struct links *links, double copy,
                                     double node_bytes[2], const struct hs_allocator *memory, double *seconds)
{
    double copied = 0;
    hsumma_status status = HSUMMA_OK;
    *seconds = 0;
    for (int way = 0; way < 2 && !status; way++) {
        struct hs_transfer *transfer;
        double between = 0, inside = 0;
        int count, messages = 0;
        status = transfers_of(job, rank, way, memory, &transfer, &count);
        for (int i = 0; i < count; i++) {
            double bytes = (double)transfer[i].elements * job->bytes;
            between += is_between(job, &transfer[i]) ? bytes : 0;
            inside += transfer[i].far > 0 && !is_between(job, &transfer[i]) ? bytes : 0;
            messages += transfer[i].far > 0;
            copied += bytes;
        }
        hs_put(memory, transfer);
        *seconds = fmax(*seconds, between * links->between + inside * links->inside + messages * links->alpha +
                                      (double)(job->rounds - 1) * (messages * links->again + links->round));
        node_bytes[way] += between;
    }
    *seconds += copied * copy;
    return status;
}

/* Sets *bytes to those on the busiest link between nodes.  If there are many processes, some at even distances
 * represent all. */
static hsumma_status busiest_link(const struct move_job *job, const struct hs_allocator *memory, double *bytes)
{
    const struct hs_fabric *fabric = job->topology->fabric;
    const struct hs_division *node = &job->topology->division[HS_NODE];
    size_t links = (size_t)hs_fabric_links(fabric);
    int examined = examined_of(job->size, job->size);
    struct hs_fabric_traffic traffic = {.load = hs_get_zero(memory, links, sizeof *traffic.load),
                                        .link = hs_get(memory, links, sizeof *traffic.link)};
    hsumma_status status = traffic.load && traffic.link ? HSUMMA_OK : HSUMMA_ERR_MEMORY;
    for (int e = 0; e < examined && !status; e++) {
        int rank = (int)((int64_t)e * job->size / examined), from = hs_part_of(node, rank), count;
        struct hs_transfer *transfer;
        status = transfers_of(job, rank, 1, memory, &transfer, &count);
        for (int i = 0; i < count; i++)
            if (is_between(job, &transfer[i]))
                hs_fabric_route(fabric, hs_fabric_at(fabric, from),
                                hs_fabric_at(fabric, hs_part_of(node, transfer[i].rank)),
                                (double)transfer[i].elements * job->bytes * job->size / examined, &traffic);
        hs_put(memory, transfer);
    }
    if (!status)
        *bytes = examined == job->size ? hs_busiest_link(&traffic) : hs_even_link(&traffic, fabric, node->parts);
    hs_put(memory, traffic.load);
    hs_put(memory, traffic.link);
    return status;
}

hsumma_status hs_redistribution_seconds(const struct hs_profile *profile, const struct hs_topology *topology, int size,
                                        const struct hs_layout *source, int sources, const struct hs_layout *target,
                                        size_t bytes, int64_t limit, const struct hs_allocator *memory, double *seconds)
{
    const struct hs_layout *ends[] = {source, &source[sources - 1], target, target};
    const struct links links = links_of(profile);
    const struct hs_machine *machine = &profile->machine;
    struct hs_topology apart = {.size = 0}, together = {.size = 0};
    hsumma_status status = HSUMMA_OK;
    if (!topology && profile->one_node)
        status = hs_topology_blocks(&together, size, 1, 1, memory);
    int64_t needs, rounds = 1;
    if (!status)
        status =
            hs_redistribution_rounds(source, sources, target, 1, (int64_t)bytes, limit, INT64_MAX, &needs, &rounds);
    const struct move_job job = {.source = source,
                                 .target = target,
                                 .sources = sources,
                                 .size = size,
                                 .bytes = (double)bytes,
                                 .rounds = rounds,
                                 .topology = topology            ? topology
                                             : profile->one_node ? &together
                                                                 : &apart};
    const struct hs_division *nodes = topology ? &topology->division[HS_NODE] : NULL;
    *seconds = 0;
    for (int e = 0; e < 4 && !status; e++) {
        int last = ends[e]->extent[0] * ends[e]->extent[1] - 1;
        int end = hs_rank_in(ends[e]->rank, e % 2 ? last : 0), part = nodes ? hs_part_of(nodes, end) : 0;
        int count = nodes ? hs_division_size(nodes, part) : 1; /* the processes on its node, if nodes are known */
        int examined = examined_of(count, size);
        double node_bytes[2] = {0, 0};
        for (int i = 0; i < examined && !status; i++) {
            double process;
            int rank = nodes ? hs_part_rank(nodes, part, i) : end;
            status = process_seconds(&job, rank, &links, machine->copy, node_bytes, memory, &process);
            *seconds = fmax(*seconds, process);
        }
        *seconds = fmax(*seconds, fmax(node_bytes[0], node_bytes[1]) * machine->inject * count / examined);
    }
    if (!status && topology && topology->fabric && hs_fabric_links(topology->fabric) > 0) {
        double most = 0;
        status = busiest_link(&job, memory, &most);
        *seconds = fmax(*seconds, most * links.between);
    }
    hs_topology_free(&together, memory);
    return status;
}
