/*
 * Collectives through shared memory at run time: no MPI message inside a node, between nodes as many as the algorithm
 * needs; no named object is left. The results are right with and without direct reads of peers' memory, and over
 * messages if one rank cannot map the shared memory. With the argument "nodes" only virtual nodes are tested, of 12
 * ranks.
 */
#include "base/scalar.h"
#include "base/wait.h"
#include "coll/node/discover.h"
#include "coll/run/executor.h"
#include "coll/schedule/lists.h"
#include "support/coll/instance.h"
#include "support/process.h"
#include "support/tap.h"
#include "support/world.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { BYTES = 1 << 20 };

static int *ranks;
static double *in, *out, *scratch;

/* Runs an algorithm `times` times; returns 1 if every result is right. *messages: sent by this rank per run. */
static int run(struct hs_comm *comm, enum hs_collective collective, const char *name, int64_t bytes, int times,
               int64_t *messages)
{
    const struct hs_alg *alg = hs_alg_find(collective, name);
    struct hs_shape shape = {
        .rank = rank, .size = size, .bytes = bytes, .unit = sizeof(double), .topology = &comm->topology};
    struct hs_list list;
    struct hs_instance instance;
    int right = 1;
    if (!alg || hs_build(alg, &shape, &hs_heap, &list))
        return 0;
    void *room = malloc(hs_instance_bytes(list.steps));
    int64_t before = comm->messages_sent, count = bytes / (int64_t)sizeof(double), reach = list.reach;
    MPI_Allreduce(MPI_IN_PLACE, &reach, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    hs_instance_init(&instance, room, list.steps);
    for (int t = 0; t < times; t++) {
        struct hs_binding binding = {.list = &list,
                                     .group = {ranks, 0, 1, size, rank},
                                     .tag = hs_tag(1, t),
                                     .slot = {in, out, scratch},
                                     .combine = hs_scalars[HSUMMA_D].add,
                                     .unit = sizeof(double),
                                     .shm = comm->shm,
                                     .ring = hs_shm_ring_for(reach),
                                     .instance = comm->shm ? comm->shm->next++ : 0};
        for (int64_t i = 0; i < count; i++) {
            in[i] = (double)(rank + 1) * (double)(i % 97 + t);
            out[i] = collective == HS_BCAST && rank == 0 ? (double)(i + t) : -1;
        }
        right &= hs_start(&instance, comm, &binding) == HSUMMA_OK;
        right &= !instance.active || hs_comm_wait(NULL, instance_advance, &instance) == HSUMMA_OK;
        for (int64_t i = 0; i < count && (collective != HS_REDUCE_TO || rank == 0); i++)
            right &= out[i] == (collective == HS_BCAST ? (double)(i + t)
                                                       : (double)(size * (size + 1) / 2) * (double)(i % 97 + t));
    }
    *messages = (comm->messages_sent - before) / times;
    hs_list_free(&hs_heap, &list);
    free(room);
    return right;
}

static const struct {
    enum hs_collective collective;
    const char *name;
} rows[] = {{HS_ALLREDUCE, "shared"}, {HS_REDUCE_TO, "shared"},   {HS_BCAST, "shared"},  {HS_ALLREDUCE, "smp"},
            {HS_ALLREDUCE, "nap"},    {HS_BCAST, "hierarchical"}, {HS_REDUCE_TO, "smp"}, {HS_ALLREDUCE, "dpml"}};
enum { ROWS = sizeof rows / sizeof *rows };

static hsumma_status discover(struct hs_comm *comm, const struct hs_discover_options *options,
                              const struct hs_allocator *memory, struct hs_message *message)
{
    hsumma_status status = hs_comm_find_host(comm, memory, message);
    return status ? status : hs_comm_discover(comm, options, memory, message);
}

/* One node: right results without a message, for vectors smaller and larger than a slot, and too short and long enough
 * for direct reads. */
static void one_node(const char *what, const struct hs_discover_options *options, int sizes)
{
    static const int64_t bytes[] = {8, 5 * 8, 4096 * 8, BYTES};
    struct hs_comm comm = {.comm = MPI_COMM_WORLD, .rank = rank, .size = size, .cut = HS_CUT};
    struct hs_message message = {""};
    hsumma_status status = discover(&comm, options, &hs_heap, &message);
    int64_t bad = status != HSUMMA_OK || (size > 1 && !comm.shm), sent = 0;
    for (int r = 0; r < ROWS && !bad; r++)
        for (int b = 0; b < sizes; b++) {
            int64_t messages = 0;
            bad += !run(&comm, rows[r].collective, rows[r].name, bytes[b], 9, &messages);
            sent += messages;
        }
    bad = world_worst(bad);
    sent = world_worst(sent);
    tap_ok(bad == 0, "%s: every result is right (%s)", what, message.text);
    tap_ok(sent == 0, "%s: no message inside the node", what);
    tap_ok(world_worst(process_entries("/dev/shm", "hsumma")) == 0, "%s: nothing with a name", what);
    hs_comm_forget(&comm, &hs_heap);
}

/* If one rank cannot map the shared memory, no rank uses it; other algorithms then send messages, without an error. */
static void refused(const char *what, int rank_without, int resource)
{
    const struct hs_discover_options options = {.shared_bytes = -1, .direct = 1};
    struct hs_comm comm = {.comm = MPI_COMM_WORLD, .rank = rank, .size = size, .cut = HS_CUT};
    struct hs_message message = {""};
    struct rlimit before, less;
    int64_t bad = hs_comm_find_host(&comm, &hs_heap, &message) != HSUMMA_OK, messages;
    bad |= getrlimit(resource, &before) != 0;
    less = before;
    less.rlim_cur = 3;
    if (rank == rank_without)
        bad |= setrlimit(resource, &less) != 0;
    bad |= hs_comm_discover(&comm, &options, &hs_heap, &message) != HSUMMA_OK || comm.shm || comm.topology.shared_bytes;
    if (rank == rank_without)
        bad |= setrlimit(resource, &before) != 0;
    bad |= !run(&comm, HS_BCAST, "binomial", 4096, 3, &messages);
    tap_ok(world_worst(bad) == 0 && world_worst(process_entries("/dev/shm", "hsumma")) == 0,
           "no memory for %s: no rank shares any (%s)", what, message.text);
    hs_comm_forget(&comm, &hs_heap);
}

/* As if all instances before number `next` had finished, and in none of them a flag had been raised. */
static void skip_to(struct hs_shm *shm, int64_t next)
{
    shm->next = shm->finished = next;
    shm->of[shm->me].ended = next - 1;
    hs_shm_finish(shm, next - 1);
    world_worst(0);
}

/*
 * Flags wrap at instance 2^32 and compare within 2^31. In broadcasts only the root raises its flags, so at
 * 3 x 2^30 those of other ranks would be as old as the memory if nothing else raised them.
 */
static void many_instances(void)
{
    static const int64_t next[] = {(1 << 30) - 6, ((int64_t)3 << 30) - 70, ((int64_t)1 << 32) - 6};
    struct hs_discover_options options = {.nodes = 1, .shared_bytes = -1, .direct = 1};
    struct hs_comm comm = {.comm = MPI_COMM_WORLD, .rank = rank, .size = size, .cut = HS_CUT};
    struct hs_message message = {""};
    int64_t bad = discover(&comm, &options, &hs_heap, &message) != HSUMMA_OK || !comm.shm, messages;
    bad = world_worst(bad);
    for (int n = 0; n < 3 && !bad; n++) {
        skip_to(comm.shm, next[n]);
        for (int i = 0; i < 20; i++) {
            bad += !run(&comm, HS_BCAST, "shared", 64, 3, &messages);
            bad += n > 0 && !run(&comm, HS_ALLREDUCE, "shared", 64, 3, &messages);
        }
    }
    bad = world_worst(bad);
    tap_ok(bad == 0, "instances around numbers 2^30, 3 x 2^30, 2^32 (%s)", message.text);
    hs_comm_forget(&comm, &hs_heap);
}

/*
 * Runs algorithm rows[row]; returns 1 if it is right and sends the messages that the lists have, none inside a node
 * with shared memory. *between becomes the largest number of messages between nodes that a rank sends.
 */
static int run_on_nodes(struct hs_comm *comm, int row, int64_t *between)
{
    struct hs_shape shape = {.size = size, .bytes = 4096, .unit = 8, .topology = &comm->topology};
    const struct hs_alg *alg = hs_alg_find(rows[row].collective, rows[row].name);
    const struct hs_division *node = &comm->topology.division[HS_NODE];
    struct hs_list *list = NULL;
    int64_t messages = 0, expected = 0, inside = 0;
    if (hs_alg_unfit(alg, &shape))
        return 1;
    int bad = !run(comm, rows[row].collective, rows[row].name, 4096, 5, &messages);
    bad |= hs_build_all(alg, &shape, &hs_heap, &list) != HSUMMA_OK;
    for (int i = 0; list && i < list[rank].steps; i++) {
        expected += list[rank].step[i].kind == HS_SEND;
        inside +=
            list[rank].step[i].kind == HS_SEND && hs_part_of(node, list[rank].step[i].peer) == hs_part_of(node, rank);
    }
    bad |= messages != expected || (inside && comm->topology.shared_bytes);
    hs_free_all(&hs_heap, list, size);
    *between = world_worst(messages - inside);
    return !bad;
}

/* Virtual nodes: messages only between them, as many as the lists have SENDs. */
static void virtual_nodes(int nodes)
{
    struct hs_discover_options options = {.nodes = nodes, .shared_bytes = -1, .direct = 1};
    struct hs_comm comm = {.comm = MPI_COMM_WORLD, .rank = rank, .size = size, .cut = HS_CUT};
    struct hs_message message = {""};
    int64_t bad = discover(&comm, &options, &hs_heap, &message) != HSUMMA_OK, between;
    for (int r = 3; r < ROWS && !bad; r++) /* the first rows are algorithms for a single node */
        bad += !run_on_nodes(&comm, r, &between);
    tap_ok(world_worst(bad) == 0, "%d virtual nodes: right, and messages between them only (%s)", nodes, message.text);
    hs_comm_forget(&comm, &hs_heap);
}

/*
 * NAP on 12 ranks: with messages inside nodes, too. No process sends more than `most` messages between nodes. node:
 * that of each rank.
 */
static void nap_on_unequal_nodes(const char *what, const int *node, int most)
{
    enum { NAP = 4 }; /* its index in rows[] */
    struct hs_comm comm = {.comm = MPI_COMM_WORLD, .rank = rank, .size = size, .cut = HS_CUT};
    int64_t bad = hs_topology_make(&comm.topology, size, node, NULL, &hs_heap) != HSUMMA_OK, between = 0;
    bad = bad || !run_on_nodes(&comm, NAP, &between) || between != most;
    tap_ok(world_worst(bad) == 0, "nap on nodes of %s ranks: right, at most %d messages between nodes", what, most);
    hs_topology_free(&comm.topology, &hs_heap);
}

static int finish(void)
{
    free(ranks);
    free(in);
    free(out);
    free(scratch);
    return world_end();
}

int main(int argc, char **argv)
{
    world_begin(&argc, &argv);
    ranks = malloc((size_t)size * sizeof *ranks);
    in = malloc(BYTES);
    out = malloc(BYTES);
    scratch = malloc(4 * (size_t)BYTES * (size_t)size);
    if (!ranks || !in || !out || !scratch)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int r = 0; r < size; r++)
        ranks[r] = r;
    if (argc > 1 && strcmp(argv[1], "nodes") == 0) {
        virtual_nodes(5);
        nap_on_unequal_nodes("3 + 4 + 5", (int[]){0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 2}, 1);
        nap_on_unequal_nodes("2 + 5 + 5", (int[]){0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2}, 1);
        nap_on_unequal_nodes("2 + 3 + 2 + 3 + 2", (int[]){0, 0, 1, 1, 1, 2, 2, 3, 3, 3, 4, 4}, 2);
        nap_on_unequal_nodes("5 + 4 + 3, scattered", (int[]){0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 0}, 1);
        return finish();
    }
    one_node("direct reads", &(struct hs_discover_options){.shared_bytes = -1, .direct = 1}, 4);
    one_node("without direct reads", &(struct hs_discover_options){.nodes = 1, .sockets = 2, .shared_bytes = -1}, 4);
    one_node("little room", &(struct hs_discover_options){.shared_bytes = 4096}, 3);
    if (size > 1) {
        refused("the rank that makes the memory", 0, RLIMIT_FSIZE);
        refused("one that opens it", size - 1, RLIMIT_NOFILE);
        many_instances();
        virtual_nodes(2);
    }
    return finish();
}
