/* Candidates for a product inside one node (summa/node/node.h). */
#ifndef HS_HSUMMA_SEARCH_CHOOSE_NODE_H
#define HS_HSUMMA_SEARCH_CHOOSE_NODE_H

#include "hsumma/search/candidate.h"

/*
 * Enters each stationary operand by a model of what is multiplied, packed by the BLAS, and copied; panels as wide as
 * the local GEMM likes and chunks that fit a cache, within the chooser's limit for each process and what the processes
 * share for all together; to be measured, other widths and chunks as well. A pure function of global arguments; errors
 * as hs_choose.
 */
hsumma_status hs_choose_node(struct hs_chooser *chooser);

/* What all specs of products inside one node have in common, on devices, too; mode: HS_NODE_SHARED or HS_NODE_DEVICE.
 */
void hs_node_spec_begin(struct hs_spec *spec, const struct hs_problem *problem, const struct hs_settings *settings,
                        int stationary, int mode);
/* Elements that the process with most to do copies: into tiles, and partial results out of them.  Says in the
 * prediction how each operand moves. */
double hs_node_copies(const struct hs_problem *problem, const struct hs_variant *variant,
                      struct hs_prediction *prediction);

#endif
