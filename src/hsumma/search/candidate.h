/* One candidate: what is left open is filled in by rules, checked against the workspace limit, and priced. */
#ifndef HS_HSUMMA_SEARCH_CANDIDATE_H
#define HS_HSUMMA_SEARCH_CANDIDATE_H

#include "hsumma/search/search.h"

/* A search under way. */
struct hs_chooser {
    const struct hs_problem *problem;
    const struct hs_settings *settings;
    const struct hs_planner *planner;
    const struct hs_profile *profile;
    struct hs_message *message;
    hsumma_status refused; /* the first refusal, with its message, for when nothing is found */
    int64_t limit;         /* bytes of workspace of a process */
    int cells;             /* nodes share panels, where the memory suffices */
    int mates[2];          /* of a spec */
    const char *apart;     /* why they do not: hs_choice */
    struct hs_ranking *ranking;
    struct hs_line_table lines;
    /* of the stationary operand that is looked at */
    struct hs_variant variant;
    struct hs_pairs pairs;
};

/* The order in which operands are tried as the stationary one: on a tie the first wins. */
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

/* What the search varies; what the caller has fixed wins. */
struct hs_sketch {
    int levels; /* outer ones */
    int factor[HS_LEVELS_MAX][2];
    int64_t block;                             /* 0: as wide as the local GEMM wants */
    int lookahead;                             /* -1: 1, or 0 where nothing travels */
    int owners;                                /* without lookahead; 0 as 1 */
    int outer_times;                           /* outer panels are so many inner ones wide */
    int64_t segment;                           /* 0: the default */
    const struct hs_alg *bcast[HS_LEVELS_MAX]; /* NULL: the cheapest for the level */
};

/* An operand's line on one level, and the bytes of a panel there. */
struct hs_leg {
    struct hs_line line;
    int64_t bytes;
    struct hs_pipeline panels;
};

/* Whether a product can choose a row: it has a clock, knows no nodes, and its sums do not depend on the groups. */
static inline int hs_may_serve(const struct hs_alg *row, enum hs_collective collective)
{
    return row->collective == collective && !(row->flags & (HS_USES_TOPOLOGY | HS_BY_MPI)) &&
           (collective != HS_REDUCE_TO || row->flags & HS_NESTS);
}

/* The cheapest row by the clock for all legs together, and their seconds; NULL and 0 if none fits. */
const struct hs_alg *hs_cheapest(struct hs_chooser *chooser, enum hs_collective collective, const struct hs_leg *leg,
                                 int legs, const struct hs_spec *spec, double *seconds, hsumma_status *status);

/* named_rows.c: the caller's rows with their parameters; NULL where the row of a level is to be chosen. */
hsumma_status hs_name_rows(struct hs_chooser *chooser, struct hs_spec *spec);
/* Whether the rows of a level can serve all lines of the operands that move: alike on all processes. */
hsumma_status hs_check_rows(const struct hs_chooser *chooser, const struct hs_spec *spec, int level);

/* Completes and prices a sketch of the chooser's stationary operand.  Errors and messages as of hs_choose. */
hsumma_status hs_candidate_make(struct hs_chooser *chooser, const struct hs_sketch *sketch, struct hs_choice *choice);

/* The length of about even cuts of `whole`, at most `wanted`, in multiples of `unit` where that can be. */
int64_t hs_even_cut(int64_t whole, int64_t wanted, int64_t unit);

/* Enters a candidate into the ranking, which has one of each kind: hierarchy and algorithms. */
void hs_rank(struct hs_ranking *ranking, const struct hs_choice *choice);
/* In the end: the best with each operand in place has a place in it, for the exchanges are what the model knows least.
 */
void hs_rank_operands(struct hs_ranking *ranking);

/* Of this process alone: it must not choose what others do not. */
static inline int hs_is_own_failure(hsumma_status status)
{
    return status == HSUMMA_ERR_MEMORY || status == HSUMMA_ERR_INTERNAL;
}

#endif
