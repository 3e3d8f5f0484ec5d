#include "hsumma/choose.h"

#include "hsumma/choose_node.h"

#include <inttypes.h>
#include <string.h>

enum { FLOOR = 8 << 20 }; /* workspace that may be used however small the matrices are */
enum { NARROW = 64 };     /* panels narrower than this waste the local GEMM: rather give up the lookahead */

static int64_t clamp(int64_t value, int64_t least, int64_t most)
{
    return value < least ? least : value > most ? most : value;
}

struct chooser {
    const struct hs_problem *problem;
    const struct hs_settings *settings;
    const struct hs_registry *own;
    int threads;
    const struct hs_allocator *memory;
    struct hs_message *message;
    struct hs_clock_memo *memo;
    int64_t limit;
    /* of the stationary operand that is looked at */
    struct hs_variant variant;
    struct hs_pairs pairs;
};

static int64_t workspace_limit(const struct chooser *chooser)
{
    if (chooser->settings->workspace_bytes)
        return chooser->settings->workspace_bytes;
    double elements = 0;
    for (int x = 0; x < 3; x++) {
        const struct hs_view *view = &chooser->problem->view[x];
        elements += (double)hs_axis_count_max(&view->axis[0]) * (double)hs_axis_count_max(&view->axis[1]);
    }
    double bytes = elements * (double)chooser->problem->scalar->size * chooser->settings->workspace_share;
    return bytes < FLOOR ? FLOOR : bytes > 9e18 ? INT64_MAX : (int64_t)bytes;
}

/* The name for a level, NULL if it is to be chosen. */
static const char *name_for(const struct hs_names *names, int level, int levels)
{
    if (names->count == 0)
        return NULL;
    if (names->outer_inner)
        return names->name[level == levels - 1];
    return names->name[names->count == 1 ? 0 : level];
}

static hsumma_status find_alg(struct chooser *chooser, enum hs_collective collective, const struct hs_names *names,
                              int level, int levels, const struct hs_alg **alg)
{
    const char *name = name_for(names, level, levels);
    *alg = NULL;
    if (!name)
        return HSUMMA_OK;
    if (names->count > 1 && !names->outer_inner && names->count != levels)
        return hs_fail(chooser->message, HSUMMA_ERR_OPTION, "%s names %d algorithms for %d levels",
                       collective == HS_BCAST ? "bcast" : "reduce", names->count, levels);
    *alg = hs_alg_find_in(chooser->own, collective, name);
    if (*alg)
        return HSUMMA_OK;
    char known[300];
    hs_alg_names(chooser->own, collective, known, sizeof known);
    return hs_fail(chooser->message, HSUMMA_ERR_OPTION, "%s=%s: no such algorithm; there are: %s",
                   collective == HS_BCAST ? "bcast" : "reduce", name, known);
}

/* The cheapest row by the clock for a level of so many members and bytes. */
static const struct hs_alg *cheapest(struct chooser *chooser, enum hs_collective collective, int size, int64_t bytes,
                                     int64_t segment, hsumma_status *status)
{
    const struct hs_alg *best = NULL, *row;
    double least = 0;
    for (int i = 0; (row = hs_alg_at(i)) != NULL; i++) {
        struct hs_shape shape = {
            .size = size, .bytes = bytes, .unit = (int64_t)chooser->problem->scalar->size, .segment = segment};
        if (row->collective != collective || row->flags & (HS_USES_TOPOLOGY | HS_BY_MPI) || hs_alg_unfit(row, &shape))
            continue;
        if (collective == HS_REDUCE_TO && !(row->flags & HS_NESTS)) /* or the bits would depend on the groups */
            continue;
        double seconds = hs_clock_of(chooser->memo, row, size, bytes, shape.unit, segment, status);
        if (!best || seconds < least) {
            best = row;
            least = seconds;
        }
    }
    return best;
}

/* Whether a row can serve the lines of a level, on which ranks send messages: they know no nodes. */
static hsumma_status check_fit(const struct chooser *chooser, const struct hs_spec *spec, int level)
{
    const struct hs_alg *const row[2] = {spec->bcast[level], spec->reduce[level]};
    for (int i = 0; i < 4; i++) {
        struct hs_shape shape = {.size = spec->factors[i / 2].size[level], .bytes = 1024, .unit = 8};
        const char *why = row[i % 2] ? hs_alg_unfit(row[i % 2], &shape) : NULL;
        if (why)
            return hs_fail(chooser->message, HSUMMA_ERR_UNSUPPORTED, "%s=%s cannot serve a line of %d processes: %s",
                           i % 2 ? "reduce" : "bcast", row[i % 2]->name, shape.size, why);
    }
    return HSUMMA_OK;
}

/* Chooses the algorithms that the caller has not named, by the larger of the two axes on each level. */
static hsumma_status choose_algs(struct chooser *chooser, struct hs_spec *spec)
{
    hsumma_status status = HSUMMA_OK;
    for (int l = 0; !status && l < spec->levels; l++) {
        status = find_alg(chooser, HS_BCAST, &chooser->settings->bcast, l, spec->levels, &spec->bcast[l]);
        if (!status)
            status = find_alg(chooser, HS_REDUCE_TO, &chooser->settings->reduce, l, spec->levels, &spec->reduce[l]);
        if (!status)
            status = check_fit(chooser, spec, l);
        int64_t length = 1;
        for (int x = 0; x < 3; x++)
            if (chooser->variant.role[x].moves && hs_axis_count_max(chooser->variant.role[x].want) > length)
                length = hs_axis_count_max(chooser->variant.role[x].want);
        int size =
            spec->factors[0].size[l] > spec->factors[1].size[l] ? spec->factors[0].size[l] : spec->factors[1].size[l];
        int64_t width = clamp(spec->width[l], 1, clamp(chooser->pairs.width_max, 1, INT32_MAX));
        int64_t bytes = width * length * (int64_t)chooser->problem->scalar->size;
        if (!status && !spec->bcast[l])
            spec->bcast[l] = cheapest(chooser, HS_BCAST, size, bytes, spec->segment, &status);
        if (!status && !spec->reduce[l])
            spec->reduce[l] = cheapest(chooser, HS_REDUCE_TO, size, bytes, spec->segment, &status);
    }
    return status;
}

/* Nothing travels and nothing is gathered: one panel as wide as it gets. */
static int stays_in_place(const struct chooser *chooser, const struct hs_spec *spec)
{
    for (int x = 0; x < 3; x++) {
        if (!chooser->variant.role[x].moves)
            continue;
        struct hs_mover mover;
        hs_mover_init(&mover, chooser->problem, &chooser->variant, spec, NULL, x);
        if (mover.levels > 0 || mover.role->exchanged || !chooser->pairs.in_place[mover.index])
            return 0;
    }
    return 1;
}

static int64_t workspace(const struct chooser *chooser, const struct hs_spec *spec)
{
    return hs_workspace_max(chooser->problem, &chooser->variant, spec, &chooser->pairs);
}

/* Widths of the outer levels for a given innermost one. */
static hsumma_status set_widths(const struct chooser *chooser, struct hs_spec *spec, int64_t block)
{
    const struct hs_settings *settings = chooser->settings;
    int inner = spec->levels - 1;
    spec->width[inner] = block;
    for (int l = inner - 1; l >= 0; l--)
        spec->width[l] =
            settings->outers ? settings->outer[l < settings->outers ? l : settings->outers - 1] : spec->width[l + 1];
    for (int l = 0; l < inner; l++)
        if (spec->width[l] % spec->width[l + 1])
            return hs_fail(chooser->message, HSUMMA_ERR_ARGUMENT,
                           "outer panels of %" PRId64 " are not a multiple of the panels inside them, %" PRId64
                           " (level %d of %d)",
                           spec->width[l], spec->width[l + 1], l + 1, spec->levels);
    return HSUMMA_OK;
}

/* The largest width up to `wanted` that divides `whole` (outer panels that the caller has fixed), or about even cuts of
 * it. */
static int64_t nested_block(const struct chooser *chooser, const struct hs_spec *spec, int64_t wanted)
{
    if (spec->levels > 1 && chooser->settings->outers) {
        int last = spec->levels - 2 < chooser->settings->outers ? spec->levels - 2 : chooser->settings->outers - 1;
        int64_t whole = chooser->settings->outer[last], best = 1;
        for (int64_t i = 1; i * i <= whole; i++) {
            if (whole % i)
                continue;
            best = i <= wanted && i > best ? i : best;
            best = whole / i <= wanted && whole / i > best ? whole / i : best;
        }
        return best;
    }
    int64_t whole = chooser->pairs.width_max, pieces = (whole + wanted - 1) / wanted;
    int64_t even = pieces ? (whole + pieces - 1) / pieces : 1;
    even = (even + 7) / 8 * 8;
    return even < wanted ? even : wanted;
}

/* Panel widths and lookahead: as wide as the local GEMM wants, and as the limit allows. */
static hsumma_status choose_widths(struct chooser *chooser, struct hs_spec *spec)
{
    const struct hs_settings *settings = chooser->settings;
    int64_t most = clamp(chooser->pairs.width_max, 1, INT32_MAX);
    int in_place = stays_in_place(chooser, spec);
    spec->lookahead = settings->lookahead >= 0 ? settings->lookahead : in_place ? 0 : 1;
    int64_t wanted = settings->block ? settings->block : in_place ? most : clamp(chooser->memo->profile->knee, 1, most);
    /* a share of the matrices is meant for all that a product needs, and MPI's own buffers are a part of that */
    int64_t target = settings->block || settings->workspace_bytes ? chooser->limit : chooser->limit / 5 * 4;
    target = target < FLOOR ? clamp(FLOOR, 0, chooser->limit) : target;
    for (;;) {
        int64_t block = settings->block ? wanted : nested_block(chooser, spec, wanted);
        hsumma_status status = set_widths(chooser, spec, block);
        if (status)
            return status;
        int64_t bytes = workspace(chooser, spec);
        if (bytes <= target || (bytes <= chooser->limit && block == 1))
            return HSUMMA_OK;
        int64_t fitting = (int64_t)((double)block * (double)target / (double)bytes);
        fitting = fitting < 1 && bytes > 0 && block > 1 && bytes / block <= chooser->limit ? 1 : fitting;
        fitting = fitting < block ? fitting : block - 1;
        if (settings->lookahead < 0 && spec->lookahead > 0 && (settings->block || fitting < NARROW))
            spec->lookahead = 0;
        else if (!settings->block && fitting >= 1)
            wanted = fitting;
        else
            return hs_fail(chooser->message, HSUMMA_ERR_WORKSPACE,
                           "panels of %" PRId64 " need %" PRId64 " bytes of workspace on a process; workspace_limit "
                           "allows %" PRId64 " (smaller block, outer or lookahead, or a larger limit)",
                           block, bytes, chooser->limit);
    }
}

/*
 * A process looks at its messages during a multiplication where others wait for it to pass something on (lines of more
 * than two), or where data moves only while the sender looks (between nodes).  Elsewhere cutting only costs: the BLAS
 * packs its operands anew for each slice.  A function of the grid alone, so that the hierarchy does not change the
 * slices.
 */
static int64_t choose_slice(const struct chooser *chooser)
{
    const int *extent = chooser->problem->grid.extent;
    if (chooser->settings->slice)
        return chooser->settings->slice;
    return chooser->memo->profile->one_node && extent[0] <= 2 && extent[1] <= 2 ? INT64_MAX
                                                                                : chooser->memo->profile->slice;
}

static hsumma_status price(struct chooser *chooser, struct hs_choice *choice, int spread)
{
    choice->spec.spread = spread;
    hsumma_status status = choose_widths(chooser, &choice->spec);
    if (!status)
        status = choose_algs(chooser, &choice->spec);
    if (!status)
        status = hs_predict(chooser->memo, chooser->problem, &chooser->variant, &choice->spec, &chooser->pairs,
                            chooser->threads, &choice->prediction);
    choice->workspace_bytes = workspace(chooser, &choice->spec);
    return status;
}

/* Panels that are exchanged: to a root that broadcasts them, or to all at once, which suits short lines. */
static hsumma_status choose_exchange(struct chooser *chooser, struct hs_choice *choice)
{
    const struct hs_role *role = chooser->variant.role;
    int wanted = chooser->settings->exchange;
    if (wanted >= 0 || choice->spec.levels > 1 || !(role[HS_A].exchanged || role[HS_B].exchanged))
        return price(chooser, choice, wanted > 0);
    struct hs_choice other = *choice;
    hsumma_status status = price(chooser, choice, 0), with_all = price(chooser, &other, 1);
    for (int i = 0; i < 2; i++) { /* of this process alone: it must not choose what others do not */
        hsumma_status own = i ? with_all : status;
        if (own == HSUMMA_ERR_MEMORY || own == HSUMMA_ERR_INTERNAL)
            return own;
    }
    if (!with_all && (status == HSUMMA_ERR_WORKSPACE || other.prediction.seconds < choice->prediction.seconds)) {
        *choice = other;
        status = HSUMMA_OK;
    }
    return status;
}

/* One hierarchy, made complete and priced. */
static hsumma_status complete(struct chooser *chooser, struct hs_choice *choice, int levels, const int (*factor)[2])
{
    struct hs_spec *spec = &choice->spec;
    int outer[2][HS_LEVELS_MAX];
    spec->levels = levels + 1;
    spec->segment = chooser->settings->segment;
    spec->slice = choose_slice(chooser);
    for (int l = 0; l < levels; l++) {
        outer[0][l] = factor[l][0];
        outer[1][l] = factor[l][1];
    }
    for (int axis = 0; axis < 2; axis++)
        if (!hs_factors_make(&spec->factors[axis], chooser->problem->grid.extent[axis], levels, outer[axis]))
            return hs_fail(chooser->message, HSUMMA_ERR_ARGUMENT,
                           "group grids (the first is %dx%d) do not divide the grid, which is %dx%d", factor[0][0],
                           factor[0][1], chooser->problem->grid.extent[0], chooser->problem->grid.extent[1]);
    if (chooser->settings->levels >= 0 && chooser->settings->outers > (levels > 1 ? levels : 1))
        return hs_fail(chooser->message, HSUMMA_ERR_ARGUMENT, "outer names %d widths for %d outer levels",
                       chooser->settings->outers, levels);
    return choose_exchange(chooser, choice);
}

/* Every valid group grid of two levels; the least communication by the clock wins, SUMMA where nothing is less. */
static hsumma_status choose_groups(struct chooser *chooser, struct hs_choice *choice)
{
    const int *extent = chooser->problem->grid.extent;
    hsumma_status status = complete(chooser, choice, 0, NULL);
    for (int i = 1; !status && i <= extent[0]; i++) {
        for (int j = 1; !status && j <= extent[1]; j++) {
            const int factor[1][2] = {{i, j}};
            struct hs_choice other = *choice;
            if (extent[0] % i || extent[1] % j || i * j == 1 || (i == extent[0] && j == extent[1]))
                continue;
            status = complete(chooser, &other, 1, factor);
            if (status == HSUMMA_ERR_WORKSPACE || status == HSUMMA_ERR_ARGUMENT) {
                status = HSUMMA_OK; /* not a valid candidate with what the caller has fixed */
                continue;
            }
            if (!status && other.prediction.comm < choice->prediction.comm * (1 - 1e-9) &&
                other.prediction.seconds <= choice->prediction.seconds)
                *choice = other;
        }
    }
    return status;
}

static hsumma_status choose_hierarchy(struct chooser *chooser, int stationary, struct hs_choice *choice)
{
    const struct hs_settings *settings = chooser->settings;
    choice->spec.stationary = stationary;
    if (settings->levels < 0)
        return choose_groups(chooser, choice);
    return complete(chooser, choice, settings->levels, settings->factor);
}

/* Looks at one stationary operand: variant, owners, hierarchy. */
static hsumma_status look_at(struct chooser *chooser, int stationary, struct hs_choice *choice)
{
    const struct hs_axis *axis[2];
    int movers = 0;
    hsumma_status status = hs_variant_make(chooser->problem, stationary, &chooser->variant, chooser->message);
    if (status)
        return status;
    for (int x = 0; x < 3; x++)
        if (chooser->variant.role[x].moves)
            axis[movers++] = chooser->variant.role[x].looped;
    status = hs_pairs_make(axis[0], axis[1], chooser->memory, &chooser->pairs);
    if (!status)
        status = choose_hierarchy(chooser, stationary, choice);
    hs_pairs_free(chooser->memory, &chooser->pairs);
    return status;
}

static void keep_names(struct hs_names *names[2], const int per_level[2], int level)
{
    for (int i = 0; i < 2; i++)
        if (per_level[i])
            memmove(names[i]->name[names[i]->count++], names[i]->name[level], HS_NAME_TEXT);
}

/* An outer level of one group does nothing: SUMMA is SUMMA however it is said. */
static struct hs_settings without_empty_levels(const struct hs_settings *settings)
{
    struct hs_settings kept = *settings;
    int with_outers = settings->outers == settings->levels;
    if (settings->levels <= 0)
        return kept;
    struct hs_names *names[2] = {&kept.bcast, &kept.reduce};
    int per_level[2];
    for (int i = 0; i < 2; i++) {
        per_level[i] = !names[i]->outer_inner && names[i]->count == settings->levels + 1;
        names[i]->count = per_level[i] ? 0 : names[i]->count;
    }
    kept.levels = 0;
    kept.outers = with_outers ? 0 : settings->outers;
    for (int l = 0; l < settings->levels; l++) {
        if (settings->factor[l][0] == 1 && settings->factor[l][1] == 1)
            continue;
        if (with_outers)
            kept.outer[kept.outers++] = settings->outer[l];
        kept.factor[kept.levels][0] = settings->factor[l][0];
        kept.factor[kept.levels++][1] = settings->factor[l][1];
        keep_names(names, per_level, l);
    }
    keep_names(names, per_level, settings->levels);
    return kept;
}

/* Whether the processes are to share memory; or the caller's words contradict each other, or the machine them. */
static hsumma_status shares(const struct chooser *chooser, const struct hs_sharing *sharing, int *shared)
{
    const struct hs_settings *settings = chooser->settings;
    const int *extent = chooser->problem->grid.extent;
    int asked = settings->node == HS_NODE_SHARED || settings->node == HS_NODE_READ;
    *shared = 0;
    if (asked && settings->for_messages)
        return hs_fail(chooser->message, HSUMMA_ERR_ARGUMENT,
                       "node=shared sends no messages, but groups, levels, outer, bcast, reduce, exchange, segment, "
                       "lookahead or slice is given");
    if (extent[0] * extent[1] == 1 || settings->node == HS_NODE_MESSAGES || settings->for_messages)
        return HSUMMA_OK;
    if (settings->node == HS_NODE_READ && sharing->bytes && !sharing->readable)
        return hs_fail(
            chooser->message, HSUMMA_ERR_UNSUPPORTED,
            "node=read: the system does not let processes read each other's memory, or node=read was not said "
            "to the context, which finds that out");
    if (asked && sharing->bytes == 0)
        return hs_fail(chooser->message, HSUMMA_ERR_UNSUPPORTED,
                       "node=shared: the processes are on several nodes, or cannot share memory, or the context has "
                       "more than 4 grids");
    *shared = sharing->bytes > 0;
    return HSUMMA_OK;
}

hsumma_status hs_choose(const struct hs_problem *problem, const struct hs_settings *given, struct hs_clock_memo *memo,
                        const struct hs_registry *own, int threads, const struct hs_sharing *sharing,
                        const struct hs_allocator *memory, struct hs_choice *choice, struct hs_message *message)
{
    const struct hs_settings kept = without_empty_levels(given), *settings = &kept;
    static const int order[3] = {HS_C, HS_A, HS_B}; /* on a tie the first */
    struct chooser chooser;
    memset(&chooser, 0, sizeof chooser);
    chooser.problem = problem;
    chooser.settings = settings;
    chooser.memo = memo;
    chooser.own = own;
    chooser.threads = threads;
    chooser.memory = memory;
    chooser.message = message;
    chooser.limit = workspace_limit(&chooser);
    int shared;
    hsumma_status first = shares(&chooser, sharing, &shared);
    if (first)
        return first;
    if (shared) {
        first = hs_choose_node(problem, settings, memo->profile, threads, chooser.limit, sharing, choice, message);
        if (!first || settings->node != HS_NODE_AUTO)
            return first;
    }
    first = HSUMMA_OK;
    struct hs_message why = {""};
    int found = 0;
    double seconds[3] = {-1, -1, -1};
    for (int i = 0; i < 3; i++) {
        struct hs_choice other;
        if (settings->stationary >= 0 && settings->stationary != order[i])
            continue;
        memset(&other, 0, sizeof other);
        hsumma_status status = look_at(&chooser, order[i], &other);
        seconds[order[i]] = status ? -1 : other.prediction.seconds;
        if (!status && (!found || other.prediction.seconds < choice->prediction.seconds * (1 - 1e-9))) {
            *choice = other;
            found = 1;
            message->text[0] = 0; /* an earlier candidate's refusal is not the caller's business */
        } else if (status == HSUMMA_ERR_MEMORY || status == HSUMMA_ERR_INTERNAL) {
            found = 0; /* of this process alone: another choice here would differ from everybody else's */
            first = status;
            why = *message;
            break;
        } else if (status && !first) {
            first = status;
            why = *message;
        }
    }
    if (!found)
        *message = why;
    choice->workspace_limit = chooser.limit;
    memcpy(choice->stationary, seconds, sizeof seconds);
    return found ? HSUMMA_OK : first;
}
