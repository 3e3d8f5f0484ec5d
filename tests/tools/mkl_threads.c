/*
 * MKL's calls that set threads, preloaded where MKL is not installed: a number for all threads (MKL_NUM_THREADS in the
 * environment, else 3), and one of the calling thread, which overrides it unless 0.
 */
#include <stdlib.h>

static int local;

int MKL_Get_Max_Threads(void)
{
    const char *all = getenv("MKL_NUM_THREADS");
    return local ? local : all ? atoi(all) : 3;
}

int MKL_Set_Num_Threads_Local(int n)
{
    int before = local;
    local = n;
    return before;
}

/* The library with this symbol is taken for the BLAS. */
void cblas_ddot(void)
{
}
