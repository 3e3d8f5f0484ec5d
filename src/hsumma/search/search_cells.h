/* Whether the processes of a node share memory or panels, by the options and the hierarchy. */
#ifndef HS_HSUMMA_SEARCH_SEARCH_CELLS_H
#define HS_HSUMMA_SEARCH_SEARCH_CELLS_H

#include "hsumma/search/candidate.h"

/*
 * Sets chooser->cells and chooser->apart.  Sets *by_node to 1 if all processes share one node's memory and the product
 * sends no messages.  HSUMMA_ERR_ARGUMENT if options contradict each other; HSUMMA_ERR_UNSUPPORTED if node=shared is
 * impossible.
 */
hsumma_status hs_what_is_shared(struct hs_chooser *chooser, int *by_node);

/* The first row "mpi" (an MPI library's own collective) that the options name; NULL if there is none.  This row needs
 * communicators of whole lines, so it cannot run between carriers. */
const struct hs_alg *hs_named_row_of_mpi(const struct hs_settings *settings, const struct hs_registry *own);

/* Whether levels cut through nodes on the lines of a moving operand.  If so, explains where in *message, unless message
 * is NULL. */
int hs_find_cut(const struct hs_chooser *chooser, const struct hs_factors factors[2], struct hs_message *message);

#endif
