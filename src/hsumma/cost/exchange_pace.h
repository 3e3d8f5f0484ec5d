/*
 * What an exchange takes for each byte, read off the messages of its schedule: an executor posts all of them at once,
 * so that they share ports and nodes' ways, and the one that has most to do says when all have arrived.
 */
#ifndef HS_HSUMMA_COST_EXCHANGE_PACE_H
#define HS_HSUMMA_COST_EXCHANGE_PACE_H

#include "coll/model/clock.h"
#include "hsumma/cost/lines.h"

/*
 * Looked at once for each exchanged operand: it depends on no width.  The messages are those of the lists
 * (hs_mover_exchange_lists): every holder sends to every taker what both have of the pinned dimension, except to
 * itself.  C's go the other way and take as long.  HSUMMA_ERR_MEMORY.
 */
hsumma_status hs_exchange_pace(struct hs_line_table *lines, const struct hs_role *role, int spread,
                               const struct hs_machine *machine, const struct hs_allocator *memory,
                               struct hs_exchange_pace *pace);

#endif
