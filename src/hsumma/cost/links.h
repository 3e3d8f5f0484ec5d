/* The load of the links between nodes, if the fabric is known, when all lines of a kind run a collective. */
#ifndef HS_HSUMMA_COST_LINKS_H
#define HS_HSUMMA_COST_LINKS_H

#include "coll/model/clock.h"
#include "coll/model/flows.h"
#include "hsumma/cost/lines.h"

/*
 * Sets most[i] to the bytes of the busiest link per collective if i + 1 collectives of each line are in flight, with
 * consecutive roots (hs_clock_load).  line: represents the lines, which are of cells; flow: the flows of a line whose
 * root is rank 0; in_fabric: 1 if cells are numbered in the order of the fabric.  HSUMMA_ERR_MEMORY.
 */
hsumma_status hs_link_loads(const struct hs_line_table *lines, const struct hs_line *line, int in_fabric,
                            const struct hs_rank_flow *flow, int flows, const struct hs_allocator *memory,
                            double most[HS_LOAD_ROOTS]);

#endif
