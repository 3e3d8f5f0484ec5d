/*
 * hsumma_malloc: the processes of a node read each other's memory by region number, rank and offset; parts of different
 * sizes; memory that cannot be shared or allocated; products; leaks.
 *
 *     malloc [topology=nodes:N]
 */
#include "support/failing_memory.h"
#include "support/process.h"
#include "support/product/gemm_library.h"

#include <sys/resource.h>
#include <unistd.h>

enum { MIB = 1 << 20, TOGETHER = 3 };

static int node_of(const hsumma_context *ctx, int r)
{
    return hs_part_of(&ctx->comm.topology.division[HS_NODE], r);
}

/* The number of the context's processes on this node. */
static int mates(const hsumma_context *ctx)
{
    int count = 0;
    for (int r = 0; r < ctx->comm.size; r++)
        count += node_of(ctx, r) == node_of(ctx, ctx->comm.rank);
    return count;
}

/* Whether this process's node has several processes, which share memory. */
static int sharing(const hsumma_context *ctx)
{
    return mates(ctx) > 1;
}

static int is_shared(const hsumma_context *ctx, const void *at)
{
    size_t offset;
    return hs_region_of(ctx->allocations.shared, at, 0, &offset) != NULL;
}

/* The size of a process's part in a round; sizes differ between processes, and some are 0. */
static size_t unlike(int who, int round)
{
    static const size_t sizes[] = {1, 0, 4096, 4097, 100001, 0, 8191};
    return sizes[(who * 3 + round) % 7];
}

static unsigned char value(int who, int round, size_t i)
{
    return (unsigned char)(who * 31 + round * 7 + (int)(i % 251) + 1);
}

/* Whether this process reads the bytes that each of its mates wrote, by region number, mate and offset. */
static int seen_by_all(const hsumma_context *ctx, unsigned char *const given[TOGETHER])
{
    const int me = ctx->comm.rank, ranks = ctx->comm.size;
    int good = 1;
    size_t offset = 1;
    for (int round = 0; round < TOGETHER; round++) {
        const struct hs_region *region =
            hs_region_of(ctx->allocations.shared, given[round], unlike(me, round), &offset);
        if (!region || offset)
            return 0;
        for (int r = 0, k = 0; r < ranks; r++) {
            if (node_of(ctx, r) != node_of(ctx, me))
                continue;
            const char *part = hs_region_at(ctx->allocations.shared, region->number, k++, 0);
            good &= (uintptr_t)part % (uintptr_t)sysconf(_SC_PAGESIZE) == 0;
            for (size_t i = 0; i < unlike(r, round); i++)
                good &= (unsigned char)part[i] == value(r, round, i);
        }
    }
    return good;
}

static void test_contents(hsumma_context *ctx, const char *where)
{
    const int me = ctx->comm.rank;
    unsigned char *given[TOGETHER];
    int good = 1, zeros = 1, apart = 1;
    for (int again = 0; again < 2; again++) {
        for (int round = 0; round < TOGETHER; round++) {
            void *memory = NULL;
            good &= hsumma_malloc(ctx, unlike(me, round), &memory) == HSUMMA_OK && memory;
            good &= (uintptr_t)memory % (uintptr_t)sysconf(_SC_PAGESIZE) == 0;
            given[round] = memory;
            for (size_t i = 0; memory && i < unlike(me, round); i++)
                zeros &= given[round][i] == 0;
        }
        for (int round = 0; round < TOGETHER; round++) {
            apart &= given[round] != given[(round + 1) % TOGETHER];
            for (size_t i = 0; given[round] && i < unlike(me, round); i++)
                given[round][i] = value(me, round, i);
        }
        good = everywhere(good); /* all processes have written */
        if (sharing(ctx))
            good &= seen_by_all(ctx, given);
        for (int round = 0; round < TOGETHER; round++) /* this process's own memory contains its own values */
            for (size_t i = 0; given[round] && i < unlike(me, round); i++)
                good &= given[round][i] == value(me, round, i);
        good = everywhere(good); /* all processes have read */
        for (int round = 0; round < TOGETHER; round++)
            hsumma_mfree(ctx, given[(round + 1) % TOGETHER]);
    }
    tap_ok(everywhere(good), "%s: parts of unlike sizes on pages of their own, read by all", where);
    tap_ok(everywhere(zeros), "%s: new memory holds zeros", where);
    tap_ok(everywhere(apart), "%s: 0 bytes have an address of their own", where);
}

/* Addresses at the boundaries of a part, numbers of allocations, and pointers that must not be freed. */
static void test_lookup(hsumma_context *ctx)
{
    void *one = NULL, *two = NULL, *three = NULL, *own = malloc(100);
    hsumma_context *other = NULL;
    size_t offset = 0;
    int good = !hsumma_malloc(ctx, 1000, &one) && !hsumma_malloc(ctx, 1000, &two), many = sharing(ctx);
    const struct hs_region *first = hs_region_of(ctx->allocations.shared, (char *)one + 600, 400, &offset);
    good &= many ? first && first->part[first->me] == one && offset == 600 : !first;
    good &= !hs_region_of(ctx->allocations.shared, (char *)one + 600, 401, &offset);
    good &= !hs_region_of(ctx->allocations.shared, (char *)one + 600, SIZE_MAX, &offset);
    good &= !hs_region_of(ctx->allocations.shared, (char *)one - 1, 1, &offset);
    good &= !hs_region_of(ctx->allocations.shared, own, 1, &offset) &&
            !hs_region_of(ctx->allocations.shared, NULL, 0, &offset);
    tap_ok(everywhere(good), "a place is found inside one part, and nowhere else");

    int64_t number = ctx->allocations.first->region.number;
    good = hsumma_create(MPI_COMM_WORLD, NULL, &other, NULL, 0) == HSUMMA_OK;
    hsumma_mfree(ctx, NULL);
    hsumma_mfree(ctx, own);
    hsumma_mfree(ctx, (char *)one + 1);
    hsumma_mfree(other, one);
    good &= is_shared(ctx, one) == many && ctx->allocations.first->next && ctx->allocations.first->next->mine == one;
    hsumma_free(&other);
    free(own);
    tap_ok(everywhere(good), "what was not given is not freed");

    hsumma_mfree(ctx, two);
    good = !hs_region_at(ctx->allocations.shared, number, 0, 0);
    good &= !hsumma_malloc(ctx, 1000, &three) && ctx->allocations.first->region.number > number;
    good &= !hs_region_at(ctx->allocations.shared, number, 0, 0);
    good &= world_reduce(ctx->allocations.first->region.number, MPI_MIN) ==
            world_reduce(ctx->allocations.first->region.number, MPI_MAX);
    hsumma_mfree(ctx, one);
    hsumma_mfree(ctx, three);
    tap_ok(everywhere(good && !ctx->allocations.first), "numbers are alike everywhere and never come again");
}

/* Makes a request that must fail with the same status on all processes and allocate nothing. If all are on one node,
 * the message must contain `words`. */
static void refused(hsumma_context *ctx, size_t bytes, const char *what, const char *words)
{
    void *memory = &memory;
    int before = process_segments();
    hsumma_status status = hsumma_malloc(ctx, bytes, &memory);
    int good = status == HSUMMA_ERR_MEMORY && !memory && !ctx->allocations.first && process_segments() == before;
    good &= strstr(hsumma_message(ctx), mates(ctx) == size ? words : "on process ") != NULL;
    tap_ok(everywhere(good), "%s: %s: %s", what, hsumma_status_string(status), hsumma_message(ctx));
}

static void test_huge(hsumma_context *ctx)
{
    const struct {
        const char *what;
        size_t bytes;
        int only; /* the only process that requests `bytes`; -1: all processes do */
    } rows[] = {{"one process asks for all there could be", SIZE_MAX, size - 1},
                {"all do", SIZE_MAX, -1},
                {"a quarter of it each", SIZE_MAX / 4 + 1, -1},
                {"more than any machine has", (size_t)1 << 56, -1}};
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        char words[64];
        int only = rows[i].only;
        snprintf(words, sizeof words, "%zu on process %d", rows[i].bytes, only < 0 ? 0 : only);
        refused(ctx, only < 0 || only == rank ? rows[i].bytes : 10, rows[i].what, words);
    }
}

/* Makes each host allocation fail in turn, on the first process, then on the last. */
static void test_scarce(hsumma_context *ctx)
{
    int bad = 0, places = 0;
    for (int victim = 0; victim<size; victim += size> 1 ? size - 1 : 1)
        for (int reached = 1, n = 0; reached; n++, places++) {
            struct failing_memory scarce = {0, rank == victim ? n : -1, 0, 0};
            char words[32];
            void *memory = &memory;
            snprintf(words, sizeof words, "process %d ", victim);
            ctx->memory = (struct hs_allocator){failing_memory_get, failing_memory_put, &scarce};
            hsumma_status status = hsumma_malloc(ctx, 5000, &memory);
            reached = (int)world_reduce(rank == victim && scarce.calls > n, MPI_MAX);
            int good = reached ? status == HSUMMA_ERR_MEMORY && !memory && scarce.out == 0 && !ctx->allocations.first &&
                                     strstr(hsumma_message(ctx), words)
                               : status == HSUMMA_OK && memory;
            hsumma_mfree(ctx, memory == &memory ? NULL : memory);
            bad += !everywhere(good && scarce.out == 0);
            ctx->memory = hs_heap;
        }
    tap_ok(bad == 0 && places > 2, "memory fails at %d places, %d wrong: %s", places, bad, hsumma_message(ctx));
}

/* Lets the last process map only 32 MiB more. That is too little for its node's segment or for a part of 64 MiB of its
 * own, but enough for a part of 1 MiB. */
static void test_limited(hsumma_context *ctx)
{
    struct rlimit limit, less;
    void *memory = NULL;
    char words[64];
    int last = rank == size - 1, elsewhere = node_of(ctx, rank) != node_of(ctx, size - 1) && sharing(ctx);
    getrlimit(RLIMIT_AS, &limit);
    less = limit;
    int64_t space = process_mapped();
    less.rlim_cur = (rlim_t)space + 32 * MIB;
    int before = process_segments(), good = !last || setrlimit(RLIMIT_AS, &less) == 0;
    hsumma_status status = hsumma_malloc(ctx, last ? MIB : 64 * MIB, &memory);
    good &= status == HSUMMA_OK && memory && process_segments() == before + elsewhere;
    good &= is_shared(ctx, memory) == elsewhere;
    for (size_t i = 0; memory && i < MIB; i += 1000)
        good &= ((char *)memory)[i] == 0;
    hsumma_mfree(ctx, memory);
    tap_ok(everywhere(good && !ctx->allocations.first), "memory that cannot be shared is plain on all of the node: %s",
           hsumma_status_string(status));
    snprintf(words, sizeof words, "%d on process %d", 64 * MIB, size - 1);
    refused(ctx, last ? 64 * MIB : 16 * MIB, "one process cannot have its part", words);
    setrlimit(RLIMIT_AS, &limit);
    good = hsumma_malloc(ctx, last ? 64 * MIB : MIB, &memory) == HSUMMA_OK && is_shared(ctx, memory) == sharing(ctx);
    hsumma_mfree(ctx, memory);
    tap_ok(everywhere(good && process_mapped() - space < 8 * MIB), "later it can, and nothing is left of all that");
}

static void test_many(hsumma_context *ctx)
{
    enum { ROUNDS = 60, WARM = 10, HELD = 3 };
    void *held[HELD] = {NULL};
    int64_t space = 0;
    int good = 1, files = 0, before = process_segments();
    for (int i = 0; i < ROUNDS; i++) {
        if (i == WARM) {
            space = process_mapped();
            files = process_entries("/proc/self/fd", "");
        }
        hsumma_mfree(ctx, held[i % HELD]);
        good &= hsumma_malloc(ctx, (size_t)MIB * (size_t)(1 + rank % 2), &held[i % HELD]) == HSUMMA_OK;
        if (held[i % HELD])
            memset(held[i % HELD], i, MIB);
    }
    int64_t grown = process_mapped() - space;
    good &= grown < 8 * MIB && process_entries("/proc/self/fd", "") == files &&
            process_segments() - before == (sharing(ctx) ? HELD : 0);
    for (int i = 0; i < HELD; i++)
        hsumma_mfree(ctx, held[i]);
    good &= process_segments() == before && process_entries("/dev/shm", "hsumma") == 0;
    tap_ok(everywhere(good), "%d calls, %d held: no mapping or descriptor is left (%" PRId64 " bytes more on rank 0)",
           ROUNDS, HELD, grown);
}

/* Memory that is still allocated is freed with the context, which lives until its last grid is freed. */
static void test_left(void)
{
    hsumma_context *ctx;
    hsumma_grid *grid;
    void *memory = NULL;
    int before = process_segments(), good = 1;
    if (!gemm_open(NULL, 1, 1, &ctx, &grid))
        return;
    int of_context = process_segments();
    int64_t space = process_mapped();
    for (int i = 0; i < 4; i++)
        good &= !hsumma_malloc(ctx, 16 * MIB, &memory) && memory;
    good &= process_segments() == of_context + (sharing(ctx) ? 4 : 0) && process_mapped() - space >= 64 * MIB;
    hsumma_free(&ctx);
    if (memory)
        ((char *)memory)[16 * MIB - 1] = 1; /* the memory is still mapped */
    good = everywhere(good);
    hsumma_grid_free(&grid);
    good &= process_segments() == before && process_mapped() - space < 8 * MIB &&
            process_entries("/dev/shm", "hsumma") == 0;
    tap_ok(everywhere(good), "memory that was not freed goes with the context");
}

static void test_broken(void)
{
    hsumma_context *ctx = NULL;
    void *kept = NULL, *memory = &memory;
    int good = !hsumma_create(MPI_COMM_WORLD, NULL, &ctx, NULL, 0) && !hsumma_malloc(ctx, 10, &kept);
    ctx->broken = 1;
    good &= hsumma_malloc(ctx, 10, &memory) == HSUMMA_ERR_MPI && !memory && hsumma_message(ctx)[0];
    hsumma_mfree(ctx, kept);
    good &= !ctx->allocations.first;
    ctx->broken = 0;
    hsumma_free(&ctx);
    tap_ok(everywhere(good), "after a failure of MPI there is no more memory, but it can be freed");
}

static int product_is_right(hsumma_context *ctx, const struct gemm_case *call, int mask, int by_plan)
{
    struct gemm_placed placed;
    hsumma_plan *plan = NULL;
    int good = gemm_make_in_library(ctx, call, mask, 0, (size_t)(mask % 3) * gemm_element_size(call->type), &placed);
    hsumma_status status = by_plan ? gemm_plan_create(ctx, call, &plan) : gemm_one_call(ctx, call, placed.local);
    if (by_plan && !status)
        status = gemm_begin(plan, call, placed.local, 1);
    good &= !status && gemm_wrong(call, &placed.local[2], 0) + gemm_changed(call, placed.local) == 0;
    hsumma_plan_free(&plan);
    gemm_drop_in_library(ctx, &placed);
    return good;
}

static void test_products(hsumma_context *ctx, const hsumma_grid *grid)
{
    static const struct {
        int nb, unlike;
        const char *what;
    } rows[] = {{0, 0, "one block per process"}, {4, 0, "blocks of 4"}, {4, 1, "blocks unlike"}, {8, 0, "blocks of 8"}};
    for (int by_plan = 0; by_plan < 2; by_plan++)
        for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
            int good = 1;
            for (int mask = 1; mask < 8; mask++) {
                struct gemm_case c = gemm_case_of(grid, (hsumma_type)(mask % 4), "NT"[mask % 2], "NTC"[mask % 3], 21,
                                                  18, 25, rows[i].nb);
                if (rows[i].unlike)
                    gemm_unalign(&c, mask);
                good &= product_is_right(ctx, &c, mask, by_plan);
            }
            tap_ok(everywhere(good), "products %s, %s, any of A, B and C in this memory",
                   by_plan ? "by plan" : "in one call", rows[i].what);
        }
}

static hsumma_status run_without_agreement(hsumma_plan *plan, const struct gemm_part local[3])
{
    static const double one = 1;
    const void *const data[3] = {local[0].data, local[1].data, local[2].data};
    const int64_t ld[3] = {plan->problem.view[0].ld, plan->problem.view[1].ld, plan->problem.view[2].ld};
    return hs_plan_run(plan, &one, data, ld, &one);
}

/* Without an agreement at the start (p?gemm), a process with little work begins the next execution, from this memory,
 * while another one still computes from copies of its ordinary memory. */
static void test_early(hsumma_context *ctx, const hsumma_grid *grid)
{
    enum { ROUNDS = 60 };
    struct gemm_case c = gemm_case_of(grid, HSUMMA_D, 'N', 'N', 64, 410, 200, 50);
    const struct gemm_layout rows = {50, 50, 0, 0, 0}, cols = {400, 10, 0, 0, 0}; /* most columns: the second process */
    struct gemm_placed later;
    struct gemm_part now[3];
    hsumma_plan *plan = NULL;
    gemm_spread(&c, 1, &rows, &cols);
    gemm_spread(&c, 2, &rows, &cols);
    c.options = "stationary=C node=shared block=20";
    c.beta = 1;
    gemm_make(&c, now);
    int good = gemm_make_in_library(ctx, &c, 7, 0, 0, &later) && !gemm_plan_create(ctx, &c, &plan);
    if (later.local[0].data)
        memset(later.local[0].data, 0, later.local[0].bytes);
    good = everywhere(good);
    for (int round = 0; round < ROUNDS && good; round++)
        good = !run_without_agreement(plan, now) && !run_without_agreement(plan, later.local);
    c.alpha = ROUNDS;
    good = good && gemm_wrong(&c, &now[2], 0) == 0 && gemm_wrong(&c, &later.local[2], 1) == 0;
    tap_ok(everywhere(good), "an execution from this memory begins while another process is in the one before");
    hsumma_plan_free(&plan);
    gemm_drop_in_library(ctx, &later);
    gemm_drop(now);
}

/* Separate contexts for the even and the odd ranks, with the ranks in reverse order. */
static void test_parts(void)
{
    MPI_Comm part;
    hsumma_context *ctx = NULL;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &part);
    int good = hsumma_create(part, NULL, &ctx, NULL, 0) == HSUMMA_OK;
    MPI_Comm_free(&part);
    if (tap_ok(everywhere(good), "contexts on parts of the processes"))
        test_contents(ctx, "a part of the processes");
    hsumma_free(&ctx);
}

static void test_all(hsumma_context *ctx, const hsumma_grid *grid)
{
    test_contents(ctx, "all");
    test_lookup(ctx);
    test_huge(ctx);
    test_scarce(ctx);
    test_limited(ctx);
    test_many(ctx);
    test_left();
    test_broken();
    test_products(ctx, grid);
    test_early(ctx, grid);
    if (size > 1)
        test_parts();
}

int main(int argc, char **argv)
{
    return gemm_main(argc, argv, test_all);
}
