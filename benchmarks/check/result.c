/* The checks of result.h. */
#include "check/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "check/vectors.h"
#include "common/command.h"
#include "product/generate.h"

enum { VECTORS = 3, ENTRIES_PER_RANK = 64 };

static double eps_of(hsumma_type type)
{
    return type_is_single(type) ? 0x1p-24 : 0x1p-53;
}

/* Rounds alpha or beta to the type. */
static void scalar_of(hsumma_type type, const double given[2], double value[2])
{
    for (int i = 0; i < 2; i++)
        value[i] = type_is_single(type) ? (double)(float)given[i] : given[i];
}

/* The larger one; NaN counts as infinity, so that it is never lost. */
static double worse(double a, double b)
{
    if (isnan(a) || isnan(b))
        return INFINITY;
    return a > b ? a : b;
}

/* error / bound with 0 / 0 = 0. */
static double relative(double error, double bound)
{
    if (isnan(error))
        return INFINITY;
    return error == 0 ? 0 : bound == 0 ? INFINITY : error / bound;
}

/* Computes entry (i, j) of alpha op(A) op(B) + beta C in long double. Returns the same sum with every factor replaced
 * by its modulus, which scales the error bound. */
static double direct_entry(const problem *p, int64_t i, int64_t j, long double value[2])
{
    const arguments *args = p->args;
    double alpha[2], beta[2], a[2], b[2], c0[2], moduli = 0;
    long double re = 0, im = 0;
    int at = args->transa != 'N', bt = args->transb != 'N';

    scalar_of(args->type, args->alpha, alpha);
    scalar_of(args->type, args->beta, beta);
    for (int64_t l = 0; l < args->k; l++) {
        generate_entry(args->type, args->seed, MATRIX_A, p->a.desc.i + (at ? l : i), p->a.desc.j + (at ? i : l), a);
        generate_entry(args->type, args->seed, MATRIX_B, p->b.desc.i + (bt ? j : l), p->b.desc.j + (bt ? l : j), b);
        a[1] = args->transa == 'C' ? -a[1] : a[1];
        b[1] = args->transb == 'C' ? -b[1] : b[1];
        re += (long double)a[0] * b[0] - (long double)a[1] * b[1];
        im += (long double)a[0] * b[1] + (long double)a[1] * b[0];
        moduli += hypot(a[0], a[1]) * hypot(b[0], b[1]);
    }
    generate_entry(args->type, args->seed, MATRIX_C, p->c.desc.i + i, p->c.desc.j + j, c0);
    value[0] = alpha[0] * re - alpha[1] * im + (long double)beta[0] * c0[0] - (long double)beta[1] * c0[1];
    value[1] = alpha[0] * im + alpha[1] * re + (long double)beta[0] * c0[1] + (long double)beta[1] * c0[0];
    return hypot(alpha[0], alpha[1]) * moduli + hypot(beta[0], beta[1]) * hypot(c0[0], c0[1]);
}

/* The distance of a local entry of C (row r, column s of the part) from the direct sum; *bound is the rounding error
 * allowed. */
static double entry_difference(const problem *p, const part *pc, const void *c, int64_t r, int64_t s, double *bound)
{
    const arguments *args = p->args;
    double re, im = 0, twice = type_is_complex(args->type) ? 2 : 1;
    long double value[2];

    part_column(pc, c, s, r, 1, &re, &im);
    *bound = direct_entry(p, pc->row[r] - p->c.desc.i, pc->col[s] - p->c.desc.j, value);
    *bound *= twice * (twice * (double)args->k + 4) * eps_of(args->type);
    return (double)hypotl(re - value[0], im - value[1]);
}

static void check_entries(const problem *p, const part *pc, const void *c, check_outcome *out)
{
    int64_t entries = pc->rows && pc->cols ? ENTRIES_PER_RANK : 0;
    double worst = 0, bound;

    for (int64_t t = 0; t < entries; t++) {
        uint64_t h = hs_scrambled(hs_scrambled(p->args->seed + (uint64_t)p->rank * 7919) + (uint64_t)t);
        int64_t r = (int64_t)(h % (uint64_t)pc->rows), s = (int64_t)(hs_scrambled(h) % (uint64_t)pc->cols);
        double difference = entry_difference(p, pc, c, r, s, &bound);

        worst = worse(worst, relative(difference, bound));
    }
    quiet_allreduce(&worst, &out->entry_error, 1, MPI_DOUBLE, MPI_MAX, p->comm);
    quiet_allreduce(&entries, &out->entries, 1, MPI_INT64_T, MPI_SUM, p->comm);
}

/* Finds the worst entry of the worst row, for the message, unless that takes too long: it needs n k entries of A and of
 * B, computed by the ranks that have the row. */
static void locate(const problem *p, const part *pc, const void *c, check_outcome *out)
{
    double worst = -1, bound;
    int64_t col = INT64_MAX;

    out->col = -1;
    if ((double)p->args->n * (double)p->args->k > 2e9)
        return;
    for (int64_t r = 0; r < pc->rows; r++)
        for (int64_t s = 0; s < pc->cols && pc->row[r] - p->c.desc.i == out->row; s++) {
            double difference = entry_difference(p, pc, c, r, s, &bound);

            difference = isnan(difference) ? INFINITY : difference;
            if (difference > worst) {
                worst = difference;
                col = pc->col[s] - p->c.desc.j;
            }
        }
    quiet_allreduce(&worst, &out->difference, 1, MPI_DOUBLE, MPI_MAX, p->comm);
    if (worst < out->difference)
        col = INT64_MAX;
    quiet_allreduce(&col, &out->col, 1, MPI_INT64_T, MPI_MIN, p->comm);
}

/* The vectors of one check, by global index. */
typedef struct work {
    part a, b, c;
    vector x, y, z, d;                /* x has n elements, y = op(B) x has k; z = op(A) y (later C0 x) and d have m */
    double *bounds;                   /* one allocation for the arrays below */
    double *norm_a, *norm_b, *norm_c; /* row sums of moduli: of op(A) (m), of op(B) (k), of C0 (m) */
    double *v_b, *v;                  /* row sums of squares of op(B) (k); V_i (m), at first without alpha and beta */
    double *v_c;                      /* row sums of squares of C0 (m) */
} work;

static int work_init(work *w, const problem *p, const int copy[2])
{
    static const int first[2];
    const arguments *args = p->args;
    int complex = type_is_complex(args->type);
    size_t m = (size_t)args->m, k = (size_t)args->k;
    int good;

    memset(w, 0, sizeof *w);
    good = part_init(&w->a, p, &p->a, first) & part_init(&w->b, p, &p->b, first) & part_init(&w->c, p, &p->c, copy);
    good &= vector_init(&w->x, args->n, 0) & vector_init(&w->y, args->k, complex);
    good &= vector_init(&w->z, args->m, complex) & vector_init(&w->d, args->m, complex);
    w->bounds = calloc(4 * m + 2 * k + 1, sizeof *w->bounds);
    if (!good || !w->bounds)
        return 0;
    w->norm_a = w->bounds;
    w->norm_c = w->norm_a + m;
    w->v = w->norm_c + m;
    w->v_c = w->v + m;
    w->norm_b = w->v_c + m;
    w->v_b = w->norm_b + k;
    return 1;
}

static void work_free(work *w)
{
    part_free(&w->a);
    part_free(&w->b);
    part_free(&w->c);
    vector_free(&w->x);
    vector_free(&w->y);
    vector_free(&w->z);
    vector_free(&w->d);
    free(w->bounds);
}

static double largest(const double *values, int64_t n)
{
    double most = 0;

    for (int64_t i = 0; i < n; i++)
        most = worse(most, values[i]);
    return most;
}

/* Computes the norms and V. Returns the denominator of the residual without ||x||. */
static double make_bounds(work *w, const problem *p, const double alpha[2], const double beta[2])
{
    const arguments *args = p->args;
    double alpha_modulus = hypot(alpha[0], alpha[1]), beta_modulus = hypot(beta[0], beta[1]);

    part_moduli(&w->b, args->transb, NULL, w->norm_b, w->v_b);
    part_moduli(&w->a, args->transa, w->v_b, w->norm_a, w->v);
    if (beta_modulus != 0)
        part_moduli(&w->c, 'N', NULL, w->norm_c, w->v_c);
    for (int64_t i = 0; i < args->m; i++)
        w->v[i] = alpha_modulus * alpha_modulus * w->v[i] + beta_modulus * beta_modulus * w->v_c[i];
    return eps_of(args->type) *
           (alpha_modulus * (double)args->k * largest(w->norm_a, args->m) * largest(w->norm_b, args->k) +
            beta_modulus * largest(w->norm_c, args->m));
}

/* d -= scalar times z. */
static void subtract(vector *d, const double scalar[2], const vector *z)
{
    for (int64_t i = 0; i < d->n; i++) {
        d->re[i] -= scalar[0] * z->re[i] - (z->im ? scalar[1] * z->im[i] : 0);
        if (d->im)
            d->im[i] -= scalar[0] * z->im[i] + scalar[1] * z->re[i];
    }
}

/* d = C x - alpha op(A) (op(B) x) - beta C0 x for the which-th x. Returns ||x||_inf. */
static double make_difference(work *w, const problem *p, const void *c, int which, const double alpha[2],
                              const double beta[2])
{
    double norm = 0;

    generate_vector(p->args->seed, which, w->x.n, w->x.re);
    for (int64_t i = 0; i < w->x.n; i++)
        norm = worse(norm, (double)fabsl(w->x.re[i]));
    part_times(&w->b, NULL, p->args->transb, &w->x, &w->y);
    part_times(&w->a, NULL, p->args->transa, &w->y, &w->z);
    part_times(&w->c, c, 'N', &w->x, &w->d);
    subtract(&w->d, alpha, &w->z);
    if (beta[0] != 0 || beta[1] != 0) {
        part_times(&w->c, NULL, 'N', &w->x, &w->z);
        subtract(&w->d, beta, &w->z);
    }
    return norm;
}

/* Finds the worst row error. Every rank holds all of d, so the result is the same on all. */
static void judge_rows(const work *w, const problem *p, check_outcome *out)
{
    double terms = (type_is_complex(p->args->type) ? 2.0 : 1.0) * (double)p->args->k + 4;
    double factor = 8 * eps_of(p->args->type) * sqrt(terms);

    for (int64_t i = 0; i < w->d.n; i++) {
        double d = (double)hypotl(w->d.re[i], w->d.im ? w->d.im[i] : 0);
        double error = relative(d, factor * sqrt(w->v[i]));

        if (error > out->row_error) {
            out->row_error = error;
            out->row = i;
        }
    }
}

/* Checks one copy of C. If no source is -1, there is only one, which all ranks hold together. */
static int check_copy(const problem *p, const void *c, int strict, const int copy[2], check_outcome *out)
{
    double alpha[2], beta[2], bound;
    work w;
    int good = work_init(&w, p, copy);

    memset(out, 0, sizeof *out);
    out->row = out->col = -1;
    out->strict = strict;
    if (command_fail(p->comm, !good, "no memory for the check of the result")) {
        work_free(&w);
        return COMMAND_INTERNAL;
    }
    scalar_of(p->args->type, p->args->alpha, alpha);
    scalar_of(p->args->type, p->args->beta, beta);
    bound = make_bounds(&w, p, alpha, beta);
    for (int which = 0; which < VECTORS; which++) {
        double norm = make_difference(&w, p, c, which, alpha, beta), most = 0;

        for (int64_t i = 0; i < w.d.n; i++)
            most = worse(most, (double)hypotl(w.d.re[i], w.d.im ? w.d.im[i] : 0));
        out->residual = worse(out->residual, relative(most, bound * norm));
        if (strict)
            judge_rows(&w, p, out);
    }
    if (strict) {
        check_entries(p, &w.c, c, out);
        if (out->row_error > 1)
            locate(p, &w.c, c, out);
    }
    out->passed = out->residual < CHECK_RESIDUAL_LIMIT && out->entry_error <= 1 && out->row_error <= 1;
    work_free(&w);
    return COMMAND_OK;
}

/* Merges the outcomes of two copies; row and column are those of the larger row_error. */
static void merge(check_outcome *all, const check_outcome *one)
{
    int64_t entries = all->entries + one->entries;
    check_outcome before = *all;

    *all = before.row_error >= one->row_error ? before : *one;
    all->entries = entries;
    all->passed = before.passed && one->passed;
    all->residual = worse(before.residual, one->residual);
    all->entry_error = worse(before.entry_error, one->entry_error);
}

int check_product(const problem *p, const void *c, int strict, check_outcome *out)
{
    int copies[2], code = COMMAND_OK;

    part_copies(p, &p->c, copies);
    for (int i = 0; i < copies[0] && !code; i++)
        for (int j = 0; j < copies[1] && !code; j++) {
            check_outcome one;

            code = check_copy(p, c, strict, (int[2]){i, j}, &one);
            if (!code && i + j == 0)
                *out = one;
            else if (!code)
                merge(out, &one);
        }
    return code;
}

void check_plant(const problem *p, void *c, double value, int64_t row, int64_t col)
{
    int64_t rows = hsumma_local_rows(&p->c.desc), cols = c ? hsumma_local_cols(&p->c.desc) : 0;
    hsumma_type type = p->args->type;
    int copies[2];

    part_copies(p, &p->c, copies);
    if (p->row % copies[0] != copies[0] - 1 || p->col % copies[1] != copies[1] - 1)
        cols = 0;
    for (int64_t s = 0; s < cols; s++)
        for (int64_t r = 0; r < rows && hsumma_global_col(&p->c.desc, s) == p->c.desc.j + col; r++) {
            int64_t at = (r + s * p->c.desc.ld) << type_is_complex(type);

            if (hsumma_global_row(&p->c.desc, r) == p->c.desc.i + row)
                set_real(type, c, at, real_at(type, c, at) + value);
        }
}
