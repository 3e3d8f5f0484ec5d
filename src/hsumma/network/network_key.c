/* The key that identifies a set of hosts. */
#include "hsumma/network/network.h"

#include "base/hash.h"
#include "coll/node/agree_mpi.h"

#include <string.h>

/* The hosts are combined by a sum over the ranks, so the key does not depend on the order of ranks. */
hsumma_status hs_network_key(MPI_Comm comm, int on_machine, int nodes, int sockets, const struct hs_watch *watch,
                             uint64_t *key)
{
    char name[MPI_MAX_PROCESSOR_NAME] = "", library[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0, rank = 0;
    hsumma_status status = HSUMMA_OK;
    MPI_Comm_rank(comm, &rank);
    if (MPI_Get_processor_name(name, &length) != MPI_SUCCESS ||
        MPI_Get_library_version(library, &length) != MPI_SUCCESS)
        status = HSUMMA_ERR_MPI;
    library[strcspn(library, ",\r\n")] = 0; /* the rest of MPICH's text says how it was built */
    uint64_t all = hs_mix(hs_mix_text(1, name), (uint64_t)on_machine);
    hsumma_status added = hs_mpi_allreduce(&all, 1, MPI_UINT64_T, MPI_SUM, comm, watch);
    all = hs_mix(hs_mix(hs_mix_text(all, library), (uint64_t)nodes), (uint64_t)sockets);
    *key = rank == 0 ? all + !all : 0;
    return hs_agreed(comm, status ? status : added, watch);
}
