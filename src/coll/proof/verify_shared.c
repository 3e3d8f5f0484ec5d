/*
 * Part of verify: accesses to memory shared by ranks. Two accesses to the same bytes of a slot, one of them writing,
 * must be ordered: a path must connect them. A path follows dependencies, and leads from SENDs to their RECVs, from
 * SIGNALs to their WAITs, and from the dependencies of an MPI step to its matching MPI steps. The accesses to each
 * owner's slots are processed in ascending depth (the length of the longest path to a step), since every path leads to
 * greater depth. verify_hazard.c checks pairs in which both steps are the owner's. Paths are searched backward from the
 * later access.
 */
#include "coll/proof/verify_parts.h"

#include <stdlib.h>
#include <string.h>

/* An access to a slot that peers read or write. step: the global number of the step that makes it. */
struct use {
    int step, depth, owner, writes;
    enum hs_slot slot;
    int64_t at, end;
};

enum { SET_WORDS = 4 }; /* maximum number of 64-bit words in a set of ranks */

struct search {
    struct hs_proof *proof;
    const struct hs_lists *lists;
    /* order: topological. seen: the last search that reached each step; number: the current search. */
    int *depth, *order, *seen, *queue, number;
    int *first_cause, *cause; /* the direct predecessors of step g are cause[first_cause[g] .. first_cause[g + 1]) */
    unsigned char *touched;   /* indexed by rank: READ if peers read the rank's slots, WRITTEN if they write them */
    struct use *use;          /* the accesses that may conflict, sorted by owner, then by depth */
    int uses;
    int *found;                  /* 1 + the last step found to follow each step, indexed by step */
    struct hs_accessed accessed; /* accesses to the current owner's OUT and SHARED, as indices in use[] */
    /* For each step a set of `words` words: the ranks with a step before it (in the second pass, after it). */
    uint64_t *ranks;
    int words;
};

enum { READ = 1, WRITTEN = 2 };

/* Appends the dependencies of step g to cause[]; returns the number of entries. */
static int add_causes(struct search *s, int g, int count)
{
    const struct hs_lists *lists = s->lists;
    const struct hs_step *step = hs_lists_step(lists, g);
    for (int d = 0; d < step->deps; d++)
        s->cause[count++] = lists->base[lists->rank[g]] + lists->list[lists->rank[g]].dep[step->first_dep + d];
    return count;
}

/* The predecessors of each step: dependencies, a RECV's SEND, a WAIT's SIGNAL, matching MPI steps' dependencies. */
static void find_causes(struct search *s)
{
    const struct hs_lists *lists = s->lists;
    int count = 0;
    for (int g = 0; g < lists->steps; g++) {
        enum hs_kind kind = hs_lists_step(lists, g)->kind;
        int other = kind == HS_RECV ? lists->mate[g] : lists->signal[g];
        s->first_cause[g] = count;
        count = add_causes(s, g, count);
        for (int m = kind == HS_MPI ? lists->mate[g] : g; m != g; m = lists->mate[m])
            count = add_causes(s, m, count);
        if (other >= 0)
            s->cause[count++] = other;
    }
    s->first_cause[lists->steps] = count;
}

/* True if a step belongs to a rank, or is a WAIT for that rank. */
static int concerns(const struct hs_lists *lists, int g, int rank)
{
    return lists->rank[g] == rank || (lists->signal[g] >= 0 && lists->rank[lists->signal[g]] == rank);
}

/* True if a path leads from `from` to `to`. Steps that concern the rank of `from` go first, at the queue's end. */
static int comes_after(struct search *s, int to, int from)
{
    const struct hs_lists *lists = s->lists;
    int head = 0, tail = 0, near = lists->steps + 1, depth = s->depth[from], rank = lists->rank[from];

    if (s->found[from] == to + 1)
        return 1;
    s->found[from] = to + 1;
    s->number++;
    s->queue[tail++] = to;
    while (head < tail || near <= lists->steps) {
        int g = near <= lists->steps ? s->queue[near++] : s->queue[head++];
        for (int i = s->first_cause[g]; i < s->first_cause[g + 1]; i++) {
            int on = s->cause[i];
            if (on == from)
                return 1;
            if (s->depth[on] > depth && s->seen[on] != s->number) {
                s->seen[on] = s->number;
                s->queue[concerns(lists, on, rank) ? --near : tail++] = on;
            }
        }
    }
    return 0;
}

static hsumma_status check_order(void *state, int later_use, int earlier_use)
{
    struct search *s = state;
    const struct use *later = &s->use[later_use], *earlier = &s->use[earlier_use];
    const int *rank = s->lists->rank;
    int own = rank[later->step] == later->owner && rank[earlier->step] == later->owner;
    if (own || later->step == earlier->step || comes_after(s, later->step, earlier->step))
        return HSUMMA_OK;
    const struct use *one = earlier->writes ? later : earlier, *write = earlier->writes ? earlier : later;
    return hs_wrong_at(s->proof, one->step, " %s rank %d's %s while step %d (%s) of rank %d may write it",
                       one->writes ? "writes" : "reads", one->owner, hs_slot_name(one->slot),
                       write->step - s->lists->base[rank[write->step]],
                       hs_kind_name(hs_lists_step(s->lists, write->step)->kind), rank[write->step]);
}

/* The number of elements in a slot. Elements of the owner's OUT are numbered before those of its SHARED. */
static int64_t elements_of(const struct search *s, int owner, enum hs_slot slot)
{
    return hs_slot_bytes(s->proof, owner, slot) / s->proof->shape->unit;
}

/* Checks use[first .. end), the accesses to one owner's slots. */
static hsumma_status check_owner(struct search *s, int first, int end)
{
    int owner = s->use[first].owner;
    int64_t unit = s->proof->shape->unit, outs = elements_of(s, owner, HS_OUT);
    hsumma_status status = HSUMMA_OK;
    hs_accessed_clear(&s->accessed, outs + elements_of(s, owner, HS_SHARED));
    for (int u = first; u < end && !status; u++) {
        const struct use *use = &s->use[u];
        int64_t base = use->slot == HS_SHARED ? outs : 0;
        if (!hs_slot_fixed(s->proof, owner, use->slot))
            status = hs_accessed_add(&s->accessed, u, use->writes, base + use->at / unit, base + use->end / unit,
                                     check_order, s);
    }
    return status;
}

static int reads_peer(const struct search *s, const struct use *use)
{
    return use->slot != HS_SHARED && s->lists->rank[use->step] != use->owner;
}

static void add_rank(const struct search *s, int to, int from, int low)
{
    int at = s->lists->rank[from] - low;
    for (int i = 0; i < s->words; i++)
        s->ranks[(size_t)to * (size_t)s->words + (size_t)i] |= s->ranks[(size_t)from * (size_t)s->words + (size_t)i];
    if (at >= 0 && at < 64 * s->words)
        s->ranks[(size_t)to * (size_t)s->words + (size_t)(at / 64)] |= (uint64_t)1 << at % 64;
}

/*
 * Checks that a rank has entered the call before peers read its IN or OUT, and that its list waits for the readers
 * before it ends. use[first .. end) are the accesses to the slots of ranks from `low` on.
 */
static hsumma_status check_presence(struct search *s, int low, int first, int end)
{
    const struct hs_lists *lists = s->lists;
    for (int side = 0; side < 2; side++) {
        memset(s->ranks, 0, (size_t)lists->steps * (size_t)s->words * sizeof *s->ranks);
        for (int i = 0; i < lists->steps; i++) {
            int g = s->order[side ? lists->steps - 1 - i : i];
            for (int c = s->first_cause[g]; c < s->first_cause[g + 1]; c++)
                add_rank(s, side ? s->cause[c] : g, side ? g : s->cause[c], low);
        }
        for (const struct use *use = s->use + first; use < s->use + end; use++) {
            int at = use->owner - low;
            const uint64_t *set = s->ranks + (size_t)use->step * (size_t)s->words;
            if (!reads_peer(s, use) || set[at / 64] >> at % 64 & 1)
                continue;
            return hs_wrong_at(s->proof, use->step, " reads rank %d's %s, which %s", use->owner,
                               hs_slot_name(use->slot),
                               side ? "does not wait for it at its end" : "may not have entered yet");
        }
    }
    return HSUMMA_OK;
}

/*
 * True if an access may conflict with one of another rank: always for a peer's slot; for the rank's own IN, OUT or
 * SHARED if peers write any of them, or if peers read any of them and this access writes.
 */
static int counts(const struct search *s, int rank, const struct hs_access *access)
{
    if (access->ref.of)
        return 1;
    return access->ref.slot != HS_SCRATCH && s->touched[rank] & (access->writes ? READ | WRITTEN : WRITTEN);
}

static int compare_uses(const void *a, const void *b)
{
    const struct use *x = a, *y = b;
    int difference = x->owner != y->owner ? x->owner - y->owner : x->depth - y->depth;
    difference = difference ? difference : x->step - y->step;
    return difference ? difference : x->writes - y->writes;
}

/* Sets touched[] for the ranks whose slots peers access. Returns 0 if there are none. */
static int find_touched(struct search *s)
{
    int any = 0;
    for (int g = 0; g < s->lists->steps; g++) {
        struct hs_access access[3];
        for (int a = hs_accesses_of(hs_lists_step(s->lists, g), 0, access) - 1; a >= 0; a--)
            if (access[a].ref.of) {
                s->touched[access[a].ref.of - 1] |= access[a].writes ? WRITTEN : READ;
                any = 1;
            }
    }
    return any;
}

/* Collects all accesses that may conflict, sorted by owner and depth; only counts them if s->use is NULL. */
static void collect_uses(struct search *s)
{
    s->uses = 0;
    for (int g = 0; g < s->lists->steps; g++) {
        struct hs_access access[3];
        int rank = s->lists->rank[g], n = hs_accesses_of(hs_lists_step(s->lists, g), 0, access);
        for (int a = 0; a < n; a++) {
            struct hs_ref ref = access[a].ref;
            if (!counts(s, rank, &access[a]))
                continue;
            if (s->use)
                s->use[s->uses] = (struct use){
                    g, s->depth[g], ref.of ? ref.of - 1 : rank, access[a].writes, ref.slot, ref.at, access[a].end};
            s->uses++;
        }
    }
    if (s->use)
        qsort(s->use, (size_t)s->uses, sizeof *s->use, compare_uses);
}

static hsumma_status check_uses(struct search *s)
{
    hsumma_status status = HSUMMA_OK;
    int end;
    for (int first = 0; first < s->uses && !status; first = end) {
        int low = s->use[first].owner, any = 0;
        for (end = first; end < s->uses && s->use[end].owner < low + 64 * s->words; end++)
            any |= reads_peer(s, &s->use[end]);
        status = any ? check_presence(s, low, first, end) : HSUMMA_OK;
    }
    for (int first = 0; first < s->uses && !status; first = end) {
        for (end = first; end < s->uses && s->use[end].owner == s->use[first].owner; end++)
            ;
        status = check_owner(s, first, end);
    }
    return status;
}

hsumma_status hs_verify_shared(struct hs_proof *proof)
{
    const struct hs_allocator *memory = proof->memory;
    struct search s = {.proof = proof, .lists = &proof->lists};
    size_t steps = (size_t)proof->lists.steps;
    int64_t most = 0;

    s.touched = hs_get_zero(memory, (size_t)proof->lists.size, 1);
    if (!s.touched || !find_touched(&s)) {
        hs_put(memory, s.touched);
        return s.touched ? HSUMMA_OK : HSUMMA_ERR_MEMORY;
    }
    for (int r = 0; r < proof->lists.size; r++) {
        int64_t elements = elements_of(&s, r, HS_OUT) + elements_of(&s, r, HS_SHARED);
        most = elements > most ? elements : most;
    }
    collect_uses(&s);
    s.depth = hs_get_zero(memory, 6 * steps + 2, sizeof *s.depth);
    if (s.depth) {
        s.order = s.depth + steps;
        s.seen = s.order + steps;
        s.found = s.seen + steps;
        s.queue = s.found + steps;
        s.first_cause = s.queue + steps + 1;
    }
    /* dependencies, and WAITs with a SIGNAL (first_user[steps]); the SENDs of RECVs add at most one cause per step */
    size_t causes = (size_t)proof->lists.first_user[steps] + steps + 1;
    for (int g = 0; g < proof->lists.steps; g++)
        if (hs_lists_step(&proof->lists, g)->kind == HS_MPI)
            causes += (size_t)(hs_lists_joint(&proof->lists, g)->size * hs_lists_step(&proof->lists, g)->deps);
    s.cause = hs_get(memory, causes, sizeof *s.cause);
    s.use = hs_get(memory, (size_t)s.uses, sizeof *s.use);
    s.words = proof->lists.size <= 64 ? 1 : SET_WORDS;
    s.ranks = hs_get(memory, steps, (size_t)s.words * sizeof *s.ranks);
    hsumma_status status = hs_accessed_begin(&s.accessed, most, memory);
    if (!s.depth || !s.cause || !s.use || !s.ranks)
        status = HSUMMA_ERR_MEMORY;
    /* If there is a dependency cycle, hs_verify_run will report it as a deadlock. */
    if (!status && hs_lists_levels(s.lists, 0, s.depth, s.order, s.queue)) {
        find_causes(&s);
        collect_uses(&s);
        status = check_uses(&s);
    }
    hs_accessed_end(&s.accessed);
    hs_put(memory, s.depth);
    hs_put(memory, s.cause);
    hs_put(memory, s.touched);
    hs_put(memory, s.use);
    hs_put(memory, s.ranks);
    return status;
}
