/* A file that appears under its name only when it is complete. Until then it is a hidden one beside it,
 * ".NAME.part-PID", which disappears when something fails, also by SIGINT, SIGTERM and SIGHUP.
 *
 * Not collective: one rank calls these; others may write into the file by its temporary name. Nothing is printed; a
 * function that can fail returns 0, or -1 with one line of explanation in `error`. */
#ifndef HS_BENCHMARKS_REPORT_OUTPUT_H
#define HS_BENCHMARKS_REPORT_OUTPUT_H

#include "multiply/npy.h"

typedef struct output {
    char *path;      /* the name to be */
    char *temporary; /* NULL when there is nothing to remove or rename */
    int64_t size;    /* of the whole file */
    int force;       /* an existing file is replaced */
} output;

/* Whether a file of this name may be written: it does not exist, or is a plain file and force is given, and the
 * directory exists. Changes nothing. */
int output_check(const char *path, int force, npy_error *error);

/* Makes the temporary file, of `size` bytes that begin with `start`; the space is reserved where the file system can do
 * that. At most one output is open at a time, which a signal removes. */
int output_open(output *out, const char *path, const void *start, size_t length, int64_t size, int force,
                npy_error *error);

/* Checks the size, makes the file durable and gives it its name; without force a file that has appeared there in the
 * meantime is left alone and this fails. The temporary file is gone in any case. */
int output_finish(output *out, npy_error *error);

/* Removes the temporary file, if there is one, and frees what output_open allocated. */
void output_close(output *out);

#endif
