#include "dist/box.h"

#include <string.h>

/* Sets the dimensions and extents of a box of as many places as there are positions; 0 if there is none. */
static int measure(const struct hs_fabric *fabric, const int *position, int count, struct hs_box *box)
{
    int run[HS_FABRIC_DIMS], places = 1;
    for (int d = 0; d < fabric->dims; d++) { /* the coordinate of the outermost dimension changes least often */
        int first = hs_fabric_coordinate(fabric, d, position[0]);
        for (run[d] = 1; run[d] < count && hs_fabric_coordinate(fabric, d, position[run[d]]) == first;)
            run[d]++;
        if (run[d] == count)
            continue;
        int at = box->dims++;
        for (; at > 0 && run[box->dim[at - 1]] < run[d]; at--)
            box->dim[at] = box->dim[at - 1];
        box->dim[at] = d;
    }
    for (int d = box->dims - 1; d >= 0; d--) { /* a furrow of this dimension ends where that outside it changes */
        int end = d ? run[box->dim[d - 1]] : count;
        if (run[box->dim[d]] != places || end % places || end / places < 2)
            return 0;
        box->extent[d] = end / places;
        places = end;
    }
    return box->dims > 0;
}

/* Whether each coordinate of the box stands for one coordinate of the torus, in the order of the torus; sets ring. */
static int check_dim(const struct hs_fabric *fabric, const int *position, int count, struct hs_box *box, int d)
{
    int extent = fabric->extent[box->dim[d]], around = 0, even = 1, step = 0, at[HS_FABRIC_DIMS];
    for (int p = 0; p < count; p++) {
        int first[HS_FABRIC_DIMS] = {0};
        hs_box_coordinates(box, p, at);
        first[d] = at[d];
        if (hs_fabric_coordinate(fabric, box->dim[d], position[p]) !=
            hs_fabric_coordinate(fabric, box->dim[d], position[hs_box_place(box, first)]))
            return 0;
    }
    for (int c = 0; c < box->extent[d]; c++) {
        int from[HS_FABRIC_DIMS] = {0}, to[HS_FABRIC_DIMS] = {0};
        from[d] = c;
        to[d] = (c + 1) % box->extent[d];
        int gap = hs_fabric_coordinate(fabric, box->dim[d], position[hs_box_place(box, to)]) -
                  hs_fabric_coordinate(fabric, box->dim[d], position[hs_box_place(box, from)]);
        gap += gap <= 0 ? extent : 0;
        even &= c == 0 || gap == step;
        step = c == 0 || gap < step ? gap : step;
        around += gap;
    }
    box->step[d] = step;
    box->ring[d] = even && box->extent[d] > 2;
    return around == extent;
}

void hs_box_find(const struct hs_fabric *fabric, const int *position, int count, struct hs_box *box)
{
    *box = (struct hs_box){.dims = 0};
    int found = fabric->kind == HS_TORUS && count > 1 && measure(fabric, position, count, box);
    for (int d = 0; found && d < box->dims; d++)
        found = check_dim(fabric, position, count, box, d);
    if (!found)
        box->dims = 0;
}

void hs_box_coordinates(const struct hs_box *box, int place, int at[HS_FABRIC_DIMS])
{
    int inside = 1;
    for (int d = 0; d < box->dims; d++)
        inside *= box->extent[d];
    for (int d = 0; d < box->dims; d++) {
        inside /= box->extent[d];
        at[d] = place / inside;
        place %= inside;
        place = at[d] % 2 ? inside - 1 - place : place; /* every other furrow runs backwards */
    }
}

int hs_box_place(const struct hs_box *box, const int at[HS_FABRIC_DIMS])
{
    int place = 0, inside = 1;
    for (int d = box->dims - 1; d >= 0; d--) {
        place = at[d] * inside + (at[d] % 2 ? inside - 1 - place : place);
        inside *= box->extent[d];
    }
    return place;
}

/* Adds the loads of the torus's dimensions by trees that end in dimension `last` of a box. */
static void add_trees(const struct hs_fabric *fabric, const struct hs_box *box, int last, double load[HS_FABRIC_DIMS])
{
    double places = 1;
    for (int d = 0; d < box->dims; d++)
        places *= box->extent[d];
    for (int i = 0; i < box->dims; i++) {
        int d = (last + box->dims - i) % box->dims, step = box->step[d];
        int one_way = 2 * step == fabric->extent[box->dim[d]]; /* routes half way around all go the same way */
        load[box->dim[d]] += places * (one_way ? 2 * step : step);
        places /= box->extent[d];
    }
}

/* The largest of the loads, and a little of the others. */
static double weigh_loads(const struct hs_fabric *fabric, const double load[HS_FABRIC_DIMS])
{
    static const double LITTLE = 1e-6;
    double most = 0, squares = 0;
    for (int d = 0; d < fabric->dims; d++) {
        most = load[d] > most ? load[d] : most;
        squares += load[d] * load[d];
    }
    return most > 0 ? most + LITTLE * squares / most : 0;
}

void hs_box_share(const struct hs_fabric *fabric, const struct hs_box box[2], int share[2][HS_FABRIC_DIMS])
{
    double load[HS_FABRIC_DIMS] = {0};
    memset(share, 0, 2 * sizeof *share);
    for (int piece = 0; piece < 2 * HS_BOX_SHARES; piece++) { /* one of each box in turn */
        const struct hs_box *of = &box[piece % 2];
        double least = 0, kept[HS_FABRIC_DIMS];
        int best = -1;
        for (int d = 0; d < of->dims; d++) {
            double sum[HS_FABRIC_DIMS];
            memcpy(sum, load, sizeof sum);
            add_trees(fabric, of, d, sum);
            double weight = weigh_loads(fabric, sum);
            if (best >= 0 && weight >= least)
                continue;
            best = d;
            least = weight;
            memcpy(kept, sum, sizeof kept);
        }
        if (best < 0)
            continue;
        share[piece % 2][of->dim[best]]++;
        memcpy(load, kept, sizeof load);
    }
}
