/* Tests of a device's work: combinations, updates, products. */
#include "support/device/cases.h"
#include "support/entry.h"

#include <math.h>

enum { COMBINE_COUNT = 1031, COMBINE_SLACK = 8, COMBINE_BYTES = (COMBINE_COUNT + COMBINE_SLACK) * 16 };

/* Device memory that all cases reuse, because allocating it for each case would take longer than the case. */
struct lent {
    char *memory[HS_COMBINE_MOST + 1];
};

enum { MATRIX_MOST = 81 * 81 };

struct dense_product {
    hsumma_type type;
    char transa, transb;
    int64_t m, n, k, lda, ldb, ldc;
    int factor; /* kind of beta: 0, 1, or another value */
};

static void lend(struct device_fixture *fixture, struct lent *lent, int pieces, size_t bytes)
{
    memset(lent, 0, sizeof *lent);
    for (int i = 0; i < pieces; i++) {
        void *memory = NULL;
        if (fixture->kind->get(fixture->device, bytes, &memory))
            tap_diag("%s: %s", fixture->label, fixture->device->message.text);
        lent->memory[i] = memory;
    }
}

static void lend_end(struct device_fixture *fixture, struct lent *lent)
{
    for (int i = 0; i <= HS_COMBINE_MOST; i++)
        fixture->kind->put(fixture->device, lent->memory[i]);
}

/* Fills with numbers whose sum depends on the order, some of them zeros of either sign; for min and max also with NaN
 * and infinity. */
static void operand_fill(struct device_fixture *fixture, hsumma_element element, hsumma_op op, void *to, int64_t count)
{
    static const double odd[] = {0.0, -0.0, 1e-40, -1e-40, 1e30, -1e30, (double)NAN, (double)INFINITY};
    int64_t size = (int64_t)hs_element_size(element);
    int is_float = element == HSUMMA_FLOAT || element == HSUMMA_FLOAT_COMPLEX;
    if (element == HSUMMA_INT32 || element == HSUMMA_INT64) {
        fixture_noise(fixture, to, (size_t)(count * size));
        return;
    }
    int64_t reals = count * size / (is_float ? 4 : 8);
    for (int64_t i = 0; i < reals; i++) {
        double x = ((double)draw_of(&fixture->draw, 2000001) - 1e6) / (double)(draw_of(&fixture->draw, 997) + 1);
        if (draw_of(&fixture->draw, 8) == 0)
            x = odd[draw_of(&fixture->draw, op == HSUMMA_SUM ? 6 : 8)];
        if (is_float)
            ((float *)to)[i] = (float)x;
        else
            ((double *)to)[i] = x;
    }
}

/* Tests one combination; dst is operand number `alias`, or separate memory if alias < 0. */
static int one_combine(struct device_fixture *fixture, const struct lent *lent, hsumma_element element, hsumma_op op,
                       int operands, int64_t count, int alias)
{
    const size_t size = hs_element_size(element), bytes = (COMBINE_COUNT + COMBINE_SLACK) * size;
    const size_t unit = element == HSUMMA_FLOAT_COMPLEX ? 4 : element == HSUMMA_DOUBLE_COMPLEX ? 8 : size;
    static _Alignas(16) char host[HS_COMBINE_MOST + 1][COMBINE_BYTES], sum[COMBINE_BYTES];
    const void *operand[HS_COMBINE_MOST];
    char *const *device = lent->memory, *model = host[alias < 0 ? operands : alias];
    size_t at[HS_COMBINE_MOST + 1];
    int wrong = 0;
    hs_combine *function = hs_operator_of(element, op);
    for (int i = 0; i <= operands; i++) {
        operand_fill(fixture, element, op, host[i], COMBINE_COUNT + COMBINE_SLACK);
        at[i] = (size_t)draw_of(&fixture->draw, COMBINE_SLACK) * unit;
        fixture_store(fixture, device[i], host[i], bytes);
        if (i < operands)
            operand[i] = device[i] + at[i];
    }
    int to = alias < 0 ? operands : alias;
    memcpy(sum, host[0] + at[0], (size_t)count * size);
    for (int i = 1; i < operands; i++)
        function(sum, sum, host[i] + at[i], count * (int64_t)size, NULL);
    memcpy(model + at[to], sum, (size_t)count * size);
    FIXTURE_DO(fixture->kind->combine(fixture->device, fixture->stream, device[to] + at[to], operand, operands, count,
                                      element, op));
    memset(operand, 0, sizeof operand); /* the caller may reuse the array of pointers after the call */
    for (int i = 0; i <= operands; i++)
        wrong += !fixture_is(fixture, device[i], host[i], bytes);
    return !wrong;
}

static void test_combine(struct device_fixture *fixture)
{
    static const int64_t counts[] = {0, 1, 2, 3, 5, 8, 31, 64, 129, 257, 1000, COMBINE_COUNT};
    enum { COUNTS = sizeof counts / sizeof *counts };
    struct lent lent;
    lend(fixture, &lent, HS_COMBINE_MOST + 1, COMBINE_BYTES);
    for (int element = 0; element < HS_ELEMENTS; element++)
        for (int op = 0; op < HS_OPS; op++) {
            int wrong = 0, cases = 0;
            if (!hs_operator_of((hsumma_element)element, (hsumma_op)op))
                continue;
            for (int operands = 1; operands <= HS_COMBINE_MOST; operands++, cases++)
                wrong += !one_combine(fixture, &lent, (hsumma_element)element, (hsumma_op)op, operands,
                                      counts[(operands + op) % COUNTS], (int)draw_of(&fixture->draw, operands + 1) - 1);
            for (int alias = -1; alias < 5; alias++)
                for (int i = 0; i < COUNTS; i++, cases++)
                    wrong += !one_combine(fixture, &lent, (hsumma_element)element, (hsumma_op)op, 5, counts[i], alias);
            tap_ok(wrong == 0, "%s: %s of %s, 1 to 32 operands, %d cases with bits as on the host: %d wrong",
                   fixture->label, hs_op_name((hsumma_op)op), hs_element_name((hsumma_element)element), cases, wrong);
        }
    lend_end(fixture, &lent);
    char *memory = fixture_place(fixture, "0123456789abcdef", 16);
    const void *operand[2] = {memory, memory};
    hsumma_status max = fixture->kind->combine(fixture->device, fixture->stream, memory, operand, 2, 1,
                                               HSUMMA_FLOAT_COMPLEX, HSUMMA_MAX);
    tap_ok(max != HSUMMA_OK && fixture_is(fixture, memory, "0123456789abcdef", 16),
           "%s: there is no maximum of complex numbers: %s", fixture->label, fixture->device->message.text);
    fixture->kind->put(fixture->device, memory);
}

/* Fills a matrix and its padding with small integers, whose sums are exact. */
static void matrix_fill(struct device_fixture *fixture, hsumma_type type, void *to, int64_t elements)
{
    for (int64_t i = 0; i < elements; i++)
        gemm_store(type, to, i, (double)draw_of(&fixture->draw, 9) - 4 + ((double)draw_of(&fixture->draw, 9) - 4) * I);
}

static void matrix_nan(hsumma_type type, void *to, int64_t rows, int64_t cols, int64_t ld)
{
    for (int64_t j = 0; j < cols; j++)
        memset((char *)to + j * ld * (int64_t)hs_scalars[type].size, 0xff, (size_t)rows * hs_scalars[type].size);
}

/* Tests one update C = beta C + S; beta is 0, 1, or another value, by `factor`. */
static int one_update(struct device_fixture *fixture, const struct lent *lent, hsumma_type type, int64_t rows,
                      int64_t cols, int factor, int with_s)
{
    static _Alignas(16) char c[MATRIX_MOST * 16], s[MATRIX_MOST * 16];
    const size_t size = hs_scalars[type].size;
    int64_t ldc = rows + draw_of(&fixture->draw, 4), lds = rows + draw_of(&fixture->draw, 4);
    union hs_value beta;
    int wrong = 0;
    gemm_store(type, &beta, 0, factor + (factor > 1 ? 2 * I : 0));
    double _Complex b = gemm_load(type, &beta, 0);
    matrix_fill(fixture, type, c, ldc * cols);
    matrix_fill(fixture, type, s, lds * cols);
    if (factor == 0)
        matrix_nan(type, c, rows, cols, ldc);
    char *to = lent->memory[0], *from = lent->memory[1];
    fixture_store(fixture, to, c, (size_t)(ldc * cols) * size);
    fixture_store(fixture, from, s, (size_t)(lds * cols) * size);
    for (int64_t j = 0; j < cols; j++)
        for (int64_t i = 0; i < rows; i++)
            gemm_store(type, c, j * ldc + i,
                       (factor ? b * gemm_load(type, c, j * ldc + i) : 0) +
                           (with_s ? gemm_load(type, s, j * lds + i) : 0));
    FIXTURE_DO(fixture->kind->update(fixture->device, fixture->stream, type, rows, cols, &beta, to, ldc,
                                     with_s ? from : NULL, with_s ? lds : 0));
    memset(&beta, 0x55, sizeof beta); /* beta has been read during the call */
    wrong += !fixture_is(fixture, to, c, (size_t)(ldc * cols) * size);
    wrong += !fixture_is(fixture, from, s, (size_t)(lds * cols) * size);
    return !wrong;
}

static void test_update(struct device_fixture *fixture)
{
    static const int64_t sizes[] = {1, 2, 7, 33, 64, 77};
    struct lent lent;
    lend(fixture, &lent, 2, MATRIX_MOST * 16 + 16);
    for (int type = 0; type < 4; type++) {
        int wrong = 0, cases = 0;
        for (int factor = 0; factor < 4; factor++)
            for (int with_s = 0; with_s < 2; with_s++)
                for (int i = 0; i < 6; i++, cases++)
                    wrong += !one_update(fixture, &lent, (hsumma_type)type, sizes[i], sizes[draw_of(&fixture->draw, 6)],
                                         factor, with_s);
        tap_ok(wrong == 0, "%s: %d updates of type %c, nothing read where beta is 0: %d wrong", fixture->label, cases,
               hs_scalars[type].letter, wrong);
    }
    lend_end(fixture, &lent);
}

static double _Complex turned(const struct dense_product *p, const void *x, char trans, int64_t ld, int64_t i,
                              int64_t j)
{
    double _Complex value = gemm_load(p->type, x, trans == 'N' ? j * ld + i : i * ld + j);
    return trans == 'C' ? conj(value) : value;
}

static void model_product(const struct dense_product *p, double _Complex alpha, const void *a, const void *b,
                          double _Complex beta, void *c)
{
    for (int64_t j = 0; j < p->n; j++)
        for (int64_t i = 0; i < p->m; i++) {
            double _Complex sum = 0;
            for (int64_t l = 0; l < p->k; l++)
                sum += turned(p, a, p->transa, p->lda, i, l) * turned(p, b, p->transb, p->ldb, l, j);
            sum = alpha * sum + (p->factor ? beta * gemm_load(p->type, c, j * p->ldc + i) : 0);
            gemm_store(p->type, c, j * p->ldc + i, sum);
        }
}

/* Replaces -0 by +0, because the sign of a zero depends on the BLAS's kernels. */
static void drop_signs_of_zeros(hsumma_type type, void *matrix, size_t bytes)
{
    if (type == HSUMMA_S || type == HSUMMA_C)
        for (size_t i = 0; i < bytes / sizeof(float); i++)
            ((float *)matrix)[i] += 0.0f;
    else
        for (size_t i = 0; i < bytes / sizeof(double); i++)
            ((double *)matrix)[i] += 0.0;
}

static int one_product(struct device_fixture *fixture, const struct lent *lent, struct dense_product *p)
{
    static _Alignas(16) char a[MATRIX_MOST * 16], b[MATRIX_MOST * 16], c[MATRIX_MOST * 16], result[MATRIX_MOST * 16];
    const size_t size = hs_scalars[p->type].size;
    int64_t rows_a = p->transa == 'N' ? p->m : p->k, cols_a = p->transa == 'N' ? p->k : p->m;
    int64_t rows_b = p->transb == 'N' ? p->k : p->n, cols_b = p->transb == 'N' ? p->n : p->k;
    p->lda = (rows_a ? rows_a : 1) + draw_of(&fixture->draw, 3);
    p->ldb = (rows_b ? rows_b : 1) + draw_of(&fixture->draw, 3);
    p->ldc = p->m + draw_of(&fixture->draw, 3);
    size_t bytes_a = (size_t)(p->lda * cols_a) * size, bytes_b = (size_t)(p->ldb * cols_b) * size;
    size_t bytes_c = (size_t)(p->ldc * p->n) * size;
    union hs_value alpha, beta;
    int wrong = 0;
    gemm_store(p->type, &alpha, 0, 2 - I);
    gemm_store(p->type, &beta, 0, p->factor + (p->factor > 1 ? I : 0));
    matrix_fill(fixture, p->type, a, p->lda * cols_a);
    matrix_fill(fixture, p->type, b, p->ldb * cols_b);
    matrix_fill(fixture, p->type, c, p->ldc * p->n);
    if (p->factor == 0)
        matrix_nan(p->type, c, p->m, p->n, p->ldc);
    char *da = lent->memory[0], *db = lent->memory[1], *dc = lent->memory[2];
    fixture_store(fixture, da, a, bytes_a);
    fixture_store(fixture, db, b, bytes_b);
    fixture_store(fixture, dc, c, bytes_c);
    model_product(p, gemm_load(p->type, &alpha, 0), a, b, gemm_load(p->type, &beta, 0), c);
    FIXTURE_DO(fixture->kind->gemm(fixture->device, fixture->stream, p->type, p->transa, p->transb, p->m, p->n, p->k,
                                   &alpha, da, p->lda, db, p->ldb, &beta, dc, p->ldc));
    memset(&alpha, 0x55, sizeof alpha); /* alpha and beta have been read during the call */
    memset(&beta, 0x55, sizeof beta);
    wrong += !fixture_fetch(fixture, result, dc, bytes_c);
    drop_signs_of_zeros(p->type, result, bytes_c);
    drop_signs_of_zeros(p->type, c, bytes_c);
    wrong += memcmp(result, c, bytes_c) != 0;
    wrong += !fixture_is(fixture, da, a, bytes_a) + !fixture_is(fixture, db, b, bytes_b);
    return !wrong;
}

static void test_gemm(struct device_fixture *fixture)
{
    static const int64_t sizes[][3] = {{1, 1, 1}, {3, 5, 7}, {17, 13, 31}, {64, 32, 33}, {61, 67, 71}, {5, 9, 0}};
    struct lent lent;
    lend(fixture, &lent, 3, MATRIX_MOST * 16 + 16);
    for (int type = 0; type < 4; type++) {
        int wrong = 0, cases = 0;
        for (int trans = 0; trans < 9; trans++)
            for (int i = 0; i < 6; i++, cases++) {
                struct dense_product p = {(hsumma_type)type,
                                          "NTC"[trans / 3],
                                          "NTC"[trans % 3],
                                          sizes[i][0],
                                          sizes[i][1],
                                          sizes[i][2],
                                          0,
                                          0,
                                          0,
                                          (trans + i) % 3};
                wrong += !one_product(fixture, &lent, &p);
            }
        tap_ok(wrong == 0, "%s: %d products of type %c, N, T and C, exact; beta = 0 over not-a-numbers: %d wrong",
               fixture->label, cases, hs_scalars[type].letter, wrong);
    }
    lend_end(fixture, &lent);
}

void device_test_work(struct device_fixture *fixture)
{
    test_combine(fixture);
    test_update(fixture);
    test_gemm(fixture);
}
