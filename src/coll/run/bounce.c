#include "coll/run/device_comm.h"
#include "coll/run/executor_device.h"
#include "coll/run/executor_parts.h"

enum { SENDS, RECVS };

hsumma_status hs_bounce_make(struct hs_bounce_buffers *bounce, struct hs_device *device, int gpu_aware)
{
    const struct hs_device_kind *kind = device->kind;
    void *memory = NULL;
    hsumma_status status =
        gpu_aware ? HSUMMA_OK : kind->get_pinned(device, (size_t)2 * HS_BOUNCE_PIECES * HS_BOUNCE_PIECE_BYTES, &memory);
    bounce->memory = memory;
    for (int i = 0; i < 2 * HS_BOUNCE_PIECES && !status; i++) {
        struct hs_bounce_piece *piece = &bounce->piece[i / HS_BOUNCE_PIECES][i % HS_BOUNCE_PIECES];
        piece->buffer = memory ? (char *)memory + (size_t)i * HS_BOUNCE_PIECE_BYTES : NULL;
        status = kind->make_event(device, 0, &piece->event);
    }
    return status;
}

void hs_bounce_free(struct hs_bounce_buffers *bounce, struct hs_device *device, int keep)
{
    if (keep)
        return;
    for (int i = 0; i < 2 * HS_BOUNCE_PIECES; i++)
        device->kind->free_event(device, bounce->piece[i / HS_BOUNCE_PIECES][i % HS_BOUNCE_PIECES].event);
    device->kind->put_pinned(device, bounce->memory);
}

/*
 * True if peers may be waiting for this step, because it is near the first unfinished step of the oldest instance.
 * Lists complete if ranks execute only such steps (steps.h), so these must always get a piece.
 */
static int is_urgent(const struct hs_device_comm *on, const struct hs_instance *instance, int step)
{
    return on->first == instance && step < instance->head + HS_BOUNCE_URGENT;
}

static struct hs_bounce_piece *take(struct hs_device_comm *on, const struct hs_instance *instance, int step, int way)
{
    struct hs_bounce_piece *found = NULL;
    int free = 0, held = 0;
    for (int i = 0; i < HS_BOUNCE_PIECES; i++) {
        struct hs_bounce_piece *piece = &on->bounce.piece[way][i];
        if (piece->state == HS_BOUNCE_FREE) {
            free++;
            found = piece;
        } else if (piece->state != HS_BOUNCE_DRAINING && piece->instance == instance && piece->step == step) {
            held++;
        }
    }
    return free > HS_BOUNCE_URGENT || (held == 0 && is_urgent(on, instance, step)) ? found : NULL;
}

static hsumma_status post(struct hs_bounce_piece *piece, int way)
{
    struct hs_comm *comm = piece->instance->comm;
    char *memory = piece->buffer ? piece->buffer : piece->at;
    int code, bytes = (int)piece->bytes;
    piece->state = HS_BOUNCE_POSTED;
    if (way == RECVS) {
        code = MPI_Irecv(memory, bytes, MPI_BYTE, piece->rank, piece->tag, comm->comm, &piece->request);
    } else {
        code = MPI_Isend(memory, bytes, MPI_BYTE, piece->rank, piece->tag, comm->comm, &piece->request);
        comm->bytes_sent += bytes;
        comm->messages_sent++;
    }
    return code == MPI_SUCCESS ? HSUMMA_OK : HSUMMA_ERR_MPI;
}

/* Enqueues the copy between buffer and device memory, if there is a buffer, and an event. */
static hsumma_status enqueue(struct hs_device_comm *on, struct hs_bounce_piece *piece, int way)
{
    hsumma_status status = HSUMMA_OK;
    if (piece->buffer)
        status = hs_device_enqueue_copy(on, (struct hs_device_copy){.to = way == SENDS ? piece->buffer : piece->at,
                                                                    .from = way == SENDS ? piece->at : piece->buffer,
                                                                    .bytes = piece->bytes});
    return status ? status : hs_device_record(on, piece->event);
}

hsumma_status hs_bounce_begin(struct hs_device_comm *on, struct hs_instance *instance, int index, int *worked)
{
    const struct hs_step *step = &instance->bound.list->step[index];
    int way = step->kind == HS_RECV ? RECVS : SENDS;
    struct hs_ref ref = way == RECVS ? step->dst : step->left;
    char *memory = hs_device_address(instance, ref);
    struct hs_bounce_piece *piece;
    if (!memory)
        return HSUMMA_ERR_INTERNAL;
    while (instance->moved[index] < step->count && (piece = take(on, instance, index, way)) != NULL) {
        int64_t left = step->count - instance->moved[index];
        int64_t most = piece->buffer ? HS_BOUNCE_PIECE_BYTES : instance->comm->cut;
        piece->instance = instance;
        piece->step = index;
        piece->rank = hs_rank_of(instance, step->peer);
        piece->tag = instance->bound.tag;
        piece->turn = on->bounce.turns++;
        piece->bytes = left < most ? left : most;
        piece->at = memory + instance->moved[index];
        instance->moved[index] += piece->bytes;
        instance->state[index] = HS_STEP_UNDER_WAY;
        on->bounce.in_use++;
        *worked = 1;
        hsumma_status status;
        if (way == RECVS && piece->buffer) {
            status = post(piece, way);
        } else {
            piece->state = HS_BOUNCE_ON_STREAM;
            status = enqueue(on, piece, way);
        }
        if (status)
            return status;
    }
    return HSUMMA_OK;
}

static void release(struct hs_device_comm *on, struct hs_bounce_piece *piece)
{
    piece->state = HS_BOUNCE_FREE;
    piece->instance = NULL;
    on->bounce.in_use--;
}

/* MPI has completed a piece: finishes its step if all other pieces of the step are complete, too. */
static void arrived(struct hs_device_comm *on, const struct hs_bounce_piece *piece, int way)
{
    struct hs_instance *instance = piece->instance;
    if (instance->moved[piece->step] < instance->bound.list->step[piece->step].count)
        return;
    for (int i = 0; i < HS_BOUNCE_PIECES; i++) {
        const struct hs_bounce_piece *other = &on->bounce.piece[way][i];
        int open = other->state == HS_BOUNCE_ON_STREAM || other->state == HS_BOUNCE_POSTED;
        if (other != piece && open && other->instance == instance && other->step == piece->step)
            return;
    }
    hs_step_finish(instance, piece->step);
}

/* Posts to MPI the pieces whose data are ready, in the order in which they were begun. */
static hsumma_status post_ready(struct hs_device_comm *on, int way, int *worked)
{
    for (;;) {
        struct hs_bounce_piece *first = NULL;
        for (int i = 0; i < HS_BOUNCE_PIECES; i++) {
            struct hs_bounce_piece *piece = &on->bounce.piece[way][i];
            if (piece->state == HS_BOUNCE_ON_STREAM && (!first || piece->turn < first->turn))
                first = piece;
        }
        int complete = 0;
        hsumma_status status = first ? hs_device_complete(on, first->event, &complete) : HSUMMA_OK;
        if (status || !complete)
            return status;
        *worked = 1;
        status = post(first, way);
        if (status)
            return status;
    }
}

static hsumma_status look(struct hs_device_comm *on, struct hs_bounce_piece *piece, int way, int *worked)
{
    int done = 0;
    hsumma_status status = HSUMMA_OK;
    if (piece->state == HS_BOUNCE_POSTED) {
        if (MPI_Test(&piece->request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
            return HSUMMA_ERR_MPI;
        if (!done)
            return HSUMMA_OK;
        *worked = 1;
        int drains = way == RECVS && piece->buffer;
        if (drains)
            status = enqueue(on, piece, way);
        arrived(on, piece, way);
        piece->state = HS_BOUNCE_DRAINING;
        if (!drains)
            release(on, piece);
        return status;
    }
    if (piece->state == HS_BOUNCE_DRAINING) {
        status = hs_device_complete(on, piece->event, &done);
        if (!status && done)
            release(on, piece);
    }
    return status;
}

hsumma_status hs_bounce_progress(struct hs_device_comm *on, int *worked)
{
    hsumma_status status = HSUMMA_OK;
    for (int way = 0; way < 2 && on->bounce.in_use && !status; way++) {
        status = post_ready(on, way, worked);
        for (int i = 0; i < HS_BOUNCE_PIECES && !status; i++)
            status = look(on, &on->bounce.piece[way][i], way, worked);
    }
    return status;
}
