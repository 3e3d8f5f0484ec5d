/* What the processes of a node share, given the options and the hierarchy. */
#ifndef HS_HSUMMA_SEARCH_SEARCH_CELLS_H
#define HS_HSUMMA_SEARCH_SEARCH_CELLS_H

#include "hsumma/search/candidate.h"

/*
 * Sets chooser->cells and apart.  *by_node: all processes share one node's memory, and the product sends no messages.
 * HSUMMA_ERR_ARGUMENT: contradicting options.  HSUMMA_ERR_UNSUPPORTED: node=shared is not possible.
 */
hsumma_status hs_what_is_shared(struct hs_chooser *chooser, int *by_node);

/* The first row of MPI itself that the options name; NULL: none.  Such rows have communicators of whole lines, not of
 * carriers. */
const struct hs_alg *hs_named_row_of_mpi(const struct hs_settings *settings, const struct hs_registry *own);

/* Whether levels cut through nodes on the lines of a moving operand; if so, the message says which group and which
 * node. */
int hs_find_cut(const struct hs_chooser *chooser, const struct hs_factors factors[2], struct hs_message *message);

#endif
