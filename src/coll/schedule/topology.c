#include "coll/schedule/topology.h"

/* The number of ints in the tables of a division: four arrays, of[] first. */
static size_t table_ints(int size)
{
    return 4 * (size_t)size + 1;
}

/* True if ranks a and b are in the same part: equal in both arrays. name[] has sockets or, again, nodes. */
static int together(const int *node, const int *name, int a, int b)
{
    return node[a] == node[b] && name[a] == name[b];
}

/* True if the part of rank a comes after that of rank b in the order of the names. */
static int follows(const int *node, const int *name, int a, int b)
{
    return node[a] != node[b] ? node[a] > node[b] : name[a] > name[b];
}

/* The size of the parts if a division needs no tables, and the names of the parts ascend; otherwise 0. */
static int equal_parts(int size, const int *node, const int *name)
{
    int each = 1;
    while (each < size && together(node, name, each, 0))
        each++;
    for (int r = each; r < size; r++)
        if (r % each ? !together(node, name, r, r - 1) : !follows(node, name, r, r - 1))
            return 0;
    return each;
}

static void divide_equally(struct hs_division *division, int size, int each)
{
    *division = (struct hs_division){
        .size = size, .parts = (size + each - 1) / each, .each = each, .even = size % each == 0, .contiguous = 1};
}

/* Fills in a division with tables. Time: O(size) if the names of new parts increase, else O(size * parts). */
static void divide(struct hs_division *division, int *block, int size, const int *node, const int *name)
{
    *division = (struct hs_division){.size = size,
                                     .of = block,
                                     .index = block + size,
                                     .member = block + 2 * (size_t)size,
                                     .first = block + 3 * (size_t)size};
    int *last_of_name = division->member; /* until it is filled in: the highest rank found so far in each part */
    int highest = 0;                      /* a rank whose name no earlier rank exceeds */
    for (int r = 0; r < size; r++) {
        int part = r > 0 && together(node, name, r, r - 1) ? division->of[r - 1] : 0;
        if (r > 0 && follows(node, name, r, highest)) {
            part = division->parts;
            highest = r;
        }
        while (part < division->parts && !together(node, name, r, last_of_name[part]))
            part++;
        if (part == division->parts) {
            division->parts++;
            division->first[part + 1] = 0;
        }
        last_of_name[part] = r;
        division->of[r] = part;
        division->index[r] = division->first[part + 1]++;
    }
    division->first[0] = 0;
    division->even = division->contiguous = 1;
    for (int i = 0; i < division->parts; i++) {
        division->even &= division->first[i + 1] == division->first[1] - division->first[0];
        division->first[i + 1] += division->first[i];
    }
    for (int r = 0; r < size; r++) {
        int at = division->first[division->of[r]] + division->index[r];
        division->member[at] = r;
        division->contiguous &= at == r;
    }
}

/* Makes both divisions, which share tables without sockets. Allocates the tables by the builder, if there is one. */
static hsumma_status fill(struct hs_topology *topology, int size, const int *node, const int *socket,
                          struct hs_builder *builder, const struct hs_allocator *memory)
{
    const int *const name[HS_DIVISION_KINDS] = {[HS_NODE] = node, [HS_SOCKET] = socket};
    int each[HS_DIVISION_KINDS], tables = 0;
    for (int d = 0; d < HS_DIVISION_KINDS; d++) {
        each[d] = name[d] ? equal_parts(size, node, name[d]) : each[HS_NODE];
        tables += name[d] && !each[d];
    }
    size_t ints = (size_t)tables * table_ints(size);
    int *block = !ints     ? NULL
                 : builder ? hs_builder_get(builder, ints, sizeof *block)
                           : hs_get(memory, ints, sizeof *block);
    if (ints && !block)
        return HSUMMA_ERR_MEMORY;
    topology->size = size;
    topology->tables = block;
    for (int d = 0; d < HS_DIVISION_KINDS; d++)
        if (each[d]) {
            divide_equally(&topology->division[d], size, each[d]);
        } else if (name[d]) {
            divide(&topology->division[d], block, size, node, name[d]);
            block += table_ints(size);
        } else {
            topology->division[d] = topology->division[HS_NODE];
        }
    return HSUMMA_OK;
}

hsumma_status hs_topology_make(struct hs_topology *topology, int size, const int *node, const int *socket,
                               const struct hs_allocator *memory)
{
    *topology = (struct hs_topology){0};
    return fill(topology, size, node, socket, NULL, memory);
}

static int block_of(int rank, int size, int parts)
{
    int each = size / parts, longer = size % parts;
    return rank < longer * (each + 1) ? rank / (each + 1) : longer + (rank - longer * (each + 1)) / each;
}

hsumma_status hs_topology_blocks(struct hs_topology *topology, int size, int nodes, int sockets,
                                 const struct hs_allocator *memory)
{
    *topology = (struct hs_topology){0};
    if (size < 1 || nodes < 1 || nodes > size || sockets < 1)
        return HSUMMA_ERR_ARGUMENT;
    int *name = hs_get(memory, (size_t)size, 2 * sizeof *name);
    if (!name)
        return HSUMMA_ERR_MEMORY;
    int each = size / nodes, longer = size % nodes;
    sockets = sockets <= each ? sockets : each + 1; /* a node has no more; numbers of sockets must not overflow */
    for (int r = 0; r < size; r++) {
        int node = name[r] = block_of(r, size, nodes), ranks = each + (node < longer);
        int in_node = r - (node * each + (node < longer ? node : longer));
        name[size + r] = node * sockets + block_of(in_node, ranks, sockets < ranks ? sockets : ranks);
    }
    hsumma_status status = hs_topology_make(topology, size, name, name + size, memory);
    hs_put(memory, name);
    return status;
}

hsumma_status hs_topology_renumber(struct hs_topology *topology, const int *order, const struct hs_allocator *memory)
{
    struct hs_division *old = &topology->division[HS_NODE], made = *old;
    int size = old->size, filled = 0;
    int *block = hs_get(memory, table_ints(size), sizeof *block);
    if (!block)
        return HSUMMA_ERR_MEMORY;
    made.each = 0;
    made.of = block;
    made.index = block + size;
    made.member = block + 2 * (size_t)size;
    made.first = block + 3 * (size_t)size;
    for (int part = 0; part < old->parts; part++) {
        made.first[part] = filled;
        for (int i = 0; i < hs_division_size(old, order[part]); i++) {
            int rank = hs_part_rank(old, order[part], i);
            made.of[rank] = part;
            made.index[rank] = i;
            made.member[filled++] = rank;
        }
    }
    made.first[old->parts] = filled;
    hs_put(memory, topology->tables);
    topology->tables = block;
    topology->division[HS_NODE] = topology->division[HS_SOCKET] = made;
    return HSUMMA_OK;
}

void hs_topology_free(struct hs_topology *topology, const struct hs_allocator *memory)
{
    hs_put(memory, topology->tables);
    *topology = (struct hs_topology){0};
}

struct hs_topology *hs_topology_of(struct hs_builder *builder, const struct hs_topology *topology, const int *rank,
                                   int size, int64_t shared_bytes)
{
    struct hs_topology *part = hs_builder_get(builder, 1, sizeof *part);
    int *node = hs_builder_get(builder, (size_t)size, 2 * sizeof *node), *socket = node + size;
    if (!part || !node)
        return NULL;
    for (int i = 0; i < size; i++) {
        node[i] = topology ? hs_part_of(&topology->division[HS_NODE], rank[i]) : i;
        socket[i] = topology ? hs_part_of(&topology->division[HS_SOCKET], rank[i]) : i;
    }
    if (fill(part, size, node, socket, builder, NULL))
        return NULL;
    if (topology) {
        part->shared_bytes = topology->shared_bytes < shared_bytes ? topology->shared_bytes : shared_bytes;
        part->direct = topology->direct;
    }
    return part;
}

const int *hs_part_ranks(struct hs_builder *builder, const struct hs_division *division, int part)
{
    int size = hs_division_size(division, part), begin = hs_ranks_before(division, part);
    int *rank = division->each ? hs_builder_get(builder, (size_t)size, sizeof *rank) : division->member + begin;
    for (int i = 0; rank && division->each && i < size; i++)
        rank[i] = begin + i;
    return rank;
}
