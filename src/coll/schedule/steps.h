/*
 * The step list: what one rank does in one collective, as data.
 *
 * A builder writes the list of one rank from (rank, size, sizes, topology, parameters) alone: no MPI, no pointers, no
 * data type beyond its size. executor.c runs lists; verify.c, clock.c and dump.c read them. A finished list is
 * immutable and position-independent: the executor binds pointers, group, tag and epoch when it starts an instance.
 *
 * Execution rules, the same for all readers:
 *   - A step may begin when all steps that it depends on have completed.
 *   - SENDs of one rank to one peer are posted in list order, and so are its RECVs from one peer: the i-th SEND from a
 *     to b matches the i-th RECV of b from a, and their counts are equal.
 *   - Otherwise independent steps may overlap and complete in any order. A SEND may complete only after its RECV has
 *     begun (rendezvous).
 *   - No step reads what an independent step writes, whether that step belongs to this rank or to a peer that accesses
 *     this rank's memory. Between ranks SIGNAL and WAIT establish the order, or a message that depends on one.
 *   - If every rank executes its list strictly in order, with a few receives posted ahead, all lists complete.
 *     Executors rely on this: they look only at a window of steps beyond the first incomplete one.
 *
 * Shared memory. Ranks of one node may read each other's slots and write each other's SHARED: the source of a COPY or
 * REDUCE may be a peer's slot, the destination a peer's SHARED. No rank writes to a peer's IN or OUT. Every rank has
 * one flag, initially 0: SIGNAL raises the rank's own flag to a value (store-release), WAIT completes once a peer's
 * flag has reached a value (load-acquire). A rank's SIGNALs depend on one another, in ascending order of their values.
 *   - SHARED is free at the start: the first write to any byte of it, by its owner or a peer, waits for no one. After
 *     that, a rank that reads bytes of SHARED must first WAIT for their writer, and a rank that overwrites them, owner
 *     or peer, must first WAIT for all who have read or written them, directly or through other ranks. No such WAIT is
 *     needed at the end of a list: the executor starts an instance only when all ranks of the node have finished the
 *     instance that had its SHARED before, peers' SHARED included.
 *   - A rank's extent of SHARED is what its own steps touch; a peer may touch more of it, up to topology->shared_bytes.
 *   - A peer's IN and OUT belong to the peer's caller: they may be read after a WAIT for any SIGNAL of the peer (it has
 *     entered the call), and the peer must WAIT for the readers before its list ends.
 */
#ifndef HS_COLL_SCHEDULE_STEPS_H
#define HS_COLL_SCHEDULE_STEPS_H

#include "base/memory.h"
#include "base/status.h"

/* JOIN does nothing: dependencies meet there. MPI stands for a whole collective done by MPI itself (row "mpi"). */
enum hs_kind { HS_SEND, HS_RECV, HS_COPY, HS_REDUCE, HS_SIGNAL, HS_WAIT, HS_JOIN, HS_MPI, HS_KINDS };
const char *hs_kind_name(enum hs_kind kind); /* "SEND" for HS_SEND, ... */

/* Symbolic buffers; offsets in them are 64-bit bytes in a logical packed buffer. */
enum hs_slot {
    HS_IN,      /* the rank's contribution; never written */
    HS_OUT,     /* the rank's result; for a broadcast the root's OUT already holds the data and is never written */
    HS_SCRATCH, /* list->extent[HS_SCRATCH] bytes, undefined at the start */
    /* memory that the ranks of the node read and write; topology->shared_bytes bytes, undefined at the start */
    HS_SHARED,
    HS_SLOTS
};

struct hs_ref {
    enum hs_slot slot;
    /* 0: this rank's slot; 1 + rank: IN, OUT or SHARED of that rank on the same node, numbered like peer */
    int of;
    int64_t at;
};

struct hs_step {
    enum hs_kind kind;
    int peer;           /* SEND, RECV, WAIT: rank in the group, rotated like the builder's rank; MPI: the root */
    struct hs_ref dst;  /* RECV, COPY, REDUCE: a slot of this rank; COPY, REDUCE: or a peer's SHARED */
    struct hs_ref left; /* SEND, COPY: the source; REDUCE: dst = left op right, in this order; dst may be one of them */
    struct hs_ref right; /* REDUCE: the right operand */
    int64_t count;       /* bytes, more than 0; SIGNAL, WAIT: the value, 1 .. HS_SIGNAL_MAX; JOIN: 1 */
    int first_dep, deps; /* list->dep[first_dep .. first_dep + deps): indices of earlier steps */
};

/* Which refs a step of a kind uses: dst is written, left and right are read. */
enum { HS_TOUCHES_DST = 1, HS_TOUCHES_LEFT = 2, HS_TOUCHES_RIGHT = 4 };
static inline unsigned hs_step_touches(enum hs_kind kind)
{
    static const unsigned char touches[HS_KINDS] = {
        [HS_SEND] = HS_TOUCHES_LEFT,
        [HS_RECV] = HS_TOUCHES_DST,
        [HS_COPY] = HS_TOUCHES_DST | HS_TOUCHES_LEFT,
        [HS_REDUCE] = HS_TOUCHES_DST | HS_TOUCHES_LEFT | HS_TOUCHES_RIGHT,
    };
    return touches[kind];
}

enum { HS_SIGNAL_MAX = 1 << 30 };

static inline int hs_same_ref(struct hs_ref a, struct hs_ref b)
{
    return a.slot == b.slot && a.of == b.of && a.at == b.at;
}

/* Most steps in a list whose builder cuts the vector into pieces; longer lists take too much memory and time. */
enum { HS_MOST_STEPS = 1 << 20 };

struct hs_list {
    struct hs_step *step;
    int *dep;
    int steps;
    int64_t extent[HS_SLOTS]; /* bytes used of each of this rank's slots: 1 + the last byte that a step touches */
    unsigned exposed;         /* set by hs_expose: peers may read this rank's IN (bit HS_IN) and OUT (bit HS_OUT) */
};

/*
 * Whether step i only adds one more operand to the sum that step i - 1 computes. Executors may fuse the two into one
 * pass that reads all operands at once.
 */
static inline int hs_step_continues(const struct hs_list *list, int i)
{
    const struct hs_step *step = &list->step[i], *before = step - 1;
    return i > 0 && step->kind == HS_REDUCE && before->kind == HS_REDUCE && step->deps == 1 &&
           list->dep[step->first_dep] == i - 1 && step->count == before->count && hs_same_ref(step->dst, before->dst) &&
           hs_same_ref(step->left, step->dst);
}

/*
 * Building. hs_emit_* append a step that depends on step `after` (-1: none). They return its index, or -1 if count is 0
 * (no step is needed) or memory is exhausted (builder->failed is set, and hs_list_finish reports it). hs_after(builder,
 * step, dep) makes `step`, which must be the last one emitted, depend on `dep` as well; it does nothing if either is
 * -1.
 */
struct hs_alg;
struct hs_builder {
    const struct hs_allocator *memory;
    const struct hs_alg *alg; /* the row being built: the builder of a user-defined row finds its data there */
    struct hs_list list;
    size_t step_capacity, dep_capacity;
    int deps, latest; /* latest: the highest dependency of the last step, -1: none */
    int signalled;    /* the last step that hs_emit_signal_next emitted, -1: none */
    int failed;       /* 0, or the hsumma_status that hs_list_finish will return */
    void *blocks;     /* blocks that hs_builder_get has allocated */
};

void hs_list_begin(struct hs_builder *builder, const struct hs_allocator *memory);
int hs_emit_send(struct hs_builder *builder, int peer, struct hs_ref source, int64_t count, int after);
int hs_emit_recv(struct hs_builder *builder, int peer, struct hs_ref dst, int64_t count, int after);
int hs_emit_copy(struct hs_builder *builder, struct hs_ref dst, struct hs_ref source, int64_t count, int after);
int hs_emit_reduce(struct hs_builder *builder, struct hs_ref dst, struct hs_ref left, struct hs_ref right,
                   int64_t count, int after);
int hs_emit_signal(struct hs_builder *builder, int64_t value, int after);
/* A step of any kind, without dependencies. Fields that the kind does not use are stored as given. */
int hs_emit_step(struct hs_builder *builder, enum hs_kind kind, int peer, struct hs_ref dst, struct hs_ref left,
                 struct hs_ref right, int64_t count);
int hs_emit_wait(struct hs_builder *builder, int peer, int64_t value);
int hs_emit_join(struct hs_builder *builder);
int hs_emit_mpi(struct hs_builder *builder, int root, int64_t at, int64_t count);
void hs_after(struct hs_builder *builder, int step, int dep);
/*
 * A SEND that depends on `after` and on *sent, the previous SEND (-1: none); it becomes *sent. So one message at a time
 * uses the link.
 */
int hs_emit_send_next(struct hs_builder *builder, int peer, struct hs_ref source, int64_t count, int after, int *sent);
/* A SIGNAL that depends on `after`, on `also` and on the previous SIGNAL. */
void hs_emit_signal_next(struct hs_builder *builder, int64_t value, int after, int also);
/* Declares that peers may read this rank's IN and OUT, or only one of them. */
void hs_expose(struct hs_builder *builder);
void hs_expose_slot(struct hs_builder *builder, enum hs_slot slot);
/* Marks the builder as failed; the first status is kept. */
void hs_builder_fail(struct hs_builder *builder, hsumma_status status);
/*
 * Zeroed memory for the builder's own use, freed by hs_list_finish. NULL if memory is exhausted; the builder has failed
 * then.
 */
void *hs_builder_get(struct hs_builder *builder, size_t count, size_t size);
/*
 * Moves the finished list to *list. HSUMMA_ERR_MEMORY, or HSUMMA_ERR_INTERNAL after a negative count or a dependency on
 * a later step; *list is empty then and nothing is leaked.
 */
hsumma_status hs_list_finish(struct hs_builder *builder, struct hs_list *list);
void hs_list_free(const struct hs_allocator *memory, struct hs_list *list);

/* Whether a COPY goes into or out of SHARED, or out of a peer's slot. */
static inline int hs_copies_shared(const struct hs_step *step)
{
    return step->dst.slot == HS_SHARED || step->left.slot == HS_SHARED || step->left.of > 0;
}

static inline struct hs_ref hs_in(int64_t at)
{
    return (struct hs_ref){HS_IN, 0, at};
}
static inline struct hs_ref hs_out(int64_t at)
{
    return (struct hs_ref){HS_OUT, 0, at};
}
static inline struct hs_ref hs_scratch(int64_t at)
{
    return (struct hs_ref){HS_SCRATCH, 0, at};
}
static inline struct hs_ref hs_shared(int64_t at)
{
    return (struct hs_ref){HS_SHARED, 0, at};
}
/* The same place in the slot of another rank of the node. */
static inline struct hs_ref hs_of(int rank, struct hs_ref ref)
{
    return (struct hs_ref){ref.slot, 1 + rank, ref.at};
}
static inline struct hs_ref hs_plus(struct hs_ref ref, int64_t bytes)
{
    return (struct hs_ref){ref.slot, ref.of, ref.at + bytes};
}

#endif
