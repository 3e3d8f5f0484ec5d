/* Candidates for a product inside one node (summa/node/node.h). */
#ifndef HS_HSUMMA_SEARCH_SEARCH_NODE_H
#define HS_HSUMMA_SEARCH_SEARCH_NODE_H

#include "hsumma/search/candidate.h"

/*
 * Enters each stationary operand by a model of what is multiplied, packed by the BLAS, and copied; panels as wide as
 * the local GEMM likes and chunks that fit a cache, within the chooser's limit for each process and what the processes
 * share for all together; to be measured, other widths and chunks as well. A pure function of global arguments; errors
 * as hs_choose.
 */
hsumma_status hs_choose_node(struct hs_chooser *chooser);

/*
 * How the processes of a node multiply on devices (summa/node/on_device.h).  most: bytes of tiles that a grid may have;
 * *bytes: that the choice needs.  A pure function of its arguments.  Errors as of hs_choose.
 */
hsumma_status hs_choose_device(const struct hs_problem *problem, const struct hs_settings *settings, int64_t most,
                               struct hs_choice *choice, int64_t *bytes, struct hs_message *message);

#endif
