#include "base/threads.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* All weak: any CBLAS may be linked, and another build of it, or none, may be there when the program runs. */
#define WEAK __attribute__((weak))
void cblas_ddot(
    void) WEAK; /* only its place counts: the GEMM's, which a link without any BLAS must not find named here */
int openblas_get_parallel(void) WEAK;
int openblas_get_num_threads(void) WEAK;
void openblas_set_num_threads(int n) WEAK;
int omp_get_max_threads(void) WEAK;
void omp_set_num_threads(int n) WEAK;
int bli_info_get_enable_threading(void) WEAK;
int64_t bli_thread_get_jc_nt(void) WEAK;
int64_t bli_thread_get_num_threads(void) WEAK;
void bli_thread_set_num_threads(int64_t n) WEAK;
int MKL_Get_Max_Threads(void) WEAK; /* in lower case these are Fortran's, which take pointers */
int MKL_Set_Num_Threads_Local(int n) WEAK;

/*
 * A state is what a library is told to get so many threads, and what puts it back: 0 or more.  For most it is the
 * number itself.  OpenBLAS built with OpenMP has two: its own and OpenMP's, which its GEMM obeys, which setting its
 * own sets, too, and which belongs to the rest of the program as well.  Both are kept, OpenMP's in the upper half.
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

static int openblas_get(void)
{
    return openblas_get_num_threads();
}

static int openblas_swap(int state)
{
    int before = openblas_get_num_threads();
    openblas_set_num_threads(state);
    return before;
}

/* BLIS with a number of ways for each of its loops, which the user has given, does not look at the number of threads.
 */
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

/* A number that was never set is -1 (and means one thread): state 0. */
static int blis_swap(int state)
{
    int64_t before = bli_thread_get_num_threads();
    bli_thread_set_num_threads(state > 0 ? state : -1);
    return before > 0 ? (int)before : 0;
}

/* A number for the calling thread, which wins over the one for all unless it is 0. */
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
 * Each weak function is called somewhere above, too: one that only a table names is null for good in a program that is
 * linked with the archive, whatever library is there when it runs.
 */
static const struct library {
    const char *name;
    function *first, *second;  /* of the library: it is there if they are */
    int (*is_there)(void);     /* and if this says so; may be NULL */
    int (*serial)(void);       /* 1: there is nothing to set; may be NULL */
    int (*get)(void);          /* the state that the threads in use amount to */
    int (*swap)(int state);    /* sets the state, returns the former one */
    int one;                   /* the state of one thread; that of n threads is n times this */
    const char *chosen[8];     /* variables of the environment that it obeys */
    const char *overlooked[3]; /* and that its other builds obey: who sets them means this one, too */
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
     .get = openblas_get,
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

/* Whether two functions lie in one shared object. */
static int together(function *f, function *g)
{
#ifdef DLFO_STRUCT_HAS_EH_DBASE /* glibc from 2.35 on; dladdr takes microseconds, this does not */
    struct dl_find_object of_f, of_g;
    return _dl_find_object((void *)(uintptr_t)f, &of_f) == 0 && _dl_find_object((void *)(uintptr_t)g, &of_g) == 0 &&
           of_f.dlfo_link_map == of_g.dlfo_link_map;
#else
    return (void)f, (void)g, 0;
#endif
}

/* The library at hand: if several are in the process (ScaLAPACK may bring its own), the one that has the GEMM. */
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

/* The same, if its threads can be set. */
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

/* The value of the first variable that has one, or NULL. */
static const char *value_of(const char *const *variables)
{
    for (; *variables; variables++) {
        const char *value = getenv(*variables);
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
