/* Part of verify: executes the lists of all ranks, event by event, in the order given by options.schedule. */
#include "coll/proof/verify_parts.h"

#include "base/hash.h"

#include <stdio.h>

/* Events that may be next. A step enters at most twice per instance: the array needs no wrap-around. */
struct event_queue {
    int64_t *event; /* 2 * (instance * steps + global step), plus 1 for the transfer of its message */
    int64_t head, tail;
};

struct proof_run {
    struct hs_proof *proof;
    const struct hs_lists *lists;
    int *pending; /* number of conditions that each step still waits for, indexed by instance * steps + step; `begun`
                     and `done` likewise */
    unsigned char *begun, *done;
    int *successor;        /* for each step, the next SEND to (or RECV from) the same peer, or MPI step; -1 if none */
    int *first_open;       /* first incomplete step of each rank's list, indexed by instance * ranks + rank */
    int64_t *staged;       /* offset in `eager` of the data of each SEND, indexed by step */
    struct hs_cell *eager; /* data of eager messages in transit; eager_cells elements per instance */
    int64_t eager_cells;
    struct event_queue pool, starved;
    int starved_rank;
    uint64_t random;
};

static void push(struct proof_run *run, int instance, int g, int transfer)
{
    const struct hs_lists *lists = run->lists;
    int slow = lists->rank[g] == run->starved_rank || (transfer && lists->rank[lists->mate[g]] == run->starved_rank);
    struct event_queue *pool = slow ? &run->starved : &run->pool;
    pool->event[pool->tail++] = 2 * ((int64_t)instance * lists->steps + g) + transfer;
}

/* Removes the next event in the order of the schedule; there must be one. */
static int64_t pop(struct proof_run *run)
{
    struct event_queue *pool = run->pool.head < run->pool.tail ? &run->pool : &run->starved;
    if (run->proof->options.schedule == HS_RANDOM) {
        int64_t i = pool->head + (int64_t)(hs_random(&run->random) % (uint64_t)(pool->tail - pool->head));
        int64_t event = pool->event[i];
        pool->event[i] = pool->event[pool->head];
        pool->event[pool->head] = event;
    }
    return run->proof->options.schedule == HS_LAST_FIRST ? pool->event[--pool->tail] : pool->event[pool->head++];
}

static void release(struct proof_run *run, int instance, int g)
{
    if (--run->pending[(int64_t)instance * run->lists->steps + g] == 0)
        push(run, instance, g, 0);
}

static void complete(struct proof_run *run, int instance, int g)
{
    const struct hs_lists *lists = run->lists;
    int rank = lists->rank[g], window = run->proof->options.window;
    unsigned char *done = run->done + (int64_t)instance * lists->steps;
    int *open = &run->first_open[(int64_t)instance * lists->size + rank];

    done[g] = 1;
    for (int i = lists->first_user[g]; i < lists->first_user[g + 1]; i++)
        release(run, instance, lists->user[i]);
    for (int base = lists->base[rank]; *open < lists->list[rank].steps && done[base + *open]; ++*open)
        if (window > 0 && *open < lists->list[rank].steps - window)
            release(run, instance, base + *open + window);
}

/* Where a range of consecutive elements of a buffer begins. */
struct cell_range {
    struct hs_cell *buffer;
    int64_t element;
    enum hs_slot slot;
};

static struct cell_range place_of(const struct proof_run *run, int instance, int g, struct hs_ref ref)
{
    const struct hs_proof *proof = run->proof;
    int rank = ref.of ? ref.of - 1 : run->lists->rank[g];
    int64_t buffer = ((int64_t)instance * proof->shape->size + rank) * HS_SLOTS + ref.slot;
    return (struct cell_range){proof->cell + proof->buffer[buffer], ref.at / proof->shape->unit, ref.slot};
}

static struct hs_cell *cell_at(const struct proof_run *run, const struct cell_range *place, int64_t i)
{
    return &place->buffer[hs_view_at(run->proof, place->slot, place->element + i)];
}

static hsumma_status unwritten(struct proof_run *run, int g)
{
    return hs_wrong_at(run->proof, g, ": reads unwritten memory");
}

static void join(struct hs_cell *sum, const struct hs_cell *left, const struct hs_cell *right)
{
    uint64_t form = (left->form ^ (left->form >> 29)) * 0xbf58476d1ce4e5b9u + right->form * 0x94d049bb133111ebu;
    sum->bag = left->bag + right->bag;
    sum->form = (form ^ (form >> 31)) * 0x9e3779b97f4a7c15u;
    sum->low = left->low < right->low ? left->low : right->low;
    sum->end = left->end > right->end ? left->end : right->end;
}

static void note_order(struct proof_run *run, int g, const struct hs_cell *left, const struct hs_cell *right)
{
    if (!run->proof->report->keeps_order)
        return;
    run->proof->report->keeps_order = 0;
    hs_wrong_at(run->proof, g, ": order not kept: ranks %d..%d op %d..%d", left->low, left->end - 1, right->low,
                right->end - 1);
}

static hsumma_status reduce(struct proof_run *run, int instance, int g)
{
    const struct hs_step *step = hs_lists_step(run->lists, g);
    struct cell_range dst = place_of(run, instance, g, step->dst), left = place_of(run, instance, g, step->left),
                      right = place_of(run, instance, g, step->right);

    for (int64_t i = 0, elements = step->count / run->proof->shape->unit; i < elements; i++) {
        const struct hs_cell *a = cell_at(run, &left, i), *b = cell_at(run, &right, i);
        if (a->end == 0 || b->end == 0)
            return unwritten(run, g);
        if (a->end != b->low)
            note_order(run, g, a, b);
        join(cell_at(run, &dst, i), a, b);
    }
    return HSUMMA_OK;
}

/* An EXACT step, whose operands may have any order. */
static hsumma_status exact(struct proof_run *run, int instance, int g)
{
    const struct hs_step *step = hs_lists_step(run->lists, g);
    struct cell_range dst = place_of(run, instance, g, step->dst), left = place_of(run, instance, g, step->left);
    int64_t elements = step->count / run->proof->shape->unit;

    for (int64_t i = 0; i < elements; i++) {
        struct hs_cell sum = *cell_at(run, &left, i);
        for (int j = 0; j < step->peer; j++) {
            const struct hs_cell *one = cell_at(run, &left, j * elements + i);
            if (one->end == 0)
                return unwritten(run, g);
            if (j > 0 && sum.end != one->low)
                note_order(run, g, &sum, one);
            sum.bag += j > 0 ? one->bag : 0;
            sum.form += j > 0 ? one->form : 0;
            sum.low = sum.low < one->low ? sum.low : one->low;
            sum.end = sum.end > one->end ? sum.end : one->end;
        }
        sum.form = hs_exact_form(sum.form);
        *cell_at(run, &dst, i) = sum;
    }
    return HSUMMA_OK;
}

/* Copies the elements of step `reader`, which reads them, and checks that they have been written. */
static hsumma_status copy(struct proof_run *run, int reader, struct cell_range from, struct cell_range to)
{
    const struct hs_step *step = hs_lists_step(run->lists, reader);
    for (int64_t i = 0, elements = step->count / run->proof->shape->unit; i < elements; i++) {
        const struct hs_cell *cell = cell_at(run, &from, i);
        if (cell->end == 0)
            return unwritten(run, reader);
        *cell_at(run, &to, i) = *cell;
    }
    return HSUMMA_OK;
}

/* Executes a step that is not a message. */
static hsumma_status compute(struct proof_run *run, int instance, int g)
{
    const struct hs_step *step = hs_lists_step(run->lists, g);
    hsumma_status status = HSUMMA_OK;
    if (step->kind == HS_REDUCE)
        status = reduce(run, instance, g);
    else if (step->kind == HS_EXACT)
        status = exact(run, instance, g);
    else if (step->kind == HS_COPY)
        status = copy(run, g, place_of(run, instance, g, step->left), place_of(run, instance, g, step->dst));
    complete(run, instance, g);
    return status;
}

/* The memory of an eager message between its SEND and its RECV. */
static struct cell_range eager_of(const struct proof_run *run, int instance, int send)
{
    return (struct cell_range){run->eager + instance * run->eager_cells + run->staged[send], 0, HS_SCRATCH};
}

/* The step of the ring of MPI step g that belongs to a rank. */
static int step_of(const struct proof_run *run, int g, int rank)
{
    while (run->lists->rank[g] != rank)
        g = run->lists->mate[g];
    return g;
}

/* Performs a collective in the order of its ranks: each result is the sum of all contributions (bcast: of one). */
static hsumma_status combine(struct proof_run *run, int instance, const int *step, int size)
{
    int64_t elements = hs_lists_step(run->lists, step[0])->count / run->proof->shape->unit;
    for (int64_t i = 0; i < elements; i++) {
        struct hs_cell sum = {.end = 0};
        for (int pass = 0; pass < 2; pass++)
            for (int m = 0; m < size; m++) {
                const struct hs_step *one = hs_lists_step(run->lists, step[m]);
                struct hs_ref ref = pass ? one->dst : one->left;
                if (ref.slot == HS_SLOTS)
                    continue;
                struct cell_range place = place_of(run, instance, step[m], ref);
                struct hs_cell *cell = cell_at(run, &place, i);
                if (pass == 0 && cell->end == 0)
                    return unwritten(run, step[m]);
                if (pass == 0 && sum.end && sum.end != cell->low)
                    note_order(run, step[m], &sum, cell);
                if (pass)
                    *cell = sum;
                else if (sum.end)
                    join(&sum, &sum, cell);
                else
                    sum = *cell;
            }
    }
    return HSUMMA_OK;
}

/* Performs a collective if all its ranks have begun their MPI steps. */
static hsumma_status perform(struct proof_run *run, int instance, int g)
{
    const struct hs_joint *joint = hs_lists_joint(run->lists, g);
    int64_t first = (int64_t)instance * run->lists->steps;
    for (int m = run->lists->mate[g]; m != g; m = run->lists->mate[m])
        if (!run->begun[first + m])
            return HSUMMA_OK;
    int *step = hs_get(run->proof->memory, (size_t)joint->size, sizeof *step);
    for (int m = 0; step && m < joint->size; m++)
        step[m] = step_of(run, g, hs_joint_rank(joint, m));
    hsumma_status status = step ? combine(run, instance, step, joint->size) : HSUMMA_ERR_MEMORY;
    for (int m = 0; !status && m < joint->size; m++)
        complete(run, instance, step[m]);
    hs_put(run->proof->memory, step);
    return status;
}

static hsumma_status begin(struct proof_run *run, int instance, int g)
{
    int64_t first = (int64_t)instance * run->lists->steps;
    enum hs_kind kind = hs_lists_step(run->lists, g)->kind;
    int mate = run->lists->mate[g];

    run->begun[first + g] = 1;
    if (run->successor[g] >= 0)
        release(run, instance, run->successor[g]);
    if (kind == HS_MPI)
        return perform(run, instance, g);
    if (kind != HS_SEND && kind != HS_RECV)
        return compute(run, instance, g);
    if (run->begun[first + mate])
        push(run, instance, kind == HS_SEND ? g : mate, 1);
    if (kind == HS_RECV || !run->proof->options.eager)
        return HSUMMA_OK;
    struct cell_range from = place_of(run, instance, g, hs_lists_step(run->lists, g)->left);
    hsumma_status status = copy(run, g, from, eager_of(run, instance, g));
    complete(run, instance, g);
    return status;
}

/* Transfers the data of a message whose SEND and RECV have begun. */
static hsumma_status transfer(struct proof_run *run, int instance, int send)
{
    int receive = run->lists->mate[send], eager = run->proof->options.eager;
    struct cell_range dst = place_of(run, instance, receive, hs_lists_step(run->lists, receive)->dst);
    struct cell_range from =
        eager ? eager_of(run, instance, send) : place_of(run, instance, send, hs_lists_step(run->lists, send)->left);
    hsumma_status status = copy(run, send, from, dst);
    if (!eager)
        complete(run, instance, send);
    complete(run, instance, receive);
    return status;
}

/* A step that the incomplete step g waits for. */
static int blocker(const struct proof_run *run, int instance, int g)
{
    const struct hs_lists *lists = run->lists;
    int64_t first = (int64_t)instance * lists->steps;
    int rank = lists->rank[g], base = lists->base[rank];
    const struct hs_step *step = hs_lists_step(lists, g);

    while (run->begun[first + g] && step->kind == HS_MPI && run->begun[first + lists->mate[g]])
        g = lists->mate[g];
    if (run->begun[first + g])
        return lists->mate[g];
    for (int d = 0; d < step->deps; d++) {
        int on = base + lists->list[rank].dep[step->first_dep + d];
        if (!run->done[first + on])
            return on;
    }
    if (step->kind == HS_WAIT && !run->done[first + lists->signal[g]])
        return lists->signal[g];
    for (int before = base; before < g; before++)
        if (run->successor[before] == g && !run->begun[first + before])
            return before;
    return base + run->first_open[(int64_t)instance * lists->size + rank]; /* g is beyond the window */
}

/* Reports the cycle of steps that wait for each other, at most four of them. */
static hsumma_status report_deadlock(struct proof_run *run, int instance, int g)
{
    const struct hs_lists *lists = run->lists;
    char text[sizeof run->proof->report->text] = "";
    size_t used = 0;

    for (int i = 0; i < lists->steps; i++) /* after that many moves, g is in the cycle */
        g = blocker(run, instance, g);
    for (int i = 0, at = g; i == 0 || (at != g && i < 4); i++, at = blocker(run, instance, at)) {
        const struct hs_step *step = hs_lists_step(lists, at);
        int rank = lists->rank[at];
        char whom[32] = "";
        if (step->kind == HS_SEND || step->kind == HS_RECV)
            snprintf(whom, sizeof whom, " %s %d", step->kind == HS_SEND ? "to" : "from", step->peer);
        if (step->kind == HS_WAIT)
            snprintf(whom, sizeof whom, " for %d", step->peer);
        int n = snprintf(text + used, sizeof text - used, "%srank %d step %d (%s%s)", i ? " waits for " : "", rank,
                         at - lists->base[rank], hs_kind_name(step->kind), whom);
        used = used + (size_t)n < sizeof text ? used + (size_t)n : sizeof text - 1;
    }
    return hs_wrong(run->proof, "deadlock: %.200s waits for ...", text);
}

/* Initialises pending, successor and staged, and pushes the steps that may begin. */
static void start(struct proof_run *run, int *last_send, int *last_receive)
{
    const struct hs_lists *lists = run->lists;
    int window = run->proof->options.window, last_mpi = -1;

    for (int r = 0; r < lists->size; r++)
        last_send[r] = last_receive[r] = -1;
    for (int g = 0; g < lists->steps; g++) {
        const struct hs_step *step = hs_lists_step(lists, g);
        int in_list = g - lists->base[lists->rank[g]];
        run->successor[g] = -1;
        run->pending[g] = step->deps + (step->kind == HS_WAIT) + (window > 0 && in_list >= window);
        if (step->kind == HS_SEND || step->kind == HS_RECV || step->kind == HS_MPI) {
            int *last = step->kind == HS_MPI    ? &last_mpi
                        : step->kind == HS_SEND ? &last_send[step->peer]
                                                : &last_receive[step->peer];
            if (*last >= lists->base[lists->rank[g]]) { /* *last is a step of this rank */
                run->successor[*last] = g;
                run->pending[g]++;
            }
            *last = g;
        }
        run->staged[g] = run->eager_cells;
        if (step->kind == HS_SEND && run->proof->options.eager)
            run->eager_cells += step->count / run->proof->shape->unit;
    }
    for (int instance = 0; instance < run->proof->options.instances; instance++)
        for (int g = 0; g < lists->steps; g++) {
            run->pending[(int64_t)instance * lists->steps + g] = run->pending[g];
            if (run->pending[g] == 0)
                push(run, instance, g, 0);
        }
}

static hsumma_status go(struct proof_run *run)
{
    int64_t steps = run->lists->steps, all = steps * run->proof->options.instances;
    hsumma_status status = HSUMMA_OK;

    while (!status && (run->pool.head < run->pool.tail || run->starved.head < run->starved.tail)) {
        int64_t event = pop(run);
        int instance = (int)(event / 2 / steps), g = (int)(event / 2 % steps);
        status = event % 2 ? transfer(run, instance, g) : begin(run, instance, g);
    }
    for (int64_t i = 0; i < all && !status; i++)
        if (!run->done[i])
            status = report_deadlock(run, (int)(i / steps), (int)(i % steps));
    return status;
}

hsumma_status hs_verify_run(struct hs_proof *proof)
{
    const struct hs_allocator *memory = proof->memory;
    const struct hs_lists *lists = &proof->lists;
    size_t steps = (size_t)lists->steps, instances = (size_t)proof->options.instances, size = (size_t)lists->size;
    struct proof_run run = {.proof = proof, .lists = lists, .starved_rank = -1, .random = proof->options.seed};
    hsumma_status status = HSUMMA_ERR_MEMORY;

    if (steps == 0)
        return HSUMMA_OK;
    if (proof->options.schedule == HS_STARVE_ONE)
        run.starved_rank = (int)(proof->options.seed % size);
    int *last = hs_get(memory, 2 * size, sizeof *last);
    run.pending = hs_get(memory, instances * steps, sizeof *run.pending);
    run.begun = hs_get_zero(memory, instances * steps, 2);
    run.done = run.begun ? run.begun + instances * steps : NULL;
    run.successor = hs_get(memory, steps, sizeof *run.successor);
    run.first_open = hs_get_zero(memory, instances * size, sizeof *run.first_open);
    run.staged = hs_get(memory, steps, sizeof *run.staged);
    run.pool.event = hs_get(memory, 4 * instances * steps, sizeof *run.pool.event);
    if (last && run.pending && run.begun && run.successor && run.first_open && run.staged && run.pool.event) {
        run.starved.event = run.pool.event + 2 * instances * steps;
        start(&run, last, last + size);
        run.eager = hs_get(memory, instances * (size_t)run.eager_cells + 1, sizeof *run.eager);
        if (run.eager)
            status = go(&run);
    }
    hs_put(memory, last);
    hs_put(memory, run.pending);
    hs_put(memory, run.begun);
    hs_put(memory, run.successor);
    hs_put(memory, run.first_open);
    hs_put(memory, run.staged);
    hs_put(memory, run.pool.event);
    hs_put(memory, run.eager);
    return status;
}
