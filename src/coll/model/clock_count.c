/* Counts the messages, bytes copied through shared memory, bytes reduced and signals in a list. */
#include "coll/model/clock_parts.h"

static void add(struct hs_traffic *traffic, int64_t bytes)
{
    traffic->messages++;
    traffic->bytes += bytes;
}

static void raise_both(struct hs_traffic *most, const struct hs_traffic *one)
{
    hs_raise_to(&most->messages, one->messages);
    hs_raise_to(&most->bytes, one->bytes);
}

void hs_clock_count(const struct hs_list *list, const struct hs_topology *topology, int r,
                    struct hs_traffic *node_between, struct hs_clock_report *report)
{
    struct hs_traffic sent = {0}, between = {0};
    int64_t reduced = 0;

    for (int i = 0; i < list->steps; i++) {
        const struct hs_step *step = &list->step[i];
        if (step->kind == HS_SEND) {
            enum hs_tier_kind tier = hs_tier_of(topology, r, step->peer);
            add(&sent, step->count);
            add(&report->tier[tier], step->count);
            if (tier == HS_BETWEEN_NODES) {
                add(&between, step->count);
                add(node_between, step->count);
            }
        }
        reduced += step->kind == HS_REDUCE ? step->count : step->kind == HS_EXACT ? step->peer * step->count : 0;
        report->signals += step->kind == HS_SIGNAL;
        if (step->kind == HS_COPY && hs_copies_shared(step))
            report->shared_copies += step->count;
    }
    report->messages += sent.messages;
    report->bytes += sent.bytes;
    hs_raise_to(&report->messages_rank_max, sent.messages);
    hs_raise_to(&report->bytes_rank_max, sent.bytes);
    hs_raise_to(&report->reduced_rank_max, reduced);
    raise_both(&report->between_rank_max, &between);
    raise_both(&report->between_node_max, node_between);
}
