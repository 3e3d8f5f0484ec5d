/* Products one after the other, for commands that go through many: a file with options on each line, or the command
 * line's own. */
#ifndef HS_BENCHMARKS_REGRET_CASES_H
#define HS_BENCHMARKS_REGRET_CASES_H

#include <mpi.h>

#include "common/arguments.h"

typedef struct product_case {
    char *text; /* its options as they were given, with one blank between */
    int line;   /* in the file; 0: of the command line */
    arguments args;
    char *options; /* of the library, for its context */
} product_case;

typedef struct product_cases {
    arguments common; /* what each begins with */
    char *options;    /* of the library, likewise */
    const char *file; /* NULL: there is the one case of the command line */
    product_case *list;
    int count;
} product_cases;

/* Fills the list, when common and file are known; first, then those of the command line, are the library's options. One
 * rank reads the file.  Collective.  Returns nonzero, with options->error set, the same on all ranks, if something is
 * wrong: a bad line is named.  cases_free undoes it, always. */
int cases_read(product_cases *cases, const char *first, command_options *options, int argc, char **argv, MPI_Comm comm);
void cases_free(product_cases *cases);

#endif
