#include "dist/layers.h"

enum { DIVISORS_MAX = 1536, KINDS_MAX = 8 }; /* an int has at most 1536 divisors */

/* The length of part number `part` of n indices that are cut into `parts`. */
static int64_t part_of(int64_t n, int parts, int part)
{
    return n / parts + (part < n % parts);
}

static int64_t longer(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The length of the longest part. */
static int64_t longest(int64_t n, int parts)
{
    return part_of(n, parts, 0);
}

/* The first part of each kind, along one axis.  Parts of one kind have equal lengths in all cuts; a new kind begins
 * where one of the cuts changes to its shorter parts. */
struct kinds {
    int count, part[KINDS_MAX];
};

static void add_kind(struct kinds *kinds, int64_t n, int parts)
{
    int part = (int)(n % parts);
    for (int i = 0; i < kinds->count; i++)
        if (kinds->part[i] == part)
            return;
    kinds->part[kinds->count++] = part;
}

/* The kinds among `parts` parts of n.  Each of the x_parts of x and of the y_parts of y is also cut into `parts`. */
static struct kinds find_kinds(int64_t n, int parts, int64_t x, int x_parts, int64_t y, int y_parts)
{
    struct kinds kinds = {.count = 1, .part = {0}};
    add_kind(&kinds, n, parts);
    for (int shorter = 0; shorter < 2; shorter++) {
        add_kind(&kinds, x / x_parts + shorter, parts);
        add_kind(&kinds, y / y_parts + shorter, parts);
    }
    return kinds;
}

/* The elements that process (i, j, l) = `at` receives if layers cut C along its rows [0] or columns [1]. */
static void count_received(const int64_t extent[3], const int parts[3], const int at[3], int64_t received[2])
{
    int64_t m = part_of(extent[0], parts[0], at[0]), n = part_of(extent[1], parts[1], at[1]);
    int64_t k = part_of(extent[2], parts[2], at[2]);
    int64_t inward = m * (k - part_of(k, parts[1], at[1])) + n * (k - part_of(k, parts[0], at[0]));
    received[0] = inward + (parts[2] - 1) * part_of(m, parts[2], at[2]) * n;
    received[1] = inward + (parts[2] - 1) * part_of(n, parts[2], at[2]) * m;
}

struct hs_layers hs_layers_count(const int64_t extent[3], int p, int q, int l)
{
    const int parts[3] = {p, q, l};
    struct kinds rows = find_kinds(extent[0], p, extent[2], l, extent[2], l);
    struct kinds cols = find_kinds(extent[1], q, extent[2], l, extent[2], l);
    struct kinds layers = find_kinds(extent[2], l, extent[0], p, extent[1], q);
    int64_t most[2] = {0, 0}, received[2];
    for (int i = 0; i < rows.count; i++)
        for (int j = 0; j < cols.count; j++)
            for (int h = 0; h < layers.count; h++) {
                const int at[3] = {rows.part[i], cols.part[j], layers.part[h]};
                count_received(extent, parts, at, received);
                most[0] = longer(most[0], received[0]);
                most[1] = longer(most[1], received[1]);
            }
    int64_t m = longest(extent[0], p), n = longest(extent[1], q), k = longest(extent[2], l);
    int cut = most[1] < most[0];
    int64_t own = l == 1 ? 0 : cut ? m * longest(n, l) : longest(m, l) * n;
    return (struct hs_layers){.extent = {p, q, l},
                              .cut = cut,
                              .received = most[cut],
                              .memory = m * longest(k, q) + longest(k, p) * n + m * n + own};
}

/* The mean number of elements that a process receives: a lower bound for the busiest process. */
static double mean_received(const int64_t extent[3], int p, int q, int l)
{
    double m = (double)extent[0], n = (double)extent[1], k = (double)extent[2];
    return (m * k * (q - 1) + k * n * (p - 1) + m * n * (l - 1)) / ((double)p * q * l);
}

static int64_t processes_of(const struct hs_layers *layers)
{
    return (int64_t)layers->extent[0] * layers->extent[1] * layers->extent[2];
}

static int is_better(const struct hs_layers *a, const struct hs_layers *b)
{
    if (b->extent[0] == 0 || a->received != b->received)
        return b->extent[0] == 0 || a->received < b->received;
    if (a->extent[2] != b->extent[2])
        return a->extent[2] < b->extent[2];
    int64_t more = processes_of(a) - processes_of(b);
    return more > 0 || (more == 0 && a->extent[0] < b->extent[0]);
}

static int find_divisors(int n, int *divisor)
{
    int count = 0;
    for (int i = 1; i <= n / i; i++)
        if (n % i == 0) {
            divisor[count++] = i;
            if (i != n / i)
                divisor[count++] = n / i;
        }
    return count;
}

/* Tries all P x Q x L with P Q L = `used`; replaces *best by a better one. */
static void try_all(const int64_t extent[3], int used, int64_t layers, int64_t memory, struct hs_layers *best)
{
    int divisor[DIVISORS_MAX], count = find_divisors(used, divisor);
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++) {
            int p = divisor[i], rest = used / p, q = divisor[j], l = rest % q ? 0 : rest / q;
            if (l == 0 || p > extent[0] || q > extent[1] || l > layers)
                continue;
            if (best->extent[0] && mean_received(extent, p, q, l) > (double)best->received)
                continue;
            struct hs_layers one = hs_layers_count(extent, p, q, l);
            if ((memory <= 0 || one.memory <= memory) && is_better(&one, best))
                *best = one;
        }
}

struct hs_layers hs_layers_choose(const int64_t extent[3], int processes, int least, int layers, int64_t memory)
{
    int64_t most = layers > 0 && layers < extent[2] ? layers : extent[2];
    struct hs_layers best = {.extent = {0, 0, 0}, .received = -1};
    for (int used = processes; used > 0 && (used >= least || best.extent[0] == 0); used--)
        try_all(extent, used, most, memory, &best);
    return best;
}
