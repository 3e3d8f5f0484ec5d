/* Grids in order 'A': the placement of ranks, compared with the best rectangles for nodes of equal size and, on small
 * grids, with all possible placements. */
#include "hsumma/context/tiling.h"
#include "support/failing_memory.h"
#include "support/random.h"
#include "support/tap.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 256 };

/* The number of rows plus the number of columns that a part touches. */
static int lines_of(const int extent[2], const int *part_at, int part)
{
    uint64_t rows = 0, columns = 0;
    for (int i = 0; i < extent[0] * extent[1]; i++)
        if (part_at[i] == part) {
            rows |= (uint64_t)1 << i / extent[1];
            columns |= (uint64_t)1 << i % extent[1];
        }
    return __builtin_popcountll(rows) + __builtin_popcountll(columns);
}

static int worst_of(const int extent[2], const int *part_at, int parts)
{
    int worst = 0;
    for (int p = 0; p < parts; p++) {
        int lines = lines_of(extent, part_at, p);
        worst = lines > worst ? lines : worst;
    }
    return worst;
}

/* Arranges ranks 0, 1, ... in the grid and sets part_at to the part at each place; returns 0 if a rank is missing. */
static int arranged(const int extent[2], const int *part, int *part_at, int *rank)
{
    int count = extent[0] * extent[1], seen[MOST] = {0}, good;
    const struct hs_division by_part = {.of = (int *)part}, *const level[] = {&by_part};
    for (int i = 0; i < count; i++)
        rank[i] = i;
    good = hs_tiling_arrange(extent, 1, level, rank, &hs_heap) == HSUMMA_OK;
    for (int i = 0; i < count; i++) {
        good &= rank[i] >= 0 && rank[i] < count && !seen[rank[i]]++;
        part_at[i] = part[rank[i]];
    }
    return good;
}

/* Parts of equal size become rectangles, as nearly square as divisors of the grid allow. */
static void equal_parts(void)
{
    int wrong = 0, cases = 0, part[MOST], part_at[MOST], rank[MOST];
    for (int rows = 1; rows <= 12; rows++)
        for (int columns = 1; columns <= 12; columns++)
            for (int size = 1; size <= rows * columns; size++) {
                const int extent[2] = {rows, columns};
                int least = 0;
                for (int t = 1; t <= size; t++)
                    if (size % t == 0 && rows % t == 0 && columns % (size / t) == 0 &&
                        (least == 0 || t + size / t < least))
                        least = t + size / t;
                if (least == 0)
                    continue;
                for (int scattered = 0; scattered < 2; scattered++) {
                    int parts = rows * columns / size;
                    for (int i = 0; i < rows * columns; i++)
                        part[i] = scattered ? i % parts : i / size;
                    wrong += !arranged(extent, part, part_at, rank);
                    for (int p = 0; p < parts; p++)
                        wrong += lines_of(extent, part_at, p) > least;
                    cases++;
                }
            }
    tap_ok(wrong == 0, "%d grids of equal parts: tiles as near to a square as divisors allow", cases);
}

/* The least worst_of over all ways to fill the places from `at` on. */
static int best_of_all(const int extent[2], int *left, int parts, int *part_at, int at)
{
    int best = MOST;
    if (at == extent[0] * extent[1])
        return worst_of(extent, part_at, parts);
    for (int p = 0; p < parts; p++) {
        if (left[p] == 0)
            continue;
        left[p]--;
        part_at[at] = p;
        int found = best_of_all(extent, left, parts, part_at, at + 1);
        best = found < best ? found : best;
        left[p]++;
    }
    return best;
}

static void unequal_parts(void)
{
    int wrong = 0, worse = 0, far = 0, best = 0, cases = 0, part[MOST], part_at[MOST], rank[MOST];
    for (int run = 0; run < 400; run++) {
        const int extent[2] = {1 + draw(8), 1 + draw(8)};
        int count = extent[0] * extent[1], parts = 1 + draw(6);
        for (int i = 0; i < count; i++)
            part[i] = draw(parts);
        wrong += !arranged(extent, part, part_at, rank);
        worse += worst_of(extent, part_at, parts) > worst_of(extent, part, parts);
    }
    for (int run = 0; run < 300; run++) {
        const int extent[2] = {1 + draw(3), 1 + draw(4)};
        int count = extent[0] * extent[1], parts = 1 + draw(4), left[4] = {0}, all_at[MOST];
        for (int i = 0; i < count && count <= 10; i++)
            left[part[i] = draw(parts)]++;
        if (count > 10)
            continue;
        wrong += !arranged(extent, part, part_at, rank);
        int more = worst_of(extent, part_at, parts) - best_of_all(extent, left, parts, all_at, 0);
        far += more > 1;
        best += more == 0;
        cases++;
    }
    tap_ok(wrong == 0 && worse == 0, "unequal parts anywhere: a permutation, never worse than what was given");
    tap_ok(far == 0 && best * 10 >= cases * 8,
           "%d small grids: %d as good as the best of all ways, %d worse by more "
           "than one",
           cases, best, far);
}

/* On 4 nodes of 4 sockets of 4 ranks, each node gets a tile of 4 x 4 of an 8 x 8 grid, and each socket one of 2 x 2. */
static void sockets(void)
{
    const int extent[2] = {8, 8};
    int rank[64], node_at[64], socket_at[64], bad = 0;
    struct hs_topology topology;
    bad += hs_topology_blocks(&topology, 64, 4, 4, &hs_heap) != HSUMMA_OK;
    for (int i = 0; i < 64; i++)
        rank[i] = i;
    bad += hs_grid_order(extent, 'A', &topology, rank, &hs_heap) != HSUMMA_OK;
    for (int i = 0; i < 64; i++) {
        node_at[i] = hs_part_of(&topology.division[HS_NODE], rank[i]);
        socket_at[i] = hs_part_of(&topology.division[HS_SOCKET], rank[i]);
    }
    for (int p = 0; p < 16; p++)
        bad += lines_of(extent, socket_at, p) != 4 || (p < 4 && lines_of(extent, node_at, p) != 8);
    hs_topology_free(&topology, &hs_heap);
    tap_ok(bad == 0, "8 x 8 on 4 nodes of 4 sockets: tiles of 4 x 4, and of 2 x 2 in them");
}

/* Order by columns, by rows, and order 'A' without known nodes. */
static void other_orders(void)
{
    static const int listed[6] = {5, 3, 1, 0, 2, 4}, by_columns[6] = {5, 1, 2, 3, 0, 4};
    const int extent[2] = {2, 3};
    int bad = 0, rank[6];
    const struct {
        char order;
        const int *want;
    } cases[] = {{'R', listed}, {'C', by_columns}, {'A', listed}};
    for (int i = 0; i < 3; i++) {
        memcpy(rank, listed, sizeof rank);
        bad += hs_grid_order(extent, cases[i].order, NULL, rank, &hs_heap) != HSUMMA_OK ||
               memcmp(rank, cases[i].want, sizeof rank) != 0;
    }
    tap_ok(bad == 0, "listed ranks by rows, by columns, and in any order on one node");
}

static void no_memory(void)
{
    const int extent[2] = {4, 4};
    int failed = 0, bad = 0, done = 0;
    struct hs_topology topology;
    bad += hs_topology_blocks(&topology, 16, 2, 2, &hs_heap) != HSUMMA_OK;
    for (int at = 0; !done && at < 100; at++) {
        struct failing_memory state = {.fail_at = at};
        struct hs_allocator memory = {failing_memory_get, failing_memory_put, &state};
        int rank[16];
        uint32_t all = 0;
        for (int i = 0; i < 16; i++)
            rank[i] = i;
        hsumma_status status = hs_grid_order(extent, 'A', &topology, rank, &memory);
        for (int i = 0; i < 16; i++)
            all |= (uint32_t)1 << rank[i];
        bad += all != 0xffff || state.out != 0 || (status && status != HSUMMA_ERR_MEMORY);
        failed += status != HSUMMA_OK;
        done = !status;
    }
    hs_topology_free(&topology, &hs_heap);
    tap_ok(bad == 0 && done && failed >= 9, "without memory: an error %d times, and all ranks are still there", failed);
}

int main(void)
{
    equal_parts();
    unequal_parts();
    sockets();
    other_orders();
    no_memory();
    return tap_done();
}
