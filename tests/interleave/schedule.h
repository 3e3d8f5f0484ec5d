/*
 * The random scheduler: which rank continues next, and when messages arrive, is random. Other ranks may interrupt a
 * rank where it works or reads a counter, so steps of two ranks overlap as on two processors. It is a fault if a
 * rank that has decided to sleep until a counter changes can continue before that change.
 */
#ifndef HS_TESTS_INTERLEAVE_SCHEDULE_H
#define HS_TESTS_INTERLEAVE_SCHEDULE_H

#include "interleave/network.h"
#include "interleave/scene.h"

/* Runs one interleaving: all turns of all ranks. NULL, or what is wrong. */
const char *schedule_run(struct scene *scene, uint64_t seed, enum network_lie lie);
/* Describes what every rank waited for at the end of the last interleaving. */
void schedule_describe(void (*line)(const char *text));
/* Steps of all interleavings so far. */
int64_t schedule_steps(void);
/* Notes that a message has arrived, so that the rank can continue. */
void schedule_stir(int rank);
/* Called where a rank works (for job_begin) or reads a counter (words.h). */
void schedule_yield(double seconds);
void schedule_look(void);

#endif
