/* The order of the nodes of a line in a fabric. */
#include "dist/fabric.h"

#include <stdlib.h>
#include <string.h>

struct ploughing {
    const struct hs_fabric *fabric;
    const int *position;
    int *scratch;
    int dim[HS_FABRIC_DIMS]; /* the dimensions, outermost first */
    int inner, shift;        /* furrows in dim[inner] begin this many coordinates later */
};

static void reverse(int *order, int count)
{
    for (int i = 0, j = count - 1; i < j; i++, j--) {
        int kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
}

/* The coordinate after the longest gap in the ring of a dimension, at which the furrows begin. */
static int first_furrow(const struct ploughing *on, int dim, const int *order, int count)
{
    int extent = on->fabric->extent[dim], *used = on->scratch, longest = 0, first = 0, last = -1;
    if (extent > count) { /* too few members for scratch of one number per coordinate: begin at the smallest */
        first = extent;
        for (int i = 0; i < count; i++) {
            int c = hs_fabric_coordinate(on->fabric, dim, on->position[order[i]]);
            first = c < first ? c : first;
        }
        return first;
    }
    memset(used, 0, (size_t)extent * sizeof *used);
    for (int i = 0; i < count; i++)
        used[hs_fabric_coordinate(on->fabric, dim, on->position[order[i]])] = 1;
    for (int c = 0; c < 2 * extent; c++) {
        if (!used[c % extent])
            continue;
        if (last >= 0 && c - last > longest) {
            longest = c - last;
            first = c % extent;
        }
        last = c;
    }
    return first;
}

/* Orders order[0 .. count) by the coordinates from dim[depth] on; every other furrow runs backwards. */
static void plough(const struct ploughing *on, int depth, int *order, int count)
{
    if (depth == on->fabric->dims || count < 2)
        return;
    int dim = on->dim[depth], extent = on->fabric->extent[dim], filled = 0, furrows = 0;
    int first = first_furrow(on, dim, order, count) + (depth == on->inner ? on->shift : 0);
    for (int c = 0; c < extent && filled < count; c++) {
        int begin = filled, kept = 0;
        for (int i = filled; i < count; i++) { /* moves the members of this furrow to the front, in their order */
            int member = order[i];
            if (hs_fabric_coordinate(on->fabric, dim, on->position[member]) == (first + c) % extent)
                order[filled++] = member;
            else
                on->scratch[kept++] = member;
        }
        memcpy(order + filled, on->scratch, (size_t)kept * sizeof *order);
        if (filled == begin)
            continue;
        plough(on, depth + 1, order + begin, filled - begin);
        if (furrows++ % 2)
            reverse(order + begin, filled - begin);
    }
}

static int64_t hops_around(const struct hs_fabric *fabric, const int *position, const int *order, int count)
{
    int64_t hops = 0;
    for (int i = 0; i < count; i++)
        hops += hs_fabric_hops(fabric, position[order[i]], position[order[(i + 1) % count]]);
    return hops;
}

/* The next sequence of dimensions in ascending order; 0 if there is none. */
static int next_sequence(int *dim, int count)
{
    int i = count - 2, j = count - 1;
    while (i >= 0 && dim[i] >= dim[i + 1])
        i--;
    if (i < 0)
        return 0;
    while (dim[j] <= dim[i])
        j--;
    int kept = dim[i];
    dim[i] = dim[j];
    dim[j] = kept;
    reverse(dim + i + 1, count - i - 1);
    return 1;
}

/* Orders all members; returns the number of hops around them. */
static int64_t order_all(const struct ploughing *on, int *order, int count)
{
    for (int i = 0; i < count; i++)
        order[i] = i;
    plough(on, 0, order, count);
    return hops_around(on->fabric, on->position, order, count);
}

/* The number of different coordinates of the members; scratch: room for count numbers. */
static int coordinates_used(const struct hs_fabric *fabric, int dim, const int *position, int count, int *scratch)
{
    int used = 0;
    for (int i = 0; i < count; i++) {
        int c = hs_fabric_coordinate(fabric, dim, position[i]), known = 0;
        for (int j = 0; j < used && !known; j++)
            known = scratch[j] == c;
        if (!known)
            scratch[used++] = c;
    }
    return used;
}

/* The sequences of dimensions with the fewest hops, one for each innermost dimension. */
struct sequences {
    struct ploughing best[HS_FABRIC_DIMS];
    int64_t hops[HS_FABRIC_DIMS]; /* INT64_MAX if this dimension is never the innermost */
    int used[HS_FABRIC_DIMS];     /* number of different coordinates */
};

static void find_sequences(struct ploughing *on, int *order, int count, struct sequences *found)
{
    const struct hs_fabric *fabric = on->fabric;
    int fixed = 0, varying = 0, vary[HS_FABRIC_DIMS];
    for (int d = 0; d < fabric->dims; d++) {
        int used = coordinates_used(fabric, d, on->position, count, on->scratch);
        found->hops[d] = INT64_MAX;
        found->used[d] = used;
        if (used == 1)
            on->dim[fixed++] = d;
        else
            vary[varying++] = d;
    }
    for (int v = 0; v < varying; v++)
        on->dim[fixed + v] = vary[v];
    on->inner = fabric->dims - 1;
    on->shift = 0;
    do {
        int inner = on->dim[on->inner];
        int64_t hops = order_all(on, order, count);
        if (hops < found->hops[inner]) {
            found->hops[inner] = hops;
            found->best[inner] = *on;
        }
    } while (next_sequence(on->dim + fixed, varying));
}

/* The dimension other than `but` with the fewest hops as the innermost; -1 if there is none. */
static int fewest_hops(const struct sequences *found, int dims, int but)
{
    int least = -1;
    for (int d = 0; d < dims; d++)
        if (d != but && found->hops[d] < INT64_MAX && (least < 0 || found->hops[d] < found->hops[least]))
            least = d;
    return least;
}

/* The load of a dimension's links if `along` lines plough through it, and `turning` lines, whose furrows have `furrow`
 * nodes, only turn there.  Nodes between those of the lines belong to other lines, which have the same links. */
static int load_of(int extent, int used, int along, int turning, int furrow)
{
    return extent / used * (along + (2 * turning + furrow - 1) / furrow);
}

/*
 * The innermost dimension for a line: that with the fewest hops or, for some of the lines on the same nodes, the next
 * best, as many as reduce the load of the busiest link most.
 */
static int deal(const struct sequences *found, const struct hs_fabric *fabric, struct hs_fabric_line line)
{
    int best = fewest_hops(found, fabric->dims, -1), next = fewest_hops(found, fabric->dims, best), dealt = 0;
    int64_t least = INT64_MAX;
    for (int to_next = 0; next >= 0 && to_next <= line.beside / 2; to_next++) {
        int rest = line.beside - to_next;
        int one = load_of(fabric->extent[best], found->used[best], rest, to_next, found->used[next]);
        int other = load_of(fabric->extent[next], found->used[next], to_next, rest, found->used[best]);
        int most = one > other ? one : other;
        if (most < least) {
            least = most;
            dealt = to_next;
        }
    }
    return line.place < dealt ? next : best;
}

/* The sum of the digits of a number, so that numbers differ from their neighbours and from those far away. */
static int digit_sum(int number, int base)
{
    int sum = 0;
    for (; base > 1 && number > 0; number /= base)
        sum += number % base;
    return sum;
}

static int by_position(const void *x, const void *y, void *position)
{
    const int a = *(const int *)x, b = *(const int *)y, *at = position;
    return at[a] != at[b] ? (at[a] > at[b] ? 1 : -1) : (a > b) - (a < b);
}

/* Orders all members by position, and those at one position by number. */
static void order_by_position(const int *position, int count, int *order)
{
    for (int i = 0; i < count; i++)
        order[i] = i;
    qsort_r(order, (size_t)count, sizeof *order, by_position, (void *)position);
}

void hs_fabric_order(const struct hs_fabric *fabric, const int *position, int count, struct hs_fabric_line line,
                     int *order, int *scratch)
{
    if (fabric->kind != HS_TORUS) {
        order_by_position(position, count, order);
        return;
    }
    struct ploughing on = {.fabric = fabric, .position = position, .scratch = scratch};
    struct sequences found;
    find_sequences(&on, order, count, &found);
    int inner = deal(&found, fabric, line), extent = fabric->extent[inner];
    on = found.best[inner];
    on.shift = 2 * digit_sum(line.number, extent / 2) % extent;
    if (order_all(&on, order, count) > found.hops[inner]) {
        on.shift = 0;
        order_all(&on, order, count);
    }
}
