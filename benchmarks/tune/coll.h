/* hsumma tune --coll: declarations that its files share. */
#ifndef HS_BENCHMARKS_TUNE_COLL_H
#define HS_BENCHMARKS_TUNE_COLL_H

#include "coll/case.h"
#include "coll/schedule/topology.h"
#include "tune/command.h"

enum { TUNE_WORDS = 32, TUNE_WORD = 160, TUNE_ROUNDS = 31 };

/* An algorithm with parameters, at one size. */
typedef struct tune_entrant {
    char word[TUNE_WORD];
    int out;                            /* 1: dropped, because it is far behind */
    int calls;                          /* number of calls per measurement */
    int count;                          /* number of measurements */
    double times[TUNE_ROUNDS], seconds; /* seconds on the slowest rank; `seconds`: their median, 0 if none or dropped */
} tune_entrant;

/* All entrants at one size. */
typedef struct tune_point {
    int64_t bytes;
    tune_entrant entrant[TUNE_WORDS];
    int count, model; /* count: number of entrants; model: index of the model's choice, -1: unknown */
    int chosen, next; /* chosen: index of the rule's entrant; next: of the best other; -1: none */
} tune_point;

/* words.c: lists the algorithms to try for a collective of `bytes` bytes on this topology; the model's choice need not
 * be among them. Returns their number. */
int tune_words(hsumma_collective collective, const struct hs_topology *topology, int64_t bytes,
               const char *list[TUNE_WORDS]);

/* rules.c: chooses an entrant at each of ascending sizes. It keeps the choice of the previous size (at the first size,
 * the model's), unless that entrant was not measured here or another is clearly faster: then it takes the fastest. */
void tune_choose(tune_point *point, int points);
/* Writes the rules for the chosen entrants into line[], as "COLLECTIVE RANKS NODES RANGE WORD". Returns the number of
 * lines. */
enum { TUNE_LINE = 320 };
int tune_rules(hsumma_collective collective, int ranks, int nodes, const tune_point *point, int points,
               char line[COLL_SIZES][TUNE_LINE]);

#endif
