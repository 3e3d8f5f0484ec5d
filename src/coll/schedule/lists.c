#include "coll/schedule/lists.h"

#include "base/hash.h"

#include <limits.h>
#include <string.h>

static void turn_ref(struct hs_ref *ref, int shift, int size)
{
    if (ref->of > 0 && ref->of <= size)
        ref->of = 1 + (ref->of - 1 + shift) % size;
}

/* Replaces rotated ranks by true ones. */
static void turn(struct hs_step *step, int shift, int size)
{
    if (hs_peer_is_rank(step->kind) && step->peer >= 0 && step->peer < size)
        step->peer = (step->peer + shift) % size;
    turn_ref(&step->dst, shift, size);
    turn_ref(&step->left, shift, size);
    turn_ref(&step->right, shift, size);
}

hsumma_status hs_build_rank(const struct hs_alg *alg, const struct hs_shape *shape, int rank,
                            const struct hs_allocator *memory, struct hs_list *list)
{
    int size = shape->size, shift = hs_rotation(alg, shape);
    struct hs_shape mine = *shape;

    *list = (struct hs_list){0};
    if (size < 1 || shape->root < 0 || shape->root >= size)
        return HSUMMA_ERR_INTERNAL;
    mine.rank = (rank - shift + size) % size;
    mine.root = alg->flags & HS_TRUE_ROOT ? shape->root : 0;
    hsumma_status status = hs_build(alg, &mine, memory, list);
    for (int i = 0; shift && i < list->steps; i++)
        turn(&list->step[i], shift, size);
    return status;
}

hsumma_status hs_build_all(const struct hs_alg *alg, const struct hs_shape *shape, const struct hs_allocator *memory,
                           struct hs_list **list)
{
    hsumma_status status = HSUMMA_OK;

    *list = NULL;
    if (shape->size < 1)
        return HSUMMA_ERR_INTERNAL;
    struct hs_list *all = hs_get_zero(memory, (size_t)shape->size, sizeof *all);
    if (!all)
        return HSUMMA_ERR_MEMORY;
    for (int r = 0; r < shape->size && !status; r++)
        status = hs_build_rank(alg, shape, r, memory, &all[r]);
    if (status)
        hs_free_all(memory, all, shape->size);
    else
        *list = all;
    return status;
}

void hs_free_all(const struct hs_allocator *memory, struct hs_list *list, int size)
{
    for (int r = 0; list && r < size; r++)
        hs_list_free(memory, &list[r]);
    hs_put(memory, list);
}

hsumma_status hs_lists_build(const struct hs_alg *alg, const struct hs_shape *shape, const struct hs_allocator *memory,
                             struct hs_lists *lists)
{
    struct hs_list *owned;
    *lists = (struct hs_lists){0};
    hsumma_status status = hs_build_all(alg, shape, memory, &owned);
    if (status)
        return status;
    status = hs_lists_index(owned, shape->size, memory, lists);
    if (status)
        hs_free_all(memory, owned, shape->size);
    else
        lists->owned = owned;
    return status;
}

hsumma_status hs_mail_begin(struct hs_mail *mail, int size, const struct hs_allocator *memory)
{
    size_t places = 6 * (size_t)size;
    int *block = hs_get(memory, places, sizeof *block);
    *mail = (struct hs_mail){.size = size};
    for (size_t i = 0; block && i < places; i++)
        block[i] = -1;
    for (int kind = 0; block && kind < 2; kind++, block += 3 * (size_t)size) {
        mail->first[kind] = block;
        mail->last[kind] = block + size;
        mail->open[kind] = block + 2 * (size_t)size;
    }
    return block ? HSUMMA_OK : HSUMMA_ERR_MEMORY;
}

void hs_mail_end(struct hs_mail *mail, const struct hs_allocator *memory)
{
    hs_put(memory, mail->first[0]);
    hs_put(memory, mail->ring);
    *mail = (struct hs_mail){0};
}

/* Appends a step to a queue linked through mate[]. */
static void append(int *mate, int *first, int *last, int g)
{
    mate[g] = -1;
    if (*first < 0)
        *first = g;
    else
        mate[*last] = g;
    *last = g;
}

void hs_mail_open(struct hs_mail *mail, int rank, const int *rank_of, int *mate)
{
    for (int kind = 0; kind < 2; kind++) {
        int next, g = mail->first[kind][rank];
        /* Rank rank_of[g] has been visited: its last[] is now that of its open[] queue. */
        for (; g >= 0; g = next) {
            next = mate[g];
            append(mate, &mail->open[kind][rank_of[g]], &mail->last[kind][rank_of[g]], g);
            mail->waiting++;
        }
    }
}

void hs_mail_add(struct hs_mail *mail, int rank, enum hs_kind kind, int peer, int g, int *mate)
{
    int mine = kind == HS_RECV, other = mail->open[!mine][peer];
    if (peer > rank) {
        append(mate, &mail->first[mine][peer], &mail->last[mine][peer], g);
    } else if (other >= 0) {
        mail->open[!mine][peer] = mate[other];
        mail->waiting--;
        mate[other] = g;
        mate[g] = other;
    } else if (peer == rank) {
        append(mate, &mail->open[mine][rank], &mail->last[mine][rank], g);
        mail->waiting++;
    } else {
        mate[g] = -1;
    }
}

void hs_mail_close(struct hs_mail *mail, int rank, int *mate)
{
    for (int i = 0; mail->waiting && i < 2 * (rank + 1); i++) {
        int *open = &mail->open[i % 2][i / 2];
        for (int next; *open >= 0; *open = next, mail->waiting--) {
            next = mate[*open];
            mate[*open] = -1;
        }
    }
}

struct hs_ring {
    uint64_t ranks; /* hash of the ranks */
    int left;       /* number of ranks whose step has not joined the ring */
    int last;       /* the last rank whose step has joined */
    int step;       /* the first step that has joined */
};

/* A rank's first step joins the oldest ring of the same ranks, its second the next; ranks in ascending order. */
hsumma_status hs_mail_join(struct hs_mail *mail, int rank, const struct hs_joint *joint, int g, int *mate,
                           const struct hs_allocator *memory)
{
    uint64_t ranks = (uint64_t)joint->size;
    for (int i = 0; i < joint->size; i++)
        ranks = hs_mix(ranks, (uint64_t)hs_joint_rank(joint, i));
    int r = 0;
    while (r < mail->rings && (mail->ring[r].ranks != ranks || mail->ring[r].last == rank))
        r++;
    mate[g] = g;
    if (r == mail->rings) {
        void *array = mail->ring;
        if (hs_grow(memory, &array, sizeof *mail->ring, &mail->ring_capacity, (size_t)mail->rings + 1))
            return HSUMMA_ERR_MEMORY;
        mail->ring = array;
        mail->ring[mail->rings++] = (struct hs_ring){.ranks = ranks, .left = joint->size, .step = g};
    }
    struct hs_ring *ring = &mail->ring[r];
    ring->last = rank;
    mate[g] = ring->step == g ? g : mate[ring->step];
    mate[ring->step] = g;
    if (--ring->left == 0)
        memmove(ring, ring + 1, (size_t)(--mail->rings - r) * sizeof *ring);
    return HSUMMA_OK;
}

/* Matches messages, in time linear in the number of steps, and MPI steps. */
static hsumma_status match(struct hs_lists *lists, const struct hs_allocator *memory)
{
    struct hs_mail mail;
    hsumma_status status = HSUMMA_OK;
    if (hs_mail_begin(&mail, lists->size, memory))
        return HSUMMA_ERR_MEMORY;
    for (int r = 0; r < lists->size; r++) {
        hs_mail_open(&mail, r, lists->rank, lists->mate);
        for (int g = lists->base[r]; g < lists->base[r + 1]; g++) {
            const struct hs_step *step = hs_lists_step(lists, g);
            lists->mate[g] = -1;
            if (step->kind == HS_SEND || step->kind == HS_RECV)
                hs_mail_add(&mail, r, step->kind, step->peer, g, lists->mate);
            else if (step->kind == HS_MPI && !status)
                status = hs_mail_join(&mail, r, &lists->list[r].joint[step->peer], g, lists->mate, memory);
        }
        hs_mail_close(&mail, r, lists->mate);
    }
    hs_mail_end(&mail, memory);
    return status;
}

/*
 * Finds the SIGNAL that completes a WAIT: the peer's first SIGNAL whose value is at least that of the WAIT. The peer's
 * SIGNALs are signal[first .. last), in ascending order of values. Returns the index, or `last` if there is none.
 */
static int signal_of(const struct hs_lists *lists, int wait, const int *signal, int first, int last)
{
    while (first < last) {
        int middle = first + (last - first) / 2;
        if (hs_lists_step(lists, signal[middle])->count < hs_lists_step(lists, wait)->count)
            first = middle + 1;
        else
            last = middle;
    }
    return first;
}

static hsumma_status find_signals(struct hs_lists *lists, const struct hs_allocator *memory)
{
    int *signal = hs_get(memory, (size_t)lists->steps + 1, sizeof *signal);
    /* The SIGNALs of rank r are signal[first[r] .. first[r + 1]). */
    int *first = hs_get(memory, (size_t)lists->size + 1, sizeof *first);
    int count = 0;

    for (int r = 0; signal && first && r <= lists->size; r++) {
        first[r] = count;
        for (int g = lists->base[r]; r < lists->size && g < lists->base[r + 1]; g++)
            if (hs_lists_step(lists, g)->kind == HS_SIGNAL)
                signal[count++] = g;
    }
    for (int g = 0; signal && first && g < lists->steps; g++) {
        const struct hs_step *step = hs_lists_step(lists, g);
        lists->signal[g] = -1;
        if (step->kind == HS_WAIT) {
            int last = first[step->peer + 1], found = signal_of(lists, g, signal, first[step->peer], last);
            lists->signal[g] = found < last ? signal[found] : -1;
        }
    }
    hsumma_status status = signal && first ? HSUMMA_OK : HSUMMA_ERR_MEMORY;
    hs_put(memory, signal);
    hs_put(memory, first);
    return status;
}

static void add_user(struct hs_lists *lists, int pass, int on, int user)
{
    if (pass == 0)
        lists->first_user[on + 2]++;
    else
        lists->user[lists->first_user[on + 1]++] = user;
}

static void find_users(struct hs_lists *lists)
{
    for (int pass = 0; pass < 2; pass++) {
        for (int g = 0; g < lists->steps; g++) {
            int base = lists->base[lists->rank[g]];
            const struct hs_step *step = hs_lists_step(lists, g);
            const int *dep = lists->list[lists->rank[g]].dep;
            for (int i = 0; i < step->deps; i++)
                add_user(lists, pass, base + dep[step->first_dep + i], g);
            if (lists->signal[g] >= 0)
                add_user(lists, pass, lists->signal[g], g);
        }
        for (int g = 0; pass == 0 && g < lists->steps; g++)
            lists->first_user[g + 2] += lists->first_user[g + 1];
    }
}

/* Counts steps and dependencies, and checks that peers and dependencies are in range. */
static hsumma_status measure(const struct hs_list *list, int size, int64_t *steps, int64_t *deps)
{
    for (int r = 0; r < size; r++) {
        *steps += list[r].steps;
        for (int i = 0; i < list[r].steps; i++) {
            const struct hs_step *step = &list[r].step[i];
            if ((step->kind == HS_SEND || step->kind == HS_RECV || step->kind == HS_WAIT) &&
                (step->peer < 0 || step->peer >= size))
                return HSUMMA_ERR_INTERNAL;
            if (step->kind == HS_MPI && (step->peer < 0 || step->peer >= list[r].joints))
                return HSUMMA_ERR_INTERNAL;
            for (int d = 0; d < step->deps; d++)
                if (list[r].dep[step->first_dep + d] < 0 || list[r].dep[step->first_dep + d] >= list[r].steps)
                    return HSUMMA_ERR_INTERNAL;
            *deps += step->deps + (step->kind == HS_WAIT);
        }
    }
    return *steps > INT_MAX - 2 || *deps > INT_MAX - 2 ? HSUMMA_ERR_MEMORY : HSUMMA_OK;
}

hsumma_status hs_lists_index(const struct hs_list *list, int size, const struct hs_allocator *memory,
                             struct hs_lists *lists)
{
    int64_t steps = 0, deps = 0;
    *lists = (struct hs_lists){.size = size, .list = list};
    hsumma_status status = measure(list, size, &steps, &deps);
    if (status)
        return status;
    lists->steps = (int)steps;
    lists->base = hs_get_zero(memory, (size_t)(size + 1 + 4 * steps + 2 + deps), sizeof *lists->base);
    if (!lists->base)
        return HSUMMA_ERR_MEMORY;
    lists->rank = lists->base + size + 1;
    lists->mate = lists->rank + steps;
    lists->signal = lists->mate + steps;
    lists->first_user = lists->signal + steps;
    lists->user = lists->first_user + steps + 2;
    for (int r = 0; r < size; r++) {
        lists->base[r + 1] = lists->base[r] + list[r].steps;
        for (int g = lists->base[r]; g < lists->base[r + 1]; g++)
            lists->rank[g] = r;
    }
    status = find_signals(lists, memory);
    if (!status)
        status = match(lists, memory);
    if (!status)
        find_users(lists);
    else
        hs_lists_free(memory, lists);
    return status;
}

void hs_lists_free(const struct hs_allocator *memory, struct hs_lists *lists)
{
    hs_free_all(memory, lists->owned, lists->size);
    hs_put(memory, lists->base);
    *lists = (struct hs_lists){0};
}

/* The next of the MPI steps that belong together; a step of another kind belongs to itself. */
static int next_of(const struct hs_lists *lists, int g)
{
    return hs_lists_step(lists, g)->kind == HS_MPI ? lists->mate[g] : g;
}

int hs_lists_levels(const struct hs_lists *lists, int sends_alone, int *level, int *order, int *pending)
{
    int count = 0, done = 0;
    for (int g = 0; g < lists->steps; g++) {
        const struct hs_step *step = hs_lists_step(lists, g);
        level[g] = 0;
        /* A RECV also waits for its SEND, a WAIT for its SIGNAL, an MPI step for the dependencies of matching ones. */
        pending[g] = step->deps + (step->kind == HS_RECV || step->kind == HS_WAIT);
        for (int m = next_of(lists, g); m != g; m = next_of(lists, m))
            pending[g] += hs_lists_step(lists, m)->deps;
        if (pending[g] == 0)
            order[count++] = g;
    }
    for (; done < count; done++) {
        int g = order[done], is_send = hs_lists_step(lists, g)->kind == HS_SEND, waits;
        int mate = is_send ? lists->mate[g] : -1, users = lists->first_user[g + 1] - lists->first_user[g];
        level[g] += is_send || hs_lists_step(lists, g)->kind == HS_MPI || !sends_alone;
        for (int i = 0; i < users + (mate >= 0); i++) {
            int user = i < users ? lists->user[lists->first_user[g] + i] : mate;
            waits = user;
            do {
                level[waits] = level[waits] < level[g] ? level[g] : level[waits];
                if (--pending[waits] == 0)
                    order[count++] = waits;
                waits = next_of(lists, waits);
            } while (waits != user);
        }
    }
    return done == lists->steps;
}

hsumma_status hs_lists_rounds(const struct hs_lists *lists, const struct hs_allocator *memory, int *round)
{
    int *pending = hs_get(memory, (size_t)lists->steps + 1, sizeof *pending);
    int *order = hs_get(memory, (size_t)lists->steps + 1, sizeof *order);
    hsumma_status status = pending && order ? HSUMMA_OK : HSUMMA_ERR_MEMORY;
    if (!status && !hs_lists_levels(lists, 1, round, order, pending))
        status = HSUMMA_ERR_INTERNAL;
    hs_put(memory, pending);
    hs_put(memory, order);
    return status;
}
