#include "hsumma/network/rank_pairs.h"

/* Appends the pair (a, b).  place: number of pairs before it between the same two parts, or inside the same part. */
static void add(struct hs_rank_pairs *pairs, int a, int b, int place, int rank)
{
    if (rank == a || rank == b) {
        pairs->peer = rank == a ? b : a;
        pairs->number = pairs->count;
        pairs->place = place;
        pairs->first = rank == a;
    }
    pairs->count++;
}

/* Pairs rank i of part x with rank i of part y. */
static void add_between(struct hs_rank_pairs *pairs, const struct hs_division *d, int x, int y, int rank)
{
    int a = hs_division_size(d, x), b = hs_division_size(d, y), count = a < b ? a : b;
    for (int i = 0; i < count; i++)
        add(pairs, hs_part_rank(d, x, i), hs_part_rank(d, y, i), i, rank);
    pairs->per_node = count > pairs->per_node ? count : pairs->per_node;
}

/* Pairs neighbours inside each part. */
static void add_inside(struct hs_rank_pairs *pairs, const struct hs_division *d, int rank)
{
    for (int part = 0; part < d->parts; part++)
        for (int i = 0; i + 1 < hs_division_size(d, part); i += 2)
            add(pairs, hs_part_rank(d, part, i), hs_part_rank(d, part, i + 1), i / 2, rank);
}

static int node_of_socket(const struct hs_topology *topology, int socket)
{
    return hs_part_of(&topology->division[HS_NODE], hs_part_rank(&topology->division[HS_SOCKET], socket, 0));
}

/* The next socket of the same node; -1 if there is none. */
static int next_socket(const struct hs_topology *topology, int socket)
{
    for (int other = socket + 1; other < topology->division[HS_SOCKET].parts; other++)
        if (node_of_socket(topology, other) == node_of_socket(topology, socket))
            return other;
    return -1;
}

/* The number of sockets of the same node that precede a socket. */
static int place_of_socket(const struct hs_topology *topology, int socket)
{
    int before = 0;
    for (int other = 0; other < socket; other++)
        before += node_of_socket(topology, other) == node_of_socket(topology, socket);
    return before;
}

struct hs_rank_pairs hs_rank_pairs_of(const struct hs_topology *topology, enum hs_tier_kind tier, int rank)
{
    const struct hs_division *node = &topology->division[HS_NODE], *socket = &topology->division[HS_SOCKET];
    int sockets = socket->parts > node->parts;
    struct hs_rank_pairs pairs = {.peer = -1, .number = -1};
    if (tier == HS_BETWEEN_NODES)
        for (int i = 0; i < node->parts / 2; i++) /* not neighbours, if avoidable: most nodes are farther apart */
            add_between(&pairs, node, i, i + node->parts / 2, rank);
    else if (tier == HS_IN_NODE && sockets)
        for (int s = 0; s < socket->parts; s++) {
            int other = place_of_socket(topology, s) % 2 ? -1 : next_socket(topology, s);
            if (other >= 0)
                add_between(&pairs, socket, s, other, rank);
        }
    else if (tier == HS_IN_NODE || sockets)
        add_inside(&pairs, tier == HS_IN_NODE ? node : socket, rank);
    return pairs;
}
