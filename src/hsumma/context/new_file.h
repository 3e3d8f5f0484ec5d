/*
 * A file that appears under its name only when it is complete.  It is written in the same directory under a hidden
 * temporary name, which is new and not a symbolic link, and renamed at the end, so readers see the old file or the new
 * one.
 */
#ifndef HS_HSUMMA_CONTEXT_NEW_FILE_H
#define HS_HSUMMA_CONTEXT_NEW_FILE_H

#include "base/status.h"

#include <limits.h>
#include <stddef.h>
#include <sys/types.h>

struct hs_new_file {
    const char *before;  /* begins messages, as "trace: "; "": the caller names the file */
    char path[PATH_MAX]; /* the path with symbolic links resolved */
    char name[PATH_MAX +
              32]; /* the temporary name, ".NAME.part-PID" in the same directory; "" if there is no such file */
    int file;      /* descriptor of the temporary file; -1 if it is not open */
    int keeps;     /* 1: a file that exists at the end is not replaced; set between find and end */
    int there;     /* 1 if an existing file, with mode `mode`, is replaced */
    int own;       /* and it belongs to this user */
    mode_t mode;
    gid_t group; /* of the file that is replaced */
};

/*
 * Resolves symbolic links, except links of other users, which may lead anywhere.  The path must name a regular file or
 * no file.  All errors are HSUMMA_ERR_OPTION.
 */
hsumma_status hs_new_file_find(struct hs_new_file *target, const char *before, const char *path,
                               struct hs_message *message);
/* Creates the temporary file, with the mode that the umask allows. */
hsumma_status hs_new_file_open(struct hs_new_file *target, struct hs_message *message);
hsumma_status hs_new_file_write(struct hs_new_file *target, const char *text, size_t length,
                                struct hs_message *message);
/* Closes the temporary file, and opens it again: in between, other processes may write to it by its name. */
hsumma_status hs_new_file_close(struct hs_new_file *target, struct hs_message *message);
hsumma_status hs_new_file_reopen(struct hs_new_file *target, struct hs_message *message);
/*
 * If status is HSUMMA_OK, makes the open file durable and renames it; it gets the mode of the file that it replaces, or
 * less if that file belongs to another user.  Otherwise, and on failure, removes it.  Returns status, or the error.
 */
hsumma_status hs_new_file_end(struct hs_new_file *target, hsumma_status status, struct hs_message *message);

/* Makes the missing directories on the path of a file. */
hsumma_status hs_make_directories(const char *before, const char *path, struct hs_message *message);
/* Checks that the file could be created now; leaves nothing. */
hsumma_status hs_new_file_try(const char *before, const char *path, struct hs_message *message);

/* Sets the message "BEFOREcannot WHAT PATH: text of errno", without the path if before is ""; HSUMMA_ERR_OPTION. */
hsumma_status hs_file_fail(const char *before, const char *what, const char *path, struct hs_message *message);

#endif
