/*
 * A file that is replaced as a whole: written beside its place under a temporary name, which no other process has and
 * which follows no link, and renamed when it is complete.  So readers see the old file or the new one.
 */
#ifndef HS_HSUMMA_CONTEXT_NEW_FILE_H
#define HS_HSUMMA_CONTEXT_NEW_FILE_H

#include "base/status.h"

#include <limits.h>
#include <stddef.h>
#include <sys/types.h>

struct hs_new_file {
    const char *what;         /* the option that names it, in messages */
    char path[PATH_MAX];      /* no symbolic link */
    char name[PATH_MAX + 32]; /* the temporary one */
    int file;                 /* -1: not open */
    int there;                /* an old file with this mode is replaced */
    mode_t mode;
};

/* Follows symbolic links to a plain file or to nothing.  All errors are HSUMMA_ERR_OPTION. */
hsumma_status hs_new_file_find(struct hs_new_file *target, const char *what, const char *path,
                               struct hs_message *message);
hsumma_status hs_new_file_open(struct hs_new_file *target, struct hs_message *message);
hsumma_status hs_new_file_write(struct hs_new_file *target, const char *text, size_t length,
                                struct hs_message *message);
/* Gives it its name if status is HSUMMA_OK, else removes it and returns status. */
hsumma_status hs_new_file_end(struct hs_new_file *target, hsumma_status status, struct hs_message *message);

/* HSUMMA_ERR_OPTION with the text of errno. */
hsumma_status hs_file_fail(const char *option, const char *what, const char *path, struct hs_message *message);

#endif
