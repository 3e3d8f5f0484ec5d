/*
 * The program's own cblas_?gemm, which call the BLAS's: for tests that plant faults in local products.  Included once,
 * by a program that defines both functions below.
 */
#ifndef HS_TESTS_SUPPORT_CBLAS_HOOK_H
#define HS_TESTS_SUPPORT_CBLAS_HOOK_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* A call with operands of elements of `unit` bytes; plain_a: op(A) is A. */
struct cblas_call {
    int plain_a, plain_b;
    int64_t m, n, k, lda, ldb, ldc;
    const void *a, *b;
    void *c;
    size_t unit;
};

/* Before the BLAS's function, which uses the a and b that are left in *call.  Returns memory to free after it, or NULL.
 */
static void *before_gemm(struct cblas_call *call);
static void after_gemm(const struct cblas_call *call);

/* The C interface of the BLAS, by its binary interface: enumerations are ints, all pointers alike. */
enum { CBLAS_HOOK_NO_TRANS = 111 };

#define CBLAS_HOOK(name, scalar, size)                                                                             \
    void name(int order, int ta, int tb, int m, int n, int k, scalar alpha, const void *a, int lda, const void *b, \
              int ldb, scalar beta, void *c, int ldc);                                                             \
    void name(int order, int ta, int tb, int m, int n, int k, scalar alpha, const void *a, int lda, const void *b, \
              int ldb, scalar beta, void *c, int ldc)                                                              \
    {                                                                                                              \
        static void (*blas)(int, int, int, int, int, int, scalar, const void *, int, const void *, int, scalar,    \
                            void *, int);                                                                          \
        struct cblas_call call = {                                                                                 \
            ta == CBLAS_HOOK_NO_TRANS, tb == CBLAS_HOOK_NO_TRANS, m, n, k, lda, ldb, ldc, a, b, c, size};          \
        if (!blas)                                                                                                 \
            *(void **)&blas = dlsym(RTLD_NEXT, #name);                                                             \
        void *memory = before_gemm(&call);                                                                         \
        blas(order, ta, tb, m, n, k, alpha, call.a, lda, call.b, ldb, beta, c, ldc);                               \
        free(memory);                                                                                              \
        after_gemm(&call);                                                                                         \
    }

/* A reference without which the linker would leave out the BLAS. */
void cblas_dswap(int n, double *x, int incx, double *y, int incy);
void (*const cblas_hook_blas)(int, double *, int, double *, int) = cblas_dswap;

CBLAS_HOOK(cblas_sgemm, float, sizeof(float))
CBLAS_HOOK(cblas_dgemm, double, sizeof(double))
CBLAS_HOOK(cblas_cgemm, const void *, 2 * sizeof(float))
CBLAS_HOOK(cblas_zgemm, const void *, 2 * sizeof(double))

#endif
