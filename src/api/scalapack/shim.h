/*
 * The shim of p?gemm and p?gemr2d: what its files share.
 *
 * pxgemm.c, override.c   the Fortran names; all call hs_pgemm or hs_pgemr2d
 * gemr2d.c               one call of p?gemr2d
 * product.c              one call of p?gemm: quick returns, then ScaLAPACK or a cached plan
 * alone.c                products of matrices that lie on one process
 * repeat.c               repeated calls
 * check_arguments.c      argument checks, as PBLAS does them
 * blacs.c                grid and communicator of a BLACS context, the error exit
 * state.c                the state that is attached to that communicator
 * original.c             ScaLAPACK's own routine
 * log.c, explain.c       HSUMMA_LOG, HSUMMA_EXPLAIN
 */
#ifndef HS_API_SCALAPACK_SHIM_H
#define HS_API_SCALAPACK_SHIM_H

#include "hsumma_scalapack.h"

#include "dist/view.h"
#include "hsumma/plan/plan.h"

/* The arguments of a call, as PBLAS receives them. */
struct hs_pgemm {
    hsumma_type type;
    int interposed;     /* 1: called by ScaLAPACK's name (pdgemm_); 0: as hsumma_pdgemm_ */
    const void *caller; /* an address in the calling code */
    const char *trans[2];
    const int *extent[3]; /* m, n, k */
    const void *alpha, *beta;
    const void *data[3];
    const int *first[3][2]; /* 1-based ia, ja; ib, jb; ic, jc */
    const int *desc[3];
};

/* Does one call of p?gemm; all entry points call it. */
void hs_pgemm(const struct hs_pgemm *call);

/* Defines a routine with PBLAS's signature. HS_PGEMM_ALIAS adds the other names that Fortran compilers generate. */
#define HS_PGEMM(name, letter, by_scalapacks_name)                                                                 \
    void name(const char *transa, const char *transb, const int *m, const int *n, const int *k, const void *alpha, \
              const void *a, const int *ia, const int *ja, const int *desca, const void *b, const int *ib,         \
              const int *jb, const int *descb, const void *beta, void *c, const int *ic, const int *jc,            \
              const int *descc)                                                                                    \
    {                                                                                                              \
        hs_pgemm(&(struct hs_pgemm){letter,                                                                        \
                                    by_scalapacks_name,                                                            \
                                    __builtin_return_address(0),                                                   \
                                    {transa, transb},                                                              \
                                    {m, n, k},                                                                     \
                                    alpha,                                                                         \
                                    beta,                                                                          \
                                    {a, b, c},                                                                     \
                                    {{ia, ja}, {ib, jb}, {ic, jc}},                                                \
                                    {desca, descb, descc}});                                                       \
    }
#define HS_PGEMM_ALIAS(name, of) extern HSUMMA_SCALAPACK_API hsumma_pgemm name __attribute__((alias(#of)));

/* The arguments of p?gemr2d, as ScaLAPACK receives them. */
enum { HS_LETTER_I = HSUMMA_Z + 1 }; /* integers; the other letters are those of hsumma_type */
struct hs_pgemr2d {
    int letter, interposed;
    const void *caller;
    const int *extent[2]; /* m, n */
    const void *data[2];
    const int *first[2][2]; /* 1-based ia, ja; ib, jb */
    const int *desc[2];
    const int *context; /* a BLACS context that covers those of both matrices */
};
void hs_pgemr2d(const struct hs_pgemr2d *call);

#define HS_PGEMR2D(name, letter, by_scalapacks_name)                                                              \
    void name(const int *m, const int *n, const void *a, const int *ia, const int *ja, const int *desca, void *b, \
              const int *ib, const int *jb, const int *descb, const int *context)                                 \
    {                                                                                                             \
        hs_pgemr2d(&(struct hs_pgemr2d){letter,                                                                   \
                                        by_scalapacks_name,                                                       \
                                        __builtin_return_address(0),                                              \
                                        {m, n},                                                                   \
                                        {a, b},                                                                   \
                                        {{ia, ja}, {ib, jb}},                                                     \
                                        {desca, descb},                                                           \
                                        context});                                                                \
    }
#define HS_PGEMR2D_ALIAS(name, of) extern HSUMMA_SCALAPACK_API hsumma_pgemr2d name __attribute__((alias(#of)));

/* The entries of a descriptor of DTYPE 2, in order. */
enum hs_entry {
    HS_DTYPE,
    HS_CTXT,
    HS_ROWS,
    HS_COLS,
    HS_IMB,
    HS_INB,
    HS_MB,
    HS_NB,
    HS_RSRC,
    HS_CSRC,
    HS_LLD,
    HS_ENTRIES
};

/* The arguments of p?gemm after hs_arguments_read. */
struct hs_arguments {
    int context;
    int shape[2], coord[2]; /* extents of the BLACS grid; this process's place in it */
    int64_t extent[3];      /* m, n, k */
    char op[3];             /* N, T, C */
    struct hs_matrix_argument {
        int entry[HS_ENTRIES];
        int64_t first[2]; /* 0-based */
        int64_t part[2];  /* rows and columns of the operand, as stored */
    } matrix[3];
};

enum { HS_COMPLAINT = 160 };
/* Reads and checks the arguments. Returns 0, or the info for PBLAS's error exit, and in COMPLAINT (HS_COMPLAINT bytes)
 * what is wrong and what is expected. Local. */
int hs_arguments_read(const struct hs_pgemm *call, struct hs_arguments *args, char *complaint);
struct hs_axis hs_argument_axis(const struct hs_arguments *args, int x, int axis);

/* This process's view of an operand. */
struct hs_view hs_argument_view(const struct hs_arguments *args, int x);

/* Looks for a BLACS that the program has loaded after this library, if necessary by way of the caller's library (dlopen
 * with RTLD_LOCAL). Ends the program if there is none, because the call cannot be served. */
void hs_blacs_find(const void *caller, const char *routine);
/* A function in the caller's library or its dependencies; NULL if there is none. */
void *hs_symbol_of(const void *caller, const char *name);
/* The shape of a BLACS context's grid and this process's coordinates. Returns 0 if the context has no grid. */
int hs_blacs_grid(int context, int shape[2], int coord[2]);
MPI_Comm hs_blacs_comm(int context);
/* Calls PBLAS's error exit for a routine (PDGEMM). Returns if the error handler does; ends the program if it has no
 * PB_Cabort. */
void hs_blacs_abort(int context, const char *routine, int info);
/* The name of PBLAS's routine for a type, for example PDGEMM. */
const char *hs_pgemm_name(hsumma_type type);

/* Errors that PBLAS does not know have the info -(HS_INFO + status); PBLAS's own end at 1911. */
enum { HS_INFO = 2000, HS_SEEN = 256 };
/* Prints a failed call's error, and whether the call goes to ScaLAPACK (left) or to the error exit. */
void hs_shim_complain(const char *routine, const char *why, int left, hsumma_status status);
/* Whether an error is the same on all processes; a lack of memory, for instance, is not. */
int hs_shim_is_of_all(hsumma_status status);

/* The last product, for hs_repeat. `raw` holds its integer arguments: the type and two letters; then, for each
 * matrix, one extent, the first row and column, and the descriptor. */
enum { HS_RAW = 3 + 3 * (3 + HS_ENTRIES) };
struct hs_repeated {
    hsumma_plan *plan; /* NULL: no call, or all matrices are on one process */
    int local;         /* if plan is NULL: HS_MINE: operands are on this process, at `offset`; HS_OTHERS: on another */
    int count, raw[HS_RAW]; /* count: entries in raw; 0: no call is remembered */
    int64_t ld[3];
    size_t offset[3];
};

/* The state attached to the communicator of a BLACS context, freed with it. */
struct hs_shim {
    int log; /* file descriptor, or -1 */
    int connected;
    hsumma_status status; /* the error with which the creation of the context failed */
    hsumma_context *ctx;
    hsumma_grid *grid;
    double left;                  /* calls with m n k up to this number are left to ScaLAPACK */
    int guarded;                  /* 1 if HSUMMA_GUARD or HSUMMA_BITS is set, which products of one process obey, too */
    int checks;                   /* 1 if HSUMMA_CHECK=always is set: all processes compare their arguments */
    hsumma_pgemm *original[2][4]; /* ScaLAPACK's routines, indexed by interposed and type; NULL until looked up */
    int explain, reports;
    struct hs_totals *totals; /* NULL if nothing is explained, another process reports, or memory is exhausted */
    int threads;              /* BLAS threads; 0: their number is not changed */
    struct hs_repeated last;
    int64_t seen[HS_SEEN]; /* hashes of the explained calls; the oldest is overwritten first */
    int64_t seen_count;
};

/* The state of a communicator, made at its first call; NULL if out of memory. Local. */
struct hs_shim *hs_shim_of(MPI_Comm comm);
/*
 * Makes the context at the first call. After a lack of memory the next call tries again; every other error is final.
 * `shim` may be NULL on some processes. Collective over comm; every rank returns the same status.
 */
hsumma_status hs_shim_connect(struct hs_shim *shim, MPI_Comm comm, const int shape[2]);
/* Returns 1 only at its first call for a matter, so that each is reported once per process. */
enum hs_matter { HS_MISSPELT, HS_UNLIKE, HS_NO_LOG, HS_NO_ORIGINAL, HS_NO_CONTEXT, HS_NO_PLAN, HS_NO_MOVE, HS_MATTERS };
int hs_shim_first_time(enum hs_matter matter);

/* If all arguments other than alpha, beta and the matrices' addresses equal the last call's, and alpha is not zero:
 * performs the call, sets *status if it fails, and returns 1. Otherwise returns 0. The BLACS context must be valid. */
int hs_repeat(struct hs_shim *shim, const struct hs_pgemm *call, hsumma_status *status);
void hs_remember(struct hs_shim *shim, const struct hs_pgemm *call, const struct hs_repeated *how);
/* If all matrices of a call lie on one process, hs_do_locally performs it there without communication and returns 1 on
 * every process; otherwise it returns 0. hs_repeat_locally repeats such a call. */
enum { HS_OTHERS = 1, HS_MINE };
void hs_repeat_locally(const struct hs_pgemm *call, const struct hs_repeated *how, int threads);
int hs_do_locally(struct hs_shim *shim, const struct hs_pgemm *call, const struct hs_arguments *args);

/* ScaLAPACK's own routine; NULL if the program has none. */
hsumma_pgemm *hs_original(const struct hs_pgemm *call);
/* Sets the function pointer at `routine` to the next definition of a name after this library's own, else to the
 * definition that the caller's library finds; to NULL if there is none. */
void hs_next_routine(const void *caller, const char *name, void *routine);

int hs_log_open(void);
void hs_log_call(int file, const struct hs_pgemm *call, const struct hs_arguments *args);

/* Prints one line for each distinct call, on process (0,0). plan is NULL for a call left to ScaLAPACK. */
void hs_explain(struct hs_shim *shim, const struct hs_request *request, const hsumma_plan *plan);
/*
 * The totals of the calls on all grids whose process (0,0) is this one. MPI_Finalize prints and frees them. NULL if out
 * of memory.
 */
struct hs_totals *hs_explain_totals(void);
enum hs_outcome { HS_LEFT, HS_SERVED, HS_FAILED, HS_OUTCOMES }; /* left: ScaLAPACK performed the call */
void hs_explain_count(struct hs_totals *totals, const struct hs_pgemm *call, enum hs_outcome outcome, double seconds);

#endif
