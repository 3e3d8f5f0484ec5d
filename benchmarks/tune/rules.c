/* Derives the rules of the tuned file from measured times. */
#include <inttypes.h>
#include <string.h>

#include "coll/schedule/registry.h"
#include "tune/coll.h"

/* The previous size's choice (at first, the model's) is replaced only if the fastest time is below this fraction of its
 * time; smaller gains may be noise. */
static const double clearly = 0.97;

/* The first rule begins at 0 if the first measured size is at most `smallest` bytes per rank; the last has no end if
 * the last measured size is at least `largest`. */
static const int64_t smallest = 16, largest = 1 << 20;

static int find(const tune_point *point, const char *word)
{
    for (int i = 0; i < point->count; i++)
        if (point->entrant[i].seconds > 0 && !strcmp(point->entrant[i].word, word))
            return i;
    return -1;
}

static int best_but(const tune_point *point, int but)
{
    int best = -1;

    for (int i = 0; i < point->count; i++)
        if (i != but && point->entrant[i].seconds > 0 &&
            (best < 0 || point->entrant[i].seconds < point->entrant[best].seconds))
            best = i;
    return best;
}

void tune_choose(tune_point *point, int points)
{
    for (int p = 0; p < points; p++) {
        tune_point *here = &point[p];
        const tune_entrant *before = p && here[-1].chosen >= 0 ? &here[-1].entrant[here[-1].chosen] : NULL;
        int kept = before ? find(here, before->word) : here->model;

        here->chosen = best_but(here, -1);
        if (kept >= 0 && here->entrant[kept].seconds > 0 &&
            here->entrant[here->chosen].seconds >= clearly * here->entrant[kept].seconds)
            here->chosen = kept;
        here->next = best_but(here, here->chosen);
    }
}

/* Writes a number of bytes as rules spell it. */
static void write_bytes(int64_t bytes, char *text, size_t size)
{
    if (bytes == INT64_MAX)
        snprintf(text, size, "inf");
    else if (bytes && bytes % 1024 == 0)
        snprintf(text, size, "%" PRId64 "k", bytes / 1024);
    else
        snprintf(text, size, "%" PRId64, bytes);
}

int tune_rules(hsumma_collective collective, int ranks, int nodes, const tune_point *point, int points,
               char line[COLL_SIZES][TUNE_LINE])
{
    int count = 0;
    int64_t from = points && point[0].bytes <= smallest * ranks ? 0 : points ? point[0].bytes : 0, to;

    for (int p = 0; p < points; p++) {
        const tune_entrant *x = point[p].chosen >= 0 ? &point[p].entrant[point[p].chosen] : NULL;
        const tune_point *next = p + 1 < points ? &point[p + 1] : NULL;
        char text[2][32];

        /* sizes differ by a factor of 4: the rule changes at twice the smaller one */
        to = next                        ? point[p].bytes + (next->bytes - point[p].bytes) / 3
             : point[p].bytes >= largest ? INT64_MAX
                                         : point[p].bytes;
        if (x && next && next->chosen >= 0 && !strcmp(x->word, next->entrant[next->chosen].word))
            continue;
        if (x) {
            write_bytes(from, text[0], sizeof text[0]);
            write_bytes(to, text[1], sizeof text[1]);
            snprintf(line[count++], TUNE_LINE, "%s %d %d %s-%s %s", hs_collective_name((enum hs_collective)collective),
                     ranks, nodes, text[0], text[1], x->word);
        }
        from = to + 1;
    }
    return count;
}
