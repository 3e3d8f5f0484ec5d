/*
 * verify: accesses to the memory of peers.  Only its owner writes a slot, so what can go wrong between two ranks is a
 * write of the owner and a read of a peer.  They are in order if there is a path between them over dependencies, from
 * SENDs to their RECVs and from SIGNALs to their WAITs.  Paths are searched backward from the later of the two, level
 * by level; a step's level is the length of the longest path to it, so no path leads through a lower one.
 */
#include "coll/verify_parts.h"

#include <stdlib.h>

/* A read of a peer's slot, by its global step. */
struct read {
    int step, owner;
    enum hs_slot slot;
    int64_t at, end;
};

struct search {
    struct hs_trial *trial;
    const struct hs_lists *lists;
    int *level, *seen, *queue, number;
    int *first_cause, *cause; /* cause[first_cause[g] .. first_cause[g + 1]): the steps that g comes after */
    struct read *read;
    int reads;
    struct read *write; /* of one owner, by ascending level */
    int writes;
};

static int is_kind(const struct hs_lists *lists, int g, enum hs_kind kind)
{
    return hs_lists_step(lists, g)->kind == kind;
}

/* Gives every step its level; whether all have one (there is no circle). */
static int find_levels(struct search *s)
{
    const struct hs_lists *lists = s->lists;
    int *pending = s->seen, *ready = s->queue, count = 0, done = 0;

    for (int g = 0; g < lists->steps; g++) {
        s->level[g] = 0;
        pending[g] = hs_lists_step(lists, g)->deps + (is_kind(lists, g, HS_RECV) || is_kind(lists, g, HS_WAIT));
        if (pending[g] == 0)
            ready[count++] = g;
    }
    for (; done < count; done++) {
        int g = ready[done], mate = is_kind(lists, g, HS_SEND) ? lists->mate[g] : -1;
        int users = lists->first_user[g + 1] - lists->first_user[g];
        for (int i = 0; i < users + (mate >= 0); i++) {
            int user = i < users ? lists->user[lists->first_user[g] + i] : mate;
            if (s->level[user] <= s->level[g])
                s->level[user] = s->level[g] + 1;
            if (--pending[user] == 0)
                ready[count++] = user;
        }
    }
    for (int g = 0; g < lists->steps; g++)
        s->seen[g] = 0;
    return done == lists->steps;
}

/* Lists what every step comes after: its dependencies, a RECV's SEND, a WAIT's SIGNAL. */
static void find_causes(struct search *s)
{
    const struct hs_lists *lists = s->lists;
    int count = 0;
    for (int g = 0; g < lists->steps; g++) {
        const struct hs_step *step = hs_lists_step(lists, g);
        const struct hs_list *list = &lists->list[lists->rank[g]];
        int other = step->kind == HS_RECV ? lists->mate[g] : lists->signal[g];
        s->first_cause[g] = count;
        for (int d = 0; d < step->deps; d++)
            s->cause[count++] = lists->base[lists->rank[g]] + list->dep[step->first_dep + d];
        if (other >= 0)
            s->cause[count++] = other;
    }
    s->first_cause[lists->steps] = count;
}

/* Whether a step is of a rank, or a WAIT for it. */
static int concerns(const struct hs_lists *lists, int g, int rank)
{
    return lists->rank[g] == rank || (lists->signal[g] >= 0 && lists->rank[lists->signal[g]] == rank);
}

/*
 * Whether a path leads to `to` from `from` or, if that is -1, from any step of a rank.  Steps that concern that rank
 * are looked at first: they grow downward from the end of the queue.
 */
static int comes_after(struct search *s, int to, int from, int rank)
{
    const struct hs_lists *lists = s->lists;
    int head = 0, tail = 0, near = lists->steps + 1, level = from < 0 ? -1 : s->level[from];

    s->number++;
    s->queue[tail++] = to;
    while (head < tail || near <= lists->steps) {
        int g = near <= lists->steps ? s->queue[near++] : s->queue[head++];
        for (int i = s->first_cause[g]; i < s->first_cause[g + 1]; i++) {
            int on = s->cause[i];
            if (on == from || (from < 0 && lists->rank[on] == rank))
                return 1;
            if (s->level[on] > level && s->seen[on] != s->number) {
                s->seen[on] = s->number;
                s->queue[concerns(lists, on, rank) ? --near : tail++] = on;
            }
        }
    }
    return 0;
}

/* Whether some step of a rank comes after `from`. */
static int reaches(struct search *s, int from, int rank)
{
    const struct hs_lists *lists = s->lists;
    int head = 0, tail = 0;

    s->number++;
    s->queue[tail++] = from;
    while (head < tail) {
        int g = s->queue[head++], mate = is_kind(lists, g, HS_SEND) ? lists->mate[g] : -1;
        int users = lists->first_user[g + 1] - lists->first_user[g];
        for (int i = 0; i < users + (mate >= 0); i++) {
            int user = i < users ? lists->user[lists->first_user[g] + i] : mate;
            if (lists->rank[user] == rank)
                return 1;
            if (s->seen[user] != s->number) {
                s->seen[user] = s->number;
                s->queue[tail++] = user;
            }
        }
    }
    return 0;
}

static int overlap(const struct read *a, const struct read *b)
{
    return a->slot == b->slot && a->at < b->end && b->at < a->end;
}

static const char *kind_of(const struct search *s, int g)
{
    return hs_kind_name(hs_lists_step(s->lists, g)->kind);
}

static hsumma_status race(struct search *s, const struct read *read, int write)
{
    int rank = s->lists->rank[read->step], base = s->lists->base[rank];
    return hs_wrong(s->trial, "rank %d step %d (%s) reads rank %d's %s while step %d (%s) of rank %d may write it",
                    rank, read->step - base, kind_of(s, read->step), read->owner, hs_slot_name(read->slot),
                    write - s->lists->base[read->owner], kind_of(s, write), read->owner);
}

/*
 * Compares a read with the writes of its owner on one side of it, going away from it.  A write is in order if it
 * overlaps one that is, and lies between that and the read: of one rank, both have been found to be in order.
 */
static hsumma_status check_side(struct search *s, const struct read *read, int first, int step)
{
    int checked = -1; /* the last write that was looked for */
    for (int w = first; w >= 0 && w < s->writes; w += step) {
        const struct read *write = &s->write[w];
        if (!overlap(read, write) || (checked >= 0 && overlap(&s->write[checked], write)))
            continue;
        if (step < 0 ? !comes_after(s, read->step, write->step, read->owner)
                     : !comes_after(s, write->step, read->step, s->lists->rank[read->step]))
            return race(s, read, write->step);
        if (write->at <= read->at && write->end >= read->end)
            return HSUMMA_OK; /* all others that matter overlap this one */
        checked = w;
    }
    return HSUMMA_OK;
}

static hsumma_status check_read(struct search *s, const struct read *read)
{
    int rank = s->lists->rank[read->step], index = read->step - s->lists->base[rank], later = 0;
    if (read->slot != HS_SHARED && !comes_after(s, read->step, -1, read->owner))
        return hs_wrong(s->trial, "rank %d step %d (%s) reads rank %d's %s, which may not have entered yet", rank,
                        index, kind_of(s, read->step), read->owner, hs_slot_name(read->slot));
    if (read->slot != HS_SHARED && !reaches(s, read->step, read->owner))
        return hs_wrong(s->trial, "rank %d step %d (%s) reads rank %d's %s, which does not wait for it at its end",
                        rank, index, kind_of(s, read->step), read->owner, hs_slot_name(read->slot));
    while (later < s->writes && s->level[s->write[later].step] < s->level[read->step])
        later++;
    hsumma_status status = check_side(s, read, later - 1, -1);
    return status ? status : check_side(s, read, later, 1);
}

static int compare_owners(const void *a, const void *b)
{
    const struct read *x = a, *y = b;
    return x->owner != y->owner ? x->owner - y->owner : x->step - y->step;
}

/* All reads of peers' slots, by owner; count only if s->read is NULL. */
static void collect_reads(struct search *s)
{
    s->reads = 0;
    for (int g = 0; g < s->lists->steps; g++) {
        struct hs_access access[3];
        int n = hs_accesses_of(hs_lists_step(s->lists, g), 0, access);
        for (int a = 0; a < n; a++)
            if (access[a].ref.of) {
                if (s->read)
                    s->read[s->reads] =
                        (struct read){g, access[a].ref.of - 1, access[a].ref.slot, access[a].ref.at, access[a].end};
                s->reads++;
            }
    }
    if (s->read)
        qsort(s->read, (size_t)s->reads, sizeof *s->read, compare_owners);
}

/* What a rank writes where peers may read, by ascending level (insertion: list order is nearly that). */
static void collect_writes(struct search *s, int owner)
{
    const struct hs_lists *lists = s->lists;
    s->writes = 0;
    for (int g = lists->base[owner]; g < lists->base[owner + 1]; g++) {
        const struct hs_step *step = hs_lists_step(lists, g);
        if (!(hs_step_touches(step->kind) & HS_TOUCHES_DST) || step->dst.slot == HS_SCRATCH)
            continue;
        int at = s->writes++;
        for (; at > 0 && s->level[s->write[at - 1].step] > s->level[g]; at--)
            s->write[at] = s->write[at - 1];
        s->write[at] = (struct read){g, owner, step->dst.slot, step->dst.at, step->dst.at + step->count};
    }
}

hsumma_status hs_verify_shared(struct hs_trial *trial)
{
    const struct hs_allocator *memory = trial->memory;
    struct search s = {.trial = trial, .lists = &trial->lists};
    size_t steps = (size_t)trial->lists.steps;
    hsumma_status status = HSUMMA_ERR_MEMORY;

    collect_reads(&s);
    if (s.reads == 0)
        return HSUMMA_OK;
    s.level = hs_get(memory, steps, sizeof *s.level);
    s.seen = hs_get(memory, steps, sizeof *s.seen);
    s.queue = hs_get(memory, steps + 1, sizeof *s.queue);
    /* Every dependency and SIGNAL has its user; the SENDs come on top. */
    s.cause = hs_get(memory, (size_t)trial->lists.first_user[steps] + steps + 1, sizeof *s.cause);
    s.first_cause = hs_get(memory, steps + 1, sizeof *s.first_cause);
    s.read = hs_get(memory, (size_t)s.reads, sizeof *s.read);
    s.write = hs_get(memory, steps, sizeof *s.write);
    if (s.level && s.seen && s.queue && s.cause && s.first_cause && s.read && s.write) {
        int knows = find_levels(&s); /* if not, the run will tell who waits for whom */
        find_causes(&s);
        collect_reads(&s);
        status = HSUMMA_OK;
        for (int i = 0; i < s.reads && knows && !status; i++) {
            if (i == 0 || s.read[i].owner != s.read[i - 1].owner)
                collect_writes(&s, s.read[i].owner);
            status = check_read(&s, &s.read[i]);
        }
    }
    hs_put(memory, s.level);
    hs_put(memory, s.seen);
    hs_put(memory, s.queue);
    hs_put(memory, s.cause);
    hs_put(memory, s.first_cause);
    hs_put(memory, s.read);
    hs_put(memory, s.write);
    return status;
}
