#include "hsumma/search/search_node.h"

#include "hsumma/context/workspace.h"
#include "summa/node/on_device.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/*
 * PANEL: least width of panels of k that are copied, twice that for float.  OpenBLAS and BLIS cut k into pieces of 192
 * to 384 themselves and read and write C once for each, so wider panels would only take more memory
 * (doc/results/node.md).  EVEN_WIDTH: that of an even division, in which a process without data waits for the first
 * panel and an owner copies and multiplies in turn.  KNEES: width of panels that are read in place, as a multiple of
 * the local GEMM's knee.  TILE: bytes of a tile, more than the second-level cache but within a process's share of the
 * last-level cache.  SHORT: shorter chunks would repeat the packing of the other operand too often.  CHEAP: maximum
 * bytes of all tiles with a third tile in rings.  UNPACKED_WIDTH: panels narrower than this would read and write C too
 * often to gain by a BLAS that multiplies small matrices without packing.
 */
enum {
    PANEL = 192,
    EVEN_WIDTH = 96,
    KNEES = 2,
    TILE = 16 << 20,
    SHORT = 512,
    STEPS_AHEAD = 2,
    CHEAP = 4 << 20,
    UNPACKED_WIDTH = 64
};

/*
 * On devices panels are as wide as a GPU's GEMM prefers (WIDE), so that C is rarely read and written and calls are few;
 * they are narrower if memory is short.  C is stationary unless another stationary operand copies less than `clearly`
 * times as much data, because a stationary C is written once and needs no partial results.
 */
enum { WIDE = 2048 };
static const double clearly = 0.5;

/*
 * The work is divided evenly only if the largest part of C is at least `uneven` times the mean, and if the prediction
 * is at most `faster` times that of the best other choice, which needs fewer processes or copies.
 */
static const double uneven = 1.2, faster = 0.95;
static const double reading = 1.35; /* time of its copies and of reading them from another core's cache, in copies */
static const double handing_over = 4e-6; /* seconds of an even division's waits: for the first panel, and for C */

/*
 * A reduction of a size if memory is short; the tables below list the reductions in order.  With panels narrower than
 * the knee, C is read and written more often.  With shorter chunks, the BLAS packs the other operand more often, which
 * costs more.  Without lookahead, copies and multiplications do not overlap.
 */
struct sacrifice {
    enum { LOOKAHEAD_TO, WIDTH_TO, CHUNK_TO, NOTHING_LEFT } what;
    int64_t to;
};
static const struct sacrifice of_host[] = {{WIDTH_TO, 384}, {CHUNK_TO, 1024}, {WIDTH_TO, 192},   {CHUNK_TO, 512},
                                           {WIDTH_TO, 96},  {CHUNK_TO, 256},  {LOOKAHEAD_TO, 0}, {CHUNK_TO, 64},
                                           {WIDTH_TO, 8},   {CHUNK_TO, 1},    {WIDTH_TO, 1},     {NOTHING_LEFT, 0}};
static const struct sacrifice of_device[] = {{WIDTH_TO, 1024},  {LOOKAHEAD_TO, 1}, {WIDTH_TO, 64},
                                             {LOOKAHEAD_TO, 0}, {WIDTH_TO, 1},     {NOTHING_LEFT, 0}};

struct sizes {
    const struct hs_problem *problem;
    const struct hs_settings *settings;
    int on_device, even;
    const struct sacrifice *sacrifices;
    int64_t most; /* maximum bytes for all processes together */
    /* Fields for the host. */
    const struct hs_profile *profile;
    int in_place, threads, times; /* times: panel width as a multiple of the usual one */
    /* Variant and spec of the current stationary operand. */
    const struct hs_variant *variant;
    struct hs_spec *spec;
    /* The result on a device: bytes of tiles, and elements to copy, the only cost that is known. */
    int64_t bytes;
    double elements;
};

static int64_t bytes_of(const struct sizes *sizes, const struct hs_spec *spec)
{
    return hs_node_size(sizes->problem, sizes->variant, spec);
}

/* The length of nearly even parts of `whole`, a multiple of 8 if possible: as short as possible, but at least `least`.
 */
static int64_t shortest_cut(int64_t whole, int64_t least)
{
    int64_t rounded_up = least > 8 ? least - 7 : 1; /* becomes `least` when it is rounded up */
    int64_t pieces = whole < rounded_up ? 1 : whole / rounded_up;
    return hs_min(((whole + pieces - 1) / pieces + 7) / 8 * 8, whole);
}

static int64_t looped_extent(const struct sizes *sizes)
{
    int64_t extent = sizes->problem->extent[sizes->variant->looped];
    return extent > 0 ? extent : 1;
}

/* The operand whose pinned dimension is cut into chunks: of A and B the copied one; if both are copied, the one with
 * the longer pinned dimension; -1 if neither is. */
static int choose_chunked(const struct hs_variant *variant)
{
    int chunked = -1;
    int64_t longest = 0;
    for (int x = 0; x < 2; x++) {
        const struct hs_role *role = &variant->role[x];
        if (!role->moves || hs_supply_resident(role))
            continue;
        int64_t length = hs_axis_count_max(role->want);
        if (length > longest) {
            longest = length;
            chunked = x;
        }
    }
    return chunked;
}

/* Shortens *length by cutting `whole` into one part more; returns 0 if the length would be less than `to`. */
static int cut_finer(int64_t *length, int64_t whole, int64_t to)
{
    int64_t finer = *length > 8 ? hs_even_cut(whole, *length - 1, 8) : *length - 1;
    if (finer >= *length || finer < to)
        return 0;
    *length = finer;
    return 1;
}

/* Narrows panels by one step: on devices to half, but not below `to`; otherwise by one more cut.  Returns 0 if that
 * gives no narrower panels of at least `to`. */
static int narrow(const struct sizes *sizes, int64_t to)
{
    int64_t *width = &sizes->spec->width[0];
    if (!sizes->on_device)
        return cut_finer(width, looped_extent(sizes), to);
    if (*width <= to)
        return 0;
    int64_t half = hs_even_cut(looped_extent(sizes), (*width + 1) / 2, 64);
    *width = half < to ? to : half;
    return 1;
}

/* Makes the first possible reduction of sizes->sacrifices by one step; returns 0 if none is possible.  Sizes that the
 * caller has given are kept. */
static int shrink(const struct sizes *sizes)
{
    struct hs_spec *spec = sizes->spec;
    for (const struct sacrifice *next = sizes->sacrifices; next->what != NOTHING_LEFT; next++) {
        if (next->what == LOOKAHEAD_TO && spec->lookahead > next->to) {
            spec->lookahead--;
            return 1;
        }
        if (next->what == WIDTH_TO && !sizes->settings->block && narrow(sizes, next->to))
            return 1;
        if (next->what == CHUNK_TO && !sizes->settings->chunk && spec->chunked >= 0 &&
            cut_finer(&spec->chunk, hs_axis_count_max(sizes->variant->role[spec->chunked].want), next->to))
            return 1;
    }
    return 0;
}

/*
 * The panel width for reading in place, which requires panels to end at block boundaries.  If blocks are at least a
 * quarter of `wanted` wide and begin at multiples of this width, the widest divisor of it that is at most `wanted` and
 * at least an eighth of it.  If there is none, panels are copied: even cuts of at least `least`.
 */
static int64_t block_panel(const struct sizes *sizes, int64_t wanted, int64_t least)
{
    for (int x = 0; x < 2; x++) {
        const struct hs_axis *axis = sizes->variant->role[x].looped;
        if (hs_supply_resident(&sizes->variant->role[x]) || axis->nb < wanted / 4 || axis->first % axis->nb)
            continue;
        for (int64_t pieces = hs_cuts(axis->nb, wanted); pieces <= 8; pieces++)
            if (axis->nb % pieces == 0)
                return axis->nb / pieces;
    }
    return shortest_cut(looped_extent(sizes), least);
}

/* Width of even panels with which the BLAS need not pack real elements on one thread; no limit if they would be too
 * narrow, or with devices. */
static int64_t unpacked_width(const struct sizes *sizes)
{
    const struct hs_axis *const *axis = sizes->variant->axis;
    const struct hs_scalar *scalar = sizes->problem->scalar;
    if (sizes->variant->looped != HS_K || sizes->profile->device_panel || sizes->times > 1 || sizes->threads != 1 ||
        scalar->complex_type || scalar->ordered || looped_extent(sizes) > HS_NODE_STEPS)
        return INT64_MAX;
    double area = (double)hs_axis_count_max(axis[HS_M]) * (double)hs_axis_count_max(axis[HS_N]);
    if (area == 0 || area * UNPACKED_WIDTH > sizes->profile->unpacked)
        return INT64_MAX;
    int64_t width = hs_even_cut(looped_extent(sizes), (int64_t)(sizes->profile->unpacked / area), 8);
    return width >= UNPACKED_WIDTH ? width : INT64_MAX;
}

/*
 * Chooses panel width, lookahead and chunks on the host.  With stationary C, panels cut k, and chunks cut the rows of A
 * or the columns of B.  With stationary A or B, panels cut columns or rows of C, as wide as the partial results may be,
 * and chunks cut k.
 */
static void choose_cuts_on_host(const struct sizes *sizes)
{
    const struct hs_settings *settings = sizes->settings;
    struct hs_spec *spec = sizes->spec;
    const struct hs_profile *profile = sizes->profile;
    int64_t whole = looped_extent(sizes), wide = KNEES * sizes->times * hs_profile_knee(profile);
    int64_t size = (int64_t)sizes->problem->scalar->size, panel = PANEL * (size < 8 ? 8 / size : 1);
    int64_t least = sizes->even             ? EVEN_WIDTH
                    : profile->device_panel ? profile->device_panel
                                            : sizes->times * hs_min(panel, profile->knee);
    int over_k = sizes->variant->looped == HS_K;
    int64_t unpacked = unpacked_width(sizes);
    spec->width[0] = !over_k || (profile->device_panel && hs_variant_resident(sizes->variant))
                         ? hs_min(whole, INT32_MAX)
                     : sizes->in_place ? block_panel(sizes, hs_min(wide, unpacked), least)
                                       : shortest_cut(whole, least);
    spec->width[0] = hs_min(settings->block ? settings->block : hs_min(spec->width[0], unpacked), whole);
    spec->lookahead = 1;
    spec->chunked = choose_chunked(sizes->variant);
    if (spec->chunked < 0)
        return;
    int64_t length = hs_axis_count_max(sizes->variant->role[spec->chunked].want);
    int64_t tile = TILE / size / spec->width[0];
    int64_t chunk = over_k ? hs_even_cut(length, tile > SHORT ? tile : SHORT, 8) : shortest_cut(length, least);
    spec->chunk = hs_min(settings->chunk ? settings->chunk : chunk, length);
    spec->chunk = spec->chunk > 0 ? spec->chunk : 1;
}

/* Chooses panel width and lookahead on devices.  If no process reads another's data and the caller gives no width,
 * there is a single panel. */
static void choose_cuts_on_device(const struct sizes *sizes)
{
    const struct hs_variant *variant = sizes->variant;
    struct hs_spec *spec = sizes->spec;
    int64_t whole = looped_extent(sizes), width = sizes->settings->block;
    if (!width)
        width = hs_variant_resident(variant) ? INT32_MAX : hs_even_cut(whole, WIDE, 64);
    spec->width[0] = hs_min(width, whole);
    spec->lookahead = HS_NODE_LOOKAHEAD;
    spec->chunked = -1;
}

/* Number of elements that the busiest process copies into tiles and into and out of partial results.  Sets
 * prediction->operand[].how. */
static double count_copies(const struct hs_problem *problem, const struct hs_variant *variant,
                           struct hs_prediction *prediction)
{
    double elements = 0;
    for (int x = 0; x < 3; x++) {
        const struct hs_role *role = &variant->role[x];
        prediction->operand[x].how = "stays";
        if (!role->moves)
            continue;
        int local = x != HS_C && hs_supply_resident(role);
        double part = (double)hs_axis_count_max(role->own) * (double)hs_axis_count_max(role->looped);
        prediction->operand[x].how = local ? "local" : x == HS_C ? "summed" : "shared";
        if (x == HS_C) /* a partial result is written; the partial results of the line are read and added */
            elements += (double)hs_axis_count_max(role->want) * (double)role->looped->n +
                        2 * part * problem->grid.extent[role->line_axis];
        else if (!local)
            elements += part;
    }
    return elements;
}

/* Number of elements that the process with most of C copies in an even division: its A and B for others, and C from
 * them.  A process does not copy what it alone reads. */
static double count_even_copies(const struct hs_problem *problem, const struct hs_variant *variant,
                                struct hs_prediction *prediction)
{
    double elements = 0;
    for (int x = 0; x < 3; x++) {
        const struct hs_axis *axis = problem->view[x].axis;
        double rows = (double)hs_axis_count_max(&axis[0]), cols = (double)hs_axis_count_max(&axis[1]);
        int whole = rows == (double)axis[0].n && cols == (double)axis[1].n; /* some process owns all of it */
        int parts = x == HS_C                ? problem->grid.extent[0] * problem->grid.extent[1]
                    : variant->role[x].moves ? problem->grid.extent[variant->role[x].want_axis]
                                             : 1;
        int alone = x == HS_C || problem->grid.extent[1 - variant->role[x].want_axis] == 1;
        elements += rows * cols * (whole && alone ? 1 - 1.0 / parts : 1);
        prediction->operand[x].how = x == HS_C ? "summed" : "shared";
    }
    return elements;
}

/* Predicts the busiest process's seconds: its BLAS calls (the BLAS's packing included) and its copies.  Calls that
 * spare the packing are priced like a single one. */
static void predict_on_host(const struct sizes *sizes, struct hs_prediction *prediction)
{
    const struct hs_problem *problem = sizes->problem;
    const struct hs_profile *profile = sizes->profile;
    const struct hs_variant *variant = sizes->variant;
    double extent[3], size = (double)problem->scalar->size;
    memset(prediction, 0, sizeof *prediction);
    for (int dim = 0; dim < 3; dim++)
        extent[dim] =
            dim == variant->looped ? (double)problem->extent[dim] : (double)hs_axis_count_max(variant->axis[dim]);
    double calls = 1, call[3] = {extent[0], extent[1], extent[2]}; /* one call per step */
    double cut[2] = {(double)sizes->spec->width[0], (double)sizes->spec->chunk};
    int dim[2] = {variant->looped, sizes->spec->chunked < 0 ? -1 : variant->role[sizes->spec->chunked].pinned};
    int64_t longest = unpacked_width(sizes);
    int unpacked = longest < INT64_MAX && cut[0] >= UNPACKED_WIDTH && cut[0] <= (double)longest; /* 1: k is not cut */
    for (int i = unpacked; i < 2; i++) {
        if (dim[i] < 0 || cut[i] <= 0 || cut[i] >= call[dim[i]])
            continue;
        calls *= call[dim[i]] / cut[i];
        call[dim[i]] = cut[i];
    }
    prediction->gemm = calls * hs_gemm_seconds(profile, problem->scalar->size, problem->scalar->complex_type,
                                               sizes->threads, call[0], call[1], call[2]);
    double copies = sizes->even ? reading * count_even_copies(problem, variant, prediction)
                                : count_copies(problem, variant, prediction);
    prediction->copy = copies * size * profile->machine.copy;
    prediction->comm = prediction->copy + (sizes->even ? handing_over : 0);
    prediction->seconds = prediction->gemm + prediction->comm;
}

/* Uses memory that is left for longer chunks, then for lookahead.  A third tile in the ring evens out delays, which is
 * not worth much memory. */
static void give_back(const struct sizes *sizes, int64_t chunk)
{
    struct hs_spec *spec = sizes->spec, further = *spec;
    while (spec->chunk > 0 && 2 * spec->chunk <= chunk) {
        further.chunk = 2 * spec->chunk;
        if (bytes_of(sizes, &further) > sizes->most)
            break;
        *spec = further;
    }
    further = *spec;
    for (; spec->lookahead < STEPS_AHEAD; *spec = further) {
        further.lookahead = spec->lookahead + 1;
        if (bytes_of(sizes, &further) > (spec->lookahead ? hs_min(sizes->most, CHEAP) : sizes->most))
            break;
    }
}

/* Fails because the product needs too much memory or, if bytes is negative, too many steps. */
static hsumma_status refuse(const struct sizes *sizes, int64_t bytes, struct hs_message *message)
{
    const struct hs_spec *spec = sizes->spec;
    char chunks[40] = "";
    if (!sizes->on_device)
        snprintf(chunks, sizeof chunks, " in chunks of %" PRId64, spec->chunk);
    const char *or_chunk = sizes->on_device ? "" : " or chunk";
    if (bytes < 0)
        return hs_fail(message, HSUMMA_ERR_ARGUMENT,
                       "panels of %" PRId64 "%s make more than %d steps; use a larger block%s", spec->width[0], chunks,
                       (int)HS_NODE_STEPS, or_chunk);
    return hs_fail(message, HSUMMA_ERR_WORKSPACE,
                   "panels of %" PRId64 "%s need %" PRId64
                   " bytes of %s memory; this memory and workspace_limit allow %" PRId64
                   "; use a smaller block%s, or a larger workspace_limit",
                   spec->width[0], chunks, bytes, sizes->on_device ? "device" : "shared", sizes->most, or_chunk);
}

/* Sizes the product for one stationary operand. */
static hsumma_status look_at(struct sizes *sizes, int stationary, struct hs_choice *choice, struct hs_message *message)
{
    struct hs_variant variant;
    struct hs_spec *spec = &choice->spec;
    memset(choice, 0, sizeof *choice);
    hsumma_status status = HSUMMA_OK;
    if (sizes->even)
        hs_variant_divide(sizes->problem, &variant);
    else
        status = hs_variant_make(sizes->problem, stationary, &variant, message);
    if (status)
        return status;
    sizes->variant = &variant;
    sizes->spec = spec;
    spec->stationary = stationary;
    spec->node = sizes->on_device ? HS_NODE_DEVICE : sizes->even ? HS_NODE_EVEN : HS_NODE_SHARED;
    spec->levels = 1;
    spec->slice = INT64_MAX;
    spec->checked = (sizes->settings->guard & HS_GUARD_MESSAGES) != 0;
    spec->segment = sizes->settings->segment;
    for (int axis = 0; axis < 2; axis++)
        hs_factors_make(&spec->factors[axis], sizes->problem->grid.extent[axis], 0, NULL);
    if (sizes->on_device)
        choose_cuts_on_device(sizes);
    else
        choose_cuts_on_host(sizes);
    int64_t wanted = spec->chunk;
    while ((sizes->bytes = bytes_of(sizes, spec)) > sizes->most)
        if (!shrink(sizes))
            return refuse(sizes, sizes->bytes, message);
    if (!sizes->on_device)
        give_back(sizes, wanted);
    if (sizes->bytes < 0 && bytes_of(sizes, spec) < 0)
        return refuse(sizes, -1, message);
    if (sizes->on_device)
        sizes->elements = count_copies(sizes->problem, &variant, &choice->prediction);
    else
        predict_on_host(sizes, &choice->prediction);
    return HSUMMA_OK;
}

/* Whether the best choice so far cannot be slower than one with this stationary operand. If C moves, the owner of its
 * largest part at least reads and writes that part. */
static int is_hopeless(const struct hs_chooser *chooser, int stationary)
{
    const struct hs_ranking *ranking = chooser->ranking;
    const struct hs_axis *axis = chooser->problem->view[HS_C].axis;
    if (!chooser->planner->only_best || ranking->count == 0 || stationary == HS_C)
        return 0;
    double elements = 2 * (double)hs_axis_count_max(&axis[0]) * (double)hs_axis_count_max(&axis[1]);
    return elements * (double)chooser->problem->scalar->size * chooser->profile->machine.copy >
           ranking->choice[0].prediction.seconds;
}

/* The sizes of a choice on the host, within `limit` bytes per process. */
static struct sizes sizes_on_host(const struct hs_problem *problem, const struct hs_settings *settings,
                                  const struct hs_planner *planner, int64_t limit)
{
    int processes = problem->grid.extent[0] * problem->grid.extent[1];
    int64_t most = limit > INT64_MAX / processes ? INT64_MAX : limit * processes;
    return (struct sizes){.problem = problem,
                          .settings = settings,
                          .sacrifices = of_host,
                          .most = (uint64_t)most > planner->sharing.bytes ? (int64_t)planner->sharing.bytes : most,
                          .profile = planner->memo->profile,
                          .in_place = planner->sharing.in_place && !(settings->guard & HS_GUARD_MESSAGES),
                          .threads = planner->threads,
                          .times = 1};
}

/* The prediction with the processors that processes share: how many have a part of the variant's stationary operand,
 * and thus multiply at the same time. */
static double crowded_seconds(const struct hs_variant *variant, const struct hs_profile *profile,
                              const struct hs_prediction *prediction)
{
    double multiplying = 1;
    for (int dim = 0; dim < 3; dim++) {
        const struct hs_axis *axis = variant->axis[dim];
        if (dim != variant->looped && axis->n > axis->first)
            multiplying *= (double)hs_min(axis->nprocs, 2 + (axis->n - axis->first - 1) / axis->nb);
    }
    double crowd = profile->crowded > 0 ? multiplying / profile->crowded : 1;
    return prediction->seconds + prediction->gemm * (crowd > 1 ? crowd - 1 : 0);
}

/* Why the work cannot be divided evenly; NULL if it can. */
static const char *cannot_divide(const struct hs_problem *whole, const struct hs_settings *settings,
                                 const struct hs_planner *planner)
{
    const struct hs_topology *topology = planner->topology;
    if (topology && topology->division[HS_NODE].parts > 1)
        return "the processes are on several nodes";
    if (!planner->sharing.bytes)
        return "the processes of a node cannot share memory";
    if (settings->for_messages)
        return "an option of messages is given";
    if (settings->stationary >= 0 && settings->stationary != HS_C)
        return "the option stationary is given";
    if (whole->scalar->ordered)
        return "bits=anywhere is given";
    return NULL;
}

hsumma_status hs_choose_even(const struct hs_problem *whole, const struct hs_settings *settings,
                             const struct hs_planner *planner, struct hs_ranking *ranking, struct hs_message *message)
{
    const struct hs_axis *axis = whole->view[HS_C].axis;
    const char *why_not = cannot_divide(whole, settings, planner);
    const int asked = settings->node == HS_NODE_EVEN, processes = whole->grid.extent[0] * whole->grid.extent[1];
    struct hs_choice choice;
    struct hs_message reason = {""};
    if (why_not)
        return asked ? hs_fail(message, HSUMMA_ERR_UNSUPPORTED, "node=even: %s; expected node=auto", why_not)
                     : HSUMMA_OK;
    double most = (double)hs_axis_count_max(&axis[0]) * (double)hs_axis_count_max(&axis[1]);
    double mean = (double)axis[0].n * (double)axis[1].n / processes;
    double handed_over = (most - mean) * (double)whole->scalar->size * planner->memo->profile->machine.copy;
    if (!asked && (most < uneven * mean || handed_over > faster * ranking->choice[0].prediction.seconds))
        return HSUMMA_OK;
    int64_t limit = hs_workspace_limit(&settings->workspace, whole->view, 3, whole->scalar->size);
    struct sizes sizes = sizes_on_host(whole, settings, planner, limit);
    sizes.even = 1;
    hsumma_status status = look_at(&sizes, HS_C, &choice, &reason);
    if (status && asked)
        *message = reason;
    if (status)
        return asked ? status : HSUMMA_OK;
    int better = 0;
    if (!asked) {
        const struct hs_choice *best = &ranking->choice[0];
        struct hs_variant even, other;
        hs_variant_divide(whole, &even);
        if (hs_variant_make(whole, best->spec.stationary, &other, &reason))
            return HSUMMA_OK;
        better = crowded_seconds(&even, sizes.profile, &choice.prediction) <
                 faster * crowded_seconds(&other, sizes.profile, &best->prediction);
    }
    if (asked || better)
        hs_rank(ranking, &choice);
    ranking->workspace_limit = ranking->count == 1 ? limit : ranking->workspace_limit;
    return HSUMMA_OK;
}

hsumma_status hs_choose_node(struct hs_chooser *chooser)
{
    struct sizes sizes = sizes_on_host(chooser->problem, chooser->settings, chooser->planner, chooser->limit);
    int most_times = chooser->settings->tune == HS_TUNE_MEASURE && !chooser->settings->block ? 3 : 1, found = 0;
    chooser->refused = HSUMMA_OK;
    for (int i = 0; i < 3; i++) {
        if (!hs_may_stay(chooser->settings, hs_stay_order[i]) || is_hopeless(chooser, hs_stay_order[i]))
            continue;
        for (sizes.times = 1; sizes.times <= most_times; sizes.times++) {
            struct hs_choice choice;
            struct hs_message reason = {""};
            hsumma_status status = look_at(&sizes, hs_stay_order[i], &choice, &reason);
            hs_refuse(chooser, status, &reason);
            if (status)
                continue;
            hs_rank(chooser->ranking, &choice);
            found = 1;
        }
    }
    if (found)
        chooser->message->text[0] = 0;
    return found ? HSUMMA_OK : chooser->refused;
}

hsumma_status hs_choose_device(const struct hs_problem *problem, const struct hs_settings *settings, int64_t most,
                               struct hs_choice *choice, int64_t *bytes, struct hs_message *message)
{
    struct sizes sizes = {
        .problem = problem, .settings = settings, .on_device = 1, .sacrifices = of_device, .most = most};
    hsumma_status first = HSUMMA_OK;
    double fewest = -1;
    for (int i = 0; i < 3; i++) {
        struct hs_choice other;
        struct hs_message reason = {""};
        if (!hs_may_stay(settings, hs_stay_order[i]))
            continue;
        hsumma_status status = look_at(&sizes, hs_stay_order[i], &other, &reason);
        if (status && !first) {
            first = status;
            *message = reason;
        }
        if (status || (fewest >= 0 && sizes.elements >= fewest * (choice->spec.stationary == HS_C ? clearly : 1)))
            continue;
        fewest = sizes.elements;
        *choice = other;
        *bytes = sizes.bytes;
    }
    if (fewest < 0)
        return first;
    message->text[0] = 0;
    return HSUMMA_OK;
}
