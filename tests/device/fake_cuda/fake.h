/*
 * A fake of the parts of CUDA's run-time library, driver and cuBLAS that src/gpu/cuda_*.c call. It runs on the
 * stand-in (device/stand_in), whose streams delay their work as HSUMMA_HOST_DEVICE says. A test can order errors; the
 * fake counts objects that are not freed and detects invalid calls.
 */
#ifndef HS_TESTS_DEVICE_FAKE_CUDA_FAKE_H
#define HS_TESTS_DEVICE_FAKE_CUDA_FAKE_H

#include "gpu/devices.h"

#include <cuda_runtime_api.h>

enum { FAKE_DEVICES = 4 };

struct fake_cuda {
    /* devices: number of GPUs; driver: the driver's version; shares_events: whether events can be shared; peers:
     * whether GPUs can access each other's memory */
    int devices, driver, shares_events, peers;
    const char *no_symbol; /* name of a symbol that cuBLAS or the driver lacks */
    int no_cublas;

    /* An order: call number `which`, counted from the order on, of the function `fail` ("*": any) returns `error`;
     * which = 0: every call. */
    const char *fail;
    int64_t which;
    int error;
    const char *failed; /* function that has returned the ordered error; NULL: none yet */
    int fatal;          /* nonzero: an invalid call ends the program */

    int64_t calls; /* number of CUDA calls so far */
    /* numbers of live objects; last: the error that no call has fetched yet */
    int64_t memory, pinned, mapped, events, streams, handles, libraries, last;
    int64_t faults;  /* number of invalid calls */
    char fault[200]; /* description of the first invalid call */
};
extern struct fake_cuda fake_cuda;

/* Resets the fake to one GPU without ordered errors. */
void fake_cuda_reset(void);
/* The number of live objects, plus one if an error has not been fetched. */
int64_t fake_cuda_out(void);
/* Closes the stand-in; the next call opens another one, possibly with another policy. No objects may be live. */
void fake_cuda_end(void);
/* Does the work of fake_cuda_end, but forgets live objects first. */
void fake_cuda_abandon(void);
/* fake_cuda_current: the GPU whose context is current, or -1. fake_cuda_choose makes a GPU's context current, as a
 * caller with its own device would. */
int fake_cuda_current(void);
void fake_cuda_choose(int device);

/* For the files of the fake only. Every function of CUDA starts with fake_hit, which returns the ordered error or 0. */
int fake_hit(const char *name, int error);
void fake_fault(const char *format, ...) __attribute__((format(printf, 1, 2)));
struct hs_device *fake_host(void);
struct hs_stream *fake_stream(cudaStream_t stream);
/* Stores an error until the caller fetches it; returns it. */
cudaError_t fake_error(cudaError_t error);
int fake_driver_symbol(const char *name, void **function);

/* Replacements of dlfcn.h for the code under test. */
void *fake_dlopen(const char *name, int flags);
void *fake_dlsym(void *library, const char *name);
int fake_dlclose(void *library);
char *fake_dlerror(void);

#endif
