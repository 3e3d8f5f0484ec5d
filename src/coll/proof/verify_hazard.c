/*
 * verify: two steps of one rank that touch the same bytes, one of which writes, must not run at once: the later waits
 * for the earlier one.  For each element, an access waits for the last write before it, and a write also for the reads
 * since: the other pairs follow from these.
 */
#include "coll/proof/verify_parts.h"

struct range_read {
    int step, next; /* next: the reading before, -1: none since the last write */
};

struct hazards {
    struct hs_proof *proof;
    const struct hs_list *list;
    int rank;
    int *seen, *pile, number; /* seen[]: per step, the last search to meet it */
    int *found;               /* per step: the last step that was found to wait for it, plus 1 */
    int *writer, *reader;     /* per element of all slots: the last write, and the last reading since; -1: none */
    struct range_read *reading;
    int64_t readings;
    int64_t first[HS_SLOTS]; /* element of each slot */
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
            if (on > earlier && h->seen[on] != h->number) { /* a step waits for earlier ones only */
                h->seen[on] = h->number;
                h->pile[height++] = on;
            }
        }
    }
    return 0;
}

static hsumma_status check_order(struct hazards *h, int later, int earlier)
{
    if (earlier < 0 || earlier == later || waits_for(h, later, earlier))
        return HSUMMA_OK;
    return hs_wrong(h->proof, "rank %d: steps %d (%s) and %d (%s) touch the same bytes and may run at once", h->rank,
                    earlier, hs_kind_name(h->list->step[earlier].kind), later, hs_kind_name(h->list->step[later].kind));
}

static hsumma_status add_access(struct hazards *h, const struct hs_access *access)
{
    int64_t unit = h->proof->shape->unit, first = h->first[access->ref.slot];
    hsumma_status status = HSUMMA_OK;
    for (int64_t e = first + access->ref.at / unit; e < first + access->end / unit && !status; e++) {
        status = check_order(h, access->step, h->writer[e]);
        if (!access->writes) {
            h->reading[h->readings] = (struct range_read){access->step, h->reader[e]};
            h->reader[e] = (int)h->readings++;
            continue;
        }
        for (int r = h->reader[e]; r >= 0 && !status; r = h->reading[r].next)
            status = check_order(h, access->step, h->reading[r].step);
        h->writer[e] = access->step;
        h->reader[e] = -1;
    }
    return status;
}

/* Own places that are written at all. */
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
    int64_t elements = 0;

    h->rank = rank;
    h->readings = 0;
    for (int s = 0; s < HS_SLOTS; s++) {
        h->first[s] = elements;
        elements += hs_slot_fixed(h->proof, rank, (enum hs_slot)s) ? 0 : list->extent[s] / h->proof->shape->unit;
    }
    for (int64_t e = 0; e < elements; e++)
        h->writer[e] = h->reader[e] = -1;
    for (int i = 0; i < list->steps; i++)
        h->found[i] = 0;
    for (int i = 0, before = -1; i < list->steps && !status; i++) {
        struct hs_access access[3];
        int n = own_accesses(h->proof, rank, i, access);
        for (int a = 0; a < n && !status; a++)
            status = add_access(h, &access[a]);
        if (list->step[i].kind != HS_SIGNAL || status)
            continue;
        if (before >= 0 && list->step[i].count <= list->step[before].count)
            status = hs_wrong(h->proof, "rank %d step %d (SIGNAL): value %lld does not ascend from step %d's %lld",
                              rank, i, (long long)list->step[i].count, before, (long long)list->step[before].count);
        else if (before >= 0 && !waits_for(h, i, before))
            status = hs_wrong(h->proof, "rank %d step %d (SIGNAL): does not wait for step %d, the SIGNAL before", rank,
                              i, before);
        before = i;
    }
    return status;
}

static void raise_to(int64_t *most, int64_t to)
{
    if (*most < to)
        *most = to;
}

/* The most steps, elements and readings that any rank has. */
static void measure(const struct hs_proof *proof, int64_t *steps, int64_t *elements, int64_t *readings)
{
    for (int r = 0; r < proof->shape->size; r++) {
        const struct hs_list *list = &proof->list[r];
        int64_t all = 0, read = 0;
        for (int s = 0; s < HS_SLOTS; s++)
            all += list->extent[s] / proof->shape->unit;
        for (int i = 0; i < list->steps; i++) {
            struct hs_access access[3];
            for (int a = own_accesses(proof, r, i, access) - 1; a >= 0; a--)
                read += access[a].writes ? 0 : list->step[i].count / proof->shape->unit;
        }
        raise_to(steps, list->steps);
        raise_to(elements, all);
        raise_to(readings, read);
    }
}

hsumma_status hs_verify_hazards(struct hs_proof *proof)
{
    const struct hs_allocator *memory = proof->memory;
    int64_t steps = 0, elements = 0, readings = 0;
    hsumma_status status = HSUMMA_OK;

    measure(proof, &steps, &elements, &readings);
    if (steps == 0)
        return HSUMMA_OK;
    struct hazards h = {.proof = proof};
    h.seen = hs_get_zero(memory, (size_t)steps, sizeof *h.seen);
    h.pile = hs_get(memory, (size_t)steps, sizeof *h.pile);
    h.found = hs_get(memory, (size_t)steps, sizeof *h.found);
    h.writer = hs_get(memory, (size_t)elements + 1, 2 * sizeof *h.writer);
    h.reader = h.writer ? h.writer + elements : NULL;
    h.reading = hs_get(memory, (size_t)readings + 1, sizeof *h.reading);
    if (!h.seen || !h.pile || !h.found || !h.writer || !h.reading || readings > INT32_MAX)
        status = HSUMMA_ERR_MEMORY;
    for (int r = 0; r < proof->shape->size && !status; r++)
        status = check_rank(&h, r);
    hs_put(memory, h.seen);
    hs_put(memory, h.pile);
    hs_put(memory, h.found);
    hs_put(memory, h.writer);
    hs_put(memory, h.reading);
    return status;
}
