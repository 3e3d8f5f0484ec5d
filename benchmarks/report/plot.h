/* Drawings by gnuplot; each caller writes its own gnuplot commands. */
#ifndef HS_BENCHMARKS_REPORT_PLOT_H
#define HS_BENCHMARKS_REPORT_PLOT_H

#include <stdio.h>

/* Checks, before measurements, that gnuplot is present and the file can be written. NULL, or an error message. */
const char *plot_check(const char *path);

typedef void plot_writer(const void *what, FILE *pipe);
/* Draws the writer's commands and data as SVG. NULL, or an error message. */
const char *plot_run(plot_writer *write, const void *what, const char *path);

/* Writes a text in single quotes; a quote inside becomes '', gnuplot's only escape there. */
void plot_quote(FILE *pipe, const char *text);

#endif
