/* Draws time against the number of groups, measured and predicted. */
#include "report/plot.h"
#include "sweep/command.h"

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

/* Writes a line for the fastest grouping of each G: G, the spreads of total and communication time, and the predictions
 * of both. Then writes the point of the library's choice. */
static void write_data(const sweep *s, FILE *pipe)
{
    fputs("$hsumma << EOD\n", pipe);
    for (int i = 1; i < s->count; i++) {
        const candidate *c = &s->candidates[i];

        if (c->plan && c->best_of_g)
            fprintf(pipe, "%d %.9g %.9g %.9g %.9g %.9g %.9g %.9g %.9g\n", c->grid.groups, c->total.median, c->total.min,
                    c->total.max, c->comm.median, c->comm.min, c->comm.max, c->info.predicted_seconds,
                    c->info.predicted_comm_seconds);
    }
    fputs("EOD\n", pipe);
    const candidate *chosen = chosen_of(s);
    if (chosen)
        fprintf(pipe, "$chosen << EOD\n%d %.9g\nEOD\n", chosen->grid.rows ? chosen->grid.groups : 1,
                chosen->total.median);
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

const char *sweep_plot(const sweep *s, const char *path, struct hs_message *message)
{
    return plot_run(write_commands, s, path, message);
}
