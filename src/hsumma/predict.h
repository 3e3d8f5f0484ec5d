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
    const struct hs_alg *alg; /* NULL: free */
    int size;
    int64_t bytes, unit, segment;
    double seconds;
};

/*
 * Clock values already known, of a profile that does not change.  They are remembered for a few sizes only (three
 * leading bits; between two of them a line), so that shapes which never repeat cost little; that also says how many
 * there can be.  When it is full it is forgotten: what is remembered changes no value.
 */
enum { HS_CLOCK_ENTRIES = 1 << 10 };
struct hs_clock_memo {
    const struct hs_profile *profile;
    const struct hs_allocator *memory;
    int count;
    struct hs_clock_entry entry[HS_CLOCK_ENTRIES];
};

void hs_clock_memo_begin(struct hs_clock_memo *memo, const struct hs_profile *profile,
                         const struct hs_allocator *memory);

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
