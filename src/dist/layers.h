/*
 * Free layouts: P x Q x L processes for C := A B (2.5-D; Solomonik and Demmel 2011).  Each of L layers is a P x Q grid
 * that multiplies its share of k with stationary C; a reduce-scatter adds up the layers' partial results.
 *
 * Process (i, j, l) computes the part m_i x n_j x k_l of the product.  Of A it owns the rows m_i and, of the columns
 * k_l, part j of Q; of B the columns n_j and, of the rows k_l, part i of P; of C part l of L of the tile m_i x n_j,
 * which is cut along one axis.  All cuts are as even as possible, longer parts first.  P x 1 x L is stationary A on a
 * 2-D grid, and 1 x Q x L is stationary B.
 */
#ifndef HS_DIST_LAYERS_H
#define HS_DIST_LAYERS_H

#include <stdint.h>

struct hs_layers {
    int extent[3];    /* P, Q, L: number of parts of m, n, k; P is 0 if nothing fits into the memory */
    int cut;          /* the axis along which layers cut a tile of C (0: rows, 1: columns) */
    int64_t received; /* elements of A, B and partial sums of C that the busiest process receives */
    int64_t memory;   /* most elements that a process stores: its own parts and, if L > 1, its partial result */
};

/* The layout of p x q x l processes, with the better cut of C and its `received` and `memory`. */
struct hs_layers hs_layers_count(const int64_t extent[3], int p, int q, int l);

/*
 * The P x Q x L with the fewest elements received, among those with P <= m, Q <= n, L <= k, least <= P Q L <=
 * processes, L <= layers (0: any number) and at most `memory` elements per process (0: no limit).  Ties go to fewer
 * layers, then to more processes, then to a smaller P.  If no P x Q x L satisfies all conditions, the largest possible
 * number of processes below `least` is used.  Each extent is at least 1; mn, mk and kn are below 2^60.  The search
 * takes some milliseconds for 18,432 processes.
 */
struct hs_layers hs_layers_choose(const int64_t extent[3], int processes, int least, int layers, int64_t memory);

#endif
