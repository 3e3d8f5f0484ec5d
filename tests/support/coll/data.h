/* Data of collective tests: elements that say whose and which they are, and the results computed without the library.
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
void coll_fill(const struct coll_kind *kind, int rank, int64_t first, int64_t count, void *to);

/* Elements of the reduction over all ranks. */
void coll_result(const struct coll_kind *kind, int size, int64_t first, int64_t count, void *to);

/* A buffer between two guards of one pattern. */
enum { COLL_GUARD = 64 };

struct coll_buffer {
    unsigned char *memory, *data;
    size_t bytes;
};

struct coll_buffer coll_buffer(size_t bytes);

/* 1 if nothing beside it has been written; frees it. */
int coll_buffer_end(struct coll_buffer *buffer);

#endif
