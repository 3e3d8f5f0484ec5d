/* Makes matrices from arguments. */
#include "product/problem.h"

#include <string.h>

#include "common/command.h"
#include "measure/simulated.h"
#include "product/generate.h"

static int within_int(int64_t value)
{
    return value > INT32_MAX ? INT32_MAX : (int)value;
}

void layout_describe(hsumma_desc *desc, const hsumma_grid *grid, int64_t m, int64_t n, int64_t nb,
                     const int64_t layout[LAYOUT_FIELDS])
{
    if (nb)
        hsumma_desc_init(desc, grid, m, n, nb, nb);
    else
        hsumma_desc_checkerboard(desc, grid, m, n);
    if (layout[LAYOUT_MB] > 0)
        desc->mb = desc->imb = layout[LAYOUT_MB];
    if (layout[LAYOUT_NB] > 0)
        desc->nb = desc->inb = layout[LAYOUT_NB];
    if (layout[LAYOUT_IMB] > 0)
        desc->imb = layout[LAYOUT_IMB];
    if (layout[LAYOUT_INB] > 0)
        desc->inb = layout[LAYOUT_INB];
    desc->rsrc = within_int(layout[LAYOUT_RSRC]);
    desc->csrc = within_int(layout[LAYOUT_CSRC]);
    desc->i = layout[LAYOUT_I];
    desc->j = layout[LAYOUT_J];
}

/* Describes one operand. The sign of the fields has been checked; whatever depends on the grid is checked here, because
 * the matrices are allocated before the library sees the descriptor. Returns 0 with an error message in `text`. */
static int describe(operand *x, const problem *p, const int64_t *layout, char *text, size_t size)
{
    hsumma_desc *d = &x->desc;
    int64_t least_m = layout[LAYOUT_I] + x->rows, m = layout[LAYOUT_M] < 0 ? least_m : layout[LAYOUT_M];
    int64_t least_n = layout[LAYOUT_J] + x->cols, n = layout[LAYOUT_N] < 0 ? least_n : layout[LAYOUT_N];

    if (m < least_m || n < least_n) {
        snprintf(text, size, "%c=%lld: expected at least %lld, the first %s of the operand and its %ss",
                 m < least_m ? 'm' : 'n', (long long)(m < least_m ? m : n),
                 (long long)(m < least_m ? least_m : least_n), m < least_m ? "row" : "column",
                 m < least_m ? "row" : "column");
        return 0;
    }
    layout_describe(d, p->grid, m, n, p->args->nb, layout);
    if (d->rsrc >= p->nprow || d->csrc >= p->npcol) {
        snprintf(text, size, "%csrc=%d: expected -1 to %d, since the grid is %d x %d", d->rsrc >= p->nprow ? 'r' : 'c',
                 d->rsrc >= p->nprow ? d->rsrc : d->csrc, (d->rsrc >= p->nprow ? p->nprow : p->npcol) - 1, p->nprow,
                 p->npcol);
        return 0;
    }
    d->ld = hsumma_local_rows(d) + layout[LAYOUT_PAD];
    if (d->ld < 1)
        d->ld = 1;
    return 1;
}

/* Counts the bytes of one operand on this rank; 0 on overflow. */
static int count_bytes(operand *x, hsumma_type type)
{
    int64_t cols = hsumma_local_cols(&x->desc), count, bytes;

    x->bytes = 0;
    if (hsumma_local_rows(&x->desc) == 0)
        cols = 0;
    if (__builtin_mul_overflow(x->desc.ld, cols, &count) ||
        __builtin_mul_overflow(count, (int64_t)type_size(type), &bytes))
        return 0;
    x->bytes = (size_t)bytes;
    return 1;
}

/* Refuses matrices that exceed free memory, before the system starts to kill processes. */
static int check_memory(problem *p)
{
    double need, all = 0, free_bytes = (double)memory_available();
    int counted = 1;

    for (int i = 0; i < 3; i++)
        counted &= count_bytes(&p->x[i], p->args->type);
    if (command_fail(p->comm, !counted, "the bytes of a matrix exceed 64 bits; give smaller -m, -n, -k"))
        return COMMAND_BAD_INPUT;
    if (is_timed_only(p->ctx))
        return COMMAND_OK;
    need = (double)problem_bytes(p);
    quiet_allreduce(&need, &all, 1, MPI_DOUBLE, MPI_SUM, p->mach.node);
    quiet_bcast(&free_bytes, 1, MPI_DOUBLE, 0, p->mach.node); /* each rank has read a different value */
    if (command_fail(
            p->comm, all > free_bytes,
            "the matrices need %.1f GiB on one node, %.1f GiB are free; give smaller -m, -n, -k, or use more nodes",
            all / 0x1p30, free_bytes / 0x1p30))
        return COMMAND_BAD_INPUT;
    return COMMAND_OK;
}

static int make_operands(problem *p)
{
    const arguments *args = p->args;
    char complaint[160] = "";
    int code, good = 1, at = 0;

    p->a.rows = args->transa == 'N' ? args->m : args->k;
    p->a.cols = args->transa == 'N' ? args->k : args->m;
    p->b.rows = args->transb == 'N' ? args->k : args->n;
    p->b.cols = args->transb == 'N' ? args->n : args->k;
    p->c.rows = args->m;
    p->c.cols = args->n;
    for (int i = 0; i < 3 && good; at = i++) {
        p->x[i].matrix = MATRIX_A + i;
        good = args->best || describe(&p->x[i], p, args->layout[i], complaint, sizeof complaint);
    }
    if (command_fail(p->comm, !good, "--layout of %c: %s", 'A' + at, complaint))
        return COMMAND_BAD_INPUT;
    if ((code = check_memory(p)))
        return code;
    for (int i = 0; i < 3; i++)
        if (p->x[i].bytes)
            good &= (p->x[i].local = hs_get(&p->ctx->bulk, p->x[i].bytes, 1)) != NULL;
    if (command_fail(p->comm, !good, "no memory for %lld bytes of matrices on a rank; give smaller -m, -n, -k",
                     (long long)problem_bytes(p)))
        return COMMAND_BAD_INPUT;
    for (int i = 0; i < 3; i++)
        if (p->x[i].local && !is_timed_only(p->ctx))
            generate_local(args->type, args->seed, p->x[i].matrix, &p->x[i].desc, p->x[i].local);
    return COMMAND_OK;
}

/* Sets what needs no context. Returns an exit status. */
static int begin(problem *p, const arguments *args, MPI_Comm comm)
{
    char text[400];
    const char *refused;

    memset(p, 0, sizeof *p);
    p->args = args;
    p->comm = comm;
    p->mach.node = MPI_COMM_NULL;
    MPI_Comm_rank(comm, &p->rank);
    MPI_Comm_size(comm, &p->ranks);
    store_scalar(args->type, args->alpha, &p->alpha);
    store_scalar(args->type, args->beta, &p->beta);
    if (args->nprow) {
        p->nprow = args->nprow;
        p->npcol = args->npcol;
    } else {
        hsumma_grid_shape(p->ranks, &p->nprow, &p->npcol);
    }
    refused = grid_refused("grid", p->nprow, p->npcol, p->ranks, text, sizeof text);
    return command_fail(comm, refused != NULL, "%s", refused) ? COMMAND_BAD_INPUT : COMMAND_OK;
}

/* Makes the matrices on the grid. */
static int finish(problem *p)
{
    hsumma_grid_info(p->grid, &p->nprow, &p->npcol, &p->row, &p->col);
    machine_init(&p->mach, p->comm);
    return make_operands(p);
}

int problem_create(problem *p, const arguments *args, const char *options, MPI_Comm comm)
{
    char message[400] = "";
    hsumma_status status;
    int code = begin(p, args, comm);

    if (code)
        return code;
    status = hsumma_create(comm, options, &p->ctx, message, sizeof message);
    if (command_fail(comm, status != HSUMMA_OK, "%s", message[0] ? message : hsumma_status_string(status)))
        return status == HSUMMA_ERR_INTERNAL ? COMMAND_INTERNAL : COMMAND_BAD_INPUT;
    status = hsumma_grid_create(p->ctx, p->nprow, p->npcol, args->order, NULL, &p->grid);
    if (command_fail(comm, status != HSUMMA_OK, "%s", hsumma_message(p->ctx)))
        return COMMAND_BAD_INPUT;
    if (args->best) {
        status = hsumma_desc_best(p->ctx, args->type, args->transa, args->transb, args->m, args->n, args->k, NULL,
                                  p->best, &p->a.desc, &p->b.desc, &p->c.desc);
        if (command_fail(comm, status != HSUMMA_OK, "%s", hsumma_message(p->ctx)))
            return COMMAND_BAD_INPUT;
        hsumma_grid_free(&p->grid);
        p->grid = p->best[0];
    }
    return finish(p);
}

int problem_create_on(problem *p, const arguments *args, hsumma_context *ctx, hsumma_grid *grid, MPI_Comm comm)
{
    int code = begin(p, args, comm);

    p->ctx = ctx;
    p->grid = grid;
    p->borrowed = 1;
    return code ? code : finish(p);
}

void problem_free(problem *p)
{
    for (int i = 0; i < 3 && p->ctx; i++)
        hs_put(&p->ctx->bulk, p->x[i].local);
    for (int i = 1; i < 3; i++)
        hsumma_grid_free(&p->best[i]);
    if (!p->borrowed) {
        hsumma_grid_free(&p->grid);
        hsumma_free(&p->ctx);
    }
    machine_free(&p->mach);
}

int problem_on_device(const problem *p)
{
    return strcmp(hsumma_device(p->ctx), "none") != 0;
}

hsumma_status problem_settle(const problem *p)
{
    return problem_on_device(p) ? hsumma_synchronize(p->ctx) : HSUMMA_OK;
}

/* Copies between host memory and memory of hsumma_malloc. */
static hsumma_status copy(const problem *p, void *to, const void *from, size_t bytes)
{
    if (bytes && problem_on_device(p))
        return hsumma_copy(p->ctx, to, from, bytes);
    if (bytes)
        memcpy(to, from, bytes);
    return HSUMMA_OK;
}

int problem_share(problem *shared, const problem *p, int which, int quiet)
{
    operand *x = shared->x;
    hsumma_status status = HSUMMA_OK;
    int code, worst;

    *shared = *p;
    for (int i = 0; i < 3; i++)
        if (which & 1 << i) {
            x[i].shared = 1;
            x[i].host = problem_on_device(p) ? x[i].local : NULL;
            x[i].local = NULL;
        }
    for (int i = 0; i < 3 && !status; i++)
        if (x[i].shared)
            status = hsumma_malloc(p->ctx, x[i].bytes, &x[i].local);
    for (int i = 0; i < 2 && !status; i++) /* A and B; C is filled before each product */
        if (x[i].shared)
            status = copy(p, x[i].local, p->x[i].local, x[i].bytes);
    code = command_code(status);
    quiet_allreduce(&code, &worst, 1, MPI_INT, MPI_MAX, p->comm);
    if (worst && !quiet)
        command_fail(p->comm, code, "%s", hsumma_message(p->ctx));
    return worst;
}

void problem_unshare(problem *shared)
{
    for (int i = 0; i < 3 && shared->ctx; i++)
        if (shared->x[i].shared)
            hsumma_mfree(shared->ctx, shared->x[i].local);
    shared->ctx = NULL;
}

hsumma_status problem_refresh(const problem *p, void *c)
{
    void *to = p->c.host ? p->c.host : c;

    if (!c || !p->c.bytes || is_timed_only(p->ctx))
        return HSUMMA_OK;
    if (p->args->beta[0] == 0 && p->args->beta[1] == 0)
        generate_nan(p->args->type, &p->c.desc, to);
    else
        generate_local(p->args->type, p->args->seed, MATRIX_C, &p->c.desc, to);
    return to == c ? HSUMMA_OK : copy(p, c, to, p->c.bytes);
}

hsumma_status problem_fetch(const problem *p, void *c, void **local)
{
    *local = p->c.host ? p->c.host : c;
    return p->c.host ? copy(p, p->c.host, c, p->c.bytes) : HSUMMA_OK;
}

int problem_plan(problem *p, const char *options, hsumma_plan **plan, hsumma_plan_info *info, char *text, size_t size)
{
    const arguments *args = p->args;
    hsumma_status status = hsumma_plan_create(p->ctx, args->type, args->transa, args->transb, args->m, args->n, args->k,
                                              &p->a.desc, &p->b.desc, &p->c.desc, options, plan);
    const char *message = hsumma_message(p->ctx);
    int code = command_code(status), worst = code;

    text[0] = 0;
    if (code)
        snprintf(text, size, "%s", message && message[0] ? message : hsumma_status_string(status));
    quiet_allreduce(&code, &worst, 1, MPI_INT, MPI_MAX, p->comm);
    if (worst)
        hsumma_plan_free(plan);
    else
        hsumma_plan_query(*plan, info);
    return worst;
}

double problem_flops(const problem *p)
{
    const arguments *args = p->args;

    return (type_is_complex(args->type) ? 8.0 : 2.0) * (double)args->m * (double)args->n * (double)args->k;
}

int64_t problem_bytes(const problem *p)
{
    return (int64_t)(p->a.bytes + p->b.bytes + p->c.bytes);
}
