/* A list of products, for commands that measure several: read from a file with the options of one product per line, or
 * the single product of the command line. */
#ifndef HS_BENCHMARKS_REGRET_CASES_H
#define HS_BENCHMARKS_REGRET_CASES_H

#include "common/arguments.h"

typedef struct product_case {
    char *text; /* its options as given, separated by single spaces */
    int line;   /* line number in the file; 0: from the command line */
    arguments args;
    char *options; /* library options for the case's context */
} product_case;

typedef struct product_cases {
    arguments common; /* arguments that all cases start from */
    char *options;    /* library options that all cases start from */
    const char *file; /* NULL: only the command line's case */
    product_case *list;
    int count;
} product_cases;

/* Fills the list; `common` and `file` must be set. A case's library options are `first`, then those of the command
 * line, then those of its line. Rank 0 reads the file. Collective. On error returns nonzero, with options->error set,
 * the same on all ranks; the message names a bad line. Always undo with cases_free. */
int cases_read(product_cases *cases, const char *first, command_options *options);
void cases_free(product_cases *cases);

#endif
