/*
 * A fabric: the links between nodes.  Its nodes have positions, from which follow the links on a message's route and an
 * order of nodes in which neighbours are close.  Pure arithmetic.
 */
#ifndef HS_DIST_FABRIC_H
#define HS_DIST_FABRIC_H

#include "base/memory.h"

/*
 * A torus of any dimension: position x + extent[0] (y + extent[1] (z + ...)) has the coordinates x, y, z, ...  A node
 * has a link in each direction of each dimension.
 */
enum { HS_FABRIC_DIMS = 6, HS_FABRIC_POSITIONS = 1 << 20 /* at most */ };
struct hs_fabric {
    int dims, extent[HS_FABRIC_DIMS];
    int positions; /* the product of the extents */
    int *at;       /* at[node]: position of a node; NULL: node i is at position i */
};

static inline int hs_fabric_at(const struct hs_fabric *fabric, int node)
{
    return fabric->at ? fabric->at[node] : node;
}

/*
 * Parses the extents of a torus, "8x8x8", and moves *text past them.  Returns 0, or -1 if the text is wrong: more than
 * HS_FABRIC_DIMS extents, or more than HS_FABRIC_POSITIONS positions.
 */
int hs_fabric_read(const char **text, struct hs_fabric *fabric);

/*
 * Sets order[] to a permutation of 0 .. count - 1 such that position[order[0]], position[order[1]], ... are close to
 * one another, as is the first to the last if possible: the order of an ox that ploughs, through one dimension after
 * the other, with the sequence of dimensions that gives the fewest hops.  Lines on the same nodes plough first through
 * different dimensions, so that all links are busy, and all lines turn at different coordinates, because the links at
 * the turns may belong to several.  scratch: room for count numbers.  Positions may repeat.
 */
struct hs_fabric_line {
    int number;        /* of the line */
    int beside, place; /* number of lines that begin on the same node, itself included, and of those before it */
};
void hs_fabric_order(const struct hs_fabric *fabric, const int *position, int count, struct hs_fabric_line line,
                     int *order, int *scratch);

/* Number of links on the shortest route between two positions. */
int hs_fabric_hops(const struct hs_fabric *fabric, int from, int to);

/* Number of directed links. */
static inline int hs_fabric_links(const struct hs_fabric *fabric)
{
    return 2 * fabric->dims * fabric->positions;
}
/* The loads of links: load[] has hs_fabric_links numbers.  link: NULL, or room for as many, of which the first `links`
 * are the links with a load. */
struct hs_fabric_traffic {
    double *load;
    int *link, links;
};
static inline void hs_fabric_add(struct hs_fabric_traffic *traffic, int link, double amount)
{
    if (traffic->link && traffic->load[link] == 0)
        traffic->link[traffic->links++] = link;
    traffic->load[link] += amount;
}
/*
 * Adds a positive amount to the load of each link on the route from one position to another, the shortest one, through
 * one dimension after the other.
 */
void hs_fabric_route(const struct hs_fabric *fabric, int from, int to, double amount,
                     struct hs_fabric_traffic *traffic);

#endif
