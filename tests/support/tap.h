/* The Test Anything Protocol for the tests of this directory: one line per test on standard output, the plan at the
 * end.
 *
 *     int main(void)
 *     {
 *         tap_ok(1 + 1 == 2, "%d and %d make two", 1, 1);
 *         return tap_done();
 *     }
 *
 * In an MPI program every rank calls the same functions with a verdict that the ranks have agreed on, and one rank
 * prints: tap_begin(rank == 0) after MPI_Init, and tap_done()'s value is returned after MPI_Finalize. */
#ifndef HS_TESTS_SUPPORT_TAP_H
#define HS_TESTS_SUPPORT_TAP_H

#include <stdarg.h>
#include <stdio.h>

void tap_begin(int prints);

/* One test. Returns whether it passed, so that the caller can add a tap_diag. */
__attribute__((format(printf, 2, 3))) int tap_ok(int cond, const char *fmt, ...);

/* n tests that cannot run here, and why. */
void tap_skip(int n, const char *reason);

/* A remark; the runner shows it when the program fails. */
__attribute__((format(printf, 1, 2))) void tap_diag(const char *fmt, ...);

/* Prints the plan; the value for main to return. */
int tap_done(void);

#endif
