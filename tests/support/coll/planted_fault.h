/* Faults planted in the lists of a correct algorithm. hs_verify must find each one and describe it in its report. */
#ifndef HS_TESTS_SUPPORT_COLL_PLANTED_FAULT_H
#define HS_TESTS_SUPPORT_COLL_PLANTED_FAULT_H

#include "coll/proof/verify.h"

/* bytes of an element, and of the vector in all cases */
enum { PLANT_UNIT = 8, PLANT_BYTES = 12 * PLANT_UNIT };

enum edit {
    /* Edits of a step's fields; dst, left and right have a slot, an owner (0: this rank; else 1 + rank), an offset. */
    SET_COUNT,
    SET_PEER,
    SET_KIND,
    SET_DST_SLOT,
    SET_DST_OF,
    SET_DST_AT,
    SET_LEFT_SLOT,
    SET_LEFT_OF,
    SET_LEFT_AT,
    SET_RIGHT_SLOT,
    SET_RIGHT_OF,
    SET_RIGHT_AT,
    /* Edits of a step's dependencies. */
    SET_DEP,  /* changes the first dependency */
    SET_DEPS, /* changes the number of dependencies */
    FORGET,   /* removes the dependency on step `value` */
    TAKE_OUT, /* removes the step; its dependents no longer wait for it */
    /* Edits of a rank's list. */
    CUT_LIST,
    SET_EXTENT, /* `step` is the slot */
    SET_EXPOSED,
    /* Edits of the environment in which the schedule runs. */
    SET_ROOM,
    SET_DIRECT,
    MOVE_AWAY, /* moves a rank to a node of its own */
    SET_WINDOW,
    SET_EAGER
};

/* One edit. A fault that needs several edits has several consecutive rows; only the last row has `words`. */
struct planted_fault {
    const char *what;
    const struct hs_alg *alg;
    int size;
    enum edit edit;
    int rank, step;
    enum hs_kind kind; /* expected kind of the edited step; checks that the row still fits the algorithm */
    int64_t value;
    const char *words; /* text expected in verify's report; NULL: the next row belongs to the same fault */
};

/* Tests all faults. room > 0: all ranks are on one node, and each has `room` bytes of SHARED; 0: a node per rank. */
void plant_faults(const struct planted_fault *fault, size_t rows, int64_t room);

#endif
