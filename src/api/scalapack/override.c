/* p?gemm_ and p?gemr2d_, in ScaLAPACK's place.  The one file that libhsumma_pxgemm does not have. */
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

#define MOVES(small, large, letter)       \
    HS_PGEMR2D(small##_, letter, 1)       \
    HS_PGEMR2D_ALIAS(small, small##_)     \
    HS_PGEMR2D_ALIAS(small##__, small##_) \
    HS_PGEMR2D_ALIAS(large, small##_)

MOVES(psgemr2d, PSGEMR2D, HSUMMA_S)
MOVES(pdgemr2d, PDGEMR2D, HSUMMA_D)
MOVES(pcgemr2d, PCGEMR2D, HSUMMA_C)
MOVES(pzgemr2d, PZGEMR2D, HSUMMA_Z)
MOVES(pigemr2d, PIGEMR2D, HS_LETTER_I)
