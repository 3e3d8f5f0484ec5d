/* p?gemm_ and p?gemr2d_ under ScaLAPACK's names. The only file of this folder that libhsumma_pxgemm leaves out. */
#include "api/scalapack/shim.h"

#include "api/other_mpi.h"

__attribute__((constructor)) static void leave_other_mpi(int argc, char **argv)
{
    (void)argc;
    hs_leave_other_mpi("hsumma: p?gemm is left to ScaLAPACK", "libhsumma_scalapack.so", argv);
}

#define NAMES(kind, small, large, letter)                                                                    \
    HS_##kind(small##_, letter, 1) HS_##kind##_ALIAS(small, small##_) HS_##kind##_ALIAS(small##__, small##_) \
        HS_##kind##_ALIAS(large, small##_)

NAMES(PGEMM, psgemm, PSGEMM, HSUMMA_S)
NAMES(PGEMM, pdgemm, PDGEMM, HSUMMA_D)
NAMES(PGEMM, pcgemm, PCGEMM, HSUMMA_C)
NAMES(PGEMM, pzgemm, PZGEMM, HSUMMA_Z)
NAMES(PGEMR2D, psgemr2d, PSGEMR2D, HSUMMA_S)
NAMES(PGEMR2D, pdgemr2d, PDGEMR2D, HSUMMA_D)
NAMES(PGEMR2D, pcgemr2d, PCGEMR2D, HSUMMA_C)
NAMES(PGEMR2D, pzgemr2d, PZGEMR2D, HSUMMA_Z)
NAMES(PGEMR2D, pigemr2d, PIGEMR2D, HS_LETTER_I)
