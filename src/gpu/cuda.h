/* The device "cuda": one GPU, in its primary context, which the CUDA runtime and other libraries use, too. */
#ifndef HS_GPU_CUDA_H
#define HS_GPU_CUDA_H

#include "gpu/devices.h"
#include "gpu/kernels.h"

/* An allocation made by hs_cuda_get, or imported from another process. */
struct hs_cuda_block {
    struct hs_cuda_block *next;
    char *base;
    size_t bytes;
    int importers; /* imports minus unmaps; 0: this device's own allocation */
    cudaIpcMemHandle_t handle;
};

struct hs_cublas {
    void *library, *handle;   /* handle is created by the first product */
    struct hs_stream *stream; /* the handle's current stream */
    int (*create)(void **handle);
    int (*destroy)(void *handle);
    int (*set_stream)(void *handle, cudaStream_t stream);
    int (*set_workspace)(void *handle, void *workspace, size_t bytes);
    const char *(*name)(int status);
    int (*gemm[4])(void *handle, int transa, int transb, int64_t m, int64_t n, int64_t k, const void *alpha,
                   const void *a, int64_t lda, const void *b, int64_t ldb, const void *beta, void *c,
                   int64_t ldc); /* indexed by hsumma_type */
};

struct hs_cuda {
    struct hs_device device;
    int number;        /* index among the devices that this process sees */
    int generation;    /* the major compute capability */
    size_t pitch_most; /* largest pitch of cudaMemcpy2DAsync */
    void *context;     /* the device's primary context */
    int (*get_current)(void **context);
    int (*set_current)(void *context);
    struct hs_kernels kernels;
    struct hs_cuda_block *block;
    struct hs_cublas blas;
};

struct hs_stream {
    cudaStream_t stream;
    int theirs;
    void *workspace; /* for cuBLAS; allocated by the first product */
};

struct hs_event {
    cudaEvent_t event;
    int theirs;
};

static inline struct hs_cuda *hs_cuda_of(struct hs_device *device)
{
    return (struct hs_cuda *)device;
}

/*
 * Enter makes the device's context current in the calling thread, and leave restores the previous one.  They switch
 * contexts rather than device numbers: cudaSetDevice would create a context on the device that it restores, even if
 * that device was never used before.  The code between the two calls stores its result in visit.status.  Call leave
 * even after a failed enter; it returns visit.status.
 */
struct hs_cuda_visit {
    struct hs_cuda *cuda;
    void *before; /* the context to restore */
    hsumma_status status;
};
struct hs_cuda_visit hs_cuda_enter(struct hs_device *device);
hsumma_status hs_cuda_leave(const struct hs_cuda_visit *visit);

/* Converts a CUDA error to a status, puts the error's name and `call` into the message, and clears the error. */
hsumma_status hs_cuda_said(struct hs_message *message, const char *call, cudaError_t error);
#define HS_CUDA_TRY(cuda, function, ...) hs_cuda_said(&(cuda)->device.message, #function, function(__VA_ARGS__))
/* Calls a function of CUDA in a visit that has not failed, and stores its result there. */
#define HS_CUDA_CALL(visit, function, ...)            \
    ((visit).status = (visit).status ? (visit).status \
                                     : hs_cuda_said(&(visit).cuda->device.message, #function, function(__VA_ARGS__)))

/* The number of the device at a location, among those that this process sees; -1: none. */
int hs_cuda_find(const char *place);

/* cuBLAS: load only opens the library; the first product creates the handle.  unload undoes both. */
hsumma_status hs_cublas_load(struct hs_cublas *blas, struct hs_message *message);
void hs_cublas_unload(struct hs_cublas *blas);
/* The allocation that begins at an address, or NULL.  imported: 1 for an imported one, 0 for this device's own. */
struct hs_cuda_block *hs_cuda_block_of(const struct hs_cuda *cuda, const void *base, int imported);
/* Frees an allocation, or unmaps an imported one. */
void hs_cuda_release(struct hs_cuda *cuda, struct hs_cuda_block *block);
/* Enables access to another device's memory. */
hsumma_status hs_cuda_reach(struct hs_cuda *cuda, int other);

/* The functions of the table. */
hsumma_status hs_cuda_get(struct hs_device *device, size_t bytes, void **memory);
void hs_cuda_put(struct hs_device *device, void *memory);
hsumma_status hs_cuda_get_pinned(struct hs_device *device, size_t bytes, void **memory);
void hs_cuda_put_pinned(struct hs_device *device, void *memory);
enum hs_memory_kind hs_cuda_classify(struct hs_device *device, const void *address);
hsumma_status hs_cuda_memory_left(struct hs_device *device, int64_t *free, int64_t *total);
hsumma_status hs_cuda_export_memory(struct hs_device *device, void *memory, struct hs_exported *exported);
hsumma_status hs_cuda_import_memory(struct hs_device *device, const struct hs_exported *exported, void **memory);
void hs_cuda_unmap(struct hs_device *device, void *imported);
hsumma_status hs_cuda_export_event(struct hs_device *device, struct hs_event *event, struct hs_exported *exported);
hsumma_status hs_cuda_import_event(struct hs_device *device, const struct hs_exported *exported,
                                   struct hs_event **event);
hsumma_status hs_cuda_make_stream(struct hs_device *device, struct hs_stream **stream);
hsumma_status hs_cuda_adopt_stream(struct hs_device *device, void *theirs, struct hs_stream **stream);
void *hs_cuda_show_stream(struct hs_device *device, struct hs_stream *stream);
void hs_cuda_free_stream(struct hs_device *device, struct hs_stream *stream);
hsumma_status hs_cuda_make_event(struct hs_device *device, int shared, struct hs_event **event);
void hs_cuda_free_event(struct hs_device *device, struct hs_event *event);
hsumma_status hs_cuda_record(struct hs_device *device, struct hs_stream *stream, struct hs_event *event);
hsumma_status hs_cuda_wait(struct hs_device *device, struct hs_stream *stream, struct hs_event *event);
hsumma_status hs_cuda_complete(struct hs_device *device, struct hs_event *event, int *complete);
hsumma_status hs_cuda_synchronize(struct hs_device *device, struct hs_stream *stream);
hsumma_status hs_cuda_copy(struct hs_device *device, struct hs_stream *stream, void *dst, const void *src,
                           size_t bytes);
hsumma_status hs_cuda_copy_block(struct hs_device *device, struct hs_stream *stream, void *dst, size_t dst_pitch,
                                 const void *src, size_t src_pitch, size_t bytes, size_t columns);
hsumma_status hs_cuda_combine(struct hs_device *device, struct hs_stream *stream, void *dst, const void *const *operand,
                              int operands, int64_t count, hsumma_element element, hsumma_op op);
hsumma_status hs_cuda_update(struct hs_device *device, struct hs_stream *stream, hsumma_type type, int64_t rows,
                             int64_t cols, const void *beta, void *c, int64_t ldc, const void *s, int64_t lds);
hsumma_status hs_cuda_gemm(struct hs_device *device, struct hs_stream *stream, hsumma_type type, char transa,
                           char transb, int64_t m, int64_t n, int64_t k, const void *alpha, const void *a, int64_t lda,
                           const void *b, int64_t ldb, const void *beta, void *c, int64_t ldc);

#endif
