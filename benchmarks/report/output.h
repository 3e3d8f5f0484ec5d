/* A large output file (see hsumma/context/new_file.h): its space is reserved at once, and its temporary file is removed
 * on SIGINT, SIGTERM and SIGHUP, too, unless these are ignored or handled already.
 *
 * Not collective: one rank calls these functions; others may write to the file by its temporary name. Nothing is
 * printed; after an error the message has one line. */
#ifndef HS_BENCHMARKS_REPORT_OUTPUT_H
#define HS_BENCHMARKS_REPORT_OUTPUT_H

#include "hsumma/context/new_file.h"

typedef struct output {
    struct hs_new_file file;
    int64_t size; /* of the whole file */
} output;

/* Checks that a file of this name may be written: either the file does not exist, but its directory does; or force is
 * given, and the file is a regular file or a symbolic link. Leaves nothing. */
hsumma_status output_check(const char *path, int force, struct hs_message *message);

/* Creates the temporary file of `size` bytes, copies `length` bytes from `start` to its beginning, and reserves the
 * space if the file system can. The handler that removes the file on a signal knows only one file, so only one output
 * may be open at a time. Always undo with output_finish or output_close, also after an error. */
hsumma_status output_open(output *out, const char *path, const void *start, size_t length, int64_t size, int force,
                          struct hs_message *message);

/* Checks the size, makes the file durable and renames it. Without force it fails if a file of the final name has
 * appeared meanwhile, and leaves that file as it is. In any case it then does what output_close does. */
hsumma_status output_finish(output *out, struct hs_message *message);

/* Removes the temporary file, if any. An output of zeros has none. */
void output_close(output *out);

#endif
