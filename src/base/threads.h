/*
 * Threads of the local BLAS.  They are state of the whole process: only this file touches them, around the library's
 * own work, and puts back what it found.
 */
#ifndef HS_BASE_THREADS_H
#define HS_BASE_THREADS_H

/* Sets the BLAS to n threads (n <= 0: leaves it alone); returns what to give to hs_threads_restore, whatever that is.
 */
int hs_threads_set(int n);
void hs_threads_restore(int before);

/* Threads that the BLAS would use now; 0 if it offers no way to set them. */
int hs_threads_now(void);

/* 1 if the user has chosen a number of BLAS threads through the environment, and the BLAS obeys. */
int hs_threads_user_chose(void);

/* The number that the user has chosen by a variable which this build of the BLAS does not read; 0: none. */
int hs_threads_overlooked(void);

/* The BLAS at hand, for people. */
const char *hs_threads_library(void);

#endif
