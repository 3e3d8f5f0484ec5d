/* The progress output of commands: lines if stderr is not a terminal; on a terminal a bar, which is removed at the end;
 * no output where it is switched off. */
#include "report/progress.h"
#include "support/tap.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Redirects stderr to a pipe or a pseudo-terminal; returns the descriptor from which its output can be read. */
static int redirect(int terminal)
{
    int ends[2];

    if (terminal) {
        ends[0] = posix_openpt(O_RDWR | O_NOCTTY);
        if (ends[0] < 0 || grantpt(ends[0]) || unlockpt(ends[0]) ||
            (ends[1] = open(ptsname(ends[0]), O_RDWR | O_NOCTTY)) < 0)
            return -1;
    } else if (pipe(ends)) {
        return -1;
    }
    dup2(ends[1], STDERR_FILENO);
    close(ends[1]);
    return ends[0];
}

/* Waits until `what` has been printed `times` times; returns all text so far. */
static const char *read_until(int out, const char *what, int times)
{
    static char text[1 << 16];
    size_t length = 0;

    for (int found = 0; found < times && length < sizeof text - 1;) {
        ssize_t more = read(out, text + length, sizeof text - 1 - length);

        if (more <= 0)
            break;
        length += (size_t)more;
        text[length] = 0;
        found = 0;
        for (const char *at = text; (at = strstr(at, what)) != NULL; at++)
            found++;
    }
    return text;
}

/* Reads what can be read without waiting, at most 4096 bytes; returns its length. */
static size_t left(int out)
{
    char text[4096];
    ssize_t length;

    fcntl(out, F_SETFL, O_NONBLOCK);
    length = read(out, text, sizeof text);
    return length > 0 ? (size_t)length : 0;
}

static void test_lines(void)
{
    int out = redirect(0);
    progress bar;

    progress_begin(&bar, 0, 0);
    tap_ok(bar.shown && !bar.bar && bar.delay == 2, "a pipe: lines, after two seconds");
    bar.delay = bar.period = 0.01;
    progress_update(&bar, "first", 0.25);
    const char *text = read_until(out, "\n", 2);
    tap_ok(!strncmp(text, "hsumma: first, 25 %, ", 21) && !strchr(text, '\r'), "lines come by themselves");
    progress_expect(&bar, "second", 1e-6);
    tap_ok(strstr(read_until(out, "second", 2), "second, 99 %") != NULL,
           "a step that is done by time, but not at its end");
    progress_end(&bar);
    progress_update(&bar, "third", 0.5);
    tap_ok(strstr(read_until(out, "third", 1), "third, 50 %") != NULL, "it goes on after an end");
    progress_end(&bar);
    left(out);
    bar.begun += 1e6;
    bar.delay = 1;
    progress_update(&bar, "short", 1);
    progress_end(&bar);
    tap_ok(left(out) == 0, "short work says nothing");
    close(out);
}

static void test_silence(void)
{
    int out = redirect(0);
    progress bar = {.shown = 0};

    progress_update(&bar, "zero", 1);
    progress_end(&bar);
    progress_begin(&bar, 0, 1);
    tap_ok(!bar.shown, "quiet");
    progress_update(&bar, "quiet", 1);
    progress_end(&bar);
    setenv("HSUMMA_PROGRESS", "off", 1);
    progress_begin(&bar, 0, 0);
    tap_ok(!bar.shown, "HSUMMA_PROGRESS=off");
    tap_ok(left(out) == 0, "nothing was written");
    fcntl(out, F_SETFL, 0);
    progress_begin(&bar, 1, 0);
    progress_update(&bar, "forced", 0.5);
    tap_ok(strstr(read_until(out, "forced", 1), "\rforced") != NULL, "--progress: a bar, at once");
    progress_end(&bar);
    unsetenv("HSUMMA_PROGRESS");
    close(out);
}

static void test_terminal(void)
{
    int out = redirect(1);
    progress bar;

    if (out < 0) {
        tap_skip(2, "no pseudo-terminal");
        return;
    }
    progress_begin(&bar, 0, 0);
    tap_ok(bar.shown && bar.bar, "a terminal: a bar");
    bar.delay = bar.period = 0.01;
    progress_update(&bar, "drawing", 0.5);
    read_until(out, "\rdrawing", 3);
    progress_end(&bar);
    const char *text = read_until(out, " \r", 1), *end = text + strlen(text);
    tap_ok(end > text && end[-1] == '\r' && !strchr(text, '\n'), "which is removed");
    close(out);
}

int main(void)
{
    int terminal = dup(STDERR_FILENO);

    unsetenv("HSUMMA_PROGRESS");
    test_lines();
    test_silence();
    test_terminal();
    dup2(terminal, STDERR_FILENO);
    return tap_done();
}
