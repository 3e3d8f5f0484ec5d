#include "coll/exec_mpi.h"

#include <mpi.h>
#include <string.h>

enum { WAITING, UNDER_WAY, DONE };
enum { WINDOW = 64 }; /* steps looked at beyond the first unfinished one */

/* The five arrays of an instance, laid out one after the other; with memory = NULL only measures. */
static size_t lay_out(struct hs_instance *instance, char *memory, int steps)
{
    size_t all = (size_t)(steps > 0 ? steps : 1), open = all < WINDOW ? all : WINDOW, at = 0;
    struct {
        void **field;
        size_t count, size;
    } part[] = {
        {(void **)&instance->moved, all, sizeof *instance->moved},
        {(void **)&instance->request, open, sizeof *instance->request}, /* what is in flight lies inside the window */
        {(void **)&instance->request_step, open, sizeof *instance->request_step},
        {(void **)&instance->completed, open, sizeof *instance->completed},
        {(void **)&instance->state, all, sizeof *instance->state},
    };
    for (unsigned i = 0; i < sizeof part / sizeof *part; i++) {
        if (memory)
            *part[i].field = memory + at;
        at += hs_aligned(part[i].count * part[i].size);
    }
    return at;
}

size_t hs_instance_bytes(int steps)
{
    struct hs_instance none;
    return lay_out(&none, NULL, steps);
}

void hs_instance_init(struct hs_instance *instance, void *memory, int steps)
{
    memset(instance, 0, sizeof *instance);
    lay_out(instance, memory, steps);
    instance->capacity = steps;
}

static char *place(const struct hs_instance *instance, struct hs_ref ref)
{
    return (char *)instance->bound.slot[ref.slot] + ref.at;
}

static int deps_done(const struct hs_instance *instance, const struct hs_step *step)
{
    for (int i = 0; i < step->deps; i++)
        if (instance->state[instance->bound.list->dep[step->first_dep + i]] != DONE)
            return 0;
    return 1;
}

/* Posts the next piece of a SEND or RECV. */
static hsumma_status post(struct hs_instance *instance, int index)
{
    const struct hs_step *step = &instance->bound.list->step[index];
    struct hs_comm *comm = instance->comm;
    const struct hs_group *group = &instance->bound.group;
    int64_t at = instance->moved[index];
    int64_t count = step->count - at < comm->cut ? step->count - at : comm->cut;
    int rank = hs_group_rank(group, (step->peer + instance->bound.rotation) % group->size);
    MPI_Request *request = &instance->request[instance->in_flight];
    int code;
    if (step->kind == HS_SEND) {
        code = MPI_Isend(place(instance, step->left) + at, (int)count, MPI_BYTE, rank, instance->bound.tag, comm->comm,
                         request);
        comm->bytes_sent += count;
        comm->messages_sent++;
    } else {
        code = MPI_Irecv(place(instance, step->dst) + at, (int)count, MPI_BYTE, rank, instance->bound.tag, comm->comm,
                         request);
    }
    if (code != MPI_SUCCESS)
        return HSUMMA_ERR_MPI;
    instance->request_step[instance->in_flight++] = index;
    instance->moved[index] += count;
    instance->state[index] = UNDER_WAY;
    return HSUMMA_OK;
}

static void finish(struct hs_instance *instance, int index)
{
    instance->state[index] = DONE;
    instance->left--;
}

/* Collects what MPI has completed; a step with pieces left posts the next one. */
static hsumma_status collect(struct hs_instance *instance, int *worked)
{
    if (instance->in_flight == 0)
        return HSUMMA_OK;
    int count = 0;
    if (MPI_Testsome(instance->in_flight, instance->request, &count, instance->completed, MPI_STATUSES_IGNORE) !=
        MPI_SUCCESS)
        return HSUMMA_ERR_MPI;
    if (count <= 0) /* none, or MPI_UNDEFINED */
        return HSUMMA_OK;
    *worked = 1;
    int kept = 0, before = instance->in_flight;
    int again[WINDOW], agains = 0; /* what is in flight lies inside one window */
    for (int i = 0; i < before; i++) {
        int step = instance->request_step[i];
        if (instance->request[i] != MPI_REQUEST_NULL) {
            instance->request[kept] = instance->request[i];
            instance->request_step[kept++] = step;
        } else if (instance->moved[step] < instance->bound.list->step[step].count) {
            again[agains++] = step;
        } else {
            finish(instance, step);
        }
    }
    instance->in_flight = kept;
    for (int i = 0; i < agains; i++) {
        hsumma_status status = post(instance, again[i]);
        if (status)
            return status;
    }
    return HSUMMA_OK;
}

/* Per direction and peer, messages are posted in list order: who must wait for an earlier step of the list. */
struct held {
    int peer[WINDOW], count;
};

static int is_held(const struct held *held, int peer)
{
    for (int i = 0; i < held->count; i++)
        if (held->peer[i] == peer)
            return 1;
    return 0;
}

/* Begins one step if it may begin; local steps are done at once. */
static hsumma_status try_step(struct hs_instance *instance, int index, struct held *held, int *worked)
{
    const struct hs_step *step = &instance->bound.list->step[index];
    int message = step->kind == HS_SEND || step->kind == HS_RECV;
    struct held *mine = message ? &held[step->kind == HS_RECV] : NULL;
    if (instance->state[index] == UNDER_WAY) {
        if (instance->moved[index] < step->count) /* more pieces to come */
            mine->peer[mine->count++] = step->peer;
        return HSUMMA_OK;
    }
    if (!deps_done(instance, step) || (message && is_held(mine, step->peer))) {
        if (message)
            mine->peer[mine->count++] = step->peer;
        return HSUMMA_OK;
    }
    *worked = 1;
    if (message) {
        hsumma_status status = post(instance, index);
        if (!status && instance->moved[index] < step->count)
            mine->peer[mine->count++] = step->peer;
        return status;
    }
    if (step->kind == HS_COPY)
        memcpy(place(instance, step->dst), place(instance, step->left), (size_t)step->count);
    else
        instance->bound.combine(place(instance, step->dst), place(instance, step->left), place(instance, step->right),
                                step->count);
    finish(instance, index);
    return HSUMMA_OK;
}

static hsumma_status begin_steps(struct hs_instance *instance, int *worked)
{
    const unsigned char *state = instance->state;
    int steps = instance->bound.list->steps;
    while (instance->head < steps && state[instance->head] == DONE)
        instance->head++;
    struct held held[2];
    held[0].count = held[1].count = 0;
    int end = instance->head + WINDOW < steps ? instance->head + WINDOW : steps;
    for (int i = instance->head; i < end; i++) {
        if (state[i] == DONE)
            continue;
        hsumma_status status = try_step(instance, i, held, worked);
        if (status)
            return status;
    }
    return HSUMMA_OK;
}

hsumma_status hs_start(struct hs_instance *instance, struct hs_comm *comm, const struct hs_binding *binding)
{
    int steps = binding->list->steps;
    if (steps > instance->capacity || instance->active)
        return HSUMMA_ERR_INTERNAL;
    instance->bound = *binding;
    instance->comm = comm;
    instance->head = instance->in_flight = 0;
    instance->left = steps;
    instance->active = steps > 0;
    memset(instance->state, WAITING, (size_t)steps);
    memset(instance->moved, 0, (size_t)steps * sizeof *instance->moved);
    int worked = 0;
    return hs_progress(instance, &worked);
}

hsumma_status hs_progress(struct hs_instance *instance, int *worked)
{
    if (!instance->active)
        return HSUMMA_OK;
    hsumma_status status = collect(instance, worked);
    if (!status)
        status = begin_steps(instance, worked);
    if (instance->left == 0)
        instance->active = 0;
    return status;
}
