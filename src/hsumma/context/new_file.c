#include "hsumma/context/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINKS = 40, TEMPORARIES = 100, KEPT_NAME = 200 };

hsumma_status hs_file_fail(const char *before, const char *what, const char *path, struct hs_message *message)
{
    return hs_fail(message, HSUMMA_ERR_OPTION, "%scannot %s %s: %s", before, what, before[0] ? path : "it",
                   strerror(errno));
}

/* The length of the path up to and including the last '/'; 0 without one. */
static int directory_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (int)(slash - path + 1) : 0;
}

/* Replaces target->path, a symbolic link, by the path that it contains. */
static hsumma_status follow(struct hs_new_file *target, struct hs_message *message)
{
    char link[PATH_MAX];
    ssize_t size = readlink(target->path, link, sizeof link);
    if (size <= 0)
        return hs_file_fail(target->before, "follow the symbolic link", target->path, message);
    size_t base = link[0] == '/' ? 0 : (size_t)directory_length(target->path);
    if (base + (size_t)size >= sizeof target->path)
        return hs_fail(message, HSUMMA_ERR_OPTION,
                       "%sthe target of the symbolic link %s is too long; expected fewer than %zu characters",
                       target->before, target->path, sizeof target->path);
    memcpy(target->path + base, link, (size_t)size);
    target->path[base + (size_t)size] = 0;
    return HSUMMA_OK;
}

/* Whether a link may have been planted, by the rule of Linux's protected_symlinks: it is another user's, in a folder
 * like /tmp, in which everybody may make files. */
static int is_planted(const struct hs_new_file *target, const struct stat *link)
{
    char folder[sizeof target->path];
    struct stat in;
    int length = directory_length(target->path);
    snprintf(folder, sizeof folder, "%.*s", length ? length : 1, length ? target->path : ".");
    if (link->st_uid == geteuid() || link->st_uid == 0)
        return 0;
    return stat(folder, &in) || (in.st_mode & S_IWOTH && in.st_mode & S_ISVTX && in.st_uid != link->st_uid);
}

hsumma_status hs_new_file_find(struct hs_new_file *target, const char *before, const char *path,
                               struct hs_message *message)
{
    struct stat found;
    size_t length = strlen(path);
    target->before = before;
    target->file = -1;
    target->there = target->own = target->keeps = 0;
    target->name[0] = 0;
    if (length == 0 || length >= sizeof target->path || path[length - 1] == '/')
        return hs_fail(message, HSUMMA_ERR_OPTION, "%s\"%s\": expected the name of a file, fewer than %zu characters",
                       before, path, sizeof target->path);
    memcpy(target->path, path, length + 1);
    for (int links = 0; lstat(target->path, &found) == 0; links++) {
        if (S_ISREG(found.st_mode)) {
            target->there = 1;
            target->own = found.st_uid == geteuid();
            target->mode = found.st_mode & 0777;
            target->group = found.st_gid;
            return HSUMMA_OK;
        }
        if (!S_ISLNK(found.st_mode))
            return hs_fail(message, HSUMMA_ERR_OPTION, "%s%s is not a regular file", before, target->path);
        errno = ELOOP;
        if (links == LINKS)
            return hs_file_fail(before, "follow the symbolic link", path, message);
        if (is_planted(target, &found))
            return hs_fail(message, HSUMMA_ERR_OPTION,
                           "%s%s is a symbolic link of another user in a folder open to all, which is not followed; "
                           "give the file that it leads to",
                           before, target->path);
        hsumma_status status = follow(target, message);
        if (status)
            return status;
    }
    return errno == ENOENT ? HSUMMA_OK : hs_file_fail(before, "access", target->path, message);
}

/* mkstemp is not used, because a new file must have the permissions that the user's umask allows. */
hsumma_status hs_new_file_open(struct hs_new_file *target, struct hs_message *message)
{
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, directory = directory_length(target->path);
    if (target->there && access(target->path, W_OK)) /* a file without write permission is not replaced */
        return hs_file_fail(target->before, "write", target->path, message);
    errno = EEXIST;
    for (int i = 0; target->file < 0 && errno == EEXIST && i < TEMPORARIES; i++) {
        snprintf(target->name, sizeof target->name, "%.*s.%.*s.part-%ld", directory, target->path, KEPT_NAME,
                 target->path + directory, (long)getpid());
        if (i)
            hs_append(target->name, sizeof target->name, "-%d", i);
        target->file = open(target->name, flags, 0666);
    }
    if (target->file >= 0)
        return HSUMMA_OK;
    hsumma_status status = hs_file_fail(target->before, "create", target->path, message);
    target->name[0] = 0;
    return status;
}

hsumma_status hs_new_file_write(struct hs_new_file *target, const char *text, size_t length, struct hs_message *message)
{
    while (length) {
        ssize_t some = write(target->file, text, length);
        if (some < 0 && errno != EINTR)
            return hs_file_fail(target->before, "write", target->path, message);
        text += some > 0 ? some : 0;
        length -= some > 0 ? (size_t)some : 0;
    }
    return HSUMMA_OK;
}

hsumma_status hs_new_file_close(struct hs_new_file *target, struct hs_message *message)
{
    int bad = close(target->file); /* some file systems report a full disk only here */
    target->file = -1;
    return bad ? hs_file_fail(target->before, "write", target->path, message) : HSUMMA_OK;
}

hsumma_status hs_new_file_reopen(struct hs_new_file *target, struct hs_message *message)
{
    target->file = open(target->name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
    return target->file < 0 ? hs_file_fail(target->before, "open", target->name, message) : HSUMMA_OK;
}

/* Sets the mode of the file and makes its content durable. */
static int settle(const struct hs_new_file *target)
{
    struct stat made;
    if (target->there && fstat(target->file, &made))
        return -1;
    /* the group's rights stay where the group does */
    mode_t allowed = target->own ? 0777 : made.st_mode | (made.st_gid == target->group ? 0070 : 0);
    if (target->there && fchmod(target->file, target->mode & allowed))
        return -1;
    return fsync(target->file);
}

/* Renames without replacing anything; not atomically on old systems and some file systems. */
static int rename_to_new(const char *from, const char *to)
{
    struct stat found;
    if (!renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE))
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -1;
    if (!link(from, to))
        return unlink(from);
    if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS)
        return -1;
    if (!lstat(to, &found)) {
        errno = EEXIST;
        return -1;
    }
    return rename(from, to);
}

/* Makes the new name durable; ignores file systems that cannot. */
static void sync_directory(const struct hs_new_file *target)
{
    char directory[PATH_MAX];
    snprintf(directory, sizeof directory, "%.*s", directory_length(target->path), target->path);
    int file = open(directory[0] ? directory : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file >= 0) {
        (void)fsync(file);
        close(file);
    }
}

hsumma_status hs_new_file_end(struct hs_new_file *target, hsumma_status status, struct hs_message *message)
{
    if (!target->name[0])
        return status;
    if (!status && settle(target))
        status = hs_file_fail(target->before, "write", target->path, message);
    if (target->file >= 0) {
        hsumma_status closed = hs_new_file_close(target, status ? NULL : message);
        status = status ? status : closed;
    }
    if (!status && (target->keeps ? rename_to_new : rename)(target->name, target->path))
        status = errno == EEXIST
                     ? hs_fail(message, HSUMMA_ERR_OPTION, "%s%s was created by another program in the meantime",
                               target->before, target->path)
                     : hs_file_fail(target->before, "write", target->path, message);
    if (status)
        unlink(target->name);
    else
        sync_directory(target);
    target->name[0] = 0;
    return status;
}

hsumma_status hs_make_directories(const char *before, const char *path, struct hs_message *message)
{
    char directory[PATH_MAX];
    for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        struct stat found;
        snprintf(directory, sizeof directory, "%.*s", (int)(slash - path), path);
        if (mkdir(directory, 0777)) {
            int reason = errno;
            /* another process may just have made it; if it is not a directory, opening the file fails */
            if (stat(directory, &found))
                return hs_fail(message, HSUMMA_ERR_OPTION, "%scannot make the directory %s: %s", before, directory,
                               strerror(reason));
        }
    }
    return HSUMMA_OK;
}

hsumma_status hs_new_file_try(const char *before, const char *path, struct hs_message *message)
{
    struct hs_new_file file;
    hsumma_status status = hs_new_file_find(&file, before, path, message);
    if (!status)
        status = hs_new_file_open(&file, message);
    hs_new_file_end(&file, HSUMMA_ERR_OPTION, NULL);
    return status;
}
