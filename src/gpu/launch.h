/* How kernels are launched; separate, so that a test can run the kernels' code on the host. */
#ifndef HS_GPU_LAUNCH_H
#define HS_GPU_LAUNCH_H

#include <cuda_runtime_api.h>

template <class... P>
cudaError_t launch(void (*kernel)(P...), dim3 grid, dim3 block, cudaStream_t stream, P... parameter)
{
    void *parameters[] = {&parameter...};
    return cudaLaunchKernel(reinterpret_cast<const void *>(kernel), grid, block, parameters, 0, stream);
}

/* How many blocks of `threads` threads a multiprocessor runs at a time. */
template <class... P> cudaError_t resident(void (*kernel)(P...), int threads, int *blocks)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, reinterpret_cast<const void *>(kernel), threads, 0);
}

#endif
