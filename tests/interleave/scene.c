#include "interleave/scene.h"

#include "base/options.h"
#include "interleave/network.h"
#include "interleave/pool.h"
#include "summa/node/shape.h"
#include "support/random.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { POISON = 0xff };

static int index_in(const struct job *job, int rank)
{
    for (int i = 0; i < job->extent[0] * job->extent[1]; i++)
        if (job->rank[i] == rank)
            return i;
    return -1;
}

static void draw_grid(struct scene *scene, uint64_t *random)
{
    do {
        scene->extent[0] = 1 + draw_of(random, 6);
        scene->extent[1] = 1 + draw_of(random, 6);
        scene->ranks = scene->extent[0] * scene->extent[1];
    } while (scene->ranks > 16 || (scene->ranks > 6 && draw_of(random, 3) == 0));
    for (int i = 0; i < scene->ranks; i++) {
        int j = draw_of(random, i + 1);
        scene->grid_rank[i] = scene->grid_rank[j];
        scene->grid_rank[j] = i;
    }
}

/* One node, each rank on its own, blocks of ranks, in turns, or anywhere: then nodes are unequal. */
static int draw_nodes(struct scene *scene, uint64_t *random)
{
    enum { ONE, OWN, BLOCKS, TURNS, ANYWHERE, KINDS } kind = (int)draw_of(random, KINDS + 2);
    int some = 1 + draw_of(random, scene->ranks);
    for (int r = 0; r < scene->ranks; r++)
        scene->node[r] = kind == ONE      ? 0
                         : kind == OWN    ? r
                         : kind == BLOCKS ? r / some
                         : kind == TURNS  ? r % some
                                          : draw_of(random, some);
    hsumma_status status = hs_topology_make(&scene->topology, scene->ranks, scene->node, NULL, &case_pool);
    const struct hs_division *division = &scene->topology.division[HS_NODE];
    scene->nodes = division->parts;
    for (int r = 0; !status && r < scene->ranks; r++)
        for (int other = 0; other < scene->ranks; other++)
            scene->rank[r].mate[other] = division->of[other] == division->of[r] ? division->index[other] : -1;
    return !status;
}

static int by_node(const struct job *job)
{
    return job->spec[0].node == HS_NODE_SHARED;
}

static hsumma_status make_seat(struct scene *scene, struct job *job, int process, struct seat *seat)
{
    struct rank_state *rank = &scene->rank[job->rank[process]];
    struct hs_message message;
    hsumma_status status = HSUMMA_OK;
    seat->problem = job_problem(job, process);
    if (by_node(job))
        return hs_node_init(&seat->node, &seat->problem, &job->spec[0], rank->mate, &case_pool, &message);
    for (int i = 0; !status && i < job->specs; i++)
        status = hs_loop_init(&seat->loop[i], &seat->problem, &job->spec[i], &rank->comm, &case_pool, &message);
    return status;
}

static int make_seats(struct scene *scene, int number)
{
    struct job *job = &scene->job[number];
    int processes = job->extent[0] * job->extent[1], good = 1;
    struct seat *seats = scene->seat[number] = hs_get_zero(&case_pool, (size_t)processes, sizeof *seats);
    for (int i = 0; seats && good && i < processes; i++)
        good = !make_seat(scene, job, i, &seats[i]);
    return seats && good;
}

/* Bytes that all jobs together need at a place. */
static size_t most(const struct scene *scene, size_t (*need)(const struct scene *, int job, int rank), int rank)
{
    size_t bytes = 64;
    for (int j = 0; j < scene->jobs; j++) {
        size_t needed = need(scene, j, rank);
        bytes = needed > bytes ? needed : bytes;
    }
    return bytes;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t buffer_bytes(const struct scene *scene, int job, int rank)
{
    int process = index_in(&scene->job[job], rank);
    if (process < 0)
        return 0;
    const struct hs_loop *loop = scene->seat[job][process].loop;
    return larger(loop[0].buffer_bytes, loop[1].buffer_bytes);
}

static size_t tile_bytes(const struct scene *scene, int job, int rank)
{
    int process = index_in(&scene->job[job], rank);
    if (process < 0)
        return 0;
    const struct seat *seat = &scene->seat[job][process];
    return larger(seat->node.bytes, larger(seat->loop[0].shared_bytes, seat->loop[1].shared_bytes));
}

static size_t matrix_bytes(const struct scene *scene, int job, int rank)
{
    int process = index_in(&scene->job[job], rank);
    size_t elements = 0;
    for (int x = 0; process >= 0 && x < 3; x++)
        elements =
            scene->job[job].part[process][x].elements > elements ? scene->job[job].part[process][x].elements : elements;
    return elements * sizeof(double);
}

/* What a rank has for itself, but for the directory and tiles of its node. */
static int make_rank(struct scene *scene, int r)
{
    struct rank_state *rank = &scene->rank[r];
    const struct hs_division *division = &scene->topology.division[HS_NODE];
    char **parts = scene->part + division->first[division->of[r]];
    int me = rank->mate[r];
    size_t matrix = most(scene, matrix_bytes, r);
    parts[me] = hs_get(&case_pool, 3 * matrix, 1);
    rank->buffers = hs_get(&case_pool, most(scene, buffer_bytes, r), 1);
    rank->memory.taken = hs_get_zero(&case_pool, (size_t)scene->ranks, sizeof *rank->memory.taken);
    if (!parts[me] || !rank->buffers || !rank->memory.taken)
        return 0;
    rank->region = (struct hs_region){.number = HS_REGION_FIRST, .part = parts, .me = me, .bytes = 3 * matrix};
    rank->regions = &rank->region;
    rank->memory.regions = &rank->regions;
    rank->memory.mate = rank->mate;
    for (int x = 0; x < 3; x++)
        rank->matrix[x] = (double *)(parts[me] + (size_t)x * matrix);
    return 1;
}

/* What the ranks of a node share. */
static int make_node(struct scene *scene, int node)
{
    const struct hs_division *division = &scene->topology.division[HS_NODE];
    const int *mates = hs_division_ranks(division, node);
    int count = hs_division_size(division, node);
    size_t tiles = 64;
    for (int i = 0; i < count; i++) {
        size_t wanted = most(scene, tile_bytes, mates[i]);
        tiles = wanted > tiles ? wanted : tiles;
    }
    struct hs_directory_entry *entry = hs_get_zero(&case_pool, (size_t)count, sizeof *entry);
    char *memory = hs_get(&case_pool, tiles, 1);
    if (!entry || !memory)
        return 0;
    memset(memory, POISON, tiles);
    for (int i = 0; i < count; i++) {
        struct hs_product_memory *shared = &scene->rank[mates[i]].memory;
        shared->directory = (struct hs_directory){.entry = entry, .ranks = count, .me = i};
        shared->memory = memory;
        shared->bytes = tiles;
    }
    return 1;
}

static int make_memory(struct scene *scene)
{
    int good = 1;
    for (int r = 0; r < scene->ranks; r++)
        good = good && make_rank(scene, r);
    for (int n = 0; n < scene->nodes; n++)
        good = good && make_node(scene, n);
    return good;
}

int scene_make(struct scene *scene, uint64_t *random)
{
    memset(scene, 0, sizeof *scene);
    draw_grid(scene, random);
    if (!draw_nodes(scene, random))
        return 0;
    int64_t cut = draw_of(random, 4) ? HS_CUT : 8 * (1 + draw_of(random, 30));
    for (int r = 0; r < scene->ranks; r++)
        scene->rank[r].comm = (struct hs_comm){
            .comm = MPI_COMM_WORLD, .rank = r, .size = scene->ranks, .cut = cut, .topology = scene->topology};
    scene->jobs = 1 + draw_of(random, JOBS_MOST);
    for (int j = 0; j < scene->jobs; j++) {
        while (!job_draw(&scene->job[j], scene->extent, scene->grid_rank, scene->nodes == 1, random))
            continue;
        if (!job_fill(&scene->job[j], random) || !make_seats(scene, j))
            return 0;
    }
    scene->turns = 1 + draw_of(random, TURNS_MOST);
    for (int t = 0; t < scene->turns; t++) {
        scene->turn[t].job = draw_of(random, scene->jobs);
        scene->turn[t].set = draw_of(random, DATA_SETS);
        scene->turn[t].spans = 1 + draw_of(random, 2);
        for (int r = 0; r < scene->ranks; r++)
            scene->turn[t].in_region[r] = (unsigned)draw_of(random, 4);
    }
    return make_memory(scene);
}

void scene_free(struct scene *scene)
{
    for (int j = 0; j < scene->jobs; j++)
        for (int i = 0; scene->seat[j] && i < scene->job[j].extent[0] * scene->job[j].extent[1]; i++) {
            struct seat *seat = &scene->seat[j][i];
            if (by_node(&scene->job[j]))
                hs_node_free(&seat->node, &case_pool);
            for (int k = 0; k < 2; k++)
                if (seat->loop[k].problem)
                    hs_loop_free(&seat->loop[k], &case_pool);
        }
    case_pool_empty();
}

void scene_rewind(struct scene *scene)
{
    for (int r = 0; r < scene->ranks; r++)
        scene->rank[r].turn = scene->rank[r].running = scene->rank[r].span = 0;
    scene->fault[0] = 0;
}

/* Every rank counts an execution by its node, whether it is a member or not. */
static uint64_t count(struct scene *scene, int r, const struct job *job)
{
    const struct hs_grid grid = {.extent = {job->extent[0], job->extent[1]}, .rank = job->rank};
    return hs_node_count(&scene->rank[r].memory, &grid);
}

static const struct job *job_of(const struct scene *scene, int turn)
{
    return &scene->job[scene->turn[turn].job];
}

/* Which spec a span of a turn is done by. */
static int spec_of(const struct scene *scene, int turn, int span)
{
    return span < job_of(scene, turn)->specs ? span : 0;
}

/* Where the second span begins: where all levels of both specs begin a panel. */
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
    struct hs_turn turn = {NULL, 0, 0};
    if (job->spec[which].cells)
        turn = (struct hs_turn){.shared = &rank->memory, .execution = count(scene, r, job)};
    memset(rank->buffers, POISON, loop->buffer_bytes);
    hs_loop_start(loop, &job->alpha, matrix, &job->beta, rank->buffers, &turn, 0, rank->span ? half : 0,
                  spans > 1 && rank->span == 0 ? half : panels);
}

/* Begins an execution, or the rest of it. */
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
    if (by_node(job))
        hs_node_start(&seat->node, &rank->memory, NULL, count(scene, r, job), &job->alpha, matrix, where, &job->beta,
                      0);
    else
        start_span(scene, r, process, matrix);
}

/* The caller has its matrices again: it looks at C and writes to all of them. */
static void finish(struct scene *scene, int r, int process)
{
    struct rank_state *rank = &scene->rank[r];
    const struct job *job = &scene->job[scene->turn[rank->turn].job];
    int wrong = job_wrong(job, process, scene->turn[rank->turn].set, rank->matrix[HS_C]);
    if (wrong && !scene->fault[0])
        snprintf(scene->fault, sizeof scene->fault, "rank %d: %d elements of C are wrong after turn %d", r, wrong,
                 rank->turn);
    for (int x = 0; x < 3; x++)
        memset(rank->matrix[x], POISON, job->part[process][x].elements * sizeof(double));
    rank->turn++;
    rank->span = 0;
}

/* The word is a step ahead of what the rank has done. */
static void lie(struct scene *scene, int r)
{
    struct hs_directory *directory = &scene->rank[r].memory.directory;
    _Atomic uint64_t *word = &directory->entry[directory->me].counter[scene->lie.counter].value;
    if (scene->lie.lies && *word != scene->rank[r].told)
        *word = scene->rank[r].told = *word + 1;
}

/* Of a turn, as the node's memory counts them. */
static int executions(const struct scene *scene, int turn)
{
    const struct job *job = job_of(scene, turn);
    int counted = 0;
    for (int span = 0; span < scene->turn[turn].spans; span++)
        counted += job->spec[spec_of(scene, turn, span)].cells;
    return by_node(job) ? 1 : counted;
}

hsumma_status scene_step(struct scene *scene, int r, int *worked, int *done)
{
    struct rank_state *rank = &scene->rank[r];
    hsumma_status status = HSUMMA_OK;
    *done = rank->turn == scene->turns;
    if (*done)
        return HSUMMA_OK;
    int number = scene->turn[rank->turn].job, over = 0;
    const struct job *job = &scene->job[number];
    int process = index_in(job, r), shared = by_node(job);
    if (!rank->running) {
        *worked = 1;
        for (int i = 0; process < 0 && i < executions(scene, rank->turn); i++)
            count(scene, r, job);
        rank->turn += process < 0;
        rank->running = process >= 0;
        if (process >= 0)
            start(scene, r, process);
        return HSUMMA_OK;
    }
    struct seat *seat = &scene->seat[number][process];
    struct hs_loop *loop = &seat->loop[spec_of(scene, rank->turn, rank->span)];
    status = shared ? hs_node_advance(&seat->node, worked, &over) : hs_loop_advance(loop, worked, &over);
    lie(scene, r);
    if (!over || status)
        return status;
    *worked = 1;
    rank->running = 0;
    if (!shared && ++rank->span < scene->turn[rank->turn].spans)
        return HSUMMA_OK;
    finish(scene, r, process);
    return HSUMMA_OK;
}

int scene_sleeps(const struct scene *scene, int r)
{
    const struct rank_state *rank = &scene->rank[r];
    if (rank->turn == scene->turns || !rank->running || rank->memory.directory.awaits == 0)
        return 0;
    const struct job *job = job_of(scene, rank->turn);
    const struct seat *seat = &scene->seat[scene->turn[rank->turn].job][index_in(job, r)];
    int which = spec_of(scene, rank->turn, rank->span);
    return by_node(job) || (job->spec[which].cells && hs_loop_idle(&seat->loop[which]));
}

int scene_is_woken(const struct scene *scene, int r)
{
    const struct hs_directory *directory = &scene->rank[r].memory.directory;
    for (int i = 0; i < directory->awaits; i++) {
        const struct hs_awaited *awaited = &directory->awaited[i];
        if (directory->entry[awaited->rank].counter[awaited->counter].value >= awaited->value)
            return 1;
    }
    return 0;
}

void scene_describe(const struct scene *scene, char *text, size_t room)
{
    size_t used = (size_t)snprintf(text, room, "grid %dx%d of ranks", scene->extent[0], scene->extent[1]);
    for (int i = 0; i < scene->ranks && used < room; i++)
        used += (size_t)snprintf(text + used, room - used, " %d", scene->grid_rank[i]);
    if (used < room)
        used += (size_t)snprintf(text + used, room - used, "; nodes of ranks");
    for (int r = 0; r < scene->ranks && used < room; r++)
        used += (size_t)snprintf(text + used, room - used, " %d", scene->node[r]);
    if (used < room)
        used += (size_t)snprintf(text + used, room - used, "; turns of jobs");
    for (int t = 0; t < scene->turns && used < room; t++)
        used += (size_t)snprintf(text + used, room - used, " %d%s", scene->turn[t].job,
                                 scene->turn[t].spans > 1 ? "/2" : "");
}

void scene_describe_rank(const struct scene *scene, int r, char *text, size_t room)
{
    const struct rank_state *rank = &scene->rank[r];
    const struct hs_directory *directory = &rank->memory.directory;
    int number = rank->turn < scene->turns ? scene->turn[rank->turn].job : -1;
    size_t used = (size_t)snprintf(text, room, "rank %d: turn %d (job %d)", r, rank->turn, number);
    int process = number < 0 ? -1 : index_in(&scene->job[number], r);
    if (!rank->running || process < 0)
        return;
    const struct seat *seat = &scene->seat[number][process];
    const struct hs_loop *loop = &seat->loop[spec_of(scene, rank->turn, rank->span)];
    if (by_node(&scene->job[number]))
        used +=
            (size_t)snprintf(text + used, room - used, ", filled %" PRId64 " used %" PRId64 " of %" PRId64 " steps;",
                             seat->node.fill, seat->node.step, seat->node.steps);
    else
        used += (size_t)snprintf(text + used, room - used, ", panel %d of %d;", loop->now, loop->end);
    for (int i = 0; i < directory->awaits && used < room; i++) {
        const struct hs_awaited *awaited = &directory->awaited[i];
        used += (size_t)snprintf(text + used, room - used, " word %d of %d >= %" PRIu64, (int)awaited->counter,
                                 awaited->rank, awaited->value & ((UINT64_C(1) << HS_NODE_STEP_BITS) - 1));
    }
    if (used < room)
        network_describe(r, text + used, room - used);
}
