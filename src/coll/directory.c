#include "coll/directory.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/*
 * Polls in vain before a rank yields, and before it sleeps.  A poll takes some 0.1 us; waking a sleeper some 5 us, most
 * of it on the processor that wakes.  With more ranks than processors whom one waits for may have none.
 */
enum { SPINS = 300, SPINS_CROWDED = 20, YIELDS = 100, YIELDS_CROWDED = 4, NAP_NS = 2000000 };

void hs_signal(struct hs_directory *directory, enum hs_counter word, uint64_t value)
{
    struct hs_words *mine = &directory->entry[directory->me];
    atomic_store(&mine->word[word].value, value);
    if (atomic_load(&mine->sleepers) == 0) /* sequentially consistent: either they see the word or we see them */
        return;
    atomic_fetch_add(&mine->bell, 1);
    syscall(SYS_futex, &mine->bell, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

static void nap(struct hs_directory *directory)
{
    const struct hs_awaited *awaited = &directory->awaited;
    struct hs_words *entry = &directory->entry[awaited->rank];
    const struct timespec most = {0, NAP_NS}; /* for whoever dies between signal and bell, and MPI's own progress */
    atomic_fetch_add(&entry->sleepers, 1);
    uint32_t bell = atomic_load(&entry->bell);
    if (atomic_load(&entry->word[awaited->word].value) < awaited->value)
        syscall(SYS_futex, &entry->bell, FUTEX_WAIT, bell, &most, NULL, 0);
    atomic_fetch_sub(&entry->sleepers, 1);
}

void hs_directory_idle(void *state, int times)
{
    struct hs_directory *directory = state;
    int spins = directory->crowded ? SPINS_CROWDED : SPINS;
    int yields = directory->crowded ? YIELDS_CROWDED : YIELDS;
    if (times < spins) {
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#endif
    } else if (times < spins + yields || directory->awaited.rank < 0) {
        sched_yield();
    } else {
        nap(directory);
    }
}
