/* Chooses how a product is done: as the options say, and otherwise the cheapest by the model, within the workspace
 * limit. */
#ifndef HS_HSUMMA_SEARCH_SEARCH_H
#define HS_HSUMMA_SEARCH_SEARCH_H

#include "base/options.h"
#include "coll/select/select.h"
#include "hsumma/cost/predict.h"

struct hs_choice {
    struct hs_spec spec;
    struct hs_prediction prediction;
    int64_t workspace_bytes; /* on the process that needs most */
    int cut;                 /* with cells: levels cut through nodes, so that some lines send messages inside nodes */
    const char *apart;       /* why nodes that could share panels do not; NULL: they do, cannot, or are not meant to */
    /* Algorithms of broadcasts, of reductions: given by the option coll or the tuned file. */
    unsigned char by_rule[2];
};

/* The best candidates, best first. */
enum { HS_RANKED = 1 + HSUMMA_MAX_RIVALS };
struct hs_ranking {
    struct hs_choice choice[HS_RANKED];
    int count;
    struct hs_choice of_operand[3]; /* the best with A, B, C stationary; valid where stationary[] is not negative */
    double stationary[3]; /* least predicted seconds with A, B, C stationary; -1: not considered, or not possible */
    int64_t workspace_limit;
    int considered; /* number of candidates priced */
};

/* What the processes of a node share. */
struct hs_sharing {
    size_t bytes;        /* memory for panels on each node; 0: none */
    int in_place;        /* on one node: matrices may lie in memory that all have mapped */
    const char *refused; /* why there is no memory; NULL or "": unknown */
};

/* Inputs of a choice besides the problem; the same on all processes. */
struct hs_planner {
    struct hs_clock_memo *memo;          /* includes the profile */
    const struct hs_topology *topology;  /* of the communicator; NULL: one node, or each process on its own */
    const struct hs_registry *own;       /* user's algorithms, which may be named beside the built-in ones */
    const struct hs_rules *coll, *tuned; /* rules for collectives */
    int threads;                         /* per process, for the model */
    struct hs_sharing sharing;
    const struct hs_allocator *memory;
};

/*
 * A pure function of global arguments: every process gets the same result.  HSUMMA_ERR_ARGUMENT (blocks that do not
 * nest, groups that do not divide the grid), HSUMMA_ERR_OPTION (no such algorithm), HSUMMA_ERR_UNSUPPORTED (layouts),
 * HSUMMA_ERR_WORKSPACE, HSUMMA_ERR_MEMORY.
 */
hsumma_status hs_choose(const struct hs_problem *problem, const struct hs_settings *given,
                        const struct hs_planner *planner, struct hs_ranking *ranking, struct hs_message *message);

#endif
