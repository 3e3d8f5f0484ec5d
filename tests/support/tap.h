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
 * prints: call tap_begin(rank == 0) after MPI_Init, and return tap_done()'s value after MPI_Finalize. */
#ifndef HS_TESTS_SUPPORT_TAP_H
#define HS_TESTS_SUPPORT_TAP_H

#include <stdarg.h>
#include <stdio.h>

void tap_begin(int prints);

/* Reports one test. Returns `cond`, so that the caller can add a tap_diag after a failure. */
__attribute__((format(printf, 2, 3))) int tap_ok(int cond, const char *fmt, ...);

/* Reports n tests that cannot run on this machine, with the reason. */
void tap_skip(int n, const char *reason);

/* Prints a remark, which the runner shows if the program fails. */
__attribute__((format(printf, 1, 2))) void tap_diag(const char *fmt, ...);

/* Prints the plan line; returns the exit status for main. */
int tap_done(void);

#endif
