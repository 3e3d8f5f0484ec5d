#include "summa/shared_crc.h"

#include <inttypes.h>

void hs_shared_crc_compare(struct hs_comm *comm, int x, int from, uint32_t crc, uint32_t expected)
{
    const int to = comm->rank;
    if (crc != expected && comm->damaged++ == 0)
        hs_fail(&comm->damage, HSUMMA_ERR_DATA,
                "a panel of %c in shared memory, from rank %d for rank %d, is damaged (CRC32C %08" PRIx32
                ", expected %08" PRIx32 ")",
                "ABC"[x], from, to, crc, expected);
}
