/*
 * Data of collective tests: elements that encode their rank and index, results computed without the library, and the
 * matrix of cases that every algorithm is tested with, in any kind of memory.
 */
#ifndef HS_TESTS_SUPPORT_COLL_DATA_H
#define HS_TESTS_SUPPORT_COLL_DATA_H

#include <hsumma_coll.h>
#include <stdlib.h>
#include <string.h>

enum { COLL_ELEMENT = 16 }; /* bytes of the largest element */

/* 2 x 2 matrices modulo 2^32, whose product does not commute. */
void coll_product(void *dst, const void *left, const void *right, int64_t count, void *state);

struct coll_kind {
    const char *name;
    hsumma_op op;
    hsumma_element element;
    size_t size;
};

enum { COLL_KINDS = 10 };

extern const struct coll_kind coll_kinds[COLL_KINDS];

/* A buffer between two guards with a fixed pattern. */
enum { COLL_GUARD = 64 };

struct coll_buffer {
    unsigned char *memory, *data;
    size_t bytes;
};

struct coll_buffer coll_buffer(size_t bytes);

/* 1 if both guards are intact; frees the buffer. */
int coll_buffer_end(struct coll_buffer *buffer);

extern int64_t combined; /* elements combined by the user-defined operator */
extern const char *const coll_names[];

/* One case, with this rank's input and right result. */
struct matrix_case {
    const struct coll_kind *kind;
    const char *algorithm;
    hsumma_collective collective;
    int64_t count;
    int number, root, in_place, irregular; /* irregular: parts of different sizes, some empty */
    struct coll_buffer given, wanted;
    int in_out, prefilled;   /* in_out: this rank's call is in place; prefilled: OUT contains the input */
    size_t place, out_bytes; /* offset of the input in OUT, and OUT's length */
};

/* The call of a case on these buffers. */
hsumma_coll matrix_case_call(const struct matrix_case *test, void *in, void *out);

/* Prints what was wrong; where: details of the case. */
void matrix_case_tell(const struct matrix_case *test, const char *where, const char *what);

/*
 * Tests a row: all elements and operators, five counts, several roots, in place, irregular parts. run returns 1 if the
 * case is right. more runs further cases of the row, adds them to *cases, and returns the number of failures.
 */
void matrix_test_row(const hsumma_algorithm_info *info, const char *options, const int64_t *counts,
                     int (*run)(const struct matrix_case *test),
                     int (*more)(const hsumma_algorithm_info *info, int *cases));

#endif
