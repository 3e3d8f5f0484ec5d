/* dump: prints step lists in readable form. */
#ifndef HS_COLL_SCHEDULE_DUMP_H
#define HS_COLL_SCHEDULE_DUMP_H

#include "coll/schedule/registry.h"

#include <stdio.h>

/* Prints one rank's list, one line per step: "3 RECV from 2 -> out[1024..2048) after 1,2". */
void hs_dump_list(FILE *file, const struct hs_list *list);

/*
 * Prints the SENDs of all ranks by round (hs_lists_rounds), one line per round: "1: 0>1 2>3 (1024 each)" or, if sizes
 * differ, "1: 0>1(512) 2>3(511)".
 */
hsumma_status hs_dump_rounds(FILE *file, const struct hs_alg *alg, const struct hs_shape *shape,
                             const struct hs_allocator *memory);

#endif
