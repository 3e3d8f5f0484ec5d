/* Records what the loops of all processes would do, one process after another; declared in command.h. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "explain/command.h"
#include "summa/messages/mpi_rows.h"

/* --- memory ------------------------------------------------------------------------------------------------------- */

/* An allocator that reserves only addresses for large pieces: a loop allocates its whole workspace, which may exceed
 * this machine's memory, but explain never writes to it. HS_ALIGN bytes before each piece hold the mapped length, 0 if
 * the piece is from the heap. */
enum { MAPPED_FROM = 1 << 20 };

static void *lazy_get(void *state, size_t bytes)
{
    char *memory = NULL;
    size_t mapped = 0;

    (void)state;
    if (bytes > SIZE_MAX - HS_ALIGN)
        return NULL;
    bytes += HS_ALIGN;
    if (bytes >= MAPPED_FROM) {
        mapped = bytes;
        memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        memory = memory == MAP_FAILED ? NULL : memory;
    } else {
        memory = hs_heap.get(hs_heap.state, bytes);
    }
    if (!memory)
        return NULL;
    memcpy(memory, &mapped, sizeof mapped);
    return memory + HS_ALIGN;
}

static void lazy_put(void *state, void *memory)
{
    char *begin = (char *)memory - HS_ALIGN;
    size_t mapped;

    (void)state;
    memcpy(&mapped, begin, sizeof mapped);
    if (mapped)
        munmap(begin, mapped);
    else
        hs_heap.put(hs_heap.state, begin);
}

static const struct hs_allocator lazy = {lazy_get, lazy_put, NULL};

/* --- pictures ---------------------------------------------------------------------------------------------------- */

static void add_stage(picture *p, const struct hs_loop *loop, const struct hs_mover *mover, int level, int panel,
                      int panels)
{
    int tier = hs_preview_tier(mover, level);

    p->stages[p->stage_count++] = (stage){
        .level = level,
        .tier = tier,
        .panel = panel,
        .panels = panels,
        .width = hs_tier_width(&loop->panels, tier, panel),
        .algorithm = level == HS_EXCHANGE ? "exchange" : mover->alg[level]->name,
    };
}

/* Adds the panels of one level that lie in the picture's outermost panel. They have one root, so all are alike, except
 * that the last may be narrower. */
static void add_level(picture *p, const struct hs_loop *loop, const struct hs_mover *mover, int level, int outer)
{
    const struct hs_tier *whole = &loop->panels.tier[mover->tier0], *tier = &loop->panels.tier[mover->tier[level]];
    int first = tier->of[whole->first[outer]], last = tier->of[whole->first[outer + 1] - 1];
    int ragged = last > first && hs_tier_width(&loop->panels, mover->tier[level], last) !=
                                     hs_tier_width(&loop->panels, mover->tier[level], first);

    add_stage(p, loop, mover, level, first, last - first + 1 - ragged);
    if (ragged)
        add_stage(p, loop, mover, level, last, 1);
}

/* Fills in the facts of a picture that are common to all processes. */
static hsumma_status begin_picture(picture *p, const struct hs_loop *loop, int operand, int pair, int processes)
{
    const struct hs_mover *mover = hs_preview_mover(loop, operand);
    int t = 0, outer;

    while (loop->panels.panel[t].pair != pair)
        t++;
    outer = loop->panels.tier[mover->tier0].of[t];
    *p = (picture){.operand = operand, .pair = pair, .at = loop->panels.panel[t].at, .tier = mover->tier0};
    p->width = hs_tier_width(&loop->panels, mover->tier0, outer);
    p->place = calloc((size_t)processes, sizeof *p->place);
    if (mover->role->exchanged && operand != HS_C)
        add_stage(p, loop, mover, HS_EXCHANGE, outer, 1);
    for (int l = 0; l < mover->levels; l++)
        add_level(p, loop, mover, operand == HS_C ? mover->levels - 1 - l : l, outer);
    if (mover->role->exchanged && operand == HS_C)
        add_stage(p, loop, mover, HS_EXCHANGE, outer, 1);
    for (int s = 0; s < p->stage_count && p->place; s++)
        if (!(p->stages[s].part = calloc((size_t)processes, sizeof *p->stages[s].part)))
            return HSUMMA_ERR_MEMORY;
    return p->place ? HSUMMA_OK : HSUMMA_ERR_MEMORY;
}

static hsumma_status begin_pictures(explanation *e, const struct hs_loop *loop)
{
    int pairs = e->args->panels < e->pairs ? (int)e->args->panels : e->pairs;

    if (e->processes > EXPLAIN_DRAWN)
        return HSUMMA_OK;
    e->pictures = calloc((size_t)pairs * 2 + 1, sizeof *e->pictures);
    if (!e->pictures)
        return HSUMMA_ERR_MEMORY;
    for (int pair = 0; pair < pairs; pair++)
        for (int x = 0; x < 3; x++) {
            hsumma_status status;

            if (!hs_preview_mover(loop, x))
                continue;
            status = begin_picture(&e->pictures[e->picture_count++], loop, x, pair, e->processes);
            if (status)
                return status;
        }
    return HSUMMA_OK;
}

static int compare_cuts(const void *a, const void *b)
{
    const cut *x = a, *y = b;

    return (x->begin > y->begin) - (x->begin < y->begin);
}

/* Records which indices of the looped dimension form which panel. */
static hsumma_status read_cuts(explanation *e, const struct hs_loop *loop)
{
    size_t capacity = 0;

    for (int t = 0; t < loop->panels.count; t++) {
        const struct hs_panel *panel = &loop->panels.panel[t];
        const struct hs_pair *pair = &loop->panels.pairs.pair[panel->pair];
        struct hs_overlap walk = hs_panel_walk(&loop->panels, t);
        int64_t begin, length;

        for (int64_t got = 0; got < panel->width && hs_overlap_next(&walk, panel->width - got, &begin, &length);) {
            if (hs_grow(&hs_heap, (void **)&e->cuts, sizeof *e->cuts, &capacity, e->cut_count + 1))
                return HSUMMA_ERR_MEMORY;
            e->cuts[e->cut_count++] = (cut){begin, length, t, {pair->owner[0], pair->owner[1]}};
            got += length;
        }
    }
    if (e->cut_count)
        qsort(e->cuts, e->cut_count, sizeof *e->cuts, compare_cuts);
    return HSUMMA_OK;
}

/* Records the facts that are common to all processes, from the first one's loop. */
static hsumma_status read_common(explanation *e, const struct hs_loop *loop, struct hs_message *message)
{
    hsumma_status status = hs_variant_make(&e->plan->problem, e->plan->choice.spec.stationary, &e->variant, message);

    if (status)
        return status;
    e->panels = loop->panels.count;
    e->pairs = loop->panels.pairs.count;
    e->owner = calloc((size_t)e->pairs + 1, sizeof *e->owner);
    if (!e->owner)
        return HSUMMA_ERR_MEMORY;
    for (int i = 0; i < e->pairs; i++)
        memcpy(e->owner[i], loop->panels.pairs.pair[i].owner, sizeof *e->owner);
    status = begin_pictures(e, loop);
    if (!status && e->args->show & SHOW_CUTS)
        status = read_cuts(e, loop);
    return status;
}

/* --- one process at a time --------------------------------------------------------------------------------------- */

static hsumma_status read_process(void *state, const struct hs_loop *loop, int process, struct hs_message *message)
{
    explanation *e = state;
    int64_t messages, bytes;
    hsumma_status status = process == 0 ? read_common(e, loop, message) : HSUMMA_OK;

    hs_loop_count(loop, loop->comm->cut, &messages, &bytes);
    if (e->received.size)
        bounds_count_add(&e->received, loop);
    int64_t workspace = (int64_t)(loop->arena_bytes + loop->buffer_bytes + loop->shared_part);
    e->workspace_max = workspace > e->workspace_max ? workspace : e->workspace_max;
    e->messages += messages;
    e->bytes += bytes;
    e->messages_max = messages > e->messages_max ? messages : e->messages_max;
    e->bytes_max = bytes > e->bytes_max ? bytes : e->bytes_max;
    for (int i = 0; i < e->picture_count; i++) {
        picture *p = &e->pictures[i];

        p->place[process] = hs_preview_arrival(hs_preview_mover(loop, p->operand), p->pair);
        for (int s = 0; s < p->stage_count && !status; s++)
            status = hs_preview_part(loop, p->operand, p->stages[s].level, p->stages[s].panel, &lazy,
                                     &p->stages[s].part[process]);
    }
    return status;
}

/* Extracts the messages of every stage, after the lists of all processes have been recorded. */
static hsumma_status join_parts(explanation *e)
{
    hsumma_status status = HSUMMA_OK;

    for (int i = 0; i < e->picture_count; i++)
        for (int s = 0; s < e->pictures[i].stage_count && !status; s++) {
            stage *st = &e->pictures[i].stages[s];

            status = hs_preview_hops(st->part, e->processes, &hs_heap, &st->hop, &st->hops);
            st->by_mpi = status == HSUMMA_ERR_UNSUPPORTED;
            status = st->by_mpi ? HSUMMA_OK : status;
        }
    return status;
}

/* A communicator for the loop of the given process, without an MPI communicator. */
static struct hs_comm explain_comm(const explanation *e, int process)
{
    return (struct hs_comm){.comm = MPI_COMM_NULL,
                            .rank = hs_grid_rank(&e->plan->problem.grid, process),
                            .size = hs_ranks_before(e->node, e->node->parts),
                            .cut = HS_CUT,
                            .topology = e->ctx->comm.topology};
}

hsumma_status explain_each_process(const explanation *e, int count, loop_reader *read, void *state,
                                   struct hs_message *message)
{
    struct hs_problem problem = e->plan->problem;
    hsumma_status status = HSUMMA_OK;

    for (int r = 0; r < count && !status; r++) {
        struct hs_comm comm = explain_comm(e, r);
        struct hs_loop loop;

        problem.grid.coord[0] = r / e->npcol;
        problem.grid.coord[1] = r % e->npcol;
        status = hs_loop_init(&loop, &problem, &e->plan->choice.spec, &comm, &lazy, message);
        if (status)
            return status;
        status = read(state, &loop, r, message);
        hs_loop_free(&loop, &lazy);
    }
    return status;
}

hsumma_status explain_read(explanation *e, struct hs_message *message)
{
    int last = e->processes <= EXPLAIN_COUNTED ? e->processes : 1;
    hsumma_status status = last == e->processes ? bounds_count_create(&e->received, e->node) : HSUMMA_OK;

    if (status)
        return hs_fail(message, status, "no memory to count what %d processes receive", e->processes);
    status = explain_each_process(e, last, read_process, e, message);

    e->counted = last == e->processes;
    if (!e->counted)
        e->workspace_max = e->plan->choice.workspace_bytes;
    if (!e->counted || hs_native_wanted(&e->plan->choice.spec)) /* messages of MPI's own collectives are unknown */
        e->messages = e->bytes = e->messages_max = e->bytes_max = -1;
    return status ? status : join_parts(e);
}

void explain_read_free(explanation *e)
{
    for (int i = 0; i < e->picture_count; i++) {
        picture *p = &e->pictures[i];

        for (int s = 0; s < p->stage_count; s++) {
            for (int r = 0; p->stages[s].part && r < e->processes; r++)
                hs_list_free(&lazy, &p->stages[s].part[r]);
            free(p->stages[s].part);
            hs_put(&hs_heap, p->stages[s].hop);
        }
        free(p->place);
    }
    free(e->pictures);
    free(e->owner);
    hs_put(&hs_heap, e->cuts);
}
