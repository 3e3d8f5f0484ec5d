/* The agreements at the start of turns: all ranks of the grid vote, and all get the verdict on these votes. */
#include "interleave/scene.h"
#include "support/random.h"

#include <stdio.h>

enum { ABOUT = 3 };

static struct hs_vote vote_of(const struct scene *scene, int r, int turn)
{
    int refuses = scene->turn[turn].refuses == r;
    return (struct hs_vote){.status = refuses ? HSUMMA_ERR_ARGUMENT : HSUMMA_OK,
                            .about = refuses ? ABOUT : 0,
                            .value = (int64_t)(hs_scrambled((uint64_t)(turn * PROCESSES_MOST + r)) % 100),
                            .hash = scene->turn[turn].differs == r};
}

/* Whether the verdict is the right one for the votes of all ranks in this turn. */
static int is_verdict(const struct scene *scene, int turn, const struct hs_verdict *verdict)
{
    const struct scene_grid *grid = &scene->grid[scene->grid_of[scene->turn[turn].job]];
    int processes = grid->extent[0] * grid->extent[1], refused = 0, differ = 0;
    int64_t most = 0;
    for (int i = 0; i < processes; i++) {
        struct hs_vote vote = vote_of(scene, grid->rank[i], turn);
        most = vote.value > most ? vote.value : most;
        refused |= vote.status != HSUMMA_OK;
        differ += vote.hash != 0;
    }
    int good = verdict->value == most && verdict->alike == (differ == 0 || processes == 1);
    if (refused)
        return good && verdict->status == HSUMMA_ERR_ARGUMENT && verdict->about == ABOUT &&
               verdict->rank == scene->turn[turn].refuses;
    return good && verdict->status == HSUMMA_OK;
}

int scene_agreements_make(struct scene *scene, int g)
{
    const struct scene_grid *grid = &scene->grid[g];
    int good = 1;
    for (int i = 0; i < grid->extent[0] * grid->extent[1]; i++) {
        struct rank_state *rank = &scene->rank[grid->rank[i]];
        struct hs_group all = {.table = grid->rank, .stride = 1, .size = grid->extent[0] * grid->extent[1], .me = i};
        good = good &&
               !hs_agreement_init(&rank->agreement[g], &rank->comm, &all,
                                  grid->votes_in_memory ? &rank->memory[g].directory : NULL, HS_AGREE_PLAN, &case_pool);
    }
    return good;
}

hsumma_status scene_agree(struct scene *scene, int r, int *worked, int *done)
{
    struct rank_state *rank = &scene->rank[r];
    struct hs_agreement *agreement = &rank->agreement[scene->grid_of[scene->turn[rank->turn].job]];
    *done = 0;
    if (rank->phase == RANK_BEFORE) {
        *worked = 1;
        rank->phase = RANK_AGREES;
        return hs_agreement_start(agreement, vote_of(scene, r, rank->turn));
    }
    hsumma_status status = hs_agreement_advance(agreement, worked, done);
    if (!*done || status)
        return status;
    *worked = 1;
    struct hs_verdict verdict = hs_agreement_verdict(agreement);
    if (!is_verdict(scene, rank->turn, &verdict) && !scene->fault[0])
        snprintf(scene->fault, sizeof scene->fault, "rank %d: the verdict is not that of the votes at turn %d", r,
                 rank->turn);
    rank->phase = RANK_AGREED;
    return HSUMMA_OK;
}
