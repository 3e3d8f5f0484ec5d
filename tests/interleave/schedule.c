#include "interleave/schedule.h"

#include "support/random.h"

#include <string.h>

enum { DEPTH_MOST = 4, SWEEPS = 3, LOOKS = 200, NESTED_OF = 32, STEPS_MOST = 20000000 };

static struct {
    struct scene *scene;
    uint64_t random;
    /* Actors 0 to ranks - 1 are the ranks, actor `ranks` is the network; `left` ranks are not done. */
    int ranks, left;
    int done[PROCESSES_MOST], inside[PROCESSES_MOST];
    uint64_t changes;
    int stirred[PROCESSES_MOST]; /* for each rank: something that it can see has changed since its last step */
    int strict; /* nonzero: the first actor of `order` that can continue is next; 0: an actor is drawn by weight */
    int order[PROCESSES_MOST + 1], weight[PROCESSES_MOST + 1];
    int redraw; /* order and weights are redrawn once in this number of picks, on average */
    int nested; /* other ranks run at `nested` of NESTED_OF places where a rank works, reads a counter or calls MPI */
    int depth;
    int64_t steps, all_steps;
    int asleep[PROCESSES_MOST]; /* for each rank: it would sleep until a counter reaches its awaited value */
    struct scene_awaited awaited[PROCESSES_MOST];
    char fault[400];
} plan;

static void draw_order(void)
{
    static const int weights[] = {1, 1, 4, 16, 64};
    for (int i = 0; i <= plan.ranks; i++) {
        int j = draw_of(&plan.random, i + 1);
        plan.order[i] = plan.order[j];
        plan.order[j] = i;
        plan.weight[i] = weights[draw_of(&plan.random, 5)];
    }
}

static int can_go_on(int actor)
{
    if (actor == plan.ranks)
        return network_can_deliver();
    return !plan.done[actor] && !plan.inside[actor] && plan.stirred[actor];
}

/* Picks the next actor among those that can continue; -1 if none can. */
static int pick(void)
{
    int sum = 0, among[PROCESSES_MOST + 1], count = 0;
    if (draw_of(&plan.random, plan.redraw) == 0)
        draw_order();
    for (int i = 0; i <= plan.ranks; i++) {
        int actor = plan.order[i];
        if (!can_go_on(actor))
            continue;
        if (plan.strict)
            return actor;
        among[count++] = actor;
        sum += plan.weight[actor];
    }
    if (count == 0)
        return -1;
    int at = draw_of(&plan.random, sum), i = 0;
    for (; at >= plan.weight[among[i]]; i++)
        at -= plan.weight[among[i]];
    return among[i];
}

/* Reports a fault if the rank, which has just worked, would have been asleep, because none of its counters has reached
 * the awaited value. */
static void check_sleep(int actor)
{
    char text[300];
    if (!plan.asleep[actor] || scene_has_come(&plan.awaited[actor]) || plan.fault[0])
        return;
    scene_describe_awaited(&plan.awaited[actor], text, sizeof text);
    snprintf(plan.fault, sizeof plan.fault, "rank %d could go on, but would have slept until%s", actor, text);
}

void schedule_stir(int rank)
{
    plan.stirred[rank] = 1;
}

/* Marks all ranks of this rank's node as stirred, because they can read its counters. */
static void stir_node(int rank)
{
    for (int r = 0; r < plan.ranks; r++)
        plan.stirred[r] |= plan.scene->node[r] == plan.scene->node[rank];
}

static void step(int actor)
{
    plan.steps++;
    if (actor == plan.ranks) {
        plan.changes += (uint64_t)network_deliver();
        return;
    }
    int before = network_as(actor), worked = 0, done = 0;
    plan.stirred[actor] = 0;
    plan.inside[actor] = 1;
    hsumma_status status = scene_step(plan.scene, actor, &worked, &done);
    plan.inside[actor] = 0;
    network_as(before);
    if (status == HSUMMA_ERR_MPI && network_failed() >= 0)
        done = 1;
    else if (status && !plan.fault[0])
        snprintf(plan.fault, sizeof plan.fault, "rank %d failed: status %d", actor, (int)status);
    if (worked)
        check_sleep(actor);
    plan.asleep[actor] = !worked && scene_sleeps(plan.scene, actor, &plan.awaited[actor]);
    plan.done[actor] = done;
    plan.left -= done;
    if (worked || done)
        stir_node(actor);
    if (network_withheld(actor))
        schedule_stir(actor);
    plan.changes += (uint64_t)worked;
}

void schedule_yield(double seconds)
{
    (void)seconds;
    if (plan.nested == 0 || plan.depth >= DEPTH_MOST || draw_of(&plan.random, NESTED_OF) >= plan.nested)
        return;
    plan.depth++;
    for (int i = 1 + draw_of(&plan.random, 6), actor; i > 0 && (actor = pick()) >= 0; i--)
        step(actor);
    plan.depth--;
}

void schedule_look(void)
{
    schedule_yield(0);
}

/* When no rank can continue, steps every rank again, up to `sweeps` times, while MPI_Testsome returns every completed
 * request. Returns 0 if still none can. */
static int sweep(void)
{
    uint64_t before = plan.changes;
    int left = plan.left,
        sweeps = network_failed() < 0 ? SWEEPS : LOOKS; /* a rank checks for failures only once in many polls */
    network_hurry(1);
    for (int i = 0; i < sweeps && plan.changes == before && plan.left == left; i++)
        for (int r = 0; r < plan.ranks; r++)
            if (!plan.done[r])
                step(r);
    network_hurry(0);
    return plan.changes != before || plan.left != left;
}

/* Ends an interleaving in which no rank can continue. After an MPI failure, ranks of other nodes may be blocked,
 * because they wait for messages of the failed rank; all other cases are faults. */
static void end_blocked(void)
{
    int failed = network_failed();
    if (failed < 0)
        snprintf(plan.fault, sizeof plan.fault, "deadlock: %d of %d ranks are not done", plan.left, plan.ranks);
    for (int r = 0; failed >= 0 && r < plan.ranks; r++)
        if (!plan.done[r] && plan.scene->node[r] == plan.scene->node[failed])
            snprintf(plan.fault, sizeof plan.fault, "rank %d waits although rank %d of its node has failed", r, failed);
    plan.left = 0;
}

static const char *complaint(void)
{
    if (plan.fault[0])
        return plan.fault;
    return plan.scene->fault[0] ? plan.scene->fault : network_fault();
}

static void begin(struct scene *scene, uint64_t seed, enum network_lie lie)
{
    static const int nested[] = {0, 0, 1, 4, 16};
    struct network_manner manner;
    plan.scene = scene;
    plan.random = seed;
    plan.ranks = plan.left = scene->ranks;
    memset(plan.done, 0, sizeof plan.done);
    memset(plan.inside, 0, sizeof plan.inside);
    memset(plan.asleep, 0, sizeof plan.asleep);
    plan.changes = 0;
    for (int r = 0; r < plan.ranks; r++)
        plan.stirred[r] = 1;
    plan.strict = draw_of(&plan.random, 2);
    plan.redraw = draw_of(&plan.random, 3) ? 10 + draw_of(&plan.random, 200) : 1 << 30;
    plan.nested = nested[draw_of(&plan.random, 5)];
    plan.depth = 0;
    plan.steps = 0;
    plan.fault[0] = 0;
    draw_order();
    manner.eager = draw_of(&plan.random, 3) * 4;
    manner.withheld = draw_of(&plan.random, 2) * draw_of(&plan.random, 8);
    manner.order = draw_of(&plan.random, 5) - 2;
    manner.lie = lie;
    network_begin(&manner, &plan.random);
    scene_rewind(scene);
}

const char *schedule_run(struct scene *scene, uint64_t seed, enum network_lie lie)
{
    begin(scene, seed, lie);
    while (plan.left > 0 && !complaint()) {
        int actor = pick();
        if (actor >= 0)
            step(actor);
        else if (!sweep())
            end_blocked();
        if (plan.steps > STEPS_MOST)
            snprintf(plan.fault, sizeof plan.fault, "no end after %d steps", STEPS_MOST);
    }
    while (network_deliver())
        continue;
    plan.all_steps += plan.steps;
    return complaint() || network_failed() >= 0 ? complaint() : network_left_over();
}

int64_t schedule_steps(void)
{
    return plan.all_steps;
}

void schedule_describe(void (*line)(const char *text))
{
    char text[SCENE_TEXT];
    for (int r = 0; r < plan.ranks; r++) {
        scene_describe_rank(plan.scene, r, text, sizeof text);
        line(text);
    }
}
