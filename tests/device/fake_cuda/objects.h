/* Lists of the fake's live objects, by which it detects pointers that it has not returned. */
#ifndef HS_TESTS_DEVICE_FAKE_CUDA_OBJECTS_H
#define HS_TESTS_DEVICE_FAKE_CUDA_OBJECTS_H

#include "device/fake_cuda/fake.h"

enum fake_kind { FAKE_MEMORY, FAKE_PINNED, FAKE_MAPPED, FAKE_EVENT, FAKE_STREAM };
struct fake_object {
    struct fake_object *next;
    enum fake_kind kind;
    int device;
    unsigned flags;
    void *is; /* address, event or stream of the stand-in */
    size_t bytes;
    int uses; /* number of times that memory is mapped */
};

/* Finds an object by the caller's handle: for memory the address `is`, for events and streams the object's address. */
struct fake_object *fake_find(enum fake_kind kind, const void *given);
/* The memory object, of any kind, that contains an address. */
struct fake_object *fake_memory_at(const void *address);
struct fake_object *fake_add(enum fake_kind kind, void *is, size_t bytes, unsigned flags);
void fake_remove(struct fake_object *object);

void fake_cublas_abandon(void);

/* Start a call: return the error that a test has ordered for it, else 0. fake_begin, for calls that need a context,
 * also returns cudaErrorDeviceUninitialized if no context is current. */
cudaError_t fake_ask(const char *name, cudaError_t error);
cudaError_t fake_begin(const char *name);
/* Makes a call that frees an object. If it returns an ordered error, the object is freed all the same, because such an
 * error may come from earlier work. */
cudaError_t fake_take_back(const char *name, enum fake_kind kind, void *given);
/* Converts the stand-in's status to a CUDA error, statuses without a counterpart to `otherwise`. */
cudaError_t fake_said(hsumma_status status, cudaError_t otherwise);

#endif
