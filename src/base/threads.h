/*
 * Threads of the local BLAS.  They are state of the whole process: only these two functions touch them, around the
 * library's own work, and put back what they found.
 */
#ifndef HS_BASE_THREADS_H
#define HS_BASE_THREADS_H

/* Sets the BLAS to n threads (n <= 0: leaves it alone); returns what to give to hs_threads_restore. */
int hs_threads_set(int n);
void hs_threads_restore(int before);

/* 1 if the user has chosen a number of BLAS threads through the environment. */
int hs_threads_user_chose(void);

#endif
