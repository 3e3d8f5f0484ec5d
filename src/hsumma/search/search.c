#include "hsumma/context/workspace.h"
#include "hsumma/search/candidate.h"
#include "hsumma/search/search_cells.h"
#include "hsumma/search/search_node.h"

#include <string.h>

static void keep_names(struct hs_names *names[2], const int per_level[2], int level)
{
    for (int i = 0; i < 2; i++)
        if (per_level[i])
            memmove(names[i]->name[names[i]->count++], names[i]->name[level], HS_WORD_TEXT);
}

/* Removes outer levels of a single group, which have no effect, so that SUMMA is recognised in any notation. */
static struct hs_settings without_empty_levels(const struct hs_settings *settings)
{
    struct hs_settings kept = *settings;
    int with_outers = settings->outer.count == settings->levels;
    if (settings->levels <= 0)
        return kept;
    struct hs_names *names[2] = {&kept.bcast, &kept.reduce};
    int per_level[2];
    for (int i = 0; i < 2; i++) {
        per_level[i] = !names[i]->outer_inner && names[i]->count == settings->levels + 1;
        names[i]->count = per_level[i] ? 0 : names[i]->count;
    }
    kept.levels = 0;
    kept.outer.count = with_outers ? 0 : settings->outer.count;
    for (int l = 0; l < settings->levels; l++) {
        if (settings->factor[l][0] == 1 && settings->factor[l][1] == 1)
            continue;
        if (with_outers)
            kept.outer.width[kept.outer.count++] = settings->outer.width[l];
        kept.factor[kept.levels][0] = settings->factor[l][0];
        kept.factor[kept.levels++][1] = settings->factor[l][1];
        keep_names(names, per_level, l);
    }
    keep_names(names, per_level, settings->levels);
    return kept;
}

/* The best choice so far; not found: the choice with which a search begins. */
struct best {
    int found;
    struct hs_choice choice;
};

static void keep_better(const struct best *other, struct best *best)
{
    if (other->found && (!best->found || hs_is_better(&other->choice, &best->choice)))
        *best = *other;
}

/* Makes a candidate and enters it into the ranking.  Keeps the first refusal, in case no candidate is found. */
static hsumma_status consider(struct hs_chooser *chooser, const struct hs_sketch *sketch, struct best *best)
{
    struct best made = {.found = 1};
    struct hs_message reason = {""}, *theirs = chooser->message;
    chooser->message = &reason;
    hsumma_status status = hs_candidate_make(chooser, sketch, &made.choice);
    chooser->message = theirs;
    hs_refuse(chooser, status, &reason);
    if (status)
        return hs_is_own_failure(status) ? status : HSUMMA_OK;
    hs_rank(chooser->ranking, &made.choice);
    keep_better(&made, best);
    return HSUMMA_OK;
}

/* A chain is one axis of a hierarchy: the factors of its levels, outermost first.  A shortlist has the fastest chains
 * of an axis. */
enum { SHORTLIST = 8, CHAINS = 512 };
struct chain {
    int factor[HS_LEVELS_MAX];
    double seconds;
};
struct shortlist {
    int count, made;
    struct chain chain[SHORTLIST];
};

/*
 * The communication time per innermost panel of the operands whose lines are along the axis, with the cheapest
 * algorithm on each level.  times: width of outer panels as a multiple of inner panels.
 */
static double chain_seconds(struct hs_chooser *chooser, int axis, const struct hs_factors *over, int cells, int times,
                            const struct hs_choice *base, hsumma_status *status)
{
    const struct hs_spec *spec = &base->spec;
    int64_t unit = (int64_t)chooser->problem->scalar->size, width = spec->width[spec->levels - 1];
    double seconds = 0;
    for (int x = 0; x < 3; x++) {
        const struct hs_role *role = &chooser->variant.role[x];
        if (!role->moves || role->line_axis != axis)
            continue;
        for (int l = 0; l < over->levels; l++) {
            if (over->size[l] == 1)
                continue;
            int wider = l < over->levels - 1 ? times : 1;
            struct hs_leg leg = {.line = hs_line_of(chooser->lines, cells, role, over->stride[l], over->size[l]),
                                 .bytes = hs_bytes_of(width * wider, hs_axis_count_max(role->want), unit),
                                 .panels = hs_pipeline_of(&chooser->pricing, spec, x, over, l, width * wider)};
            double least;
            hs_cheapest(chooser, x == HS_C ? HS_REDUCE_TO : HS_BCAST, &leg, 1, spec, &least, status);
            seconds += least / wider;
        }
    }
    return seconds;
}

/* Completes *chain with each factorisation of `left` into the levels from `level` on, prices the results, at most
 * CHAINS in all, and keeps the fastest in the list. */
static void list_chains(struct hs_chooser *chooser, int axis, int levels, int level, int left, int times,
                        struct chain *chain, const struct hs_choice *base, struct shortlist *list,
                        hsumma_status *status)
{
    if (*status || list->made == CHAINS)
        return;
    if (level < levels - 1) {
        for (int f = 1; f <= left; f++)
            if (left % f == 0) {
                chain->factor[level] = f;
                list_chains(chooser, axis, levels, level + 1, left / f, times, chain, base, list, status);
            }
        return;
    }
    chain->factor[level] = left;
    struct hs_factors members, over;
    hs_factors_make(&members, chooser->problem->grid.extent[axis], levels - 1, chain->factor);
    int cells = hs_line_cells(chooser->lines, chooser->cells, axis, &members, &over) != NULL;
    if (chooser->cells && !cells) /* groups that cut through nodes are only used on request */
        return;
    chain->seconds = chain_seconds(chooser, axis, &over, cells, times, base, status);
    list->made++;
    int at = list->count;
    while (at > 0 && chain->seconds < list->chain[at - 1].seconds * (1 - 1e-9))
        at--;
    if (at == SHORTLIST)
        return;
    int kept = list->count < SHORTLIST ? list->count : SHORTLIST - 1;
    memmove(&list->chain[at + 1], &list->chain[at], (size_t)(kept - at) * sizeof *chain);
    list->chain[at] = *chain;
    list->count = kept + 1;
}

/* Considers the hierarchy of two chains, one for each axis, unless one of its levels has no effect. */
static hsumma_status consider_chains(struct hs_chooser *chooser, const struct hs_sketch *base, int levels,
                                     const struct chain *const chain[2], struct best *best)
{
    struct hs_sketch sketch = *base;
    sketch.levels = levels - 1;
    for (int l = 0; l < levels; l++)
        if (chain[0]->factor[l] == 1 && chain[1]->factor[l] == 1 && (l < levels - 1 || base->outer_times == 1))
            return HSUMMA_OK;
    for (int l = 0; l < levels - 1; l++)
        for (int axis = 0; axis < 2; axis++)
            sketch.factor[l][axis] = chain[axis]->factor[l];
    return consider(chooser, &sketch, best);
}

/*
 * Searches hierarchies of two and three levels.  The costs of the two axes nearly add up, and levels hardly affect each
 * other.  So chains are listed for each axis separately, and each chain is priced in a hierarchy with the best chain of
 * the other axis.
 */
static hsumma_status search_groups(struct hs_chooser *chooser, const struct hs_sketch *base, struct best *best)
{
    const int *extent = chooser->problem->grid.extent;
    hsumma_status status = HSUMMA_OK;
    for (int levels = 2; levels <= 3 && !status; levels++) {
        struct shortlist list[2] = {{0}, {0}};
        const struct hs_choice plain = best->choice;
        for (int axis = 0; axis < 2; axis++) {
            struct chain chain;
            list_chains(chooser, axis, levels, 0, extent[axis], base->outer_times, &chain, &plain, &list[axis],
                        &status);
        }
        if (list[0].count == 0 || list[1].count == 0)
            continue;
        const struct chain *chain[2] = {&list[0].chain[0], &list[1].chain[0]};
        for (int turn = 0; turn < 3 && !status; turn++) {
            int axis = turn % 2;
            const struct chain *first = chain[axis], *kept = first;
            double least = best->choice.prediction.seconds;
            for (int i = 0; i < list[axis].count && !status; i++) {
                if (turn > 0 && &list[axis].chain[i] == first) /* already priced with the chains of the other axis */
                    continue;
                chain[axis] = &list[axis].chain[i];
                status = consider_chains(chooser, base, levels, chain, best);
                if (best->choice.prediction.seconds < least)
                    kept = chain[axis];
                least = best->choice.prediction.seconds;
            }
            chain[axis] = kept;
        }
    }
    return status;
}

/* The sketch of a choice, for the next step of the search. */
static struct hs_sketch sketch_of(const struct hs_choice *choice)
{
    const struct hs_spec *spec = &choice->spec;
    struct hs_sketch sketch = {.levels = spec->levels - 1,
                               .block = spec->width[spec->levels - 1],
                               .lookahead = spec->lookahead,
                               .owners = spec->owners,
                               .outer_times = (int)(spec->width[0] / spec->width[spec->levels - 1]),
                               .segment = spec->segment};
    for (int l = 0; l < sketch.levels; l++)
        for (int axis = 0; axis < 2; axis++)
            sketch.factor[l][axis] = spec->factors[axis].size[l];
    return sketch;
}

/* Whether the costs that no hierarchy changes already exceed the total of the best candidate. */
static int is_hopeless(const struct hs_chooser *chooser, const struct hs_choice *choice)
{
    const struct hs_prediction *prediction = &choice->prediction;
    double fixed = prediction->gemm + prediction->copy;
    for (int x = 0; x < 3 && !choice->spec.spread; x++) /* if panels are spread, a hierarchy may change the exchange */
        fixed += (1 - chooser->profile->overlap) * prediction->operand[x].exchange_seconds;
    return fixed > chooser->ranking->choice[0].prediction.seconds;
}

/* Considers an algorithm for broadcasts on one level of a choice, or on all levels if level is -1.  Tries several
 * segments if the algorithm uses them. */
static hsumma_status consider_row(struct hs_chooser *chooser, const struct hs_choice *base, int level,
                                  const struct hs_alg *row, struct best *best)
{
    const struct hs_link *network = &chooser->profile->machine.network;
    /* 0: not tried; long segments are for panels whose messages wait for polls */
    const int64_t segment[] = {16 << 10, 64 << 10, 256 << 10, network->eager < 16 << 10 ? network->eager : 0};
    int several = row->flags & HS_USES_SEGMENT && !chooser->settings->segment;
    hsumma_status status = HSUMMA_OK;
    struct hs_sketch sketch = sketch_of(base);
    for (int l = 0; l < base->spec.levels; l++)
        sketch.bcast[l] = level < 0 || l == level ? row : base->spec.bcast[l];
    for (int k = 0; !status && k < (several ? 4 : 1); k++) {
        if (several && !segment[k])
            continue;
        sketch.segment = several ? segment[k] : sketch.segment;
        status = consider(chooser, &sketch, best);
    }
    return status;
}

/* Whether the nodes of the lines along some axis fill boxes of a torus. */
static int has_boxes(const struct hs_chooser *chooser)
{
    return hs_line_boxes(chooser->lines, 0) || hs_line_boxes(chooser->lines, 1);
}

/* Searches broadcasts and segments, starting from the best choice so far: one algorithm on all levels, then others on
 * each level.
 */
static hsumma_status search_rows(struct hs_chooser *chooser, struct best *best)
{
    hsumma_status status = HSUMMA_OK;
    const struct hs_alg *row;
    if (chooser->settings->bcast.count > 0)
        return HSUMMA_OK;
    const int levels = best->choice.spec.levels > 1 ? best->choice.spec.levels : 0;
    for (int level = -1; level < levels; level++) {
        const struct hs_choice base = best->choice;
        for (int i = 0; !status && (row = hs_alg_at(i)) != NULL; i++)
            if (hs_may_serve(row, HS_BCAST) && (!(row->flags & HS_USES_BOX) || has_boxes(chooser)) &&
                (level < 0 || row != base.spec.bcast[level]))
                status = consider_row(chooser, &base, level, row, best);
    }
    return status;
}

/* Searches panel widths, unless the caller gives one. */
static hsumma_status search_blocks(struct hs_chooser *chooser, const struct hs_sketch *base, struct best *best)
{
    static const int64_t block[] = {0, 384, 192, 96, 768}; /* 0: the knee */
    struct hs_sketch sketch = *base;
    hsumma_status status = HSUMMA_OK;
    for (int i = 0; !status && i < (chooser->settings->block ? 1 : 5); i++) {
        sketch.block = block[i];
        status = consider(chooser, &sketch, best);
    }
    return status;
}

/*
 * Searches lookaheads other than 1: lookahead 0, with all panel widths, since narrow panels are best with a lookahead,
 * where the multiplication then begins sooner; and lookaheads with one panel in flight per member of the longest line,
 * but at most four panels, then at most eight, each with all panel widths and then all broadcasts.  Each member can
 * then be the root of one panel.  Where lines fill boxes of a torus, up to sixteen are tried, because trees in boxes
 * load the links near their roots most.  With lookahead=0 owners=auto it searches numbers of owners instead.
 */
static hsumma_status search_lookaheads(struct hs_chooser *chooser, struct best *best)
{
    const int *extent = chooser->problem->grid.extent, most[] = {4, HS_LOAD_ROOTS, 2 * HS_LOAD_ROOTS};
    const int windows = has_boxes(chooser) ? 3 : 2;
    int longest = extent[0] > extent[1] ? extent[0] : extent[1];
    int tried = chooser->settings->lookahead < 0 ? 2 : 1;
    struct hs_sketch sketch = sketch_of(&best->choice);
    hsumma_status status = HSUMMA_OK;
    sketch.lookahead = 0;
    if (chooser->settings->lookahead < 0 && !chooser->settings->block)
        status = consider(chooser, &sketch, best);
    if (!status && chooser->settings->lookahead < 0)
        status = search_blocks(chooser, &sketch, best);
    for (int i = 0; !status && i < windows && !chooser->profile->one_node; i++) {
        int window = longest < most[i] ? longest : most[i];
        struct best here = {0, best->choice};
        if (chooser->settings->lookahead < 0)
            sketch.lookahead = window - 1;
        else
            sketch.owners = window;
        if (window > tried)
            status = consider(chooser, &sketch, &here);
        if (!status && here.found && !chooser->settings->block)
            status = search_blocks(chooser, &sketch, &here);
        if (!status && here.found && !is_hopeless(chooser, &here.choice))
            status = search_rows(chooser, &here);
        keep_better(&here, best);
        tried = window;
    }
    return status;
}

/* Searches SUMMA with panels that are wider for broadcasts than for the local GEMM. */
static hsumma_status search_wide(struct hs_chooser *chooser, const struct hs_sketch *base, struct best *best)
{
    struct hs_sketch sketch = *base;
    struct best wide = {0, best->choice};
    sketch.levels = 1;
    for (int axis = 0; axis < 2; axis++)
        sketch.factor[0][axis] = chooser->problem->grid.extent[axis];
    hsumma_status status = consider(chooser, &sketch, &wide);
    if (!status && wide.found)
        status = search_rows(chooser, &wide);
    keep_better(&wide, best);
    return status;
}

/* Searches from the best choice so far: broadcasts and segments; then hierarchies with their broadcasts, with outer
 * panels as wide as inner panels, and with wider outer panels. */
static hsumma_status search_levels(struct hs_chooser *chooser, struct best *best)
{
    const struct hs_settings *settings = chooser->settings;
    enum { WIDER = 4 }; /* width of wider outer panels as a multiple of inner panels */
    /* wider panels are not tried if communication takes a smaller share of the time */
    static const double LITTLE = 0.05;
    hsumma_status status = search_rows(chooser, best);
    struct hs_sketch sketch = sketch_of(&best->choice);
    for (int times = 1; !status && times <= (settings->outer.count ? 1 : WIDER); times *= WIDER) {
        struct best here = {0, best->choice}; /* search_groups starts from the widths of this choice */
        sketch.outer_times = times;
        if (settings->levels < 0 && times > 1)
            status = search_wide(chooser, &sketch, best);
        if (settings->levels < 0 && !status)
            status = search_groups(chooser, &sketch, &here);
        else if (settings->levels > 0 && times > 1)
            status = consider(chooser, &sketch, &here);
        if (!status && here.found)
            status = search_rows(chooser, &here);
        keep_better(&here, best);
        if (best->choice.prediction.comm < LITTLE * best->choice.prediction.seconds)
            break;
    }
    return status;
}

/*
 * Searches the candidates of one stationary operand, one coordinate after the other: block and lookahead with the given
 * hierarchy or SUMMA; then what search_levels varies.  Between nodes the lookahead depends on how often panels wait for
 * polls, so broadcasts are searched before it; and if none is best, hierarchies are searched with one as well, since
 * the wait for the slower operand may hide what another hierarchy saves.
 */
static hsumma_status search(struct hs_chooser *chooser, struct best *best)
{
    const struct hs_settings *settings = chooser->settings;
    struct hs_sketch sketch = {.lookahead = -1, .outer_times = 1};
    if (settings->levels > 0) {
        sketch.levels = settings->levels;
        memcpy(sketch.factor, settings->factor, sizeof sketch.factor);
    }
    hsumma_status status = search_blocks(chooser, &sketch, best);
    if (status || !best->found)
        return status;
    struct best ahead = *best;
    if (settings->lookahead < 0 || (settings->lookahead == 0 && settings->owners == 0)) {
        if (!chooser->profile->one_node)
            status = search_rows(chooser, best);
        ahead = *best;
        if (!status)
            status = search_lookaheads(chooser, best);
    }
    if (status || is_hopeless(chooser, &best->choice))
        return status;
    int both = !chooser->profile->one_node && best->choice.spec.lookahead == 0 && ahead.choice.spec.lookahead > 0;
    status = search_levels(chooser, best);
    if (!status && both && !is_hopeless(chooser, &ahead.choice)) {
        status = search_levels(chooser, &ahead);
        keep_better(&ahead, best);
    }
    return status;
}

/* Examines one stationary operand: its variant, pairs of owners, and candidates. */
static hsumma_status look_at(struct hs_chooser *chooser, int stationary)
{
    struct best best = {.found = 0};
    struct hs_message reason;
    hsumma_status status = hs_variant_make(chooser->problem, stationary, &chooser->variant, &reason);
    if (status) {
        hs_refuse(chooser, status, &reason);
        return hs_is_own_failure(status) ? status : HSUMMA_OK;
    }
    status = hs_variant_pairs(&chooser->variant, chooser->planner->memory, &chooser->pairs);
    chooser->pricing = (struct hs_pricing){chooser->planner->memo, chooser->lines,  chooser->problem,
                                           &chooser->variant,      &chooser->pairs, chooser->planner->threads};
    if (!status)
        status = search(chooser, &best);
    hs_pairs_free(chooser->planner->memory, &chooser->pairs);
    return status;
}

/* Chooses a product over messages, with each stationary operand that the caller allows. */
static hsumma_status choose_messages(struct hs_chooser *chooser)
{
    int before = chooser->ranking->count;
    struct hs_line_table lines;
    chooser->refused = HSUMMA_OK;
    chooser->lines = &lines;
    hsumma_status status = hs_line_table_init(chooser->lines, chooser->planner->topology, chooser->profile->one_node,
                                              &chooser->problem->grid, chooser->planner->memory);
    if (!status && chooser->cells)
        status = hs_line_table_share(chooser->lines, chooser->planner->memory);
    if (chooser->cells && !status) /* 0 if no line has two members on one node, and cells have no other order */
        chooser->cells =
            chooser->lines->cells[0].lines + chooser->lines->cells[1].lines > 0 || chooser->planner->topology->fabric;
    for (int axis = 0; axis < 2; axis++)
        chooser->mates[axis] = chooser->cells ? chooser->lines->cells[axis].together : 0;
    for (int i = 0; !status && i < 3; i++)
        if (hs_may_stay(chooser->settings, hs_stay_order[i]))
            status = look_at(chooser, hs_stay_order[i]);
    hs_line_table_free(chooser->lines, chooser->planner->memory);
    if (hs_is_own_failure(status)) /* no choice is returned, because it could differ from the other processes' choice */
        return hs_fail(chooser->message, status,
                       status == HSUMMA_ERR_MEMORY
                           ? "no memory for choosing a plan"
                           : "no plan: the steps of an algorithm do not match, or do not complete; "
                             "check registered algorithms with hsumma_coll_prove");
    if (chooser->ranking->count == before && chooser->refused)
        return chooser->refused;
    chooser->message->text[0] = 0; /* the caller does not need the messages of refused candidates */
    return HSUMMA_OK;
}

hsumma_status hs_choose(const struct hs_problem *problem, const struct hs_settings *given,
                        const struct hs_planner *planner, struct hs_ranking *ranking, struct hs_message *message)
{
    const struct hs_settings settings = without_empty_levels(given);
    struct hs_chooser chooser = {.problem = problem,
                                 .settings = &settings,
                                 .planner = planner,
                                 .profile = planner->memo->profile,
                                 .message = message,
                                 .limit =
                                     hs_workspace_limit(&settings.workspace, problem->view, 3, problem->scalar->size),
                                 .ranking = ranking};
    ranking->count = ranking->considered = 0;
    ranking->workspace_limit = chooser.limit;
    for (int x = 0; x < 3; x++)
        ranking->stationary[x] = -1;
    int by_node;
    if (settings.owners > 1 && settings.lookahead > 0)
        return hs_fail(
            message, HSUMMA_ERR_ARGUMENT,
            "owners=%d: allowed only with lookahead=0, but lookahead is %d (lookahead=%d has as many panels in flight)",
            settings.owners, settings.lookahead, settings.owners - 1);
    hsumma_status status = hs_what_is_shared(&chooser, &by_node);
    if (status)
        return status;
    if (by_node) {
        status = hs_choose_node(&chooser);
        if ((!status && settings.tune != HS_TUNE_MEASURE) || settings.node != HS_NODE_AUTO)
            return status;
    }
    status = choose_messages(&chooser);
    if (!status)
        hs_rank_operands(ranking);
    return status;
}
