/* hsumma_p?gemm_, for programs that want ScaLAPACK's own routines, too. */
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
