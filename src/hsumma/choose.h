/* Fills a spec: what the caller has said, else what the model finds cheapest, within the workspace limit. */
#ifndef HS_HSUMMA_CHOOSE_H
#define HS_HSUMMA_CHOOSE_H

#include "base/options.h"
#include "hsumma/predict.h"

struct hs_choice {
    struct hs_spec spec;
    struct hs_prediction prediction;
    double stationary[3];    /* predicted seconds with A, B, C in place; -1: not considered, or not possible */
    int64_t workspace_bytes; /* of the process that needs most */
    int64_t workspace_limit;
};

/* What the processes share. */
struct hs_sharing {
    size_t bytes; /* of memory for panels; 0: none */
    int readable; /* processes may read each other's memory by system calls */
    int in_place; /* matrices may lie in memory that all have mapped */
};

/*
 * A pure function of global arguments: every process gets the same.  HSUMMA_ERR_ARGUMENT (blocks that do not nest,
 * groups that do not divide the grid), HSUMMA_ERR_OPTION (no such algorithm), HSUMMA_ERR_UNSUPPORTED (layouts),
 * HSUMMA_ERR_WORKSPACE, HSUMMA_ERR_MEMORY.  memo has the profile; threads is for the model only; own: algorithms
 * that may be named beside the built in ones.
 */
hsumma_status hs_choose(const struct hs_problem *problem, const struct hs_settings *given, struct hs_clock_memo *memo,
                        const struct hs_registry *own, int threads, const struct hs_sharing *sharing,
                        const struct hs_allocator *memory, struct hs_choice *choice, struct hs_message *message);

#endif
