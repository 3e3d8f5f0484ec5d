#include "support/product/gemm_case.h"

/* Rows and columns of operand x as stored, that is before op(). */
static void gemm_stored_shape(const struct gemm_case *call, int x, int64_t *rows, int64_t *cols)
{
    int64_t extent[3][2] = {{call->m, call->k}, {call->k, call->n}, {call->m, call->n}};
    int turned = (x == 0 && call->ta != 'N') || (x == 1 && call->tb != 'N');
    *rows = extent[x][turned];
    *cols = extent[x][!turned];
}

struct gemm_case gemm_case_of(const hsumma_grid *grid, hsumma_type type, char ta, char tb, int64_t m, int64_t n,
                              int64_t k, int64_t nb)
{
    struct gemm_case call = {.type = type, .ta = ta, .tb = tb, .m = m, .n = n, .k = k, .alpha = 2, .beta = -1};
    for (int x = 0; x < 3; x++) {
        int64_t rows, cols;
        gemm_stored_shape(&call, x, &rows, &cols);
        if (nb)
            hsumma_desc_init(&call.desc[x], grid, rows, cols, nb, nb);
        else
            hsumma_desc_checkerboard(&call.desc[x], grid, rows, cols);
        call.desc[x].ld += GEMM_PAD;
    }
    return call;
}

void gemm_spread(struct gemm_case *call, int x, const struct gemm_layout *rows, const struct gemm_layout *cols)
{
    hsumma_desc *desc = &call->desc[x];
    int64_t m, n;
    gemm_stored_shape(call, x, &m, &n);
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
    desc->ld = (local > 1 ? local : 1) + GEMM_PAD + rank % 3;
}

void gemm_unalign(struct gemm_case *call, int seed)
{
    int P, Q;
    hsumma_grid_info(call->desc[0].grid, &P, &Q, NULL, NULL);
    for (int x = 0; x < 3; x++) {
        const struct gemm_layout rows = {2 + (x + seed) % 3, 1 + x % 2, (x + seed) % P, (x * 2 + seed) % 4, x},
                                 cols = {4 - (x + seed) % 3, 2 - x % 2, (2 * x + seed / 2) % Q, (x + seed / 3) % 5,
                                         2 - x};
        gemm_spread(call, x, &rows, &cols);
    }
}

double complex gemm_entry(const struct gemm_case *call, int x, int64_t i, int64_t j)
{
    uint64_t h = hs_scrambled((uint64_t)i * 0x9e3779b97f4a7c15ULL + (uint64_t)(j * 3 + x) * 0xc2b2ae3d27d4eb4fULL + 1);
    double re = (double)(h % 7) - 3, im = (double)(h / 7 % 5) - 2;
    if (call->fractions) {
        re = (double)(int64_t)h / 9.3e18;
        im = (double)(int64_t)hs_scrambled(h + 1) / 9.3e18;
    }
    return call->type >= HSUMMA_C ? re + im * I : re;
}

static double complex op_entry(const struct gemm_case *call, int x, char op, int64_t i, int64_t j)
{
    double complex v = op == 'N' ? gemm_entry(call, x, i, j) : gemm_entry(call, x, j, i);
    return op == 'C' ? conj(v) : v;
}

int gemm_inside(const struct gemm_case *call, int x, const struct gemm_part *local, int64_t r, int64_t c, int64_t *i,
                int64_t *j)
{
    const hsumma_desc *desc = &call->desc[x];
    int64_t rows, cols;
    if (r >= local->rows || c >= local->cols)
        return 0;
    gemm_stored_shape(call, x, &rows, &cols);
    *i = hsumma_global_row(desc, r) - desc->i;
    *j = hsumma_global_col(desc, c) - desc->j;
    return *i >= 0 && *j >= 0 && *i < rows && *j < cols;
}

/* The initial value of a local element: a guard outside the operand, NaN inside if it must not be read (A and B for
 * alpha = 0, C for beta = 0). */
static double complex initial(const struct gemm_case *call, int x, const struct gemm_part *local, int64_t r, int64_t c)
{
    int64_t i, j;
    if (!gemm_inside(call, x, local, r, c, &i, &j))
        return GEMM_GUARD;
    return (x == 2 ? call->beta : call->alpha) == 0 ? NAN : gemm_entry(call, x, i, j);
}

void gemm_make(const struct gemm_case *call, struct gemm_part local[3])
{
    for (int x = 0; x < 3; x++) {
        const hsumma_desc *desc = &call->desc[x];
        int64_t rows = hsumma_local_rows(desc), cols = hsumma_local_cols(desc);
        struct gemm_part *l = &local[x];
        *l = (struct gemm_part){.rows = rows, .cols = cols}; /* NULL is valid data for a process that owns nothing */
        if (rows * cols == 0)
            continue;
        l->bytes = (size_t)(desc->ld * (cols + 1)) * gemm_element_size(call->type);
        l->data = malloc(l->bytes);
        for (int64_t c = 0; c <= cols; c++)
            for (int64_t r = 0; r < desc->ld; r++)
                gemm_store(call->type, l->data, c * desc->ld + r, initial(call, x, l, r, c));
    }
}

int64_t gemm_changed(const struct gemm_case *call, const struct gemm_part local[3])
{
    int64_t count = 0;
    size_t bytes = gemm_element_size(call->type);
    for (int x = 0; x < 2; x++)
        for (int64_t c = 0; c <= local[x].cols && local[x].data; c++)
            for (int64_t r = 0; r < call->desc[x].ld; r++) {
                double complex was;
                gemm_store(call->type, &was, 0, initial(call, x, &local[x], r, c));
                count += memcmp(&was, (char *)local[x].data + (size_t)(c * call->desc[x].ld + r) * bytes, bytes) != 0;
            }
    return count;
}

void gemm_drop(struct gemm_part local[3])
{
    for (int x = 0; x < 3; x++)
        free(local[x].data);
}

/* The allowed difference between an entry of C and product_entry: 0 for integers, whose products are exact. */
static double tolerance(const struct gemm_case *call)
{
    int single = call->type == HSUMMA_S || call->type == HSUMMA_C;
    return !call->fractions ? 0 : (double)(call->k + 1) * (single ? 1e-6 : 2e-14);
}

/* Entry (i, j) of C by the triple loop. */
static double complex product_entry(const struct gemm_case *call, int64_t i, int64_t j)
{
    double complex sum = 0;
    for (int64_t l = 0; l < call->k; l++)
        sum += op_entry(call, 0, call->ta, i, l) * op_entry(call, 1, call->tb, l, j);
    return call->alpha * sum + call->beta * gemm_entry(call, 2, i, j);
}

int64_t gemm_wrong(const struct gemm_case *call, const struct gemm_part *local, int untouched)
{
    int64_t count = 0, i, j;
    const hsumma_desc *desc = &call->desc[2];
    for (int64_t c = 0; c <= local->cols && local->data; c++)
        for (int64_t r = 0; r < desc->ld; r++) {
            double complex got = gemm_load(call->type, local->data, c * desc->ld + r), want;
            if (!gemm_inside(call, 2, local, r, c, &i, &j) || untouched) {
                gemm_store(call->type, &want, 0, initial(call, 2, local, r, c));
                want = gemm_load(call->type, &want, 0);
                count += !(got == want);
            } else {
                count += !(cabs(got - product_entry(call, i, j)) <= tolerance(call));
            }
        }
    return count;
}

int64_t gemm_hash_of_c(const struct gemm_case *c, const struct gemm_part *local)
{
    uint64_t h = 1;
    for (int64_t col = 0; col < local->cols; col++)
        for (int64_t row = 0; row < local->rows; row++) {
            double complex v = gemm_load(c->type, local->data, col * c->desc[2].ld + row);
            uint64_t part[2];
            memcpy(part, &v, sizeof part);
            h = hs_scrambled(hs_scrambled(h + part[0]) + part[1]);
        }
    return (int64_t)(h >> 2);
}

hsumma_plan_info plan_query(const hsumma_plan *plan)
{
    hsumma_plan_info info = {.node = "", .why = "", .line = "", .local = "", .tuned = ""};
    if (plan)
        hsumma_plan_query(plan, &info);
    return info;
}

hsumma_status gemm_plan_create(hsumma_context *ctx, const struct gemm_case *c, hsumma_plan **plan)
{
    return hsumma_plan_create(ctx, c->type, c->ta, c->tb, c->m, c->n, c->k, &c->desc[0], &c->desc[1], &c->desc[2],
                              c->options, plan);
}

hsumma_status gemm_one_call(hsumma_context *ctx, const struct gemm_case *c, const struct gemm_part local[3])
{
    double complex z[2] = {c->alpha, c->beta};
    float complex f[2] = {(float complex)c->alpha, (float complex)c->beta};
    const hsumma_desc *d = c->desc;
    const void *a = local ? local[0].data : NULL, *b = local ? local[1].data : NULL;
    void *x = local ? local[2].data : NULL;
    switch (c->type) {
    case HSUMMA_S:
        return hsumma_sgemm(ctx, c->ta, c->tb, c->m, c->n, c->k, (float)creal(c->alpha), a, d, b, d + 1, (float)c->beta,
                            x, d + 2);
    case HSUMMA_D:
        return hsumma_dgemm(ctx, c->ta, c->tb, c->m, c->n, c->k, creal(c->alpha), a, d, b, d + 1, c->beta, x, d + 2);
    case HSUMMA_C:
        return hsumma_cgemm(ctx, c->ta, c->tb, c->m, c->n, c->k, &f[0], a, d, b, d + 1, &f[1], x, d + 2);
    default:
        return hsumma_zgemm(ctx, c->ta, c->tb, c->m, c->n, c->k, &z[0], a, d, b, d + 1, &z[1], x, d + 2);
    }
}

hsumma_status gemm_begin(hsumma_plan *plan, const struct gemm_case *c, const struct gemm_part local[3], int wait)
{
    double complex scalar[2];
    gemm_store(c->type, &scalar[0], 0, c->alpha);
    gemm_store(c->type, &scalar[1], 0, c->beta);
    return (wait ? hsumma_plan_execute : hsumma_plan_start)(plan, &scalar[0], local[0].data, local[1].data, &scalar[1],
                                                            local[2].data);
}

hsumma_status gemm_step_through(hsumma_plan *plan, const struct gemm_case *c, const struct gemm_part local[3],
                                int steps)
{
    int done = 0;
    if (steps == GEMM_AT_ONCE)
        return gemm_begin(plan, c, local, 1);
    hsumma_status status = gemm_begin(plan, c, local, 0);
    for (int i = 0; !status && !done && i < steps; i++)
        status = hsumma_plan_test(plan, &done);
    return status ? status : hsumma_plan_wait(plan);
}

const char *gemm_fault(const hsumma_plan *plan, const struct gemm_case *c, const struct gemm_part local[3],
                       hsumma_status status)
{
    return status                        ? hsumma_message(plan->ctx)
           : gemm_wrong(c, &local[2], 0) ? "C is wrong"
           : gemm_changed(c, local)      ? "A or B has changed"
                                         : NULL;
}

const char *gemm_execution_fault(hsumma_plan *plan, const struct gemm_case *c, int steps)
{
    struct gemm_part local[3];
    gemm_make(c, local);
    const char *fault = gemm_fault(plan, c, local, gemm_step_through(plan, c, local, steps));
    gemm_drop(local);
    return fault;
}

int gemm_executes(hsumma_plan *plan, const struct gemm_case *c)
{
    return !gemm_execution_fault(plan, c, GEMM_AT_ONCE);
}

int gemm_multiplies(hsumma_context *ctx, const struct gemm_case *call, int by_plan)
{
    struct gemm_part local[3];
    hsumma_plan *plan = NULL;
    int good;
    if (by_plan) {
        good = gemm_plan_create(ctx, call, &plan) == HSUMMA_OK && gemm_executes(plan, call);
        hsumma_plan_free(&plan);
        return good;
    }
    gemm_make(call, local);
    good = gemm_one_call(ctx, call, local) == HSUMMA_OK && gemm_wrong(call, &local[2], 0) == 0 &&
           gemm_changed(call, local) == 0;
    gemm_drop(local);
    return good;
}

int64_t gemm_bits(hsumma_context *ctx, const struct gemm_case *c, int times, hsumma_plan_info *info)
{
    hsumma_plan *plan = NULL;
    int64_t bits = -1;
    int good = gemm_plan_create(ctx, c, &plan) == HSUMMA_OK;
    for (int i = 0; good && i < times; i++) {
        struct gemm_part local[3];
        gemm_make(c, local);
        good = gemm_begin(plan, c, local, 1) == HSUMMA_OK;
        int64_t now = gemm_hash_of_c(c, &local[2]);
        gemm_drop(local);
        good = good && (i == 0 || now == bits);
        bits = now;
    }
    if (info)
        *info = plan_query(plan);
    hsumma_plan_free(&plan);
    return good ? bits : -1;
}

void gemm_refuse(hsumma_context *ctx, const struct gemm_case *call, hsumma_status wanted, const char *what,
                 const char *word, const char *other)
{
    hsumma_plan *plan = (hsumma_plan *)&rank; /* a non-NULL value that the call must replace by NULL */
    hsumma_status status = gemm_plan_create(ctx, call, &plan), again = wanted;
    char message[512];
    snprintf(message, sizeof message, "%s", hsumma_message(ctx));
    if (!call->options)
        again = gemm_one_call(ctx, call, NULL);
    int good = status == wanted && again == wanted && plan == NULL && strstr(message, word) && strstr(message, other);
    tap_ok(everywhere(good), "%s: %s: %s", what, hsumma_status_string(status), message);
    if (status == HSUMMA_OK)
        hsumma_plan_free(&plan);
}

int gemm_open(const char *options, int P, int Q, hsumma_context **ctx, hsumma_grid **grid)
{
    char text[256] = "";
    *ctx = NULL;
    *grid = NULL;
    if (P == 0)
        hsumma_grid_shape(size, &P, &Q);
    int good = !hsumma_create(MPI_COMM_WORLD, options, ctx, text, sizeof text) &&
               !hsumma_grid_create(*ctx, P, Q, 'R', NULL, grid);
    if (everywhere(good))
        return 1;
    tap_ok(0, "a context with %s, a grid of %d x %d: %s", options ? options : "no options", P, Q,
           *ctx ? hsumma_message(*ctx) : text);
    gemm_close(ctx, grid);
    return 0;
}

void gemm_close(hsumma_context **ctx, hsumma_grid **grid)
{
    hsumma_grid_free(grid);
    hsumma_free(ctx);
}

void gemm_on_each_shape(hsumma_context *ctx, void (*test)(hsumma_context *, const hsumma_grid *))
{
    for (int P = 1; P <= size; P++) {
        hsumma_grid *grid = NULL;
        if (size % P)
            continue;
        if (everywhere(hsumma_grid_create(ctx, P, size / P, 'R', NULL, &grid) == HSUMMA_OK))
            test(ctx, grid);
        else
            tap_ok(0, "a grid of %d x %d", P, size / P);
        hsumma_grid_free(&grid);
    }
}

int gemm_main(int argc, char **argv, void (*tests)(hsumma_context *, const hsumma_grid *))
{
    hsumma_context *ctx = (hsumma_context *)&rank;
    hsumma_grid *grid = NULL;
    char message[256] = "";
    int P, Q,
        early = hsumma_create(MPI_COMM_WORLD, NULL, &ctx, message, sizeof message) == HSUMMA_ERR_MPI && !ctx &&
                strstr(message, "MPI_Init");
    world_begin(&argc, &argv);
    tap_ok(everywhere(early), "without MPI there is no context: %s", message);
    if (gemm_open(NULL, 0, 0, &ctx, &grid)) {
        hsumma_grid_info(grid, &P, &Q, NULL, NULL);
        tap_ok(1, "context on %d ranks, grid %d x %d", size, P, Q);
        tests(ctx, grid);
    }
    gemm_close(&ctx, &grid);
    return world_end();
}
