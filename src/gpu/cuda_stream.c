#include "gpu/cuda.h"

hsumma_status hs_cuda_make_stream(struct hs_device *device, struct hs_stream **stream)
{
    struct hs_cuda *cuda = hs_cuda_of(device);
    void *before;
    *stream = hs_get_zero(device->memory, 1, sizeof **stream);
    if (!*stream)
        return hs_fail(&device->message, HSUMMA_ERR_MEMORY, "no memory for a stream");
    hsumma_status status = hs_cuda_enter(cuda, &before);
    if (!status)
        status = HS_CUDA_TRY(cuda, cudaStreamCreateWithFlags, &(*stream)->stream, cudaStreamNonBlocking);
    if (status) {
        hs_put(device->memory, *stream);
        *stream = NULL;
    }
    return hs_cuda_leave(cuda, before, status);
}

hsumma_status hs_cuda_adopt_stream(struct hs_device *device, void *theirs, struct hs_stream **stream)
{
    struct hs_cuda *cuda = hs_cuda_of(device);
    unsigned flags;
    void *before;
    *stream = NULL;
    hsumma_status status = hs_cuda_enter(cuda, &before);
    if (!status) /* whether it is one */
        status = HS_CUDA_TRY(cuda, cudaStreamGetFlags, (cudaStream_t)theirs, &flags);
    hs_cuda_leave(cuda, before, status);
    if (status)
        return status;
    *stream = hs_get_zero(device->memory, 1, sizeof **stream);
    if (!*stream)
        return hs_fail(&device->message, HSUMMA_ERR_MEMORY, "no memory for a stream");
    **stream = (struct hs_stream){.stream = (cudaStream_t)theirs, .theirs = 1};
    return HSUMMA_OK;
}

void *hs_cuda_show_stream(struct hs_device *device, struct hs_stream *stream)
{
    (void)device;
    return stream ? (void *)stream->stream : NULL;
}

void hs_cuda_free_stream(struct hs_device *device, struct hs_stream *stream)
{
    struct hs_cuda *cuda = hs_cuda_of(device);
    void *before;
    if (!stream)
        return;
    if (cuda->blas.stream == stream)
        cuda->blas.stream = NULL;
    if (!hs_cuda_enter(cuda, &before)) {
        hs_cuda_put(device, stream->workspace);
        if (!stream->theirs)
            cudaStreamDestroy(stream->stream);
        cudaGetLastError();
    }
    hs_cuda_leave(cuda, before, HSUMMA_OK);
    hs_put(device->memory, stream);
}

hsumma_status hs_cuda_make_event(struct hs_device *device, int shared, struct hs_event **event)
{
    struct hs_cuda *cuda = hs_cuda_of(device);
    unsigned flags = cudaEventDisableTiming | (shared && device->shares_events ? cudaEventInterprocess : 0u);
    void *before;
    *event = hs_get_zero(device->memory, 1, sizeof **event);
    if (!*event)
        return hs_fail(&device->message, HSUMMA_ERR_MEMORY, "no memory for an event");
    hsumma_status status = hs_cuda_enter(cuda, &before);
    if (!status)
        status = HS_CUDA_TRY(cuda, cudaEventCreateWithFlags, &(*event)->event, flags);
    if (status) {
        hs_put(device->memory, *event);
        *event = NULL;
    }
    return hs_cuda_leave(cuda, before, status);
}

void hs_cuda_free_event(struct hs_device *device, struct hs_event *event)
{
    struct hs_cuda *cuda = hs_cuda_of(device);
    void *before;
    if (!event)
        return;
    if (!event->theirs && !hs_cuda_enter(cuda, &before)) {
        cudaEventDestroy(event->event);
        cudaGetLastError();
        hs_cuda_leave(cuda, before, HSUMMA_OK);
    }
    hs_put(device->memory, event);
}

hsumma_status hs_cuda_record(struct hs_device *device, struct hs_stream *stream, struct hs_event *event)
{
    struct hs_cuda *cuda = hs_cuda_of(device);
    void *before;
    hsumma_status status = hs_cuda_enter(cuda, &before);
    if (!status)
        status = HS_CUDA_TRY(cuda, cudaEventRecord, event->event, stream->stream);
    return hs_cuda_leave(cuda, before, status);
}

hsumma_status hs_cuda_wait(struct hs_device *device, struct hs_stream *stream, struct hs_event *event)
{
    struct hs_cuda *cuda = hs_cuda_of(device);
    void *before;
    hsumma_status status = hs_cuda_enter(cuda, &before);
    if (!status)
        status = HS_CUDA_TRY(cuda, cudaStreamWaitEvent, stream->stream, event->event, 0);
    return hs_cuda_leave(cuda, before, status);
}

hsumma_status hs_cuda_complete(struct hs_device *device, struct hs_event *event, int *complete)
{
    struct hs_cuda *cuda = hs_cuda_of(device);
    void *before;
    hsumma_status status = hs_cuda_enter(cuda, &before);
    *complete = 0;
    if (!status) {
        cudaError_t error = cudaEventQuery(event->event);
        *complete = error == cudaSuccess;
        if (error == cudaErrorNotReady)
            cudaGetLastError();
        else
            status = hs_cuda_said(&device->message, "cudaEventQuery", error);
    }
    return hs_cuda_leave(cuda, before, status);
}

hsumma_status hs_cuda_synchronize(struct hs_device *device, struct hs_stream *stream)
{
    struct hs_cuda *cuda = hs_cuda_of(device);
    void *before;
    hsumma_status status = hs_cuda_enter(cuda, &before);
    if (!status)
        status = HS_CUDA_TRY(cuda, cudaStreamSynchronize, stream->stream);
    return hs_cuda_leave(cuda, before, status);
}
