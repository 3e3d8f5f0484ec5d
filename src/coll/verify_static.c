/*
 * verify, first part: what can be said about each list without running it.  Messages match by list order, whatever the
 * timing; so lists without hazards compute the same under every schedule, and a schedule that goes through with
 * rendezvous shows that all do.
 */
#include "coll/verify_parts.h"

#include <stdlib.h>

struct access {
    int step, writes;
    struct hs_ref ref;
    int64_t end;
};

/* The accesses of a step, at most three. */
static int accesses_of(const struct hs_step *step, int index, struct access *access)
{
    int n = 0;
    if (step->kind != HS_RECV)
        access[n++] = (struct access){index, 0, step->left, step->left.at + step->count};
    if (step->kind == HS_REDUCE)
        access[n++] = (struct access){index, 0, step->right, step->right.at + step->count};
    if (step->kind != HS_SEND)
        access[n++] = (struct access){index, 1, step->dst, step->dst.at + step->count};
    return n;
}

static int overlap(const struct access *a, const struct access *b)
{
    return a->ref.slot == b->ref.slot && a->ref.at < b->end && b->ref.at < a->end;
}

static hsumma_status check_access(struct hs_trial *trial, int rank, int i, const struct access *access)
{
    static const char *const names[HS_SLOTS] = {"IN", "OUT", "SCRATCH"};
    const struct hs_list *list = &trial->list[rank];
    const char *kind = hs_kind_name(list->step[i].kind);
    enum hs_slot slot = access->ref.slot;

    if ((unsigned)slot >= HS_SLOTS)
        return hs_wrong(trial, "rank %d step %d (%s): no such slot", rank, i, kind);
    if (access->ref.at % trial->shape->unit)
        return hs_wrong(trial, "rank %d step %d (%s): offset %lld in %s is no multiple of the unit", rank, i, kind,
                        (long long)access->ref.at, names[slot]);
    if (access->ref.at < 0 || access->end > hs_slot_bytes(trial, rank, slot) || access->end > list->extent[slot])
        return hs_wrong(trial, "rank %d step %d (%s): bytes %lld..%lld are outside %s, which has %lld", rank, i, kind,
                        (long long)access->ref.at, (long long)access->end, names[slot],
                        (long long)hs_slot_bytes(trial, rank, slot));
    if (access->writes && hs_slot_fixed(trial, rank, slot))
        return hs_wrong(trial, "rank %d step %d (%s): writes to %s, which must stay as it is", rank, i, kind,
                        names[slot]);
    return HSUMMA_OK;
}

static hsumma_status check_step(struct hs_trial *trial, int rank, int i)
{
    const struct hs_list *list = &trial->list[rank];
    const struct hs_step *step = &list->step[i];
    struct access access[3];

    if ((unsigned)step->kind > HS_REDUCE)
        return hs_wrong(trial, "rank %d step %d: no such kind", rank, i);
    const char *kind = hs_kind_name(step->kind);
    if (step->count <= 0 || step->count % trial->shape->unit)
        return hs_wrong(trial, "rank %d step %d (%s): count %lld is not a positive multiple of the unit", rank, i, kind,
                        (long long)step->count);
    if ((step->kind == HS_SEND || step->kind == HS_RECV) &&
        (step->peer < 0 || step->peer >= trial->shape->size || step->peer == rank))
        return hs_wrong(trial, "rank %d step %d (%s): peer %d is no other rank of %d", rank, i, kind, step->peer,
                        trial->shape->size);
    for (int d = 0; d < step->deps; d++)
        if (list->dep[step->first_dep + d] < 0 || list->dep[step->first_dep + d] >= i)
            return hs_wrong(trial, "rank %d step %d (%s): depends on step %d, which is not an earlier one", rank, i,
                            kind, list->dep[step->first_dep + d]);
    int n = accesses_of(step, i, access);
    hsumma_status status = HSUMMA_OK;
    for (int a = 0; a < n && !status; a++)
        status = check_access(trial, rank, i, &access[a]);
    /* dst may be an operand of REDUCE, but must not be a shifted one. */
    for (int a = 0; a < n - 1 && !status; a++)
        if (overlap(&access[a], &access[n - 1]) && (step->kind == HS_COPY || access[a].ref.at != access[n - 1].ref.at))
            status = hs_wrong(trial, "rank %d step %d (%s): source and destination overlap", rank, i, kind);
    return status;
}

static int compare_accesses(const void *a, const void *b)
{
    const struct access *x = a, *y = b;
    if (x->ref.slot != y->ref.slot)
        return x->ref.slot < y->ref.slot ? -1 : 1;
    return (x->ref.at > y->ref.at) - (x->ref.at < y->ref.at);
}

/* Whether `later` waits for `earlier`, directly or through others.  seen[] holds, per step, the last search to meet it.
 */
static int waits_for(const struct hs_list *list, int later, int earlier, int *seen, int search, int *pile)
{
    int height = 0;
    pile[height++] = later;
    while (height > 0) {
        const struct hs_step *step = &list->step[pile[--height]];
        for (int d = 0; d < step->deps; d++) {
            int on = list->dep[step->first_dep + d];
            if (on == earlier)
                return 1;
            if (on > earlier && seen[on] != search) { /* a step waits for earlier ones only */
                seen[on] = search;
                pile[height++] = on;
            }
        }
    }
    return 0;
}

/* Looks for two steps that may be under way at once, one of which writes bytes that the other reads or writes. */
static hsumma_status find_hazard(struct hs_trial *trial, int rank, struct access *access, int *seen, int *pile)
{
    const struct hs_list *list = &trial->list[rank];
    int n = 0, search = 0;

    for (int i = 0; i < list->steps; i++) {
        n += accesses_of(&list->step[i], i, access + n);
        seen[i] = 0;
    }
    qsort(access, (size_t)n, sizeof *access, compare_accesses);
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n && overlap(&access[i], &access[j]); j++) {
            int a = access[i].step, b = access[j].step;
            if (a == b || !(access[i].writes || access[j].writes))
                continue;
            int later = a > b ? a : b, earlier = a > b ? b : a;
            if (!waits_for(list, later, earlier, seen, ++search, pile))
                return hs_wrong(trial, "rank %d: steps %d (%s) and %d (%s) touch the same bytes and may run at once",
                                rank, earlier, hs_kind_name(list->step[earlier].kind), later,
                                hs_kind_name(list->step[later].kind));
        }
    return HSUMMA_OK;
}

hsumma_status hs_verify_static(struct hs_trial *trial)
{
    hsumma_status status = HSUMMA_OK;
    int longest = 0;

    for (int r = 0; r < trial->shape->size && !status; r++) {
        for (int i = 0; i < trial->list[r].steps && !status; i++)
            status = check_step(trial, r, i);
        if (longest < trial->list[r].steps)
            longest = trial->list[r].steps;
    }
    if (status || longest == 0)
        return status;
    struct access *access = hs_get(trial->memory, (size_t)longest, 3 * sizeof *access);
    int *seen = hs_get(trial->memory, (size_t)longest, sizeof *seen);
    int *pile = hs_get(trial->memory, (size_t)longest, sizeof *pile);
    if (!access || !seen || !pile)
        status = HSUMMA_ERR_MEMORY;
    for (int r = 0; r < trial->shape->size && !status; r++)
        status = find_hazard(trial, r, access, seen, pile);
    hs_put(trial->memory, access);
    hs_put(trial->memory, seen);
    hs_put(trial->memory, pile);
    return status;
}
