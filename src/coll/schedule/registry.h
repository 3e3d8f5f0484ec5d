/* The table of algorithms. A new one needs a file with its builder and its row (HS_ALG), and a line in rows.h. */
#ifndef HS_COLL_SCHEDULE_REGISTRY_H
#define HS_COLL_SCHEDULE_REGISTRY_H

#include "coll/schedule/topology.h"
#include "dist/box.h"

enum hs_collective { HS_BCAST, HS_REDUCE_TO, HS_ALLREDUCE, HS_ALLGATHER, HS_REDUCE_SCATTER, HS_COLLECTIVES };

struct hs_alg;
struct hs_performer;

/* What a plan of rabenseifner_traff uses for the odd factor of p that `rings` leaves; HS_REST_CHOSEN: the cheapest. */
enum hs_rest { HS_REST_CHOSEN, HS_REST_RING, HS_REST_32, HS_REST_21 };

/* Parameters of a row, all optional: 0 or NULL selects the row's default. The row's flags say which ones it uses. */
struct hs_parameters {
    int64_t threshold; /* b: vectors, or ranges, of up to this many bytes stay whole; 1: only indivisible ones */
    int leaders;       /* l: leaders per node or socket */
    /* k: pieces in flight (dpml), segments of a rank's part (spread), levels merged into one (binomial) */
    int pieces;
    int rings; /* rings: the odd prime factors of p, ascending, get a ring each while their product is at most this */
    enum hs_rest rest; /* rest: one ring, 3-2 elimination or 2-1 elimination for the remaining factors together */
    enum hs_division_kind level; /* level: the division (nodes or sockets) whose parts are treated as nodes */
    const struct hs_alg *outer;  /* outer: algorithm of the stage between nodes */
    const struct hs_alg *inner;  /* inner: algorithm of the stages inside a node */
};

static inline int hs_same_parameters(const struct hs_parameters *x, const struct hs_parameters *y)
{
    return x->threshold == y->threshold && x->leaders == y->leaders && x->pieces == y->pieces && x->level == y->level &&
           x->outer == y->outer && x->inner == y->inner && x->rings == y->rings && x->rest == y->rest;
}

/* Prices in Hockney's model, by which a row chooses parameters: those of the slowest links of the ranks. */
struct hs_prices {
    double alpha[2], beta[2]; /* seconds per message and per byte: [0] up to `eager` bytes, [1] above */
    int64_t eager;            /* 0: [0] for all lengths */
    double gamma, copy;       /* seconds per byte reduced, and copied */
};

/* The input of a builder. */
struct hs_shape {
    int rank, size;
    int root;            /* true root for rows with HS_TRUE_ROOT; else 0: ranks are rotated so that the root is 0 */
    int64_t bytes;       /* bytes of the whole vector; for allgather and reduce_scatter of all parts together */
    int64_t unit;        /* bytes of an element: vectors are cut at multiples of it */
    int64_t segment;     /* bytes of a segment, in whole elements (at least one); 0: the builder's default */
    const int64_t *part; /* size + 1 ascending offsets of the parts, from 0 to bytes; NULL: hs_part_equal */
    const struct hs_topology *topology; /* NULL: every rank on its own node, no shared memory */
    const struct hs_box *box;           /* the ranks' places in a torus; NULL: unknown, or they fill no box */
    struct hs_parameters with;
};

enum hs_alg_flags {
    HS_TRUE_ROOT = 1, /* the builder uses shape.root: rotation is invalid or would change the order of sums */
    HS_USES_SEGMENT = 2,
    HS_KEEPS_ORDER = 4,    /* sums only adjacent ranges of ranks, lower ranks on the left */
    HS_KEEPS_ORDER_IF = 8, /* keeps the order if the ranks of every node (or socket: parameter level) are contiguous */
    HS_UNIFORM = 16,       /* the sums of all elements are bracketed alike */
    HS_USES_TOPOLOGY = 32, /* the list depends on shape.topology */
    HS_USES_SHARED = 64,   /* uses SIGNAL, WAIT, SHARED or peers' memory if the topology has shared memory */
    HS_BY_MPI = 128,       /* performed by MPI or by a function of the caller: not verified, no cost model of its own */
    HS_USES_THRESHOLD = 256,
    HS_USES_LEADERS = 512,
    HS_USES_PIECES = 1024,
    HS_USES_LEVEL = 2048,
    HS_USES_OUTER = 4096,
    HS_USES_INNER = 8192,
    HS_BY_LENGTH = 32768,    /* the bracketing of a sum depends on the length of the vector */
    HS_ON_HOST = 65536,      /* device memory is staged in host memory, where the host does the work */
    HS_FOR_DEVICES = 131072, /* the model chooses it for device memory only */
    HS_NESTS = 16384,        /* sums by levels are bracketed like one over all ranks, if merged as in dist/grid.h */
    HS_LIKE_MPI = 524288,    /* an algorithm that MPI libraries use; the cheapest such row is the price of row "mpi" */
    HS_USES_RINGS = 1048576, /* parameters rings and rest */
    HS_USES_BOX = 4194304,   /* the list depends on shape.box */
    /*
     * Reduces by EXACT steps: results depend on neither the number of ranks, nor their order and placement, nor
     * parameters. Not for operators of the caller, as a stage, in products, or at the model's choice (the option
     * bits=anywhere demands it); for device memory the host does the work.
     */
    HS_EXACT_SUMS = 2097152,
    HS_SUMS_IN_ORDER = HS_KEEPS_ORDER | HS_UNIFORM,
    HS_KNOWS_NODES = HS_USES_TOPOLOGY | HS_USES_SHARED
};

/*
 * A row of the table. Buffers by collective: bcast: OUT on all ranks. reduce: IN on all, OUT on the root. allreduce: IN
 * and OUT on all. allgather: IN has the rank's part, OUT all parts at their offsets. reduce_scatter: IN has the entire
 * vector, OUT the rank's part of the sum.
 */
struct hs_alg {
    enum hs_collective collective;
    const char *name;
    const char *doc; /* one line: method, cost, paper and section */
    unsigned flags;
    /* Why the row cannot serve a shape; NULL if it can. Built-in: not asked about one rank. No function: always can. */
    const char *(*unfit)(const struct hs_alg *alg, const struct hs_shape *shape);
    /*
     * Called with size > 1 and bytes > 0; hs_build handles other shapes, except for user-defined rows, row "mpi" and,
     * if size is 1, rows with HS_EXACT_SUMS.
     */
    void (*build)(struct hs_builder *builder, const struct hs_shape *shape);
    /*
     * Sets those of the row's parameters that are 0 to the cheapest values at the prices; NULL stands for the built-in
     * profile's prices, with which the builder replaces parameters that are still 0. The pointer is NULL if the builder
     * has constant defaults.
     */
    void (*complete)(const struct hs_shape *shape, const struct hs_prices *prices, struct hs_parameters *with);
    const void *own; /* data of a user-defined row's builder; NULL for built-in rows */
    /* The caller's function that performs the row (coll/run/executor.h); NULL if none does. */
    const struct hs_performer *performer;
    int variant;                   /* distinguishes rows that share a builder */
    const struct hs_alg *fallback; /* row used where this one does not fit; if it does not fit either: hs_alg_safe */
};

/* Defines a built-in row: HS_ALG(HS_BCAST, bcast_flat, "flat", .build = build, .doc = "..."). */
#define HS_ALG(of, symbol, text, ...) \
    const struct hs_alg hs_alg_##symbol = {.collective = of, .name = text, __VA_ARGS__}

/* The user-defined rows of a context. The address of a row never changes. */
struct hs_registry {
    struct hs_alg **row;
    int count;
    size_t capacity;
};

/* The i-th built-in row, NULL past the end. */
const struct hs_alg *hs_alg_at(int i);
/* The built-in row of this name, NULL if there is none. */
const struct hs_alg *hs_alg_find(enum hs_collective collective, const char *name);
/* As hs_alg_at and hs_alg_find: built-in rows first, then those of `own`, which may be NULL. */
const struct hs_alg *hs_alg_at_in(const struct hs_registry *own, int i);
const struct hs_alg *hs_alg_find_in(const struct hs_registry *own, enum hs_collective collective, const char *name);
/* "flat, binomial, ...": the names of a collective's rows, without those that do not fit into `size` bytes. */
void hs_alg_names(const struct hs_registry *own, enum hs_collective collective, char *text, size_t size);
/* The collective's default row over messages, which serves every shape and operator. */
const struct hs_alg *hs_alg_safe(enum hs_collective collective);
/* The default row for ranks of one node that share memory, which need not fit every shape; NULL if none. */
const struct hs_alg *hs_alg_shared(enum hs_collective collective);
/* A readable reason why the row cannot serve the shape, or NULL if it can. */
const char *hs_alg_unfit(const struct hs_alg *alg, const struct hs_shape *shape);
/* The number of ranks by which a row's lists are rotated: 0 for unrooted collectives and HS_TRUE_ROOT, else root. */
int hs_rotation(const struct hs_alg *alg, const struct hs_shape *shape);
const char *hs_collective_name(enum hs_collective collective);

/*
 * Builds the list of shape->rank; parameters that the row's flags do not name are ignored. Errors: HSUMMA_ERR_MEMORY;
 * HSUMMA_ERR_UNSUPPORTED if the row does not fit the shape; HSUMMA_ERR_INTERNAL if the shape is invalid (size, rank,
 * root, unit, bytes or segment out of range); errors of the builder.
 */
hsumma_status hs_build(const struct hs_alg *alg, const struct hs_shape *shape, const struct hs_allocator *memory,
                       struct hs_list *list);

static inline void hs_raise_to(int64_t *most, int64_t value)
{
    if (*most < value)
        *most = value;
}

/* A range of bytes of the vector. */
struct hs_span {
    int64_t at, count;
};
/* The byte offset of part i when elements are split equally, 0 <= i <= parts; longer parts come first. */
int64_t hs_part_equal(int64_t bytes, int64_t unit, int64_t parts, int64_t i);
/* Part i. */
struct hs_span hs_span_equal(int64_t bytes, int64_t unit, int64_t parts, int64_t i);
/*
 * The number of equal segments for a pipeline: each has at most shape->segment bytes (default 64 KiB), or one element
 * if that is longer; but there are never more than 4096 segments.
 */
int64_t hs_segments(const struct hs_shape *shape);
/* The byte offset of part i of the shape's vector, 0 <= i <= size; hs_part_equal if shape->part is NULL. */
int64_t hs_part_at(const struct hs_shape *shape, int i);
static inline int64_t hs_part_bytes(const struct hs_shape *shape, int i)
{
    return hs_part_at(shape, i + 1) - hs_part_at(shape, i);
}
/* The parts of a vector, for loops over many: no division for each. */
struct hs_parts {
    const int64_t *at; /* hs_shape.part; NULL for equal parts: */
    int64_t unit, each, longer;
};
static inline struct hs_parts hs_parts_equal(int64_t bytes, int64_t unit, int64_t parts)
{
    int64_t elements = bytes / unit, each = elements / parts;
    return (struct hs_parts){.unit = unit, .each = each, .longer = elements - each * parts};
}
static inline struct hs_parts hs_parts_of(const struct hs_shape *shape)
{
    return shape->part ? (struct hs_parts){.at = shape->part} : hs_parts_equal(shape->bytes, shape->unit, shape->size);
}
static inline int64_t hs_parts_at(const struct hs_parts *parts, int64_t i)
{
    return parts->at ? parts->at[i] : (i * parts->each + hs_min(i, parts->longer)) * parts->unit;
}
static inline struct hs_span hs_parts_span(const struct hs_parts *parts, int64_t i)
{
    int64_t at = hs_parts_at(parts, i);
    return (struct hs_span){at, hs_parts_at(parts, i + 1) - at};
}
int64_t hs_longest_part(const struct hs_shape *shape);
/* The bytes of a true (unrotated) rank's HS_IN or HS_OUT; see "Buffers by collective" above. */
int64_t hs_buffer_bytes(enum hs_collective collective, const struct hs_shape *shape, int rank, enum hs_slot slot);

#endif
