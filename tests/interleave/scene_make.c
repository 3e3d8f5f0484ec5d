/* Draws a case and allocates its memory. */
#include "base/options.h"
#include "interleave/scene.h"
#include "support/random.h"

#include <string.h>

enum { POISON = 0xff };

/* Draws a grid, usually of at least half the ranks, in random order. */
static void draw_grid(struct scene *scene, struct scene_grid *grid, uint64_t *random)
{
    int ranks[PROCESSES_MOST];
    do {
        grid->extent[0] = 1 + draw_of(random, 8);
        grid->extent[1] = 1 + draw_of(random, 8);
    } while (grid->extent[0] * grid->extent[1] > scene->ranks ||
             (2 * grid->extent[0] * grid->extent[1] < scene->ranks && draw_of(random, 4)));
    for (int i = 0; i < scene->ranks; i++) {
        int j = draw_of(random, i + 1);
        ranks[i] = ranks[j];
        ranks[j] = i;
    }
    memcpy(grid->rank, ranks, sizeof ranks);
    grid->votes_in_memory = draw_of(random, 4) > 0;
}

/* Draws the node of each rank: mostly at random, with unequal nodes; otherwise one node, a node per rank, blocks of
 * ranks, or round-robin. */
static int draw_nodes(struct scene *scene, uint64_t *random)
{
    enum { ANYWHERE, OWN, BLOCKS, TURNS } kind = (int)draw_of(random, 12);
    int some = 1 + draw_of(random, 1 + scene->ranks / 2);
    int one = draw_of(random, 8) == 0;
    for (int r = 0; r < scene->ranks; r++)
        scene->node[r] = one              ? 0
                         : kind == OWN    ? r
                         : kind == BLOCKS ? r / some
                         : kind == TURNS  ? r % some
                                          : draw_of(random, some);
    hsumma_status status = hs_topology_make(&scene->topology, scene->ranks, scene->node, NULL, &case_pool);
    const struct hs_division *division = &scene->topology.division[HS_NODE];
    scene->nodes = division->parts;
    return !status;
}

static hsumma_status make_seat(struct scene *scene, struct job *job, int process, struct seat *seat)
{
    struct rank_state *rank = &scene->rank[job->rank[process]];
    struct hs_message message;
    hsumma_status status = HSUMMA_OK;
    seat->problem = job_problem(job, process);
    if (job_by_node(job))
        return hs_node_init(&seat->node, &seat->problem, &job->spec[0], &rank->comm.mates, &case_pool, &message);
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

/* The largest number of bytes that a job needs on a rank, at least 64. */
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
    int process = job_index_of(&scene->job[job], rank);
    if (process < 0)
        return 0;
    const struct hs_loop *loop = scene->seat[job][process].loop;
    return larger(loop[0].buffer_bytes, loop[1].buffer_bytes);
}

static size_t tile_bytes(const struct scene *scene, int job, int rank)
{
    int process = job_index_of(&scene->job[job], rank);
    if (process < 0)
        return 0;
    const struct seat *seat = &scene->seat[job][process];
    return larger(seat->node.bytes, larger(seat->loop[0].shared_bytes, seat->loop[1].shared_bytes));
}

static size_t matrix_bytes(const struct scene *scene, int job, int rank)
{
    int process = job_index_of(&scene->job[job], rank);
    size_t elements = 0;
    for (int x = 0; process >= 0 && x < 3; x++)
        elements =
            scene->job[job].part[process][x].elements > elements ? scene->job[job].part[process][x].elements : elements;
    return elements * sizeof(double);
}

/* Makes the matrices and panel buffers of rank r; make_node makes its node's directory and tiles. */
static int make_rank(struct scene *scene, int r)
{
    struct rank_state *rank = &scene->rank[r];
    const struct hs_division *division = &scene->topology.division[HS_NODE];
    char **parts = scene->part + hs_ranks_before(division, hs_part_of(division, r));
    int me = rank->comm.mates.me;
    size_t matrix = most(scene, matrix_bytes, r);
    parts[me] = hs_get(&case_pool, 3 * matrix, 1);
    rank->buffers = hs_get(&case_pool, most(scene, buffer_bytes, r), 1);
    if (!parts[me] || !rank->buffers)
        return 0;
    rank->region = (struct hs_region){.number = HS_REGION_FIRST, .part = parts, .me = me, .bytes = 3 * matrix};
    rank->regions = &rank->region;
    for (int x = 0; x < 3; x++)
        rank->matrix[x] = (double *)(parts[me] + (size_t)x * matrix);
    return 1;
}

/* Makes the directory and the tiles that the ranks of a node share for one grid. */
static int make_node(struct scene *scene, int node, int grid)
{
    const struct hs_division *division = &scene->topology.division[HS_NODE];
    const int *mates = scene->rank[hs_part_rank(division, node, 0)].comm.mates.rank;
    int count = hs_division_size(division, node), good = 1;
    size_t tiles = 64;
    for (int i = 0; i < count; i++)
        tiles = larger(tiles, most(scene, tile_bytes, mates[i]));
    struct hs_directory_entry *entry = hs_get_zero(&case_pool, (size_t)count, sizeof *entry);
    char *memory = hs_get(&case_pool, tiles, 1);
    if (!entry || !memory)
        return 0;
    memset(memory, POISON, tiles);
    for (int i = 0; i < count; i++) {
        struct rank_state *rank = &scene->rank[mates[i]];
        rank->memory[grid] = (struct hs_product_memory){
            .directory = {.entry = entry, .ranks = count, .me = i},
            .memory = memory,
            .bytes = tiles,
            .taken = hs_get_zero(&case_pool, (size_t)count, sizeof *rank->memory[grid].taken),
            .regions = &rank->regions,
            .mates = &rank->comm.mates};
        good = good && rank->memory[grid].taken;
    }
    return good;
}

static int make_memory(struct scene *scene)
{
    int good = 1;
    for (int r = 0; r < scene->ranks; r++)
        good = good && make_rank(scene, r);
    for (int n = 0; n < scene->nodes; n++)
        for (int g = 0; g < scene->grids; g++)
            good = good && make_node(scene, n, g);
    for (int g = 0; g < scene->grids; g++)
        good = good && scene_agreements_make(scene, g);
    return good;
}

int scene_make(struct scene *scene, int cells, uint64_t *random)
{
    memset(scene, 0, sizeof *scene);
    scene->ranks = draw_of(random, 4) ? 4 + draw_of(random, 7) : 1 + draw_of(random, 16);
    scene->grids = cells ? 1 : 1 + draw_of(random, GRIDS_MOST);
    for (int g = 0; g < scene->grids; g++)
        draw_grid(scene, &scene->grid[g], random);
    scene->grid[0].votes_in_memory |= cells;
    if (!draw_nodes(scene, random))
        return 0;
    int64_t cut = draw_of(random, 4) ? HS_CUT : 32 * (1 + draw_of(random, 30));
    const struct hs_division *division = &scene->topology.division[HS_NODE];
    for (int r = 0; r < scene->ranks; r++) {
        struct rank_state *rank = &scene->rank[r];
        rank->comm = (struct hs_comm){
            .comm = MPI_COMM_WORLD, .rank = r, .size = scene->ranks, .cut = cut, .topology = scene->topology};
        int node = hs_part_of(division, r);
        rank->comm.mates = (struct hs_mates){.count = hs_division_size(division, node),
                                             .me = hs_place_in_part(division, r),
                                             .rank = rank->mate,
                                             .node = division};
        for (int i = 0; i < rank->comm.mates.count; i++)
            rank->mate[i] = hs_part_rank(division, node, i);
    }
    scene->jobs = 1 + draw_of(random, JOBS_MOST);
    for (int j = 0; j < scene->jobs; j++) {
        const struct scene_grid *grid = &scene->grid[scene->grid_of[j] = draw_of(random, scene->grids)];
        struct job *job = &scene->job[j];
        while (!job_draw(job, grid->extent, grid->rank, scene->nodes == 1, random) || (cells && job_by_node(job)))
            continue;
        for (int i = 0; i < job->specs && cells; i++)
            job->spec[i].cells = 1;
        if (!job_fill(&scene->job[j], random) || !make_seats(scene, j))
            return 0;
    }
    scene->turns = 1 + draw_of(random, TURNS_MOST);
    for (int t = 0; t < scene->turns; t++) {
        scene->turn[t].job = draw_of(random, scene->jobs);
        scene->turn[t].set = draw_of(random, DATA_SETS);
        scene->turn[t].spans = 1 + draw_of(random, 2);
        scene->turn[t].agrees = draw_of(random, 2);
        scene->turn[t].refuses = draw_of(random, 8) ? -1 : draw_of(random, scene->ranks);
        scene->turn[t].differs = draw_of(random, 8) ? -1 : draw_of(random, scene->ranks);
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
            if (job_by_node(&scene->job[j]))
                hs_node_free(&seat->node, &case_pool);
            for (int k = 0; k < 2; k++)
                if (seat->loop[k].problem)
                    hs_loop_free(&seat->loop[k], &case_pool);
        }
    for (int r = 0; r < scene->ranks; r++)
        for (int g = 0; g < scene->grids; g++)
            hs_agreement_free(&scene->rank[r].agreement[g], &case_pool);
    case_pool_empty();
}
