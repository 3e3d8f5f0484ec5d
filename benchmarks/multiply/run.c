#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "multiply/command.h"
#include "multiply/npy_io.h"
#include "report/output.h"
#include "report/progress.h"

enum { A, B, C0, FILES };

/* A matrix as the library sees it: the file's contents by columns. */
typedef struct file_operand {
    hsumma_desc desc;
    char trans;    /* op for the library */
    int conjugate; /* 1: conjugate the local part after reading, because no op of the library only conjugates */
    void *local;
} file_operand;

typedef struct job {
    const multiply_arguments *args;
    MPI_Comm comm;
    int rank;
    const char *path[FILES];
    npy_header head[FILES], result; /* head[C0] is used if args->c0 */
    int64_t m, n, k;                /* C is m x n as the user sees it */
    hsumma_context *ctx;
    hsumma_grid *grid;
    hsumma_plan *plan;
    file_operand in[2], c; /* in[0] and in[1] are A and B, or B and A if C is written by rows */
    int first;             /* the file of in[0]: A or B */
    output out;            /* on rank 0 */
    progress bar;          /* on rank 0 */
    const char *phase;
    npy_transfer transfer;
    double seconds[3]; /* reading, multiplying, writing */
} job;

/* --- files, types, shapes ---------------------------------------------------------------------------------------- */

static int inspect_files(job *j)
{
    const char *out = j->args->out;
    npy_error error = {""};
    int bad = j->rank == 0 && output_check(out, j->args->force, &error);

    bad = command_fail(j->comm, bad, "%s: %s", out, error.text);
    for (int i = 0; i < FILES; i++) {
        int here = j->rank == 0 && j->path[i] && npy_read_header(j->path[i], &j->head[i], &error);
        if (command_fail(j->comm, here, "%s: %s", j->path[i] ? j->path[i] : "", error.text))
            bad = 1;
    }
    quiet_bcast(j->head, (int)sizeof j->head, MPI_BYTE, 0, j->comm);
    return bad ? COMMAND_BAD_INPUT : COMMAND_OK;
}

static int check_types(const job *j)
{
    const hsumma_type type = j->head[A].type;
    const double *scalars[] = {j->args->alpha, j->args->beta};

    for (int i = B; i < FILES; i++)
        if (command_fail(j->comm, j->path[i] && j->head[i].type != type,
                         "%s is %s, but %s is %s; expected one type: convert one, e.g. a.astype('float64')", j->path[A],
                         type_name(type), j->path[i] ? j->path[i] : "", type_name(j->head[i].type)))
            return COMMAND_BAD_INPUT;
    for (int i = 0; i < 2; i++)
        if (command_fail(j->comm, !type_is_complex(type) && scalars[i][1] != 0,
                         "--%s has an imaginary part, but the matrices are %s; give a real number",
                         i ? "beta" : "alpha", type_name(type)))
            return COMMAND_BAD_INPUT;
    return COMMAND_OK;
}

/* Checks that the shapes conform; sets m, n and k, and the type, order and shape of the result. */
static int check_shapes(job *j)
{
    const npy_header *a = &j->head[A], *b = &j->head[B], *c0 = &j->head[C0];
    int flip_a = j->args->transa != 'N', flip_b = j->args->transb != 'N';
    int64_t inner = flip_b ? b->cols : b->rows;

    j->m = flip_a ? a->cols : a->rows;
    j->k = flip_a ? a->rows : a->cols;
    j->n = flip_b ? b->rows : b->cols;
    if (command_fail(j->comm, j->k != inner,
                     "shapes do not conform: op(A) is %" PRId64 " x %" PRId64 " and op(B) is %" PRId64 " x %" PRId64
                     "; see --transa and --transb",
                     j->m, j->k, inner, j->n))
        return COMMAND_BAD_INPUT;
    if (command_fail(j->comm, j->path[C0] && (c0->rows != j->m || c0->cols != j->n),
                     "shapes do not conform: %s is %" PRId64 " x %" PRId64 "; expected the product's, %" PRId64
                     " x %" PRId64,
                     j->path[C0] ? j->path[C0] : "", c0->rows, c0->cols, j->m, j->n))
        return COMMAND_BAD_INPUT;
    j->result = (npy_header){a->type, j->path[C0] ? c0->fortran : a->fortran, j->m, j->n, 0};
    if (j->args->order)
        j->result.fortran = j->args->order == 'F';
    return COMMAND_OK;
}

/* --- the library's view ------------------------------------------------------------------------------------------ */

static int grid_shape(job *j, int *nprow, int *npcol)
{
    const char *refused;
    char text[200];
    int ranks;

    MPI_Comm_size(j->comm, &ranks);
    *nprow = j->args->nprow;
    *npcol = j->args->npcol;
    if (!*nprow)
        hsumma_grid_shape(ranks, nprow, npcol);
    refused = grid_refused("grid", *nprow, *npcol, ranks, text, sizeof text);
    return command_fail(j->comm, refused != NULL, "%s", refused);
}

/* Describes the file's matrix as stored by columns: a file in C order holds the transpose. */
static int describe(const job *j, const npy_header *head, hsumma_desc *desc, npy_error *error)
{
    int64_t m = head->fortran ? head->rows : head->cols, n = head->fortran ? head->cols : head->rows;

    if (j->args->nb)
        hsumma_desc_init(desc, j->grid, m, n, j->args->nb, j->args->nb);
    else
        hsumma_desc_checkerboard(desc, j->grid, m, n);
    return npy_check_layout(desc, error);
}

/*
 * Chooses the library's op for a file's matrix, from up to three transpositions: by the user's op; by a file by rows,
 * which the library sees transposed; and by C^T = op(B)^T op(A)^T, if C is written by rows. If these leave only a
 * conjugation, for which the library has no op, the local part is conjugated after reading.
 */
static void choose_op(const job *j, char op, int file, file_operand *o)
{
    int transposed = (op != 'N') ^ !j->head[file].fortran ^ !j->result.fortran;
    int conjugated = op == 'C' && type_is_complex(j->result.type);

    o->trans = !transposed ? 'N' : conjugated ? 'C' : 'T';
    o->conjugate = !transposed && conjugated;
}

static int describe_all(job *j)
{
    const char ops[] = {j->args->transa, j->args->transb};
    npy_error error = {""};
    int bad = 0;

    j->first = j->result.fortran ? A : B;
    for (int i = 0; i < 2; i++) {
        int file = i ? A + B - j->first : j->first;
        choose_op(j, ops[file], file, &j->in[i]);
        bad = bad || describe(j, &j->head[file], &j->in[i].desc, &error);
    }
    bad = bad || describe(j, &j->result, &j->c.desc, &error);
    return command_fail(j->comm, bad, "%s", error.text) ? COMMAND_BAD_INPUT : COMMAND_OK;
}

/* If the status is an error on any rank, prints the message. Collective; returns an exit status, the same on all
 * ranks. */
static int report(const job *j, hsumma_status status, const char *message)
{
    int mine = status, worst;

    if (!command_fail(j->comm, mine != HSUMMA_OK, "%s", message && *message ? message : hsumma_status_string(status)))
        return COMMAND_OK;
    /* an OK here must not raise the severity of another rank's error */
    mine = status == HSUMMA_ERR_ARGUMENT || status == HSUMMA_ERR_OPTION || status == HSUMMA_ERR_UNSUPPORTED ||
                   status == HSUMMA_ERR_WORKSPACE || status == HSUMMA_OK
               ? 0
               : 1;
    quiet_allreduce(&mine, &worst, 1, MPI_INT, MPI_MAX, j->comm);
    return worst ? COMMAND_INTERNAL : COMMAND_BAD_INPUT;
}

static int make_plan(job *j, const char *options)
{
    char message[400] = "";
    int nprow, npcol, status;
    int64_t m = j->result.fortran ? j->m : j->n, n = j->result.fortran ? j->n : j->m;

    if (grid_shape(j, &nprow, &npcol))
        return COMMAND_BAD_INPUT;
    status = report(j, hsumma_create(j->comm, options, &j->ctx, message, sizeof message), message);
    if (status)
        return status;
    hsumma_status made = hsumma_grid_create(j->ctx, nprow, npcol, 'A', NULL, &j->grid);
    status = report(j, made, hsumma_message(j->ctx));
    if (!status)
        status = describe_all(j);
    if (status)
        return status;
    made = hsumma_plan_create(j->ctx, j->result.type, j->in[0].trans, j->in[1].trans, m, n, j->k, &j->in[0].desc,
                              &j->in[1].desc, &j->c.desc, NULL, &j->plan);
    return report(j, made, hsumma_message(j->ctx));
}

/* --- the work ---------------------------------------------------------------------------------------------------- */

static void show(void *context, double done)
{
    job *j = context;

    progress_update(&j->bar, j->phase, done);
}

/* Reports a phase that failed on some rank: prints the messages that ranks have in `error`. Returns nonzero on all
 * ranks if any rank has a message. */
static int phase_failed(job *j, int bad, const char *path, const npy_error *error)
{
    if (bad)
        progress_end(&j->bar);
    return command_fail(j->comm, bad && error->text[0], "%s: %s", path, error->text);
}

static void *allocate(const hsumma_desc *desc, hsumma_type type, int *bad)
{
    size_t bytes = (size_t)(hsumma_local_rows(desc) * hsumma_local_cols(desc)) * type_size(type);
    void *local = bytes ? aligned_alloc(64, (bytes + 63) / 64 * 64) : NULL;

    *bad |= bytes && !local;
    return local;
}

static int allocate_all(job *j)
{
    int bad = 0;

    for (int i = 0; i < 2; i++)
        j->in[i].local = allocate(&j->in[i].desc, j->result.type, &bad);
    j->c.local = allocate(&j->c.desc, j->result.type, &bad);
    return command_fail(j->comm, bad, "no memory for the matrices of a rank; start more ranks on more nodes");
}

static void conjugate(const file_operand *o, hsumma_type type)
{
    int64_t count = hsumma_local_rows(&o->desc) * hsumma_local_cols(&o->desc);

    if (!o->conjugate)
        return;
    for (int64_t i = 0; i < count; i++)
        set_real(type, o->local, 2 * i + 1, -real_at(type, o->local, 2 * i + 1));
}

static int read_all(job *j)
{
    npy_error error = {""};
    int uses_c0 = j->path[C0] && (j->args->beta[0] != 0 || j->args->beta[1] != 0);

    for (int i = 0; i < 2; i++) {
        int file = i ? A + B - j->first : j->first;
        j->phase = file == A ? "reading A" : "reading B";
        int bad = npy_read(&j->transfer, j->path[file], &j->head[file], &j->in[i].desc, 0, j->in[i].local, &error);
        if (phase_failed(j, bad, j->path[file], &error))
            return COMMAND_BAD_INPUT;
        conjugate(&j->in[i], j->result.type);
    }
    j->phase = "reading C0";
    int bad = uses_c0 && npy_read(&j->transfer, j->path[C0], &j->head[C0], &j->c.desc,
                                  j->head[C0].fortran != j->result.fortran, j->c.local, &error);
    return phase_failed(j, bad, uses_c0 ? j->path[C0] : "", &error) ? COMMAND_BAD_INPUT : COMMAND_OK;
}

static int execute(job *j)
{
    double alpha[2], beta[2]; /* room for one element of any type */
    hsumma_plan_info info;
    hsumma_status status;

    store_scalar(j->result.type, j->args->alpha, alpha);
    store_scalar(j->result.type, j->args->beta, beta);
    j->phase = "multiplying";
    hsumma_plan_query(j->plan, &info);
    progress_expect(&j->bar, j->phase, info.predicted_seconds);
    status = hsumma_plan_execute(j->plan, alpha, j->in[0].local, j->in[1].local, beta, j->c.local);
    if (status)
        progress_end(&j->bar);
    quiet_barrier(j->comm); /* so that the time is that of the slowest rank */
    return report(j, status, hsumma_message(j->ctx));
}

static int write_result(job *j)
{
    const char *out = j->args->out;
    char *temporary;
    npy_error error = {""};
    int length = j->rank == 0 ? (int)strlen(j->out.file.name) + 1 : 0, bad;

    quiet_bcast(&length, 1, MPI_INT, 0, j->comm);
    temporary = malloc((size_t)length);
    if (command_fail(j->comm, !temporary, "no memory")) {
        free(temporary);
        return COMMAND_INTERNAL;
    }
    if (j->rank == 0)
        memcpy(temporary, j->out.file.name, (size_t)length);
    quiet_bcast(temporary, length, MPI_CHAR, 0, j->comm);
    j->phase = "writing C";
    bad = npy_write(&j->transfer, temporary, &j->result, &j->c.desc, j->c.local, &error);
    free(temporary);
    if (phase_failed(j, bad, out, &error))
        return COMMAND_BAD_INPUT;
    bad = j->rank == 0 && output_finish(&j->out, &error);
    return phase_failed(j, bad, out, &error) ? COMMAND_BAD_INPUT : COMMAND_OK;
}

static int work(job *j)
{
    static int (*const steps[3])(job *) = {read_all, execute, write_result};

    j->transfer = (npy_transfer){j->comm, j->args->piece, show, j};
    for (int i = 0; i < 3; i++) {
        double start = MPI_Wtime();
        int status = steps[i](j);

        j->seconds[i] = MPI_Wtime() - start;
        if (status)
            return status;
    }
    return COMMAND_OK;
}

static void summarise(const job *j)
{
    double flops = (type_is_complex(j->result.type) ? 8.0 : 2.0) * (double)j->m * (double)j->n * (double)j->k;
    hsumma_plan_info info;

    hsumma_plan_query(j->plan, &info);
    printf("%s: %" PRId64 " x %" PRId64 ", inner size %" PRId64 ", %s, grid %dx%d; read %.3g s, multiplied %.3g s, "
           "wrote %.3g s; %.4g GFLOP/s; plan: %s\n",
           j->args->out, j->m, j->n, j->k, type_name(j->result.type), info.nprow, info.npcol, j->seconds[0],
           j->seconds[1], j->seconds[2], j->seconds[1] > 0 ? flops / j->seconds[1] * 1e-9 : 0,
           info.line ? info.line : "");
    fflush(stdout);
}

static int run(job *j, const char *options)
{
    npy_error error = {""};
    int status, bad;

    if ((status = inspect_files(j)) || (status = check_types(j)) || (status = check_shapes(j)) ||
        (status = make_plan(j, options)))
        return status;
    /* before the long work, to find a full disk or a missing permission now */
    bad = j->rank == 0 && npy_create(&j->out, j->args->out, &j->result, j->args->force, &error);
    if (command_fail(j->comm, bad, "%s: %s", j->args->out, error.text))
        return COMMAND_BAD_INPUT;
    quiet_bcast(&j->result, (int)sizeof j->result, MPI_BYTE, 0, j->comm);
    status = allocate_all(j);
    return status ? status : work(j);
}

int multiply_run(const void *of, const char *options, MPI_Comm comm)
{
    const multiply_arguments *args = of;
    job j = {.args = args, .comm = comm, .path = {args->a, args->b, args->c0}};
    int status;

    MPI_Comm_rank(comm, &j.rank);
    if (j.rank == 0)
        progress_begin(&j.bar, args->progress, args->quiet);
    status = run(&j, options);
    status = command_trace(comm, j.ctx, status);
    progress_end(&j.bar);
    if (status == COMMAND_OK && j.rank == 0 && !args->quiet)
        summarise(&j);
    output_close(&j.out);
    for (int i = 0; i < 2; i++)
        free(j.in[i].local);
    free(j.c.local);
    hsumma_plan_free(&j.plan);
    hsumma_grid_free(&j.grid);
    hsumma_free(&j.ctx);
    return status;
}
