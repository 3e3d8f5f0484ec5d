#include "coll/team/call.h"

#include "base/operators.h"

#include <inttypes.h>

static hsumma_status read_operator(const hsumma_operator *op, int64_t *unit, struct hs_message *message)
{
    if (op->op == HSUMMA_USER) {
        if (!op->combine || op->size < 1 || op->size > INT32_MAX)
            return hs_fail(message, HSUMMA_ERR_ARGUMENT,
                           "user operator: combine is %s, size is %zu; expected a function and 1 to %d bytes",
                           op->combine ? "a function" : "NULL", op->size, INT32_MAX);
        *unit = (int64_t)op->size;
        return HSUMMA_OK;
    }
    *unit = (int64_t)hs_element_size(op->element);
    if (*unit == 0)
        return hs_fail(message, HSUMMA_ERR_ARGUMENT, "element is %d; expected 0 to %d", (int)op->element,
                       HS_ELEMENTS - 1);
    if (!hs_operator_of(op->element, op->op))
        return hs_fail(message, HSUMMA_ERR_ARGUMENT, "op is %s (%d), element is %s; expected sum%s", hs_op_name(op->op),
                       (int)op->op, hs_element_name(op->element),
                       hs_operator_of(op->element, HSUMMA_MAX) ? ", max or min" : " for complex elements");
    return HSUMMA_OK;
}

/* The sum of `counts`, or size * count if counts is NULL; -1 if it exceeds `most`, -2 if a count is negative. */
static int64_t sum_counts(const int64_t *counts, int64_t count, int size, int64_t most)
{
    int64_t sum = 0;
    for (int r = 0; r < size; r++) {
        int64_t part = counts ? counts[r] : count;
        if (part < 0)
            return -2;
        if (part > most - sum)
            return -1;
        sum += part;
    }
    return sum;
}

static hsumma_status refuse_counts(const hsumma_coll *from, int size, int64_t sum, const struct hs_call *call,
                                   struct hs_message *message)
{
    int r = 0;
    while (call->counts && r < size - 1 && call->counts[r] >= 0)
        r++;
    if (sum == -1)
        return hs_fail(message, HSUMMA_ERR_ARGUMENT,
                       "%s: the data exceed 2^63 - 1 bytes; expected fewer elements of %" PRId64 " bytes",
                       call->counts ? "counts" : "count", call->unit);
    if (call->counts)
        return hs_fail(message, HSUMMA_ERR_ARGUMENT, "counts[%d] is %" PRId64 "; expected 0 or more", r,
                       call->counts[r]);
    return hs_fail(message, HSUMMA_ERR_ARGUMENT, "count is %" PRId64 "; expected 0 or more", from->count);
}

static hsumma_status read_counts(const hsumma_coll *from, int rank, int size, struct hs_call *call,
                                 struct hs_message *message)
{
    const int64_t most = INT64_MAX / call->unit;
    const int gathers = call->collective == HS_ALLGATHER;
    call->counts = call->parted ? from->counts : NULL;
    call->bytes = sum_counts(call->counts, from->count, call->parted ? size : 1, most);
    if (call->bytes < 0)
        return refuse_counts(from, size, call->bytes, call, message);
    call->bytes *= call->unit;
    int64_t own = (call->counts ? call->counts[rank] : from->count) * call->unit;
    call->in_bytes = gathers ? own : call->bytes;
    call->out_bytes = call->collective == HS_REDUCE_SCATTER ? own : call->bytes;
    call->in_place_at = gathers ? sum_counts(call->counts, from->count, rank, most) * call->unit : 0;
    return HSUMMA_OK;
}

hsumma_status hs_call_read(const hsumma_coll *from, int rank, int size, struct hs_call *call, int *about,
                           struct hs_message *message)
{
    *about = HS_CALL_COLLECTIVE;
    if (!from)
        return hs_fail(message, HSUMMA_ERR_ARGUMENT, "call is NULL; expected a description of the call");
    call->in = from->in;
    call->out = from->out;
    call->algorithm = from->algorithm;
    call->on_device = 0;
    if ((unsigned)from->collective > HSUMMA_REDUCE_SCATTER)
        return hs_fail(message, HSUMMA_ERR_ARGUMENT, "collective is %d; expected 0 to %d", (int)from->collective,
                       HSUMMA_REDUCE_SCATTER);
    call->collective = (enum hs_collective)from->collective; /* both enums have the same order */
    call->reduces = call->collective != HS_BCAST && call->collective != HS_ALLGATHER;
    call->parted = call->collective == HS_ALLGATHER || call->collective == HS_REDUCE_SCATTER;
    int rooted = call->collective == HS_BCAST || call->collective == HS_REDUCE_TO;
    *about = HS_CALL_ROOT;
    if (rooted && (from->root < 0 || from->root >= size))
        return hs_fail(message, HSUMMA_ERR_ARGUMENT, "root is %d; expected 0 to %d", from->root, size - 1);
    call->root = rooted ? from->root : 0;
    call->is_root = rooted && rank == call->root;
    call->has_in = call->collective != HS_BCAST;
    call->has_out = call->collective != HS_REDUCE_TO || call->is_root;
    *about = HS_CALL_COUNT;
    if (from->size > INT32_MAX)
        return hs_fail(message, HSUMMA_ERR_ARGUMENT, "size of an element is %zu bytes; expected at most %d", from->size,
                       INT32_MAX);
    call->unit = from->size ? (int64_t)from->size : 1;
    call->op = call->reduces ? from->op : (hsumma_operator){0};
    if (call->reduces) {
        *about = HS_CALL_OPERATOR;
        hsumma_status status = read_operator(&call->op, &call->unit, message);
        if (status)
            return status;
    }
    *about = HS_CALL_COUNT;
    hsumma_status status = read_counts(from, rank, size, call, message);
    call->in_place = call->has_in && call->has_out && (!call->in || call->in == call->out);
    return status;
}

hsumma_status hs_call_check_pointers(const struct hs_call *call, int rank, int *about, struct hs_message *message)
{
    int64_t in_out = call->in_place && call->in_place_at + call->in_bytes > call->out_bytes
                         ? call->in_place_at + call->in_bytes
                         : call->out_bytes;
    *about = HS_CALL_IN;
    if (call->has_in && !call->in_place && !call->in && call->in_bytes > 0)
        return hs_fail(message, HSUMMA_ERR_ARGUMENT, "in is NULL on process %d, which contributes %" PRId64 " bytes",
                       rank, call->in_bytes);
    *about = HS_CALL_OUT;
    if (call->has_out && !call->out && in_out > 0)
        return hs_fail(message, HSUMMA_ERR_ARGUMENT,
                       "the output buffer is NULL on process %d; expected one of %" PRId64 " bytes", rank, in_out);
    *about = HS_CALL_NOTHING;
    return HSUMMA_OK;
}

static void combine_user(void *dst, const void *left, const void *right, int64_t bytes, void *state)
{
    const hsumma_operator *op = state;
    op->combine(dst, left, right, bytes / (int64_t)op->size, op->state);
}

hs_combine *hs_call_operator(const hsumma_operator *op)
{
    return op->op == HSUMMA_USER ? combine_user : hs_operator_of(op->element, op->op);
}

int hs_call_ordered(const struct hs_call *call)
{
    return call->op.op == HSUMMA_USER && !call->op.commutative;
}
