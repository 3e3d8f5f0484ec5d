/*
 * A box of a torus: positions that have every combination of some coordinates of each dimension, like the nodes of a
 * plane or of a few of its rows.  Pure arithmetic.
 */
#ifndef HS_DIST_BOX_H
#define HS_DIST_BOX_H

#include "dist/fabric.h"

/* A box whose places 0, 1, ... are in the order of an ox that ploughs, as in hs_fabric_order. */
struct hs_box {
    int dims;                   /* dimensions with more than one coordinate, outermost first; 0: not a box */
    int dim[HS_FABRIC_DIMS];    /* dim[d]: the torus's dimension */
    int extent[HS_FABRIC_DIMS]; /* number of coordinates */
    int ring[HS_FABRIC_DIMS];   /* 1 if they are at even distances around the whole torus, so that they form a ring */
    int step[HS_FABRIC_DIMS];   /* number of the torus's links from one coordinate to the next: the smallest */
    /* Of each HS_BOX_SHARES pieces of a vector, those whose trees end in this dimension.  They may add up to fewer in a
     * line unlike that from which they are computed. */
    int share[HS_FABRIC_DIMS];
};
enum { HS_BOX_SHARES = 8 };

/* Whether the trees in two boxes are the same; they do not depend on `step`. */
static inline int hs_same_box(const struct hs_box *a, const struct hs_box *b)
{
    int same = a->dims == b->dims;
    for (int d = 0; same && d < a->dims; d++)
        same = a->dim[d] == b->dim[d] && a->extent[d] == b->extent[d] && a->ring[d] == b->ring[d] &&
               a->share[d] == b->share[d];
    return same;
}

/* Finds the box that `count` ploughed positions fill; *box gets no dimensions if they fill none, or the fabric is no
 * torus.  Without shares. */
void hs_box_find(const struct hs_fabric *fabric, const int *position, int count, struct hs_box *box);

/* The coordinates of a place, from 0 on, and the place with given coordinates. */
void hs_box_coordinates(const struct hs_box *box, int place, int at[HS_FABRIC_DIMS]);
int hs_box_place(const struct hs_box *box, const int at[HS_FABRIC_DIMS]);

/*
 * Sets the shares of two boxes, those of lines along both axes of a grid, such that trees over all lines of both load
 * the links of all dimensions as evenly as eighths allow.  In a tree of dimensions, each place of the line receives
 * over a link of the last one, each place with the root's last coordinate over one of the dimension before it, and so
 * on.  All lines along an axis together carry as much as there are places in one of them.  share[axis][d]: of dimension
 * d of the torus.
 */
void hs_box_share(const struct hs_fabric *fabric, const struct hs_box box[2], int share[2][HS_FABRIC_DIMS]);
static inline void hs_box_take_shares(struct hs_box *box, const int share[HS_FABRIC_DIMS])
{
    for (int d = 0; d < box->dims; d++)
        box->share[d] = share[box->dim[d]];
}

#endif
