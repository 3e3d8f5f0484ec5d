/*
 * The table of algorithms.  To add one: a file with its builder and its row (HS_ALG), and the row's name in rows.h.
 */
#ifndef HS_COLL_SCHEDULE_REGISTRY_H
#define HS_COLL_SCHEDULE_REGISTRY_H

#include "coll/schedule/topology.h"

enum hs_collective { HS_BCAST, HS_REDUCE_TO, HS_ALLREDUCE, HS_ALLGATHER, HS_REDUCE_SCATTER, HS_COLLECTIVES };

struct hs_alg;

/* Parameters of a row, all optional: 0 or NULL stands for the row's default.  A row says in its flags which it uses. */
struct hs_parameters {
    int64_t threshold;           /* b: vectors of at most so many bytes are exchanged whole; 1: never */
    int leaders;                 /* l: leaders per node or socket */
    int pieces;                  /* k: sub-partitions that a leader pipelines */
    enum hs_division_kind level; /* what is meant by "node": nodes, or sockets */
    const struct hs_alg *outer;  /* of the stage between nodes */
    const struct hs_alg *inner;  /* of the stages inside a node */
    int contributors; /* not a user's: allreduce "shared" as a stage, where only so many first ranks contribute */
};

static inline int hs_same_parameters(const struct hs_parameters *x, const struct hs_parameters *y)
{
    return x->threshold == y->threshold && x->leaders == y->leaders && x->pieces == y->pieces && x->level == y->level &&
           x->outer == y->outer && x->inner == y->inner;
}

/* What a builder may know. */
struct hs_shape {
    int rank, size;
    int root;            /* 0 unless the row is HS_TRUE_ROOT: the others see ranks rotated so that the root is 0 */
    int64_t bytes;       /* of the whole vector (allgather, reduce_scatter: of all parts together) */
    int64_t unit;        /* bytes of one element: a cut lies at a multiple of it */
    int64_t segment;     /* bytes; 0: the builder's default; rounded to elements, never below one */
    const int64_t *part; /* size + 1 ascending byte offsets, part[0] = 0, part[size] = bytes; NULL: hs_part_equal */
    const struct hs_topology *topology; /* NULL: every rank on a node of its own, without shared memory */
    struct hs_parameters with;
};

enum hs_alg_flags {
    HS_TRUE_ROOT = 1, /* rotating the ranks is not valid (or would change the order of the sums): shape.root is real */
    HS_USES_SEGMENT = 2,
    HS_KEEPS_ORDER = 4,    /* sums only neighbouring ranges of ranks, lower ranks on the left */
    HS_KEEPS_ORDER_IF = 8, /* the same if the ranks of every node (or socket: parameter level) are contiguous */
    HS_UNIFORM = 16,       /* every element is bracketed in the same way */
    HS_USES_TOPOLOGY = 32, /* the list depends on shape.topology */
    HS_USES_SHARED = 64,   /* SIGNAL, WAIT, SHARED or a peer's memory where the topology has room */
    HS_BY_MPI = 128,       /* MPI's own: nothing to verify, no clock */
    HS_USES_THRESHOLD = 256,
    HS_USES_LEADERS = 512,
    HS_USES_PIECES = 1024,
    HS_USES_LEVEL = 2048,
    HS_USES_OUTER = 4096,
    HS_USES_INNER = 8192,
    HS_BY_LENGTH = 32768, /* how a sum is bracketed depends on the length of the vector */
    HS_ON_HOST = 65536,   /* of device memory, copies in the host's take part, and the host does the work */
    /* The model does not consider it for host memory. */
    HS_FOR_DEVICES = 131072,
    HS_NESTS =
        16384, /* sums over levels of a hierarchy are bracketed like a sum over one (hs_factors_merge_for_sums) */
    HS_LIKE_MPI = 524288, /* what MPI may well use: the cheaper of such rows is the price of MPI's own */
    HS_SUMS_IN_ORDER = HS_KEEPS_ORDER | HS_UNIFORM,
    HS_KNOWS_NODES = HS_USES_TOPOLOGY | HS_USES_SHARED
};

/*
 * Conventions per collective: bcast: OUT, bytes long, on all ranks.  reduce: IN on all, OUT on the root.  allreduce: IN
 * and OUT on all.  allgather: IN is the own part; OUT all parts at their offsets.  reduce_scatter: IN the whole vector,
 * OUT the own part of the sum.
 */
struct hs_alg {
    enum hs_collective collective;
    const char *name;
    const char *doc; /* one line: what it does, cost, paper and section */
    unsigned flags;
    /* Why the row cannot serve a shape of two ranks or more, NULL: it can; no function: always. */
    const char *(*unfit)(const struct hs_alg *alg, const struct hs_shape *shape);
    /* Shapes have two ranks and one byte at least: hs_build does the others (but for own rows and MPI's). */
    void (*build)(struct hs_builder *builder, const struct hs_shape *shape);
    const void *own;               /* of a row that is not built in: what its builder wants */
    int variant;                   /* tells rows of one builder apart */
    const struct hs_alg *fallback; /* serves where this row does not fit; NULL: the safe one */
};

/* Defines a built-in row: HS_ALG(HS_BCAST, bcast_flat, "flat", .build = build, .doc = "..."). */
#define HS_ALG(of, symbol, text, ...) \
    const struct hs_alg hs_alg_##symbol = {.collective = of, .name = text, __VA_ARGS__}

/* Rows beside the built in ones; each stays where it is. */
struct hs_registry {
    struct hs_alg **row;
    int count;
    size_t capacity;
};

/* The i-th row, NULL past the end. */
const struct hs_alg *hs_alg_at(int i);
/* By name; NULL if there is none. */
const struct hs_alg *hs_alg_find(enum hs_collective collective, const char *name);
/* The same, built in ones first, then those of `own`, which may be NULL. */
const struct hs_alg *hs_alg_at_in(const struct hs_registry *own, int i);
const struct hs_alg *hs_alg_find_in(const struct hs_registry *own, enum hs_collective collective, const char *name);
/* "flat, binomial, ..." of a collective, cut where it does not fit. */
void hs_alg_names(const struct hs_registry *own, enum hs_collective collective, char *text, size_t size);
/* The row of a collective that serves every shape and every operator, by messages. */
const struct hs_alg *hs_alg_safe(enum hs_collective collective);
/* The default of ranks of one node that share memory, where it fits; NULL: the collective has none. */
const struct hs_alg *hs_alg_shared(enum hs_collective collective);
/* Why the row cannot serve the shape, for people; NULL if it can. */
const char *hs_alg_unfit(const struct hs_alg *alg, const struct hs_shape *shape);
/* Ranks by which a row's lists are rotated: an algorithm without a root, or with a true one, sees true ranks. */
int hs_rotation(const struct hs_alg *alg, const struct hs_shape *shape);
const char *hs_collective_name(enum hs_collective collective);

/*
 * Builds the list of shape->rank; parameters that the row's flags do not name are ignored.  HSUMMA_ERR_MEMORY;
 * HSUMMA_ERR_UNSUPPORTED if the row does not fit the shape; HSUMMA_ERR_INTERNAL if the shape is no shape (rank, root,
 * unit or bytes out of range).
 */
hsumma_status hs_build(const struct hs_alg *alg, const struct hs_shape *shape, const struct hs_allocator *memory,
                       struct hs_list *list);

static inline int64_t hs_least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Byte offset where part i of an equal split in elements begins, 0 <= i <= parts; the longer parts come first. */
int64_t hs_part_equal(int64_t bytes, int64_t unit, int64_t parts, int64_t i);
/* Equal parts that a pipeline cuts the vector into: of at most shape->segment bytes (default 64 KiB), at most 4096. */
int64_t hs_segments(const struct hs_shape *shape);
/* Byte offset where part i of the shape's vector begins, 0 <= i <= size; part = NULL: split equally. */
int64_t hs_part_at(const struct hs_shape *shape, int i);
static inline int64_t hs_part_bytes(const struct hs_shape *shape, int i)
{
    return hs_part_at(shape, i + 1) - hs_part_at(shape, i);
}
int64_t hs_longest_part(const struct hs_shape *shape);
/* Bytes that a true rank has in HS_IN or HS_OUT, by the conventions above. */
int64_t hs_buffer_bytes(enum hs_collective collective, const struct hs_shape *shape, int rank, enum hs_slot slot);

#endif
