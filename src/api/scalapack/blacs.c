/*
 * The parts of BLACS and PBLAS that the shim needs. In shared libraries the symbols are weak, because a preloaded
 * library may be in a program without BLACS; in the archive (HSUMMA_STATIC) they are strong, so that the linker takes
 * them from a static ScaLAPACK.
 */
#include "api/scalapack/shim.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

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

typedef void gridinfo(const int *context, int *nprow, int *npcol, int *row, int *col);
typedef void get(const int *context, const int *what, int *value);
typedef void cabort(int context, char *routine, int info);

/* BLACS functions of programs that load ScaLAPACK after this library, by dlopen with RTLD_GLOBAL or RTLD_LOCAL. */
static struct {
    _Atomic(gridinfo *) gridinfo;
    _Atomic(get *) get;
    _Atomic(cabort *) cabort;
} found;

void *hs_symbol_of(const void *caller, const char *name)
{
    Dl_info info;
    if (!dladdr(caller, &info))
        return NULL;
    void *library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    void *symbol = library ? dlsym(library, name) : NULL;
    if (library)
        dlclose(library); /* it stays loaded: the caller is in it */
    return symbol;
}

/* memcpy, because ISO C has no cast from a data pointer to a function pointer. */
#define FIND(caller, function, name)               \
    do {                                           \
        void *symbol = dlsym(RTLD_DEFAULT, name);  \
        function *address = NULL;                  \
        if (!symbol)                               \
            symbol = hs_symbol_of(caller, name);   \
        memcpy(&address, &symbol, sizeof address); \
        atomic_store(&found.function, address);    \
    } while (0)

static int has_blacs(void)
{
    return (EXISTS(blacs_gridinfo_) && EXISTS(blacs_get_)) || (atomic_load(&found.gridinfo) && atomic_load(&found.get));
}

void hs_blacs_find(const void *caller, const char *routine)
{
    if (has_blacs())
        return;
    FIND(caller, gridinfo, "blacs_gridinfo_");
    FIND(caller, get, "blacs_get_");
    FIND(caller, cabort, "PB_Cabort");
    if (has_blacs())
        return;
    fprintf(stderr,
            "hsumma: %s: the program has no BLACS that hsumma can find; link ScaLAPACK, or load it with RTLD_GLOBAL\n",
            routine);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

const char *hs_pgemm_name(hsumma_type type)
{
    static const char *const names[] = {"PSGEMM", "PDGEMM", "PCGEMM", "PZGEMM"};
    return names[type];
}

int hs_blacs_grid(int context, int shape[2], int coord[2])
{
    gridinfo *ask = EXISTS(blacs_gridinfo_) ? blacs_gridinfo_ : atomic_load(&found.gridinfo);
    shape[0] = shape[1] = coord[0] = coord[1] = -1;
    if (ask)
        ask(&context, &shape[0], &shape[1], &coord[0], &coord[1]);
    return shape[0] != -1;
}

MPI_Comm hs_blacs_comm(int context)
{
    enum { COMMUNICATOR = 10 };
    get *ask = EXISTS(blacs_get_) ? blacs_get_ : atomic_load(&found.get);
    int what = COMMUNICATOR, handle = MPI_Comm_c2f(MPI_COMM_NULL);
    if (ask)
        ask(&context, &what, &handle);
    return MPI_Comm_f2c((MPI_Fint)handle);
}

void hs_blacs_abort(int context, const char *routine, int info)
{
    cabort *end = EXISTS(PB_Cabort) ? PB_Cabort : atomic_load(&found.cabort);
    char name[16];
    snprintf(name, sizeof name, "%s", routine);
    if (end) {
        end(context, name, info);
        return;
    }
    /* PBLAS's error exit would also end the program; after a return the caller would take C for the product */
    fprintf(stderr, "hsumma: %s: info = %d; aborting, because the program has no PB_Cabort\n", name, info);
    MPI_Abort(MPI_COMM_WORLD, 1);
}
