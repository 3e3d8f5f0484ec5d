/* Disjoint pairs of ranks whose messages stay inside sockets, cross between sockets, or cross between nodes. */
#ifndef HS_HSUMMA_NETWORK_RANK_PAIRS_H
#define HS_HSUMMA_NETWORK_RANK_PAIRS_H

#include "coll/model/clock.h"

struct hs_rank_pairs {
    int count;
    int peer, number, first; /* peer of this rank, -1: none; number of its pair; whether it begins */
    /* Index of its pair among those of the same two nodes or sockets, or inside the same one. */
    int place;
    int per_node; /* most pairs of one node, between nodes */
};

struct hs_rank_pairs hs_rank_pairs_of(const struct hs_topology *topology, enum hs_tier_kind tier, int rank);

#endif
