#include "hsumma/plan/guard.h"

#include "base/operators.h"
#include "hsumma/plan/own_part.h"
#include "hsumma/plan/plan.h"

#include <complex.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

/* The sum of a vector over all processes. */
struct travel {
    struct hs_list list;
    struct hs_instance instance;
    void *work, *scratch;
    double *in, *out; /* this process's contribution, and the sum */
    int64_t elements, bytes;
};

struct hs_guard {
    struct hs_group group;
    struct travel of_a, of_c, *moving;
    double *expected; /* this process's part of what w C must become, in planes */
    struct hs_parity parity[2], now[2];
    char *slab; /* host memory for part of a matrix in device memory; NULL without a device */
    char *kept; /* a copy of this process's part of C */
    size_t kept_bytes;
    int has_kept; /* 0 if C is to be restored but could not be copied */
    int repeated; /* 1 in the second attempt of an execution */
    struct hs_guard_figures figures;
};

const struct hs_guard_figures *hs_guard_figures(const struct hs_guard *guard)
{
    return &guard->figures;
}

/* For hs_read_own_part: adds vector * op(X) to sum, and the bits to a parity unless it is NULL. */
struct sums {
    const double *vector;
    double *sum;
    struct hs_parity *parity;
};

static void add(const hsumma_plan *plan, const struct hs_local_part *part, void *state)
{
    struct sums *sums = state;
    if (sums->sum)
        hs_checksum_add(plan->problem.scalar, part, sums->vector, sums->sum);
    if (sums->parity)
        hs_parity_add(plan->problem.scalar, part, sums->parity);
}

static hsumma_status make_travel(const hsumma_plan *plan, struct travel *travel, int64_t elements)
{
    const struct hs_allocator *memory = &plan->ctx->memory;
    const struct hs_group *group = &plan->guard->group;
    size_t planes = (size_t)hs_checksum_planes(plan->problem.scalar);
    travel->elements = elements;
    travel->bytes = elements * (int64_t)(planes * sizeof(double));
    struct hs_shape shape = {
        .rank = group->me, .size = group->size, .bytes = travel->bytes, .unit = sizeof(double), .segment = 0};
    hsumma_status status = hs_build(hs_alg_find(HS_ALLREDUCE, "rabenseifner_traff"), &shape, memory, &travel->list);
    if (status)
        return status;
    travel->in = hs_get_zero(memory, (size_t)elements + 1, planes * sizeof(double));
    travel->out = hs_get_zero(memory, (size_t)elements + 1, planes * sizeof(double));
    travel->scratch = hs_get(memory, 1, (size_t)travel->list.extent[HS_SCRATCH] + 1);
    travel->work = hs_get(memory, 1, hs_instance_bytes(travel->list.steps));
    if (!travel->in || !travel->out || !travel->scratch || !travel->work)
        return HSUMMA_ERR_MEMORY;
    hs_instance_init(&travel->instance, travel->work, travel->list.steps);
    return HSUMMA_OK;
}

static void free_travel(const struct hs_allocator *memory, struct travel *travel)
{
    hs_list_free(memory, &travel->list);
    hs_put(memory, travel->in);
    hs_put(memory, travel->out);
    hs_put(memory, travel->scratch);
    hs_put(memory, travel->work);
}

static int make_parity(const hsumma_plan *plan, int x, struct hs_parity *parity)
{
    const struct hs_view *view = &plan->problem.view[x];
    size_t size = plan->problem.scalar->size;
    parity->rows = hs_get(&plan->ctx->memory, (size_t)view->rows + 1, size);
    parity->cols = hs_get(&plan->ctx->memory, (size_t)view->cols + 1, size);
    return parity->rows && parity->cols;
}

hsumma_status hs_guard_create(hsumma_plan *plan, struct hs_message *message)
{
    const struct hs_allocator *memory = &plan->ctx->memory;
    const struct hs_problem *problem = &plan->problem;
    size_t planes = (size_t)hs_checksum_planes(problem->scalar);
    struct hs_guard *guard = plan->guard = hs_get_zero(memory, 1, sizeof *guard);
    if (!guard)
        return HSUMMA_ERR_MEMORY;
    guard->group = hs_grid_all(&plan->grid->grid);
    hsumma_status status = make_travel(plan, &guard->of_a, problem->extent[HS_K]);
    if (!status)
        status = make_travel(plan, &guard->of_c, problem->extent[HS_N]);
    guard->expected = status ? NULL : hs_get(memory, (size_t)problem->extent[HS_N] + 1, planes * sizeof(double));
    if (!status && !guard->expected)
        status = HSUMMA_ERR_MEMORY;
    for (int x = 0; !status && x < 2; x++)
        if (!make_parity(plan, x, &guard->parity[x]) || !make_parity(plan, x, &guard->now[x]))
            status = HSUMMA_ERR_MEMORY;
    size_t most = HS_SLAB;
    for (int x = 0; x < 3; x++) {
        size_t column = (size_t)problem->view[x].rows * problem->scalar->size;
        most = column > most ? column : most;
    }
    if (!status && plan->ctx->device && !(guard->slab = hs_get(memory, most, 1)))
        status = HSUMMA_ERR_MEMORY;
    return status == HSUMMA_ERR_MEMORY ? hs_fail(message, status, "no memory for the checksums of guard=product")
                                       : status;
}

void hs_guard_destroy(const struct hs_allocator *memory, struct hs_guard *guard)
{
    if (!guard)
        return;
    free_travel(memory, &guard->of_a);
    free_travel(memory, &guard->of_c);
    for (int x = 0; x < 2; x++) {
        hs_put(memory, guard->parity[x].rows);
        hs_put(memory, guard->parity[x].cols);
        hs_put(memory, guard->now[x].rows);
        hs_put(memory, guard->now[x].cols);
    }
    hs_put(memory, guard->expected);
    hs_put(memory, guard->slab);
    hs_put(memory, guard->kept);
    hs_put(memory, guard);
}

static hsumma_status depart(hsumma_plan *plan, struct travel *travel)
{
    struct hs_guard *guard = plan->guard;
    const struct hs_binding binding = {
        .list = &travel->list,
        .group = guard->group,
        .tag = hs_tag(HS_CHANNEL_AGREE, HS_GUARD),
        .slot = {[HS_IN] = travel->in, [HS_OUT] = travel->out, [HS_SCRATCH] = travel->scratch},
        .combine = hs_sum_double,
        .unit = sizeof(double),
        .compute = plan->problem.scalar->compute};
    guard->moving = travel;
    return hs_start(&travel->instance, &plan->ctx->comm, &binding);
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

static void clear_parity(const hsumma_plan *plan, int x, struct hs_parity *parity)
{
    const struct hs_view *view = &plan->problem.view[x];
    memset(parity->rows, 0, (size_t)view->rows * plan->problem.scalar->size);
    memset(parity->cols, 0, (size_t)view->cols * plan->problem.scalar->size);
}

/* Reads A or B: adds vector * op(X) to sum, and takes its parity.  Other copies of a part only have a parity. */
static void take(hsumma_plan *plan, int x, const double *vector, double *sum)
{
    struct hs_guard *guard = plan->guard;
    int copy;
    hs_copies_of_part(plan, x, &copy);
    struct sums sums = {vector, copy == 0 ? sum : NULL, &guard->parity[x]};
    clear_parity(plan, x, &guard->parity[x]);
    hsumma_status status = hs_only_scales(&plan->problem, &plan->alpha)
                               ? HSUMMA_OK
                               : hs_read_own_part(plan, x, plan->guard->slab, add, &sums);
    plan->failure = plan->failure ? plan->failure : status;
}

hsumma_status hs_guard_start(hsumma_plan *plan)
{
    struct hs_guard *guard = plan->guard;
    double began = hs_now();
    guard->repeated = 0;
    guard->figures.news.text[0] = 0;
    memset(guard->of_a.in, 0, (size_t)guard->of_a.bytes);
    take(plan, HS_A, NULL, guard->of_a.in);
    guard->figures.seconds = hs_now() - began;
    return depart(plan, &guard->of_a);
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

/* Added to the bounds of sums over m elements, so that the bound covers products with weights that underflow. */
static double underflow_of(const hsumma_plan *plan)
{
    return (double)plan->problem.extent[HS_M] * DBL_MIN;
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
    if (bytes > guard->kept_bytes) {
        hs_put(&plan->ctx->memory, guard->kept);
        guard->kept = hs_get(&plan->ctx->memory, bytes, 1);
        guard->kept_bytes = guard->kept ? bytes : 0;
    }
    guard->has_kept = guard->kept && !hs_copy_own(plan, (struct hs_matrix){guard->kept, view->rows},
                                                  hs_own_matrix(plan, HS_C, &on_device), view->rows, view->cols);
}

void hs_guard_expect(hsumma_plan *plan)
{
    struct hs_guard *guard = plan->guard;
    const struct hs_scalar *scalar = plan->problem.scalar;
    double began = hs_now(), *sum = guard->of_c.in;
    int64_t n = guard->of_c.elements;
    int copy, copies = hs_copies_of_part(plan, HS_C, &copy);
    double *bounds = guard->of_a.out + (hs_checksum_planes(scalar) - 1) * guard->of_a.elements;
    memset(guard->expected, 0, (size_t)guard->of_c.bytes);
    memset(sum, 0, (size_t)guard->of_c.bytes);
    for (int64_t l = 0; l < guard->of_a.elements; l++)
        bounds[l] += underflow_of(plan);
    take(plan, HS_B, guard->of_a.out, sum);
    add_scaled(scalar, &plan->alpha, n, sum, guard->expected);
    memset(sum, 0, (size_t)guard->of_c.bytes);
    if (!scalar->is_zero(&plan->beta)) {
        hsumma_status status = hs_read_own_part(plan, HS_C, plan->guard->slab, add, &(struct sums){NULL, sum, NULL});
        plan->failure = plan->failure ? plan->failure : status;
        for (int64_t j = 0; j < n; j++)
            sum[(hs_checksum_planes(scalar) - 1) * n + j] += underflow_of(plan);
        for (int64_t i = 0; copies > 1 && i < guard->of_c.bytes / (int64_t)sizeof *sum; i++)
            sum[i] /= copies;
        add_scaled(scalar, &plan->beta, n, sum, guard->expected);
    }
    keep_c(plan);
    guard->figures.seconds += hs_now() - began;
}

hsumma_status hs_guard_check(hsumma_plan *plan)
{
    struct hs_guard *guard = plan->guard;
    double began = hs_now(), *sum = guard->of_c.in;
    int64_t n = guard->of_c.elements, values = n * (hs_checksum_planes(plan->problem.scalar) - 1);
    int copy, copies = hs_copies_of_part(plan, HS_C, &copy);
    memset(sum, 0, (size_t)guard->of_c.bytes);
    hsumma_status status = hs_read_own_part(plan, HS_C, plan->guard->slab, add, &(struct sums){NULL, sum, NULL});
    for (int64_t i = 0; i < values; i++)
        sum[i] = sum[i] / copies - guard->expected[i];
    memcpy(sum + values, guard->expected + values, (size_t)n * sizeof *sum);
    guard->figures.seconds += hs_now() - began;
    plan->failure = plan->failure ? plan->failure : status;
    return depart(plan, &guard->of_c);
}

double hs_guard_bound(const struct hs_scalar *scalar, int64_t m, int64_t k, int processes)
{
    const double roundoff = 0x1p-53, terms = (double)k + 8;
    double relative = terms * scalar->epsilon + (terms + 2 * (double)m + 2 * processes + 64) * roundoff;
    return 1.01 * (scalar->complex_type ? 4 : 1) * relative;
}

/* Judges all columns: returns the number of wrong ones and the first of them. */
static int64_t count_wrong(const hsumma_plan *plan, int64_t *first, double *by, double *allowed)
{
    struct hs_guard *guard = plan->guard;
    const struct hs_scalar *scalar = plan->problem.scalar;
    const int64_t *extent = plan->problem.extent, n = guard->of_c.elements;
    const int single = hs_is_single(scalar);
    const double largest = single ? FLT_MAX : DBL_MAX, smallest = single ? FLT_MIN : DBL_MIN;
    const double *sum = guard->of_c.out, *scale = sum + (hs_checksum_planes(scalar) - 1) * n;
    const double complex value = value_of(scalar, &plan->alpha);
    const double alpha = fabs(creal(value)) + fabs(cimag(value));
    const double relative = hs_guard_bound(scalar, extent[HS_M], extent[HS_K], guard->group.size);
    /* results below the smallest normal number may be rounded to it or to 0 */
    const double absolute = 2 * (double)extent[HS_M] * ((double)extent[HS_K] * (1 + alpha) + 2) * smallest;
    /* the sums of products that alpha multiplies must not overflow either */
    const double limit = largest / 8 * (alpha > 0 && alpha < 1 ? alpha : 1);
    int64_t wrong = 0;
    guard->figures.unchecked = 0;
    for (int64_t j = 0; j < n; j++) {
        const double bound = relative * scale[j] + absolute;
        const double error = fmax(fabs(sum[j]), scalar->complex_type ? fabs(sum[n + j]) : 0);
        const int is_nan = isnan(sum[j]) || (scalar->complex_type && isnan(sum[n + j]));
        if (!(scale[j] <= limit)) {
            guard->figures.unchecked++;
        } else if (is_nan || !(error <= bound)) {
            if (wrong++ == 0)
                *first = j, *by = is_nan ? (double)NAN : error, *allowed = bound;
        }
    }
    return wrong;
}

/* Writes to memory of this process that may be read-only.  Returns 0 if it is. */
static int write_back(void *to, void *from, size_t bytes)
{
    const struct iovec here = {from, bytes}, there = {to, bytes};
    return process_vm_writev(getpid(), &here, 1, &there, 1, 0) == (ssize_t)bytes;
}

/* Restores elements of A or B that have changed since the checksums were taken.  Returns 0 if that is impossible. */
static int restore(hsumma_plan *plan, int x)
{
    struct hs_guard *guard = plan->guard;
    const struct hs_view *view = &plan->problem.view[x];
    size_t size = plan->problem.scalar->size;
    struct hs_flip flip[HS_FLIPS];
    int on_device;
    if (!hs_has_own_part(plan, x) || hs_only_scales(&plan->problem, &plan->alpha))
        return 1;
    clear_parity(plan, x, &guard->now[x]);
    if (hs_read_own_part(plan, x, plan->guard->slab, add, &(struct sums){NULL, NULL, &guard->now[x]}))
        return 0;
    int flips =
        hs_parity_compare(plan->problem.scalar, view->rows, view->cols, &guard->parity[x], &guard->now[x], flip);
    const struct hs_matrix matrix = hs_own_matrix(plan, x, &on_device);
    for (int i = 0; i < flips; i++) {
        unsigned char element[sizeof flip->bits];
        const struct hs_matrix at = {matrix.base + (size_t)(flip[i].row + flip[i].col * matrix.ld) * size, matrix.ld};
        const struct hs_matrix here = {(char *)element, 1};
        if (hs_copy_own(plan, here, at, 1, 1))
            return 0;
        for (size_t b = 0; b < size; b++)
            element[b] ^= flip[i].bits[b];
        if (on_device ? hs_copy_own(plan, at, here, 1, 1) != HSUMMA_OK : !write_back(at.base, element, size))
            return 0;
    }
    return flips >= 0;
}

hsumma_status hs_guard_judge(hsumma_plan *plan)
{
    struct hs_guard *guard = plan->guard;
    int64_t column = 0, wrong;
    double began = hs_now(), by = 0, allowed = 0;
    struct hs_vote vote = {.status = plan->failure};
    wrong = count_wrong(plan, &column, &by, &allowed);
    if (wrong)
        hs_fail(&guard->figures.news, HSUMMA_OK,
                "guard=product: %" PRId64 " of %" PRId64 " columns of C failed the check (column %" PRId64
                ": checksum off by %.3g; rounding explains at most %.3g)",
                wrong, guard->of_c.elements, column, by, allowed);
    else if (guard->figures.unchecked && !guard->repeated)
        hs_fail(&guard->figures.news, HSUMMA_OK,
                "guard=product: %" PRId64 " of %" PRId64
                " columns of C could not be checked, because the sums in their checksums overflow or are not numbers",
                guard->figures.unchecked, guard->of_c.elements);
    vote.value = wrong > 0;
    if (wrong && !vote.status) {
        const char *why = NULL;
        for (int x = 0; x < 2 && !why; x++)
            why = restore(plan, x) ? NULL
                  : x              ? "B has changed and cannot be restored"
                                   : "A has changed and cannot be restored";
        if (!why && !guard->has_kept)
            why = "there was no memory for a copy of C";
        if (!why && guard->repeated)
            why = "the recomputed C failed the check, too";
        if (why)
            vote.status = hs_fail(&plan->ctx->message, HSUMMA_ERR_DATA, "%s; %s", guard->figures.news.text, why);
    }
    guard->figures.seconds += hs_now() - began;
    return hs_agreement_start(&plan->agreement, vote);
}

hsumma_status hs_guard_settle(hsumma_plan *plan, int *again)
{
    struct hs_guard *guard = plan->guard;
    const struct hs_verdict verdict = hs_agreement_verdict(&plan->agreement);
    const struct hs_view *view = &plan->problem.view[HS_C];
    int on_device;
    *again = !verdict.status && verdict.value;
    guard->figures.checked += !guard->repeated;
    guard->figures.found += !guard->repeated && verdict.value;
    guard->figures.repaired += guard->repeated && !verdict.status;
    if (verdict.value && !guard->repeated && guard->group.me == 0 && (*again || verdict.status == HSUMMA_ERR_DATA))
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
                                       (struct hs_matrix){guard->kept, view->rows}, view->rows, view->cols);
    plan->failure = plan->failure ? plan->failure : hs_context_device_said(plan->ctx, status);
    return HSUMMA_OK;
}
