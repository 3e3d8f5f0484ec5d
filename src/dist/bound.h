/*
 * Lower bounds on the communication of C := A B on equal processes, over all algorithms and layouts in which A, B and C
 * are held once, in equal parts.
 *
 * Without a limit of memory: Al Daas, Ballard, Grigori, Kumar, Rouse, Tight Memory-Independent Parallel Matrix
 * Multiplication Communication Lower Bounds (SPAA 2022), Theorem 3.  With M elements of memory per process a process
 * that makes mnk/p multiplications also moves at least 2mnk / (p sqrt(M)) elements between that memory and the rest of
 * the world (Kwasniewski et al., Red-Blue Pebbling Revisited, SC19, Theorem 1; the form of Irony, Toledo and Tiskin
 * 2004 with the constant that is attained).  What a process holds from the beginning, and keeps at the end, is free in
 * both.
 */
#ifndef HS_DIST_BOUND_H
#define HS_DIST_BOUND_H

#include <stdint.h>

/* Elements that some process must send or receive.  extent: m, n, k; memory: elements per process, 0: no limit. */
double hs_bound_elements(const int64_t extent[3], double processes, double memory);

#endif
