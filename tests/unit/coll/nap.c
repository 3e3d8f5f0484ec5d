/*
 * The hierarchical rows smp, nap and hierarchical: verify on nodes of many sizes, in blocks and scattered, on sockets,
 * with messages and with shared memory inside; and what the papers claim, counted from the lists: which ranks send
 * between nodes, how often, and in how many rounds.
 */
#include "coll/proof/verify.h"
#include "coll/schedule/lists.h"
#include "support/random.h"
#include "support/tap.h"

#include <stdlib.h>
#include <string.h>

enum { UNIT = 8, ELEMENTS = 3, BYTES = UNIT * ELEMENTS };

/* A shape with its topology, and what went wrong with it first. */
struct place {
    struct hs_shape shape;
    struct hs_topology topology;
    uint64_t mix;
    int runs, bad;
    char text[400];
};

/* Messages between nodes, counted from the lists. */
struct traffic {
    int64_t messages;
    int rank_max, rounds, by_others; /* by_others: sent by ranks that are not the lowest of their node */
};

static struct place make_place(int size, const int *node, const int *socket, int64_t shared_bytes)
{
    struct place place = {.shape = {.size = size, .bytes = BYTES, .unit = UNIT}, .mix = (uint64_t)size};
    if (hs_topology_make(&place.topology, size, node, socket, &hs_heap))
        exit(99);
    place.topology.shared_bytes = shared_bytes;
    place.shape.with.outer = hs_alg_find(HS_ALLREDUCE, "recursive_doubling"); /* whose messages are known */
    return place;
}

static struct place blocks(int nodes, int ppn, int sockets, int64_t shared_bytes)
{
    struct place place = {.shape = {.size = nodes * ppn, .bytes = BYTES, .unit = UNIT}, .mix = (uint64_t)nodes};
    if (hs_topology_blocks(&place.topology, nodes * ppn, nodes, sockets, &hs_heap))
        exit(99);
    place.topology.shared_bytes = shared_bytes;
    place.shape.with.outer = hs_alg_find(HS_ALLREDUCE, "recursive_doubling"); /* whose messages are known */
    return place;
}

/* Deals the ranks out to the nodes in random order, ppn to each; uneven: to any node. */
static struct place scattered(int nodes, int ppn, int uneven, int64_t shared_bytes)
{
    int node[640], size = nodes * ppn;
    struct place random = {.mix = (uint64_t)(100 * nodes + ppn)};
    for (int i = 0; i < size; i++)
        node[i] = uneven ? draw_of(&random.mix, nodes) : i % nodes;
    for (int i = size - 1; i > 0; i--) {
        int j = draw_of(&random.mix, i + 1), swap = node[i];
        node[i] = node[j];
        node[j] = swap;
    }
    return make_place(size, node, NULL, shared_bytes);
}

static const struct hs_division *nodes_of(const struct place *place)
{
    return &place->topology.division[place->shape.with.level];
}

static int log_up(int base, int n)
{
    int steps = 0;
    for (int64_t reach = 1; reach < n; reach *= base)
        steps++;
    return steps;
}

static int64_t doubling_messages(int n)
{
    int64_t power = 1;
    while (2 * power <= n)
        power *= 2;
    return power * log_up(2, (int)power) + 2 * (n - power);
}

/* The longest chain of messages between nodes: relaxes until nothing changes. */
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
            now += step->kind == HS_SEND && nodes->of[step->peer] != nodes->of[rank];
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

static struct traffic traffic_of(const struct place *place, const struct hs_alg *alg)
{
    const struct hs_division *nodes = nodes_of(place);
    struct hs_shape shape = place->shape;
    struct hs_lists lists;
    struct traffic traffic = {0};

    shape.topology = &place->topology;
    if (hs_lists_build(alg, &shape, &hs_heap, &lists))
        return (struct traffic){-1, -1, -1, -1};
    for (int r = 0; r < shape.size; r++) {
        int sent = 0;
        for (int i = 0; i < lists.list[r].steps; i++) {
            const struct hs_step *step = &lists.list[r].step[i];
            sent += step->kind == HS_SEND && nodes->of[step->peer] != nodes->of[r];
        }
        traffic.messages += sent;
        traffic.by_others += nodes->index[r] > 0 ? sent : 0;
        traffic.rank_max = sent > traffic.rank_max ? sent : traffic.rank_max;
    }
    traffic.rounds = rounds_between(&lists, nodes);
    hs_lists_free(&hs_heap, &lists);
    return traffic;
}

/* Remembers the first thing that is wrong. */
static void check(struct place *place, int right, const char *what, int64_t have, int64_t want)
{
    if (!right && place->bad++ == 0)
        snprintf(place->text, sizeof place->text, "p %d root %d: %s: %lld, expected %lld", place->shape.size,
                 place->shape.root, what, (long long)have, (long long)want);
}

/* One run of verify with options by chance. */
static struct hs_verify_report verify(struct place *place, const struct hs_alg *alg)
{
    static const int windows[] = {0, 4, 64};
    struct hs_shape shape = place->shape;
    struct hs_verify_report report;
    struct hs_verify_options options = {.schedule = (enum hs_schedule)draw_of(&place->mix, HS_SCHEDULES),
                                        .seed = draw_of(&place->mix, 1 << 30),
                                        .eager = draw_of(&place->mix, 2),
                                        .instances = 1 + draw_of(&place->mix, 2) * (shape.size < 33),
                                        .window = windows[draw_of(&place->mix, 3)]};
    shape.topology = &place->topology;
    hsumma_status status = hs_verify(alg, &shape, &options, &hs_heap, &report);
    place->runs++;
    if (status && place->bad++ == 0)
        snprintf(place->text, sizeof place->text, "p %d root %d schedule %d eager %d window %d: status %d %s",
                 shape.size, shape.root, (int)options.schedule, options.eager, options.window, (int)status,
                 report.text);
    if (!status && alg->collective == HS_ALLREDUCE)
        check(place, report.same_bits, "same bits", report.same_bits, 1);
    if (!status && nodes_of(place)->contiguous && alg->collective != HS_BCAST)
        check(place, report.keeps_order, "keeps order", report.keeps_order, 1);
    return report;
}

static void verdict(struct place *place, const char *what)
{
    if (!tap_ok(place->bad == 0, "%s: %d runs", what, place->runs))
        tap_diag("%s", place->text);
}

/* Adds the runs of one place to those of a group. */
static void gather(struct place *all, struct place *place)
{
    if (all->bad == 0 && place->bad)
        memcpy(all->text, place->text, sizeof all->text);
    all->bad += place->bad;
    all->runs += place->runs;
    hs_topology_free(&place->topology, &hs_heap);
}

/* Processes send L messages between nodes at most, in exactly L rounds. */
static void nap_one(struct place *all, struct place place)
{
    const struct hs_alg *nap = hs_alg_find(HS_ALLREDUCE, "nap");
    const struct hs_division *nodes = nodes_of(&place);
    int n = nodes->parts, ppn = place.shape.size / n, steps = ppn > 1 ? log_up(ppn, n) : 0;
    verify(&place, nap);
    struct traffic traffic = traffic_of(&place, nap);
    if (ppn > 1) {
        check(&place, traffic.rank_max >= 0 && traffic.rank_max <= steps, "messages between nodes per process",
              traffic.rank_max, steps);
        check(&place, traffic.rounds == steps, "rounds between nodes", traffic.rounds, steps);
    } else {
        check(&place, traffic.messages == doubling_messages(n), "messages", traffic.messages, doubling_messages(n));
    }
    gather(all, &place);
}

static void nap_blocks(int64_t shared_bytes)
{
    static const int large[][2] = {{64, 4}, {100, 4}, {256, 4}, {64, 16}, {100, 16}, {256, 16}, {1000, 2}};
    char what[80];
    for (int ppn = 1; ppn <= 16; ppn++) {
        struct place all = {0};
        for (int n = 1; n <= 40; n += shared_bytes && n > 5 ? 7 : 1)
            nap_one(&all, blocks(n, ppn, 1, shared_bytes));
        snprintf(what, sizeof what, "nap, %d ranks on each of up to 40 nodes, room %lld", ppn, (long long)shared_bytes);
        verdict(&all, what);
    }
    struct place all = {0};
    for (size_t i = 0; i < (shared_bytes ? 2 : sizeof large / sizeof *large); i++)
        nap_one(&all, blocks(large[i][0], large[i][1], 1, shared_bytes));
    verdict(&all, "nap on many nodes");
}

static void nap_elsewhere(int64_t shared_bytes)
{
    const struct hs_alg *nap = hs_alg_find(HS_ALLREDUCE, "nap");
    struct place all = {0};
    for (int n = 1; n <= 40; n += n < 20 ? 1 : 5)
        for (int ppn = 2; ppn <= 6; ppn += 2)
            nap_one(&all, scattered(n, ppn, 0, shared_bytes));
    verdict(&all, "nap, ranks scattered over the nodes");

    all = (struct place){0};
    for (int n = 1; n <= 10; n++)
        for (int ppn = 2; ppn <= 8; ppn += 2) {
            struct place place = blocks(n, ppn, 2, shared_bytes);
            place.shape.with.level = HS_SOCKET;
            nap_one(&all, place);
        }
    verdict(&all, "nap over sockets");

    int uneven[] = {0, 0, 0, 1, 1};
    struct place place = make_place(5, uneven, NULL, 0);
    place.shape.topology = &place.topology;
    tap_ok(hs_alg_unfit(nap, &place.shape) != NULL, "nap refuses nodes of different sizes");
    place.shape.topology = NULL;
    tap_ok(hs_alg_unfit(nap, &place.shape) == NULL, "nap takes ranks without a topology");
    hs_topology_free(&place.topology, &hs_heap);
}

static struct place some_place(int kind, int nodes, int ppn, int64_t shared_bytes)
{
    struct place place = kind == 0   ? blocks(nodes, ppn, 1, shared_bytes)
                         : kind == 1 ? blocks(nodes, ppn, 2, shared_bytes)
                         : kind == 2 ? scattered(nodes, ppn, 0, shared_bytes)
                                     : scattered(nodes, ppn, 1, shared_bytes);
    if (kind == 1)
        place.shape.with.level = HS_SOCKET;
    if (shared_bytes)
        place.topology.direct = (nodes + ppn) % 2;
    return place;
}

static const char *const kinds[] = {"blocks", "sockets", "scattered", "uneven nodes"};

static void smp(int kind, int64_t shared_bytes)
{
    const struct hs_alg *alg = hs_alg_find(HS_ALLREDUCE, "smp");
    struct place all = {0};
    char what[80];
    for (int n = 1; n <= 17; n += 1 + (shared_bytes > 0))
        for (int ppn = 1; ppn <= 9; ppn++) {
            struct place place = some_place(kind, n, ppn, shared_bytes);
            int leaders = nodes_of(&place)->parts;
            struct hs_verify_report report = verify(&place, alg);
            struct traffic traffic = traffic_of(&place, alg);
            int64_t between = doubling_messages(leaders), inside = 2 * (place.shape.size - leaders);
            if (leaders == 1)
                inside = doubling_messages(place.shape.size);
            check(&place, traffic.messages == between, "messages between nodes", traffic.messages, between);
            check(&place, traffic.by_others == 0, "messages between nodes by others than leaders", traffic.by_others,
                  0);
            if (shared_bytes == 0)
                check(&place, report.messages == inside + between, "messages", report.messages, inside + between);
            gather(&all, &place);
        }
    snprintf(what, sizeof what, "allreduce smp, %s, room %lld", kinds[kind], (long long)shared_bytes);
    verdict(&all, what);
}

/* Reduction and broadcast: a tree over the leaders and one in every node, so p - 1 messages, n - 1 between nodes. */
static void rooted(enum hs_collective collective, const char *name, int kind, int64_t shared_bytes)
{
    const struct hs_alg *alg = hs_alg_find(collective, name);
    struct place all = {0};
    char what[80];
    for (int n = 1; n <= 9; n += 1 + (shared_bytes > 0))
        for (int ppn = 1; ppn <= 6; ppn++) {
            struct place place = some_place(kind, n, ppn, shared_bytes);
            uint64_t bracketing = 0;
            for (int root = 0; root < place.shape.size; root += 1 + draw_of(&place.mix, ppn)) {
                place.shape.root = root;
                struct hs_verify_report report = verify(&place, alg);
                struct traffic traffic = traffic_of(&place, alg);
                int between = nodes_of(&place)->parts - 1, total = place.shape.size - 1;
                check(&place, traffic.messages == between, "messages between nodes", traffic.messages, between);
                if (shared_bytes == 0)
                    check(&place, report.messages == total, "messages", report.messages, total);
                if (root > 0)
                    check(&place, report.bracketing == bracketing, "bracketing alike for every root", root, 0);
                bracketing = report.bracketing;
            }
            gather(&all, &place);
        }
    snprintf(what, sizeof what, "%s %s, %s, room %lld", hs_collective_name(collective), name, kinds[kind],
             (long long)shared_bytes);
    verdict(&all, what);
}

/* Segments: every message of the whole vector becomes one of each segment, and the last one ends in time. */
static void segmented(int kind, int64_t shared_bytes)
{
    const struct hs_alg *alg = hs_alg_find(HS_BCAST, "hierarchical");
    struct place all = {0};
    char what[80];
    for (int n = 2; n <= 8; n++)
        for (int ppn = 1; ppn <= 5; ppn++)
            for (int segments = 1; segments <= 40; segments = 2 * segments + 1) {
                struct place place = some_place(kind, n, ppn, shared_bytes);
                place.shape.bytes = 80 * UNIT;
                place.shape.segment = (80 + segments - 1) / segments * UNIT;
                place.shape.root = draw_of(&place.mix, place.shape.size);
                struct hs_verify_report report = verify(&place, alg);
                int64_t cut = (place.shape.bytes + place.shape.segment - 1) / place.shape.segment, p = n * ppn;
                int64_t leaders = nodes_of(&place)->parts;
                cut = leaders == 1 || leaders == p ? 1 : cut < 16 ? cut : 16;
                if (shared_bytes == 0) {
                    int64_t rounds = log_up(2, (int)leaders) + log_up(2, (int)p) + 2 * (cut - 1) * log_up(2, (int)p);
                    check(&place, report.messages == (p - 1) * cut, "messages", report.messages, (p - 1) * cut);
                    check(&place, report.rounds <= rounds, "rounds", report.rounds, rounds);
                }
                gather(&all, &place);
            }
    snprintf(what, sizeof what, "bcast hierarchical in segments, %s, room %lld", kinds[kind], (long long)shared_bytes);
    verdict(&all, what);
}

/* Every row of the collective for the stage between nodes, and for the stages inside. */
static void any_rows(enum hs_collective collective, const char *name, int64_t shared_bytes)
{
    const struct hs_alg *alg = hs_alg_find(collective, name), *row;
    for (int i = 0; (row = hs_alg_at(i)); i++) {
        if (row->collective != collective || row->flags & HS_BY_MPI)
            continue;
        struct place all = {0};
        char what[80];
        for (int kind = 0; kind < 4; kind++)
            for (int n = 1; n <= 9; n++) {
                struct place place = some_place(kind, n, n % 4 + 1, shared_bytes);
                int keeps = (int)(row->flags & (HS_KEEPS_ORDER | HS_KEEPS_ORDER_IF));
                struct hs_verify_report report;
                struct hs_verify_options options = {.window = 4};
                struct hs_shape at = place.shape;
                at.topology = &place.topology;
                at.root = n % at.size;
                at.bytes = 40 * UNIT;
                at.segment = n % 2 * 7 * UNIT;
                for (int inner = 0; inner < 2 && (keeps || collective == HS_BCAST); inner++) {
                    *(inner ? &at.with.inner : &at.with.outer) = row;
                    hsumma_status status = hs_verify(alg, &at, &options, &hs_heap, &report);
                    place.runs++;
                    check(&place, status == HSUMMA_OK, report.text, status, HSUMMA_OK);
                }
                gather(&all, &place);
            }
        snprintf(what, sizeof what, "%s %s, stages by %s, room %lld", hs_collective_name(collective), name, row->name,
                 (long long)shared_bytes);
        verdict(&all, what);
    }
}

int main(void)
{
    static const int64_t rooms[] = {0, 1 << 16, 200}; /* 200: one line for a stage, or none */
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
        nap_blocks(rooms[i]);
        nap_elsewhere(rooms[i]);
        for (int kind = 0; kind < 4; kind++) {
            smp(kind, rooms[i]);
            rooted(HS_REDUCE_TO, "smp", kind, rooms[i]);
            rooted(HS_BCAST, "hierarchical", kind, rooms[i]);
            segmented(kind, rooms[i]);
        }
        any_rows(HS_ALLREDUCE, "smp", rooms[i]);
        any_rows(HS_REDUCE_TO, "smp", rooms[i]);
        any_rows(HS_BCAST, "hierarchical", rooms[i]);
    }
    return tap_done();
}
