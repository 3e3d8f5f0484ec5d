/*
 * guard=panels: k is cut into sections, ranges of consecutive indices.  Each has a plan with guard=product, which adds
 * its share of the product to C; C is checked, and if necessary repaired, before the next section begins.  So that
 * nothing can change between sections without being noticed, the checksums and parities of all of A, and the parities
 * of all of B, are taken when the execution begins, and a section expects C as the one before has checked it.
 *
 * The caller holds the plan of the first section.  The others borrow its guard's memory.
 */
#ifndef HS_HSUMMA_GUARD_SECTIONS_H
#define HS_HSUMMA_GUARD_SECTIONS_H

#include "hsumma/context/context.h"

/* A section has about 1,024 indices at least; more sections than this many would make C's checks too expensive. */
enum { HS_SECTION = 1024, HS_MAX_SECTIONS = 16 };

struct hs_request;

struct hs_sections {
    int64_t k;     /* of the whole product */
    int count, at; /* at: the section that runs */
    hsumma_plan *plan[HS_MAX_SECTIONS];
    /* The matrices of the current execution, for the sections that follow. */
    const void *data[3];
    int64_t ld[3];
};

/* Whether a plan is that of the first section, or of a later one. */
int hs_sections_lead(const hsumma_plan *plan);
int hs_sections_follow(const hsumma_plan *plan);
/* The number of sections of a request; 1 if it has a plan without sections. */
int hs_sections_count(const struct hs_request *request, const struct hs_settings *settings);
/* hs_plan_create for a request with several sections. */
hsumma_status hs_sections_create(hsumma_context *ctx, const struct hs_request *request, int cached, int count,
                                 hsumma_plan **plan);
/* Destroys the plans of all sections but the first, and the sections. */
void hs_sections_destroy(hsumma_context *ctx, struct hs_sections *sections);
/* Binds the sections that follow the first to the arguments of an execution that begins (hs_plan_bind), and keeps these
 * for them. */
hsumma_status hs_sections_bind(hsumma_plan *lead, const void *alpha, const void *const data[3], const int64_t ld[3],
                               int *about);
/* Whether a section follows the one that runs. */
static inline int hs_sections_remain(const struct hs_sections *sections)
{
    return sections && sections->at + 1 < sections->count;
}
/* After a section has ended with this status: begins the next one, and sets *begun to 1 unless there is none.  sections
 * may be NULL. */
hsumma_status hs_sections_proceed(struct hs_sections *sections, hsumma_status status, int *begun);

#endif
