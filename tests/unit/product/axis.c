/* Axes, their overlaps, views and the factors of a grid, compared with brute force over all small cases. */
#include "dist/axis.h"
#include "dist/grid.h"
#include "dist/overlap.h"
#include "dist/view.h"
#include "support/tap.h"

#include <string.h>

enum { N_MAX = 40, PROCS_MAX = 5, EXTENT_MAX = 48 };

/* An axis as arrays: the owner of each index, and the end of the index's block. */
struct laid_out {
    int owner[N_MAX];
    int64_t block_end[N_MAX];
};

static void lay_out(const struct hs_axis *axis, struct laid_out *all)
{
    int64_t begin = 0, length = axis->first;
    for (int proc = axis->src; begin < axis->n; proc = (proc + 1) % axis->nprocs) {
        int64_t end = length < axis->n - begin ? begin + length : axis->n;
        for (int64_t g = begin; g < end; g++) {
            all->owner[g] = proc;
            all->block_end[g] = end;
        }
        begin = end;
        length = axis->nb;
    }
}

/* Checks owner, before, count, count_max, global, block_end and next of one axis; returns the number of errors. */
static int wrong_axis(const struct hs_axis *axis)
{
    struct laid_out all;
    int wrong = 0;
    int64_t most = 0;
    lay_out(axis, &all);
    for (int64_t g = 0; g < axis->n; g++)
        wrong += (hs_axis_owner(axis, g) != all.owner[g]) + (hs_axis_block_end(axis, g) != all.block_end[g]);
    for (int proc = 0; proc < axis->nprocs; proc++) {
        int64_t local = 0, next = axis->n;
        for (int64_t g = 0; g < axis->n; g++) {
            wrong += hs_axis_before(axis, proc, g) != local;
            if (all.owner[g] == proc)
                wrong += hs_axis_global(axis, proc, local++) != g;
        }
        wrong += (hs_axis_before(axis, proc, axis->n) != local) + (hs_axis_count(axis, proc) != local);
        most = local > most ? local : most;
        for (int64_t g = axis->n; g >= 0; g--) {
            if (g < axis->n && all.owner[g] == proc)
                next = g;
            wrong += hs_axis_next(axis, proc, g) != next;
        }
    }
    return wrong + (hs_axis_count_max(axis) != most);
}

/* Checks a part of an axis: its indices have the same owners as in the parent, and local indices start at 0. */
static int wrong_part(const struct hs_axis *axis, const struct laid_out *all, int64_t offset, int64_t n)
{
    struct hs_axis part = hs_axis_part(axis, offset, n);
    int wrong = part.n != n || part.nprocs != axis->nprocs || part.first < 1 || part.first > axis->nb;
    int64_t local[PROCS_MAX] = {0};
    for (int64_t g = 0; g < n; g++) {
        int proc = all->owner[offset + g];
        wrong += hs_axis_owner(&part, g) != proc;
        wrong += hs_axis_before(&part, proc, g) != local[proc]++;
        wrong += hs_axis_before(axis, proc, offset + g) != hs_axis_before(axis, proc, offset) + local[proc] - 1;
    }
    for (int proc = 0; proc < axis->nprocs; proc++)
        wrong += hs_axis_count(&part, proc) != local[proc];
    return wrong;
}

static int wrong_parts(const struct hs_axis *axis)
{
    struct laid_out all;
    int wrong = 0;
    lay_out(axis, &all);
    for (int64_t offset = 0; offset <= axis->n; offset++) {
        int64_t rest = axis->n - offset, length[] = {0, 1, rest / 2, rest};
        for (int i = 0; i < 4; i++)
            wrong += length[i] <= rest ? wrong_part(axis, &all, offset, length[i]) : 0;
    }
    return wrong;
}

static void test_axes(void)
{
    int64_t axes = 0, wrong = 0, parted = 0, wrong_of_parts = 0;
    for (int nprocs = 1; nprocs <= PROCS_MAX; nprocs++)
        for (int src = 0; src < nprocs; src++)
            for (int64_t nb = 1; nb <= N_MAX + 1; nb = nb == 10 ? N_MAX + 1 : nb + 1)
                for (int64_t first = 1; first <= nb; first++)
                    for (int64_t n = 0; n <= N_MAX; n++) {
                        struct hs_axis axis = {n, nb, first, src, nprocs};
                        axes++;
                        wrong += wrong_axis(&axis) != 0;
                        if (nb <= 6) {
                            parted++;
                            wrong_of_parts += wrong_parts(&axis) != 0;
                        }
                    }
    tap_ok(wrong == 0, "owner, before, count, global, block_end, next: %lld axes, %lld wrong", (long long)axes,
           (long long)wrong);
    tap_ok(wrong_of_parts == 0, "parts: %lld axes, %lld wrong", (long long)parted, (long long)wrong_of_parts);
}

enum { SMALL_MAX = 512 };

/* Makes all axes of n indices with blocks of at most nb_max, on at most procs_max processes; returns their number. */
static int small_axes(int64_t n, int64_t nb_max, int procs_max, struct hs_axis *axis)
{
    int count = 0;
    for (int nprocs = 1; nprocs <= procs_max; nprocs++)
        for (int src = 0; src < nprocs; src++)
            for (int64_t nb = 1; nb <= nb_max; nb++)
                for (int64_t first = 1; first <= nb; first++)
                    axis[count++] = (struct hs_axis){n, nb, first, src, nprocs};
    return count;
}

static void test_same(void)
{
    static struct hs_axis axis[SMALL_MAX];
    static struct laid_out all[SMALL_MAX];
    int64_t pairs = 0, wrong = 0, alike = 0;
    for (int64_t n = 0; n <= 12; n++) {
        int count = small_axes(n, 6, 4, axis);
        for (int i = 0; i < count; i++)
            lay_out(&axis[i], &all[i]);
        for (int i = 0; i < count; i++)
            for (int j = 0; j < count; j++) {
                if (axis[i].nprocs != axis[j].nprocs)
                    continue;
                int same = memcmp(all[i].owner, all[j].owner, (size_t)n * sizeof all[i].owner[0]) == 0;
                struct hs_axis longer = axis[j];
                longer.n++;
                pairs++;
                alike += same;
                wrong += hs_axis_same(&axis[i], &axis[j]) != same || hs_axis_same(&axis[i], &longer);
            }
    }
    tap_ok(wrong == 0, "same: %lld pairs of axes, %lld alike, %lld wrong", (long long)pairs, (long long)alike,
           (long long)wrong);
}

/* Checks a walk over the overlap of two owners: exactly their common intervals, ascending, at most `most` long. */
static int wrong_walk(const struct hs_axis *x, const struct laid_out *lx, int p, const struct hs_axis *y,
                      const struct laid_out *ly, int q, int64_t from, int64_t to, int64_t most)
{
    struct hs_overlap walk = hs_overlap_begin(x, p, y, q, from, to);
    int64_t begin, length;
    for (int64_t g = from; g < to;) {
        if (lx->owner[g] != p || (y && ly->owner[g] != q)) {
            g++;
            continue;
        }
        int64_t end = lx->block_end[g] < to ? lx->block_end[g] : to;
        end = y && ly->block_end[g] < end ? ly->block_end[g] : end;
        end = most < end - g ? g + most : end;
        if (!hs_overlap_next(&walk, most, &begin, &length) || begin != g || length != end - g)
            return 1;
        g = end;
    }
    return hs_overlap_next(&walk, most, &begin, &length) || hs_overlap_next(&walk, most, &begin, &length);
}

static int wrong_overlap(const struct hs_axis *x, const struct laid_out *lx, int p, const struct hs_axis *y,
                         const struct laid_out *ly, int q)
{
    static const int64_t most[] = {1, 3, INT64_MAX};
    int64_t n = x->n, count = 0;
    int64_t ends[][2] = {{0, n}, {n / 3, n - n / 4}, {n / 2, n / 2}};
    int wrong = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            wrong += wrong_walk(x, lx, p, y, ly, q, ends[i][0], ends[i][1], most[j]);
    for (int64_t g = 0; g < n; g++)
        count += lx->owner[g] == p && (!y || ly->owner[g] == q);
    struct hs_overlap stuck = hs_overlap_begin(x, p, y, q, 0, n);
    int64_t begin, length;
    wrong += hs_overlap_next(&stuck, 0, &begin, &length); /* at most 0 indices: no interval */
    return wrong + (hs_overlap_count(x, p, y, q) != count);
}

static void test_overlaps(void)
{
    static struct hs_axis axis[SMALL_MAX];
    static struct laid_out all[SMALL_MAX];
    static const int64_t sizes[] = {0, 1, 5, 13, 20};
    int64_t walks = 0, wrong = 0;
    for (int s = 0; s < 5; s++) {
        int count = small_axes(sizes[s], 4, 4, axis);
        for (int i = 0; i < count; i++)
            lay_out(&axis[i], &all[i]);
        for (int i = 0; i < count; i++)
            for (int p = 0; p < axis[i].nprocs; p++) {
                wrong += wrong_overlap(&axis[i], &all[i], p, NULL, NULL, 0);
                for (int j = i % 3; j < count; j += 3) /* a third of the pairs */
                    for (int q = 0; q < axis[j].nprocs; q++, walks++)
                        wrong += wrong_overlap(&axis[i], &all[i], p, &axis[j], &all[j], q);
            }
    }
    tap_ok(wrong == 0, "overlap: %lld walks of two axes, with cuts, %lld wrong", (long long)walks, (long long)wrong);
}

/* Checks a view: its element (r, s) has the address of element (i + r, j + s) of the matrix. */
static int wrong_view(const struct hs_axis *rows, const struct hs_axis *cols, int64_t i, int64_t j, int64_t m,
                      int64_t n)
{
    int wrong = 0;
    for (int p = 0; p < rows->nprocs; p++)
        for (int q = 0; q < cols->nprocs; q++) {
            int coord[2] = {p, q};
            struct hs_view view = hs_view_make(rows, cols, i, j, m, n, coord, 77, 'T');
            wrong += view.ld != 77 || view.op != 'T' || view.axis[0].n != m || view.axis[1].n != n;
            wrong += view.rows != hs_axis_before(rows, p, i + m) - hs_axis_before(rows, p, i) ||
                     view.cols != hs_axis_before(cols, q, j + n) - hs_axis_before(cols, q, j);
            for (int64_t r = 0; r < m; r++)
                wrong += hs_axis_owner(&view.axis[0], r) != hs_axis_owner(rows, i + r) ||
                         view.origin[0] + hs_axis_before(&view.axis[0], p, r) != hs_axis_before(rows, p, i + r);
            for (int64_t s = 0; s < n; s++)
                wrong += hs_axis_owner(&view.axis[1], s) != hs_axis_owner(cols, j + s) ||
                         view.origin[1] + hs_axis_before(&view.axis[1], q, s) != hs_axis_before(cols, q, j + s);
        }
    return wrong;
}

static void test_views(void)
{
    int64_t views = 0, wrong = 0;
    for (int64_t nb = 1; nb <= 4; nb++)
        for (int src = 0; src < 3; src++)
            for (int64_t i = 0; i <= 11; i++)
                for (int64_t j = 0; j <= 9; j += 3) {
                    struct hs_axis rows = {11, nb, (nb + 1) / 2, src, 3}, cols = {9, 5 - nb, 1, src % 2, 2};
                    views++;
                    wrong += wrong_view(&rows, &cols, i, j, (11 - i + 1) / 2, 9 - j) != 0;
                }
    struct hs_axis axis = {11, 2, 1, 1, 3};
    const int outside[2] = {-1, -1};
    struct hs_view plain = hs_view_make(&axis, &axis, 3, 4, 5, 6, outside, 1, 'N'), flipped = plain;
    flipped.op = 'C';
    wrong += plain.origin[0] != 0 || plain.origin[1] != 0 || plain.rows != 0 || plain.cols != 0; /* outside the grid */
    wrong += hs_view_stored(&plain, 0) != 0 || hs_view_stored(&plain, 1) != 1;
    wrong += hs_view_stored(&flipped, 0) != 1 || hs_view_stored(&flipped, 1) != 0;
    tap_ok(wrong == 0, "views: %lld sub-matrices, %lld wrong", (long long)views, (long long)wrong);
}

static void test_grid(void)
{
    enum { P = 3, Q = 4 };
    int table[P * Q], wrong = 0;
    for (int i = 0; i < P * Q; i++)
        table[i] = (i * 5 + 2) % 17;
    for (int row = 0; row < P; row++)
        for (int col = 0; col < Q; col++) {
            struct hs_grid grid = {{P, Q}, {row, col}, table};
            struct hs_group all = hs_grid_all(&grid);
            wrong += all.size != P * Q || hs_group_rank(&all, all.me) != table[row * Q + col];
            for (int i = 0; i < P * Q; i++)
                wrong += hs_group_rank(&all, i) != table[i];
            /* the row and the column of this process, from their strides */
            struct hs_group line[2] = {
                {.table = table, .base = col, .stride = hs_grid_stride(&grid, 0), .size = P, .me = row},
                {.table = table, .base = row * Q, .stride = hs_grid_stride(&grid, 1), .size = Q, .me = col}};
            for (int i = 0; i < P; i++)
                wrong += hs_group_rank(&line[0], i) != table[i * Q + col];
            for (int j = 0; j < Q; j++)
                wrong += hs_group_rank(&line[1], j) != table[row * Q + j];
        }
    tap_ok(wrong == 0, "grid: the whole, rows and columns of %d x %d, %d wrong", P, Q, wrong);
}

/* The text of a bracketed sum over all members of a factored line: each level's tree (coll/reduce/binomial.c) over the
 * sums of the level inside. */
struct text {
    char at[1024];
    size_t used;
};

static void put_tree(struct text *text, const struct hs_factors *factors, int level, int base, int low, int span);

static void put_sum(struct text *text, const struct hs_factors *factors, int level, int base)
{
    if (level == factors->levels) {
        text->used += (size_t)snprintf(text->at + text->used, sizeof text->at - text->used, "%d", base);
        return;
    }
    int span = 1;
    while (span < factors->size[level])
        span *= 2;
    put_tree(text, factors, level, base, 0, span);
}

static void put_tree(struct text *text, const struct hs_factors *factors, int level, int base, int low, int span)
{
    int half = span / 2;
    if (span == 1) {
        put_sum(text, factors, level + 1, base + low * factors->stride[level]);
    } else if (low + half >= factors->size[level]) {
        put_tree(text, factors, level, base, low, half);
    } else {
        text->at[text->used++] = '(';
        put_tree(text, factors, level, base, low, half);
        text->at[text->used++] = '+';
        put_tree(text, factors, level, base, low + half, half);
        text->at[text->used++] = ')';
    }
}

static int same_sums(const struct hs_factors *x, const struct hs_factors *y)
{
    struct text one = {"", 0}, other = {"", 0};
    put_sum(&one, x, 0, 0);
    put_sum(&other, y, 0, 0);
    return one.used == other.used && memcmp(one.at, other.at, one.used) == 0;
}

/* The largest number of levels with several members that remain when neighbouring levels are merged so that sums are
 * bracketed as on a single level. */
static int most_levels(const struct hs_factors *factors, const struct hs_factors *single)
{
    int most = 0;
    for (int cuts = 0; cuts < 1 << (factors->levels - 1); cuts++) { /* bit l: level l is not merged with level l + 1 */
        struct hs_factors merged = {0, {0}, {0}};
        int nontrivial = 0;
        for (int l = 0, size = 1; l < factors->levels; l++) {
            size *= factors->size[l];
            if (l < factors->levels - 1 && !(cuts >> l & 1))
                continue;
            merged.size[merged.levels] = size;
            merged.stride[merged.levels++] = factors->stride[l];
            nontrivial += size > 1;
            size = 1;
        }
        if (nontrivial > most && same_sums(&merged, single))
            most = nontrivial;
    }
    return most;
}

/* Checks hs_factors_merge_for_sums for a factored line. */
static int wrong_merge(const struct hs_factors *factors, int extent)
{
    struct hs_factors merged, single;
    int tier[HS_LEVELS_MAX], wrong = 0, product = 1, nontrivial = 0;
    hs_factors_make(&single, extent, 0, NULL);
    hs_factors_merge_for_sums(factors, &merged, tier);
    wrong += merged.levels < 1 || merged.levels > factors->levels;
    for (int l = merged.levels - 1; l >= 0; l--) {
        wrong += merged.stride[l] != product;
        if (merged.size[l] > 1) { /* the innermost merged level with several members */
            int inner = factors->levels - 1;
            while (factors->size[inner] == 1 || factors->stride[inner] < product)
                inner--;
            wrong += tier[l] != inner;
        }
        wrong += tier[l] < 0 || tier[l] >= factors->levels;
        product *= merged.size[l];
        nontrivial += merged.size[l] > 1;
    }
    return wrong + (product != extent) + !same_sums(&merged, &single) + (nontrivial != most_levels(factors, &single));
}

/* Checks that the digits of consecutive coordinates count up in the mixed radix of the sizes. */
static int wrong_digits(const struct hs_factors *factors, int extent)
{
    int digit[HS_LEVELS_MAX] = {0}, wrong = 0;
    for (int c = 0; c < extent; c++) {
        for (int l = 0; l < factors->levels; l++)
            wrong += hs_digit(factors, l, c) != digit[l];
        for (int l = factors->levels - 1; l >= 0 && ++digit[l] == factors->size[l]; l--)
            digit[l] = 0;
    }
    return wrong;
}

static void test_factors(void)
{
    struct hs_factors factors;
    int made = 0, refused = 0, wrong = 0, wrong_merges = 0, merged_away = 0;
    for (int extent = 1; extent <= EXTENT_MAX; extent++)
        for (int i = 0; i <= extent + 1; i++)
            for (int j = 0; j <= extent + 1; j++) { /* i = 0: one level; j = 0: two levels */
                int outer[2] = {i, j}, levels = i == 0 ? 0 : j == 0 ? 1 : 2;
                if (i == 0 && j > 0)
                    continue;
                int fits = (levels < 1 || extent % i == 0) && (levels < 2 || extent / i % j == 0);
                if (hs_factors_make(&factors, extent, levels, outer) != fits) {
                    wrong++;
                } else if (!fits) {
                    refused++;
                } else {
                    made++;
                    wrong += factors.levels != levels + 1 || wrong_digits(&factors, extent);
                    int bad = wrong_merge(&factors, extent);
                    if (bad && !wrong_merges)
                        tap_diag("merge of %d processes as %d, %d, rest", extent, i, j);
                    wrong_merges += bad;
                    struct hs_factors merged;
                    int tier[HS_LEVELS_MAX];
                    hs_factors_merge_for_sums(&factors, &merged, tier);
                    merged_away += merged.levels < factors.levels;
                }
            }
    const int none[1] = {0}, negative[1] = {-2}, twos[5] = {2, 2, 2, 2, 2};
    wrong += hs_factors_make(&factors, 8, 1, none) + hs_factors_make(&factors, 8, 1, negative);
    wrong += !hs_factors_make(&factors, 64, 5, twos) || wrong_digits(&factors, 64);
    wrong_merges += wrong_merge(&factors, 64);
    tap_ok(wrong == 0, "factors: %d made, %d refused, %d wrong", made, refused, wrong);
    tap_ok(wrong_merges == 0,
           "sums over merged levels are bracketed as over one, and no more is merged than that takes: "
           "%d of %d merged, %d wrong",
           merged_away, made, wrong_merges);
}

/* Block sizes of INT64_MAX: callers may use them to put everything into one block. */
static void test_huge_blocks(void)
{
    int64_t wrong = 0;
    for (int nprocs = 1; nprocs <= 4; nprocs++)
        for (int64_t first = 1; first <= 9; first += 4)
            for (int whole = 0; whole < 2; whole++) {
                struct hs_axis axis = {9, INT64_MAX, whole ? INT64_MAX : first, nprocs - 1, nprocs};
                wrong += wrong_axis(&axis);
            }
    tap_ok(wrong == 0, "blocks of 2^63 - 1 indices: %lld wrong", (long long)wrong);
}

int main(void)
{
    test_axes();
    test_same();
    test_overlaps();
    test_views();
    test_grid();
    test_factors();
    test_huge_blocks();
    return tap_done();
}
