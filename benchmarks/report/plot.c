/* Drawing by a gnuplot that reads commands and data from a pipe. */
#include "report/plot.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/command.h"

const char *plot_check(const char *path)
{
    FILE *pipe = popen("gnuplot --version >/dev/null 2>&1", "r"), *file;
    int status = pipe ? pclose(pipe) : -1, existed = access(path, F_OK) == 0;

    if (status == -1 || !WIFEXITED(status) || WEXITSTATUS(status))
        return "gnuplot was not found or does not run";
    file = fopen(path, "a"); /* an older drawing stays until there is a new one */
    if (!file)
        return strerror(errno);
    fclose(file);
    if (!existed)
        remove(path);
    return NULL;
}

/* A text in single quotes, in which gnuplot knows only '' as special. */
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

static const candidate *chosen_of(const sweep *s)
{
    for (int i = 0; i < s->count; i++)
        if (s->candidates[i].chosen && s->candidates[i].plan)
            return &s->candidates[i];
    return NULL;
}

static void write_title(const sweep *s, FILE *pipe)
{
    const arguments *args = s->p.args;

    fprintf(pipe, "set title \"HSUMMA on a %d x %d grid, %lld x %lld x %lld, %s\\n", s->p.nprow, s->p.npcol,
            (long long)args->m, (long long)args->n, (long long)args->k, type_name(args->type));
    fprintf(pipe, "{/*0.8 best I x J of each G, median and range of %d rounds}\"\n", args->reps);
}

/* G, the spread of total and of communication, both as predicted; then the point of the library's own choice. */
static void write_data(const sweep *s, FILE *pipe)
{
    fputs("$hsumma << EOD\n", pipe);
    for (int i = 1; i < s->count; i++) {
        const candidate *c = &s->candidates[i];

        if (c->plan && c->best_of_g)
            fprintf(pipe, "%d %.9g %.9g %.9g %.9g %.9g %.9g %.9g %.9g\n", c->groups, c->total.median, c->total.min,
                    c->total.max, c->comm.median, c->comm.min, c->comm.max, c->predicted_s, c->predicted_comm_s);
    }
    fputs("EOD\n", pipe);
    const candidate *chosen = chosen_of(s);
    if (chosen)
        fprintf(pipe, "$chosen << EOD\n%d %.9g\nEOD\n", chosen->rows ? chosen->groups : 1, chosen->total.median);
}

static void write_commands(const void *what, FILE *pipe)
{
    const sweep *s = what;
    const candidate *summa = &s->candidates[0];
    double total = summa->plan ? summa->total.median : 0, comm = summa->plan ? summa->comm.median : 0;

    write_title(s, pipe);
    write_data(s, pipe);
    fprintf(pipe, "set logscale x 2\nset xrange [0.8:%g]\nset yrange [0:*]\n", 1.25 * s->p.nprow * s->p.npcol);
    fputs("set xlabel 'groups G = I J'\nset ylabel 'seconds'\nset grid ytics lc rgb '#dddddd'\n"
          "set key below height 1.5 spacing 1.2\nset border 3\nset tics nomirror\n",
          pipe);
    fputs("plot ", pipe);
    if (summa->plan)
        fprintf(pipe,
                "%.9g with lines lw 2 dt 2 lc rgb '#444444' title 'SUMMA, total', "
                "%.9g with lines lw 2 dt 3 lc rgb '#d9812d' title 'SUMMA, communication', ",
                total, comm);
    fputs("$hsumma using 1:2:3:4 with yerrorlines lw 2 pt 7 ps 0.7 lc rgb '#1f5fa8' title 'HSUMMA, total', "
          "$hsumma using 1:5:6:7 with yerrorlines lw 2 pt 5 ps 0.7 lc rgb '#c0392b' title 'HSUMMA, communication', "
          "$hsumma using 1:8 with linespoints dt 2 lw 1.5 pt 6 ps 0.5 lc rgb '#1f5fa8' title 'model, total', "
          "$hsumma using 1:9 with linespoints dt 2 lw 1.5 pt 4 ps 0.5 lc rgb '#c0392b' title 'model, communication'",
          pipe);
    if (chosen_of(s))
        fputs(", $chosen using 1:2 with points pt 6 ps 2.2 lw 2.5 lc rgb '#222222' title 'automatic choice'", pipe);
    fputc('\n', pipe);
}

const char *plot_run(plot_writer *write, const void *what, const char *path)
{
    void (*before)(int) = signal(SIGPIPE, SIG_IGN); /* a gnuplot that gives up must not end this process */
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
    int good =
        status == 0 && stat(path, &drawn) == 0 && drawn.st_size > 0; /* gnuplot itself does not tell a full disk */
    return good ? NULL : "gnuplot could not draw it";
}

const char *plot_draw(const sweep *s, const char *path)
{
    return plot_run(write_commands, s, path);
}
