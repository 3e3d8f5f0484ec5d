#include "coll/node/roster.h"

#include "base/simulator.h"
#include "coll/node/mapping.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct process_state {
    char letter;
    long threads;
    unsigned long long started;
};

/* Returns 0, or why it cannot (errno). */
static int read_process(int64_t process, struct process_state *state)
{
    char path[40], text[1024];
    snprintf(path, sizeof path, "/proc/%lld/stat", (long long)process);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return errno;
    ssize_t got = read(file, text, sizeof text - 1);
    int error = got < 0 ? errno : 0;
    close(file);
    if (error)
        return error;
    text[got] = 0;
    const char *end = strrchr(text, ')'); /* of the second field, a name, which may contain anything */
    int read_all =
        end && sscanf(end + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %ld %*d %llu",
                      &state->letter, &state->threads, &state->started) == 3;
    return read_all ? 0 : EINVAL;
}

/* True if start times that this process reads are on the same clock as the mate's. */
static int is_comparable(const struct hs_roster_entry *mine, const struct hs_roster_entry *mate)
{
    struct process_state now;
    return mine->clock == mate->clock && read_process(mine->process, &now) == 0 && now.started == mine->started;
}

/* A process that cannot be examined counts as alive. */
static int has_ended(const struct hs_roster_entry *mine, const struct hs_roster_entry *mate, int64_t process)
{
    struct process_state now;
    int error = read_process(process, &now);
    if (error) /* /proc may hide processes */
        return (error == ENOENT || error == ESRCH) && kill((pid_t)process, 0) && errno == ESRCH;
    /* if only the first thread has ended, the state is Z, too */
    return (now.started != mate->started && is_comparable(mine, mate)) ||
           ((now.letter == 'Z' || now.letter == 'X') && now.threads <= 1);
}

/* Identifies the name space of process ids; 0 if /proc belongs to another one than this process. */
static uint64_t name_space(void)
{
    char self[24] = "";
    struct stat is;
    ssize_t length = readlink("/proc/self", self, sizeof self - 1);
    if (length <= 0 || atoll(self) != (long long)getpid() || stat("/proc/self/ns/pid", &is))
        return 0;
    return (uint64_t)is.st_ino;
}

static size_t bytes_of(const struct hs_roster *roster)
{
    return sizeof *roster->entry * (size_t)roster->mates;
}

void hs_roster_make(struct hs_roster *roster, MPI_Comm mates, const struct hs_watch *watch)
{
    roster->mates = 1;
    if (mates == MPI_COMM_NULL || hs_simulator() || MPI_Comm_size(mates, &roster->mates) != MPI_SUCCESS ||
        MPI_Comm_rank(mates, &roster->me) != MPI_SUCCESS || roster->mates == 1)
        return;
    roster->entry = hs_mapping_make(mates, bytes_of(roster), 1, watch, NULL);
    if (!roster->entry)
        return;
    struct hs_roster_entry *mine = &roster->entry[roster->me];
    struct process_state now;
    struct stat clock;
    mine->space = name_space();
    mine->clock = stat("/proc/self/ns/time", &clock) ? 0 : (uint64_t)clock.st_ino;
    if (!mine->space || read_process(getpid(), &now))
        return;
    mine->started = now.started;
    atomic_store_explicit(&mine->process, getpid(), memory_order_release);
}

void hs_roster_leave(struct hs_roster *roster)
{
    if (!roster->entry)
        return;
    atomic_store(&roster->entry[roster->me].left, 1);
    hs_mapping_free(roster->entry, bytes_of(roster));
    roster->entry = NULL;
}

void hs_roster_give_up(struct hs_roster *roster, hsumma_status status, const char *why)
{
    if (roster->failed)
        return;
    roster->failed = status;
    hs_fail(&roster->why, status, "%s", why);
    if (!roster->entry)
        return;
    struct hs_roster_entry *mine = &roster->entry[roster->me];
    mine->why = roster->why;
    atomic_store_explicit(&mine->failed, (int)status, memory_order_release);
}

/* The error after which a mate gave up. */
static hsumma_status failure_of(const struct hs_roster *roster, int mate)
{
    return (hsumma_status)atomic_load_explicit(&roster->entry[mate].failed, memory_order_acquire);
}

const char *hs_roster_why(struct hs_roster *roster, hsumma_status status)
{
    for (int m = 0; m < roster->mates && roster->entry && !roster->failed; m++)
        if (failure_of(roster, m))
            hs_roster_give_up(roster, failure_of(roster, m), roster->entry[m].why.text);
    return roster->why.text[0] ? roster->why.text : hsumma_status_string(status);
}

int hs_roster_find_lost(const struct hs_roster *roster, int awaited, int *leavers)
{
    const uint64_t space = roster->entry ? roster->entry[roster->me].space : 0;
    *leavers = 0;
    for (int m = 0; m < roster->mates && roster->entry; m++) {
        const struct hs_roster_entry *mate = &roster->entry[m];
        if (m == roster->me)
            continue;
        if (failure_of(roster, m))
            return m;
        if (atomic_load(&mate->left)) {
            *leavers = 1;
            if (m == awaited)
                return m;
            continue;
        }
        int64_t process = atomic_load_explicit(&mate->process, memory_order_acquire);
        if (process && space && mate->space == space && has_ended(&roster->entry[roster->me], mate, process))
            return m;
    }
    return -1;
}
