/*
 * CRCs of panels in shared memory, for guard=messages (hsumma/guard/guard.h).  Behind a buffer there is room for a
 * CRC32C per process (hs_spec.checked).  A process that has put data into the buffer for another stores the CRC of this
 * data before it signals that the data is there; the other computes the CRC again before it uses the data.
 */
#ifndef HS_SUMMA_SHARED_CRC_H
#define HS_SUMMA_SHARED_CRC_H

#include "base/hash.h"
#include "coll/node/comm.h"

/* The communicator that counts damaged data while a product is checked; otherwise NULL. */
static inline struct hs_comm *hs_checking(struct hs_comm *comm, int checked)
{
    return checked && comm->checks_messages ? comm : NULL;
}

/* Counts data of operand x that rank `from` has put into shared memory if it is damaged. */
void hs_shared_crc_compare(struct hs_comm *comm, int x, int from, uint32_t crc, uint32_t expected);

#endif
