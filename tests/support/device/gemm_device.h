/* Matrices in device memory, for tests of products on the stand-in. */
#ifndef HS_TESTS_SUPPORT_DEVICE_GEMM_DEVICE_H
#define HS_TESTS_SUPPORT_DEVICE_GEMM_DEVICE_H

#include "support/device/test_device.h"
#include "support/product/gemm_case.h"

enum { ON_A = 1, ON_B = 2, ON_C = 4, ON_ALL = 7 };

/* The matrices of one execution: `home` of the host has what they begin with, and what has come of them. */
struct gemm_matrices {
    struct gemm_part home[3], used[3];
    int on_device; /* which of them, of this process's parts */
};

/* A context whose device does its work in the order that the words say. */
hsumma_context *gemm_device_context(const char *words);

/* Fills them by work on the context's stream, which may be under way when this returns.  0: some stay on the host. */
int gemm_place(hsumma_context *ctx, const struct gemm_case *c, int on_device, struct gemm_matrices *m);

/* Brings what is on the device home. */
int gemm_bring_home(hsumma_context *ctx, struct gemm_matrices *m);
void gemm_forget(hsumma_context *ctx, struct gemm_matrices *m);

/* One execution of a plan, whose C comes home if it ends well.  `good`: it is right, and nothing else has changed. */
hsumma_status gemm_execute_there(hsumma_context *ctx, hsumma_plan *plan, const struct gemm_case *c, int on_device,
                                 int *good);

#endif
