/*
 * The step list: what one rank does in one collective, as data.
 *
 * A builder writes the list of one rank from (rank, size, sizes, topology, parameters) alone: no MPI, no pointers, no
 * data type beyond its size.  Executors (executor.c), verify.c, clock.c and dump.c read it.  Lists are immutable once
 * built and position-independent; pointers, the group, tags and epochs are bound when an executor starts one.
 *
 * Execution rules that every reader follows
 *   - A step may begin when all steps that it depends on have completed.
 *   - SENDs of one rank to one peer are posted in list order, and so are its RECVs from one peer: the i-th SEND from a
 *     to b matches the i-th RECV of b from a, and their counts are equal.
 *   - Otherwise steps that do not depend on each other may overlap and complete in any order; a SEND may complete only
 *     when its RECV has begun (rendezvous).
 *   - No step reads what an independent step writes, be it a step of this rank or of a peer that reads this rank's
 *     memory: between ranks, SIGNAL and WAIT make the order (a message that depends on one does too).
 *   - Done by all ranks strictly in list order, with a few receives posted ahead, the lists come to an end: executors
 *     look only at a window of steps beyond the first that is not done.
 *
 * Shared memory.  Ranks of one node may read each other's slots and write each other's SHARED: a source of COPY or
 * REDUCE can be a peer's, and so can their destination if it is SHARED.  Nobody writes into a peer's IN or OUT.  Every
 * rank has one flag, which starts at 0: SIGNAL raises the own flag to a value (store-release), WAIT completes once a
 * peer's flag has at least a value (load-acquire).  A rank's SIGNALs depend on one another, in ascending order of their
 * values.
 *   - SHARED is free at the start: whatever its bytes, whoever owns them, the first to write them waits for nobody.
 *     Later, who reads bytes of SHARED does so after a WAIT for who wrote them, and who writes them again, be it their
 *     owner or a peer, after WAITs for those who have read or written them; a path over several ranks will do.  The
 *     end of a list needs no such WAIT: the executor lets a rank into an instance only when all ranks of the node have
 *     finished what had its SHARED before, and that holds for the SHARED of peers as well.
 *   - A rank's extent of SHARED is what its own steps touch; a peer may touch more of it, up to topology->shared_bytes.
 *   - A peer's IN and OUT belong to the peer's caller: they may be read after a WAIT for any SIGNAL of the peer (it has
 *     entered), and the peer must WAIT for the readers before its list ends.
 */
#ifndef HS_COLL_SCHEDULE_STEPS_H
#define HS_COLL_SCHEDULE_STEPS_H

#include "base/memory.h"
#include "base/status.h"

/* JOIN does nothing: a place where dependencies meet.  MPI: the whole collective, by MPI itself (row "mpi"). */
enum hs_kind { HS_SEND, HS_RECV, HS_COPY, HS_REDUCE, HS_SIGNAL, HS_WAIT, HS_JOIN, HS_MPI, HS_KINDS };
const char *hs_kind_name(enum hs_kind kind); /* "SEND", ... */

/* Symbolic buffers; offsets in them are 64-bit bytes in a logical packed buffer. */
enum hs_slot {
    HS_IN,      /* what the rank contributes; never written */
    HS_OUT,     /* what it ends with; for a broadcast the root's OUT holds the data already and is never written */
    HS_SCRATCH, /* list->extent[HS_SCRATCH] bytes, undefined at the start */
    HS_SHARED, /* memory that the ranks of the node read and write; topology->shared_bytes bytes, undefined at the start
                */
    HS_SLOTS
};

struct hs_ref {
    enum hs_slot slot;
    int of; /* 0: the own slot; 1 + rank: the slot of that rank (numbered like peer), on the same node; IN, OUT, SHARED
             */
    int64_t at;
};

struct hs_step {
    enum hs_kind kind;
    int peer;           /* SEND, RECV, WAIT: rank in the group, rotated like the builder's rank; MPI: the root */
    struct hs_ref dst;  /* RECV, COPY, REDUCE: an own slot; COPY, REDUCE: or a peer's SHARED */
    struct hs_ref left; /* SEND, COPY: the source; REDUCE: dst = left op right, in this order; dst may be one of them */
    struct hs_ref right; /* REDUCE */
    int64_t count;       /* bytes, more than 0; SIGNAL, WAIT: the value, 1 .. HS_SIGNAL_MAX; JOIN: 1 */
    int first_dep, deps; /* list->dep[first_dep .. first_dep + deps): indices of earlier steps */
};

/* Which of its places a step of a kind touches: dst is written, left and right are read. */
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

/* What rows that cut a vector into pieces put up with: longer lists take too much memory and time. */
enum { HS_MOST_STEPS = 1 << 20 };

struct hs_list {
    struct hs_step *step;
    int *dep;
    int steps;
    int64_t extent[HS_SLOTS]; /* bytes used of each own slot: 1 + the last byte that a step touches */
    unsigned exposed;         /* set by hs_expose: peers may read this rank's IN (bit HS_IN) and OUT (bit HS_OUT) */
};

/*
 * Whether step i adds one more operand to what the step before it computes, and needs nothing else: executors may do
 * both as one piece of work, whose operands are read at the same time.
 */
static inline int hs_step_continues(const struct hs_list *list, int i)
{
    const struct hs_step *step = &list->step[i], *before = step - 1;
    return i > 0 && step->kind == HS_REDUCE && before->kind == HS_REDUCE && step->deps == 1 &&
           list->dep[step->first_dep] == i - 1 && step->count == before->count && hs_same_ref(step->dst, before->dst) &&
           hs_same_ref(step->left, step->dst);
}

/*
 * Building.  hs_emit_* append a step that waits for step `after` (-1: for none) and return its index, or -1 when count
 * is 0 (nothing to do) or when memory is short (then builder->failed is set, and hs_list_finish reports it).
 * hs_after(builder, step, dep) makes `step`, which must be the last one emitted, wait for `dep`, too; it does nothing
 * when either is -1.
 */
struct hs_alg;
struct hs_builder {
    const struct hs_allocator *memory;
    const struct hs_alg *alg; /* the row that is being built: a builder of a user's row finds its own data there */
    struct hs_list list;
    size_t step_capacity, dep_capacity;
    int deps, latest; /* latest: of the dependencies of the last step, -1: none */
    int signalled;    /* the last step of hs_emit_signal_next, -1: none */
    int failed;       /* 0, or the hsumma_status that hs_list_finish will return */
    void *blocks;     /* what hs_builder_get has given */
};

void hs_list_begin(struct hs_builder *builder, const struct hs_allocator *memory);
int hs_emit_send(struct hs_builder *builder, int peer, struct hs_ref source, int64_t count, int after);
int hs_emit_recv(struct hs_builder *builder, int peer, struct hs_ref dst, int64_t count, int after);
int hs_emit_copy(struct hs_builder *builder, struct hs_ref dst, struct hs_ref source, int64_t count, int after);
int hs_emit_reduce(struct hs_builder *builder, struct hs_ref dst, struct hs_ref left, struct hs_ref right,
                   int64_t count, int after);
int hs_emit_signal(struct hs_builder *builder, int64_t value, int after);
/* Any step, which waits for nothing yet; places that its kind does not touch, and a peer that it has not, are kept. */
int hs_emit_step(struct hs_builder *builder, enum hs_kind kind, int peer, struct hs_ref dst, struct hs_ref left,
                 struct hs_ref right, int64_t count);
int hs_emit_wait(struct hs_builder *builder, int peer, int64_t value);
int hs_emit_join(struct hs_builder *builder);
int hs_emit_mpi(struct hs_builder *builder, int root, int64_t at, int64_t count);
void hs_after(struct hs_builder *builder, int step, int dep);
/* A SEND after `after` and after *sent, which it becomes if there is one: one message at a time on the link. */
int hs_emit_send_next(struct hs_builder *builder, int peer, struct hs_ref source, int64_t count, int after, int *sent);
/* A SIGNAL after `after`, `also` and the one before. */
void hs_emit_signal_next(struct hs_builder *builder, int64_t value, int after, int also);
/* Peers may read this rank's IN and OUT; or one of the two, where that is all that they read. */
void hs_expose(struct hs_builder *builder);
void hs_expose_slot(struct hs_builder *builder, enum hs_slot slot);
/* Marks the list as failed; the first failure is kept. */
void hs_builder_fail(struct hs_builder *builder, hsumma_status status);
/* Zeroed memory for the builder's own use, freed by hs_list_finish; NULL (and the builder has failed) if there is none.
 */
void *hs_builder_get(struct hs_builder *builder, size_t count, size_t size);
/*
 * Moves the finished list to *list.  HSUMMA_ERR_MEMORY, or HSUMMA_ERR_INTERNAL after a negative count or a dependency
 * on a later step: *list is empty then and nothing is left behind.
 */
hsumma_status hs_list_finish(struct hs_builder *builder, struct hs_list *list);
void hs_list_free(const struct hs_allocator *memory, struct hs_list *list);

/* A COPY of shared memory: into or out of SHARED, or out of a slot of a peer. */
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
/* The same place of another rank of the node. */
static inline struct hs_ref hs_of(int rank, struct hs_ref ref)
{
    return (struct hs_ref){ref.slot, 1 + rank, ref.at};
}
static inline struct hs_ref hs_plus(struct hs_ref ref, int64_t bytes)
{
    return (struct hs_ref){ref.slot, ref.of, ref.at + bytes};
}

#endif
