/* Fills a spec for a product inside one node (summa/node.h). */
#ifndef HS_HSUMMA_CHOOSE_NODE_H
#define HS_HSUMMA_CHOOSE_NODE_H

#include "hsumma/choose.h"

/*
 * The cheapest stationary operand by a model of what is multiplied, packed by the BLAS, and copied; panels as wide as
 * the local GEMM likes and chunks that fit a cache, within limit bytes for each process and room bytes for all
 * together. A pure function of global arguments; errors as hs_choose.
 */
hsumma_status hs_choose_node(const struct hs_problem *problem, const struct hs_settings *settings,
                             const struct hs_profile *profile, int threads, int64_t limit,
                             const struct hs_sharing *sharing, struct hs_choice *choice, struct hs_message *message);

#endif
