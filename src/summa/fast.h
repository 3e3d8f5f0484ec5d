/* Functions compiled for several kinds of processors. */
#ifndef HS_SUMMA_FAST_H
#define HS_SUMMA_FAST_H

#if defined(__has_feature)
#if __has_feature(thread_sanitizer) /* clang; gcc defines __SANITIZE_THREAD__ */
#define HS_NOT_FAST
#endif
#endif

/* Compiles a function once more for processors with AVX2 and with AVX-512, and chooses when the program starts. */
#if defined(__x86_64__) && defined(__linux__) && defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__) && !defined(HS_NOT_FAST)
#define HS_FAST __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define HS_FAST
#endif

#endif
