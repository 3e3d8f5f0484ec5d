/* The steps of a list that MPI performs: messages and MPI collectives. */
#include "base/hash.h"
#include "coll/node/agree_mpi.h"
#include "coll/run/executor_parts.h"
#include "coll/schedule/registry.h"

#include <inttypes.h>
#include <mpi.h>

/* Adds a message or an MPI collective to the timeline; returns the entry's number. */
static int64_t trace_message(const struct hs_instance *instance, const struct hs_step *step, int rank, int64_t bytes)
{
    struct hs_trace *trace = instance->comm->trace;
    enum hs_trace_kind kind = step->kind == HS_SEND   ? HS_TRACE_SEND
                              : step->kind == HS_RECV ? HS_TRACE_RECEIVE
                                                      : HS_TRACE_MPI;
    return hs_trace_add(trace, (struct hs_trace_entry){.begin = hs_trace_now(trace),
                                                       .amount = bytes,
                                                       .peer = kind == HS_TRACE_MPI ? -1 : rank,
                                                       .tag = instance->bound.tag,
                                                       .panel = -1,
                                                       .kind = kind,
                                                       .operand = -1});
}

/* The communicator keeps the text, which hs_team_fail sends to the other ranks. */
static hsumma_status performer_failed(const struct hs_instance *instance, const struct hs_step *step, int code)
{
    const struct hs_alg *alg = instance->bound.list->joint[step->peer].alg;
    struct hs_comm *comm = instance->comm;
    hs_fail(&comm->failure, HSUMMA_ERR_MPI, "process %d: the function of %s algorithm %s returned %d; expected 0",
            comm->rank, hs_collective_name(alg->collective), alg->name, code);
    hs_roster_give_up(&comm->roster, HSUMMA_ERR_MPI, comm->failure.text);
    return HSUMMA_ERR_MPI;
}

/* Adds a request of a step; traced: its entry in the timeline, -1 if it has none. */
static void add_request(struct hs_instance *instance, int index, MPI_Request request, int64_t traced)
{
    const int at = instance->open.count++;
    instance->open.request[at] = request;
    instance->request_step[at] = index;
    instance->traced[at] = traced;
    instance->pending[index % HS_STEP_WINDOW]++;
}

static int start_message(const struct hs_instance *instance, const struct hs_step *step, void *data, int bytes,
                         MPI_Request *request)
{
    const MPI_Comm comm = instance->comm->comm;
    const int rank = hs_rank_of(instance, step->peer), tag = instance->bound.tag;
    return step->kind == HS_SEND ? MPI_Isend(data, bytes, MPI_BYTE, rank, tag, comm, request)
                                 : MPI_Irecv(data, bytes, MPI_BYTE, rank, tag, comm, request);
}

/*
 * Posts `bytes` of a SEND or RECV; if messages are checked, also their CRC as a second message. Both sides post the two
 * without another one of this peer and direction between them. (A datatype of both for each message would make MPICH
 * 4.0.2's memory grow.) MPI is not expected to return MPI_REQUEST_NULL, since no peer is MPI_PROC_NULL.
 */
static int post_message(struct hs_instance *instance, int index, char *data, int bytes)
{
    const struct hs_step *step = &instance->bound.list->step[index];
    const int checked = instance->bound.checked, sends = step->kind == HS_SEND;
    uint32_t *crc = &instance->crc[index % HS_STEP_WINDOW];
    MPI_Request request;
    if (checked && sends) /* before the data leave */
        *crc = hs_crc32c(data, (size_t)bytes);
    int code = start_message(instance, step, data, bytes, &request);
    if (code == MPI_SUCCESS)
        add_request(instance, index, request, trace_message(instance, step, hs_rank_of(instance, step->peer), bytes));
    if (code != MPI_SUCCESS || !checked)
        return code;
    code = start_message(instance, step, crc, sizeof *crc, &request);
    if (code == MPI_SUCCESS)
        add_request(instance, index, request, HS_TRACE_CLOSED);
    return code;
}

/* Posts an MPI collective. */
static int post_native(struct hs_instance *instance, int index)
{
    const struct hs_step *step = &instance->bound.list->step[index];
    MPI_Request request;
    const int code = hs_native_start(&instance->bound, step, hs_address(instance, step->left),
                                     hs_address(instance, step->dst), &request);
    if (code == MPI_SUCCESS && request != MPI_REQUEST_NULL) /* not if the caller's function has completed it */
        add_request(instance, index, request, trace_message(instance, step, -1, step->count));
    return code;
}

/* Compares the CRC of the piece that a RECV has received last. */
static void check_message(struct hs_instance *instance, int index)
{
    struct hs_comm *comm = instance->comm;
    const struct hs_step *step = &instance->bound.list->step[index];
    const int64_t end = instance->moved[index], begin = end > 0 ? (end - 1) / comm->cut * comm->cut : 0;
    if (!instance->bound.checked || step->kind != HS_RECV)
        return;
    const uint32_t crc = hs_crc32c(hs_address(instance, step->dst) + begin, (size_t)(end - begin));
    if (crc != instance->crc[index % HS_STEP_WINDOW] && comm->damaged++ == 0)
        hs_fail(&comm->damage, HSUMMA_ERR_DATA,
                "a message of %" PRId64 " bytes from rank %d to rank %d has arrived damaged (CRC32C %08" PRIx32
                ", expected %08" PRIx32 ")",
                end - begin, hs_rank_of(instance, step->peer), comm->rank, crc, instance->crc[index % HS_STEP_WINDOW]);
}

hsumma_status hs_post_step(struct hs_instance *instance, int index)
{
    const struct hs_step *step = &instance->bound.list->step[index];
    struct hs_comm *comm = instance->comm;
    const int64_t at = instance->moved[index], left = step->count - at;
    const int64_t count = step->kind == HS_MPI || left < comm->cut ? left : comm->cut;
    const int sends = step->kind == HS_SEND;
    instance->pending[index % HS_STEP_WINDOW] = 0;
    const int code =
        step->kind == HS_MPI
            ? post_native(instance, index)
            : post_message(instance, index, hs_address(instance, sends ? step->left : step->dst) + at, (int)count);
    if (code != MPI_SUCCESS && step->kind == HS_MPI && instance->bound.list->joint[step->peer].alg->performer)
        return performer_failed(instance, step, code);
    if (code != MPI_SUCCESS)
        return hs_mpi_status(code);
    comm->bytes_sent += sends ? count : 0;
    comm->messages_sent += sends;
    instance->moved[index] += count;
    instance->state[index] = HS_STEP_UNDER_WAY;
    if (instance->pending[index % HS_STEP_WINDOW] == 0)
        hs_step_finish(instance, index);
    return HSUMMA_OK;
}

/* The status after MPI_Testsome has returned an error code. */
static hsumma_status status_of_some(int code, const MPI_Status *result, int count)
{
    int class = code;
    MPI_Error_class(code, &class);
    for (int i = 0; i < count && class == MPI_ERR_IN_STATUS; i++)
        if (result[i].MPI_ERROR != MPI_SUCCESS && result[i].MPI_ERROR != MPI_ERR_PENDING)
            code = result[i].MPI_ERROR;
    return hs_mpi_status(code);
}

hsumma_status hs_collect_messages(struct hs_instance *instance, int *worked)
{
    if (instance->open.count == 0)
        return HSUMMA_OK;
    int count = instance->open.collected;
    instance->open.collected = 0;
    const struct hs_block *block = instance->comm->block;
    if (count == 0 && block && !hs_block_may_test(block))
        return HSUMMA_OK;
    if (count == 0) {
        MPI_Status result[2 * HS_STEP_WINDOW];
        int code = MPI_Testsome(instance->open.count, instance->open.request, &count, instance->completed, result);
        if (code != MPI_SUCCESS)
            return status_of_some(code, result, count);
    }
    if (count <= 0) /* no message has completed, or MPI_UNDEFINED */
        return HSUMMA_OK;
    *worked = 1;
    int kept = 0, before = instance->open.count;
    int again[HS_STEP_WINDOW], agains = 0; /* messages in flight belong to steps of one window */
    for (int i = 0; i < before; i++) {
        int step = instance->request_step[i];
        if (instance->open.request[i] != MPI_REQUEST_NULL) {
            instance->open.request[kept] = instance->open.request[i];
            instance->traced[kept] = instance->traced[i];
            instance->request_step[kept++] = step;
            continue;
        }
        hs_trace_close(instance->comm->trace, instance->traced[i]);
        if (--instance->pending[step % HS_STEP_WINDOW] > 0)
            continue;
        check_message(instance, step);
        if (instance->moved[step] < instance->bound.list->step[step].count)
            again[agains++] = step;
        else
            hs_step_finish(instance, step);
    }
    instance->open.count = kept;
    for (int i = 0; i < agains; i++) {
        hsumma_status status = hs_post_step(instance, again[i]);
        if (status)
            return status;
    }
    return HSUMMA_OK;
}
