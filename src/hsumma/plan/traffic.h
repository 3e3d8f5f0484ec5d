/* What a plan sends, counted in its lists, and what any algorithm must. */
#ifndef HS_HSUMMA_PLAN_TRAFFIC_H
#define HS_HSUMMA_PLAN_TRAFFIC_H

#include "hsumma/context/context.h"
#include "summa/problem.h"

/* By this process in one execution; what MPI's own collectives send is not known and not counted. */
void hs_plan_traffic(const hsumma_plan *plan, int64_t *bytes, int64_t *messages);

/* Bytes that some process must receive, whatever the algorithm, if A, B and C are spread evenly and held once: Al Daas,
 * Ballard, Grigori, Kumar, Rouse, Tight Memory-Independent Parallel Matrix Multiplication Communication Lower Bounds
 * (SPAA 2022), Theorem 3. */
double hs_lower_bound(const struct hs_problem *problem);

#endif
