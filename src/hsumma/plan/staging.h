/*
 * The location of this process's matrices in an execution, and staged copies of the matrices that it cannot use in
 * place: on the device for host matrices, in host memory for device matrices.
 */
#ifndef HS_HSUMMA_PLAN_STAGING_H
#define HS_HSUMMA_PLAN_STAGING_H

#include "summa/pack.h"

struct hs_staging {
    int on_device[3];        /* 1 if this process has a part, in memory that its device can access */
    int has[3];              /* 1 if this process has a part */
    struct hs_matrix own[3]; /* the caller's matrices */
    struct hs_staged_copy {
        enum hs_staged_copy_kind { HS_NOT_STAGED, HS_OF_DEVICE, HS_PINNED, HS_OF_HOST } kind;
        void *memory;
    } copy[3];
};

/* All functions take a running plan.  In a context without a device only hs_staging_drop may be called, and it does
 * nothing. */

/* Begins an execution: determines the location of the caller's matrices, which plan->matrix contains. */
void hs_staging_look(hsumma_plan *plan);
/* Allocates the staged copies that an execution needs on devices (on_device 1) or on the host (0), and puts their
 * addresses into plan->matrix.  After an error (HSUMMA_ERR_MEMORY) there are no copies. */
hsumma_status hs_staging_make(hsumma_plan *plan, int on_device);
int hs_staging_any(const hsumma_plan *plan);
/* Fills staged copies, after the work on the context's stream; those in host memory are complete on return.  On devices
 * the execution itself loads the operands that move (hs_staging_panels). */
hsumma_status hs_staging_load(hsumma_plan *plan);
/* Sets host[x] to the caller's matrix for A and B that the execution loads by panels; base is NULL for the others. */
void hs_staging_panels(hsumma_plan *plan, struct hs_matrix host[2]);
/* Bytes of the staged copies that an execution on devices needs. */
int64_t hs_staging_bytes(const hsumma_plan *plan);
/* Copies C back to the caller's matrix. */
hsumma_status hs_staging_store(hsumma_plan *plan);
/* Waits for the work on staged copies, frees them, and restores plan->matrix. */
void hs_staging_drop(hsumma_plan *plan);

#endif
