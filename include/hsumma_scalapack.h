/**
 * @file
 * p?gemm of the PBLAS, by hsumma: sub(C) := alpha op(sub(A)) op(sub(B)) + beta sub(C) on block-cyclic matrices; and
 * p?gemr2d of ScaLAPACK, which copies a matrix into another layout.
 *
 * Two libraries:
 *
 * - libhsumma_scalapack.so defines psgemm_, pdgemm_, pcgemm_ and pzgemm_ (also pdgemm, PDGEMM, pdgemm__ ...), and
 *   p?gemr2d_ likewise, which replace ScaLAPACK's if the library is linked before ScaLAPACK or named in LD_PRELOAD.
 * - libhsumma_pxgemm defines hsumma_psgemm_ ... (also hsumma_pdgemm ...) and hsumma_p?gemr2d_, for programs that use
 *   both hsumma's and ScaLAPACK's routines.
 *
 * Linking: doc/scalapack.md.
 */
#ifndef HSUMMA_SCALAPACK_H
#define HSUMMA_SCALAPACK_H

#if defined(__GNUC__)
#define HSUMMA_SCALAPACK_API __attribute__((visibility("default")))
#else
#define HSUMMA_SCALAPACK_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** @name p?gemm
 * @{ */

/**
 * The type of all p?gemm routines; void stands for float, double or pairs of these.
 *
 * Arguments, by reference as Fortran passes them, are those of PBLAS: transa and transb are 'N', 'T' or 'C' in either
 * case; m, n, k are the sizes of the product; ia, ja ... (1-based) say where sub(A) ... begins; desca ... is a
 * descriptor of 9 entries (DTYPE 1: DTYPE, CTXT, M, N, MB, NB, RSRC, CSRC, LLD) or of 11 (DTYPE 2: DTYPE, CTXT, M, N,
 * IMB, INB, MB, NB, RSRC, CSRC, LLD). RSRC or CSRC of -1 means that every process row or column has all of the rows or
 * columns. All three matrices are on one BLACS context. alpha, beta and the matrices are of the routine's type.
 *
 * Collective over the process grid. The matrices belong to the caller. A plan and workspace (HSUMMA_WORKSPACE_LIMIT)
 * are kept after the call and freed with the BLACS context. Quick returns: the call does nothing for m = 0 or n = 0;
 * with alpha = 0 or k = 0 C is scaled and A and B are not read; with beta = 0 C is not read.
 *
 * Errors go to PB_Cabort(context, "PDGEMM", info), as in PBLAS, with info = -position, or -(100 position + entry) for
 * the entry of a descriptor (in the positions of DTYPE 2). A request that hsumma cannot serve is reported on stderr and
 * passed to ScaLAPACK's own routine if the program has one and HSUMMA_GUARD and HSUMMA_BITS are not set; otherwise, and
 * after a lack of memory or an MPI error, info is -(2000 + status), with a status of hsumma.h.
 *
 * Environment, read by the first process of a BLACS context: HSUMMA_SCALAPACK=off (distributed products go to
 * ScaLAPACK) or N (those with m n k up to N^3 do), HSUMMA_EXPLAIN=1 (one line on stderr for each distinct call),
 * HSUMMA_LOG=FILE (each call as a command line that repeats it), and the library's other options (doc/reference.md).
 */
typedef void hsumma_pgemm(const char *transa, const char *transb, const int *m, const int *n, const int *k,
                          const void *alpha, const void *a, const int *ia, const int *ja, const int *desca,
                          const void *b, const int *ib, const int *jb, const int *descb, const void *beta, void *c,
                          const int *ic, const int *jc, const int *descc);

HSUMMA_SCALAPACK_API hsumma_pgemm hsumma_psgemm_; /**< float, in libhsumma_pxgemm */
HSUMMA_SCALAPACK_API hsumma_pgemm hsumma_pdgemm_; /**< double, in libhsumma_pxgemm */
HSUMMA_SCALAPACK_API hsumma_pgemm hsumma_pcgemm_; /**< complex float, in libhsumma_pxgemm */
HSUMMA_SCALAPACK_API hsumma_pgemm hsumma_pzgemm_; /**< complex double, in libhsumma_pxgemm */
HSUMMA_SCALAPACK_API hsumma_pgemm psgemm_;        /**< float, in libhsumma_scalapack.so */
HSUMMA_SCALAPACK_API hsumma_pgemm pdgemm_;        /**< double, in libhsumma_scalapack.so */
HSUMMA_SCALAPACK_API hsumma_pgemm pcgemm_;        /**< complex float, in libhsumma_scalapack.so */
HSUMMA_SCALAPACK_API hsumma_pgemm pzgemm_;        /**< complex double, in libhsumma_scalapack.so */

/** @} */
/** @name p?gemr2d
 * @{ */

/**
 * p?gemr2d of ScaLAPACK: copies the m x n part of A that begins at (ia, ja) to (ib, jb) of B, between any two grids and
 * block sizes. desca and descb are of DTYPE 1, and may be on different BLACS contexts; a process outside a matrix's
 * context passes CTXT = -1 for it. Collective over `context`, which covers both. In libhsumma_scalapack.so, p?gemr2d_
 * calls ScaLAPACK's routine unless HSUMMA_GEMR2D=hsumma is in the environment of all processes; hsumma_p?gemr2d_ is
 * always hsumma's. Requests that hsumma rejects (doc/scalapack.md) go to ScaLAPACK's routine.
 */
typedef void hsumma_pgemr2d(const int *m, const int *n, const void *a, const int *ia, const int *ja, const int *desca,
                            void *b, const int *ib, const int *jb, const int *descb, const int *context);

HSUMMA_SCALAPACK_API hsumma_pgemr2d hsumma_psgemr2d_; /**< float, in libhsumma_pxgemm */
HSUMMA_SCALAPACK_API hsumma_pgemr2d hsumma_pdgemr2d_; /**< double, in libhsumma_pxgemm */
HSUMMA_SCALAPACK_API hsumma_pgemr2d hsumma_pcgemr2d_; /**< complex float, in libhsumma_pxgemm */
HSUMMA_SCALAPACK_API hsumma_pgemr2d hsumma_pzgemr2d_; /**< complex double, in libhsumma_pxgemm */
HSUMMA_SCALAPACK_API hsumma_pgemr2d hsumma_pigemr2d_; /**< int, in libhsumma_pxgemm */
HSUMMA_SCALAPACK_API hsumma_pgemr2d psgemr2d_;        /**< float, in libhsumma_scalapack.so */
HSUMMA_SCALAPACK_API hsumma_pgemr2d pdgemr2d_;        /**< double, in libhsumma_scalapack.so */
HSUMMA_SCALAPACK_API hsumma_pgemr2d pcgemr2d_;        /**< complex float, in libhsumma_scalapack.so */
HSUMMA_SCALAPACK_API hsumma_pgemr2d pzgemr2d_;        /**< complex double, in libhsumma_scalapack.so */
HSUMMA_SCALAPACK_API hsumma_pgemr2d pigemr2d_;        /**< int, in libhsumma_scalapack.so */

/** @} */

#ifdef __cplusplus
}
#endif

#endif
