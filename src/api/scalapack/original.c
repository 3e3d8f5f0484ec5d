/* ScaLAPACK's own routines. Where the shim interposes their names: the next definition after the shim's, or that of the
 * caller's library; otherwise the one that the program is linked with. */
#include "api/scalapack/shim.h"

#include <dlfcn.h>
#include <string.h>

#pragma weak psgemm_
#pragma weak pdgemm_
#pragma weak pcgemm_
#pragma weak pzgemm_

void hs_next_routine(const void *caller, const char *name, void *routine)
{
    void *next = dlsym(RTLD_NEXT, name);
    if (!next)
        next = hs_symbol_of(caller, name);
    memcpy(routine, &next, sizeof next); /* ISO C cannot cast a data pointer to a function pointer */
}

hsumma_pgemm *hs_original(const struct hs_pgemm *call)
{
    static const char *const names[] = {"psgemm_", "pdgemm_", "pcgemm_", "pzgemm_"};
    static hsumma_pgemm *const named[] = {psgemm_, pdgemm_, pcgemm_, pzgemm_};
    hsumma_pgemm *routine = named[call->type];
    if (call->interposed)
        hs_next_routine(call->caller, names[call->type], &routine);
    return routine;
}
