/* The predicted cost of a spec, by the clock of its schedules. */
#ifndef HS_HSUMMA_COST_PREDICT_H
#define HS_HSUMMA_COST_PREDICT_H

#include "hsumma/cost/price.h"
#include "summa/messages/loop.h"

/* What specs are priced for. */
struct hs_pricing {
    struct hs_clock_memo *memo; /* includes the profile */
    struct hs_line_table *lines;
    const struct hs_problem *problem;
    const struct hs_variant *variant;
    const struct hs_pairs *pairs;
    int threads; /* per process */
};

struct hs_prediction {
    double seconds, comm, gemm, copy;
    int exchanges; /* 1 if A or B passes through an exchange */
    hsumma_movement operand[3];
};

/*
 * Predicts the cost of a spec, in seconds, for the processes with the largest parts.  comm: all panels on all levels
 * and their exchanges, by the clock.  With one panel in flight, and inside a node (where the cores do the
 * communication), panels are communicated one after the other.  Otherwise, after the first panel, a window of panels of
 * each operand is in flight.  Ideally the communication then takes the time for which the busiest ports or links work,
 * and what one panel of each window adds (hs_part_in_pipeline).  The share hs_profile.pipelining of the ideal saving is
 * counted.  copy: packing, unpacking and adding.  gemm: the local products.  seconds: the total.  With lookahead
 * between nodes, the share hs_profile.overlap of either gemm or the communication, whichever is shorter, is hidden; the
 * communication of the first panel in and the last panel out never is.  Inside a node nothing is hidden.  whole: if not
 * NULL, is set to the prediction of the spec without slices of the local GEMM.
 */
hsumma_status hs_predict(const struct hs_pricing *pricing, const struct hs_spec *spec, struct hs_prediction *prediction,
                         struct hs_prediction *whole);

/*
 * An operand's mover on the line that represents all lines, without panels; with cells, as seen from the largest cell.
 * A pure function of global arguments, except for the fields that depend on this process's coordinates (length, held,
 * line, loop_coord and, without cells, place and group).
 */
struct hs_mover hs_line_mover(const struct hs_pricing *pricing, const struct hs_spec *spec, int operand);

/* Bytes of panel buffers. */
struct hs_need {
    int64_t workspace; /* bytes on the process that needs most, including its share of buffers that cells share */
    /* Bytes on the node that shares most, enough for all lines whatever their levels are; 0 without cells. */
    int64_t shared;
};
struct hs_need hs_need_of(const struct hs_pricing *pricing, const struct hs_spec *spec);

/* Number of panels of width `width`. */
int64_t hs_panel_count(const struct hs_pairs *pairs, int64_t width);

/* The sequence of a moving operand's panels on one of the levels of its lines.  width: that of the panels. */
struct hs_pipeline hs_pipeline_of(const struct hs_pricing *pricing, const struct hs_spec *spec, int operand,
                                  const struct hs_factors *levels, int level, int64_t width);

/*
 * How fast panels progress while processes multiply: the multiplication of one of `panels` innermost panels takes
 * `gemm` seconds, with a poll every `poll` seconds, and `lookahead` further panels are in flight.  lookahead is 0 if
 * nothing waits for polls: without lookahead, inside a node, while a device multiplies, and in a product of one panel.
 * fewer: lookahead to the power of -0.2, for hs_late.
 */
struct hs_pace {
    double panels, gemm, poll, lookahead, fewer;
};
struct hs_pace hs_pace_of(const struct hs_pricing *pricing, const struct hs_spec *spec);
/*
 * The seconds per innermost panel for which a multiplication waits for a panel that would be there if processes that
 * multiply forwarded at once; they notice only every pace.poll seconds what they have to forward.  first: seconds of
 * one panel of the level alone; rounds: those of hs_poll_rounds; times: hs_pipeline.times.  A panel needs first +
 * (rounds - 1) poll seconds, since the last poll is when it is multiplied; it has pace.lookahead multiplications, which
 * must be positive.
 */
double hs_late(struct hs_pace pace, double first, double rounds, double times);

/* Combines communication, multiplication and copies into a total.  first: the part of comm that cannot be hidden.  All
 * in seconds. */
double hs_together(const struct hs_profile *profile, const struct hs_spec *spec, double comm, double first, double gemm,
                   double copy);

#endif
