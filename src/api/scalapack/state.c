/*
 * The state of the shim is an attribute of the communicator of a BLACS context. The context's number cannot identify
 * the state, because BLACS frees the communicator at gridexit and reuses the number.
 */
#include "api/scalapack/shim.h"

#include "api/context_create.h"
#include "coll/node/agree_mpi.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* State of the process, not of a context. */
static struct {
    pthread_once_t once;
    int keyval;
    atomic_flag said[HS_MATTERS];
} shared = {.once = PTHREAD_ONCE_INIT,
            .keyval = MPI_KEYVAL_INVALID,
            .said = {ATOMIC_FLAG_INIT, ATOMIC_FLAG_INIT, ATOMIC_FLAG_INIT, ATOMIC_FLAG_INIT, ATOMIC_FLAG_INIT,
                     ATOMIC_FLAG_INIT, ATOMIC_FLAG_INIT}};

static int drop(MPI_Comm comm, int keyval, void *attribute, void *extra)
{
    struct hs_shim *shim = attribute;
    (void)comm, (void)keyval, (void)extra;
    hsumma_grid_free(&shim->grid);
    hsumma_free(&shim->ctx);
    if (shim->log >= 0)
        close(shim->log);
    free(shim);
    return MPI_SUCCESS;
}

static void make_keyval(void)
{
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, drop, &shared.keyval, NULL);
}

int hs_shim_first_time(enum hs_matter matter)
{
    return !atomic_flag_test_and_set(&shared.said[matter]);
}

int hs_shim_is_of_all(hsumma_status status)
{
    return status != HSUMMA_ERR_MEMORY && !hs_status_is_final(status) && status != HSUMMA_ERR_INTERNAL;
}

void hs_shim_complain(const char *routine, const char *why, int left, hsumma_status status)
{
    why = why && *why ? why : hsumma_status_string(status);
    if (left)
        fprintf(stderr, "hsumma: %s: %s; such calls go to ScaLAPACK\n", routine, why);
    else
        fprintf(stderr, "hsumma: %s: %s; error exit with info = %d\n", routine, why, -(HS_INFO + (int)status));
}

struct hs_shim *hs_shim_of(MPI_Comm comm)
{
    struct hs_shim *shim = NULL;
    int found = 0, rank = 0;
    pthread_once(&shared.once, make_keyval);
    MPI_Comm_get_attr(comm, shared.keyval, &shim, &found);
    if (found)
        return shim;
    shim = calloc(1, sizeof *shim);
    if (!shim)
        return NULL;
    MPI_Comm_rank(comm, &rank);
    const char *guard = hs_environment("HSUMMA_GUARD"), *bits = hs_environment("HSUMMA_BITS");
    shim->guarded = (guard && *guard && strcmp(guard, "off") != 0) || (bits && *bits && strcmp(bits, "plan") != 0);
    const char *check = hs_environment("HSUMMA_CHECK");
    shim->checks = check && strcmp(check, "always") == 0;
    shim->log = rank == 0 ? hs_log_open() : -1;
    if (MPI_Comm_set_attr(comm, shared.keyval, shim) == MPI_SUCCESS)
        return shim;
    if (shim->log >= 0)
        close(shim->log);
    free(shim);
    return NULL;
}

static void take_settings(struct hs_shim *shim)
{
    const struct hs_settings *settings = &shim->ctx->options.settings;
    double edge = (double)settings->scalapack;
    shim->left = edge * edge * edge;
    shim->explain = settings->explain;
    shim->threads = settings->threads >= 0 ? settings->threads : shim->ctx->threads;
    shim->reports = shim->ctx->comm.rank == 0;
    shim->totals = shim->explain && shim->reports ? hs_explain_totals() : NULL;
}

/* The collective part of connecting: creates the context and the grid, and reads the options. */
static hsumma_status connect(struct hs_shim *shim, MPI_Comm comm, const int shape[2], hsumma_status mine, char *text,
                             size_t size)
{
    hsumma_status status = hs_context_create(comm, NULL, 0, &shim->ctx, text, size);
    if (status)
        return status;
    status = hsumma_grid_create(shim->ctx, shape[0], shape[1], 'R', NULL, &shim->grid);
    mine = mine ? mine : status;
    take_settings(shim);
    status = hs_agreed(shim->ctx->comm.comm, mine, shim->ctx->comm.watch);
    snprintf(text, size, "%s", hsumma_message(shim->ctx));
    return status;
}

/* Says once which variables of the environment look like the library's, but are not. */
static void warn_of_environment(void)
{
    char text[512];
    if (hs_environment_misspelt_text(text, sizeof text) && hs_shim_first_time(HS_MISSPELT))
        fprintf(stderr, "hsumma: %s\n", text);
}

hsumma_status hs_shim_connect(struct hs_shim *shim, MPI_Comm comm, const int shape[2])
{
    if (shim && shim->connected)
        return shim->status;
    char text[256] = "";
    struct hs_shim none = {.log = -1}; /* stands in where there was no memory for a shim */
    struct hs_shim *to = shim ? shim : &none;
    to->status = connect(to, comm, shape, shim ? HSUMMA_OK : HSUMMA_ERR_MEMORY, text, sizeof text);
    to->connected = to->status != HSUMMA_ERR_MEMORY;
    if (to->reports)
        warn_of_environment();
    if (to->status) {
        int rank = 0;
        MPI_Comm_rank(comm, &rank);
        if (rank == 0 && hs_shim_first_time(HS_NO_CONTEXT))
            fprintf(stderr, "hsumma: %s; p?gemm and p?gemr2d %s\n", text[0] ? text : hsumma_status_string(to->status),
                    hs_shim_is_of_all(to->status) && !to->guarded ? "are left to ScaLAPACK"
                                                                  : "end with PBLAS's error exit");
        hsumma_grid_free(&to->grid);
        hsumma_free(&to->ctx);
    }
    return to->status;
}
