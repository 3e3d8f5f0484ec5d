/* Agreement for tests with more ranks than cores: MPICH's blocking calls never yield the processor, this does. */
#ifndef HS_TESTS_SUPPORT_QUIET_H
#define HS_TESTS_SUPPORT_QUIET_H

#include <mpi.h>
#include <sched.h>
#include <stdint.h>

static inline int64_t quiet_reduce(int64_t value, MPI_Op op)
{
    int64_t result = value;
    int done = 0;
    MPI_Request request;
    MPI_Iallreduce(&value, &result, 1, MPI_INT64_T, op, MPI_COMM_WORLD, &request);
    while (MPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done)
        sched_yield();
    return result;
}

/* The largest magnitude, with the sign of the most negative value if there is one. */
static inline int64_t quiet_worst(int64_t value)
{
    int64_t least = quiet_reduce(value, MPI_MIN);
    return least < 0 ? least : quiet_reduce(value, MPI_MAX);
}

#endif
