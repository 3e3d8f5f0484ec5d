/* The costs of schedules, as lines of a table. */
#ifndef HS_BENCHMARKS_COLL_COSTS_H
#define HS_BENCHMARKS_COLL_COSTS_H

#include <stdio.h>

#include "coll/model/clock.h"

/* A collective by name; HS_COLLECTIVES if there is none. */
int coll_find(const char *name);

void coll_costs_heading(FILE *file, const struct hs_shape *shape);
/* Prints rounds, messages, bytes, and predicted time; for large groups only the time. device: NULL, or adds the price
 * of copies from and to this device (hs_staging_seconds). is_chosen: marks auto's choice. */
hsumma_status coll_costs_line(FILE *file, const struct hs_alg *alg, const struct hs_shape *shape,
                              const struct hs_machine *model, const struct hs_machine *device, int is_chosen);

#endif
