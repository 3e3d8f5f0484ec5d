/*
 * Collective calls on a communicator of a session, for tests/programs/pmpi.py:
 *
 *   sessions alone|later    without MPI_Init, or after MPI_Init and MPI_Finalize
 *
 * The first rank prints the numbers of wrong results of all ranks (each rank's own line could be cut by another's);
 * "no sessions" if MPI has none.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#if MPI_VERSION >= 4

enum { CALLS = 30, MOST_RANKS = 16 };

static int count_wrong(MPI_Comm comm)
{
    int rank, size, wrong = 0;
    MPI_Datatype every_second;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Type_vector(3, 1, 2, MPI_INT, &every_second);
    MPI_Type_commit(&every_second);
    for (int i = 0; i < CALLS; i++) {
        int sum = -1, data[] = {-1, -1, -1, -1, -1}, from_root[] = {i, -1, i, -1, i};
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
        MPI_Bcast(rank ? data : from_root, 1, every_second, 0, comm);
        wrong += sum != size * (size - 1) / 2 || (rank && memcmp(data, from_root, sizeof data) != 0);
    }
    MPI_Type_free(&every_second);
    return wrong;
}

int main(int argc, char **argv)
{
    int later = argc > 1 && strcmp(argv[1], "later") == 0, rank, size, wrong, all_wrong[MOST_RANKS];
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    if (later)
        MPI_Init(&argc, &argv);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "sessions", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    if (later) {
        wrong = count_wrong(comm);
        MPI_Finalize();
        wrong += count_wrong(comm);
    } else {
        wrong = count_wrong(comm);
    }
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Gather(&wrong, 1, MPI_INT, all_wrong, 1, MPI_INT, 0, comm);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
    for (int i = 0; rank == 0 && i < size; i++)
        printf("%d%s", all_wrong[i], i + 1 < size ? " " : " wrong\n");
    return wrong > 0;
}

#else

int main(void)
{
    puts("no sessions");
    return 0;
}

#endif
