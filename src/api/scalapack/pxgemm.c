/* hsumma_p?gemm_ and hsumma_p?gemr2d_, for programs that want ScaLAPACK's own routines, too. */
#include "api/scalapack/shim.h"

#define ROUTINES(small, large, letter)                    \
    HS_PGEMM(hsumma_##small##_, letter, 0)                \
    HS_PGEMM_ALIAS(hsumma_##small, hsumma_##small##_)     \
    HS_PGEMM_ALIAS(hsumma_##small##__, hsumma_##small##_) \
    HS_PGEMM_ALIAS(HSUMMA_##large, hsumma_##small##_)

ROUTINES(psgemm, PSGEMM, HSUMMA_S)
ROUTINES(pdgemm, PDGEMM, HSUMMA_D)
ROUTINES(pcgemm, PCGEMM, HSUMMA_C)
ROUTINES(pzgemm, PZGEMM, HSUMMA_Z)

#define MOVES(small, large, letter)                         \
    HS_PGEMR2D(hsumma_##small##_, letter, 0)                \
    HS_PGEMR2D_ALIAS(hsumma_##small, hsumma_##small##_)     \
    HS_PGEMR2D_ALIAS(hsumma_##small##__, hsumma_##small##_) \
    HS_PGEMR2D_ALIAS(HSUMMA_##large, hsumma_##small##_)

MOVES(psgemr2d, PSGEMR2D, HSUMMA_S)
MOVES(pdgemr2d, PDGEMR2D, HSUMMA_D)
MOVES(pcgemr2d, PCGEMR2D, HSUMMA_C)
MOVES(pzgemr2d, PZGEMR2D, HSUMMA_Z)
MOVES(pigemr2d, PIGEMR2D, HS_LETTER_I)
