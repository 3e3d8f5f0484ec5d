#include "hsumma/context/mpi_family.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>

const char *const hs_mpi_family_name[HS_MPI_FAMILIES] = {
    [HS_MPI_UNKNOWN] = "an MPI of unknown ABI", [HS_MPI_MPICH] = "MPICH", [HS_MPI_OPENMPI] = "Open MPI"};

enum hs_mpi_family hs_mpi_built(void)
{
#if defined OPEN_MPI
    return HS_MPI_OPENMPI;
#elif defined MPICH_VERSION
    return HS_MPI_MPICH;
#else
    return HS_MPI_UNKNOWN;
#endif
}

/* Turns "MPICH Version:\t4.0.2" into "MPICH 4.0.2". */
static void shorten(char *text)
{
    char *cut = strstr(text, " Version:");
    text[strcspn(text, "\n,")] = 0;
    if (cut)
        memmove(cut, cut + strlen(" Version:"), strlen(cut + strlen(" Version:")) + 1);
    for (char *c = text; *c; c++)
        *c = *c == '\t' ? ' ' : *c;
}

enum hs_mpi_family hs_mpi_runs(char *name, size_t size)
{
    static const struct {
        const char *says;
        enum hs_mpi_family family;
    } families[] = {{"Open MPI", HS_MPI_OPENMPI},
                    {"MPICH", HS_MPI_MPICH},
                    {"Intel(R) MPI", HS_MPI_MPICH},
                    {"MVAPICH", HS_MPI_MPICH}};
    enum { MPICH_LONGEST = 8192 }; /* the loaded library may differ from mpi.h's */
    char text[MPICH_LONGEST > MPI_MAX_LIBRARY_VERSION_STRING ? MPICH_LONGEST : MPI_MAX_LIBRARY_VERSION_STRING] = "";
    enum hs_mpi_family family = HS_MPI_UNKNOWN;
    int length;
    MPI_Get_library_version(text, &length);
    for (size_t i = 0; i < sizeof families / sizeof *families && !family; i++)
        if (strstr(text, families[i].says))
            family = families[i].family;
    shorten(text);
    snprintf(name, size, "%.*s", (int)size - 1, text);
    return family;
}
