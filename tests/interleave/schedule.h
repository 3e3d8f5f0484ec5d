/*
 * The random scheduler: which rank goes on next, and when messages arrive, is drawn.  A rank that is at work or
 * looks at a word may be interrupted there by others, so steps of two ranks overlap as they do on two processors.  One
 * that could only sleep until a word changes must not be able to go on before.
 */
#ifndef HS_TESTS_INTERLEAVE_SCHEDULE_H
#define HS_TESTS_INTERLEAVE_SCHEDULE_H

#include "interleave/network.h"
#include "interleave/scene.h"

/* One interleaving: all turns of all ranks.  NULL: all is well; else what is wrong. */
const char *schedule_run(struct scene *scene, uint64_t seed, enum network_lie lie);
/* What every rank waited for at the end of the last one. */
void schedule_describe(void (*line)(const char *text));
/* Of all interleavings so far. */
int64_t schedule_steps(void);
/* A message of a rank has arrived: it can go on. */
void schedule_stir(int rank);
/* Wherever a rank is at work, for job_begin, or looks at a word (words.h). */
void schedule_yield(double seconds);
void schedule_look(void);

#endif
