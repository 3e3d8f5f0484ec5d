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

static struct {
    int silent; /* this rank does not print */
    int count;  /* tests so far */
    int failed;
} tap_state;

static inline void tap_begin(int prints)
{
    tap_state.silent = !prints;
}

/* Prints `head`, then the text with newlines as spaces and # escaped (it would start a directive), ends the line. */
static inline void tap_line(const char *head, const char *fmt, va_list args)
{
    char text[512];

    vsnprintf(text, sizeof text, fmt, args);
    fputs(head, stdout);
    for (const char *c = text; *c; c++) {
        if (*c == '#' || *c == '\\')
            putchar('\\');
        putchar(*c == '\n' ? ' ' : *c);
    }
    putchar('\n');
    fflush(stdout); /* a crash loses nothing */
}

/* One test. Returns whether it passed, so that the caller can add a tap_diag. */
__attribute__((format(printf, 2, 3))) static inline int tap_ok(int cond, const char *fmt, ...)
{
    char head[32];
    va_list args;

    tap_state.count++;
    tap_state.failed += !cond;
    if (tap_state.silent)
        return cond;
    snprintf(head, sizeof head, "%s %d - ", cond ? "ok" : "not ok", tap_state.count);
    va_start(args, fmt);
    tap_line(head, fmt, args);
    va_end(args);
    return cond;
}

/* n tests that cannot run here, and why. */
static inline void tap_skip(int n, const char *reason)
{
    for (int i = 0; i < n; i++) {
        tap_state.count++;
        if (!tap_state.silent)
            printf("ok %d # SKIP %s\n", tap_state.count, reason);
    }
    fflush(stdout);
}

/* A remark; the runner shows it when the program fails. */
__attribute__((format(printf, 1, 2))) static inline void tap_diag(const char *fmt, ...)
{
    va_list args;

    if (tap_state.silent)
        return;
    va_start(args, fmt);
    fputs("# ", stdout);
    vprintf(fmt, args);
    putchar('\n');
    fflush(stdout);
    va_end(args);
}

/* Prints the plan; the value for main to return. */
static inline int tap_done(void)
{
    if (!tap_state.silent) {
        printf("1..%d\n", tap_state.count);
        fflush(stdout);
    }
    return tap_state.failed ? 1 : 0;
}

#endif
