/* Draws time against size, one line per algorithm. */
#include "report/plot.h"
#include "coll/time.h"

/* The row of a contender at a point; NULL if it was left out. */
static const coll_contender *row_of(const coll_run *run, int p, int i)
{
    const coll_contender *row = &run->row[p * run->count + i];

    return row->present & COLL_RAN ? row : NULL;
}

static int is_drawn(const coll_run *run, int i)
{
    for (int p = 0; p < run->points; p++)
        if (row_of(run, p, i))
            return 1;
    return 0;
}

/* Writes a data block for each contender. Its columns: bytes; median, lower and upper quartile in microseconds. */
static void write_data(const coll_run *run, FILE *pipe)
{
    for (int i = 0; i < run->count; i++) {
        fprintf(pipe, "$line%d << EOD\n", i);
        for (int p = 0; p < run->points; p++) {
            const coll_contender *x = row_of(run, p, i);

            if (x)
                fprintf(pipe, "%lld %.9g %.9g %.9g\n", (long long)x->bytes, x->time.median * 1e6, x->time.lower * 1e6,
                        x->time.upper * 1e6);
        }
        fputs("EOD\n", pipe);
    }
}

static void write_commands(const void *what, FILE *pipe)
{
    const coll_run *run = what;
    const char *between = "plot ";

    fprintf(pipe, "set title \"%s of %s, %d ranks\\n%d repetitions in turns: medians, quartiles\" noenhanced\n",
            hs_collective_name((enum hs_collective)run->args->collective), coll_element_of(run->args->element).name,
            run->size, run->args->reps);
    write_data(run, pipe);
    fputs("set logscale x 2\nset logscale y 10\nset format x '%.0b%B'\nset xlabel 'bytes'\nset ylabel 'us'\n"
          "set grid ytics lc rgb '#dddddd'\nset key outside below spacing 1.1 noenhanced\nset border 3\n"
          "set tics nomirror\n",
          pipe);
    for (int i = 0; i < run->count; i++) {
        if (!is_drawn(run, i))
            continue;
        fprintf(pipe, "%s$line%d using 1:2:3:4 with yerrorlines lw 2 pt %d ps 0.6%s title ", between, i, 4 + i % 10,
                i ? "" : " lc rgb '#444444' dt 2");
        plot_quote(pipe, run->row[i].label);
        between = ", ";
    }
    fputc('\n', pipe);
}

const char *coll_plot(const coll_run *run, const char *path, struct hs_message *message)
{
    return plot_run(write_commands, run, path, message);
}
