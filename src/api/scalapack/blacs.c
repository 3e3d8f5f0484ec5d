/*
 * BLACS and PBLAS as far as the shim needs them.  In shared libraries the symbols are weak, because a preloaded one
 * meets programs that have none of them; in the archive (HSUMMA_STATIC) they are not, so that a linker takes them from
 * a static ScaLAPACK.
 */
#include "api/scalapack/shim.h"

#include <stdio.h>

void blacs_gridinfo_(const int *context, int *nprow, int *npcol, int *row, int *col);
void blacs_get_(const int *context, const int *what, int *value);
void PB_Cabort(int context, char *routine, int info);
#ifdef HSUMMA_STATIC
#define EXISTS(function) 1
#else
#pragma weak blacs_gridinfo_
#pragma weak blacs_get_
#pragma weak PB_Cabort
#define EXISTS(function) (function)
#endif

const char *hs_pgemm_name(hsumma_type type)
{
    static const char *const names[] = {"PSGEMM", "PDGEMM", "PCGEMM", "PZGEMM"};
    return names[type];
}

int hs_blacs_grid(int context, int shape[2], int coord[2])
{
    shape[0] = -1;
    if (EXISTS(blacs_gridinfo_))
        blacs_gridinfo_(&context, &shape[0], &shape[1], &coord[0], &coord[1]);
    return shape[0] != -1;
}

MPI_Comm hs_blacs_comm(int context)
{
    enum { COMMUNICATOR = 10 };
    int what = COMMUNICATOR, handle;
    blacs_get_(&context, &what, &handle);
    return MPI_Comm_f2c((MPI_Fint)handle);
}

void hs_blacs_abort(int context, hsumma_type type, int info)
{
    char name[8];
    snprintf(name, sizeof name, "%s", hs_pgemm_name(type));
    if (EXISTS(PB_Cabort))
        PB_Cabort(context, name, info);
    else
        fprintf(stderr, "hsumma: %s: info = %d, and this program has no PB_Cabort; nothing is computed\n", name, info);
}
