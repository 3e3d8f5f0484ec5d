/*
 * clock: the time that a collective takes on a model machine, read off its step lists: the cost model is derived from
 * the schedule, never written a second time.
 *
 * Hockney's model, full duplex, one port each way per rank: a message of n bytes occupies the sender's out-port and the
 * receiver's in-port together for alpha + n beta; it starts when its SEND and its RECV may begin and both ports are
 * free; ports serve messages in list order.  REDUCE costs gamma per byte, COPY copy per byte, and a rank does one at a
 * time, in list order.
 */
#ifndef HS_COLL_CLOCK_H
#define HS_COLL_CLOCK_H

#include "coll/registry.h"

struct hs_machine {
    double alpha; /* s per message */
    double beta;  /* s per byte */
    double gamma; /* s per byte reduced */
    double copy;  /* s per byte copied */
};

struct hs_clock_report {
    double seconds;          /* when the last rank has finished */
    int64_t messages, bytes; /* over all ranks */
    int64_t messages_rank_max, bytes_rank_max;
};

/* shape->rank is ignored.  HSUMMA_ERR_INTERNAL if the lists deadlock or do not match; HSUMMA_ERR_MEMORY. */
hsumma_status hs_clock(const struct hs_alg *alg, const struct hs_shape *shape, const struct hs_machine *machine,
                       const struct hs_allocator *memory, struct hs_clock_report *report);

#endif
