/*
 * Preload under any MPI: counts the messages that a program sends by MPI_Isend, by node of the sender and of the
 * receiver, and divides the ranks of one machine into virtual nodes. MPI's own collective calls are not counted.
 *
 * NODE_COUNTS=FILE: at MPI_Finalize rank 0 writes {"messages": [[...], ...], "bytes": [[...], ...]} to FILE, with a row
 * for each node of senders and a column for each node of receivers. Nodes are numbered in the order of their lowest
 * ranks.
 *
 * NODE_MAP=0,0,1,...: the node of each rank, as part of the name that MPI_Get_processor_name returns. Equal names mean
 * one node to the library, different ones different nodes.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    int ranks, me, nodes, *node; /* node[r]: the node of rank r of MPI_COMM_WORLD */
    long long *messages, *bytes; /* sent by this rank, indexed by the receiver's rank */
    MPI_Group world;
} counts;

/* Reads the node of each rank from NODE_MAP; returns 0 if it is not set. */
static int read_map(int *node, int ranks)
{
    const char *map = getenv("NODE_MAP");

    for (int i = 0; map && i < ranks; i++) {
        char *end;

        node[i] = (int)strtol(map, &end, 10);
        if (end == map || *end != (i < ranks - 1 ? ',' : 0)) {
            fprintf(stderr, "node_counts: NODE_MAP=%s: expected the nodes of %d ranks\n", getenv("NODE_MAP"), ranks);
            PMPI_Abort(MPI_COMM_WORLD, 1);
        }
        map = end + 1;
    }
    return map != NULL;
}

/* Renumbers the nodes from 0, in the order of their lowest ranks. */
static void number_nodes(const int *named, int *node, int ranks)
{
    for (int i = 0; i < ranks; i++) {
        int first = 0;

        while (named[first] != named[i])
            first++;
        node[i] = first == i ? counts.nodes++ : node[first];
    }
}

static void begin(void)
{
    MPI_Comm mates;
    int first, *named;

    PMPI_Comm_rank(MPI_COMM_WORLD, &counts.me);
    PMPI_Comm_size(MPI_COMM_WORLD, &counts.ranks);
    PMPI_Comm_group(MPI_COMM_WORLD, &counts.world);
    named = calloc((size_t)counts.ranks, sizeof *named);
    counts.node = calloc((size_t)counts.ranks, sizeof *counts.node);
    counts.messages = calloc((size_t)counts.ranks, sizeof *counts.messages);
    counts.bytes = calloc((size_t)counts.ranks, sizeof *counts.bytes);
    if (!read_map(named, counts.ranks)) {
        PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &mates);
        first = counts.me;
        PMPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, mates);
        PMPI_Allgather(&first, 1, MPI_INT, named, 1, MPI_INT, MPI_COMM_WORLD);
        PMPI_Comm_free(&mates);
    }
    number_nodes(named, counts.node, counts.ranks);
    free(named);
}

int MPI_Init(int *argc, char ***argv)
{
    int code = PMPI_Init(argc, argv);

    begin();
    return code;
}

int MPI_Init_thread(int *argc, char ***argv, int wanted, int *given)
{
    int code = PMPI_Init_thread(argc, argv, wanted, given);

    begin();
    return code;
}

int MPI_Get_processor_name(char *name, int *length)
{
    int code = PMPI_Get_processor_name(name, length);

    if (code == MPI_SUCCESS && getenv("NODE_MAP"))
        *length = snprintf(name, MPI_MAX_PROCESSOR_NAME, "node %d", counts.node[counts.me]);
    return code;
}

int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)
{
    MPI_Group group;
    int size, rank;

    PMPI_Type_size(type, &size);
    PMPI_Comm_group(comm, &group);
    PMPI_Group_translate_ranks(group, 1, &to, counts.world, &rank);
    PMPI_Group_free(&group);
    if (rank >= 0 && rank < counts.ranks) {
        counts.messages[rank]++;
        counts.bytes[rank] += (long long)size * count;
    }
    return PMPI_Isend(buffer, count, type, to, tag, comm, request);
}

/* Sums the counts of all ranks, on rank 0, in a matrix indexed by the nodes of sender and receiver. */
static void collect(const long long *of_ranks, long long *of_nodes)
{
    int nodes = counts.nodes;

    memset(of_nodes, 0, (size_t)nodes * (size_t)nodes * sizeof *of_nodes);
    for (int i = 0; i < counts.ranks; i++)
        of_nodes[counts.node[counts.me] * nodes + counts.node[i]] += of_ranks[i];
    PMPI_Reduce(counts.me ? of_nodes : MPI_IN_PLACE, of_nodes, nodes * nodes, MPI_LONG_LONG, MPI_SUM, 0,
                MPI_COMM_WORLD);
}

static void write_matrix(FILE *file, const char *name, const long long *of_nodes)
{
    int nodes = counts.nodes;

    fprintf(file, "\"%s\": [", name);
    for (int i = 0; i < nodes * nodes; i++)
        fprintf(file, "%s%lld%s", i % nodes ? ", " : i ? ", [" : "[", of_nodes[i], i % nodes == nodes - 1 ? "]" : "");
    fputs("]", file);
}

int MPI_Finalize(void)
{
    const char *name = getenv("NODE_COUNTS");
    long long *of_nodes = calloc((size_t)counts.nodes * (size_t)counts.nodes, sizeof *of_nodes);
    FILE *file = name && counts.me == 0 ? fopen(name, "w") : NULL;

    collect(counts.messages, of_nodes);
    if (file) {
        fputs("{", file);
        write_matrix(file, "messages", of_nodes);
        fputs(", ", file);
    }
    collect(counts.bytes, of_nodes);
    if (file) {
        write_matrix(file, "bytes", of_nodes);
        fputs("}\n", file);
        fclose(file);
    }
    free(of_nodes);
    free(counts.node);
    free(counts.messages);
    free(counts.bytes);
    PMPI_Group_free(&counts.world);
    return PMPI_Finalize();
}
