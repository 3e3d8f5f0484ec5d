/* A file that appears under its name only when it is complete. Until then it is the hidden file ".NAME.part-PID" in the
 * same directory, which is removed on failure, and on SIGINT, SIGTERM and SIGHUP unless these are ignored or handled
 * already.
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

/* Checks that a file of this name may be written: either the file does not exist, but its directory does; or force is
 * given, and the file is a regular file or a symbolic link. Changes nothing. */
int output_check(const char *path, int force, npy_error *error);

/* Creates the temporary file of `size` bytes, copies `length` bytes from `start` to its beginning, and reserves the
 * space if the file system can. The handler that removes the file on a signal knows only one file, so only one output
 * may be open at a time. Always undo with output_finish or output_close, also after an error. */
int output_open(output *out, const char *path, const void *start, size_t length, int64_t size, int force,
                npy_error *error);

/* Checks the size, makes the file durable and renames it. Without force it fails if a file of the final name has
 * appeared meanwhile, and leaves that file as it is. In any case it then does what output_close does. */
int output_finish(output *out, npy_error *error);

/* Removes the temporary file, if any, and frees what output_open allocated. */
void output_close(output *out);

#endif
