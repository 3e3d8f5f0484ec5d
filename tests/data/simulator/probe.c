/*
 * Replaces the hsumma command in tests of hsumma_sim that need SimGrid (tests/programs/sim_platform.py). Its first
 * argument is the hsumma command that hsumma_sim passes; the second selects what the probe does.
 */
#include <mpi.h>
#include <simgrid/actor.h>
#include <simgrid/host.h>
#include <simgrid/link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LONG = 1000000 };

/* Sends `bytes` bytes from rank 0 to rank `to`; returns the seconds on the receiver. */
static double message(int rank, int to, int bytes)
{
    char *data = calloc(LONG, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    double began = MPI_Wtime();
    if (rank == 0) {
        MPI_Request request;
        MPI_Isend(data, bytes, MPI_CHAR, to, 0, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (rank == to)
        MPI_Recv(data, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    double seconds = MPI_Wtime() - began;
    free(data);
    return seconds;
}

static void network(int rank, int ranks)
{
    if (rank == 0)
        printf("hosts %zu\nlinks %d\n", sg_host_count(), sg_link_count());
    for (int to = 1; to < ranks; to += to < ranks - 1 && ranks > 2 ? ranks - 2 : 1) {
        double none = message(rank, to, 0), full = message(rank, to, LONG);
        if (rank == to)
            printf("to %s %.9f %.9f\n", to == 1 ? "second" : "last", none, full - none);
    }
}

/* The lower half of the ranks send `bytes` bytes each to the upper half at the same time: prints the seconds. */
static void pairs(int rank, int ranks, int bytes)
{
    char *data = calloc((size_t)bytes + 1, 1);
    int half = ranks / 2;
    double longest = 0;
    sg_actor_sleep_for(1 - MPI_Wtime()); /* all begin at the same time */
    double began = MPI_Wtime();
    if (rank < half) { /* SMPI adds the overhead to MPI_Isend only */
        MPI_Request request;
        MPI_Isend(data, bytes, MPI_CHAR, rank + half, 0, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else
        MPI_Recv(data, bytes, MPI_CHAR, rank - half, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    double seconds = rank < half ? 0 : MPI_Wtime() - began;
    MPI_Reduce(&seconds, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("pairs %d %d %.12f\n", half, bytes, longest);
    free(data);
}

static void copy_file(const char *path)
{
    FILE *in = fopen(path, "r");
    for (int c; in && (c = getc(in)) != EOF;)
        putchar(c);
    if (in)
        fclose(in);
}

static void use(size_t bytes)
{
    char *memory = malloc(bytes);
    for (size_t i = 0; memory && i < bytes; i += 1 << 24) {
        memset(memory + i, 1, 1 << 24);
        for (clock_t end = clock() + CLOCKS_PER_SEC / 50; clock() < end;)
            continue;
    }
    free(memory);
}

int main(int argc, char **argv)
{
    int rank, ranks, code = 0;
    const char *what = argc > 2 ? argv[2] : "";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (!strcmp(what, "network"))
        network(rank, ranks);
    else if (!strcmp(what, "pairs"))
        pairs(rank, ranks, atoi(argv[3]));
    else if (!strcmp(what, "where"))
        printf("rank %d %s\n", rank, sg_host_self_get_name());
    else if (!strcmp(what, "lock"))
        MPI_Recv(&code, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else if (rank == 0 && !strcmp(what, "print"))
        copy_file(argv[3]);
    else if (rank == 0 && !strcmp(what, "options"))
        for (int i = 3; i < argc; i++)
            printf("%s\n", argv[i]);
    else if (rank == 0 && !strcmp(what, "use"))
        use((size_t)1 << 30);
    else if (rank == 0 && !strcmp(what, "spin"))
        while (clock() < 60 * CLOCKS_PER_SEC) /* in SMPI sleep takes no real time */
            continue;
    else if (!strcmp(what, "fail")) {
        code = atoi(argv[3]);
        if (rank == 0)
            fprintf(stderr, "hsumma: --what is \"fail\"\n");
    }
    MPI_Finalize();
    return code;
}
