#include "coll/node/discover.h"

#include "coll/node/agree_mpi.h"
#include "coll/node/shm_make.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
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

/* Sets *mine to the index of this rank's socket on its node. */
static hsumma_status socket_of_node(MPI_Comm node, const struct hs_allocator *memory, int *mine,
                                    const struct hs_watch *watch)
{
    int rank = 0, ranks = 1;
    cpu_set_t own;
    *mine = 0;
    CPU_ZERO(&own);
    sched_getaffinity(0, sizeof own, &own);
    if (MPI_Comm_rank(node, &rank) != MPI_SUCCESS || MPI_Comm_size(node, &ranks) != MPI_SUCCESS)
        return HSUMMA_ERR_MPI;
    if (ranks == 1)
        return HSUMMA_OK;
    cpu_set_t *all = hs_get(memory, (size_t)ranks, sizeof *all);
    int *socket = hs_get_zero(memory, (size_t)ranks, sizeof *socket);
    hsumma_status status = hs_agreed(node, all && socket ? HSUMMA_OK : HSUMMA_ERR_MEMORY, watch);
    if (!status)
        status = hs_mpi_allgather(&own, sizeof own, all, node, watch);
    if (!status && rank == 0)
        find_sockets(all, ranks, socket);
    if (!status)
        status = hs_mpi_bcast(socket, (size_t)ranks * sizeof *socket, 0, node, watch);
    *mine = status ? 0 : socket[rank];
    hs_put(memory, all);
    hs_put(memory, socket);
    return status;
}

/*
 * Finds the node and socket of all ranks: name[r] is equal for ranks on the same node, and name[size + r] for ranks of
 * a node on the same socket. machine: the ranks that share memory with this one according to MPI.
 */
static hsumma_status find_places(struct hs_comm *comm, MPI_Comm machine, const struct hs_allocator *memory, int *name)
{
    int mine[2] = {comm->rank, 0}, *all = hs_get(memory, (size_t)comm->size, sizeof mine);
    hsumma_status status = socket_of_node(machine, memory, &mine[1], comm->watch);
    hsumma_status named = hs_mpi_allreduce(mine, 1, MPI_INT, MPI_MIN, machine, comm->watch);
    status = status ? status : named;
    status = hs_agreed(comm->comm, all && name ? status : HSUMMA_ERR_MEMORY, comm->watch);
    if (!status)
        status = hs_mpi_allgather(mine, sizeof mine, all, comm->comm, comm->watch);
    for (int i = 0; i < 2 * comm->size && !status; i++)
        name[i % 2 * comm->size + i / 2] = all[i];
    hs_put(memory, all);
    return status;
}

/* Makes the topology specified by the user, or the real one. */
static hsumma_status make_topology(struct hs_comm *comm, const struct hs_discover_options *options, MPI_Comm machine,
                                   const struct hs_allocator *memory)
{
    if (options->nodes)
        return hs_topology_blocks(&comm->topology, comm->size,
                                  options->nodes < comm->size ? options->nodes : comm->size,
                                  options->sockets > 1 ? options->sockets : 1, memory);
    int *name = hs_get(memory, (size_t)comm->size, 2 * sizeof *name);
    hsumma_status status = find_places(comm, machine, memory, name);
    if (!status)
        status = hs_topology_make(&comm->topology, comm->size, name, name + comm->size, memory);
    hs_put(memory, name);
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

/*
 * Sets the communicator of the mates, which are all on `machine` unless nodes are virtual. An existing communicator is
 * used if possible, because MPI limits their number. Returns HSUMMA_ERR_UNSUPPORTED if some node spans several
 * machines.
 */
static hsumma_status connect_mates(struct hs_comm *comm, MPI_Comm machine)
{
    const struct hs_division *node = &comm->topology.division[HS_NODE];
    struct hs_mates *mates = &comm->mates;
    hsumma_status status = HSUMMA_OK;
    int mine = node->of[comm->rank], ranks = 0;
    MPI_Comm split = MPI_COMM_NULL;
    if (MPI_Comm_split(machine, mine, comm->rank, &split) != MPI_SUCCESS || MPI_Comm_size(split, &ranks) != MPI_SUCCESS)
        status = HSUMMA_ERR_MPI;
    else if (ranks != mates->count)
        status = HSUMMA_ERR_UNSUPPORTED;
    status = hs_agreed(comm->comm, status, comm->watch);
    mates->own = !status && mates->count > 1 && mates->count < comm->size;
    if (!mates->own && split != MPI_COMM_NULL)
        MPI_Comm_free(&split);
    if (!status)
        mates->comm = mates->own ? split : mates->count == 1 ? MPI_COMM_SELF : comm->comm;
    return status;
}

/* Finds the mates and their communicator. Virtual nodes that span several machines are not an error. */
static hsumma_status find_mates(struct hs_comm *comm, MPI_Comm machine, const struct hs_allocator *memory)
{
    hsumma_status status = hs_agreed(comm->comm, list_mates(comm, memory), comm->watch);
    if (!status)
        status = connect_mates(comm, machine);
    return status == HSUMMA_ERR_UNSUPPORTED ? HSUMMA_OK : status;
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
        direct = hs_agreed(
            comm->comm, options->direct && hs_shm_probe(shm, mates, comm->watch) ? HSUMMA_OK : HSUMMA_ERR_UNSUPPORTED,
            comm->watch);
        status = hs_status_is_final(direct) ? direct : HSUMMA_OK;
    }
    if (!status) {
        shm->direct = comm->topology.direct = direct == HSUMMA_OK;
        comm->topology.shared_bytes = shm->shared_bytes;
        comm->shm = shm;
    } else {
        hs_shm_free_memory(shm, memory);
    }
    return status == HSUMMA_ERR_UNSUPPORTED ? HSUMMA_OK : status;
}

hsumma_status hs_comm_discover(struct hs_comm *comm, const struct hs_discover_options *options,
                               const struct hs_allocator *memory, struct hs_message *message)
{
    MPI_Comm machine = MPI_COMM_NULL;
    if (MPI_Comm_split_type(comm->comm, MPI_COMM_TYPE_SHARED, comm->rank, MPI_INFO_NULL, &machine) != MPI_SUCCESS)
        return hs_fail(message, HSUMMA_ERR_MPI, "MPI_Comm_split_type failed");
    hsumma_status status = hs_agreed(comm->comm, make_topology(comm, options, machine, memory), comm->watch);
    if (!status)
        status = find_mates(comm, machine, memory);
    if (!status)
        status = share(comm, options, memory);
    MPI_Comm_free(&machine);
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
    hs_topology_free(&comm->topology, memory);
}
