/*
 * The network between the nodes of a context: measured where neither a profile nor an earlier measurement describes it,
 * then remembered in the tuned file and by the process. The process remembers it because it may create many contexts
 * and have no file to write to.
 */
#include "api/context_parts.h"

#include "base/wait.h"
#include "coll/node/agree_mpi.h"

#include <pthread.h>
#include <stdio.h>

/* Seconds of measuring; with the agreement and the file altogether less than 0.1. */
static const double budget = 0.08;

/* --- networks that the process remembers, in an attribute of MPI_COMM_SELF, which MPI_Finalize deletes ------------ */

/* State of the process, not of a context. */
static struct {
    pthread_mutex_t lock;
    int keyval;
} shared = {.lock = PTHREAD_MUTEX_INITIALIZER, .keyval = MPI_KEYVAL_INVALID};

struct known_network {
    uint64_t key;
    struct hs_network network;
    struct known_network *next;
};

static int drop(MPI_Comm comm, int keyval, void *attribute, void *extra)
{
    (void)comm, (void)keyval, (void)extra;
    for (struct known_network *next, *known = attribute; known; known = next) {
        next = known->next;
        hs_put(&hs_heap, known);
    }
    return MPI_SUCCESS;
}

static struct known_network *first_known(void)
{
    void *known = NULL;
    int found = 0;
    if (shared.keyval == MPI_KEYVAL_INVALID ||
        MPI_Comm_get_attr(MPI_COMM_SELF, shared.keyval, &known, &found) != MPI_SUCCESS || !found)
        return NULL;
    return known;
}

int hs_network_known(uint64_t key, struct hs_network *network)
{
    pthread_mutex_lock(&shared.lock);
    const struct known_network *known = first_known();
    while (known && known->key != key)
        known = known->next;
    if (known)
        *network = known->network;
    pthread_mutex_unlock(&shared.lock);
    return known != NULL;
}

/* Remembers a network. If out of memory, the next context measures again. */
static void know(uint64_t key, const struct hs_network *network)
{
    struct known_network *known = hs_get(&hs_heap, 1, sizeof *known);
    pthread_mutex_lock(&shared.lock);
    if (shared.keyval == MPI_KEYVAL_INVALID)
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, drop, &shared.keyval, NULL);
    struct known_network *first = first_known();
    if (known && first) { /* setting the attribute again would delete the networks it holds */
        *known = (struct known_network){key, *network, first->next};
        first->next = known;
    } else if (known) {
        *known = (struct known_network){key, *network, NULL};
        if (MPI_Comm_set_attr(MPI_COMM_SELF, shared.keyval, known) != MPI_SUCCESS)
            hs_put(&hs_heap, known);
    }
    pthread_mutex_unlock(&shared.lock);
}

/* --- measuring ---------------------------------------------------------------------------------------------------- */

/* Remembers a network, on rank 0. If the file cannot be written, the context's note says why, and later programs
 * measure again. */
static void remember(hsumma_context *ctx, const struct hs_network *network)
{
    char text[512];
    const char *const line[1] = {text};
    struct hs_message message = {""};
    know(ctx->network_key, network);
    if (!ctx->tuned_file[0] || ctx->options.settings.tune == HS_TUNE_OFF)
        return;
    hs_network_write(ctx->network_key, network, text, sizeof text);
    if (hs_tuned_merge(ctx->tuned_file, line, 1, &ctx->memory, &message))
        hs_append(ctx->note, sizeof ctx->note, "%smeasured network not written: %.300s", ctx->note[0] ? "; " : "",
                  message.text);
}

hsumma_status hs_context_measure_network(hsumma_context *ctx)
{
    struct hs_network network;
    double seconds;
    char source[64];
    if (!ctx->measures || ctx->comm.topology.division[HS_NODE].parts == 1)
        return HSUMMA_OK;
    hsumma_status status =
        hs_network_measure(&ctx->comm, budget, hs_compute_is_real(ctx->compute) ? hs_gemm_to_measure() : NULL,
                           ctx->threads, &ctx->memory, &network, &seconds);
    if (status)
        return hs_fail(&ctx->message, status, "measuring the network between the nodes failed: %s",
                       hsumma_status_string(status));
    snprintf(source, sizeof source, "built-in, network measured in %.1f ms", 1e3 * seconds);
    hs_network_use(&network, source, &ctx->profile);
    if (ctx->comm.rank == 0)
        remember(ctx, &network);
    status = hs_mpi_bcast(ctx->note, sizeof ctx->note, 0, ctx->comm.comm, ctx->comm.watch);
    return status ? hs_fail(&ctx->message, status, "MPI_Ibcast of the measured network's note failed") : HSUMMA_OK;
}
