/* Part of prove: draws one configuration. */
#include "coll/proof/prove_parts.h"

#include "base/hash.h"

#include <limits.h>
#include <stdio.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static uint64_t pick(struct hs_draw *draw, uint64_t below)
{
    return hs_random(&draw->mix) % below;
}

void hs_draw_end(struct hs_draw *draw, const struct hs_allocator *memory)
{
    if (draw->topology.size)
        hs_topology_free(&draw->topology, memory);
    hs_put(memory, draw->number);
    hs_put(memory, draw->part);
}

/* Draws the parts: equal (NULL), one with all elements, or elements at random among three ranks or all. */
static const int64_t *cut(struct hs_draw *draw, int64_t elements)
{
    int p = draw->shape.size, kind = (int)pick(draw, 5);
    int owner[3];
    for (int i = 0; i < 3; i++)
        owner[i] = (int)pick(draw, (uint64_t)p);
    if (kind < 2)
        return NULL;
    for (int i = 0; i <= p; i++)
        draw->part[i] = 0;
    for (int64_t e = 0; e < elements; e++) {
        int to = kind == 2 ? owner[0] : kind == 3 ? owner[pick(draw, 3)] : (int)pick(draw, (uint64_t)p);
        draw->part[to + 1] += draw->shape.unit;
    }
    for (int i = 0; i < p; i++)
        draw->part[i + 1] += draw->part[i];
    return draw->part;
}

/* Few elements, so that parts often have one or two elements or none, and many ranks are fast. */
static int64_t pick_elements(struct hs_draw *draw, const struct hs_alg *alg)
{
    int64_t p = draw->shape.size;
    const int64_t small[] = {p + 1, 1, 2 * p + 1, 0, p - 1, p, 41, 3, 97};
    if (p > 64 && alg->flags & HS_USES_SEGMENT)
        return 7 + (int64_t)pick(draw, 30);
    if (p > 64 && alg->flags & HS_USES_TOPOLOGY && pick(draw, p > 128 ? 6 : 3) != 0)
        return 5 + (int64_t)pick(draw, 12);
    if (p > 64)
        return p > 300 ? p / 8 + 7 : draw->shape.root % 2 ? p / 2 + 1 : p + p / 3;
    if (draw->trial < (int)LENGTH(small))
        return small[(draw->trial + draw->shape.root) % (int)LENGTH(small)];
    return small[pick(draw, LENGTH(small))];
}

/* Draws the length of the vector, its element size, and the options of verify. */
static void draw_vector(struct hs_draw *draw, const struct hs_alg *alg)
{
    static const int windows[] = {0, 0, 4, 7, 64};
    int many = draw->shape.size > 64;
    struct hs_shape *shape = &draw->shape;
    struct hs_verify_options *options = &draw->options;
    int64_t elements = pick_elements(draw, alg);

    /* Vectors with few but large elements exceed builders' thresholds for long vectors. */
    int seldom = alg->flags & HS_USES_TOPOLOGY && shape->size > 16;
    shape->unit = pick(draw, many ? 32 : seldom ? 12 : 4) ? (int64_t)4 << pick(draw, 3) : 65536;
    shape->bytes = elements * shape->unit;
    shape->part = cut(draw, elements);
    int mode = draw->trial + (int)pick(draw, 2 * HS_SCHEDULES);
    options->schedule = (enum hs_schedule)(mode / 2 % HS_SCHEDULES);
    options->eager = mode % 2 && !many;
    options->seed = pick(draw, 1u << 30);
    options->instances = shape->size <= 16 && pick(draw, 4) == 0 ? 2 + (int)pick(draw, 2) : 1;
    options->window = windows[pick(draw, LENGTH(windows))];
    options->run = pick(draw, 2) ? (int64_t)pick(draw, 6) : 0;
    options->ld = options->run + (int64_t)pick(draw, 4);
}

/* Draws the node and socket of every rank. */
static void place(struct hs_draw *draw)
{
    int p = draw->shape.size, nodes = draw->nodes, *node = draw->number, *socket = node + p;
    int each = (p + nodes - 1) / nodes, scattered = draw->placement == HS_ROUND_ROBIN;
    for (int r = 0; r < p; r++) {
        int at = draw->placement == HS_UNEVEN ? (int)pick(draw, (uint64_t)p) : r; /* uneven: some nodes get no rank */
        int index = scattered ? r / nodes : r % each;
        node[r] = scattered ? r % nodes : at / each;
        socket[r] = node[r] * draw->sockets + index * draw->sockets / each;
    }
    if (draw->placement == HS_UNEVEN && pick(draw, 2)) /* sorted, so that nodes are contiguous */
        for (int r = 1; r < p; r++)
            for (int i = r; i > 0 && socket[i - 1] > socket[i]; i--) {
                int swap = socket[i - 1];
                socket[i - 1] = socket[i];
                socket[i] = swap;
                node[i - 1] = socket[i - 1] / draw->sockets;
                node[i] = socket[i] / draw->sockets;
            }
}

static hsumma_status draw_topology(struct hs_draw *draw, const struct hs_allocator *memory)
{
    struct hs_shape *shape = &draw->shape;
    int64_t bytes = shape->bytes, unit = shape->unit;
    const int64_t shared_sizes[] = {unit * (1 + (int64_t)pick(draw, 8)), bytes / 2 + unit, 64 * unit + 8,
                                    4 * bytes + 4096, (shape->size + 2) * bytes + 4096};

    if (draw->placement == HS_ALONE)
        return HSUMMA_OK;
    draw->sockets = 1 + (int)pick(draw, 2);
    place(draw);
    hsumma_status status =
        hs_topology_make(&draw->topology, shape->size, draw->number, draw->number + shape->size, memory);
    if (status)
        return status;
    draw->topology.shared_bytes = draw->shared ? shared_sizes[pick(draw, LENGTH(shared_sizes))] : 0;
    /* With many ranks and little shared memory, lists would have many rounds and take too long. */
    int many = shape->size > 300 || (shape->size > 96 && pick(draw, 16));
    int64_t few_rounds = shape->size <= 16 ? 0 : many ? 3 * bytes : bytes / 4;
    if (draw->shared && draw->topology.shared_bytes < few_rounds + 3 * unit)
        draw->topology.shared_bytes += few_rounds + (shape->size > 16 ? 2 * unit : 0);
    draw->topology.direct = draw->shared && pick(draw, 2);
    shape->topology = &draw->topology;
    return HSUMMA_OK;
}

/*
 * Draws a row, of any collective, for the stages of `alg`: a stage of another collective uses the row of the same name.
 * MPI is assumed to combine in the order of its ranks. inner: 1 for stages inside nodes. Returns NULL (default rows) if
 * the row drawn cannot be a stage, has stages itself, or would break the promises of the flags of `alg`.
 */
static const struct hs_alg *pick_stage(struct hs_draw *draw, const struct hs_alg *alg, int inner)
{
    unsigned promises = alg->flags & (HS_KEEPS_ORDER | HS_KEEPS_ORDER_IF) ? HS_KEEPS_ORDER : 0;
    int rows = 0;
    promises |= alg->flags & HS_UNIFORM;
    while (hs_alg_at(rows))
        rows++;
    const struct hs_alg *stage = hs_alg_at((int)pick(draw, (uint64_t)rows));
    if (hs_alg_find(alg->collective, stage->name)) /* prefers a row of the same collective, as hs_alg_spec_read does */
        stage = hs_alg_find(alg->collective, stage->name);
    if (alg->flags & HS_USES_LEADERS &&
        stage->flags & HS_BY_LENGTH) /* parts of different lengths would be bracketed differently */
        return NULL;
    int sums = stage->collective != HS_BCAST && stage->collective != HS_ALLGATHER;
    if (stage->flags & HS_BY_MPI)
        return inner && alg->flags & HS_USES_LEADERS ? NULL : hs_alg_find(alg->collective, stage->name);
    if (stage->flags & (HS_USES_OUTER | HS_USES_INNER) || (sums && (stage->flags & promises) != promises))
        return NULL;
    return stage;
}

/* Draws extents with as many places as there are ranks, rings, and shares, which need not add up. */
static void draw_box(struct hs_draw *draw)
{
    struct hs_box *box = &draw->box;
    int left = draw->shape.size;
    *box = (struct hs_box){.dims = 0};
    while (left > 1) {
        int extent = 2 + (int)pick(draw, (uint64_t)left - 1), d = box->dims++;
        while (left % extent)
            extent--;
        if (extent == 1 || d == HS_FABRIC_DIMS - 1)
            extent = left;
        box->dim[d] = d;
        box->extent[d] = extent;
        box->ring[d] = extent > 2 && pick(draw, 2);
        box->share[d] = (int)pick(draw, HS_BOX_SHARES + 1);
        left /= extent;
    }
    draw->shape.box = box;
}

static void draw_parameters(struct hs_draw *draw, const struct hs_alg *alg)
{
    struct hs_shape *shape = &draw->shape;
    struct hs_parameters *with = &shape->with;
    int64_t bytes = shape->bytes, unit = shape->unit;
    const int64_t segments[] = {0, unit, 3 * unit, 3 * unit + 1, 1, bytes + unit, bytes / 2 + 1};
    const int64_t thresholds[] = {0, 1, unit, bytes / 2, bytes > 0 ? bytes - 1 : 1, bytes, bytes + unit};

    if (alg->flags & HS_USES_BOX && shape->size > 1)
        draw_box(draw);
    if (alg->flags & HS_USES_SEGMENT)
        shape->segment = segments[pick(draw, LENGTH(segments))];
    if (alg->flags & HS_USES_THRESHOLD)
        with->threshold = thresholds[pick(draw, LENGTH(thresholds))];
    if (alg->flags & HS_USES_LEADERS)
        with->leaders = (int)pick(draw, 4) + (pick(draw, 4) ? 0 : 13);
    if (alg->flags & HS_USES_PIECES)
        with->pieces = (int)pick(draw, 4);
    if (alg->flags & HS_USES_RINGS) {
        const int products[] = {0, 1, 3, 9, INT_MAX};
        with->rings = products[pick(draw, LENGTH(products))];
        with->rest = (enum hs_rest)pick(draw, HS_REST_21 + 1);
    }
    if (alg->flags & HS_USES_LEVEL && pick(draw, 3) == 0)
        with->level = HS_SOCKET;
    if (alg->flags & HS_USES_OUTER)
        with->outer = pick_stage(draw, alg, 0);
    if (alg->flags & HS_USES_INNER)
        with->inner = pick_stage(draw, alg, 1);
}

hsumma_status hs_draw(struct hs_draw *draw, const struct hs_alg *alg, const struct hs_allocator *memory)
{
    size_t size = (size_t)draw->shape.size;
    draw->mix = pick(draw, UINT64_MAX) + size;
    draw->mix = pick(draw, UINT64_MAX) + ((uint64_t)draw->shape.root << 32) + (uint64_t)draw->trial;
    draw->number = hs_get(memory, size, 2 * sizeof *draw->number);
    draw->part = hs_get(memory, size + 1, sizeof *draw->part);
    if (!draw->number || !draw->part)
        return HSUMMA_ERR_MEMORY;
    draw_vector(draw, alg);
    hsumma_status status = draw_topology(draw, memory);
    draw_parameters(draw, alg);
    return status;
}

void hs_draw_describe(const struct hs_draw *draw, const struct hs_alg *alg, char *text, size_t size)
{
    static const char *const placements[HS_PLACEMENTS] = {"alone", "blocks", "round robin", "uneven"};
    const struct hs_shape *s = &draw->shape;
    const struct hs_verify_options *o = &draw->options;
    const struct hs_topology *t = s->topology;
    int n =
        snprintf(text, size, "%s %s: p %d root %d bytes %lld unit %lld part %s segment %lld threshold %lld ",
                 hs_collective_name(alg->collective), alg->name, s->size, s->root, (long long)s->bytes,
                 (long long)s->unit, s->part ? "given" : "equal", (long long)s->segment, (long long)s->with.threshold);
    for (int d = 0; s->box && d < s->box->dims && n > 0 && (size_t)n < size; d++)
        n += snprintf(text + n, size - (size_t)n, "%s%d%s ", d ? "x " : "box ", s->box->extent[d],
                      s->box->ring[d] ? " (ring)" : "");
    if (t && n > 0 && (size_t)n < size)
        n += snprintf(text + n, size - (size_t)n, "nodes %d (%s, %d sockets) room %lld direct %d ",
                      t->division[HS_NODE].parts, placements[draw->placement], draw->sockets,
                      (long long)t->shared_bytes, t->direct);
    if (n > 0 && (size_t)n < size)
        snprintf(text + n, size - (size_t)n,
                 "leaders %d pieces %d rings %d rest %d level %s outer %s inner %s schedule %d eager %d window %d "
                 "instances %d "
                 "run %lld trial %d: ",
                 s->with.leaders, s->with.pieces, s->with.rings, (int)s->with.rest,
                 s->with.level == HS_NODE ? "node" : "socket", s->with.outer ? s->with.outer->name : "-",
                 s->with.inner ? s->with.inner->name : "-", (int)o->schedule, o->eager, o->window, o->instances,
                 (long long)o->run, draw->trial);
}
