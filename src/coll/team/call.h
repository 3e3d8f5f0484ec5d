/* A collective call after its arguments have been checked, with sizes in bytes. */
#ifndef HS_COLL_TEAM_CALL_H
#define HS_COLL_TEAM_CALL_H

#include "base/scalar.h"
#include "base/status.h"
#include "coll/schedule/registry.h"

#include <hsumma_coll.h>

struct hs_call {
    enum hs_collective collective;
    int reduces;           /* true if the collective is a reduction, which has an operator */
    int parted;            /* true if each rank has a part of the vector: allgather and reduce_scatter */
    int root, is_root;     /* is_root: true if this rank is the root; 0 for unrooted collectives */
    int has_in, has_out;   /* has_in: false in broadcasts, also on the root; has_out: in a reduce only on the root */
    int64_t unit, bytes;   /* bytes of an element and of the whole vector */
    const int64_t *counts; /* number of elements of each rank's part; NULL for equal parts or none */
    const void *in;
    void *out;
    int on_device; /* true if in or out is in device memory (call_device.h) */
    int in_place;  /* true if the contribution is in out, at byte offset in_place_at */
    int64_t in_place_at;
    int64_t in_bytes, out_bytes; /* on this rank: bytes of IN if has_in, of OUT if has_out */
    hsumma_operator op;          /* of a reduction; else zero, which is no operator of the caller */
    const char *algorithm;
};

/* The subject of an error (hs_vote.about). Of errors with the same status, the verdict has the last in this order. */
enum hs_call_about {
    HS_CALL_NOTHING,
    HS_CALL_COLLECTIVE,
    HS_CALL_COUNT,
    HS_CALL_ROOT,
    HS_CALL_OPERATOR,
    HS_CALL_IN,
    HS_CALL_OUT,
    HS_CALL_MEMORY,
    HS_CALL_ALGORITHM
};

/* Converts a call to bytes and checks all arguments but pointers and algorithm. After HSUMMA_ERR_ARGUMENT *about is
 * the subject and *call is undefined. */
hsumma_status hs_call_read(const hsumma_coll *from, int rank, int size, struct hs_call *call, int *about,
                           struct hs_message *message);
/* Checks the pointers of this rank. Errors: HSUMMA_ERR_ARGUMENT, with the subject in *about. */
hsumma_status hs_call_check_pointers(const struct hs_call *call, int rank, int *about, struct hs_message *message);

/* The function that computes dst = left op right over a number of bytes; its state is the hsumma_operator. */
hs_combine *hs_call_operator(const hsumma_operator *op);
/* True if the call has an operator that does not commute. */
int hs_call_ordered(const struct hs_call *call);

#endif
