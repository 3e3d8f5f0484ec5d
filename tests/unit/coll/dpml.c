/*
 * DPML and the node-aware rows with parts through verify: on up to 12 nodes of up to 8 ranks, even and uneven, ranks in
 * any order, with much, little and no shared memory; and who sends how many messages.
 */
#include "coll/proof/verify.h"
#include "coll/schedule/lists.h"
#include "support/random.h"
#include "support/tap.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_NODES = 12, MOST_PPN = 8, MOST_RANKS = MOST_NODES * MOST_PPN };
enum layout { BLOCKS, UNEVEN, CYCLIC, SHUFFLED, LAYOUTS };

static const char *const layout_names[LAYOUTS] = {"blocks", "uneven blocks", "cyclic", "shuffled"};
/* `nodes` nodes of up to `ppn` ranks, each of two sockets.  Returns the number of ranks. */
static int make(struct hs_topology *topology, enum layout layout, int nodes, int ppn, int64_t shared_bytes)
{
    int node[MOST_RANKS], socket[MOST_RANKS], size = 0;
    for (int i = 0; i < nodes; i++)
        for (int j = 0; j < (layout == UNEVEN || layout == SHUFFLED ? 1 + (ppn - 1 + 3 * i) % ppn : ppn); j++)
            node[size++] = i;
    for (int r = 0; layout == CYCLIC && r < size; r++)
        node[r] = r % nodes;
    for (int r = size - 1; layout == SHUFFLED && r > 0; r--) {
        int other = draw(r + 1), swap = node[r];
        node[r] = node[other];
        node[other] = swap;
    }
    for (int r = 0, seen[MOST_NODES] = {0}; r < size; r++)
        socket[r] = 2 * node[r] + (layout == CYCLIC ? seen[node[r]]++ % 2 : seen[node[r]]++ >= (ppn + 1) / 2);
    if (hs_topology_make(topology, size, node, socket, &hs_heap))
        return 0;
    topology->shared_bytes = shared_bytes;
    return size;
}

static struct hs_verify_options some_options(void)
{
    static const int windows[] = {0, 4, 64, 9};
    struct hs_verify_options options = {.schedule = (enum hs_schedule)draw(HS_SCHEDULES), .seed = (uint64_t)draw(1000)};
    options.eager = draw(2);
    options.window = windows[draw(4)];
    options.instances = 1 + draw(4) / 3;
    return options;
}

struct tally {
    int runs, bad;
    char text[400];
};

static void note(struct tally *tally, const char *what, const struct hs_shape *shape,
                 const struct hs_verify_options *options)
{
    tally->runs++;
    if (what && tally->bad++ == 0)
        snprintf(tally->text, sizeof tally->text,
                 "%lld bytes, l %d, k %d, level %d, room %lld, parts %s, schedule %d, eager %d, window %d: %s",
                 (long long)shape->bytes, shape->with.leaders, shape->with.pieces, (int)shape->with.level,
                 (long long)shape->topology->shared_bytes, shape->part ? "given" : "equal", (int)options->schedule,
                 options->eager, options->window, what);
}

/* ---- DPML ---- */

/* Every l, with k, level, length and room in turn. */
static void dpml_right(enum layout layout, int nodes, int ppn)
{
    const struct hs_alg *alg = hs_alg_find(HS_ALLREDUCE, "dpml");
    struct tally tally = {0};
    struct hs_topology topology;
    int size = make(&topology, layout, nodes, ppn, 0);
    for (int i = 0; size && i < (size > 24 ? 5 : 10); i++) {
        const int leaders[] = {1, 2, 3, ppn, 0}, lengths[] = {1, 7, 40, 97, 0};
        const int64_t rooms[] = {0, 8, 8 * 31, size > 24 ? 8 * 41 : 64, 1 << 20};
        struct hs_verify_options options = some_options();
        struct hs_verify_report report;
        struct hs_shape shape = {.size = size, .bytes = 8 * lengths[draw(i ? 4 : 5)], .unit = 8};
        shape.topology = &topology;
        topology.shared_bytes = rooms[draw(5)];
        shape.with = (struct hs_parameters){
            .leaders = leaders[i % 5], .pieces = draw(4), .level = (enum hs_division_kind)(draw(3) / 2)};
        hsumma_status status = hs_verify(alg, &shape, &options, &hs_heap, &report);
        const char *what = status                                                                  ? report.text
                           : topology.division[shape.with.level].contiguous && !report.keeps_order ? "order not kept"
                                                                                                   : NULL;
        note(&tally, what, &shape, &options);
    }
    if (!tap_ok(size && tally.bad == 0, "dpml, %d nodes of %d, %s: %d runs", nodes, ppn, layout_names[layout],
                tally.runs))
        tap_diag("%s", tally.text);
    hs_topology_free(&topology, &hs_heap);
}

static int sends(const struct hs_list *list, const struct hs_division *division, int rank, int to_own)
{
    int count = 0;
    for (int i = 0; i < list->steps; i++)
        count += list->step[i].kind == HS_SEND && (division->of[list->step[i].peer] == division->of[rank]) == to_own;
    return count;
}

/* Leaders send k times what their outer row sends, others nothing; inside a node only without shared memory. */
static int dpml_counts_on(const struct hs_topology *topology, const struct hs_shape *shape, int leaders, int chunks)
{
    const struct hs_division *division = &topology->division[shape->with.level];
    struct hs_shape stage = {.size = division->parts, .bytes = 8, .unit = 8};
    struct hs_list *list = NULL, *outer = NULL;
    struct hs_shape mine = *shape;
    mine.with.outer = hs_alg_find(HS_ALLREDUCE, "recursive_doubling");
    int bad = hs_build_all(hs_alg_find(HS_ALLREDUCE, "dpml"), &mine, &hs_heap, &list) != HSUMMA_OK ||
              hs_build_all(mine.with.outer, &stage, &hs_heap, &outer) != HSUMMA_OK;
    for (int r = 0; !bad && r < shape->size; r++) {
        int node = division->of[r], leads = division->index[r] < leaders;
        int members = hs_division_size(division, node), rounds = 0, inside = leaders - leads;
        for (int i = 0; i < outer[node].steps; i++)
            rounds += outer[node].step[i].kind == HS_SEND;
        inside = topology->shared_bytes > 0 || members == 1 ? 0 : inside + (leads ? members - 1 : 0);
        bad += sends(&list[r], division, r, 0) != (leads ? chunks * shape->with.pieces * rounds : 0);
        bad += sends(&list[r], division, r, 1) != inside;
    }
    hs_free_all(&hs_heap, list, shape->size);
    hs_free_all(&hs_heap, outer, division->parts);
    return bad;
}

static void dpml_counts(enum layout layout, int nodes, int ppn)
{
    struct hs_topology topology;
    int size = make(&topology, layout, nodes, ppn, 0), bad = !size, runs = 0;
    for (int level = HS_NODE; size && level < HS_DIVISION_KINDS; level++) {
        const struct hs_division *division = &topology.division[level];
        int least = MOST_PPN, most = 1;
        for (int i = 0; i < division->parts; i++) {
            least = least < hs_division_size(division, i) ? least : hs_division_size(division, i);
            most = most > hs_division_size(division, i) ? most : hs_division_size(division, i);
        }
        for (int l = 1; l <= least; l++)
            for (int k = 1; k <= 3; k++, runs += 3) {
                int64_t bytes = 8 * 4 * l * k; /* no piece of a quarter is empty */
                struct hs_shape shape = {.size = size, .bytes = bytes, .unit = 8, .topology = &topology};
                shape.with = (struct hs_parameters){.leaders = l, .pieces = k, .level = (enum hs_division_kind)level};
                topology.shared_bytes = 0;
                bad += dpml_counts_on(&topology, &shape, l, 1);
                topology.shared_bytes = bytes;
                bad += dpml_counts_on(&topology, &shape, l, 1);
                topology.shared_bytes = bytes / 2; /* two halves: four chunks, unless everybody is alone */
                bad += dpml_counts_on(&topology, &shape, l, division->parts == size ? 1 : 4);
            }
    }
    tap_ok(bad == 0, "dpml, %d nodes of %d, %s: messages as the outer stage sends them, %d cases", nodes, ppn,
           layout_names[layout], runs);
    hs_topology_free(&topology, &hs_heap);
}

/* The bits depend on the topology alone, not on l, k or the shared memory; for powers of two they are the usual ones.
 */
static void dpml_bits(int nodes, int ppn)
{
    struct hs_topology topology;
    int size = make(&topology, BLOCKS, nodes, ppn, 0), bad = !size;
    struct hs_shape shape = {.size = size, .bytes = 8 * 37, .unit = 8, .topology = &topology};
    struct hs_verify_report first = {0}, report;
    for (int i = 0; size && i < 8; i++) {
        topology.shared_bytes = (int64_t[]){0, 64, 8 * 37, 1 << 20}[i % 4];
        shape.with = (struct hs_parameters){.leaders = 1 + i % ppn, .pieces = 1 + i % 3};
        bad += hs_verify(hs_alg_find(HS_ALLREDUCE, "dpml"), &shape, NULL, &hs_heap, &report) != HSUMMA_OK;
        if (i == 0)
            first = report;
        bad += report.bracketing != first.bracketing;
    }
    if (!(nodes & (nodes - 1)) && !(ppn & (ppn - 1))) {
        shape.topology = NULL;
        bad += hs_verify(hs_alg_find(HS_ALLREDUCE, "recursive_doubling"), &shape, NULL, &hs_heap, &report) != HSUMMA_OK;
        bad += report.bracketing != first.bracketing;
    }
    tap_ok(bad == 0, "dpml, %d nodes of %d: the same bits for all parameters", nodes, ppn);
    hs_topology_free(&topology, &hs_heap);
}

/* Any row between the nodes. */
static void dpml_outer(void)
{
    static const char *const names[] = {"ring", "reduce_bcast", "recursive_doubling", "dpml"};
    struct hs_topology topology;
    int size = make(&topology, BLOCKS, 6, 4, 1 << 20), bad = !size;
    for (size_t i = 0; size && i < 2 * sizeof names / sizeof *names; i++) {
        struct hs_shape shape = {.size = size, .bytes = 8 * 50, .unit = 8, .topology = &topology};
        struct hs_verify_report report;
        struct hs_list *list = NULL;
        shape.with =
            (struct hs_parameters){.leaders = 2, .pieces = 2, .outer = hs_alg_find(HS_ALLREDUCE, names[i / 2])};
        topology.shared_bytes = i % 2 ? 1 << 20 : 0;
        if (hs_build_all(shape.with.outer, &shape, &hs_heap, &list) != HSUMMA_OK)
            bad++;
        hs_free_all(&hs_heap, list, size);
        hsumma_status status = hs_verify(hs_alg_find(HS_ALLREDUCE, "dpml"), &shape, NULL, &hs_heap, &report);
        /* the ring neither keeps the order nor brackets alike, and the row promises both with other stages */
        bad += i / 2 == 0 ? !report.same_bits : status != HSUMMA_OK;
    }
    tap_ok(bad == 0, "dpml: ring, reduce_bcast and dpml between the nodes");
    hs_topology_free(&topology, &hs_heap);
}

/* ---- rows with parts ---- */

static const int64_t *cut(int64_t *part, int p, int64_t elements)
{
    int how = draw(4);
    for (int i = 0; i <= p; i++) {
        int64_t at[] = {0, elements * i / p * i / p, i > p / 3 ? elements : 0, elements * (i / 2 * 2) / p};
        part[i] = 8 * (i == p ? elements : at[how]);
    }
    return how ? part : NULL;
}

static void parts_right(const struct hs_alg *alg, enum layout layout, int nodes, int ppn)
{
    struct tally tally = {0};
    struct hs_topology topology;
    int64_t part[MOST_RANKS + 1];
    int size = make(&topology, layout, nodes, ppn, 0);
    for (int i = 0; size && i < (size > 24 ? 5 : 10); i++) {
        int64_t elements = (int64_t[]){3 * size, size, 17, 1, 0}[i % 5];
        struct hs_verify_options options = some_options();
        struct hs_verify_report report;
        struct hs_shape shape = {.size = size, .bytes = 8 * elements, .unit = 8, .topology = &topology};
        shape.part = cut(part, size, elements);
        shape.with.level = (enum hs_division_kind)(draw(3) / 2);
        topology.shared_bytes = draw(3) ? 1 << 20 : draw(2) ? 0 : 8 * elements;
        hsumma_status status = hs_verify(alg, &shape, &options, &hs_heap, &report);
        const char *what = status                                                                  ? report.text
                           : topology.division[shape.with.level].contiguous && !report.keeps_order ? "order not kept"
                                                                                                   : NULL;
        note(&tally, what, &shape, &options);
    }
    if (!tap_ok(size && tally.bad == 0, "%s node_aware, %d nodes of %d, %s: %d runs",
                hs_collective_name(alg->collective), nodes, ppn, layout_names[layout], tally.runs))
        tap_diag("%s", tally.text);
    hs_topology_free(&topology, &hs_heap);
}

/* One message per ordered pair of nodes, dealt out evenly; none inside a node with enough shared memory. */
static void parts_counts(const struct hs_alg *alg, enum layout layout, int nodes, int ppn)
{
    struct hs_topology topology;
    int size = make(&topology, layout, nodes, ppn, 0), bad = !size;
    for (int shared = 0; size && shared < 2; shared++) {
        struct hs_shape shape = {.size = size, .bytes = 16 * size, .unit = 8, .topology = &topology};
        struct hs_verify_report report;
        int least = ppn;
        for (int i = 0; i < nodes; i++)
            if (least > hs_division_size(&topology.division[HS_NODE], i))
                least = hs_division_size(&topology.division[HS_NODE], i);
        topology.shared_bytes = shared << 20;
        bad += hs_verify(alg, &shape, NULL, &hs_heap, &report) != HSUMMA_OK;
        bad += report.inter_node_messages != nodes * (nodes - 1);
        bad += report.node_pair_messages_max != (nodes > 1);
        bad += report.inter_node_messages_rank_max != (nodes - 1 + least - 1) / least;
        bad += shared && report.messages != report.inter_node_messages;
    }
    tap_ok(bad == 0, "%s node_aware, %d nodes of %d, %s: one message per pair of nodes",
           hs_collective_name(alg->collective), nodes, ppn, layout_names[layout]);
    hs_topology_free(&topology, &hs_heap);
}

/* Its stages know the topology. */
static void reduce_bcast(void)
{
    static const char *const stages[][2] = {{NULL, NULL}, {"smp", "hierarchical"}, {"binomial", "binary_tree"}};
    struct tally tally = {0};
    for (int i = 0; i < 24; i++) {
        struct hs_topology topology;
        struct hs_verify_options options = some_options();
        struct hs_verify_report report;
        int size = make(&topology, i % 2 ? UNEVEN : BLOCKS, 1 + i % 4, 4, i % 5 ? 8 * 40 : 0);
        struct hs_shape shape = {.size = size, .bytes = 8 * (3 + 13 * (i % 5)), .unit = 8, .topology = &topology};
        if (stages[i % 3][0]) {
            shape.with.inner = hs_alg_find(HS_REDUCE_TO, stages[i % 3][0]);
            shape.with.outer = hs_alg_find(HS_BCAST, stages[i % 3][1]);
        }
        hsumma_status status =
            !size ? HSUMMA_ERR_MEMORY
                  : hs_verify(hs_alg_find(HS_ALLREDUCE, "reduce_bcast"), &shape, &options, &hs_heap, &report);
        note(&tally, status ? report.text : NULL, &shape, &options);
        hs_topology_free(&topology, &hs_heap);
    }
    if (!tap_ok(tally.bad == 0, "reduce_bcast with stages that know the topology: %d runs", tally.runs))
        tap_diag("%s", tally.text);
}

/* Without a topology every rank is a node. */
static void no_topology(const struct hs_alg *alg)
{
    int bad = 0;
    for (int p = 1; p <= 9; p++) {
        struct hs_shape shape = {.size = p, .bytes = 8 * 20, .unit = 8};
        struct hs_verify_report report;
        bad += hs_verify(alg, &shape, NULL, &hs_heap, &report) != HSUMMA_OK;
    }
    tap_ok(bad == 0, "%s %s without a topology", hs_collective_name(alg->collective), alg->name);
}

int main(void)
{
    static const int ppns[] = {1, 2, 3, 4, 8};
    const struct hs_alg *allgather = hs_alg_find(HS_ALLGATHER, "node_aware");
    const struct hs_alg *reduce_scatter = hs_alg_find(HS_REDUCE_SCATTER, "node_aware");
    for (int nodes = 1; nodes <= MOST_NODES; nodes++)
        for (int i = 0; i < 5; i++) {
            for (int layout = 0; layout < LAYOUTS; layout++) {
                dpml_right((enum layout)layout, nodes, ppns[i]);
                parts_right(allgather, (enum layout)layout, nodes, ppns[i]);
                parts_right(reduce_scatter, (enum layout)layout, nodes, ppns[i]);
            }
            enum layout layout = (enum layout)((nodes + i) % LAYOUTS);
            dpml_counts(layout, nodes, ppns[i]);
            parts_counts(allgather, layout, nodes, ppns[i]);
            parts_counts(reduce_scatter, layout, nodes, ppns[i]);
            if (nodes % 3 < 2)
                dpml_bits(nodes, ppns[i]);
        }
    dpml_outer();
    reduce_bcast();
    no_topology(hs_alg_find(HS_ALLREDUCE, "dpml"));
    no_topology(allgather);
    no_topology(reduce_scatter);
    return tap_done();
}
