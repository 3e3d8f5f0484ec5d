/*
 * The cost of local work in a simulated run.  Each function advances the simulated clock by the profile's cost of the
 * work, and returns 1 if the caller must do it as well, 0 if data have no contents (compute=time).  A NULL hs_compute
 * means a real machine: the work is done and takes its own time.
 */
#ifndef HS_BASE_COMPUTE_H
#define HS_BASE_COMPUTE_H

#include <stddef.h>
#include <stdint.h>

enum hs_work { HS_WORK_COPY, HS_WORK_SHARED_COPY, HS_WORK_READ, HS_WORK_SUM, HS_WORKS };
/* The time of an exact sum (base/exact.c) per byte of an operand, as a multiple of that of an ordinary sum. */
enum { HS_EXACT_WORK = 4 };

struct hs_compute {
    int real; /* 1: data have contents, so work is done as well as charged */
    struct {
        double start, byte; /* cost in seconds: per operation, per byte */
    } price[HS_WORKS];
    const void *profile;
    /* Seconds of one local GEMM call (hs_gemm_seconds). */
    double (*gemm_seconds)(const void *profile, size_t scalar_size, int complex_type, int threads, double m, double n,
                           double k);
    void (*advance)(double seconds); /* advances this process's clock */
};

/* Whether matrices have data; in a simulated run they may have none. */
static inline int hs_compute_is_real(const struct hs_compute *compute)
{
    return !compute || compute->real;
}

static inline int hs_compute_bytes(const struct hs_compute *compute, enum hs_work work, int64_t bytes)
{
    if (!compute)
        return 1;
    if (bytes > 0)
        compute->advance(compute->price[work].start + (double)bytes * compute->price[work].byte);
    return compute->real;
}
static inline int hs_compute_gemm(const struct hs_compute *compute, size_t scalar_size, int complex_type, int threads,
                                  int64_t m, int64_t n, int64_t k)
{
    if (!compute)
        return 1;
    compute->advance(
        compute->gemm_seconds(compute->profile, scalar_size, complex_type, threads, (double)m, (double)n, (double)k));
    return compute->real;
}

#endif
