#include "hsumma/guard/guard.h"

#include "base/threads.h"
#include "hsumma/guard/own_part.h"
#include "hsumma/guard/restore.h"
#include "hsumma/guard/total.h"
#include "hsumma/plan/plan.h"

#include <complex.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Rows of a block, if there are not too many blocks.  The bound grows with it, and the cost with the number of blocks;
 * in double precision the bound is far below what matters. */
enum { HEIGHT_IN_SINGLE = 128, HEIGHT_IN_DOUBLE = 512 };

/* What the sections of a plan use in turn. */
struct store {
    struct hs_total of_c;
    double *expected; /* this process's part of what the checksums of C must become */
    double *carried;  /* with sections: the checksums of this process's part of C after the last section */
    void *work;       /* for hs_checksum_multiply */
    char *kept;       /* a copy of this process's part of C */
    size_t kept_bytes;
};

struct hs_guard {
    int parts; /* HS_GUARD_PRODUCT, HS_GUARD_MESSAGES */
    struct hs_group group;
    struct hs_total of_a, *moving;
    int64_t height, blocks; /* of rows of C */
    struct hs_parity parity[2];
    struct hs_bits_room room;
    struct store own, *store; /* store: `own`, or that of another section */
    char *slab;               /* host memory for part of a matrix in device memory; NULL without a device */
    int has_kept;             /* 0 if C is to be restored but could not be copied */
    int explains;             /* 1 if this process prints what has been found */
    int repeated;             /* 1 in the second attempt of an execution */
    int mended;               /* 1 if this process has restored elements of A or B since the section before */
    struct hs_guard_figures figures;
};

const struct hs_guard_figures *hs_guard_figures(const struct hs_guard *guard)
{
    return &guard->figures;
}

int64_t hs_guard_height(const hsumma_plan *plan)
{
    const int64_t *extent = plan->problem.extent, m = extent[HS_M];
    double data = 0, length = (double)extent[HS_N] + (double)extent[HS_K];
    for (int x = 0; x < 3; x++)
        data += (double)extent[x] * (double)extent[(x + 1) % 3];
    /* together, the checksums are as large as a sixteenth of a process's mean part of A, B and C */
    const double most = data / (16.0 * hs_grid_all(&plan->grid->grid).size * length);
    const int64_t least = most > 1 ? (int64_t)((double)m / most) : m;
    const int64_t usual = hs_is_single(plan->problem.scalar) ? HEIGHT_IN_SINGLE : HEIGHT_IN_DOUBLE;
    const int64_t height = least < usual ? usual : least;
    return height < m ? height : m > 0 ? m : 1;
}

/* For hs_read_own_part: `sum`, unless it is NULL, receives checksums, of products with `vectors` if there are any; the
 * bits go to a parity unless it is NULL. */
struct sums {
    const double *vectors;
    double *sum;
    struct hs_parity *parity;
};

static void add(const hsumma_plan *plan, const struct hs_local_part *part, void *state)
{
    const struct hs_scalar *scalar = plan->problem.scalar;
    const struct hs_guard *guard = plan->guard;
    struct sums *sums = state;
    if (sums->sum && sums->vectors) {
        hs_compute_gemm(scalar->compute, scalar->size, scalar->complex_type, plan->choice.spec.threads, guard->blocks,
                        part->view->rows, part->cols);
        hs_checksum_multiply(scalar, part, guard->blocks, sums->vectors, sums->sum, sums->parity, guard->store->work);
    } else if (sums->sum) {
        hs_checksum_add(scalar, part, guard->height, guard->blocks, sums->sum, sums->parity);
    } else if (sums->parity) {
        hs_parity_add(scalar, part, 0, 0, part->view->rows, part->cols, sums->parity);
    }
}

/* Makes what the sections of a plan use in turn. */
static hsumma_status make_store(const hsumma_plan *plan, struct store *store)
{
    const struct hs_allocator *memory = &plan->ctx->memory;
    const size_t planes = (size_t)hs_checksum_planes(plan->problem.scalar);
    hsumma_status status =
        hs_total_make(&store->of_c, plan, plan->problem.extent[HS_N] * plan->guard->blocks, planes + 1);
    store->expected = status ? NULL : hs_get(memory, (size_t)store->of_c.elements + 1, planes * sizeof(double));
    store->work = status ? NULL : hs_get(memory, hs_checksum_work(plan->guard->blocks), 1);
    if (!status && plan->sections)
        store->carried = hs_get(memory, (size_t)store->of_c.elements + 1, planes * sizeof(double));
    const int all = store->expected && store->work && (store->carried || !plan->sections);
    return status || all ? status : HSUMMA_ERR_MEMORY;
}

hsumma_status hs_guard_create(hsumma_plan *plan, int parts, const hsumma_plan *lender, struct hs_message *message)
{
    const struct hs_allocator *memory = &plan->ctx->memory;
    const struct hs_problem *problem = &plan->problem;
    size_t planes = (size_t)hs_checksum_planes(problem->scalar);
    struct hs_guard *guard = plan->guard = hs_get_zero(memory, 1, sizeof *guard);
    if (!guard)
        return HSUMMA_ERR_MEMORY;
    guard->parts = parts;
    guard->group = hs_grid_all(&plan->grid->grid);
    guard->store = lender ? lender->guard->store : &guard->own;
    if (!(parts & HS_GUARD_PRODUCT))
        return HSUMMA_OK;
    guard->height = lender ? lender->guard->height : hs_guard_height(plan);
    guard->blocks = hs_cuts(problem->extent[HS_M], guard->height);
    guard->blocks += guard->blocks == 0;
    hsumma_status status = hs_total_make(&guard->of_a, plan, problem->extent[HS_K] * guard->blocks, planes);
    if (!status && !lender)
        status = make_store(plan, &guard->own);
    size_t most = HS_SLAB;
    for (int x = 0; x < 3; x++) {
        size_t columns = HS_SLAB_COLUMNS * (size_t)problem->view[x].rows * problem->scalar->size;
        most = columns > most ? columns : most;
    }
    guard->slab = plan->ctx->device ? hs_get(memory, most, 1) : NULL;
    if (!status &&
        (!hs_bits_make(plan, HS_A, &guard->parity[HS_A]) || !hs_bits_make(plan, HS_B, &guard->parity[HS_B]) ||
         !hs_bits_room_make(plan, &guard->room) || (plan->ctx->device && !guard->slab)))
        status = HSUMMA_ERR_MEMORY;
    return status == HSUMMA_ERR_MEMORY ? hs_fail(message, status, "no memory for the checksums of guard=product")
                                       : status;
}

void hs_guard_destroy(const struct hs_allocator *memory, struct hs_guard *guard)
{
    if (!guard)
        return;
    hs_total_free(memory, &guard->of_a);
    hs_total_free(memory, &guard->own.of_c);
    for (int x = 0; x < 2; x++)
        hs_bits_free(memory, &guard->parity[x]);
    hs_bits_room_free(memory, &guard->room);
    hs_put(memory, guard->own.expected);
    hs_put(memory, guard->own.carried);
    hs_put(memory, guard->own.work);
    hs_put(memory, guard->own.kept);
    hs_put(memory, guard->slab);
    hs_put(memory, guard);
}

static hsumma_status depart(hsumma_plan *plan, struct hs_total *total)
{
    plan->guard->moving = total;
    return hs_total_start(total, plan);
}

hsumma_status hs_guard_advance(hsumma_plan *plan, int *worked, int *over)
{
    struct hs_instance *instance = &plan->guard->moving->instance;
    struct hs_trace *trace = plan->ctx->comm.trace;
    hsumma_status status = hs_progress(instance, worked);
    int receives;
    *over = !status && !instance->active;
    if (*over)
        hs_trace_resume(trace);
    else if (!status && hs_trace_notes(trace))
        hs_trace_await(
            trace, plan,
            (struct hs_trace_entry){
                .cause = HS_CAUSE_DATA, .peer = hs_instance_awaits(instance, &receives), .panel = -1, .operand = HS_C});
    return status;
}

/* Reads A or B for their checksums, unless `sum` is NULL, and for their parity, unless that is.  Other copies of a part
 * only have a parity. */
static void take(hsumma_plan *plan, int x, const double *vectors, double *sum, struct hs_parity *parity)
{
    int copy;
    hs_copies_of_part(plan, x, &copy);
    struct sums sums = {vectors, copy == 0 ? sum : NULL, parity};
    if (parity)
        hs_bits_clear(plan, x, parity);
    hsumma_status status = hs_only_scales(&plan->problem, &plan->alpha)
                               ? HSUMMA_OK
                               : hs_read_own_part(plan, x, plan->guard->slab, add, &sums);
    plan->failure = plan->failure ? plan->failure : status;
}

static double complex value_of(const struct hs_scalar *scalar, const union hs_value *value)
{
    const int single = hs_is_single(scalar);
    if (scalar->complex_type)
        return single ? (double complex)value->c : value->z;
    return single ? (double)value->s : value->d;
}

/* into += factor * from, over planes of n elements. */
static void add_scaled(const struct hs_scalar *scalar, const union hs_value *factor, int64_t n, const double *from,
                       double *into)
{
    const double re = creal(value_of(scalar, factor)), im = cimag(value_of(scalar, factor));
    const double *from_bound = from + (hs_checksum_planes(scalar) - 1) * n;
    double *bound = into + (hs_checksum_planes(scalar) - 1) * n;
    for (int64_t j = 0; j < n; j++) {
        into[j] += re * from[j] - (scalar->complex_type ? im * from[n + j] : 0);
        if (scalar->complex_type)
            into[n + j] += re * from[n + j] + im * from[j];
        bound[j] += (fabs(re) + fabs(im)) * from_bound[j];
    }
}

/* Adds to the sizes of sums what makes the bound cover products with weights, and roundings to the type, that
 * underflow. */
static void cover_underflow(const hsumma_plan *plan, const struct hs_total *total, double *sums)
{
    const struct hs_scalar *scalar = plan->problem.scalar;
    const double least = hs_is_single(scalar) ? FLT_MIN : (double)plan->guard->height * DBL_MIN;
    double *sizes = sums + (hs_checksum_planes(scalar) - 1) * total->elements;
    for (int64_t i = 0; i < total->elements; i++)
        sizes[i] += least;
}

/* Adds to `sum` this process's share of the checksums of C: of copies of a part, each contributes an equal share. */
static void add_share_of_c(hsumma_plan *plan, double *sum)
{
    const struct hs_total *of_c = &plan->guard->store->of_c;
    int copy, copies = hs_copies_of_part(plan, HS_C, &copy);
    hsumma_status status = hs_read_own_part(plan, HS_C, plan->guard->slab, add, &(struct sums){NULL, sum, NULL});
    plan->failure = plan->failure ? plan->failure : status;
    for (int64_t i = 0; copies > 1 && i < of_c->elements * hs_checksum_planes(plan->problem.scalar); i++)
        sum[i] /= copies;
}

/* Copies this process's part of C, if a repetition needs it and there is memory. */
static void keep_c(hsumma_plan *plan)
{
    struct hs_guard *guard = plan->guard;
    const struct hs_view *view = &plan->problem.view[HS_C];
    size_t bytes = (size_t)view->rows * (size_t)view->cols * plan->problem.scalar->size;
    int on_device;
    guard->has_kept = 1;
    if (!hs_has_own_part(plan, HS_C) || plan->problem.scalar->is_zero(&plan->beta))
        return;
    if (bytes > guard->store->kept_bytes) {
        hs_put(&plan->ctx->memory, guard->store->kept);
        guard->store->kept = hs_get(&plan->ctx->memory, bytes, 1);
        guard->store->kept_bytes = guard->store->kept ? bytes : 0;
    }
    guard->has_kept = guard->store->kept && !hs_copy_own(plan, (struct hs_matrix){guard->store->kept, view->rows},
                                                         hs_own_matrix(plan, HS_C, &on_device), view->rows, view->cols);
}

/* Takes the checksums of A, and its parity; with sections also that of B, which hs_guard_expect takes otherwise. */
static void take_bits(hsumma_plan *plan)
{
    struct hs_guard *guard = plan->guard;
    memset(guard->of_a.in, 0, (size_t)guard->of_a.bytes);
    take(plan, HS_A, NULL, guard->of_a.in, &guard->parity[HS_A]);
    if (plan->sections)
        take(plan, HS_B, NULL, NULL, &guard->parity[HS_B]);
}

/* Restores what has changed in a section's part of A and B while earlier sections were multiplied. */
static void mend(hsumma_plan *plan)
{
    struct hs_guard *guard = plan->guard;
    for (int x = 0; x < 2; x++) {
        const int restored = hs_bits_restore(plan, x, &guard->parity[x], &guard->room, guard->slab);
        guard->mended |= restored > 0;
        if (restored < 0 && !plan->failure)
            plan->failure =
                hs_fail(&plan->ctx->message, HSUMMA_ERR_DATA,
                        "guard=panels: %c has changed since the execution began and cannot be restored", "AB"[x]);
    }
    if (guard->mended && !plan->failure)
        hs_fail(&guard->figures.news, HSUMMA_OK,
                "guard=panels: A or B had changed since the execution began; it was restored");
}

hsumma_status hs_guard_start(hsumma_plan *plan, int *sums)
{
    struct hs_guard *guard = plan->guard;
    struct hs_comm *comm = &plan->ctx->comm;
    double began = hs_now();
    guard->repeated = guard->explains = guard->mended = 0;
    guard->figures.news.text[0] = 0;
    guard->figures.seconds = 0;
    comm->checks_messages = (guard->parts & HS_GUARD_MESSAGES) != 0;
    comm->damaged = 0;
    *sums = (guard->parts & HS_GUARD_PRODUCT) != 0;
    if (!*sums) {
        keep_c(plan);
        return HSUMMA_OK;
    }
    const struct hs_sections *sections = plan->sections;
    if (!sections || hs_sections_lead(plan))
        for (int i = 0; i < (sections ? sections->count : 1); i++) { /* of all A and B, before anything is multiplied */
            hsumma_plan *section = sections ? sections->plan[i] : plan;
            take_bits(section);
            plan->failure = plan->failure ? plan->failure : section->failure;
        }
    else
        mend(plan);
    guard->figures.seconds = hs_now() - began;
    return depart(plan, &guard->of_a);
}

void hs_guard_expect(hsumma_plan *plan)
{
    struct hs_guard *guard = plan->guard;
    const struct hs_scalar *scalar = plan->problem.scalar;
    double began = hs_now(), *sum = guard->store->of_c.in;
    const size_t bytes = (size_t)(guard->store->of_c.elements * hs_checksum_planes(scalar)) * sizeof *sum;
    memset(guard->store->expected, 0, bytes);
    memset(sum, 0, bytes);
    cover_underflow(plan, &guard->of_a, guard->of_a.out);
    int threads = hs_threads_set(plan->choice.spec.threads);
    take(plan, HS_B, guard->of_a.out, sum, plan->sections ? NULL : &guard->parity[HS_B]);
    hs_threads_restore(threads);
    add_scaled(scalar, &plan->alpha, guard->store->of_c.elements, sum, guard->store->expected);
    if (!scalar->is_zero(&plan->beta)) {
        memset(sum, 0, bytes);
        if (hs_sections_follow(plan)) /* C as it was checked, whatever has happened since */
            memcpy(sum, guard->store->carried, bytes);
        else
            add_share_of_c(plan, sum);
        cover_underflow(plan, &guard->store->of_c, sum);
        add_scaled(scalar, &plan->beta, guard->store->of_c.elements, sum, guard->store->expected);
    }
    keep_c(plan);
    guard->figures.seconds += hs_now() - began;
}

hsumma_status hs_guard_check(hsumma_plan *plan, int *sums)
{
    struct hs_guard *guard = plan->guard;
    *sums = (guard->parts & HS_GUARD_PRODUCT) != 0;
    if (!*sums)
        return HSUMMA_OK;
    double began = hs_now(), *sum = guard->store->of_c.in;
    const int64_t elements = guard->store->of_c.elements,
                  values = elements * (hs_checksum_planes(plan->problem.scalar) - 1);
    memset(sum, 0, (size_t)guard->store->of_c.bytes);
    add_share_of_c(plan, sum);
    if (plan->sections)
        memcpy(guard->store->carried, sum, (size_t)(values + elements) * sizeof *sum);
    for (int64_t i = 0; i < values; i++)
        sum[i] -= guard->store->expected[i];
    memcpy(sum + values + elements, guard->store->expected + values, (size_t)elements * sizeof *sum);
    guard->figures.seconds += hs_now() - began;
    return depart(plan, &guard->store->of_c);
}

/* A wrong checksum. */
struct wrong {
    int64_t block, column;
    double by, allowed;
};

/* Judges all checksums: returns the number of wrong ones and the first of them. */
static int64_t count_wrong(const hsumma_plan *plan, struct wrong *first)
{
    struct hs_guard *guard = plan->guard;
    const struct hs_scalar *scalar = plan->problem.scalar;
    const int64_t *extent = plan->problem.extent, elements = guard->store->of_c.elements;
    const int single = hs_is_single(scalar);
    const double largest = single ? FLT_MAX : DBL_MAX, smallest = single ? FLT_MIN : DBL_MIN;
    const double *sum = guard->store->of_c.out, *result = sum + (hs_checksum_planes(scalar) - 1) * elements;
    const double *terms = result + elements;
    const double complex value = value_of(scalar, &plan->alpha);
    const double alpha = fabs(creal(value)) + fabs(cimag(value));
    /* results below the smallest normal number may be rounded to it or to 0 */
    const double absolute = 2 * (double)(guard->height + 1) * ((double)extent[HS_K] * (1 + alpha) + 2) * smallest;
    /* the sums of products that alpha multiplies must not overflow either */
    const double limit = largest / 8 * (alpha > 0 && alpha < 1 ? alpha : 1);
    int64_t wrong = 0, last = -1; /* the last column that could not be checked */
    guard->figures.unchecked = 0;
    for (int64_t i = 0; i < elements; i++) {
        const double error = fmax(fabs(sum[i]), scalar->complex_type ? fabs(sum[elements + i]) : 0);
        const int is_nan = isnan(sum[i]) || (scalar->complex_type && isnan(sum[elements + i]));
        const double bound =
            hs_checksum_bound(scalar, guard->height, extent[HS_K], guard->group.size, terms[i], result[i]) + absolute;
        if (!(terms[i] <= limit)) {
            guard->figures.unchecked += i / guard->blocks != last;
            last = i / guard->blocks;
        } else if (is_nan || !(error <= bound)) {
            if (wrong++ == 0)
                *first = (struct wrong){i % guard->blocks, i / guard->blocks, is_nan ? (double)NAN : error, bound};
        }
    }
    return wrong;
}

/* Judges the checksums, and says what is wrong with them. */
static int64_t judge_checksums(hsumma_plan *plan)
{
    struct hs_guard *guard = plan->guard;
    const int64_t *extent = plan->problem.extent;
    struct wrong first = {0};
    const int64_t wrong = count_wrong(plan, &first), row = first.block * guard->height;
    if (wrong)
        hs_fail(&guard->figures.news, HSUMMA_OK,
                "guard=product: %" PRId64 " of %" PRId64 " checksums of C are wrong (column %" PRId64 ", rows %" PRId64
                " to %" PRId64 ": off by %.3g; rounding explains at most %.3g)",
                wrong, guard->store->of_c.elements, first.column, row, hs_min(row + guard->height, extent[HS_M]) - 1,
                first.by, first.allowed);
    else if (guard->figures.unchecked && !guard->repeated)
        hs_fail(&guard->figures.news, HSUMMA_OK,
                "guard=product: %" PRId64 " of %" PRId64
                " columns of C could not be checked, because the sums in their checksums overflow or are not numbers",
                guard->figures.unchecked, extent[HS_N]);
    return wrong;
}

/* Restores what the product reads.  Returns the reason if that is impossible, or useless. */
static const char *prepare_repetition(hsumma_plan *plan)
{
    const struct hs_guard *guard = plan->guard;
    static const char *const changed[2] = {"A has changed and cannot be restored",
                                           "B has changed and cannot be restored"};
    for (int x = 0; x < 2 && (guard->parts & HS_GUARD_PRODUCT); x++)
        if (hs_bits_restore(plan, x, &guard->parity[x], &guard->room, guard->slab) < 0)
            return changed[x];
    if (!guard->has_kept)
        return "there was no memory for a copy of C";
    return guard->repeated ? "the recomputed C failed the check, too" : NULL;
}

/* Votes on an execution, or a section: C_MENDED: it is right, after A or B were restored. */
enum { C_RIGHT, C_MENDED, C_WRONG };

hsumma_status hs_guard_judge(hsumma_plan *plan)
{
    struct hs_guard *guard = plan->guard;
    struct hs_comm *comm = &plan->ctx->comm;
    const double began = hs_now();
    struct hs_vote vote = {.status = plan->failure};
    const int wrong = (guard->parts & HS_GUARD_PRODUCT) && judge_checksums(plan) > 0;
    const int damaged = comm->damaged > 0;
    if (damaged) /* the cause, if the checksums are wrong, too */
        hs_fail(&guard->figures.news, HSUMMA_OK, "guard=messages: %s", comm->damage.text);
    comm->damaged = 0;
    guard->explains |= damaged || (wrong && guard->group.me == 0);
    vote.value = wrong || damaged ? C_WRONG : guard->mended ? C_MENDED : C_RIGHT;
    const char *why = vote.value == C_WRONG && !vote.status ? prepare_repetition(plan) : NULL;
    if (why)
        vote.status = hs_fail(&plan->ctx->message, HSUMMA_ERR_DATA, "%s; %s", guard->figures.news.text, why);
    guard->figures.seconds += hs_now() - began;
    return hs_agreement_start(&plan->agreement, vote);
}

hsumma_status hs_guard_settle(hsumma_plan *plan, int *again)
{
    struct hs_guard *guard = plan->guard;
    const struct hs_verdict verdict = hs_agreement_verdict(&plan->agreement);
    const struct hs_view *view = &plan->problem.view[HS_C];
    int on_device;
    *again = !verdict.status && verdict.value == C_WRONG;
    guard->figures.checked += !guard->repeated;
    guard->figures.found += !guard->repeated && verdict.value != C_RIGHT;
    guard->figures.repaired += (guard->repeated || verdict.value == C_MENDED) && !verdict.status;
    if (verdict.value == C_WRONG && !guard->figures.news.text[0])
        hs_fail(&guard->figures.news, HSUMMA_OK, "guard=messages: what another process received or read was damaged");
    if (guard->mended && !guard->repeated && !verdict.status && !*again)
        fprintf(stderr, "hsumma: %s\n", guard->figures.news.text);
    if (verdict.value == C_WRONG && !guard->repeated && guard->explains &&
        (*again || verdict.status == HSUMMA_ERR_DATA))
        fprintf(stderr, "hsumma: %s%s\n", guard->figures.news.text, *again ? "; C is computed again" : "");
    if (guard->repeated && !verdict.status)
        hs_append(guard->figures.news.text, sizeof guard->figures.news.text, "; C was computed again and is right");
    guard->repeated = *again;
    if (!*again || !hs_has_own_part(plan, HS_C) || plan->problem.scalar->is_zero(&plan->beta))
        return verdict.status;
    if (!guard->has_kept) { /* only if this process alone has found C right: its checksums are damaged */
        plan->failure = hs_fail(&plan->ctx->message, HSUMMA_ERR_DATA, "guard=product: no memory for a copy of C");
        return HSUMMA_OK;
    }
    hsumma_status status = hs_copy_own(plan, hs_own_matrix(plan, HS_C, &on_device),
                                       (struct hs_matrix){guard->store->kept, view->rows}, view->rows, view->cols);
    plan->failure = plan->failure ? plan->failure : hs_context_device_said(plan->ctx, status);
    return HSUMMA_OK;
}
