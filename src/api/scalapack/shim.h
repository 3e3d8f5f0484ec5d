/* The p?gemm shim: what its files share. */
#ifndef HS_API_SCALAPACK_SHIM_H
#define HS_API_SCALAPACK_SHIM_H

#include "hsumma.h"
#include "hsumma_scalapack.h"

/* The arguments of a call, as PBLAS gets them. */
struct hs_pgemm {
    hsumma_type type;
    const char *trans[2];
    const int *extent[3]; /* m, n, k */
    const void *alpha, *beta;
    const void *data[3];
    const int *first[3][2]; /* ia, ja; ib, jb; ic, jc: from 1 */
    const int *desc[3];
};

/* All routines end here. */
void hs_pgemm(const struct hs_pgemm *call);

#endif
