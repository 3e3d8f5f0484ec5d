#include "summa/pack.h"

/* The intervals of a run, one after the other. */
struct intervals {
    const struct hs_run_of_panels *run;
    struct hs_overlap walk;
    int t;
    int64_t inside; /* indices of panel t that have been given out */
};

struct interval {
    int t;
    int64_t inside; /* where it begins in its slab */
    int64_t length;
    int64_t local; /* where it begins on the owner */
};

static struct intervals intervals_of(const struct hs_run_of_panels *run)
{
    return (struct intervals){.run = run, .walk = hs_panel_walk(run->panels, run->begin), .t = run->begin};
}

static int next_interval(struct intervals *all, struct interval *interval)
{
    const struct hs_run_of_panels *run = all->run;
    if (all->t < run->end && all->inside == run->panels->panel[all->t].width) {
        all->t++;
        all->inside = 0;
    }
    if (all->t >= run->end)
        return 0;
    int64_t begin, length;
    if (!hs_overlap_next(&all->walk, run->panels->panel[all->t].width - all->inside, &begin, &length))
        return 0;
    *interval = (struct interval){.t = all->t,
                                  .inside = all->inside,
                                  .length = length,
                                  .local = hs_axis_before(run->role->looped, run->loop_coord, begin)};
    all->inside += length;
    return 1;
}

int64_t hs_in_place(const struct hs_run_of_panels *run)
{
    struct intervals all = intervals_of(run);
    struct interval interval;
    int64_t start = -1, expected = -1;
    while (next_interval(&all, &interval)) {
        if (start < 0)
            start = interval.local;
        else if (interval.local != expected)
            return -1;
        expected = interval.local + interval.length;
    }
    return start;
}

/* Where (line of the looped dimension, line of the pinned one) lies in a place of the given orientation, in elements.
 */
static int64_t element(int loop_axis, int64_t loop, int64_t pinned, int64_t ld)
{
    return loop_axis == 0 ? loop + pinned * ld : pinned + loop * ld;
}

/* Where an interval's first element of pinned index 0 lies among the slabs, in elements; *ld is that of its slab. */
static int64_t in_slabs(const struct hs_run_of_panels *run, const struct interval *interval, int64_t length,
                        int64_t *ld)
{
    const struct hs_panels *panels = run->panels;
    int64_t slab = (interval->t - run->begin) * panels->width * length;
    *ld = run->role->loop_axis == 0 ? panels->panel[interval->t].width : length;
    return slab + element(run->role->loop_axis, interval->inside, 0, *ld);
}

void hs_pack(const struct hs_run_of_panels *run, const struct hs_matrix *from, int64_t length, char *slabs)
{
    struct intervals all = intervals_of(run);
    struct interval interval;
    size_t size = run->scalar->size;
    int loop_axis = run->role->loop_axis;
    while (length > 0 && next_interval(&all, &interval)) {
        int64_t ld, at = in_slabs(run, &interval, length, &ld);
        const char *source = from->base + (size_t)element(loop_axis, interval.local, 0, from->ld) * size;
        int64_t rows = loop_axis == 0 ? interval.length : length, cols = loop_axis == 0 ? length : interval.length;
        hs_copy_block(size, rows, cols, slabs + (size_t)at * size, ld, source, from->ld);
    }
}

void hs_unpack(const struct hs_run_of_panels *run, const char *slabs, int64_t length, const void *beta,
               const struct hs_matrix *to)
{
    struct intervals all = intervals_of(run);
    struct interval interval;
    size_t size = run->scalar->size;
    int loop_axis = run->role->loop_axis;
    while (length > 0 && next_interval(&all, &interval)) {
        int64_t ld, at = in_slabs(run, &interval, length, &ld);
        char *target = to->base + (size_t)element(loop_axis, interval.local, 0, to->ld) * size;
        int64_t rows = loop_axis == 0 ? interval.length : length, cols = loop_axis == 0 ? length : interval.length;
        run->scalar->update(rows, cols, beta, target, to->ld, slabs + (size_t)at * size, ld);
    }
}

/* One block of an exchange: an interval of the looped dimension by one of the pinned dimension. */
static void exchange_block(const struct hs_run_of_panels *run, enum hs_exchange_step step, int64_t rows, int64_t cols,
                           char *message, char *matrix, int64_t ldm, char *slab, int64_t lds, const void *beta)
{
    size_t size = run->scalar->size;
    switch (step) {
    case HS_MATRIX_TO_MESSAGE:
        hs_copy_block(size, rows, cols, message, rows, matrix, ldm);
        break;
    case HS_MESSAGE_TO_SLABS:
        hs_copy_block(size, rows, cols, slab, lds, message, rows);
        break;
    case HS_SLABS_TO_MESSAGE:
        hs_copy_block(size, rows, cols, message, rows, slab, lds);
        break;
    case HS_MESSAGE_TO_MATRIX:
        run->scalar->update(rows, cols, beta, matrix, ldm, message, rows);
        break;
    case HS_MATRIX_TO_SLABS:
        hs_copy_block(size, rows, cols, slab, lds, matrix, ldm);
        break;
    case HS_SLABS_TO_MATRIX:
        run->scalar->update(rows, cols, beta, matrix, ldm, slab, lds);
        break;
    }
}

void hs_exchange_copy(const struct hs_run_of_panels *run, enum hs_exchange_step step, int q, int i, char *message,
                      const struct hs_matrix *matrix, char *slabs, const void *beta)
{
    const struct hs_role *role = run->role;
    struct intervals all = intervals_of(run);
    struct interval interval;
    size_t size = run->scalar->size;
    int64_t length = hs_axis_count(role->want, i);
    int uses_matrix = step != HS_MESSAGE_TO_SLABS && step != HS_SLABS_TO_MESSAGE;
    int uses_slabs = step != HS_MATRIX_TO_MESSAGE && step != HS_MESSAGE_TO_MATRIX;
    int uses_message = !uses_matrix || !uses_slabs;
    while (next_interval(&all, &interval)) {
        int64_t ld, at = in_slabs(run, &interval, length, &ld), begin, count;
        struct hs_overlap walk = hs_overlap_begin(role->own, q, role->want, i, 0, role->own->n);
        while (hs_overlap_next(&walk, INT64_MAX, &begin, &count)) {
            int64_t rows = role->loop_axis == 0 ? interval.length : count;
            int64_t cols = role->loop_axis == 0 ? count : interval.length;
            char *in_matrix = NULL, *in_slab = NULL;
            if (uses_matrix)
                in_matrix = matrix->base + size * (size_t)element(role->loop_axis, interval.local,
                                                                  hs_axis_before(role->own, q, begin), matrix->ld);
            if (uses_slabs)
                in_slab =
                    slabs + size * (size_t)(at + element(role->loop_axis, 0, hs_axis_before(role->want, i, begin), ld));
            exchange_block(run, step, rows, cols, message, in_matrix, uses_matrix ? matrix->ld : 0, in_slab, ld, beta);
            if (uses_message)
                message += size * (size_t)(rows * cols);
        }
    }
}

int hs_only_scales(const struct hs_problem *problem, const void *alpha)
{
    const int64_t *extent = problem->extent;
    return problem->scalar->is_zero(alpha) || extent[HS_M] <= 0 || extent[HS_N] <= 0 || extent[HS_K] <= 0;
}

int hs_only_scale(const struct hs_problem *problem, const void *alpha, const void *beta, const struct hs_matrix *c)
{
    const struct hs_view *view = &problem->view[HS_C];
    const int *coord = problem->grid.coord;
    if (!hs_only_scales(problem, alpha))
        return 0;
    problem->scalar->update(hs_axis_count(&view->axis[0], coord[0]), hs_axis_count(&view->axis[1], coord[1]), beta,
                            c->base, c->ld, NULL, 0);
    return 1;
}
