#include "hsumma/network/message_trial.h"

#include "base/wait.h"

enum { TRIAL_TAG = 7 };

struct requests {
    MPI_Request *request;
    int count;
};

static hsumma_status test_all(void *state, int *worked, int *done)
{
    const struct requests *r = state;
    *worked = 0;
    return MPI_Testall(r->count, r->request, done, MPI_STATUSES_IGNORE) == MPI_SUCCESS ? HSUMMA_OK : HSUMMA_ERR_MPI;
}

hsumma_status hs_wait_for_requests(MPI_Request *request, int count, const struct hs_watch *watch)
{
    struct requests all = {request, count};
    return hs_wait_idle(test_all, &all, hs_idle_yield, NULL, watch);
}

/* Sends a message to the peer, receives one from it, or both; sends, receives: 1 or 0. */
static hsumma_status pass(const struct hs_message_trial *t, int sends, int receives, int64_t bytes)
{
    MPI_Request request[2];
    int n = (int)bytes, count = 0;
    if (receives)
        count += MPI_Irecv(t->in, n, MPI_BYTE, t->peer, TRIAL_TAG, t->comm, &request[count]) == MPI_SUCCESS;
    if (sends)
        count += MPI_Isend(t->out, n, MPI_BYTE, t->peer, TRIAL_TAG, t->comm, &request[count]) == MPI_SUCCESS;
    hsumma_status waited = hs_wait_for_requests(request, count, t->watch);
    return count < sends + receives ? HSUMMA_ERR_MPI : waited;
}

hsumma_status hs_message_trial_run(const struct hs_message_trial *trial, int calls, double *seconds)
{
    int64_t count = (int64_t)calls * (trial->length ? trial->length : 2);
    hsumma_status status = pass(trial, 1, 1, 0); /* starts both ranks together */
    double start = hs_now();
    for (int64_t i = 0; i < count; i++) {
        int sends = trial->first == (trial->length || i % 2 == 0);
        hsumma_status one = pass(trial, sends, !sends, trial->bytes);
        status = status ? status : one;
        if (one && trial->watch && trial->watch->look(trial->watch->state, 0)) /* waits have been given up */
            return status;
    }
    if (trial->length) {
        hsumma_status last = pass(trial, !trial->first, trial->first, 0);
        status = status ? status : last;
    }
    *seconds = (hs_now() - start) / (trial->length ? 1 : 2);
    return status;
}
