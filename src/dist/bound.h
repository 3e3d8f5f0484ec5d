/*
 * Lower bounds on the communication of C := A B on p equal processes, over all algorithms and layouts in which A, B and
 * C are stored once, in equal parts.
 *
 * Without a memory limit: Al Daas, Ballard, Grigori, Kumar, Rouse, Tight Memory-Independent Parallel Matrix
 * Multiplication Communication Lower Bounds (SPAA 2022), Theorem 3.  With memory for M elements per process, a process
 * that does mnk/p multiplications moves at least 2mnk / (p sqrt(M)) elements in and out of its memory (Kwasniewski et
 * al., Red-Blue Pebbling Revisited, SC19, Theorem 1; the form of Irony, Toledo and Tiskin 2004 with the attainable
 * constant).  The elements that a process stores at the start and at the end are subtracted from both bounds, since
 * they need no message.
 */
#ifndef HS_DIST_BOUND_H
#define HS_DIST_BOUND_H

#include <stdint.h>

/* Elements that some process must send or receive.  extent: m, n, k.  memory: elements per process; 0: no limit. */
double hs_bound_elements(const int64_t extent[3], double processes, double memory);

#endif
