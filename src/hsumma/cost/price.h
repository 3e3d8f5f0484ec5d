/* What one collective costs on a line of a grid: the clock of its schedule where the line's processes are, memoised. */
#ifndef HS_HSUMMA_COST_PRICE_H
#define HS_HSUMMA_COST_PRICE_H

#include "hsumma/cost/lines.h"
#include "hsumma/cost/profile.h"

struct hs_cost {
    double seconds;            /* of one collective alone */
    struct hs_clock_load load; /* of each of many */
};
static inline struct hs_cost hs_cost_add(struct hs_cost a, struct hs_cost b, double times)
{
    a.seconds += times * b.seconds;
    for (int i = 0; i < HS_LOAD_ROOTS; i++)
        a.load.most[i] += times * b.load.most[i];
    a.load.mean += times * b.load.mean;
    return a;
}

/* Panels of an operand follow each other: `window` are in flight at a time, and `run` in a row have one root. */
struct hs_pipeline {
    int window;
    double run;
};
/* Seconds that the busiest part of a line works for each of many in such a row. */
static inline double hs_busy_in_pipeline(const struct hs_clock_load *load, struct hs_pipeline pipeline)
{
    double roots = pipeline.window / pipeline.run;
    double most = load->most[roots < 1 ? 0 : roots < HS_LOAD_ROOTS ? (int)roots - 1 : HS_LOAD_ROOTS - 1];
    return most > load->mean ? most : load->mean;
}
/* The least that each takes which takes `seconds` alone and keeps the busiest part at work for `busy`. */
static inline double hs_least_in_pipeline(double seconds, double busy, int window)
{
    return window == 1 || busy < seconds / window ? seconds / window : busy;
}
/* Panels in flight together save this part of what they would if ports were all that they share: a little less than
 * what was measured on TCP (doc/results/planner.md). */
#define HS_PIPELINED (2.0 / 3)

struct hs_clock_entry {
    const struct hs_alg *alg; /* NULL: free */
    uint64_t where;
    int size;
    int64_t bytes, unit, segment;
    struct hs_parameters with;
    struct hs_cost cost;
};

/*
 * Clock values already known, of a profile that does not change.  They are remembered for a few sizes only (powers
 * of two; between two of them a line), so that shapes which never repeat cost little; that also says how many there can
 * be.  When it is full it is forgotten: what is remembered changes no value.
 */
enum { HS_CLOCK_ENTRIES = 1 << 12 };
struct hs_clock_memo {
    const struct hs_profile *profile;
    const struct hs_allocator *memory;
    int count;
    struct hs_clock_entry entry[HS_CLOCK_ENTRIES];
};

void hs_clock_memo_begin(struct hs_clock_memo *memo, const struct hs_profile *profile,
                         const struct hs_allocator *memory);

/* The price of one collective; with NULL: the row's defaults; status is set on failure, and not touched otherwise. */
struct hs_cost hs_price(struct hs_clock_memo *memo, const struct hs_line_table *lines, const struct hs_line *line,
                        const struct hs_alg *alg, const struct hs_parameters *with, int64_t bytes, int64_t unit,
                        int64_t segment, hsumma_status *status);

#endif
