/*
 * The kernels of the device "cuda", and their launch functions: plain functions of plain data, so that a test can
 * replace the GPU.  They return CUDA's error and wait for nothing; the caller has made the device's context current.
 */
#ifndef HS_GPU_KERNELS_H
#define HS_GPU_KERNELS_H

#include <cuda_runtime_api.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { HS_KERNEL_MOST = 32 }; /* largest number of operands of a combination */
enum hs_kernel_real { HS_KERNEL_FLOAT, HS_KERNEL_DOUBLE, HS_KERNEL_INT32, HS_KERNEL_INT64 };
enum hs_kernel_op { HS_KERNEL_SUM, HS_KERNEL_MAX, HS_KERNEL_MIN };
enum hs_kernel_scalar { HS_KERNEL_S, HS_KERNEL_D, HS_KERNEL_C, HS_KERNEL_Z };

/* What kernel launches need to know about a device. */
struct hs_kernels {
    int64_t combine_blocks, update_blocks; /* thread blocks that run at a time, on all multiprocessors together */
};

/* The compute capabilities that code was compiled for, such as "80 90"; the last one also as PTX. */
extern const char hs_kernels_archs[];

/* Fills *kernels for a device. Returns an error if none of the compiled code runs on it. */
cudaError_t hs_kernels_prepare(int device, struct hs_kernels *kernels);
/* dst = ((operand[0] op operand[1]) op operand[2]) ..., 1 <= operands <= HS_KERNEL_MOST.  dst may be any operand; any
 * alignment. */
cudaError_t hs_kernels_combine(const struct hs_kernels *kernels, cudaStream_t stream, void *dst,
                               const void *const *operand, int operands, int64_t count, enum hs_kernel_real real,
                               enum hs_kernel_op op);
/* C = beta C + S for a column-major block; s NULL means zero; beta = 0 never reads C. */
cudaError_t hs_kernels_update(const struct hs_kernels *kernels, cudaStream_t stream, enum hs_kernel_scalar scalar,
                              int64_t rows, int64_t cols, const void *beta, void *c, int64_t ldc, const void *s,
                              int64_t lds);

#ifdef __cplusplus
}
#endif

#endif
