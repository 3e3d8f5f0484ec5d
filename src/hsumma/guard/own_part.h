/* A process's own parts of the operands of a running execution, as the guard reads them: the caller's matrices, in host
 * or device memory. */
#ifndef HS_HSUMMA_GUARD_OWN_PART_H
#define HS_HSUMMA_GUARD_OWN_PART_H

#include "summa/checksum.h"

/* A copy from device memory has at most HS_SLAB bytes, or this many columns if they are longer. */
enum { HS_SLAB = 1 << 20, HS_SLAB_COLUMNS = 8 };

int hs_has_own_part(const hsumma_plan *plan, int x);
/* The number of processes that have the same part of an operand; *copy is this process's number among them. */
int hs_copies_of_part(const hsumma_plan *plan, int x, int *copy);
/* The caller's matrix, and whether it is in device memory. */
struct hs_matrix hs_own_matrix(const hsumma_plan *plan, int x, int *on_device);
/* Copies between host and device memory, or inside either; complete on return.  Errors of the device. */
hsumma_status hs_copy_own(const hsumma_plan *plan, struct hs_matrix to, struct hs_matrix from, int64_t rows,
                          int64_t cols);

typedef void hs_visit_part(const hsumma_plan *plan, const struct hs_local_part *part, void *state);
/* Visits this process's part of an operand, in host memory; a part in device memory piece by piece, through `slab`.
 * Errors of the device, with a message. */
hsumma_status hs_read_own_part(const hsumma_plan *plan, int x, char *slab, hs_visit_part *visit, void *state);

#endif
