/*
 * Devices of several processes: shared memory and events, contexts with a device, and refusals on one process or on
 * all. Without an argument the test runs the stand-in under several policies; "mpi_device cuda" uses GPUs, if every
 * process has one. mpi_device_cuda is the same program over the fake CUDA (tests/device/fake_cuda), under the name
 * "host".
 */
#include "gpu/devices.h"

#include "coll/node/device_share.h"
#include "hsumma/context/context.h"
#include "support/failing_memory.h"
#include "support/process.h"
#include "support/tap.h"
#include "support/world.h"

#include <stdlib.h>
#include <string.h>

enum { WORDS = 1000, BYTES = WORDS * 8 };
static const char LATE[] = "lazy,hold=3600000000"; /* no work is done until a query or wait */
static const struct hs_device_kind *kind;
static const char *option = "device=host";
static int is_host; /* nonzero: the stand-in, not the fake CUDA; error messages differ */

/* The number of the library's shared-memory files and mappings in this process. */
static int held(void)
{
    hs_device_kind_find("host", NULL); /* makes the fake release its own files */
    return process_segments() + process_segment_files();
}

/* The text for a test's name; who: a process, or -1 for all. */
static const char *whom(int who)
{
    return who < 0 ? "all processes" : "one process";
}

/* Whether `who` (a process, or -1 for all) includes this process. */
static int is_mine(int who)
{
    return who < 0 || who == rank;
}

/* A device on each process, with memory and events that all processes share. */
struct party {
    struct hs_device *device;
    struct hs_stream *stream;
    struct hs_device_share share;
    struct failing_memory scarce;
    struct hs_allocator memory;
    struct hs_message message;
    int64_t *mine;
};

/* The bytes of a process's memory; the last process has none if there are more than two. */
static size_t bytes_of(int who)
{
    return who == size - 1 && size > 2 ? 0 : (size_t)(BYTES + who * 8);
}

/* Opens this process's device with `policy`, and makes the shared memory and events. Host allocation number fail_at
 * fails; -1: none. */
static hsumma_status party_begin(struct party *party, const char *policy, int64_t fail_at)
{
    *party = (struct party){.scarce = {.fail_at = fail_at}};
    party->memory = (struct hs_allocator){failing_memory_get, failing_memory_put, &party->scarce};
    setenv("HSUMMA_HOST_DEVICE", policy, 1);
    kind = hs_device_kind_find(kind->name, NULL); /* makes the fake read its policy again */
    hsumma_status status = kind->open(-1, rank, &party->memory, &party->device, &party->message);
    if (!status)
        status = kind->make_stream(party->device, &party->stream);
    if (!everywhere(status == HSUMMA_OK))
        return status ? status : HSUMMA_ERR_DEVICE;
    status = hs_device_share_make(&party->share, MPI_COMM_WORLD, NULL, party->device, 3, bytes_of(rank), &party->memory,
                                  &party->message);
    party->mine = status ? NULL : (int64_t *)(void *)party->share.memory[rank];
    return status;
}

/* Closes the device; returns whether all of its host memory has been freed. */
static int party_end(struct party *party)
{
    if (party->stream)
        kind->synchronize(party->device, party->stream);
    if (party->share.device)
        hs_device_share_leave(&party->share);
    everywhere(1);
    if (party->share.device)
        hs_device_share_free(&party->share, &party->memory);
    if (party->stream)
        kind->free_stream(party->device, party->stream);
    kind->close(party->device);
    return party->scarce.out == 0;
}

static int64_t word(int who, int round, int64_t i)
{
    return who * 1000003 + round * 10007 + i;
}

static void fill(int64_t *words, int who, int round)
{
    for (int64_t i = 0; i < WORDS; i++)
        words[i] = word(who, round, i);
}

/* Each process writes its own memory and records an event, then reads the memory of all processes on a second stream,
 * with or without waiting for their events. */
static int exchange(struct party *party, int round, int waits, int64_t (*seen)[WORDS])
{
    static int64_t words[WORDS];
    int wrong = 0;
    fill(words, rank, round);
    if (party->mine)
        wrong += kind->copy(party->device, party->stream, party->mine, words, BYTES) != HSUMMA_OK;
    wrong += kind->record(party->device, party->stream, hs_device_share_event(&party->share, rank, 0)) != HSUMMA_OK;
    everywhere(1); /* all events are recorded, but not complete */
    struct hs_stream *reader = NULL;
    wrong += kind->make_stream(party->device, &reader) != HSUMMA_OK;
    for (int r = 0; r < size; r++) {
        if (!party->share.memory[r])
            continue;
        if (waits)
            wrong += kind->wait(party->device, reader, hs_device_share_event(&party->share, r, 0)) != HSUMMA_OK;
        wrong += kind->copy(party->device, reader, seen[r], party->share.memory[r], BYTES) != HSUMMA_OK;
    }
    if (!waits) /* with no waits for events, this process's own work starts only after all have read */
        wrong += kind->synchronize(party->device, reader) != HSUMMA_OK;
    if (!waits)
        everywhere(1);
    wrong += kind->synchronize(party->device, party->stream) != HSUMMA_OK;
    wrong += kind->synchronize(party->device, reader) != HSUMMA_OK;
    kind->free_stream(party->device, reader);
    everywhere(1); /* all processes have read */
    return wrong;
}

static int seen_is(const struct party *party, int64_t (*seen)[WORDS], int round)
{
    int right = 1;
    for (int r = 0; r < size; r++)
        for (int64_t i = 0; party->share.memory[r] && i < WORDS; i++)
            right &= seen[r][i] == word(r, round, i);
    return right;
}

static void test_exchange(const char *policy)
{
    static int64_t seen[64][WORDS];
    struct party party;
    int late = strcmp(policy, LATE) == 0, good = party_begin(&party, policy, -1) == HSUMMA_OK, old = 1;
    for (int r = 0; good && r < size; r++)
        good &= (party.share.memory[r] != NULL) == (bytes_of(r) > 0) &&
                kind->classify(party.device, party.share.memory[r]) == (r == rank && bytes_of(r) ? HS_MEMORY_DEVICE
                                                                        : bytes_of(r)            ? HS_MEMORY_OTHER
                                                                                                 : HS_MEMORY_HOST);
    good = everywhere(good);
    for (int round = 0; good && round < 20; round++)
        good = everywhere(exchange(&party, round, 1, seen) == 0 && seen_is(&party, seen, round));
    tap_ok(good && party.share.shares_events, "%s: who waits for the others' events sees their memory: %s", policy,
           party.message.text);
    if (late && good)
        old = exchange(&party, 20, 0, seen) == 0 && seen_is(&party, seen, 19);
    if (late)
        tap_ok(everywhere(old), "%s: who does not wait sees what was there before", policy);
    tap_ok(everywhere(party_end(&party)), "%s: nothing is left", policy);
}

/* Passes a number around the processes, each of which increments it in its own memory. Device work waits for work of
 * other processes; only the last process waits for its work, while the others are at a barrier that does not drive
 * their devices. */
static void test_round(const char *policy, int rounds)
{
    struct party party;
    int64_t one = 1, got = 0;
    void *ones = NULL;
    int good = party_begin(&party, policy, -1) == HSUMMA_OK, give = (rank + 1) % size;
    int members = bytes_of(size - 1) ? size : size - 1, take = (rank + members - 1) % members;
    give = (rank + 1) % members;
    good = everywhere(good && !kind->get(party.device, 8, &ones) &&
                      !kind->copy(party.device, party.stream, ones, &one, 8));
    for (int round = 0; good && rank < members && round < rounds; round++) {
        char word = 0;
        const void *operand[2] = {party.share.memory[take], ones};
        if (round + rank > 0 && members > 1)
            MPI_Recv(&word, 1, MPI_CHAR, take, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (round + rank > 0)
            good &= !kind->wait(party.device, party.stream, hs_device_share_event(&party.share, take, 1)) &&
                    !kind->combine(party.device, party.stream, party.mine, operand, 2, 1, HSUMMA_INT64, HSUMMA_SUM);
        else
            good &= !kind->copy(party.device, party.stream, party.mine, ones, 8);
        good &= !kind->record(party.device, party.stream, hs_device_share_event(&party.share, rank, 1));
        if ((round < rounds - 1 || rank < members - 1) && members > 1)
            MPI_Send(&word, 1, MPI_CHAR, give, 0, MPI_COMM_WORLD);
    }
    if (rank == members - 1) /* the other processes are at the barrier and do not drive their devices */
        good &= !kind->copy(party.device, party.stream, &got, party.mine, 8) &&
                !kind->synchronize(party.device, party.stream) && got == (int64_t)rounds * members;
    if (rank == members - 1 && !good)
        printf("# rank %d: %lld of %lld: %s\n", rank, (long long)got, (long long)rounds * members,
               party.device->message.text);
    MPI_Barrier(MPI_COMM_WORLD);
    tap_ok(everywhere(good), "%s: %d rounds in which only work waits for work", policy, rounds);
    kind->put(party.device, ones);
    tap_ok(everywhere(party_end(&party)), "%s: and nothing is left", policy);
}

/* Lets `policy` make party_begin fail on one process or on all: every process must return the same status with a
 * message, and leave nothing allocated. */
static void test_refused(const char *what, const char *policy, int who, hsumma_status wanted, const char *text)
{
    struct party party;
    int before = held();
    hsumma_status status = party_begin(&party, is_mine(who) ? policy : "random", -1);
    int mine = is_mine(who);
    int good = status == wanted &&
               strstr(party.message.text, !mine     ? "another process"
                                          : is_host ? text
                                                    : "cuda") &&
               !party.share.memory && !party.share.event;
    if (!good)
        printf("# rank %d: %d: %s\n", rank, (int)status, party.message.text);
    good &= party_end(&party) && held() == before;
    tap_ok(everywhere(good), "%s on %s: %s, and nothing is left", what, whom(who), hsumma_status_string(wanted));
}

static void test_no_events(int who)
{
    struct party party;
    int good = party_begin(&party, is_mine(who) ? "noevents" : "random", -1) == HSUMMA_OK;
    good &= !party.share.shares_events;
    for (int r = 0; good && r < size; r++)
        good &= (party.share.memory[r] != NULL) == (bytes_of(r) > 0);
    good &= party_end(&party);
    tap_ok(everywhere(good), "events that %s cannot share: memory is shared all the same",
           who < 0 ? "the processes" : "one process");
}

/* Freeing memory that another process still maps is an error. */
static void test_freed_early(void)
{
    struct party party;
    int good = party_begin(&party, "lazy", -1) == HSUMMA_OK;
    if (good && rank == 0) {
        kind->put(party.device, party.share.memory[0]);
        party.share.memory[0] = NULL;
        good = kind->synchronize(party.device, party.stream) == HSUMMA_ERR_DEVICE &&
               strstr(party.device->message.text, is_host ? "mapped" : "cudaErrorIllegalAddress");
    }
    tap_ok(everywhere(good), "memory that is freed while others have it mapped: %s", party.device->message.text);
    tap_ok(everywhere(party_end(&party)), "and nothing is left");
}

/* Makes each host allocation of the last process fail in turn. */
static void test_scarce(void)
{
    int before = held(), good = 1, who = size - 1;
    int64_t failed = 0;
    for (hsumma_status status = HSUMMA_ERR_MEMORY; status && failed < 1000 && good; failed++) {
        struct party party;
        status = party_begin(&party, "lazy", rank == who ? failed : -1);
        good = everywhere((status == HSUMMA_OK) == (world_reduce(status != HSUMMA_OK, MPI_MAX) == 0));
        good &= everywhere(!status || party.message.text[0] || (party.device && party.device->message.text[0]) ||
                           rank != who);
        good &= everywhere(party_end(&party) && held() == before);
    }
    tap_ok(good && failed > 5 && failed < 1000, "%d failing allocations: all processes hear of it, nothing is left",
           (int)failed - 1);
}

/* Creates a context with `policy` on process `who` (-1: on all), with the default policy elsewhere. */
static hsumma_status create(const char *policy, int who, hsumma_context **ctx, char *message, size_t bytes)
{
    *ctx = NULL;
    setenv("HSUMMA_HOST_DEVICE", is_mine(who) ? policy : "random", 1);
    return hsumma_create(MPI_COMM_WORLD, option, ctx, message, bytes);
}

/* Creates a context with a device; returns NULL and reports a failed test on error. */
static hsumma_context *context_of(const char *policy, int who)
{
    hsumma_context *ctx;
    char message[512] = "";
    if (everywhere(create(policy, who, &ctx, message, sizeof message) == HSUMMA_OK))
        return ctx;
    tap_ok(0, "%s: a context with a device: %s", policy, message);
    hsumma_free(&ctx);
    return NULL;
}

/* Whether `words`, copied to `memory` and back, are unchanged. */
static int copies_back(hsumma_context *ctx, const void *memory, const int64_t *words)
{
    static int64_t back[WORDS];
    memset(back, 0, sizeof back);
    return !hsumma_copy(ctx, back, memory, BYTES) && memcmp(words, back, BYTES) == 0;
}

/* Tests hsumma_malloc, hsumma_mfree and hsumma_copy. */
static void test_context(const char *policy)
{
    static int64_t words[WORDS];
    int before = held(), good = 1;
    hsumma_context *ctx = context_of(policy, -1);
    if (!ctx)
        return;
    void *memory[3] = {NULL};
    good = hsumma_device(ctx)[0] && strcmp(hsumma_device(ctx), "none") != 0;
    for (int i = 0; i < 3; i++)
        good &= !hsumma_malloc(ctx, i == 1 ? (size_t)(rank % 2) * BYTES : BYTES, &memory[i]) && memory[i] &&
                kind->classify(ctx->device, memory[i]) == HS_MEMORY_DEVICE;
    fill(words, rank, 3);
    good &= !hsumma_copy(ctx, memory[0], words, BYTES) && !hsumma_copy(ctx, memory[2], memory[0], BYTES) &&
            copies_back(ctx, memory[2], words) && !hsumma_copy(ctx, words, words, 0);
    tap_ok(everywhere(good), "%s: copies into memory of the device, inside it, and out: %s", policy,
           hsumma_message(ctx));
    good = 1;
    for (int r = 0; r < size; r++) {
        const char *theirs = ctx->allocations.first->share.memory[r];
        fill(words, r, 3);
        good &= theirs && copies_back(ctx, theirs, words);
    }
    tap_ok(everywhere(good), "%s: and the others see it: %s", policy, hsumma_message(ctx));
    hsumma_mfree(ctx, memory[1]);
    hsumma_mfree(ctx, memory[0]);
    good = !hsumma_malloc(ctx, 100, &memory[1]) && !hsumma_synchronize(ctx);
    tap_ok(everywhere(good), "%s: memory may go in any order: %s", policy, hsumma_message(ctx));
    hsumma_free(&ctx);
    tap_ok(everywhere(held() == before), "%s: what is left goes with the context", policy);
}

/* When the caller changes streams, work on the earlier stream completes before work on the later one. */
static void test_streams(int is_real)
{
    static int64_t words[WORDS];
    struct hs_stream *own = NULL;
    void *memory = NULL;
    hsumma_context *ctx = context_of(LATE, -1);
    if (!ctx)
        return;
    fill(words, rank, 5);
    int good = !hsumma_malloc(ctx, BYTES, &memory) && !kind->make_stream(ctx->device, &own) && hsumma_stream(ctx) &&
               !kind->copy(ctx->device, ctx->stream, memory, words, BYTES) &&
               !hsumma_set_stream(ctx, kind->show_stream(ctx->device, own)) &&
               hsumma_stream(ctx) == kind->show_stream(ctx->device, own) && copies_back(ctx, memory, words);
    tap_ok(everywhere(good), "a stream of the caller's comes after what was on the context's: %s", hsumma_message(ctx));
    fill(words, rank, 6);
    good = !kind->copy(ctx->device, own, memory, words, BYTES) && !hsumma_set_stream(ctx, NULL) &&
           hsumma_stream(ctx) != kind->show_stream(ctx->device, own) && copies_back(ctx, memory, words) &&
           !hsumma_synchronize(ctx);
    tap_ok(everywhere(good), "and the context's own after the caller's: %s", hsumma_message(ctx));
    if (!is_real) { /* CUDA crashes on an invalid stream */
        good = hsumma_set_stream(ctx, words) == HSUMMA_ERR_DEVICE && strstr(hsumma_message(ctx), "tream") &&
               hsumma_stream(ctx) && copies_back(ctx, memory, words);
        tap_ok(everywhere(good), "what is no stream is refused, and the old one stays: %s", hsumma_message(ctx));
    }
    good = !hsumma_set_stream(ctx, hsumma_stream(ctx)) && copies_back(ctx, memory, words) && !hsumma_synchronize(ctx);
    tap_ok(everywhere(good), "the stream that it has, once more: %s", hsumma_message(ctx));
    kind->free_stream(ctx->device, own);
    hsumma_free(&ctx);
}

/* HSUMMA_HOST_DEVICE has an invalid setting on one process or on all. */
static void test_bad_word(int who)
{
    hsumma_context *ctx;
    char message[512] = "", name[32];
    int before = held();
    hsumma_status status = create("lazy,later", who, &ctx, message, sizeof message);
    snprintf(name, sizeof name, "process %d", who < 0 ? 0 : who);
    int good = status == HSUMMA_ERR_DEVICE && !ctx && strstr(message, "later") && strstr(message, name) &&
               strstr(message, "device=host") && held() == before;
    tap_ok(everywhere(good), "a device that %s cannot open: %s", who < 0 ? "no process" : "one process", message);
}

static void test_short(int who)
{
    hsumma_context *ctx = context_of("lazy,memory=5000000", who);
    void *memory = &ctx, *less = NULL;
    if (!ctx)
        return;
    int good = hsumma_malloc(ctx, 6000000, &memory) == HSUMMA_ERR_MEMORY && !memory && hsumma_message(ctx)[0];
    if (is_mine(who))
        good &= strstr(hsumma_message(ctx), is_host ? "6000000 bytes" : "cudaErrorMemoryAllocation") != NULL;
    tap_ok(everywhere(good && !hsumma_malloc(ctx, 90000, &less) && less), "device memory is short on %s: %s", whom(who),
           hsumma_message(ctx));
    hsumma_free(&ctx);
}

/* If device memory cannot be shared, each process has memory of its own. */
static void test_alone(int who)
{
    static int64_t words[WORDS];
    void *memory = NULL;
    int before = held();
    hsumma_context *ctx = context_of("lazy,noipc", who);
    if (!ctx)
        return;
    fill(words, rank, 9);
    int good = !hsumma_malloc(ctx, BYTES, &memory) && memory && !hsumma_copy(ctx, memory, words, BYTES) &&
               copies_back(ctx, memory, words);
    good = everywhere(good);
    hsumma_mfree(ctx, memory);
    good &= !hsumma_malloc(ctx, 10, &memory);
    hsumma_free(&ctx);
    tap_ok(everywhere(good && held() == before), "memory that %s cannot share is had all the same, and goes again",
           who < 0 ? "the processes" : "one process");
}

static void test_failure(int who)
{
    char name[32];
    static int64_t words[WORDS];
    void *memory = NULL;
    int before = held();
    hsumma_context *ctx = context_of("lazy,fail=2", who);
    if (!ctx)
        return;
    int good = !hsumma_malloc(ctx, BYTES, &memory) && !hsumma_copy(ctx, memory, words, BYTES);
    hsumma_status status = hsumma_copy(ctx, words, memory, BYTES);
    snprintf(name, sizeof name, "process %d", rank);
    good &= status == (is_mine(who) ? HSUMMA_ERR_DEVICE : HSUMMA_OK);
    if (is_mine(who))
        good &= strstr(hsumma_message(ctx), name) &&
                strstr(hsumma_message(ctx), is_host ? "work 2" : "cudaErrorIllegalAddress") &&
                hsumma_synchronize(ctx) == HSUMMA_ERR_DEVICE;
    tap_ok(everywhere(good), "work that fails on %s: %s", whom(who), hsumma_message(ctx));
    hsumma_free(&ctx);
    tap_ok(everywhere(held() == before), "and the context goes");
}

static void test_none(void)
{
    hsumma_context *ctx = NULL;
    char byte = 0;
    int good = hsumma_create(MPI_COMM_WORLD, "device=none", &ctx, NULL, 0) == HSUMMA_OK;
    good &= hsumma_copy(ctx, &byte, &byte, 1) == HSUMMA_ERR_UNSUPPORTED && strstr(hsumma_message(ctx), "device");
    good &= hsumma_set_stream(ctx, NULL) == HSUMMA_ERR_UNSUPPORTED && hsumma_synchronize(ctx) == HSUMMA_ERR_UNSUPPORTED;
    good &= !hsumma_stream(ctx) && strcmp(hsumma_device(ctx), "none") == 0;
    tap_ok(everywhere(good), "a context without a device: %s", hsumma_message(ctx));
    hsumma_free(&ctx);
}

/* All refusals, first on all processes, then on the last one. */
static void test_all_refusals(void)
{
    for (int who = -1; who<size; who += size> 1 ? size : 2) {
        const int one = who < 0 ? -1 : size - 1;
        if (size > 1)
            test_refused("mapping", "noipc", one, HSUMMA_ERR_DEVICE, "noipc");
        test_refused("an event", "lazy,event=2", one, HSUMMA_ERR_DEVICE, "event=2");
        test_no_events(one);
        if (is_host)
            test_bad_word(one);
        test_short(one);
        test_alone(one);
        test_failure(one);
    }
    test_refused("memory", "memory=7999", 0, HSUMMA_ERR_MEMORY, "of device memory");
    if (size > 1)
        test_freed_early();
}

static void test_all(const char *const *policies, int count)
{
    for (int i = 0; i < count; i++)
        test_exchange(policies[i]);
    test_round(policies[0], 50);
    test_round(policies[count - 1], 200);
    test_scarce();
    test_context(policies[0]);
    test_context(policies[count - 1]);
}

/* Whether every process can open a device of this kind; prints the reason if not. */
static int opens(const char *name)
{
    struct hs_device *device = NULL;
    struct hs_message message;
    kind = hs_device_kind_find(name, &message);
    is_host = kind && kind->is_stand_in;
    int good = kind && kind->open(-1, rank, &hs_heap, &device, &message) == HSUMMA_OK;
    if (good)
        kind->close(device);
    if (everywhere(good))
        return 1;
    char reason[600];
    snprintf(reason, sizeof reason, "not every process has a device: %s", good ? "another one has not" : message.text);
    tap_skip(1, reason);
    return 0;
}

int main(int argc, char **argv)
{
    static const char *const policies[] = {"eager", LATE, "lazy", "random:9,devices=2", "random:5,hold=0"},
                             *const real[] = {"cuda"};
    world_begin(&argc, &argv);
    int is_real = argc > 1 && strcmp(argv[1], "cuda") == 0, before = held();
    option = is_real ? "device=cuda" : "device=host";
    if (!is_real)
        unsetenv("HSUMMA_HOST_DEVICE");
    if (opens(is_real ? "cuda" : "host")) {
        if (is_real)
            test_all(real, 1);
        else
            test_all(policies, sizeof policies / sizeof *policies);
        if (!is_real)
            test_all_refusals();
        test_streams(is_real);
        test_none();
        kind = hs_device_kind_find(kind->name, NULL);
        tap_ok(everywhere(held() == before), "all memory has been given back");
    }
    return world_end();
}
