/*
 * The step list: what one rank does in one collective, as data.
 *
 * A builder writes the list of one rank from (rank, size, sizes, parameters) alone: no MPI, no pointers, no data type
 * beyond its size.  Executors (exec_mpi.c), verify.c, clock.c and dump.c read it.  Lists are immutable once built and
 * position-independent; pointers, the group and tags are bound when an executor starts one.
 *
 * Execution rules that every reader follows
 *   - A step may begin when all steps that it depends on have completed.
 *   - SENDs of one rank to one peer are posted in list order, and so are its RECVs from one peer: the i-th SEND from a
 *     to b matches the i-th RECV of b from a, and their counts are equal.
 *   - Otherwise steps that do not depend on each other may overlap and complete in any order; a SEND may complete only
 *     when its RECV has begun (rendezvous).
 *   - No step reads what an independent step writes.
 *   - Done by all ranks strictly in list order, with a few receives posted ahead, the lists come to an end: executors
 *     look only at a window of steps beyond the first that is not done.
 */
#ifndef HS_COLL_STEPS_H
#define HS_COLL_STEPS_H

#include "base/memory.h"
#include "base/status.h"

enum hs_kind { HS_SEND, HS_RECV, HS_COPY, HS_REDUCE };

/* Symbolic buffers; offsets in them are 64-bit bytes in a logical packed buffer. */
enum hs_slot {
    HS_IN,      /* what the rank contributes; never written */
    HS_OUT,     /* what it ends with; for a broadcast the root's OUT holds the data already and is never written */
    HS_SCRATCH, /* list->extent[HS_SCRATCH] bytes, undefined at the start */
    HS_SLOTS
};

struct hs_ref {
    enum hs_slot slot;
    int64_t at;
};

struct hs_step {
    enum hs_kind kind;
    int peer;           /* SEND, RECV: rank in the group, rotated like the builder's rank */
    struct hs_ref dst;  /* RECV, COPY, REDUCE */
    struct hs_ref left; /* SEND, COPY: the source; REDUCE: dst = left op right, in this order; dst may be one of them */
    struct hs_ref right; /* REDUCE */
    int64_t count;       /* bytes, more than 0 */
    int first_dep, deps; /* list->dep[first_dep .. first_dep + deps): indices of earlier steps */
};

struct hs_list {
    struct hs_step *step;
    int *dep;
    int steps;
    int64_t extent[HS_SLOTS]; /* bytes used of each slot: 1 + the last byte that a step touches */
};

/*
 * Building.  hs_emit_* append a step and return its index, or -1 when count is 0 (nothing to do) or when memory is
 * short (then builder->failed is set, and hs_list_finish reports it).  hs_after(builder, step, dep) makes `step`, which
 * must be the last one emitted, wait for `dep`; it does nothing when either is -1.
 */
struct hs_builder {
    const struct hs_allocator *memory;
    struct hs_list list;
    size_t step_capacity, dep_capacity;
    int deps;
    int failed; /* 0, or the hsumma_status that hs_list_finish will return */
};

void hs_list_begin(struct hs_builder *builder, const struct hs_allocator *memory);
int hs_emit_send(struct hs_builder *builder, int peer, struct hs_ref source, int64_t count);
int hs_emit_recv(struct hs_builder *builder, int peer, struct hs_ref dst, int64_t count);
int hs_emit_copy(struct hs_builder *builder, struct hs_ref dst, struct hs_ref source, int64_t count);
int hs_emit_reduce(struct hs_builder *builder, struct hs_ref dst, struct hs_ref left, struct hs_ref right,
                   int64_t count);
void hs_after(struct hs_builder *builder, int step, int dep);
/*
 * Moves the finished list to *list.  HSUMMA_ERR_MEMORY, or HSUMMA_ERR_INTERNAL after a negative count or a dependency
 * on a later step: *list is empty then and nothing is left behind.
 */
hsumma_status hs_list_finish(struct hs_builder *builder, struct hs_list *list);
void hs_list_free(const struct hs_allocator *memory, struct hs_list *list);

static inline struct hs_ref hs_in(int64_t at)
{
    return (struct hs_ref){HS_IN, at};
}
static inline struct hs_ref hs_out(int64_t at)
{
    return (struct hs_ref){HS_OUT, at};
}
static inline struct hs_ref hs_scratch(int64_t at)
{
    return (struct hs_ref){HS_SCRATCH, at};
}

#endif
