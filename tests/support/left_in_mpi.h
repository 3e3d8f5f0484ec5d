/* For programs whose contexts end with an error: the communicators of such a context are never freed, and the library
 * of MPICH has no symbols by which tests/lsan.supp could name their memory alone. */
#ifndef HS_TESTS_SUPPORT_LEFT_IN_MPI_H
#define HS_TESTS_SUPPORT_LEFT_IN_MPI_H

/* LeakSanitizer calls this function. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libmpi";
}

#endif
