/*
 * What the parts of verify share: verify.c (entry and verdict), verify_static.c and verify_hazard.c (each list by
 * itself), verify_shared.c (accesses to the memory of peers), verify_order.c (what both of these ask), verify_run.c
 * (execution), verify_data.c (what is there at the start and must be there at the end), verify_count.c.
 */
#ifndef HS_COLL_PROOF_VERIFY_PARTS_H
#define HS_COLL_PROOF_VERIFY_PARTS_H

#include "coll/proof/verify.h"
#include "coll/schedule/lists.h"

/* The symbolic value of one element. */
struct hs_cell {
    uint64_t bag; /* sum of a random key per rank and position: what was summed, in whatever order */
    uint64_t
        form; /* hash of the expression over the ranks, whatever the position: neither commutative nor associative */
    int low, end; /* the ranks in it lie in low .. end - 1; end = 0: not written */
};

struct hs_proof {
    enum hs_collective collective;
    const struct hs_list *list;
    const struct hs_shape *shape;
    struct hs_verify_options options;
    const struct hs_allocator *memory;
    struct hs_verify_report *report;
    struct hs_lists lists; /* index of `list` */
    int64_t *shared;      /* bytes of each rank's SHARED that some rank touches; NULL: not known yet, the owner's own */
    struct hs_cell *cell; /* all buffers of all instances */
    int64_t *buffer;      /* where each begins: [(instance * size + rank) * HS_SLOTS + slot]; one more, the end */
    uint64_t form;        /* of the first element of OUT */
};

/* A place that a step touches. */
struct hs_access {
    int step, writes;
    struct hs_ref ref;
    int64_t end;
};

/* Stores the text unless there is one already; returns HSUMMA_ERR_INTERNAL. */
hsumma_status hs_wrong(struct hs_proof *proof, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Bytes that the conventions of the collective (for HS_SCRATCH and HS_SHARED: the list) give a rank in a slot. */
int64_t hs_slot_bytes(const struct hs_proof *proof, int rank, enum hs_slot slot);
/* Whether the slot must not be written. */
int hs_slot_fixed(const struct hs_proof *proof, int rank, enum hs_slot slot);
/* Whether the collective computes sums. */
int hs_sums(const struct hs_proof *proof);
/* "IN", ... */
const char *hs_slot_name(enum hs_slot slot);
/* The accesses of a step, at most three; what it writes comes last. */
int hs_accesses_of(const struct hs_step *step, int index, struct hs_access *access);

/* Where an element lies behind the beginning of its buffer: the 2-D view of options.run and ld. */
static inline int64_t hs_view_at(const struct hs_proof *proof, enum hs_slot slot, int64_t element)
{
    int64_t run = slot == HS_IN || slot == HS_OUT ? proof->options.run : 0;
    return run ? element / run * proof->options.ld + element % run : element;
}

/* verify_order.c: the last accesses to each of some elements, numbered by the caller. */
struct hs_reading {
    int access, next; /* next: the reading before, -1: none since the last write */
};
struct hs_accessed {
    const struct hs_allocator *memory;
    int *writer, *reader; /* per element: the last write, and the last reading since; -1: none */
    struct hs_reading *reading;
    size_t readings, reading_capacity;
};
/* For so many elements at most; HSUMMA_ERR_MEMORY.  hs_accessed_end in any case. */
hsumma_status hs_accessed_begin(struct hs_accessed *accessed, int64_t elements, const struct hs_allocator *memory);
void hs_accessed_end(struct hs_accessed *accessed);
void hs_accessed_clear(struct hs_accessed *accessed, int64_t elements);
/* Adds an access to the elements from `first` up to `end`: calls check for each one that it must come after. */
typedef hsumma_status hs_check_order(void *state, int later, int earlier);
hsumma_status hs_accessed_add(struct hs_accessed *accessed, int access, int writes, int64_t first, int64_t end,
                              hs_check_order *check, void *state);

/* verify_static.c: ranges, dependencies and hazards of every list by itself. */
hsumma_status hs_verify_static(struct hs_proof *proof);
/* verify_hazard.c: the last part of that. */
hsumma_status hs_verify_hazards(struct hs_proof *proof);
/* verify_shared.c: accesses to a peer's memory are ordered with what the peer does. */
hsumma_status hs_verify_shared(struct hs_proof *proof);
/* verify_run.c: executes the lists on the cells. */
hsumma_status hs_verify_run(struct hs_proof *proof);
/* verify_data.c: lays out the buffers and fills in what is there at the start; compares OUT with what it must be. */
hsumma_status hs_verify_fill(struct hs_proof *proof);
hsumma_status hs_verify_judge(struct hs_proof *proof);
/* verify_count.c: messages, bytes, signals, rounds. */
hsumma_status hs_verify_count(struct hs_proof *proof);

#endif
