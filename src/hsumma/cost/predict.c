#include "hsumma/cost/predict.h"

#include "hsumma/cost/exchange_pace.h"

#include <math.h>
#include <string.h>

/* The cost of one moving operand.  seconds: all panels one after the other; busy + part: all panels with a window of
 * them in flight, where `part` is what one panel of each window adds (hs_part_in_pipeline), and `busy` the work of the
 * busiest port or link (`port`: of the busiest port) without that panel's; first: the first panel alone; copy: the
 * copies of the process that copies most.  level: the arguments of hs_late for each level of broadcasts or reductions.
 */
struct movement_cost {
    double seconds, port, busy, part, first, copy;
    int levels;
    struct {
        double first, rounds, times;
    } level[HS_LEVELS_MAX + 1];
};

/* The levels of all operands whose messages use known links. */
struct links_used {
    int count;
    struct hs_line_use use[HS_LINKS_TOGETHER];
};

int64_t hs_panel_count(const struct hs_pairs *pairs, int64_t width)
{
    int64_t panels = 0;
    for (int i = 0; i < hs_pair_widths(pairs); i++) {
        const struct hs_pair_width of = hs_pair_width(pairs, i);
        panels += of.count * hs_cuts(of.width, width);
    }
    return panels;
}

/*
 * The cost of all panels of one operand on one level; sets *first to the seconds of one panel.  Panels are counted from
 * the widths of the pairs: whole panels, and the narrower last panel of each pair.  On a torus, what the lines slow
 * each other near one root does not count as a start: the panels of other roots move meanwhile
 * (doc/results/simulator.md).
 */
static struct hs_cost level_cost(const struct hs_pricing *pricing, const struct hs_line_use *use, int64_t width,
                                 int64_t length, double *first, hsumma_status *status)
{
    const struct hs_pairs *pairs = pricing->pairs;
    struct hs_cost all = {.seconds = 0};
    width = width < pairs->width_max ? width : pairs->width_max > 0 ? pairs->width_max : 1;
    /* narrower widths are rounded up to eighths of a panel, so that few are priced */
    int64_t whole = 0, eighth = (width + 7) / 8, narrower[9] = {0};
    for (int i = 0; i < hs_pair_widths(pairs); i++) {
        const struct hs_pair_width of = hs_pair_width(pairs, i);
        whole += of.count * (of.width / width);
        narrower[(of.width % width + eighth - 1) / eighth] += of.count;
    }
    for (int i = 1; i <= 8; i++)
        if (narrower[i])
            all = hs_cost_add(
                all, hs_price(pricing->memo, pricing->lines, use, hs_bytes_of(i * eighth, length, use->unit), status),
                (double)narrower[i]);
    struct hs_cost one = hs_price(pricing->memo, pricing->lines, use, hs_bytes_of(width, length, use->unit), status);
    *first = one.seconds - (use->alg->flags & HS_USES_BOX ? one.beside : 0);
    return hs_cost_add(all, one, (double)whole);
}

/* Number of panels of A or B in flight whose width is `times` that of the innermost. */
static double window_of(const struct hs_profile *profile, const struct hs_spec *spec, double times)
{
    int ahead = spec->owners > 1 ? spec->owners - 1 : spec->lookahead;
    return profile->one_node ? 1 : ahead / times + 1;
}

/* A line of one member. */
static const struct hs_factors no_level = {.levels = 1, .size = {1}, .stride = {1}};

struct hs_pipeline hs_pipeline_of(const struct hs_pricing *pricing, const struct hs_spec *spec, int operand,
                                  const struct hs_factors *levels, int level, int64_t width)
{
    const struct hs_pairs *pairs = pricing->pairs;
    int index = operand - (spec->stationary < operand);
    int64_t inner = spec->width[spec->levels - 1], panels = hs_panel_count(pairs, inner);
    double run = panels > 0 ? (double)panels / pairs->count : 1, turn = (double)(spec->turn / inner);
    int64_t most = pairs->width_max > inner ? pairs->width_max : inner; /* of a panel */
    double times = width > inner ? (double)(width < most ? width : most) / (double)inner : 1;
    run = pairs->changes[index] == 0
              ? (double)panels
              : (turn < run ? turn : run) * levels->stride[level] * pairs->count / pairs->changes[index];
    double window = window_of(pricing->memo->profile, spec, times);
    if (operand == HS_C && window > 1) {
        struct hs_factors merged;
        int tier[HS_LEVELS_MAX];
        hs_factors_merge_for_sums(levels, &merged, tier);
        /* two reductions that share the links of a fabric are priced as one after the other */
        window = hs_reductions_in_flight(pricing->variant, spec, pricing->lines->links ? &no_level : &merged);
    }
    return (struct hs_pipeline){window, run > times ? run / times : 1, times};
}

static int on_device(const struct hs_profile *profile, const struct hs_spec *spec)
{
    return profile->machine.devices > 0 ||
           (profile->device_panel > 0 && spec->width[spec->levels - 1] >= profile->device_panel);
}

/* Sets pace->gemm and pace->poll for a local product of these extents.  A device multiplies the whole panel, and
 * messages progress meanwhile. */
static void price_slices_of(struct hs_pace *pace, const struct hs_pricing *pricing, const struct hs_spec *spec,
                            const double extent[3])
{
    const struct hs_scalar *scalar = pricing->problem->scalar;
    const struct hs_profile *profile = pricing->memo->profile;
    const int threads = pricing->threads;
    double m = extent[HS_M], n = extent[HS_N], k = extent[HS_K];
    double columns = (double)hs_slice_columns(spec, scalar->complex_type, (int64_t)m, (int64_t)n, (int64_t)k);
    double slices = on_device(profile, spec) || n <= columns ? 0 : floor(n / columns), rest = n - slices * columns;
    pace->poll = hs_gemm_seconds(profile, scalar->size, scalar->complex_type, threads, m, slices > 0 ? columns : n, k);
    pace->gemm = slices > 0 ? slices * pace->poll : pace->poll;
    if (slices > 0 && rest >= 1)
        pace->gemm += hs_gemm_seconds(profile, scalar->size, scalar->complex_type, threads, m, rest, k);
    else if (slices > 0) /* extents are means, so a slice may have part of a column more */
        pace->gemm *= n / (slices * columns);
}

struct hs_pace hs_pace_of(const struct hs_pricing *pricing, const struct hs_spec *spec)
{
    const struct hs_profile *profile = pricing->memo->profile;
    const struct hs_variant *variant = pricing->variant;
    double extent[3], panels = (double)hs_panel_count(pricing->pairs, spec->width[spec->levels - 1]);
    struct hs_pace pace = {.panels = panels > 1 ? panels : 1};
    for (int dim = 0; dim < 3; dim++)
        extent[dim] = dim == variant->looped ? (double)pricing->problem->extent[dim] / pace.panels
                                             : (double)hs_axis_count_max(variant->axis[dim]);
    price_slices_of(&pace, pricing, spec, extent);
    if (panels > 1 && pace.gemm > 0 && !profile->one_node && !on_device(profile, spec))
        pace.lookahead = spec->lookahead;
    pace.fewer = pace.lookahead > 1 ? pow(pace.lookahead, -0.2) : 1;
    return pace;
}

/*
 * x: the share of the lookahead that a panel needs.  The more of it, the more panels are late; but if one is late, the
 * messages of all progress, so at most a part of a multiplication is lost, less with more panels in flight.  The
 * numbers are those of 187 simulated products (doc/results/simulator.md).
 */
double hs_late(struct hs_pace pace, double first, double rounds, double times)
{
    static const double MOST = 0.65, HALF = 1.5; /* with lookahead 1; of the most, half is lost at x = HALF */
    double polls = rounds > 1 ? (rounds - 1) * pace.poll : 0, share = pace.lookahead / times;
    double fewer = pace.fewer, half = HALF * fewer;
    double x = (polls + first) / (pace.lookahead * pace.gemm);
    double late = MOST * fewer * fewer * pace.gemm * x * x / (x * x + half * half);
    return (share < 1 ? share : 1) * late; /* outer panels are late once for all their inner ones */
}

static const char *how(const struct hs_mover *mover)
{
    static const char *const words[2][2][3] = {
        {{"local", "broadcast", "shared"}, {"exchanged", "exchanged and broadcast", "exchanged and shared"}},
        {{"local", "reduced", "summed"}, {"exchanged", "reduced and exchanged", "summed and exchanged"}}};
    return words[mover->operand == HS_C][mover->role->exchanged][mover->levels > 0 ? 1 : mover->members > 1 ? 2 : 0];
}

/* The latency of one panel's messages: the full latency for the first message, exchange_alpha (if known) for others. */
static double exchange_latency(const struct hs_line_table *lines, const struct hs_profile *profile, double messages,
                               double bytes)
{
    const struct hs_machine *machine = &profile->machine;
    const struct hs_link *link = lines->one_node && machine->node.alpha > 0 ? &machine->node : &machine->network;
    int is_long = link->eager > 0 && bytes > (double)link->eager;
    double behind = profile->exchange_alpha > 0 ? profile->exchange_alpha : link->alpha;
    return (is_long ? link->alpha_long : link->alpha) + (messages > 1 ? (messages - 1) * behind : 0);
}

/* Adds the cost of the exchange of all panels to the operand's cost. */
static hsumma_movement exchange_cost(const struct hs_pricing *pricing, const struct hs_mover *mover,
                                     const struct hs_spec *spec, struct movement_cost *cost, hsumma_status *status)
{
    const struct hs_profile *profile = pricing->memo->profile;
    struct hs_line_table *lines = pricing->lines;
    const struct hs_pairs *pairs = pricing->pairs;
    const struct hs_role *role = mover->role;
    const int *extent = mover->problem->grid.extent;
    double size = (double)mover->problem->scalar->size, width = (double)spec->width[mover->tier0];
    width = pairs->width_max > 0 && width > (double)pairs->width_max ? (double)pairs->width_max : width;
    struct hs_exchanged *exchanged = hs_exchanged_of(lines, role);
    int givers = mover->spread ? extent[role->line_axis] : 1, among = exchanged->among;
    int64_t held = hs_axis_count_max(role->looped), most_taken = exchanged->most_taken;
    int64_t panels = hs_panel_count(pairs, spec->width[mover->tier0]);
    double packed = (double)role->give_max[mover->spread] * (double)held * size, given = packed * givers;
    double taken =
        (double)role->take_max[mover->spread] * (double)(mover->spread ? role->looped->n : most_taken) * size;
    double all = (double)role->looped->n * (double)role->want->n * size, seconds = 0;
    if (given > 0 || taken > 0) {
        struct hs_exchange_pace *pace = &exchanged->pace[mover->spread];
        hsumma_status mine = pace->alone > 0 ? HSUMMA_OK
                                             : hs_exchange_pace(lines, role, mover->spread, &profile->machine,
                                                                pricing->memo->memory, pace);
        *status = mine ? mine : *status;
        struct hs_pipeline flight = hs_pipeline_of(pricing, spec, mover->operand, &no_level, 0, 1);
        if (mover->operand == HS_C) /* one exchange at a time */
            flight.window = 1;
        double first =
            exchange_latency(lines, profile, pace->messages, all * pace->part / (double)(panels ? panels : 1));
        /* number of owners whose panels are in flight together; a taker that unpacks has a buffer for one panel only */
        double owners = flight.window / flight.run, most = role->direct ? owners : mover->spread ? 1 : among;
        owners = owners < most ? owners : most;
        owners = owners > 1 ? owners : 1;
        seconds = (double)panels * first + all * pace->alone;
        double together = owners > 1 ? all * pace->together : seconds, least = seconds / owners;
        double each = together > least ? together : least, busy = each * (1 - 1 / flight.window);
        cost->busy += busy;
        cost->port += busy;
        /* where panels overlap fully, those of a window wait for each other at ports, and at the links they share */
        cost->part += (profile->pipelining < 1 || lines->links ? seconds : each) / flight.window;
        cost->first += first + (role->looped->n ? width / (double)role->looped->n : 0) * all * pace->alone;
    }
    cost->seconds += seconds;
    cost->copy += (packed + (role->direct ? 0 : taken)) * profile->machine.copy;
    return (hsumma_movement){.how = how(mover), .exchange_bytes = (size_t)(given + taken), .exchange_seconds = seconds};
}

/* Bytes of partial panels that a member of a cell adds up: its share of the panels of all members but one. */
static double gathered(const struct hs_mover *mover)
{
    double panels = (double)mover->role->looped->n * (double)hs_axis_count_max(mover->role->want) *
                    (double)mover->problem->scalar->size;
    return panels * (mover->members - 1) / mover->members;
}

/* Fills *cost, which must be zero, and appends to *links. */
static void add_mover(const struct hs_pricing *pricing, const struct hs_mover *mover, const struct hs_spec *spec,
                      struct hs_pace pace, struct movement_cost *cost, struct links_used *links,
                      hsumma_movement *movement, hsumma_status *status)
{
    const struct hs_role *role = mover->role;
    const struct hs_pairs *pairs = pricing->pairs;
    int64_t length = hs_axis_count_max(role->want);
    for (int l = 0; l < mover->levels; l++) {
        double first;
        int64_t width = spec->width[mover->tier[l]];
        int stride = mover->factors.stride[l];
        struct hs_line_use use = {
            .line = hs_line_of(pricing->lines, mover->cells != NULL, role, stride, mover->factors.size[l]),
            .alg = mover->alg[l],
            .with = mover->with[l],
            .unit = (int64_t)mover->problem->scalar->size,
            .segment = spec->segment};
        struct hs_cost level = level_cost(pricing, &use, width, length, &first, status);
        cost->seconds += level.seconds;
        struct hs_pipeline flight = hs_pipeline_of(pricing, spec, mover->operand, &mover->factors, l, width);
        struct hs_busy busy = hs_busy_in_pipeline(&level, flight);
        cost->port += busy.port * (1 - 1 / flight.window);
        use.seconds = busy.any * (1 - 1 / flight.window);
        cost->busy += use.seconds;
        if (level.link[0] > 0 && !(use.alg->flags & HS_BY_MPI)) {
            use.pieces = hs_few_pieces(&use, hs_bytes_of(hs_min(width, pairs->width_max), length, use.unit));
            links->use[links->count++] = use;
        }
        cost->part += hs_part_in_pipeline(pricing->memo->profile, &level, flight);
        cost->first += first;
        cost->level[cost->levels].first = first;
        cost->level[cost->levels].times = flight.times;
        width = hs_min(width, pairs->width_max > 0 ? pairs->width_max : 1);
        if (pace.lookahead > 0)
            cost->level[cost->levels].rounds =
                hs_poll_rounds(pricing->memo, pricing->lines, &use, hs_bytes_of(width, length, use.unit), status);
        cost->levels++;
    }
    const struct hs_machine *machine = &pricing->memo->profile->machine;
    double line = (double)role->looped->n * (double)mover->problem->scalar->size * machine->copy;
    double share = line * (double)hs_axis_count_max(role->own) / role->looped->nprocs;
    if (mover->operand == HS_C) /* partial panels are written beside C, added up in the cell, and added to C */
        cost->copy = line * (double)length + 2 * share + gathered(mover) * machine->gamma;
    else if (!pairs->in_place[mover->index] || mover->members > 1)
        cost->copy = share;
    *movement = (hsumma_movement){.how = how(mover)};
    if (role->exchanged)
        *movement = exchange_cost(pricing, mover, spec, cost, status);
}

struct hs_mover hs_line_mover(const struct hs_pricing *pricing, const struct hs_spec *spec, int operand)
{
    const struct hs_line_table *lines = pricing->lines;
    int axis = pricing->variant->role[operand].line_axis;
    struct hs_factors over;
    struct hs_mover mover;
    hs_mover_init(&mover, pricing->problem, pricing->variant, spec, NULL, lines->topology,
                  hs_line_cells(lines, hs_spec_shares(spec, operand), axis, &spec->factors[axis], &over), operand);
    return mover;
}

/* The panel buffers that one operand needs. */
static struct hs_need need_of_mover(const struct hs_pricing *pricing, struct hs_mover *mover,
                                    const struct hs_spec *spec)
{
    const struct hs_line_table *lines = pricing->lines;
    const struct hs_line_cells *cells = &lines->cells[mover->role->line_axis];
    int64_t length = hs_axis_count_max(mover->role->want);
    struct hs_need need = {0, 0};
    int shares = lines->shares && hs_spec_shares(spec, mover->operand);
    /* where lines differ in their cells, some may have two reductions in flight, although this one has not */
    if (mover->reductions == 1 && spec->lookahead > 0 && shares && !(mover->cells && cells->alike))
        mover->reductions = 2;
    if (shares) {
        size_t shared = hs_conveyor_shared_bytes(mover, spec, pricing->pairs, cells->lines, cells->members);
        need.shared = shared > INT64_MAX / 4 ? INT64_MAX / 4 : (int64_t)shared;
    }
    /* members of the smallest cell have the largest share, but a cell of one member has no buffers for sums */
    for (int i = 0; i < (mover->cells && cells->least_of_several ? 2 : 1); i++) {
        if (mover->cells)
            mover->members = i ? cells->least_of_several : cells->least;
        int64_t here = hs_conveyor_bytes(mover, spec, pricing->pairs, length);
        need.workspace = here > need.workspace ? here : need.workspace;
    }
    return need;
}

struct hs_need hs_need_of(const struct hs_pricing *pricing, const struct hs_spec *spec)
{
    struct hs_need all = {0, 0};
    for (int x = 0; x < 3; x++) {
        if (!pricing->variant->role[x].moves)
            continue;
        struct hs_mover mover = hs_line_mover(pricing, spec, x);
        struct hs_need need = need_of_mover(pricing, &mover, spec);
        all.workspace += need.workspace;
        all.shared += need.shared;
    }
    return all;
}

double hs_together(const struct hs_profile *profile, const struct hs_spec *spec, double comm, double first, double gemm,
                   double copy)
{
    double overlap = spec->lookahead > 0 && !profile->one_node ? profile->overlap : 0;
    double hidden = comm > first ? comm - first : 0;
    return gemm + copy + comm - overlap * (hidden < gemm ? hidden : gemm);
}

/* The work of the busiest port or link with the panels of all operands in flight. */
static double busy_together(const struct hs_pricing *pricing, const struct movement_cost moved[3],
                            const struct links_used *links, hsumma_status *status)
{
    const struct hs_clock_memo *memo = pricing->memo;
    double port = 0, busy = 0, apart = 0, together = 0;
    for (int x = 0; x < 3; x++) {
        port += moved[x].port;
        busy += moved[x].busy;
    }
    for (int u = 0; u < links->count; u++)
        apart += links->use[u].seconds;
    if (links->count < 2)
        return busy;
    hsumma_status mine = hs_links_together(pricing->lines, links->use, links->count, memo->memory, &together);
    *status = mine ? mine : *status;
    busy -= apart - together;
    if (memo->profile->machine.ports > 1) /* a port for each link, which works as long as its link */
        return busy;
    return fmax(busy, port);
}

/* The seconds per panel for which multiplications wait for late panels of all operands (hs_late). */
static double all_late(const struct movement_cost moved[3], struct hs_pace pace)
{
    /* The waits of two operands hardly add up; but the search must see what it saves by that of the lesser. */
    static const double BESIDE = 0.1;
    double longest = 0, beside = 0;
    for (int x = 0; x < 3; x++) {
        double first = 0, rounds = 0, wait = 0; /* of a panel of a level, which then passes all levels inside */
        for (int l = moved[x].levels - 1; l >= 0; l--) {
            first += moved[x].level[l].first;
            rounds += moved[x].level[l].rounds;
            double late = hs_late(pace, first, rounds, moved[x].level[l].times);
            wait = late > wait ? late : wait;
        }
        beside = wait > longest ? longest : wait > beside ? wait : beside;
        longest = wait > longest ? wait : longest;
    }
    return longest + BESIDE * beside;
}

/* The seconds before the first multiplication: all panels of the first window are sent at once, so the first waits for
 * some of the others. */
static double start_of(struct hs_pace pace, double first, double all)
{
    static const double OTHERS = 0.5;
    double together = fmin(pace.lookahead + 1, pace.panels);
    return fmax(first, OTHERS * together * all / pace.panels);
}

/* Sets the fields `gemm` and `seconds` of a prediction that has the others.  first: the first panels alone. */
static void add_products(const struct hs_profile *profile, const struct hs_spec *spec, struct hs_pace pace,
                         const struct movement_cost moved[3], double first, struct hs_prediction *prediction)
{
    double all = prediction->comm, copy = prediction->copy;
    double gemm = pace.panels * pace.gemm, in_time = fmax(all, gemm);
    if (pace.lookahead > 0) /* the last panel is multiplied when all have arrived, the first when it has */
        in_time = fmax(all + pace.gemm, gemm + start_of(pace, first, all)) + (pace.panels - 1) * all_late(moved, pace);
    in_time += copy;
    prediction->gemm = gemm;
    prediction->seconds = fmax(hs_together(profile, spec, all, first, gemm, copy), in_time);
}

hsumma_status hs_predict(const struct hs_pricing *pricing, const struct hs_spec *spec, struct hs_prediction *prediction,
                         struct hs_prediction *whole)
{
    static const double PARTLY = 0.25; /* the waits for two operands partly add up (doc/results/simulator.md) */
    const struct hs_profile *profile = pricing->memo->profile;
    hsumma_status status = HSUMMA_OK;
    double all = 0, part = 0, first = 0, copy = 0;
    struct movement_cost moved[3] = {{0}};
    struct links_used links;
    struct hs_pace pace = hs_pace_of(pricing, spec);
    *prediction = (struct hs_prediction){.exchanges = 0};
    links.count = 0;
    for (int x = 0; x < 3; x++) {
        hsumma_movement *movement = &prediction->operand[x];
        movement->how = "stays";
        if (!pricing->variant->role[x].moves)
            continue;
        struct hs_mover mover = hs_line_mover(pricing, spec, x);
        prediction->exchanges |= x != HS_C && mover.role->exchanged;
        const struct movement_cost *cost = &moved[x];
        add_mover(pricing, &mover, spec, pace, &moved[x], &links, movement, &status);
        all += cost->seconds;
        part = cost->part > part ? cost->part + PARTLY * part : part + PARTLY * cost->part;
        /* with a port for each link, the first panels of both operands move together */
        first = profile->machine.ports > 1 ? fmax(first, cost->first) : first + cost->first;
        copy += cost->copy;
    }
    if (window_of(profile, spec, 1) > 1) {
        double busy = busy_together(pricing, moved, &links, &status);
        double together = first + (busy + part) * (1 - 1 / pace.panels);
        all -= together < all ? profile->pipelining * (all - together) : 0;
    }
    prediction->comm = all;
    prediction->copy = copy;
    if (whole) {
        struct hs_spec unsliced = *spec;
        unsliced.slice = INT64_MAX;
        *whole = *prediction;
        add_products(profile, &unsliced, hs_pace_of(pricing, &unsliced), moved, first, whole);
    }
    add_products(profile, spec, pace, moved, first, prediction);
    return status;
}
