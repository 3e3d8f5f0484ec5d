/* hsumma_p?gemm_ and hsumma_p?gemr2d_, for programs that also use ScaLAPACK's own routines. */
#include "api/scalapack/shim.h"

#define NAMES(kind, small, large, letter)                                                        \
    HS_##kind(hsumma_##small##_, letter, 0) HS_##kind##_ALIAS(hsumma_##small, hsumma_##small##_) \
        HS_##kind##_ALIAS(hsumma_##small##__, hsumma_##small##_) HS_##kind##_ALIAS(HSUMMA_##large, hsumma_##small##_)

NAMES(PGEMM, psgemm, PSGEMM, HSUMMA_S)
NAMES(PGEMM, pdgemm, PDGEMM, HSUMMA_D)
NAMES(PGEMM, pcgemm, PCGEMM, HSUMMA_C)
NAMES(PGEMM, pzgemm, PZGEMM, HSUMMA_Z)
NAMES(PGEMR2D, psgemr2d, PSGEMR2D, HSUMMA_S)
NAMES(PGEMR2D, pdgemr2d, PDGEMR2D, HSUMMA_D)
NAMES(PGEMR2D, pcgemr2d, PCGEMR2D, HSUMMA_C)
NAMES(PGEMR2D, pzgemr2d, PZGEMR2D, HSUMMA_Z)
NAMES(PGEMR2D, pigemr2d, PIGEMR2D, HS_LETTER_I)
