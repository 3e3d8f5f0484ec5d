/* Chooses how a product is computed: by the options, and otherwise the cheapest way by the model, within the workspace
 * limit. */
#ifndef HS_HSUMMA_SEARCH_SEARCH_H
#define HS_HSUMMA_SEARCH_SEARCH_H

#include "base/options.h"
#include "coll/select/select.h"
#include "hsumma/cost/predict.h"

struct hs_choice {
    struct hs_spec spec;
    struct hs_prediction prediction;
    int64_t workspace_bytes; /* bytes of workspace on the process that needs most */
    int cut;                 /* with cells, 1 if levels cut through nodes, so that some lines send inside nodes */
    /* The reason why panels are sent although the node has shared memory; NULL if panels are shared, if there is no
     * shared memory, or if the options ask for messages. */
    const char *apart;
    /* 1 if the option coll or the tuned file gives an algorithm for broadcasts [0], for reductions [1]. */
    unsigned char by_rule[2];
};

/* The best candidates, best first. */
enum { HS_RANKED = 1 + HSUMMA_MAX_RIVALS };
struct hs_ranking {
    int count;            /* number of choices in choice[] */
    int considered;       /* number of candidates priced */
    double stationary[3]; /* least predicted seconds with operand x stationary; -1 if not considered or impossible */
    int64_t workspace_limit;
    struct hs_choice choice[HS_RANKED];
    struct hs_choice of_operand[3]; /* the best choice with operand x stationary; valid if stationary[x] >= 0 */
};

/* The memory that the processes of a node share. */
struct hs_sharing {
    size_t bytes;        /* bytes for panels on each node; 0 if they share no memory */
    int in_place;        /* on one node, 1 if matrices may lie in memory that all processes have mapped */
    const char *refused; /* the reason why there is no memory; NULL or "" if unknown */
};

/* Inputs of a choice besides the problem.  They are equal on all processes. */
struct hs_planner {
    struct hs_clock_memo *memo;          /* includes the profile */
    const struct hs_topology *topology;  /* topology of the communicator; NULL for one node, or a node per process */
    const struct hs_registry *own;       /* the user's algorithms, which options may name like the built-in ones */
    const struct hs_rules *coll, *tuned; /* rules for collectives from the option coll and from the tuned file */
    int threads;                         /* number of threads per process in the model */
    struct hs_sharing sharing;
    const struct hs_allocator *memory;
    int only_best; /* 1 if only the best choice is needed, so that choices that cannot be the best may be left out */
};

/*
 * Ranks the choices for a problem.  A pure function of global arguments, so every process gets the same result. Errors:
 * HSUMMA_ERR_ARGUMENT (options that contradict each other or the grid, such as groups that do not divide it),
 * HSUMMA_ERR_OPTION (unknown algorithm), HSUMMA_ERR_UNSUPPORTED (layouts, or options that the machine or an algorithm
 * does not support), HSUMMA_ERR_WORKSPACE, HSUMMA_ERR_MEMORY.
 */
hsumma_status hs_choose(const struct hs_problem *problem, const struct hs_settings *given,
                        const struct hs_planner *planner, struct hs_ranking *ranking, struct hs_message *message);

#endif
