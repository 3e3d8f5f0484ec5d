/* p?gemm_, in ScaLAPACK's place.  The one file that libhsumma_pxgemm does not have. */
#include "api/scalapack/shim.h"

#define ROUTINES(small, large, letter)  \
    HS_PGEMM(small##_, letter, 1)       \
    HS_PGEMM_ALIAS(small, small##_)     \
    HS_PGEMM_ALIAS(small##__, small##_) \
    HS_PGEMM_ALIAS(large, small##_)

ROUTINES(psgemm, PSGEMM, HSUMMA_S)
ROUTINES(pdgemm, PDGEMM, HSUMMA_D)
ROUTINES(pcgemm, PCGEMM, HSUMMA_C)
ROUTINES(pzgemm, PZGEMM, HSUMMA_Z)
