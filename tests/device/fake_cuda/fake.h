/*
 * A fake of CUDA's run-time library, its driver and cuBLAS, as far as src/gpu/cuda_*.c call them, over the stand-in
 * (device/stand_in), whose streams do their work late (HSUMMA_HOST_DEVICE).  A test orders errors, counts what has been
 * allocated and not freed, and sees what was called wrongly.
 */
#ifndef HS_TESTS_DEVICE_FAKE_CUDA_FAKE_H
#define HS_TESTS_DEVICE_FAKE_CUDA_FAKE_H

#include "gpu/devices.h"

#include <cuda_runtime_api.h>

enum { FAKE_DEVICES = 4 };

struct fake_cuda {
    int devices, driver, shares_events, peers; /* GPUs, the driver's version, whether events and memory can be shared */
    const char *no_symbol;                     /* what cuBLAS or the driver has not */
    int no_cublas;

    /* The which-th call of `fail` from the order on returns an error; 0: each of them.  fail: a name, or "*". */
    const char *fail;
    int64_t which;
    int error;
    const char *failed; /* the call that has returned it; NULL: none yet */
    int fatal;          /* a fault ends the program */

    int64_t calls;                                                             /* so far */
    int64_t memory, pinned, mapped, events, streams, handles, libraries, last; /* that are out */
    int64_t faults;                                                            /* calls that CUDA would not forgive */
    char fault[200];                                                           /* the first of them */
};
extern struct fake_cuda fake_cuda;

/* As new: one GPU, no orders. */
void fake_cuda_reset(void);
/* What is out, all together; the error that nobody has fetched counts, too. */
int64_t fake_cuda_out(void);
/* Closes the stand-in; whatever is made later is on a new one, with another policy.  Nothing may be out. */
void fake_cuda_end(void);
/* The same, and forgets what is out. */
void fake_cuda_abandon(void);
/* The GPU whose context is current, -1: none; and how to choose it, as a caller with a device of his own does. */
int fake_cuda_current(void);
void fake_cuda_choose(int device);

/* Among the files of the fake.  Every function begins with hit: what is ordered of it, else 0. */
int fake_hit(const char *name, int error);
void fake_fault(const char *format, ...) __attribute__((format(printf, 1, 2)));
struct hs_device *fake_host(void);
struct hs_stream *fake_stream(cudaStream_t stream);
/* The same error, kept until somebody fetches it. */
cudaError_t fake_error(cudaError_t error);
int fake_driver_symbol(const char *name, void **function);

/* dlfcn.h of the code that is tested. */
void *fake_dlopen(const char *name, int flags);
void *fake_dlsym(void *library, const char *name);
int fake_dlclose(void *library);
char *fake_dlerror(void);

#endif
