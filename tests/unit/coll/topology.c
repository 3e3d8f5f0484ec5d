/* Topologies, their divisions, and collectives embedded in others: nodes and sockets, ranks, slots, signals, memory. */
#include "coll/schedule/topology.h"
#include "coll/pattern/embed.h"
#include "coll/schedule/dump.h"
#include "support/random.h"
#include "support/tap.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Whether a division groups the ranks by `name` within their nodes. */
static int is_division(const struct hs_division *division, int size, const int *node, const int *name)
{
    int good = hs_ranks_before(division, 0) == 0 && hs_ranks_before(division, division->parts) == size, even = 1,
        contiguous = 1;
    for (int i = 0; i < division->parts; i++) {
        int rank[24];
        for (int m = 0; m < hs_division_size(division, i); m++)
            rank[m] = hs_part_rank(division, i, m);
        even &= hs_division_size(division, i) == hs_division_size(division, 0);
        good &= hs_division_size(division, i) > 0 && (i == 0 || rank[0] > hs_part_rank(division, i - 1, 0));
        for (int m = 0; m < hs_division_size(division, i); m++) {
            good &= hs_part_of(division, rank[m]) == i && hs_place_in_part(division, rank[m]) == m &&
                    (m == 0 || rank[m] > rank[m - 1]);
            contiguous &= m == 0 || rank[m] == rank[m - 1] + 1;
        }
    }
    for (int a = 0; a < size; a++)
        for (int b = 0; b < size; b++)
            good &= (hs_part_of(division, a) == hs_part_of(division, b)) == (node[a] == node[b] && name[a] == name[b]);
    return good && division->even == even && division->contiguous == contiguous;
}

static void names(void)
{
    int bad = 0;
    for (int run = 0; run < 300; run++) {
        int node[24], socket[24], size = run % 24 + 1;
        for (int r = 0; r < size; r++) {
            node[r] = draw(run % 7 + 1) * 1000 - 3000; /* arbitrary names */
            socket[r] = draw(2);                       /* numbers that repeat on every node */
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
    for (int level = HS_NODE; level <= HS_SOCKET; level++) {
        bad += !topology.division[level].contiguous;
        for (int r = 0; r < 11; r++)
            bad += hs_part_of(&topology.division[level], r) != of[level][r];
    }
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
    bad = hs_topology_blocks(&topology, 5, 2, INT_MAX, &hs_heap) != HSUMMA_OK;
    tap_ok(!bad && topology.division[HS_SOCKET].parts == 5, "more sockets than ranks");
    hs_topology_free(&topology, &hs_heap);
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

/* An algorithm with every slot and every kind of step but JOIN and MPI, to be embedded. */
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
    char text[600] = "";
    const char *want = "0 COPY out[0..8) <- in[0..8)\n"
                       "1 SEND to 9 <- out[108..116) after 0\n"
                       "2 RECV from 6 -> scratch[316..324) after 0\n"
                       "3 COPY shared[424..432) <- scratch[316..324) after 2\n"
                       "4 SIGNAL 1003 after 3\n"
                       "5 WAIT for 9 >= 1003 after 0\n"
                       "6 REDUCE in[200..208) <- 9:shared[424..432) op 9:out[100..108) after 5,1\n"
                       "7 JOIN after 4,6\n";
    FILE *file = fmemopen(text, sizeof text, "w");

    hs_list_begin(&builder, &hs_heap);
    how.after = hs_emit_copy(&builder, hs_out(0), hs_in(0), 8, -1);
    int end = hs_embed(&builder, &alg, &inner, &how, &scratch);
    tap_ok(hs_list_finish(&builder, &list) == HSUMMA_OK && list.steps == 8 && end == 7, "a list in another");
    tap_ok(scratch == 324 && list.exposed, "scratch and exposure");
    hs_dump_list(file, &list);
    fclose(file);
    if (!tap_ok(strcmp(text, want) == 0, "ranks, slots, peers' slots, signals, what waits for what"))
        tap_diag("printed:\n%s", text);
    hs_list_free(&hs_heap, &list);

    hs_list_begin(&builder, &hs_heap);
    how.in = hs_scratch(0);
    how.after = -1;
    hs_embed(&builder, &alg, &inner, &how, NULL);
    tap_ok(hs_list_finish(&builder, &list) == HSUMMA_ERR_INTERNAL, "a peer's scratch has no name");
}

/* Algorithms with rotated ranks: the inner root may be any rank of the inner group. */
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

int main(void)
{
    names();
    blocks();
    parts();
    embedded();
    rotated();
    return tap_done();
}
