/* The sweep as a drawing, by gnuplot. */
#ifndef HSUMMA_BENCHMARKS_PLOT_H
#define HSUMMA_BENCHMARKS_PLOT_H

#include "sweep.h"

/* Whether gnuplot is there and the file can be written: asked before the measurement. Returns NULL or a complaint. */
const char *plot_check(const char *path);

/* Draws total and communication time of the best of each G, SUMMA as horizontal lines. Returns NULL or a complaint. */
const char *plot_draw(const sweep *s, const char *path);

#endif
