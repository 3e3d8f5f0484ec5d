#include "coll/node/discover.h"

#include "base/hash.h"
#include "base/simulator.h"
#include "coll/node/agree_mpi.h"
#include "coll/node/shm_make.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#if HSUMMA_HAVE_HWLOC
#include <hwloc.h>
#endif

#if HSUMMA_HAVE_HWLOC
/*
 * Finds the sockets of a node's ranks by the processors that they may use. Only one process calls it, because loading
 * hwloc's topology is slow; it does nothing if all ranks may use the same processors. A rank that may run on several
 * sockets is assigned to the first of them.
 */
static void find_sockets(const cpu_set_t *may_use, int ranks, int *socket)
{
    hwloc_topology_t topology;
    int alike = 1;
    for (int r = 1; r < ranks; r++)
        alike &= CPU_EQUAL(&may_use[r], &may_use[0]);
    if (alike || hwloc_topology_init(&topology))
        return;
    hwloc_topology_set_all_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE);
    hwloc_topology_set_type_filter(topology, HWLOC_OBJ_PACKAGE, HWLOC_TYPE_FILTER_KEEP_ALL);
    if (hwloc_topology_load(topology) == 0)
        for (int r = 0; r < ranks; r++)
            for (hwloc_obj_t package = NULL;
                 (package = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PACKAGE, package)) != NULL;) {
                int mine = 0;
                for (int cpu = 0; cpu < CPU_SETSIZE && !mine; cpu++)
                    mine = CPU_ISSET(cpu, &may_use[r]) && hwloc_bitmap_isset(package->cpuset, (unsigned)cpu);
                if (mine) {
                    socket[r] = (int)package->logical_index;
                    break;
                }
            }
    hwloc_topology_destroy(topology);
}
#else
static void find_sockets(const cpu_set_t *may_use, int ranks, int *socket)
{
    (void)may_use, (void)ranks, (void)socket;
}
#endif

/* A number that is equal on the ranks of one host; 0 if MPI cannot name the host. */
static uint64_t host_number(void)
{
    char text[MPI_MAX_PROCESSOR_NAME + 64] = "";
    struct stat is;
    int length = 0;
    if (MPI_Get_processor_name(text, &length) != MPI_SUCCESS)
        return 0;
    FILE *file = hs_simulator() ? NULL : fopen("/proc/sys/kernel/random/boot_id", "r");
    if (file) {
        size_t used = strlen(text);
        text[used + fread(text + used, 1, 36, file)] = 0;
        fclose(file);
    }
    uint64_t number = hs_simulator() || stat("/proc/self/ns/pid", &is) ? 1 : (uint64_t)is.st_ino;
    number = hs_mix_text(number, text);
    return number + !number;
}

/* A rank's place, which all ranks gather. */
struct rank_place {
    uint64_t host;  /* equal on the ranks of a host (host_number) */
    int64_t socket; /* of the first processor that the rank may use; unique to the rank if unknown */
};

/* Reads the socket of the first processor that this process may use; returns `unknown` if it cannot. */
static int64_t first_socket(int64_t unknown)
{
    char path[96];
    long long socket = unknown;
    cpu_set_t own;
    int cpu = 0;
    CPU_ZERO(&own);
    sched_getaffinity(0, sizeof own, &own);
    while (cpu < CPU_SETSIZE && !CPU_ISSET(cpu, &own))
        cpu++;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/physical_package_id", cpu);
    FILE *file = hs_simulator() ? NULL : fopen(path, "r");
    if (file) {
        if (fscanf(file, "%lld", &socket) != 1)
            socket = unknown;
        fclose(file);
    }
    return hs_simulator() ? 0 : socket;
}

/* Sets the fields of comm->host except for its communicator. Takes time in O(ranks) if the ranks of each host are
 * consecutive, else in O(ranks * hosts). found: room for the first rank of each host. */
static void group_ranks(struct hs_comm *comm, const struct rank_place *place, int *found)
{
    struct hs_host *host = &comm->host;
    int hosts = 0;
    for (int r = 0; r < comm->size; r++) {
        int i = 0;
        if (r > 0 && place[r].host == place[r - 1].host) {
            host->first[r] = host->first[r - 1];
            continue;
        }
        while (i < hosts && place[found[i]].host != place[r].host)
            i++;
        if (i == hosts)
            found[hosts++] = r;
        host->first[r] = found[i];
    }
    for (int r = 0; r < comm->size; r++)
        if (host->first[r] == host->first[comm->rank]) {
            host->me += r < comm->rank;
            host->count++;
        }
    for (int r = 0; r < comm->size; r++)
        host->sockets |= place[r].socket != place[host->first[r]].socket;
}

hsumma_status hs_comm_find_host(struct hs_comm *comm, const struct hs_allocator *memory, struct hs_message *message)
{
    struct hs_host *host = &comm->host;
    const struct rank_place mine = {host_number(), first_socket(-1 - (int64_t)comm->rank)};
    struct rank_place *place = hs_get(memory, (size_t)comm->size, sizeof *place);
    int *found = hs_get(memory, (size_t)comm->size, sizeof *found), alike = 1, alone = 1;
    *host = (struct hs_host){.comm = MPI_COMM_NULL, .first = hs_get(memory, (size_t)comm->size, sizeof *host->first)};
    hsumma_status status = !mine.host                         ? HSUMMA_ERR_MPI
                           : !place || !found || !host->first ? HSUMMA_ERR_MEMORY
                                                              : HSUMMA_OK;
    status = hs_agreed(comm->comm, status, comm->watch);
    if (!status)
        status = hs_mpi_allgather(&mine, sizeof mine, place, comm->comm, comm->watch);
    if (!status)
        group_ranks(comm, place, found);
    for (int r = 0; r < comm->size && !status; r++) {
        alike &= host->first[r] == 0;
        alone &= host->first[r] == r;
    }
    comm->crowded = host->count > sysconf(_SC_NPROCESSORS_ONLN);
    host->own = !status && !alike && !alone;
    if (host->own) {
        int made = MPI_Comm_split(comm->comm, host->first[comm->rank], comm->rank, &host->comm) == MPI_SUCCESS;
        status = hs_agreed(comm->comm, made ? HSUMMA_OK : HSUMMA_ERR_MPI, comm->watch);
    } else {
        host->comm = alike ? comm->comm : MPI_COMM_SELF;
    }
    hs_put(memory, place);
    hs_put(memory, found);
    return status ? hs_fail(message, status, "cannot find the hosts of the processes: %s", hsumma_status_string(status))
                  : HSUMMA_OK;
}

/* Sets *socket, which has room for one number per rank, to the number of each rank's socket on its host. */
static hsumma_status gather_sockets(struct hs_comm *comm, const struct hs_allocator *memory, int *socket)
{
    const struct hs_host *host = &comm->host;
    int mine = 0;
    cpu_set_t own, *all = hs_get(memory, (size_t)host->count, sizeof *all);
    int *local = hs_get_zero(memory, (size_t)host->count, sizeof *local);
    CPU_ZERO(&own);
    sched_getaffinity(0, sizeof own, &own);
    hsumma_status status = hs_agreed(comm->comm, all && local ? HSUMMA_OK : HSUMMA_ERR_MEMORY, comm->watch);
    if (!status && host->count > 1) {
        status = hs_mpi_allgather(&own, sizeof own, all, host->comm, comm->watch);
        if (!status && host->me == 0)
            find_sockets(all, host->count, local);
        if (!status)
            status = hs_mpi_bcast(local, (size_t)host->count * sizeof *local, 0, host->comm, comm->watch);
        mine = status ? 0 : local[host->me];
    }
    hs_put(memory, all);
    hs_put(memory, local);
    status = hs_agreed(comm->comm, status, comm->watch);
    return status ? status : hs_mpi_allgather(&mine, sizeof mine, socket, comm->comm, comm->watch);
}

/* Makes the topology specified by the user, or the real one. */
static hsumma_status make_topology(struct hs_comm *comm, const struct hs_discover_options *options,
                                   const struct hs_allocator *memory)
{
    if (options->nodes)
        return hs_topology_blocks(&comm->topology, comm->size,
                                  options->nodes < comm->size ? options->nodes : comm->size,
                                  options->sockets > 1 ? options->sockets : 1, memory);
    if (!comm->host.sockets)
        return hs_topology_make(&comm->topology, comm->size, comm->host.first, NULL, memory);
    int *socket = hs_get(memory, (size_t)comm->size, sizeof *socket);
    hsumma_status status = hs_agreed(comm->comm, socket ? HSUMMA_OK : HSUMMA_ERR_MEMORY, comm->watch);
    if (!status)
        status = gather_sockets(comm, memory, socket);
    if (!status)
        status = hs_topology_make(&comm->topology, comm->size, comm->host.first, socket, memory);
    hs_put(memory, socket);
    return status;
}

/* Sets comm->mates except for its communicator. */
static hsumma_status list_mates(struct hs_comm *comm, const struct hs_allocator *memory)
{
    const struct hs_division *node = &comm->topology.division[HS_NODE];
    int whole = comm->topology.size == 0;
    int count = whole ? comm->size : hs_division_size(node, node->of[comm->rank]);
    int *mate = hs_get(memory, (size_t)comm->size + (size_t)count, sizeof *mate), *rank = mate + comm->size;
    if (!mate)
        return HSUMMA_ERR_MEMORY;
    for (int r = 0; r < comm->size; r++) {
        mate[r] = whole ? r : node->of[r] == node->of[comm->rank] ? node->index[r] : -1;
        if (mate[r] >= 0)
            rank[mate[r]] = r;
    }
    comm->mates =
        (struct hs_mates){.comm = MPI_COMM_NULL, .count = count, .me = mate[comm->rank], .mate = mate, .rank = rank};
    return HSUMMA_OK;
}

hsumma_status hs_comm_on_one_node(struct hs_comm *comm, const struct hs_allocator *memory)
{
    hsumma_status status = list_mates(comm, memory);
    if (!status)
        comm->mates.comm = comm->comm;
    return status;
}

/* Whether each node lies on one host (*inside), and is all of it (*whole). */
static void compare_nodes(const struct hs_comm *comm, int *inside, int *whole)
{
    const struct hs_division *node = &comm->topology.division[HS_NODE];
    const int *first = comm->host.first;
    *inside = *whole = 1;
    for (int r = 0; r < comm->size; r++) {
        *inside &= first[r] == first[hs_division_ranks(node, node->of[r])[0]];
        *whole &= node->of[r] == node->of[first[r]];
    }
    *whole &= *inside;
}

/*
 * Finds the mates and their communicator, an existing one if possible, because MPI limits their number and creates them
 * slowly. There is none if virtual nodes span several hosts, which is not an error.
 */
static hsumma_status find_mates(struct hs_comm *comm)
{
    struct hs_mates *mates = &comm->mates;
    int inside, whole;
    compare_nodes(comm, &inside, &whole);
    mates->own = inside && !whole && hs_division_largest(&comm->topology.division[HS_NODE]) > 1;
    if (mates->own) {
        const int mine = comm->topology.division[HS_NODE].of[comm->rank];
        int made = MPI_Comm_split(comm->host.comm, mine, comm->rank, &mates->comm) == MPI_SUCCESS;
        return hs_agreed(comm->comm, made ? HSUMMA_OK : HSUMMA_ERR_MPI, comm->watch);
    }
    if (inside)
        mates->comm = whole ? comm->host.comm : MPI_COMM_SELF;
    return HSUMMA_OK;
}

/*
 * Creates the shared memory of each node, which requires that the ranks of a (perhaps virtual) node are on one machine.
 * Either all nodes have shared memory or none, so that all ranks build the same lists. If there is none, that is not an
 * error.
 */
static hsumma_status share(struct hs_comm *comm, const struct hs_discover_options *options,
                           const struct hs_allocator *memory)
{
    MPI_Comm mates = comm->mates.comm;
    if (hs_division_largest(&comm->topology.division[HS_NODE]) == 1 || options->shared_bytes == 0 ||
        mates == MPI_COMM_NULL)
        return HSUMMA_OK;
    hsumma_status direct = HSUMMA_ERR_UNSUPPORTED;
    struct hs_shm *shm = hs_shm_make(mates, comm, options, memory);
    hsumma_status status = hs_agreed(comm->comm, shm ? HSUMMA_OK : HSUMMA_ERR_UNSUPPORTED, comm->watch);
    if (!status) {
        direct = hs_agreed(comm->comm, options->direct && hs_shm_probe(shm) ? HSUMMA_OK : HSUMMA_ERR_UNSUPPORTED,
                           comm->watch);
        status = hs_status_is_final(direct) ? direct : HSUMMA_OK;
    }
    if (!status) {
        shm->direct = comm->topology.direct = direct == HSUMMA_OK;
        comm->topology.shared_bytes = shm->ring[HS_SHARED_RINGS - 1].bytes;
        comm->shm = shm;
    } else {
        hs_shm_free_memory(shm, memory);
    }
    return status == HSUMMA_ERR_UNSUPPORTED ? HSUMMA_OK : status;
}

hsumma_status hs_comm_discover(struct hs_comm *comm, const struct hs_discover_options *options,
                               const struct hs_allocator *memory, struct hs_message *message)
{
    hsumma_status status = make_topology(comm, options, memory);
    status = hs_agreed(comm->comm, status ? status : list_mates(comm, memory), comm->watch);
    if (!status)
        status = find_mates(comm);
    if (!status)
        status = share(comm, options, memory);
    if (status) {
        hs_comm_forget(comm, memory);
        return hs_fail(message, status, "cannot determine the nodes and sockets of the processes: %s",
                       hsumma_status_string(status));
    }
    return HSUMMA_OK;
}

void hs_comm_forget(struct hs_comm *comm, const struct hs_allocator *memory)
{
    int finalised = 1;
    MPI_Finalized(&finalised);
    hs_shm_free_memory(comm->shm, memory);
    comm->shm = NULL;
    if (comm->mates.own && !finalised)
        MPI_Comm_free(&comm->mates.comm);
    hs_put(memory, comm->mates.mate);
    comm->mates = (struct hs_mates){.comm = MPI_COMM_NULL};
    if (comm->host.own && comm->host.comm != MPI_COMM_NULL && !finalised)
        MPI_Comm_free(&comm->host.comm);
    hs_put(memory, comm->host.first);
    comm->host = (struct hs_host){.comm = MPI_COMM_NULL};
    hs_topology_free(&comm->topology, memory);
}
