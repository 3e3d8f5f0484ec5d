/*
 * Algorithms with known numbers of messages, bytes and rounds: verify counts exactly these, for every number of ranks
 * up to 40 with every root and for some larger ones with a few roots, for odd sizes, units, segments, partitions and
 * schedules. (unit/coll/prove covers all other algorithms.)
 */
#include "coll/schedule/lists.h"
#include "support/coll/sweep.h"
#include "support/random.h"
#include "support/tap.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_RANKS = 128 };

/* The counts that theory predicts, for at least two ranks and one byte. With empty parts, rounds are upper bounds, and
 * so are messages without COUNTS_PARTS. */
struct theory {
    int64_t messages, bytes, rounds;
    int sooner; /* nonzero: `rounds` is an upper bound only */
};

static int parts_filled(const struct hs_shape *shape)
{
    int filled = 0;
    for (int i = 0; i < shape->size; i++)
        filled += hs_part_at(shape, i) < hs_part_at(shape, i + 1);
    return filled;
}

/* The number of segments of the vector, each of which has whole elements and at most `segment` bytes. */
static int64_t segments_of(const struct hs_shape *shape)
{
    int64_t segment = shape->segment ? shape->segment : 65536, longest = segment / shape->unit * shape->unit;
    if (longest == 0)
        longest = shape->unit;
    return (shape->bytes + longest - 1) / longest;
}

static struct theory flat(const struct hs_shape *shape)
{
    int p = shape->size;
    return (struct theory){p - 1, (p - 1) * shape->bytes, 1, 0};
}

static struct theory binomial(const struct hs_shape *shape)
{
    int p = shape->size;
    return (struct theory){p - 1, (p - 1) * shape->bytes, log2_up(p), 0};
}

static struct theory binomial_sum(const struct hs_shape *shape)
{
    struct theory theory = binomial(shape);
    theory.sooner = (shape->size & (shape->size - 1)) != 0;
    return theory;
}

static struct theory chain(const struct hs_shape *shape)
{
    int p = shape->size;
    int64_t segments = segments_of(shape);
    return (struct theory){(p - 1) * segments, (p - 1) * shape->bytes, p - 2 + segments, 0};
}

static struct theory bidirectional_chain(const struct hs_shape *shape)
{
    struct theory theory = chain(shape);
    theory.rounds -= segments_of(shape) / 2;
    return theory;
}

static struct theory binary_tree(const struct hs_shape *shape)
{
    int p = shape->size;
    int64_t segments = segments_of(shape);
    return (struct theory){(p - 1) * segments, (p - 1) * shape->bytes, 2 * (log2_up(p + 1) - 2 + segments),
                           (p & (p + 1)) != 0};
}

static struct theory van_de_geijn(const struct hs_shape *shape)
{
    int p = shape->size;
    struct theory theory = {p - 1, (p - 1) * shape->bytes, log2_up(p) + p - 1, 0};
    for (int r = 1; r < p; r++) {
        int tree = r & -r; /* number of ranks in the subtree of r in the scatter, r included */
        theory.messages += p - (tree < p - r ? tree : p - r);
    }
    return theory;
}

static struct theory doubling(const struct hs_shape *shape)
{
    int p = shape->size, bits = log2_up(p + 1) - 1, odd = p > 1 << bits;
    return (struct theory){doubling_messages(p), doubling_messages(p) * shape->bytes, bits + 2 * odd, odd};
}

static struct theory reduce_bcast(const struct hs_shape *shape)
{
    int p = shape->size;
    return (struct theory){2 * (p - 1), 2 * (p - 1) * shape->bytes, 2 * log2_up(p), (p & (p - 1)) != 0};
}

static struct theory ring_allreduce(const struct hs_shape *shape)
{
    int64_t p = shape->size;
    return (struct theory){2 * p * (p - 1), 2 * (p - 1) * shape->bytes, 2 * (p - 1), 0};
}

/* One message for each nonempty part and each rank but the part's owner. */
static struct theory each_part(const struct hs_shape *shape)
{
    int p = shape->size;
    return (struct theory){(int64_t)parts_filled(shape) * (p - 1), (p - 1) * shape->bytes, p - 1, 0};
}

static struct theory logarithmic_allgather(const struct hs_shape *shape)
{
    int p = shape->size;
    return (struct theory){(int64_t)p * log2_up(p), (p - 1) * shape->bytes, log2_up(p), 0};
}

static struct theory halving(const struct hs_shape *shape)
{
    int p = shape->size, bits = log2_up(p + 1) - 1, power = 1 << bits, pairs = p - power;
    struct theory theory = {power * bits + 2 * pairs, (power - 1 + pairs) * shape->bytes, bits + 2 * (pairs > 0),
                            pairs > 0};
    for (int i = 0; i < pairs; i++)
        theory.bytes += hs_part_at(shape, 2 * i + 2) - hs_part_at(shape, 2 * i + 1);
    return theory;
}

enum {
    WHOLE = 1,
    COUNTS_PARTS = 2
}; /* WHOLE: all messages have the whole vector, or segments of it; COUNTS_PARTS: exact with empty parts */

static const struct row {
    enum hs_collective collective;
    const char *name;
    struct theory (*theory)(const struct hs_shape *shape);
    int flags;
} rows[] = {
    {HS_BCAST, "flat", flat, WHOLE},
    {HS_BCAST, "binomial", binomial, WHOLE},
    {HS_BCAST, "van_de_geijn", van_de_geijn, 0},
    {HS_BCAST, "chain", chain, WHOLE},
    {HS_BCAST, "bidirectional_chain", bidirectional_chain, WHOLE},
    {HS_BCAST, "binary_tree", binary_tree, WHOLE},
    {HS_REDUCE_TO, "binomial", binomial_sum, WHOLE},
    {HS_ALLREDUCE, "recursive_doubling", doubling, WHOLE},
    {HS_ALLREDUCE, "ring", ring_allreduce, 0},
    {HS_ALLREDUCE, "reduce_bcast", reduce_bcast, WHOLE},
    {HS_ALLGATHER, "ring", each_part, COUNTS_PARTS},
    {HS_ALLGATHER, "bruck", logarithmic_allgather, 0},
    {HS_ALLGATHER, "recursive_doubling", logarithmic_allgather, 0},
    {HS_REDUCE_SCATTER, "ring", each_part, COUNTS_PARTS},
    {HS_REDUCE_SCATTER, "pairwise", each_part, COUNTS_PARTS},
    {HS_REDUCE_SCATTER, "recursive_halving", halving, 0},
};

static int ascending(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

/* Cuts the elements into shape->size parts with offsets part[]: equal (returns NULL), all on one rank, irregular, or
 * mostly empty. */
static const int64_t *cut(struct coll_sweep *sweep, int64_t *part, const struct hs_shape *shape)
{
    int p = shape->size, kind = draw_of(&sweep->mix, 5), owner = draw_of(&sweep->mix, p);
    int64_t elements = shape->bytes / shape->unit, step = kind == 2 ? 1 : 8; /* coarse cuts often coincide */
    if (kind == 0)
        return NULL;
    for (int i = 0; i <= p; i++)
        part[i] = kind == 1 ? (i > owner) * elements : draw_of(&sweep->mix, (int)elements + 1) / step * step;
    part[0] = 0;
    part[p] = elements;
    qsort(part, (size_t)p + 1, sizeof *part, ascending);
    for (int i = 0; i <= p; i++)
        part[i] *= shape->unit;
    return part;
}

static void one(struct coll_sweep *sweep, const struct row *row, const struct hs_shape *shape)
{
    const struct hs_alg *alg = hs_alg_find(row->collective, row->name);
    int all = shape->bytes == 0 || row->flags & WHOLE || parts_filled(shape) == shape->size;
    struct theory theory = {0};
    struct hs_verify_report report;

    if (hs_alg_unfit(alg, shape) || !sweep_verify(sweep, alg, shape, &report))
        return;
    if (shape->size > 1 && shape->bytes > 0)
        theory = row->theory(shape);
    sweep_expect(sweep, shape, "bytes", report.bytes, theory.bytes);
    sweep_at_most(sweep, shape, "messages", report.messages, theory.messages);
    if (all || row->flags & COUNTS_PARTS)
        sweep_expect(sweep, shape, "messages", report.messages, theory.messages);
    sweep_at_most(sweep, shape, "rounds", report.rounds, theory.rounds);
    if (all && !theory.sooner)
        sweep_expect(sweep, shape, "rounds", report.rounds, theory.rounds);
}

/* Tests roots and sizes on p ranks, fewer of them if p is large, with random units, segments and parts. */
static void all_shapes(struct coll_sweep *sweep, const struct row *row, int p)
{
    int rooted = row->collective == HS_BCAST || row->collective == HS_REDUCE_TO, many = p > 40;
    const int64_t counts[] = {4 * p, 1, 0, 3, p - 1, p, p + 1, 2 * p + 1, 41, 97};
    int64_t part[MOST_RANKS + 1];

    for (int root = 0; root < (rooted ? p : 1); root += many ? p / 3 + 1 : 1)
        for (size_t c = root > 0 || p > 20; c < sizeof counts / sizeof *counts; c++) {
            if (root > 0 && p > 16 && draw_of(&sweep->mix, 3)) /* a third of the sizes for other roots */
                continue;
            for (int s = 0; s < (many || root > 0 ? 1 : 8); s++) {
                int64_t unit = (int64_t)4 << draw_of(&sweep->mix, 3), bytes = counts[c] * unit;
                const int64_t segments[] = {0, unit, 3 * unit, 3 * unit + 1, 1, bytes + unit, bytes / 2 + 1};
                struct hs_shape shape = {.size = p, .root = root, .bytes = bytes, .unit = unit};
                shape.segment = segments[draw_of(&sweep->mix, 7)];
                shape.part = cut(sweep, part, &shape);
                one(sweep, row, &shape);
            }
        }
}

/* A hash of the bracketing of sums over p ranks in an algorithm. */
static uint64_t bracketing(enum hs_collective collective, const char *name, int p, int root)
{
    struct hs_shape shape = {.size = p, .root = root, .bytes = 24, .unit = 8};
    struct hs_verify_report report;
    shape.bytes *= collective == HS_REDUCE_SCATTER ? p : 1;
    return hs_verify(hs_alg_find(collective, name), &shape, NULL, &hs_heap, &report) ? 0 : report.bracketing;
}

static void same_trees(void)
{
    int roots = 0, butterfly = 0, halves = 0;
    for (int p = 1; p <= MOST_RANKS; p += p < 40 ? 1 : 22)
        for (int root = 0; root < p; root++)
            roots += bracketing(HS_REDUCE_TO, "binomial", p, root) != bracketing(HS_REDUCE_TO, "binomial", p, 0);
    tap_ok(roots == 0, "reduce binomial brackets alike for all roots");
    for (int p = 1; p <= 64; p *= 2) {
        butterfly += bracketing(HS_REDUCE_TO, "binomial", p, 0) != bracketing(HS_ALLREDUCE, "recursive_doubling", p, 0);
        halves +=
            bracketing(HS_REDUCE_SCATTER, "pairwise", p, 0) != bracketing(HS_REDUCE_SCATTER, "recursive_halving", p, 0);
    }
    tap_ok(butterfly == 0, "and like allreduce recursive_doubling for powers of two");
    tap_ok(halves == 0, "reduce_scatter pairwise and recursive_halving give the same bits for powers of two");
}

/*
 * Executes the lists in order on real numbers, without verify. Each ordered pair of ranks exchanges at most one
 * message, so a matrix can store all messages. Returns the number of ranks that have finished.
 */
static int execute(const struct hs_list *list, int p, double (*slot)[HS_SLOTS][2], double *mail, unsigned char *full)
{
    int at[MOST_RANKS] = {0}, finished = 0;
    for (int moved = 1; moved;) {
        moved = finished = 0;
        for (int r = 0; r < p; r++) {
            for (; at[r] < list[r].steps; at[r]++, moved = 1) {
                const struct hs_step *step = &list[r].step[at[r]];
                double *dst = &slot[r][step->dst.slot][step->dst.at / 8];
                double left = slot[r][step->left.slot][step->left.at / 8];
                if (step->kind == HS_SEND) {
                    mail[r * p + step->peer] = left;
                    full[r * p + step->peer] = 1;
                } else if (step->kind == HS_RECV) {
                    if (!full[step->peer * p + r])
                        break;
                    *dst = mail[step->peer * p + r];
                } else {
                    *dst = step->kind == HS_COPY ? left : left + slot[r][step->right.slot][step->right.at / 8];
                }
            }
            finished += at[r] == list[r].steps;
        }
    }
    return finished;
}

/* The canonical sum: by a binary tree over the ranks in order. */
static double tree_sum(const double *x, int low, int span, int p)
{
    if (span == 1)
        return x[low];
    double left = tree_sum(x, low, span / 2, p);
    return low + span / 2 < p ? left + tree_sum(x, low + span / 2, span / 2, p) : left;
}

static void real_numbers(int p)
{
    static double slot[MOST_RANKS][HS_SLOTS][2], mail[MOST_RANKS * MOST_RANKS];
    static unsigned char full[MOST_RANKS * MOST_RANKS];
    double x[MOST_RANKS], want;
    int bad = 0;

    for (int i = 0; i < p; i++)
        x[i] = draw_fraction() * (i % 3 ? 1e-9 : 1.0);
    want = tree_sum(x, 0, 1 << log2_up(p), p);
    for (int root = 0; root < p; root++) {
        struct hs_shape shape = {.size = p, .root = root, .bytes = 8, .unit = 8};
        struct hs_list *list = NULL;
        memset(full, 0, sizeof full);
        for (int i = 0; i < p; i++)
            slot[i][HS_IN][0] = x[i];
        bad += hs_build_all(hs_alg_find(HS_REDUCE_TO, "binomial"), &shape, &hs_heap, &list) != HSUMMA_OK ||
               execute(list, p, slot, mail, full) != p || memcmp(&slot[root][HS_OUT][0], &want, sizeof want) != 0;
        hs_free_all(&hs_heap, list, p);
    }
    tap_ok(bad == 0, "reduce binomial, p = %d: the canonical sum, bit for bit, for every root", p);
}

/* The reduce-scatter "pairwise" merges sums of adjacent ranges as soon as both are available, so it needs memory for
 * few parts. */
static void pairwise_memory(void)
{
    int bad = 0;
    for (int p = 2; p <= MOST_RANKS; p += p < 20 ? 1 : 27) {
        struct hs_shape shape = {.size = p, .bytes = 8 * p, .unit = 8};
        struct hs_list *list = NULL;
        bad += hs_build_all(hs_alg_find(HS_REDUCE_SCATTER, "pairwise"), &shape, &hs_heap, &list) != HSUMMA_OK;
        for (int r = 0; list && r < p; r++)
            bad += list[r].extent[HS_SCRATCH] > 8 * (2 * log2_up(p) + 2);
        hs_free_all(&hs_heap, list, p);
    }
    tap_ok(bad == 0, "reduce_scatter pairwise: at most 2 log2 q + 2 parts of scratch");
}

static void many_segments(void)
{
    struct hs_shape shape = {.size = 3, .bytes = (int64_t)1 << 40, .unit = 8, .segment = 8};
    struct hs_list list = {0};
    hsumma_status status = hs_build(hs_alg_find(HS_BCAST, "binary_tree"), &shape, &hs_heap, &list);
    tap_ok(!status && list.steps == 2 * 4096, "bcast binary_tree: at most 4096 segments, of a terabyte as well");
    hs_list_free(&hs_heap, &list);
}

int main(void)
{
    static const int more[] = {64, 100, MOST_RANKS};
    for (const struct row *row = rows; row < rows + sizeof rows / sizeof *rows; row++) {
        struct coll_sweep sweep = {.mix = (uint64_t)(row - rows)};
        for (int p = 1; p <= 40; p++)
            all_shapes(&sweep, row, p);
        for (int i = 0; i < 3; i++)
            all_shapes(&sweep, row, more[i]);
        sweep_end(&sweep, sweep.runs > 350, "%s %s: messages, bytes and rounds", hs_collective_name(row->collective),
                  row->name);
    }
    for (int p = 1; p <= 40; p += p < 9 ? 1 : 7)
        real_numbers(p);
    same_trees();
    pairwise_memory();
    many_segments();
    return tap_done();
}
