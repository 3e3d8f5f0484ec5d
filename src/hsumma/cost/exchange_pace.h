/*
 * The time of an exchange per byte, derived from the messages of its schedule.  An executor posts all messages at once,
 * so they share ports and the nodes' links, and the busiest port or link determines when all have arrived.
 */
#ifndef HS_HSUMMA_COST_EXCHANGE_PACE_H
#define HS_HSUMMA_COST_EXCHANGE_PACE_H

#include "coll/model/clock.h"
#include "hsumma/cost/lines.h"

/*
 * Computes an exchanged operand's pace, which does not depend on panel widths.  The messages are those of
 * hs_mover_exchange_lists: every holder sends every taker except itself the pinned indices that both layouts assign to
 * them; if there are replicas, each taker has only one holder.  Messages of C go in the other direction and take as
 * long.  HSUMMA_ERR_MEMORY.
 */
hsumma_status hs_exchange_pace(struct hs_line_table *lines, const struct hs_role *role, int spread,
                               const struct hs_machine *machine, const struct hs_allocator *memory,
                               struct hs_exchange_pace *pace);

#endif
