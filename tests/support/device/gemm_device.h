/* Matrices in device memory, for tests of products on the stand-in. */
#ifndef HS_TESTS_SUPPORT_DEVICE_GEMM_DEVICE_H
#define HS_TESTS_SUPPORT_DEVICE_GEMM_DEVICE_H

#include "support/device/test_device.h"
#include "support/product/gemm_case.h"

enum { ON_A = 1, ON_B = 2, ON_C = 4, ON_ALL = 7 };

/* The matrices of one execution. `home` in host memory holds their initial contents, and later the result. */
struct gemm_matrices {
    struct gemm_part home[3], used[3];
    int on_device; /* which of this process's parts are on the device */
};

/* A context whose device orders its work by the policy in words. */
hsumma_context *gemm_device_context(const char *words);

/* Fills the matrices by work on the context's stream, which may be in progress on return. 0: some stay on the host. */
int gemm_place(hsumma_context *ctx, const struct gemm_case *c, int on_device, struct gemm_matrices *m);

/* Copies the device's matrices to `home`. */
int gemm_bring_home(hsumma_context *ctx, struct gemm_matrices *m);
void gemm_forget(hsumma_context *ctx, struct gemm_matrices *m);

/* Executes a plan; after success C is copied to `home`. *good: C is right, and nothing else has changed. */
hsumma_status gemm_execute_there(hsumma_context *ctx, hsumma_plan *plan, const struct gemm_case *c, int on_device,
                                 int *good);

#endif
