#include "report/output.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- signals ---------------------------------------------------------------------------------------------------- */

/* The file that a signal handler removes; a handler can only use a global. */
static char *volatile removed_by_signal;

static void remove_and_die(int signal_number)
{
    char *path = removed_by_signal;

    if (path)
        unlink(path);
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

/* Makes signals remove the file, except signals that are ignored or that MPI handles; NULL: no file. */
static void guard(char *path)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction old, action = {.sa_handler = remove_and_die};

    removed_by_signal = path;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; path && i < sizeof signals / sizeof *signals; i++)
        if (!sigaction(signals[i], NULL, &old) && !(old.sa_flags & SA_SIGINFO) && old.sa_handler == SIG_DFL)
            sigaction(signals[i], &action, NULL);
}

/* --- the file --------------------------------------------------------------------------------------------------- */

hsumma_status output_check(const char *path, int force, struct hs_message *message)
{
    struct stat status;
    const char *slash = strrchr(path, '/');

    if (!(slash ? slash[1] : path[0]))
        return hs_fail(message, HSUMMA_ERR_OPTION, "expected the name of a file, not of a directory");
    if (!lstat(path, &status)) {
        if (!S_ISREG(status.st_mode) && !S_ISLNK(status.st_mode))
            return hs_fail(message, HSUMMA_ERR_OPTION,
                           S_ISDIR(status.st_mode) ? "is a directory; give the name of a file"
                                                   : "exists and is not a regular file; give another name");
        if (!force)
            return hs_fail(message, HSUMMA_ERR_OPTION, "exists; --force replaces it");
    } else if (errno == ENOENT || errno == ENOTDIR) {
        int length = slash ? (int)(slash - path + 1) : 0;
        char *directory = length ? strndup(path, (size_t)length) : strdup(".");
        int bad = !directory || stat(directory, &status) || !S_ISDIR(status.st_mode);
        if (bad)
            hs_fail(message, HSUMMA_ERR_OPTION, directory ? "there is no directory %s; create it first" : "no memory",
                    directory);
        free(directory);
        if (bad)
            return HSUMMA_ERR_OPTION;
    }
    return hs_new_file_try("", path, message);
}

/* Reserves the space before hours of work, or sets the length if the file system cannot reserve. */
static int reserve(int file, int64_t size)
{
    int status;

    do
        status = fallocate(file, 0, 0, size);
    while (status && errno == EINTR);
    if (status && (errno == EOPNOTSUPP || errno == ENOSYS))
        status = ftruncate(file, size);
    return status;
}

hsumma_status output_open(output *out, const char *path, const void *start, size_t length, int64_t size, int force,
                          struct hs_message *message)
{
    hsumma_status status = hs_new_file_find(&out->file, "", path, message), closed;

    out->size = size;
    out->file.keeps = !force;
    if (!status)
        status = hs_new_file_open(&out->file, message);
    if (status)
        return status;
    guard(out->file.name);
    if (size > 0 && reserve(out->file.file, size))
        status = hs_fail(message, HSUMMA_ERR_OPTION, "cannot write %" PRId64 " bytes: %s", size, strerror(errno));
    else
        status = hs_new_file_write(&out->file, start, length, message);
    closed = hs_new_file_close(&out->file, status ? NULL : message);
    return status ? status : closed;
}

hsumma_status output_finish(output *out, struct hs_message *message)
{
    struct stat found;
    hsumma_status status = hs_new_file_reopen(&out->file, message);

    if (!status && fstat(out->file.file, &found))
        status = hs_file_fail("", "access", out->file.path, message);
    if (!status && found.st_size != out->size)
        status = hs_fail(message, HSUMMA_ERR_OPTION, "%" PRId64 " bytes were written instead of %" PRId64,
                         (int64_t)found.st_size, out->size);
    status = hs_new_file_end(&out->file, status, message);
    guard(NULL);
    return status;
}

void output_close(output *out)
{
    hs_new_file_end(&out->file, HSUMMA_ERR_OPTION, NULL);
    guard(NULL);
}
