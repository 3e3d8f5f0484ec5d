/* NCCL's allreduce as a contender, if NCCL is present and each rank has a GPU of its own (NCCL refuses shared GPUs). */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "coll/device.h"
#include "hsumma/context/context.h"

/* Declarations of nccl.h, with its values. */
typedef struct unique_id {
    char bytes[128];
} unique_id;

enum { NCCL_INT32 = 2, NCCL_INT64 = 4, NCCL_FLOAT = 7, NCCL_DOUBLE = 8, NCCL_SUM = 0 };

struct coll_nccl {
    void *library, *driver, *comm;
    int version;
    int (*get_version)(int *version);
    int (*get_id)(unique_id *id);
    int (*init)(void **comm, int ranks, unique_id id, int rank);
    int (*destroy)(void *comm);
    const char *(*text)(int error);
    int (*allreduce)(const void *in, void *out, size_t count, int type, int op, void *comm, void *stream);
};

static int find_all(coll_nccl *nccl)
{
    const struct {
        const char *name;
        void *function;
    } table[] = {{"ncclGetVersion", &nccl->get_version}, {"ncclGetUniqueId", &nccl->get_id},
                 {"ncclCommInitRank", &nccl->init},      {"ncclCommDestroy", &nccl->destroy},
                 {"ncclGetErrorString", &nccl->text},    {"ncclAllReduce", &nccl->allreduce}};

    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        void *found = dlsym(nccl->library, table[i].name);

        if (!found)
            return 0;
        memcpy(table[i].function, &found, sizeof found); /* ISO C has no cast from void * to a function pointer */
    }
    return 1;
}

/* Makes the stream's device current in this thread: NCCL uses the current device, which the library never changes. */
static int make_current(coll_nccl *nccl, void *stream)
{
    int (*context_of)(void *stream, void **context) = NULL, (*set)(void *context) = NULL;
    void *context = NULL, *symbol;

    nccl->driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!nccl->driver)
        return 0;
    symbol = dlsym(nccl->driver, "cuStreamGetCtx");
    memcpy(&context_of, &symbol, sizeof symbol);
    symbol = dlsym(nccl->driver, "cuCtxSetCurrent");
    memcpy(&set, &symbol, sizeof symbol);
    return context_of && set && !context_of(stream, &context) && !set(context);
}

static coll_nccl *load(char *why, size_t n)
{
    coll_nccl *nccl = calloc(1, sizeof *nccl);

    if (!nccl)
        return NULL;
    nccl->library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
    if (nccl->library && find_all(nccl) && !nccl->get_version(&nccl->version))
        return nccl;
    snprintf(why, n, nccl->library ? "libnccl.so.2 lacks a function" : "there is no libnccl.so.2");
    coll_nccl_close(nccl);
    return NULL;
}

/* The reason why NCCL cannot be used; NULL if it can. */
static const char *unfit(const coll_run *run)
{
    int mates, most;

    if (!run->ctx->device || strcmp(run->ctx->device->kind->name, "cuda"))
        return "NCCL is for GPUs";
    if (run->args->collective != HS_ALLREDUCE)
        return "NCCL is timed for allreduce only";
    MPI_Comm_size(run->mates, &mates);
    quiet_allreduce(&mates, &most, 1, MPI_INT, MPI_MAX, run->comm);
    return most > 1 ? "NCCL refuses two ranks on one GPU" : NULL;
}

/* The worst status of all ranks: all or none must make the NCCL calls that follow. */
static int agreed(const coll_run *run, int bad)
{
    int worst;

    quiet_allreduce(&bad, &worst, 1, MPI_INT, MPI_MAX, run->comm);
    return worst;
}

/* Rank 0 makes the NCCL id, then each rank joins. Returns 0 if NCCL or the device failed on some rank. */
static int connect_all(const coll_run *run, coll_nccl *nccl, char *why, size_t n)
{
    unique_id id = {{0}};
    int error = run->rank == 0 ? nccl->get_id(&id) : 0, current = 1;

    quiet_bcast(&id, (int)sizeof id, MPI_BYTE, 0, run->comm);
    if (!error)
        current = make_current(nccl, hsumma_stream(run->ctx));
    if (!agreed(run, error || !current))
        error = nccl->init(&nccl->comm, run->size, id, run->rank);
    if (error)
        snprintf(why, n, "NCCL %d: %s", nccl->version, nccl->text(error));
    else if (!current)
        snprintf(why, n, "its device cannot be made current for NCCL");
    return !agreed(run, error || !nccl->comm);
}

coll_nccl *coll_nccl_open(const coll_run *run, char *why, size_t n)
{
    const char *reason = unfit(run);
    coll_nccl *nccl;

    snprintf(why, n, "%s", reason ? reason : "another rank has no NCCL");
    if (reason)
        return NULL;
    nccl = load(why, n);
    if (!agreed(run, !nccl) && connect_all(run, nccl, why, n))
        return nccl;
    coll_nccl_close(nccl);
    return NULL;
}

const char *coll_nccl_run(const coll_nccl *nccl, const coll_case *c)
{
    static const struct {
        int type, reals;
    } types[] = {[HSUMMA_FLOAT] = {NCCL_FLOAT, 1},         [HSUMMA_DOUBLE] = {NCCL_DOUBLE, 1},
                 [HSUMMA_FLOAT_COMPLEX] = {NCCL_FLOAT, 2}, [HSUMMA_DOUBLE_COMPLEX] = {NCCL_DOUBLE, 2},
                 [HSUMMA_INT32] = {NCCL_INT32, 1},         [HSUMMA_INT64] = {NCCL_INT64, 1}};
    size_t count = (size_t)c->call.count * (size_t)types[c->call.op.element].reals;
    int error = nccl->allreduce(c->call.in, c->call.out, count, types[c->call.op.element].type, NCCL_SUM, nccl->comm,
                                hsumma_stream(c->ctx));

    return error ? nccl->text(error) : NULL;
}

void coll_nccl_close(coll_nccl *nccl)
{
    if (!nccl)
        return;
    if (nccl->comm)
        nccl->destroy(nccl->comm);
    if (nccl->library)
        dlclose(nccl->library);
    if (nccl->driver)
        dlclose(nccl->driver);
    free(nccl);
}
