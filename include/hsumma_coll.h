/*
 * hsumma's collectives: broadcast, reduce, allreduce, allgather and reduce-scatter over the processes of a context.
 *
 * Every algorithm is a row of a registry (hsumma_coll_algorithm lists them, `hsumma coll --list` prints them);
 * which one serves a call is chosen by, in this order: the call's own word, the context's option "coll" (environment:
 * HSUMMA_COLL), a tuned file (option "tuned"), the cost model, a safe default.  hsumma_coll_describe says which one and
 * why.  The rules of hsumma.h hold here: statuses, messages, collective calls, ownership, one thread at a time.
 *
 * Words for algorithms: a name, with parameters in brackets: "dpml(l=4,k=2,level=socket,outer=ring)".
 *   l leaders, k pieces, b threshold in bytes, level node|socket, outer and inner stages, segment bytes
 * The option "coll" gives them by collective and size: "allreduce:0-2k:nap,2k-inf:dpml(l=4);bcast:chain".  Sizes are
 * bytes of the whole vector (of all parts together), both ends of a range are included, and the first rule that fits
 * wins.  A tuned file has a first line "hsumma tuned 2" and then lines "COLLECTIVE RANKS NODES RANGE WORD", in which *
 * stands for any number or all sizes; # begins a comment.  The model and the default take built in algorithms only.
 * An algorithm that cannot serve a call (its shape, or an operator that does not commute) gives way to one that can.
 */
#ifndef HSUMMA_COLL_H
#define HSUMMA_COLL_H

#include <hsumma.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum hsumma_collective {
    HSUMMA_BCAST = 0,
    HSUMMA_REDUCE,
    HSUMMA_ALLREDUCE,
    HSUMMA_ALLGATHER,
    HSUMMA_REDUCE_SCATTER
} hsumma_collective;

/* Elements of reductions. */
typedef enum hsumma_element {
    HSUMMA_FLOAT = 0,
    HSUMMA_DOUBLE,
    HSUMMA_FLOAT_COMPLEX,
    HSUMMA_DOUBLE_COMPLEX,
    HSUMMA_INT32,
    HSUMMA_INT64
} hsumma_element;

/* MAX and MIN are not for complex elements; of two that do not compare (NaN) they take the one of the higher rank, or
 * of either where an algorithm does not keep the order.  Integer sums wrap.  USER: a function of the caller's. */
typedef enum hsumma_op { HSUMMA_SUM = 0, HSUMMA_MAX, HSUMMA_MIN, HSUMMA_USER } hsumma_op;

/* dst[i] = left[i] op right[i] for i < count; dst may be left or right.  Must be associative. */
typedef void hsumma_combine(void *dst, const void *left, const void *right, int64_t count, void *state);

typedef struct hsumma_operator {
    hsumma_op op;
    hsumma_element element; /* not for HSUMMA_USER */
    /* for HSUMMA_USER */
    hsumma_combine *combine;
    void *state;     /* handed to combine */
    size_t size;     /* bytes of an element */
    int commutative; /* 0: operands are combined in the order of the ranks */
} hsumma_operator;

/*
 * One collective call; fields that it does not need are 0.  All but in and out must be the same on every process.
 *   bcast           out: count elements of `size` bytes on every process; the root's are sent
 *   reduce          in: count elements; out: count elements on the root (elsewhere it may be NULL)
 *   allreduce       in, out: count elements
 *   allgather       in: count elements of `size` bytes (or counts[rank]); out: all parts, in the order of the ranks
 *   reduce_scatter  in: all parts; out: count elements (or counts[rank]) of the sum
 * In place: in = NULL or in = out stands for the contribution lying in out (allgather: at its place there; reduce: on
 * the root only; reduce_scatter: out holds all parts and gets the own one at its beginning).
 *
 * In a context with a device (hsumma.h) a call is on the device if in or out lies in its memory; this must be the same
 * on every process.  Then the call ends when its work is on the context's stream, behind what is there already, unless
 * one of the two lies in memory of the host, which it waits for.  Operators of the caller's, the algorithm "mpi", and
 * where processes cannot share device memory all that would need that, are done by the host on copies;
 * hsumma_coll_describe says so.
 */
typedef struct hsumma_coll {
    hsumma_collective collective;
    const void *in;
    void *out;
    int64_t count;
    const int64_t *counts; /* one per process, or NULL: `count` each */
    size_t size;           /* bcast, allgather: bytes of an element, 0 means 1 */
    hsumma_operator op;    /* reduce, allreduce, reduce_scatter */
    int root;
    const char *algorithm; /* a word for one, or NULL: choose */
} hsumma_coll;

/* Runs one collective.  Errors: HSUMMA_ERR_ARGUMENT, _OPTION (no such algorithm), _UNSUPPORTED (it cannot serve this
 * call), _MEMORY, _MPI.  The first call of a kind (collective, sizes, root, algorithm's word) is checked on all
 * processes together: all return the same error and nothing has been changed.  Later ones of the same kind are checked
 * on each process alone: a process that passes a NULL pointer, or has no memory for the copy of its first call in place
 * of a kind, then leaves the others waiting (option check=always: never for a pointer; each call costs one small
 * allreduce more).  What is wrong with the arguments that all share is found on all processes together at any call.
 * In a context with a device the kind of memory of out (of in, where there is no out) counts among what all must share:
 * a device's on all processes or on none; the other buffer may lie anywhere.  _DEVICE besides, on all processes: the
 * context can only be freed then. */
HSUMMA_API hsumma_status hsumma_coll_run(hsumma_context *ctx, const hsumma_coll *call);

/*
 * The same without waiting.  Several requests of a context may be under way, also beside a plan's execution; all
 * processes start them in the same order.  in and out must not be touched until the request is done; the work advances
 * inside hsumma_coll_test, _wait and _run (of any request of the context), which also move a plan that has been started
 * when there is nothing else to do.  hsumma_coll_wait frees the request and sets it to
 * NULL; NULL is ignored (HSUMMA_OK).
 */
typedef struct hsumma_request hsumma_request;
HSUMMA_API hsumma_status hsumma_coll_start(hsumma_context *ctx, const hsumma_coll *call, hsumma_request **request);
HSUMMA_API hsumma_status hsumma_coll_test(hsumma_request *request, int *done);
HSUMMA_API hsumma_status hsumma_coll_wait(hsumma_request **request);

/* Which algorithm would serve the call, who decided that and why, in one line; of pointers only the kind of memory is
 * looked at, and that in a context with a device alone.  Local. */
HSUMMA_API hsumma_status hsumma_coll_describe(hsumma_context *ctx, const hsumma_coll *call, char *text, size_t size);

/* Short forms; op and element as above. */
HSUMMA_API hsumma_status hsumma_bcast(hsumma_context *ctx, void *buffer, int64_t bytes, int root);
HSUMMA_API hsumma_status hsumma_reduce(hsumma_context *ctx, const void *in, void *out, int64_t count,
                                       hsumma_element element, hsumma_op op, int root);
HSUMMA_API hsumma_status hsumma_allreduce(hsumma_context *ctx, const void *in, void *out, int64_t count,
                                          hsumma_element element, hsumma_op op);
HSUMMA_API hsumma_status hsumma_allgather(hsumma_context *ctx, const void *in, void *out, int64_t bytes);
HSUMMA_API hsumma_status hsumma_reduce_scatter(hsumma_context *ctx, const void *in, void *out, int64_t count,
                                               hsumma_element element, hsumma_op op);

/* The registry of a context: its i-th algorithm, built in ones first; 0 past the last.  ctx = NULL: the built-in ones.
 * Strings are valid as long as the context. */
typedef struct hsumma_algorithm_info {
    hsumma_collective collective;
    const char *name, *doc;
    unsigned flags;      /* enum hsumma_algorithm_flags */
    char parameters[64]; /* their names, "l, k, level, outer"; "" for none */
} hsumma_algorithm_info;
HSUMMA_API int hsumma_coll_algorithm(const hsumma_context *ctx, int i, hsumma_algorithm_info *info);

enum hsumma_algorithm_flags {
    HSUMMA_TRUE_ROOT = 1, /* the builder sees true ranks and the true root; else ranks rotated so that the root is 0 */
    HSUMMA_KEEPS_ORDER = 2,           /* fit for operators that do not commute */
    HSUMMA_KEEPS_ORDER_ON_BLOCKS = 4, /* the same if the ranks of a node follow each other */
    HSUMMA_UNIFORM = 8,               /* every element is bracketed alike */
    HSUMMA_SHARED = 16,               /* uses shared memory inside a node where there is some */
    HSUMMA_BY_MPI = 32                /* MPI's own */
};

/*
 * Your own algorithm.  A builder writes down what one process does, as steps on symbolic buffers: it gets a shape and
 * calls the functions below; it must not communicate or look at data.  doc/collectives.md has one in 40 lines.  Prove
 * it (hsumma_coll_prove) before it runs: messages of unlike lengths, for one, are an error that MPI itself may end the
 * program for.
 */
typedef struct hs_builder hsumma_builder;

typedef struct hsumma_shape {
    int rank, size, root;
    int64_t bytes;   /* of the whole vector */
    int64_t unit;    /* bytes of an element: cut at multiples of it only */
    int64_t segment; /* what the caller has asked for in bytes; 0: nothing */
    const int64_t
        *part;       /* size + 1 offsets in bytes of the parts of allgather and reduce_scatter, else of an equal cut */
    int nodes;       /* how many there are, */
    const int *node; /* and the node, 0.. in the order of their lowest ranks, of each rank; each rank is a node of its
                        own where ranks are rotated */
} hsumma_shape;

/* A place in a buffer: what the process contributes, its result, or scratch memory; offset in bytes. */
enum hsumma_buffer { HSUMMA_IN = 0, HSUMMA_OUT, HSUMMA_SCRATCH };
typedef struct hsumma_place {
    enum hsumma_buffer buffer;
    int64_t at;
} hsumma_place;

/* Each appends a step and returns its number, or -1 if bytes is 0 (nothing to do).  The i-th send from a to b is
 * received by the i-th receive of b from a, of the same length. */
HSUMMA_API int hsumma_step_send(hsumma_builder *builder, int peer, hsumma_place from, int64_t bytes);
HSUMMA_API int hsumma_step_recv(hsumma_builder *builder, int peer, hsumma_place to, int64_t bytes);
HSUMMA_API int hsumma_step_copy(hsumma_builder *builder, hsumma_place to, hsumma_place from, int64_t bytes);
/* to = left op right */
HSUMMA_API int hsumma_step_reduce(hsumma_builder *builder, hsumma_place to, hsumma_place left, hsumma_place right,
                                  int64_t bytes);
/* The last step waits for an earlier one; -1 for either is ignored.  Steps that touch the same bytes must be ordered.
 */
HSUMMA_API void hsumma_step_after(hsumma_builder *builder, int step, int earlier);

typedef struct hsumma_algorithm {
    hsumma_collective collective;
    const char *name;                                             /* letters, digits and _ */
    const char *doc;                                              /* one line */
    unsigned flags;                                               /* HSUMMA_TRUE_ROOT, _KEEPS_ORDER, _UNIFORM */
    const char *(*unfit)(const hsumma_shape *shape, void *state); /* why not for this shape, NULL: fits; may be NULL */
    void (*build)(hsumma_builder *builder, const hsumma_shape *shape, void *state);
    void *state; /* the caller's; must live as long as the context */
} hsumma_algorithm;

/* Adds it to the context (copied), by its name, on all processes alike, before it is used; also for bcast= and reduce=
 * of plans.  HSUMMA_ERR_ARGUMENT: no name, no builder, or the name exists.  A call whose steps would go beyond the
 * buffers, write to IN or name a process outside is refused with HSUMMA_ERR_ARGUMENT. */
HSUMMA_API hsumma_status hsumma_coll_register(hsumma_context *ctx, const hsumma_algorithm *algorithm);

/* Proves it without a cluster, for `size` processes in this one: data, deadlock, matching, order of the sums, under
 * several schedules, on one and on two nodes, with equal and unequal parts.  HSUMMA_OK, or HSUMMA_ERR_INTERNAL and up
 * to n bytes of what is wrong; HSUMMA_ERR_UNSUPPORTED: it does not fit the shape; HSUMMA_ERR_ARGUMENT.  Needs no MPI.
 */
HSUMMA_API hsumma_status hsumma_coll_prove(const hsumma_algorithm *algorithm, int size, int root, int64_t bytes,
                                           int64_t unit, char *text, size_t n);

#ifdef __cplusplus
}
#endif

#endif
