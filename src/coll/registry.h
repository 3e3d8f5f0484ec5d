/*
 * The table of algorithms: one row, one builder file.  To add one: write the builder, add its prototype to builders.h
 * and its row to registry.c.
 */
#ifndef HS_COLL_REGISTRY_H
#define HS_COLL_REGISTRY_H

#include "coll/steps.h"

enum hs_collective { HS_BCAST, HS_REDUCE_TO, HS_ALLREDUCE, HS_ALLGATHER, HS_COLLECTIVES };

/* What a builder may know. */
struct hs_shape {
    int rank, size;
    int root;            /* 0 unless the row is HS_TRUE_ROOT: the others see ranks rotated so that the root is 0 */
    int64_t bytes;       /* of the whole vector (allgather: of all parts together) */
    int64_t unit;        /* bytes of one element: a cut lies at a multiple of it */
    int64_t segment;     /* bytes; 0: the builder's default; rounded to elements, never below one */
    const int64_t *part; /* size + 1 ascending byte offsets, part[0] = 0, part[size] = bytes; NULL: hs_part_equal */
};

enum hs_alg_flags {
    HS_TRUE_ROOT = 1, /* rotating the ranks is not valid (or would change the order of the sums): shape.root is real */
    HS_USES_SEGMENT = 2,
    HS_KEEPS_ORDER = 4 /* sums only neighbouring ranges of ranks, lower ranks on the left */
};

/*
 * Conventions per collective: bcast: OUT, bytes long, on all ranks.  reduce: IN on all, OUT on the root.  allreduce: IN
 * and OUT on all.  allgather: IN is the own part; OUT all parts at their offsets.
 */
struct hs_alg {
    enum hs_collective collective;
    const char *name;
    const char *doc; /* one line: what it does, cost, paper and section */
    unsigned flags;
    int (*fits)(const struct hs_shape *shape); /* NULL: always */
    void (*build)(struct hs_builder *builder, const struct hs_shape *shape);
};

/* The i-th row, NULL past the end. */
const struct hs_alg *hs_alg_at(int i);
/* By name; NULL if there is none. */
const struct hs_alg *hs_alg_find(enum hs_collective collective, const char *name);
const char *hs_collective_name(enum hs_collective collective);

/*
 * Builds the list of shape->rank.  HSUMMA_ERR_MEMORY; HSUMMA_ERR_UNSUPPORTED if the row does not fit the shape;
 * HSUMMA_ERR_INTERNAL if the shape is no shape (rank, root, unit or bytes out of range).
 */
hsumma_status hs_build(const struct hs_alg *alg, const struct hs_shape *shape, const struct hs_allocator *memory,
                       struct hs_list *list);

/* Byte offset where part i of an equal split in elements begins, 0 <= i <= parts; the longer parts come first. */
int64_t hs_part_equal(int64_t bytes, int64_t unit, int64_t parts, int64_t i);
/* Byte offset where part i of the shape's vector begins, 0 <= i <= size; part = NULL: split equally. */
int64_t hs_part_at(const struct hs_shape *shape, int i);

#endif
