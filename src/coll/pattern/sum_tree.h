/*
 * A sum of two or more operands (leaves) that arrive in any order, bracketed as a binary tree over their numbers, as in
 * the binomial reduction: the tree node of [a 2^h, (a+1) 2^h) is the sum of its left half op the sum of its right half.
 * The bits therefore do not depend on the order of arrival. Halves are joined as soon as both are available; operands
 * that arrive in cyclic order need about 2 log2(leaves) buffers.
 */
#ifndef HS_COLL_PATTERN_SUM_TREE_H
#define HS_COLL_PATTERN_SUM_TREE_H

#include "coll/schedule/steps.h"

enum { HS_SUM_BUFFERS = 2 * 31 + 4 };

struct hs_partial_sum {
    int level, index;
    struct hs_ref at;
    int buffer; /* index in hs_sum.buffer; -1 if `at` belongs to the caller and is only read */
    int ready;  /* step that computes or receives the partial sum */
};

struct hs_sum {
    struct hs_builder *builder;
    int leaves, joined; /* joined: number of REDUCEs emitted, leaves - 1 in the end */
    int64_t count;      /* bytes of an operand */
    struct hs_ref dst;  /* destination of the total */
    int64_t scratch;    /* offset in SCRATCH of the buffers, which are adjacent */
    int after;          /* last earlier step that uses the buffers or dst; -1 if none */
    int total;          /* step that computes the total, set when all leaves have been added; -1 if count is 0 */
    int buffers;
    struct {
        int used, free_after;
    } buffer[HS_SUM_BUFFERS];
    struct hs_partial_sum waiting[HS_SUM_BUFFERS]; /* partial sums that wait for their other halves */
    int waits;
};

void hs_sum_begin(struct hs_sum *sum, struct hs_builder *builder, int leaves, int64_t count, struct hs_ref dst,
                  int64_t scratch, int after);
/* Adds an operand that is read in place after step `ready`, or at once if `ready` is -1. */
void hs_sum_add(struct hs_sum *sum, int leaf, struct hs_ref at, int ready);
/* Adds an operand that a peer sends. */
void hs_sum_receive(struct hs_sum *sum, int leaf, int peer);
/* The offset in SCRATCH where the buffers used so far end. */
int64_t hs_sum_end(const struct hs_sum *sum);
/* The maximum number of buffers needed for operands that arrive in cyclic order. */
int hs_sum_most_buffers(int leaves);

#endif
