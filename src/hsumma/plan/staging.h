/*
 * Where the matrices of an execution lie, and staged copies of those that it cannot work on where they are: on the
 * device for matrices of the host, in memory of the host for those of the device.  Of this process's part alone.
 */
#ifndef HS_HSUMMA_PLAN_STAGING_H
#define HS_HSUMMA_PLAN_STAGING_H

#include "summa/pack.h"

struct hs_staging {
    int on_device[3];        /* this process has a part, in memory that its device reaches */
    int has[3];              /* it has a part */
    struct hs_matrix own[3]; /* the caller's */
    struct hs_staged_copy {
        enum hs_staged_copy_kind { HS_NOT_STAGED, HS_OF_DEVICE, HS_PINNED, HS_OF_HOST } kind;
        void *memory;
    } copy[3];
};

/* All of a running plan in a context with a device, whose plan->matrix says where the caller's matrices are. */

/* Begins an execution: looks where they lie. */
void hs_staging_look(hsumma_plan *plan);
/* Staged copies where they are needed, which become the plan's matrices.  An error leaves none. */
hsumma_status hs_staging_make(hsumma_plan *plan, int on_device);
int hs_staging_any(const hsumma_plan *plan);
/* Fills staged copies, behind what is on the context's stream; those of the host are full when it returns. */
hsumma_status hs_staging_load(hsumma_plan *plan);
/* C goes where it belongs. */
hsumma_status hs_staging_store(hsumma_plan *plan);
/* Frees staged copies when their work is over; the caller's matrices are the plan's again. */
void hs_staging_drop(hsumma_plan *plan);

#endif
