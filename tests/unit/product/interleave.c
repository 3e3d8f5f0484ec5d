/*
 * Products of all ranks in one process, progressed in random order: the loop over messages and the product inside a
 * node, agreements and consecutive executions of several plans, with random layouts, hierarchies, grids and nodes.
 * Elements are small integers, so each C is compared exactly: a tile or buffer that is written too early makes it
 * wrong. Ranks that can never continue are reported as a deadlock.
 *
 *     interleave [INTERLEAVINGS [CASE]]      starts with this case; each case has 40 interleavings
 */
#include "interleave/schedule.h"
#include "support/random.h"
#include "support/tap.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

enum { USUAL = 6000, OF_A_CASE = 40, TOLD = 3, LIES = 20000, OF_A_FAILURE = 6 };

static void tell(const char *text)
{
    tap_diag("%s", text);
}

static void tell_case(const struct scene *scene, uint64_t number, int interleaving, const char *what)
{
    char text[SCENE_TEXT];
    tap_diag("case %" PRIu64 ", interleaving %d: %s", number, interleaving, what);
    scene_describe(scene, text, sizeof text);
    tap_diag("%s", text);
    for (int j = 0; j < scene->jobs; j++) {
        job_describe(&scene->job[j], text, sizeof text);
        tap_diag("job %d: %s", j, text);
    }
    schedule_describe(tell);
}

/*
 * Runs up to *runs interleavings of cases from `number` on, only one per case if MPI fails in them. An error ends its
 * case; with until_wrong it also ends the run, without it the first errors are reported. Returns the number of errors;
 * *runs becomes the number of interleavings.
 */
static int64_t run_cases(uint64_t number, int64_t *runs, enum network_lie message_lie, struct scene_lie lie,
                         int until_wrong)
{
    static struct scene scene;
    int64_t wrong = 0, run = 0;
    for (; run < *runs && !(until_wrong && wrong); number++) {
        uint64_t random = hs_scrambled(number);
        int fails = message_lie == NETWORK_FAILS, good = scene_make(&scene, fails, &random);
        scene.lie = lie;
        if (!good) {
            tap_diag("case %" PRIu64 " cannot be made", number);
            wrong++;
            run++;
        }
        for (int i = 0; good && i < (fails ? 1 : OF_A_CASE) && run < *runs; i++, run++) {
            const char *what = schedule_run(&scene, hs_random(&random), message_lie);
            good = !what;
            wrong += what != NULL;
            if (what && !until_wrong && wrong <= TOLD)
                tell_case(&scene, number, i, what);
        }
        scene_free(&scene);
    }
    *runs = run;
    return wrong;
}

/* Tests the tool itself: it must find misbehaviour of MPI and of ranks. */
static void test_lies(uint64_t number)
{
    static const struct {
        const char *name;
        enum network_lie message_lie;
        struct scene_lie lie;
    } lies[] = {{"sends that are complete too early", NETWORK_SENDS_EARLY, {0, 0}},
                {"receives that are complete too early", NETWORK_RECEIVES_EARLY, {0, 0}},
                {"tiles that are said to be filled too early", NETWORK_HONEST, {1, HS_FILLED}},
                {"tiles that are said to be used too early", NETWORK_HONEST, {1, HS_USED}},
                {"sums that are said to be made too early", NETWORK_HONEST, {1, HS_SUMMED}},
                {"votes that are said to be there too early", NETWORK_HONEST, {1, HS_ARRIVED}},
                {"panels that are said to have come too early", NETWORK_HONEST, {1, HS_DONE}},
                {"panels that are said to have been sent too early", NETWORK_HONEST, {1, HS_DONE + 1}}};
    for (unsigned i = 0; i < sizeof lies / sizeof *lies; i++) {
        int64_t runs = LIES, found = run_cases(number, &runs, lies[i].message_lie, lies[i].lie, 1);
        tap_ok(found > 0, "%s are found: after %" PRId64 " interleavings", lies[i].name, runs);
    }
}

/* If MPI fails on one rank, all ranks of its node must end. */
static void test_failures(uint64_t number, int64_t runs)
{
    int64_t wrong = run_cases(number, &runs, NETWORK_FAILS, (struct scene_lie){0, 0}, 0);
    tap_ok(wrong == 0,
           "%" PRId64 " times MPI fails on a rank: %" PRId64 " times others of its node do not end, or are wrong", runs,
           wrong);
}

int main(int argc, char **argv)
{
    int64_t interleavings = argc > 1 ? atoll(argv[1]) : USUAL;
    uint64_t number = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    clock_t begin = clock();
    job_begin(schedule_yield);
    int64_t wrong = run_cases(number, &interleavings, NETWORK_HONEST, (struct scene_lie){0, 0}, 0);
    double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    tap_ok(wrong == 0, "%" PRId64 " interleavings from case %" PRIu64 " on: %" PRId64 " wrong", interleavings, number,
           wrong);
    tap_diag("%.0f interleavings per second, %.0f steps each", (double)interleavings / seconds,
             (double)schedule_steps() / (double)interleavings);
    if (argc < 3)
        test_lies(number);
    test_failures(number, interleavings / OF_A_FAILURE);
    return tap_done();
}
