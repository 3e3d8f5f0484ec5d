/*
 * Products by cuBLAS.  The library is loaded when a device is opened, so a program starts without it.  Its headers are
 * not needed, since only its binary interface is used.  Its default math mode follows IEEE rounding.
 */
#include "base/options.h"
#include "base/scalar.h"
#include "gpu/cuda.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum { OP_N = 0, OP_T = 1, OP_C = 2, ALLOC_FAILED = 3 };

static const char *const gemm_names[] = {"cublasSgemm_v2_64", "cublasDgemm_v2_64", "cublasCgemm_v2_64",
                                         "cublasZgemm_v2_64"};

/* Tries the loader's search path, then the usual places of CUDA; reports the loader's first error. */
static hsumma_status open_library(void **library, struct hs_message *message)
{
    static const char *const names[] = {"libcublas.so.13", "libcublas.so.12"};
    const char *const homes[] = {NULL, hs_environment("CUDA_HOME"), hs_environment("CUDA_PATH"), "/usr/local/cuda"};
    char path[512], why[256] = "";
    *library = NULL;
    for (unsigned h = 0; h < sizeof homes / sizeof *homes; h++)
        for (unsigned n = 0; n < sizeof names / sizeof *names && !*library && (h == 0 || homes[h]); n++) {
            snprintf(path, sizeof path, "%s%s%s", h ? homes[h] : "", h ? "/lib64/" : "", names[n]);
            *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
            const char *said = *library ? NULL : dlerror();
            if (said && !*why)
                snprintf(why, sizeof why, "%s", said);
        }
    return *library
               ? HSUMMA_OK
               : hs_fail(message, HSUMMA_ERR_DEVICE,
                         "cannot load cuBLAS: %s (nor %s); set LD_LIBRARY_PATH or CUDA_HOME to where it is installed",
                         why, names[1]);
}

hsumma_status hs_cublas_load(struct hs_cublas *blas, struct hs_message *message)
{
    hsumma_status status = open_library(&blas->library, message);
    if (status)
        return status;
    const struct {
        const char *name;
        void *function;
    } wanted[] = {{"cublasCreate_v2", &blas->create},
                  {"cublasDestroy_v2", &blas->destroy},
                  {"cublasSetStream_v2", &blas->set_stream},
                  {"cublasSetWorkspace_v2", &blas->set_workspace},
                  {"cublasGetStatusName", &blas->name},
                  {gemm_names[HSUMMA_S], &blas->gemm[HSUMMA_S]},
                  {gemm_names[HSUMMA_D], &blas->gemm[HSUMMA_D]},
                  {gemm_names[HSUMMA_C], &blas->gemm[HSUMMA_C]},
                  {gemm_names[HSUMMA_Z], &blas->gemm[HSUMMA_Z]}};
    for (unsigned i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (!(*(void **)wanted[i].function = dlsym(blas->library, wanted[i].name)))
            return hs_fail(message, HSUMMA_ERR_DEVICE, "cuBLAS has no %s", wanted[i].name);
    return HSUMMA_OK;
}

void hs_cublas_unload(struct hs_cublas *blas)
{
    if (blas->handle)
        blas->destroy(blas->handle);
    if (blas->library)
        dlclose(blas->library);
    *blas = (struct hs_cublas){0};
}

static hsumma_status said(struct hs_cuda *cuda, const char *call, int error)
{
    if (!error)
        return HSUMMA_OK;
    return hs_fail(&cuda->device.message, error == ALLOC_FAILED ? HSUMMA_ERR_MEMORY : HSUMMA_ERR_DEVICE, "%s: %s", call,
                   cuda->blas.name(error));
}

/*
 * Binds the handle to a stream.  Each stream has its own workspace, so that concurrent products do not interfere and
 * give reproducible bits.  Setting a stream resets the workspace, so it is set again.
 */
static hsumma_status turn_to(struct hs_cuda *cuda, struct hs_stream *stream)
{
    struct hs_cublas *blas = &cuda->blas;
    size_t bytes = (size_t)(cuda->generation >= 9 ? 32 : 4) << 20; /* the size of cuBLAS's default workspace */
    hsumma_status status = HSUMMA_OK;
    if (blas->handle && blas->stream == stream)
        return HSUMMA_OK;
    blas->stream = NULL;
    if (!blas->handle)
        status = said(cuda, "cublasCreate", blas->create(&blas->handle));
    if (!status && !stream->workspace)
        status = hs_cuda_get(&cuda->device, bytes, &stream->workspace);
    if (!status)
        status = said(cuda, "cublasSetStream", blas->set_stream(blas->handle, stream->stream));
    if (!status)
        status = said(cuda, "cublasSetWorkspace", blas->set_workspace(blas->handle, stream->workspace, bytes));
    if (!status)
        blas->stream = stream;
    return status;
}

/* 'C' conjugates only complex types. */
static int op_of(hsumma_type type, char trans)
{
    return trans == 'N' ? OP_N : trans == 'C' && hs_scalars[type].complex_type ? OP_C : OP_T;
}

hsumma_status hs_cuda_gemm(struct hs_device *device, struct hs_stream *stream, hsumma_type type, char transa,
                           char transb, int64_t m, int64_t n, int64_t k, const void *alpha, const void *a, int64_t lda,
                           const void *b, int64_t ldb, const void *beta, void *c, int64_t ldc)
{
    struct hs_cuda *cuda = hs_cuda_of(device);
    int opa = op_of(type, transa), opb = op_of(type, transb);
    /* cuBLAS reads alpha and beta by aligned loads, and the caller's may lie anywhere */
    _Alignas(16) char factor[2][16];
    memcpy(factor[0], alpha, hs_scalars[type].size);
    memcpy(factor[1], beta, hs_scalars[type].size);
    struct hs_cuda_visit visit = hs_cuda_enter(device);
    if (!visit.status)
        visit.status = turn_to(cuda, stream);
    if (visit.status || m <= 0 || n <= 0)
        return hs_cuda_leave(&visit);
    if (k <= 0 || hs_scalars[type].is_zero(alpha))
        visit.status = hs_cuda_update(device, stream, type, m, n, beta, c, ldc, NULL, 0);
    else
        visit.status = said(
            cuda, gemm_names[type],
            cuda->blas.gemm[type](cuda->blas.handle, opa, opb, m, n, k, factor[0], a, lda, b, ldb, factor[1], c, ldc));
    return hs_cuda_leave(&visit);
}
