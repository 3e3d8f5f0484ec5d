/* Part of verify: counts messages, bytes, signals and rounds. */
#include "coll/proof/verify_parts.h"

static void count_rank(const struct hs_proof *proof, int rank)
{
    const struct hs_list *list = &proof->list[rank];
    struct hs_verify_report *report = proof->report;
    int64_t messages = 0, bytes = 0, between = 0;

    for (int i = 0; i < list->steps; i++) {
        const struct hs_step *step = &list->step[i];
        report->signals += step->kind == HS_SIGNAL;
        if (step->kind != HS_SEND)
            continue;
        messages++;
        bytes += step->count;
        between += hs_node_of(proof->shape->topology, rank) != hs_node_of(proof->shape->topology, step->peer);
    }
    report->messages += messages;
    report->bytes += bytes;
    report->inter_node_messages += between;
    hs_raise_to(&report->messages_rank_max, messages);
    hs_raise_to(&report->bytes_rank_max, bytes);
    hs_raise_to(&report->inter_node_messages_rank_max, between);
}

/* Counts messages from a node to each other one, for the maximum. to[]: one per node, zero before and after. */
static void count_pairs(const struct hs_proof *proof, int from, int64_t *to)
{
    const struct hs_topology *topology = proof->shape->topology;
    const struct hs_division *nodes = topology ? &topology->division[HS_NODE] : NULL;
    for (int pass = 0; pass < 2; pass++)
        for (int r = 0; r < (nodes ? hs_division_size(nodes, from) : 1); r++) {
            const struct hs_list *list = &proof->list[nodes ? hs_part_rank(nodes, from, r) : from];
            for (int i = 0; i < list->steps; i++) {
                int node = list->step[i].kind == HS_SEND ? hs_node_of(topology, list->step[i].peer) : -1;
                if (node < 0 || node == from)
                    continue;
                to[node] = pass == 0 ? to[node] + 1 : 0;
                hs_raise_to(&proof->report->node_pair_messages_max, to[node]);
            }
        }
}

hsumma_status hs_verify_count(struct hs_proof *proof)
{
    const struct hs_lists *lists = &proof->lists;
    int nodes = hs_nodes_of(proof->shape->topology, lists->size);
    int *round = hs_get(proof->memory, (size_t)lists->steps + 1, sizeof *round);
    int64_t *to = hs_get_zero(proof->memory, (size_t)lists->size, sizeof *to);
    hsumma_status status = round && to ? hs_lists_rounds(lists, proof->memory, round) : HSUMMA_ERR_MEMORY;

    for (int g = 0; g < lists->steps && !status; g++)
        proof->report->rounds = round[g] > proof->report->rounds ? round[g] : proof->report->rounds;
    for (int r = 0; r < lists->size && !status; r++)
        count_rank(proof, r);
    for (int n = 0; n < nodes && !status; n++)
        count_pairs(proof, n, to);
    hs_put(proof->memory, round);
    hs_put(proof->memory, to);
    return status;
}
