/* What the processes of nodes share: by the caller's words, and as far as a hierarchy lets them. */
#ifndef HS_HSUMMA_SEARCH_SEARCH_CELLS_H
#define HS_HSUMMA_SEARCH_SEARCH_CELLS_H

#include "hsumma/search/candidate.h"

/*
 * Sets chooser->cells and apart; *by_node: all processes share a node's memory and send nothing.  HSUMMA_ERR_ARGUMENT:
 * words that contradict each other; HSUMMA_ERR_UNSUPPORTED: node=shared where it cannot be.
 */
hsumma_status hs_what_is_shared(struct hs_chooser *chooser, int *by_node);

/* A row of MPI's own that has been named: its communicators are of lines, and not of carriers.  NULL: none. */
const struct hs_alg *hs_named_row_of_mpi(const struct hs_settings *settings, const struct hs_registry *own);

/* Whether levels cut through nodes on the lines of an operand that moves; then, with a message, which group through
 * which node. */
int hs_find_cut(const struct hs_chooser *chooser, const struct hs_factors factors[2], struct hs_message *message);

#endif
