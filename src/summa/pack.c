#include "summa/pack.h"

#include <string.h>

/* A walk over the intervals of a run. */
struct intervals {
    const struct hs_run_of_panels *run;
    struct hs_overlap walk;
    int t;
    int64_t inside; /* number of indices of panel t that the walk has passed */
};

struct interval {
    int t;
    int64_t inside; /* position of the interval's first index in the slab of panel t */
    int64_t length;
    int64_t local; /* local index of the interval's first index on the owner */
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

/* The offset, in elements, of element (loop, pinned) in a column-major array whose rows are the looped (loop_axis 0) or
 * the pinned dimension (1). */
static int64_t element(int loop_axis, int64_t loop, int64_t pinned, int64_t ld)
{
    return loop_axis == 0 ? loop + pinned * ld : pinned + loop * ld;
}

/* Where a block of elements lies; in a message its leading dimension is its number of rows. */
enum place { IN_MATRIX, IN_MESSAGE, IN_SLABS };
static const struct way {
    enum place from, to;
} ways[] = {[HS_MATRIX_TO_MESSAGE] = {IN_MATRIX, IN_MESSAGE}, [HS_MESSAGE_TO_SLABS] = {IN_MESSAGE, IN_SLABS},
            [HS_SLABS_TO_MESSAGE] = {IN_SLABS, IN_MESSAGE},   [HS_MESSAGE_TO_MATRIX] = {IN_MESSAGE, IN_MATRIX},
            [HS_MATRIX_TO_SLABS] = {IN_MATRIX, IN_SLABS},     [HS_SLABS_TO_MATRIX] = {IN_SLABS, IN_MATRIX}};

/* An interval of `count` pinned indices: its first index has the local index `held` in the matrix, and `wanted` in
 * slabs of `length` pinned indices. */
struct pinned {
    int64_t held, wanted, count, length;
};

/* Copies the block of an interval of the looped dimension and an interval of the pinned one.  A copy to the
 * matrix updates it: beta times the old values plus the copied ones.  Advances *message past the block. */
static void move_block(const struct hs_run_of_panels *run, enum hs_exchange_step step, const struct interval *interval,
                       struct pinned pinned, const struct hs_matrix *matrix, char **message, char *slabs,
                       const void *beta)
{
    const struct way *way = &ways[step];
    size_t size = run->scalar->size;
    int axis = run->role->loop_axis;
    int64_t rows = axis == 0 ? interval->length : pinned.count, cols = axis == 0 ? pinned.count : interval->length;
    int64_t slab = (interval->t - run->begin) * run->panels->width * pinned.length;
    int64_t lds = axis == 0 ? run->panels->panel[interval->t].width : pinned.length;
    struct hs_matrix at[] = {[IN_MATRIX] = {NULL, 0}, [IN_MESSAGE] = {*message, rows}, [IN_SLABS] = {NULL, lds}};
    if (matrix)
        at[IN_MATRIX] = (struct hs_matrix){
            matrix->base + size * (size_t)element(axis, interval->local, pinned.held, matrix->ld), matrix->ld};
    if (slabs)
        at[IN_SLABS].base = slabs + size * (size_t)(slab + element(axis, interval->inside, pinned.wanted, lds));
    const struct hs_matrix *to = &at[way->to], *from = &at[way->from];
    if (way->to == IN_MATRIX)
        hs_update(run->scalar, rows, cols, beta, to->base, to->ld, from->base, from->ld);
    else if (hs_compute_bytes(run->scalar->compute, HS_WORK_COPY, rows * cols * (int64_t)size))
        hs_copy_block(size, rows, cols, to->base, to->ld, from->base, from->ld);
    if (*message)
        *message += size * (size_t)(rows * cols);
}

/* Copies the run for all pinned indices, which the owner stores in the order of the slabs. */
static void move_whole(const struct hs_run_of_panels *run, enum hs_exchange_step step, const struct hs_matrix *matrix,
                       int64_t length, char *slabs, const void *beta)
{
    struct intervals all = intervals_of(run);
    struct interval interval;
    char *message = NULL;
    while (length > 0 && next_interval(&all, &interval))
        move_block(run, step, &interval, (struct pinned){0, 0, length, length}, matrix, &message, slabs, beta);
}

void hs_pack(const struct hs_run_of_panels *run, const struct hs_matrix *from, int64_t length, char *slabs)
{
    move_whole(run, HS_MATRIX_TO_SLABS, from, length, slabs, NULL);
}

void hs_unpack(const struct hs_run_of_panels *run, const char *slabs, int64_t length, const void *beta,
               const struct hs_matrix *to)
{
    move_whole(run, HS_SLABS_TO_MATRIX, to, length, (char *)slabs, beta); /* slabs are only read */
}

void hs_exchange_copy(const struct hs_run_of_panels *run, enum hs_exchange_step step, int q, int i, char *message,
                      const struct hs_matrix *matrix, char *slabs, const void *beta)
{
    const struct hs_role *role = run->role;
    struct intervals all = intervals_of(run);
    struct interval interval;
    struct pinned pinned = {.length = hs_axis_count(role->want, i)};
    while (next_interval(&all, &interval)) {
        struct hs_overlap walk = hs_overlap_begin(role->own, q, role->want, i, 0, role->own->n);
        int64_t begin;
        while (hs_overlap_next(&walk, INT64_MAX, &begin, &pinned.count)) {
            pinned.held = hs_axis_before(role->own, q, begin);
            pinned.wanted = hs_axis_before(role->want, i, begin);
            move_block(run, step, &interval, pinned, matrix, &message, slabs, beta);
        }
    }
}

struct hs_product hs_part_of_product(const struct hs_problem *problem, const struct hs_spec *spec, const void *alpha,
                                     const struct hs_matrix matrix[3], const void *beta)
{
    struct hs_product product = {.scalar = problem->scalar,
                                 .op = {problem->view[HS_A].op, problem->view[HS_B].op},
                                 .a = matrix[HS_A].base,
                                 .b = matrix[HS_B].base,
                                 .c = matrix[HS_C].base,
                                 .lda = matrix[HS_A].ld,
                                 .ldb = matrix[HS_B].ld,
                                 .ldc = matrix[HS_C].ld,
                                 .threads = spec->threads};
    memcpy(&product.alpha, alpha, problem->scalar->size);
    memcpy(&product.beta, beta, problem->scalar->size);
    return product;
}

int hs_only_scales(const struct hs_problem *problem, const void *alpha)
{
    const int64_t *extent = problem->extent;
    return problem->scalar->is_zero(alpha) || extent[HS_M] <= 0 || extent[HS_N] <= 0 || extent[HS_K] <= 0;
}

int hs_only_scale(const struct hs_problem *problem, const void *alpha, const void *beta, const struct hs_matrix *c)
{
    const struct hs_view *view = &problem->view[HS_C];
    if (!hs_only_scales(problem, alpha))
        return 0;
    hs_update(problem->scalar, view->rows, view->cols, beta, c->base, c->ld, NULL, 0);
    return 1;
}
