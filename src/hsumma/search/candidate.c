#include "hsumma/search/candidate.h"

#include "hsumma/context/workspace.h"
#include "hsumma/search/search_cells.h"

#include <inttypes.h>
#include <string.h>

enum { FIRST_SEGMENT = 64 << 10 };
enum { NARROW = 64 }; /* narrower panels would slow the local GEMM, so a lookahead of 1 is given up first */

const int hs_stay_order[3] = {HS_C, HS_A, HS_B};

static int64_t clamp(int64_t value, int64_t least, int64_t most)
{
    return value < least ? least : value > most ? most : value;
}

/* Whether an algorithm fits all legs. */
static int fits_legs(const struct hs_chooser *chooser, const struct hs_alg *row, const struct hs_leg *leg, int legs,
                     int64_t segment)
{
    for (int j = 0; j < legs; j++) {
        const struct hs_shape shape = {.size = leg[j].line.group.size,
                                       .bytes = leg[j].bytes,
                                       .unit = (int64_t)chooser->problem->scalar->size,
                                       .segment = segment,
                                       .box = leg[j].line.box};
        if (hs_alg_unfit(row, &shape))
            return 0;
    }
    return 1;
}

/* The algorithm that the option coll or the tuned file gives for the first leg, if a product can use it (hs_may_serve)
 * on all legs. */
static const struct hs_alg *by_rules(const struct hs_chooser *chooser, enum hs_collective collective,
                                     const struct hs_leg *leg, int legs)
{
    const struct hs_line *line = &leg->line;
    const struct hs_rules *rules[2] = {chooser->planner->coll, chooser->planner->tuned};
    for (int i = 0; i < 2; i++) {
        struct hs_alg_spec word;
        struct hs_message ignored;
        const char *text =
            rules[i] ? hs_rules_find(rules[i], collective, line->group.size, line->nodes, leg->bytes) : NULL;
        if (!text || (i == 1 && chooser->settings->tune == HS_TUNE_OFF) ||
            hs_alg_spec_read(chooser->planner->own, collective, text, strlen(text), "", &word, &ignored) || !word.alg)
            continue;
        if (hs_may_serve(word.alg, collective) && fits_legs(chooser, word.alg, leg, legs, 0))
            return word.alg;
    }
    return NULL;
}

/* Sets leg[] to the legs of a level on which an algorithm for `collective` runs; returns their number. */
static int legs_of(struct hs_chooser *chooser, const struct hs_spec *spec, enum hs_collective collective, int level,
                   struct hs_leg leg[2])
{
    int64_t width = clamp(spec->width[level], 1, clamp(chooser->pairs.width_max, 1, INT32_MAX));
    int legs = 0;
    for (int x = 0; x < 3; x++) {
        const struct hs_role *role = &chooser->variant.role[x];
        if (!role->moves || (x == HS_C) != (collective == HS_REDUCE_TO))
            continue;
        int axis = role->line_axis;
        struct hs_factors over;
        int shares = hs_spec_shares(spec, x);
        int cells = hs_line_cells(chooser->lines, shares, axis, &spec->factors[axis], &over) != NULL;
        if (over.size[level] == 1)
            continue;
        leg[legs].line = hs_line_of(chooser->lines, cells, role, over.stride[level], over.size[level]);
        leg[legs].panels = hs_pipeline_of(&chooser->pricing, spec, x, &over, level, width);
        leg[legs++].bytes = hs_bytes_of(width, hs_axis_count_max(role->want), (int64_t)chooser->problem->scalar->size);
    }
    return legs;
}

/* The seconds per panel of an algorithm on all legs, and what the multiplications wait longer for its polls. */
static double seconds_of_legs(struct hs_chooser *chooser, const struct hs_alg *row, const struct hs_leg *leg, int legs,
                              const struct hs_spec *spec, struct hs_pace pace, hsumma_status *status)
{
    struct hs_clock_memo *memo = chooser->planner->memo;
    double sum = 0, stall = 0;
    for (int j = 0; j < legs; j++) {
        const struct hs_line_use use = {
            .line = leg[j].line, .alg = row, .unit = (int64_t)chooser->problem->scalar->size, .segment = spec->segment};
        struct hs_cost cost = hs_price(memo, chooser->lines, &use, leg[j].bytes, status);
        double window = leg[j].panels.window, busy = hs_busy_in_pipeline(&cost, leg[j].panels).any;
        double together = busy * (1 - 1 / window) + hs_part_in_pipeline(chooser->profile, &cost, leg[j].panels);
        sum += cost.seconds - chooser->profile->pipelining * (cost.seconds - together);
        if (pace.lookahead <= 0)
            continue;
        double rounds = hs_poll_rounds(memo, chooser->lines, &use, leg[j].bytes, status);
        double late = hs_late(pace, cost.seconds, rounds, leg[j].panels.times) * leg[j].panels.times;
        stall = late > stall ? late : stall;
    }
    return sum + stall;
}

const struct hs_alg *hs_cheapest(struct hs_chooser *chooser, enum hs_collective collective, const struct hs_leg *leg,
                                 int legs, const struct hs_spec *spec, double *seconds, hsumma_status *status)
{
    const struct hs_alg *best = NULL, *row;
    const struct hs_pace none = {0}, pace = legs ? hs_pace_of(&chooser->pricing, spec) : none;
    *seconds = 0;
    for (int i = 0; (legs || !best) && (row = hs_alg_at(i)) != NULL; i++) { /* without legs any row will do */
        if (!hs_may_serve(row, collective) || !fits_legs(chooser, row, leg, legs, spec->segment))
            continue;
        double sum = seconds_of_legs(chooser, row, leg, legs, spec, pace, status);
        if (!best || sum < *seconds) {
            best = row;
            *seconds = sum;
        }
    }
    return best;
}

/* Chooses the algorithms of each level: the caller's, else those that rules give, else (of broadcasts) the sketch's,
 * else the cheapest. */
static hsumma_status choose_algs(struct hs_chooser *chooser, const struct hs_sketch *sketch, struct hs_choice *choice)
{
    static const enum hs_collective collective[2] = {HS_BCAST, HS_REDUCE_TO};
    struct hs_spec *spec = &choice->spec;
    hsumma_status status = HSUMMA_OK;
    for (int l = 0; !status && l < spec->levels; l++) {
        for (int i = 0; !status && i < 2; i++) {
            const struct hs_alg **alg = i ? &spec->reduce[l] : &spec->bcast[l];
            struct hs_leg leg[2];
            double seconds;
            if (*alg)
                continue;
            int legs = legs_of(chooser, spec, collective[i], l, leg);
            if (legs && (*alg = by_rules(chooser, collective[i], leg, legs)))
                choice->by_rule[i] = 1;
            else if (i == 0 && sketch->bcast[l])
                *alg = sketch->bcast[l];
            else
                *alg = hs_cheapest(chooser, collective[i], leg, legs, spec, &seconds, &status);
        }
        if (!status)
            status = hs_check_rows(chooser, spec, l);
    }
    return status;
}

/* Whether nothing is communicated or gathered, so that a single panel can be as wide as possible. */
static int stays_in_place(const struct hs_chooser *chooser, const struct hs_spec *spec)
{
    for (int x = 0; x < 3; x++) {
        if (!chooser->variant.role[x].moves)
            continue;
        struct hs_mover mover = hs_line_mover(&chooser->pricing, spec, x);
        if (mover.levels > 0 || mover.members > 1 || mover.role->exchanged || !chooser->pairs.in_place[mover.index])
            return 0;
    }
    return 1;
}

/* The turn: the caller's, else one outermost panel if that can help, else a whole turn, which keeps the order.  Short
 * turns can help between nodes with several panels in flight, which then have different roots. */
static int64_t turn_for(const struct hs_chooser *chooser, const struct hs_spec *spec)
{
    if (chooser->settings->turn)
        return chooser->settings->turn;
    return chooser->variant.ordered || hs_spec_ahead(spec) == 0 || chooser->profile->one_node ? HS_WHOLE_TURN
                                                                                              : spec->width[0];
}

/* Sets the innermost width to `block`, the outer widths to the caller's or to `times` blocks, and the turn. */
static hsumma_status set_widths(const struct hs_chooser *chooser, struct hs_spec *spec, int64_t block, int times)
{
    const struct hs_settings *settings = chooser->settings;
    int inner = spec->levels - 1;
    spec->width[inner] = block;
    for (int l = inner - 1; l >= 0; l--)
        spec->width[l] = settings->outer.count
                             ? settings->outer.width[l < settings->outer.count ? l : settings->outer.count - 1]
                             : block * times;
    for (int l = 0; l < inner; l++)
        if (spec->width[l] % spec->width[l + 1])
            return hs_fail(chooser->message, HSUMMA_ERR_ARGUMENT,
                           "panels of level %d of %d have width %" PRId64 "; expected a multiple of %" PRId64
                           ", the width of the next level (options outer and block)",
                           l + 1, spec->levels, spec->width[l], spec->width[l + 1]);
    spec->turn = turn_for(chooser, spec);
    if (spec->turn != HS_WHOLE_TURN && spec->turn % spec->width[0])
        return hs_fail(chooser->message, HSUMMA_ERR_ARGUMENT,
                       "turn=%" PRId64 "; expected all, or a multiple of %" PRId64 ", the width of the widest panels",
                       spec->turn, spec->width[0]);
    return HSUMMA_OK;
}

int64_t hs_even_cut(int64_t whole, int64_t wanted, int64_t unit)
{
    int64_t pieces = hs_cuts(whole, wanted);
    int64_t length = pieces ? hs_cuts(whole, pieces) : 1;
    return hs_min((length + unit - 1) / unit * unit, wanted);
}

static int64_t largest_divisor(int64_t whole, int64_t most)
{
    int64_t best = 1;
    for (int64_t i = 1; i * i <= whole; i++) {
        if (whole % i)
            continue;
        best = i <= most && i > best ? i : best;
        best = whole / i <= most && whole / i > best ? whole / i : best;
    }
    return best;
}

/* The largest width up to `wanted` that divides the outer panels or the turn, if the caller has given one of them; else
 * the width of nearly even cuts of a pair's indices. */
static int64_t nested_block(const struct hs_chooser *chooser, const struct hs_spec *spec, int64_t wanted, int times)
{
    const struct hs_settings *settings = chooser->settings;
    if (spec->levels > 1 && settings->outer.count) {
        int last = spec->levels - 2 < settings->outer.count ? spec->levels - 2 : settings->outer.count - 1;
        return largest_divisor(settings->outer.width[last], wanted);
    }
    if (settings->turn && settings->turn != HS_WHOLE_TURN)
        return largest_divisor(settings->turn / (spec->levels > 1 ? times : 1), wanted);
    return hs_even_cut(chooser->pairs.width_max, wanted, 8);
}

static hsumma_status refuse_need(const struct hs_chooser *chooser, int64_t block, struct hs_need need)
{
    if (need.workspace > chooser->limit)
        return hs_fail(chooser->message, HSUMMA_ERR_WORKSPACE,
                       "panels of %" PRId64 " need %" PRId64 " bytes of workspace on a process; workspace_limit "
                       "allows %" PRId64 "; use a smaller block, outer or lookahead, or a larger workspace_limit",
                       block, need.workspace, chooser->limit);
    return hs_fail(chooser->message, HSUMMA_ERR_WORKSPACE,
                   "panels of %" PRId64 " need %" PRId64 " bytes of a node's shared memory, which has %zu; "
                   "use a smaller block, outer or lookahead, or node=messages",
                   block, need.shared, chooser->planner->sharing.bytes);
}

/* Sets panel widths and lookahead as in the sketch, reduced to fit the limits.  Sets *workspace to the bytes needed. */
static hsumma_status choose_widths(struct hs_chooser *chooser, const struct hs_sketch *sketch, struct hs_spec *spec,
                                   int64_t *workspace)
{
    const struct hs_settings *settings = chooser->settings;
    int64_t most = clamp(chooser->pairs.width_max, 1, INT32_MAX);
    int in_place = stays_in_place(chooser, spec);
    int64_t open = in_place ? most : clamp(sketch->block ? sketch->block : hs_profile_knee(chooser->profile), 1, most);
    int64_t wanted = settings->block ? settings->block : open;
    spec->lookahead = sketch->lookahead >= 0 ? sketch->lookahead : in_place ? 0 : 1;
    if (settings->lookahead >= 0)
        spec->lookahead = settings->lookahead;
    else if (settings->owners > 1)
        spec->lookahead = 0;
    spec->owners = spec->lookahead > 0 ? 0 : settings->owners ? settings->owners : sketch->owners;
    /* a limit given as a share covers all memory of a product, including MPI's own buffers, which get a fifth of it */
    int64_t target = settings->block || settings->workspace.bytes ? chooser->limit : chooser->limit / 5 * 4;
    target = target < HS_WORKSPACE_FLOOR ? clamp(HS_WORKSPACE_FLOOR, 0, chooser->limit) : target;
    const size_t bytes = chooser->planner->sharing.bytes;
    const int64_t room = bytes > INT64_MAX ? INT64_MAX : (int64_t)bytes;
    for (;;) {
        int64_t block = settings->block ? wanted : nested_block(chooser, spec, wanted, sketch->outer_times);
        hsumma_status status = set_widths(chooser, spec, block, sketch->outer_times);
        if (status)
            return status;
        struct hs_need need = hs_need_of(&chooser->pricing, spec);
        *workspace = need.workspace;
        int within = need.workspace <= chooser->limit && need.shared <= room;
        if (within && (need.workspace <= target || block == 1))
            return HSUMMA_OK;
        double part = need.workspace > 0 ? (double)target / (double)need.workspace : 1;
        if (need.shared > 0 && (double)room / (double)need.shared < part)
            part = (double)room / (double)need.shared;
        int64_t fitting = (int64_t)((double)block * part);
        if (fitting < 1 && block > 1 && need.workspace / block <= chooser->limit && need.shared / block <= room)
            fitting = 1;
        fitting = fitting < block ? fitting : block - 1;
        if (settings->lookahead < 0 && spec->lookahead == 1 && (settings->block || fitting < NARROW))
            spec->lookahead = 0;
        else if (!settings->block && fitting >= 1)
            wanted = fitting;
        else
            return refuse_need(chooser, block, need);
    }
}

/*
 * The slice of the local GEMM, in flops.  Messages must be progressed during a multiplication if other processes wait
 * for this process to forward data (lines of more than two), or if data move only while the sender polls (between
 * nodes).  Otherwise slicing only costs time, because the BLAS repacks A's panel for each slice.  A slice has as many
 * columns as keep repacking below REPACKED of the multiplication, but at most the profile's flops.  Without lookahead
 * no message is in flight during a multiplication.  The width depends only on the grid and the stationary operand, so
 * that all hierarchies that are sliced have the same slices.
 */
static int64_t choose_slice(const struct hs_chooser *chooser, const struct hs_spec *spec)
{
    static const double REPACKED = 0.03;
    const struct hs_scalar *scalar = chooser->problem->scalar;
    const struct hs_axis *const *axis = chooser->variant.axis;
    const struct hs_profile *profile = chooser->profile;
    const struct hs_gemm_cost *cost = hs_gemm_cost_of(profile, scalar->size, scalar->complex_type);
    const int *extent = chooser->problem->grid.extent;
    if (chooser->settings->slice)
        return chooser->settings->slice;
    if (spec->lookahead == 0 || (profile->one_node && extent[0] <= 2 && extent[1] <= 2))
        return INT64_MAX;
    if (cost->flop <= 0)
        return profile->slice;
    double reals = scalar->complex_type ? 2 : 1, knee = (double)profile->knee;
    double m = axis[HS_M] ? (double)hs_axis_count_max(axis[HS_M]) : knee;
    double k = axis[HS_K] ? (double)hs_axis_count_max(axis[HS_K]) : knee;
    double columns = cost->ab / (2 * cost->flop * reals * REPACKED);
    double flops = 2 * m * k * (columns < HS_SLICE_UNIT ? HS_SLICE_UNIT : columns) * reals * reals;
    return flops < (double)profile->slice ? (flops < 1 ? 1 : (int64_t)flops) : profile->slice;
}

/* Chooses algorithms, and whether the local GEMM is sliced, and prices them.  Between nodes, panels that few processes
 * forward need no polls. */
static hsumma_status price_slices(struct hs_chooser *chooser, const struct hs_sketch *sketch, struct hs_choice *choice)
{
    choice->spec.slice = choose_slice(chooser, &choice->spec);
    struct hs_prediction whole;
    int both = !chooser->settings->slice && choice->spec.slice != INT64_MAX && !chooser->profile->one_node;
    hsumma_status status = choose_algs(chooser, sketch, choice);
    if (!status)
        status = hs_predict(&chooser->pricing, &choice->spec, &choice->prediction, both ? &whole : NULL);
    if (!status && both && whole.seconds <= choice->prediction.seconds) {
        choice->spec.slice = INT64_MAX;
        choice->prediction = whole;
    }
    return status;
}

/*
 * Prices a sketch with short turns, and with whole turns.  With short turns different roots relieve the busiest port;
 * with whole turns all panels of a pair of owners are consecutive, so that the panels of a chain follow each other
 * without a gap.  With one panel ahead, short turns must be predicted to gain a little.  With more, short turns were
 * faster in 67 of 69 simulated products (doc/results/simulator.md), so whole turns must be predicted to gain more.
 */
static hsumma_status price(struct hs_chooser *chooser, const struct hs_sketch *sketch, struct hs_choice *choice,
                           int spread)
{
    static const double LITTLE = 0.01, MORE = 0.05;
    choice->spec.spread = spread;
    hsumma_status status = choose_widths(chooser, sketch, &choice->spec, &choice->workspace_bytes);
    struct hs_choice whole = *choice;
    whole.spec.turn = HS_WHOLE_TURN;
    if (!status)
        status = price_slices(chooser, sketch, choice);
    if (!status && !chooser->settings->turn && choice->spec.owners <= 1 &&
        choice->spec.turn < chooser->pairs.width_max) {
        status = price_slices(chooser, sketch, &whole);
        double most = whole.prediction.comm * (choice->spec.lookahead > 1 ? 1 + MORE : 1 - LITTLE);
        if (!status && choice->prediction.comm > most)
            *choice = whole;
    }
    return status;
}

/* Chooses the destination of exchanged panels: a root that broadcasts them, or all members of the line, which suits
 * short lines. */
static hsumma_status choose_exchange(struct hs_chooser *chooser, const struct hs_sketch *sketch,
                                     struct hs_choice *choice)
{
    const struct hs_role *role = chooser->variant.role;
    int wanted = chooser->settings->exchange;
    if (wanted >= 0 || choice->spec.levels > 1 || !(role[HS_A].exchanged || role[HS_B].exchanged))
        return price(chooser, sketch, choice, wanted > 0);
    struct hs_choice other = *choice;
    hsumma_status status = price(chooser, sketch, choice, 0), with_all = price(chooser, sketch, &other, 1);
    if (hs_is_own_failure(status) || hs_is_own_failure(with_all))
        return hs_is_own_failure(status) ? status : with_all;
    if (!with_all && (status == HSUMMA_ERR_WORKSPACE || other.prediction.seconds < choice->prediction.seconds)) {
        *choice = other;
        status = HSUMMA_OK;
    }
    return status;
}

/* Uses cells if they can share the panels of at least one moving operand. */
static hsumma_status share_panels(const struct hs_chooser *chooser, struct hs_choice *choice)
{
    struct hs_spec *spec = &choice->spec;
    int any = 0;
    spec->cells = chooser->cells;
    spec->checked = (chooser->settings->guard & HS_GUARD_MESSAGES) != 0;
    for (int x = 0; x < 3; x++)
        any |= chooser->variant.role[x].moves && hs_spec_shares(spec, x);
    if (!chooser->cells || any)
        return HSUMMA_OK;
    spec->cells = 0;
    choice->apart = "the given algorithms are node-aware";
    if (chooser->settings->node == HS_NODE_SHARED)
        return hs_fail(chooser->message, HSUMMA_ERR_UNSUPPORTED,
                       "node=shared: %s and send messages inside nodes; expected other algorithms or node=messages",
                       choice->apart);
    return HSUMMA_OK;
}

/* Uses cells, unless the candidate is impossible with them: a node's shared memory, or the range of the directory's
 * counters, may be too small. */
static hsumma_status choose_cells(struct hs_chooser *chooser, const struct hs_sketch *sketch, struct hs_choice *choice)
{
    choice->apart = chooser->apart;
    const struct hs_choice without = *choice;
    struct hs_spec *spec = &choice->spec;
    const int64_t *block = &spec->width[spec->levels - 1];
    hsumma_status status = share_panels(chooser, choice);
    if (status)
        return status;
    choice->cut = spec->cells && hs_find_cut(chooser, spec->factors, NULL);
    status = choose_exchange(chooser, sketch, choice);
    int too_many = !status && spec->cells && hs_panel_count(&chooser->pairs, *block) > HS_NODE_STEPS;
    if (too_many)
        status = hs_fail(chooser->message, HSUMMA_ERR_UNSUPPORTED,
                         "node=shared: block=%" PRId64 " makes more than %d panels; expected a larger block or "
                         "node=messages",
                         *block, HS_NODE_STEPS);
    if (!status || !chooser->cells || chooser->settings->node == HS_NODE_SHARED || hs_is_own_failure(status))
        return status;
    *choice = without;
    choice->apart = too_many                         ? "too many panels"
                    : status == HSUMMA_ERR_WORKSPACE ? "too little memory on a node"
                                                     : "the given options exclude it";
    return choose_exchange(chooser, sketch, choice);
}

/* Lists the possible group grids: "1x2, 2x1, 2x2, ..." */
static void possible_groups(const int extent[2], char *text, size_t size)
{
    for (int i = 1; i <= extent[0]; i++)
        for (int j = 1; j <= extent[1]; j++) {
            if (extent[0] % i || extent[1] % j)
                continue;
            if (strlen(text) + 24 > size) {
                hs_append(text, size, ", ...");
                return;
            }
            hs_append(text, size, "%s%dx%d", text[0] ? ", " : "", i, j);
        }
}

hsumma_status hs_candidate_make(struct hs_chooser *chooser, const struct hs_sketch *sketch, struct hs_choice *choice)
{
    struct hs_spec *spec = &choice->spec;
    const int *extent = chooser->problem->grid.extent;
    int outer[2][HS_LEVELS_MAX], levels = sketch->levels;
    memset(choice, 0, sizeof *choice);
    spec->stationary = chooser->variant.stationary;
    spec->levels = levels + 1;
    memcpy(spec->mates, chooser->mates, sizeof spec->mates);
    spec->segment = sketch->segment ? sketch->segment : FIRST_SEGMENT;
    if (chooser->settings->segment)
        spec->segment = chooser->settings->segment;
    for (int l = 0; l < levels; l++) {
        outer[0][l] = sketch->factor[l][0];
        outer[1][l] = sketch->factor[l][1];
    }
    for (int axis = 0; axis < 2; axis++)
        if (!hs_factors_make(&spec->factors[axis], extent[axis], levels, outer[axis])) {
            char possible[200] = "";
            possible_groups(extent, possible, sizeof possible);
            return hs_fail(chooser->message, HSUMMA_ERR_ARGUMENT,
                           "group grids (the first is %dx%d) do not divide the %dx%d grid; expected one of: %s",
                           sketch->factor[0][0], sketch->factor[0][1], extent[0], extent[1], possible);
        }
    if (chooser->settings->levels >= 0 && chooser->settings->outer.count > (levels > 1 ? levels : 1))
        return hs_fail(chooser->message, HSUMMA_ERR_ARGUMENT,
                       "outer has %d widths for %d outer levels; expected at most one for each level",
                       chooser->settings->outer.count, levels);
    hsumma_status status = hs_name_rows(chooser, spec);
    if (status)
        return status;
    if (chooser->cells && chooser->settings->node == HS_NODE_SHARED &&
        hs_find_cut(chooser, spec->factors, chooser->message))
        return HSUMMA_ERR_UNSUPPORTED;
    return choose_cells(chooser, sketch, choice);
}
