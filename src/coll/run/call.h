/* A collective call, checked and put into bytes. */
#ifndef HS_COLL_RUN_CALL_H
#define HS_COLL_RUN_CALL_H

#include "base/scalar.h"
#include "base/status.h"
#include "coll/schedule/registry.h"

#include <hsumma_coll.h>

struct hs_call {
    enum hs_collective collective;
    int reduces;           /* has an operator */
    int root, is_root;     /* is_root: this rank is; of collectives without a root 0 */
    int has_in, has_out;   /* this rank contributes IN; it has an OUT of its own */
    int64_t unit, bytes;   /* of an element, and of the whole vector */
    const int64_t *counts; /* elements per rank; NULL: all alike, or no parts */
    const void *in;
    void *out;
    int on_device; /* in or out lies in device memory (call_device.h) */
    int in_place;  /* the contribution lies in out, `in_place_at` bytes from its beginning */
    int64_t in_place_at;
    int64_t in_bytes, out_bytes; /* what this rank has of them */
    hsumma_operator op;
    const char *algorithm;
};

/* What a verdict is about, for those who did not find it themselves. */
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
const char *hs_call_about(int about);

/* Checks what must be alike on all ranks.  HSUMMA_ERR_ARGUMENT and *about. */
hsumma_status hs_call_read(const hsumma_coll *from, int rank, int size, struct hs_call *call, int *about,
                           struct hs_message *message);
/* Checks the pointers of this rank. */
hsumma_status hs_call_check_pointers(const struct hs_call *call, int rank, int *about, struct hs_message *message);

/* dst = left op right over bytes; state is the hsumma_operator itself. */
hs_combine *hs_call_operator(const hsumma_operator *op);
/* 0: the operator gives the same whichever way round its operands are. */
int hs_call_ordered(const struct hs_call *call);

#endif
