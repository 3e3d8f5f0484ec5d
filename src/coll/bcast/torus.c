/*
 * Broadcast in a torus, pipelined in segments down trees of dimensions: a segment goes from the root along one
 * dimension (all around a ring, otherwise both ways), from there along the next, and so on.  The last dimension, whose
 * links the tree loads most, changes from segment to segment, in the shares of the box (dist/box.h), so that a vector
 * loads the links of all dimensions, and lines along both axes of a grid load them evenly.  A chain loads the links of
 * one dimension, and passes all nodes of the line one after the other.  These are the rectangle broadcasts in several
 * colours of the BlueGene (Faraj et al., MPI collective communications on the Blue Gene/P supercomputer: algorithms and
 * optimizations, 2009), with trees that may share links near the root.
 *
 * Cost for s segments, with a port for each link: (h - 1 + t)(alpha + m/s beta), where h is the number of hops to the
 * farthest rank, at most the sum of all extents - 1, and t <= s the number of segments that the busiest link carries.
 */
#include "coll/schedule/rows.h"

enum { BACK, FORTH, WAYS }; /* along a dimension */

/* The messages with one neighbour: the steps of the last two receives and of the last send. */
struct neighbour {
    int received, received_before, sent;
};

/* This rank and the root in the box, and the trees of the current segment. */
struct seat {
    const struct hs_box *box;
    int at[HS_FABRIC_DIMS], root[HS_FABRIC_DIMS];
    int reach[HS_FABRIC_DIMS][WAYS]; /* number of hops from the root that the tree goes each way */
    struct neighbour with[HS_FABRIC_DIMS][WAYS];
};

/* The dimension in which a segment's trees end.  number: of the segment, counted from the root's number on, so that
 * vectors of one segment from different roots differ, too.  Sets *before to the number of segments that ended there, if
 * the shares add up to HS_BOX_SHARES. */
static int last_dimension(const struct hs_box *box, int64_t number, int64_t *before)
{
    int given[HS_FABRIC_DIMS] = {0}, last = 0;
    for (int turn = 0; turn <= number % HS_BOX_SHARES; turn++) {
        int most = INT32_MIN;
        for (int d = 0; d < box->dims; d++) {
            int due = box->share[d] * (turn + 1) - given[d] * HS_BOX_SHARES;
            if (due > most) {
                most = due;
                last = d;
            }
        }
        given[last]++;
    }
    *before = number / HS_BOX_SHARES * box->share[last] + given[last] - 1;
    return last;
}

/* Sets the reach.  Rings are passed all around, one way or the other in turn: both ways at once would load the links
 * near the root twice as much. */
static void set_reach(struct seat *seat, int64_t turn)
{
    for (int d = 0; d < seat->box->dims; d++) {
        int others = seat->box->extent[d] - 1;
        seat->reach[d][FORTH] = !seat->box->ring[d] ? others - seat->root[d] : turn % 2 ? 0 : others;
        seat->reach[d][BACK] = others - seat->reach[d][FORTH];
    }
}

/* The number of hops from the root along a dimension, and the way. */
static int hops(const struct seat *seat, int d, int *way)
{
    int extent = seat->box->extent[d], forth = seat->at[d] - seat->root[d];
    forth += forth < 0 && seat->box->ring[d] ? extent : 0;
    *way = forth < 0 || forth > seat->reach[d][FORTH] ? BACK : FORTH;
    return *way == FORTH ? forth : forth < 0 ? -forth : extent - forth;
}

/* The rank one hop away. */
static int neighbour_of(const struct seat *seat, int d, int way)
{
    int there[HS_FABRIC_DIMS], extent = seat->box->extent[d];
    for (int i = 0; i < seat->box->dims; i++)
        there[i] = seat->at[i];
    there[d] = (there[d] + (way == FORTH ? 1 : extent - 1)) % extent;
    return hs_box_place(seat->box, there);
}

static void pass_segment(struct hs_builder *builder, struct seat *seat, int last, struct hs_span span)
{
    const struct hs_box *box = seat->box;
    int from = -1, way = FORTH, far[HS_FABRIC_DIMS], received = -1; /* from: index in the sequence of dimensions */
    for (int i = 0; i < box->dims; i++) {
        int along;
        far[i] = hops(seat, (last + 1 + i) % box->dims, &along);
        from = far[i] > 0 ? i : from;
        way = far[i] > 0 ? along : way;
    }
    if (from >= 0) { /* up to two receives are posted */
        int d = (last + 1 + from) % box->dims;
        struct neighbour *before = &seat->with[d][!way];
        received =
            hs_emit_recv(builder, neighbour_of(seat, d, !way), hs_out(span.at), span.count, before->received_before);
        before->received_before = before->received;
        before->received = received;
    }
    for (int i = from < 0 ? 0 : from; i < box->dims; i++)
        for (int to = FORTH; to >= BACK; to--) {
            int d = (last + 1 + i) % box->dims;
            if ((i == from && to != way) || far[i] >= seat->reach[d][to])
                continue;
            hs_emit_send_next(builder, neighbour_of(seat, d, to), hs_out(span.at), span.count, received,
                              &seat->with[d][to].sent);
        }
}

static const char *unfit(const struct hs_alg *alg, const struct hs_shape *shape)
{
    (void)alg;
    return shape->box
               ? NULL
               : "it serves only the nodes of whole lines that fill a box of a torus (options topology and node)";
}

static void build(struct hs_builder *builder, const struct hs_shape *shape)
{
    struct seat seat = {.box = shape->box};
    int64_t segments = hs_segments(shape);
    hs_box_coordinates(seat.box, shape->rank, seat.at);
    hs_box_coordinates(seat.box, shape->root, seat.root);
    for (int d = 0; d < seat.box->dims; d++)
        for (int way = 0; way < WAYS; way++)
            seat.with[d][way] = (struct neighbour){-1, -1, -1};
    for (int64_t i = 0; i < segments; i++) {
        int64_t turn;
        int last = last_dimension(seat.box, shape->root + i, &turn);
        set_reach(&seat, turn);
        pass_segment(builder, &seat, last, hs_span_equal(shape->bytes, shape->unit, segments, i));
    }
}

HS_ALG(HS_BCAST, bcast_torus, "torus", .build = build, .unfit = unfit,
       .flags = HS_TRUE_ROOT | HS_USES_SEGMENT | HS_USES_BOX,
       .doc = "segments down trees through the dimensions of a torus, in turn; after Faraj et al., Blue Gene/P (2009)");
