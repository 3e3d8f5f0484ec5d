/* The parts of hsumma tune --coll. */
#ifndef HS_BENCHMARKS_TUNE_COLL_H
#define HS_BENCHMARKS_TUNE_COLL_H

#include "coll/case.h"
#include "coll/schedule/topology.h"
#include "tune/command.h"

enum { TUNE_WORDS = 32, TUNE_WORD = 160, TUNE_ROUNDS = 31 };

/* A word at one size. */
typedef struct tune_entrant {
    char word[TUNE_WORD];
    int out;                            /* cannot serve the call, or is far behind */
    int calls;                          /* of a measurement */
    int count;                          /* measurements */
    double times[TUNE_ROUNDS], seconds; /* of the slowest rank; their median, 0: none */
} tune_entrant;

/* All of them at one size. */
typedef struct tune_point {
    int64_t bytes;
    tune_entrant entrant[TUNE_WORDS];
    int count, model; /* the model's choice is one of them */
    int chosen, next; /* the word of the rule, and the best of the others; -1: there is none */
} tune_point;

/* words.c: those of interest for a collective of so many bytes where the ranks are like this, without the model's; how
 * many. */
int tune_words(hsumma_collective collective, const struct hs_topology *topology, int64_t bytes,
               const char *list[TUNE_WORDS]);

/* rules.c.  Chooses for ascending sizes: the model's word, then the neighbour's, unless another is clearly faster.
 */
void tune_choose(tune_point *point, int points);
/* Writes lines "COLLECTIVE RANKS NODES RANGE WORD" for points that have been chosen for; the i-th is line[i], of at
 * most COLL_SIZES.  Returns how many. */
enum { TUNE_LINE = 320 };
int tune_rules(hsumma_collective collective, int ranks, int nodes, const tune_point *point, int points,
               char line[COLL_SIZES][TUNE_LINE]);

#endif
