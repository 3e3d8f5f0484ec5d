#include "calibrate/file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/output.h"

/* Opens a new file beside the one to be: ".NAME.part-XXXXXX". */
static FILE *open_beside(const char *path, char temporary[PATH_MAX], npy_error *error)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    int length = snprintf(temporary, PATH_MAX, "%.*s.%s.part-XXXXXX", (int)(name - path), path, name), file = -1;
    FILE *stream;

    if (length >= PATH_MAX)
        errno = ENAMETOOLONG;
    else
        file = mkstemp(temporary);
    stream = file >= 0 ? fdopen(file, "w") : NULL;
    if (stream)
        return stream;
    npy_fail(error, "cannot be created: %s", strerror(errno));
    if (file >= 0) {
        close(file);
        unlink(temporary);
    }
    return NULL;
}

int calibrate_file_check(const char *path, npy_error *error)
{
    char temporary[PATH_MAX];
    FILE *file;

    if (output_check(path, 1, error) || !(file = open_beside(path, temporary, error)))
        return -1;
    fclose(file);
    unlink(temporary);
    return 0;
}

int calibrate_file_write(const char *path, const char *text, npy_error *error)
{
    char temporary[PATH_MAX];
    FILE *file = open_beside(path, temporary, error);
    mode_t mask = umask(0);
    int bad;

    umask(mask);
    if (!file)
        return -1;
    bad = fputs(text, file) < 0 || fflush(file) || fchmod(fileno(file), 0666 & ~mask) || fsync(fileno(file));
    if (bad)
        npy_fail(error, "cannot be written: %s", strerror(errno));
    if (fclose(file) && !bad)
        bad = npy_fail(error, "cannot be written: %s", strerror(errno));
    if (!bad && rename(temporary, path))
        bad = npy_fail(error, "cannot be replaced: %s", strerror(errno));
    if (bad)
        unlink(temporary);
    return bad ? -1 : 0;
}

int calibrate_file_directories(const char *path, npy_error *error)
{
    char *copy = strdup(path);
    int bad = copy ? 0 : npy_fail(error, "no memory");

    for (char *slash = copy ? strchr(copy + 1, '/') : NULL; slash && !bad; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        if (mkdir(copy, 0777) && errno != EEXIST)
            bad = npy_fail(error, "cannot make the directory %s: %s", copy, strerror(errno));
        *slash = '/';
    }
    free(copy);
    return bad ? -1 : 0;
}
