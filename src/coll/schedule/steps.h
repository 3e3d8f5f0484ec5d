/*
 * The step list: one rank's part of one collective, as data.
 *
 * A builder writes the list of one rank from its hs_shape (rank, number of ranks, bytes, topology, parameters, ...)
 * alone: no MPI, no pointers, no data type except its size. executor.c runs lists; verify.c, clock.c and dump.c read
 * them. A finished list is immutable and position-independent: the executor binds pointers, group, tag and epoch when
 * it starts an instance.
 *
 * Execution rules, the same for all readers:
 *   - A step may begin when all steps that it depends on have completed.
 *   - SENDs of one rank to one peer are posted in list order, and so are its RECVs from one peer: the i-th SEND from a
 *     to b matches the i-th RECV of b from a, and their counts are equal.
 *   - Apart from that order, independent steps may overlap and complete in any order. A SEND may complete only after
 *     its RECV has begun (rendezvous).
 *   - No step reads or writes bytes that an independent step writes, whether that step belongs to this rank or to a
 *     peer that accesses this rank's memory. Between ranks, messages establish the order, or SIGNALs and the WAITs for
 *     them.
 *   - If every rank executes its list strictly in order, with a few receives posted ahead, all lists complete.
 *     Executors rely on this: they look only at a window of steps beyond the first incomplete one.
 *
 * Shared memory. A COPY or REDUCE may read the IN, OUT or SHARED of a peer on the node, and write to its SHARED. No
 * rank writes to a peer's IN or OUT, or accesses its SCRATCH. Every rank has one flag, initially 0: SIGNAL raises the
 * rank's own flag to a value (store-release), WAIT completes once a peer's flag has reached a value (load-acquire). A
 * rank's SIGNALs depend on one another, in ascending order of their values.
 *   - SHARED is free at the start: the first write to a byte of it, by its owner or a peer, needs no WAIT. After that,
 *     a rank that reads bytes of SHARED must first WAIT for their writer, and a rank (owner or peer) that overwrites
 *     them must first WAIT for all ranks that have read or written them, directly or through other ranks. The end of a
 *     list needs no such WAIT: the executor starts an instance only when all ranks of the node have finished the
 *     instance that used the same SHARED before.
 *   - A list's extent of SHARED covers the accesses of the rank's own steps; peers may access more of its SHARED, up to
 *     topology->shared_bytes.
 *   - A peer's IN and OUT belong to the peer's caller: they may be read after a WAIT for any SIGNAL of the peer, which
 *     shows that it has entered the call, and the peer must WAIT for the readers before its list ends.
 */
#ifndef HS_COLL_SCHEDULE_STEPS_H
#define HS_COLL_SCHEDULE_STEPS_H

#include "base/memory.h"
#include "base/status.h"

/*
 * EXACT reduces several operands at once, with bits that depend on neither their order nor their number (base/exact.c);
 * its operands must be contributions, not sums. JOIN only combines dependencies. MPI is a whole collective among some
 * ranks (hs_joint), performed by MPI (row "mpi") or by a function of the caller. For each set of ranks, the i-th MPI
 * step of one rank matches the i-th of every other.
 */
enum hs_kind { HS_SEND, HS_RECV, HS_COPY, HS_REDUCE, HS_EXACT, HS_SIGNAL, HS_WAIT, HS_JOIN, HS_MPI, HS_KINDS };
const char *hs_kind_name(enum hs_kind kind); /* "SEND" for HS_SEND, ... */

/* Symbolic buffers. An offset counts bytes in a packed buffer (64-bit), even if the executor binds another layout. */
enum hs_slot {
    HS_IN,      /* the rank's contribution; never written */
    HS_OUT,     /* the rank's result; for a broadcast the root's OUT has the data and is never written */
    HS_SCRATCH, /* list->extent[HS_SCRATCH] bytes, undefined at the start */
    /* shared with all ranks of the node; topology->shared_bytes bytes, undefined at the start */
    HS_SHARED,
    HS_SLOTS /* in a ref of an MPI step: the rank has no such buffer */
};

struct hs_ref {
    enum hs_slot slot;
    /* 0: this rank's; 1 + rank: IN, OUT or SHARED of another rank of the node (rank as in hs_step.peer) */
    int of;
    int64_t at;
};

struct hs_step {
    enum hs_kind kind;
    int peer;            /* SEND, RECV, WAIT: the other rank in the group, rotated as the builder's rank is; MPI: the
                            index of its ranks in list->joint; EXACT: the number of operands */
    struct hs_ref dst;   /* RECV, COPY, REDUCE, EXACT: a slot of this rank; COPY, REDUCE: or a peer's SHARED */
    struct hs_ref left;  /* SEND, COPY: the source; REDUCE: dst = left op right, in this order; dst may be one of them;
                            EXACT: the first operand, which the others follow, in a slot of this rank */
    struct hs_ref right; /* REDUCE: the right operand */
    int64_t count;       /* bytes, of EXACT those of one operand, at least 1; SIGNAL, WAIT: the value of the flag, 1 ..
                            HS_SIGNAL_MAX; JOIN: 1 */
    int first_dep, deps; /* list->dep[first_dep .. first_dep + deps): indices of earlier steps */
};

/*
 * The refs through which a step accesses memory: it writes dst and reads left and right. An MPI step reads a
 * contribution from left and writes a result to dst; ranks without one of them have HS_SLOTS there.
 */
enum { HS_TOUCHES_DST = 1, HS_TOUCHES_LEFT = 2, HS_TOUCHES_RIGHT = 4 };
static inline unsigned hs_kind_touches(enum hs_kind kind, struct hs_ref dst, struct hs_ref left)
{
    static const unsigned char touches[HS_KINDS] = {
        [HS_SEND] = HS_TOUCHES_LEFT,
        [HS_RECV] = HS_TOUCHES_DST,
        [HS_COPY] = HS_TOUCHES_DST | HS_TOUCHES_LEFT,
        [HS_REDUCE] = HS_TOUCHES_DST | HS_TOUCHES_LEFT | HS_TOUCHES_RIGHT,
        [HS_EXACT] = HS_TOUCHES_DST | HS_TOUCHES_LEFT,
    };
    if (kind == HS_MPI)
        return (dst.slot != HS_SLOTS ? HS_TOUCHES_DST : 0u) | (left.slot != HS_SLOTS ? HS_TOUCHES_LEFT : 0u);
    return touches[kind];
}
static inline unsigned hs_step_touches(const struct hs_step *step)
{
    return hs_kind_touches(step->kind, step->dst, step->left);
}

/* The bytes that a step reads from `left`, if it reads from there. */
static inline int64_t hs_left_bytes(enum hs_kind kind, int peer, int64_t count)
{
    return kind == HS_EXACT ? peer * count : count;
}
/* True if hs_step.peer is a rank, unless it is -1. */
static inline int hs_peer_is_rank(enum hs_kind kind)
{
    return kind != HS_MPI && kind != HS_EXACT;
}

enum { HS_SIGNAL_MAX = 1 << 30 };

static inline int hs_same_ref(struct hs_ref a, struct hs_ref b)
{
    return a.slot == b.slot && a.of == b.of && a.at == b.at;
}

/* Most steps in a list of a pipeline through shared memory; more would take too much memory and time. */
enum { HS_MOST_STEPS = 1 << 20 };

/* The ranks that perform MPI steps together. */
struct hs_joint {
    const struct hs_alg *alg; /* the row that performs them, which has the collective */
    int size, root;           /* root: index in rank[] */
    int *rank;                /* in the order of their communicator, numbered as hs_step.peer; NULL: all ranks */
};

struct hs_list {
    struct hs_step *step;
    int *dep;
    struct hs_joint *joint;
    int steps, joints;
    int64_t extent[HS_SLOTS]; /* bytes of each of this rank's slots that the steps use: 1 + the offset of the last byte
                                 accessed; for an MPI step of an allgather or reduce_scatter that of the whole vector */
    int64_t reach;            /* bytes of any one rank's SHARED that the steps use */
    unsigned exposed;         /* 1 << HS_IN, 1 << HS_OUT: slots of this rank that peers may read (hs_expose) */
};

/* True if step i only adds one operand to the sum of step i - 1: an executor may fuse them into one pass. */
static inline int hs_step_continues(const struct hs_list *list, int i)
{
    const struct hs_step *step = &list->step[i], *before = step - 1;
    return i > 0 && step->kind == HS_REDUCE && before->kind == HS_REDUCE && step->deps == 1 &&
           list->dep[step->first_dep] == i - 1 && step->count == before->count && hs_same_ref(step->dst, before->dst) &&
           hs_same_ref(step->left, step->dst);
}

/*
 * Building a list. hs_emit_* append a step; those with an argument `after` make it depend on step `after`, unless that
 * is -1. They return the index of the new step, or -1 if count is 0 (no step is needed) or the builder has failed
 * (hs_list_finish reports it). hs_after(builder, step, dep) makes `step`, which must be the last one emitted, also
 * depend on `dep`; it does nothing if either is -1.
 */
struct hs_alg;
struct hs_builder {
    const struct hs_allocator *memory;
    const struct hs_alg *alg; /* the row whose list is built; the builder of a user-defined row finds its data there */
    struct hs_list list;
    size_t step_capacity, dep_capacity, joint_capacity;
    int deps, latest; /* deps: length of list.dep; latest: the highest dependency of the last step, -1 if it has none */
    int signalled;    /* the last step that hs_emit_signal_next emitted, -1 if none */
    int failed;       /* 0, or the hsumma_status that hs_list_finish will return */
    void *blocks;     /* list of the blocks that hs_builder_get has allocated */
};

void hs_list_begin(struct hs_builder *builder, const struct hs_allocator *memory);
int hs_emit_send(struct hs_builder *builder, int peer, struct hs_ref source, int64_t count, int after);
int hs_emit_recv(struct hs_builder *builder, int peer, struct hs_ref dst, int64_t count, int after);
int hs_emit_copy(struct hs_builder *builder, struct hs_ref dst, struct hs_ref source, int64_t count, int after);
int hs_emit_reduce(struct hs_builder *builder, struct hs_ref dst, struct hs_ref left, struct hs_ref right,
                   int64_t count, int after);
/* `count` is the length of an operand. */
int hs_emit_exact(struct hs_builder *builder, struct hs_ref dst, struct hs_ref first, int operands, int64_t count,
                  int after);
int hs_emit_signal(struct hs_builder *builder, int64_t value, int after);
/* Appends a step of any kind, without dependencies. Fields that the kind does not use are stored as given. */
int hs_emit_step(struct hs_builder *builder, enum hs_kind kind, int peer, struct hs_ref dst, struct hs_ref left,
                 struct hs_ref right, int64_t count);
int hs_emit_wait(struct hs_builder *builder, int peer, int64_t value);
int hs_emit_join(struct hs_builder *builder);
/* Appends a step in which row builder->alg performs its collective among all ranks on bytes at .. at + count. */
int hs_emit_mpi(struct hs_builder *builder, int rank, int size, int root, int64_t at, int64_t count);
/* Adds a copy of a joint unless the list has an equal one. Returns its index; -1 if the builder has failed. */
int hs_add_joint(struct hs_builder *builder, const struct hs_joint *joint);
static inline int hs_joint_rank(const struct hs_joint *joint, int i)
{
    return joint->rank ? joint->rank[i] : i;
}
void hs_after(struct hs_builder *builder, int step, int dep);
/* Appends a SEND that depends on `after` and on the previous SEND, *sent (-1: none), and stores its own index there:
 * one message at a time uses the link. */
int hs_emit_send_next(struct hs_builder *builder, int peer, struct hs_ref source, int64_t count, int after, int *sent);
/* Appends a SIGNAL that depends on `after`, on `also` and on the SIGNAL that the previous call appended. */
void hs_emit_signal_next(struct hs_builder *builder, int64_t value, int after, int also);
/* Declare that peers may read this rank's IN and OUT (hs_expose), or only one of the two. */
void hs_expose(struct hs_builder *builder);
void hs_expose_slot(struct hs_builder *builder, enum hs_slot slot);
/* Marks the builder as failed; the first status is kept. */
void hs_builder_fail(struct hs_builder *builder, hsumma_status status);
/* Zeroed memory that hs_list_finish frees. If memory is exhausted, returns NULL and fails the builder. */
void *hs_builder_get(struct hs_builder *builder, size_t count, size_t size);
/*
 * Moves the finished list to *list. Errors: HSUMMA_ERR_MEMORY; HSUMMA_ERR_INTERNAL for a negative count, for a flag's
 * value out of range, or if hs_after was given another step than the last one or a dependency that is not an earlier
 * step; the status given to hs_builder_fail. After an error *list is empty and all memory is freed.
 */
hsumma_status hs_list_finish(struct hs_builder *builder, struct hs_list *list);
void hs_list_free(const struct hs_allocator *memory, struct hs_list *list);

/* True for the IN or OUT of a peer. */
static inline int hs_is_peers_own(struct hs_ref ref)
{
    return ref.of > 0 && ref.slot != HS_SHARED;
}
/* True if a COPY writes to SHARED, or reads from SHARED or from a peer's slot. */
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
/* The ref's slot and offset, but in another rank of the node. */
static inline struct hs_ref hs_of(int rank, struct hs_ref ref)
{
    return (struct hs_ref){ref.slot, 1 + rank, ref.at};
}
static inline struct hs_ref hs_plus(struct hs_ref ref, int64_t bytes)
{
    return (struct hs_ref){ref.slot, ref.of, ref.at + bytes};
}

#endif
