/* The network between nodes: pairs of ranks for measurements, its line in the tuned file, and merging of such lines. */
#include "hsumma/network/network.h"
#include "hsumma/network/rank_pairs.h"
#include "hsumma/tuned/tuned.h"
#include "support/random.h"
#include "support/tap.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_RANKS = 40, TEXT = 1 << 16 };

/* Checks pairs of ranks: both ranks of a pair name each other, one of them starts, and their distance is the tier. */
static int pairs_are_good(const struct hs_topology *t, enum hs_tier_kind tier)
{
    struct hs_rank_pairs pairs[MOST_RANKS] = {{.count = 0}};
    int paired = 0, on_node[MOST_RANKS] = {0}, most = 0;
    int node[MOST_RANKS], socket[MOST_RANKS];
    for (int r = 0; r < t->size; r++) {
        node[r] = hs_part_of(&t->division[HS_NODE], r);
        socket[r] = hs_part_of(&t->division[HS_SOCKET], r);
    }
    for (int r = 0; r < t->size; r++)
        pairs[r] = hs_rank_pairs_of(t, tier, r);
    for (int r = 0; r < t->size; r++) {
        int p = pairs[r].peer;
        if (pairs[r].count != pairs[0].count || pairs[r].per_node != pairs[0].per_node)
            return 0;
        if (p < 0)
            continue;
        enum hs_tier_kind met = node[r] != node[p]       ? HS_BETWEEN_NODES
                                : socket[r] != socket[p] ? HS_IN_NODE
                                                         : HS_IN_SOCKET;
        if (pairs[p].peer != r || pairs[p].number != pairs[r].number || pairs[p].place != pairs[r].place ||
            pairs[p].first == pairs[r].first || met != tier)
            return 0;
        paired++;
        most = ++on_node[node[r]] > most ? on_node[node[r]] : most;
        if (tier == HS_BETWEEN_NODES && (pairs[r].place < 0 || pairs[r].place >= pairs[r].per_node))
            return 0;
    }
    return paired == 2 * pairs[0].count && (tier != HS_BETWEEN_NODES || most == pairs[0].per_node);
}

static void test_pairs(void)
{
    int bad = 0, between = 0;
    for (int c = 0; c < 300; c++) {
        int size = 1 + draw(MOST_RANKS), nodes = 1 + draw(size), node[MOST_RANKS], socket[MOST_RANKS];
        struct hs_topology t;
        for (int r = 0; r < size; r++) {
            node[r] = draw(nodes);
            socket[r] = node[r] * 2 + draw(2);
        }
        if (hs_topology_make(&t, size, node, socket, &hs_heap))
            abort();
        bad += !pairs_are_good(&t, HS_BETWEEN_NODES) || !pairs_are_good(&t, HS_IN_SOCKET);
        /* for each pair of nodes (one node may be left over) as many pairs as the smaller node has ranks */
        int expected = 0, parts = t.division[HS_NODE].parts;
        for (int i = 0; i < parts / 2; i++) {
            int a = hs_division_size(&t.division[HS_NODE], i),
                b = hs_division_size(&t.division[HS_NODE], i + parts / 2);
            expected += a < b ? a : b;
        }
        bad += hs_rank_pairs_of(&t, HS_BETWEEN_NODES, 0).count != expected;
        between += expected;
        hs_topology_free(&t, &hs_heap);
    }
    tap_ok(bad == 0 && between > 1000, "pairs are disjoint and meet in their tier: %d wrong of 300", bad);
}

static double some(void)
{
    return draw(4) ? draw_fraction() * 1e-3 : 0;
}

static void test_text(void)
{
    int bad = 0, refused = 0, tries = 0;
    for (int c = 0; c < 200; c++) {
        struct hs_network network = {.between = {some() + 1e-9, some(), some(), draw(2) * 8192, some(), some()},
                                     .inject = some(),
                                     .inside = {.alpha = some(), .beta = some()},
                                     .gemm = some()},
                          read = {.inject = -1};
        uint64_t key = draw_bits(), other = draw_bits();
        char text[2048], line[512], again[512];
        hs_network_write(key, &network, line, sizeof line);
        snprintf(text, sizeof text, "hsumma tuned 2\n# a comment\n%s\n", line);
        bad +=
            !hs_network_recall(text, key, &read) || hs_network_recall(text, other, &(struct hs_network){.inject = 0});
        hs_network_write(key, &read, again, sizeof again);
        bad += strcmp(line, again) != 0;
        *strstr(line, " gemm=") = 0; /* as earlier versions wrote it */
        bad += !hs_network_recall(line, key, &read) || read.gemm != 0 || read.inside.beta < 0;
        struct hs_tuned tuned = {.count = 0};
        struct hs_rules rules = {.count = 0};
        bad += hs_tuned_read(&tuned, text, &hs_heap, NULL) || hs_rules_read_tuned(&rules, text, &hs_heap, NULL);
        bad += tuned.count || rules.count;
        strstr(text, "network ")[strlen("network ") + (size_t)draw((int)strlen(line) - 8)] = '!';
        refused += hs_tuned_read(&tuned, text, &hs_heap, NULL) == HSUMMA_ERR_OPTION;
        tries++;
        hs_tuned_free(&tuned, &hs_heap);
    }
    tap_ok(bad == 0, "a line that is written reads as the same figures, for its key alone: %d wrong", bad);
    tap_ok(refused == tries, "a line with a wrong letter is refused: %d of %d", refused, tries);
}

static void add_line(const char *path, uint64_t key, double alpha)
{
    char line[512];
    const char *const lines[1] = {line};
    struct hs_network network = {.between = {.alpha = alpha}};
    struct hs_message message = {""};
    hs_network_write(key, &network, line, sizeof line);
    if (hs_tuned_merge(path, lines, 1, &hs_heap, &message))
        tap_diag("%s", message.text);
}

static int count_networks(const char *path, char text[TEXT])
{
    int count = 0;
    FILE *file = fopen(path, "r");
    size_t length = file ? fread(text, 1, TEXT - 1, file) : 0;
    text[length] = 0;
    if (file)
        fclose(file);
    for (const char *at = text; (at = strstr(at, "\nnetwork ")) != NULL; at++)
        count++;
    return count;
}

static void test_merge(void)
{
    static char text[TEXT];
    static const char other[] = "hsumma tuned 2\nbcast 8 2 0-64k chain\ngemm a 1 block=64\n";
    char path[] = "/tmp/hsumma-unit-network-XXXXXX", lock[64];
    int file = mkstemp(path);
    struct hs_network network;
    if (write(file, other, sizeof other - 1) < 0)
        abort();
    close(file);
    add_line(path, 1, 0.25);
    add_line(path, 2, 0.5);
    add_line(path, 1, 0.75);
    tap_ok(count_networks(path, text) == 2 && hs_network_recall(text, 1, &network) && network.between.alpha == 0.75 &&
               hs_network_recall(text, 2, &network) && network.between.alpha == 0.5,
           "a new measurement replaces the one of the same hosts, others stay");
    for (int i = 3; i <= HS_TUNED_NETWORKS + 5; i++)
        add_line(path, (uint64_t)i, 1);
    add_line(path, HS_TUNED_NETWORKS + 5, 2);
    int count = count_networks(path, text), first = 0, last = 0;
    for (int i = 1; i <= HS_TUNED_NETWORKS + 5; i++)
        *(i <= 5 ? &first : &last) += hs_network_recall(text, (uint64_t)i, &network);
    tap_ok(count == HS_TUNED_NETWORKS && first == 0 && last == HS_TUNED_NETWORKS,
           "%d lines of networks stay, the newest: %d, %d of the oldest five", count, last, first);
    tap_ok(strncmp(text, other, sizeof other - 1) == 0, "lines of collectives and products stay");
    unlink(path);
    snprintf(lock, sizeof lock, "%s.lock", path);
    unlink(lock);
}

int main(void)
{
    draw_seed(18);
    test_pairs();
    test_text();
    test_merge();
    return tap_done();
}
