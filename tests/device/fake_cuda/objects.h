/* Lists of the fake's objects, to detect foreign ones. */
#ifndef HS_TESTS_DEVICE_FAKE_CUDA_OBJECTS_H
#define HS_TESTS_DEVICE_FAKE_CUDA_OBJECTS_H

#include "device/fake_cuda/fake.h"

enum fake_kind { FAKE_MEMORY, FAKE_PINNED, FAKE_MAPPED, FAKE_EVENT, FAKE_STREAM };
struct fake_object {
    struct fake_object *next;
    enum fake_kind kind;
    int device;
    unsigned flags;
    void *is; /* the stand-in's address, event or stream */
    size_t bytes;
    int uses; /* of a mapping */
};

/* Finds an object by its handle: for memory the address `is`, for events and streams the object's own address. */
struct fake_object *fake_find(enum fake_kind kind, const void *given);
/* The memory, of any kind, that contains an address. */
struct fake_object *fake_memory_at(const void *address);
struct fake_object *fake_add(enum fake_kind kind, void *is, size_t bytes, unsigned flags);
void fake_remove(struct fake_object *object);

void fake_cublas_abandon(void);

/* Start a call: return the error ordered for it. fake_begin, for calls that need a context, also returns
 * cudaErrorDeviceUninitialized if none is current. */
cudaError_t fake_ask(const char *name, cudaError_t error);
cudaError_t fake_begin(const char *name);
/* Starts a call that frees an object. Its error belongs to earlier work; the object is freed. */
cudaError_t fake_take_back(const char *name, enum fake_kind kind, void *given);
/* Converts the stand-in's status to a CUDA error. */
cudaError_t fake_said(hsumma_status status, cudaError_t otherwise);

#endif
