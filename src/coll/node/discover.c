#include "coll/node/discover.h"

#include "base/hash.h"
#include "base/simulator.h"
#include "coll/node/agree_mpi.h"

#include <sched.h>
#include <stdio.h>
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

enum { MATES_TAG = 1 << 12 }; /* of the communicators that this file makes, one after the other */

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

/* Sets first[] to the lowest rank on each rank's host. Takes time in O(ranks) if the ranks of each host are
 * consecutive, else in O(ranks * hosts). found: room for the first rank of each host. */
static void find_first(const struct rank_place *place, int size, int *first, int *found)
{
    int hosts = 0;
    for (int r = 0; r < size; r++) {
        int i = 0;
        if (r > 0 && place[r].host == place[r - 1].host) {
            first[r] = first[r - 1];
            continue;
        }
        while (i < hosts && place[found[i]].host != place[r].host)
            i++;
        if (i == hosts)
            found[hosts++] = r;
        first[r] = found[i];
    }
}

/* Sets the fields of comm->host except for its communicator, whose ranks are *members. Local. */
static hsumma_status group_ranks(struct hs_comm *comm, const struct rank_place *place,
                                 const struct hs_allocator *memory, int **members)
{
    struct hs_host *host = &comm->host;
    int size = comm->size, *first = hs_get(memory, (size_t)size, 2 * sizeof *first);
    if (!first)
        return HSUMMA_ERR_MEMORY;
    find_first(place, size, first, first + size);
    for (int r = 0; r < size; r++)
        host->sockets |= place[r].socket != place[first[r]].socket;
    hsumma_status status = hs_topology_make(&host->all, size, first, NULL, memory);
    hs_put(memory, first);
    if (status)
        return status;
    const struct hs_division *hosts = &host->all.division[HS_NODE];
    int mine = hs_part_of(hosts, comm->rank);
    host->me = hs_place_in_part(hosts, comm->rank);
    host->count = hs_division_size(hosts, mine);
    *members = hs_get(memory, (size_t)host->count, sizeof **members);
    for (int i = 0; *members && i < host->count; i++)
        (*members)[i] = hs_part_rank(hosts, mine, i);
    return *members ? HSUMMA_OK : HSUMMA_ERR_MEMORY;
}

hsumma_status hs_comm_find_host(struct hs_comm *comm, const struct hs_allocator *memory, struct hs_message *message)
{
    struct hs_host *host = &comm->host;
    const struct rank_place mine = {host_number(), first_socket(-1 - (int64_t)comm->rank)};
    struct rank_place *place = hs_get(memory, (size_t)comm->size, sizeof *place);
    int *members = NULL;
    MPI_Group group = MPI_GROUP_NULL;
    *host = (struct hs_host){.comm = MPI_COMM_NULL};
    hsumma_status status = !mine.host ? HSUMMA_ERR_MPI : !place ? HSUMMA_ERR_MEMORY : HSUMMA_OK;
    status = hs_agreed(comm->comm, status, comm->watch);
    if (!status)
        status = hs_mpi_allgather(&mine, sizeof mine, place, comm->comm, comm->watch);
    if (!status)
        status = group_ranks(comm, place, memory, &members);
    hs_put(memory, place);
    if (!status)
        status = hs_mpi_group(comm->comm, host->count, members, &group);
    hs_put(memory, members);
    status = hs_agreed(comm->comm, status, comm->watch);
    int hosts = host->all.division[HS_NODE].parts;
    comm->crowded = host->count > sysconf(_SC_NPROCESSORS_ONLN);
    host->own = !status && hosts > 1 && hosts < comm->size;
    if (host->own) {
        status = hs_mpi_subset(comm->comm, &group, MATES_TAG, &host->comm);
        status = hs_agreed(comm->comm, status, comm->watch);
    } else {
        host->comm = hosts == 1 ? comm->comm : MPI_COMM_SELF;
    }
    if (group != MPI_GROUP_NULL)
        MPI_Group_free(&group);
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
    if (!comm->host.sockets) {
        comm->topology = comm->host.all;
        comm->topology.tables = NULL; /* those of comm->host */
        return HSUMMA_OK;
    }
    int *host = hs_get(memory, (size_t)comm->size, 2 * sizeof *host), *socket = host + comm->size;
    hsumma_status status = hs_agreed(comm->comm, host ? HSUMMA_OK : HSUMMA_ERR_MEMORY, comm->watch);
    if (!status)
        status = gather_sockets(comm, memory, socket);
    for (int r = 0; !status && r < comm->size; r++)
        host[r] = hs_part_of(&comm->host.all.division[HS_NODE], r);
    if (!status)
        status = hs_topology_make(&comm->topology, comm->size, host, socket, memory);
    hs_put(memory, host);
    return status;
}

/* Sets comm->mates except for its communicator. */
static hsumma_status list_mates(struct hs_comm *comm, const struct hs_allocator *memory)
{
    const struct hs_division *node = &comm->topology.division[HS_NODE];
    int whole = comm->topology.size == 0, part = whole ? 0 : hs_part_of(node, comm->rank);
    int count = whole ? comm->size : hs_division_size(node, part);
    int *rank = hs_get(memory, (size_t)count, sizeof *rank);
    if (!rank)
        return HSUMMA_ERR_MEMORY;
    for (int i = 0; i < count; i++)
        rank[i] = whole ? i : hs_part_rank(node, part, i);
    comm->mates = (struct hs_mates){.comm = MPI_COMM_NULL,
                                    .count = count,
                                    .me = whole ? comm->rank : hs_place_in_part(node, comm->rank),
                                    .rank = rank,
                                    .node = rank[count - 1] - rank[0] == count - 1 ? NULL : node};
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
    const struct hs_division *host = &comm->host.all.division[HS_NODE];
    *inside = *whole = 1;
    for (int r = 0; r < comm->size; r++) {
        int part = hs_part_of(node, r), on = hs_part_of(host, r);
        *inside &= on == hs_part_of(host, hs_part_rank(node, part, 0));
        *whole &= part == hs_part_of(node, hs_part_rank(host, on, 0));
    }
    *whole &= *inside;
}

/*
 * Finds the mates' communicator, an existing one if possible, because MPI limits their number and creates them
 * slowly. There is none if virtual nodes span several hosts, which is not an error. Local; if a communicator must be
 * made (mates->own), only its group.
 */
static hsumma_status find_mates(struct hs_comm *comm, MPI_Group *group)
{
    struct hs_mates *mates = &comm->mates;
    int inside, whole;
    compare_nodes(comm, &inside, &whole);
    mates->own = inside && !whole && hs_division_largest(&comm->topology.division[HS_NODE]) > 1;
    if (mates->own)
        return hs_mpi_group(comm->comm, mates->count, mates->rank, group);
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
    struct hs_shm *shm = hs_shm_make(mates, comm, options->shared_bytes, memory);
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
    MPI_Group group = MPI_GROUP_NULL;
    hsumma_status status = make_topology(comm, options, memory);
    if (!status)
        status = list_mates(comm, memory);
    if (!status)
        status = find_mates(comm, &group);
    status = hs_agreed(comm->comm, status, comm->watch);
    if (!status && comm->mates.own)
        status = hs_agreed(comm->comm, hs_mpi_subset(comm->comm, &group, MATES_TAG, &comm->mates.comm), comm->watch);
    if (group != MPI_GROUP_NULL)
        MPI_Group_free(&group);
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
    if (comm->mates.own && comm->mates.comm != MPI_COMM_NULL && !finalised)
        MPI_Comm_free(&comm->mates.comm);
    hs_put(memory, comm->mates.rank);
    comm->mates = (struct hs_mates){.comm = MPI_COMM_NULL};
    if (comm->host.own && comm->host.comm != MPI_COMM_NULL && !finalised)
        MPI_Comm_free(&comm->host.comm);
    hs_topology_free(&comm->topology, memory);
    hs_topology_free(&comm->host.all, memory);
    hs_put(memory, comm->fabric.at);
    comm->fabric = (struct hs_fabric){0};
    comm->host = (struct hs_host){.comm = MPI_COMM_NULL};
}
