/*
 * A sum over `leaves` operands, two or more, that arrive in any order, bracketed like a binary tree over their numbers,
 * in order: the node of [a 2^h, (a+1) 2^h) is the sum of its left half op the sum of its right half, as in the binomial
 * reduction. So the bits do not depend on how the operands arrive.  Halves are joined as soon as both are there:
 * operands that arrive in cyclic order need about 2 log2(leaves) buffers.
 */
#ifndef HS_COLL_PATTERN_SUM_TREE_H
#define HS_COLL_PATTERN_SUM_TREE_H

#include "coll/schedule/steps.h"

enum { HS_SUM_BUFFERS = 2 * 31 + 4 };

struct hs_partial_sum {
    int level, index;
    struct hs_ref at;
    int buffer; /* -1: at is not ours, and not written */
    int ready;  /* step that has made it */
};

struct hs_sum {
    struct hs_builder *builder;
    int leaves, joined; /* joined: sums made, of leaves - 1 */
    int64_t count;      /* bytes of an operand */
    struct hs_ref dst;  /* where the sum of all goes */
    int64_t scratch;    /* buffers are here in SCRATCH, one behind the other */
    int after;          /* step that is the last one to have used them, and dst, before; -1: none */
    int total;          /* step that the sum is ready with, once all leaves are there; -1: count is 0 */
    int buffers;
    struct {
        int used, free_after;
    } buffer[HS_SUM_BUFFERS];
    struct hs_partial_sum waiting[HS_SUM_BUFFERS]; /* for their other halves */
    int waits;
};

void hs_sum_begin(struct hs_sum *sum, struct hs_builder *builder, int leaves, int64_t count, struct hs_ref dst,
                  int64_t scratch, int after);
/* An operand that is read where it is, after step `ready` (-1: at once). */
void hs_sum_add(struct hs_sum *sum, int leaf, struct hs_ref at, int ready);
/* An operand that a peer sends. */
void hs_sum_receive(struct hs_sum *sum, int leaf, int peer);
/* End of the buffers in SCRATCH so far. */
int64_t hs_sum_end(const struct hs_sum *sum);
/* No more buffers than so many are needed for operands that arrive in cyclic order. */
int hs_sum_most_buffers(int leaves);

#endif
