/* Internal declarations of verify. */
#ifndef HS_COLL_PROOF_VERIFY_PARTS_H
#define HS_COLL_PROOF_VERIFY_PARTS_H

#include "coll/proof/verify.h"
#include "coll/schedule/lists.h"

/* The symbolic value of one element. */
struct hs_cell {
    uint64_t bag;  /* sum of random keys of all leaves, in any order; a leaf: a rank's contribution at a position */
    uint64_t form; /* hash of the expression over ranks, independent of the position; swapping or regrouping operands
                      changes it */
    int low, end;  /* all contributing ranks are in low .. end - 1; end = 0 if the element has not been written */
};

/* The form of an EXACT step from the sum of the forms of its operands, in any order. */
static inline uint64_t hs_exact_form(uint64_t forms)
{
    forms = (forms ^ (forms >> 32)) * 0xd6e8feb86659fd93u;
    return forms ^ (forms >> 32);
}

struct hs_proof {
    enum hs_collective collective;
    const struct hs_list *list;
    const struct hs_shape *shape;
    struct hs_verify_options options;
    const struct hs_allocator *memory;
    struct hs_verify_report *report;
    struct hs_lists lists; /* index of `list` */
    /* Bytes of each rank's SHARED that any rank accesses; NULL until known: the extent in the owner's list. */
    int64_t *shared;
    struct hs_cell *cell; /* the elements of all buffers of all instances */
    int64_t *buffer;      /* buffer[(instance * size + rank) * HS_SLOTS + slot]: offset of a buffer in cell[]; the last
                             entry is the end */
    uint64_t form;        /* `form` of the first element of OUT */
};

/* A range of bytes that a step reads or writes: ref.at .. end - 1. */
struct hs_access {
    int step, writes;
    struct hs_ref ref;
    int64_t end;
};

/* Stores an error's text unless there is one (except about the order of sums). Returns HSUMMA_ERR_INTERNAL. */
hsumma_status hs_wrong(struct hs_proof *proof, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* As hs_wrong; the text begins with the rank, the index of one of its steps, and the step's kind. */
hsumma_status hs_wrong_step(struct hs_proof *proof, int rank, int i, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The same for the step with this global number. */
#define hs_wrong_at(proof, g, ...) \
    hs_wrong_step(proof, (proof)->lists.rank[g], (g) - (proof)->lists.base[(proof)->lists.rank[g]], __VA_ARGS__)

/* The bytes of a rank's slot: for IN and OUT by the collective's conventions, for SCRATCH and SHARED by the lists. */
int64_t hs_slot_bytes(const struct hs_proof *proof, int rank, enum hs_slot slot);
/* True if the slot must not be written. */
int hs_slot_fixed(const struct hs_proof *proof, int rank, enum hs_slot slot);
/* True if the collective computes sums. */
int hs_sums(const struct hs_proof *proof);
/* "IN" for HS_IN, ... */
const char *hs_slot_name(enum hs_slot slot);
/* Stores the accesses of step `index`, at most three, with a write last. Returns their number. */
int hs_accesses_of(const struct hs_step *step, int index, struct hs_access *access);

/* The index of an element in its buffer, through the strided view of options.run and options.ld. */
static inline int64_t hs_view_at(const struct hs_proof *proof, enum hs_slot slot, int64_t element)
{
    int64_t run = slot == HS_IN || slot == HS_OUT ? proof->options.run : 0;
    return run ? element / run * proof->options.ld + element % run : element;
}

/* hs_accessed: the latest accesses to each element; the caller numbers the elements. Its functions are in
 * verify_order.c. */
struct hs_reading {
    int access, next; /* next: the previous read of the same element, -1 if there is none since the last write */
};
struct hs_accessed {
    const struct hs_allocator *memory;
    int *writer, *reader; /* of each element the last write, and the last entry of reading[] since then; -1 if none */
    struct hs_reading *reading;
    size_t readings, reading_capacity;
};
/* Allocates for up to `elements` elements, or returns HSUMMA_ERR_MEMORY; call hs_accessed_end in any case. */
hsumma_status hs_accessed_begin(struct hs_accessed *accessed, int64_t elements, const struct hs_allocator *memory);
void hs_accessed_end(struct hs_accessed *accessed);
void hs_accessed_clear(struct hs_accessed *accessed, int64_t elements);
/*
 * Adds an access to elements [first, end), and calls `check` for each earlier access that must directly precede it: the
 * last write and, for a write, the reads since then.
 */
typedef hsumma_status hs_check_order(void *state, int later, int earlier);
hsumma_status hs_accessed_add(struct hs_accessed *accessed, int access, int writes, int64_t first, int64_t end,
                              hs_check_order *check, void *state);

/* Checks ranges, dependencies and hazards of every list separately; in verify_static.c. */
hsumma_status hs_verify_static(struct hs_proof *proof);
/* Checks the hazards inside every list; in verify_hazard.c, called by hs_verify_static. */
hsumma_status hs_verify_hazards(struct hs_proof *proof);
/* Checks that accesses to a rank's memory by different ranks are ordered; in verify_shared.c. */
hsumma_status hs_verify_shared(struct hs_proof *proof);
/* Executes the lists on the cells; in verify_run.c. */
hsumma_status hs_verify_run(struct hs_proof *proof);
/* Lay out the buffers with the initial data; compare OUT with the expected result. In verify_data.c. */
hsumma_status hs_verify_fill(struct hs_proof *proof);
hsumma_status hs_verify_judge(struct hs_proof *proof);
/* Counts messages, bytes, signals and rounds; in verify_count.c. */
hsumma_status hs_verify_count(struct hs_proof *proof);

#endif
