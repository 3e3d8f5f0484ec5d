/* Finds nodes, cores and memory. */
#include "measure/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/command.h"

/* The number of logical processors that the ranks of a node may use together: a launcher may have bound each rank to
 * different ones. */
static int node_cores(MPI_Comm node, cpu_set_t *all)
{
    cpu_set_t mine;

    CPU_ZERO(&mine);
    if (sched_getaffinity(0, sizeof mine, &mine)) {
        long online = sysconf(_SC_NPROCESSORS_ONLN); /* there are more processors than a cpu_set_t holds */

        for (long i = 0; i < online && i < CPU_SETSIZE; i++)
            CPU_SET((size_t)i, &mine);
    }
    quiet_allreduce(&mine, all, (int)sizeof mine, MPI_BYTE, MPI_BOR, node);
    return CPU_COUNT(all) > 0 ? CPU_COUNT(all) : 1;
}

void machine_init(machine *mach, MPI_Comm comm)
{
    int rank, facts[2];

    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &mach->node);
    MPI_Comm_rank(mach->node, &rank);
    rank = rank == 0; /* one rank per node counts it */
    quiet_allreduce(&rank, &mach->nodes, 1, MPI_INT, MPI_SUM, comm);
    MPI_Comm_size(mach->node, &facts[0]);
    facts[1] = node_cores(mach->node, &mach->cpus);
    quiet_bcast(facts, 2, MPI_INT, 0, comm);
    mach->node_ranks = facts[0];
    mach->cores = facts[1];
    mach->blas_share = facts[1] / facts[0] > 1 ? facts[1] / facts[0] : 1;
}

void machine_free(machine *mach)
{
    if (mach->node != MPI_COMM_NULL)
        MPI_Comm_free(&mach->node);
}

int64_t memory_available(void)
{
    FILE *file = fopen("/proc/meminfo", "r");
    char line[128];
    long long kib = -1;

    while (file && kib < 0 && fgets(line, sizeof line, file))
        if (sscanf(line, "MemAvailable: %lld", &kib) != 1)
            kib = -1;
    if (file)
        fclose(file);
    return kib < 0 ? INT64_MAX : (int64_t)kib * 1024;
}

int64_t peak_rss(void)
{
    struct rusage usage;

    return getrusage(RUSAGE_SELF, &usage) ? 0 : (int64_t)usage.ru_maxrss * 1024;
}

int device_mates(const hsumma_context *ctx, MPI_Comm comm, MPI_Comm *mates)
{
    const struct hs_device *device = ctx->device;
    const size_t size = sizeof device->location;
    int rank, ranks, first = 0;
    char *places;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    places = calloc((size_t)ranks, size);
    if (command_fail(comm, !places, "no memory for the places of %d devices", ranks)) {
        free(places);
        return COMMAND_INTERNAL;
    }
    memcpy(places + (size_t)rank * size, device->location, size);
    quiet_allreduce(MPI_IN_PLACE, places, (int)(size * (size_t)ranks), MPI_BYTE, MPI_BOR, comm);
    while (memcmp(places + (size_t)first * size, device->location, size))
        first++;
    free(places);
    return MPI_Comm_split(comm, first, rank, mates) == MPI_SUCCESS ? COMMAND_OK : COMMAND_INTERNAL;
}
