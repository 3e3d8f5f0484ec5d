/*
 * The timeline of a process (option trace): its work, waits and messages, in a ring of fixed size whose newest entries
 * overwrite the oldest.  Every inline function accepts a NULL trace and then records nothing.  Without a ring only the
 * current wait is noted, and only while `notes` is set: after a long wait without progress (option timeout).
 *
 * Work (copies, sums, the local GEMM) is recorded when it ends.  A wait begins when nothing can be done, and ends when
 * work begins or the process waits for something else.  Messages and collective calls overlap both: they are opened and
 * closed by number.
 */
#ifndef HS_BASE_TRACE_H
#define HS_BASE_TRACE_H

#include "base/memory.h"
#include "base/wait.h"

enum hs_trace_kind {
    HS_TRACE_PRODUCT, /* an execution of a plan */
    HS_TRACE_CALL,    /* a collective call */
    HS_TRACE_GEMM,
    HS_TRACE_COPY,
    HS_TRACE_SUM,
    HS_TRACE_WAIT,
    HS_TRACE_SEND,
    HS_TRACE_RECEIVE,
    HS_TRACE_MPI /* a collective call of MPI's own */
};

/* The condition that a wait waits for. */
enum hs_trace_cause {
    HS_CAUSE_START, /* all processes of the grid have begun the product */
    HS_CAUSE_DATA,  /* a panel of A or B, or a sum of C, from the peer */
    HS_CAUSE_ROOM,  /* the peer no longer needs a buffer */
    HS_CAUSE_SENT,  /* a message to the peer is complete */
    HS_CAUSE_CALL   /* the peer's part of a collective call */
};

struct hs_trace_entry {
    double begin, end; /* times of hs_now; end is 0 while the entry is open */
    int64_t amount;    /* bytes; flops for products and GEMMs */
    union {
        struct {
            int32_t peer;  /* rank in the context; -1: none */
            int32_t tag;   /* the message's tag, or HS_TRACE_NO_TAG */
            int32_t panel; /* -1: none */
        };
        float predicted[3]; /* of a product: total seconds, seconds of the GEMM, of copies */
    };
    uint32_t order; /* breaks ties between entries of equal time */
    int8_t kind, cause;
    int8_t operand; /* 0, 1, 2 for A, B, C; -1: none; for a call its collective */
    int8_t unused[5];
};

enum { HS_TRACE_ENTRIES = 1 << 15, HS_TRACE_CLOSED = -1, HS_TRACE_NO_TAG = -1 };

struct hs_trace {
    struct hs_trace_entry *ring; /* HS_TRACE_ENTRIES entries; NULL: nothing is recorded */
    int notes;                   /* true if waits are noted; always true with a ring */
    uint64_t count;              /* entries so far less `lost`; the next is stored at count % HS_TRACE_ENTRIES */
    uint64_t lost;               /* entries overwritten before the ring was last sorted */
    uint64_t written;            /* count + lost when the file was last written; 0: never written */
    uint32_t order;
    const void *waiter; /* identifies the caller that opened the current wait; NULL if none is open */
    struct hs_trace_entry wait;
    const int *rank_of_mate; /* indexed by mate: its rank in the context; owned by the communicator */
    double made;
};

/* Allocates the ring, which hs_trace_free frees.  Errors: HSUMMA_ERR_MEMORY. */
hsumma_status hs_trace_make(struct hs_trace *trace, const struct hs_allocator *memory);
void hs_trace_free(struct hs_trace *trace, const struct hs_allocator *memory);

static inline int hs_trace_records(const struct hs_trace *trace)
{
    return trace && trace->ring;
}
static inline int hs_trace_notes(const struct hs_trace *trace)
{
    return trace && trace->notes;
}

/* The functions behind the inline ones below; trace is not NULL. */
int64_t hs_trace_put(struct hs_trace *trace, const struct hs_trace_entry *entry);
void hs_trace_put_work(struct hs_trace *trace, const struct hs_trace_entry *entry);
void hs_trace_put_wait(struct hs_trace *trace, const void *waiter, const struct hs_trace_entry *entry);
void hs_trace_end_wait(struct hs_trace *trace, double end);

static inline double hs_trace_now(const struct hs_trace *trace)
{
    return hs_trace_records(trace) ? hs_now() : 0;
}

/* Adds an entry, complete or (end 0) open; returns the number by which to close it. */
static inline int64_t hs_trace_add(struct hs_trace *trace, struct hs_trace_entry entry)
{
    return hs_trace_records(trace) ? hs_trace_put(trace, &entry) : HS_TRACE_CLOSED;
}
static inline void hs_trace_close(struct hs_trace *trace, int64_t number)
{
    if (hs_trace_records(trace) && number >= 0 && trace->count - (uint64_t)number <= HS_TRACE_ENTRIES)
        trace->ring[number % HS_TRACE_ENTRIES].end = hs_now();
}

/* Records work and ends an open wait.  Work that continues the last entry is merged with it. */
static inline void hs_trace_work(struct hs_trace *trace, struct hs_trace_entry entry)
{
    if (hs_trace_records(trace))
        hs_trace_put_work(trace, &entry);
}

/* Records, at each poll, that the waiter waits for the condition entry.cause. Only one waiter is recorded at a time. */
static inline void hs_trace_await(struct hs_trace *trace, const void *waiter, struct hs_trace_entry entry)
{
    if (hs_trace_notes(trace))
        hs_trace_put_wait(trace, waiter, &entry);
}
/* Ends the wait: the caller regains control, or what it waited for has arrived. */
static inline void hs_trace_resume(struct hs_trace *trace)
{
    if (trace && trace->waiter)
        hs_trace_end_wait(trace, hs_now());
}

#endif
