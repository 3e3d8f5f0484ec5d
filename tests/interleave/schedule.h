/*
 * The random scheduler: it draws which rank continues next and when messages arrive. Other ranks may interrupt a rank
 * where it works or reads a counter, so steps of two ranks overlap as on two processors. If a rank has decided to
 * sleep until a counter changes, but can continue before that change, the scheduler reports a fault.
 */
#ifndef HS_TESTS_INTERLEAVE_SCHEDULE_H
#define HS_TESTS_INTERLEAVE_SCHEDULE_H

#include "interleave/network.h"
#include "interleave/scene.h"

/* Runs one interleaving: all turns of all ranks. Returns NULL, or a description of the error. */
const char *schedule_run(struct scene *scene, uint64_t seed, enum network_lie lie);
/* Describes what every rank waited for at the end of the last interleaving. */
void schedule_describe(void (*line)(const char *text));
/* The number of steps in all interleavings so far. */
int64_t schedule_steps(void);
/* Records that a request of this rank has completed, so the rank can continue. */
void schedule_stir(int rank);
/* Both functions let other ranks run. schedule_yield is called where a rank works (job_begin), schedule_look where it
 * reads a counter (words.h) or calls MPI. */
void schedule_yield(double seconds);
void schedule_look(void);

#endif
