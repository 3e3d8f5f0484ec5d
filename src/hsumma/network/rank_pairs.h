/* Disjoint pairs of ranks whose messages stay inside sockets, cross between sockets, or cross between nodes. */
#ifndef HS_HSUMMA_NETWORK_RANK_PAIRS_H
#define HS_HSUMMA_NETWORK_RANK_PAIRS_H

#include "coll/model/clock.h"

struct hs_rank_pairs {
    int count;
    int peer, number, first; /* peer of this rank (-1 if none), number of its pair, whether it begins */
    /* Index of this rank's pair among the pairs of the same two nodes or sockets, or inside the same node or socket. */
    int place;
    int per_node; /* largest number of pairs between two nodes or sockets */
};

struct hs_rank_pairs hs_rank_pairs_of(const struct hs_topology *topology, enum hs_tier_kind tier, int rank);

#endif
