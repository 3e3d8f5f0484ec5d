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
    return (struct hs_cost){a.seconds + times * b.seconds,
                            {a.load.most + times * b.load.most, a.load.mean + times * b.load.mean}};
}

/* Panels follow each other: so many are under way at a time, and so many in a row have one root. */
struct hs_pipeline {
    int window;
    double run;
};
/* Of each of many in such a row. */
static inline double hs_cost_in_pipeline(struct hs_cost cost, struct hs_pipeline pipeline)
{
    double seconds = cost.seconds / pipeline.window, most = cost.load.most;
    most *= pipeline.run < pipeline.window ? pipeline.run / pipeline.window : 1;
    most = most > cost.load.mean ? most : cost.load.mean;
    return pipeline.window == 1 || most < seconds ? seconds : most;
}

struct hs_clock_entry {
    const struct hs_alg *alg; /* NULL: free */
    uint64_t where;
    int size;
    int64_t bytes, unit, segment;
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

/* The price of one collective; status is set on failure, and not touched otherwise. */
struct hs_cost hs_price(struct hs_clock_memo *memo, const struct hs_line_table *lines, const struct hs_line *line,
                        const struct hs_alg *alg, int64_t bytes, int64_t unit, int64_t segment, hsumma_status *status);

#endif
