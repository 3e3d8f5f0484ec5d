/*
 * The executor over shared memory, and the counters of a node's directory, with ranks that are threads of one process:
 * results are compared with sums and copies made here. "make tsan" runs the same program under ThreadSanitizer, which
 * sees no order between processes, but reports every access of two threads that the library's flags do not order.
 *
 * process_vm_readv is replaced by memcpy, so that direct reads of a peer's buffers are among these accesses.
 */
#include "coll/node/directory.h"
#include "coll/run/executor.h"
#include "coll/schedule/registry.h"
#include "support/random.h"
#include "support/tap.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>

enum { RANKS = 5, UNIT = 8, CALLS = 60, IN_PROGRESS = 6, LONGEST = 700, SHORT = 40, ROUNDS = 400, SLEEPING = 1 << 20 };

ssize_t process_vm_readv(pid_t process, const struct iovec *to, unsigned long tos, const struct iovec *from,
                         unsigned long froms, unsigned long flags)
{
    (void)process, (void)tos, (void)froms, (void)flags;
    memcpy(to->iov_base, from->iov_base, to->iov_len);
    return (ssize_t)to->iov_len;
}

static const struct {
    enum hs_collective collective;
    const char *name;
} rows[] = {{HS_BCAST, "shared"},
            {HS_REDUCE_TO, "shared"},
            {HS_ALLREDUCE, "shared"},
            {HS_REDUCE_TO, "shared_buffer"},
            {HS_ALLREDUCE, "shared_buffer"},
            {HS_REDUCE_SCATTER, "shared_buffer"},
            {HS_ALLGATHER, "shared_buffer"},
            {HS_REDUCE_TO, "spread"},
            {HS_ALLREDUCE, "spread"},
            {HS_REDUCE_SCATTER, "spread"},
            {HS_ALLGATHER, "spread"},
            {HS_ALLREDUCE, "binomial"}};
enum { ROWS = sizeof rows / sizeof *rows };

/* One call, the same for all ranks. */
struct call {
    const struct hs_alg *alg;
    int64_t count;
    int root, ring;
};

struct team {
    int ranks;
    struct call call[CALLS];
    struct hs_topology topology;
    void *base; /* the memory that ranks share */
    int64_t shared_bytes;
    int of[RANKS]; /* 0, 1, ... */
};

struct member {
    struct team *team;
    int me, wrong;
    pthread_t thread;
};

/* A call in progress on one rank. */
struct running {
    struct hs_list list;
    struct hs_instance instance;
    void *memory;
    int64_t *in, *out;
};

static void add(void *dst, const void *left, const void *right, int64_t bytes, void *state)
{
    (void)state;
    for (int64_t i = 0; i < bytes / UNIT; i++)
        ((int64_t *)dst)[i] = ((const int64_t *)left)[i] + ((const int64_t *)right)[i];
}

static int64_t value_of(int call, int rank, int64_t i)
{
    return (int64_t)call * 1000003 + rank * 7919 + i * i;
}

static struct hs_shape shape_of(const struct team *team, const struct call *call, int me)
{
    struct hs_shape shape = {.rank = me,
                             .size = team->ranks,
                             .root = call->root,
                             .bytes = call->count * UNIT,
                             .unit = UNIT,
                             .topology = &team->topology};
    int rotation = hs_rotation(call->alg, &shape);
    shape.rank = (me + team->ranks - rotation) % team->ranks;
    shape.root = rotation ? 0 : call->root;
    return shape;
}

/* The part of the vector that a rank contributes to an allgather, or gets from a reduce_scatter; else the whole. */
static void part_of(const struct team *team, const struct call *call, int rank, int64_t *first, int64_t *end)
{
    struct hs_shape shape = shape_of(team, call, rank);
    int parted = call->alg->collective >= HS_ALLGATHER;
    *first = parted ? hs_part_at(&shape, rank) / UNIT : 0;
    *end = parted ? hs_part_at(&shape, rank + 1) / UNIT : call->count;
}

static int begin(struct member *member, struct hs_comm *comm, struct hs_shm *shm, int number, struct running *running)
{
    const struct call *call = &member->team->call[number];
    struct hs_shape shape = shape_of(member->team, call, member->me);
    int64_t first = 0, end = call->count;
    running->in = malloc(LONGEST * UNIT);
    running->out = calloc(LONGEST, UNIT);
    if (!running->in || !running->out || hs_build(call->alg, &shape, &hs_heap, &running->list))
        return 1;
    running->memory = malloc(hs_instance_bytes(running->list.steps));
    if (!running->memory)
        return 1;
    if (call->alg->collective == HS_ALLGATHER)
        part_of(member->team, call, member->me, &first, &end);
    for (int64_t i = first; i < end; i++)
        running->in[i - first] = value_of(number, member->me, i);
    if (call->alg->collective == HS_BCAST && member->me == call->root)
        memcpy(running->out, running->in, (size_t)call->count * UNIT);
    hs_instance_init(&running->instance, running->memory, running->list.steps);
    struct hs_binding binding = {.list = &running->list,
                                 .group = {.table = member->team->of, .stride = 1, .size = member->team->ranks},
                                 .rotation = (member->me + member->team->ranks - shape.rank) % member->team->ranks,
                                 .slot = {running->in, running->out},
                                 .combine = add,
                                 .unit = UNIT,
                                 .shm = shm,
                                 .ring = call->ring,
                                 .instance = shm->next++};
    binding.slot[HS_SCRATCH] = malloc((size_t)running->list.extent[HS_SCRATCH] + 1);
    return !binding.slot[HS_SCRATCH] || hs_start(&running->instance, comm, &binding) != HSUMMA_OK;
}

/* Compares the result with one that is computed here. */
static int is_right(const struct member *member, int number, const struct running *running)
{
    const struct call *call = &member->team->call[number];
    enum hs_collective collective = call->alg->collective;
    int64_t first = 0, end = call->count;
    if (collective == HS_REDUCE_TO && member->me != call->root)
        return 1;
    if (collective == HS_REDUCE_SCATTER)
        part_of(member->team, call, member->me, &first, &end);
    for (int64_t i = first; i < end; i++) {
        int64_t expected = 0;
        for (int r = 0; r < member->team->ranks; r++) {
            int64_t from = 0, to = call->count;
            if (collective == HS_ALLGATHER)
                part_of(member->team, call, r, &from, &to);
            int counts = collective == HS_BCAST ? r == call->root : i >= from && i < to;
            expected += counts ? value_of(number, r, i) : 0;
        }
        if (running->out[i - first] != expected)
            return 0;
    }
    return 1;
}

static int end_call(struct member *member, int number, struct running *running)
{
    int worked = 0, bad = 0;
    while (running->instance.active && !bad) {
        bad = hs_progress(&running->instance, &worked) != HSUMMA_OK;
        sched_yield();
    }
    bad = bad || !is_right(member, number, running);
    free(running->instance.bound.slot[HS_SCRATCH]);
    hs_list_free(&hs_heap, &running->list);
    free(running->memory);
    free(running->in);
    free(running->out);
    return bad;
}

/* A rank: all calls, IN_PROGRESS at a time. */
static void *run_calls(void *of)
{
    struct member *member = of;
    struct team *team = member->team;
    struct running running[IN_PROGRESS];
    struct hs_comm comm = {.comm = MPI_COMM_NULL, .rank = member->me, .size = team->ranks, .cut = HS_CUT};
    struct hs_shm shm = {.members = team->ranks,
                         .me = member->me,
                         .node = &team->topology.division[HS_NODE],
                         .direct = team->topology.direct,
                         .bounce = malloc(HS_BOUNCE)};
    hs_shm_lay_out(&shm, team->base, team->shared_bytes);
    for (int i = 0; i < CALLS + IN_PROGRESS; i++) {
        if (i >= IN_PROGRESS)
            member->wrong += end_call(member, i - IN_PROGRESS, &running[i % IN_PROGRESS]);
        if (i < CALLS)
            member->wrong += begin(member, &comm, &shm, i, &running[i % IN_PROGRESS]);
    }
    free(shm.bounce);
    return NULL;
}

/* Whether no rank's list has messages, which these threads cannot exchange. Sets call->ring. */
static int is_without_messages(const struct team *team, struct call *call)
{
    int messages = 0;
    call->ring = 0;
    for (int r = 0; r < team->ranks; r++) {
        struct hs_shape shape = shape_of(team, call, r);
        struct hs_list list;
        if (hs_alg_unfit(call->alg, &shape) || hs_build(call->alg, &shape, &hs_heap, &list))
            return 0;
        for (int i = 0; i < list.steps; i++)
            messages += list.step[i].kind == HS_SEND || list.step[i].kind == HS_RECV || list.step[i].kind == HS_MPI;
        call->ring = hs_shm_ring_for(list.reach) > call->ring ? hs_shm_ring_for(list.reach) : call->ring;
        hs_list_free(&hs_heap, &list);
    }
    return messages == 0;
}

/* Starts the threads of `ranks` ranks; returns the number of wrong results. */
static int together(void *(*function)(void *), struct team *team, int ranks)
{
    struct member member[RANKS];
    int wrong = 0;
    for (int r = 0; r < ranks; r++) {
        member[r] = (struct member){.team = team, .me = r};
        if (pthread_create(&member[r].thread, NULL, function, &member[r])) {
            tap_diag("no thread");
            exit(1);
        }
    }
    for (int r = 0; r < ranks; r++) {
        pthread_join(member[r].thread, NULL);
        wrong += member[r].wrong;
    }
    return wrong;
}

static void test_executor(int ranks, int64_t shared_bytes, int direct, uint64_t seed)
{
    static struct team team;
    uint64_t mix = seed;
    struct hs_shm shm = {.members = ranks};
    hs_shm_lay_out(&shm, NULL, shared_bytes);
    int used[ROWS] = {0}, kinds = 0;
    team = (struct team){.ranks = ranks, .shared_bytes = shared_bytes};
    team.base = mmap(NULL, shm.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (team.base == MAP_FAILED || hs_topology_blocks(&team.topology, ranks, 1, 1, &hs_heap)) {
        tap_ok(0, "no memory");
        return;
    }
    team.topology.shared_bytes = shared_bytes;
    team.topology.direct = direct;
    for (int r = 0; r < RANKS; r++)
        team.of[r] = r;
    for (int i = 0, tries = 0; i < CALLS && tries < 100 * CALLS; tries++) {
        int row = draw_of(&mix, ROWS);
        struct call call = {.alg = hs_alg_find(rows[row].collective, rows[row].name),
                            .count = 1 + draw_of(&mix, draw_of(&mix, 2) ? LONGEST : SHORT),
                            .root = rows[row].collective <= HS_REDUCE_TO ? draw_of(&mix, ranks) : 0};
        if (!call.alg || !is_without_messages(&team, &call))
            continue;
        used[row]++;
        team.call[i++] = call;
    }
    for (int i = 0; i < ROWS; i++)
        kinds += used[i] > 0;
    int wrong = team.call[CALLS - 1].alg ? together(run_calls, &team, ranks) : 1;
    tap_ok(wrong == 0, "%d threads, %d calls of %d algorithms, %lld bytes shared%s: %d wrong", ranks, CALLS, kinds,
           (long long)shared_bytes, direct ? ", direct reads" : "", wrong);
    munmap(team.base, shm.bytes);
    hs_topology_free(&team.topology, &hs_heap);
}

/* --- the directory ------------------------------------------------------------------------------------------------ */

static struct hs_directory_entry entries[RANKS];
static int64_t passed[RANKS]; /* plain memory, ordered by the counters only */

/* A rank of a ring: each round passes on a number, and all ranks vote. Every other wait is asleep. */
static void *run_ring(void *of)
{
    struct member *member = of;
    int me = member->me, ranks = member->team->ranks, before = (me + ranks - 1) % ranks;
    struct hs_directory directory = {.entry = entries, .ranks = ranks, .me = me};
    for (int i = 1; i <= ROUNDS; i++) {
        for (int polls = 0; !hs_signalled(&directory, before, HS_USED, (uint64_t)(me ? i : i - 1)); polls++) {
            hs_directory_idle(&directory, i % 2 ? SLEEPING : polls);
            hs_directory_look(&directory);
        }
        hs_directory_look(&directory);
        int64_t round = me ? i : i - 1;
        member->wrong += round > 0 && passed[before] != ROUNDS * round + before;
        passed[me] = ROUNDS * (int64_t)i + me;
        hs_signal(&directory, HS_USED, (uint64_t)i);
        struct hs_ballot ballot = {{i, me, 0, 0}}, other;
        hs_directory_arrive(&directory, (uint64_t)i, &ballot);
        for (int r = 0; r < ranks; r++) {
            while (!hs_directory_arrived(&directory, r, (uint64_t)i, &other)) {
                hs_directory_idle(&directory, SLEEPING);
                hs_directory_look(&directory);
            }
            member->wrong += other.word[0] != i || other.word[1] != r;
        }
        hs_directory_look(&directory);
    }
    return NULL;
}

static void test_directory(int ranks)
{
    struct team team = {.ranks = ranks};
    memset(entries, 0, sizeof entries);
    memset(passed, 0, sizeof passed);
    int wrong = together(run_ring, &team, ranks);
    tap_ok(wrong == 0, "%d threads, %d rounds of counters, sleepers and ballots: %d wrong", ranks, ROUNDS, wrong);
}

int main(void)
{
    for (int ranks = 2; ranks <= RANKS; ranks++) {
        test_executor(ranks, 16384, 0, 1);
        test_executor(ranks, 16384, 1, 2);
        test_executor(ranks, 256, 1, 3);
    }
    test_directory(2);
    test_directory(RANKS);
    return tap_done();
}
