/* Drawings by gnuplot: of the sweep, and of whatever writes its own commands. */
#ifndef HS_BENCHMARKS_REPORT_PLOT_H
#define HS_BENCHMARKS_REPORT_PLOT_H

#include "sweep/sweep.h"

/* Whether gnuplot is there and the file can be written: asked before the measurement. Returns NULL or a complaint. */
const char *plot_check(const char *path);

/* Draws total and communication time of the best of each G as measured and as predicted, SUMMA as horizontal lines, and
 * marks the library's own choice. Returns NULL or a complaint. */
const char *plot_draw(const sweep *s, const char *path);

/* Draws what the writer's commands and data say, as SVG.  Returns NULL or a complaint. */
typedef void plot_writer(const void *what, FILE *pipe);
const char *plot_run(plot_writer *write, const void *what, const char *path);

/* A text in single quotes for gnuplot. */
void plot_quote(FILE *pipe, const char *text);

#endif
