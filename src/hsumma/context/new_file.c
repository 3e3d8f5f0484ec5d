#include "hsumma/context/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINKS = 40, TEMPORARIES = 100 };

hsumma_status hs_file_fail(const char *option, const char *what, const char *path, struct hs_message *message)
{
    return hs_fail(message, HSUMMA_ERR_OPTION, "%s: cannot %s %s: %s", option, what, path, strerror(errno));
}

hsumma_status hs_new_file_find(struct hs_new_file *target, const char *what, const char *path,
                               struct hs_message *message)
{
    struct stat found;
    size_t length = strlen(path);
    target->what = what;
    target->file = -1;
    target->there = 0;
    if (length == 0 || length >= sizeof target->path || path[length - 1] == '/')
        return hs_fail(message, HSUMMA_ERR_OPTION,
                       "%s is \"%s\"; expected the name of a file, fewer than %zu characters", what, path,
                       sizeof target->path);
    memcpy(target->path, path, length + 1);
    for (int links = 0; lstat(target->path, &found) == 0; links++) {
        char link[PATH_MAX];
        if (S_ISREG(found.st_mode)) {
            target->there = 1;
            target->mode = found.st_mode & 0777;
            return HSUMMA_OK;
        }
        if (!S_ISLNK(found.st_mode))
            return hs_fail(message, HSUMMA_ERR_OPTION, "%s: %s is not a regular file", what, target->path);
        ssize_t size = readlink(target->path, link, sizeof link);
        char *slash = strrchr(target->path, '/');
        size_t base = slash && size > 0 && link[0] != '/' ? (size_t)(slash + 1 - target->path) : 0;
        if (links == LINKS)
            errno = ELOOP;
        if (size <= 0 || links == LINKS)
            return hs_file_fail(what, "follow the symbolic link", path, message);
        if (base + (size_t)size >= sizeof target->path)
            return hs_fail(message, HSUMMA_ERR_OPTION,
                           "%s: the target of the symbolic link %s is too long; expected fewer than %zu characters",
                           what, path, sizeof target->path);
        memcpy(target->path + base, link, (size_t)size);
        target->path[base + (size_t)size] = 0;
    }
    return errno == ENOENT ? HSUMMA_OK : hs_file_fail(what, "access", target->path, message);
}

/* mkstemp is not used, because a new file must have the permissions that the user's umask allows. */
hsumma_status hs_new_file_open(struct hs_new_file *target, struct hs_message *message)
{
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    if (target->there && access(target->path, W_OK)) /* a file without write permission is not replaced */
        return hs_file_fail(target->what, "write", target->path, message);
    errno = EEXIST;
    for (int i = 0; target->file < 0 && errno == EEXIST && i < TEMPORARIES; i++) {
        snprintf(target->name, sizeof target->name, "%s.tmp-%ld-%d", target->path, (long)getpid(), i);
        target->file = open(target->name, flags, 0666);
    }
    return target->file < 0 ? hs_file_fail(target->what, "make", target->name, message) : HSUMMA_OK;
}

hsumma_status hs_new_file_write(struct hs_new_file *target, const char *text, size_t length, struct hs_message *message)
{
    while (length) {
        ssize_t some = write(target->file, text, length);
        if (some < 0 && errno != EINTR)
            return hs_file_fail(target->what, "write", target->path, message);
        text += some > 0 ? some : 0;
        length -= some > 0 ? (size_t)some : 0;
    }
    return HSUMMA_OK;
}

hsumma_status hs_new_file_end(struct hs_new_file *target, hsumma_status status, struct hs_message *message)
{
    if (target->file < 0)
        return status;
    int bad = !status && ((target->there && fchmod(target->file, target->mode)) || fsync(target->file));
    int reason = errno;
    if (close(target->file) && !bad) { /* some file systems report a full disk only here */
        bad = 1;
        reason = errno;
    }
    target->file = -1;
    if (!status && !bad && rename(target->name, target->path)) {
        bad = 1;
        reason = errno;
    }
    if (status || bad)
        unlink(target->name);
    if (!status && bad) {
        errno = reason;
        status = hs_file_fail(target->what, "write", target->path, message);
    }
    return status;
}
