/*
 * Signals between processes that sleep: none is lost.  A nap ends by itself after a moment, so that a lost one shows in
 * the time: processes in a ring pass a number on, each asleep until it comes.
 */
#include "coll/node/directory.h"
#include "base/wait.h"
#include "support/tap.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NAP_MS = 2, ASLEEP = 1 << 20, PATIENCE_S = 30 };

/* The part of process `me`; 0, or 1 if its word is not what it was, or it takes too long. */
static int pass_on(struct hs_words *entry, int ranks, int me, int rounds)
{
    struct hs_directory directory = {.entry = entry, .ranks = ranks, .me = me};
    int before = (me + ranks - 1) % ranks;
    double end = hs_now() + PATIENCE_S;
    for (int i = 1; i <= rounds; i++) {
        uint64_t wanted = me ? (uint64_t)i : (uint64_t)i - 1; /* the first one begins each round */
        while (!hs_signalled(&directory, before, HS_USED, wanted)) {
            if (hs_now() > end)
                return 1;
            hs_directory_idle(&directory, ASLEEP);
            hs_directory_look(&directory);
        }
        hs_directory_look(&directory);
        if (atomic_load(&entry[me].word[HS_USED].value) != (uint64_t)i - 1)
            return 1;
        hs_signal(&directory, HS_USED, (uint64_t)i);
    }
    return 0;
}

static void test_ring(int ranks, int rounds)
{
    size_t bytes = hs_directory_bytes(ranks);
    struct hs_words *entry = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t child[8];
    int good = entry != MAP_FAILED, status;
    double began = hs_now();
    for (int r = 1; good && r < ranks; r++) {
        child[r] = fork();
        if (child[r] == 0)
            _exit(pass_on(entry, ranks, r, rounds));
        good &= child[r] > 0;
    }
    if (good)
        good = pass_on(entry, ranks, 0, rounds) == 0;
    for (int r = 1; r < ranks; r++)
        good &= waitpid(child[r], &status, 0) == child[r] && status == 0;
    double seconds = hs_now() - began, lost = (double)rounds * NAP_MS * 1e-3;
    tap_ok(good && seconds < lost / 4,
           "%d processes, %d rounds of signals to sleepers in %.2f s; if one in each were "
           "lost %.0f s",
           ranks, rounds, seconds, lost);
    for (int r = 0; r < ranks; r++)
        good &= atomic_load(&entry[r].sleepers) == 0 && atomic_load(&entry[r].word[HS_USED].value) == (uint64_t)rounds;
    tap_ok(good, "all words are there, and nobody is counted asleep");
    munmap(entry, bytes);
}

/* Nobody sleeps for what has been signalled already, nor where nothing is awaited. */
static void test_awake(void)
{
    struct hs_words entry[2];
    memset(entry, 0, sizeof entry);
    struct hs_directory directory = {.entry = entry, .ranks = 2, .me = 0};
    double began = hs_now();
    for (int i = 0; i < 1000; i++)
        hs_directory_idle(&directory, ASLEEP);
    int good = !hs_signalled(&directory, 1, HS_FILLED, 1);
    atomic_store(&entry[1].word[HS_FILLED].value, 1);
    for (int i = 0; i < 1000; i++)
        hs_directory_idle(&directory, ASLEEP);
    good &= hs_signalled(&directory, 1, HS_FILLED, 1) && !hs_signalled(&directory, 1, HS_FILLED, 2);
    double seconds = hs_now() - began;
    tap_ok(good && seconds < 1, "2,000 naps for what is there already: %.3f s", seconds);
}

int main(void)
{
    test_awake();
    test_ring(2, 100000);
    test_ring(4, 25000);
    return tap_done();
}
