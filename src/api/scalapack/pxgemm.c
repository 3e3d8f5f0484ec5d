/* hsumma_p?gemm_, for programs that want ScaLAPACK's own routines, too. */
#include "api/scalapack/shim.h"

#define ROUTINE(name, letter)                                                                                      \
    void name(const char *transa, const char *transb, const int *m, const int *n, const int *k, const void *alpha, \
              const void *a, const int *ia, const int *ja, const int *desca, const void *b, const int *ib,         \
              const int *jb, const int *descb, const void *beta, void *c, const int *ic, const int *jc,            \
              const int *descc)                                                                                    \
    {                                                                                                              \
        hs_pgemm(&(struct hs_pgemm){letter,                                                                        \
                                    {transa, transb},                                                              \
                                    {m, n, k},                                                                     \
                                    alpha,                                                                         \
                                    beta,                                                                          \
                                    {a, b, c},                                                                     \
                                    {{ia, ja}, {ib, jb}, {ic, jc}},                                                \
                                    {desca, descb, descc}});                                                       \
    }
ROUTINE(hsumma_psgemm_, HSUMMA_S)
ROUTINE(hsumma_pdgemm_, HSUMMA_D)
ROUTINE(hsumma_pcgemm_, HSUMMA_C)
ROUTINE(hsumma_pzgemm_, HSUMMA_Z)

void hs_pgemm(const struct hs_pgemm *call)
{
    (void)call; /* STUB */
}
