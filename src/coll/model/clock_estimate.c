/*
 * The clock of many ranks, estimated from a sample. The time of a schedule has two parts. The work of its busiest ranks
 * is the clock of a sample: ranks of three nodes, with lists for the real number of ranks and peers that are always
 * ready. The rest is time in which ranks wait for others: zero in exchanges and rings, growing with the depth of a tree
 * or the length of a chain. This waiting time is the clock of all ranks minus that of a sample; it is computed for
 * three smaller numbers of nodes (or of ranks per node), each twice the previous one, and extrapolated.
 */
#include "coll/model/clock_parts.h"

#include <math.h>

enum {
    WHOLE_RANKS = 64,          /* up to this number of ranks, all ranks are clocked */
    MOST_WHOLE_RANKS = 512,    /* up to this number of ranks, all are clocked if their lists are short */
    WHOLE_STEPS = 48 * 1024,   /* lists are short if they all together have at most this number of steps */
    SAMPLE_STEPS = 512 * 1024, /* approximate maximum number of steps in a sample of more than LEAST_RANKS lists */
    LEAST_RANKS = 8,           /* minimum of ranks in a sample, even if lists are long: ranks are alike */
    LEAST_PARTS = 4,           /* a shape is thinned out to no fewer nodes, or ranks per node, than this */
    WAITS = 3                  /* number of thinned-out shapes from which the waiting time is extrapolated */
};

/* The shape with 1 / 2^halvings of the nodes, or of each node's ranks if these are more than the nodes. */
struct thinned {
    struct hs_shape shape;
    struct hs_topology topology;
};

struct estimator {
    const struct hs_alg *alg;
    const struct hs_shape *shape;
    const struct hs_machine *machine;
    const struct hs_allocator *memory;
    struct hs_clock_estimate *estimate;
};

static int halves_nodes(const struct hs_shape *shape)
{
    const struct hs_division *node = shape->topology ? &shape->topology->division[HS_NODE] : NULL;
    return !node || node->parts >= hs_division_largest(node);
}

/* The number of parts that can be halved: nodes, or ranks of the largest node. */
static int parts_of(const struct hs_shape *shape)
{
    const struct hs_division *node = shape->topology ? &shape->topology->division[HS_NODE] : NULL;
    return !node ? shape->size : halves_nodes(shape) ? node->parts : hs_division_largest(node);
}

/* Keeps every 2^halvings-th node, or rank of each node, from the first one on (it has the root, rank 0). */
static hsumma_status thin_out(const struct hs_shape *shape, int halvings, const struct hs_allocator *memory,
                              struct thinned *thin)
{
    const struct hs_topology *all = shape->topology;
    int every = 1 << halvings, size = 0;
    *thin = (struct thinned){.shape = *shape};
    if (!all) {
        thin->shape.size = (shape->size + every - 1) / every;
        return HSUMMA_OK;
    }
    const struct hs_division *nodes = &all->division[HS_NODE];
    int by_node = halves_nodes(shape);
    int *name = hs_get(memory, (size_t)shape->size, 2 * sizeof *name), *socket = name + shape->size;
    if (!name)
        return HSUMMA_ERR_MEMORY;
    for (int r = 0; r < shape->size; r++) {
        if ((by_node ? hs_part_of(nodes, r) : hs_place_in_part(nodes, r)) % every)
            continue;
        name[size] = hs_part_of(nodes, r);
        socket[size++] = hs_part_of(&all->division[HS_SOCKET], r);
    }
    hsumma_status status = hs_topology_make(&thin->topology, size, name, socket, memory);
    hs_put(memory, name);
    thin->topology.shared_bytes = all->shared_bytes;
    thin->topology.direct = all->direct;
    thin->shape.topology = &thin->topology;
    thin->shape.size = size;
    return status;
}

static int in_sample(const struct hs_shape *shape, int rank)
{
    int parts = hs_nodes_of(shape->topology, shape->size), node = hs_node_of(shape->topology, rank);
    return node == 0 || node == parts / 2 || node == parts - 1;
}

/*
 * Clocks a sample of at most `most` ranks, but at least two: the first and a middle rank, then the ranks of the first,
 * middle and last node. Sets *lists to the number of these ranks.
 */
static hsumma_status clock_sample(const struct estimator *e, const struct hs_shape *shape, int most,
                                  struct hs_clock_result *result, int *lists)
{
    unsigned char *sample = hs_get_zero(e->memory, (size_t)shape->size, 1);
    if (!sample)
        return HSUMMA_ERR_MEMORY;
    sample[0] = sample[shape->size / 2] = 1;
    *lists = shape->size > 1 ? 2 : 1;
    for (int r = 0; r < shape->size && *lists < most; r++)
        if (!sample[r] && in_sample(shape, r)) {
            sample[r] = 1;
            ++*lists;
        }
    hsumma_status status = hs_clock_sample(e->alg, shape, e->machine, e->memory, sample, result, NULL);
    hs_put(e->memory, sample);
    e->estimate->lists += *lists;
    return status;
}

static hsumma_status clock_whole(const struct estimator *e, const struct hs_shape *shape, double *seconds)
{
    e->estimate->lists += shape->size;
    return hs_clock_seconds(e->alg, shape, e->machine, e->memory, seconds, NULL);
}

/* The number of ranks in a sample: fewer if lists are long. steps: those in the lists of two ranks. */
static int sample_ranks(int steps, int size)
{
    int ranks = SAMPLE_STEPS / (steps > size ? steps : size);
    return ranks > LEAST_RANKS ? ranks : LEAST_RANKS;
}

/*
 * Sets *seconds to the work of the busiest ranks, and *steps to the approximate number of steps of all lists. If two
 * ranks already need `enough` seconds, looks at no others.
 */
static hsumma_status look_at_sample(const struct estimator *e, const struct hs_shape *shape, double enough,
                                    double *seconds, double *steps)
{
    struct hs_clock_result result = {.seconds = 0};
    int lists = 1;
    hsumma_status status = clock_sample(e, shape, 2, &result, &lists);
    if (!status && result.seconds < enough)
        status = clock_sample(e, shape, sample_ranks(result.steps, shape->size), &result, &lists);
    *seconds = result.seconds;
    *steps = (double)result.steps / lists * shape->size;
    return status;
}

/*
 * Extrapolates over doublings of the number of nodes: each doubling adds half the last increment (waiting converges),
 * the same increment (a tree) or twice as much (a chain).
 */
static double go_on(const double value[WAITS], int doublings)
{
    double before = value[1] - value[0], last = value[2] - value[1], times = last / before, sum = value[2];
    times = !(times >= 0.7) ? 0.5 : times < 1.7 || times > 2.4 ? 1 : 2;
    for (; doublings > 0; doublings--)
        sum += last *= times;
    return sum > 0 ? sum : 0;
}

/* Sets *seconds to the waiting time at the real number of nodes, extrapolated from three smaller numbers. */
static hsumma_status waiting(const struct estimator *e, int halvings, double *seconds)
{
    double waits[WAITS];
    for (int i = 0; i < WAITS; i++) {
        struct thinned thin;
        double whole = 0, work = 0, steps;
        hsumma_status status = thin_out(e->shape, halvings + WAITS - 1 - i, e->memory, &thin);
        if (!status)
            status = clock_whole(e, &thin.shape, &whole);
        if (!status)
            status = look_at_sample(e, &thin.shape, HUGE_VAL, &work, &steps);
        hs_topology_free(&thin.topology, e->memory);
        if (status)
            return status;
        waits[i] = whole - work;
    }
    *seconds = go_on(waits, halvings);
    return HSUMMA_OK;
}

/*
 * Sets *halvings to the number of halvings after which all lists are short enough to be clocked, limited so that the
 * smallest of the WAITS shapes keeps LEAST_PARTS parts; 0 if none is needed, or if there are too few parts.
 */
static hsumma_status halvings_for(const struct estimator *e, double steps, int *halvings)
{
    int most = 0, parts = parts_of(e->shape);
    while (parts >> (most + WAITS) >= LEAST_PARTS)
        most++;
    *halvings = 0;
    while (*halvings < most && e->shape->size >> *halvings > MOST_WHOLE_RANKS)
        ++*halvings;
    for (int known = *halvings == 0; *halvings < most && (!known || steps > WHOLE_STEPS); known = 1) {
        struct thinned thin;
        double seconds;
        *halvings += known;
        hsumma_status status = thin_out(e->shape, *halvings, e->memory, &thin);
        if (!status)
            status = look_at_sample(e, &thin.shape, HUGE_VAL, &seconds, &steps);
        hs_topology_free(&thin.topology, e->memory);
        if (status)
            return status;
    }
    return HSUMMA_OK;
}

hsumma_status hs_clock_estimate(const struct hs_alg *alg, const struct hs_shape *shape,
                                const struct hs_machine *machine, const struct hs_allocator *memory, double enough,
                                struct hs_clock_estimate *estimate)
{
    const struct estimator e = {alg, shape, machine, memory, estimate};
    double work, steps, waits = 0;
    int halvings = 0;
    *estimate = (struct hs_clock_estimate){0};
    if (shape->size <= WHOLE_RANKS && enough > 0)
        return clock_whole(&e, shape, &estimate->seconds);
    hsumma_status status = look_at_sample(&e, shape, enough, &work, &steps);
    if (status || work >= enough) {
        estimate->seconds = work;
        return status;
    }
    status = halvings_for(&e, steps, &halvings);
    if (!status && halvings == 0)
        return clock_whole(&e, shape, &estimate->seconds);
    if (!status)
        status = waiting(&e, halvings, &waits);
    estimate->seconds = status ? 0 : work + waits;
    return status;
}
