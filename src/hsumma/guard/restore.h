/* The bits of a process's parts of A and B: parities from before a product restore what has changed since. */
#ifndef HS_HSUMMA_GUARD_RESTORE_H
#define HS_HSUMMA_GUARD_RESTORE_H

#include "summa/parity.h"

/* Makes room for the parity of this process's part of an operand.  Returns 0 without memory; hs_bits_free frees it in
 * either case. */
int hs_bits_make(const hsumma_plan *plan, int x, struct hs_parity *parity);
void hs_bits_free(const struct hs_allocator *memory, struct hs_parity *parity);
void hs_bits_clear(const hsumma_plan *plan, int x, const struct hs_parity *parity);

/* Memory that hs_bits_restore needs for both operands. */
struct hs_bits_room {
    struct hs_parity now[2];
    char *line; /* for a row or column */
};
int hs_bits_room_make(const hsumma_plan *plan, struct hs_bits_room *room);
void hs_bits_room_free(const struct hs_allocator *memory, struct hs_bits_room *room);

/* Restores elements of the caller's A or B that have changed since the parity was taken.  Returns their number, or -1
 * if that is impossible.  Processes that share the memory of a part may do so at the same time. */
int hs_bits_restore(const hsumma_plan *plan, int x, const struct hs_parity *before, const struct hs_bits_room *room,
                    char *slab);

#endif
