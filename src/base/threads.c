#include "base/threads.h"

#include "base/options.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* Weak references: the program may run with another CBLAS than the one it was linked with, or with none. */
#define WEAK __attribute__((weak))
/* Only its address is used, to find the library that has the GEMM. The GEMM itself is not named here, so that a link
 * without any BLAS has no reference to it. */
void cblas_ddot(void) WEAK;
int openblas_get_parallel(void) WEAK;
int openblas_get_num_threads(void) WEAK;
void openblas_set_num_threads(int n) WEAK;
int omp_get_max_threads(void) WEAK;
void omp_set_num_threads(int n) WEAK;
int bli_info_get_enable_threading(void) WEAK;
int64_t bli_thread_get_jc_nt(void) WEAK;
int64_t bli_thread_get_num_threads(void) WEAK;
void bli_thread_set_num_threads(int64_t n) WEAK;
int MKL_Get_Max_Threads(void) WEAK; /* the lower-case names are Fortran's, which take pointers */
int MKL_Set_Num_Threads_Local(int n) WEAK;

/*
 * A state (0 or more) is the number that swap sets and returns.  For most libraries it is the number of threads.  For
 * OpenBLAS built with OpenMP the state holds two numbers: OpenBLAS's in the lower half and OpenMP's in the upper.
 * OpenBLAS's GEMM obeys OpenMP's number, which the rest of the program also uses.  Setting OpenBLAS's number changes
 * OpenMP's as well, so both are restored.
 */
enum { HALF = 1 << 15, SERIAL = 0, OPENMP = 2 };

static int openmp_is_there(void)
{
    return openblas_get_parallel && openblas_get_parallel() == OPENMP && omp_get_max_threads && omp_set_num_threads;
}

static int openmp_get(void)
{
    return openblas_get_num_threads() % HALF + omp_get_max_threads() % HALF * HALF;
}

static int openmp_swap(int state)
{
    int before = openmp_get();
    openblas_set_num_threads(state % HALF);
    omp_set_num_threads(state / HALF);
    return before;
}

static int openblas_serial(void)
{
    return openblas_get_parallel && openblas_get_parallel() == SERIAL;
}

static int openblas_swap(int state)
{
    int before = openblas_get_num_threads();
    openblas_set_num_threads(state);
    return before;
}

/* BLIS ignores the number of threads if the user has set the number of ways of each of its loops. */
static int blis_serial(void)
{
    return (bli_info_get_enable_threading && !bli_info_get_enable_threading()) ||
           (bli_thread_get_jc_nt && bli_thread_get_jc_nt() > 0);
}

static int blis_get(void)
{
    int64_t n = bli_thread_get_num_threads();
    return n > 0 ? (int)n : 1;
}

/* State 0: the number was never set. BLIS then returns -1, and uses one thread. */
static int blis_swap(int state)
{
    int64_t before = bli_thread_get_num_threads();
    bli_thread_set_num_threads(state > 0 ? state : -1);
    return before > 0 ? (int)before : 0;
}

/* MKL's number for the calling thread: it overrides the global number unless it is 0. */
static int mkl_get(void)
{
    return MKL_Get_Max_Threads();
}

static int mkl_swap(int state)
{
    return MKL_Set_Num_Threads_Local(state);
}

typedef void function(void);

/*
 * Each weak function must be called somewhere in this file.  One that only a table names stays null in a program linked
 * with the static archive, whatever library is loaded at run time.
 */
static const struct library {
    const char *name;
    function *first, *second;  /* two of its functions; the library is present if both are */
    int (*is_there)(void);     /* a further condition for its presence; may be NULL */
    int (*serial)(void);       /* 1: its threads cannot be set; may be NULL */
    int (*get)(void);          /* the state for the threads now in use */
    int (*swap)(int state);    /* sets the state and returns the previous one */
    int one;                   /* the state for one thread; the state for n threads is n times this */
    const char *chosen[8];     /* environment variables that it obeys */
    const char *overlooked[3]; /* variables that only its other builds obey: a user who sets one means this build too */
} libraries[] = {
    {.name = "OpenBLAS",
     .first = (function *)openblas_get_num_threads,
     .second = (function *)openblas_set_num_threads,
     .is_there = openmp_is_there,
     .get = openmp_get,
     .swap = openmp_swap,
     .one = HALF + 1,
     .chosen = {"OMP_NUM_THREADS"},
     .overlooked = {"OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS"}},
    {.name = "OpenBLAS",
     .first = (function *)openblas_get_num_threads,
     .second = (function *)openblas_set_num_threads,
     .serial = openblas_serial,
     .get = openblas_get_num_threads,
     .swap = openblas_swap,
     .one = 1,
     .chosen = {"OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS"}},
    {.name = "BLIS",
     .first = (function *)bli_thread_get_num_threads,
     .second = (function *)bli_thread_set_num_threads,
     .serial = blis_serial,
     .get = blis_get,
     .swap = blis_swap,
     .one = 1,
     .chosen = {"BLIS_NUM_THREADS", "OMP_NUM_THREADS", "BLIS_JC_NT", "BLIS_PC_NT", "BLIS_IC_NT", "BLIS_JR_NT",
                "BLIS_IR_NT"}},
    {.name = "MKL",
     .first = (function *)MKL_Get_Max_Threads,
     .second = (function *)MKL_Set_Num_Threads_Local,
     .get = mkl_get,
     .swap = mkl_swap,
     .one = 1,
     .chosen = {"MKL_NUM_THREADS", "MKL_DOMAIN_NUM_THREADS", "OMP_NUM_THREADS"}},
};

/* Whether two functions are in the same shared object. */
static int together(function *f, function *g)
{
#ifdef DLFO_STRUCT_HAS_EH_DBASE /* glibc 2.35 or later; dladdr would take microseconds */
    struct dl_find_object of_f, of_g;
    return _dl_find_object((void *)(uintptr_t)f, &of_f) == 0 && _dl_find_object((void *)(uintptr_t)g, &of_g) == 0 &&
           of_f.dlfo_link_map == of_g.dlfo_link_map;
#else
    return (void)f, (void)g, 0;
#endif
}

/* The BLAS in use. If the process has several (ScaLAPACK may be linked with another), the one that has the GEMM; before
 * glibc 2.35 the first of the table. */
static const struct library *library(void)
{
    const struct library *found = NULL;
    for (unsigned i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        const struct library *blas = &libraries[i];
        if (!blas->first || !blas->second || (blas->is_there && !blas->is_there()))
            continue;
        if (!found || (blas->first != found->first && together(blas->first, cblas_ddot)))
            found = blas;
    }
    return found;
}

/* The BLAS in use; NULL if its threads cannot be set. */
static const struct library *threaded(void)
{
    const struct library *found = library();
    return found && !(found->serial && found->serial()) ? found : NULL;
}

int hs_threads_set(int n)
{
    const struct library *blas = n > 0 ? threaded() : NULL;
    if (!blas || blas->get() == n * blas->one)
        return 0;
    return blas->swap(n * blas->one) + 1;
}

void hs_threads_restore(int before)
{
    const struct library *blas = before > 0 ? threaded() : NULL;
    if (blas)
        blas->swap(before - 1);
}

int hs_threads_now(void)
{
    const struct library *blas = threaded();
    int state = blas ? blas->get() : 0;
    return state < HALF ? state : state / HALF;
}

/* The value of the first variable that is set and not empty, or NULL. */
static const char *value_of(const char *const *variables)
{
    for (; *variables; variables++) {
        const char *value = hs_environment(*variables);
        if (value && *value)
            return value;
    }
    return NULL;
}

int hs_threads_user_chose(void)
{
    const struct library *blas = library();
    return blas && value_of(blas->chosen);
}

int hs_threads_overlooked(void)
{
    const struct library *blas = library();
    const char *value = blas ? value_of(blas->overlooked) : NULL;
    int n = value ? atoi(value) : 0;
    return n > 0 && n < HALF ? n : 0;
}

const char *hs_threads_library(void)
{
    const struct library *blas = library();
    return blas ? blas->name : "BLAS";
}
