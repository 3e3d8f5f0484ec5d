/* Faults planted in the lists of a correct algorithm: verify must find each, and say in its report what is wrong. */
#ifndef HS_TESTS_SUPPORT_COLL_PLANTED_FAULT_H
#define HS_TESTS_SUPPORT_COLL_PLANTED_FAULT_H

#include "coll/proof/verify.h"

/* The vectors of all cases. */
enum { PLANT_UNIT = 8, PLANT_BYTES = 12 * PLANT_UNIT };

enum edit {
    /* Of a step's field; dst, left and right have a slot, whose it is (0, or 1 + rank) and an offset. */
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
    /* Of its dependencies. */
    SET_DEP,  /* the first one */
    SET_DEPS, /* how many there are */
    FORGET,   /* takes out the one on step `value` */
    TAKE_OUT, /* the whole step; those that waited for it wait no more */
    /* Of a rank's list. */
    CUT_LIST,
    SET_EXTENT, /* `step` is the slot */
    SET_EXPOSED,
    /* Of where it runs. */
    SET_ROOM,
    SET_DIRECT,
    MOVE_AWAY, /* a rank, to a node of its own */
    SET_WINDOW,
    SET_EAGER
};

/* One edit; a fault that takes several has more rows, and words in the last. */
struct planted_fault {
    const char *what;
    const struct hs_alg *alg;
    int size;
    enum edit edit;
    int rank, step;
    enum hs_kind kind; /* of the step, to make sure that it is the one that is meant */
    int64_t value;
    const char *words; /* in what verify says; NULL: the next row belongs to it */
};

/* Tests all; room: the shared memory of ranks on one node, 0: each is on a node of its own. */
void plant_faults(const struct planted_fault *fault, size_t rows, int64_t room);

#endif
