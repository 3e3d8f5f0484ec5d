/* Candidates for a product inside one node (summa/node/node.h). */
#ifndef HS_HSUMMA_SEARCH_SEARCH_NODE_H
#define HS_HSUMMA_SEARCH_SEARCH_NODE_H

#include "hsumma/search/candidate.h"

/*
 * Enters candidates for each stationary operand into the ranking, priced by a model of the local products, the BLAS's
 * packing, and copies.  Panels are as wide as the local GEMM prefers, and chunks fit a cache, within the chooser's
 * limit per process and the shared memory of all processes.  With tune=measure other widths and chunks are entered too.
 * A pure function of global arguments; errors as for hs_choose.
 */
hsumma_status hs_choose_node(struct hs_chooser *chooser);

/*
 * Enters the even division of the work (HS_NODE_EVEN) into a ranking that hs_choose has filled, if its prediction is
 * clearly better than those of the others; with node=even always, and the ranking must be empty.  whole: the problem on
 * the whole grid, with processes that own nothing.  A pure function of global arguments; errors as for hs_choose, only
 * with node=even.
 */
hsumma_status hs_choose_even(const struct hs_problem *whole, const struct hs_settings *settings,
                             const struct hs_planner *planner, struct hs_ranking *ranking, struct hs_message *message);

/*
 * Chooses how the processes of a node multiply on devices (summa/node/on_device.h).  most: maximum bytes of a grid's
 * tiles.  Sets *bytes to the bytes of tiles that the choice needs.  A pure function of its arguments; errors as for
 * hs_choose.
 */
hsumma_status hs_choose_device(const struct hs_problem *problem, const struct hs_settings *settings, int64_t most,
                               struct hs_choice *choice, int64_t *bytes, struct hs_message *message);

#endif
