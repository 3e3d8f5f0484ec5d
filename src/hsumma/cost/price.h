/* The cost of one collective on a line of a grid: the clock of its schedule for the line's placement, memoised. */
#ifndef HS_HSUMMA_COST_PRICE_H
#define HS_HSUMMA_COST_PRICE_H

#include "hsumma/cost/links.h"
#include "hsumma/cost/profile.h"

struct hs_cost {
    double seconds;            /* seconds of one collective alone on its lines */
    double beside;             /* of these: waits, because its busiest link carries other lines */
    struct hs_clock_load load; /* load per collective when many are in flight */
    /* Seconds per collective for which the busiest link between nodes works, as load.most; 0 in an unknown fabric. */
    double link[HS_LOAD_ROOTS];
};
static inline struct hs_cost hs_cost_add(struct hs_cost a, struct hs_cost b, double times)
{
    a.seconds += times * b.seconds;
    a.beside += times * b.beside;
    for (int i = 0; i < HS_LOAD_ROOTS; i++) {
        a.load.most[i] += times * b.load.most[i];
        a.link[i] += times * b.link[i];
    }
    a.load.mean += times * b.load.mean;
    return a;
}

/* A sequence of panels of one operand: `window` panels are in flight, and `run` consecutive panels share a root.
 * times: their width in innermost panels. */
struct hs_pipeline {
    double window, run, times;
};
/* The work, in seconds, of the busiest port of a line in a sequence of panels, and of its busiest port or link. */
struct hs_busy {
    double port, any;
};
static inline struct hs_busy hs_busy_in_pipeline(const struct hs_cost *cost, struct hs_pipeline pipeline)
{
    double roots = pipeline.window / pipeline.run, mean = cost->load.mean;
    int at = roots < 1 ? 0 : roots < HS_LOAD_ROOTS ? (int)roots - 1 : HS_LOAD_ROOTS - 1;
    double port = cost->load.most[at] > mean ? cost->load.most[at] : mean;
    return (struct hs_busy){port, port > cost->link[at] ? port : cost->link[at]};
}
/*
 * The seconds that one panel of each window adds to this work.  The panels of a window take at least as long as the
 * busiest port or link works for one of them or, if longer, for all, and beyond that the rest of the time of one; at
 * most as if one of them waited for the others.  Half of this difference counts where panels overlap fully, a fit to
 * simulated products (doc/results/simulator.md); all of it where processors move the data, as over TCP.  While a panel
 * waits for links that carry other lines, the other panels of the window move.
 */
static inline double hs_part_in_pipeline(const struct hs_profile *profile, const struct hs_cost *cost,
                                         struct hs_pipeline pipeline)
{
    const double waits = profile->pipelining < 1 ? 1 : 0.5;
    double window = pipeline.window, each = hs_busy_in_pipeline(cost, pipeline).any;
    double one = cost->load.most[0] > cost->link[0] ? cost->load.most[0] : cost->link[0];
    double all = one > window * each ? one : window * each, rest = cost->seconds - cost->beside - one;
    if (window <= 1)
        return cost->seconds;
    return (waits * one + (1 - waits) * (all - (window - 1) * each) + (rest > 0 ? rest : 0)) / window;
}

/* What an entry of the memo has: the cost of a collective; the load of links by one byte; the rounds of polls. */
enum hs_clock_kind { HS_COST_ENTRY, HS_LINKS_ENTRY, HS_ROUNDS_ENTRY, HS_CLOCK_KINDS };
struct hs_clock_key {
    enum hs_clock_kind kind;
    const struct hs_alg *alg;
    uint64_t where;
    int size;
    int64_t bytes, unit, segment;
    struct hs_parameters with;
};
struct hs_clock_entry {
    struct hs_clock_key key;
    struct hs_cost cost;
};

/*
 * Known clock values for a profile that does not change.  Few sizes are stored, mostly powers of two (sizes_around);
 * prices of others are interpolated linearly, so that shapes that never repeat cost little and there are few entries.
 * A full memo is cleared, which changes no value.  Entries are appended, so that only those in use take memory.  Behind
 * them are HS_CLOCK_RECENT entries of any size, which hold what was interpolated last.
 */
enum { HS_CLOCK_ENTRIES = 3 << 10, HS_CLOCK_SLOTS = 1 << 12, HS_CLOCK_RECENT = 1 << 9 };
struct hs_clock_memo {
    const struct hs_profile *profile;
    const struct hs_allocator *memory;
    int count;
    uint16_t slot[HS_CLOCK_SLOTS];         /* a hash table: index of an entry plus 1; 0 if the slot is free */
    unsigned char filled[HS_CLOCK_RECENT]; /* filled[i]: the i-th recent entry has a value */
    struct hs_clock_entry *entry; /* those in slots, then the recent; NULL if there is no memory: nothing is stored */
};

/* Begins an empty memo.  The memo must be zero, or have been begun. */
void hs_clock_memo_begin(struct hs_clock_memo *memo, const struct hs_profile *profile,
                         const struct hs_allocator *memory);
void hs_clock_memo_free(struct hs_clock_memo *memo);

/* The price of one collective.  *status is only set on failure. */
struct hs_cost hs_price(struct hs_clock_memo *memo, const struct hs_line_table *lines, const struct hs_line_use *use,
                        int64_t bytes, hsumma_status *status);

/*
 * The number of times, one after the other, that some process must notice what has arrived before the collective is
 * complete on all processes: messages and signals on the longest path through the schedule.  While processes multiply
 * they notice it only when they poll.  Arguments as for hs_price.
 */
double hs_poll_rounds(struct hs_clock_memo *memo, const struct hs_line_table *lines, const struct hs_line_use *use,
                      int64_t bytes, hsumma_status *status);

#endif
