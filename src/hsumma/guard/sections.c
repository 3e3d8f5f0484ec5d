#include "hsumma/guard/sections.h"

#include "hsumma/plan/plan.h"

#include <string.h>

int hs_sections_count(const struct hs_request *request, const struct hs_settings *settings)
{
    if (!(settings->guard & HS_GUARD_PANELS) || request->whole || request->priced)
        return 1;
    const int64_t count = request->extent[HS_K] / HS_SECTION;
    return count < 1 ? 1 : (int)hs_min(count, HS_MAX_SECTIONS);
}

int hs_sections_lead(const hsumma_plan *plan)
{
    return plan->sections && plan->sections->plan[0] == plan;
}

int hs_sections_follow(const hsumma_plan *plan)
{
    return plan->sections && plan->sections->plan[0] != plan;
}

/* The first index of a section, where blocks of usual widths begin. */
static int64_t first_of(int64_t k, int count, int i)
{
    enum { ALIGNED = 64 };
    return i == count ? k : k / count * i / ALIGNED * ALIGNED;
}

hsumma_status hs_sections_create(hsumma_context *ctx, const struct hs_request *request, int cached, int count,
                                 hsumma_plan **plan)
{
    const int64_t k = request->extent[HS_K];
    struct hs_sections *sections = NULL;
    hsumma_status status = HSUMMA_OK;
    *plan = NULL;
    for (int i = 0; i < count && !status; i++) {
        struct hs_request section = *request;
        hsumma_desc desc[2] = {*request->desc[HS_A], *request->desc[HS_B]};
        const int64_t first = first_of(k, count, i);
        *(request->op[HS_A] == 'N' ? &desc[HS_A].j : &desc[HS_A].i) += first;
        *(request->op[HS_B] == 'N' ? &desc[HS_B].i : &desc[HS_B].j) += first;
        section.desc[HS_A] = &desc[HS_A];
        section.desc[HS_B] = &desc[HS_B];
        section.extent[HS_K] = first_of(k, count, i + 1) - first;
        section.whole = k;
        section.first = *plan;
        section.silent |= i > 0;
        section.for_cache &= i == 0;
        hsumma_plan *made = NULL;
        status = hs_plan_create(ctx, &section, cached || i > 0, &made);
        if (status)
            break;
        if (i == 0) {
            sections = (*plan = made)->sections;
            sections->k = k;
        }
        made->sections = sections;
        sections->plan[sections->count++] = made;
    }
    if (status) {
        hs_plan_destroy(*plan);
        *plan = NULL;
    }
    return status;
}

void hs_sections_destroy(hsumma_context *ctx, struct hs_sections *sections)
{
    for (int i = 1; sections && i < sections->count; i++) {
        sections->plan[i]->sections = NULL;
        hs_plan_destroy(sections->plan[i]);
    }
    hs_put(&ctx->memory, sections);
}

hsumma_status hs_sections_bind(hsumma_plan *lead, const void *alpha, const void *const data[3], const int64_t ld[3],
                               int *about)
{
    struct hs_sections *sections = lead->sections;
    hsumma_status status = HSUMMA_OK;
    sections->at = 0;
    for (int x = 0; x < 3; x++) {
        sections->data[x] = data[x];
        sections->ld[x] = ld[x];
    }
    for (int i = 1; i < sections->count && !status; i++) {
        hsumma_plan *plan = sections->plan[i];
        status = hs_plan_bind(plan, alpha, data, ld, lead->scalar.one, about);
        plan->failure = HSUMMA_OK;
        if (!status && alpha)
            memcpy(&plan->alpha, alpha, lead->scalar.size);
        if (!status && plan->ctx->device && plan->member)
            hs_staging_look(plan);
    }
    return status;
}

/* Sets the message of an execution to the first news of its sections, if possible not that of unchecked columns. */
static void tell(const struct hs_sections *sections)
{
    const struct hs_guard_figures *told = NULL;
    for (int i = 0; i < sections->count; i++) {
        const hsumma_plan *plan = sections->plan[i];
        const struct hs_guard_figures *figures = plan->guard ? hs_guard_figures(plan->guard) : NULL;
        if (figures && figures->news.text[0] && (!told || (told->unchecked && !figures->unchecked)))
            told = figures;
    }
    if (told)
        sections->plan[0]->ctx->message = told->news;
}

hsumma_status hs_sections_proceed(struct hs_sections *sections, hsumma_status status, int *begun)
{
    *begun = 0;
    if (!sections || status)
        return status;
    if (++sections->at == sections->count) {
        tell(sections);
        return HSUMMA_OK;
    }
    hsumma_plan *next = sections->plan[sections->at];
    status = hs_plan_start(next, &next->sections->plan[0]->alpha, sections->data, sections->ld, next->scalar.one);
    *begun = !status;
    return status;
}
