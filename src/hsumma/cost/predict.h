/* The predicted cost of a spec: the clock of its own schedules. */
#ifndef HS_HSUMMA_COST_PREDICT_H
#define HS_HSUMMA_COST_PREDICT_H

#include "hsumma/cost/price.h"
#include "summa/messages/loop.h"

struct hs_prediction {
    double seconds, comm, gemm, copy;
    int exchanges; /* A or B passes through an exchange */
    hsumma_movement operand[3];
};

/*
 * comm: all panels on all levels and their exchanges by the clock, on the processes with the largest parts: one after
 * the other without a lookahead, and inside a node, where the cores themselves do the work; else, after the first, the
 * panels of a window and the operands are under way together, and it takes as long as ports are at work, or as a
 * panel's way takes for the whole window, whichever is longer.  copy: what is packed, unpacked and added there.  gemm:
 * the local multiplications.  seconds: together.  Between nodes, with a lookahead, multiplications hide the profile's
 * share (overlap) of the communication but for the first panel in and the last one out; inside a node it is added.
 */
hsumma_status hs_predict(struct hs_clock_memo *memo, struct hs_line_table *lines, const struct hs_problem *problem,
                         const struct hs_variant *variant, const struct hs_spec *spec, const struct hs_pairs *pairs,
                         int threads, struct hs_prediction *prediction);

/*
 * An operand's mover as the process with the largest part of its line's cells would have it: of a grid's processes
 * those that stand for all.  A pure function of global arguments but for what is this process's own (length, place).
 */
struct hs_mover hs_line_mover(const struct hs_line_table *lines, const struct hs_problem *problem,
                              const struct hs_variant *variant, const struct hs_spec *spec, int operand);

/* Bytes of panel buffers. */
struct hs_need {
    int64_t workspace; /* on the process that needs most, with its share of what cells share */
    int64_t shared;    /* of the memory of the node that shares most, with room for all lines whatever their levels
                          are; 0 without cells */
};
struct hs_need hs_need_of(const struct hs_line_table *lines, const struct hs_problem *problem,
                          const struct hs_variant *variant, const struct hs_spec *spec, const struct hs_pairs *pairs);

/* Panels of a width. */
int64_t hs_panel_count(const struct hs_pairs *pairs, int64_t width);

/* How the panels of a moving operand (index, as of a pair's owners) follow each other on the level of that stride. */
struct hs_pipeline hs_pipeline_of(const struct hs_profile *profile, const struct hs_spec *spec,
                                  const struct hs_pairs *pairs, int index, int stride);

/* communication, multiplication and copies together. */
double hs_together(const struct hs_profile *profile, const struct hs_spec *spec, double comm, double first, double gemm,
                   double copy);

#endif
