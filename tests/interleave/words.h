/*
 * Included before everything else when the library code that uses directory counters is compiled again for
 * tests/interleave: other ranks may run wherever a rank reads a counter, and before and after it raises one.
 */
#ifndef HS_TESTS_INTERLEAVE_WORDS_H
#define HS_TESTS_INTERLEAVE_WORDS_H

#include "coll/node/directory.h"

void schedule_look(void);

#define hs_signalled(...) (schedule_look(), hs_signalled(__VA_ARGS__))
#define hs_signal(...) (schedule_look(), hs_signal(__VA_ARGS__), schedule_look())

#endif
