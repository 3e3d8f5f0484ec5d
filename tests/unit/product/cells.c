/*
 * Proves the collectives between cells for random products, hierarchies and nodes of any shape. The lists of each panel
 * on each level are taken from the loops of all processes and verified as one collective over cells. Each cell has one
 * carrier; all carriers use the same tag, and none sends to its own node.
 *
 *     cells [CASES [FIRST]]
 */
#include "coll/proof/verify.h"
#include "interleave/scene.h"
#include "summa/messages/preview.h"
#include "support/random.h"
#include "support/tap.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { USUAL = 1200, ROWS = 64 };

/* Numbers of proven panels, by algorithm: all, those with unequal cells, those with scattered cells. */
static struct {
    const struct hs_alg *row;
    int64_t proven, unequal, scattered;
} rows[ROWS];

static void note_row(const struct hs_alg *row, const struct hs_division *division)
{
    int i = 0;
    while (rows[i].row && rows[i].row != row && i < ROWS - 1)
        i++;
    rows[i].row = row;
    rows[i].proven++;
    rows[i].unequal += !division->even;
    rows[i].scattered += !division->contiguous;
}

/* A level of a line, from the point of view of one of its processes. */
struct line_level {
    const struct scene *scene;
    const struct job *job;
    const struct seat *seats;
    const struct hs_mover *mover; /* the mover of that process */
    int level, o;
    struct hs_group group; /* the carriers of panel o */
};

static const struct hs_channel *channel_of_level(const struct hs_loop *loop, int operand, int level)
{
    const struct hs_conveyor *conveyor = &loop->conveyor[operand - (loop->variant.stationary < operand)];
    return &conveyor->channel[operand == HS_C ? conveyor->channels - 2 - level : level + 1];
}

/* The group member at a place of the grid; -1 if the process there is not a carrier. */
static int member_at(const struct hs_group *group, int place)
{
    for (int m = 0; m < group->size; m++)
        if (hs_group_place(group, m) == place)
            return m;
    return -1;
}

/* Makes the list of a carrier, with indices in the group as peers. Returns NULL, or a description of the error. */
static const char *take_list(const struct line_level *at, int member, struct hs_list *list)
{
    int place = hs_group_place(&at->group, member), node = at->scene->node[at->job->rank[place]];
    const struct hs_loop *loop = &at->seats[place].loop[0];
    if (hs_preview_part(loop, at->mover->operand, at->level, at->o, &case_pool, list))
        return "no memory for a list";
    for (int i = 0; i < list->steps; i++) {
        struct hs_step *step = &list->step[i];
        if (step->kind != HS_SEND && step->kind != HS_RECV)
            continue;
        if (at->scene->node[at->job->rank[step->peer]] == node)
            return "a message inside a node";
        step->peer = member_at(&at->group, step->peer);
        if (step->peer < 0)
            return "a message to a rank that carries nothing";
    }
    return NULL;
}

/* Checks that in the cells of the group only the carriers have a list, that either all of them have one or none has,
 * and that all use the same tag. *taking_part becomes the number of carriers with a list. */
static const char *wrong_carriers(const struct line_level *at, int *taking_part)
{
    const struct hs_division *division = at->mover->cells->division;
    int axis = at->mover->role->line_axis, other = at->mover->problem->grid.coord[1 - axis];
    int id = channel_of_level(&at->seats[hs_group_place(&at->group, 0)].loop[0], at->mover->operand, at->level)->id;
    *taking_part = 0;
    for (int member = 0; member < at->job->extent[axis]; member++) {
        int place = hs_grid_index(&at->mover->problem->grid, axis, member, other);
        const struct hs_channel *channel = channel_of_level(&at->seats[place].loop[0], at->mover->operand, at->level);
        int has = channel->list[at->o] >= 0, carries = 0;
        for (int m = 0; m < at->group.size; m++) {
            int carrier = hs_group_place(&at->group, m);
            carries |= carrier == place;
            int same_cell =
                hs_part_of(division, member) == hs_part_of(division, at->seats[carrier].problem.grid.coord[axis]);
            if (has && same_cell && carrier != place)
                return "two of a cell carry";
        }
        if (carries && channel->id != id)
            return "tags differ";
        *taking_part += carries && has;
    }
    return *taking_part && *taking_part != at->group.size ? "a carrier has no list" : NULL;
}

static const char *prove_panel(const struct line_level *at)
{
    const struct hs_mover *mover = at->mover;
    int taking_part, tier = mover->tier[at->level], pair = hs_mover_pair(mover, tier, at->o);
    const char *what = wrong_carriers(at, &taking_part);
    if (what || !taking_part)
        return what;
    struct hs_list list[PROCESSES_MOST];
    for (int m = 0; !what && m < at->group.size; m++)
        what = take_list(at, m, &list[m]);
    if (what)
        return what;
    int root = hs_part_of(mover->cells->division, hs_mover_root(mover, pair));
    struct hs_shape shape = {.size = at->group.size,
                             .root = hs_digit(&mover->factors, at->level, root),
                             .bytes = hs_tier_width(mover->panels, tier, at->o) * mover->length * 8,
                             .unit = 8,
                             .segment = at->job->spec[0].segment};
    static struct hs_verify_report report;
    if (hs_verify_lists(mover->alg[at->level]->collective, list, &shape, NULL, &case_pool, &report))
        what = report.text;
    for (int m = 0; m < at->group.size; m++)
        hs_list_free(&case_pool, &list[m]);
    note_row(mover->alg[at->level], mover->cells->division);
    return what;
}

/* Proves all panels of an operand on the lines of the process at `place`; each group is proven only once. */
static const char *prove_operand(const struct scene *scene, int number, int place, int operand)
{
    const struct job *job = &scene->job[number];
    struct line_level at = {.scene = scene, .job = job, .seats = scene->seat[number]};
    const struct hs_loop *loop = &at.seats[place].loop[0];
    const char *what = NULL;
    at.mover = hs_preview_mover(loop, operand);
    if (!at.mover || !at.mover->cells || at.mover->length == 0)
        return NULL;
    for (at.level = 0; !what && at.level < at.mover->levels; at.level++)
        for (at.o = 0; !what && at.o < loop->panels.tier[at.mover->tier[at.level]].count; at.o++) {
            int pair = hs_mover_pair(at.mover, at.mover->tier[at.level], at.o);
            at.group = hs_mover_binding(at.mover, at.level, pair).group;
            if (hs_group_place(&at.group, 0) == place)
                what = prove_panel(&at);
        }
    return what;
}

static const char *prove_job(const struct scene *scene, int number)
{
    const struct job *job = &scene->job[number];
    const char *what = NULL;
    for (int place = 0; job->spec[0].cells && !what && place < job->extent[0] * job->extent[1]; place++)
        for (int x = 0; !what && x < 3; x++)
            what = prove_operand(scene, number, place, x);
    return what;
}

static void tell(const struct scene *scene, int64_t number, int job, const char *what)
{
    char text[SCENE_TEXT];
    tap_diag("case %" PRId64 ", job %d: %s", number, job, what);
    scene_describe(scene, text, sizeof text);
    tap_diag("%s", text);
    job_describe(&scene->job[job], text, sizeof text);
    tap_diag("%s", text);
}

static void no_yield(double seconds)
{
    (void)seconds;
}

int main(int argc, char **argv)
{
    static struct scene scene;
    int64_t cases = argc > 1 ? atoll(argv[1]) : USUAL, first = argc > 2 ? atoll(argv[2]) : 1, bad = 0;
    job_begin(no_yield);
    for (int64_t number = first; number < first + cases; number++) {
        uint64_t random = hs_scrambled((uint64_t)number);
        int good = scene_make(&scene, 1, &random);
        bad += !good;
        for (int j = 0; good && j < scene.jobs; j++) {
            const char *what = prove_job(&scene, j);
            bad += what != NULL;
            if (what && bad <= 3)
                tell(&scene, number, j, what);
        }
        scene_free(&scene);
    }
    tap_ok(bad == 0, "%" PRId64 " cases from %" PRId64 " on: %" PRId64 " wrong", cases, first, bad);
    for (int i = 0; i < ROWS && rows[i].row; i++)
        tap_ok(rows[i].unequal > 0 && rows[i].scattered > 0,
               "%s %s: %" PRId64 " panels proven, %" PRId64 " between unequal cells, %" PRId64
               " between scattered ones",
               hs_collective_name(rows[i].row->collective), rows[i].row->name, rows[i].proven, rows[i].unequal,
               rows[i].scattered);
    return tap_done();
}
