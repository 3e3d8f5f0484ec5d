/*
 * A fabric: the links between nodes.  Its nodes have positions, from which follow the links on a message's route and an
 * order of nodes in which neighbours are close.  Pure arithmetic.
 */
#ifndef HS_DIST_FABRIC_H
#define HS_DIST_FABRIC_H

#include "base/memory.h"

/*
 * Fabrics, by their dims and extent[]:
 *
 * - A torus of any dimension: position x + extent[0] (y + extent[1] (z + ...)) has the coordinates x, y, z, ...  A node
 *   has a link in each direction of each dimension.
 * - A tree of switches: extent[l] nodes or switches of level l are below each switch of level l + 1, and each has
 *   parents[l] of these above it, with cables[l] cables to each.  Consecutive nodes are below one switch.  Messages to
 * a node go up through the parents that its position determines (D mod k; Zahavi, "D-Mod-K routing providing
 *   non-blocking traffic for shift permutations on real life fat trees", 2010).
 * - A dragonfly: groups of chassis of routers of nodes.  All routers of a chassis are linked, all routers with one
 *   number of the chassis of a group, and all groups: router b of the first chassis of group a with router a of the
 *   first chassis of group b.  cables[]: of a link between groups, chassis, routers.
 * - A row of hosts whose links are not known.
 */
enum hs_fabric_kind { HS_TORUS, HS_SWITCH_TREE, HS_DRAGONFLY, HS_HOST_ROW };
enum { HS_FABRIC_DIMS = 6, HS_FABRIC_POSITIONS = 1 << 20, HS_FABRIC_LINKS = 1 << 24 }; /* at most */
#define HS_FABRIC_EXPECTED                                                                                            \
    "a fabric such as torus:8x8x8, tree:16x8/1x4 (children/parents of each level) or dragonfly:3x4x4x2 (groups, "     \
    "chassis, routers, nodes; no more groups than routers in a chassis), of at most 6 dimensions, 1048576 positions " \
    "and 16777216 links"
struct hs_fabric {
    enum hs_fabric_kind kind;
    int dims, extent[HS_FABRIC_DIMS], parents[HS_FABRIC_DIMS], cables[HS_FABRIC_DIMS];
    int positions; /* the product of the extents */
    int *at;       /* at[node]: position of a node; NULL: node i is at position i */
};

static inline int hs_fabric_at(const struct hs_fabric *fabric, int node)
{
    return fabric->at ? fabric->at[node] : node;
}

/* The length of the name, torus, tree or dragonfly, with which the text begins, and its kind; 0 if it begins with none.
 */
size_t hs_fabric_name(const char *text, enum hs_fabric_kind *kind);
/*
 * Parses a fabric: name begins with its name; *shape is "8x8x8" of a torus, "CHILDRENx.../PARENTSx.../CABLESx..." of a
 * tree, or "GROUPSxCHASSISxROUTERSxNODES/CABLESx..." of a dragonfly (parents and cables: 1 if left out), and is moved
 * past it.  Returns 0, or -1 if the text is wrong or there are more positions or links than allowed.
 */
int hs_fabric_read(const char *name, const char **shape, struct hs_fabric *fabric);
/* Mixes the shape of a fabric into a hash. */
uint64_t hs_fabric_hash(uint64_t hash, const struct hs_fabric *fabric);

/*
 * Sets order[] to a permutation of 0 .. count - 1 such that position[order[0]], position[order[1]], ... are close to
 * one another, as is the first to the last if possible: the order of an ox that ploughs, through one dimension after
 * the other, with the sequence of dimensions that gives the fewest hops.  Lines on the same nodes plough first through
 * different dimensions, so that all links are busy, and all lines turn at different coordinates, because the links at
 * the turns may belong to several.  scratch: room for count numbers.  Positions may repeat.  In other fabrics the order
 * is that of the positions.
 */
struct hs_fabric_line {
    int number;        /* of the line */
    int beside, place; /* number of lines that begin on the same node, itself included, and of those before it */
};
void hs_fabric_order(const struct hs_fabric *fabric, const int *position, int count, struct hs_fabric_line line,
                     int *order, int *scratch);

/* The coordinate of a position of a torus, and the number of links on the shortest route between two positions. */
int hs_fabric_coordinate(const struct hs_fabric *fabric, int dim, int position);
int hs_fabric_hops(const struct hs_fabric *fabric, int from, int to);

/* Number of directed links; 0 if they are not known. */
int hs_fabric_links(const struct hs_fabric *fabric);
/* The kind of a link, below HS_FABRIC_LINK_KINDS, and how many the fabric has of it: those of one direction of a torus,
 * up from or down to one level of a tree, or between the same parts of a dragonfly. */
enum { HS_FABRIC_LINK_KINDS = 2 * HS_FABRIC_DIMS };
int hs_fabric_link_kind(const struct hs_fabric *fabric, int link, int *count);

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
 * Adds a positive amount to the load of each link on the route from one position to another: in a torus the shortest
 * one, through one dimension after the other; in a dragonfly that with the fewest routers.  If a link has several
 * cables, each gets an even part.
 */
void hs_fabric_route(const struct hs_fabric *fabric, int from, int to, double amount,
                     struct hs_fabric_traffic *traffic);

#endif
