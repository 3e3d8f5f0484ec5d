/* A collective call, checked and with sizes in bytes. */
#ifndef HS_COLL_RUN_CALL_H
#define HS_COLL_RUN_CALL_H

#include "base/scalar.h"
#include "base/status.h"
#include "coll/schedule/registry.h"

#include <hsumma_coll.h>

struct hs_call {
    enum hs_collective collective;
    int reduces;           /* has an operator */
    int root, is_root;     /* is_root: this rank is the root; 0 for unrooted collectives */
    int has_in, has_out;   /* whether this rank contributes IN; whether it has an OUT */
    int64_t unit, bytes;   /* bytes of an element and of the whole vector */
    const int64_t *counts; /* elements per rank; NULL: equal parts, or no parts */
    const void *in;
    void *out;
    int on_device; /* in or out is in device memory (call_device.h) */
    int in_place;  /* the contribution is in out, at byte offset in_place_at */
    int64_t in_place_at;
    int64_t in_bytes, out_bytes; /* bytes of IN and OUT on this rank */
    hsumma_operator op;
    const char *algorithm;
};

/* What a verdict concerns: of several with one status the last of these wins. */
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

/*
 * Converts a call to bytes and checks what must be equal on all ranks. HSUMMA_ERR_ARGUMENT, with the cause in *about.
 */
hsumma_status hs_call_read(const hsumma_coll *from, int rank, int size, struct hs_call *call, int *about,
                           struct hs_message *message);
/* Checks the pointers of this rank. */
hsumma_status hs_call_check_pointers(const struct hs_call *call, int rank, int *about, struct hs_message *message);

/* dst = left op right over bytes; state is the hsumma_operator. */
hs_combine *hs_call_operator(const hsumma_operator *op);
/* Whether the operator requires the order of its operands; 0: it commutes. */
int hs_call_ordered(const struct hs_call *call);

#endif
