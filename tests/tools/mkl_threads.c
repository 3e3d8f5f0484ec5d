/*
 * The calls of MKL that set threads, preloaded where MKL itself is not installed: a number for all (MKL_NUM_THREADS in
 * the environment, else 3) and one of the calling thread that wins unless it is 0.
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

/* What is taken for the BLAS is the library that has this. */
void cblas_ddot(void)
{
}
