#include "support/process.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char segment[] = "memfd:hsumma";

int process_entries(const char *path, const char *word)
{
    int count = 0;
    DIR *dir = opendir(path);
    for (struct dirent *entry; dir && (entry = readdir(dir)) != NULL;)
        count += strstr(entry->d_name, word) != NULL;
    if (dir)
        closedir(dir);
    return count;
}

int process_segments(void)
{
    char line[512];
    int count = 0;
    FILE *file = fopen("/proc/self/maps", "r");
    while (file && fgets(line, sizeof line, file))
        count += strstr(line, segment) != NULL;
    if (file)
        fclose(file);
    return count;
}

int process_segment_files(void)
{
    char path[300], target[512];
    int count = 0;
    DIR *dir = opendir("/proc/self/fd");
    for (struct dirent *entry; dir && (entry = readdir(dir)) != NULL;) {
        snprintf(path, sizeof path, "/proc/self/fd/%s", entry->d_name);
        ssize_t length = readlink(path, target, sizeof target - 1);
        target[length > 0 ? length : 0] = 0;
        count += strstr(target, segment) != NULL;
    }
    if (dir)
        closedir(dir);
    return count;
}

/* A value from /proc/self/statm, in bytes; which: 0 for mapped, 1 for resident memory. */
static int64_t memory_of(int which)
{
    int64_t pages[2] = {0, 0};
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%" SCNd64 " %" SCNd64, &pages[0], &pages[1]) != 2)
        pages[0] = pages[1] = 0;
    if (file)
        fclose(file);
    return pages[which] * sysconf(_SC_PAGESIZE);
}

int64_t process_mapped(void)
{
    return memory_of(0);
}

int64_t process_resident(void)
{
    return memory_of(1);
}
