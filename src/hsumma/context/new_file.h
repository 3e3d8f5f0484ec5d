/*
 * A file that is replaced atomically: written next to its path under a temporary name, which is unique and no symbolic
 * link, and renamed when complete.  So readers see the old file or the new one.
 */
#ifndef HS_HSUMMA_CONTEXT_NEW_FILE_H
#define HS_HSUMMA_CONTEXT_NEW_FILE_H

#include "base/status.h"

#include <limits.h>
#include <stddef.h>
#include <sys/types.h>

struct hs_new_file {
    const char *what;         /* the option that names the file, for messages */
    char path[PATH_MAX];      /* with symbolic links resolved */
    char name[PATH_MAX + 32]; /* temporary */
    int file;                 /* -1: not open */
    int there;                /* an existing file is replaced, whose mode is `mode` */
    mode_t mode;
};

/* Resolves symbolic links; the path must lead to a regular file or to none.  All errors are HSUMMA_ERR_OPTION. */
hsumma_status hs_new_file_find(struct hs_new_file *target, const char *what, const char *path,
                               struct hs_message *message);
hsumma_status hs_new_file_open(struct hs_new_file *target, struct hs_message *message);
hsumma_status hs_new_file_write(struct hs_new_file *target, const char *text, size_t length,
                                struct hs_message *message);
/* Renames the file if status is HSUMMA_OK; otherwise removes it and returns status. */
hsumma_status hs_new_file_end(struct hs_new_file *target, hsumma_status status, struct hs_message *message);

/* Fails with HSUMMA_ERR_OPTION and the text of errno. */
hsumma_status hs_file_fail(const char *option, const char *what, const char *path, struct hs_message *message);

#endif
