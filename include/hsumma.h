/**
 * @file
 * Distributed dense matrix multiplication over MPI: C := alpha op(A) op(B) + beta C.
 *
 * What most programs need (examples/smallest.c is a whole one):
 *
 *     hsumma_create(MPI_COMM_WORLD, NULL, &ctx, text, sizeof text);  // text: what was wrong
 *     hsumma_grid_create(ctx, nprow, npcol, 'R', NULL, &grid);       // nprow x npcol processes
 *     hsumma_desc_init(&desc, grid, n, n, 64, 64);                   // an n x n matrix in blocks of 64 x 64
 *     a = malloc(desc.ld * hsumma_local_cols(&desc) * sizeof *a);    // this process's part; b and c likewise
 *     a[i + j * desc.ld] = f(hsumma_global_row(&desc, i), hsumma_global_col(&desc, j));
 *     if (hsumma_dgemm(ctx, 'N', 'N', n, n, n, 1.0, a, &desc, b, &desc, 0.0, c, &desc))
 *         fprintf(stderr, "%s\n", hsumma_message(ctx));              // which argument, its value, what is allowed
 *     hsumma_grid_free(&grid);
 *     hsumma_free(&ctx);
 *
 * A, B and C are spread over a P x Q grid of processes, block-cyclically as in ScaLAPACK, or one block per process
 * (block-checkerboard).  The algorithms are SUMMA (van de Geijn and Watts 1997) and its hierarchical form HSUMMA
 * (Quintin, Hasanov and Lastovetsky 2013, Section III), with two levels and more.
 *
 * Conventions that hold for every declaration below:
 *
 * - Indices are 0-based.  Sizes are 64-bit and count elements unless the text says bytes.  Times are in seconds.
 * - Local matrices are stored by columns with leading dimension ld (Fortran order).
 * - A function that can fail returns a status; HSUMMA_OK is 0.  Nothing prints unasked, nothing ends the program.
 *   hsumma_message() says which argument was wrong, its value, and what is allowed.
 * - "Collective" means: every process of the context's communicator calls it, with the same global arguments (all but
 *   matrices, leading dimensions and output arguments), and in the same order as its other collective calls.  A
 *   collective call returns the same status on every process of the grid, also when only one of them was given a bad
 *   pointer or has no memory left; hsumma_plan_create() also detects different global arguments.
 * - "Local" means: one process alone may call it, and nothing is sent.
 * - Handles and output arguments must not be NULL where the text does not allow it.
 * - One context is used by one thread at a time; MPI_THREAD_FUNNELED is enough.
 * - Memory: whoever made an object frees it, with the function named beside its constructor.  Matrices always belong to
 *   the caller.  Options, descriptors and rank lists are copied.
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

#define HSUMMA_MAX_LEVELS 6 /**< Levels of a hierarchy, at most: 1 is SUMMA, 2 is the paper's HSUMMA. */
#define HSUMMA_MAX_RIVALS 5 /**< Plans that a plan is compared with, at most. */

/** What a call returns. */
typedef enum hsumma_status {
    HSUMMA_OK = 0,          /**< the call has done what it was asked */
    HSUMMA_ERR_ARGUMENT,    /**< an argument is out of its range */
    HSUMMA_ERR_OPTION,      /**< an option is unknown, or its value cannot be read */
    HSUMMA_ERR_UNSUPPORTED, /**< a valid request that this version cannot serve */
    HSUMMA_ERR_MEMORY,      /**< an allocation failed, on this process or another */
    HSUMMA_ERR_WORKSPACE,   /**< the request needs more workspace than workspace_limit allows */
    HSUMMA_ERR_BUSY,        /**< another plan of this context has been started and not yet waited for */
    HSUMMA_ERR_MPI,         /**< MPI returned an error; the context can only be freed */
    HSUMMA_ERR_INTERNAL,    /**< a defect of this library: please report it */
    HSUMMA_ERR_DEVICE       /**< a device returned an error, or cannot do what was asked of it */
} hsumma_status;

/** Element types, as BLAS names them.  A complex element is two consecutive reals. */
typedef enum hsumma_type {
    HSUMMA_S = 0, /**< float */
    HSUMMA_D,     /**< double */
    HSUMMA_C,     /**< float complex, 8 bytes */
    HSUMMA_Z      /**< double complex, 16 bytes */
} hsumma_type;

/** A communicator of the library's own with options, tuning tables and scratch memory: hsumma_create(). */
typedef struct hsumma_context hsumma_context;
/** P x Q processes of a context: hsumma_grid_create(). */
typedef struct hsumma_grid hsumma_grid;
/** One multiplication, checked, chosen and sized, to be executed any number of times: hsumma_plan_create(). */
typedef struct hsumma_plan hsumma_plan;

/**
 * How one matrix is spread over a grid, and which part of it an operation works on.  A plain value: fill it with
 * hsumma_desc_init() or hsumma_desc_checkerboard() and change single fields afterwards.
 */
typedef struct hsumma_desc {
    const hsumma_grid *grid; /**< borrowed; must live as long as the descriptor is used */
    int64_t m;               /**< rows of the whole distributed matrix */
    int64_t n;               /**< columns of the whole distributed matrix */
    int64_t mb;              /**< rows of a block */
    int64_t nb;              /**< columns of a block */
    int64_t imb;             /**< rows of the first block row, at least 1; usually mb */
    int64_t inb;             /**< columns of the first block column, at least 1; usually nb */
    int rsrc;                /**< grid row that owns the first block; -1: every grid row has all rows (A and B are then
                                  read from any, C is computed by each) */
    int csrc;                /**< grid column that owns the first block; -1: every grid column has all columns */
    int64_t i;               /**< first row of the operand inside the matrix; 0: from the first */
    int64_t j;               /**< first column of the operand inside the matrix; 0: from the first */
    int64_t ld;              /**< local leading dimension, at least max(1, local rows); may differ between processes */
} hsumma_desc;

/** One level of the hierarchy of a plan, outermost first. */
typedef struct hsumma_level {
    int rows;           /**< this level broadcasts over rows x cols processes, or groups of them */
    int cols;           /**< see rows */
    int64_t block;      /**< width of the panels that move on this level, in elements of the looped dimension */
    const char *bcast;  /**< broadcast algorithm, by its name in the registry */
    const char *reduce; /**< reduction algorithm, by its name in the registry */
} hsumma_level;

/** How one operand moves in a plan. */
typedef struct hsumma_movement {
    /** A constant: "stays", "local" (its line is one process), "broadcast", "reduced", and where it is not aligned
     * "exchanged", "exchanged and broadcast", "reduced and exchanged".  Where its line is on one node, which shares
     * memory, "shared" (owners put panels there) and "summed" (C, from there) for "broadcast" and "reduced". */
    const char *how;
    size_t exchange_bytes; /**< sent and received to align it by the process that has most to do, at most; 0: aligned */
    double exchange_seconds; /**< predicted; a part of predicted_comm_seconds */
} hsumma_movement;

/** A plan that was not taken: what would give it, and what it would cost. */
typedef struct hsumma_rival {
    const char *line; /**< as hsumma_plan_info.line, valid as long */
    double seconds;   /**< predicted */
    double measured;  /**< the shortest execution of it by tune=measure; 0: not measured */
} hsumma_rival;

/** What a plan has chosen, why, what it will cost, and what its last execution did on this process. */
typedef struct hsumma_plan_info {
    const char *line; /**< one line: options that give this plan again, word for word; valid until the plan is freed */
    const char *why;  /**< what decided each choice (caller, environment, model or default); valid as long */
    char stationary;  /**< 'A', 'B' or 'C': the operand that does not move */
    int nprow;        /**< rows of the grid */
    int npcol;        /**< columns of the grid */
    int nlevels;      /**< 1 (SUMMA) to HSUMMA_MAX_LEVELS */
    hsumma_level level[HSUMMA_MAX_LEVELS]; /**< the first nlevels of them, outermost first */
    int lookahead;   /**< panels in flight ahead of the multiplication; 0: blocking, the paper's algorithm */
    int64_t segment; /**< bytes of a segment of pipelined broadcasts */
    int threads;     /**< BLAS threads per process; 0: left as the user has set them */
    int64_t panels;  /**< innermost panels in all; 0 on processes that own nothing */
    /** How the processes of one node share: "messages" (they send), "shared" (they read the panels that one of them has
     * put into shared memory: with several nodes its own, and those that it has received), "alone" (one process has
     * all); "device": the last execution ran on devices (before the first: one of matrices there will), and all fields
     * here are about that. */
    const char *node;
    int64_t chunk; /**< shared: rows or columns of a panel that are handed over at a time; else 0 */
    /** Of this process: panel buffers (of what the node shares its part), which the plans of a context share, and what
     * the plan keeps. */
    size_t workspace_bytes;
    size_t workspace_bytes_max;      /**< workspace_bytes of the process that needs most */
    size_t workspace_limit_bytes;    /**< what workspace_limit allows the process that needs most */
    double predicted_seconds;        /**< of one execution, by the cost model of the schedules */
    double predicted_comm_seconds;   /**< messages and waiting that the local GEMM does not hide */
    double predicted_gemm_seconds;   /**< the local GEMM */
    double predicted_copy_seconds;   /**< packing, unpacking, sharing */
    int64_t predicted_bytes_sent;    /**< given to MPI by this process's schedule; 0 where all share a node's memory */
    int64_t predicted_messages_sent; /**< likewise */
    /** Bytes that some process must receive, whatever the algorithm: Al Daas, Ballard, Grigori, Kumar and Rouse, SPAA
     * 2022, for matrices that lie evenly spread at the beginning. */
    double lower_bound_bytes;
    /** What the prediction rests on: "built-in", "built-in, network measured in MS ms", "built-in, network remembered",
     * or the name of a file. */
    const char *profile;
    const char *tuned; /**< "estimated", "remembered" (from the tuned file), "measuring" or "measured" */
    int nrivals;       /**< the number of rivals, at most HSUMMA_MAX_RIVALS */
    hsumma_rival rival[HSUMMA_MAX_RIVALS]; /**< the next best, best first */
    double predicted_stationary[3];        /**< seconds with stationary A, B, C; -1: not considered, or not possible */
    hsumma_movement operand[3];            /**< what happens to A, B and C */
    /** The last execution on this process, from start to completion; 0 before the first, as all below.  On devices
     * until hsumma_plan_wait() has returned, and the parts below until all operations are enqueued: to time the work
     * itself, time the stream. */
    double seconds;
    double gemm_seconds; /**< in the local GEMM */
    double copy_seconds; /**< packing and unpacking panels */
    double comm_seconds; /**< the rest: messages, waiting, and between start and wait the caller's own work */
    /** A part of comm_seconds in which nothing could be done but wait for others; 0 where node is "messages" or there
     * are several nodes (not told apart from what messages take). */
    double wait_seconds;
    int64_t bytes_sent;    /**< bytes given to MPI */
    int64_t messages_sent; /**< messages given to MPI */
    /** What makes this process's products: "BLAS", its device ("cuda"; matrices of the host pass through it tile by
     * tile), or "none" where it has no part. */
    const char *local;
    int steps;     /**< panels of the outermost level; 0 where all share a node's memory and where nothing is owned */
    int steps_run; /**< those of them that an execution multiplies (option steps) */
} hsumma_plan_info;

/** The version of the library that is running, which may be newer than the header's.  Any pointer may be NULL. Local.
 */
HSUMMA_API void hsumma_version(int *major, int *minor, int *patch);

/** A short English name of a status; a constant string, never NULL.  Local. */
HSUMMA_API const char *hsumma_status_string(hsumma_status status);

/** @name Options
 *
 * Text of the form "name=value name=value", in three places: the environment (HSUMMA_NAME, read by the first process at
 * hsumma_create() and sent to the others), the context, the plan; the later wins.  NULL or "" means none.
 * doc/reference.md lists them.
 * @{ */

/** One option; constant strings. */
typedef struct hsumma_option_info {
    const char *name;          /**< as it is written in texts of options */
    const char *value_name;    /**< the values that it takes, separated by | */
    const char *default_value; /**< the value without any word; "" or NULL: none */
    const char *help;          /**< what it is, in one line */
    const char *environment;   /**< its variable, HSUMMA_NAME */
} hsumma_option_info;

/** Describes the i-th option, 0-based, for programs that want to offer all.  Returns 0 past the last, else 1.  Local.
 */
HSUMMA_API int hsumma_option(int i, hsumma_option_info *info);

/** @} */
/** @name Contexts
 * @{ */

/**
 * Makes a context over a duplicate of comm.  Collective over comm, with the same options on all processes.  MPI must be
 * initialised.
 *
 * The first context over several nodes measures the messages between them if no profile has them, in less than 0.1 s.
 *
 * Errors: HSUMMA_ERR_OPTION, HSUMMA_ERR_DEVICE (a process has no device, or it cannot be used), HSUMMA_ERR_MEMORY,
 * HSUMMA_ERR_MPI (also: the program runs with another MPI than the library was built with).  After an error *ctx is
 * NULL and, if message is not NULL, up to size bytes of explanation are stored there.  Free with hsumma_free().
 */
HSUMMA_API hsumma_status hsumma_create(MPI_Comm comm, const char *options, hsumma_context **ctx, char *message,
                                       size_t size);

/** hsumma_create for a communicator of Fortran, as MPI_Comm_c2f makes it.  For bindings. */
HSUMMA_API hsumma_status hsumma_create_fortran(MPI_Fint comm, const char *options, hsumma_context **ctx, char *message,
                                               size_t size);

/**
 * Releases the caller's hold on a context and sets *ctx to NULL.  Grids and plans made from it stay usable; the context
 * is freed with the last of them.  NULL is ignored.
 *
 * No process waits for another.  But the last release frees a communicator, which MPI calls collective: release
 * contexts in the same order on all processes.  With the option trace processes do wait for each other, and the last
 * release must come before MPI_Finalize.
 */
HSUMMA_API void hsumma_free(hsumma_context **ctx);

/**
 * Writes the timeline so far (option trace=FILE).  hsumma_free() writes it in any case but reports nothing; this call
 * says why it cannot be written.  Collective, with no plan and no collective call in progress.  Without the option
 * nothing happens.
 *
 * Errors, the same on all processes: HSUMMA_ERR_BUSY, HSUMMA_ERR_OPTION (the file cannot be written; an older one is
 * unchanged), HSUMMA_ERR_MEMORY, HSUMMA_ERR_MPI.
 */
HSUMMA_API hsumma_status hsumma_trace_write(hsumma_context *ctx);

/**
 * The explanation of the last error of this context on this process, "" if there was none.  Valid until the next call
 * of the context.  Local.
 */
HSUMMA_API const char *hsumma_message(const hsumma_context *ctx);

/**
 * Replaces that explanation (copied; cut after 479 bytes).  Local.
 *
 * For bindings that refuse an argument themselves, such as an array of the wrong shape: they pass NULL in its place, so
 * that all processes return the same error, and then explain it.
 */
HSUMMA_API void hsumma_set_message(hsumma_context *ctx, const char *text);

/** @} */
/** @name Devices
 *
 * A context with the option device=cuda (or auto, where every process has a GPU) takes matrices and vectors in the
 * memory of this process's GPU, in that of the host, or some here and some there: every call looks where its pointers
 * lead.  Several processes may share a GPU.  device=host is the stand-in for a GPU of hsumma's own tests, not part of
 * this library (doc/gpu.md).
 *
 * Device operations are enqueued on the context's stream in call order; calls may return before they complete.  Results
 * in host memory are complete when a call returns.
 *
 * Matrices of the host are multiplied on the device, too, where that is faster: tile by tile, within the memory that
 * the option device_memory gives, at full speed from pinned memory (cudaMallocHost, cudaHostRegister).  If the device
 * fails then, or has no memory, the BLAS does the rest and all that follows; hsumma_message() says so after the call.
 *
 * Errors: HSUMMA_ERR_DEVICE (the message names the call that failed and the process), HSUMMA_ERR_UNSUPPORTED (the
 * context has no device), HSUMMA_ERR_BUSY (a plan is in progress), HSUMMA_ERR_MEMORY.  A call agrees on failures until
 * all operations are enqueued.  A later failure on a process's device is reported by that process's
 * hsumma_synchronize() and next call, and by the next call of the others: results that they have from it are undefined.
 * @{ */

/**
 * Takes another stream (cudaStream_t) of the caller's, which stays the caller's and must outlive the context or the
 * next hsumma_set_stream(); NULL: the context's own again.  Local, each process sets its own; not while a call is in
 * progress.
 */
HSUMMA_API hsumma_status hsumma_set_stream(hsumma_context *ctx, void *stream);

/** The stream (cudaStream_t); NULL where there is no device, or the device has none to show.  Local. */
HSUMMA_API void *hsumma_stream(const hsumma_context *ctx);

/**
 * Waits until all operations on the context's stream are complete and reports their errors.  Operations of the caller's
 * on the same stream are ordered behind the library's without it.  Local.
 */
HSUMMA_API hsumma_status hsumma_synchronize(hsumma_context *ctx);

/** Copies bytes between any two kinds of memory, on the stream; complete when the call returns.  Local. */
HSUMMA_API hsumma_status hsumma_copy(hsumma_context *ctx, void *dst, const void *src, size_t bytes);

/** The device's name, "none" without one; valid as long as the context.  Local. */
HSUMMA_API const char *hsumma_device(const hsumma_context *ctx);

/** @} */
/** @name Grids and descriptors
 * @{ */

/**
 * Makes a grid of nprow x npcol processes.  Collective over the context, and it communicates.  Processes that are left
 * over own nothing and may join every call.
 *
 * Order 'R' counts the processes along rows, 'C' along columns; ranks, if not NULL, lists nprow * npcol ranks of the
 * context's communicator in that order (copied), else it is the first ones.
 *
 * Order 'A' (any) leaves it to the library which process has which coordinates: ask hsumma_grid_info() and
 * hsumma_grid_rank().  The processes of each node get a tile of the grid that is as near to a square as the grid and
 * the sizes of the nodes allow, those of each socket a tile of that, because a panel enters a node once for each row or
 * column of the grid that the node touches: 16 processes on 4 nodes as 4 x 4 receive a third less from other nodes with
 * tiles of 2 x 2 than with a row for each node.  On one node, and where no tiles are better, it is the order of 'R'.
 *
 * The processes of each node map memory for the products of the grid; it lives as long as the grid and its plans.  A
 * node that cannot share memory is no error: products send messages, and hsumma_plan_info.why says which node and the
 * reason.
 *
 * Errors, the same on all processes: HSUMMA_ERR_ARGUMENT, HSUMMA_ERR_MEMORY, HSUMMA_ERR_MPI; *grid is NULL then.  Free
 * with hsumma_grid_free().
 */
HSUMMA_API hsumma_status hsumma_grid_create(hsumma_context *ctx, int nprow, int npcol, char order, const int *ranks,
                                            hsumma_grid **grid);

/** Releases a grid and sets *grid to NULL; plans made on it stay usable.  Local.  NULL is ignored. */
HSUMMA_API void hsumma_grid_free(hsumma_grid **grid);

/**
 * Shape and this process's coordinates: row from 0 to nprow - 1 and col from 0 to npcol - 1, or -1 for a process
 * outside the grid.  Any pointer may be NULL.  Local.
 */
HSUMMA_API void hsumma_grid_info(const hsumma_grid *grid, int *nprow, int *npcol, int *row, int *col);

/** The rank, in the context's communicator, of the process at row and col of the grid; -1 if there is none.  Local. */
HSUMMA_API int hsumma_grid_rank(const hsumma_grid *grid, int row, int col);

/** The factors of size nearest to a square, nprow at most npcol.  Local. */
HSUMMA_API void hsumma_grid_shape(int size, int *nprow, int *npcol);

/**
 * Describes an m x n matrix in mb x nb blocks, the first on grid row and column 0; ld becomes the local number of rows
 * (at least 1).  Local.  Nothing is checked until the descriptor is used.
 */
HSUMMA_API void hsumma_desc_init(hsumma_desc *desc, const hsumma_grid *grid, int64_t m, int64_t n, int64_t mb,
                                 int64_t nb);

/** As hsumma_desc_init() with one block per process: mb = ceil(m / nprow), nb = ceil(n / npcol).  Local. */
HSUMMA_API void hsumma_desc_checkerboard(hsumma_desc *desc, const hsumma_grid *grid, int64_t m, int64_t n);

/** Rows of the whole matrix that this process stores; 0 outside the grid.  Local. */
HSUMMA_API int64_t hsumma_local_rows(const hsumma_desc *desc);
/** Columns of the whole matrix that this process stores; 0 outside the grid.  Local. */
HSUMMA_API int64_t hsumma_local_cols(const hsumma_desc *desc);

/** The global index of this process's local row, 0 to hsumma_local_rows() - 1.  Local. */
HSUMMA_API int64_t hsumma_global_row(const hsumma_desc *desc, int64_t local);
/** The global index of this process's local column, 0 to hsumma_local_cols() - 1.  Local. */
HSUMMA_API int64_t hsumma_global_col(const hsumma_desc *desc, int64_t local);

/** @} */
/** @name Plans
 * @{ */

/**
 * Plans C := alpha op(A) op(B) + beta C, where op(A) is m x k, op(B) k x n and C m x n, and each operand begins at
 * (desc.i, desc.j) of its matrix.  trans is 'N', 'T' or 'C' (conjugate transpose; for real types 'T').  Collective.
 * Allocates the workspace; a rank without memory makes the call fail everywhere.
 *
 * Layouts: A, B and C lie on one grid, or on several of the same processes; blocks, first blocks, sources and offsets
 * of each are its own.  On several grids, and with layers=L (doc/planner.md), A and B are brought into another layout
 * first, which takes as much memory again: workspace_limit must allow it (HSUMMA_ERR_WORKSPACE says how much).  Where a
 * dimension is spread alike in the two operands that share it, nothing is redistributed; else the operand that moves
 * passes panel by panel through an exchange within the workspace limit, and hsumma_plan_query() says so.
 *
 * In a context with a device plans take device memory for panels besides: the plans of a grid share it, and it stays
 * until the context is freed.
 *
 *     hsumma_plan_create(ctx, HSUMMA_D, 'N', 'T', m, n, k, &a, &b, &c, "lookahead=2", &plan);
 *     for (int step = 0; step < steps; step++)
 *         hsumma_plan_execute(plan, &alpha, local_a, local_b, &beta, local_c);
 *     hsumma_plan_free(&plan);
 *
 * Errors: HSUMMA_ERR_ARGUMENT, HSUMMA_ERR_OPTION, HSUMMA_ERR_UNSUPPORTED, HSUMMA_ERR_WORKSPACE, HSUMMA_ERR_MEMORY,
 * HSUMMA_ERR_MPI; *plan is NULL then.  Free with hsumma_plan_free().
 */
HSUMMA_API hsumma_status hsumma_plan_create(hsumma_context *ctx, hsumma_type type, char transa, char transb, int64_t m,
                                            int64_t n, int64_t k, const hsumma_desc *a, const hsumma_desc *b,
                                            const hsumma_desc *c, const char *options, hsumma_plan **plan);

/** Fills *info.  Local. */
HSUMMA_API void hsumma_plan_query(const hsumma_plan *plan, hsumma_plan_info *info);

/**
 * Runs the plan on local matrices a, b, c (NULL where this process owns nothing), which have the leading dimensions of
 * the plan's descriptors.  alpha and beta point to one element of the plan's type, the same on all processes.  beta = 0
 * never reads C; alpha = 0 or k = 0 never reads A or B, which must not be NULL all the same where the process owns some
 * of them.  Collective over the grid.  Returns when this process's part of C is complete and its A and B may be
 * changed.
 *
 * Errors: HSUMMA_ERR_ARGUMENT (a pointer is NULL: C is unchanged everywhere), HSUMMA_ERR_BUSY, HSUMMA_ERR_MPI (C is
 * undefined, and the context can only be freed).
 *
 * In a context with a device each process's part of each matrix may lie in its device's memory or in the host's.  Where
 * all parts of C are on devices, and all processes on one node, the product runs there: panels go from device to
 * device, and device memory is complete, and may be changed, in the order of the context's stream; parts of A and B
 * that are on the host are copied to the device first.  Otherwise (C on the host, several nodes, devices that cannot
 * share memory, options for the host such as node=shared or groups) the product runs on the host, and parts on devices
 * are copied there and back; hsumma_plan_info.why says so.  Errors then: HSUMMA_ERR_MEMORY (C is unchanged),
 * HSUMMA_ERR_DEVICE (a device has failed: C is undefined everywhere); later failures on a stream are reported by
 * hsumma_synchronize().
 */
HSUMMA_API hsumma_status hsumma_plan_execute(hsumma_plan *plan, const void *alpha, const void *a, const void *b,
                                             const void *beta, void *c);

/**
 * As hsumma_plan_execute() without waiting: begins and returns.  Until hsumma_plan_wait() has returned, or
 * hsumma_plan_test() has set *done, a, b and c must not be touched, and the plan is the only one of its context that
 * runs.  The work advances only inside these calls.  Collective over the grid; all processes use the same form for an
 * execution, this one or hsumma_plan_execute().  Errors: those of hsumma_plan_execute().
 */
HSUMMA_API hsumma_status hsumma_plan_start(hsumma_plan *plan, const void *alpha, const void *a, const void *b,
                                           const void *beta, void *c);
/** Advances a started plan by at most about one slice of the local GEMM; *done becomes 1 when it is complete.  Local.
 */
HSUMMA_API hsumma_status hsumma_plan_test(hsumma_plan *plan, int *done);
/** Completes a started plan.  Collective over the grid.  Errors: those of hsumma_plan_execute(). */
HSUMMA_API hsumma_status hsumma_plan_wait(hsumma_plan *plan);

/** Frees a plan and sets *plan to NULL.  Local; a plan that was started is waited for first.  NULL is ignored. */
HSUMMA_API void hsumma_plan_free(hsumma_plan **plan);

/** @} */
/** @name Memory for matrices
 * @{ */

/**
 * Allocates memory for matrices that the other processes of the node can read in place: panels of A and B that are
 * contiguous in their owner's part (wide blocks, one block per process) are multiplied from there without a copy.  It
 * can be used as any other memory, for anything; a matrix may begin anywhere inside, and matrices in other memory work
 * as well.
 *
 * bytes may differ between processes and be 0, which gives an address of its own as well.  *memory begins on a page of
 * its own and holds zeros; in a context with a device it is the device's memory, aligned for anything, and its content
 * is undefined.
 *
 * Collective over the context: the calls come in the same order on all processes, as do those of hsumma_mfree().
 *
 * Shared memory is taken at once, page by page, so that a shortage shows here.  Where the processes of a node cannot
 * share memory (the system does not allow it, or there is one alone) it is plain memory of the system's, taken as it is
 * touched.
 *
 * Errors: HSUMMA_ERR_MEMORY (the same on all processes; *memory is NULL, and what other processes got is given back),
 * HSUMMA_ERR_MPI.  Free with hsumma_mfree() before hsumma_free(); what is left is freed with the context.
 */
HSUMMA_API hsumma_status hsumma_malloc(hsumma_context *ctx, size_t bytes, void **memory);

/**
 * Frees memory of hsumma_malloc(), with no plan in progress.  Called in the same order on all processes, but no process
 * waits.  NULL, and memory that hsumma_malloc() has not given in this context, is ignored.  Device memory is reused
 * when all processes have come to the next hsumma_malloc() or to hsumma_free(), which waits for the others where there
 * is a device: none is freed while another process has it mapped.
 */
HSUMMA_API void hsumma_mfree(hsumma_context *ctx, void *memory);

/** @} */
/** @name Layouts
 * @{ */

/**
 * Copies an m x n part of A into B, which may be spread in another way: as p?gemr2d does.  The part begins at (desca.i,
 * desca.j) of A and at (descb.i, descb.j) of B; the rest of B is not touched.  A and B may be on different grids of the
 * context, with shared processes or without; each process gives its part of A and of B (NULL where it owns nothing of
 * the part), in memory of the host.  Where A is on several processes (rsrc or csrc -1) one of them sends; where B is,
 * all get it.
 *
 * Collective over the context, also for processes outside both grids.  Buffers stay within the context's
 * workspace_limit: the matrices are moved in as many rounds as that takes.
 *
 * Errors, the same on all processes, with B unchanged: HSUMMA_ERR_ARGUMENT (a size, a descriptor, a pointer that is
 * NULL, a leading dimension, parts of A and B with a common element in the memory of a process), HSUMMA_ERR_WORKSPACE,
 * HSUMMA_ERR_MEMORY, HSUMMA_ERR_BUSY, HSUMMA_ERR_UNSUPPORTED (a matrix in device memory).  HSUMMA_ERR_MPI: B is
 * undefined, and the context can only be freed.
 */
HSUMMA_API hsumma_status hsumma_redistribute(hsumma_context *ctx, hsumma_type type, int64_t m, int64_t n, const void *a,
                                             const hsumma_desc *desca, void *b, const hsumma_desc *descb);

/**
 * The grid that the model finds cheapest for a product on `processes` processes when the layout is free: one block per
 * process (nb = 0) or blocks of nb x nb, all processes or fewer.  The grid's processes are the first ones of the
 * context, in order 'A': create it with that order and ranks NULL.  predicted_seconds may be NULL.
 *
 * Local; a function of its arguments, the context's options and profile.  Errors: HSUMMA_ERR_ARGUMENT,
 * HSUMMA_ERR_OPTION, HSUMMA_ERR_MEMORY.
 */
HSUMMA_API hsumma_status hsumma_choose_grid(hsumma_context *ctx, hsumma_type type, char transa, char transb, int64_t m,
                                            int64_t n, int64_t k, int64_t nb, int processes, const char *options,
                                            int *nprow, int *npcol, double *predicted_seconds);

/**
 * The distributions with the least communication for a product whose layouts are free: A, B and C as they are stored
 * (op(A) is m x k, ...), one block per process, on a grid of all processes of the context, or of fewer where
 * hsumma_choose_grid() takes fewer.  Of all shapes it takes the one in which the fewest bytes have to enter the node
 * that gets most, then the process that gets most, then the fastest by the model.  options: as of hsumma_plan_create();
 * with options such as stationary=A only plans that obey them are compared.
 *
 * With layers=L, or layers=auto where that is faster (doc/planner.md), they are spread over all processes so that in a
 * plan with the same options A and B stay where they are and only partial sums of C pass between the layers.
 *
 * grid[0], grid[1] and grid[2] become the grids of A, B and C, on which the descriptors are: one grid, held three
 * times, or with layers three.  Free each of the three with hsumma_grid_free(), when the descriptors are no longer
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
 * Collective over the context: the call makes the grid as hsumma_grid_create() does.  Errors, the same on all
 * processes: HSUMMA_ERR_ARGUMENT, HSUMMA_ERR_OPTION, HSUMMA_ERR_UNSUPPORTED, HSUMMA_ERR_WORKSPACE, HSUMMA_ERR_MEMORY,
 * HSUMMA_ERR_MPI; the grids are NULL then and the descriptors unchanged.
 */
HSUMMA_API hsumma_status hsumma_desc_best(hsumma_context *ctx, hsumma_type type, char transa, char transb, int64_t m,
                                          int64_t n, int64_t k, const char *options, hsumma_grid *grid[3],
                                          hsumma_desc *a, hsumma_desc *b, hsumma_desc *c);

/** @} */
/** @name Multiplying and tuning in one call
 *
 * Plan and execute in one call, as p?gemm does: C := alpha op(A) op(B) + beta C, with the arguments of
 * hsumma_plan_create() and hsumma_plan_execute().  Plans are cached in the context by their global arguments (a bounded
 * number, least recently used first out), so that repeated shapes plan once.  Collective; options are those of the
 * context.  Errors: those of hsumma_plan_create() and hsumma_plan_execute().
 * @{ */

/** In single precision. */
HSUMMA_API hsumma_status hsumma_sgemm(hsumma_context *ctx, char transa, char transb, int64_t m, int64_t n, int64_t k,
                                      float alpha, const float *a, const hsumma_desc *desca, const float *b,
                                      const hsumma_desc *descb, float beta, float *c, const hsumma_desc *descc);
/** In double precision. */
HSUMMA_API hsumma_status hsumma_dgemm(hsumma_context *ctx, char transa, char transb, int64_t m, int64_t n, int64_t k,
                                      double alpha, const double *a, const hsumma_desc *desca, const double *b,
                                      const hsumma_desc *descb, double beta, double *c, const hsumma_desc *descc);
/** In complex single precision; scalars by pointer to two floats, matrices of pairs of floats. */
HSUMMA_API hsumma_status hsumma_cgemm(hsumma_context *ctx, char transa, char transb, int64_t m, int64_t n, int64_t k,
                                      const void *alpha, const void *a, const hsumma_desc *desca, const void *b,
                                      const hsumma_desc *descb, const void *beta, void *c, const hsumma_desc *descc);
/** In complex double precision; scalars by pointer to two doubles, matrices of pairs of doubles. */
HSUMMA_API hsumma_status hsumma_zgemm(hsumma_context *ctx, char transa, char transb, int64_t m, int64_t n, int64_t k,
                                      const void *alpha, const void *a, const hsumma_desc *desca, const void *b,
                                      const hsumma_desc *descb, const void *beta, void *c, const hsumma_desc *descc);

/**
 * Measures the best candidates for a product, as plans with tune=measure do in their first executions, but on matrices
 * of its own, and remembers the fastest in the tuned file, so that later plans of the same arguments take it without
 * measuring.  If options, context or environment say how to multiply, only candidates that obey are measured, and
 * nothing is remembered.
 *
 * Collective; arguments as of hsumma_plan_create().  *line, if line is not NULL, becomes the plan's line: up to size
 * bytes.  Takes as much memory as the matrices have.
 *
 * Errors: as hsumma_plan_create(); HSUMMA_ERR_OPTION if the file cannot be written (the measured choice holds in this
 * context all the same).
 */
HSUMMA_API hsumma_status hsumma_tune(hsumma_context *ctx, hsumma_type type, char transa, char transb, int64_t m,
                                     int64_t n, int64_t k, const hsumma_desc *a, const hsumma_desc *b,
                                     const hsumma_desc *c, const char *options, char *line, size_t size);

/** @} */

#ifdef __cplusplus
}
#endif

#endif
