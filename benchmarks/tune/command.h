/* hsumma tune: measures in advance what the tuned file remembers (src/hsumma/tuned/tuned.h). */
#ifndef HS_BENCHMARKS_TUNE_COMMAND_H
#define HS_BENCHMARKS_TUNE_COMMAND_H

#include "hsumma_coll.h"
#include "regret/cases.h"

enum { TUNE_PATH = 400, TUNE_COLLECTIVES = HSUMMA_REDUCE_SCATTER + 1 };

typedef struct tune_arguments {
    product_cases set;
    const char *file; /* -o; NULL: not given */
    int coll;         /* --coll: collectives instead of products */
    int chosen;       /* bit 1 << HSUMMA_... for each collective */
    int64_t from, to;
    double seconds;
} tune_arguments;

/* Returns the new text "options tuned=PATH more"; NULL if out of memory. */
char *tune_options(const char *options, const char *path, const char *more);

/* gemm.c: measures the products one after another.  Collective; an exit status. */
int tune_products(const tune_arguments *args, const char *path, MPI_Comm comm);

/* coll.c: measures the collectives.  Collective; an exit status. */
int tune_collectives(const tune_arguments *args, const char *options, const char *path, MPI_Comm comm);

#endif
