#include "hsumma/search/choose_device.h"

#include "hsumma/search/choose_node.h"
#include "summa/node/on_device.h"

#include <inttypes.h>
#include <string.h>

/*
 * Panels: as wide as a GPU's GEMM likes, so that C is read and written seldom and calls are few; narrower ones where
 * memory is short.
 */
enum { WIDE = 2048, NARROWER = 1024, NARROWEST = 64 };
/* C stays, unless another operand in its place leaves less than this part to copy: only C is written once and needs no
 * partial results. */
static const double clearly = 0.5;

/* Whether no process reads anything of another's. */
static int all_resident(const struct hs_variant *variant)
{
    int resident = !variant->role[HS_C].moves;
    for (int x = 0; x < 2; x++)
        resident &= !variant->role[x].moves || hs_supply_resident(&variant->role[x]);
    return resident;
}

/* Smaller by one notch; 0: nothing is left to give up.  Without lookahead copies and products take turns. */
static int shrink(struct hs_spec *spec, int fixed, int64_t whole)
{
    static const struct {
        int64_t width;
        int lookahead;
    } sacrifice[] = {{NARROWER, 2}, {NARROWER, 1}, {NARROWEST, 1}, {NARROWEST, 0}, {1, 0}};
    for (unsigned i = 0; i < sizeof sacrifice / sizeof *sacrifice; i++) {
        if (!fixed && spec->width[0] > sacrifice[i].width) {
            int64_t half = hs_even_cut(whole, (spec->width[0] + 1) / 2, 64);
            spec->width[0] = half < sacrifice[i].width ? sacrifice[i].width : half;
            return 1;
        }
        if (spec->lookahead > sacrifice[i].lookahead) {
            spec->lookahead--;
            return 1;
        }
    }
    return 0;
}

static hsumma_status look_at(const struct hs_problem *problem, const struct hs_settings *settings, int stationary,
                             int64_t most, struct hs_choice *choice, int64_t *bytes, double *elements,
                             struct hs_message *message)
{
    struct hs_variant variant;
    struct hs_spec *spec = &choice->spec;
    memset(choice, 0, sizeof *choice);
    hsumma_status status = hs_variant_make(problem, stationary, &variant, message);
    if (status)
        return status;
    int64_t whole = problem->extent[variant.looped] > 0 ? problem->extent[variant.looped] : 1;
    hs_node_spec_begin(spec, problem, settings, stationary, HS_NODE_DEVICE);
    spec->chunked = -1;
    spec->lookahead = HS_NODE_LOOKAHEAD;
    spec->width[0] = hs_min(settings->block          ? settings->block
                            : all_resident(&variant) ? INT32_MAX
                                                     : hs_even_cut(whole, WIDE, 64),
                            whole);
    while ((*bytes = hs_node_size(problem, &variant, spec)) > most)
        if (!shrink(spec, settings->block > 0, whole))
            return hs_fail(message, HSUMMA_ERR_WORKSPACE,
                           "panels of %" PRId64 " need %" PRId64 " bytes of device memory; the limit allows %" PRId64
                           " (smaller block, or a larger workspace_limit)",
                           spec->width[0], *bytes, most);
    if (*bytes < 0)
        return hs_fail(message, HSUMMA_ERR_ARGUMENT, "panels of %" PRId64 " make more than %d steps (larger block)",
                       spec->width[0], (int)HS_NODE_STEPS);
    *elements = hs_node_copies(problem, &variant, &choice->prediction);
    return HSUMMA_OK;
}

hsumma_status hs_choose_device(const struct hs_problem *problem, const struct hs_settings *settings, int64_t most,
                               struct hs_choice *choice, int64_t *bytes, struct hs_message *message)
{
    hsumma_status first = HSUMMA_OK;
    double fewest = -1;
    for (int i = 0; i < 3; i++) {
        struct hs_choice other;
        struct hs_message reason = {""};
        int64_t needs;
        double elements = 0;
        if (!hs_may_stay(settings, hs_stay_order[i]))
            continue;
        hsumma_status status = look_at(problem, settings, hs_stay_order[i], most, &other, &needs, &elements, &reason);
        if (status && !first) {
            first = status;
            *message = reason;
        }
        if (status || (fewest >= 0 && elements >= fewest * (choice->spec.stationary == HS_C ? clearly : 1)))
            continue;
        fewest = elements;
        *choice = other;
        *bytes = needs;
    }
    if (fewest < 0)
        return first;
    message->text[0] = 0;
    return HSUMMA_OK;
}
