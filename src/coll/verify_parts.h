/* What the parts of verify share: verify.c (entry and verdict), verify_static.c (each list by itself), verify_run.c. */
#ifndef HS_COLL_VERIFY_PARTS_H
#define HS_COLL_VERIFY_PARTS_H

#include "coll/lists.h"
#include "coll/verify.h"

/* The symbolic value of one element. */
struct hs_cell {
    uint64_t tree; /* hash of the expression that was computed: neither commutative nor associative */
    uint64_t bag;  /* sum of a random key per rank and position: what was summed, in whatever order */
    int low, high; /* lowest and highest rank in it */
    int written;
};

struct hs_trial {
    enum hs_collective collective;
    const struct hs_list *list;
    const struct hs_shape *shape;
    struct hs_verify_options options;
    const struct hs_allocator *memory;
    struct hs_verify_report *report;
    struct hs_lists lists; /* index of `list` */
    struct hs_cell *cell;  /* all buffers of all instances */
    int64_t *buffer;       /* where each begins: [(instance * size + rank) * HS_SLOTS + slot]; one more, the end */
};

/* Stores the text unless there is one already; returns HSUMMA_ERR_INTERNAL. */
hsumma_status hs_wrong(struct hs_trial *trial, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Bytes that the conventions of the collective (for HS_SCRATCH: the list) give a rank in a slot. */
int64_t hs_slot_bytes(const struct hs_trial *trial, int rank, enum hs_slot slot);
/* Whether the slot must not be written. */
int hs_slot_fixed(const struct hs_trial *trial, int rank, enum hs_slot slot);

/* Where the cells of an element lie behind the beginning of its buffer: the 2-D view of options.run and ld. */
int64_t hs_view_at(const struct hs_trial *trial, enum hs_slot slot, int64_t element);

/* The element that rank contributes at a position of the vector. */
struct hs_cell hs_leaf(int instance, int rank, int64_t position);

/* verify_static.c: ranges, dependencies and hazards of every list by itself. */
hsumma_status hs_verify_static(struct hs_trial *trial);
/* verify_run.c: executes the lists on the cells. */
hsumma_status hs_verify_run(struct hs_trial *trial);

/* "SEND", "RECV", "COPY", "REDUCE". */
const char *hs_kind_name(enum hs_kind kind);

#endif
