/* Draws with gnuplot, which reads commands and data from a pipe. */
#include "report/plot.h"

#include "hsumma/context/new_file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

const char *plot_check(const char *path, struct hs_message *message)
{
    FILE *pipe = popen("gnuplot --version >/dev/null 2>&1", "r");
    int status = pipe ? pclose(pipe) : -1;

    if (status == -1 || !WIFEXITED(status) || WEXITSTATUS(status))
        return "gnuplot was not found or does not run; install it";
    return hs_new_file_try("", path, message) ? message->text : NULL;
}

void plot_quote(FILE *pipe, const char *text)
{
    fputc('\'', pipe);
    for (; *text; text++) {
        if (*text == '\'')
            fputc('\'', pipe);
        fputc((unsigned char)*text < ' ' ? ' ' : *text, pipe);
    }
    fputc('\'', pipe);
}

/* gnuplot inherits the descriptor of the file, and writes to it by a name that needs no quotes. */
static int draw(plot_writer *write, const void *what, int file)
{
    void (*before)(int) = signal(SIGPIPE, SIG_IGN); /* if gnuplot exits early, writing must not kill this process */
    FILE *pipe = fcntl(file, F_SETFD, 0) ? NULL : popen("gnuplot", "w");
    int status = -1;

    if (pipe) {
        fprintf(pipe,
                "set terminal svg size 800,560 enhanced font 'sans-serif,14' background 'white'\n"
                "set output '/dev/fd/%d'\n",
                file);
        write(what, pipe);
        fputs("unset output\n", pipe);
        status = pclose(pipe);
    }
    signal(SIGPIPE, before);
    struct stat drawn;
    return status == 0 && fstat(file, &drawn) == 0 && drawn.st_size > 0; /* gnuplot does not report a full disk */
}

const char *plot_run(plot_writer *write, const void *what, const char *path, struct hs_message *message)
{
    struct hs_new_file target;
    hsumma_status status = hs_new_file_find(&target, "", path, message);

    if (!status)
        status = hs_new_file_open(&target, message);
    if (!status && !draw(write, what, target.file))
        status = hs_fail(message, HSUMMA_ERR_OPTION, "gnuplot failed; its messages are above");
    return hs_new_file_end(&target, status, message) ? message->text : NULL;
}
