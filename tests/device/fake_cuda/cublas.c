/* The fake cuBLAS, and the dlfcn.h functions that load it. */
#include "device/fake_cuda/objects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NOT_INITIALIZED = 1, INVALID_VALUE = 7, EXECUTION_FAILED = 13 };

struct handle {
    struct handle *next;
    cudaStream_t stream;
    int device;
    const void *workspace; /* set since the stream was set; NULL: none */
    size_t bytes;
};
static struct handle *handles;

static struct handle *find(const void *handle)
{
    struct handle *h = handles;
    while (h && h != handle)
        h = h->next;
    if (h && h->device != fake_cuda_current())
        fake_fault("a cuBLAS handle of GPU %d, while GPU %d is current", h->device, fake_cuda_current());
    return h;
}

static int create(void **handle)
{
    int error = fake_hit("cublasCreate_v2", EXECUTION_FAILED);
    struct handle *h = error ? NULL : calloc(1, sizeof *h);
    if (!h)
        return error;
    h->next = handles;
    h->device = fake_cuda_current();
    if (h->device < 0)
        fake_fault("cublasCreate: no context is current");
    handles = h;
    fake_cuda.handles++;
    *handle = h;
    return 0;
}

static int destroy(void *handle)
{
    struct handle *h = find(handle), **link = &handles;
    int error = fake_hit("cublasDestroy_v2", EXECUTION_FAILED);
    if (!h) {
        fake_fault("cublasDestroy: no handle");
        return NOT_INITIALIZED;
    }
    while (*link != h)
        link = &(*link)->next;
    *link = h->next;
    fake_cuda.handles--;
    free(h);
    return error;
}

void fake_cublas_abandon(void)
{
    while (handles) {
        struct handle *next = handles->next;
        free(handles);
        handles = next;
    }
}

static int set_stream(void *handle, cudaStream_t stream)
{
    struct handle *h = find(handle);
    int error = fake_hit("cublasSetStream_v2", EXECUTION_FAILED);
    if (error || !h || !fake_stream(stream))
        return error ? error : h ? INVALID_VALUE : NOT_INITIALIZED;
    *h = (struct handle){.next = h->next, .stream = stream, .device = h->device}; /* this drops the workspace */
    return 0;
}

static int set_workspace(void *handle, void *workspace, size_t bytes)
{
    struct handle *h = find(handle);
    const struct fake_object *object = fake_memory_at(workspace);
    int error = fake_hit("cublasSetWorkspace_v2", EXECUTION_FAILED);
    if (error || !h)
        return error ? error : NOT_INITIALIZED;
    if (!object || object->kind != FAKE_MEMORY || object->bytes < bytes || (uintptr_t)workspace % 256)
        return INVALID_VALUE;
    h->workspace = workspace;
    h->bytes = bytes;
    return 0;
}

static const char *name(int status)
{
    static const char *const names[] = {[0] = "CUBLAS_STATUS_SUCCESS",
                                        [NOT_INITIALIZED] = "CUBLAS_STATUS_NOT_INITIALIZED",
                                        [3] = "CUBLAS_STATUS_ALLOC_FAILED",
                                        [INVALID_VALUE] = "CUBLAS_STATUS_INVALID_VALUE",
                                        [EXECUTION_FAILED] = "CUBLAS_STATUS_EXECUTION_FAILED"};
    return status >= 0 && status <= EXECUTION_FAILED && names[status] ? names[status] : "unknown";
}

static int gemm(const char *call, hsumma_type type, void *handle, int transa, int transb, int64_t m, int64_t n,
                int64_t k, const void *alpha, const void *a, int64_t lda, const void *b, int64_t ldb, const void *beta,
                void *c, int64_t ldc)
{
    struct hs_device *host = fake_host();
    struct handle *h = find(handle);
    int error = fake_hit(call, EXECUTION_FAILED);
    if (error || !h)
        return error ? error : NOT_INITIALIZED;
    if (!h->workspace || !fake_memory_at(h->workspace))
        fake_fault("%s: the stream has no workspace of its own", call);
    if (type == HSUMMA_Z && ((uintptr_t)alpha % 16 || (uintptr_t)beta % 16)) /* the real one then crashes */
        fake_fault("%s: alpha or beta is not aligned as cuDoubleComplex", call);
    int64_t rows_a = transa ? k : m, rows_b = transb ? n : k;
    if (m < 0 || n < 0 || k < 0 || transa < 0 || transa > 2 || transb < 0 || transb > 2 || lda < rows_a || lda < 1 ||
        ldb < rows_b || ldb < 1 || ldc < m || ldc < 1 || !fake_stream(h->stream))
        return INVALID_VALUE;
    return host->kind->gemm(host, fake_stream(h->stream), type, "NTC"[transa], "NTC"[transb], m, n, k, alpha, a, lda, b,
                            ldb, beta, c, ldc)
               ? EXECUTION_FAILED
               : 0;
}

#define GEMM(letter, type)                                                                                             \
    static int gemm_##letter(void *handle, int transa, int transb, int64_t m, int64_t n, int64_t k, const void *alpha, \
                             const void *a, int64_t lda, const void *b, int64_t ldb, const void *beta, void *c,        \
                             int64_t ldc)                                                                              \
    {                                                                                                                  \
        return gemm("cublas" #letter "gemm_v2_64", type, handle, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, \
                    c, ldc);                                                                                           \
    }
GEMM(S, HSUMMA_S)
GEMM(D, HSUMMA_D)
GEMM(C, HSUMMA_C)
GEMM(Z, HSUMMA_Z)

#define ADDRESS(function) (void (*)(void))(function)
static const struct {
    const char *name;
    void (*function)(void);
} symbols[] = {{"cublasCreate_v2", ADDRESS(create)},        {"cublasDestroy_v2", ADDRESS(destroy)},
               {"cublasSetStream_v2", ADDRESS(set_stream)}, {"cublasSetWorkspace_v2", ADDRESS(set_workspace)},
               {"cublasGetStatusName", ADDRESS(name)},      {"cublasSgemm_v2_64", ADDRESS(gemm_S)},
               {"cublasDgemm_v2_64", ADDRESS(gemm_D)},      {"cublasCgemm_v2_64", ADDRESS(gemm_C)},
               {"cublasZgemm_v2_64", ADDRESS(gemm_Z)}};

void *fake_dlopen(const char *file, int flags)
{
    (void)flags;
    if (fake_cuda.no_cublas || !strstr(file, "libcublas.so"))
        return NULL;
    fake_cuda.libraries++;
    return &handles;
}

void *fake_dlsym(void *library, const char *wanted)
{
    void *address = NULL;
    const char *no = fake_cuda.no_symbol;
    if (library != (void *)&handles)
        fake_fault("dlsym: no library");
    if (no && strcmp(no, wanted) == 0)
        return NULL;
    for (unsigned i = 0; i < sizeof symbols / sizeof *symbols; i++)
        if (strcmp(symbols[i].name, wanted) == 0)
            memcpy(&address, &symbols[i].function, sizeof address);
    return address;
}

int fake_dlclose(void *library)
{
    if (library != (void *)&handles)
        fake_fault("dlclose: no library");
    fake_cuda.libraries--;
    return 0;
}

char *fake_dlerror(void)
{
    static char text[] = "the fake has no such library";
    return text;
}
