/*
 * The choice of a plan in the simulator.  Simulated ranks are in one process, and all of them choose alike, so the
 * first rank chooses for all.  Otherwise choosing would take most of the time of simulations with thousands of ranks.
 */
#include "base/hash.h"
#include "base/simulator.h"
#include "hsumma/plan/plan.h"

int hs_choice_recall(hsumma_plan *plan, const struct hs_request *request, const struct hs_settings *settings,
                     const struct hs_planner *planner, uint64_t *key)
{
    const struct hs_simulator *simulator = hs_simulator();
    const char *refused = planner->sharing.refused;
    *key = 0;
    /* registered algorithms, rules and reasons are in the memory of one rank's context */
    if (!simulator || planner->own->count || planner->coll->count || planner->tuned->count || (refused && refused[0]))
        return 0;
    const uint64_t value[] = {plan->ranks != NULL,
                              (uint64_t)request->alone,
                              request->largest ? (uint64_t)hs_layered_share_of_k(request, request->largest) : 0,
                              planner->sharing.bytes,
                              (uint64_t)planner->sharing.in_place,
                              (uint64_t)planner->only_best,
                              (uint64_t)planner->threads};
    uint64_t hash = hs_placed_hash(plan->ctx, request);
    for (size_t i = 0; i < sizeof value / sizeof *value; i++)
        hash = hs_mix(hash, value[i]);
    hash = hs_mix_bytes(hash, settings, sizeof *settings);
    *key = hs_mix_bytes(hash, planner->memo->profile, sizeof *planner->memo->profile);
    return simulator->recall(*key, &plan->ranking, sizeof plan->ranking);
}

void hs_choice_keep(const hsumma_plan *plan, uint64_t key)
{
    if (key)
        hs_simulator()->keep(key, &plan->ranking, sizeof plan->ranking);
}
