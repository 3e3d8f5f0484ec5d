/*
 * Data of collective tests: elements that say whose and which they are, and the results computed without the library;
 * and the matrix of cases that every algorithm goes through, in whatever memory the buffers are.
 */
#ifndef HS_TESTS_SUPPORT_COLL_DATA_H
#define HS_TESTS_SUPPORT_COLL_DATA_H

#include <hsumma_coll.h>
#include <stdlib.h>
#include <string.h>

enum { COLL_ELEMENT = 16 }; /* bytes of the largest */

/* 2 x 2 matrices modulo 2^32: their product does not commute. */
void coll_product(void *dst, const void *left, const void *right, int64_t count, void *state);

struct coll_kind {
    const char *name;
    hsumma_op op;
    hsumma_element element;
    size_t size;
};

enum { COLL_KINDS = 10 };

extern const struct coll_kind coll_kinds[COLL_KINDS];

/* A buffer between two guards of one pattern. */
enum { COLL_GUARD = 64 };

struct coll_buffer {
    unsigned char *memory, *data;
    size_t bytes;
};

struct coll_buffer coll_buffer(size_t bytes);

/* 1 if nothing beside it has been written; frees it. */
int coll_buffer_end(struct coll_buffer *buffer);

extern int64_t combined; /* elements that the user's operator has seen */
extern const char *const coll_names[];

/* One case, what goes in on this rank, and what must come out. */
struct matrix_case {
    const struct coll_kind *kind;
    const char *algorithm;
    hsumma_collective collective;
    int64_t count;
    int number, root, in_place, irregular; /* irregular: parts differ, and some are empty */
    struct coll_buffer given, wanted;
    int in_out, prefilled;   /* in_out: in place, on this rank; prefilled: OUT holds what goes in */
    size_t place, out_bytes; /* of that in OUT, whose length is out_bytes */
};

/* The call on these buffers. */
hsumma_coll matrix_case_call(const struct matrix_case *test, void *in, void *out);

/* Says what was wrong; where: more about the case. */
void matrix_case_tell(const struct matrix_case *test, const char *where, const char *what);

/*
 * The test of a row: all kinds of elements and operators, five counts, roots, in place, irregular parts.  run: 1 if the
 * case is right.  more: further cases of the row, counted in *cases; returns how many are wrong.
 */
void matrix_test_row(const hsumma_algorithm_info *info, const char *options, const int64_t *counts,
                     int (*run)(const struct matrix_case *test),
                     int (*more)(const hsumma_algorithm_info *info, int *cases));

#endif
