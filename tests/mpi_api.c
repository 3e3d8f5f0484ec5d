/*
 * The public interface: every documented error, with the same status on every rank and a message that names argument
 * and value; lifetimes; cached plans; contexts, grids and communicators side by side; empty and scaled products.
 *   mpi_api            all but the two below
 *   mpi_api memory     an allocation that fails on one rank, at every place
 *   mpi_api in-flight  a plan that is refused while another one is on its way
 * Entries are small integers, so every product is compared exactly with a triple loop.
 */
#include "hsumma/context.h"

#include "base/wait.h"
#include "quiet.h"
#include "tap.h"

#include <complex.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PAD = 2, GUARD = 77, PATIENCE_S = 10 };

static int rank, size;

/* A verdict that all ranks share. */
static int everywhere(int good)
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
};

struct local {
    int64_t rows, cols;
    void *data;
};

/* nb = 0: checkerboard. */
static struct call call_of(const hsumma_grid *grid, hsumma_type type, char ta, char tb, int64_t m, int64_t n, int64_t k,
                           int64_t nb)
{
    struct call call = {type, ta, tb, m, n, k, {{0}}, 2, -1, NULL};
    int64_t shape[3][2] = {{ta == 'N' ? m : k, ta == 'N' ? k : m}, {tb == 'N' ? k : n, tb == 'N' ? n : k}, {m, n}};
    for (int x = 0; x < 3; x++) {
        if (nb)
            hsumma_desc_init(&call.desc[x], grid, shape[x][0], shape[x][1], nb, nb);
        else
            hsumma_desc_checkerboard(&call.desc[x], grid, shape[x][0], shape[x][1]);
        call.desc[x].ld += PAD;
    }
    return call;
}

static double complex entry(const struct call *call, int x, int64_t i, int64_t j)
{
    double re = (double)((i * 7 + j * 3 + x) % 5 - 2), im = (double)((i * 5 + j + x) % 3 - 1);
    return call->type >= HSUMMA_C ? re + im * I : re;
}

static double complex op_entry(const struct call *call, int x, char op, int64_t i, int64_t j)
{
    double complex v = op == 'N' ? entry(call, x, i, j) : entry(call, x, j, i);
    return op == 'C' ? conj(v) : v;
}

static size_t bytes_of(hsumma_type type)
{
    return type == HSUMMA_S ? 4 : type == HSUMMA_Z ? 16 : 8;
}

static void store(hsumma_type type, void *at, int64_t index, double complex v)
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

static double complex load(hsumma_type type, const void *at, int64_t index)
{
    return type == HSUMMA_S   ? ((const float *)at)[index]
           : type == HSUMMA_D ? ((const double *)at)[index]
           : type == HSUMMA_C ? ((const float complex *)at)[index]
                              : ((const double complex *)at)[index];
}

/* Whether the local element belongs to the operand, and which of its entries it is (as stored). */
static int inside(const struct call *call, int x, const struct local *local, int64_t r, int64_t c, int64_t *i,
                  int64_t *j)
{
    const hsumma_desc *desc = &call->desc[x];
    char op = x == 0 ? call->ta : x == 1 ? call->tb : 'N';
    int64_t extent[3][2] = {{call->m, call->k}, {call->k, call->n}, {call->m, call->n}};
    if (r >= local->rows || c >= local->cols)
        return 0;
    *i = hsumma_global_row(desc, r) - desc->i;
    *j = hsumma_global_col(desc, c) - desc->j;
    return *i >= 0 && *j >= 0 && *i < extent[x][op == 'N' ? 0 : 1] && *j < extent[x][op == 'N' ? 1 : 0];
}

/* Fills the matrices; what must not be read (A and B for alpha = 0, C for beta = 0) holds NaN, all else a guard. */
static void make(const struct call *call, struct local local[3])
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
            for (int64_t r = 0; r < desc->ld; r++) {
                int64_t i, j;
                double complex v = GUARD;
                if (inside(call, x, l, r, c, &i, &j))
                    v = (x == 2 ? call->beta : call->alpha) == 0 ? NAN : entry(call, x, i, j);
                store(call->type, l->data, c * desc->ld + r, v);
            }
    }
}

static void drop(struct local local[3])
{
    for (int x = 0; x < 3; x++)
        free(local[x].data);
}

/* Entries of C that are not alpha op(A) op(B) + beta C (or, with `untouched`, not as they were), and lost guards. */
static int64_t wrong(const struct call *call, const struct local *local, int untouched)
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

static hsumma_status create(hsumma_context *ctx, const struct call *c, hsumma_plan **plan)
{
    return hsumma_plan_create(ctx, c->type, c->ta, c->tb, c->m, c->n, c->k, &c->desc[0], &c->desc[1], &c->desc[2],
                              c->options, plan);
}

static hsumma_status one_call(hsumma_context *ctx, const struct call *c, const struct local local[3])
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
static hsumma_status begin(hsumma_plan *plan, const struct call *c, const struct local local[3], int wait)
{
    double complex scalar[2];
    store(c->type, &scalar[0], 0, c->alpha);
    store(c->type, &scalar[1], 0, c->beta);
    return (wait ? hsumma_plan_execute : hsumma_plan_start)(plan, &scalar[0], local[0].data, local[1].data, &scalar[1],
                                                            local[2].data);
}

/* A whole multiplication, in one call or by a plan: 1 if this process has the right result. */
static int multiplies(hsumma_context *ctx, const struct call *call, int by_plan)
{
    struct local local[3];
    hsumma_plan *plan = NULL;
    make(call, local);
    hsumma_status status = by_plan ? create(ctx, call, &plan) : one_call(ctx, call, local);
    if (by_plan && !status)
        status = begin(plan, call, local, 1);
    int good = status == HSUMMA_OK && wrong(call, &local[2], 0) == 0;
    hsumma_plan_free(&plan);
    drop(local);
    return good;
}

/* A request that must be refused alike everywhere, by plan_create and in one call, in these words. */
static void refuse(hsumma_context *ctx, const struct call *call, hsumma_status wanted, const char *what,
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

static void test_arguments(hsumma_context *ctx, const hsumma_grid *grid, const hsumma_grid *other)
{
    struct call good = call_of(grid, HSUMMA_D, 'N', 'T', 12, 10, 14, 2), c;
    char text[64];
    int P, Q;
    hsumma_grid_info(grid, &P, &Q, NULL, NULL);
#define REFUSE(change, what, word, other_word)                        \
    do {                                                              \
        c = good;                                                     \
        change;                                                       \
        refuse(ctx, &c, HSUMMA_ERR_ARGUMENT, what, word, other_word); \
    } while (0)
    REFUSE(c.ta = 'X', "transa = X", "transa", "'X'");
    REFUSE(c.tb = 'n', "transb = n", "transb", "'n'");
    REFUSE(c.m = -1, "m = -1", "m is", "-1");
    REFUSE(c.n = -2, "n = -2", "n is", "-2");
    REFUSE(c.k = INT64_MIN, "k = -2^63", "k is", "-9223372036854775808");
    REFUSE(c.m = 13, "op(A) does not fit: m = 13", "A has 12 rows", "m = 13");
    REFUSE(c.n = 11, "op(B) does not fit: n = 11", "B has 10 rows", "n = 11"); /* B is transposed */
    REFUSE(c.k = INT64_MAX, "k = 2^63 - 1", "A has 14 columns", "k = 9223372036854775807");
    REFUSE(c.desc[2].m = 11, "C does not fit: 11 rows", "C has 11 rows", "m = 12");
    REFUSE(c.desc[2].j = 1, "C does not fit: j = 1", "C has 9 columns", "j = 1");
    REFUSE(c.desc[0].m = -1, "descriptor: m = -1", "descriptor of A: m is -1", "expected 0");
    REFUSE(c.desc[1].n = -7, "descriptor: n = -7", "descriptor of B: n is -7", "expected 0");
    REFUSE(c.desc[0].mb = 0, "mb = 0", "descriptor of A: mb is 0", "expected 1");
    REFUSE(c.desc[1].nb = -3, "nb = -3", "descriptor of B: nb is -3", "expected 1");
    REFUSE(c.desc[2].imb = 3, "imb = 3 over mb = 2", "descriptor of C: imb is 3", "1 to 2");
    REFUSE(c.desc[2].inb = 0, "inb = 0", "descriptor of C: inb is 0", "1 to 2");
    snprintf(text, sizeof text, "0 to %d", P - 1);
    REFUSE(c.desc[0].rsrc = P, "rsrc past the grid", "descriptor of A: rsrc is", text);
    REFUSE(c.desc[0].rsrc = -1, "rsrc = -1", "descriptor of A: rsrc is -1", text);
    snprintf(text, sizeof text, "0 to %d", Q - 1);
    REFUSE(c.desc[1].csrc = Q, "csrc past the grid", "descriptor of B: csrc is", text);
    REFUSE(c.desc[0].i = 13, "i past the end", "descriptor of A: i is 13", "0 to 12");
    REFUSE(c.desc[0].j = -1, "j = -1", "descriptor of A: j is -1", "0 to 14");
    REFUSE(c.desc[1].grid = NULL, "no grid", "descriptor of B", "NULL");
#undef REFUSE
    c = good;
    c.desc[2].grid = other;
    refuse(ctx, &c, HSUMMA_ERR_UNSUPPORTED, "C on another grid", "C is on another grid", "A");

    hsumma_plan *plan = NULL;
    hsumma_status status[2];
    status[0] = hsumma_plan_create(ctx, (hsumma_type)9, 'N', 'N', 1, 1, 1, &good.desc[0], &good.desc[1], &good.desc[2],
                                   NULL, &plan);
    int named = strstr(hsumma_message(ctx), "type is 9") != NULL;
    status[1] = hsumma_dgemm(ctx, 'N', 'T', 12, 10, 14, 1, NULL, &good.desc[0], NULL, NULL, 1, NULL, &good.desc[2]);
    named = named && strstr(hsumma_message(ctx), "descriptor of B") != NULL;
    tap_ok(everywhere(status[0] == HSUMMA_ERR_ARGUMENT && status[1] == HSUMMA_ERR_ARGUMENT && named),
           "type = 9, and a descriptor that is NULL");
    tap_ok(everywhere(multiplies(ctx, &good, 0) && multiplies(ctx, &good, 1)), "after all that a good call is right");
}

static void test_options(hsumma_context *ctx, const hsumma_grid *grid)
{
    struct call c = call_of(grid, HSUMMA_D, 'N', 'N', 12, 10, 14, 2);
    int P, Q;
    char text[96], word[32];
    hsumma_grid_info(grid, &P, &Q, NULL, NULL);
    c.options = "block=2 nonsense=1";
    refuse(ctx, &c, HSUMMA_ERR_OPTION, c.options, "nonsense=1", "option");
    c.options = "lookahead=1000";
    refuse(ctx, &c, HSUMMA_ERR_OPTION, c.options, "lookahead", "\"1000\"");
    c.options = "bcast=pigeon";
    refuse(ctx, &c, HSUMMA_ERR_OPTION, c.options, "bcast=pigeon", "van_de_geijn");
    c.options = "reduce=pigeon";
    refuse(ctx, &c, HSUMMA_ERR_OPTION, c.options, "reduce=pigeon", "binomial");
    snprintf(text, sizeof text, "groups=%dx1", P + 1);
    snprintf(word, sizeof word, "%dx%d", P, Q);
    c.options = text;
    refuse(ctx, &c, HSUMMA_ERR_ARGUMENT, c.options, text + 7, word);
    snprintf(text, sizeof text, "levels=1x1,1x%d", Q + 1);
    refuse(ctx, &c, HSUMMA_ERR_ARGUMENT, c.options, "divide", word);
    if (size == 1) {
        tap_skip(3, "needs a grid of more than one process");
        return;
    }
    snprintf(text, sizeof text, "groups=%dx%d outer=7 block=2", P, Q);
    refuse(ctx, &c, HSUMMA_ERR_ARGUMENT, c.options, "outer panels of 7", "2");
    snprintf(text, sizeof text, "groups=%dx%d bcast=flat,flat,flat", P, Q);
    refuse(ctx, &c, HSUMMA_ERR_OPTION, c.options, "bcast names 3", "2 levels");
    c.options = "workspace_limit=1 block=2 stationary=C lookahead=0";
    refuse(ctx, &c, HSUMMA_ERR_WORKSPACE, c.options, "panels of 2", "workspace_limit allows 1 ");
}

static void test_alignment(hsumma_context *ctx, const hsumma_grid *grid)
{
    int P, Q;
    hsumma_grid_info(grid, &P, &Q, NULL, NULL);
    struct call c = call_of(grid, HSUMMA_D, 'N', 'N', 12, 10, 14, 2);
    if (Q > 1) {
        c.desc[1].nb = c.desc[1].inb = 3;
        c.options = "stationary=C";
        refuse(ctx, &c, HSUMMA_ERR_UNSUPPORTED, "columns of B and C spread differently", "in blocks of 3", "in B and");
    } else {
        tap_skip(1, "needs two columns of processes");
    }
    if (P > 1) {
        c.desc[0].rsrc = 1;
        c.options = NULL;
        refuse(ctx, &c, HSUMMA_ERR_UNSUPPORTED, "and rows of A and C too: no operand can stay", "on process 1",
               "in A and");
        /* with only the rows of A and C apart, B can stay; choosing must not leave traces of what was turned down */
        hsumma_context *fresh = NULL;
        hsumma_grid *own = NULL;
        int good = hsumma_create(MPI_COMM_WORLD, NULL, &fresh, NULL, 0) == HSUMMA_OK && hsumma_message(fresh)[0] == 0 &&
                   hsumma_grid_create(fresh, P, Q, 'R', NULL, &own) == HSUMMA_OK;
        c = call_of(own, HSUMMA_D, 'N', 'N', 12, 10, 14, 2);
        c.desc[0].rsrc = 1;
        good &= multiplies(fresh, &c, 1);
        tap_ok(everywhere(good), "stationary B is found where only B can stay");
        tap_ok(everywhere(hsumma_message(fresh)[0] == 0), "without an error there is no message: \"%s\"",
               hsumma_message(fresh));
        hsumma_grid_free(&own);
        hsumma_free(&fresh);
    } else {
        tap_skip(3, "needs two rows of processes");
    }
}

/* What only one rank has got wrong is told to all; the others say who it was. */
static void test_local(hsumma_context *ctx, const hsumma_grid *grid, int victim)
{
    char who[32];
    snprintf(who, sizeof who, "process %d ", victim);
    for (int x = 0; x < 3; x++) {
        struct call c = call_of(grid, HSUMMA_D, 'N', 'N', 12, 10, 14, 2);
        struct local local[3];
        hsumma_plan *plan = NULL;
        char value[32], name[16];
        int good = 1, seen = 0;
        make(&c, local);
        int64_t ld = c.desc[x].ld, bad[] = {local[x].rows - 1, 0, -5, (int64_t)INT32_MAX + 1};
        for (int i = 0; i < 4; i++) {
            if (rank == victim)
                c.desc[x].ld = bad[i];
            hsumma_status status = create(ctx, &c, &plan);
            snprintf(value, sizeof value, "%" PRId64, bad[i]);
            snprintf(name, sizeof name, rank == victim ? "of %c is" : "(%c:", "ABC"[x]);
            seen += status == HSUMMA_ERR_ARGUMENT && !plan && strstr(hsumma_message(ctx), name) &&
                    strstr(hsumma_message(ctx), rank == victim ? value : who);
            seen += one_call(ctx, &c, local) == HSUMMA_ERR_ARGUMENT;
            c.desc[x].ld = ld;
        }
        tap_ok(everywhere(seen == 8), "leading dimension of %c too small or large on rank %d only: %s", "ABC"[x],
               victim, hsumma_message(ctx));

        void *data = local[x].data;
        good = create(ctx, &c, &plan) == HSUMMA_OK;
        if (rank == victim)
            local[x].data = NULL;
        snprintf(name, sizeof name, rank == victim ? "%c is NULL" : "(%c:", "ABC"[x]);
        for (int by_plan = 0; plan && by_plan < 2; by_plan++) {
            hsumma_status status = by_plan ? begin(plan, &c, local, 1) : one_call(ctx, &c, local);
            good &= status == HSUMMA_ERR_ARGUMENT && strstr(hsumma_message(ctx), name) &&
                    strstr(hsumma_message(ctx), rank == victim ? "NULL" : who);
        }
        local[x].data = data;
        good = good && wrong(&c, &local[2], 1) == 0;
        tap_ok(everywhere(good), "%c NULL on rank %d only, C unchanged: %s", "ABC"[x], victim, hsumma_message(ctx));
        good = plan && begin(plan, &c, local, 1) == HSUMMA_OK && wrong(&c, &local[2], 0) == 0;
        tap_ok(everywhere(good), "and the plan still works");
        hsumma_plan_free(&plan);
        drop(local);
    }
}

static void test_grids(hsumma_context *ctx)
{
    int *ranks = malloc((size_t)size * sizeof *ranks), good = 1;
    struct {
        int nprow, npcol;
        char order;
        int spoiled; /* the last rank of the list: this instead; -2: no list */
        const char *word;
    } bad[] = {{size + 1, 1, 'R', -2, "does not fit"},
               {0, 1, 'R', -2, "0 x 1"},
               {1, -1, 'R', -2, "1 x -1"},
               {65536, 65536, 'R', -2, "65536 x 65536"},
               {1, size, 'X', -2, "order is"},
               {1, size, 'R', size, "ranks["},
               {size, 1, 'C', -1, "is -1"},
               {1, size, 'R', 0, "each once"}};
    for (int i = 0; i < 8; i++) {
        hsumma_grid *grid = (hsumma_grid *)&rank;
        for (int r = 0; r < size; r++)
            ranks[r] = r == size - 1 && bad[i].spoiled > -2 ? bad[i].spoiled : r;
        if (i == 7 && size == 1)
            continue; /* rank 0 alone is no duplicate */
        hsumma_status status = hsumma_grid_create(ctx, bad[i].nprow, bad[i].npcol, bad[i].order,
                                                  bad[i].spoiled > -2 ? ranks : NULL, &grid);
        good = good && status == HSUMMA_ERR_ARGUMENT && !grid && strstr(hsumma_message(ctx), bad[i].word);
    }
    tap_ok(everywhere(good), "grids that do not fit, orders and rank lists that are none: %s", hsumma_message(ctx));

    for (int P = 1; P <= size; P++) {
        if (size % P)
            continue;
        int Q = size / P, reversed = size - 1 - rank, nprow, npcol, row, col;
        for (int r = 0; r < size; r++)
            ranks[r] = size - 1 - r;
        good = 1;
        for (int listed = 0; listed < 2; listed++)
            for (int order = 0; order < 2; order++) {
                hsumma_grid *grid;
                int place = listed ? reversed : rank;
                if (hsumma_grid_create(ctx, P, Q, "RC"[order], listed ? ranks : NULL, &grid)) {
                    good = 0;
                    continue;
                }
                hsumma_grid_info(grid, &nprow, &npcol, &row, &col);
                good &= nprow == P && npcol == Q && row == (order ? place % P : place / Q) &&
                        col == (order ? place / P : place % Q);
                struct call c = call_of(grid, HSUMMA_S, 'T', 'N', 9, 7, 11, 2);
                good &= multiplies(ctx, &c, listed);
                hsumma_grid_free(&grid);
                good &= grid == NULL;
            }
        tap_ok(everywhere(good), "grid %d x %d by rows, by columns, and of ranks in reverse", P, Q);
    }
    free(ranks);
}

/* Grids that leave processes out; these take part in every call and own nothing. */
static void test_outside(hsumma_context *ctx)
{
    int used = size > 1 ? size - 1 : 1, ranks[64], row, col, good = 1;
    hsumma_grid *grid = NULL;
    if (size == 1) {
        tap_skip(1, "needs a process to leave out");
        return;
    }
    for (int r = 0; r < used; r++)
        ranks[r] = r + 1; /* rank 0 is outside */
    good = hsumma_grid_create(ctx, used, 1, 'R', ranks, &grid) == HSUMMA_OK;
    hsumma_grid_info(grid, NULL, NULL, &row, &col);
    good = good && row == rank - 1 && col == (rank ? 0 : -1);
    struct call c = call_of(grid, HSUMMA_Z, 'N', 'C', 9, 8, 7, 2);
    good = good && (rank || (hsumma_local_rows(&c.desc[0]) == 0 && hsumma_local_cols(&c.desc[1]) == 0));
    for (int i = 0; i < 4; i++)
        good &= multiplies(ctx, &c, i % 2);
    c.m = 10; /* does not fit: the outsider knows as well */
    good &= one_call(ctx, &c, NULL) == HSUMMA_ERR_ARGUMENT;
    hsumma_grid_free(&grid);
    tap_ok(everywhere(good), "rank 0 outside the grid");
}

static void test_busy(hsumma_context *ctx, const hsumma_grid *grid)
{
    struct call c = call_of(grid, HSUMMA_D, 'N', 'N', 20, 18, 22, 2);
    struct local x[3], y[3];
    hsumma_plan *plan[2] = {NULL, NULL};
    make(&c, x);
    make(&c, y);
    int good = multiplies(ctx, &c, 0), done = 0;
    good &= !create(ctx, &c, &plan[0]) && !create(ctx, &c, &plan[1]);
    good = good && !hsumma_plan_wait(plan[0]) && !hsumma_plan_test(plan[0], &done) && done; /* nothing was started */
    if (!everywhere(good)) {
        tap_ok(0, "two plans");
        return;
    }
    int refused = begin(plan[0], &c, x, 0) == HSUMMA_OK && begin(plan[1], &c, y, 0) == HSUMMA_ERR_BUSY &&
                  strstr(hsumma_message(ctx), "started") && begin(plan[0], &c, x, 0) == HSUMMA_ERR_BUSY &&
                  begin(plan[1], &c, y, 1) == HSUMMA_ERR_BUSY && one_call(ctx, &c, y) == HSUMMA_ERR_BUSY;
    good = hsumma_plan_wait(plan[0]) == HSUMMA_OK && wrong(&c, &x[2], 0) == 0 && wrong(&c, &y[2], 1) == 0;
    tap_ok(everywhere(refused), "while a plan is on its way no other may start: %s", hsumma_message(ctx));
    tap_ok(everywhere(good), "the first is not disturbed, the other's C unchanged");
    good = begin(plan[1], &c, y, 1) == HSUMMA_OK && wrong(&c, &y[2], 0) == 0;
    hsumma_plan_free(&plan[0]);
    tap_ok(everywhere(good), "afterwards the other runs");
    drop(x);
    make(&c, x);
    good = begin(plan[1], &c, x, 0) == HSUMMA_OK;
    hsumma_plan_free(&plan[1]);
    good = good && !plan[1] && wrong(&c, &x[2], 0) == 0;
    tap_ok(everywhere(good), "a plan that is freed while it runs is waited for");
    hsumma_plan_free(&plan[1]);
    hsumma_plan_free(NULL);
    drop(x);
    drop(y);
}

/* Frees the context and the grid first, in the middle of an execution, too. */
static void test_lifetimes(void)
{
    for (int in_flight = 0; in_flight < 2; in_flight++) {
        hsumma_context *ctx = NULL;
        hsumma_grid *grid = NULL;
        hsumma_plan *plan = NULL;
        struct local local[3];
        int good = !hsumma_create(MPI_COMM_WORLD, "lookahead=1 block=2", &ctx, NULL, 0) &&
                   !hsumma_grid_create(ctx, 1, size, 'R', NULL, &grid);
        struct call c = call_of(grid, HSUMMA_C, 'T', 'N', 12, 13, 14, 3);
        make(&c, local);
        good &= multiplies(ctx, &c, 0);
        good &= !create(ctx, &c, &plan);
        if (!everywhere(good)) {
            tap_ok(0, "a plan that is to outlive its context");
            return;
        }
        if (in_flight)
            good = !begin(plan, &c, local, 0);
        hsumma_free(&ctx);
        hsumma_grid_free(&grid);
        good = good && !ctx && !grid;
        if (in_flight)
            good &= !hsumma_plan_wait(plan) && wrong(&c, &local[2], 0) == 0;
        for (int i = 0; i < 2; i++) {
            drop(local);
            /* the descriptors' grid is held by the plan only */
            make(&c, local);
            good &= !begin(plan, &c, local, 1) && wrong(&c, &local[2], 0) == 0;
        }
        drop(local);
        hsumma_plan_free(&plan);
        hsumma_free(&ctx);
        hsumma_free(NULL);
        hsumma_grid_free(&grid);
        tap_ok(everywhere(good), "a plan outlives its context and grid%s", in_flight ? ", freed while it runs" : "");
    }
}

/* The one-call routines: types, transpositions, offsets; then more shapes than are remembered, with changing ld. */
static void test_one_call(hsumma_context *ctx, const hsumma_grid *grid)
{
    int P, Q, good;
    hsumma_grid_info(grid, &P, &Q, NULL, NULL);
    for (int type = HSUMMA_S; type <= HSUMMA_Z; type++) {
        good = 1;
        for (int ops = 0; ops < 9; ops++) {
            struct call c =
                call_of(grid, (hsumma_type)type, "NTC"[ops % 3], "NTC"[ops / 3], 11, 7, 13, ops % 2 ? 3 : 0);
            good &= multiplies(ctx, &c, 0) && multiplies(ctx, &c, 0);
        }
        tap_ok(everywhere(good), "hsumma_%cgemm, all transpositions", "sdcz"[type]);
    }
    good = 1;
    for (int ops = 0; ops < 4; ops++) { /* operands that begin inside larger matrices, and inside blocks */
        struct call c = call_of(grid, HSUMMA_D, "NT"[ops % 2], "NT"[ops / 2], 9, 8, 10, 2);
        for (int x = 0; x < 3; x++) {
            hsumma_desc *d = &c.desc[x];
            int64_t m = d->m, n = d->n;
            hsumma_desc_init(d, grid, m + 3, n + 5, 4, 4);
            d->imb = d->inb = 2; /* rows 1..  of blocks that begin at 0, 2, 6, ... */
            d->rsrc = P - 1;
            d->csrc = Q - 1;
            d->i = 1;
            d->j = 1;
            d->ld = hsumma_local_rows(d) + PAD;
        }
        good &= multiplies(ctx, &c, 0) && multiplies(ctx, &c, 1);
    }
    tap_ok(everywhere(good), "operands at (1, 1) of larger matrices, with short first blocks and other sources");
}

static void test_cache(hsumma_context *ctx, const hsumma_grid *grid)
{
    enum { SHAPES = 11, ROUNDS = 3 };
    int good = 1, P, Q;
    hsumma_grid_info(grid, &P, &Q, NULL, NULL);
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < SHAPES; i++) {
            hsumma_grid *own = NULL;
            int shape = round == 1 ? SHAPES - 1 - i : i;
            if (i % 4 == 3 && hsumma_grid_create(ctx, Q, P, 'C', NULL, &own)) /* used for one call and freed */
                good = 0;
            struct call c =
                call_of(own ? own : grid, shape % 2 ? HSUMMA_D : HSUMMA_S, 'N', 'N', 5 + shape, 9, 8 + shape % 3, 2);
            for (int again = 0; again < 2; again++) {
                for (int x = 0; x < 3; x++)
                    c.desc[x].ld = hsumma_local_rows(&c.desc[x]) + 1 + (round + x + rank + again) % 4;
                c.alpha = again - round; /* neither are the scalars part of the plan */
                c.beta = round - 1;
                good &= multiplies(ctx, &c, 0);
            }
            hsumma_grid_free(&own);
        }
    tap_ok(everywhere(good), "%d shapes in turn on grids that come and go, other ld and scalars in each call", SHAPES);
}

static void test_nothing(hsumma_context *ctx, const hsumma_grid *grid)
{
    static const char *const stays[] = {"stationary=A", "stationary=B", "stationary=C", NULL};
    static const int64_t extent[][3] = {{0, 5, 6}, {5, 0, 6}, {5, 6, 0}, {0, 0, 0}, {1, 1, 1}, {7, 6, 5}};
    for (int s = 0; s < 4; s++) {
        int good = 1;
        for (int e = 0; e < 6; e++)
            for (int zero = 0; zero < 4; zero++) {
                struct call c = call_of(grid, zero % 2 ? HSUMMA_Z : HSUMMA_D, 'N', 'T', extent[e][0], extent[e][1],
                                        extent[e][2], e % 2 ? 2 : 0);
                c.alpha = zero & 1 ? 0 : 2; /* then A and B hold NaN */
                c.beta = zero & 2 ? 0 : 3;  /* then C does */
                c.options = stays[s];
                good &= multiplies(ctx, &c, 1);
                if (!c.options)
                    good &= multiplies(ctx, &c, 0);
            }
        tap_ok(everywhere(good), "empty dimensions, alpha = 0 with NaN in A and B, beta = 0 with NaN in C: %s",
               stays[s] ? stays[s] : "auto, and in one call");
    }
}

/* Contexts on parts of the processes, with unlike work, and two contexts on all of them. */
static void test_contexts(hsumma_context *ctx, const hsumma_grid *grid)
{
    MPI_Comm part;
    hsumma_context *own = NULL;
    hsumma_grid *line = NULL;
    int members, good;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &part); /* in reverse */
    MPI_Comm_size(part, &members);
    good = !hsumma_create(part, rank % 2 ? "groups=1x1" : NULL, &own, NULL, 0) &&
           !hsumma_grid_create(own, members, 1, 'R', NULL, &line);
    MPI_Comm_free(&part); /* the context has its own */
    for (int i = 0; line && i < 3 + rank % 2 * 4; i++) {
        struct call c = call_of(line, HSUMMA_D, 'N', i % 2 ? 'N' : 'T', 8 + i + rank % 2, 9, 10, 2);
        good &= multiplies(own, &c, i % 2);
    }
    tap_ok(everywhere(good), "even and odd ranks multiply apart, in communicators that have been freed");
    hsumma_grid_free(&line);
    hsumma_free(&own);

    hsumma_context *both[2] = {ctx, NULL};
    const hsumma_grid *on[2] = {grid, NULL};
    hsumma_plan *plan[2] = {NULL, NULL};
    struct call c[2];
    struct local local[2][3];
    hsumma_grid *other = NULL;
    good = !hsumma_create(MPI_COMM_WORLD, "block=2 lookahead=2", &both[1], NULL, 0) &&
           !hsumma_grid_create(both[1], size, 1, 'R', NULL, &other);
    on[1] = other;
    for (int i = 0; other && i < 6; i++) {
        struct call one = call_of(on[i % 2], HSUMMA_D, 'N', 'N', 9 + i, 8, 7, 2);
        good &= multiplies(both[i % 2], &one, i / 3);
    }
    tap_ok(everywhere(good), "two contexts used alternately");
    for (int i = 0; other && i < 2; i++) {
        c[i] = call_of(on[i], HSUMMA_D, 'T', 'N', 20 + i, 21, 22, 3);
        make(&c[i], local[i]);
        good &= !create(both[i], &c[i], &plan[i]);
    }
    if (everywhere(good)) {
        int done[2] = {0, 0};
        good = !begin(plan[rank % 2], &c[rank % 2], local[rank % 2], 0) && /* not in the same order everywhere */
               !begin(plan[1 - rank % 2], &c[1 - rank % 2], local[1 - rank % 2], 0);
        for (double end = hs_now() + PATIENCE_S; good && !(done[0] && done[1]) && hs_now() < end; sched_yield())
            good = !hsumma_plan_test(plan[0], &done[0]) && !hsumma_plan_test(plan[1], &done[1]);
        good = good && done[0] && done[1] && wrong(&c[0], &local[0][2], 0) + wrong(&c[1], &local[1][2], 0) == 0;
    }
    for (int i = 0; other && i < 2; i++)
        drop(local[i]);
    tap_ok(everywhere(good), "two contexts with plans on their way at the same time");
    hsumma_plan_free(&plan[0]);
    hsumma_plan_free(&plan[1]);
    hsumma_grid_free(&other);
    hsumma_free(&both[1]);
}

/* The environment counts where the first process has it; the context's options win over it, the plan's over both. */
static void test_environment(void)
{
    hsumma_context *ctx = (hsumma_context *)&rank;
    char message[256] = "";
    hsumma_status status = hsumma_create(MPI_COMM_WORLD, "block=2 wings=2", &ctx, message, sizeof message);
    tap_ok(everywhere(status == HSUMMA_ERR_OPTION && !ctx && strstr(message, "wings=2")), "context: %s", message);
    setenv("HSUMMA_BLOCK", rank ? "9" : "many", 1);
    status = hsumma_create(MPI_COMM_WORLD, NULL, &ctx, message, sizeof message);
    tap_ok(everywhere(status == HSUMMA_ERR_OPTION && !ctx && strstr(message, "block") && strstr(message, "\"many\"") &&
                      strstr(message, "environment") &&
                      hsumma_create(MPI_COMM_WORLD, NULL, &ctx, message, 5) == HSUMMA_ERR_OPTION &&
                      strlen(message) == 4 && hsumma_create(MPI_COMM_WORLD, NULL, &ctx, NULL, 0) == HSUMMA_ERR_OPTION),
           "the first process's environment: its message, cut, and not wanted");
    setenv("HSUMMA_BLOCK", rank ? "9" : "5", 1);
    for (int who = 0; who < 4; who++) {
        static const char *const sayer[] = {"environment", "context", "caller", "caller"};
        hsumma_grid *grid = NULL;
        hsumma_plan *plan = NULL;
        hsumma_plan_info info;
        int good = !hsumma_create(MPI_COMM_WORLD, who & 1 ? "block=6" : "", &ctx, NULL, 0) &&
                   !hsumma_grid_create(ctx, 1, size, 'R', NULL, &grid);
        struct call c = call_of(grid, HSUMMA_D, 'N', 'N', 40, 41, 42, 4);
        char word[32];
        c.options = who & 2 ? "stationary=C\tblock=7" : NULL;
        good = good && !create(ctx, &c, &plan);
        if (good)
            hsumma_plan_query(plan, &info);
        snprintf(word, sizeof word, "block: %s", sayer[who]);
        good = good && info.level[info.nlevels - 1].block == (who & 2 ? 7 : who & 1 ? 6 : 5) && strstr(info.why, word);
        tap_ok(everywhere(good), "block said by the environment%s%s: %s", who & 1 ? ", the context" : "",
               who & 2 ? ", the caller" : "", plan ? info.why : "");
        hsumma_plan_free(&plan);
        hsumma_grid_free(&grid);
        hsumma_free(&ctx);
    }
    unsetenv("HSUMMA_BLOCK");
}

/* Whether two plans do the same in the same way. */
static int same_plan(const hsumma_plan_info *x, const hsumma_plan_info *y)
{
    int same = strcmp(x->line, y->line) == 0 && x->stationary == y->stationary && x->nlevels == y->nlevels &&
               x->lookahead == y->lookahead && x->segment == y->segment && x->threads == y->threads &&
               x->panels == y->panels && x->workspace_bytes == y->workspace_bytes &&
               x->workspace_bytes_max == y->workspace_bytes_max;
    for (int l = 0; same && l < x->nlevels; l++)
        same = x->level[l].rows == y->level[l].rows && x->level[l].cols == y->level[l].cols &&
               x->level[l].block == y->level[l].block && strcmp(x->level[l].bcast, y->level[l].bcast) == 0 &&
               strcmp(x->level[l].reduce, y->level[l].reduce) == 0;
    return same;
}

/* Plans a call again with the line that its plan has given, in another context with opinions of its own. */
static int repeats(hsumma_context *ctx, struct call c, char *line, size_t length)
{
    hsumma_plan *plan = NULL, *again = NULL;
    hsumma_plan_info info, copy;
    int good = create(ctx, &c, &plan) == HSUMMA_OK;
    snprintf(line, length, "%s", hsumma_message(ctx));
    if (good) {
        hsumma_plan_query(plan, &info);
        snprintf(line, length, "%s", info.line);
        c.options = line;
        good = create(ctx, &c, &again) == HSUMMA_OK;
    }
    if (again) {
        hsumma_plan_query(again, &copy);
        good = same_plan(&info, &copy);
    }
    hsumma_plan_free(&plan);
    hsumma_plan_free(&again);
    return good;
}

static void test_lines(hsumma_context *ctx, const hsumma_grid *grid)
{
    int P, Q, good = 1, plans = 0;
    char line[600] = "", options[5][200];
    hsumma_grid_info(grid, &P, &Q, NULL, NULL);
    snprintf(options[0], sizeof options[0], "%s", "");
    snprintf(options[1], sizeof options[1], "groups=1x1 stationary=A lookahead=0 threads=user");
    snprintf(options[2], sizeof options[2], "groups=%dx1 block=3 outer=6 bcast=outer=flat,inner=chain segment=100", P);
    snprintf(options[3], sizeof options[3], "levels=1x1,%dx1,1x%d block=2 outer=8,4,4 lookahead=3 stationary=B", P, Q);
    snprintf(options[4], sizeof options[4], "groups=1x%d threads=3 stationary=C bcast=binomial", Q);
    for (int ops = 0; ops < 4; ops++)
        for (int o = 0; o < 5; o++, plans++) {
            struct call c =
                call_of(grid, (hsumma_type)(ops % 4), "NT"[ops % 2], "NC"[ops / 2], 40, 37, 50, o % 2 ? 4 : 0);
            c.options = options[o];
            good &= repeats(ctx, c, line, sizeof line);
        }
    tap_ok(everywhere(good), "the line of a plan gives it again: %d plans, such as %s", plans, line);
    struct call c = call_of(grid, HSUMMA_D, 'N', 'N', 12, 10, 14, 2);
    c.options = "segment=5G slice=8G";
    tap_ok(everywhere(repeats(ctx, c, line, sizeof line)), "also with numbers over 2^32: %s", hsumma_message(ctx));
    struct call big = call_of(grid, HSUMMA_D, 'N', 'N', 600, 600, 600, 0);
    big.options = "stationary=C groups=1x1 block=600 lookahead=1 workspace_limit=1G";
    tap_ok(everywhere(repeats(ctx, big, line, sizeof line)),
           "also where it needs more than the default workspace: %s (%s)", line, hsumma_message(ctx));
}

static void test_odds(void)
{
    int good = 1, major = -1, P, Q;
    for (int i = HSUMMA_OK; i <= HSUMMA_ERR_INTERNAL; i++)
        for (int j = 0; j <= i; j++)
            good &= (strcmp(hsumma_status_string((hsumma_status)i), hsumma_status_string((hsumma_status)j)) == 0) ==
                    (i == j);
    good &= strlen(hsumma_status_string((hsumma_status)99)) > 0 && strlen(hsumma_status_string((hsumma_status)-1)) > 0;
    hsumma_version(&major, NULL, NULL);
    good &= major == HSUMMA_VERSION_MAJOR;
    for (int n = 1; n <= 64; n++) { /* the nearest to a square: no factor between rows and the root */
        hsumma_grid_shape(n, &P, &Q);
        good &= P * Q == n && P <= Q;
        for (int i = P + 1; i * i <= n; i++)
            good &= n % i != 0;
    }
    tap_ok(everywhere(good), "names of statuses, version, shapes of grids");
}

/* Memory that fails at one call, or from it on, and knows how many blocks are out. */
struct scarce {
    int64_t calls, fail_at, out;
    int for_good;
};

static void *scarce_get(void *state, size_t bytes)
{
    struct scarce *scarce = state;
    int64_t call = scarce->calls++;
    if (scarce->fail_at >= 0 && (call == scarce->fail_at || (scarce->for_good && call > scarce->fail_at)))
        return NULL;
    scarce->out++;
    return hs_heap.get(hs_heap.state, bytes);
}

static void scarce_put(void *state, void *memory)
{
    ((struct scarce *)state)->out--;
    hs_heap.put(hs_heap.state, memory);
}

static int64_t hash_of(const char *text)
{
    uint64_t h = 5381;
    for (; *text; text++)
        h = h * 33 + (unsigned char)*text;
    return (int64_t)(h >> 2);
}

/* One plan with memory that fails on the victim at the n-th call: 1 if all is well; *reached: that call was made. */
static int survives(hsumma_context *ctx, const struct call *c, int victim, int64_t n, int for_good, int *reached)
{
    struct scarce scarce = {0, rank == victim ? n : -1, 0, for_good};
    struct local local[3];
    hsumma_plan *plan = NULL;
    hsumma_plan_info info;
    ctx->memory = (struct hs_allocator){scarce_get, scarce_put, &scarce};
    hsumma_status status = create(ctx, c, &plan);
    *reached = (int)quiet_reduce(rank == victim && scarce.calls > n, MPI_MAX);
    int failed = (int)quiet_reduce(status != HSUMMA_OK, MPI_MAX), alike = 1;
    if (!failed) {
        hsumma_plan_query(plan, &info);
        int64_t line = hash_of(info.line);
        alike = quiet_reduce(line, MPI_MIN) == quiet_reduce(line, MPI_MAX);
    }
    int good = failed ? status == HSUMMA_ERR_MEMORY && !plan && scarce.out == 0 && hsumma_message(ctx)[0] : alike;
    if (!failed && !alike)
        tap_diag("call %" PRId64 " failed on rank %d, which went on with another plan than the others; here: %s", n,
                 victim, info.line);
    if (!failed && alike) {
        make(c, local);
        int64_t calls = scarce.calls;
        good = begin(plan, c, local, 1) == HSUMMA_OK && wrong(c, &local[2], 0) == 0 && scarce.calls == calls;
        drop(local);
    }
    hsumma_plan_free(&plan);
    good = good && scarce.out == 0;
    ctx->memory = hs_heap;
    return everywhere(good);
}

static void test_memory(hsumma_context *ctx, const hsumma_grid *grid)
{
    static const char *const options[] = {
        "stationary=C groups=1x1 bcast=binomial block=4 lookahead=1",
        "stationary=A groups=1x1 bcast=chain block=4",
        "stationary=B bcast=flat block=4",
        NULL,
    };
    for (int o = 0; o < 4; o++)
        for (int mode = 0; mode < 4; mode++) {
            int victim = mode % 2 ? size - 1 : 0, for_good = mode / 2, good = 1, reached = 1;
            struct call c = call_of(grid, HSUMMA_D, 'N', o == 2 ? 'N' : 'T', 12, 10, 14, 2);
            int64_t n = 0, places = 0, bad = 0;
            c.options = options[o];
            if (size == 1 && victim == 0 && mode % 2)
                continue;
            for (; reached; n += n < 40 ? 1 : 1 + n / 10, places++) {
                good = survives(ctx, &c, victim, n, for_good, &reached);
                bad += !good;
            }
            tap_ok(bad == 0, "memory fails on rank %d %s, at %d places up to call %d, %s: %d wrong", victim,
                   for_good ? "for good" : "once", (int)places, (int)n, c.options ? c.options : "all chosen", (int)bad);
        }
    struct call c = call_of(grid, HSUMMA_D, 'N', 'N', 12, 10, 14, 2);
    struct scarce scarce = {0, rank == 0 ? 3 : -1, 0, 1};
    struct local local[3];
    make(&c, local);
    ctx->memory = (struct hs_allocator){scarce_get, scarce_put, &scarce};
    hsumma_status status = one_call(ctx, &c, local);
    int good = status == HSUMMA_ERR_MEMORY && wrong(&c, &local[2], 1) == 0 && scarce.out == 0;
    ctx->memory = hs_heap;
    good &= one_call(ctx, &c, local) == HSUMMA_OK && wrong(&c, &local[2], 0) == 0;
    drop(local);
    tap_ok(everywhere(good), "and in one call; the next one has memory and is right");
}

/*
 * While one plan is on its way, another is planned, and refused for what one rank got wrong: neither may mistake the
 * other's verdict for its own.  Rank 1 is late, so that ranks stand at different places of the first plan's agreement.
 */
static void test_in_flight(hsumma_context *ctx, const hsumma_grid *grid)
{
    struct call c = call_of(grid, HSUMMA_D, 'N', 'N', 20, 18, 22, 2), bad = c;
    struct local local[3];
    hsumma_plan *plan = NULL, *refused = NULL;
    int done = 0;
    make(&c, local);
    int good = create(ctx, &c, &plan) == HSUMMA_OK;
    bad.desc[0].ld = rank == 0 ? 0 : bad.desc[0].ld;
    for (double end = hs_now() + (rank == 1 ? 0.3 : 0); hs_now() < end;)
        sched_yield();
    good = good && begin(plan, &c, local, 0) == HSUMMA_OK;
    for (double end = hs_now() + 0.1; good && !done && hs_now() < end; sched_yield())
        good = hsumma_plan_test(plan, &done) == HSUMMA_OK;
    hsumma_status status = create(ctx, &bad, &refused), result = HSUMMA_OK;
    for (double end = hs_now() + PATIENCE_S; !result && !done && hs_now() < end; sched_yield())
        result = hsumma_plan_test(plan, &done);
    int ended = everywhere(done || result);
    tap_ok(everywhere(good && status == HSUMMA_ERR_ARGUMENT), "a plan is refused while another is on its way: %s",
           hsumma_status_string(status));
    tap_ok(everywhere(done && !result && wrong(&c, &local[2], 0) == 0), "which is not disturbed: %s on rank 0%s",
           hsumma_status_string(result), ended ? "" : ", and some rank waits for ever");
    if (!ended) { /* nothing can be freed: a rank would wait */
        tap_done();
        for (double end = hs_now() + 0.5; hs_now() < end;) /* until mpiexec has passed on what was printed */
            sched_yield();
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    hsumma_plan_free(&plan);
    drop(local);
}

static void test_all(hsumma_context *ctx, const hsumma_grid *grid)
{
    hsumma_grid *other = NULL;
    hsumma_grid_create(ctx, size, 1, 'R', NULL, &other);
    test_arguments(ctx, grid, other);
    hsumma_grid_free(&other);
    test_options(ctx, grid);
    test_alignment(ctx, grid);
    test_local(ctx, grid, 0);
    if (size > 1)
        test_local(ctx, grid, size - 1);
    test_grids(ctx);
    test_outside(ctx);
    test_busy(ctx, grid);
    test_lifetimes();
    test_one_call(ctx, grid);
    test_cache(ctx, grid);
    test_nothing(ctx, grid);
    test_contexts(ctx, grid);
    test_environment();
    test_lines(ctx, grid);
    test_odds();
}

int main(int argc, char **argv)
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
    for (int i = 0; hsumma_option(i, &info); i++)
        unsetenv(info.environment);
    tap_ok(everywhere(early), "without MPI there is no context: %s", message);
    hsumma_grid_shape(size, &P, &Q);
    int good = !hsumma_create(MPI_COMM_WORLD, NULL, &ctx, message, sizeof message) &&
               !hsumma_grid_create(ctx, P, Q, 'R', NULL, &grid);
    if (tap_ok(everywhere(good), "context on %d ranks, grid %d x %d", size, P, Q)) {
        const char *mode = argc > 1 ? argv[1] : "";
        (strcmp(mode, "memory") == 0      ? test_memory
         : strcmp(mode, "in-flight") == 0 ? test_in_flight
                                          : test_all)(ctx, grid);
    }
    hsumma_grid_free(&grid);
    hsumma_free(&ctx);
    MPI_Finalize();
    return tap_done();
}
