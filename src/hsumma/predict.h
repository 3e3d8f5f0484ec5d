/* The predicted cost of a spec: the clock of its own schedules, memoised. */
#ifndef HS_HSUMMA_PREDICT_H
#define HS_HSUMMA_PREDICT_H

#include "hsumma/profile.h"
#include "summa/loop.h"

struct hs_prediction {
    double seconds, comm, gemm, copy;
    hsumma_movement operand[3];
};

struct hs_clock_entry {
    const struct hs_alg *alg;
    int size;
    int64_t bytes, segment;
    double seconds;
};

/* Clock values already known; one lives while a plan is chosen. */
struct hs_clock_memo {
    const struct hs_profile *profile;
    const struct hs_allocator *memory;
    struct hs_clock_entry *entry;
    size_t capacity;
    int count;
};

void hs_clock_memo_begin(struct hs_clock_memo *memo, const struct hs_profile *profile,
                         const struct hs_allocator *memory);
void hs_clock_memo_free(struct hs_clock_memo *memo);

/* The clock of one collective; status is set on failure, and not touched otherwise. */
double hs_clock_of(struct hs_clock_memo *memo, const struct hs_alg *alg, int size, int64_t bytes, int64_t unit,
                   int64_t segment, hsumma_status *status);

/*
 * comm: all panels on all levels and their exchanges by the clock, on the processes with the largest parts.  copy: what
 * is packed, unpacked and added there.  gemm: the local multiplications.  seconds: together.  Between nodes, with a
 * lookahead, communication hides behind the multiplication but for the first panel in and the last one out; inside a
 * node it is the cores themselves that copy, and it is added.
 */
hsumma_status hs_predict(struct hs_clock_memo *memo, const struct hs_problem *problem, const struct hs_variant *variant,
                         const struct hs_spec *spec, const struct hs_pairs *pairs, int threads,
                         struct hs_prediction *prediction);

#endif
