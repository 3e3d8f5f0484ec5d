#include "hsumma/cost/profile.h"

/*
 * Measured on a 2-core x86-64 server with AVX-512 (doc/results/gemm_knee.md).  OpenBLAS 0.3.21 reaches 56-62 Gflop/s
 * per core for panels of 192 or more, best at 384.  MPICH 4.0.2 takes 0.4 us for 8 bytes and moves 7-13 GB/s between
 * two ranks of a node, with a step of some 5 us at 16 KB that the model ignores.  On an AMD EPYC copies
 * through shared memory run at 50 GB/s, and reads of another process's memory at 15 GB/s (doc/results/collectives.md).
 * The network between nodes is a guess: 1 us per message, the bandwidth of messages inside a node, and 12.5 GB/s out
 * of a node.  A slice is long enough to amortise the BLAS's repacking of its operands
 * (doc/results/gemm_knee.md).  A panel costs as much as if it were 16 columns wider, and packing takes 0.15 ns per byte
 * (doc/results/node.md).
 *
 * The device figures are assumptions, not measurements: a kernel or copy starts after 6 us and runs at 1.5 TB/s, an
 * event of another process is seen after 8 us, a device that switches between processes loses 20 us, and a message
 * takes 20 us longer than from host memory and crosses a bus of 10 GB/s.
 */
#define CORE 5.5e10 /* flop/s in double precision */
const struct hs_profile hs_profile_builtin = {
    .machine = {.network = {.alpha = 1e-6, .beta = 1.2e-10},
                .inject = 8e-11,
                .gamma = 2e-10,
                .copy = 1.5e-10,
                .node = {.alpha = 6e-7, .beta = 1.2e-10},
                .shm = {.alpha = 1e-8, .beta = 2e-11},
                .read = {.alpha = 1.5e-6, .beta = 6.5e-11},
                .signal = 1.5e-7},
    .device_machine = {.network = {.alpha = 2.1e-5, .beta = 1e-10},
                       .inject = 8e-11,
                       .gamma = 1 / 1.5e12,
                       .copy = 1 / 1.5e12,
                       .node = {.alpha = 2.06e-5, .beta = 1e-10},
                       .shm = {.alpha = 6e-6, .beta = 1 / 1.5e12},
                       .signal = 8e-6,
                       .turn = 2e-5},
    .overlap = 0.9,
    .gemm = {{.flop = 1 / CORE, .c = 32 / CORE, .ab = 8 * 1.5e-10},
             {.flop = 0.5 / CORE, .c = 16 / CORE, .ab = 4 * 1.5e-10}},
    .threads = 1,
    .knee = 384,
    .slice = 1000 * 1000 * 1000,
    .source = "built-in",
};

double hs_gemm_seconds(const struct hs_profile *profile, size_t scalar_size, int complex_type, int threads, double m,
                       double n, double k)
{
    const struct hs_gemm_cost *cost = &profile->gemm[scalar_size == (complex_type ? 8 : 4)];
    double reals = complex_type ? 2 : 1, passes = k > (double)profile->knee ? k / (double)profile->knee : 1;
    double seconds = cost->call + cost->flop * 2 * m * n * k * reals * reals + cost->c * m * n * passes * reals +
                     cost->ab * (m * k + k * n) * reals;
    return seconds * profile->threads / (threads > 0 ? threads : 1);
}

double hs_profile_gemm_seconds(const void *profile, size_t scalar_size, int complex_type, int threads, double m,
                               double n, double k)
{
    return hs_gemm_seconds(profile, scalar_size, complex_type, threads, m, n, k);
}
