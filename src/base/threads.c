#include "base/threads.h"

#include <dlfcn.h>
#include <stdlib.h>

/*
 * Looked up at run time, because any CBLAS may be linked instead of OpenBLAS.  dlsym returns a data pointer that has to
 * become a function pointer: POSIX allows the conversion, ISO C only through a union.
 */
union symbol {
    void *data;
    int (*get)(void);
    void (*set)(int);
};

int hs_threads_set(int n)
{
    union symbol get, set;
    if (n <= 0)
        return 0;
    get.data = dlsym(RTLD_DEFAULT, "openblas_get_num_threads");
    set.data = dlsym(RTLD_DEFAULT, "openblas_set_num_threads");
    if (!get.data || !set.data)
        return 0;
    int before = get.get();
    if (before == n)
        return 0;
    set.set(n);
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
