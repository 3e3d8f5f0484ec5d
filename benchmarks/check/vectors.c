/* Products of distributed matrices and replicated vectors, in long double. */
#include "check/vectors.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/command.h"
#include "product/generate.h"

int vector_init(vector *x, int64_t n, int complex)
{
    x->n = n;
    x->re = calloc((size_t)n * (complex ? 2 : 1) + 1, sizeof *x->re);
    x->im = x->re && complex ? x->re + n : NULL;
    return x->re != NULL;
}

void vector_free(vector *x)
{
    free(x->re);
}

/* Finds the local rows or columns (of `count`) whose global indices are in lo .. lo + length - 1. Stores these global
 * indices in place[] and the local index of the first in *first; returns their number. */
static int64_t find_places(const hsumma_desc *desc, int64_t (*global)(const hsumma_desc *, int64_t), int64_t count,
                           int64_t lo, int64_t length, int64_t *place, int64_t *first)
{
    int64_t found = 0;

    for (int64_t l = 0; l < count; l++) {
        int64_t at = global(desc, l);

        if (at < lo || at >= lo + length)
            continue;
        if (!found)
            *first = l;
        place[found++] = at;
    }
    return found;
}

void part_copies(const problem *p, const operand *of, int copies[2])
{
    copies[0] = of->desc.rsrc < 0 ? p->nprow : 1;
    copies[1] = of->desc.csrc < 0 ? p->npcol : 1;
}

int part_init(part *x, const problem *p, const operand *of, const int copy[2])
{
    int other = (of->desc.rsrc < 0 && p->row != copy[0]) || (of->desc.csrc < 0 && p->col != copy[1]);
    int64_t rows = hsumma_local_rows(&of->desc), cols = hsumma_local_cols(&of->desc);

    memset(x, 0, sizeof *x);
    x->p = p;
    x->of = of;
    x->row = malloc((size_t)(rows + 1) * sizeof *x->row);
    x->col = malloc((size_t)(cols + 1) * sizeof *x->col);
    x->re = malloc((size_t)(rows + 1) * sizeof *x->re);
    x->im = malloc((size_t)(rows + 1) * sizeof *x->im);
    if (!x->row || !x->col || !x->re || !x->im)
        return 0;
    x->rows = find_places(&of->desc, hsumma_global_row, rows, of->desc.i, other ? 0 : of->rows, x->row, &x->first_row);
    x->cols = find_places(&of->desc, hsumma_global_col, cols, of->desc.j, other ? 0 : of->cols, x->col, &x->first_col);
    return 1;
}

void part_free(part *x)
{
    free(x->row);
    free(x->col);
    free(x->re);
    free(x->im);
}

void part_column(const part *x, const void *local, int64_t s, int64_t r, int64_t count, double *re, double *im)
{
    const arguments *args = x->p->args;
    int64_t at = x->first_row + r + (x->first_col + s) * x->of->desc.ld;
    int complex = type_is_complex(args->type);

    if (!local) {
        generate_column(args->type, args->seed, x->of->matrix, x->row + r, count, x->col[s], re, complex ? im : NULL);
        return;
    }
    for (int64_t i = 0; i < count; i++) {
        int64_t e = (at + i) << complex;

        re[i] = real_at(args->type, local, e);
        if (complex)
            im[i] = real_at(args->type, local, e + 1);
    }
}

/* Adds the contribution of column `place` of X to out = op(X) in. */
static void add_column(const part *x, int64_t place, int transposed, int complex, const vector *in, vector *out)
{
    int64_t top = x->of->desc.i;
    long double re = 0, im = 0, xr, xi = 0;

    if (!transposed) {
        xr = in->re[place];
        xi = in->im ? in->im[place] : 0;
        for (int64_t i = 0; i < x->rows; i++) {
            int64_t t = x->row[i] - top;

            out->re[t] += complex ? x->re[i] * xr - x->im[i] * xi : x->re[i] * xr;
            if (complex)
                out->im[t] += x->re[i] * xi + x->im[i] * xr;
        }
        return;
    }
    for (int64_t i = 0; i < x->rows; i++) {
        int64_t t = x->row[i] - top;

        xr = in->re[t];
        xi = in->im ? in->im[t] : 0;
        re += complex ? x->re[i] * xr - x->im[i] * xi : x->re[i] * xr;
        if (complex)
            im += x->re[i] * xi + x->im[i] * xr;
    }
    out->re[place] += re;
    if (complex)
        out->im[place] += im;
}

/* Sums the values over the ranks, in pieces that fit an int count. */
static void sum_up(const part *x, void *values, int64_t count, size_t size, MPI_Datatype type)
{
    for (int64_t done = 0; done < count; done += INT_MAX / 2) {
        int64_t left = count - done;

        quiet_allreduce(MPI_IN_PLACE, (char *)values + (size_t)done * size,
                        left < INT_MAX / 2 ? (int)left : INT_MAX / 2, type, MPI_SUM, x->p->comm);
    }
}

void part_times(const part *x, const void *local, char op, const vector *in, vector *out)
{
    int complex = type_is_complex(x->p->args->type);
    int64_t length = out->n * (out->im ? 2 : 1);

    memset(out->re, 0, (size_t)length * sizeof *out->re);
    for (int64_t s = 0; s < x->cols; s++) {
        part_column(x, local, s, 0, x->rows, x->re, x->im);
        for (int64_t i = 0; complex && op == 'C' && i < x->rows; i++)
            x->im[i] = -x->im[i];
        add_column(x, x->col[s] - x->of->desc.j, op != 'N', complex, in, out);
    }
    sum_up(x, out->re, length, sizeof *out->re, MPI_LONG_DOUBLE);
}

void part_moduli(const part *x, char op, const double *in, double *sums, double *squares)
{
    int complex = type_is_complex(x->p->args->type);
    int64_t length = op == 'N' ? x->of->rows : x->of->cols;

    for (int64_t s = 0; s < x->cols; s++) {
        int64_t j = x->col[s] - x->of->desc.j;

        part_column(x, NULL, s, 0, x->rows, x->re, x->im);
        for (int64_t r = 0; r < x->rows; r++) {
            int64_t i = x->row[r] - x->of->desc.i, to = op == 'N' ? i : j, from = op == 'N' ? j : i;
            double square = x->re[r] * x->re[r] + (complex ? x->im[r] * x->im[r] : 0);

            sums[to] += sqrt(square);
            squares[to] += square * (in ? in[from] : 1);
        }
    }
    sum_up(x, sums, length, sizeof *sums, MPI_DOUBLE);
    sum_up(x, squares, length, sizeof *squares, MPI_DOUBLE);
}
