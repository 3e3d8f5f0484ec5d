/* What a schedule costs, as lines of a table. */
#ifndef HS_BENCHMARKS_COLL_COSTS_H
#define HS_BENCHMARKS_COLL_COSTS_H

#include <stdio.h>

#include "coll/model/clock.h"

/* By its name; HS_COLLECTIVES if there is none. */
int coll_find(const char *name);

void coll_costs_heading(FILE *file, const struct hs_shape *shape);
/* Rounds, messages, bytes, and the seconds that the machine would take; of many ranks only the seconds. */
hsumma_status coll_costs_line(FILE *file, const struct hs_alg *alg, const struct hs_shape *shape,
                              const struct hs_machine *model, int is_chosen);

#endif
