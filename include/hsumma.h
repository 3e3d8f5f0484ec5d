/**
 * @file
 * Distributed dense matrix multiplication over MPI: C := alpha op(A) op(B) + beta C.
 *
 * A minimal use (examples/smallest.c is a complete program):
 *
 *     hsumma_create(MPI_COMM_WORLD, NULL, &ctx, text, sizeof text);  // text receives an error message
 *     hsumma_grid_create(ctx, nprow, npcol, 'R', NULL, &grid);       // nprow x npcol processes
 *     hsumma_desc_init(&desc, grid, n, n, 64, 64);                   // an n x n matrix in blocks of 64 x 64
 *     a = malloc(desc.ld * hsumma_local_cols(&desc) * sizeof *a);    // this process's part; b and c likewise
 *     a[i + j * desc.ld] = f(hsumma_global_row(&desc, i), hsumma_global_col(&desc, j));
 *     if (hsumma_dgemm(ctx, 'N', 'N', n, n, n, 1.0, a, &desc, b, &desc, 0.0, c, &desc))
 *         fprintf(stderr, "%s\n", hsumma_message(ctx));              // which argument, its value, what is allowed
 *     hsumma_grid_free(&grid);
 *     hsumma_free(&ctx);
 *
 * A, B and C are distributed over a P x Q grid of processes, block-cyclically as in ScaLAPACK, or one block per process
 * (block-checkerboard). The algorithms are SUMMA (van de Geijn and Watts 1997) and its hierarchical form HSUMMA
 * (Quintin, Hasanov and Lastovetsky 2013, Section III), with two or more levels.
 *
 * Conventions that hold for every declaration below:
 *
 * - Indices are 0-based. Sizes are 64-bit and count elements unless the text says bytes. Times are in seconds.
 * - Local matrices are stored by columns with leading dimension ld (Fortran order).
 * - A function that can fail returns a status; HSUMMA_OK is 0. hsumma_message() names the invalid argument, its value,
 *   and the allowed values.
 * - The library never ends the program. It prints only what an option requests, and reports of waits without progress
 *   (option timeout, 60 s by default). MPI may end it: MPICH passes errors that MPI_Testsome finds in the library's
 *   messages to the error handler of MPI_COMM_WORLD, which aborts by default. To receive HSUMMA_ERR_MPI instead, call
 *   MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN).
 * - "Collective" means: every process of the context's communicator makes the call, with the same global arguments (all
 *   but matrices, leading dimensions and output arguments), and in the same order as its other collective calls. A
 *   collective call returns the same status on every process of the grid, even if only one of them passed a bad pointer
 *   or ran out of memory. Calls that make a context, a grid or a plan, or that move a matrix, also detect
 *   different global arguments.
 * - "Local" means: a single process may make the call, and the call sends no messages.
 * - Handles and output arguments must not be NULL unless their description allows it. A function that returns a status
 *   returns HSUMMA_ERR_ARGUMENT at once if its context, its plan or the argument for its result is NULL; the other
 *   processes do not learn of it.
 * - One thread at a time may use a context. MPI_THREAD_FUNNELED is enough if only the main thread calls the library.
 * - Memory: the caller frees the objects that it creates, with the function that the constructor's description names.
 *   Matrices always belong to the caller. Options, descriptors and rank lists are copied.
 */
#ifndef HSUMMA_H
#define HSUMMA_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HSUMMA_VERSION_MAJOR 0 /**< The version of this header; hsumma_version() has the library's. */
#define HSUMMA_VERSION_MINOR 1 /**< See HSUMMA_VERSION_MAJOR. */
#define HSUMMA_VERSION_PATCH 0 /**< See HSUMMA_VERSION_MAJOR. */

#if defined(__GNUC__)
#define HSUMMA_API __attribute__((visibility("default")))
#else
#define HSUMMA_API
#endif

#define HSUMMA_MAX_LEVELS 6 /**< Maximum number of levels of a hierarchy; 1 is SUMMA, 2 is the paper's HSUMMA. */
#define HSUMMA_MAX_RIVALS 5 /**< Maximum number of alternatives listed in hsumma_plan_info.rival. */

/** The status that a call returns. */
typedef enum hsumma_status {
    HSUMMA_OK = 0,          /**< the call has done what it was asked */
    HSUMMA_ERR_ARGUMENT,    /**< an argument is out of its range */
    HSUMMA_ERR_OPTION,      /**< an option is unknown, its value is invalid, or a file that it names is unusable */
    HSUMMA_ERR_UNSUPPORTED, /**< a valid request that this version cannot serve */
    HSUMMA_ERR_MEMORY,      /**< an allocation failed, on this process or another */
    HSUMMA_ERR_WORKSPACE,   /**< the request needs more workspace than workspace_limit allows */
    HSUMMA_ERR_BUSY,        /**< a plan of this context is in progress; for hsumma_trace_write() also a collective */
    HSUMMA_ERR_MPI,         /**< MPI returned an error, or another process did not arrive in time (option on_timeout);
                                 the context can only be freed, and MPI may still write to the call's buffers */
    HSUMMA_ERR_INTERNAL,    /**< a defect of this library: please report it */
    HSUMMA_ERR_DEVICE,      /**< a device returned an error, or cannot do what was asked of it */
    HSUMMA_ERR_PEER,        /**< from any collective call: another process has ended, or has freed its context, although
                                 the call needs it; the context can only be freed, and MPI may still write to the
                                 call's buffers */
    HSUMMA_ERR_DATA         /**< C failed its check and could not be repaired (option guard) */
} hsumma_status;

/** Element types, as BLAS names them. A complex element is two consecutive reals. */
typedef enum hsumma_type {
    HSUMMA_S = 0, /**< float */
    HSUMMA_D,     /**< double */
    HSUMMA_C,     /**< float complex, 8 bytes */
    HSUMMA_Z      /**< double complex, 16 bytes */
} hsumma_type;

/** The library's own communicator with its options, tuning tables and scratch memory; made by hsumma_create(). */
typedef struct hsumma_context hsumma_context;
/** A grid of P x Q processes of a context; made by hsumma_grid_create(). */
typedef struct hsumma_grid hsumma_grid;
/** One multiplication with all choices made and all memory sized, executable any number of times; made by
 * hsumma_plan_create(). */
typedef struct hsumma_plan hsumma_plan;

/**
 * The distribution of a matrix over a grid, and the part of the matrix that an operation works on. A plain value: fill
 * it with hsumma_desc_init() or hsumma_desc_checkerboard(), then change single fields if necessary. After a change of
 * m, mb, imb or rsrc, set ld again, to hsumma_local_rows() but at least 1; with mb and nb, also change imb and inb.
 */
typedef struct hsumma_desc {
    const hsumma_grid *grid; /**< not owned by the descriptor; must live as long as the descriptor is used */
    int64_t m;               /**< rows of the whole distributed matrix */
    int64_t n;               /**< columns of the whole distributed matrix */
    int64_t mb;              /**< rows of a block */
    int64_t nb;              /**< columns of a block */
    int64_t imb;             /**< rows of the first block row, at least 1; usually mb */
    int64_t inb;             /**< columns of the first block column, at least 1; usually nb */
    int rsrc;                /**< grid row that owns the first block; -1 if every grid row stores all rows (then any
                                  copy of A or B may be read, and each grid row computes its own copy of C) */
    int csrc;                /**< grid column that owns the first block; -1 if every grid column stores all columns */
    int64_t i;               /**< first row of the operand inside the matrix, 0-based */
    int64_t j;               /**< first column of the operand inside the matrix, 0-based */
    int64_t ld;              /**< local leading dimension, at least max(1, local rows); may differ between processes */
} hsumma_desc;

/** One level of a plan's hierarchy. */
typedef struct hsumma_level {
    int rows;           /**< rows of groups (on the innermost level: of processes) that this level's collectives
                             connect */
    int cols;           /**< columns of groups or processes; see rows */
    int64_t block;      /**< width of the panels that move on this level, in elements of the looped dimension */
    const char *bcast;  /**< name of the broadcast algorithm; "none" if all panels pass through a node's memory */
    const char *reduce; /**< name of the reduction algorithm; "none" if all panels pass through a node's memory */
} hsumma_level;

/** The movement of one operand in a plan. */
typedef struct hsumma_movement {
    /** With layers, what happens inside one.  A constant string: "stays", "local" (the operand's line is one process),
     * "broadcast" (A, B), "reduced" (C); inside a node that shares memory "shared" (owners store panels there) and
     * "summed" (partial results of C). If the operand is not aligned with the stationary one: "exchanged", "exchanged
     * and ...", "... and exchanged". */
    const char *how;
    size_t exchange_bytes;   /**< upper bound on the sum of the bytes that a process sends and receives to align the
                                  operand, 0 if aligned; with layers or several grids, plus the bytes that this process
                                  sends in the operand's redistribution */
    double exchange_seconds; /**< predicted time of these movements, a part of predicted_comm_seconds */
} hsumma_movement;

/** A plan that was not chosen: the options that select it, and its cost. */
typedef struct hsumma_rival {
    const char *line; /**< options that select it, as in hsumma_plan_info.line; valid until the plan is freed */
    double seconds;   /**< predicted time of one execution */
    double measured;  /**< shortest whole execution timed by tune=measure; 0 if there was none */
} hsumma_rival;

/** A plan's choices and their reasons, its predicted cost, and the figures of its last execution on this process. */
typedef struct hsumma_plan_info {
    const char *line; /**< one line of options that reproduces this plan; valid until the plan is freed */
    const char *why;  /**< the source of each choice (caller, context, environment, tuned file, rules for collectives or
                           model), then remarks; valid until the plan is freed */
    char stationary;  /**< 'A', 'B' or 'C': the operand that does not move */
    int nprow;        /**< rows of the grid */
    int npcol;        /**< columns of the grid */
    int nlevels;      /**< 1 (SUMMA) to HSUMMA_MAX_LEVELS */
    hsumma_level level[HSUMMA_MAX_LEVELS]; /**< the levels, outermost first; only the first nlevels are set */
    int lookahead;   /**< panels in flight ahead of the multiplication; 0 for blocking steps, the paper's algorithm */
    int64_t segment; /**< bytes of a segment of pipelined broadcasts */
    int threads;     /**< BLAS threads per process; 0 if the user's setting is kept */
    int64_t panels;  /**< total number of innermost panels; 0 on processes that own nothing */
    /** How the processes of a node exchange panels: "messages", "shared" (a process stores its own and received panels
     * in shared memory, where the others read them), "even" (in shared memory, with an even division of the work
     * whatever the processes own), "alone" (a single process owns everything), or "device" if the last execution ran on
     * devices (before the first one: if an execution on matrices in device memory would). With "device", all fields of
     * this struct describe execution on devices; predictions are then 0, those in predicted_stationary -1. */
    const char *node;
    int64_t chunk; /**< rows or columns of a panel that its readers get through shared memory at a time; 0 if unused */
    /** Memory of this process in bytes: the plan's own, and panel buffers (with this process's part of those in shared
     * memory), which all plans of a context use in common. */
    size_t workspace_bytes;
    size_t workspace_bytes_max;      /**< maximum of workspace_bytes over all processes */
    size_t workspace_limit_bytes;    /**< bytes that workspace_limit allows the process with the largest parts of the
                                          matrices */
    double predicted_seconds;        /**< seconds of one execution by the cost model */
    double predicted_comm_seconds;   /**< seconds of the messages, including those that the local GEMM hides */
    double predicted_gemm_seconds;   /**< seconds of the local GEMM */
    double predicted_copy_seconds;   /**< seconds of packing, unpacking, and copies into shared memory */
    int64_t predicted_bytes_sent;    /**< bytes that this process's schedule passes to MPI; 0 if all panels pass through
                                          a node's memory */
    int64_t predicted_messages_sent; /**< messages that this process's schedule passes to MPI; 0 if all panels pass
                                          through a node's memory */
    /** Bytes that some process must receive, whatever the algorithm: Al Daas, Ballard, Grigori, Kumar and Rouse, SPAA
     * 2022, for matrices that are initially distributed evenly. */
    double lower_bound_bytes;
    /** The profile that the prediction uses: "built-in", "built-in, SSE kernels of the BLAS" (or AVX), "built-in,
     * network measured in N ms", "built-in, network remembered" (from the tuned file or an earlier context), or the
     * name of a profile's file. */
    const char *profile;
    const char *tuned; /**< "estimated", "remembered" (from the tuned file), "measuring" or "measured" */
    int nrivals;       /**< number of rivals, at most HSUMMA_MAX_RIVALS */
    hsumma_rival rival[HSUMMA_MAX_RIVALS]; /**< the best plans that were not chosen, best first */
    /** Predicted seconds with stationary A, B and C; -1 if not considered or impossible. A plan with more levels is
     * only chosen if it is faster by a hundredth for each of them. */
    double predicted_stationary[3];
    hsumma_movement operand[3]; /**< the movement of A, B and C */
    /** Time of the last execution on this process, from start to completion. The fields from here to messages_sent are
     * 0 before the first execution. On devices this time ends when hsumma_plan_wait() returns, and its parts below end
     * when all operations are enqueued; to time the operations themselves, time the stream. */
    double seconds;
    double gemm_seconds; /**< time in the local GEMM */
    double copy_seconds; /**< time in packing and unpacking panels, in copies into shared memory, and in sums of C
                            inside a node */
    double comm_seconds; /**< the rest of seconds: messages, waiting, and the caller's own work between start and
                              wait */
    /** The part of comm_seconds in which this process could only wait for others; 0 if node is "messages" or there are
     * several nodes, because waiting cannot then be separated from the time of messages. */
    double wait_seconds;
    int64_t bytes_sent;    /**< bytes passed to MPI, without the CRCs of guard=messages */
    int64_t messages_sent; /**< messages passed to MPI, without these CRCs */
    /** What computes the local GEMM of this process: "BLAS"; "hsumma" with bits=anywhere; the kind of its device, such
     * as "cuda" (matrices in host memory pass through it tile by tile); or "none" if the process owns nothing. */
    const char *local;
    int steps;     /**< number of panels of the outermost level; 0 if all panels pass through a node's memory, or this
                        process owns nothing */
    int steps_run; /**< number of those panels that an execution multiplies (option steps) */
    int64_t guard_checked;   /**< with a guard, checked executions of this plan so far (guard=panels: sections) */
    int64_t guard_found;     /**< of these, executions with a wrong C or damaged data, and sections with a right C
                                  before which A or B was restored */
    int64_t guard_repaired;  /**< of these, executions whose C was correct once recomputed, and those sections */
    int64_t guard_unchecked; /**< columns of C that the last check left out, because the sums of absolute values in
                                  their checksums overflow or are not a number */
    double guard_seconds;    /**< time of the last execution's checksums on this process, without waiting */
} hsumma_plan_info;

/** The version of the running library, which may be newer than that of the header. Any pointer may be NULL. Local. */
HSUMMA_API void hsumma_version(int *major, int *minor, int *patch);

/** A short English name of a status; a constant string, never NULL. Local. */
HSUMMA_API const char *hsumma_status_string(hsumma_status status);

/** @name Options
 *
 * Options are text of the form "name=value name=value", given in three places: the environment (HSUMMA_NAME, read by
 * the first process at hsumma_create() and sent to the others), the context, the plan. A later place overrides an
 * earlier one. NULL or "" means none. doc/reference.md lists all options.
 * @{ */

/** The description of one option; all strings are constants. */
typedef struct hsumma_option_info {
    const char *name;          /**< the name, as written in texts of options */
    const char *value_name;    /**< the allowed values, separated by | */
    const char *default_value; /**< the value if the option is not given; "" or NULL if there is none */
    const char *help;          /**< its meaning, in one line */
    const char *environment;   /**< its environment variable, HSUMMA_NAME */
} hsumma_option_info;

/** Describes the i-th option, 0-based, for programs that offer all options to their users. Returns 0 past the last,
 * else 1. Local. */
HSUMMA_API int hsumma_option(int i, hsumma_option_info *info);

/** @} */
/** @name Contexts
 *
 * @{ */

/**
 * Makes a context over a duplicate of comm (MPI_Comm_idup, so the copy callbacks of comm's attributes run, and if one
 * fails on some processes only, the others wait; comm's hints do not apply). Collective over comm, with the same
 * options on all processes. MPI must be initialised.
 *
 * The first context over several nodes measures messages between them and the local GEMM, in less than 0.1 s, unless a
 * profile, the tuned file or an earlier context of the process describes them, or the option profile=builtin is given.
 * On one node the first long broadcasts measure copies in the same case (hsumma_coll_start()).
 *
 * Errors: HSUMMA_ERR_ARGUMENT (comm is MPI_COMM_NULL or an intercommunicator, or the text of the options differs
 * between processes; NULL is the same as ""), HSUMMA_ERR_OPTION, HSUMMA_ERR_DEVICE (a process has no device, or it
 * cannot be used), HSUMMA_ERR_MEMORY, HSUMMA_ERR_PEER, HSUMMA_ERR_MPI (also if MPI is not initialised, or the program
 * runs with another MPI than the library was built with). After an error *ctx is NULL and, if message is not NULL, up
 * to size bytes of explanation are stored there. Free with hsumma_free(). If the option on_timeout=error ends the call,
 * a barrier on comm may be left incomplete; comm must then not be used any more.
 */
HSUMMA_API hsumma_status hsumma_create(MPI_Comm comm, const char *options, hsumma_context **ctx, char *message,
                                       size_t size);

/** hsumma_create() with a Fortran communicator, as returned by MPI_Comm_c2f; for bindings. */
HSUMMA_API hsumma_status hsumma_create_fortran(MPI_Fint comm, const char *options, hsumma_context **ctx, char *message,
                                               size_t size);

/**
 * Releases the caller's reference to a context and sets *ctx to NULL. Grids and plans made from it stay usable; the
 * context is freed with the last of them. NULL is ignored.
 *
 * No process waits for another, but the last release frees a communicator, a collective operation of MPI: release
 * contexts in the same order on all processes. With a device or the option trace, the last release does wait for the
 * other processes; the timeline is written only if it precedes MPI_Finalize.
 */
HSUMMA_API void hsumma_free(hsumma_context **ctx);

/**
 * Writes the timeline so far (option trace=FILE). hsumma_free() writes it too, but unlike this call cannot report a
 * failure. Collective, with no plan and no collective call in progress. Without the option, the call does nothing.
 *
 * Errors, the same on all processes: HSUMMA_ERR_BUSY, HSUMMA_ERR_OPTION (the file cannot be written; an existing file
 * is unchanged), HSUMMA_ERR_MEMORY, HSUMMA_ERR_MPI, HSUMMA_ERR_PEER.
 */
HSUMMA_API hsumma_status hsumma_trace_write(hsumma_context *ctx);

/**
 * The explanation of the last error of this context on this process, or a note: after hsumma_create() about files and
 * devices that are not used, and variables of the environment that look like misspelt ones of the library, after a
 * product about a device that has been disabled. "" if there is neither. Valid until the next call of the context.
 * Local.
 */
HSUMMA_API const char *hsumma_message(const hsumma_context *ctx);

/**
 * Replaces the explanation that hsumma_message() returns by a copy of text, cut after 479 bytes. Local.
 *
 * For bindings that reject an argument themselves, such as an array of the wrong shape: they pass NULL instead, so that
 * all processes return the same error, and then explain the error with this call.
 */
HSUMMA_API void hsumma_set_message(hsumma_context *ctx, const char *text);

/** Receives a report: one line without a newline, valid during the call, and the state that was given with it. */
typedef void hsumma_report(const char *text, void *state);

/**
 * Sets the function that receives this process's reports of waits without progress (option timeout), each once and
 * without a limit on their number, instead of standard error; NULL restores standard error. It is called by the
 * library's functions while they wait, and must not call the library with this context. hsumma_create() itself, which
 * returns only then, prints. Local.
 */
HSUMMA_API void hsumma_set_report(hsumma_context *ctx, hsumma_report *report, void *state);

/** @} */
/** @name Devices
 *
 * A context with the option device=cuda (or auto, if every process has a GPU) accepts matrices and vectors in the
 * memory of this process's GPU, in host memory, or mixed: every call determines where its pointers lead. Several
 * processes may share a GPU. device=host is a stand-in for a GPU in hsumma's own tests and not part of this library
 * (doc/gpu.md).
 *
 * Device operations are enqueued on the context's stream in call order; calls may return before they complete. Results
 * in host memory are complete when a call returns.
 *
 * Matrices in host memory are also multiplied on the device if that is faster: tile by tile, within the limit of
 * the option device_memory; copies reach full speed from pinned memory (cudaMallocHost, cudaHostRegister). If the
 * device then fails or lacks memory, the BLAS completes the product and computes all later ones; hsumma_message() says
 * so after the call. Only a failure while results are being written to a pinned C, with beta not 0, is
 * HSUMMA_ERR_DEVICE.
 *
 * Errors: HSUMMA_ERR_DEVICE (the message names the call that failed and the process), HSUMMA_ERR_UNSUPPORTED (the
 * context has no device), HSUMMA_ERR_BUSY (a plan is in progress), HSUMMA_ERR_MEMORY. All processes return the same
 * error for failures that occur before all operations are enqueued. A later failure on a process's device is reported
 * by that process's hsumma_synchronize() and next call, and by the next call of every other process; the results of the
 * failed call are undefined on all processes.
 * @{ */

/**
 * Replaces the context's stream by the caller's (cudaStream_t), which remains the caller's and must stay valid until
 * the next hsumma_set_stream() or until the context is freed. NULL restores the context's own stream. Local: each
 * process sets its own. Not allowed while a call is in progress.
 */
HSUMMA_API hsumma_status hsumma_set_stream(hsumma_context *ctx, void *stream);

/** The context's stream (cudaStream_t); NULL if there is no device, or if the device has no streams. Local. */
HSUMMA_API void *hsumma_stream(const hsumma_context *ctx);

/**
 * Waits until all operations on the context's stream are complete and reports their errors. The caller's own operations
 * on the same stream need no such wait: they are ordered behind the library's. Local.
 */
HSUMMA_API hsumma_status hsumma_synchronize(hsumma_context *ctx);

/** Copies `bytes` bytes between any two kinds of memory, on the stream; complete when the call returns. Local. */
HSUMMA_API hsumma_status hsumma_copy(hsumma_context *ctx, void *dst, const void *src, size_t bytes);

/** The device's name, or "none" without a device; valid as long as the context. Local. */
HSUMMA_API const char *hsumma_device(const hsumma_context *ctx);

/** @} */
/** @name Grids and descriptors
 *
 * @{ */

/**
 * Makes a grid of nprow x npcol processes. Collective over the context; communicates. Processes outside the grid own
 * nothing and may participate in every call.
 *
 * Order 'R' numbers the processes along rows, 'C' along columns; lower case is the same. ranks, if not NULL, lists
 * nprow * npcol ranks of the context's communicator in that order and is copied; NULL stands for the first nprow *
 * npcol ranks.
 *
 * With order 'A' (any), the library assigns the coordinates: query them with hsumma_grid_info() and hsumma_grid_rank().
 * The processes of each node get a tile of the grid that is as near to a square as the grid and the sizes of the nodes
 * allow, and those of each socket a tile inside their node's. The reason: a panel enters a node once for each row or
 * column of the grid that the node touches. On a 4 x 4 grid of 4 nodes, tiles of 2 x 2 receive a third less from other
 * nodes than one row per node. If no tiles are better (as on one node with one socket), the order is that of 'R'.
 *
 * The processes of each node map memory for the products of the grid; it lives as long as the grid and its plans. It is
 * not an error if a node cannot share memory: products send messages instead, and hsumma_plan_info.why names the node
 * and the reason.
 *
 * Errors, the same on all processes: HSUMMA_ERR_ARGUMENT, HSUMMA_ERR_MEMORY, HSUMMA_ERR_MPI, HSUMMA_ERR_PEER; *grid is
 * then NULL. Free with hsumma_grid_free().
 */
HSUMMA_API hsumma_status hsumma_grid_create(hsumma_context *ctx, int nprow, int npcol, char order, const int *ranks,
                                            hsumma_grid **grid);

/** Releases a grid and sets *grid to NULL; plans made on it stay usable. Local. NULL is ignored. */
HSUMMA_API void hsumma_grid_free(hsumma_grid **grid);

/**
 * The shape of a grid and this process's coordinates: row from 0 to nprow - 1 and col from 0 to npcol - 1, both -1 on a
 * process outside the grid. Any pointer may be NULL. Local.
 */
HSUMMA_API void hsumma_grid_info(const hsumma_grid *grid, int *nprow, int *npcol, int *row, int *col);

/** The rank, in the context's communicator, of the process at row and col of the grid; -1 if there is none. Local. */
HSUMMA_API int hsumma_grid_rank(const hsumma_grid *grid, int row, int col);

/** The two factors of size that are nearest to a square, nprow <= npcol. Local. */
HSUMMA_API void hsumma_grid_shape(int size, int *nprow, int *npcol);

/**
 * Describes an m x n matrix in mb x nb blocks, the first one on grid row 0 and grid column 0; ld becomes the local
 * number of rows (at least 1). Local. The arguments are not checked until the descriptor is used.
 */
HSUMMA_API void hsumma_desc_init(hsumma_desc *desc, const hsumma_grid *grid, int64_t m, int64_t n, int64_t mb,
                                 int64_t nb);

/** As hsumma_desc_init() with at most one block per process: mb = ceil(m / nprow), nb = ceil(n / npcol), both at
 * least 1. Local. */
HSUMMA_API void hsumma_desc_checkerboard(hsumma_desc *desc, const hsumma_grid *grid, int64_t m, int64_t n);

/** The number of rows of the matrix that this process stores; 0 outside the grid. Local. */
HSUMMA_API int64_t hsumma_local_rows(const hsumma_desc *desc);
/** The number of columns of the matrix that this process stores; 0 outside the grid. Local. */
HSUMMA_API int64_t hsumma_local_cols(const hsumma_desc *desc);

/** The global index of this process's row `local`, which is from 0 to hsumma_local_rows() - 1. Local. */
HSUMMA_API int64_t hsumma_global_row(const hsumma_desc *desc, int64_t local);
/** The global index of this process's column `local`, which is from 0 to hsumma_local_cols() - 1. Local. */
HSUMMA_API int64_t hsumma_global_col(const hsumma_desc *desc, int64_t local);

/** @} */
/** @name Plans
 *
 * @{ */

/**
 * Plans C := alpha op(A) op(B) + beta C, where op(A) is m x k, op(B) k x n and C m x n, and each operand begins at
 * (desc.i, desc.j) of its matrix. trans is 'N', 'T' or 'C' (conjugate transpose; for real types 'T'), in either case.
 * Collective. Allocates the workspace; if one process runs out of memory, the call fails on all.
 *
 * Layouts: A, B and C are on one grid, or on several grids of the same processes; each has its own blocks, first
 * blocks, sources and offsets. With several grids, and with several layers (option layers; between nodes the library
 * may choose them by itself if workspace_limit allows it, doc/planner.md), the product uses a layout of its own: A and
 * B are redistributed into it, C from it, and workspace_limit must allow copies of the matrices that have another
 * layout (the message of HSUMMA_ERR_WORKSPACE gives the size). If a moving operand and the stationary one distribute
 * the dimension that they share differently, the moving one passes panel by panel through an exchange within the
 * workspace limit; hsumma_plan_query() reports it.
 *
 * In a context with a device, plans also allocate device memory for panels. The plans of a grid share it, and it is
 * kept until the context is freed.
 *
 *     hsumma_plan_create(ctx, HSUMMA_D, 'N', 'T', m, n, k, &a, &b, &c, "lookahead=2", &plan);
 *     for (int step = 0; step < steps; step++)
 *         hsumma_plan_execute(plan, &alpha, local_a, local_b, &beta, local_c);
 *     hsumma_plan_free(&plan);
 *
 * Errors: HSUMMA_ERR_ARGUMENT, HSUMMA_ERR_OPTION, HSUMMA_ERR_UNSUPPORTED, HSUMMA_ERR_WORKSPACE, HSUMMA_ERR_MEMORY,
 * HSUMMA_ERR_MPI, HSUMMA_ERR_PEER; *plan is then NULL. Free with hsumma_plan_free().
 */
HSUMMA_API hsumma_status hsumma_plan_create(hsumma_context *ctx, hsumma_type type, char transa, char transb, int64_t m,
                                            int64_t n, int64_t k, const hsumma_desc *a, const hsumma_desc *b,
                                            const hsumma_desc *c, const char *options, hsumma_plan **plan);

/** Fills *info; the strings in it belong to the plan. Local. */
HSUMMA_API void hsumma_plan_query(const hsumma_plan *plan, hsumma_plan_info *info);

/**
 * Runs the plan on local matrices a, b, c (NULL where this process owns nothing), which have the leading dimensions of
 * the plan's descriptors. alpha and beta point to one element of the plan's type, the same on all processes. With
 * beta = 0, C is not read. With alpha = 0 or k = 0, A and B are not read; a and b must not be NULL even then if this
 * process owns part of A or B. Collective over the grid. Returns when this process's part of C is complete and its A
 * and B may be changed. C must not overlap A or B in memory, except outside the operands: they may be disjoint parts of
 * one matrix.
 *
 * Errors: HSUMMA_ERR_ARGUMENT (a pointer is NULL, or on a process the first element of C is also that of A or B and
 * alpha is not 0, the only overlap that is found; C is unchanged everywhere), HSUMMA_ERR_BUSY, HSUMMA_ERR_MPI and
 * HSUMMA_ERR_PEER (C is undefined, and the context can only be freed), with the option guard HSUMMA_ERR_DATA (C failed
 * its check twice, A or B has changed and could not be restored, C could not be copied, or messages were damaged twice;
 * C is undefined). With check=always also HSUMMA_ERR_ARGUMENT if processes execute different plans of the grid, or with
 * different alpha or beta.
 *
 * In a context with a device, each process's part of each matrix may be in the memory of its device or of the host. The
 * product runs on the devices if all processes are on one node and each part of C is on a device or, if there are
 * several processes and the devices are expected to be faster, in host memory while the device has room for copies of
 * the process's parts. Parts in host memory are copied to the device, and panels from device to device. Matrices in
 * device memory are used in the order of the context's stream: work enqueued there after this call finds C complete and
 * may change A and B. Otherwise (several nodes, devices that cannot share memory, options for the host such as
 * node=shared or groups, a C in host memory that does not fit or is too small) the product runs on the host, local
 * products perhaps on the devices, and parts on devices are copied there and back; hsumma_plan_info.why has the reason,
 * unless it is C's location. If a device fails before C is written and all of C is in host memory, the host repeats the
 * product. Additional errors with a device: HSUMMA_ERR_MEMORY (C is unchanged), HSUMMA_ERR_DEVICE (a device has failed:
 * C is undefined everywhere); later failures on a stream are reported by hsumma_synchronize().
 */
HSUMMA_API hsumma_status hsumma_plan_execute(hsumma_plan *plan, const void *alpha, const void *a, const void *b,
                                             const void *beta, void *c);

/**
 * Starts an execution as hsumma_plan_execute() does, but returns without waiting for it. Until hsumma_plan_wait() has
 * returned, or hsumma_plan_test() has set *done, a, b and c must not be touched, and no other plan of the context may
 * run. The work advances only inside calls of this library. Collective over the grid; for one execution, all processes
 * call this function or all call hsumma_plan_execute(). Errors: those of hsumma_plan_execute().
 */
HSUMMA_API hsumma_status hsumma_plan_start(hsumma_plan *plan, const void *alpha, const void *a, const void *b,
                                           const void *beta, void *c);
/** Advances a started plan by at most about one slice of the local GEMM; *done becomes 1 when the execution is
 * complete, else 0. Any process may call it any number of times. Errors: those of hsumma_plan_execute(). */
HSUMMA_API hsumma_status hsumma_plan_test(hsumma_plan *plan, int *done);
/** Completes a started plan. Collective over the grid. Errors: those of hsumma_plan_execute(). */
HSUMMA_API hsumma_status hsumma_plan_wait(hsumma_plan *plan);

/** Frees a plan and sets *plan to NULL; waits first for an execution that was started. NULL is ignored. Local, except
 * for plans with the algorithm "mpi": these own communicators, and must be freed in the same order on all processes. */
HSUMMA_API void hsumma_plan_free(hsumma_plan **plan);

/** @} */
/** @name Memory for matrices
 *
 * @{ */

/**
 * Allocates memory for matrices that the other processes of the node can read in place: panels of A and B that are
 * contiguous in their owner's part (wide blocks, one block per process) are multiplied from there without a copy. The
 * memory may be used for any purpose; a matrix may begin anywhere inside it, and matrices in other memory work as well.
 *
 * bytes may differ between processes; an allocation of 0 bytes has an address of its own. *memory begins on its own
 * page and is filled with zeros; in a context with a device it is in device memory, aligned for any type, and its
 * content is undefined.
 *
 * Collective over the context; all processes call hsumma_malloc() and hsumma_mfree() in the same order.
 *
 * All pages of shared memory are allocated at once, so that a shortage is reported here. If the processes of a node
 * cannot share memory (the system does not allow it, or the node has only one process), *memory is ordinary memory,
 * whose pages the system allocates at first touch.
 *
 * Errors: HSUMMA_ERR_MEMORY (the same on all processes; *memory is NULL, and the memory of the other processes is
 * freed), HSUMMA_ERR_DEVICE, HSUMMA_ERR_MPI, HSUMMA_ERR_PEER. Free with hsumma_mfree() before hsumma_free(); memory not
 * freed by then is freed with the context, but not after an error of MPI or HSUMMA_ERR_PEER: MPI may still access it.
 */
HSUMMA_API hsumma_status hsumma_malloc(hsumma_context *ctx, size_t bytes, void **memory);

/**
 * Frees memory of hsumma_malloc(), with no plan in progress. Call it in the same order on all processes; no process
 * waits. NULL and pointers that hsumma_malloc() did not return in this context are ignored. Device memory is reused
 * only when all processes have reached the next hsumma_malloc() or hsumma_free(), since another process may still have
 * it mapped; with a device, hsumma_free() therefore waits for the others.
 */
HSUMMA_API void hsumma_mfree(hsumma_context *ctx, void *memory);

/** @} */
/** @name Layouts
 *
 * @{ */

/**
 * Copies an m x n part of A into B, which may have another layout, as p?gemr2d does. The part begins at (desca.i,
 * desca.j) of A and at (descb.i, descb.j) of B; the rest of B is not touched. A and B may be on different grids of the
 * context, with or without common processes. Each process passes its local matrices of A and B in host memory, or NULL
 * if it owns no element of the part. If A is replicated (rsrc or csrc is -1), one copy is sent; if B is replicated, all
 * copies are written.
 *
 * Collective over the context, also for processes outside both grids. Buffers stay within the context's
 * workspace_limit, so large parts are moved in several rounds.
 *
 * Errors, the same on all processes, with B unchanged: HSUMMA_ERR_ARGUMENT (a size, a descriptor, a pointer that is
 * NULL, a leading dimension, parts of A and B that overlap in the memory of a process), HSUMMA_ERR_WORKSPACE,
 * HSUMMA_ERR_MEMORY, HSUMMA_ERR_BUSY, HSUMMA_ERR_UNSUPPORTED (a matrix in device memory). HSUMMA_ERR_MPI,
 * HSUMMA_ERR_PEER: B is undefined, and the context can only be freed.
 */
HSUMMA_API hsumma_status hsumma_redistribute(hsumma_context *ctx, hsumma_type type, int64_t m, int64_t n, const void *a,
                                             const hsumma_desc *desca, void *b, const hsumma_desc *descb);

/**
 * Chooses the grid of at most `processes` processes on which a product whose layouts are free is cheapest by the model;
 * matrices have one block per process (nb = 0) or blocks of nb x nb. Grids of fewer than `processes` processes are
 * compared only if no grid of all of them has sides that differ by at most a factor of 2. The result refers to the
 * first processes of the context in order 'A': create the grid with that order and ranks = NULL. predicted_seconds may
 * be NULL.
 *
 * Local. The result depends only on the arguments and on data that are equal on all processes of the context. Errors:
 * HSUMMA_ERR_ARGUMENT, HSUMMA_ERR_OPTION, HSUMMA_ERR_MEMORY, and others of hsumma_plan_create() if no grid has a plan.
 */
HSUMMA_API hsumma_status hsumma_choose_grid(hsumma_context *ctx, hsumma_type type, char transa, char transb, int64_t m,
                                            int64_t n, int64_t k, int64_t nb, int processes, const char *options,
                                            int *nprow, int *npcol, double *predicted_seconds);

/**
 * The distributions with the least communication for a product whose layouts are free: descriptors of A, B and C as
 * stored (op(A) is m x k, ...), one block per process, on a grid of all processes of the context, or of fewer if
 * hsumma_choose_grid() chooses fewer. The shape is chosen that minimises first the bytes that enter the node that
 * receives most, then those of the process that receives most, then the predicted time. options are those of
 * hsumma_plan_create(); with options such as stationary=A, only plans that obey them are compared.
 *
 * With layers=L, or with layers=auto if layers are faster (doc/planner.md), the matrices are distributed over all
 * processes so that in a plan with the same options A and B need no redistribution and only partial sums of C are sent
 * between layers.
 *
 * grid[0], grid[1] and grid[2] become the grids of A, B and C, to which the descriptors refer: three references to one
 * grid, or with layers three grids. Free each of the three with hsumma_grid_free() when the descriptors are no longer
 * used.
 *
 *     hsumma_grid *grid[3];
 *     hsumma_desc a, b, c;
 *     hsumma_desc_best(ctx, HSUMMA_D, 'N', 'N', m, n, k, NULL, grid, &a, &b, &c);
 *     double *mine = malloc(sizeof *mine * (size_t)(a.ld * hsumma_local_cols(&a)));
 *     ...
 *     for (int x = 0; x < 3; x++)
 *         hsumma_grid_free(&grid[x]);
 *
 * Collective over the context: the call makes the grid as hsumma_grid_create() does. Errors, the same on all processes:
 * HSUMMA_ERR_ARGUMENT, HSUMMA_ERR_OPTION, HSUMMA_ERR_UNSUPPORTED, HSUMMA_ERR_WORKSPACE, HSUMMA_ERR_MEMORY,
 * HSUMMA_ERR_MPI, HSUMMA_ERR_PEER; the grids are then NULL and the descriptors unchanged.
 */
HSUMMA_API hsumma_status hsumma_desc_best(hsumma_context *ctx, hsumma_type type, char transa, char transb, int64_t m,
                                          int64_t n, int64_t k, const char *options, hsumma_grid *grid[3],
                                          hsumma_desc *a, hsumma_desc *b, hsumma_desc *c);

/** @} */
/** @name Multiplying and tuning in one call
 *
 * These calls plan and execute at once, as p?gemm does: C := alpha op(A) op(B) + beta C, with the arguments of
 * hsumma_plan_create() and hsumma_plan_execute(); C must not overlap A or B. The context caches a bounded number of
 * plans by their global arguments (the least recently used one is replaced), so that repeated shapes are planned once.
 * Collective; options are those of the context. Errors: those of hsumma_plan_create() and hsumma_plan_execute(). If
 * processes pass different global arguments, each with a plan in its cache, or different alpha or beta, the call may
 * return HSUMMA_OK with a wrong C, fail with an error of MPI, or wait forever; with the option check=always it returns
 * HSUMMA_ERR_ARGUMENT and costs one more small allreduce.
 * @{ */

/** C := alpha op(A) op(B) + beta C in single precision. */
HSUMMA_API hsumma_status hsumma_sgemm(hsumma_context *ctx, char transa, char transb, int64_t m, int64_t n, int64_t k,
                                      float alpha, const float *a, const hsumma_desc *desca, const float *b,
                                      const hsumma_desc *descb, float beta, float *c, const hsumma_desc *descc);
/** C := alpha op(A) op(B) + beta C in double precision. */
HSUMMA_API hsumma_status hsumma_dgemm(hsumma_context *ctx, char transa, char transb, int64_t m, int64_t n, int64_t k,
                                      double alpha, const double *a, const hsumma_desc *desca, const double *b,
                                      const hsumma_desc *descb, double beta, double *c, const hsumma_desc *descc);
/** C := alpha op(A) op(B) + beta C in single-precision complex; alpha and beta point to two floats each, matrices
 * consist of pairs of floats. */
HSUMMA_API hsumma_status hsumma_cgemm(hsumma_context *ctx, char transa, char transb, int64_t m, int64_t n, int64_t k,
                                      const void *alpha, const void *a, const hsumma_desc *desca, const void *b,
                                      const hsumma_desc *descb, const void *beta, void *c, const hsumma_desc *descc);
/** C := alpha op(A) op(B) + beta C in double-precision complex; alpha and beta point to two doubles each, matrices
 * consist of pairs of doubles. */
HSUMMA_API hsumma_status hsumma_zgemm(hsumma_context *ctx, char transa, char transb, int64_t m, int64_t n, int64_t k,
                                      const void *alpha, const void *a, const hsumma_desc *desca, const void *b,
                                      const hsumma_desc *descb, const void *beta, void *c, const hsumma_desc *descc);

/**
 * Measures the best candidates for a product, as plans with tune=measure do in their first executions, but on matrices
 * of its own, and stores the fastest in the tuned file, so that later plans with the same arguments use it
 * without measuring. If the options, the context or the environment fix choices, only candidates that obey them are
 * measured, and the tuned file is unchanged.
 *
 * Collective; arguments as for hsumma_plan_create(). If line is not NULL, up to size bytes of the fastest plan's line
 * of options are stored there. Allocates as much memory as the matrices occupy.
 *
 * Errors: as hsumma_plan_create(); HSUMMA_ERR_OPTION if the file cannot be written (the measured choice is still used
 * in this context).
 */
HSUMMA_API hsumma_status hsumma_tune(hsumma_context *ctx, hsumma_type type, char transa, char transb, int64_t m,
                                     int64_t n, int64_t k, const hsumma_desc *a, const hsumma_desc *b,
                                     const hsumma_desc *c, const char *options, char *line, size_t size);

/** @} */

#ifdef __cplusplus
}
#endif

#endif
