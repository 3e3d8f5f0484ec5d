/* Draws with gnuplot, which reads commands and data from a pipe. */
#include "report/plot.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

const char *plot_check(const char *path)
{
    FILE *pipe = popen("gnuplot --version >/dev/null 2>&1", "r"), *file;
    int status = pipe ? pclose(pipe) : -1, existed = access(path, F_OK) == 0;

    if (status == -1 || !WIFEXITED(status) || WEXITSTATUS(status))
        return "gnuplot was not found or does not run; install it";
    file = fopen(path, "a"); /* append: an older drawing stays until it is replaced */
    if (!file)
        return strerror(errno);
    fclose(file);
    if (!existed)
        remove(path);
    return NULL;
}

void plot_quote(FILE *pipe, const char *text)
{
    fputc('\'', pipe);
    for (; *text; text++) {
        if (*text == '\'')
            fputc('\'', pipe);
        fputc(*text, pipe);
    }
    fputc('\'', pipe);
}

const char *plot_run(plot_writer *write, const void *what, const char *path)
{
    void (*before)(int) = signal(SIGPIPE, SIG_IGN); /* if gnuplot exits early, writing must not kill this process */
    FILE *pipe = popen("gnuplot", "w");
    int status = -1;

    if (pipe) {
        fputs("set terminal svg size 800,560 enhanced font 'sans-serif,14' background 'white'\nset output ", pipe);
        plot_quote(pipe, path);
        fputc('\n', pipe);
        write(what, pipe);
        fputs("unset output\n", pipe);
        status = pclose(pipe);
    }
    signal(SIGPIPE, before);
    struct stat drawn;
    int good = status == 0 && stat(path, &drawn) == 0 && drawn.st_size > 0; /* gnuplot does not report a full disk */
    return good ? NULL : "gnuplot failed; its messages are above";
}
