/*
 * Algorithms that know nodes, on nodes of many sizes, in blocks and scattered, on sockets, with messages and with
 * shared memory inside. Checks the papers' claims by counts in the lists: which ranks send between nodes, how often,
 * and in how many rounds. (unit/coll/prove covers all other configurations.)
 */
#include "coll/schedule/lists.h"
#include "support/coll/sweep.h"
#include "support/random.h"
#include "support/tap.h"

#include <math.h>
#include <stdlib.h>

enum { UNIT = 8, MOST_RANKS = 4096, MOST_NODES = 1000 };

/* Placement of ranks on nodes. SOCKETS: in blocks; the algorithm's nodes are sockets, two per node. ONE_LESS: in
 * blocks; every third node has a rank less. */
enum layout { BLOCKS, SOCKETS, SCATTERED, UNEVEN, UNEVEN_BLOCKS, ONE_LESS, LAYOUTS };

static const char *const layout_names[] = {"blocks",       "sockets",       "scattered",
                                           "uneven nodes", "uneven blocks", "one rank less"};

struct place {
    struct hs_topology topology;
    struct hs_shape shape;
    const struct hs_division *nodes; /* the division that the algorithm uses: nodes or sockets */
};

/* Messages between nodes, counted from the lists. */
struct traffic {
    int64_t messages;
    int rank_max, rounds, by_others; /* by_others: messages from ranks that are not the lowest on their node */
};

static int ranks_on(enum layout layout, int i, int ppn)
{
    return layout == UNEVEN_BLOCKS         ? 1 + (ppn - 1 + 3 * i) % ppn
           : layout == ONE_LESS && ppn > 1 ? ppn - (i % 3 == 0)
                                           : ppn;
}

/* Sets the node of each rank according to the layout; returns the number of ranks. */
static int name_nodes(struct coll_sweep *sweep, enum layout layout, int nodes, int ppn, int *node)
{
    int size = 0;
    for (int i = 0; i < nodes; i++)
        for (int j = 0; j < ranks_on(layout, i, ppn); j++)
            node[size++] = layout == UNEVEN ? draw_of(&sweep->mix, nodes) : i;
    for (int r = size - 1; layout == SCATTERED && r > 0; r--) {
        int other = draw_of(&sweep->mix, r + 1), swap = node[r];
        node[r] = node[other];
        node[other] = swap;
    }
    return size;
}

static void begin(struct coll_sweep *sweep, struct place *place, enum layout layout, int nodes, int ppn, int64_t room)
{
    static int node[MOST_RANKS], socket[MOST_RANKS], seen[MOST_NODES];
    int size = name_nodes(sweep, layout, nodes, ppn, node);
    for (int i = 0; i < nodes; i++)
        seen[i] = 0;
    for (int r = 0; r < size; r++)
        socket[r] = 2 * node[r] + (seen[node[r]]++ >= (ppn + 1) / 2);
    *place = (struct place){.shape = {.size = size, .bytes = 3 * UNIT, .unit = UNIT}};
    if (hs_topology_make(&place->topology, size, node, socket, &hs_heap))
        exit(99);
    place->topology.shared_bytes = room;
    place->topology.direct = room && (nodes + ppn) % 2;
    place->shape.topology = &place->topology;
    place->shape.with.level = layout == SOCKETS ? HS_SOCKET : HS_NODE;
    place->shape.with.outer = hs_alg_find(HS_ALLREDUCE, "recursive_doubling"); /* its number of messages is known */
    place->nodes = &place->topology.division[place->shape.with.level];
}

/* The number of ranks on the smallest node. */
static int smallest(const struct place *place)
{
    int least = place->shape.size;
    for (int i = 0; i < place->nodes->parts; i++)
        least = least < hs_division_size(place->nodes, i) ? least : hs_division_size(place->nodes, i);
    return least;
}

/* The largest number of consecutive messages between nodes, by relaxation over the steps' dependencies. */
static int rounds_between(const struct hs_lists *lists, const struct hs_division *nodes)
{
    int *round = calloc((size_t)lists->steps + 1, sizeof *round), most = 0;
    for (int changed = 1; round && changed;) {
        changed = 0;
        for (int g = 0; g < lists->steps; g++) {
            const struct hs_step *step = hs_lists_step(lists, g);
            int rank = lists->rank[g], now = 0;
            for (int d = 0; d < step->deps; d++) {
                int on = round[lists->base[rank] + lists->list[rank].dep[step->first_dep + d]];
                now = on > now ? on : now;
            }
            now += step->kind == HS_SEND && hs_part_of(nodes, step->peer) != hs_part_of(nodes, rank);
            if (step->kind == HS_RECV && round[lists->mate[g]] > now)
                now = round[lists->mate[g]];
            changed |= now != round[g];
            round[g] = now;
            most = now > most ? now : most;
        }
    }
    free(round);
    return most;
}

/* The number of a rank's SENDs within its node (to_own), or to other nodes. */
static int sends(const struct hs_list *list, const struct hs_division *nodes, int rank, int to_own)
{
    int count = 0;
    for (int i = 0; i < list->steps; i++)
        count += list->step[i].kind == HS_SEND &&
                 (hs_part_of(nodes, list->step[i].peer) == hs_part_of(nodes, rank)) == to_own;
    return count;
}

static struct traffic traffic_of(const struct place *place, const struct hs_alg *alg)
{
    struct hs_lists lists;
    struct traffic traffic = {0};
    if (hs_lists_build(alg, &place->shape, &hs_heap, &lists))
        return (struct traffic){-1, -1, -1, -1};
    for (int r = 0; r < place->shape.size; r++) {
        int sent = sends(&lists.list[r], place->nodes, r, 0);
        traffic.messages += sent;
        traffic.by_others += hs_place_in_part(place->nodes, r) > 0 ? sent : 0;
        traffic.rank_max = sent > traffic.rank_max ? sent : traffic.rank_max;
    }
    traffic.rounds = rounds_between(&lists, place->nodes);
    hs_lists_free(&hs_heap, &lists);
    return traffic;
}

/* Claims of the papers. */

/*
 * NAP: a process sends at most L messages between nodes, in exactly L rounds, with L = ceil(log_ppn n). If the smallest
 * node has r ranks and others have more, L = ceil(log_(r+1) n) for n <= r + 1 and for powers of r + 1. For other n, L
 * may also be ceil(log_r n).
 */
static void nap(struct coll_sweep *sweep, const struct hs_alg *alg, struct place *place)
{
    int n = place->nodes->parts, ppn = smallest(place), steps = ppn > 1 ? log_up(ppn, n) : 0;
    struct hs_verify_report report;
    sweep_verify(sweep, alg, &place->shape, &report);
    struct traffic traffic = traffic_of(place, alg);
    if (ppn == 1) {
        sweep_expect(sweep, &place->shape, "messages", traffic.messages, doubling_messages(n));
        return;
    }
    int fewer = log_up(ppn + 1, n);
    if (!place->nodes->even && (n <= ppn + 1 || lround(pow(ppn + 1, fewer)) == n || traffic.rounds < steps))
        steps = fewer;
    sweep_at_most(sweep, &place->shape, "messages between nodes per process", traffic.rank_max, steps);
    sweep_expect(sweep, &place->shape, "rounds between nodes", traffic.rounds, steps);
}

static void smp(struct coll_sweep *sweep, const struct hs_alg *alg, struct place *place)
{
    int leaders = place->nodes->parts, p = place->shape.size;
    int64_t between = doubling_messages(leaders), inside = leaders == 1 ? doubling_messages(p) : 2 * (p - leaders);
    struct hs_verify_report report;
    if (!sweep_verify(sweep, alg, &place->shape, &report))
        return;
    struct traffic traffic = traffic_of(place, alg);
    sweep_expect(sweep, &place->shape, "messages between nodes", traffic.messages, between);
    sweep_expect(sweep, &place->shape, "those by others than leaders", traffic.by_others, 0);
    if (!place->topology.shared_bytes)
        sweep_expect(sweep, &place->shape, "messages", report.messages, inside + between);
}

/* Reduction and broadcast: a tree over the leaders and one in each node: p - 1 messages, n - 1 between nodes. */
static void rooted(struct coll_sweep *sweep, const struct hs_alg *alg, struct place *place)
{
    uint64_t bracketing = 0;
    place->shape.with.outer = NULL;
    for (int root = 0; root < place->shape.size; root += 1 + draw_of(&sweep->mix, 4)) {
        struct hs_verify_report report;
        place->shape.root = root;
        if (!sweep_verify(sweep, alg, &place->shape, &report))
            continue;
        sweep_expect(sweep, &place->shape, "messages between nodes", traffic_of(place, alg).messages,
                     place->nodes->parts - 1);
        if (!place->topology.shared_bytes)
            sweep_expect(sweep, &place->shape, "messages", report.messages, place->shape.size - 1);
        if (root > 0 && report.bracketing != bracketing)
            sweep_fault(sweep, &place->shape, "roots bracket differently");
        bracketing = report.bracketing;
    }
}

/* Segments: each of the p - 1 messages is cut into its segments, at most 16. With one node, or with a node per rank,
 * messages are not cut. The number of rounds is bounded. */
static void segmented(struct coll_sweep *sweep, const struct hs_alg *alg, struct place *place)
{
    int64_t p = place->shape.size, leaders = place->nodes->parts;
    place->shape.with.outer = NULL;
    place->shape.bytes = 80 * UNIT;
    for (int segments = 1; segments <= 40; segments = 2 * segments + 1) {
        struct hs_verify_report report;
        place->shape.segment = (80 + segments - 1) / segments * UNIT;
        place->shape.root = draw_of(&sweep->mix, place->shape.size);
        int64_t cut = (place->shape.bytes + place->shape.segment - 1) / place->shape.segment;
        cut = leaders == 1 || leaders == p ? 1 : cut < 16 ? cut : 16;
        if (!sweep_verify(sweep, alg, &place->shape, &report) || place->topology.shared_bytes)
            continue;
        sweep_expect(sweep, &place->shape, "messages", report.messages, (p - 1) * cut);
        sweep_at_most(sweep, &place->shape, "rounds", report.rounds,
                      log2_up(leaders) + log2_up(p) + 2 * (cut - 1) * log2_up(p));
    }
}

/* DPML: for each chunk and each of k pieces a leader sends the messages of its outer algorithm; other ranks send none
 * between nodes. Messages inside a node occur only without shared memory. */
static void dpml_on(struct coll_sweep *sweep, const struct hs_alg *alg, struct place *place, int chunks)
{
    const struct hs_division *nodes = place->nodes;
    struct hs_shape stage = {.size = nodes->parts, .bytes = UNIT, .unit = UNIT};
    struct hs_list *list = NULL, *outer = NULL;
    int bad = hs_build_all(alg, &place->shape, &hs_heap, &list) != HSUMMA_OK ||
              hs_build_all(place->shape.with.outer, &stage, &hs_heap, &outer) != HSUMMA_OK;
    for (int r = 0; !bad && r < place->shape.size; r++) {
        int node = hs_part_of(nodes, r), leads = hs_place_in_part(nodes, r) < place->shape.with.leaders, rounds = 0;
        int members = hs_division_size(nodes, node), inside = place->shape.with.leaders - leads;
        for (int i = 0; i < outer[node].steps; i++)
            rounds += outer[node].step[i].kind == HS_SEND;
        inside = place->topology.shared_bytes > 0 || members == 1 ? 0 : inside + (leads ? members - 1 : 0);
        bad |= sends(&list[r], nodes, r, 0) != (leads ? chunks * place->shape.with.pieces * rounds : 0) ||
               sends(&list[r], nodes, r, 1) != inside;
    }
    sweep->runs++;
    sweep_expect(sweep, &place->shape, "ranks with another number of messages", bad, 0);
    hs_free_all(&hs_heap, list, place->shape.size);
    hs_free_all(&hs_heap, outer, nodes->parts);
}

static void dpml(struct coll_sweep *sweep, const struct hs_alg *alg, struct place *place)
{
    int alone = place->nodes->parts == place->shape.size;
    for (int l = 1; l <= smallest(place); l++)
        for (int k = 1; k <= 3; k++) {
            place->shape.bytes = UNIT * 4 * l * k; /* every piece of a quarter of the vector has elements */
            place->shape.with.leaders = l;
            place->shape.with.pieces = k;
            place->topology.shared_bytes = 0;
            dpml_on(sweep, alg, place, 1);
            place->topology.shared_bytes = place->shape.bytes;
            dpml_on(sweep, alg, place, 1);
            place->topology.shared_bytes =
                place->shape.bytes / 2; /* half of the vector, in two halves: four chunks, unless each rank is alone */
            dpml_on(sweep, alg, place, alone ? 1 : 4);
        }
}

/* DPML: the bits depend only on the topology, not on l, k or shared memory; for powers of two they are those of
 * recursive doubling. */
static void dpml_bits(struct coll_sweep *sweep, const struct hs_alg *alg, struct place *place)
{
    int nodes = place->nodes->parts, ppn = place->shape.size / nodes;
    struct hs_verify_report first = {0}, report;
    place->shape.bytes = UNIT * 37;
    place->shape.with.outer = NULL;
    for (int i = 0; i < 8; i++) {
        place->topology.shared_bytes = (int64_t[]){0, 64, UNIT * 37, 1 << 20}[i % 4];
        place->shape.with.leaders = 1 + i % ppn;
        place->shape.with.pieces = 1 + i % 3;
        if (sweep_verify(sweep, alg, &place->shape, &report) && i > 0 && report.bracketing != first.bracketing)
            sweep_fault(sweep, &place->shape, "other bits than with one leader");
        first = i == 0 ? report : first;
    }
    if ((nodes & (nodes - 1)) || (ppn & (ppn - 1)))
        return;
    place->shape.topology = NULL;
    if (sweep_verify(sweep, hs_alg_find(HS_ALLREDUCE, "recursive_doubling"), &place->shape, &report) &&
        report.bracketing != first.bracketing)
        sweep_fault(sweep, &place->shape, "other bits than recursive_doubling");
}

/* One message per ordered pair of nodes, evenly distributed over ranks; none inside a node that has shared memory. */
static void pairs(struct coll_sweep *sweep, const struct hs_alg *alg, struct place *place)
{
    int nodes = place->nodes->parts, least = smallest(place);
    struct hs_verify_report report;
    place->shape.bytes = 2 * UNIT * place->shape.size;
    place->shape.with.outer = NULL;
    if (!sweep_verify(sweep, alg, &place->shape, &report))
        return;
    sweep_expect(sweep, &place->shape, "messages between nodes", report.inter_node_messages, nodes * (nodes - 1));
    sweep_expect(sweep, &place->shape, "messages between two nodes", report.node_pair_messages_max, nodes > 1);
    sweep_expect(sweep, &place->shape, "messages between nodes of a rank", report.inter_node_messages_rank_max,
                 (nodes - 1 + least - 1) / least);
    if (place->topology.shared_bytes)
        sweep_expect(sweep, &place->shape, "messages", report.messages, report.inter_node_messages);
}

/* Bytes of SHARED per rank. 200: each of two or three stages gets one cache line; with more stages none gets any. */
static const int64_t rooms[] = {0, 1 << 16, 200};

enum { EVERY_LAYOUT = (1 << ONE_LESS) - 1, EVEN_NODES = 1 << BLOCKS | 1 << SCATTERED };

static const struct claim {
    enum hs_collective collective;
    const char *name, *what;
    void (*check)(struct coll_sweep *sweep, const struct hs_alg *alg, struct place *place);
    unsigned layouts;
    int nodes, per_node, rooms; /* nodes, per_node: upper limits; rooms: how many of rooms[] are used */
} claims[] = {
    {HS_ALLREDUCE, "nap", "messages and rounds between nodes", nap, 1 << BLOCKS, 40, 16, 3},
    {HS_ALLREDUCE, "nap", "messages and rounds between nodes", nap, 1 << SCATTERED, 40, 6, 3},
    {HS_ALLREDUCE, "nap", "messages and rounds between nodes", nap, 1 << SOCKETS, 10, 8, 3},
    {HS_ALLREDUCE, "nap", "messages and rounds between nodes", nap, 1 << ONE_LESS, 40, 16, 3},
    {HS_ALLREDUCE, "nap", "messages and rounds between nodes", nap, 1 << UNEVEN, 12, 12, 3},
    {HS_ALLREDUCE, "smp", "leaders alone send between nodes", smp, EVERY_LAYOUT, 17, 9, 3},
    {HS_REDUCE_TO, "smp", "a tree of trees", rooted, EVERY_LAYOUT, 9, 6, 3},
    {HS_BCAST, "hierarchical", "a tree of trees", rooted, EVERY_LAYOUT, 9, 6, 3},
    {HS_BCAST, "hierarchical", "in segments", segmented, EVERY_LAYOUT, 8, 5, 3},
    {HS_ALLREDUCE, "dpml", "messages as the outer stage sends them", dpml, EVERY_LAYOUT, 12, 8, 1},
    {HS_ALLREDUCE, "dpml", "the same bits for all parameters", dpml_bits, 1 << BLOCKS, 12, 8, 1},
    {HS_ALLGATHER, "node_aware", "one message per pair of nodes", pairs, EVERY_LAYOUT & ~(1 << SOCKETS), 12, 8, 2},
    {HS_REDUCE_SCATTER, "node_aware", "one message per pair of nodes", pairs, EVERY_LAYOUT & ~(1 << SOCKETS), 12, 8, 2},
};

/* Checks a claim for one placement of ranks, if the algorithm fits it. */
static void claim_at(struct coll_sweep *sweep, const struct claim *claim, enum layout layout, int nodes, int ppn,
                     int64_t room)
{
    const struct hs_alg *alg = hs_alg_find(claim->collective, claim->name);
    struct place place;
    begin(sweep, &place, layout, nodes, ppn, room);
    if (!hs_alg_unfit(alg, &place.shape))
        claim->check(sweep, alg, &place);
    hs_topology_free(&place.topology, &hs_heap);
}

static void check_claim(const struct claim *claim)
{
    for (int layout = 0; layout < LAYOUTS; layout++)
        for (int i = 0; i < claim->rooms && claim->layouts >> layout & 1; i++) {
            struct coll_sweep sweep = {.mix = (uint64_t)(100 * layout + i)};
            for (int n = 1; n <= claim->nodes; n += rooms[i] && n > 5 ? 7 : 1)
                for (int ppn = 1; ppn <= claim->per_node; ppn++)
                    claim_at(&sweep, claim, (enum layout)layout, n, ppn, rooms[i]);
            sweep_end(&sweep, sweep.runs >= 30, "%s %s, %s, %s, room %d", hs_collective_name(claim->collective),
                      claim->name, claim->what, layout_names[layout], (int)rooms[i]);
        }
}

static void nap_on_many_nodes(void)
{
    static const int large[][2] = {{64, 4}, {100, 4}, {256, 4}, {64, 16}, {100, 16}, {256, 16}, {1000, 2}};
    struct coll_sweep sweep = {0};
    for (int room = 0; room < 3; room++)
        for (int i = 0; i < (room ? 2 : 7); i++)
            claim_at(&sweep, &claims[0], BLOCKS, large[i][0], large[i][1], rooms[room]);
    sweep_end(&sweep, sweep.runs == 11, "nap on many nodes");
}

/* Nodes of given sizes: NAP's rounds between nodes, and no process sends more often; or NAP refuses them. */
static void nap_on_unequal_nodes(void)
{
    static const struct {
        int rounds;        /* 0: NAP refuses */
        const char *ranks; /* of each node, as hexadecimal digits */
    } cases[] = {{1, "345"},
                 {1, "2ff"},
                 {1, "345f"},
                 {1, "effffffffffffff"},
                 {2, "3ffff"},
                 {2, "233333332"},
                 {2, "434444444444"},     /* 12 nodes: 3 groups of 4, the first of which is joint */
                 {3, "44434444444444"},   /* 14 nodes: 4 groups of 4, 4, 3 and 3 nodes cannot be joint */
                 {2, "4443444444444444"}, /* 16 nodes: 4 groups of 4 can */
                 {0, "31"},
                 {0, "f1f"}};
    const struct hs_alg *alg = hs_alg_find(HS_ALLREDUCE, "nap");
    struct coll_sweep sweep = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct place place = {.shape = {.bytes = 3 * UNIT, .unit = UNIT, .topology = &place.topology}};
        struct hs_verify_report report;
        int node[256];
        for (int n = 0; cases[i].ranks[n]; n++)
            for (int j = cases[i].ranks[n] <= '9' ? cases[i].ranks[n] - '0' : cases[i].ranks[n] - 'a' + 10; j > 0; j--)
                node[place.shape.size++] = n;
        if (hs_topology_make(&place.topology, place.shape.size, node, NULL, &hs_heap))
            exit(99);
        place.nodes = &place.topology.division[HS_NODE];
        sweep_expect(&sweep, &place.shape, "refused", hs_alg_unfit(alg, &place.shape) != NULL, !cases[i].rounds);
        if (cases[i].rounds && sweep_verify(&sweep, alg, &place.shape, &report)) {
            struct traffic traffic = traffic_of(&place, alg);
            sweep_expect(&sweep, &place.shape, "rounds between nodes", traffic.rounds, cases[i].rounds);
            sweep_expect(&sweep, &place.shape, "messages between nodes per process", traffic.rank_max, traffic.rounds);
            sweep_expect(&sweep, &place.shape, "inter-node messages, by verify", report.inter_node_messages_rank_max,
                         traffic.rank_max);
        }
        hs_topology_free(&place.topology, &hs_heap);
    }
    struct hs_shape alone = {.size = 5, .bytes = UNIT, .unit = UNIT};
    sweep_expect(&sweep, &alone, "refused without a topology", hs_alg_unfit(alg, &alone) != NULL, 0);
    sweep_end(&sweep, sweep.runs >= 9, "nap on nodes of given sizes");
}

/* Other algorithms as stages. */

/* Uses every algorithm of the collective as the stage between nodes, then also as the stages inside nodes; of
 * algorithms that reduce, only those that keep the order. */
static void any_rows(enum hs_collective collective, const char *name, int64_t room)
{
    const struct hs_alg *alg = hs_alg_find(collective, name), *row;
    for (int i = 0; (row = hs_alg_at(i)); i++) {
        struct coll_sweep sweep = {.mix = (uint64_t)i};
        if (row->collective != collective || row->flags & HS_BY_MPI ||
            (collective != HS_BCAST && !(row->flags & (HS_KEEPS_ORDER | HS_KEEPS_ORDER_IF))))
            continue;
        for (int layout = 0; layout < LAYOUTS; layout++)
            for (int n = 1; n <= 9; n++) {
                struct place place;
                struct hs_verify_report report;
                begin(&sweep, &place, (enum layout)layout, n, n % 4 + 1, room);
                place.shape.root = n % place.shape.size;
                place.shape.bytes = 40 * UNIT;
                place.shape.segment = n % 2 * 7 * UNIT;
                place.shape.with.outer = row;
                sweep_verify(&sweep, alg, &place.shape, &report);
                place.shape.with.inner = row;
                sweep_verify(&sweep, alg, &place.shape, &report);
                hs_topology_free(&place.topology, &hs_heap);
            }
        sweep_end(&sweep, 1, "%s %s, stages by %s, room %d", hs_collective_name(collective), name, row->name,
                  (int)room);
    }
}

/* dpml with other algorithms between nodes. With the ring it neither keeps the order nor brackets uniformly. */
static void dpml_outer(void)
{
    static const char *const names[] = {"ring", "reduce_bcast", "recursive_doubling", "dpml"};
    int bad = 0;
    for (int i = 0; i < 8; i++) {
        struct hs_topology topology = topology_blocks(24, 6, 2, i % 2 << 20, 0);
        struct hs_shape shape = {.size = 24, .bytes = UNIT * 50, .unit = UNIT, .topology = &topology};
        struct hs_verify_report report;
        shape.with =
            (struct hs_parameters){.leaders = 2, .pieces = 2, .outer = hs_alg_find(HS_ALLREDUCE, names[i / 2])};
        hsumma_status status = hs_verify(hs_alg_find(HS_ALLREDUCE, "dpml"), &shape, NULL, &hs_heap, &report);
        bad += i / 2 == 0 ? !report.same_bits : status != HSUMMA_OK;
        hs_topology_free(&topology, &hs_heap);
    }
    tap_ok(bad == 0, "dpml: ring, reduce_bcast, recursive_doubling and dpml between the nodes");
}

/* reduce_bcast passes the topology on to its stages. */
static void reduce_bcast(void)
{
    static const char *const stages[][2] = {{NULL, NULL}, {"smp", "hierarchical"}, {"binomial", "binary_tree"}};
    struct coll_sweep sweep = {0};
    for (int i = 0; i < 24; i++) {
        struct place place;
        struct hs_verify_report report;
        begin(&sweep, &place, i % 2 ? UNEVEN_BLOCKS : BLOCKS, 1 + i % 4, 4, i % 5 ? 8 * 40 : 0);
        place.shape.bytes = UNIT * (3 + 13 * (i % 5));
        place.shape.with.inner = stages[i % 3][0] ? hs_alg_find(HS_REDUCE_TO, stages[i % 3][0]) : NULL;
        place.shape.with.outer = stages[i % 3][1] ? hs_alg_find(HS_BCAST, stages[i % 3][1]) : NULL;
        sweep_verify(&sweep, hs_alg_find(HS_ALLREDUCE, "reduce_bcast"), &place.shape, &report);
        hs_topology_free(&place.topology, &hs_heap);
    }
    sweep_end(&sweep, 1, "reduce_bcast with stages that know the topology");
}

/* Ranks of a node read peers' vectors in place if a stage's vectors have the same layout on all of these ranks. */
static void read_in_place(void)
{
    enum { LARGE = 1 << 16 }; /* the parts of the shared memory are multiples of 64 */
    struct coll_sweep sweep = {0};
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++)
        for (int n = 1; n <= 4; n++) {
            struct place place;
            struct hs_verify_report report;
            begin(&sweep, &place, BLOCKS, n, 3, 1 << 28);
            place.topology.direct = 1;
            place.shape.unit = LARGE;
            place.shape.bytes = 16 * LARGE;
            sweep_verify(&sweep, hs_alg_find(claims[i].collective, claims[i].name), &place.shape, &report);
            hs_topology_free(&place.topology, &hs_heap);
        }
    sweep_end(&sweep, 1, "1 MiB, some of it read in place");
}

int main(void)
{
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++)
        check_claim(&claims[i]);
    nap_on_many_nodes();
    nap_on_unequal_nodes();
    for (int i = 0; i < 3; i++) {
        any_rows(HS_ALLREDUCE, "smp", rooms[i]);
        any_rows(HS_REDUCE_TO, "smp", rooms[i]);
        any_rows(HS_BCAST, "hierarchical", rooms[i]);
    }
    dpml_outer();
    reduce_bcast();
    read_in_place();
    return tap_done();
}
