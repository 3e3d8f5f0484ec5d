#include "hsumma/cost/links.h"

#include "coll/model/flows.h"

#include <math.h>
#include <string.h>

/* The walks along all lines of an axis, which are found once (hs_line_table.walks); NULL if there is no memory. */
static const int *walks_of(const struct hs_line_table *lines, int axis, int in_fabric,
                           const struct hs_allocator *memory)
{
    const struct hs_topology *topology = lines->topology;
    int **walks = &lines->links->walks[2 * in_fabric + axis];
    size_t size = (size_t)lines->grid->extent[axis], all = (size_t)lines->grid->extent[1 - axis];
    if (*walks)
        return *walks;
    int *made = hs_get(memory, all + 2 * all * size, sizeof *made);
    int *order = hs_get(memory, 3 * size, sizeof *order);
    for (size_t number = 0; made && order && number < all; number++) {
        int *position = made + all + number * size, *place = position + all * size, *found = order + size, count;
        const int *node = hs_line_cell_nodes(lines, axis, (int)number, &count);
        made[number] = count;
        for (int c = 0; c < count; c++) {
            position[c] = hs_fabric_at(topology->fabric, node[c]);
            place[c] = c;
        }
        if (!in_fabric)
            continue;
        memcpy(found, position, (size_t)count * sizeof *found);
        hs_fabric_order(topology->fabric, found, count, hs_line_in_fabric(topology, lines->grid, axis, (int)number),
                        order, found + size);
        for (int c = 0; c < count; c++) {
            position[c] = found[order[c]];
            place[order[c]] = c;
        }
    }
    if (order)
        *walks = made;
    else
        hs_put(memory, made);
    hs_put(memory, order);
    return *walks;
}

/* Finds the box of each line along an axis; NULL if some line fills none, or they have unequal numbers of cells. */
static hsumma_status boxes_of(const struct hs_line_table *lines, int axis, const struct hs_allocator *memory,
                              struct hs_box **found)
{
    if (lines->cells[axis].most.division->parts < 2)
        return HSUMMA_OK;
    const int *walks = walks_of(lines, axis, 1, memory);
    int all = lines->grid->extent[1 - axis], size = lines->grid->extent[axis], boxes = 0;
    struct hs_box *box = walks ? hs_get(memory, (size_t)all, sizeof *box) : NULL;
    if (!box)
        return HSUMMA_ERR_MEMORY;
    while (boxes < all && walks[boxes] == walks[0]) {
        hs_box_find(lines->topology->fabric, walks + all + (size_t)boxes * (size_t)size, walks[boxes], &box[boxes]);
        if (!box[boxes].dims)
            break;
        boxes++;
    }
    if (boxes == all)
        *found = box;
    else
        hs_put(memory, box);
    return HSUMMA_OK;
}

hsumma_status hs_find_boxes(struct hs_line_table *lines, const struct hs_allocator *memory)
{
    struct hs_box **box = lines->links->box;
    int share[2][HS_FABRIC_DIMS];
    hsumma_status status = HSUMMA_OK;
    for (int axis = 0; !status && axis < 2; axis++)
        status = boxes_of(lines, axis, memory, &box[axis]);
    if (!status && (box[0] || box[1]))
        status = hs_shares_in_fabric(lines->topology, lines->grid, memory, share);
    for (int axis = 0; !status && axis < 2; axis++)
        for (int line = 0; box[axis] && line < lines->grid->extent[1 - axis]; line++)
            hs_box_take_shares(&box[axis][line], share[axis]);
    return status;
}

/* Adds the flows of all busy groups of a line if the cell at place `root` of the walk has the panel: the groups whose
 * cells are where this cell is inside its group of the level inside, with the root that has its digit on this level. */
static void add_line(const struct hs_fabric *fabric, const int *position, int count, int stride, int size, int root,
                     double weight, const struct hs_rank_flow *flow, int flows, struct hs_fabric_traffic *traffic)
{
    int digit = root / stride % size;
    for (int base = root % stride; base + (size - 1) * stride < count; base += size * stride)
        for (int f = 0; f < flows; f++) {
            int from = base + (flow[f].from + digit) % size * stride, to = base + (flow[f].to + digit) % size * stride;
            if (weight > 0 && flow[f].bytes > 0)
                hs_fabric_route(fabric, position[from], position[to], weight * (double)flow[f].bytes, traffic);
        }
}

double hs_busiest_link(const struct hs_fabric_traffic *traffic)
{
    double most = 0;
    for (int i = 0; i < traffic->links; i++)
        most = traffic->load[traffic->link[i]] > most ? traffic->load[traffic->link[i]] : most;
    return most;
}

double hs_even_link(const struct hs_fabric_traffic *traffic, const struct hs_fabric *fabric, int nodes)
{
    int links[HS_FABRIC_LINK_KINDS], loaded[HS_FABRIC_LINK_KINDS] = {0};
    double sum[HS_FABRIC_LINK_KINDS] = {0}, most = 0, around = (double)nodes / fabric->positions;
    for (int i = 0; i < traffic->links; i++) {
        int all, kind = hs_fabric_link_kind(fabric, traffic->link[i], &all);
        links[kind] = all;
        loaded[kind]++;
        sum[kind] += traffic->load[traffic->link[i]];
    }
    for (int kind = 0; kind < HS_FABRIC_LINK_KINDS; kind++)
        if (loaded[kind])
            most = fmax(most, sum[kind] / fmax(loaded[kind], links[kind] * around));
    return most;
}

struct hs_fabric_traffic *hs_link_scratch(const struct hs_line_table *lines, const struct hs_allocator *memory)
{
    struct hs_fabric_traffic *scratch = &lines->links->scratch;
    size_t links = (size_t)hs_fabric_links(lines->topology->fabric);
    if (!scratch->load)
        scratch->load = hs_get_zero(memory, links, sizeof *scratch->load);
    if (!scratch->link)
        scratch->link = hs_get(memory, links, sizeof *scratch->link);
    return scratch->load && scratch->link ? scratch : NULL;
}

void hs_link_clear(struct hs_fabric_traffic *traffic)
{
    for (int i = 0; i < traffic->links; i++)
        traffic->load[traffic->link[i]] = 0;
    traffic->links = 0;
}

/* The flows of a line with a box, from a root, whose numbers are counted from the root on. */
struct rooted_flows {
    const struct hs_box *box;
    int root, flows;
    struct hs_rank_flow *flow;
};

/* The walks of the lines, and the flows of one of them for the vector of a shape.  Without boxes they are alike for all
 * lines and roots; with boxes they are found when they are first needed. */
struct line_flows {
    struct hs_fabric_traffic *scratch;
    const int *walks;
    struct hs_shape shape;
    struct rooted_flows *known;
    size_t capacity;
    int count;
};

static void free_flows(struct line_flows *of, const struct hs_allocator *memory)
{
    for (int i = 0; i < of->count; i++)
        hs_put(memory, of->known[i].flow);
    hs_put(memory, of->known);
}

/* The flows of a line whose root is at place `root`, or NULL. */
static const struct rooted_flows *flows_from(struct line_flows *of, const struct hs_alg *alg, const struct hs_box *box,
                                             int root, const struct hs_allocator *memory, hsumma_status *status)
{
    int at = 0, size = of->shape.size;
    root = box ? root : 0;
    while (at < of->count && (of->known[at].root != root || (box && !hs_same_box(of->known[at].box, box))))
        at++;
    if (at < of->count)
        return &of->known[at];
    *status = hs_grow(memory, (void **)&of->known, sizeof *of->known, &of->capacity, (size_t)at + 1) ? HSUMMA_ERR_MEMORY
                                                                                                     : HSUMMA_OK;
    if (*status)
        return NULL;
    struct rooted_flows *made = &of->known[at];
    *made = (struct rooted_flows){.box = box, .root = root};
    of->shape.box = box;
    of->shape.root = root;
    *status = hs_flows(alg, &of->shape, memory, &made->flow, &made->flows);
    if (*status)
        return NULL;
    of->count++;
    for (int f = 0; f < made->flows; f++) {
        made->flow[f].from = (made->flow[f].from + size - root) % size;
        made->flow[f].to = (made->flow[f].to + size - root) % size;
    }
    return made;
}

int hs_few_pieces(const struct hs_line_use *use, int64_t bytes)
{
    enum { FEW = 3 };
    const struct hs_shape shape = {.bytes = bytes, .unit = use->unit, .segment = use->segment};
    int64_t pieces = use->alg->flags & HS_USES_SEGMENT ? hs_segments(&shape) : 0;
    return pieces <= FEW ? (int)pieces : 0;
}

static hsumma_status find_flows(const struct hs_line_table *lines, const struct hs_line_use *use,
                                const struct hs_allocator *memory, struct line_flows *found)
{
    /* segments if there are many; and units of a rank in each, so that no piece of the schedule is empty */
    enum { PIECES = 8 };
    int size = use->line.group.size;
    struct hs_shape shape = {.size = size, .unit = use->unit, .segment = PIECES * size * use->unit, .with = use->with};
    shape.bytes = shape.segment * (use->pieces ? use->pieces : PIECES);
    *found = (struct line_flows){
        .scratch = hs_link_scratch(lines, memory),
        .walks = walks_of(lines, use->line.axis, use->alg->collective == HS_BCAST, memory),
        .shape = shape,
    };
    return found->scratch && found->walks ? HSUMMA_OK : HSUMMA_ERR_MEMORY;
}

/* The number of the i-th root's cell: consecutive, or as far apart as hs_pairs_alternate puts the roots of panels if
 * the cells along the other axis have more members. */
static int root_cell(const struct hs_line_table *lines, int axis, int size, int i)
{
    int mine = lines->cells[axis].together, others = lines->cells[1 - axis].together;
    int step = mine > 0 && others > mine ? others / mine : 1;
    return (i * step + i * step / size) % size;
}

/* Adds the loads of all lines for one root: on each line the cell with the same number, whose place in the walk may
 * differ from line to line.  alone: NULL, or receives that of the first line's busiest link. */
static hsumma_status add_lines(const struct hs_line_table *lines, const struct hs_line_use *use, struct line_flows *of,
                               int root, const struct hs_allocator *memory, double *alone)
{
    const struct hs_line *line = &use->line;
    const struct hs_box *boxes = use->alg->flags & HS_USES_BOX ? hs_line_boxes(lines, line->axis) : NULL;
    hsumma_status status = HSUMMA_OK;
    int size = lines->grid->extent[line->axis], all = lines->grid->extent[1 - line->axis];
    for (int number = 0; !status && number < all; number++) {
        const int *position = of->walks + all + (size_t)number * (size_t)size,
                  *place = position + (size_t)all * (size_t)size;
        int count = of->walks[number];
        int cell = (boxes ? root_cell(lines, line->axis, count, root) : root % line->group.size) * line->group.stride;
        int from = cell < count ? place[cell] : 0;
        const struct rooted_flows *flows =
            flows_from(of, use->alg, boxes ? &boxes[number] : NULL, from, memory, &status);
        if (flows)
            add_line(lines->topology->fabric, position, count, line->group.stride, line->group.size, from,
                     hs_line_weight(line, number), flows->flow, flows->flows, of->scratch);
        if (alone && number == 0)
            *alone = hs_busiest_link(of->scratch);
    }
    return status;
}

hsumma_status hs_link_loads(const struct hs_line_table *lines, const struct hs_line_use *use,
                            const struct hs_allocator *memory, double most[HS_LOAD_ROOTS], double *alone)
{
    struct line_flows of;
    hsumma_status status = find_flows(lines, use, memory, &of);
    if (status)
        return status;
    for (int root = 0; !status && root < HS_LOAD_ROOTS; root++) { /* scratch: of this root and those before it */
        status = add_lines(lines, use, &of, root, memory, root == 0 ? alone : NULL);
        most[root] = hs_busiest_link(of.scratch) / (root + 1) / (double)of.shape.bytes;
    }
    *alone /= (double)of.shape.bytes;
    free_flows(&of, memory);
    hs_link_clear(of.scratch);
    return status;
}

static void forget(struct hs_known_loads *known, const struct hs_allocator *memory)
{
    hs_put(memory, known->link);
    hs_put(memory, known->load);
    *known = (struct hs_known_loads){.load = NULL};
}

void hs_link_table_free(struct hs_link_table *table, const struct hs_allocator *memory)
{
    if (!table)
        return;
    for (int i = 0; i < HS_WALKS; i++)
        hs_put(memory, table->walks[i]);
    for (int axis = 0; axis < 2; axis++)
        hs_put(memory, table->box[axis]);
    for (int i = 0; i < HS_KNOWN_LOADS; i++)
        forget(&table->known[i], memory);
    hs_put(memory, table->scratch.load);
    hs_put(memory, table->scratch.link);
    hs_put(memory, table);
}

/* Returns an unused entry for the loads of `links` links.  Before that, entries used least recently are forgotten: one
 * if all are used; more if they have more than STORED links together, but never those that one sum may need. */
static struct hs_known_loads *make_room(struct hs_known_loads known[HS_KNOWN_LOADS], int links,
                                        const struct hs_allocator *memory)
{
    enum { STORED = 1 << 18 };
    for (;;) {
        struct hs_known_loads *oldest = NULL, *unused = NULL;
        int64_t stored = links;
        int entries = 0;
        for (int i = 0; i < HS_KNOWN_LOADS; i++) {
            if (!known[i].load) {
                unused = &known[i];
                continue;
            }
            entries++;
            stored += known[i].links;
            oldest = !oldest || known[i].used < oldest->used ? &known[i] : oldest;
        }
        if (unused && (entries < HS_LINKS_TOGETHER || stored <= STORED))
            return unused;
        forget(oldest, memory);
    }
}

/* The loads of one root, or with boxes, whose loads change most from root to root, of several, relative to the busiest
 * link.  Those used last are kept. */
static hsumma_status loads_of(const struct hs_line_table *lines, const struct hs_line_use *use,
                              const struct hs_allocator *memory, const struct hs_known_loads **found)
{
    struct hs_known_loads *known = lines->links->known;
    int64_t last = 0;
    for (int i = 0; i < HS_KNOWN_LOADS; i++)
        last = known[i].used > last ? known[i].used : last;
    for (int i = 0; i < HS_KNOWN_LOADS; i++)
        if (known[i].load && known[i].alg == use->alg && known[i].where == use->line.where &&
            known[i].size == use->line.group.size && known[i].unit == use->unit && known[i].pieces == use->pieces &&
            hs_same_parameters(&known[i].with, &use->with)) {
            known[i].used = last + 1;
            *found = &known[i];
            return HSUMMA_OK;
        }
    struct line_flows of;
    hsumma_status status = find_flows(lines, use, memory, &of);
    if (status)
        return status;
    int roots = use->alg->flags & HS_USES_BOX ? HS_LOAD_ROOTS : 1;
    for (int root = 0; !status && root < roots; root++)
        status = add_lines(lines, use, &of, root, memory, NULL);
    free_flows(&of, memory);
    if (status) {
        hs_link_clear(of.scratch);
        return status;
    }
    struct hs_fabric_traffic *scratch = of.scratch;
    int links = scratch->links;
    struct hs_known_loads *entry = make_room(known, links, memory);
    *entry = (struct hs_known_loads){use->alg,
                                     use->line.where,
                                     use->line.group.size,
                                     use->unit,
                                     use->pieces,
                                     use->with,
                                     last + 1,
                                     links,
                                     hs_get(memory, (size_t)links + 1, sizeof *entry->link),
                                     hs_get(memory, (size_t)links + 1, sizeof *entry->load)};
    double most = hs_busiest_link(scratch);
    for (int i = 0; entry->link && entry->load && i < links; i++) {
        entry->link[i] = scratch->link[i];
        entry->load[i] = scratch->load[scratch->link[i]] / most;
    }
    hs_link_clear(scratch);
    *found = entry;
    if (entry->link && entry->load)
        return HSUMMA_OK;
    forget(entry, memory);
    return HSUMMA_ERR_MEMORY;
}

hsumma_status hs_links_together(const struct hs_line_table *lines, const struct hs_line_use *use, int uses,
                                const struct hs_allocator *memory, double *seconds)
{
    const struct hs_known_loads *known[HS_LINKS_TOGETHER];
    hsumma_status status = HSUMMA_OK;
    for (int u = 0; !status && u < uses; u++)
        status = loads_of(lines, &use[u], memory, &known[u]);
    if (status)
        return status;
    struct hs_fabric_traffic *scratch = &lines->links->scratch;
    for (int u = 0; u < uses; u++)
        for (int i = 0; i < known[u]->links && use[u].seconds > 0; i++)
            hs_fabric_add(scratch, known[u]->link[i], use[u].seconds * known[u]->load[i]);
    *seconds = hs_busiest_link(scratch);
    hs_link_clear(scratch);
    return HSUMMA_OK;
}
