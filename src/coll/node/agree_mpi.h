/*
 * Collectives of MPI, used before the library's own can run and for groups without them, and agreement by them. All are
 * nonblocking calls of MPI and a wait that `watch` looks after (NULL: nothing does) and may end with an error. Blocking
 * calls that have no nonblocking form (hs_mpi_subset, ...) follow one of these, so no rank waits long in them.
 */
#ifndef HS_COLL_NODE_AGREE_MPI_H
#define HS_COLL_NODE_AGREE_MPI_H

#include "base/wait.h"
#include "coll/node/verdict.h"

#include <mpi.h>
#if defined(OPEN_MPI) && defined(__has_include)
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h> /* ULFM: error classes for processes that have failed, and calls by which the others continue */
#endif
#endif

/* HSUMMA_OK for MPI_SUCCESS, HSUMMA_ERR_PEER for errors after the death of a process, else HSUMMA_ERR_MPI. */
hsumma_status hs_mpi_status(int code);
/* The rank of a process of comm that has failed, as far as this MPI knows; -1 if there is none, or without ULFM. */
int hs_mpi_lost(MPI_Comm comm);
/* watch, here and below: NULL, or looks after the wait and may end it with an error. */
hsumma_status hs_mpi_barrier(MPI_Comm comm, const struct hs_watch *watch);
/*
 * These work on copies of the data, which MPI keeps if the wait is ended; without memory for a copy the wait is not
 * watched. allreduce: in place. allgather: `bytes` is the size of one rank's part, and `all` may contain `mine`.
 */
hsumma_status hs_mpi_bcast(void *data, size_t bytes, int root, MPI_Comm comm, const struct hs_watch *watch);
hsumma_status hs_mpi_allreduce(void *data, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                               const struct hs_watch *watch);
hsumma_status hs_mpi_allgather(const void *mine, size_t bytes, void *all, MPI_Comm comm, const struct hs_watch *watch);

/*
 * Duplicates a communicator by MPI_Comm_idup, so the copy callbacks of its attributes run; a callback that fails is an
 * error, not the end of the program; if it fails on some ranks only, the others wait until `watch` ends the wait. The
 * caller's hints, which may allow messages to overtake each other, do not apply to the copy. Collective over comm.
 */
hsumma_status hs_mpi_duplicate(MPI_Comm comm, MPI_Comm *copy, const struct hs_watch *watch);

/* Makes the group of `size` ranks of comm, in the order of rank[]. Local; if one rank failed and the others went on to
 * hs_mpi_subset, they would wait for it, so the ranks should agree in between. HSUMMA_ERR_MPI. */
hsumma_status hs_mpi_group(MPI_Comm comm, int size, const int *rank, MPI_Group *group);
/* Makes the communicator of a group of comm's ranks by MPI_Comm_create_group, and frees the group. Collective over the
 * group; tag: as there. HSUMMA_ERR_MPI, HSUMMA_ERR_PEER. */
hsumma_status hs_mpi_subset(MPI_Comm comm, MPI_Group *group, int tag, MPI_Comm *subset);

/* Combines the votes of all ranks; collective. If MPI fails or the wait is ended: that error with this rank. */
struct hs_verdict hs_agree_by_mpi(MPI_Comm comm, struct hs_vote mine, const struct hs_watch *watch);
/* Returns the worst status of all ranks, by hs_agree_by_mpi. */
hsumma_status hs_agreed(MPI_Comm comm, hsumma_status mine, const struct hs_watch *watch);

#endif
