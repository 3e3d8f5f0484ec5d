#include "coll/schedule/topology.h"

#include <string.h>

/* The number of ints in the block of one division: five arrays, of[] first. */
static size_t division_ints(int size)
{
    return 5 * (size_t)size + 1;
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

/*
 * Fills in a division, whose arrays are in `block`. Time: O(size) if the names of new parts increase, else
 * O(size * parts).
 */
static void divide(struct hs_division *division, int *block, int size, const int *node, const int *name)
{
    division->of = block;
    division->index = block + size;
    division->member = block + 2 * (size_t)size;
    division->first = block + 3 * (size_t)size;
    int *last_of_name = block + 4 * (size_t)size + 1; /* last_of_name[i] is the highest rank found so far in part i */
    int highest = 0;                                  /* a rank whose name no earlier rank exceeds */
    division->parts = 0;
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

static void fill(struct hs_topology *topology, int *block, int size, const int *node, const int *socket)
{
    topology->size = size;
    divide(&topology->division[HS_NODE], block, size, node, node);
    divide(&topology->division[HS_SOCKET], block + division_ints(size), size, node, socket ? socket : node);
}

hsumma_status hs_topology_make(struct hs_topology *topology, int size, const int *node, const int *socket,
                               const struct hs_allocator *memory)
{
    *topology = (struct hs_topology){0};
    int *block = hs_get(memory, 2 * division_ints(size), sizeof *block);
    if (!block)
        return HSUMMA_ERR_MEMORY;
    fill(topology, block, size, node, socket);
    return HSUMMA_OK;
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

void hs_topology_free(struct hs_topology *topology, const struct hs_allocator *memory)
{
    hs_put(memory, topology->division[HS_NODE].of);
    *topology = (struct hs_topology){0};
}

struct hs_topology *hs_topology_of(struct hs_builder *builder, const struct hs_topology *topology, const int *rank,
                                   int size, int64_t shared_bytes)
{
    struct hs_topology *part = hs_builder_get(builder, 1, sizeof *part);
    int *block = hs_builder_get(builder, 2 * division_ints(size) + 2 * (size_t)size, sizeof *block);
    if (!part || !block)
        return NULL;
    int *node = block + 2 * division_ints(size), *socket = node + size;
    for (int i = 0; i < size; i++) {
        node[i] = topology ? topology->division[HS_NODE].of[rank[i]] : i;
        socket[i] = topology ? topology->division[HS_SOCKET].of[rank[i]] : i;
    }
    fill(part, block, size, node, socket);
    if (topology) {
        part->shared_bytes = topology->shared_bytes < shared_bytes ? topology->shared_bytes : shared_bytes;
        part->direct = topology->direct;
    }
    return part;
}
