/*
 * A stand-in for MKL's functions that set threads, preloaded where MKL is not installed. There is a global number of
 * threads (MKL_NUM_THREADS in the environment, else 3) and a local number, which overrides the global one unless 0.
 * Here all threads of the process have the same local number.
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

/* The library regards the shared object that defines this symbol as the BLAS. */
void cblas_ddot(void)
{
}
