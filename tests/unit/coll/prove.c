/*
 * Runs every algorithm of the registry through verify: "prove" over a reduced range, "prove all" over the range that
 * the algorithms claim, "prove all COLLECTIVE NAME" for one algorithm.
 */
#include "coll/proof/prove.h"
#include "support/tap.h"

#include <string.h>
#include <time.h>

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void show(void *state, const struct hs_prove_row *row)
{
    double *last = state, seconds = now() - *last;
    /* Only algorithms with an `unfit` function may skip a part of the range. */
    int enough = row->runs > 0 && row->largest >= 32 && (row->unfit == 0 || row->alg->unfit);
    *last = now();
    if (!tap_ok(row->failures == 0 && enough, "%s %s: %lld runs at %lld points, on up to %d ranks",
                hs_collective_name(row->alg->collective), row->alg->name, (long long)row->runs,
                (long long)(row->points - row->unfit), row->largest))
        tap_diag("%lld failures, %lld not built: %s", (long long)row->failures, (long long)row->not_built, row->text);
    tap_diag("%.2f s", seconds);
}

static const struct hs_alg *find(const char *collective, const char *name)
{
    const struct hs_alg *alg;
    for (int i = 0; (alg = hs_alg_at(i)); i++)
        if (strcmp(hs_collective_name(alg->collective), collective) == 0 && strcmp(alg->name, name) == 0)
            return alg;
    return NULL;
}

int main(int argc, char **argv)
{
    static const int more[] = {100};
    struct hs_prove_range range = {.ranks = 33, .more = more, .mores = 1, .nodes = 7, .per_node = 8};
    struct hs_prove_report report;
    double last = now();

    if (argc > 1 && strcmp(argv[1], "all") == 0)
        range = hs_prove_everything;
    if (argc > 3)
        range.alg = find(argv[2], argv[3]);
    if (argc == 3)
        return 2;
    hsumma_status status = hs_prove(&range, show, &last, &hs_heap, &report);
    tap_ok(status == HSUMMA_OK, "%d rows, %lld runs", report.rows, (long long)report.runs);
    return tap_done();
}
