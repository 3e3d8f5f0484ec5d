/*
 * Plain MPI, without hsumma: many communicators of a few calls each, for tests/programs/pmpi.py. Prints how many pieces
 * of hsumma's shared memory rank 0 has mapped while all communicators exist.
 *
 *   many_communicators NUMBER CALLS BYTES [attribute]
 *
 * CALLS calls of MPI_Allreduce on each communicator, of BYTES bytes each. With `attribute` each communicator has an
 * attribute, and running its copy callback counts as wrong.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int count_mappings(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512];
    int count = 0;

    while (maps && fgets(line, sizeof line, maps))
        count += strstr(line, "memfd:hsumma") != NULL;
    if (maps)
        fclose(maps);
    return count;
}

static int copied;

static int copy(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)keyval, (void)extra, (void)in, (void)out;
    copied++;
    *flag = 0;
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    const int number = argc > 3 ? atoi(argv[1]) : 1, calls = argc > 3 ? atoi(argv[2]) : 1;
    const int count = (argc > 3 ? atoi(argv[3]) : 4) / (int)sizeof(int);
    int *in = calloc((size_t)count, sizeof *in), *out = calloc((size_t)count, sizeof *out), rank, size, wrong = 0;
    int keyval = MPI_KEYVAL_INVALID;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 4)
        MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);
    for (int i = 0; i < number; i++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm); /* freed by MPI_Finalize */
        if (argc > 4)
            MPI_Comm_set_attr(comm, keyval, NULL);
        for (int call = 0; call < calls; call++) {
            in[count - 1] = i + call;
            MPI_Allreduce(in, out, count, MPI_INT, MPI_SUM, comm);
            wrong += out[count - 1] != size * (i + call);
        }
    }
    wrong += copied;
    if (rank == 0)
        printf("%d mappings, %d wrong\n", count_mappings(), wrong);
    free(in);
    free(out);
    MPI_Finalize();
    return wrong != 0;
}
