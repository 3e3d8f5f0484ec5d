#include "coll/node/directory.h"

#include "base/wait.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/*
 * Numbers of unsuccessful polls before a rank yields (SPINS), and from then until it sleeps (YIELDS). The first
 * NAPS_SHORT sleeps take at most NAP_SHORT_NS, later ones SLEEP_NS. A poll takes some 0.1 us; waking a sleeper takes
 * some 5 us, most of them on the processor of the rank that wakes it. With more ranks than processors (crowded) the
 * awaited rank may not be running.
 */
enum {
    SPINS = 300,
    SPINS_CROWDED = 20,
    YIELDS = 100,
    YIELDS_CROWDED = 4,
    NAPS_SHORT = 16,
    NAP_SHORT_NS = 200000,
    SLEEP_NS = 2000000
};

/*
 * The accesses here and in nap are sequentially consistent: a rank that is about to sleep increments `sleepers`, then
 * checks the counters once more; a rank that signals sets the counter, then reads `sleepers`. At least one of them
 * therefore sees the other's store.
 */
void hs_signal(struct hs_directory *directory, int counter, uint64_t value)
{
    struct hs_directory_entry *mine = &directory->entry[directory->me];
    atomic_store(&mine->counter[counter].value, value);
    hs_bells_ring(directory->bells);
    if (atomic_load(&mine->sleepers) == 0)
        return;
    for (int r = 0; r < directory->ranks; r++) {
        struct hs_directory_entry *theirs = &directory->entry[r];
        if (!atomic_load(&theirs->asleep))
            continue;
        atomic_fetch_add(&theirs->bell, 1);
        syscall(SYS_futex, &theirs->bell, FUTEX_WAKE, 1, NULL, NULL, 0);
    }
}

void hs_directory_arrive(struct hs_directory *directory, uint64_t arrival, const struct hs_ballot *ballot)
{
    for (int i = 0; i < HS_BALLOT_WORDS; i++)
        atomic_store_explicit(&directory->entry[directory->me].vote[arrival % 2][i], ballot->word[i],
                              memory_order_relaxed);
    hs_signal(directory, HS_ARRIVED, arrival);
}

int hs_directory_arrived(struct hs_directory *directory, int rank, uint64_t arrival, struct hs_ballot *ballot)
{
    if (!hs_signalled(directory, rank, HS_ARRIVED, arrival))
        return 0;
    for (int i = 0; i < HS_BALLOT_WORDS; i++)
        ballot->word[i] = atomic_load_explicit(&directory->entry[rank].vote[arrival % 2][i], memory_order_relaxed);
    return 1;
}

void hs_directory_break(struct hs_directory *directory, hsumma_status status)
{
    atomic_store(&directory->entry[directory->me].broken, status == HSUMMA_ERR_PEER ? (int)status : HSUMMA_ERR_MPI);
    hs_bells_ring(directory->bells);
}

hsumma_status hs_directory_broken(const struct hs_directory *directory)
{
    int status = HSUMMA_OK;
    for (int r = 0; r < directory->ranks && !status; r++)
        status = atomic_load_explicit(&directory->entry[r].broken, memory_order_relaxed);
    return (hsumma_status)status;
}

static int still_missing(const struct hs_directory *directory)
{
    for (int i = 0; i < directory->awaits; i++) {
        const struct hs_awaited *awaited = &directory->awaited[i];
        if (atomic_load(&directory->entry[awaited->rank].counter[awaited->counter].value) >= awaited->value)
            return 0;
    }
    return 1;
}

/* Sleeps only briefly: other ranks may need MPI progress here, and not all awaited conditions may be recorded. */
static void nap(struct hs_directory *directory, int naps)
{
    struct hs_directory_entry *mine = &directory->entry[directory->me];
    const struct timespec most = {0, naps < NAPS_SHORT ? NAP_SHORT_NS : SLEEP_NS};
    for (int i = 0; i < directory->awaits; i++)
        atomic_fetch_add(&directory->entry[directory->awaited[i].rank].sleepers, 1);
    atomic_store(&mine->asleep, 1);
    uint32_t bell = atomic_load(&mine->bell);
    if (still_missing(directory))
        syscall(SYS_futex, &mine->bell, FUTEX_WAIT, bell, &most, NULL, 0);
    atomic_store(&mine->asleep, 0);
    for (int i = 0; i < directory->awaits; i++)
        atomic_fetch_sub(&directory->entry[directory->awaited[i].rank].sleepers, 1);
}

/* The number of unsuccessful polls after which a rank sleeps. */
static int patience(const struct hs_directory *directory)
{
    return directory->crowded ? SPINS_CROWDED + YIELDS_CROWDED : SPINS + YIELDS;
}

int hs_directory_sleeps(const struct hs_directory *directory, int times)
{
    return times >= patience(directory) && directory->awaits > 0;
}

hsumma_status hs_directory_idle(void *state, int times)
{
    struct hs_directory *directory = state;
    if (hs_directory_sleeps(directory, times))
        nap(directory, times - patience(directory));
    else
        hs_idle_awake(directory->crowded ? SPINS_CROWDED : SPINS, times);
    return HSUMMA_OK;
}
