#include "hsumma/choose_node.h"

#include <inttypes.h>
#include <string.h>

/*
 * Panels: twice the knee of the local GEMM, so that C is read and written half as often.  Tiles: what is handed over at
 * a time; beyond the second level of cache, inside a share of the last.  Chunks shorter than SHORT repeat the packing
 * of the other operand too often.
 */
enum { KNEES = 2, TILE = 16 << 20, SHORT = 256, NARROW = 64, LOOKAHEAD = 2 };

static int64_t least(int64_t x, int64_t y)
{
    return x < y ? x : y;
}

/* About even cuts of `whole`, at most `wanted` long, in multiples of 8 where that can be. */
static int64_t even(int64_t whole, int64_t wanted)
{
    int64_t pieces = (whole + wanted - 1) / wanted;
    int64_t length = pieces ? (whole + pieces - 1) / pieces : 1;
    length = (length + 7) / 8 * 8;
    return length < wanted ? length : wanted;
}

struct sizes {
    const struct hs_problem *problem;
    const struct hs_settings *settings;
    const struct hs_variant *variant;
    struct hs_spec *spec;
    int64_t most; /* bytes of all processes */
};

static int64_t bytes_of(const struct sizes *sizes)
{
    return hs_node_size(sizes->problem, sizes->variant, sizes->spec);
}

/* The operand that comes in chunks: of those that are copied the one with the longest pinned dimension; -1: none. */
static int choose_chunked(const struct hs_variant *variant)
{
    int chunked = -1;
    int64_t longest = 0;
    for (int x = 0; x < 2; x++) {
        const struct hs_role *role = &variant->role[x];
        if (!role->moves || (!role->exchanged && role->looped->nprocs == 1))
            continue;
        int64_t length = hs_axis_count_max(role->want);
        if (length > longest) {
            longest = length;
            chunked = x;
        }
    }
    return chunked;
}

/* Smaller by one notch; 0: nothing is left to give up.  What the caller has fixed stays. */
static int shrink(const struct sizes *sizes)
{
    struct hs_spec *spec = sizes->spec;
    int may_chunk = spec->chunked >= 0 && !sizes->settings->chunk, may_width = !sizes->settings->block;
    if (spec->lookahead > 1)
        spec->lookahead--;
    else if (may_chunk && spec->chunk > SHORT)
        spec->chunk = even(spec->chunk, (spec->chunk + 1) / 2);
    else if (may_width && spec->width[0] > NARROW)
        spec->width[0] = even(spec->width[0], (spec->width[0] + 1) / 2);
    else if (spec->lookahead > 0)
        spec->lookahead--;
    else if (may_chunk && spec->chunk > 1)
        spec->chunk = (spec->chunk + 1) / 2;
    else if (may_width && spec->width[0] > 1)
        spec->width[0] = (spec->width[0] + 1) / 2;
    else
        return 0;
    return 1;
}

/*
 * Stationary C loops over k in panels and hands A or B over in chunks of its rows or columns; the others loop over
 * columns or rows of C, in panels as wide as the partial results may be, and hand over chunks of k.
 */
static void choose_cuts(const struct sizes *sizes, const struct hs_profile *profile)
{
    const struct hs_settings *settings = sizes->settings;
    struct hs_spec *spec = sizes->spec;
    int64_t whole = sizes->problem->extent[sizes->variant->looped], panel = KNEES * profile->knee;
    int over_k = sizes->variant->looped == HS_K;
    whole = whole > 0 ? whole : 1;
    spec->width[0] = settings->block ? least(settings->block, whole)
                     : over_k        ? even(whole, panel)
                                     : least(whole, INT32_MAX);
    spec->lookahead = LOOKAHEAD;
    spec->chunked = choose_chunked(sizes->variant);
    if (spec->chunked < 0)
        return;
    int64_t length = hs_axis_count_max(sizes->variant->role[spec->chunked].want);
    int64_t tile = (int64_t)(TILE / sizes->problem->scalar->size) / spec->width[0];
    int64_t wanted = over_k ? (tile > 2 * SHORT ? tile : 2 * SHORT) : panel;
    spec->chunk = settings->chunk ? least(settings->chunk, length) : even(length, wanted);
    spec->chunk = spec->chunk > 0 ? spec->chunk : 1;
}

/* Bytes that a process packs, by the BLAS, and that it copies, at most. */
static void predict(const struct sizes *sizes, const struct hs_profile *profile, int threads,
                    struct hs_prediction *prediction)
{
    static const double pack = 1.5e-10; /* s per byte: doc/results/node.md */
    const struct hs_problem *problem = sizes->problem;
    const struct hs_variant *variant = sizes->variant;
    double extent[3], size = (double)problem->scalar->size, copied = 0;
    memset(prediction, 0, sizeof *prediction);
    for (int dim = 0; dim < 3; dim++)
        extent[dim] =
            dim == variant->looped ? (double)problem->extent[dim] : (double)hs_axis_count_max(variant->axis[dim]);
    for (int x = 0; x < 3; x++) {
        const struct hs_role *role = &variant->role[x];
        prediction->operand[x].how = "stays";
        if (!role->moves)
            continue;
        int local = x != HS_C && !role->exchanged && role->looped->nprocs == 1;
        double part = (double)hs_axis_count_max(role->own) * (double)hs_axis_count_max(role->looped);
        double partial = x == HS_C ? (double)hs_axis_count_max(role->want) * (double)role->looped->n : 0;
        prediction->operand[x].how = local ? "local" : x == HS_C ? "summed" : "shared";
        if (x == HS_C) /* a partial result written, and those of the line read and added */
            copied += partial + 2 * part * problem->grid.extent[role->line_axis];
        else if (!local)
            copied += part;
    }
    double packed = extent[HS_M] * extent[HS_K] + extent[HS_K] * extent[HS_N];
    prediction->gemm = hs_gemm_seconds(profile, problem->scalar->size, problem->scalar->complex_type, threads,
                                       extent[0], extent[1], extent[2], (double)profile->knee) +
                       packed * size * pack;
    prediction->copy = copied * size * profile->machine.copy;
    prediction->comm = prediction->copy;
    prediction->seconds = prediction->gemm + prediction->copy;
}

static hsumma_status look_at(const struct hs_problem *problem, const struct hs_settings *settings,
                             const struct hs_profile *profile, int threads, int64_t most, int stationary,
                             struct hs_choice *choice, struct hs_message *message)
{
    struct hs_variant variant;
    struct hs_spec *spec = &choice->spec;
    struct sizes sizes = {problem, settings, &variant, spec, most};
    hsumma_status status = hs_variant_make(problem, stationary, &variant, message);
    if (status)
        return status;
    spec->stationary = stationary;
    spec->levels = 1;
    spec->slice = INT64_MAX;
    spec->segment = settings->segment;
    for (int axis = 0; axis < 2; axis++)
        hs_factors_make(&spec->factors[axis], problem->grid.extent[axis], 0, NULL);
    choose_cuts(&sizes, profile);
    while (bytes_of(&sizes) > most)
        if (!shrink(&sizes))
            return hs_fail(message, HSUMMA_ERR_WORKSPACE,
                           "panels of %" PRId64 " in chunks of %" PRId64 " need %" PRId64
                           " bytes of shared memory; the limit allows %" PRId64
                           " (smaller block or chunk, or a larger workspace_limit)",
                           spec->width[0], spec->chunk, bytes_of(&sizes), most);
    predict(&sizes, profile, threads, &choice->prediction);
    return HSUMMA_OK;
}

hsumma_status hs_choose_node(const struct hs_problem *problem, const struct hs_settings *settings,
                             const struct hs_profile *profile, int threads, int64_t limit, size_t room,
                             struct hs_choice *choice, struct hs_message *message)
{
    static const int order[3] = {HS_C, HS_A, HS_B}; /* on a tie the first */
    int processes = problem->grid.extent[0] * problem->grid.extent[1];
    int64_t most = limit > INT64_MAX / processes ? INT64_MAX : limit * processes;
    most = (uint64_t)most > room ? (int64_t)room : most;
    hsumma_status first = HSUMMA_OK;
    struct hs_message why = {""};
    double seconds[3] = {-1, -1, -1};
    int found = 0;
    for (int i = 0; i < 3; i++) {
        struct hs_choice other;
        struct hs_message told = {""};
        if (settings->stationary >= 0 && settings->stationary != order[i])
            continue;
        memset(&other, 0, sizeof other);
        hsumma_status status = look_at(problem, settings, profile, threads, most, order[i], &other, &told);
        if (status && !first) {
            first = status;
            why = told;
        }
        if (status)
            continue;
        seconds[order[i]] = other.prediction.seconds;
        if (!found || other.prediction.seconds < choice->prediction.seconds * (1 - 1e-9))
            *choice = other;
        found = 1;
    }
    if (!found) {
        *message = why;
        return first;
    }
    choice->spec.node = HS_NODE_SHARED;
    memcpy(choice->stationary, seconds, sizeof seconds);
    choice->workspace_limit = limit;
    return HSUMMA_OK;
}
