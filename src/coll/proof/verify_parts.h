/*
 * Shared by the parts of verify: verify.c (entry and verdict), verify_static.c and verify_hazard.c (each list on its
 * own), verify_shared.c (accesses to peers' memory), verify_order.c (used by both hazard checks), verify_run.c
 * (execution), verify_data.c (initial data and expected result), verify_count.c.
 */
#ifndef HS_COLL_PROOF_VERIFY_PARTS_H
#define HS_COLL_PROOF_VERIFY_PARTS_H

#include "coll/proof/verify.h"
#include "coll/schedule/lists.h"

/* The symbolic value of one element. */
struct hs_cell {
    uint64_t bag;  /* sum of a random key per rank and position: what was summed, in any order */
    uint64_t form; /* hash of the expression over ranks, at any position; neither commutative nor associative */
    int low, end;  /* all contributing ranks are in low .. end - 1; end = 0: not written */
};

struct hs_proof {
    enum hs_collective collective;
    const struct hs_list *list;
    const struct hs_shape *shape;
    struct hs_verify_options options;
    const struct hs_allocator *memory;
    struct hs_verify_report *report;
    struct hs_lists lists; /* index of `list` */
    /* Bytes of each rank's SHARED that any rank touches; NULL until known, when the owner's extent counts. */
    int64_t *shared;
    struct hs_cell *cell; /* all buffers of all instances */
    int64_t *buffer;      /* offset of each in cell[]: [(instance * size + rank) * HS_SLOTS + slot], and the end */
    uint64_t form;        /* form of the first element of OUT */
};

/* A place that a step reads or writes. */
struct hs_access {
    int step, writes;
    struct hs_ref ref;
    int64_t end;
};

/* Stores the text unless an earlier one is stored; returns HSUMMA_ERR_INTERNAL. */
hsumma_status hs_wrong(struct hs_proof *proof, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Size in bytes of a rank's slot, given by the collective's conventions (SCRATCH and SHARED: by the list). */
int64_t hs_slot_bytes(const struct hs_proof *proof, int rank, enum hs_slot slot);
/* Whether the slot must not be written. */
int hs_slot_fixed(const struct hs_proof *proof, int rank, enum hs_slot slot);
/* Whether the collective computes sums. */
int hs_sums(const struct hs_proof *proof);
/* "IN", ... */
const char *hs_slot_name(enum hs_slot slot);
/* The accesses of a step, at most three; the written one comes last. */
int hs_accesses_of(const struct hs_step *step, int index, struct hs_access *access);

/* Index of an element in its buffer: the strided view of options.run and ld. */
static inline int64_t hs_view_at(const struct hs_proof *proof, enum hs_slot slot, int64_t element)
{
    int64_t run = slot == HS_IN || slot == HS_OUT ? proof->options.run : 0;
    return run ? element / run * proof->options.ld + element % run : element;
}

/* verify_order.c: the latest accesses to each of a number of elements, which the caller numbers. */
struct hs_reading {
    int access, next; /* next: the previous reading of the element, -1: none since the last write */
};
struct hs_accessed {
    const struct hs_allocator *memory;
    int *writer, *reader; /* per element: the last write, and the last entry of reading[] since then; -1: none */
    struct hs_reading *reading;
    size_t readings, reading_capacity;
};
/* For up to `elements` elements; HSUMMA_ERR_MEMORY. Call hs_accessed_end in any case. */
hsumma_status hs_accessed_begin(struct hs_accessed *accessed, int64_t elements, const struct hs_allocator *memory);
void hs_accessed_end(struct hs_accessed *accessed);
void hs_accessed_clear(struct hs_accessed *accessed, int64_t elements);
/* Adds an access to elements [first, end) and calls check for each earlier access that it must come after. */
typedef hsumma_status hs_check_order(void *state, int later, int earlier);
hsumma_status hs_accessed_add(struct hs_accessed *accessed, int access, int writes, int64_t first, int64_t end,
                              hs_check_order *check, void *state);

/* verify_static.c: ranges, dependencies and hazards of every list on its own. */
hsumma_status hs_verify_static(struct hs_proof *proof);
/* verify_hazard.c: the hazards alone; hs_verify_static calls it. */
hsumma_status hs_verify_hazards(struct hs_proof *proof);
/* verify_shared.c: accesses to a peer's memory are ordered with the peer's own. */
hsumma_status hs_verify_shared(struct hs_proof *proof);
/* verify_run.c: executes the lists on the cells. */
hsumma_status hs_verify_run(struct hs_proof *proof);
/* verify_data.c: lays out the buffers and sets the initial data; compares OUT with the expected result. */
hsumma_status hs_verify_fill(struct hs_proof *proof);
hsumma_status hs_verify_judge(struct hs_proof *proof);
/* verify_count.c: messages, bytes, signals, rounds. */
hsumma_status hs_verify_count(struct hs_proof *proof);

#endif
