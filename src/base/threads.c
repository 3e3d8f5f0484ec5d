#include "base/threads.h"

#include <stdlib.h>

/* Weak, because any CBLAS may be linked instead of OpenBLAS. */
int openblas_get_num_threads(void) __attribute__((weak));
void openblas_set_num_threads(int n) __attribute__((weak));

int hs_threads_set(int n)
{
    if (n <= 0 || !openblas_get_num_threads || !openblas_set_num_threads)
        return 0;
    int before = openblas_get_num_threads();
    if (before == n)
        return 0;
    openblas_set_num_threads(n);
    return before;
}

void hs_threads_restore(int before)
{
    hs_threads_set(before);
}

int hs_threads_user_chose(void)
{
    static const char *const names[] = {"OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (getenv(names[i]))
            return 1;
    return 0;
}
