/**
 * @file
 * hsumma's collectives: broadcast, reduce, allreduce, allgather and reduce-scatter over the processes of a context.
 *
 *     hsumma_create(MPI_COMM_WORLD, NULL, &ctx, text, sizeof text);
 *     hsumma_allreduce(ctx, in, out, count, HSUMMA_DOUBLE, HSUMMA_SUM);
 *
 * Every algorithm is a row of a registry (hsumma_coll_algorithm() lists them, `hsumma coll --list` prints them). The
 * algorithm of a call is chosen, in this order, by the call's field `algorithm`, the context's option "coll"
 * (environment: HSUMMA_COLL), a tuned file (option "tuned"), the cost model, a safe default. hsumma_coll_describe()
 * reports the choice and its reason. The conventions of hsumma.h hold here: statuses, messages, collective calls,
 * ownership, one thread at a time.
 *
 * An algorithm is written as a name, with parameters in parentheses: "dpml(l=4,k=2,level=socket,outer=ring)". The
 * parameters: l is the number of leaders, k the number of pieces, b a threshold in bytes, rings and rest the plan of
 * rabenseifner_traff, level is node or socket, outer and inner are the algorithms of stages, segment is a size in
 * bytes.
 *
 * The option "coll" assigns algorithms to collectives and sizes: "allreduce:0-2k:nap,2k-inf:dpml(l=4);bcast:chain".
 * Sizes are bytes of the whole vector (the sum of all parts), both ends of a range are included, and the first rule
 * that fits applies. A tuned file has a first line "hsumma tuned 2" and then lines "COLLECTIVE RANKS NODES RANGE
 * ALGORITHM", in which a star stands for any number or all sizes, and a hash begins a comment. The model and the
 * default choose built-in algorithms only. An algorithm that cannot serve a call (because of its shape, or an operator
 * that does not commute) is replaced by one that can. The algorithm "exact" of a call, whose bits no other has, is
 * never replaced: with HSUMMA_USER the call returns HSUMMA_ERR_UNSUPPORTED. With the option bits=anywhere it serves all
 * reductions whose bits depend on the order (all but those of integers); another algorithm named for them is refused
 * likewise. MPI's own collective, or a function of the caller, is never replaced as a stage, as in "dpml(outer=mpi)":
 * where it cannot serve, the call returns HSUMMA_ERR_UNSUPPORTED.
 */
#ifndef HSUMMA_COLL_H
#define HSUMMA_COLL_H

#include <hsumma.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @name Calls
 *
 * @{ */

/** The kinds of collective; hsumma_coll describes their buffers. */
typedef enum hsumma_collective {
    HSUMMA_BCAST = 0,     /**< sends the root's vector to all processes */
    HSUMMA_REDUCE,        /**< combines the vectors of all processes by an operator; the root gets the result */
    HSUMMA_ALLREDUCE,     /**< combines the vectors of all processes by an operator; all get the result */
    HSUMMA_ALLGATHER,     /**< concatenates the parts of all processes; all get the result */
    HSUMMA_REDUCE_SCATTER /**< combines the vectors of all processes by an operator; each gets its part of the result */
} hsumma_collective;

/** Element types of reductions. */
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
    HSUMMA_MAX,     /**< not for complex elements; of two elements that do not compare (NaN), the result is that of the
                         higher rank, or either of them if the algorithm does not keep the order of ranks */
    HSUMMA_MIN,     /**< as HSUMMA_MAX */
    HSUMMA_USER     /**< the caller's function hsumma_operator.combine */
} hsumma_op;

/** dst[i] = left[i] op right[i] for i < count; dst may be left or right. The operation must be associative. Any call of
 * the context may call the function. */
typedef void hsumma_combine(void *dst, const void *left, const void *right, int64_t count, void *state);

/** An operator and its element type. */
typedef struct hsumma_operator {
    hsumma_op op;            /**< the operator */
    hsumma_element element;  /**< the element type; ignored for HSUMMA_USER */
    hsumma_combine *combine; /**< the function that combines count elements; this field and all that follow are for
                                  HSUMMA_USER only */
    void *state;             /**< argument passed to combine; owned by the caller */
    size_t size;             /**< bytes of an element */
    int commutative;         /**< 0 if operands must be combined in the order of the ranks */
} hsumma_operator;

/**
 * One collective call; fields that the collective does not use are 0. All fields must have equal values on all
 * processes, except in, out, op.combine and op.state.
 *
 * - bcast: out has count elements of `size` bytes on every process; the root's elements are sent
 * - reduce: in has count elements; out has count elements on the root and may be NULL elsewhere
 * - allreduce: in and out have count elements
 * - allgather: in has count elements of `size` bytes (or counts[rank] elements); out has all parts, in the order of the
 *   ranks
 * - reduce_scatter: in has all parts; out has count elements (or counts[rank] elements) of the result
 *
 * In place: with in = NULL or in = out, the contribution is read from out. For allgather it is at the process's part of
 * out; for reduce only the root may be in place; for reduce_scatter out has all parts on entry and the process's part
 * of the result at its beginning on return.
 *
 * In a context with a device (hsumma.h), a call runs on the device if in or out is in device memory; this must be so on
 * all processes or on none. The call then returns when its operations are enqueued on the context's stream, or, if one
 * of the two buffers is in host memory, when they are complete. The host works on copies for operators of the caller,
 * for the algorithm "mpi", and for algorithms that need shared device memory where processes cannot share it;
 * hsumma_coll_describe() reports this.
 */
typedef struct hsumma_coll {
    hsumma_collective collective; /**< the kind of collective */
    const void *in;               /**< this process's contribution; owned by the caller */
    void *out;                    /**< this process's result; owned by the caller */
    int64_t count;                /**< number of elements, see above */
    const int64_t *counts;        /**< number of elements of each process's part, indexed by rank; NULL if all are
                                       `count` */
    size_t size;                  /**< for bcast and allgather: bytes of an element; 0 means 1 */
    hsumma_operator op;           /**< for reduce, allreduce and reduce_scatter: the operator */
    int root;                     /**< for bcast and reduce: the root, a rank of the context's communicator */
    const char *algorithm;        /**< the algorithm with its parameters, as text; NULL if the library chooses */
} hsumma_coll;

/**
 * Runs one collective. Collective over the context.
 *
 * Errors: HSUMMA_ERR_ARGUMENT, HSUMMA_ERR_OPTION (no such algorithm), HSUMMA_ERR_UNSUPPORTED (the algorithm exact, or
 * a stage of the algorithm, cannot serve this call), HSUMMA_ERR_MEMORY, HSUMMA_ERR_MPI, HSUMMA_ERR_PEER,
 * HSUMMA_ERR_DEVICE (on all processes; the context can only be freed).
 *
 * The processes check the first call of a kind (collective, sizes, root, algorithm) together: all return the same
 * error, and no buffer is changed. Each process checks later calls of the same kind alone: if a process passes a NULL
 * pointer, or has no memory for one more call in flight or, without a device, for the copy that an in-place call needs,
 * the other processes wait forever. With the option check=always a NULL pointer is an error on all processes; each call
 * then costs one more small allreduce. Errors in global arguments are returned by all processes at every call. In a
 * context with a device, the global arguments include whether a call has a buffer in device memory.
 */
HSUMMA_API hsumma_status hsumma_coll_run(hsumma_context *ctx, const hsumma_coll *call);

/** A collective call in progress; made by hsumma_coll_start(). */
typedef struct hsumma_request hsumma_request;

/**
 * Starts a collective as hsumma_coll_run() does, but returns without waiting for it. Several requests of a context may
 * be in progress, also during a plan's execution; all processes start them in the same order. in and out must not be
 * touched until the request is done. The work advances inside hsumma_coll_test() and hsumma_coll_wait() of any request
 * of the context, and inside hsumma_coll_run(); these also advance a started plan when no request can advance. The
 * caller frees the request with hsumma_coll_wait(). Errors: those of hsumma_coll_run(); *request is then NULL.
 *
 * The first call of a kind agrees with the other processes, and the first long broadcasts on one node may time copies
 * with them (doc/collectives.md, Choosing one). A call with a step by MPI or by a function of the caller first
 * completes earlier calls with several such steps; if memory is short, a call first completes all earlier ones: these
 * wait for the other processes. Requests of several contexts must be completed in the same order on all processes.
 */
HSUMMA_API hsumma_status hsumma_coll_start(hsumma_context *ctx, const hsumma_coll *call, hsumma_request **request);
/** Advances a request; *done becomes 1 when it is complete, else 0. Any process may call it any number of times. */
HSUMMA_API hsumma_status hsumma_coll_test(hsumma_request *request, int *done);
/** Completes and frees a request and sets *request to NULL; NULL is ignored (HSUMMA_OK). */
HSUMMA_API hsumma_status hsumma_coll_wait(hsumma_request **request);

/** Stores one line of up to size bytes: the algorithm that would serve the call, and the source and reason of the
 * choice. Of the buffers it uses only the kind of memory, and only in a context with a device. Local. */
HSUMMA_API hsumma_status hsumma_coll_describe(hsumma_context *ctx, const hsumma_coll *call, char *text, size_t size);

/** @} */
/** @name Short forms
 *
 * hsumma_coll_run() with the arguments that most calls need.
 * @{ */

/** Broadcasts the root's buffer, which has `bytes` bytes on every process. */
HSUMMA_API hsumma_status hsumma_bcast(hsumma_context *ctx, void *buffer, int64_t bytes, int root);
/** Reduces count elements to the root; out may be NULL on the other processes. */
HSUMMA_API hsumma_status hsumma_reduce(hsumma_context *ctx, const void *in, void *out, int64_t count,
                                       hsumma_element element, hsumma_op op, int root);
/** Reduces count elements to all processes. */
HSUMMA_API hsumma_status hsumma_allreduce(hsumma_context *ctx, const void *in, void *out, int64_t count,
                                          hsumma_element element, hsumma_op op);
/** Gathers `bytes` bytes from each process, in the order of the ranks, into out, which has that many bytes per
 * process. */
HSUMMA_API hsumma_status hsumma_allgather(hsumma_context *ctx, const void *in, void *out, int64_t bytes);
/** Reduces vectors of count elements times the number of processes; each process gets its count elements. */
HSUMMA_API hsumma_status hsumma_reduce_scatter(hsumma_context *ctx, const void *in, void *out, int64_t count,
                                               hsumma_element element, hsumma_op op);

/** @} */
/** @name Algorithms
 *
 * @{ */

/** Requirements and properties of an algorithm. */
enum hsumma_algorithm_flags {
    HSUMMA_TRUE_ROOT =
        1, /**< the builder gets true ranks and the true root; without this flag, ranks rotated so that the root is 0 */
    HSUMMA_KEEPS_ORDER = 2,           /**< keeps the order of ranks: suitable for operators that do not commute */
    HSUMMA_KEEPS_ORDER_ON_BLOCKS = 4, /**< keeps the order of ranks if each node has consecutive ranks */
    HSUMMA_UNIFORM = 8,               /**< brackets the sum of every element in the same manner */
    HSUMMA_SHARED = 16,               /**< uses shared memory inside a node if available */
    HSUMMA_BY_MPI = 32,               /**< calls MPI's own collective, or a function of the caller */
    HSUMMA_EXACT = 64                 /**< results depend on neither the number of processes nor their order and
                                           placement; not for HSUMMA_USER */
};

/** A row of the registry. Strings are valid as long as the context. */
typedef struct hsumma_algorithm_info {
    hsumma_collective collective; /**< the collective that it performs */
    const char *name;             /**< its name in options and calls */
    const char *doc;              /**< a description in one line */
    unsigned flags;               /**< flags of enum hsumma_algorithm_flags */
    char parameters[64];          /**< names of its parameters, such as "l, k, level, outer"; "" if it has none */
} hsumma_algorithm_info;

/** Describes the i-th algorithm of a context, 0-based, built-in ones first; with ctx = NULL, built-in ones only.
 * Returns 0 past the last, else 1. Local. */
HSUMMA_API int hsumma_coll_algorithm(const hsumma_context *ctx, int i, hsumma_algorithm_info *info);

/** @} */
/** @name Your own algorithm
 *
 * A builder describes the work of one process as steps on symbolic buffers: it receives a shape and calls the functions
 * below; it must neither communicate nor read data. doc/collectives.md has an example of 40 lines. Prove an algorithm
 * with hsumma_coll_prove() before it runs: for some errors, such as a message longer than its receive, MPI itself may
 * end the program.
 * @{ */

/** The list of steps that a builder writes; owned by the library. */
typedef struct hs_builder hsumma_builder;

/** The input of a builder. */
typedef struct hsumma_shape {
    int rank;            /**< rank of the process whose steps are written */
    int size;            /**< number of processes */
    int root;            /**< root of a bcast or reduce; 0 if ranks are rotated */
    int64_t bytes;       /**< bytes of the whole vector */
    int64_t unit;        /**< bytes of an element; pieces must be multiples of it */
    int64_t segment;     /**< bytes of a segment if the caller specified a size, else 0 */
    const int64_t *part; /**< size + 1 offsets in bytes, which delimit the parts of allgather and reduce_scatter; for
                              other collectives they cut the vector into parts as equal as possible */
    int nodes;           /**< number of nodes */
    const int *node;     /**< node of each rank, indexed by rank; nodes are numbered in the order of their lowest ranks.
                              If ranks are rotated, each rank is a separate node */
} hsumma_shape;

/** The buffers of a step. */
enum hsumma_buffer {
    HSUMMA_IN = 0, /**< the process's contribution; read only */
    HSUMMA_OUT,    /**< the process's result */
    HSUMMA_SCRATCH /**< memory for intermediate results; its size follows from the steps */
};

/** A position in a buffer. */
typedef struct hsumma_place {
    enum hsumma_buffer buffer; /**< the buffer */
    int64_t at;                /**< offset in bytes */
} hsumma_place;

/** Appends a step that sends. This and the next three functions return the number of the step, or -1 without a step if
 * bytes is 0. The i-th send from a to b is received by the i-th receive of b from a, of the same length. */
HSUMMA_API int hsumma_step_send(hsumma_builder *builder, int peer, hsumma_place from, int64_t bytes);
/** Appends a step that receives; see hsumma_step_send(). */
HSUMMA_API int hsumma_step_recv(hsumma_builder *builder, int peer, hsumma_place to, int64_t bytes);
/** Appends a step that copies; see hsumma_step_send(). */
HSUMMA_API int hsumma_step_copy(hsumma_builder *builder, hsumma_place to, hsumma_place from, int64_t bytes);
/** Appends a step that combines, to = left op right; see hsumma_step_send(). */
HSUMMA_API int hsumma_step_reduce(hsumma_builder *builder, hsumma_place to, hsumma_place left, hsumma_place right,
                                  int64_t bytes);
/** Makes `step`, which must be the last one, depend on an earlier one; the call has no effect if either is -1. Of two
 * steps that access the same bytes, the later must depend on the earlier, unless both only read. */
HSUMMA_API void hsumma_step_after(hsumma_builder *builder, int step, int earlier);

/** One collective of an algorithm that a function performs; owned by the library. */
typedef struct hsumma_stage {
    MPI_Comm comm;  /**< the processes that perform it, such as the leaders of the nodes; only this function uses it */
    const void *in; /**< this process's contribution; may equal out; NULL for a bcast */
    void *out;      /**< this process's result; NULL on the processes of a reduce that get none; for a bcast the
                         buffer of every process, which the root must not change */
    int64_t count;  /**< number of elements */
    size_t size;    /**< bytes of an element */
    hsumma_operator op; /**< for reduce and allreduce: the operator */
    int root;           /**< for bcast and reduce: the root, a rank of comm */
} hsumma_stage;

/**
 * Performs one collective among the processes of stage->comm, for example by a network that reduces in its switches.
 * All processes of comm call it in the same order. It either completes the collective, or starts it, stores an MPI
 * request that the library then completes (such as that of MPI_Iallreduce() or MPI_Grequest_start()) in *request, and
 * copies what it needs of *stage. A function that waits must let MPI make progress on other messages. Returns 0, or any
 * other number after an error: all calls in progress then end with HSUMMA_ERR_MPI on every process of the context, with
 * that number in the message of this one, and the context can only be freed.
 */
typedef int hsumma_perform(const hsumma_stage *stage, MPI_Request *request, void *state);

/** An algorithm defined by the caller. */
typedef struct hsumma_algorithm {
    hsumma_collective collective; /**< the collective that it performs */
    const char *name;             /**< its name: letters, digits and _ */
    const char *doc;              /**< a description in one line */
    unsigned flags;               /**< HSUMMA_TRUE_ROOT, HSUMMA_KEEPS_ORDER, HSUMMA_UNIFORM */
    /** Returns the reason why the algorithm cannot serve the shape, or NULL if it can. The pointer may be NULL if the
     * algorithm serves all shapes. */
    const char *(*unfit)(const hsumma_shape *shape, void *state);
    /** Writes the steps of shape->rank. */
    void (*build)(hsumma_builder *builder, const hsumma_shape *shape, void *state);
    void *state; /**< argument passed to the functions; owned by the caller, must live as long as the context */
    /** Performs the collective (bcast, reduce or allreduce); `build` is then NULL. The algorithm serves calls, or the
     * stage between nodes or inside them of another algorithm: "dpml(outer=NAME)". NULL if there is a builder. */
    hsumma_perform *perform;
} hsumma_algorithm;

/**
 * Adds a copy of an algorithm to the context, under its name. All processes must add it before they use it, in calls or
 * in the options bcast and reduce of plans. Local.
 *
 * An algorithm with the function `perform` serves collective calls, not plans, and never at the model's choice. Each
 * group of processes that performs it gets a communicator, created at the first call of a kind, which then waits for
 * all earlier ones.
 *
 * Errors: HSUMMA_ERR_ARGUMENT (a name that is invalid or exists, neither or both of `build` and `perform`, another flag
 * or collective), HSUMMA_ERR_MEMORY. A later call that uses the algorithm returns HSUMMA_ERR_ARGUMENT if a step exceeds
 * a buffer, writes to HSUMMA_IN, combines a part of an element, or names as its peer the process itself or one that
 * does not exist.
 */
HSUMMA_API hsumma_status hsumma_coll_register(hsumma_context *ctx, const hsumma_algorithm *algorithm);

/**
 * Proves an algorithm for `size` processes inside this one: results, absence of deadlock, matching of messages and
 * order of sums, under several interleavings: with each process on a node of its own (for allgather and reduce_scatter
 * also with unequal parts), then on two nodes. Local; needs no MPI.
 *
 * Returns HSUMMA_OK; HSUMMA_ERR_INTERNAL with a description of the defect, up to n bytes, in text;
 * HSUMMA_ERR_UNSUPPORTED if the algorithm cannot serve the shape, or is performed by a function; HSUMMA_ERR_ARGUMENT;
 * HSUMMA_ERR_MEMORY.
 */
HSUMMA_API hsumma_status hsumma_coll_prove(const hsumma_algorithm *algorithm, int size, int root, int64_t bytes,
                                           int64_t unit, char *text, size_t n);

/** @} */

#ifdef __cplusplus
}
#endif

#endif
