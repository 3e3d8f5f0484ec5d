/* A file that appears under its name only when it is complete. Until then it is a hidden file beside it,
 * ".NAME.part-PID", which is removed on failure and on SIGINT, SIGTERM and SIGHUP.
 *
 * Not collective: one rank calls these functions; others may write to the file by its temporary name. Nothing is
 * printed; a function that can fail returns 0, or -1 with a one-line message in `error`. */
#ifndef HS_BENCHMARKS_REPORT_OUTPUT_H
#define HS_BENCHMARKS_REPORT_OUTPUT_H

#include "multiply/npy.h"

typedef struct output {
    char *path;      /* the final name */
    char *temporary; /* NULL if there is nothing to remove or rename */
    int64_t size;    /* of the whole file */
    int force;       /* replace an existing file */
} output;

/* Checks that a file of this name may be written: it does not exist, or is a regular file and force is given; and the
 * directory exists. Changes nothing. */
int output_check(const char *path, int force, npy_error *error);

/* Creates the temporary file, with `size` bytes of which the first `length` are `start`; the space is reserved if the
 * file system can. A signal removes the file; so only one output may be open at a time. */
int output_open(output *out, const char *path, const void *start, size_t length, int64_t size, int force,
                npy_error *error);

/* Checks the size, makes the file durable and renames it. Without force it fails, and touches nothing, if a file of
 * that name has appeared meanwhile. The temporary file is removed in any case. */
int output_finish(output *out, npy_error *error);

/* Removes the temporary file, if any, and frees what output_open allocated. */
void output_close(output *out);

#endif
