/* Matrices in device memory, for tests of products on the stand-in. */
#ifndef HS_TESTS_SUPPORT_DEVICE_GEMM_DEVICE_H
#define HS_TESTS_SUPPORT_DEVICE_GEMM_DEVICE_H

#include "support/device/test_device.h"
#include "support/product/gemm_case.h"

enum { ON_A = 1, ON_B = 2, ON_C = 4, ON_ALL = 7 };

/* The matrices of one execution. `home` is in host memory; `used`, which is passed to the library, is `home` or a copy
 * of it on the device. */
struct gemm_matrices {
    struct gemm_part home[3], used[3];
    int on_device; /* mask of the operands whose local parts are in device memory */
};

/* Creates a context whose device follows the policy `words`. */
hsumma_context *gemm_device_context(const char *words);

/* Fills the matrices. Copies to the device are enqueued on the context's stream and may still be in progress on return.
 * on_device is a mask of operands; returns 0 if one of them could not be put on the device. */
int gemm_place(hsumma_context *ctx, const struct gemm_case *c, int on_device, struct gemm_matrices *m);

/* Copies the matrices that are in device memory back to `home`. */
int gemm_bring_home(hsumma_context *ctx, struct gemm_matrices *m);
void gemm_forget(hsumma_context *ctx, struct gemm_matrices *m);

/* Executes a plan on new matrices; those of the mask on_device are on the device. *good becomes 1 if the plan succeeds,
 * C is right and A and B are unchanged, else 0; also 0 if only some of these matrices could be put on the device. */
hsumma_status gemm_execute_there(hsumma_context *ctx, hsumma_plan *plan, const struct gemm_case *c, int on_device,
                                 int *good);

#endif
