/* Topologies, their parts, and collectives embedded in others: nodes and sockets, ranks, slots, signals, memory. */
#include "coll/schedule/topology.h"
#include "coll/pattern/embed.h"
#include "support/failing_memory.h"
#include "support/random.h"
#include "support/tap.h"

#include <stdlib.h>
#include <string.h>

/* Whether a division is what its definition says of the names. */
static int is_division(const struct hs_division *division, int size, const int *node, const int *name)
{
    int good = division->first[0] == 0 && division->first[division->parts] == size, even = 1, contiguous = 1;
    for (int i = 0; i < division->parts; i++) {
        const int *rank = hs_division_ranks(division, i);
        even &= hs_division_size(division, i) == hs_division_size(division, 0);
        good &= hs_division_size(division, i) > 0 && (i == 0 || rank[0] > hs_division_ranks(division, i - 1)[0]);
        for (int m = 0; m < hs_division_size(division, i); m++) {
            good &= division->of[rank[m]] == i && division->index[rank[m]] == m && (m == 0 || rank[m] > rank[m - 1]);
            contiguous &= m == 0 || rank[m] == rank[m - 1] + 1;
        }
    }
    for (int a = 0; a < size; a++)
        for (int b = 0; b < size; b++)
            good &= (division->of[a] == division->of[b]) == (node[a] == node[b] && name[a] == name[b]);
    return good && division->even == even && division->contiguous == contiguous;
}

static void names(void)
{
    int bad = 0;
    for (int run = 0; run < 300; run++) {
        int node[24], socket[24], size = run % 24 + 1;
        for (int r = 0; r < size; r++) {
            node[r] = draw(run % 7 + 1) * 1000 - 3000; /* any numbers */
            socket[r] = draw(2);                       /* alike on all nodes */
        }
        struct hs_topology topology;
        bad += hs_topology_make(&topology, size, node, run % 2 ? socket : NULL, &hs_heap) != HSUMMA_OK;
        bad += !is_division(&topology.division[HS_NODE], size, node, node);
        bad += !is_division(&topology.division[HS_SOCKET], size, node, run % 2 ? socket : node);
        bad += topology.size != size || topology.shared_bytes || topology.direct;
        hs_topology_free(&topology, &hs_heap);
    }
    tap_ok(bad == 0, "nodes and sockets from names");
}

static void blocks(void)
{
    static const int of[2][11] = {{0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2}, {0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5}};
    struct hs_topology topology;
    int bad = hs_topology_blocks(&topology, 11, 3, 2, &hs_heap) != HSUMMA_OK;
    for (int level = HS_NODE; level <= HS_SOCKET; level++)
        bad += memcmp(topology.division[level].of, of[level], sizeof of[level]) || !topology.division[level].contiguous;
    hs_topology_free(&topology, &hs_heap);
    tap_ok(bad == 0, "11 ranks in 3 blocks of 2 sockets: longer ones first");

    bad = 0;
    for (int size = 1; size <= 20; size++)
        for (int nodes = 1; nodes <= size; nodes++)
            for (int sockets = 1; sockets <= 3; sockets++) {
                int want = 0;
                bad += hs_topology_blocks(&topology, size, nodes, sockets, &hs_heap) != HSUMMA_OK;
                for (int i = 0; i < topology.division[HS_NODE].parts; i++) {
                    int ranks = hs_division_size(&topology.division[HS_NODE], i);
                    want += ranks < sockets ? ranks : sockets;
                    bad += ranks != size / nodes + (i < size % nodes);
                }
                bad += topology.division[HS_NODE].parts != nodes || topology.division[HS_SOCKET].parts != want;
                hs_topology_free(&topology, &hs_heap);
            }
    tap_ok(bad == 0, "blocks of all sizes");
    tap_ok(hs_topology_blocks(&topology, 3, 4, 1, &hs_heap) == HSUMMA_ERR_ARGUMENT &&
               hs_topology_blocks(&topology, 3, 0, 1, &hs_heap) == HSUMMA_ERR_ARGUMENT &&
               hs_topology_blocks(&topology, 3, 1, 0, &hs_heap) == HSUMMA_ERR_ARGUMENT,
           "impossible blocks are refused");
}

static void parts(void)
{
    static const int node[] = {5, 5, 9, 9, 9, 2}, socket[] = {0, 1, 0, 0, 1, 0}, rank[] = {4, 0, 3, 2};
    static const int part_node[] = {9, 5, 9, 9}, part_socket[] = {1, 0, 0, 0}, each[] = {0, 1, 2, 3};
    struct hs_topology topology;
    struct hs_builder builder;
    struct hs_list list;
    int bad = hs_topology_make(&topology, 6, node, socket, &hs_heap) != HSUMMA_OK;
    topology.shared_bytes = 100;
    topology.direct = 1;
    hs_list_begin(&builder, &hs_heap);
    const struct hs_topology *part = hs_topology_of(&builder, &topology, rank, 4, 60);
    const struct hs_topology *whole = hs_topology_of(&builder, &topology, rank, 4, 1000);
    const struct hs_topology *none = hs_topology_of(&builder, NULL, rank, 4, 1000);
    bad += !is_division(&part->division[HS_NODE], 4, part_node, part_node);
    bad += !is_division(&part->division[HS_SOCKET], 4, part_node, part_socket);
    tap_ok(bad == 0 && part->size == 4, "the topology of some ranks");
    tap_ok(part->shared_bytes == 60 && part->direct && whole->shared_bytes == 100 && none->shared_bytes == 0 &&
               !none->direct,
           "its shared memory");
    tap_ok(is_division(&none->division[HS_NODE], 4, each, each), "without a topology: a node each");
    tap_ok(hs_list_finish(&builder, &list) == HSUMMA_OK, "and it belongs to the builder");
    hs_list_free(&hs_heap, &list);
    hs_topology_free(&topology, &hs_heap);
}

/* A row that uses every kind of step and slot, to be embedded. */
static void build_all_kinds(struct hs_builder *builder, const struct hs_shape *shape)
{
    int next = (shape->rank + 1) % shape->size, send = hs_emit_send(builder, next, hs_in(8), 8, -1);
    int receive = hs_emit_recv(builder, (shape->rank + shape->size - 1) % shape->size, hs_scratch(16), 8, -1);
    int copy = hs_emit_copy(builder, hs_shared(24), hs_scratch(16), 8, receive);
    hs_emit_signal(builder, 3, copy);
    int wait = hs_emit_wait(builder, next, 3);
    int sum = hs_emit_reduce(builder, hs_out(0), hs_of(next, hs_shared(24)), hs_of(next, hs_in(0)), 8, wait);
    hs_after(builder, sum, send);
    hs_expose(builder);
}

static int same_ref(struct hs_ref a, enum hs_slot slot, int of, int64_t at)
{
    return a.slot == slot && a.of == of && a.at == at;
}

static void embedded(void)
{
    static const int rank[] = {6, 2, 9};
    const struct hs_alg alg = {.collective = HS_ALLREDUCE, .name = "all kinds", .build = build_all_kinds};
    struct hs_shape inner = {.rank = 1, .size = 3, .bytes = 16, .unit = 8};
    struct hs_embedding how = {
        .rank = rank, .in = hs_out(100), .out = hs_in(200), .scratch = 300, .shared = 400, .signal = 1000};
    struct hs_builder builder;
    struct hs_list list;
    int64_t scratch;

    hs_list_begin(&builder, &hs_heap);
    how.after = hs_emit_copy(&builder, hs_out(0), hs_in(0), 8, -1);
    int end = hs_embed(&builder, &alg, &inner, &how, &scratch);
    if (!tap_ok(hs_list_finish(&builder, &list) == HSUMMA_OK && list.steps == 8 && end == 7, "a list in another"))
        return;
    const struct hs_step *s = list.step;
    tap_ok(s[1].peer == 9 && s[2].peer == 6 && s[5].peer == 9, "ranks");
    tap_ok(same_ref(s[1].left, HS_OUT, 0, 108) && same_ref(s[2].dst, HS_SCRATCH, 0, 316) &&
               same_ref(s[3].dst, HS_SHARED, 0, 424) && same_ref(s[6].dst, HS_IN, 0, 200),
           "own slots");
    tap_ok(same_ref(s[6].left, HS_SHARED, 10, 424) && same_ref(s[6].right, HS_OUT, 10, 100), "slots of peers");
    tap_ok(s[4].count == 1003 && s[5].count == 1003 && scratch == 324 && list.exposed, "signals, scratch, exposure");
    int ends = 0, starts = 0;
    for (int i = 1; i < 7; i++)
        starts += s[i].deps == 1 && list.dep[s[i].first_dep] == 0;
    for (int d = 0; d < s[7].deps; d++)
        ends += list.dep[s[7].first_dep + d] == 4 || list.dep[s[7].first_dep + d] == 6;
    tap_ok(starts == 3 && ends == 2 && s[7].deps == 2 && s[7].kind == HS_JOIN, "what it waits for, and its end");
    hs_list_free(&hs_heap, &list);

    hs_list_begin(&builder, &hs_heap);
    how.in = hs_scratch(0);
    how.after = -1;
    hs_embed(&builder, &alg, &inner, &how, NULL);
    tap_ok(hs_list_finish(&builder, &list) == HSUMMA_ERR_INTERNAL, "a peer's scratch has no name");
}

/* Rotated rows: the inner root is a true rank of the inner group. */
static void rotated(void)
{
    static const int rank[] = {6, 2, 9};
    struct hs_builder builder;
    struct hs_list list;
    int bad = 0;
    for (int me = 0; me < 3; me++) {
        struct hs_shape inner = {.rank = me, .size = 3, .root = 1, .bytes = 16, .unit = 8};
        struct hs_embedding how = {.rank = rank, .out = hs_out(0), .after = -1};
        hs_list_begin(&builder, &hs_heap);
        int end = hs_embed(&builder, hs_alg_find(HS_BCAST, "flat"), &inner, &how, NULL);
        bad += hs_list_finish(&builder, &list) != HSUMMA_OK || end < 0;
        for (int i = 0; i < list.steps; i++)
            bad += me == 1 ? list.step[i].kind == HS_RECV : list.step[i].kind != HS_RECV || list.step[i].peer != 2;
        bad += me != 1 && list.steps != 1;
        hs_list_free(&hs_heap, &list);
    }
    tap_ok(bad == 0, "a rotated row with a root of its own");

    struct hs_shape inner = {.size = 3, .bytes = 0, .unit = 8};
    struct hs_embedding how = {.rank = rank, .out = hs_out(0)};
    hs_list_begin(&builder, &hs_heap);
    how.after = hs_emit_join(&builder);
    tap_ok(hs_embed(&builder, hs_alg_find(HS_BCAST, "flat"), &inner, &how, NULL) == how.after, "nothing embedded");
    hs_list_finish(&builder, &list);
    hs_list_free(&hs_heap, &list);
}

/* The rows that need memory for parts of the topology. */
static void memory(int64_t shared_bytes)
{
    const struct hs_alg *alg;
    struct hs_topology topology;
    int bad = hs_topology_blocks(&topology, 12, 6, 1, &hs_heap) != HSUMMA_OK, most = 0;
    topology.shared_bytes = shared_bytes;
    for (int a = 0; (alg = hs_alg_at(a)); a++) {
        struct hs_shape shape = {.rank = 2, .size = 12, .bytes = 29 * 8, .unit = 8, .topology = &topology};
        struct hs_list list;
        hsumma_status status = HSUMMA_ERR_MEMORY;
        if (!(alg->flags & HS_USES_TOPOLOGY) || hs_build(alg, &shape, &hs_heap, &list))
            continue;
        hs_list_free(&hs_heap, &list);
        for (int n = 0; status == HSUMMA_ERR_MEMORY; n++) {
            struct failing_memory scarce = {.fail_at = n};
            struct hs_allocator allocator = {failing_memory_get, failing_memory_put, &scarce};
            status = hs_build(alg, &shape, &allocator, &list);
            hs_list_free(&allocator, &list);
            bad += scarce.out != 0 || (status != HSUMMA_OK && status != HSUMMA_ERR_MEMORY);
            most = n > most ? n : most;
        }
    }
    hs_topology_free(&topology, &hs_heap);
    tap_ok(bad == 0, "room %d: memory that fails at any of up to %d places is a status and is all given back",
           (int)shared_bytes, most);
}

int main(void)
{
    names();
    blocks();
    parts();
    embedded();
    rotated();
    memory(0);
    memory(1 << 16);
    return tap_done();
}
