#include "soak/watch.h"

#include <dirent.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>

static const double warm_up = 0.25; /* fraction of a run */

const char *const watch_names[WATCHES] = {"heap in use", "resident",    "proportional",
                                          "shared",      "descriptors", "mappings"};

int watch_is_count(watched which)
{
    return which == WATCH_DESCRIPTORS || which == WATCH_MAPPINGS;
}

static int64_t heap_in_use(void)
{
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
    struct mallinfo2 info = mallinfo2();

    return (int64_t)(info.uordblks + info.hblkhd);
#else
    return 0;
#endif
}

static int64_t count_descriptors(void)
{
    DIR *dir = opendir("/proc/self/fd");
    int64_t count = 0;

    while (dir && readdir(dir))
        count++;
    if (dir)
        closedir(dir);
    return dir ? count - 3 : 0; /* without ".", ".." and the descriptor of the directory */
}

static int64_t count_lines(const char *path)
{
    FILE *file = fopen(path, "r");
    int64_t count = 0;

    for (int c; file && (c = getc(file)) != EOF;)
        count += c == '\n';
    if (file)
        fclose(file);
    return count;
}

/* Reads Rss, Pss and the Pss of shared memory in bytes; 0 where the system does not know them. */
static void read_memory(int64_t values[WATCHES])
{
    static const struct {
        const char *key;
        watched which;
    } keys[] = {{"Rss:", WATCH_RESIDENT}, {"Pss:", WATCH_PROPORTIONAL}, {"Pss_Shmem:", WATCH_SHARED}};
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    char line[256], key[64];
    int64_t kib;

    while (file && fgets(line, sizeof line, file))
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
            if (sscanf(line, "%63s %" SCNd64, key, &kib) == 2 && !strcmp(key, keys[i].key))
                values[keys[i].which] = kib << 10;
    if (file)
        fclose(file);
}

void watch_init(watch *w)
{
    memset(w, 0, sizeof *w);
    memset(w->least, -1, sizeof w->least);
}

void watch_sample(watch *w, double done)
{
    int part = (int)((done - warm_up) / (1 - warm_up) * WATCH_PARTS);
    int64_t now[WATCHES] = {0};

#if defined(__GLIBC__)
    malloc_trim(0); /* else resident memory varies with what the C library keeps of freed memory */
#endif
    now[WATCH_HEAP] = heap_in_use();
    now[WATCH_DESCRIPTORS] = count_descriptors();
    now[WATCH_MAPPINGS] = count_lines("/proc/self/maps");
    read_memory(now);
    if (done < warm_up)
        return;
    part = part < WATCH_PARTS ? part : WATCH_PARTS - 1;
    w->samples[part]++;
    for (int i = 0; i < WATCHES; i++)
        if (w->least[i][part] < 0 || now[i] < w->least[i][part])
            w->least[i][part] = now[i];
}

int64_t watch_growth(const watch *w, watched which)
{
    const int64_t *least = w->least[which];

    for (int part = 0; part < WATCH_PARTS; part++)
        if (w->samples[part] < WATCH_SAMPLES)
            return -1;
    for (int part = 1; part < WATCH_PARTS; part++)
        if (least[part] <= least[part - 1])
            return 0;
    return least[WATCH_PARTS - 1] - least[0];
}

int64_t watch_allowed(watched which)
{
    static const int64_t allowed[WATCHES] = {
        [WATCH_HEAP] = 512 << 10,   [WATCH_RESIDENT] = 16 << 20, [WATCH_PROPORTIONAL] = 16 << 20,
        [WATCH_SHARED] = 512 << 10, [WATCH_DESCRIPTORS] = 3,     [WATCH_MAPPINGS] = 12};

    return allowed[which];
}
