/*
 * Signals between sleeping processes are never lost. Processes in a ring pass on a number; each sleeps until the
 * number arrives. In the library a nap ends after a moment even without a signal, which would hide a lost signal. Here
 * a nap lasts until the signal, at most PATIENCE_S, and a nap without a signal is an error.
 */
#include "coll/node/directory.h"
#include "support/tap.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ASLEEP = 1 << 20, PATIENCE_S = 100 };

static int slept_through; /* number of naps that ended without a signal */

/* Replaces the C library's function, which only futexes use here. A futex waits for at most PATIENCE_S. */
long syscall(long number, ...)
{
    static long (*next)(long, ...);
    const struct timespec patience = {.tv_sec = PATIENCE_S};
    va_list list;
    va_start(list, number);
    uint32_t *word = va_arg(list, uint32_t *);
    int what = va_arg(list, int);
    uint32_t value = va_arg(list, uint32_t);
    va_end(list);
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "syscall");
    long result = next(number, word, what, value, what == FUTEX_WAIT ? &patience : NULL, NULL, 0);
    slept_through += what == FUTEX_WAIT && result != 0 && errno == ETIMEDOUT;
    return result;
}

/* Runs process `me`; returns 1 if its counter is wrong or it takes too long, else 0. */
static int pass_on(struct hs_directory_entry *entry, int ranks, int me, int rounds)
{
    struct hs_directory directory = {.entry = entry, .ranks = ranks, .me = me};
    int before = (me + ranks - 1) % ranks;
    for (int i = 1; i <= rounds; i++) {
        uint64_t wanted = me ? (uint64_t)i : (uint64_t)i - 1; /* the first process starts each round */
        while (!hs_signalled(&directory, before, HS_USED, wanted)) {
            if (slept_through)
                return 1;
            hs_directory_idle(&directory, ASLEEP);
            hs_directory_look(&directory);
        }
        hs_directory_look(&directory);
        if (atomic_load(&entry[me].counter[HS_USED].value) != (uint64_t)i - 1)
            return 1;
        hs_signal(&directory, HS_USED, (uint64_t)i);
    }
    return 0;
}

static void test_ring(int ranks, int rounds)
{
    size_t bytes = hs_directory_bytes(ranks);
    struct hs_directory_entry *entry = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t child[8];
    int good = entry != MAP_FAILED, status;
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
    tap_ok(good, "%d processes, %d rounds of signals to sleepers: none is lost", ranks, rounds);
    for (int r = 0; r < ranks; r++)
        good &=
            atomic_load(&entry[r].sleepers) == 0 && atomic_load(&entry[r].counter[HS_USED].value) == (uint64_t)rounds;
    tap_ok(good, "all words are there, and nobody is counted asleep");
    munmap(entry, bytes);
}

/* A rank does not sleep if the signal has already arrived, or if it awaits none. */
static void test_awake(void)
{
    struct hs_directory_entry entry[2];
    memset(entry, 0, sizeof entry);
    struct hs_directory directory = {.entry = entry, .ranks = 2, .me = 0};
    for (int i = 0; i < 1000; i++)
        hs_directory_idle(&directory, ASLEEP);
    int good = !hs_signalled(&directory, 1, HS_FILLED, 1);
    atomic_store(&entry[1].counter[HS_FILLED].value, 1);
    for (int i = 0; i < 1000; i++)
        hs_directory_idle(&directory, ASLEEP);
    good &= hs_signalled(&directory, 1, HS_FILLED, 1) && !hs_signalled(&directory, 1, HS_FILLED, 2);
    tap_ok(good && slept_through == 0, "2,000 naps for what is there already: none is slept through");
}

int main(void)
{
    test_awake();
    test_ring(2, 100000);
    test_ring(4, 25000);
    return tap_done();
}
