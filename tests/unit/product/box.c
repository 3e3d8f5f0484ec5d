/*
 * Boxes of a torus: found exactly when the positions of a line are all combinations of some coordinates; and the
 * broadcast that uses them, against loads known by symmetry.
 */
#include "dist/box.h"
#include "coll/model/flows.h"
#include "support/product/torus.h"
#include "support/random.h"
#include "support/tap.h"

#include <string.h>

enum { MOST = 512, LINKS = 2 * 4 * MOST };

static const char *const tori[] = {"8", "4x4", "3x5", "2x2x2", "4x4x4", "8x8x8", "6x6x3", "3x1x4", "2x3x2x3"};
enum { TORI = sizeof tori / sizeof *tori };

/* Finds the box of a line's positions; walk[] gets them in the order of the fabric. */
static struct hs_box box_of(const struct hs_fabric *fabric, const int *position, int count, struct hs_fabric_line line,
                            int *walk)
{
    int order[MOST], scratch[MOST];
    struct hs_box box;
    hs_fabric_order(fabric, position, count, line, order, scratch);
    for (int i = 0; i < count; i++)
        walk[i] = position[order[i]];
    hs_box_find(fabric, walk, count, &box);
    return box;
}

/* Whether `count` different positions are all combinations of the coordinates that occur. */
static int is_product(const struct hs_fabric *fabric, const int *position, int count)
{
    int combinations = 1;
    for (int d = 0; d < fabric->dims; d++) {
        int used = 0;
        for (int c = 0; c < fabric->extent[d]; c++)
            for (int i = 0; i < count; i++)
                if (hs_fabric_coordinate(fabric, d, position[i]) == c) {
                    used++;
                    break;
                }
        combinations *= used;
    }
    return combinations == count;
}

/* Draws different positions: `count` with one stride, the coordinates of a box, or any. */
static int draw_positions(const struct hs_fabric *fabric, uint64_t *random, int *position)
{
    int kind = (int)(hs_random(random) % 3), count = 0, keep[HS_FABRIC_DIMS][MOST];
    if (kind == 0) {
        int stride = 1 + (int)(hs_random(random) % 9), first = (int)(hs_random(random) % (uint64_t)fabric->positions);
        int wanted = 1 + (int)(hs_random(random) % 32);
        for (int at = first; at < fabric->positions && count < wanted; at += stride)
            position[count++] = at;
        return count;
    }
    for (int d = 0; d < fabric->dims; d++)
        for (int c = 0; c < fabric->extent[d]; c++)
            keep[d][c] = hs_random(random) % 2 == 0;
    for (int at = 0; at < fabric->positions; at++) {
        int kept = kind == 1 || hs_random(random) % 4 == 0;
        for (int d = 0; kind == 1 && d < fabric->dims; d++)
            kept &= keep[d][hs_fabric_coordinate(fabric, d, at)];
        if (kept)
            position[count++] = at;
    }
    return count;
}

/* Whether the places of a box are where they should be: neighbours differ in one coordinate, by one to the next. */
static int places_right(const struct hs_fabric *fabric, const struct hs_box *box, const int *position, int count)
{
    for (int p = 0; p < count; p++) {
        int at[HS_FABRIC_DIMS];
        hs_box_coordinates(box, p, at);
        if (hs_box_place(box, at) != p)
            return 0;
        for (int d = 0; d < box->dims; d++) {
            int there[HS_FABRIC_DIMS], last = at[d] == box->extent[d] - 1;
            memcpy(there, at, sizeof there);
            there[d] = last ? 0 : at[d] + 1;
            int next = position[hs_box_place(box, there)];
            for (int e = 0; e < fabric->dims; e++) {
                int here = hs_fabric_coordinate(fabric, e, position[p]), extent = fabric->extent[e];
                int gap = (hs_fabric_coordinate(fabric, e, next) - here + extent) % extent;
                if (e != box->dim[d] ? gap != 0 : gap < box->step[d] || (box->ring[d] && gap != box->step[d]))
                    return 0;
            }
        }
    }
    return 1;
}

static void test_found(void)
{
    uint64_t random = 11;
    int wrong = 0, boxes = 0, rings = 0, trials = 4000;
    for (int trial = 0; trial < trials; trial++) {
        struct hs_fabric fabric = torus_of(tori[trial % TORI]);
        int position[MOST], walk[MOST];
        int count = draw_positions(&fabric, &random, position);
        struct hs_fabric_line line = {(int)(hs_random(&random) % 16), 1 + (int)(hs_random(&random) % 4), 0};
        if (count < 2)
            continue;
        struct hs_box box = box_of(&fabric, position, count, line, walk);
        boxes += box.dims > 0;
        rings += box.dims > 0 && box.ring[0];
        wrong += (box.dims > 0) != is_product(&fabric, walk, count);
        wrong += box.dims > 0 && !places_right(&fabric, &box, walk, count);
    }
    tap_ok(wrong == 0 && boxes > trials / 4 && boxes < trials * 3 / 4 && rings > 50,
           "%d of %d sets of positions are boxes, %d rings, %d wrong", boxes, trials, rings, wrong);
}

/* All roots of a torus together load all its links alike: eight segments, of which half end in each dimension. */
static void test_even(void)
{
    enum { SIDE = 4, PLACES = SIDE * SIDE, SEGMENTS = 8, UNIT = 8 };
    const struct hs_alg *alg = hs_alg_find(HS_BCAST, "torus");
    struct hs_fabric fabric = torus_of("4x4");
    double load[LINKS] = {0}, one = 0;
    struct hs_fabric_traffic traffic = {.load = load};
    struct hs_box box = {.dims = 2, .dim = {1, 0}, .extent = {SIDE, SIDE}, .ring = {1, 1}, .share = {4, 4}};
    int position[PLACES], good = 1;
    for (int p = 0; p < PLACES; p++) {
        int at[HS_FABRIC_DIMS];
        hs_box_coordinates(&box, p, at);
        position[p] = at[0] * SIDE + at[1];
    }
    for (int root = 0; root < PLACES; root++) {
        struct hs_shape shape = {.size = PLACES, .root = root, .bytes = SEGMENTS * UNIT, .unit = UNIT, .segment = UNIT};
        struct hs_rank_flow *flow = NULL;
        int flows = 0;
        shape.box = &box;
        int64_t bytes = 0;
        good &= !hs_flows(alg, &shape, &hs_heap, &flow, &flows);
        for (int f = 0; f < flows; f++) {
            good &= hs_fabric_hops(&fabric, position[flow[f].from], position[flow[f].to]) == 1;
            hs_fabric_route(&fabric, position[flow[f].from], position[flow[f].to], (double)flow[f].bytes / UNIT,
                            &traffic);
            bytes += flow[f].bytes;
        }
        good &= bytes == (PLACES - 1) * shape.bytes;
        hs_put(&hs_heap, flow);
        for (int l = 0; root == 0 && l < hs_fabric_links(&fabric); l++)
            one = load[l] > one ? load[l] : one;
    }
    /* 16 roots send 8 segments over 15 links each; 64 links share these 1920 evenly */
    for (int l = 0; l < hs_fabric_links(&fabric); l++)
        good &= load[l] == 30;
    tap_ok(good && one == SEGMENTS / 2,
           "one root loads its busiest link with %g of %d segments, all roots every link with %g", one, (int)SEGMENTS,
           load[0]);
}

/* The shares of lines along both axes of grids on tori, against those that load the dimensions alike. */
static void test_shares(void)
{
    static const struct {
        const char *torus;
        int stride[2], count[2], share[2][3];
    } cases[] = {
        /* rows of 8 nodes in x and y, columns over every other y, half way around, and z: x and z only */
        {"4x4x4", {1, 8}, {8, 8}, {{8, 0, 0}, {0, 0, 8}}},
        /* rows of 16 nodes in x and y, columns in z */
        {"4x4x4", {1, 16}, {16, 4}, {{4, 4, 0}, {0, 0, 8}}},
        /* rows in x, columns of 16 in y and z */
        {"4x4x4", {1, 4}, {4, 16}, {{8, 0, 0}, {0, 4, 4}}},
        /* the whole torus, and nothing */
        {"4x4x4", {1, 64}, {64, 1}, {{2, 3, 3}, {0, 0, 0}}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hs_fabric fabric = torus_of(cases[i].torus);
        struct hs_box box[2];
        int share[2][HS_FABRIC_DIMS], good = 1;
        for (int axis = 0; axis < 2; axis++) {
            int position[MOST], walk[MOST], count = cases[i].count[axis];
            for (int m = 0; m < count; m++)
                position[m] = m * cases[i].stride[axis];
            box[axis] = box_of(&fabric, position, count, (struct hs_fabric_line){0, 1, 0}, walk);
        }
        hs_box_share(&fabric, box, share);
        for (int axis = 0; axis < 2; axis++)
            for (int d = 0; d < 3; d++)
                good &= share[axis][d] == cases[i].share[axis][d];
        tap_ok(good, "%s, rows of %d nodes, columns of %d: shares %d %d %d and %d %d %d", cases[i].torus,
               cases[i].count[0], cases[i].count[1], share[0][0], share[0][1], share[0][2], share[1][0], share[1][1],
               share[1][2]);
    }
}

int main(void)
{
    test_found();
    test_even();
    test_shares();
    return tap_done();
}
