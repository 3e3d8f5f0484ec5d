#include "coll/clock.h"

#include "coll/lists.h"

/* A rank's ports and its arithmetic are served in list order: three queues. */
enum queue { OUT_PORT, IN_PORT, ARITHMETIC, QUEUES };

struct clock {
    const struct hs_lists *lists;
    const struct hs_machine *machine;
    int *pending; /* dependencies, and the step before in its queue, that have not ended yet */
    int *next;    /* the step behind in its queue, -1: none */
    int *ready;   /* steps with nothing pending whose turn has not come */
    double *time; /* when the step may begin, as known so far */
    int readies;
    double end;
};

static enum queue queue_of(enum hs_kind kind)
{
    return kind == HS_SEND ? OUT_PORT : kind == HS_RECV ? IN_PORT : ARITHMETIC;
}

static void start(struct clock *clock)
{
    const struct hs_lists *lists = clock->lists;
    for (int r = 0; r < lists->size; r++) {
        int last[QUEUES] = {-1, -1, -1};
        for (int g = lists->base[r]; g < lists->base[r + 1]; g++) {
            const struct hs_step *step = hs_lists_step(lists, g);
            int *before = &last[queue_of(step->kind)];
            clock->next[g] = -1;
            clock->time[g] = 0;
            clock->pending[g] = step->deps + (*before >= 0);
            if (*before >= 0)
                clock->next[*before] = g;
            *before = g;
            if (clock->pending[g] == 0)
                clock->ready[clock->readies++] = g;
        }
    }
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
    for (int i = lists->first_user[g]; i < lists->first_user[g + 1]; i++)
        release(clock, lists->user[i], now);
    if (clock->next[g] >= 0)
        release(clock, clock->next[g], now);
    if (clock->end < now)
        clock->end = now;
}

/* Gives every step its time.  A message takes place when both its ends are ready, and ends for both at once. */
static hsumma_status run(struct clock *clock)
{
    const struct hs_machine *machine = clock->machine;
    int finished = 0;

    while (clock->readies > 0) {
        int g = clock->ready[--clock->readies], mate = clock->lists->mate[g];
        const struct hs_step *step = hs_lists_step(clock->lists, g);
        double count = (double)step->count, begin = clock->time[g];
        if (step->kind == HS_COPY || step->kind == HS_REDUCE) {
            finish(clock, g, begin + count * (step->kind == HS_COPY ? machine->copy : machine->gamma));
            finished++;
            continue;
        }
        if (mate < 0 || hs_lists_step(clock->lists, mate)->count != step->count)
            return HSUMMA_ERR_INTERNAL;
        /* The end that is taken first from the pile passes its time to the other, which then finishes both. */
        if (clock->pending[mate] >= 0) {
            clock->pending[g] = -1;
            if (clock->time[mate] < begin)
                clock->time[mate] = begin;
            continue;
        }
        double now = begin + machine->alpha + count * machine->beta;
        finish(clock, g, now);
        finish(clock, mate, now);
        finished += 2;
    }
    return finished == clock->lists->steps ? HSUMMA_OK : HSUMMA_ERR_INTERNAL;
}

static void count_messages(const struct hs_lists *lists, struct hs_clock_report *report)
{
    for (int r = 0; r < lists->size; r++) {
        int64_t messages = 0, bytes = 0;
        for (int i = 0; i < lists->list[r].steps; i++)
            if (lists->list[r].step[i].kind == HS_SEND) {
                messages++;
                bytes += lists->list[r].step[i].count;
            }
        report->messages += messages;
        report->bytes += bytes;
        if (report->messages_rank_max < messages)
            report->messages_rank_max = messages;
        if (report->bytes_rank_max < bytes)
            report->bytes_rank_max = bytes;
    }
}

hsumma_status hs_clock(const struct hs_alg *alg, const struct hs_shape *shape, const struct hs_machine *machine,
                       const struct hs_allocator *memory, struct hs_clock_report *report)
{
    struct hs_lists lists;
    *report = (struct hs_clock_report){0};
    hsumma_status status = hs_lists_build(alg, shape, memory, &lists);
    if (status)
        return status;

    size_t steps = (size_t)lists.steps + 1;
    struct clock clock = {.lists = &lists, .machine = machine};
    clock.pending = hs_get(memory, steps, sizeof *clock.pending);
    clock.next = hs_get(memory, steps, sizeof *clock.next);
    clock.ready = hs_get(memory, steps, sizeof *clock.ready);
    clock.time = hs_get(memory, steps, sizeof *clock.time);
    status = HSUMMA_ERR_MEMORY;
    if (clock.pending && clock.next && clock.ready && clock.time) {
        start(&clock);
        status = run(&clock);
        report->seconds = clock.end;
        count_messages(&lists, report);
    }
    hs_put(memory, clock.pending);
    hs_put(memory, clock.next);
    hs_put(memory, clock.ready);
    hs_put(memory, clock.time);
    hs_lists_free(memory, &lists);
    return status;
}
