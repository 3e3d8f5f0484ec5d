#include "coll/model/clock_parts.h"

#include <math.h>

struct clock {
    struct hs_clock_steps steps;
    struct hs_flow flow;
    struct hs_devices devices;
    const struct hs_topology *topology;
    const struct hs_machine *machine;
    int *ready; /* stack of steps that are ready (nothing pending) but not yet processed */
    int readies, finished;
    double end;
};

static void release(struct clock *clock, int g, double now)
{
    struct hs_clock_step *step = &clock->steps.step[g];
    if (step->time < now)
        step->time = now;
    if (--step->pending == 0)
        clock->ready[clock->readies++] = g;
}

/* Ends a step at time `now`. The step's place in its queue is free from time `free` on. */
static void finish(struct clock *clock, int g, double now, double free)
{
    const struct hs_clock_step *step = &clock->steps.step[g];
    for (int use = step->first_use; use >= 0; use = clock->steps.use[use].next)
        release(clock, clock->steps.use[use].user, now);
    if (step->kind == HS_SIGNAL)
        for (int wait = step->next; wait >= 0; wait = clock->steps.step[wait].next)
            release(clock, wait, now + clock->machine->signal);
    else if (step->kind != HS_WAIT && step->next >= 0)
        release(clock, step->next, free);
    if (clock->end < now)
        clock->end = now;
    clock->finished++;
}

/* Processes a step that is not a message. */
static void finish_alone(struct clock *clock, int g)
{
    const struct hs_clock_step *step = &clock->steps.step[g];
    double seconds = step->kind == HS_SIGNAL || step->kind == HS_WAIT ? 0 : step->seconds;
    /* a SIGNAL is an event that the device records in its rank's turn, at once if it is that rank's */
    if (clock->machine->devices > 0 &&
        (step->kind == HS_SIGNAL ? hs_devices_serve_another(&clock->devices, clock->steps.rank[g]) : step->price > 0))
        hs_devices_ask(&clock->devices, clock->steps.rank[g], g, step->time, seconds);
    else
        finish(clock, g, step->time + seconds, step->time + seconds);
}

/* Processes one of several matching MPI steps. The last of them to become ready starts and ends all of them. */
static void together(struct clock *clock, int g)
{
    const int *mate = clock->steps.mate;
    struct hs_clock_step *step = clock->steps.step;
    double end = step[g].time;
    step[g].pending = -1;
    for (int m = mate[g]; m != g; m = mate[m]) {
        if (step[m].pending >= 0)
            return;
        end = step[m].time > end ? step[m].time : end;
    }
    end += step[g].seconds;
    int next, m = g;
    do {
        next = mate[m];
        finish(clock, m, end, end);
    } while ((m = next) != g);
}

/*
 * Processes one end of a message. The message starts when both ends are ready, and without a gap it ends for both at
 * the same time. The end processed first stores its time in the other end, which later starts the message. Ranks
 * outside the sample are always ready.
 */
static hsumma_status message(struct clock *clock, int g)
{
    const struct hs_clock_steps *steps = &clock->steps;
    int mate = steps->mate[g];
    struct hs_clock_step *step = &steps->step[g], *other = mate < 0 ? NULL : &steps->step[mate];
    if (mate != HS_CLOCK_OUTSIDE && (!other || other->count != step->count))
        return HSUMMA_ERR_INTERNAL;
    double begin = step->time, bytes = (double)step->count;

    if (other && other->pending >= 0) {
        step->pending = -1;
        if (other->time < begin)
            other->time = begin;
        return HSUMMA_OK;
    }
    const struct hs_link *price = &steps->price[step->price];
    int send = step->kind == HS_SEND ? g : mate;
    if (step->price >= 2 * HS_BETWEEN_NODES && clock->machine->inject > 0 && send >= 0) {
        hs_flow_come(&clock->flow, hs_node_of(clock->topology, steps->rank[send]), send, step->price % 2, bytes,
                     begin + price->alpha);
        return HSUMMA_OK;
    }
    double arrived = begin + price->alpha + bytes * price->beta;
    double free = price->gap > 0 ? begin + price->gap + bytes * price->beta : arrived;
    finish(clock, g, step->kind == HS_SEND ? free : arrived, free);
    if (other)
        finish(clock, mate, other->kind == HS_SEND ? free : arrived, free);
    return HSUMMA_OK;
}

/*
 * Computes the time of every step. Ready steps may be processed in any order, since their times are already determined.
 * Only messages that share a node's bandwidth, and work on shared devices, must be processed in time order: when no
 * step is ready, all later events depend on a message or work in progress, so the earliest end among these is final.
 */
static hsumma_status run(struct clock *clock)
{
    const struct hs_clock_step *step = clock->steps.step;
    hsumma_status status = HSUMMA_OK;
    for (int g = 0; g < clock->steps.steps; g++)
        if (step[g].pending == 0)
            clock->ready[clock->readies++] = g;
    while (!status) {
        double now, until = clock->machine->devices > 0 ? hs_devices_next(&clock->devices) : HUGE_VAL;
        int left = -1;
        if (clock->readies > 0) {
            int g = clock->ready[--clock->readies];
            if (step[g].kind == HS_SEND || step[g].kind == HS_RECV)
                status = message(clock, g);
            else if (step[g].kind == HS_MPI)
                together(clock, g);
            else
                finish_alone(clock, g);
        } else if (clock->machine->inject > 0 && (left = hs_flow_leave(&clock->flow, until, &now)) >= 0) {
            int mate = clock->steps.mate[left];
            finish(clock, left, now, now);
            if (mate >= 0)
                finish(clock, mate, now, now);
        } else if (clock->machine->devices > 0 && (left = hs_devices_serve(&clock->devices, &now)) >= 0) {
            finish(clock, left, now, now);
        } else {
            break;
        }
    }
    return status || clock->finished == clock->steps.steps ? status : HSUMMA_ERR_INTERNAL;
}

hsumma_status hs_clock_sample(const struct hs_alg *alg, const struct hs_shape *shape, const struct hs_machine *machine,
                              const struct hs_allocator *memory, const unsigned char *sample,
                              struct hs_clock_result *result, struct hs_clock_report *report)
{
    struct clock clock = {.topology = shape->topology, .machine = machine};
    hsumma_status status = hs_clock_steps_build(&clock.steps, alg, shape, machine, memory, sample, report);
    if (!status) {
        clock.ready = hs_get(memory, (size_t)clock.steps.steps + 1, sizeof *clock.ready);
        status = clock.ready ? HSUMMA_OK : HSUMMA_ERR_MEMORY;
    }
    if (!status && machine->inject > 0)
        status = hs_flow_begin(&clock.flow, machine, shape->size, clock.steps.steps, memory);
    if (!status && machine->devices > 0)
        status = hs_devices_begin(&clock.devices, machine, shape->topology, shape->size, clock.steps.steps, memory);
    if (!status)
        status = run(&clock);
    *result = (struct hs_clock_result){
        .seconds = status ? 0 : clock.end, .steps = clock.steps.steps, .load = clock.steps.load};
    hs_flow_end(&clock.flow, memory);
    hs_devices_end(&clock.devices, memory);
    hs_put(memory, clock.ready);
    hs_clock_steps_free(&clock.steps, memory);
    return status;
}

hsumma_status hs_clock(const struct hs_alg *alg, const struct hs_shape *shape, const struct hs_machine *machine,
                       const struct hs_allocator *memory, struct hs_clock_report *report)
{
    struct hs_clock_report counted = {0};
    struct hs_clock_result result;
    hsumma_status status = hs_clock_sample(alg, shape, machine, memory, NULL, &result, &counted);
    counted.seconds = result.seconds;
    *report = status ? (struct hs_clock_report){0} : counted;
    return status;
}

hsumma_status hs_clock_seconds(const struct hs_alg *alg, const struct hs_shape *shape, const struct hs_machine *machine,
                               const struct hs_allocator *memory, double *seconds, struct hs_clock_load *load)
{
    struct hs_clock_result result;
    hsumma_status status = hs_clock_sample(alg, shape, machine, memory, NULL, &result, NULL);
    *seconds = result.seconds;
    if (load)
        *load = result.load;
    return status;
}
