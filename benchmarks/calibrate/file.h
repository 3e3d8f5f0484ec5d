/* hsumma_bench calibrate: a text file that appears whole or not at all.  One rank calls these; 0, or -1 with `error`.
 */
#ifndef HS_BENCHMARKS_CALIBRATE_FILE_H
#define HS_BENCHMARKS_CALIBRATE_FILE_H

#include "multiply/npy.h"

/* Whether it could be written now, before time is spent on what goes into it. */
int calibrate_file_check(const char *path, npy_error *error);
/* Replaces the file, if there is one. */
int calibrate_file_write(const char *path, const char *text, npy_error *error);
/* Makes the directories in front of the last '/' that are not there. */
int calibrate_file_directories(const char *path, npy_error *error);

#endif
