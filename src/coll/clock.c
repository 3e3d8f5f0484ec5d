#include "coll/clock_parts.h"

/* A rank's ports and its arithmetic are served in list order: three queues.  The other steps wait in none. */
enum queue { OUT_PORT, IN_PORT, ARITHMETIC, QUEUES };

struct clock {
    const struct hs_lists *lists;
    const struct hs_machine *machine;
    const struct hs_topology *topology;
    struct hs_link link[HS_TIER_KINDS];
    struct hs_flow flow;
    int *pending; /* what has not ended yet of what the step waits for; -1: a message whose other end has to begin it */
    int *next;    /* the step that takes this one's place in its queue, -1: none */
    int *ready;   /* steps with nothing pending whose turn has not come */
    double *time; /* when the step may begin, as known so far */
    int readies, finished;
    double end;
};

static enum queue queue_of(enum hs_kind kind)
{
    static const unsigned char queue[HS_KINDS] = {
        [HS_SEND] = OUT_PORT, [HS_RECV] = IN_PORT, [HS_COPY] = ARITHMETIC, [HS_REDUCE] = ARITHMETIC,
        [HS_SIGNAL] = QUEUES, [HS_WAIT] = QUEUES,  [HS_JOIN] = QUEUES,     [HS_MPI] = QUEUES};
    return (enum queue)queue[kind];
}

/* Where step g of rank r waits besides its dependencies: returns how many steps it waits for. */
static int enqueue(struct clock *clock, int g, int *served, int *before)
{
    const struct hs_lists *lists = clock->lists;
    const struct hs_step *step = hs_lists_step(lists, g);
    enum queue queue = queue_of(step->kind);
    int places = queue != ARITHMETIC && clock->machine->ports > 1 ? clock->machine->ports : 1;

    if (queue == QUEUES)
        return 0;
    if (served[queue]++ < places) {
        if (served[queue] == 1)
            before[queue] = g;
        return 0;
    }
    clock->next[before[queue]] = g;
    do
        before[queue]++;
    while (queue_of(hs_lists_step(lists, before[queue])->kind) != queue);
    return 1;
}

static hsumma_status start(struct clock *clock)
{
    const struct hs_lists *lists = clock->lists;
    for (int g = 0; g < lists->steps; g++) {
        clock->next[g] = -1;
        clock->time[g] = 0;
        if (hs_lists_step(lists, g)->kind == HS_MPI)
            return HSUMMA_ERR_UNSUPPORTED;
    }
    for (int r = 0; r < lists->size; r++) {
        int served[QUEUES] = {0}, before[QUEUES];
        for (int g = lists->base[r]; g < lists->base[r + 1]; g++) {
            const struct hs_step *step = hs_lists_step(lists, g);
            clock->pending[g] = step->deps + enqueue(clock, g, served, before);
            if (step->kind == HS_WAIT && lists->signal[g] < 0)
                return HSUMMA_ERR_INTERNAL;
            clock->pending[g] += step->kind == HS_WAIT;
        }
    }
    for (int g = 0; g < lists->steps; g++)
        if (clock->pending[g] == 0)
            clock->ready[clock->readies++] = g;
    return HSUMMA_OK;
}

static void release(struct clock *clock, int g, double now)
{
    if (clock->time[g] < now)
        clock->time[g] = now;
    if (--clock->pending[g] == 0)
        clock->ready[clock->readies++] = g;
}

static void finish(struct clock *clock, int g, double now)
{
    const struct hs_lists *lists = clock->lists;
    for (int i = lists->first_user[g]; i < lists->first_user[g + 1]; i++) {
        int user = lists->user[i];
        release(clock, user, lists->signal[user] == g ? now + clock->machine->signal : now);
    }
    if (clock->next[g] >= 0)
        release(clock, clock->next[g], now);
    if (clock->end < now)
        clock->end = now;
    clock->finished++;
}

/* What a step takes that is no message. */
static double work(const struct clock *clock, const struct hs_step *step)
{
    const struct hs_machine *machine = clock->machine;
    int priced = machine->shm.alpha > 0 || machine->shm.beta > 0;

    if (step->kind == HS_REDUCE)
        return (double)step->count * machine->gamma;
    if (step->kind != HS_COPY)
        return 0;
    if (priced && hs_copies_shared(step))
        return machine->shm.alpha + (double)step->count * machine->shm.beta;
    return (double)step->count * machine->copy;
}

/*
 * A message takes place when both its ends are ready, and ends for both at once.  The end that is taken first from the
 * pile passes its time to the other, which then begins it.
 */
static hsumma_status message(struct clock *clock, int g)
{
    const struct hs_lists *lists = clock->lists;
    const struct hs_step *step = hs_lists_step(lists, g);
    int mate = lists->mate[g];
    double begin = clock->time[g], bytes = (double)step->count;

    if (mate < 0 || hs_lists_step(lists, mate)->count != step->count)
        return HSUMMA_ERR_INTERNAL;
    if (clock->pending[mate] >= 0) {
        clock->pending[g] = -1;
        if (clock->time[mate] < begin)
            clock->time[mate] = begin;
        return HSUMMA_OK;
    }
    enum hs_tier_kind tier = hs_tier_of(clock->topology, lists->rank[g], step->peer);
    begin += clock->link[tier].alpha;
    if (tier == HS_BETWEEN_NODES && clock->machine->inject > 0) {
        int send = step->kind == HS_SEND ? g : mate;
        hs_flow_come(&clock->flow, hs_node_of(clock->topology, lists->rank[send]), send, bytes, begin);
        return HSUMMA_OK;
    }
    begin += bytes * clock->link[tier].beta;
    finish(clock, g, begin);
    finish(clock, mate, begin);
    return HSUMMA_OK;
}

/*
 * Gives every step its time.  What is ready may be taken in any order: its time depends on nothing else.  Only
 * messages that share a node's bandwidth have to be taken in the order of their times; when nothing else is ready,
 * whatever comes later waits for one of those that are under way, so the first of them is sure.
 */
static hsumma_status run(struct clock *clock)
{
    hsumma_status status = HSUMMA_OK;
    while (!status) {
        double now;
        int left = -1;
        if (clock->readies > 0) {
            int g = clock->ready[--clock->readies];
            const struct hs_step *step = hs_lists_step(clock->lists, g);
            if (step->kind == HS_SEND || step->kind == HS_RECV)
                status = message(clock, g);
            else
                finish(clock, g, clock->time[g] + work(clock, step));
        } else if (clock->machine->inject > 0 && (left = hs_flow_leave(&clock->flow, &now)) >= 0) {
            finish(clock, left, now);
            finish(clock, clock->lists->mate[left], now);
        } else {
            break;
        }
    }
    return status || clock->finished == clock->lists->steps ? status : HSUMMA_ERR_INTERNAL;
}

static int given(struct hs_link link)
{
    return link.alpha > 0 || link.beta > 0;
}

static hsumma_status time_lists(const struct hs_lists *lists, const struct hs_topology *topology,
                                const struct hs_machine *machine, const struct hs_allocator *memory, double *seconds)
{
    size_t steps = (size_t)lists->steps + 1;
    struct clock clock = {.lists = lists, .machine = machine, .topology = topology};
    struct hs_link *link = clock.link;
    link[HS_BETWEEN_NODES] = (struct hs_link){machine->alpha, machine->beta};
    link[HS_IN_NODE] = given(machine->node) ? machine->node : link[HS_BETWEEN_NODES];
    link[HS_IN_SOCKET] = given(machine->socket) ? machine->socket : link[HS_IN_NODE];

    clock.pending = hs_get(memory, steps, sizeof *clock.pending);
    clock.next = hs_get(memory, steps, sizeof *clock.next);
    clock.ready = hs_get(memory, steps, sizeof *clock.ready);
    clock.time = hs_get(memory, steps, sizeof *clock.time);
    hsumma_status status = clock.pending && clock.next && clock.ready && clock.time ? HSUMMA_OK : HSUMMA_ERR_MEMORY;
    if (!status && machine->inject > 0)
        status = hs_flow_begin(&clock.flow, machine, lists->size, lists->steps, memory);
    if (!status)
        status = start(&clock);
    if (!status)
        status = run(&clock);
    *seconds = clock.end;
    hs_flow_end(&clock.flow, memory);
    hs_put(memory, clock.pending);
    hs_put(memory, clock.next);
    hs_put(memory, clock.ready);
    hs_put(memory, clock.time);
    return status;
}

hsumma_status hs_clock(const struct hs_alg *alg, const struct hs_shape *shape, const struct hs_machine *machine,
                       const struct hs_allocator *memory, struct hs_clock_report *report)
{
    struct hs_lists lists;
    *report = (struct hs_clock_report){0};
    if (alg->flags & HS_BY_MPI)
        return HSUMMA_ERR_UNSUPPORTED;
    if (shape->topology && shape->topology->size != shape->size)
        return HSUMMA_ERR_INTERNAL;
    hsumma_status status = hs_lists_build(alg, shape, memory, &lists);
    if (status)
        return status;
    status = time_lists(&lists, shape->topology, machine, memory, &report->seconds);
    if (!status)
        status = hs_clock_count(&lists, shape->topology, memory, report);
    hs_lists_free(memory, &lists);
    return status;
}
