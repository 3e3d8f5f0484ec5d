/* hsumma coll: lists, dumps and proves the collectives, and times them beside MPI's own. */
#ifndef HS_BENCHMARKS_COLL_COMMAND_H
#define HS_BENCHMARKS_COLL_COMMAND_H

#include "coll/schedule/registry.h"
#include "common/arguments.h"
#include "hsumma_coll.h"
#include "measure/machine.h"

typedef enum coll_mode { COLL_TIME, COLL_LIST, COLL_DUMP, COLL_VERIFY, COLL_AGAIN, COLL_PAIRS } coll_mode;

typedef struct coll_arguments {
    coll_mode mode;
    int collective;        /* an hs_collective, which equals the hsumma_collective; -1: not given */
    const char *algorithm; /* algorithms separated by commas; NULL: not given */
    int64_t from, to, factor;
    int root, reps;
    hsumma_element element;
    report_format format;
    const char *plot;
    const char *again; /* CSV file of an earlier run */
    int host_memory;   /* 1: vectors are in host memory, even with a device */
    int quiet;         /* 1: no progress bar */
    int bits, init;    /* bits: 1 to show a hash of the results' bits; init: 1 to show the setup cost */
    /* --dump: the modelled machine, and the rank whose steps are printed (-1: the first 8 ranks). --verify: `ranks`
     * limits the size of groups (0: the default range). */
    int64_t ranks, nodes, sockets, shared_bytes, rank;
} coll_arguments;

/* Returns a copy of the i-th of the items separated by commas outside parentheses; NULL past the last, or if out of
 * memory. */
char *coll_word(const char *words, int i);

/* The element type of --element. */
typedef struct coll_element {
    const char *name;
    MPI_Datatype type;
    size_t size, part; /* bytes of an element; bytes of its real or imaginary part */
    int is_integer;
} coll_element;
coll_element coll_element_of(hsumma_element element);

/* Parts of the command; all but coll_time and coll_pairs run on rank 0 alone. All return an exit status. */
int coll_list(const coll_arguments *args);
int coll_dump(const coll_arguments *args);
int coll_verify(const coll_arguments *args);
int coll_again(const coll_arguments *args);
int coll_pairs(const coll_arguments *args, MPI_Comm comm);
int coll_time(const coll_arguments *args, const char *options, MPI_Comm comm);

#endif
