/*
 * libhsumma_pmpi.so: MPI_Allreduce, MPI_Reduce and MPI_Bcast of a program that does not know hsumma, by LD_PRELOAD.
 *
 *   mpiexec -n 8 -genv LD_PRELOAD libhsumma_pmpi.so program
 *
 * Every communicator has a context of its own, made at its first call that can be served and kept as an attribute.
 * Whether a call is served depends only on what MPI demands to be alike on all processes, so that all decide alike:
 *   broadcasts    all; what is not one basic type after the other is packed, because another process may describe the
 *                 same elements otherwise
 *   reductions    sum, maximum and minimum of real, complex and signed integer basic types; not operators of the
 *                 program's own: they may count on getting whole vectors, as the BLACS do, which MPICH keeps for them
 *   communicators with two processes at least, no intercommunicators; none if a process has the environment variable
 *                 HSUMMA_PMPI=off, has served 64 communicators that are not freed yet, or MPI_THREAD_MULTIPLE, whose
 * threads might call at the same time: a context is for one thread at a time Everything else goes to PMPI, also what
 * the library itself asks of MPI while it serves a call.
 *
 * What the user has said wrongly (HSUMMA_COLL=allreduce:foo) is told once, and calls are passed on.
 * HSUMMA_PMPI=verbose: the first process says at the end what was served.  Other variables: the library's options,
 * e.g. HSUMMA_COLL.
 *
 * Fortran needs nothing of its own: MPICH's Fortran interfaces call the C functions MPI_*.
 */
#ifndef HSUMMA_PMPI_H
#define HSUMMA_PMPI_H

#include <hsumma_coll.h>
#include <stdatomic.h>

#define PMPI_EXPORT __attribute__((visibility("default")))

enum pmpi_function { PMPI_ALLREDUCE_CALL, PMPI_REDUCE_CALL, PMPI_BCAST_CALL, PMPI_FUNCTIONS };

struct pmpi_count {
    atomic_llong calls, bytes;
};

/* A communicator, as its attribute. */
struct pmpi_comm {
    struct pmpi_comm *next, *previous;
    MPI_Comm comm;
    hsumma_context *ctx;
    int rank, size;
};

/*
 * The one record of the process: a preloaded library has no handle that it could hang it on.  Under
 * MPI_THREAD_MULTIPLE nothing is served; written are only the counts and, once and under a lock, keyval.
 */
struct pmpi_state {
    atomic_int keyval;
    struct pmpi_comm *first, *last; /* in the order of their making */
    int records;                    /* so many */
    int warned;                     /* the user has been told that something is not as he said */
    int inside;                     /* the library is at work: what it asks of MPI is passed on */
    struct pmpi_count served[PMPI_FUNCTIONS], passed[PMPI_FUNCTIONS];
};
extern struct pmpi_state pmpi_state;

/* communicators.c: the record of a communicator, made at its first call; NULL: pass the call on.  Collective over comm.
 */
struct pmpi_comm *pmpi_comm_of(MPI_Comm comm);
/* Frees all contexts, in the order of their making. */
void pmpi_comms_free(void);
/* Tells the user, once, why calls are not served that he wants served. */
void pmpi_warn(const char *why);
/* Whether HSUMMA_PMPI says this. */
int pmpi_is_word(const char *word);

/* datatypes.c */
/* Whether a type is one of MPI's own, in whose elements there are no gaps: *size bytes each. */
int pmpi_is_basic(MPI_Datatype type, MPI_Count *size);
/* Whether hsumma has the operator for this type, of *size bytes. */
int pmpi_operator(MPI_Op op, MPI_Datatype type, hsumma_operator *operator, MPI_Count * size);

#endif
