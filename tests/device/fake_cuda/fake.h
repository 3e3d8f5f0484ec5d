/*
 * A fake of the parts of CUDA's run-time library, driver and cuBLAS that src/gpu/cuda_*.c call, over the stand-in
 * (device/stand_in), whose streams delay their work (HSUMMA_HOST_DEVICE). A test orders errors, counts objects that are
 * not freed, and detects invalid calls.
 */
#ifndef HS_TESTS_DEVICE_FAKE_CUDA_FAKE_H
#define HS_TESTS_DEVICE_FAKE_CUDA_FAKE_H

#include "gpu/devices.h"

#include <cuda_runtime_api.h>

enum { FAKE_DEVICES = 4 };

struct fake_cuda {
    int devices, driver, shares_events,
        peers;             /* number of GPUs, driver version, whether events and memory can be shared */
    const char *no_symbol; /* a symbol that cuBLAS or the driver lacks */
    int no_cublas;

    /* The which-th call of `fail` after the order returns an error; 0: every call. fail: a name, or "*". */
    const char *fail;
    int64_t which;
    int error;
    const char *failed; /* the call that returned it; NULL: none yet */
    int fatal;          /* an invalid call ends the program */

    int64_t calls;                                                             /* so far */
    int64_t memory, pinned, mapped, events, streams, handles, libraries, last; /* numbers of live objects */
    int64_t faults;                                                            /* number of invalid calls */
    char fault[200];                                                           /* description of the first */
};
extern struct fake_cuda fake_cuda;

/* Resets to one GPU without orders. */
void fake_cuda_reset(void);
/* The number of live objects; an error that has not been fetched counts too. */
int64_t fake_cuda_out(void);
/* Closes the stand-in; later objects are made on a new one, with another policy. No objects may be live. */
void fake_cuda_end(void);
/* fake_cuda_end, but forgets live objects. */
void fake_cuda_abandon(void);
/* fake_cuda_current: the GPU whose context is current, or -1. fake_cuda_choose sets it, as a caller with its own device
 * would. */
int fake_cuda_current(void);
void fake_cuda_choose(int device);

/* Between the files of the fake. Every function starts with fake_hit: the error ordered for it, else 0. */
int fake_hit(const char *name, int error);
void fake_fault(const char *format, ...) __attribute__((format(printf, 1, 2)));
struct hs_device *fake_host(void);
struct hs_stream *fake_stream(cudaStream_t stream);
/* Keeps an error until it is fetched; returns it. */
cudaError_t fake_error(cudaError_t error);
int fake_driver_symbol(const char *name, void **function);

/* dlfcn.h for the code under test. */
void *fake_dlopen(const char *name, int flags);
void *fake_dlsym(void *library, const char *name);
int fake_dlclose(void *library);
char *fake_dlerror(void);

#endif
