/*
 * One multiplication for the tests of the public interface: its arguments, this process's parts of the matrices, and a
 * comparison with a direct triple loop.  Entries are small integers, so that every result is exact.
 */
#ifndef HS_TESTS_SUPPORT_PRODUCT_H
#define HS_TESTS_SUPPORT_PRODUCT_H

#include "hsumma/context/context.h"

#include "base/wait.h"
#include "support/quiet.h"
#include "support/tap.h"

#include <complex.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PAD = 2, GUARD = 77, PATIENCE_S = 10 };

static int rank, size;

/* A verdict that all ranks share. */
static inline int everywhere(int good)
{
    return quiet_reduce(good != 0, MPI_MIN) == 1;
}

/* One multiplication: its arguments, and this process's parts of the matrices. */
struct call {
    hsumma_type type;
    char ta, tb;
    int64_t m, n, k;
    hsumma_desc desc[3];
    double alpha, beta;
    const char *options;
    int fractions; /* entries with all bits in use, which show the order of the sums, instead of small integers */
};

struct local {
    int64_t rows, cols;
    void *data;
};

/* Rows and columns of an operand as it is stored. */
static inline void stored_shape(const struct call *call, int x, int64_t *rows, int64_t *cols)
{
    int64_t extent[3][2] = {{call->m, call->k}, {call->k, call->n}, {call->m, call->n}};
    int turned = (x == 0 && call->ta != 'N') || (x == 1 && call->tb != 'N');
    *rows = extent[x][turned];
    *cols = extent[x][!turned];
}

/* nb = 0: checkerboard. */
static inline struct call call_of(const hsumma_grid *grid, hsumma_type type, char ta, char tb, int64_t m, int64_t n,
                                  int64_t k, int64_t nb)
{
    struct call call = {type, ta, tb, m, n, k, {{0}}, 2, -1, NULL, 0};
    for (int x = 0; x < 3; x++) {
        int64_t rows, cols;
        stored_shape(&call, x, &rows, &cols);
        if (nb)
            hsumma_desc_init(&call.desc[x], grid, rows, cols, nb, nb);
        else
            hsumma_desc_checkerboard(&call.desc[x], grid, rows, cols);
        call.desc[x].ld += PAD;
    }
    return call;
}

/* How one dimension of an operand is spread: it begins at `offset` of a matrix with `behind` more of it after its end.
 */
struct layout {
    int64_t block, first;
    int src;
    int64_t offset, behind;
};

static inline void spread(struct call *call, int x, const struct layout *rows, const struct layout *cols)
{
    hsumma_desc *desc = &call->desc[x];
    int64_t m, n;
    stored_shape(call, x, &m, &n);
    *desc = (hsumma_desc){desc->grid,
                          m + rows->offset + rows->behind,
                          n + cols->offset + cols->behind,
                          rows->block,
                          cols->block,
                          rows->first,
                          cols->first,
                          rows->src,
                          cols->src,
                          rows->offset,
                          cols->offset,
                          0};
    int64_t local = hsumma_local_rows(desc);
    desc->ld = (local > 1 ? local : 1) + PAD + rank % 3;
}

/* Other blocks, first blocks, sources and offsets for each operand; `seed` varies them. */
static inline void unalign(struct call *call, int seed)
{
    int P, Q;
    hsumma_grid_info(call->desc[0].grid, &P, &Q, NULL, NULL);
    for (int x = 0; x < 3; x++) {
        const struct layout rows = {2 + (x + seed) % 3, 1 + x % 2, (x + seed) % P, (x * 2 + seed) % 4, x},
                            cols = {4 - (x + seed) % 3, 2 - x % 2, (2 * x + seed / 2) % Q, (x + seed / 3) % 5, 2 - x};
        spread(call, x, &rows, &cols);
    }
}

static inline uint64_t scrambled(uint64_t h)
{
    h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9ULL;
    h = (h ^ h >> 27) * 0x94d049bb133111ebULL;
    return h ^ h >> 31;
}

static inline double complex entry(const struct call *call, int x, int64_t i, int64_t j)
{
    uint64_t h = scrambled((uint64_t)i * 0x9e3779b97f4a7c15ULL + (uint64_t)(j * 3 + x) * 0xc2b2ae3d27d4eb4fULL + 1);
    double re = (double)(h % 7) - 3, im = (double)(h / 7 % 5) - 2;
    if (call->fractions) {
        re = (double)(int64_t)h / 9.3e18;
        im = (double)(int64_t)scrambled(h + 1) / 9.3e18;
    }
    return call->type >= HSUMMA_C ? re + im * I : re;
}

static inline double complex op_entry(const struct call *call, int x, char op, int64_t i, int64_t j)
{
    double complex v = op == 'N' ? entry(call, x, i, j) : entry(call, x, j, i);
    return op == 'C' ? conj(v) : v;
}

static inline size_t bytes_of(hsumma_type type)
{
    return type == HSUMMA_S ? 4 : type == HSUMMA_Z ? 16 : 8;
}

static inline void store(hsumma_type type, void *at, int64_t index, double complex v)
{
    if (type == HSUMMA_S)
        ((float *)at)[index] = (float)creal(v);
    else if (type == HSUMMA_D)
        ((double *)at)[index] = creal(v);
    else if (type == HSUMMA_C)
        ((float complex *)at)[index] = (float complex)v;
    else
        ((double complex *)at)[index] = v;
}

static inline double complex load(hsumma_type type, const void *at, int64_t index)
{
    return type == HSUMMA_S   ? ((const float *)at)[index]
           : type == HSUMMA_D ? ((const double *)at)[index]
           : type == HSUMMA_C ? ((const float complex *)at)[index]
                              : ((const double complex *)at)[index];
}

/* Whether the local element belongs to the operand, and which of its entries it is (as stored). */
static inline int inside(const struct call *call, int x, const struct local *local, int64_t r, int64_t c, int64_t *i,
                         int64_t *j)
{
    const hsumma_desc *desc = &call->desc[x];
    int64_t rows, cols;
    if (r >= local->rows || c >= local->cols)
        return 0;
    stored_shape(call, x, &rows, &cols);
    *i = hsumma_global_row(desc, r) - desc->i;
    *j = hsumma_global_col(desc, c) - desc->j;
    return *i >= 0 && *j >= 0 && *i < rows && *j < cols;
}

/* What a local element holds at first: what must not be read (A and B for alpha = 0, C for beta = 0) NaN, what is not
 * of the operand a guard. */
static inline double complex initial(const struct call *call, int x, const struct local *local, int64_t r, int64_t c)
{
    int64_t i, j;
    if (!inside(call, x, local, r, c, &i, &j))
        return GUARD;
    return (x == 2 ? call->beta : call->alpha) == 0 ? NAN : entry(call, x, i, j);
}

static inline void make(const struct call *call, struct local local[3])
{
    for (int x = 0; x < 3; x++) {
        const hsumma_desc *desc = &call->desc[x];
        struct local *l = &local[x];
        l->rows = hsumma_local_rows(desc);
        l->cols = hsumma_local_cols(desc);
        l->data = NULL; /* is allowed where nothing is owned */
        if (l->rows * l->cols == 0)
            continue;
        l->data = malloc((size_t)(desc->ld * l->cols) * bytes_of(call->type));
        for (int64_t c = 0; c < l->cols; c++)
            for (int64_t r = 0; r < desc->ld; r++)
                store(call->type, l->data, c * desc->ld + r, initial(call, x, l, r, c));
    }
}

/* Elements of A and B, padding and all, that are not what they were. */
static inline int64_t changed(const struct call *call, const struct local local[3])
{
    int64_t count = 0;
    size_t bytes = bytes_of(call->type);
    for (int x = 0; x < 2; x++)
        for (int64_t c = 0; c < local[x].cols && local[x].data; c++)
            for (int64_t r = 0; r < call->desc[x].ld; r++) {
                double complex was;
                store(call->type, &was, 0, initial(call, x, &local[x], r, c));
                count += memcmp(&was, (char *)local[x].data + (size_t)(c * call->desc[x].ld + r) * bytes, bytes) != 0;
            }
    return count;
}

static inline void drop(struct local local[3])
{
    for (int x = 0; x < 3; x++)
        free(local[x].data);
}

/* Entries of C that are not alpha op(A) op(B) + beta C (or, with `untouched`, not as they were), and lost guards. */
static inline int64_t wrong(const struct call *call, const struct local *local, int untouched)
{
    int64_t count = 0, i, j;
    const hsumma_desc *desc = &call->desc[2];
    for (int64_t c = 0; c < local->cols && local->data; c++)
        for (int64_t r = 0; r < desc->ld; r++) {
            double complex want = GUARD;
            if (inside(call, 2, local, r, c, &i, &j)) {
                double complex sum = 0;
                for (int64_t l = 0; l < call->k; l++)
                    sum += op_entry(call, 0, call->ta, i, l) * op_entry(call, 1, call->tb, l, j);
                want = untouched ? entry(call, 2, i, j) : call->alpha * sum + call->beta * entry(call, 2, i, j);
            }
            count += !(load(call->type, local->data, c * desc->ld + r) == want);
        }
    return count;
}

/* The bits of this process's part of C. */
static inline int64_t hash_of_c(const struct call *c, const struct local *local)
{
    uint64_t h = 1;
    for (int64_t col = 0; col < local->cols; col++)
        for (int64_t row = 0; row < local->rows; row++) {
            double complex v = load(c->type, local->data, col * c->desc[2].ld + row);
            uint64_t part[2];
            memcpy(part, &v, sizeof part);
            h = scrambled(scrambled(h + part[0]) + part[1]);
        }
    return (int64_t)(h >> 2);
}

static inline hsumma_status create(hsumma_context *ctx, const struct call *c, hsumma_plan **plan)
{
    return hsumma_plan_create(ctx, c->type, c->ta, c->tb, c->m, c->n, c->k, &c->desc[0], &c->desc[1], &c->desc[2],
                              c->options, plan);
}

static inline hsumma_status one_call(hsumma_context *ctx, const struct call *c, const struct local local[3])
{
    double complex z[2] = {c->alpha, c->beta};
    float complex f[2] = {(float)c->alpha, (float)c->beta};
    const hsumma_desc *d = c->desc;
    const void *a = local ? local[0].data : NULL, *b = local ? local[1].data : NULL;
    void *x = local ? local[2].data : NULL;
    switch (c->type) {
    case HSUMMA_S:
        return hsumma_sgemm(ctx, c->ta, c->tb, c->m, c->n, c->k, (float)c->alpha, a, d, b, d + 1, (float)c->beta, x,
                            d + 2);
    case HSUMMA_D:
        return hsumma_dgemm(ctx, c->ta, c->tb, c->m, c->n, c->k, c->alpha, a, d, b, d + 1, c->beta, x, d + 2);
    case HSUMMA_C:
        return hsumma_cgemm(ctx, c->ta, c->tb, c->m, c->n, c->k, &f[0], a, d, b, d + 1, &f[1], x, d + 2);
    default:
        return hsumma_zgemm(ctx, c->ta, c->tb, c->m, c->n, c->k, &z[0], a, d, b, d + 1, &z[1], x, d + 2);
    }
}

/* For plans: start, or start and wait.  The scalars are copied by start. */
static inline hsumma_status begin(hsumma_plan *plan, const struct call *c, const struct local local[3], int wait)
{
    double complex scalar[2];
    store(c->type, &scalar[0], 0, c->alpha);
    store(c->type, &scalar[1], 0, c->beta);
    return (wait ? hsumma_plan_execute : hsumma_plan_start)(plan, &scalar[0], local[0].data, local[1].data, &scalar[1],
                                                            local[2].data);
}

/* A whole multiplication, in one call or by a plan: 1 if this process has the right result. */
static inline int multiplies(hsumma_context *ctx, const struct call *call, int by_plan)
{
    struct local local[3];
    hsumma_plan *plan = NULL;
    make(call, local);
    hsumma_status status = by_plan ? create(ctx, call, &plan) : one_call(ctx, call, local);
    if (by_plan && !status)
        status = begin(plan, call, local, 1);
    int good = status == HSUMMA_OK && wrong(call, &local[2], 0) + changed(call, local) == 0;
    hsumma_plan_free(&plan);
    drop(local);
    return good;
}

/* A request that must be refused alike everywhere, by plan_create and in one call, in these words. */
static inline void refuse(hsumma_context *ctx, const struct call *call, hsumma_status wanted, const char *what,
                          const char *word, const char *other)
{
    hsumma_plan *plan = (hsumma_plan *)&rank; /* must become NULL */
    hsumma_status status = create(ctx, call, &plan), again = wanted;
    char message[512];
    snprintf(message, sizeof message, "%s", hsumma_message(ctx));
    if (!call->options)
        again = one_call(ctx, call, NULL);
    int good = status == wanted && again == wanted && plan == NULL && strstr(message, word) && strstr(message, other);
    tap_ok(everywhere(good), "%s: %s: %s", what, hsumma_status_string(status), message);
    if (status == HSUMMA_OK)
        hsumma_plan_free(&plan);
}

/* Sets up ranks, a context and a grid, runs the tests, and returns the program's exit code.  An argument OPTION=WORD is
 * put into the environment, in place of what was there of options: node=WORD is HSUMMA_NODE=WORD. */
static inline int product_main(int argc, char **argv, void (*tests)(hsumma_context *, const hsumma_grid *))
{
    hsumma_context *ctx = (hsumma_context *)&rank;
    hsumma_grid *grid = NULL;
    char message[256] = "";
    int P, Q,
        early = hsumma_create(MPI_COMM_WORLD, NULL, &ctx, message, sizeof message) == HSUMMA_ERR_MPI && !ctx &&
                strstr(message, "MPI_Init");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    tap_begin(rank == 0);
    hsumma_option_info info;
    for (int i = 0; hsumma_option(i, &info); i++) {
        size_t length = strlen(info.name);
        unsetenv(info.environment);
        for (int a = 1; a < argc; a++)
            if (strncmp(argv[a], info.name, length) == 0 && argv[a][length] == '=')
                setenv(info.environment, argv[a] + length + 1, 1);
    }
    tap_ok(everywhere(early), "without MPI there is no context: %s", message);
    hsumma_grid_shape(size, &P, &Q);
    int good = !hsumma_create(MPI_COMM_WORLD, NULL, &ctx, message, sizeof message) &&
               !hsumma_grid_create(ctx, P, Q, 'R', NULL, &grid);
    if (tap_ok(everywhere(good), "context on %d ranks, grid %d x %d", size, P, Q))
        tests(ctx, grid);
    hsumma_grid_free(&grid);
    hsumma_free(&ctx);
    MPI_Finalize();
    return tap_done();
}

#endif
