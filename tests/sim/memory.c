/*
 * Prints the bytes per rank of what a context, a grid and a plan hold, on some of the ranks and then on all:
 * "held RANKS CONTEXT GRID PLAN", each with what was made before. hsumma_sim starts this program in place of hsumma;
 * tests/programs/sim.py judges its output. All ranks live in one process, so one counter counts the memory of all.
 */
#define hs_heap uncounted_heap /* base/memory.c is compiled here, with an allocator that counts in place of its own */
#include "../../src/base/memory.c"
#undef hs_heap

#include <hsumma.h>
#include <stdio.h>

static int64_t held;

/* The size of a block is kept before it. */
static void *get_counted(void *state, size_t bytes)
{
    char *block = uncounted_heap.get(state, HS_ALIGN + bytes);
    if (!block)
        return NULL;
    memcpy(block, &bytes, sizeof bytes);
    held += (int64_t)bytes;
    return block + HS_ALIGN;
}

static void put_counted(void *state, void *memory)
{
    char *block = (char *)memory - HS_ALIGN;
    size_t bytes;
    memcpy(&bytes, block, sizeof bytes);
    held -= (int64_t)bytes;
    uncounted_heap.put(state, block);
}

const struct hs_allocator hs_heap = {get_counted, put_counted, NULL};

/* The bytes that all ranks hold, once all have arrived. */
static int64_t held_by_all(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    int64_t now = held;
    MPI_Barrier(MPI_COMM_WORLD);
    return now;
}

static void require(hsumma_status status, const hsumma_context *ctx, const char *what)
{
    if (status) {
        fprintf(stderr, "hsumma: %s: %s\n", what, ctx ? hsumma_message(ctx) : hsumma_status_string(status));
        exit(1);
    }
}

/* The first `ranks` ranks make a context, a grid and a plan; the others wait for them. */
static void measure(int ranks, int rows, const char *profile)
{
    int rank;
    int64_t before = held_by_all(), with[3];
    char options[400];
    MPI_Comm comm;
    hsumma_context *ctx = NULL;
    hsumma_grid *grid = NULL;
    hsumma_plan *plan = NULL;
    hsumma_desc desc;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank < ranks, rank, &comm);
    snprintf(options, sizeof options, "profile=%s compute=time tuned=none", profile);
    if (rank < ranks)
        require(hsumma_create(comm, options, &ctx, NULL, 0), NULL, "context");
    with[0] = held_by_all();
    if (rank < ranks)
        require(hsumma_grid_create(ctx, rows, ranks / rows, 'R', NULL, &grid), ctx, "grid");
    with[1] = held_by_all();
    if (rank < ranks) {
        hsumma_desc_init(&desc, grid, 4096, 4096, 256, 256);
        require(hsumma_plan_create(ctx, HSUMMA_D, 'N', 'N', 4096, 4096, 4096, &desc, &desc, &desc,
                                   "node=messages groups=1x1 block=256 bcast=binomial lookahead=0 steps=2", &plan),
                ctx, "plan");
    }
    with[2] = held_by_all();
    if (rank == 0)
        printf("held %d %.0f %.0f %.0f\n", ranks, (double)(with[0] - before) / ranks,
               (double)(with[1] - before) / ranks, (double)(with[2] - before) / ranks);
    hsumma_plan_free(&plan);
    hsumma_grid_free(&grid);
    hsumma_free(&ctx);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    int ranks;
    const char *profile = "builtin";
    for (int i = 1; i + 1 < argc; i++)
        profile = strcmp(argv[i], "--profile") == 0 ? argv[i + 1] : profile;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    measure(ranks / 2, 16, profile);
    measure(ranks, 16, profile);
    MPI_Finalize();
    return 0;
}
