/* The fake of cuda_runtime_api.h: sharing, streams, events, work; kernel launches. */
#include "device/fake_cuda/objects.h"
#include "gpu/kernels.h"

#include <string.h>
#include <unistd.h>

/* An IPC handle has the bytes of the stand-in's export, then the number of the GPU. */
enum { WORDS = 56 };
_Static_assert(CUDA_IPC_HANDLE_SIZE == 64, "the stand-in's words fit");

static cudaError_t tell(hsumma_status status, const struct hs_exported *exported, int device, void *handle)
{
    memset(handle, 0, CUDA_IPC_HANDLE_SIZE);
    memcpy(handle, exported, WORDS);
    memcpy((char *)handle + WORDS, &device, sizeof device);
    return fake_said(status, cudaErrorInvalidValue);
}

/* Decodes a handle and returns its GPU; -1 if this process exported it. */
static int read_handle(const void *handle, struct hs_exported *exported)
{
    int64_t process;
    int device;
    memset(exported, 0, sizeof *exported);
    memcpy(exported, handle, WORDS);
    memcpy(&process, handle, sizeof process);
    memcpy(&device, (const char *)handle + WORDS, sizeof device);
    return process == getpid() ? -1 : device;
}

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *memory)
{
    struct hs_device *host = fake_host();
    struct hs_exported exported = {{0}};
    cudaError_t error = fake_begin("cudaIpcGetMemHandle");
    const struct fake_object *object = fake_find(FAKE_MEMORY, memory);
    if (error || !object)
        return error ? error : fake_error(cudaErrorInvalidValue);
    if (object->bytes % (2 << 20))
        fake_fault("cudaIpcGetMemHandle: an allocation of %zu bytes may be part of another one", object->bytes);
    return tell(host->kind->export_memory(host, memory, &exported), &exported, object->device, handle);
}

cudaError_t cudaIpcOpenMemHandle(void **memory, cudaIpcMemHandle_t handle, unsigned flags)
{
    struct hs_device *host = fake_host();
    struct hs_exported exported;
    int device = read_handle(&handle, &exported);
    cudaError_t error = fake_begin("cudaIpcOpenMemHandle");
    *memory = NULL;
    if (!error && device < 0)
        error = cudaErrorDeviceUninitialized;
    if (!error && flags != cudaIpcMemLazyEnablePeerAccess)
        error = cudaErrorInvalidValue;
    if (!error && device != fake_cuda_current() && !fake_cuda.peers)
        error = cudaErrorPeerAccessUnsupported;
    if (!error)
        error = fake_said(host->kind->import_memory(host, &exported, memory), cudaErrorInvalidResourceHandle);
    struct fake_object *object = error ? NULL : fake_find(FAKE_MAPPED, *memory);
    int64_t bytes;
    memcpy(&bytes, exported.bytes + 24, sizeof bytes); /* offset of the size in the stand-in's export */
    if (object)
        object->uses++;
    else if (!error)
        fake_add(FAKE_MAPPED, *memory, (size_t)bytes, 0)->device = device;
    return fake_error(error);
}

cudaError_t cudaIpcCloseMemHandle(void *memory)
{
    return fake_take_back("cudaIpcCloseMemHandle", FAKE_MAPPED, memory);
}

cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t *handle, cudaEvent_t event)
{
    struct hs_device *host = fake_host();
    struct hs_exported exported = {{0}};
    cudaError_t error = fake_begin("cudaIpcGetEventHandle");
    const struct fake_object *object = fake_find(FAKE_EVENT, event);
    if (error || !object || !(object->flags & cudaEventInterprocess))
        return error ? error : fake_error(cudaErrorInvalidResourceHandle);
    return tell(host->kind->export_event(host, object->is, &exported), &exported, object->device, handle);
}

cudaError_t cudaIpcOpenEventHandle(cudaEvent_t *event, cudaIpcEventHandle_t handle)
{
    struct hs_device *host = fake_host();
    struct hs_exported exported;
    struct hs_event *is = NULL;
    int device = read_handle(&handle, &exported);
    cudaError_t error = fake_begin("cudaIpcOpenEventHandle");
    *event = NULL;
    if (!error && device < 0)
        error = cudaErrorDeviceUninitialized;
    if (!error)
        error = fake_said(host->kind->import_event(host, &exported, &is), cudaErrorInvalidResourceHandle);
    if (!error)
        *event = (cudaEvent_t)fake_add(FAKE_EVENT, is, 0, cudaEventInterprocess | cudaEventDisableTiming);
    return fake_error(error);
}

/* Starts a call on a stream, which must belong to the current GPU; *is becomes the stand-in's stream. */
static cudaError_t begin_on(const char *name, cudaStream_t stream, struct hs_stream **is)
{
    cudaError_t error = fake_begin(name);
    *is = fake_stream(stream);
    return error || *is ? error : fake_error(cudaErrorInvalidResourceHandle);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    struct hs_device *host = fake_host();
    struct hs_stream *is = NULL;
    cudaError_t error = fake_begin("cudaStreamCreateWithFlags");
    *stream = NULL;
    if (!error)
        error = fake_said(host->kind->make_stream(host, &is), cudaErrorIllegalAddress);
    if (!error)
        *stream = (cudaStream_t)fake_add(FAKE_STREAM, is, 0, flags);
    return fake_error(error);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    return fake_take_back("cudaStreamDestroy", FAKE_STREAM, stream);
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned *flags)
{
    struct hs_stream *is;
    cudaError_t error = begin_on("cudaStreamGetFlags", stream, &is);
    *flags = error ? 0 : fake_find(FAKE_STREAM, stream)->flags;
    return error;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    struct hs_device *host = fake_host();
    struct hs_stream *is;
    cudaError_t error = begin_on("cudaStreamSynchronize", stream, &is);
    return error ? error : fake_said(host->kind->synchronize(host, is), cudaErrorIllegalAddress);
}

/* Allocates and frees pinned memory: when memory is freed, the stand-in waits for its work on all streams. */
cudaError_t cudaDeviceSynchronize(void)
{
    struct hs_device *host = fake_host();
    void *memory = NULL;
    cudaError_t error = fake_begin("cudaDeviceSynchronize");
    if (!error)
        error = fake_said(host->kind->get_pinned(host, 1, &memory), cudaErrorIllegalAddress);
    host->kind->put_pinned(host, memory);
    return fake_error(error);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    struct hs_device *host = fake_host();
    struct hs_event *is = NULL;
    cudaError_t error = fake_begin("cudaEventCreateWithFlags");
    int shared = (flags & cudaEventInterprocess) != 0;
    *event = NULL;
    if (!error && shared && (!(flags & cudaEventDisableTiming) || !fake_cuda.shares_events))
        error = fake_cuda.shares_events ? cudaErrorInvalidValue : cudaErrorNotSupported;
    if (!error)
        error = fake_said(host->kind->make_event(host, shared, &is), cudaErrorIllegalAddress);
    if (!error)
        *event = (cudaEvent_t)fake_add(FAKE_EVENT, is, 0, flags);
    return fake_error(error);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    return fake_take_back("cudaEventDestroy", FAKE_EVENT, event);
}

/* A function of the stand-in that records an event on a stream, or makes the stream wait for it. */
typedef hsumma_status event_call(struct hs_device *device, struct hs_stream *stream, struct hs_event *event);

static cudaError_t put_event(const char *name, event_call *call, cudaStream_t stream, cudaEvent_t event)
{
    struct hs_stream *is;
    cudaError_t error = begin_on(name, stream, &is);
    const struct fake_object *object = fake_find(FAKE_EVENT, event);
    if (error || !object)
        return error ? error : fake_error(cudaErrorInvalidResourceHandle);
    return fake_said(call(fake_host(), is, object->is), cudaErrorIllegalAddress);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    return put_event("cudaEventRecord", fake_host()->kind->record, stream, event);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    return flags ? fake_error(cudaErrorInvalidValue)
                 : put_event("cudaStreamWaitEvent", fake_host()->kind->wait, stream, event);
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    struct hs_device *host = fake_host();
    struct fake_object *object = fake_find(FAKE_EVENT, event);
    cudaError_t error = fake_begin("cudaEventQuery");
    int complete = 0;
    if (!error && !object)
        error = cudaErrorInvalidResourceHandle;
    if (!error)
        error = fake_said(host->kind->complete(host, object->is, &complete), cudaErrorIllegalAddress);
    return fake_error(error ? error : complete ? cudaSuccess : cudaErrorNotReady);
}

cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    struct hs_device *host = fake_host();
    struct hs_stream *is;
    cudaError_t error = begin_on("cudaMemcpyAsync", stream, &is);
    if (!error && kind != cudaMemcpyDefault)
        error = fake_error(cudaErrorInvalidMemcpyDirection);
    return error ? error : fake_said(host->kind->copy(host, is, dst, src, bytes), cudaErrorIllegalAddress);
}

cudaError_t cudaMemcpy2DAsync(void *dst, size_t dst_pitch, const void *src, size_t src_pitch, size_t width,
                              size_t height, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    struct hs_device *host = fake_host();
    struct hs_stream *is;
    cudaError_t error = begin_on("cudaMemcpy2DAsync", stream, &is);
    if (!error && kind != cudaMemcpyDefault)
        error = fake_error(cudaErrorInvalidMemcpyDirection);
    if (!error && (width > dst_pitch || width > src_pitch || dst_pitch > 1 << 20 || src_pitch > 1 << 20))
        error = fake_error(cudaErrorInvalidPitchValue);
    return error ? error
                 : fake_said(host->kind->copy_block(host, is, dst, dst_pitch, src, src_pitch, width, height),
                             cudaErrorIllegalAddress);
}

const char hs_kernels_archs[] = "80 90";

cudaError_t hs_kernels_prepare(int device, struct hs_kernels *kernels)
{
    cudaError_t error = fake_begin("hs_kernels_prepare");
    if (!error && device != fake_cuda_current())
        fake_fault("kernels of GPU %d are prepared while GPU %d is current", device, fake_cuda_current());
    *kernels = (struct hs_kernels){100, 100};
    return fake_error(error);
}

cudaError_t hs_kernels_combine(const struct hs_kernels *kernels, cudaStream_t stream, void *dst,
                               const void *const *operand, int operands, int64_t count, enum hs_kernel_real real,
                               enum hs_kernel_op op)
{
    static const hsumma_element elements[] = {[HS_KERNEL_FLOAT] = HSUMMA_FLOAT,
                                              [HS_KERNEL_DOUBLE] = HSUMMA_DOUBLE,
                                              [HS_KERNEL_INT32] = HSUMMA_INT32,
                                              [HS_KERNEL_INT64] = HSUMMA_INT64};
    static const hsumma_op ops[] = {
        [HS_KERNEL_SUM] = HSUMMA_SUM, [HS_KERNEL_MAX] = HSUMMA_MAX, [HS_KERNEL_MIN] = HSUMMA_MIN};
    struct hs_device *host = fake_host();
    struct hs_stream *is;
    cudaError_t error = begin_on("hs_kernels_combine", stream, &is);
    if (kernels->combine_blocks != 100 || operands < 2 || count <= 0)
        fake_fault("hs_kernels_combine: not prepared, or %d operands of %lld elements", operands, (long long)count);
    return error ? error
                 : fake_said(host->kind->combine(host, is, dst, operand, operands, count, elements[real], ops[op]),
                             cudaErrorIllegalAddress);
}

cudaError_t hs_kernels_update(const struct hs_kernels *kernels, cudaStream_t stream, enum hs_kernel_scalar scalar,
                              int64_t rows, int64_t cols, const void *beta, void *c, int64_t ldc, const void *s,
                              int64_t lds)
{
    static const hsumma_type types[] = {
        [HS_KERNEL_S] = HSUMMA_S, [HS_KERNEL_D] = HSUMMA_D, [HS_KERNEL_C] = HSUMMA_C, [HS_KERNEL_Z] = HSUMMA_Z};
    struct hs_device *host = fake_host();
    struct hs_stream *is;
    cudaError_t error = begin_on("hs_kernels_update", stream, &is);
    if (kernels->update_blocks != 100 || rows <= 0 || cols <= 0)
        fake_fault("hs_kernels_update: not prepared, or %lld x %lld", (long long)rows, (long long)cols);
    return error ? error
                 : fake_said(host->kind->update(host, is, types[scalar], rows, cols, beta, c, ldc, s, lds),
                             cudaErrorIllegalAddress);
}
