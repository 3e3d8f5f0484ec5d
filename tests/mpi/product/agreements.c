/*
 * Agreements of a grid on one node and on several: every member gets the same verdict, whatever the votes and however
 * late a member starts; ballots of different turns are not confused; only leaders exchange messages; and a rank that
 * has failed does not keep its node waiting.
 *
 *     agreements [topology=nodes:N]
 */
#include "support/product/gemm_library.h"

#include <sched.h>

enum { TURNS = 400 };

/* Rank r's vote in a turn, which every rank can compute. */
static struct hs_vote vote_of(int r, int turn)
{
    uint64_t bits = hs_scrambled((uint64_t)turn * 1000 + (uint64_t)r);
    return (struct hs_vote){.status = bits % 16 == 0 ? (hsumma_status)(1 + bits / 16 % 5) : HSUMMA_OK,
                            .about = (int)(bits / 256 % 4),
                            .value = (int64_t)(bits >> 40),
                            .hash = (int64_t)(bits / 1024 % 64 > 0)};
}

static struct hs_verdict verdict_of(const hsumma_grid *grid, int turn)
{
    const struct hs_grid *all = &grid->grid;
    struct hs_ballot joined = hs_ballot_of(vote_of(hs_grid_rank(all, 0), turn), hs_grid_rank(all, 0));
    for (int i = 1; i < all->extent[0] * all->extent[1]; i++) {
        struct hs_ballot other = hs_ballot_of(vote_of(hs_grid_rank(all, i), turn), hs_grid_rank(all, i));
        hs_ballot_join(&joined, &other);
    }
    return hs_ballot_verdict(&joined);
}

static int is_verdict(struct hs_verdict is, struct hs_verdict wanted)
{
    return is.status == wanted.status && is.about == wanted.about && is.rank == wanted.rank &&
           is.value == wanted.value && is.alike == wanted.alike;
}

/* Agrees once by polling, sometimes after a random pause; returns 1 on a wrong verdict or an error. */
static int turn_is_wrong(struct hs_agreement *agreement, const hsumma_grid *grid, int turn)
{
    int done = 0, worked = 0;
    for (int late = draw(4) ? 0 : draw(50); late > 0; late--)
        sched_yield();
    if (hs_agreement_start(agreement, vote_of(rank, turn)))
        return 1;
    while (!done) {
        if (hs_agreement_advance(agreement, &worked, &done))
            return 1;
        sched_yield();
    }
    return !is_verdict(hs_agreement_verdict(agreement), verdict_of(grid, turn));
}

/* Whether this is the grid's first rank on its node, the only one there that may send messages. */
static int is_leader(const hsumma_context *ctx, const hsumma_grid *grid)
{
    const struct hs_topology *topology = &ctx->comm.topology;
    const struct hs_division *node = &topology->division[HS_NODE];
    int i = 0;
    while (topology->size && hs_part_of(node, hs_grid_rank(&grid->grid, i)) != hs_part_of(node, rank))
        i++;
    return hs_grid_rank(&grid->grid, i) == rank;
}

static void test_turns(hsumma_context *ctx, hsumma_grid *grid, const char *what)
{
    struct hs_directory *directory = grid->shared.directory.entry ? &grid->shared.directory : NULL;
    struct hs_group all = hs_grid_all(&grid->grid);
    struct hs_agreement agreement[2];
    int64_t before = ctx->comm.messages_sent;
    int wrong = 0, in_grid = grid->grid.coord[0] >= 0;
    for (int i = 0; in_grid && i < 2; i++)
        wrong |= hs_agreement_init(&agreement[i], &ctx->comm, &all, directory, i ? HS_AGREE_TRIAL : HS_AGREE_PLAN,
                                   &ctx->memory) != HSUMMA_OK;
    for (int turn = 0; in_grid && turn < TURNS && !wrong; turn++)
        wrong = turn_is_wrong(&agreement[hs_scrambled((uint64_t)turn) % 2], grid, turn);
    for (int i = 0; in_grid && i < 2; i++)
        hs_agreement_free(&agreement[i], &ctx->memory);
    tap_ok(everywhere(!wrong), "%s: %d verdicts of two agreements", what, TURNS);
    int quiet = ctx->comm.messages_sent == before;
    tap_ok(everywhere(!directory || quiet || (in_grid && is_leader(ctx, grid))), "messages between leaders alone");
}

/* Tests a grid of the first `ranks` entries of a random order of all ranks. */
static void test_grids(hsumma_context *ctx, int ranks, const char *what)
{
    hsumma_grid *grid = NULL;
    int *order = calloc((size_t)size, sizeof *order);
    for (int i = 0; i < size; i++)
        order[i] = i;
    for (int i = size - 1; i > 0; i--) { /* all ranks compute the same order */
        int j = (int)(hs_scrambled((uint64_t)i) % (uint64_t)(i + 1)), r = order[i];
        order[i] = order[j];
        order[j] = r;
    }
    if (tap_ok(everywhere(hsumma_grid_create(ctx, 1, ranks, 'R', order, &grid) == HSUMMA_OK), "a grid: %s", what))
        test_turns(ctx, grid, what);
    hsumma_grid_free(&grid);
    free(order);
}

/* A rank that cannot vote breaks its node's directory; the other ranks of that node get an error and stop waiting. */
static void test_broken(hsumma_context *ctx)
{
    hsumma_grid *grid = NULL;
    struct hs_agreement agreement;
    int good = hsumma_grid_create(ctx, 1, size, 'R', NULL, &grid) == HSUMMA_OK, done = 0, worked = 0;
    if (!everywhere(good && grid->shared.directory.entry)) {
        tap_skip(1, "the processes of a node cannot share memory");
        hsumma_grid_free(&grid);
        return;
    }
    struct hs_directory *directory = &grid->shared.directory;
    struct hs_group all = hs_grid_all(&grid->grid);
    hsumma_status status = hs_agreement_init(&agreement, &ctx->comm, &all, directory, HS_AGREE_PLAN, &ctx->memory);
    good = !status;
    if (is_leader(ctx, grid)) { /* the leaders do not vote */
        hs_directory_break(directory, HSUMMA_ERR_MPI);
    } else {
        status = hs_agreement_start(&agreement, (struct hs_vote){0});
        while (!status && !done)
            status = hs_agreement_advance(&agreement, &worked, &done);
        good = status == HSUMMA_ERR_MPI;
    }
    tap_ok(everywhere(good), "no rank waits for a leader that has failed");
    hs_agreement_free(&agreement, &ctx->memory);
    hsumma_grid_free(&grid);
}

static void test_all(hsumma_context *ctx, const hsumma_grid *grid)
{
    draw_seed((uint64_t)rank);
    test_turns(ctx, (hsumma_grid *)grid, "the grid of all ranks");
    test_grids(ctx, size, "ranks in random order");
    if (size > 1)
        test_grids(ctx, size - 1, "one rank is outside");
    test_broken(ctx);
}

int main(int argc, char **argv)
{
    return gemm_main(argc, argv, test_all);
}
