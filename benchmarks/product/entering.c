/* Bytes that must enter the nodes. */
#include "product/entering.h"

#include <string.h>

#include "dist/overlap.h"

/* One moving operand, and where its lines and parts are. */
typedef struct moving {
    const struct hs_problem *problem;
    const struct hs_variant *variant;
    const struct hs_role *role;
    const struct hs_division *node;
    int *place;  /* of each rank in the grid's table; -1: outside */
    char *works; /* [node][line]: whether a member of the line multiplies there */
    char *seen;  /* of each part of the operand */
} moving;

/* The coordinate of a process on an axis of an operand; there is one where every process has all. */
static int coordinate(const moving *m, const struct hs_axis *x, int place, int axis)
{
    int cols = m->problem->grid.extent[1];

    return x->nprocs == 1 ? 0 : axis == 0 ? place / cols : place % cols;
}

/* Whether the process has a part of the stationary operand. */
static int multiplies(const moving *m, int place)
{
    int parts = 0;

    for (int dim = 0; dim < 3; dim++) {
        const struct hs_axis *x = m->variant->axis[dim];

        parts += x && hs_axis_count(x, coordinate(m, x, place, m->variant->axis_of[dim])) > 0;
    }
    return parts == 2;
}

/* Elements of a line's part that the processes of the node own, each counted once. */
static int64_t owned(const moving *m, int node, int line)
{
    const struct hs_axis *own = m->role->own, *looped = m->role->looped;
    int64_t elements = 0;

    memset(m->seen, 0, (size_t)own->nprocs * (size_t)looped->nprocs);
    for (int i = m->node->first[node]; i < m->node->first[node + 1]; i++) {
        int place = m->place[m->node->member[i]];

        if (place < 0)
            continue;
        int mine = coordinate(m, own, place, m->role->own_axis),
            other = coordinate(m, looped, place, m->role->loop_axis);
        char *seen = &m->seen[(size_t)mine * (size_t)looped->nprocs + (size_t)other];

        if (!*seen)
            elements += hs_overlap_count(m->role->want, line, own, mine) * hs_axis_count(looped, other);
        *seen = 1;
    }
    return elements;
}

static void find_lines(moving *m)
{
    size_t lines = (size_t)m->role->want->nprocs;

    memset(m->works, 0, lines * (size_t)m->node->parts);
    for (int i = 0; i < m->node->first[m->node->parts]; i++) {
        int rank = m->node->member[i], place = m->place[rank];

        if (place >= 0 && multiplies(m, place))
            m->works[(size_t)m->node->of[rank] * lines +
                     (size_t)coordinate(m, m->role->want, place, m->role->want_axis)] = 1;
    }
}

/* Whether a member of the line multiplies on another node. */
static int works_elsewhere(const moving *m, int node, int line)
{
    for (int i = 0; i < m->node->parts; i++)
        if (i != node && m->works[(size_t)i * (size_t)m->role->want->nprocs + (size_t)line])
            return 1;
    return 0;
}

static void add_operand(moving *m, int operand, int64_t *bytes)
{
    const struct hs_axis *want = m->role->want;
    int64_t looped = m->problem->extent[m->variant->looped], elements;

    find_lines(m);
    for (int node = 0; node < m->node->parts; node++)
        for (int line = 0; line < want->nprocs; line++) {
            elements = 0;
            if (operand == HS_C && works_elsewhere(m, node, line))
                elements = owned(m, node, line);
            else if (operand != HS_C && m->works[(size_t)node * (size_t)want->nprocs + (size_t)line])
                elements = hs_axis_count(want, line) * looped - owned(m, node, line);
            bytes[node] += elements * (int64_t)m->problem->scalar->size;
        }
}

hsumma_status entering_bytes(const struct hs_problem *problem, int stationary, const struct hs_division *node,
                             int64_t *bytes)
{
    const struct hs_grid *grid = &problem->grid;
    int processes = grid->extent[0] * grid->extent[1], longest = grid->extent[grid->extent[0] < grid->extent[1]];
    int ranks = node->first[node->parts];
    struct hs_message message;
    struct hs_variant variant;
    hsumma_status status = hs_variant_make(problem, stationary, &variant, &message);
    moving m = {.problem = problem, .variant = &variant, .node = node};

    memset(bytes, 0, (size_t)node->parts * sizeof *bytes);
    if (status)
        return status;
    m.place = hs_get(&hs_heap, (size_t)ranks, sizeof *m.place);
    m.works = hs_get(&hs_heap, (size_t)node->parts, (size_t)longest);
    m.seen = hs_get(&hs_heap, (size_t)processes, 1);
    if (m.place && m.works && m.seen) {
        for (int rank = 0; rank < ranks; rank++)
            m.place[rank] = -1;
        for (int place = 0; place < processes; place++)
            m.place[grid->rank[place]] = place;
        for (int x = HS_A; x <= HS_C; x++) {
            m.role = &variant.role[x];
            if (m.role->moves)
                add_operand(&m, x, bytes);
        }
    } else {
        status = HSUMMA_ERR_MEMORY;
    }
    hs_put(&hs_heap, m.place);
    hs_put(&hs_heap, m.works);
    hs_put(&hs_heap, m.seen);
    return status;
}
