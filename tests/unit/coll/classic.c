/*
 * The classic collectives through verify, on up to 40 ranks and on 128, with uneven and empty parts: the result is
 * right, and messages, bytes and rounds are those of theory.
 */
#include "coll/proof/verify.h"
#include "coll/schedule/lists.h"
#include "support/tap.h"

#include <string.h>

enum { MOST_RANKS = 128 };
enum cut { EQUAL, UNEVEN, ONE_OWNER, HALF_EMPTY, CUTS };

static const char *const cut_names[CUTS] = {"equal", "uneven", "at one rank", "half empty"};

static int log2_up(int64_t n)
{
    int rounds = 0;
    while (n > (int64_t)1 << rounds)
        rounds++;
    return rounds;
}

static int log2_down(int64_t n)
{
    return log2_up(n + 1) - 1;
}

static const int64_t *cut(enum cut how, int64_t *part, int p, int64_t elements, int64_t unit)
{
    if (how == EQUAL)
        return NULL;
    for (int i = 0; i <= p; i++) {
        int64_t owner = p / 3, at[CUTS] = {[UNEVEN] = elements * i / p * i / p,
                                           [ONE_OWNER] = i > owner ? elements : 0,
                                           [HALF_EMPTY] = elements * (i / 2 * 2) / p};
        part[i] = (i == p ? elements : at[how]) * unit;
    }
    return part;
}

static int filled(const struct hs_shape *shape)
{
    int parts = 0;
    for (int i = 0; i < shape->size; i++)
        parts += hs_part_at(shape, i) < hs_part_at(shape, i + 1);
    return parts;
}

/* What theory says; if some parts are empty, messages and rounds are bounds from above.  most: `rounds` always is. */
struct theory {
    int64_t messages, bytes, rounds;
    int most;
};

static struct theory binary_tree(const struct hs_shape *shape)
{
    int p = shape->size;
    int64_t longest = (shape->segment ? shape->segment : 65536) / shape->unit * shape->unit;
    longest = longest < shape->unit ? shape->unit : longest;
    int64_t s = (shape->bytes + longest - 1) / longest;
    return (struct theory){(p - 1) * s, (p - 1) * shape->bytes, 2 * (log2_up(p + 1) - 2 + s), (p & (p + 1)) != 0};
}

static struct theory logarithmic_allgather(const struct hs_shape *shape)
{
    int p = shape->size;
    return (struct theory){(int64_t)p * log2_up(p), (p - 1) * shape->bytes, log2_up(p), 0};
}

static struct theory ring_allreduce(const struct hs_shape *shape)
{
    int64_t p = shape->size;
    return (struct theory){2 * p * (p - 1), 2 * (p - 1) * shape->bytes, 2 * (p - 1), 0};
}

static struct theory reduce_bcast(const struct hs_shape *shape)
{
    int p = shape->size;
    return (struct theory){2 * (p - 1), 2 * (p - 1) * shape->bytes, 2 * log2_up(p), (p & (p - 1)) != 0};
}

static struct theory linear_reduce_scatter(const struct hs_shape *shape)
{
    int64_t p = shape->size;
    return (struct theory){p * (p - 1), (p - 1) * shape->bytes, p - 1, 0};
}

static struct theory halving(const struct hs_shape *shape)
{
    int p = shape->size, bits = log2_down(p), power = 1 << bits, pairs = p - power;
    struct theory theory = {power * bits + 2 * pairs, (power - 1 + pairs) * shape->bytes, bits + 2 * (pairs > 0),
                            pairs > 0};
    for (int i = 0; i < pairs; i++)
        theory.bytes += hs_part_at(shape, 2 * i + 2) - hs_part_at(shape, 2 * i + 1);
    return theory;
}

static const struct {
    enum hs_collective collective;
    const char *name;
    struct theory (*theory)(const struct hs_shape *shape);
} rows[] = {
    {HS_BCAST, "binary_tree", binary_tree},
    {HS_ALLREDUCE, "ring", ring_allreduce},
    {HS_ALLREDUCE, "reduce_bcast", reduce_bcast},
    {HS_ALLGATHER, "bruck", logarithmic_allgather},
    {HS_ALLGATHER, "recursive_doubling", logarithmic_allgather},
    {HS_REDUCE_SCATTER, "pairwise", linear_reduce_scatter},
    {HS_REDUCE_SCATTER, "recursive_halving", halving},
    {HS_REDUCE_SCATTER, "ring", linear_reduce_scatter},
};

/* What is wrong; NULL: nothing. */
static const char *judge(hsumma_status status, const struct hs_verify_report *report, const struct theory *theory,
                         int all)
{
    if (status)
        return report->text[0] ? report->text : hsumma_status_string(status);
    if (all ? report->messages != theory->messages : report->messages > theory->messages)
        return "number of messages";
    if (report->bytes != theory->bytes)
        return "bytes";
    if (all && !theory->most ? report->rounds != theory->rounds : report->rounds > theory->rounds)
        return "rounds";
    return NULL;
}

/* One row on p ranks: all lengths, cuts and schedules, each pair of schedule and mode of sending in turn. */
static void row_on(int row, int p, int *turn)
{
    const struct hs_alg *alg = hs_alg_find(rows[row].collective, rows[row].name);
    const int64_t lengths[] = {4 * p, 1, 0, 3, p - 1, 2 * p + 1, 61};
    int64_t part[MOST_RANKS + 1];
    int runs = 0, bad = 0;
    char text[400] = "";

    for (size_t i = 0; i < sizeof lengths / sizeof *lengths - (p > 40 ? 4 : 0); i++)
        for (int how = 0; how < (alg->collective == HS_BCAST || alg->collective == HS_ALLREDUCE ? 1 : CUTS); how++) {
            static const int windows[] = {0, 4, 64, 7};
            struct hs_shape shape = {.size = p, .bytes = 8 * lengths[i], .unit = 8};
            struct hs_verify_options options = {
                .schedule = (enum hs_schedule)(*turn % HS_SCHEDULES), .seed = (uint64_t)*turn, .eager = *turn / 4 % 2};
            struct hs_verify_report report;
            options.window = windows[*turn / 3 % 4];
            shape.part = cut((enum cut)how, part, p, lengths[i], 8);
            shape.segment = alg->flags & HS_USES_SEGMENT ? (int64_t[]){0, 8, 20, 40}[*turn % 4] : 0;
            ++*turn;
            if (hs_alg_unfit(alg, &shape))
                continue;
            hsumma_status status = hs_verify(alg, &shape, &options, &hs_heap, &report);
            struct theory theory = {0};
            if (p > 1 && shape.bytes > 0)
                theory = rows[row].theory(&shape);
            int whole = alg->collective == HS_BCAST || strcmp(alg->name, "reduce_bcast") == 0;
            const char *what = judge(status, &report, &theory, shape.bytes == 0 || whole || filled(&shape) == p);
            runs++;
            if (what && bad++ == 0)
                snprintf(text, sizeof text,
                         "%lld elements, parts %s, segment %lld, schedule %d, eager %d, window %d: %s (%lld messages, "
                         "%lld bytes, %d rounds)",
                         (long long)lengths[i], cut_names[how], (long long)shape.segment, (int)options.schedule,
                         options.eager, options.window, what, (long long)report.messages, (long long)report.bytes,
                         report.rounds);
        }
    if (!tap_ok(bad == 0, "%s %s, p = %d: %d runs", hs_collective_name(alg->collective), alg->name, p, runs))
        tap_diag("%s", text);
}

/* Sums of neighbouring ranges are joined at once, so pairwise needs a few parts of memory, not one per rank. */
static void pairwise_memory(void)
{
    const struct hs_alg *alg = hs_alg_find(HS_REDUCE_SCATTER, "pairwise");
    int bad = 0;
    for (int p = 2; p <= MOST_RANKS; p += p < 20 ? 1 : 27) {
        struct hs_shape shape = {.size = p, .bytes = 8 * p, .unit = 8};
        struct hs_list *list = NULL;
        bad += hs_build_all(alg, &shape, &hs_heap, &list) != HSUMMA_OK;
        for (int r = 0; list && r < p; r++)
            bad += list[r].extent[HS_SCRATCH] > 8 * (2 * log2_up(p) + 2);
        hs_free_all(&hs_heap, list, p);
    }
    tap_ok(bad == 0, "reduce_scatter pairwise: at most 2 log2 q + 2 parts of scratch");
}

/* For powers of two, where recursive halving is a binary tree over the ranks as well. */
static void same_tree(void)
{
    int bad = 0;
    for (int p = 1; p <= 64; p *= 2) {
        struct hs_shape shape = {.size = p, .bytes = 24 * p, .unit = 8};
        struct hs_verify_report a, b;
        bad += hs_verify(hs_alg_find(HS_REDUCE_SCATTER, "pairwise"), &shape, NULL, &hs_heap, &a) != HSUMMA_OK;
        bad += hs_verify(hs_alg_find(HS_REDUCE_SCATTER, "recursive_halving"), &shape, NULL, &hs_heap, &b) != HSUMMA_OK;
        bad += a.bracketing != b.bracketing;
    }
    tap_ok(bad == 0, "reduce_scatter pairwise and recursive_halving give the same bits for powers of two");
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
    int turn = 0;
    for (int row = 0; row < (int)(sizeof rows / sizeof *rows); row++)
        for (int p = 1; p <= MOST_RANKS; p = p < 40 ? p + 1 : p == 40 ? MOST_RANKS : p + 1)
            row_on(row, p, &turn);
    pairwise_memory();
    same_tree();
    many_segments();
    return tap_done();
}
