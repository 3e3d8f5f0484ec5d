/*
 * Memory of grids (hsumma/context/product_memory.c): on each node, for many grids at once, made and freed a thousand
 * times; nodes that cannot share memory, or only less; allocations that fail; calls with different arguments.
 *
 *     grid_memory [hosts] [topology=nodes:N]
 *
 * With `hosts` the ranks seem to be on two hosts, in turn.
 */
#include "support/failing_memory.h"
#include "support/process.h"
#include "support/product/gemm_case.h"
#include "support/product/virtual_hosts.h"

#include <sys/resource.h>

enum { GRIDS = 9, MIB = 1 << 20 };

static int node_of(const hsumma_context *ctx, int r)
{
    return hs_part_of(&ctx->comm.topology.division[HS_NODE], r);
}

/* The k-th rank of this process's node, in order of ranks. */
static int mate_of(const hsumma_context *ctx, int k)
{
    int r = -1;
    for (int left = k; left >= 0; left -= node_of(ctx, r) == node_of(ctx, rank))
        r++;
    return r;
}

static int mates(const hsumma_context *ctx)
{
    int count = 0;
    for (int r = 0; r < size; r++)
        count += node_of(ctx, r) == node_of(ctx, rank);
    return count;
}

static int64_t *word_at(const hsumma_grid *grid, int k, int at_end)
{
    char *memory = grid->shared.memory;
    return (int64_t *)(at_end ? memory + grid->shared.bytes - 4096 * (size_t)(k + 1) : memory + 4096 * (size_t)k);
}

/* Writes at this rank's places near both ends of each grid's memory, and signals; returns 1 if each rank then finds
 * exactly what its mates have written and signalled. */
static int is_seen_by_mates(const hsumma_context *ctx, hsumma_grid *const *grid, int grids)
{
    int good = 1, me = 0;
    while (mate_of(ctx, me) != rank)
        me++;
    for (int g = 0; g < grids; g++) {
        for (int at_end = 0; at_end < 2; at_end++) {
            good &= *word_at(grid[g], me, at_end) == 0;
            *word_at(grid[g], me, at_end) = 1000 * g + 10 * rank + at_end + 1;
        }
        hs_signal(&grid[g]->shared.directory, HS_FILLED, (uint64_t)(1000 * g + rank + 1));
    }
    good = everywhere(good);
    for (int g = 0; g < grids; g++)
        for (int k = 0; k < mates(ctx); k++) {
            int64_t signalled = 1000 * g + mate_of(ctx, k) + 1;
            for (int at_end = 0; at_end < 2; at_end++)
                good &= *word_at(grid[g], k, at_end) == 1000 * g + 10 * mate_of(ctx, k) + at_end + 1;
            good &= hs_signalled(&grid[g]->shared.directory, k, HS_FILLED, (uint64_t)signalled) &&
                    !hs_signalled(&grid[g]->shared.directory, k, HS_FILLED, (uint64_t)signalled + 1);
        }
    return everywhere(good);
}

static int knows_its_mates(const hsumma_context *ctx, const struct hs_product_memory *shared)
{
    int good = shared->directory.ranks == mates(ctx) && mate_of(ctx, shared->directory.me) == rank, next = 0;
    for (int r = 0; r < size; r++)
        good &= hs_mate_index(shared->mates, r) == (node_of(ctx, r) == node_of(ctx, rank) ? next++ : -1);
    return good;
}

static void test_many(hsumma_context *ctx)
{
    hsumma_grid *grid[GRIDS] = {NULL};
    int good = 1, known = 1;
    for (int g = 0; g < GRIDS; g++) {
        int members = g % 3 == 1 && size > 2 ? size - 1 : size; /* non-members have memory, too */
        good &= !hsumma_grid_create(ctx, g % 2 ? 1 : members, g % 2 ? members : 1, 'R', NULL, &grid[g]);
        good = everywhere(good && grid[g]->shared.bytes > 0) && alike((int64_t)grid[g]->shared.bytes);
        known &= good && knows_its_mates(ctx, &grid[g]->shared);
    }
    tap_ok(everywhere(good), "%d grids have memory, as much on every node", GRIDS);
    tap_ok(everywhere(known), "each process finds itself and its mates in the directory: %d on rank 0", mates(ctx));
    tap_ok(good && is_seen_by_mates(ctx, grid, GRIDS), "what each writes its mates see, in the same grid");
    for (int g = 0; g < GRIDS; g++)
        hsumma_grid_free(&grid[g]);
}

static int multiplies(hsumma_context *ctx, const hsumma_grid *grid, const char **why)
{
    struct gemm_case c = gemm_case_of(grid, HSUMMA_D, 'N', 'T', 20, 21, 22, 3);
    hsumma_plan *plan = NULL;
    int good = gemm_plan_create(ctx, &c, &plan) == HSUMMA_OK && gemm_executes(plan, &c);
    static char kept[sizeof plan->why];
    if (plan)
        good &= plan->by_node == (grid->shared.bytes && mates(ctx) == size && size > 1);
    if (plan && why)
        *why = memcpy(kept, plan->why, sizeof kept);
    hsumma_plan_free(&plan);
    return everywhere(good);
}

static void test_products(hsumma_context *ctx)
{
    hsumma_grid *grid[GRIDS] = {NULL};
    const char *why = "";
    int good = 1;
    for (int g = 0; g < GRIDS; g++)
        good &= !hsumma_grid_create(ctx, 1, size, 'R', NULL, &grid[g]);
    for (int turn = 0; good && turn < 3; turn++)
        for (int g = 0; g < GRIDS; g++)
            good &= multiplies(ctx, grid[g], &why) && !strstr(why, "cannot share");
    tap_ok(everywhere(good), "products on %d grids in turns", GRIDS);
    for (int g = 0; g < GRIDS; g++)
        hsumma_grid_free(&grid[g]);
}

static void test_again(hsumma_context *ctx)
{
    enum { TIMES = 1000, WARM = 20, HELD = 3 };
    hsumma_grid *grid[HELD] = {NULL};
    int before = process_segments(), files = 0, good = 1;
    int64_t space = 0;
    for (int i = 0; i < TIMES && good; i++) {
        hsumma_grid_free(&grid[i % HELD]);
        good &= !hsumma_grid_create(ctx, 1, size, 'R', NULL, &grid[i % HELD]) && grid[i % HELD]->shared.bytes;
        if (i % 50 == 0)
            good &= multiplies(ctx, grid[i % HELD], NULL);
        if (i == WARM)
            space = process_mapped(), files = process_entries("/proc/self/fd", "");
    }
    int64_t grown = process_mapped() - space;
    good &= grown < 8 * MIB && process_entries("/proc/self/fd", "") == files &&
            process_segments() - before == (mates(ctx) > 1 ? HELD : 0);
    for (int i = 0; i < HELD; i++)
        hsumma_grid_free(&grid[i]);
    good &= process_segments() == before && process_mapped() <= space;
    tap_ok(everywhere(good), "%d grids made, %d held: nothing is left (%lld bytes more on rank 0)", TIMES, HELD,
           (long long)grown);
}

/* Makes a grid while process `victim` has the lower limit `value` of a resource. */
static hsumma_status make_with_less(hsumma_context *ctx, int victim, int resource, int64_t value, hsumma_grid **grid)
{
    struct rlimit limit, less;
    getrlimit((__rlimit_resource_t)resource, &limit);
    less = limit;
    less.rlim_cur = (rlim_t)value;
    if (rank == victim)
        setrlimit((__rlimit_resource_t)resource, &less);
    hsumma_status status = hsumma_grid_create(ctx, 1, size, 'R', NULL, grid);
    setrlimit((__rlimit_resource_t)resource, &limit);
    return status;
}

/* If a node has no shared memory for the grid, all processes send messages, and the plan gives the reason. */
static void refused(hsumma_context *ctx, int victim, int resource, int64_t value, const char *reason)
{
    hsumma_grid *grid = NULL;
    const char *why = "";
    char word[64];
    int before = process_segments();
    snprintf(word, sizeof word, "node %d cannot share memory: %s", node_of(ctx, victim), reason);
    int good = make_with_less(ctx, victim, resource, value, &grid) == HSUMMA_OK && grid->shared.bytes == 0 &&
               !grid->shared.directory.entry && process_segments() == before && multiplies(ctx, grid, &why) &&
               strstr(why, word);
    const char *end = strrchr(why, ';');
    tap_ok(everywhere(good), "without memory on a node: %s", end ? end + 2 : why);
    hsumma_grid_free(&grid);
    good = !hsumma_grid_create(ctx, 1, size, 'R', NULL, &grid) && grid->shared.bytes && multiplies(ctx, grid, &why) &&
           !strstr(why, word);
    tap_ok(everywhere(good), "the next grid has some");
    hsumma_grid_free(&grid);
}

static void test_less(hsumma_context *ctx)
{
    hsumma_grid *grid = NULL;
    int64_t part = (int64_t)ctx->tile_bytes / 4, space = process_mapped();
    int good = make_with_less(ctx, size - 1, RLIMIT_AS, space + part + 32 * MIB, &grid) == HSUMMA_OK;
    good = good && grid->shared.bytes > (size_t)part / 2 && grid->shared.bytes <= (size_t)part;
    good = everywhere(good) && alike((int64_t)grid->shared.bytes) && multiplies(ctx, grid, NULL);
    tap_ok(good, "where one process can map a quarter all nodes have as much");
    hsumma_grid_free(&grid);
    refused(ctx, size - 1, RLIMIT_AS, space + MIB / 4, "a process cannot map it");
    int first = 0; /* the lowest rank on a node with several processes, which makes the memory's file */
    while (first < size && (world_reduce(rank == first ? mates(ctx) : 0, MPI_MAX) == 1))
        first++;
    if (first < size)
        refused(ctx, first, RLIMIT_FSIZE, 4096, "its file in memory could not be made");
    else
        tap_skip(2, "every process is on a node of its own");
}

/* Makes each allocation fail in turn, on the first process, then on the last: all processes must report the error. */
static void test_scarce(hsumma_context *ctx)
{
    int bad = 0, places = 0, before = process_segments();
    for (int victim = 0; victim<size; victim += size> 1 ? size - 1 : 1)
        for (int reached = 1, n = 0; reached; n++, places++) {
            struct failing_memory scarce = {0, rank == victim ? n : -1, 0, 0};
            hsumma_grid *grid = NULL;
            int grids = ctx->grids;
            ctx->memory = (struct hs_allocator){failing_memory_get, failing_memory_put, &scarce};
            hsumma_status status = hsumma_grid_create(ctx, 1, size, 'R', NULL, &grid);
            reached = (int)world_reduce(rank == victim && scarce.calls > n, MPI_MAX);
            int good = reached ? status == HSUMMA_ERR_MEMORY && !grid && scarce.out == 0 && ctx->grids == grids &&
                                     process_segments() == before && hsumma_message(ctx)[0]
                               : status == HSUMMA_OK && grid->shared.bytes;
            hsumma_grid_free(&grid);
            bad += !everywhere(good && scarce.out == 0);
            ctx->memory = hs_heap;
        }
    tap_ok(bad == 0 && places > 3, "memory fails at %d places, %d wrong: %s", places, bad, hsumma_message(ctx));
}

static void test_different(hsumma_context *ctx)
{
    int last = rank == size - 1, good = 1, before = process_segments();
    for (int way = 0; way < 3; way++) { /* the last process gives another shape, order, or size */
        hsumma_grid *grid = (hsumma_grid *)&good;
        int by_columns = way == 0 && last, side = way == 2 && last ? size + 1 : size;
        hsumma_status status = hsumma_grid_create(ctx, by_columns ? size : 1, by_columns ? 1 : side,
                                                  way == 1 && last ? 'X' : 'R', NULL, &grid);
        good &= status == HSUMMA_ERR_ARGUMENT && !grid && process_segments() == before;
        good &= strstr(hsumma_message(ctx), way == 0 ? "gave nprow = "
                                            : last   ? "expected"
                                                     : "rank") != NULL ||
                (way == 2 && last);
    }
    ctx->broken = 1;
    hsumma_grid *grid = (hsumma_grid *)&good;
    good &= hsumma_grid_create(ctx, 1, size, 'R', NULL, &grid) == HSUMMA_ERR_MPI && !grid;
    ctx->broken = 0;
    tap_ok(everywhere(good), "processes that give different grids all have the error: %s", hsumma_message(ctx));
}

static void test_all(hsumma_context *ctx, const hsumma_grid *grid)
{
    if (!grid->shared.bytes) {
        tap_skip(1, grid->shared.refused);
        return;
    }
    test_many(ctx);
    test_products(ctx);
    test_again(ctx);
    test_less(ctx);
    test_scarce(ctx);
    if (size > 1)
        test_different(ctx);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "hosts") == 0)
        virtual_hosts(2, 1);
    return gemm_main(argc, argv, test_all);
}
