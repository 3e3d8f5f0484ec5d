#include "report/output.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
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

/* --- names ------------------------------------------------------------------------------------------------------ */

/* The length of the path up to and including the last '/'; 0 without one. */
static int directory_length(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? (int)(slash - path + 1) : 0;
}

/* The directory of the path, which the caller frees; NULL if out of memory. */
static char *directory_of(const char *path)
{
    int length = directory_length(path);

    return length ? strndup(path, (size_t)length) : strdup(".");
}

int output_check(const char *path, int force, npy_error *error)
{
    struct stat status;
    char *directory;
    int bad = 0;

    if (!path[directory_length(path)])
        return npy_fail(error, "expected the name of a file, not of a directory");
    if (!lstat(path, &status)) {
        if (!S_ISREG(status.st_mode) && !S_ISLNK(status.st_mode))
            return npy_fail(error, S_ISDIR(status.st_mode) ? "is a directory; give the name of a file"
                                                           : "exists and is not a regular file; give another name");
        return force ? 0 : npy_fail(error, "exists; --force replaces it");
    }
    if (errno != ENOENT && errno != ENOTDIR)
        return npy_fail(error, "%s", strerror(errno));
    directory = directory_of(path);
    if (!directory)
        return npy_fail(error, "no memory");
    if (stat(directory, &status) || !S_ISDIR(status.st_mode))
        bad = npy_fail(error, "there is no directory %s; create it first", directory);
    free(directory);
    return bad;
}

/* Creates ".NAME.part-PID", with a further number if that exists. */
static int create(output *out, npy_error *error)
{
    int length = directory_length(out->path), file = -1;
    size_t size = (size_t)length + 256;
    char number[16] = "";

    out->temporary = malloc(size);
    if (!out->temporary)
        return npy_fail(error, "no memory");
    for (int i = 0; i < 100 && file < 0; i++) {
        if (i)
            snprintf(number, sizeof number, "-%d", i);
        snprintf(out->temporary, size, "%.*s.%.200s.part-%ld%s", length, out->path, out->path + length, (long)getpid(),
                 number);
        file = open(out->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file < 0 && errno != EEXIST)
            break;
    }
    if (file >= 0) {
        guard(out->temporary);
        return file;
    }
    npy_fail(error, "cannot create it: %s", strerror(errno));
    free(out->temporary);
    out->temporary = NULL;
    return -1;
}

/* --- the file --------------------------------------------------------------------------------------------------- */

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

static int write_start(int file, const unsigned char *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t n = pwrite(file, bytes + done, size - done, (off_t)done);
        if (n < 0 && errno != EINTR)
            return -1;
        if (n > 0)
            done += (size_t)n;
    }
    return 0;
}

int output_open(output *out, const char *path, const void *start, size_t length, int64_t size, int force,
                npy_error *error)
{
    int file, bad;

    *out = (output){.size = size, .force = force};
    out->path = strdup(path);
    if (!out->path)
        return npy_fail(error, "no memory");
    file = create(out, error);
    if (file < 0)
        return -1;
    bad = (size > 0 && reserve(file, size)) || write_start(file, start, length);
    if (bad)
        npy_fail(error, "cannot write %" PRId64 " bytes: %s", size, strerror(errno));
    if (close(file) && !bad)
        bad = npy_fail(error, "cannot write: %s", strerror(errno));
    return bad ? -1 : 0;
}

/* Flushes the file to disk, and checks that it is complete. */
static int settle(const output *out, npy_error *error)
{
    struct stat status;
    int file = open(out->temporary, O_RDONLY | O_CLOEXEC), bad;

    if (file < 0)
        return npy_fail(error, "cannot reopen the temporary file: %s", strerror(errno));
    bad = fstat(file, &status) || fsync(file);
    if (bad)
        npy_fail(error, "cannot write: %s", strerror(errno));
    else if (status.st_size != out->size)
        bad = npy_fail(error, "%" PRId64 " bytes were written instead of %" PRId64, (int64_t)status.st_size, out->size);
    close(file);
    return bad ? -1 : 0;
}

/* Renames without replacing anything; not atomically on old systems and some file systems. */
static int rename_to_new(const char *from, const char *to)
{
    struct stat status;

    if (!renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE))
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -1;
    if (!link(from, to))
        return unlink(from);
    if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS)
        return -1;
    if (!lstat(to, &status)) {
        errno = EEXIST;
        return -1;
    }
    return rename(from, to);
}

/* Makes the name durable; ignores file systems that cannot. */
static void sync_directory(const char *path)
{
    char *directory = directory_of(path);
    int file = directory ? open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

    if (file >= 0) {
        (void)fsync(file);
        close(file);
    }
    free(directory);
}

int output_finish(output *out, npy_error *error)
{
    int bad = settle(out, error);

    if (!bad) {
        bad = out->force ? rename(out->temporary, out->path) : rename_to_new(out->temporary, out->path);
        if (bad && errno == EEXIST)
            npy_fail(error, "was created by another program in the meantime; --force replaces it");
        else if (bad)
            npy_fail(error, "cannot rename the temporary file: %s", strerror(errno));
    }
    if (!bad) {
        guard(NULL);
        free(out->temporary);
        out->temporary = NULL;
        sync_directory(out->path);
    }
    output_close(out);
    return bad ? -1 : 0;
}

void output_close(output *out)
{
    if (out->temporary)
        unlink(out->temporary);
    guard(NULL);
    free(out->temporary);
    free(out->path);
    out->temporary = out->path = NULL;
}
