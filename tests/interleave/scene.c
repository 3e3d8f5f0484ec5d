#include "interleave/scene.h"

#include "interleave/network.h"
#include "summa/node/shape.h"

#include <inttypes.h>
#include <string.h>

enum { POISON = 0xff };

void scene_rewind(struct scene *scene)
{
    for (int r = 0; r < scene->ranks; r++) {
        scene->rank[r].turn = scene->rank[r].span = 0;
        scene->rank[r].phase = RANK_BEFORE;
    }
    scene->fault[0] = 0;
}

/* The grid of a rank's current turn; grid 0 after the last turn. */
static int grid_at(const struct scene *scene, int r)
{
    int turn = scene->rank[r].turn;
    return turn < scene->turns ? scene->grid_of[scene->turn[turn].job] : 0;
}

static struct hs_product_memory *memory_of(struct scene *scene, int r)
{
    return &scene->rank[r].memory[grid_at(scene, r)];
}

static const struct hs_directory *directory_of(const struct scene *scene, int r)
{
    return &scene->rank[r].memory[grid_at(scene, r)].directory;
}

/* Numbers the job's next execution in the rank's product memory. Every rank of the grid calls this function, whether it
 * is a member of the job or not. */
static uint64_t count(struct scene *scene, int r, const struct job *job)
{
    const struct hs_grid grid = {.extent = {job->extent[0], job->extent[1]}, .rank = job->rank};
    return hs_node_count(memory_of(scene, r), &grid);
}

static const struct job *job_of(const struct scene *scene, int turn)
{
    return &scene->job[scene->turn[turn].job];
}

/* The index of the spec that a span of a turn uses. */
static int spec_of(const struct scene *scene, int turn, int span)
{
    return span < job_of(scene, turn)->specs ? span : 0;
}

/* The panel that starts the second span: one near the middle at which a panel begins on all levels of both specs. */
static int half_way(const struct job *job, const struct seat *seat)
{
    int at = seat->loop[0].panels.count / 2, before;
    do {
        before = at;
        for (int i = 0; i < job->specs; i++)
            at = hs_loop_boundary(&seat->loop[i], at);
    } while (at != before);
    return at;
}

static void start_span(struct scene *scene, int r, int process, const struct hs_matrix matrix[3])
{
    struct rank_state *rank = &scene->rank[r];
    const struct job *job = job_of(scene, rank->turn);
    struct seat *seat = &scene->seat[scene->turn[rank->turn].job][process];
    int which = spec_of(scene, rank->turn, rank->span);
    struct hs_loop *loop = &seat->loop[which];
    int panels = loop->panels.count, half = half_way(job, seat), spans = scene->turn[rank->turn].spans;
    struct hs_node_execution execution = {NULL, 0, 0};
    if (job->spec[which].cells)
        execution = (struct hs_node_execution){.shared = memory_of(scene, r), .number = count(scene, r, job)};
    memset(rank->buffers, POISON, loop->buffer_bytes);
    rank->comm.checks_messages = 0;
    hs_loop_start(loop, &job->alpha, matrix, &job->beta, rank->buffers, &execution, 0, rank->span ? half : 0,
                  spans > 1 && rank->span == 0 ? half : panels);
    rank->comm.checks_messages = job->spec[0].checked;
    for (int i = 0; i < 2; i++)
        if (spans == 1 && job->spec[which].checked && loop->conveyor[i].mover.members > 1)
            loop->conveyor[i].checks = &rank->comm;
}

/* Starts an execution, or its second span, on process `process` of the job's grid. */
static void start(struct scene *scene, int r, int process)
{
    struct rank_state *rank = &scene->rank[r];
    const struct job *job = &scene->job[scene->turn[rank->turn].job];
    struct seat *seat = &scene->seat[scene->turn[rank->turn].job][process];
    struct hs_matrix matrix[3];
    struct hs_where where[2];
    for (int x = 0; x < 3; x++) {
        const struct local_part *part = &job->part[process][x];
        if (rank->span == 0)
            memcpy(rank->matrix[x], part->fresh[scene->turn[rank->turn].set], part->elements * sizeof(double));
        matrix[x] = (struct hs_matrix){(char *)(rank->matrix[x] + part->origin), part->ld};
        if (x < 2)
            where[x] = scene->turn[rank->turn].in_region[r] >> x & 1
                           ? (struct hs_where){HS_REGION_FIRST, matrix[x].base - (char *)rank->matrix[0]}
                           : (struct hs_where){-1, 0};
    }
    if (job_by_node(job))
        hs_node_start(&seat->node, memory_of(scene, r), job->spec[0].checked ? &rank->comm : NULL, NULL,
                      count(scene, r, job), &job->alpha, matrix, where, &job->beta, 0);
    else
        start_span(scene, r, process, matrix);
}

static void leave_turn(struct rank_state *rank)
{
    rank->turn++;
    rank->span = 0;
    rank->phase = RANK_BEFORE;
}

/* Ends a turn as a caller would: checks C, then overwrites all matrices, which the library must no longer read. */
static void finish(struct scene *scene, int r, int process)
{
    struct rank_state *rank = &scene->rank[r];
    const struct job *job = &scene->job[scene->turn[rank->turn].job];
    int wrong = job_wrong(job, process, scene->turn[rank->turn].set, rank->matrix[HS_C]);
    if (wrong && !scene->fault[0])
        snprintf(scene->fault, sizeof scene->fault, "rank %d: %d elements of C are wrong after turn %d", r, wrong,
                 rank->turn);
    if (rank->comm.damaged && !scene->fault[0])
        snprintf(scene->fault, sizeof scene->fault, "rank %d: %s", r, rank->comm.damage.text);
    for (int x = 0; x < 3; x++)
        memset(rank->matrix[x], POISON, job->part[process][x].elements * sizeof(double));
    leave_turn(rank);
}

/* Raises the falsified counter one step beyond the rank's true progress. */
static void lie(struct scene *scene, int r)
{
    struct hs_directory *directory = &memory_of(scene, r)->directory;
    _Atomic uint64_t *word = &directory->entry[directory->me].counter[scene->lie.counter].value;
    if (scene->lie.lies && *word != scene->rank[r].told)
        *word = scene->rank[r].told = *word + 1;
}

static int is_in_grid(const struct scene *scene, int r)
{
    const struct scene_grid *grid = &scene->grid[grid_at(scene, r)];
    for (int i = 0; i < grid->extent[0] * grid->extent[1]; i++)
        if (grid->rank[i] == r)
            return 1;
    return 0;
}

/* On a rank of the grid that is not a member of the job: numbers this turn's executions, as the members do. */
static void pass_over(struct scene *scene, int r)
{
    int turn = scene->rank[r].turn, counted = 0;
    const struct job *job = job_of(scene, turn);
    for (int span = 0; span < scene->turn[turn].spans; span++)
        counted += job->spec[spec_of(scene, turn, span)].cells;
    for (int i = 0; i < (job_by_node(job) ? 1 : counted); i++)
        count(scene, r, job);
}

/* After the agreement: starts this rank's part in the turn's product, or leaves the turn if the product was refused or
 * the rank is not a member. */
static void enter_turn(struct scene *scene, int r)
{
    struct rank_state *rank = &scene->rank[r];
    int process = job_index_of(job_of(scene, rank->turn), r), refuses = scene->turn[rank->turn].refuses;
    const struct scene_grid *grid = &scene->grid[grid_at(scene, r)];
    int refused = 0;
    for (int i = 0; i < grid->extent[0] * grid->extent[1]; i++)
        refused |= scene->turn[rank->turn].agrees && grid->rank[i] == refuses;
    if (!refused && process >= 0) {
        rank->phase = RANK_MULTIPLIES;
        start(scene, r, process);
        return;
    }
    if (!refused && is_in_grid(scene, r))
        pass_over(scene, r);
    leave_turn(rank);
}

/* Progresses this rank's part in the turn's product. */
static hsumma_status multiply(struct scene *scene, int r, int *worked)
{
    struct rank_state *rank = &scene->rank[r];
    const struct job *job = job_of(scene, rank->turn);
    int process = job_index_of(job, r), shared = job_by_node(job), over = 0;
    struct seat *seat = &scene->seat[scene->turn[rank->turn].job][process];
    struct hs_loop *loop = &seat->loop[spec_of(scene, rank->turn, rank->span)];
    hsumma_status status = shared ? hs_node_advance(&seat->node, worked, &over) : hs_loop_advance(loop, worked, &over);
    lie(scene, r);
    if (!over || status)
        return status;
    *worked = 1;
    if (!shared && ++rank->span < scene->turn[rank->turn].spans)
        start(scene, r, process);
    else
        finish(scene, r, process);
    return HSUMMA_OK;
}

hsumma_status scene_step(struct scene *scene, int r, int *worked, int *done)
{
    struct rank_state *rank = &scene->rank[r];
    int agreed;
    hsumma_status status;
    *done = rank->turn == scene->turns;
    if (*done)
        return HSUMMA_OK;
    if (rank->phase == RANK_MULTIPLIES)
        return multiply(scene, r, worked);
    if (rank->phase != RANK_AGREED && scene->turn[rank->turn].agrees && is_in_grid(scene, r)) {
        status = scene_agree(scene, r, worked, &agreed);
        lie(scene, r);
        return status;
    }
    *worked = 1;
    enter_turn(scene, r);
    return HSUMMA_OK;
}

static struct scene_awaited awaited_by(const struct scene *scene, int r)
{
    const struct hs_directory *directory = directory_of(scene, r);
    struct scene_awaited awaited = {.entry = directory->entry, .words = directory->awaits};
    memcpy(awaited.word, directory->awaited, sizeof awaited.word);
    return awaited;
}

int scene_sleeps(const struct scene *scene, int r, struct scene_awaited *until)
{
    const struct rank_state *rank = &scene->rank[r];
    if (rank->turn == scene->turns || directory_of(scene, r)->awaits == 0)
        return 0;
    *until = awaited_by(scene, r);
    if (rank->phase == RANK_AGREES)
        return hs_agreement_awaits_mates(&rank->agreement[grid_at(scene, r)]);
    if (rank->phase != RANK_MULTIPLIES)
        return 0;
    const struct job *job = job_of(scene, rank->turn);
    const struct seat *seat = &scene->seat[scene->turn[rank->turn].job][job_index_of(job, r)];
    int which = spec_of(scene, rank->turn, rank->span);
    return job_by_node(job) || (job->spec[which].cells && hs_loop_idle(&seat->loop[which]));
}

int scene_has_come(const struct scene_awaited *awaited)
{
    for (int i = 0; i < awaited->words; i++) {
        const struct hs_awaited *word = &awaited->word[i];
        if (awaited->entry[word->rank].counter[word->counter].value >= word->value)
            return 1;
    }
    return 0;
}

void scene_describe_awaited(const struct scene_awaited *awaited, char *text, size_t room)
{
    size_t used = 0;
    text[0] = 0;
    for (int i = 0; i < awaited->words && used < room; i++) {
        const struct hs_awaited *word = &awaited->word[i];
        used += (size_t)snprintf(text + used, room - used, " word %d of %d >= %" PRIu64, word->counter, word->rank,
                                 word->value & ((UINT64_C(1) << HS_NODE_STEP_BITS) - 1));
    }
}

void scene_describe(const struct scene *scene, char *text, size_t room)
{
    size_t used = 0;
    for (int g = 0; g < scene->grids; g++) {
        const struct scene_grid *grid = &scene->grid[g];
        used += (size_t)snprintf(text + used, room - used, "grid %dx%d of ranks", grid->extent[0], grid->extent[1]);
        for (int i = 0; i < grid->extent[0] * grid->extent[1]; i++)
            used += (size_t)snprintf(text + used, room - used, " %d%s", grid->rank[i],
                                     i + 1 < grid->extent[0] * grid->extent[1] ? "" : "; ");
    }
    if (used < room)
        used += (size_t)snprintf(text + used, room - used, "nodes of ranks");
    for (int r = 0; r < scene->ranks && used < room; r++)
        used += (size_t)snprintf(text + used, room - used, " %d", scene->node[r]);
    if (used < room)
        used += (size_t)snprintf(text + used, room - used, "; turns of jobs (grids)");
    for (int t = 0; t < scene->turns && used < room; t++)
        used += (size_t)snprintf(text + used, room - used, " %d(%d)%s", scene->turn[t].job,
                                 scene->grid_of[scene->turn[t].job], scene->turn[t].spans > 1 ? "/2" : "");
}

void scene_describe_rank(const struct scene *scene, int r, char *text, size_t room)
{
    const struct rank_state *rank = &scene->rank[r];
    int number = rank->turn < scene->turns ? scene->turn[rank->turn].job : -1;
    size_t used = (size_t)snprintf(text, room, "rank %d: turn %d (job %d)", r, rank->turn, number);
    int process = number < 0 ? -1 : job_index_of(&scene->job[number], r);
    if (rank->phase == RANK_AGREES)
        used += (size_t)snprintf(text + used, room - used, " agrees");
    if (rank->phase != RANK_MULTIPLIES || process < 0) {
        network_describe(r, text + used, room - used);
        return;
    }
    const struct seat *seat = &scene->seat[number][process];
    const struct hs_loop *loop = &seat->loop[spec_of(scene, rank->turn, rank->span)];
    if (job_by_node(&scene->job[number]))
        used +=
            (size_t)snprintf(text + used, room - used, ", filled %" PRId64 " used %" PRId64 " of %" PRId64 " steps;",
                             seat->node.fill, seat->node.step, seat->node.steps);
    else
        used += (size_t)snprintf(text + used, room - used, ", panel %d of %d;", loop->now, loop->end);
    struct scene_awaited awaited = awaited_by(scene, r);
    if (used < room)
        scene_describe_awaited(&awaited, text + used, room - used);
    used = strlen(text);
    if (used < room)
        network_describe(r, text + used, room - used);
}
