/*
 * Data of collective tests: elements that encode their rank and index, results computed without the library, and the
 * matrix of cases with which every algorithm is tested, in any kind of memory.
 */
#ifndef HS_TESTS_SUPPORT_COLL_DATA_H
#define HS_TESTS_SUPPORT_COLL_DATA_H

#include <hsumma_coll.h>
#include <stdlib.h>
#include <string.h>

enum { COLL_ELEMENT = 16 }; /* bytes of the largest element */

/* User-defined operators. */
void coll_sum_of_doubles(void *dst, const void *left, const void *right, int64_t count, void *state);
/* The product of 2 x 2 matrices modulo 2^32, which does not commute. Adds `count` to the
 * int64_t at `state`. */
void coll_product(void *dst, const void *left, const void *right, int64_t count, void *state);

struct coll_kind {
    const char *name;
    hsumma_op op;
    hsumma_element element;
    size_t size;
};

enum { COLL_KINDS = 10 };

extern const struct coll_kind coll_kinds[COLL_KINDS];

/* bytes of a guard: memory with a fixed pattern before and after a test buffer */
enum { COLL_GUARD = 64 };

struct coll_buffer {
    unsigned char *memory, *data;
    size_t bytes;
};

struct coll_buffer coll_buffer(size_t bytes);

/* Checks both guards and frees the buffer; returns 1 if the guards are intact. */
int coll_buffer_end(struct coll_buffer *buffer);

extern int64_t combined; /* number of elements that the user-defined operator has combined */
extern const char *const coll_names[];

/* One case, with this rank's input and expected output. */
struct matrix_case {
    const struct coll_kind *kind;
    const char *algorithm;
    hsumma_collective collective;
    int64_t count;
    int number, root, in_place, irregular; /* irregular: parts of different sizes, some empty */
    struct coll_buffer given, wanted;
    int in_out, prefilled; /* in_out: this rank's call is in place; prefilled: OUT contains the input before the call */
    size_t place, out_bytes; /* offset of the input in OUT, and length of OUT, in bytes */
};

/* The library call of a case on the given buffers. */
hsumma_coll matrix_case_call(const struct matrix_case *test, void *in, void *out);

/* Prints a failed case: `where` gives its details, `what` the error. */
void matrix_case_tell(const struct matrix_case *test, const char *where, const char *what);

/*
 * Tests an algorithm with the five counts and two kinds of elements: with several roots, in place, and with irregular
 * parts. A reduction is also tested with every other kind, once, with a count of 257. `run` returns 1 if a case is
 * right. `more` runs further cases of the algorithm, adds their number to *cases, and returns the number of failures.
 */
void matrix_test_row(const hsumma_algorithm_info *info, const char *options, const int64_t *counts,
                     int (*run)(const struct matrix_case *test),
                     int (*more)(const hsumma_algorithm_info *info, int *cases));

#endif
