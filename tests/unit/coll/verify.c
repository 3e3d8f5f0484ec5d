/*
 * Algorithms of which theory says how many messages, bytes and rounds they take: they do, for every number of ranks up
 * to 33 and some larger, every root, odd sizes, units, segments, partitions and schedules (unit_prove: all others).
 */
#include "coll/proof/verify.h"
#include "coll/schedule/lists.h"
#include "support/random.h"
#include "support/tap.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_RANKS = 128 };

/* What is gathered over all runs of an algorithm on p ranks. */
struct tally {
    const struct hs_alg *alg;
    int p, runs, bad;
    uint64_t mix; /* chooses what is not enumerated */
    char text[400];
};

static int log2_up(int64_t n)
{
    int rounds = 0;
    while (n > (int64_t)1 << rounds)
        rounds++;
    return rounds;
}

/* Cuts bytes into p parts: equal, irregular, all at one rank, mostly empty. */
static const int64_t *cut(struct tally *tally, int64_t *part, int64_t elements, int64_t unit)
{
    int p = tally->p, kind = draw_of(&tally->mix, 5), owner = draw_of(&tally->mix, p);
    if (kind == 0)
        return NULL;
    int64_t step = kind == 2 ? 1 : 8; /* coarse cuts often coincide */
    for (int i = 0; i <= p; i++)
        part[i] = kind == 1 ? (i > owner) * elements : draw_of(&tally->mix, elements + 1) / step * step;
    part[0] = 0;
    part[p] = elements;
    for (int i = 1; i <= p; i++) /* insertion sort */
        for (int j = i; j > 0 && part[j] < part[j - 1]; j--) {
            int64_t swap = part[j];
            part[j] = part[j - 1];
            part[j - 1] = swap;
        }
    for (int i = 0; i <= p; i++)
        part[i] *= unit;
    return part;
}

static int parts_filled(const struct hs_shape *shape)
{
    int filled = 0;
    for (int i = 0; i < shape->size; i++)
        filled += hs_part_at(shape, i) < hs_part_at(shape, i + 1);
    return filled;
}

/* Segments of at most `segment` bytes, a whole number of elements, that the vector makes. */
static int64_t segments_of(const struct hs_shape *shape)
{
    int64_t segment = shape->segment ? shape->segment : 65536, longest = segment / shape->unit * shape->unit;
    if (longest == 0)
        longest = shape->unit;
    return (shape->bytes + longest - 1) / longest;
}

/* What theory says of an algorithm; -1: it says nothing.  upper: rounds is only a bound from above. */
struct theory {
    int64_t messages, bytes, rounds;
    int upper;
};

static struct theory van_de_geijn(const struct hs_shape *shape)
{
    int p = shape->size, all = parts_filled(shape) == p;
    struct theory theory = {-1, (p - 1) * shape->bytes, log2_up(p) + p - 1, !all};
    if (!all)
        return theory;
    theory.messages = p - 1;
    for (int r = 1; r < p; r++) {
        int tree = r & -r; /* ranks below r in the scatter, and r */
        theory.messages += p - (tree < p - r ? tree : p - r);
    }
    return theory;
}

static struct theory theory_of(const struct hs_alg *alg, const struct hs_shape *shape)
{
    int p = shape->size, power = 1 << (log2_up(p + 1) - 1);
    int64_t m = shape->bytes, segments = segments_of(shape);
    if (p == 1 || m == 0)
        return (struct theory){0, 0, 0, 0};
    if (alg->collective == HS_ALLREDUCE && strcmp(alg->name, "recursive_doubling") == 0) {
        int64_t messages = power * log2_up(power) + 2 * (p - power);
        return (struct theory){messages, messages * m, log2_up(power) + (p > power ? 2 : 0), p > power};
    }
    int64_t filled = parts_filled(shape);
    if (alg->collective == HS_ALLREDUCE && strcmp(alg->name, "ring") == 0)
        return (struct theory){filled == p ? 2 * filled * (p - 1) : -1, -1, 2 * (p - 1), filled < p};
    if (alg->collective == HS_ALLGATHER && strcmp(alg->name, "ring") == 0)
        return (struct theory){filled * (p - 1), (p - 1) * m, p - 1, filled < p};
    if (alg->collective == HS_ALLGATHER)
        return (struct theory){-1, (p - 1) * m, log2_up(p), filled < p};
    if (alg->collective == HS_REDUCE_SCATTER)
        return (struct theory){filled * (p - 1), (p - 1) * m, p - 1, 1};
    if (strcmp(alg->name, "flat") == 0)
        return (struct theory){p - 1, (p - 1) * m, 1, 0};
    if (strcmp(alg->name, "binomial") == 0)
        return (struct theory){p - 1, (p - 1) * m, log2_up(p), alg->collective == HS_REDUCE_TO && p != power};
    if (strcmp(alg->name, "chain") == 0)
        return (struct theory){(p - 1) * segments, (p - 1) * m, p - 2 + segments, 0};
    if (strcmp(alg->name, "van_de_geijn") == 0)
        return van_de_geijn(shape);
    return (struct theory){-1, -1, -1, 0};
}

static int has_theory(const struct hs_alg *alg)
{
    static const struct {
        enum hs_collective collective;
        const char *name;
    } known[] = {
        {HS_BCAST, "flat"},          {HS_BCAST, "binomial"},
        {HS_BCAST, "van_de_geijn"},  {HS_BCAST, "chain"},
        {HS_REDUCE_TO, "binomial"},  {HS_ALLREDUCE, "recursive_doubling"},
        {HS_ALLREDUCE, "ring"},      {HS_ALLGATHER, "ring"},
        {HS_ALLGATHER, "bruck"},     {HS_ALLGATHER, "recursive_doubling"},
        {HS_REDUCE_SCATTER, "ring"}, {HS_REDUCE_SCATTER, "pairwise"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (alg->collective == known[i].collective && strcmp(alg->name, known[i].name) == 0)
            return 1;
    return 0;
}

static void one(struct tally *tally, const struct hs_shape *shape, const struct hs_verify_options *options,
                struct hs_verify_report *report)
{
    hsumma_status status = hs_verify(tally->alg, shape, options, &hs_heap, report);
    struct theory theory = theory_of(tally->alg, shape);
    const char *what = NULL;

    tally->runs++;
    if (status)
        what = report->text;
    else if (theory.messages >= 0 && report->messages != theory.messages)
        what = "number of messages";
    else if (theory.bytes >= 0 && report->bytes != theory.bytes)
        what = "bytes";
    else if (theory.rounds >= 0 && (theory.upper ? report->rounds > theory.rounds : report->rounds != theory.rounds))
        what = "rounds";
    else if (tally->alg->collective == HS_ALLREDUCE && !report->same_bits)
        what = "ranks differ in bits";
    if (what && tally->bad++ == 0)
        snprintf(tally->text, sizeof tally->text,
                 "p %d root %d bytes %lld unit %lld segment %lld part %s schedule %d eager %d window %d: %s "
                 "(%lld messages, %lld bytes, %d rounds)",
                 shape->size, shape->root, (long long)shape->bytes, (long long)shape->unit, (long long)shape->segment,
                 shape->part ? "given" : "equal", (int)options->schedule, options->eager, options->window, what,
                 (long long)report->messages, (long long)report->bytes, report->rounds);
}

static int64_t pick_segment(struct tally *tally, int64_t bytes, int64_t unit)
{
    int64_t choices[] = {0, unit, 3 * unit, 3 * unit + 1, 1, bytes + unit, bytes / 2 + 1};
    return tally->alg->flags & HS_USES_SEGMENT ? choices[draw_of(&tally->mix, sizeof choices / sizeof *choices)] : 0;
}

static struct hs_verify_options pick_options(struct tally *tally, int schedule, int eager)
{
    static const int windows[] = {0, 0, 4, 7, 64};
    struct hs_verify_options options = {
        .schedule = (enum hs_schedule)schedule, .seed = draw_of(&tally->mix, 1u << 30), .eager = eager};
    options.instances = 1 + draw_of(&tally->mix, 3) * (tally->p <= 16);
    options.window = windows[draw_of(&tally->mix, 5)];
    options.run = draw_of(&tally->mix, 6);
    options.ld = options.run + draw_of(&tally->mix, 4);
    return options;
}

/* All roots, sizes and schedules (`few`: some of them) on p ranks. */
static void all_shapes(struct tally *tally, int few)
{
    int p = tally->p, rooted = tally->alg->collective == HS_BCAST || tally->alg->collective == HS_REDUCE_TO;
    const int64_t counts[] = {1, 0, 3, p - 1, p, p + 1, 2 * p + 1, 41, 97};
    int64_t part[MOST_RANKS + 1];

    for (int root = 0; root < (rooted ? p : 1); root += few ? p / 3 + 1 : 1)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            if (root > 0 && p > 16 &&
                draw_of(&tally->mix, 3)) /* every size for root 0, a third of them for the others */
                continue;
            int schedules = few || root > 0 ? 1 : 2 * HS_SCHEDULES, first = draw_of(&tally->mix, 2 * HS_SCHEDULES);
            for (int s = first; s < first + schedules; s++) {
                int64_t unit = (int64_t)4 << draw_of(&tally->mix, 3);
                struct hs_shape shape = {.size = p, .root = root, .bytes = counts[c] * unit, .unit = unit};
                shape.segment = pick_segment(tally, shape.bytes, unit);
                shape.part = cut(tally, part, counts[c], unit);
                if (hs_alg_unfit(tally->alg, &shape))
                    continue;
                struct hs_verify_options options = pick_options(tally, s / 2 % HS_SCHEDULES, s % 2);
                struct hs_verify_report report;
                one(tally, &shape, &options, &report);
            }
        }
}

/* The sums of a reduction must be bracketed alike for all roots. */
static void same_for_all_roots(struct tally *tally)
{
    uint64_t bracketing = 0;
    for (int root = 0; root < tally->p; root++) {
        struct hs_shape shape = {.size = tally->p, .root = root, .bytes = 24, .unit = 8};
        struct hs_verify_options options = {0};
        struct hs_verify_report report;
        one(tally, &shape, &options, &report);
        if (root > 0 && report.bracketing != bracketing && tally->bad++ == 0)
            snprintf(tally->text, sizeof tally->text, "p %d: root %d brackets differently", tally->p, root);
        bracketing = report.bracketing;
    }
}

/*
 * Without verify: the lists executed in list order on real numbers.  Each ordered pair exchanges one message at most,
 * so a matrix is the mail.  Returns the number of ranks that have finished.
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

/* The canonical sum: a binary tree over the ranks in order. */
static double tree_sum(const double *x, int low, int span, int p)
{
    if (span == 1)
        return x[low];
    double left = tree_sum(x, low, span / 2, p);
    return low + span / 2 < p ? left + tree_sum(x, low + span / 2, span / 2, p) : left;
}

static void real_numbers(int p)
{
    const struct hs_alg *alg = hs_alg_find(HS_REDUCE_TO, "binomial");
    double x[MOST_RANKS], want;
    int bad = 0;

    for (int i = 0; i < p; i++)
        x[i] = draw_fraction() * (i % 3 ? 1e-9 : 1.0);
    want = tree_sum(x, 0, 1 << log2_up(p), p);
    for (int root = 0; root < p; root++) {
        struct hs_shape shape = {.size = p, .root = root, .bytes = 8, .unit = 8};
        struct hs_list *list = NULL;
        double(*slot)[HS_SLOTS][2] = calloc((size_t)p, sizeof *slot);
        double *mail = calloc((size_t)(p * p), sizeof *mail);
        unsigned char *full = calloc((size_t)(p * p), 1);
        for (int i = 0; slot && i < p; i++)
            slot[i][HS_IN][0] = x[i];
        bad += !slot || !mail || !full || hs_build_all(alg, &shape, &hs_heap, &list) != HSUMMA_OK ||
               execute(list, p, slot, mail, full) != p || memcmp(&slot[root][HS_OUT][0], &want, sizeof want) != 0;
        hs_free_all(&hs_heap, list, p);
        free(slot);
        free(mail);
        free(full);
    }
    tap_ok(bad == 0, "reduce binomial, p = %d: the canonical sum, bit for bit, for every root", p);
}

/* For powers of two the butterfly brackets like the tree. */
static void same_tree(void)
{
    int bad = 0;
    for (int p = 1; p <= 64; p *= 2) {
        struct hs_shape shape = {.size = p, .bytes = 40, .unit = 8};
        struct hs_verify_report tree, butterfly;
        bad += hs_verify(hs_alg_find(HS_REDUCE_TO, "binomial"), &shape, NULL, &hs_heap, &tree) != HSUMMA_OK;
        bad +=
            hs_verify(hs_alg_find(HS_ALLREDUCE, "recursive_doubling"), &shape, NULL, &hs_heap, &butterfly) != HSUMMA_OK;
        bad += tree.bracketing != butterfly.bracketing;
    }
    tap_ok(bad == 0, "reduce binomial and allreduce recursive_doubling give the same bits for powers of two");
}

int main(void)
{
    const struct hs_alg *alg;
    for (int i = 0; (alg = hs_alg_at(i)); i++)
        for (int p = has_theory(alg) ? 1 : MOST_RANKS + 1; p <= MOST_RANKS; p = p < 33    ? p + 1
                                                                                : p == 33 ? 64
                                                                                : p == 64 ? 100
                                                                                          : p + 28) {
            struct tally tally = {.alg = alg, .p = p, .mix = (uint64_t)(1000 * i + p)};
            all_shapes(&tally, p > 33);
            if (alg->collective == HS_REDUCE_TO)
                same_for_all_roots(&tally);
            if (!tap_ok(tally.bad == 0, "%s %s, p = %d: %d runs", hs_collective_name(alg->collective), alg->name, p,
                        tally.runs))
                tap_diag("%s", tally.text);
        }
    for (int p = 1; p <= 40; p += p < 9 ? 1 : 7)
        real_numbers(p);
    same_tree();
    return tap_done();
}
