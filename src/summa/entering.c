#include "summa/entering.h"

#include "base/memory.h"
#include "dist/overlap.h"

#include <string.h>

/* One moving operand, its lines and its parts. */
struct moving {
    const struct hs_problem *problem;
    const struct hs_variant *variant;
    const struct hs_role *role;
    const struct hs_division *node;
    int *place;  /* place[rank]: its index in the grid's table of ranks; -1 if the rank is outside the grid */
    char *works; /* works[node][line]: whether a member of the line multiplies on the node */
    int *nodes;  /* nodes[line]: number of nodes on which a member of the line multiplies */
    char *seen;  /* a mark for each part of the operand; all 0 between uses */
};

/* The coordinate of a process on an axis of an operand; 0 if every process has all indices of the axis. */
static int coordinate(const struct moving *m, const struct hs_axis *x, int place, int axis)
{
    int cols = m->problem->grid.extent[1];
    return x->nprocs == 1 ? 0 : axis == 0 ? place / cols : place % cols;
}

/* Whether the process has a part of the stationary operand, and so multiplies. */
static int multiplies(const struct moving *m, int place)
{
    int parts = 0;
    for (int dim = 0; dim < 3; dim++) {
        const struct hs_axis *x = m->variant->axis[dim];
        parts += x && hs_axis_count(x, coordinate(m, x, place, m->variant->axis_of[dim])) > 0;
    }
    return parts == 2;
}

/* The mark of the operand's part that a process owns; NULL if the process is outside the grid.  Sets *mine and *other
 * to the coordinates of the part on the pinned and on the looped axis. */
static char *mark_of(const struct moving *m, int rank, int *mine, int *other)
{
    int place = m->place[rank];
    if (place < 0)
        return NULL;
    *mine = coordinate(m, m->role->own, place, m->role->own_axis);
    *other = coordinate(m, m->role->looped, place, m->role->loop_axis);
    return &m->seen[(size_t)*mine * (size_t)m->role->looped->nprocs + (size_t)*other];
}

/* Number of elements of a line's part that processes of the node own.  Replicated elements count once. */
static int64_t owned(const struct moving *m, int node, int line)
{
    int64_t elements = 0;
    int mine, other;
    for (int i = hs_ranks_before(m->node, node); i < hs_ranks_before(m->node, node + 1); i++) {
        char *mark = mark_of(m, hs_rank_by_part(m->node, i), &mine, &other);
        if (mark && !*mark)
            elements +=
                hs_overlap_count(m->role->want, line, m->role->own, mine) * hs_axis_count(m->role->looped, other);
        if (mark)
            *mark = 1;
    }
    for (int i = hs_ranks_before(m->node, node); i < hs_ranks_before(m->node, node + 1); i++) {
        char *mark = mark_of(m, hs_rank_by_part(m->node, i), &mine, &other);
        if (mark)
            *mark = 0;
    }
    return elements;
}

static void find_lines(struct moving *m)
{
    size_t lines = (size_t)m->role->want->nprocs;
    memset(m->works, 0, lines * (size_t)m->node->parts);
    memset(m->nodes, 0, lines * sizeof *m->nodes);
    for (int i = 0; i < hs_ranks_before(m->node, m->node->parts); i++) {
        int rank = hs_rank_by_part(m->node, i), place = m->place[rank];
        if (place < 0 || !multiplies(m, place))
            continue;
        int line = coordinate(m, m->role->want, place, m->role->want_axis);
        char *works = &m->works[(size_t)hs_part_of(m->node, rank) * lines + (size_t)line];
        m->nodes[line] += !*works;
        *works = 1;
    }
}

static void add_operand(struct moving *m, int operand, int64_t *bytes)
{
    const struct hs_axis *want = m->role->want;
    int64_t looped = m->problem->extent[m->variant->looped], elements;
    find_lines(m);
    for (int node = 0; node < m->node->parts; node++)
        for (int line = 0; line < want->nprocs; line++) {
            int works = m->works[(size_t)node * (size_t)want->nprocs + (size_t)line];
            elements = 0;
            if (operand == HS_C && m->nodes[line] > works)
                elements = owned(m, node, line);
            else if (operand != HS_C && works)
                elements = hs_axis_count(want, line) * looped - owned(m, node, line);
            bytes[node] += elements * (int64_t)m->problem->scalar->size;
        }
}

hsumma_status hs_entering_bytes(const struct hs_problem *problem, int stationary, const struct hs_division *node,
                                const struct hs_allocator *memory, int64_t *bytes)
{
    const struct hs_grid *grid = &problem->grid;
    int processes = grid->extent[0] * grid->extent[1], longest = grid->extent[grid->extent[0] < grid->extent[1]];
    int ranks = hs_ranks_before(node, node->parts);
    struct hs_message message;
    struct hs_variant variant;
    hsumma_status status = hs_variant_make(problem, stationary, &variant, &message);
    struct moving m = {.problem = problem, .variant = &variant, .node = node};
    memset(bytes, 0, (size_t)node->parts * sizeof *bytes);
    if (status)
        return status;
    m.place = hs_get(memory, (size_t)ranks, sizeof *m.place);
    m.works = hs_get(memory, (size_t)node->parts, (size_t)longest);
    m.nodes = hs_get(memory, (size_t)longest, sizeof *m.nodes);
    m.seen = hs_get_zero(memory, (size_t)processes, 1);
    if (m.place && m.works && m.nodes && m.seen) {
        for (int rank = 0; rank < ranks; rank++)
            m.place[rank] = -1;
        for (int place = 0; place < processes; place++)
            m.place[hs_grid_rank(grid, place)] = place;
        for (int x = HS_A; x <= HS_C; x++) {
            m.role = &variant.role[x];
            if (m.role->moves)
                add_operand(&m, x, bytes);
        }
    } else {
        status = HSUMMA_ERR_MEMORY;
    }
    hs_put(memory, m.place);
    hs_put(memory, m.works);
    hs_put(memory, m.nodes);
    hs_put(memory, m.seen);
    return status;
}
