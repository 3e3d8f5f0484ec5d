/*
 * Free layouts: P x Q x L processes for C := A B (2.5-D; Solomonik and Demmel 2011).  Each of L layers is a P x Q grid
 * that multiplies its share of k with stationary C, and the layers add up their partial results by a reduce-scatter.
 *
 * Process (i, j, l) makes the part m_i x n_j x k_l of the product.  Its own are: of A the m_i rows and the j-th of Q
 * parts of k_l, of B the i-th of P parts of k_l and the n_j columns, of C the l-th of L parts of the tile m_i x n_j,
 * cut along one axis.  All cuts are as even as can be, longer parts first.  P x 1 x L is stationary A on a 2-D grid, 1
 * x Q x L stationary B.
 */
#ifndef HS_DIST_LAYERS_H
#define HS_DIST_LAYERS_H

#include <stdint.h>

struct hs_layers {
    int extent[3];    /* P, Q, L: parts of m, n, k; P is 0 where nothing fits into the memory */
    int cut;          /* the axis along which layers share a tile of C: 0 its rows, 1 its columns */
    int64_t received; /* elements of A, B and partial sums of C by the process that receives most */
    int64_t memory;   /* elements that a process holds at most: its own parts, and with L > 1 its partial result */
};

static inline int64_t hs_layers_processes(const struct hs_layers *layers)
{
    return (int64_t)layers->extent[0] * layers->extent[1] * layers->extent[2];
}

/* One part of n cut into `parts`. */
int64_t hs_layers_part(int64_t n, int parts, int part);

/* What P x Q x L processes receive and hold. */
struct hs_layers hs_layers_count(const int64_t extent[3], int p, int q, int l);

/*
 * The P x Q x L with the fewest elements received, of all with P <= m, Q <= n, L <= k, least <= P Q L <= processes and
 * L <= layers (0: any number) that hold at most `memory` elements per process (0: no limit); of equal ones that with
 * fewer layers, then with more processes, then with fewer rows.  Where there is none, fewer processes serve, as many as
 * can.  Each extent is at least 1, and mn, mk and kn are below 2^60.  18,432 processes take some milliseconds.
 */
struct hs_layers hs_layers_choose(const int64_t extent[3], int processes, int least, int layers, int64_t memory);

#endif
