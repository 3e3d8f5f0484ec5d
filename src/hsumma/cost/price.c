#include "hsumma/cost/price.h"

#include "base/hash.h"

#include <math.h>
#include <string.h>

void hs_clock_memo_free(struct hs_clock_memo *memo)
{
    hs_put(memo->memory, memo->entry);
    memset(memo, 0, sizeof *memo);
}

void hs_clock_memo_begin(struct hs_clock_memo *memo, const struct hs_profile *profile,
                         const struct hs_allocator *memory)
{
    hs_clock_memo_free(memo);
    memo->profile = profile;
    memo->memory = memory;
    memo->entry = hs_get(memory, HS_CLOCK_ENTRIES + HS_CLOCK_RECENT, sizeof *memo->entry);
}

/* segment: 0 if the algorithm uses none. */
static struct hs_clock_key key_of(enum hs_clock_kind kind, const struct hs_line_use *use, int64_t bytes,
                                  int64_t segment)
{
    return (struct hs_clock_key){.kind = kind,
                                 .alg = use->alg,
                                 .where = use->line.where,
                                 .size = use->line.group.size,
                                 .bytes = bytes,
                                 .unit = use->unit,
                                 .segment = segment,
                                 .with = use->with};
}

static unsigned hash_of(const struct hs_clock_key *key)
{
    uint64_t hash = hs_mix(
        hs_mix(hs_mix((uint64_t)(uintptr_t)key->alg >> 4, key->where), (uint64_t)key->size),
        hs_mix(hs_mix((uint64_t)key->bytes, (uint64_t)key->unit), (uint64_t)key->segment * HS_CLOCK_KINDS + key->kind));
    return (unsigned)(hash >> 40);
}

static int same_key(const struct hs_clock_key *x, const struct hs_clock_key *y)
{
    return x->alg == y->alg && x->where == y->where && x->bytes == y->bytes && x->segment == y->segment &&
           x->kind == y->kind && x->size == y->size && x->unit == y->unit && hs_same_parameters(&x->with, &y->with);
}

/* The slot with a key or, if there is none, the free slot to fill. */
static uint16_t *slot_of(struct hs_clock_memo *memo, const struct hs_clock_key *key)
{
    for (unsigned i = hash_of(key);; i++) {
        uint16_t *slot = &memo->slot[i % HS_CLOCK_SLOTS];
        if (!*slot || same_key(&memo->entry[*slot - 1].key, key))
            return slot;
    }
}

/*
 * The machine as seen by one line.  All lines of a kind do the same work at the same time, so the lines that send from
 * a node share its outgoing link evenly.  The clock's own model of injection is not used: in that model an early
 * message of a line can delay a late message of the same line, so a faster network could take longer.
 */
static struct hs_machine shared_machine(const struct hs_machine *machine, double sharing)
{
    struct hs_machine shared = *machine;
    double least = machine->inject * sharing;
    shared.inject = 0;
    shared.network.beta = fmax(machine->network.beta, least);
    shared.network.beta_long = fmax(machine->network.beta_long, least);
    return shared;
}

static hsumma_status clock_from(const struct hs_clock_memo *memo, const struct hs_line_table *lines,
                                const struct hs_line_use *use, int root, const struct hs_machine *machine,
                                const struct hs_shape *shape, struct hs_cost *cost)
{
    struct hs_topology topology; /* of the line, with its members numbered from `root` */
    struct hs_shape here = *shape;
    const struct hs_group *group = &use->line.group;
    const int nodes = lines->topology || !lines->one_node ? group->size : 1;
    hsumma_status status = lines->topology && !use->line.cells
                               ? hs_group_topology(group, root, lines->topology, memo->memory, &topology)
                               : hs_topology_blocks(&topology, group->size, nodes, 1, memo->memory);
    if (status)
        return status;
    here.topology = &topology;
    here.box = use->line.box;
    status = hs_clock_seconds(use->alg, &here, machine, memo->memory, &cost->seconds, &cost->load);
    hs_topology_free(&topology, memo->memory);
    return status;
}

/* The clock for a root, if `sharing` lines share a node's link.  slowed: messages take so many times as long, because
 * lines share links; the seconds that this adds are in cost->beside, too. */
static hsumma_status clock_slowed(const struct hs_clock_memo *memo, const struct hs_line_table *lines,
                                  const struct hs_line_use *use, int root, double sharing, double slowed,
                                  const struct hs_shape *shape, struct hs_cost *cost)
{
    struct hs_machine machine = shared_machine(&memo->profile->machine, sharing);
    struct hs_cost slow = {.seconds = 0};
    hsumma_status status = clock_from(memo, lines, use, root, &machine, shape, cost);
    if (status || slowed <= 1)
        return status;
    machine.network.beta *= slowed;
    machine.network.beta_long *= slowed;
    status = clock_from(memo, lines, use, root, &machine, shape, &slow);
    cost->beside = slow.seconds - cost->seconds;
    cost->seconds = slow.seconds;
    return status;
}

/* The time of a line's messages, which depend on each other, and of all lines' messages on the nodes' links, if the
 * lines' roots are on different nodes: neither is hidden entirely behind the other.  The factor is that of products on
 * emulated clusters (doc/results/planner.md). */
static double with_waits(double line, double links)
{
    static const double WAITS = 0.5;
    return line > links ? line + WAITS * links : links + WAITS * line;
}

/*
 * The clock for a root.  If the lines' roots are on different nodes (line->crowd < line->sharing), fewer lines send
 * from a node at the same time, and the load is even: a node carries the mean load of a line's members for each of its
 * lines.  In algorithms that do not rotate the ranks (HS_TRUE_ROOT), except those in a box, most messages do not depend
 * on the root; the price of such an algorithm is halfway between this price and that for roots on one node.
 */
static hsumma_status clock_of_lines(const struct hs_clock_memo *memo, const struct hs_line_table *lines,
                                    const struct hs_line_use *use, int root, double slowed,
                                    const struct hs_shape *shape, struct hs_cost *cost)
{
    const struct hs_line *line = &use->line;
    hsumma_status status = clock_slowed(memo, lines, use, root, line->sharing, slowed, shape, cost);
    if (status || line->crowd == line->sharing)
        return status;
    const struct hs_cost none = {.seconds = 0}, together = *cost;
    struct hs_cost apart = none;
    status = clock_slowed(memo, lines, use, root, line->crowd, slowed, shape, &apart);
    apart.seconds = with_waits(apart.seconds, together.load.mean);
    apart.load.mean = fmax(apart.load.mean, together.load.mean);
    for (int i = 0; i < HS_LOAD_ROOTS; i++)
        apart.load.most[i] = fmax(apart.load.most[i], together.load.mean);
    double part = use->alg->flags & HS_TRUE_ROOT && !(use->alg->flags & HS_USES_BOX) ? 0.5 : 1;
    *cost = hs_cost_add(hs_cost_add(none, together, 1 - part), apart, part);
    return status;
}

/*
 * Finds one or two roots that represent all, and returns their number.  Roots change from panel to panel, and ranks are
 * counted from the root.  If several members share a node, a tree crosses between nodes more often for a root in the
 * middle of a node than for its first process.  With two members per node, both roots count half; with more members, a
 * root in the middle represents all.
 */
static int typical_roots(const struct hs_line_table *lines, const struct hs_line *line, int root[2])
{
    int mates = 1, size = line->group.size;
    root[0] = 0;
    root[1] = 1;
    if (!lines->topology || line->nodes == 1 || line->nodes == size)
        return 1;
    const struct hs_division *node = &lines->topology->division[HS_NODE];
    int first = hs_part_of(node, hs_group_rank(&line->group, 0));
    while (mates < size && hs_part_of(node, hs_group_rank(&line->group, mates)) == first)
        mates++;
    if (mates > 2)
        root[0] = mates / 2;
    return mates == 2 ? 2 : 1;
}

static void remember(struct hs_clock_memo *memo, const struct hs_clock_key *key, const struct hs_cost *cost)
{
    if (!memo->entry)
        return;
    if (memo->count == HS_CLOCK_ENTRIES) {
        memset(memo->slot, 0, sizeof memo->slot);
        memo->count = 0;
    }
    uint16_t *slot = slot_of(memo, key);
    memo->entry[memo->count++] = (struct hs_clock_entry){*key, *cost};
    *slot = (uint16_t)memo->count;
}

/* Sets *byte to the loads of the links by one byte of a vector of `bytes`, with the seconds of a line alone. */
static hsumma_status links_of(struct hs_clock_memo *memo, const struct hs_line_table *lines,
                              const struct hs_line_use *use, int64_t bytes, struct hs_cost *byte)
{
    struct hs_line_use cut = *use;
    cut.pieces = hs_few_pieces(use, bytes);
    const struct hs_clock_key key = key_of(HS_LINKS_ENTRY, use, cut.pieces, 0);
    const uint16_t *slot = slot_of(memo, &key);
    if (*slot) {
        *byte = memo->entry[*slot - 1].cost;
        return HSUMMA_OK;
    }
    *byte = (struct hs_cost){.seconds = 0};
    hsumma_status status = hs_link_loads(lines, &cut, memo->memory, byte->link, &byte->seconds);
    if (!status)
        remember(memo, &key, byte);
    return status;
}

/* Sets *slowed to the times as long that messages take because lines share links.  On a torus all messages of a line
 * share links with those of other lines; in other fabrics only those over the few links to which many lead. */
static hsumma_status slowed_by_lines(struct hs_clock_memo *memo, const struct hs_line_table *lines,
                                     const struct hs_line_use *use, int64_t bytes, double *slowed)
{
    struct hs_cost byte;
    if (!hs_links_known(lines, &use->line) || lines->topology->fabric->kind != HS_TORUS)
        return HSUMMA_OK;
    hsumma_status status = links_of(memo, lines, use, bytes, &byte);
    *slowed = byte.seconds > 0 ? byte.link[0] / byte.seconds : 1;
    return status;
}

/* Adds to a cost what the links need, at least as long as the busiest link works for all lines.  byte: links_of. */
static void load_links(const struct hs_clock_memo *memo, const struct hs_cost *byte, int64_t bytes,
                       struct hs_cost *cost)
{
    const struct hs_link *network = &memo->profile->machine.network;
    double beta = network->eager > 0 && network->beta_long > 0 ? network->beta_long : network->beta;
    double scale = (double)bytes * beta;
    double more = fmax(byte->link[0] * scale - cost->seconds, 0);
    cost->beside += more;
    cost->seconds += more;
    for (int i = 0; i < HS_LOAD_ROOTS; i++)
        cost->link[i] = byte->link[i] * scale;
}

/* Sets cost->seconds to the rounds of polls: the seconds on a machine on which messages and signals take a second,
 * however many are in flight, and nothing else takes time. */
static hsumma_status count_rounds(const struct hs_clock_memo *memo, const struct hs_line_table *lines,
                                  const struct hs_line_use *use, int root, const struct hs_shape *shape,
                                  struct hs_cost *cost)
{
    enum { PORTS = 64 }; /* about as many steps of a process are in progress */
    const struct hs_link second = {.alpha = 1, .gap = 1e-9};
    const struct hs_machine machine = {
        .network = second, .node = second, .offload = second, .signal = 1, .ports = PORTS};
    return clock_from(memo, lines, use, root, &machine, shape, cost);
}

/* The entry of one of the stored sizes. */
static struct hs_cost clock_at(struct hs_clock_memo *memo, enum hs_clock_kind kind, const struct hs_line_table *lines,
                               const struct hs_line_use *use, const struct hs_shape *shape, hsumma_status *status)
{
    const struct hs_clock_key key = key_of(kind, use, shape->bytes, shape->segment);
    const uint16_t *slot = slot_of(memo, &key);
    if (*slot)
        return memo->entry[*slot - 1].cost;
    int roots[2], count = typical_roots(lines, &use->line, roots);
    struct hs_cost none = {.seconds = 0}, cost = none;
    double slowed = 1;
    hsumma_status mine = kind == HS_COST_ENTRY ? slowed_by_lines(memo, lines, use, shape->bytes, &slowed) : HSUMMA_OK;
    for (int i = 0; i < count; i++) {
        struct hs_cost one = none;
        if (!mine)
            mine = kind == HS_ROUNDS_ENTRY ? count_rounds(memo, lines, use, roots[i], shape, &one)
                                           : clock_of_lines(memo, lines, use, roots[i], slowed, shape, &one);
        if (mine) {
            *status = mine;
            return none;
        }
        cost = hs_cost_add(cost, one, 1.0 / count);
    }
    remember(memo, &key, &cost);
    return cost;
}

/* The price of MPI's own collective, whose algorithm is unknown: the least price of the algorithms that MPI may use. */
static struct hs_cost price_of_mpi(struct hs_clock_memo *memo, const struct hs_line_table *lines,
                                   const struct hs_line_use *use, int64_t bytes, hsumma_status *status)
{
    struct hs_cost least = {.seconds = -1};
    struct hs_line_use other = {.line = use->line, .unit = use->unit};
    for (int i = 0; (other.alg = hs_alg_at(i)) != NULL; i++) {
        if (other.alg->collective != use->alg->collective || !(other.alg->flags & HS_LIKE_MPI))
            continue;
        struct hs_cost cost = hs_price(memo, lines, &other, bytes, status);
        if (least.seconds < 0 || cost.seconds < least.seconds)
            least = cost;
    }
    return least;
}

/*
 * Sets size[] to the two stored sizes from which the price of `bytes` is interpolated or extrapolated: powers of two
 * or, for an algorithm with segments, two long pipelines, beyond which the price grows linearly.
 */
static void sizes_around(int64_t bytes, int64_t unit, int64_t segment, int64_t size[2])
{
    enum { PIPELINE = 8 };
    int64_t piece = segment / unit * unit;
    if (segment && piece && bytes > 2 * PIPELINE * piece) {
        size[0] = PIPELINE * piece;
        size[1] = 2 * PIPELINE * piece;
        return;
    }
    int64_t units = bytes / unit, step = unit;
    for (; units >= 2; units /= 2)
        step *= 2;
    size[0] = bytes < unit ? 0 : step;
    size[1] = size[0] == bytes ? bytes : size[0] + step;
}

/* The cost for any size, from the stored sizes. */
static struct hs_cost interpolate(struct hs_clock_memo *memo, enum hs_clock_kind kind,
                                  const struct hs_line_table *lines, const struct hs_line_use *use, int64_t bytes,
                                  int64_t segment, hsumma_status *status)
{
    struct hs_shape shape[2];
    int64_t size[2];
    sizes_around(bytes, use->unit, segment, size);
    for (int i = 0; i < 2; i++)
        shape[i] = (struct hs_shape){.size = use->line.group.size,
                                     .bytes = size[i],
                                     .unit = use->unit,
                                     .segment = segment,
                                     .with = use->with,
                                     .box = use->line.box};
    if (size[0] == size[1] || hs_alg_unfit(use->alg, &shape[0]) || hs_alg_unfit(use->alg, &shape[1])) {
        shape[0].bytes = bytes;
        return clock_at(memo, kind, lines, use, &shape[0], status);
    }
    const struct hs_cost low = clock_at(memo, kind, lines, use, &shape[0], status);
    const struct hs_cost high = clock_at(memo, kind, lines, use, &shape[1], status);
    double part = (double)(bytes - size[0]) / (double)(size[1] - size[0]);
    return hs_cost_add(low, hs_cost_add(high, low, -1), part);
}

/* The cost for any size.  A search asks for the same one again and again: candidates differ in one level or in the
 * order of panels only. */
static struct hs_cost interpolated(struct hs_clock_memo *memo, enum hs_clock_kind kind,
                                   const struct hs_line_table *lines, const struct hs_line_use *use, int64_t bytes,
                                   hsumma_status *status)
{
    const int64_t segment = use->alg->flags & HS_USES_SEGMENT ? use->segment : 0;
    const struct hs_clock_key key = key_of(kind, use, bytes, segment);
    const unsigned place = hash_of(&key) % HS_CLOCK_RECENT;
    hsumma_status mine = HSUMMA_OK;
    if (memo->filled[place] && same_key(&memo->entry[HS_CLOCK_ENTRIES + place].key, &key))
        return memo->entry[HS_CLOCK_ENTRIES + place].cost;
    const struct hs_cost cost = interpolate(memo, kind, lines, use, bytes, segment, &mine);
    if (mine) {
        *status = mine;
    } else if (memo->entry) {
        memo->entry[HS_CLOCK_ENTRIES + place] = (struct hs_clock_entry){key, cost};
        memo->filled[place] = 1;
    }
    return cost;
}

struct hs_cost hs_price(struct hs_clock_memo *memo, const struct hs_line_table *lines, const struct hs_line_use *use,
                        int64_t bytes, hsumma_status *status)
{
    if (use->line.group.size == 1 || bytes == 0)
        return (struct hs_cost){.seconds = 0};
    if (use->alg->flags & HS_BY_MPI)
        return price_of_mpi(memo, lines, use, bytes, status);
    struct hs_cost cost = interpolated(memo, HS_COST_ENTRY, lines, use, bytes, status), byte;
    if (!hs_links_known(lines, &use->line))
        return cost;
    hsumma_status loaded = links_of(memo, lines, use, bytes, &byte);
    if (!loaded)
        load_links(memo, &byte, bytes, &cost);
    *status = loaded ? loaded : *status;
    return cost;
}

double hs_poll_rounds(struct hs_clock_memo *memo, const struct hs_line_table *lines, const struct hs_line_use *use,
                      int64_t bytes, hsumma_status *status)
{
    const int size = use->line.group.size;
    double rounds = 0;
    if (size == 1 || bytes == 0)
        return 0;
    if (use->alg->flags & HS_BY_MPI) { /* those of a tree */
        for (int reached = 1; reached < size; reached *= 2)
            rounds++;
        return rounds;
    }
    if (!(use->alg->flags & HS_USES_SEGMENT)) /* they hardly depend on the size */
        bytes = size * use->unit;
    return interpolated(memo, HS_ROUNDS_ENTRY, lines, use, bytes, status).seconds;
}
