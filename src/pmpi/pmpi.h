/*
 * libhsumma_pmpi.so: serves MPI_Allreduce, MPI_Reduce and MPI_Bcast of unmodified programs, by LD_PRELOAD.
 *
 *   mpiexec -n 8 -genv LD_PRELOAD libhsumma_pmpi.so program
 *
 * A communicator has a context of its own, created once its calls weigh enough (communicators.c) and kept as an
 * attribute. Whether a call is served depends only on arguments that MPI requires to be the same on all processes:
 *
 *   broadcasts    all below 2 GiB, of any type, because another process may describe the same elements by another
 *                 type; everything but contiguous elements of one basic type is packed
 *   reductions    sum, maximum and minimum of float, double and signed integers of 4 or 8 bytes, sums also of complex
 *                 types; no user-defined operators, which may rely on whole vectors as MPICH passes them (those of
 *                 the BLACS do)
 *   communicators intracommunicators of at least two processes, between MPI_Init and MPI_Finalize
 *
 * No call of a communicator is served if one of its processes sets HSUMMA_PMPI=off, already serves 64 communicators, or
 * has MPI_THREAD_MULTIPLE, because a context is for one thread at a time. All other calls go to PMPI, those that the
 * library itself makes while it serves a call included.
 *
 * A wrong option (HSUMMA_COLL=allreduce:foo) is reported once, and calls are passed on. With HSUMMA_PMPI=verbose rank 0
 * prints in MPI_Finalize how many calls and bytes were served, and by which algorithms. Other variables are the
 * library's options, for example HSUMMA_COLL.
 *
 * Fortran needs no functions of its own with MPICH, whose Fortran interfaces call the C functions MPI_*. Those of Open
 * MPI call PMPI_*, so calls from Fortran are not served there.
 */
#ifndef HSUMMA_PMPI_H
#define HSUMMA_PMPI_H

#include <hsumma_coll.h>
#include <stdatomic.h>

#define PMPI_EXPORT __attribute__((visibility("default")))

enum pmpi_function { PMPI_ALLREDUCE_CALL, PMPI_REDUCE_CALL, PMPI_BCAST_CALL, PMPI_FUNCTIONS };

enum { PMPI_STATUSES = HSUMMA_ERR_DATA + 1 };

/* Values of HSUMMA_PMPI. */
enum pmpi_mode { PMPI_SERVE, PMPI_OFF, PMPI_VERBOSE, PMPI_MODES };

/* What is reported once. */
enum pmpi_warning { PMPI_PASSED_ON, PMPI_REPLACED, PMPI_WARNINGS };

struct pmpi_count {
    atomic_llong calls, bytes;
};

/* The attribute of a communicator that is served. */
struct pmpi_comm {
    struct pmpi_comm *next, *previous;
    MPI_Comm comm;
    hsumma_context *ctx;
    int rank, size;
};

/*
 * State of the process: a preloaded library has no handle to attach it to. Under MPI_THREAD_MULTIPLE nothing is served;
 * only `copies` and the counts are written and, once and under a lock, keyval, self and mode.
 */
struct pmpi_state {
    atomic_int keyval;
    atomic_int copies;              /* 1: the program has made attributes with a copy callback */
    struct pmpi_comm *first, *last; /* in order of creation */
    int records;                    /* number of records */
    int warned[PMPI_WARNINGS];      /* 1: has been reported */
    enum pmpi_mode mode;            /* read when keyval is made */
    struct pmpi_row *rows;          /* report.c: which algorithms have served which calls */
    int inside;                     /* nonzero while the library is active: its own MPI calls are passed on */
    MPI_Comm self;                  /* this process alone; errors return, and no handler of the program's runs */
    int code[PMPI_STATUSES];        /* error classes added to MPI for hsumma's statuses; 0: not made yet */
    struct pmpi_count served[PMPI_FUNCTIONS], passed[PMPI_FUNCTIONS];
};
extern struct pmpi_state pmpi_state;

/*
 * communicators.c: the record of a communicator, for a call that moves `bytes`; NULL if the call must be passed on.
 * Collective over comm in the call that creates the context. pmpi_self must have returned a communicator.
 */
struct pmpi_comm *pmpi_comm_of(MPI_Comm comm, MPI_Count bytes);
/* pmpi_state.self, made when first needed with the rest of the state; MPI_COMM_NULL before MPI_Init and after
 * MPI_Finalize, where all calls, which are on communicators of sessions, are passed on. */
MPI_Comm pmpi_self(void);
/* Frees all contexts, in order of creation. */
void pmpi_comms_free(void);

/* report.c */
/* The value of HSUMMA_PMPI; reports one that is unknown. */
enum pmpi_mode pmpi_read_mode(void);
/* Prints a warning and its reason `why`, once for each kind of warning. */
void pmpi_warn(enum pmpi_warning warning, const char *why);
/* Counts a call that was served, successfully (well) or not. */
void pmpi_count_served(const struct pmpi_comm *record, const hsumma_coll *call, enum pmpi_function function,
                       long long bytes, int well);
/* Counts a call that was passed on to MPI, unless the library itself made it, and returns its result. */
int pmpi_count_passed(enum pmpi_function function, MPI_Count count, MPI_Datatype type, int error);
/* Prints the counts in mode PMPI_VERBOSE, and frees them. */
void pmpi_print_counts(void);

/* datatypes.c */
/* Whether MPI accepts the type for communication. */
int pmpi_is_valid(MPI_Datatype type);
/* Whether a type is one of MPI's own with contiguous elements, of *size bytes each. */
int pmpi_is_basic(MPI_Datatype type, MPI_Count *size);
/* Whether hsumma has the operator for this type, of *size bytes; sets *operator if so. */
int pmpi_operator(MPI_Op op, MPI_Datatype type, hsumma_operator *operator, MPI_Count * size);

#endif
