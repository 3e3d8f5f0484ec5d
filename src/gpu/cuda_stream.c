#include "gpu/cuda.h"

static hsumma_status no_memory(struct hs_device *device, const char *what)
{
    return hs_fail(&device->message, HSUMMA_ERR_MEMORY, "no memory for %s", what);
}

hsumma_status hs_cuda_make_stream(struct hs_device *device, struct hs_stream **stream)
{
    *stream = hs_get_zero(device->memory, 1, sizeof **stream);
    if (!*stream)
        return no_memory(device, "a stream");
    struct hs_cuda_visit visit = hs_cuda_enter(device);
    HS_CUDA_CALL(visit, cudaStreamCreateWithFlags, &(*stream)->stream, cudaStreamNonBlocking);
    if (visit.status) {
        hs_put(device->memory, *stream);
        *stream = NULL;
    }
    return hs_cuda_leave(&visit);
}

hsumma_status hs_cuda_adopt_stream(struct hs_device *device, void *theirs, struct hs_stream **stream)
{
    unsigned flags;
    *stream = NULL;
    struct hs_cuda_visit visit = hs_cuda_enter(device);
    HS_CUDA_CALL(visit, cudaStreamGetFlags, (cudaStream_t)theirs, &flags); /* checks that it is a stream */
    if (hs_cuda_leave(&visit))
        return visit.status;
    *stream = hs_get_zero(device->memory, 1, sizeof **stream);
    if (!*stream)
        return no_memory(device, "a stream");
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
    if (!stream)
        return;
    if (cuda->blas.stream == stream)
        cuda->blas.stream = NULL;
    struct hs_cuda_visit visit = hs_cuda_enter(device);
    if (!visit.status) {
        hs_cuda_put(device, stream->workspace);
        if (!stream->theirs)
            cudaStreamDestroy(stream->stream);
        cudaGetLastError();
    }
    hs_cuda_leave(&visit);
    hs_put(device->memory, stream);
}

hsumma_status hs_cuda_make_event(struct hs_device *device, int shared, struct hs_event **event)
{
    unsigned flags = cudaEventDisableTiming | (shared && device->shares_events ? cudaEventInterprocess : 0u);
    *event = hs_get_zero(device->memory, 1, sizeof **event);
    if (!*event)
        return no_memory(device, "an event");
    struct hs_cuda_visit visit = hs_cuda_enter(device);
    HS_CUDA_CALL(visit, cudaEventCreateWithFlags, &(*event)->event, flags);
    if (visit.status) {
        hs_put(device->memory, *event);
        *event = NULL;
    }
    return hs_cuda_leave(&visit);
}

void hs_cuda_free_event(struct hs_device *device, struct hs_event *event)
{
    if (event && !event->theirs) {
        struct hs_cuda_visit visit = hs_cuda_enter(device);
        if (!visit.status) {
            cudaEventDestroy(event->event);
            cudaGetLastError();
        }
        hs_cuda_leave(&visit);
    }
    hs_put(device->memory, event);
}

hsumma_status hs_cuda_record(struct hs_device *device, struct hs_stream *stream, struct hs_event *event)
{
    struct hs_cuda_visit visit = hs_cuda_enter(device);
    HS_CUDA_CALL(visit, cudaEventRecord, event->event, stream->stream);
    return hs_cuda_leave(&visit);
}

hsumma_status hs_cuda_wait(struct hs_device *device, struct hs_stream *stream, struct hs_event *event)
{
    struct hs_cuda_visit visit = hs_cuda_enter(device);
    HS_CUDA_CALL(visit, cudaStreamWaitEvent, stream->stream, event->event, 0);
    return hs_cuda_leave(&visit);
}

hsumma_status hs_cuda_complete(struct hs_device *device, struct hs_event *event, int *complete)
{
    struct hs_cuda_visit visit = hs_cuda_enter(device);
    *complete = 0;
    if (!visit.status) {
        cudaError_t error = cudaEventQuery(event->event);
        *complete = error == cudaSuccess;
        if (error == cudaErrorNotReady)
            cudaGetLastError();
        else
            visit.status = hs_cuda_said(&device->message, "cudaEventQuery", error);
    }
    return hs_cuda_leave(&visit);
}

hsumma_status hs_cuda_synchronize(struct hs_device *device, struct hs_stream *stream)
{
    struct hs_cuda_visit visit = hs_cuda_enter(device);
    HS_CUDA_CALL(visit, cudaStreamSynchronize, stream->stream);
    return hs_cuda_leave(&visit);
}
