#include "device/fake_cuda/objects.h"

#include <stdlib.h>

static struct fake_object *first;

static int64_t *count_of(enum fake_kind kind)
{
    int64_t *const counts[] = {&fake_cuda.memory, &fake_cuda.pinned, &fake_cuda.mapped, &fake_cuda.events,
                               &fake_cuda.streams};
    return counts[kind];
}

struct fake_object *fake_find(enum fake_kind kind, const void *given)
{
    struct fake_object *object = first;
    int by_itself = kind == FAKE_EVENT || kind == FAKE_STREAM;
    while (object && (object->kind != kind || (by_itself ? object : object->is) != given))
        object = object->next;
    return object;
}

struct fake_object *fake_memory_at(const void *address)
{
    struct fake_object *object = first;
    while (object && (object->kind > FAKE_MAPPED || (uintptr_t)address - (uintptr_t)object->is >= object->bytes))
        object = object->next;
    return object;
}

struct fake_object *fake_add(enum fake_kind kind, void *is, size_t bytes, unsigned flags)
{
    struct fake_object *object = malloc(sizeof *object);
    if (!object)
        abort();
    *object = (struct fake_object){first, kind, fake_cuda_current(), flags, is, bytes, 1};
    first = object;
    ++*count_of(kind);
    return object;
}

void fake_remove(struct fake_object *object)
{
    struct fake_object **link = &first;
    while (*link != object)
        link = &(*link)->next;
    *link = object->next;
    --*count_of(object->kind);
    free(object);
}

cudaError_t fake_error(cudaError_t error)
{
    if (error != cudaSuccess)
        fake_cuda.last = error;
    return error;
}

cudaError_t fake_ask(const char *name, cudaError_t error)
{
    return fake_error((cudaError_t)fake_hit(name, error));
}

cudaError_t fake_begin(const char *name)
{
    cudaError_t error = fake_ask(name, cudaErrorLaunchFailure);
    if (error || fake_cuda_current() >= 0)
        return error;
    fake_fault("%s: no context is current", name);
    return fake_error(cudaErrorDeviceUninitialized);
}

cudaError_t fake_said(hsumma_status status, cudaError_t otherwise)
{
    return fake_error(status == HSUMMA_OK           ? cudaSuccess
                      : status == HSUMMA_ERR_MEMORY ? cudaErrorMemoryAllocation
                                                    : otherwise);
}

struct hs_stream *fake_stream(cudaStream_t stream)
{
    struct fake_object *object = fake_find(FAKE_STREAM, stream);
    if (object && object->device != fake_cuda_current())
        fake_fault("a stream of GPU %d, while GPU %d is current", object->device, fake_cuda_current());
    return object ? object->is : NULL;
}

cudaError_t fake_take_back(const char *name, enum fake_kind kind, void *given)
{
    struct hs_device *host = fake_host();
    cudaError_t error = fake_begin(name);
    struct fake_object *object = fake_find(kind, given);
    if (!object) {
        fake_fault("%s: %p is not what was given", name, given);
        return fake_error(kind >= FAKE_EVENT ? cudaErrorInvalidResourceHandle : cudaErrorInvalidValue);
    }
    if (kind == FAKE_MEMORY)
        host->kind->put(host, object->is);
    else if (kind == FAKE_PINNED)
        host->kind->put_pinned(host, object->is);
    else if (kind == FAKE_MAPPED)
        host->kind->unmap(host, object->is);
    else if (kind == FAKE_EVENT)
        host->kind->free_event(host, object->is);
    else
        host->kind->free_stream(host, fake_stream(given));
    if (--object->uses == 0)
        fake_remove(object);
    return error;
}

void fake_cuda_abandon(void)
{
    while (first)
        fake_remove(first);
    fake_cublas_abandon();
    fake_cuda_reset();
    fake_cuda_end();
}
