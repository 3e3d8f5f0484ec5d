/* One candidate: rules complete its open choices; then it is checked against the workspace limit and priced. */
#ifndef HS_HSUMMA_SEARCH_CANDIDATE_H
#define HS_HSUMMA_SEARCH_CANDIDATE_H

#include "hsumma/search/search.h"

/* The state of a search. */
struct hs_chooser {
    const struct hs_problem *problem;
    const struct hs_settings *settings;
    const struct hs_planner *planner;
    const struct hs_profile *profile;
    struct hs_message *message;
    hsumma_status refused; /* the first refusal, whose message is returned if no candidate is found */
    int64_t limit;         /* maximum bytes of workspace per process */
    int cells;             /* 1 if the processes of a node are to share panels where its memory suffices */
    int mates[2];          /* hs_spec.mates of the candidates */
    const char *apart;     /* why the processes of a node do not share panels (hs_choice.apart) */
    struct hs_ranking *ranking;
    struct hs_line_table *lines; /* set while products over messages are searched */
    /* The variant of the current stationary operand, its pairs of owners, and what both are priced with, which points
     * to them: a chooser must not be copied. */
    struct hs_variant variant;
    struct hs_pairs pairs;
    struct hs_pricing pricing;
};

/* The order in which operands are tried as the stationary one; the first wins on a tie. */
extern const int hs_stay_order[3];
static inline int hs_may_stay(const struct hs_settings *settings, int operand)
{
    return settings->stationary < 0 || settings->stationary == operand;
}

static inline void hs_refuse(struct hs_chooser *chooser, hsumma_status status, const struct hs_message *why)
{
    if (!status || chooser->refused)
        return;
    chooser->refused = status;
    *chooser->message = *why;
}

/* The choices that the search varies.  Options of the caller take precedence. */
struct hs_sketch {
    int levels; /* number of outer levels */
    int factor[HS_LEVELS_MAX][2];
    int64_t block;                             /* 0 for the width that the local GEMM needs */
    int lookahead;                             /* -1 means 1, or 0 if panels are neither sent nor copied */
    int owners;                                /* hs_spec.owners, used without lookahead; 0 means 1 */
    int outer_times;                           /* width of outer panels as a multiple of inner panels */
    int64_t segment;                           /* 0 for the default */
    const struct hs_alg *bcast[HS_LEVELS_MAX]; /* NULL for the cheapest algorithm on the level */
};

/* One operand's line on one level, the bytes of its panels, and their sequence. */
struct hs_leg {
    struct hs_line line;
    int64_t bytes;
    struct hs_pipeline panels;
};

/* The option that names the algorithms of a collective in a product; an allreduce serves as a reduction. */
static inline const char *hs_option_of(enum hs_collective collective)
{
    return collective == HS_BCAST ? "bcast" : "reduce";
}

/* Whether the search may choose an algorithm: it can be priced, does not depend on nodes, and its sums do not depend on
 * groups. */
static inline int hs_may_serve(const struct hs_alg *row, enum hs_collective collective)
{
    return row->collective == collective && !(row->flags & (HS_USES_TOPOLOGY | HS_BY_MPI)) &&
           (collective != HS_REDUCE_TO || row->flags & HS_NESTS);
}

/* The algorithm with the least total time over all legs, by the clock; NULL and 0 seconds if none is suitable. */
const struct hs_alg *hs_cheapest(struct hs_chooser *chooser, enum hs_collective collective, const struct hs_leg *leg,
                                 int legs, const struct hs_spec *spec, double *seconds, hsumma_status *status);

/* Implemented in named_rows.c: stores the algorithms that the caller's options name, with their parameters, in *spec;
 * NULL on levels whose algorithm is still to be chosen. */
hsumma_status hs_name_rows(struct hs_chooser *chooser, struct hs_spec *spec);
/* Checks that the algorithms of a level can run on all lines of the moving operands.  The status is equal on all
 * processes. */
hsumma_status hs_check_rows(const struct hs_chooser *chooser, const struct hs_spec *spec, int level);

/* Completes and prices a sketch for the chooser's stationary operand.  Errors and messages as for hs_choose. */
hsumma_status hs_candidate_make(struct hs_chooser *chooser, const struct hs_sketch *sketch, struct hs_choice *choice);

/* The length of nearly even parts of `whole`: at most `wanted`, and a multiple of `unit` if possible. */
int64_t hs_even_cut(int64_t whole, int64_t wanted, int64_t unit);

/* Whether a choice is to be preferred to another: it is faster by the model, by 1 % for each level that it has more. */
int hs_is_better(const struct hs_choice *choice, const struct hs_choice *other);

/* Enters a candidate into the ranking, which keeps the best of each kind (hierarchy and algorithms). */
void hs_rank(struct hs_ranking *ranking, const struct hs_choice *choice);
/* Called at the end of the search: gives the best candidate of each stationary operand a place in the ranking, because
 * the model is least accurate for exchanges. */
void hs_rank_operands(struct hs_ranking *ranking);

/* Whether an error may concern this process only.  The process must then fail, not choose differently from others. */
static inline int hs_is_own_failure(hsumma_status status)
{
    return status == HSUMMA_ERR_MEMORY || status == HSUMMA_ERR_INTERNAL;
}

#endif
