/*
 * Included first into the library's code that uses words of directories, compiled for tests/interleave once more:
 * others may go on wherever a rank looks at a word, and before and after it raises one.
 */
#ifndef HS_TESTS_INTERLEAVE_WORDS_H
#define HS_TESTS_INTERLEAVE_WORDS_H

#include "coll/node/directory.h"

void schedule_look(void);

#define hs_signalled(...) (schedule_look(), hs_signalled(__VA_ARGS__))
#define hs_signal(...) (schedule_look(), hs_signal(__VA_ARGS__), schedule_look())

#endif
