#include "calibrate/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "report/output.h"

int calibrate_file_check(const char *path, npy_error *error)
{
    output out = {.path = NULL};
    int bad = output_check(path, 1, error) || output_open(&out, path, "", 0, 0, 1, error);

    output_close(&out);
    return bad ? -1 : 0;
}

int calibrate_file_write(const char *path, const char *text, npy_error *error)
{
    size_t length = strlen(text);
    output out;

    if (!output_open(&out, path, text, length, (int64_t)length, 1, error))
        return output_finish(&out, error);
    output_close(&out);
    return -1;
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
