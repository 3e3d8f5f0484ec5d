/**
 * @file
 * hsumma's collectives: broadcast, reduce, allreduce, allgather and reduce-scatter over the processes of a context.
 *
 *     hsumma_create(MPI_COMM_WORLD, NULL, &ctx, text, sizeof text);
 *     hsumma_allreduce(ctx, in, out, count, HSUMMA_DOUBLE, HSUMMA_SUM);
 *
 * Every algorithm is a row of a registry (hsumma_coll_algorithm() lists them, `hsumma coll --list` prints them).  Which
 * one serves a call is chosen by, in this order: the call's own word, the context's option "coll" (environment:
 * HSUMMA_COLL), a tuned file (option "tuned"), the cost model, a safe default.  hsumma_coll_describe() says which one
 * and why.  The conventions of hsumma.h hold here: statuses, messages, collective calls, ownership, one thread at a
 * time.
 *
 * Words for algorithms: a name, with parameters in brackets: "dpml(l=4,k=2,level=socket,outer=ring)", where l are
 * leaders, k pieces, b a threshold in bytes, level node or socket, outer and inner stages, and segment bytes.
 *
 * The option "coll" gives them by collective and size: "allreduce:0-2k:nap,2k-inf:dpml(l=4);bcast:chain".  Sizes are
 * bytes of the whole vector (of all parts together), both ends of a range are included, and the first rule that fits
 * wins.  A tuned file has a first line "hsumma tuned 2" and then lines "COLLECTIVE RANKS NODES RANGE WORD", in which a
 * star stands for any number or all sizes, and a hash begins a comment.  The model and the default take built-in
 * algorithms only.  An algorithm that cannot serve a call (its shape, or an operator that does not commute) gives way
 * to one that can.
 */
#ifndef HSUMMA_COLL_H
#define HSUMMA_COLL_H

#include <hsumma.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @name Calls
 * @{ */

/** What a call does; hsumma_coll says which buffers each takes. */
typedef enum hsumma_collective {
    HSUMMA_BCAST = 0,     /**< the root's vector, to all */
    HSUMMA_REDUCE,        /**< the sum of all vectors, to the root */
    HSUMMA_ALLREDUCE,     /**< the sum of all vectors, to all */
    HSUMMA_ALLGATHER,     /**< the parts of all, to all */
    HSUMMA_REDUCE_SCATTER /**< to each process its part of the sum */
} hsumma_collective;

/** Elements of reductions. */
typedef enum hsumma_element {
    HSUMMA_FLOAT = 0,      /**< float */
    HSUMMA_DOUBLE,         /**< double */
    HSUMMA_FLOAT_COMPLEX,  /**< two floats */
    HSUMMA_DOUBLE_COMPLEX, /**< two doubles */
    HSUMMA_INT32,          /**< int32_t */
    HSUMMA_INT64           /**< int64_t */
} hsumma_element;

/** Operators of reductions. */
typedef enum hsumma_op {
    HSUMMA_SUM = 0, /**< sums of integers wrap */
    HSUMMA_MAX,     /**< not for complex elements; of two that do not compare (NaN) the one of the higher rank is taken,
                         or either where an algorithm does not keep the order */
    HSUMMA_MIN,     /**< likewise */
    HSUMMA_USER     /**< a function of the caller's: hsumma_operator */
} hsumma_op;

/** dst[i] = left[i] op right[i] for i < count; dst may be left or right.  Must be associative, and may be called from
 * any call of the context. */
typedef void hsumma_combine(void *dst, const void *left, const void *right, int64_t count, void *state);

/** An operator with its elements. */
typedef struct hsumma_operator {
    hsumma_op op;            /**< which */
    hsumma_element element;  /**< not for HSUMMA_USER */
    hsumma_combine *combine; /**< for HSUMMA_USER, as all below: combines count elements */
    void *state;             /**< passed to combine; the caller's */
    size_t size;             /**< bytes of an element */
    int commutative;         /**< 0: operands are combined in the order of the ranks */
} hsumma_operator;

/**
 * One collective call; fields that it does not need are 0.  All but in and out must be the same on every process.
 *
 * - bcast: out has count elements of `size` bytes on every process; the root's are sent
 * - reduce: in has count elements, out count elements on the root (elsewhere it may be NULL)
 * - allreduce: in and out have count elements
 * - allgather: in has count elements of `size` bytes (or counts[rank]); out all parts, in the order of the ranks
 * - reduce_scatter: in has all parts; out count elements (or counts[rank]) of the sum
 *
 * In place: in = NULL or in = out stands for the contribution lying in out (allgather: at its place there; reduce: on
 * the root only; reduce_scatter: out holds all parts and gets the own one at its beginning).
 *
 * In a context with a device (hsumma.h) a call is on the device if in or out lies in its memory; this must be the same
 * on every process.  The call then returns when its operations are enqueued on the context's stream, unless one of the
 * two buffers lies in memory of the host, for which it waits.  Operators of the caller's, the algorithm "mpi", and
 * where processes cannot share device memory whatever would need that, are done by the host on copies;
 * hsumma_coll_describe() says so.
 */
typedef struct hsumma_coll {
    hsumma_collective collective; /**< which */
    const void *in;               /**< this process's contribution; the caller's */
    void *out;                    /**< this process's result; the caller's */
    int64_t count;                /**< elements, see above */
    const int64_t *counts;        /**< elements of each process's part, or NULL: `count` each */
    size_t size;                  /**< bcast, allgather: bytes of an element, 0 means 1 */
    hsumma_operator op;           /**< reduce, allreduce, reduce_scatter */
    int root;                     /**< bcast, reduce: a rank of the context's communicator */
    const char *algorithm;        /**< a word for one, or NULL: choose */
} hsumma_coll;

/**
 * Runs one collective.  Collective over the context.
 *
 * Errors: HSUMMA_ERR_ARGUMENT, HSUMMA_ERR_OPTION (no such algorithm), HSUMMA_ERR_UNSUPPORTED (it cannot serve this
 * call), HSUMMA_ERR_MEMORY, HSUMMA_ERR_MPI, HSUMMA_ERR_DEVICE (on all processes; the context can only be freed).
 *
 * The first call of a kind (collective, sizes, root, algorithm's word) is checked on all processes together: all return
 * the same error and nothing has been changed.  Later ones of the same kind are checked on each process alone: a
 * process that passes a NULL pointer, or has no memory for the copy of its first call in place of a kind, then leaves
 * the others waiting (option check=always: never for a pointer; each call costs one small allreduce more).  Errors in
 * arguments that all share are found on all processes together at any call.  In a context with a device the kind of
 * memory of out (of in, where there is no out) is among them: a device's on all processes or on none; the other buffer
 * may lie anywhere.
 */
HSUMMA_API hsumma_status hsumma_coll_run(hsumma_context *ctx, const hsumma_coll *call);

/** A collective call in progress: hsumma_coll_start(). */
typedef struct hsumma_request hsumma_request;

/**
 * As hsumma_coll_run() without waiting.  Several requests of a context may be in progress, also beside a plan's
 * execution; all processes start them in the same order.  in and out must not be touched until the request is done. The
 * work advances inside hsumma_coll_test(), hsumma_coll_wait() and hsumma_coll_run() of any request of the context,
 * which also advance a plan that has been started when there is nothing else to do.  The request belongs to the caller,
 * who frees it with hsumma_coll_wait().  Errors: those of hsumma_coll_run(); *request is NULL then.
 */
HSUMMA_API hsumma_status hsumma_coll_start(hsumma_context *ctx, const hsumma_coll *call, hsumma_request **request);
/** Advances a request; *done becomes 1 when it is complete, else 0.  Any process may call it any number of times. */
HSUMMA_API hsumma_status hsumma_coll_test(hsumma_request *request, int *done);
/** Completes and frees a request and sets *request to NULL; NULL is ignored (HSUMMA_OK). */
HSUMMA_API hsumma_status hsumma_coll_wait(hsumma_request **request);

/** Stores which algorithm would serve the call, who decided that and why, in one line of up to size bytes; of the
 * buffers only the kind of memory is looked at, and that in a context with a device alone.  Local. */
HSUMMA_API hsumma_status hsumma_coll_describe(hsumma_context *ctx, const hsumma_coll *call, char *text, size_t size);

/** @} */
/** @name Short forms
 *
 * hsumma_coll_run() with what most calls need.
 * @{ */

/** Broadcasts the root's bytes.  buffer: bytes on every process. */
HSUMMA_API hsumma_status hsumma_bcast(hsumma_context *ctx, void *buffer, int64_t bytes, int root);
/** Reduces count elements to the root; out may be NULL elsewhere. */
HSUMMA_API hsumma_status hsumma_reduce(hsumma_context *ctx, const void *in, void *out, int64_t count,
                                       hsumma_element element, hsumma_op op, int root);
/** Reduces count elements to all processes. */
HSUMMA_API hsumma_status hsumma_allreduce(hsumma_context *ctx, const void *in, void *out, int64_t count,
                                          hsumma_element element, hsumma_op op);
/** Gathers each process's bytes, in the order of the ranks.  out: size of the communicator times bytes. */
HSUMMA_API hsumma_status hsumma_allgather(hsumma_context *ctx, const void *in, void *out, int64_t bytes);
/** Reduces, and gives count elements of the sum to each process.  in: size of the communicator times count elements. */
HSUMMA_API hsumma_status hsumma_reduce_scatter(hsumma_context *ctx, const void *in, void *out, int64_t count,
                                               hsumma_element element, hsumma_op op);

/** @} */
/** @name Algorithms
 * @{ */

/** What an algorithm needs or keeps. */
enum hsumma_algorithm_flags {
    HSUMMA_TRUE_ROOT =
        1, /**< the builder sees true ranks and the true root; else ranks rotated so that the root is 0 */
    HSUMMA_KEEPS_ORDER = 2,           /**< fit for operators that do not commute */
    HSUMMA_KEEPS_ORDER_ON_BLOCKS = 4, /**< likewise if the ranks of a node follow each other */
    HSUMMA_UNIFORM = 8,               /**< every element is bracketed alike */
    HSUMMA_SHARED = 16,               /**< uses shared memory inside a node where there is some */
    HSUMMA_BY_MPI = 32                /**< MPI's own */
};

/** A row of the registry.  Strings are valid as long as the context. */
typedef struct hsumma_algorithm_info {
    hsumma_collective collective; /**< which it serves */
    const char *name;             /**< its word */
    const char *doc;              /**< one line */
    unsigned flags;               /**< of enum hsumma_algorithm_flags */
    char parameters[64];          /**< their names, "l, k, level, outer"; "" for none */
} hsumma_algorithm_info;

/** The i-th algorithm of a context, 0-based, built-in ones first; ctx = NULL: the built-in ones.  Returns 0 past the
 * last, else 1.  Local. */
HSUMMA_API int hsumma_coll_algorithm(const hsumma_context *ctx, int i, hsumma_algorithm_info *info);

/** @} */
/** @name Your own algorithm
 *
 * A builder writes down what one process does, as steps on symbolic buffers: it gets a shape and calls the functions
 * below; it must not communicate or look at data.  doc/collectives.md has one in 40 lines.  Prove it
 * (hsumma_coll_prove()) before it runs: messages of unlike lengths, for one, are an error for which MPI itself may end
 * the program.
 * @{ */

/** The list of steps that a builder writes; the library's. */
typedef struct hs_builder hsumma_builder;

/** What a builder may know. */
typedef struct hsumma_shape {
    int rank;            /**< the process whose steps are written */
    int size;            /**< processes */
    int root;            /**< bcast, reduce; 0 where ranks are rotated */
    int64_t bytes;       /**< of the whole vector */
    int64_t unit;        /**< bytes of an element: cut at multiples of it only */
    int64_t segment;     /**< what the caller has asked for in bytes; 0: nothing */
    const int64_t *part; /**< size + 1 offsets in bytes of the parts of allgather and reduce_scatter, else of an equal
                              cut */
    int nodes;           /**< how many there are */
    const int *node;     /**< the node, counted in the order of their lowest ranks, of each rank; each rank is a node of
                              its own where ranks are rotated */
} hsumma_shape;

/** The buffers of a step. */
enum hsumma_buffer {
    HSUMMA_IN = 0, /**< the process's contribution; read only */
    HSUMMA_OUT,    /**< its result */
    HSUMMA_SCRATCH /**< memory for intermediate results, as large as the steps need */
};

/** A place in a buffer. */
typedef struct hsumma_place {
    enum hsumma_buffer buffer; /**< which */
    int64_t at;                /**< offset in bytes */
} hsumma_place;

/** Appends a step that sends.  Returns its number, or -1 if bytes is 0 (nothing to do), as the next three.  The i-th
 * send from a to b is received by the i-th receive of b from a, of the same length. */
HSUMMA_API int hsumma_step_send(hsumma_builder *builder, int peer, hsumma_place from, int64_t bytes);
/** Appends a step that receives: see hsumma_step_send(). */
HSUMMA_API int hsumma_step_recv(hsumma_builder *builder, int peer, hsumma_place to, int64_t bytes);
/** Appends a step that copies: see hsumma_step_send(). */
HSUMMA_API int hsumma_step_copy(hsumma_builder *builder, hsumma_place to, hsumma_place from, int64_t bytes);
/** Appends a step that combines, to = left op right: see hsumma_step_send(). */
HSUMMA_API int hsumma_step_reduce(hsumma_builder *builder, hsumma_place to, hsumma_place left, hsumma_place right,
                                  int64_t bytes);
/** The step, which must be the last one, waits for an earlier one; -1 for either is ignored.  Steps that touch the same
 * bytes must be ordered. */
HSUMMA_API void hsumma_step_after(hsumma_builder *builder, int step, int earlier);

/** An algorithm of the caller's. */
typedef struct hsumma_algorithm {
    hsumma_collective collective; /**< which it serves */
    const char *name;             /**< letters, digits and _ */
    const char *doc;              /**< one line */
    unsigned flags;               /**< HSUMMA_TRUE_ROOT, HSUMMA_KEEPS_ORDER, HSUMMA_UNIFORM */
    /** Why not for this shape; NULL: it fits.  May be NULL. */
    const char *(*unfit)(const hsumma_shape *shape, void *state);
    /** Writes the steps of shape->rank. */
    void (*build)(hsumma_builder *builder, const hsumma_shape *shape, void *state);
    void *state; /**< passed to both; the caller's, must live as long as the context */
} hsumma_algorithm;

/**
 * Adds an algorithm to the context (copied), by its name, on all processes alike, before it is used; also for bcast=
 * and reduce= of plans.  Local.
 *
 * Errors: HSUMMA_ERR_ARGUMENT (no name, no builder, or the name exists), HSUMMA_ERR_MEMORY.  A call whose steps would
 * go beyond the buffers, write to HSUMMA_IN or name a process outside is refused with HSUMMA_ERR_ARGUMENT.
 */
HSUMMA_API hsumma_status hsumma_coll_register(hsumma_context *ctx, const hsumma_algorithm *algorithm);

/**
 * Proves an algorithm without a cluster, for `size` processes in this one: data, deadlock, matching, order of the sums,
 * under several schedules, on one and on two nodes, with equal and unequal parts.  Local, needs no MPI.
 *
 * Returns HSUMMA_OK; HSUMMA_ERR_INTERNAL with up to n bytes of what is wrong in text; HSUMMA_ERR_UNSUPPORTED: it does
 * not fit the shape; HSUMMA_ERR_ARGUMENT.
 */
HSUMMA_API hsumma_status hsumma_coll_prove(const hsumma_algorithm *algorithm, int size, int root, int64_t bytes,
                                           int64_t unit, char *text, size_t n);

/** @} */

#ifdef __cplusplus
}
#endif

#endif
