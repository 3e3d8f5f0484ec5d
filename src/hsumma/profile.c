#include "hsumma/profile.h"

/*
 * Measured on a 2-core x86-64 server with AVX-512 (doc/results/gemm_knee.md): OpenBLAS 0.3.21 reaches 56-62 Gflop/s per
 * core from panels of 192 on, best at 384; MPICH 4.0.2 takes 0.4 us for 8 bytes and moves 7-13 GB/s between two ranks
 * of a node, with a step of some 5 us at 16 KB, of which the model knows the slope only; a copy through shared memory
 * runs at 12 GB/s.  What is between nodes is a guess. A slice is long enough for the BLAS to repay packing its operands
 * again (see the same page).
 */
const struct hs_profile hs_profile_builtin = {
    .machine = {.alpha = 1e-6,
                .beta = 1.2e-10,
                .gamma = 2e-10,
                .copy = 1.5e-10,
                .node = {6e-7, 1.2e-10},
                .shm = {3e-8, 8e-11},
                .signal = 1.5e-7},
    .flops = 5.5e10,
    .knee = 384,
    .slice = 1000 * 1000 * 1000,
};

double hs_gemm_seconds(const struct hs_profile *profile, size_t scalar_size, int complex_type, int threads, double m,
                       double n, double k, double width)
{
    double flops = 2 * m * n * k * (complex_type ? 4 : 1);
    double rate = profile->flops * (threads > 0 ? threads : 1);
    if (scalar_size == (complex_type ? 8 : 4))
        rate *= 2;                                /* single precision */
    return flops / (rate * width / (width + 16)); /* a panel costs as much as 16 more columns */
}
