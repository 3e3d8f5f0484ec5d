#include "support/tap.h"

static struct {
    int silent; /* nonzero: this rank does not print */
    int count;  /* number of tests so far */
    int failed;
} tap_state;

void tap_begin(int prints)
{
    tap_state.silent = !prints;
}

/* Prints `head` and the text on one line. Newlines become spaces; # is escaped, because it would start a directive. */
static void tap_line(const char *head, const char *fmt, va_list args)
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
    fflush(stdout); /* keeps the output if the program crashes later */
}

int tap_ok(int cond, const char *fmt, ...)
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

void tap_skip(int n, const char *reason)
{
    for (int i = 0; i < n; i++) {
        tap_state.count++;
        if (!tap_state.silent)
            printf("ok %d # SKIP %s\n", tap_state.count, reason);
    }
    fflush(stdout);
}

void tap_diag(const char *fmt, ...)
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

int tap_done(void)
{
    if (!tap_state.silent) {
        printf("1..%d\n", tap_state.count);
        fflush(stdout);
    }
    return tap_state.failed ? 1 : 0;
}
