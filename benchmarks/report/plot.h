/* Drawings by gnuplot; each caller writes its own gnuplot commands. */
#ifndef HS_BENCHMARKS_REPORT_PLOT_H
#define HS_BENCHMARKS_REPORT_PLOT_H

#include "base/status.h"

#include <stdio.h>

/* Checks, before measurements, that gnuplot is present and the file can be written. NULL, or an error message,
 * which may be in *message. */
const char *plot_check(const char *path, struct hs_message *message);

typedef void plot_writer(const void *what, FILE *pipe);
/* Draws the writer's commands and data as SVG. NULL, or an error message,
 * which may be in *message. */
const char *plot_run(plot_writer *write, const void *what, const char *path, struct hs_message *message);

/* Writes a text in single quotes; a quote inside becomes '', gnuplot's only escape there, and a control character,
 * which could end the command, becomes a space. */
void plot_quote(FILE *pipe, const char *text);

#endif
