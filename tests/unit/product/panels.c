/* Panels, and packing into them, compared with explicit lists of indices, for all small pairs of axes. */
#include "summa/panels.h"
#include "summa/pack.h"
#include "support/tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N_MAX = 24, PROCS_MAX = 4, TIERS_MAX = 3, AXES_MAX = 256 };

/* The looped dimension as a list of indices in runs; the indices of a run belong to one pair of owners. */
struct listing {
    int runs, pair[N_MAX], owner[N_MAX][2];
    int begin[N_MAX + 1]; /* position in index[] where each run begins */
    int64_t index[N_MAX];
};

/* Makes one run per pair of owners, in the order of their first index. */
static void list_pairs(const struct hs_axis *x, const struct hs_axis *y, struct listing *all)
{
    int used = 0;
    all->runs = 0;
    for (int64_t g = 0; g < x->n; g++) {
        int p = hs_axis_owner(x, g), q = hs_axis_owner(y, g), known = 0;
        for (int i = 0; i < all->runs; i++)
            known |= all->owner[i][0] == p && all->owner[i][1] == q;
        if (known)
            continue;
        all->pair[all->runs] = all->runs;
        all->owner[all->runs][0] = p;
        all->owner[all->runs][1] = q;
        all->begin[all->runs++] = used;
        for (int64_t h = g; h < x->n; h++)
            if (hs_axis_owner(x, h) == p && hs_axis_owner(y, h) == q)
                all->index[used++] = h;
    }
    all->begin[all->runs] = used;
}

/* Cuts each pair's indices into turns of at most `turn` indices, one run per turn: the first turn of every pair, then
 * the second turn of every pair, and so on. */
static void list_turns(const struct listing *pairs, int64_t turn, struct listing *all)
{
    int used = 0, n = pairs->begin[pairs->runs];
    all->runs = 0;
    for (int64_t round = 0; used < n; round++)
        for (int i = 0; i < pairs->runs; i++) {
            int before = used;
            for (int at = pairs->begin[i]; at < pairs->begin[i + 1]; at++)
                if ((at - pairs->begin[i]) / turn == round)
                    all->index[used++] = pairs->index[at];
            if (used == before)
                continue;
            all->pair[all->runs] = i;
            memcpy(all->owner[all->runs], pairs->owner[i], sizeof pairs->owner[i]);
            all->begin[all->runs++] = before;
        }
    all->begin[all->runs] = used;
}

/* How many of the first g indices `proc` owns, by counting. */
static int64_t local_of(const struct hs_axis *axis, int proc, int64_t g)
{
    int64_t local = 0;
    for (int64_t h = 0; h < g; h++)
        local += hs_axis_owner(axis, h) == proc;
    return local;
}

static int wrong_pairs(const struct hs_pairs *pairs, const struct listing *all)
{
    int wrong = pairs->count != all->runs, in_place[2] = {1, 1}, changes[2] = {0, 0};
    int64_t widest = 0;
    for (int i = 0; !wrong && i < all->runs; i++) {
        const struct hs_pair *pair = &pairs->pair[i], *next = &pairs->pair[(i + 1) % all->runs];
        int from = all->begin[i], to = all->begin[i + 1];
        wrong += pair->owner[0] != all->owner[i][0] || pair->owner[1] != all->owner[i][1];
        wrong += pair->at != all->index[from] || pair->width != to - from;
        widest = to - from > widest ? to - from : widest;
        for (int x = 0; x < 2; x++) {
            int64_t local = local_of(pairs->axis[x], pair->owner[x], all->index[from]);
            changes[x] += next->owner[x] != pair->owner[x];
            wrong += pair->local[x] != local;
            for (int at = from; at < to; at++)
                in_place[x] &= local_of(pairs->axis[x], pair->owner[x], all->index[at]) == local + at - from;
        }
    }
    for (int x = 0; x < 2; x++)
        wrong += pairs->in_place[x] != in_place[x] || pairs->changes[x] != changes[x];
    return wrong + (pairs->width_max != widest);
}

/* Checks the innermost panels: each turn's indices cut into pieces of `width`, independent of outer widths. */
static int wrong_panels(const struct hs_panels *panels, const struct listing *all, int64_t width)
{
    int t = 0;
    for (int run = 0; run < all->runs; run++)
        for (int at = all->begin[run]; at < all->begin[run + 1]; t++) {
            int left = all->begin[run + 1] - at, wanted = left < width ? left : (int)width;
            if (t >= panels->count || panels->panel[t].pair != all->pair[run] || panels->panel[t].width != wanted ||
                panels->panel[t].at != all->index[at])
                return 1;
            struct hs_overlap walk = hs_panel_walk(panels, t);
            int64_t begin, length;
            for (int got = 0; got < wanted; got += (int)length) {
                if (!hs_overlap_next(&walk, wanted - got, &begin, &length))
                    return 1;
                for (int64_t i = 0; i < length; i++)
                    if (begin + i != all->index[at + got + i])
                        return 1;
            }
            at += wanted;
        }
    return t != panels->count;
}

/* Checks a tier: each turn's indices cut into pieces of the tier's width. A piece is made of whole panels of the inner
 * tier. */
static int wrong_tier(const struct hs_panels *panels, const struct listing *all, int tier, int64_t width)
{
    const struct hs_tier *of = &panels->tier[tier];
    int o = 0, t = 0, wrong = 0;
    for (int run = 0; run < all->runs; run++)
        for (int at = all->begin[run]; at < all->begin[run + 1]; o++) {
            int left = all->begin[run + 1] - at, wanted = left < width ? left : (int)width, inside = 0;
            if (o >= of->count || of->first[o] != t || hs_tier_width(panels, tier, o) != wanted)
                return 1;
            if (tier + 1 < panels->tiers) /* a panel of the inner tier begins here, too */
                wrong += panels->tier[tier + 1].first[panels->tier[tier + 1].of[t]] != t;
            for (; inside < wanted; inside += panels->panel[t++].width) {
                if (t >= panels->count)
                    return 1;
                wrong += of->of[t] != o || hs_tier_offset(panels, tier, t) != inside;
            }
            wrong += inside != wanted;
            at += wanted;
        }
    return wrong + (of->count != o) + (of->first[o] != panels->count) + (of->of[panels->count] != o);
}

static int axes_of(int64_t n, struct hs_axis *axis)
{
    static const int64_t blocks[] = {1, 2, 3, 5, 8};
    int count = 0;
    for (int nprocs = 1; nprocs <= PROCS_MAX; nprocs++)
        for (int src = 0; src<nprocs; src += nprocs> 1 ? nprocs - 1 : 1)
            for (int b = 0; b < 5; b++)
                for (int64_t first = 1; first <= blocks[b]; first += blocks[b] > 1 ? blocks[b] - 1 : 1)
                    axis[count++] = (struct hs_axis){n, blocks[b], first, src, nprocs};
    return count;
}

static const struct widths {
    int tiers;
    int64_t width[TIERS_MAX], turn;
} widths[] = {
    {1, {1}, HS_WHOLE_TURN}, {2, {4, 1}, 4},      {1, {3}, 3},
    {2, {3, 3}, 6},          {3, {12, 6, 3}, 12}, {1, {4}, HS_WHOLE_TURN},
    {3, {8, 8, 4}, 8},       {2, {40, 20}, 40},   {1, {1}, 1},
    {2, {4, 2}, 8},          {3, {6, 3, 3}, 60},  {2, {4, 1}, HS_WHOLE_TURN},
};
enum { WIDTHS = sizeof widths / sizeof *widths };

static int make(const struct hs_axis *x, const struct hs_axis *y, const struct widths *w, struct hs_panels *panels)
{
    struct hs_pairs pairs;
    return hs_pairs_make(x, y, 0, &hs_heap, &pairs) ||
           hs_panels_make(&pairs, w->tiers, w->width, w->turn, &hs_heap, panels);
}

static void test_panels(void)
{
    static const int64_t sizes[] = {0, 1, 7, 24};
    static struct hs_axis axis[AXES_MAX];
    int64_t tested = 0, bad_pairs = 0, bad_panels = 0, bad_tiers = 0;
    for (int s = 0; s < 4; s++) {
        int count = axes_of(sizes[s], axis);
        for (int i = 0; i < count; i++)
            for (int j = 0; j < count; j++) {
                struct listing pairs, all;
                list_pairs(&axis[i], &axis[j], &pairs);
                for (int w = (i + j) % 3; w < WIDTHS; w += 3) {
                    struct hs_panels panels;
                    list_turns(&pairs, widths[w].turn, &all);
                    if (make(&axis[i], &axis[j], &widths[w], &panels)) {
                        bad_panels++;
                        continue;
                    }
                    tested++;
                    bad_pairs += wrong_pairs(&panels.pairs, &pairs) != 0;
                    bad_panels += wrong_panels(&panels, &all, widths[w].width[widths[w].tiers - 1]) != 0;
                    for (int tier = 0; tier < widths[w].tiers; tier++)
                        bad_tiers += wrong_tier(&panels, &all, tier, widths[w].width[tier]) != 0;
                    hs_panels_free(&hs_heap, &panels);
                }
            }
    }
    tap_ok(bad_pairs == 0, "pairs of owners: %lld cuts, %lld wrong", (long long)tested, (long long)bad_pairs);
    tap_ok(bad_panels == 0,
           "innermost panels: each index once, turn after turn of the pairs, the same for all outer "
           "widths: %lld wrong",
           (long long)bad_panels);
    tap_ok(bad_tiers == 0, "tiers nest, widths and offsets are right: %lld wrong", (long long)bad_tiers);
}

/* A million panels in turns of one index. If owners have equal layouts, the order is the natural one. */
static void test_many(void)
{
    enum { MANY = 1 << 20 };
    const struct hs_axis axis = {MANY, 1, 1, 3, 64};
    const struct widths single = {1, {1}, 1};
    struct hs_panels panels;
    int wrong = make(&axis, &axis, &single, &panels) || panels.count != MANY;
    for (int t = 0; !wrong && t < MANY; t++)
        wrong = panels.panel[t].at != t;
    hs_panels_free(&hs_heap, &panels);
    tap_ok(!wrong, "%d panels of one index, in turns of one", (int)MANY);
}

/* For tests of packing: one moving operand of doubles, whose looped dimension is on the stored axis loop_axis. */
enum { LENGTH_MAX = 9, LD_PAD = 3, ROOM = (N_MAX + LD_PAD) * (N_MAX + LD_PAD), GUARD = 1000000 };

static double entry(int64_t loop, int64_t pinned)
{
    return (double)(1 + loop * 100 + pinned);
}

/* The position of element (loop, pinned) in a stored matrix. */
static int64_t at(int loop_axis, int64_t loop, int64_t pinned, int64_t ld)
{
    return loop_axis == 0 ? loop + pinned * ld : pinned + loop * ld;
}

/* A local matrix with padding. Each element is entry(global looped index, global pinned index). */
struct local {
    double data[ROOM];
    int64_t loops, length, ld;
    struct hs_matrix matrix;
};

static void fill(struct local *local, const struct hs_axis *looped, int p, const struct hs_axis *pinned, int q,
                 int loop_axis)
{
    local->loops = hs_axis_count(looped, p);
    local->length = hs_axis_count(pinned, q);
    local->ld = (loop_axis == 0 ? local->loops : local->length) + LD_PAD;
    for (int i = 0; i < ROOM; i++)
        local->data[i] = GUARD;
    for (int64_t l = 0; l < local->loops; l++)
        for (int64_t c = 0; c < local->length; c++)
            local->data[at(loop_axis, l, c, local->ld)] =
                entry(hs_axis_global(looped, p, l), hs_axis_global(pinned, q, c));
    local->matrix = (struct hs_matrix){(char *)local->data, local->ld};
}

/* Computes the right contents of a run's slabs for these pinned indices; returns the number of elements. */
static int64_t expected_slabs(const struct hs_run_of_panels *run, const struct listing *all,
                              const struct hs_axis *pinned, int q, double *slabs)
{
    int64_t length = hs_axis_count(pinned, q), used = 0;
    const struct hs_panels *panels = run->panels;
    for (int t = run->begin; t < run->end; t++) {
        int from = 0;
        int64_t width = panels->panel[t].width, ld = run->role->loop_axis == 0 ? width : length;
        for (int s = 0; s < t; s++)
            from += panels->panel[s].width;
        for (int64_t w = 0; w < width; w++)
            for (int64_t c = 0; c < length; c++)
                slabs[used + at(run->role->loop_axis, w, c, ld)] =
                    entry(all->index[from + w], hs_axis_global(pinned, q, c));
        used += width * length;
    }
    return used;
}

static int is_in_run(const struct hs_run_of_panels *run, const struct listing *all, int64_t index)
{
    int position = 0, before = 0, width = 0;
    while (all->index[position] != index)
        position++;
    for (int t = 0; t < run->end; t++)
        *(t < run->begin ? &before : &width) += run->panels->panel[t].width;
    return position >= before && position < before + width;
}

/* Counts wrong elements after an update with slabs of entry(). Elements of the run must be beta * old + entry(); the
 * others must be unchanged. */
static int wrong_update(const struct local *local, const struct local *old, const struct hs_run_of_panels *run,
                        const struct listing *all, const struct hs_axis *pinned, int q, double beta)
{
    int wrong = 0;
    double *want = malloc(sizeof old->data);
    memcpy(want, old->data, sizeof old->data);
    for (int64_t l = 0; l < old->loops; l++) {
        int64_t index = hs_axis_global(run->role->looped, run->loop_coord, l);
        for (int64_t c = 0; is_in_run(run, all, index) && c < old->length; c++) {
            double *place = &want[at(run->role->loop_axis, l, c, old->ld)];
            *place = (beta == 0 ? 0 : beta * *place) + entry(index, hs_axis_global(pinned, q, c));
        }
    }
    for (int i = 0; i < ROOM; i++)
        wrong += !(local->data[i] == want[i]);
    free(want);
    return wrong;
}

static int64_t expected_in_place(const struct hs_run_of_panels *run, const struct listing *all)
{
    int64_t start = -1, next = -1;
    for (int i = 0; i < all->begin[all->runs]; i++) {
        if (!is_in_run(run, all, all->index[i]))
            continue;
        int64_t local = local_of(run->role->looped, run->loop_coord, all->index[i]);
        if (start >= 0 && local != next)
            return -1;
        start = start < 0 ? local : start;
        next = local + 1;
    }
    return start;
}

static struct {
    int64_t runs, in_place, pack, unpack, exchange_in, exchange_out, alike, own;
} bad;

/* Tests hs_pack, hs_unpack and hs_in_place on one run. */
static void try_run(const struct hs_run_of_panels *run, const struct listing *all, const struct hs_axis *pinned, int q)
{
    static const double betas[] = {1, 0, -2};
    static double want[ROOM], slabs[ROOM];
    static struct local local, old;
    double beta = betas[bad.runs++ % 3];
    fill(&local, run->role->looped, run->loop_coord, pinned, q, run->role->loop_axis);
    int64_t count = expected_slabs(run, all, pinned, q, want);
    for (int i = 0; i < ROOM; i++)
        slabs[i] = GUARD;
    hs_pack(run, &local.matrix, local.length, (char *)slabs);
    int wrong = slabs[count] != GUARD;
    for (int64_t i = 0; i < count; i++)
        wrong += slabs[i] != want[i];
    bad.pack += wrong != 0;
    bad.in_place += hs_in_place(run) != expected_in_place(run, all);
    for (int64_t l = 0; beta == 0 && l < local.loops; l++) /* with beta = 0 the old values must not be read */
        for (int64_t c = 0;
             is_in_run(run, all, hs_axis_global(run->role->looped, run->loop_coord, l)) && c < local.length; c++)
            local.data[at(run->role->loop_axis, l, c, local.ld)] = NAN;
    old = local;
    hs_unpack(run, (const char *)want, local.length, &beta, &local.matrix);
    bad.unpack += wrong_update(&local, &old, run, all, pinned, q, beta) != 0;
}

/* For a process that is both holder q and taker i: copies between matrix and slabs must give the same as copies through
 * a message. */
static void try_own(const struct hs_run_of_panels *run, int q, int i, double beta)
{
    static double message[ROOM], slabs[2][ROOM];
    static struct local local, other;
    fill(&local, run->role->looped, run->loop_coord, run->role->own, q, run->role->loop_axis);
    for (int e = 0; e < ROOM; e++)
        slabs[0][e] = slabs[1][e] = GUARD;
    hs_exchange_copy(run, HS_MATRIX_TO_MESSAGE, q, i, (char *)message, &local.matrix, NULL, NULL);
    hs_exchange_copy(run, HS_MESSAGE_TO_SLABS, q, i, (char *)message, NULL, (char *)slabs[0], NULL);
    hs_exchange_copy(run, HS_MATRIX_TO_SLABS, q, i, NULL, &local.matrix, (char *)slabs[1], NULL);
    bad.own += memcmp(slabs[0], slabs[1], sizeof slabs[0]) != 0;
    other = local;
    other.matrix.base = (char *)other.data;
    for (int e = 0; e < ROOM; e++)
        slabs[0][e] += 1;
    hs_exchange_copy(run, HS_SLABS_TO_MESSAGE, q, i, (char *)message, NULL, (char *)slabs[0], NULL);
    hs_exchange_copy(run, HS_MESSAGE_TO_MATRIX, q, i, (char *)message, &local.matrix, NULL, &beta);
    hs_exchange_copy(run, HS_SLABS_TO_MATRIX, q, i, NULL, &other.matrix, (char *)slabs[0], &beta);
    bad.own += memcmp(local.data, other.data, sizeof local.data) != 0;
}

/* Tests all messages between the holders of one layout of the pinned dimension and the takers of another. */
static void try_exchange(const struct hs_run_of_panels *run, const struct listing *all, double beta)
{
    static double message[PROCS_MAX][PROCS_MAX][ROOM], back[ROOM], slabs[ROOM], want[ROOM];
    static struct local local, old;
    const struct hs_axis *own = run->role->own, *wanted = run->role->want;
    int64_t width = 0;
    for (int t = run->begin; t < run->end; t++)
        width += run->panels->panel[t].width;
    for (int q = 0; q < own->nprocs; q++) {
        fill(&local, run->role->looped, run->loop_coord, own, q, run->role->loop_axis);
        for (int i = 0; i < wanted->nprocs; i++) {
            int64_t count = width * hs_overlap_count(own, q, wanted, i);
            for (int e = 0; e < ROOM; e++)
                message[q][i][e] = GUARD;
            hs_exchange_copy(run, HS_MATRIX_TO_MESSAGE, q, i, (char *)message[q][i], &local.matrix, NULL, NULL);
            bad.exchange_in += message[q][i][count] != GUARD;
        }
    }
    for (int i = 0; i < wanted->nprocs; i++) {
        int64_t count = expected_slabs(run, all, wanted, i, want);
        for (int e = 0; e < ROOM; e++)
            slabs[e] = GUARD;
        for (int q = 0; q < own->nprocs; q++)
            hs_exchange_copy(run, HS_MESSAGE_TO_SLABS, q, i, (char *)message[q][i], NULL, (char *)slabs, NULL);
        int wrong = slabs[count] != GUARD;
        for (int64_t e = 0; e < count; e++)
            wrong += slabs[e] != want[e];
        bad.exchange_in += wrong != 0;
        try_own(run, i % own->nprocs, i, beta);
        /* a C that moves is packed from slabs: these messages must equal those packed from the matrix */
        for (int q = 0; q < own->nprocs; q++) {
            for (int e = 0; e < ROOM; e++)
                back[e] = GUARD;
            hs_exchange_copy(run, HS_SLABS_TO_MESSAGE, q, i, (char *)back, NULL, (char *)want, NULL);
            bad.alike += memcmp(back, message[q][i], sizeof back) != 0;
        }
    }
    for (int q = 0; q < own->nprocs; q++) {
        fill(&local, run->role->looped, run->loop_coord, own, q, run->role->loop_axis);
        old = local;
        for (int i = 0; i < wanted->nprocs; i++)
            hs_exchange_copy(run, HS_MESSAGE_TO_MATRIX, q, i, (char *)message[q][i], &local.matrix, NULL, &beta);
        bad.exchange_out += wrong_update(&local, &old, run, all, own, q, beta) != 0;
    }
}

/* Tests all runs of one cut: each panel of each tier, for both operands, in alternating orientation. */
static void try_cut(const struct hs_panels *panels, const struct listing *all, const struct hs_axis *own,
                    const struct hs_axis *want)
{
    for (int tier = 0; tier < panels->tiers; tier++)
        for (int o = 0; o < panels->tier[tier].count; o++)
            for (int operand = 0; operand < 2; operand++) {
                struct hs_role role = {.moves = 1,
                                       .loop_axis = (o + tier + operand) % 2,
                                       .own = own,
                                       .want = want,
                                       .looped = panels->pairs.axis[operand]};
                int begin = panels->tier[tier].first[o], end = panels->tier[tier].first[o + 1];
                int p = panels->pairs.pair[panels->panel[begin].pair].owner[operand];
                struct hs_run_of_panels run = {panels, &role, &hs_scalars[HSUMMA_D], p, begin, end};
                try_run(&run, all, own, o % own->nprocs);
                try_exchange(&run, all, (double)(o % 3) - 1);
            }
}

static void test_packing(void)
{
    static struct hs_axis axis[AXES_MAX];
    static const struct hs_axis pinned[] = {{LENGTH_MAX, 2, 1, 1, 3}, {LENGTH_MAX, 3, 3, 0, 2},
                                            {LENGTH_MAX, 4, 2, 3, 4}, {LENGTH_MAX, 9, 9, 0, 3},
                                            {LENGTH_MAX, 1, 1, 0, 1}, {0, 2, 2, 0, 2}};
    int count = axes_of(17, axis), cut = 0;
    for (int i = 0; i < count; i += 2)
        for (int j = i % 3; j < count; j += 3, cut++) {
            struct hs_panels panels;
            struct listing pairs, all;
            int own = cut % 6, want = cut / 6 % 6;
            if (pinned[own].n != pinned[want].n)
                want = own;
            list_pairs(&axis[i], &axis[j], &pairs);
            list_turns(&pairs, widths[cut % WIDTHS].turn, &all);
            if (make(&axis[i], &axis[j], &widths[cut % WIDTHS], &panels)) {
                bad.pack++;
                continue;
            }
            try_cut(&panels, &all, &pinned[own], &pinned[want]);
            hs_panels_free(&hs_heap, &panels);
        }
    tap_ok(bad.pack == 0, "pack: %lld runs of panels in %d cuts, %lld wrong", (long long)bad.runs, cut,
           (long long)bad.pack);
    tap_ok(bad.in_place == 0, "in place: %lld wrong", (long long)bad.in_place);
    tap_ok(bad.unpack == 0, "unpack with beta = 1, 0, -2, nothing else touched: %lld wrong", (long long)bad.unpack);
    tap_ok(bad.exchange_in == 0,
           "exchange inward: messages of the size they should have, slabs as gathered: %lld wrong",
           (long long)bad.exchange_in);
    tap_ok(bad.alike == 0, "exchange: both sides make the same message of the same data: %lld wrong",
           (long long)bad.alike);
    tap_ok(bad.own == 0, "exchange of a process with itself, without a message: %lld wrong", (long long)bad.own);
    tap_ok(bad.exchange_out == 0, "exchange outward: C = beta C + sums: %lld wrong", (long long)bad.exchange_out);
}

/* Packing and unpacking of complex numbers, elements of 16 bytes, panel by panel. */
static void test_complex(void)
{
    static const double beta[2] = {0, 1};
    struct hs_axis looped = {7, 2, 1, 0, 2}, pinned = {3, 3, 3, 0, 1};
    struct widths one = {1, {3}, 3};
    struct hs_panels panels;
    double data[7 * 3][2], slabs[7 * 3][2];
    int wrong = make(&looped, &looped, &one, &panels);
    struct hs_role role = {.moves = 1, .loop_axis = 0, .own = &pinned, .want = &pinned, .looped = &looped};
    for (int t = 0; !wrong && t < panels.count; t++) {
        int p = panels.pairs.pair[panels.panel[t].pair].owner[0];
        int64_t ld = hs_axis_count(&looped, p), count = panels.panel[t].width * pinned.n;
        struct hs_run_of_panels run = {&panels, &role, &hs_scalars[HSUMMA_Z], p, t, t + 1};
        struct hs_matrix matrix = {(char *)data, ld};
        for (int i = 0; i < 21; i++) {
            data[i][0] = i;
            data[i][1] = 100 + i;
        }
        hs_pack(&run, &matrix, pinned.n, (char *)slabs);
        int64_t start = hs_in_place(&run); /* not -1: with the same layout for both operands every panel is in place */
        for (int64_t e = 0; e < count; e++) {
            int64_t from = start + e % panels.panel[t].width + e / panels.panel[t].width * ld;
            wrong += start < 0 || slabs[e][0] != (double)from || slabs[e][1] != 100 + (double)from;
        }
        hs_unpack(&run, (const char *)slabs, pinned.n, beta, &matrix); /* the result is i x + x */
        for (int64_t e = 0; e < count; e++) {
            int64_t from = start + e % panels.panel[t].width + e / panels.panel[t].width * ld;
            wrong += data[from][0] != slabs[e][0] - slabs[e][1] || data[from][1] != slabs[e][1] + slabs[e][0];
        }
    }
    hs_panels_free(&hs_heap, &panels);
    tap_ok(wrong == 0, "complex elements: %d wrong", wrong);
}

int main(void)
{
    test_panels();
    test_many();
    test_packing();
    test_complex();
    return tap_done();
}
