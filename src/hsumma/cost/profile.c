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
 * The device figures were measured on an H200 shared by several processes without MPS (doc/results/gpu.md): a kernel or
 * copy starts after 4 us and copies 2 TB/s, an event of another process is seen after 1 us, a device that switches
 * between processes loses 140 us, and a message through the host takes 36 us and moves 7.6 GB/s.  Between nodes the
 * same is assumed.
 *
 * The share of pipelining is slightly below measurements on TCP (doc/results/planner.md).
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
    .device_machine = {.network = {.alpha = 3.6e-5, .beta = 1.3e-10},
                       .inject = 8e-11,
                       .gamma = 7.4e-13,
                       .copy = 5e-13,
                       .node = {.alpha = 3.6e-5, .beta = 1.3e-10},
                       .shm = {.alpha = 4e-6, .beta = 5e-13},
                       .signal = 9e-7,
                       .turn = 1.4e-4},
    .overlap = 0.9,
    .pipelining = 2.0 / 3,
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
    const struct hs_gemm_cost *cost = hs_gemm_cost_of(profile, scalar_size, complex_type);
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
