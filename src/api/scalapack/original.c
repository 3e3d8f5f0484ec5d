/* ScaLAPACK's own p?gemm_: the next one behind ours where we have taken its place, else the program's. */
#include "api/scalapack/shim.h"

#include <dlfcn.h>
#include <string.h>

#pragma weak psgemm_
#pragma weak pdgemm_
#pragma weak pcgemm_
#pragma weak pzgemm_

hsumma_pgemm *hs_original(const struct hs_pgemm *call)
{
    static const char *const names[] = {"psgemm_", "pdgemm_", "pcgemm_", "pzgemm_"};
    static hsumma_pgemm *const named[] = {psgemm_, pdgemm_, pcgemm_, pzgemm_};
    if (!call->interposed)
        return named[call->type];
    void *next = dlsym(RTLD_NEXT, names[call->type]);
    if (!next)
        next = hs_symbol_of(call->caller, names[call->type]);
    hsumma_pgemm *routine = NULL;
    memcpy(&routine, &next, sizeof routine); /* ISO C has no cast between the two */
    return routine;
}
