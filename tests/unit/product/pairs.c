/* The order of the pairs of owners if several owners are on one node. */
#include "summa/panels.h"
#include "support/tap.h"

#include <string.h>

/* The number of consecutive pairs, from pair i on, whose owners of an operand are on different nodes. */
static int different_from(const struct hs_pairs *pairs, int i, int operand, int mates)
{
    int next = i + 1, known = 0;
    for (; next < pairs->count; next++) {
        for (int j = i; j < next; j++)
            known |= pairs->pair[j].owner[operand] / mates == pairs->pair[next].owner[operand] / mates;
        if (known)
            break;
    }
    return next - i;
}

/* Nodes must alternate, and no pair may be missing. */
int main(void)
{
    static const struct {
        int procs[2], mates[2],
            apart[2]; /* apart: least number of consecutive different nodes, except for the last pairs */
    } cases[] = {
        {{16, 8}, {4, 1}, {4, 4}}, {{16, 8}, {1, 4}, {4, 2}}, {{6, 5}, {3, 1}, {2, 2}}, {{9, 9}, {1, 1}, {9, 9}}};
    int lost = 0, together = 0;
    for (int c = 0; c < 4; c++) {
        struct hs_axis axis[2];
        struct hs_pairs pairs, natural;
        for (int o = 0; o < 2; o++)
            axis[o] = hs_axis_make(240, 1, 1, 0, cases[c].procs[o]);
        if (hs_pairs_make(&axis[0], &axis[1], 0, &hs_heap, &natural) ||
            hs_pairs_make(&axis[0], &axis[1], 0, &hs_heap, &pairs) ||
            hs_pairs_alternate(&pairs, cases[c].mates, &hs_heap)) {
            lost++;
            continue;
        }
        for (int i = 0; i < natural.count; i++) {
            int found = 0;
            for (int j = 0; j < pairs.count; j++)
                found += memcmp(&natural.pair[i], &pairs.pair[j], sizeof pairs.pair[j]) == 0;
            lost += found != 1;
        }
        for (int i = 0; i < pairs.count * 3 / 4; i++)
            for (int o = 0; o < 2; o++) {
                int left = pairs.count - i, least = cases[c].apart[o];
                together += different_from(&pairs, i, o, cases[c].mates[o]) < (left < least ? left : least);
            }
        hs_pairs_free(&hs_heap, &natural);
        hs_pairs_free(&hs_heap, &pairs);
    }
    tap_ok(lost == 0 && together == 0, "pairs alternate between nodes: %d lost, %d too close", lost, together);
    return tap_done();
}
