/* Drawings by gnuplot, for which each command writes its own commands. */
#ifndef HS_BENCHMARKS_REPORT_PLOT_H
#define HS_BENCHMARKS_REPORT_PLOT_H

#include <stdio.h>

/* Whether gnuplot is there and the file can be written: asked before the measurement. Returns NULL or a complaint. */
const char *plot_check(const char *path);

typedef void plot_writer(const void *what, FILE *pipe);
/* Draws what the writer's commands and data say, as SVG.  Returns NULL or a complaint. */
const char *plot_run(plot_writer *write, const void *what, const char *path);

/* A text in single quotes, in which gnuplot knows only '' as special. */
void plot_quote(FILE *pipe, const char *text);

#endif
