#include "measure/device_mates.h"

#include <stdlib.h>
#include <string.h>

#include "common/command.h"

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
