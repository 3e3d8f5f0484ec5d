/* Threads of the BLAS: state of the process, changed only here, around the library's own calls, and restored. */
#ifndef HS_BASE_THREADS_H
#define HS_BASE_THREADS_H

/* Sets the BLAS to n threads (n <= 0: no change).  Pass the result to hs_threads_restore; it has no other meaning. */
int hs_threads_set(int n);
void hs_threads_restore(int before);

/* Threads that the BLAS would use now; 0 if their number cannot be set. */
int hs_threads_now(void);

/* 1 if the user has set a number of BLAS threads in the environment, in a variable that the BLAS obeys. */
int hs_threads_user_chose(void);

/* The number of threads that the user has set in a variable that this build of the BLAS ignores; 0 if none is set. */
int hs_threads_overlooked(void);

/* The name of the BLAS in use. */
const char *hs_threads_library(void);

#endif
