/*
 * A file that is replaced atomically.  It is written in the same directory under a temporary name, which is unique and
 * not a symbolic link, and renamed when complete, so readers see the old file or the new one.
 */
#ifndef HS_HSUMMA_CONTEXT_NEW_FILE_H
#define HS_HSUMMA_CONTEXT_NEW_FILE_H

#include "base/status.h"

#include <limits.h>
#include <stddef.h>
#include <sys/types.h>

struct hs_new_file {
    const char *what;         /* the option that names the file, for messages */
    char path[PATH_MAX];      /* the path with symbolic links resolved */
    char name[PATH_MAX + 32]; /* the temporary name */
    int file;                 /* descriptor of the temporary file; -1 if it is not open */
    int there;                /* 1 if an existing file, with mode `mode`, is replaced */
    mode_t mode;
};

/* Resolves symbolic links.  The path must name a regular file or no file.  All errors are HSUMMA_ERR_OPTION. */
hsumma_status hs_new_file_find(struct hs_new_file *target, const char *what, const char *path,
                               struct hs_message *message);
hsumma_status hs_new_file_open(struct hs_new_file *target, struct hs_message *message);
hsumma_status hs_new_file_write(struct hs_new_file *target, const char *text, size_t length,
                                struct hs_message *message);
/* Renames the file if status is HSUMMA_OK; otherwise removes it and returns status. */
hsumma_status hs_new_file_end(struct hs_new_file *target, hsumma_status status, struct hs_message *message);

/* Sets a message with the text of errno; returns HSUMMA_ERR_OPTION. */
hsumma_status hs_file_fail(const char *option, const char *what, const char *path, struct hs_message *message);

#endif
