/*
 * Part of verify: if two steps of one rank access the same bytes of its own slots and one of them writes, the later
 * step must depend on the earlier one. Each SIGNAL must depend on the previous one and have a higher value.
 */
#include "coll/proof/verify_parts.h"

struct hazards {
    struct hs_proof *proof;
    const struct hs_list *list;
    int rank;
    int *seen, *pile, number; /* seen: number of the last search that reached each step, indexed by step; pile: stack of
                                 the search; number: that of the current search */
    int *found;               /* 1 + the last step found to depend on each step, indexed by step */
    struct hs_accessed accessed;
    int64_t first[HS_SLOTS]; /* index of each slot's first element, indexed by slot */
};

static int waits_for(struct hazards *h, int later, int earlier)
{
    const struct hs_list *list = h->list;
    int height = 0;
    if (h->found[earlier] == later + 1)
        return 1;
    h->found[earlier] = later + 1;
    h->number++;
    h->pile[height++] = later;
    while (height > 0) {
        const struct hs_step *step = &list->step[h->pile[--height]];
        for (int d = 0; d < step->deps; d++) {
            int on = list->dep[step->first_dep + d];
            if (on == earlier)
                return 1;
            if (on > earlier && h->seen[on] != h->number) { /* a step depends on earlier steps only */
                h->seen[on] = h->number;
                h->pile[height++] = on;
            }
        }
    }
    return 0;
}

static hsumma_status check_order(void *state, int later, int earlier)
{
    struct hazards *h = state;
    if (earlier == later || waits_for(h, later, earlier))
        return HSUMMA_OK;
    return hs_wrong(h->proof, "rank %d: steps %d (%s) and %d (%s) touch the same bytes and may run at once", h->rank,
                    earlier, hs_kind_name(h->list->step[earlier].kind), later, hs_kind_name(h->list->step[later].kind));
}

/* Stores the accesses of a step to its rank's own slots, except slots that are never written. Returns their number. */
static int own_accesses(const struct hs_proof *proof, int rank, int i, struct hs_access *access)
{
    int n = hs_accesses_of(&proof->list[rank].step[i], i, access), kept = 0;
    for (int a = 0; a < n; a++)
        if (access[a].ref.of == 0 && !hs_slot_fixed(proof, rank, access[a].ref.slot))
            access[kept++] = access[a];
    return kept;
}

static hsumma_status check_rank(struct hazards *h, int rank)
{
    const struct hs_list *list = h->list = &h->proof->list[rank];
    hsumma_status status = HSUMMA_OK;
    int64_t elements = 0, unit = h->proof->shape->unit;

    h->rank = rank;
    for (int s = 0; s < HS_SLOTS; s++) {
        h->first[s] = elements;
        elements += hs_slot_fixed(h->proof, rank, (enum hs_slot)s) ? 0 : list->extent[s] / unit;
    }
    hs_accessed_clear(&h->accessed, elements);
    for (int i = 0; i < list->steps; i++)
        h->found[i] = 0;
    for (int i = 0, before = -1; i < list->steps && !status; i++) {
        struct hs_access access[3];
        int n = own_accesses(h->proof, rank, i, access);
        for (int a = 0; a < n && !status; a++) {
            int64_t first = h->first[access[a].ref.slot];
            status = hs_accessed_add(&h->accessed, i, access[a].writes, first + access[a].ref.at / unit,
                                     first + access[a].end / unit, check_order, h);
        }
        if (list->step[i].kind != HS_SIGNAL || status)
            continue;
        if (before >= 0 && list->step[i].count <= list->step[before].count)
            status = hs_wrong_step(h->proof, rank, i, ": value %lld does not ascend from step %d's %lld",
                                   (long long)list->step[i].count, before, (long long)list->step[before].count);
        else if (before >= 0 && !waits_for(h, i, before))
            status = hs_wrong_step(h->proof, rank, i, ": does not wait for step %d, the SIGNAL before", before);
        before = i;
    }
    return status;
}

hsumma_status hs_verify_hazards(struct hs_proof *proof)
{
    const struct hs_allocator *memory = proof->memory;
    int64_t steps = 0, elements = 0; /* maxima over all ranks */
    for (int r = 0; r < proof->shape->size; r++) {
        const struct hs_list *list = &proof->list[r];
        int64_t all = 0;
        for (int s = 0; s < HS_SLOTS; s++) {
            const int64_t here = list->extent[s] / proof->shape->unit;
            all = here > INT64_MAX - all ? INT64_MAX : all + here; /* more than any memory */
        }
        steps = list->steps > steps ? list->steps : steps;
        elements = all > elements ? all : elements;
    }
    if (steps == 0)
        return HSUMMA_OK;
    struct hazards h = {.proof = proof};
    h.seen = hs_get_zero(memory, (size_t)steps, sizeof *h.seen);
    h.pile = hs_get(memory, (size_t)steps, sizeof *h.pile);
    h.found = hs_get(memory, (size_t)steps, sizeof *h.found);
    hsumma_status status = hs_accessed_begin(&h.accessed, elements, memory);
    if (!h.seen || !h.pile || !h.found)
        status = HSUMMA_ERR_MEMORY;
    for (int r = 0; r < proof->shape->size && !status; r++)
        status = check_rank(&h, r);
    hs_put(memory, h.seen);
    hs_put(memory, h.pile);
    hs_put(memory, h.found);
    hs_accessed_end(&h.accessed);
    return status;
}
