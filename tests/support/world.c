#include "support/world.h"

#include "support/tap.h"

#include <hsumma.h>

#include <sched.h>
#include <stdlib.h>
#include <string.h>

int rank, size;

void world_begin(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    hsumma_option_info info;
    for (int i = 0; hsumma_option(i, &info); i++) {
        size_t length = strlen(info.name);
        unsetenv(info.environment);
        for (int a = 1; a < *argc; a++)
            if (strncmp((*argv)[a], info.name, length) == 0 && (*argv)[a][length] == '=')
                setenv(info.environment, (*argv)[a] + length + 1, 1);
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    tap_begin(rank == 0);
}

int world_end(void)
{
    MPI_Finalize();
    return tap_done();
}

int64_t world_reduce(int64_t value, MPI_Op op)
{
    int64_t result = value;
    int done = 0;
    MPI_Request request;
    MPI_Iallreduce(&value, &result, 1, MPI_INT64_T, op, MPI_COMM_WORLD, &request);
    while (MPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done)
        sched_yield();
    return result;
}

int64_t world_worst(int64_t value)
{
    int64_t least = world_reduce(value, MPI_MIN);
    return least < 0 ? least : world_reduce(value, MPI_MAX);
}

int everywhere(int good)
{
    return world_reduce(good != 0, MPI_MIN) == 1;
}

int alike(int64_t value)
{
    return world_reduce(value, MPI_MIN) == world_reduce(value, MPI_MAX);
}
