/*
 * What is kept of a kind of collective call, so that the next one of it only starts: the choice, the list, and memory
 * for as many as are under way.
 */
#ifndef HS_COLL_RUN_SIGNATURE_H
#define HS_COLL_RUN_SIGNATURE_H

#include "coll/run/call.h"
#include "coll/run/executor_device.h"
#include "coll/select/select.h"

/* How one call ends; belongs to the caller and stays where it is until it is done. */
struct hs_ticket {
    int done;
    hsumma_status status;
};

/* One call under way, or its memory in reserve. */
struct hs_operation {
    struct hs_operation *next;
    struct hs_signature *signature;
    struct hs_ticket *ticket;
    struct hs_instance instance;
    int64_t number; /* of the team's calls */
    int64_t traced; /* its number in the timeline */
    void *memory, *scratch;
    void *copy;         /* of a contribution that lies in out; made when it is first needed */
    hsumma_operator op; /* a copy of the caller's */
    /* of a call on a device (call_device.h): copy holds whatever stands in for the caller's memory */
    size_t copy_bytes;
    struct hs_device_io io;
    struct hs_binding binding; /* of one that the host does: it begins when its memory is there */
    int phase;
};

struct hs_signature {
    struct hs_signature *next; /* the most recently used first */
    /* the key */
    enum hs_collective collective;
    int root, ordered, user, on_device;
    int64_t unit, bytes;
    int64_t *part; /* size + 1 offsets of irregular parts; NULL: equal, or none */
    char algorithm[HS_ALG_SPEC_TEXT];

    struct hs_alg_spec chosen;
    struct hs_device_comm *device; /* of a call on a device; else NULL */
    int on_host;                   /* such a call, which the host does on copies */
    int rotation, size;
    struct hs_list list;
    int *counts;  /* elements and offsets of each part, for MPI; else NULL */
    int64_t cost; /* bytes of memory, of the rank that has most: alike on all */
    struct hs_operation *spare;
    int spares, under_way;
    int left; /* out of the cache: goes with the last that is under way */
};

/* What is needed to make one. */
struct hs_signature_maker {
    const struct hs_allocator *memory;
    struct hs_selector *selector;
    const struct hs_topology *topology; /* NULL: every rank on its own */
    struct hs_device_comm *device;      /* where calls on a device are done; NULL: there is none */
    int rank, size;
    int64_t segment;
};

int hs_signature_serves(const struct hs_signature *signature, const struct hs_call *call, int size);
/* The question that a call asks, and the answer to it; they point into shape, text and call.  *why_host: why the host
 * does a call on a device; NULL: it does not, or the call is none. */
struct hs_chosen {
    struct hs_shape shape;
    struct hs_question question;
    struct hs_answer answer;
    const char *why_host;
    char text[HS_ALG_SPEC_TEXT];
};
hsumma_status hs_signature_choose(const struct hs_signature_maker *maker, const struct hs_call *call,
                                  struct hs_chosen *chosen, struct hs_message *message);
/* Chooses, builds, and takes the memory of one operation.  After an error *result is NULL. */
hsumma_status hs_signature_make(const struct hs_signature_maker *maker, const struct hs_call *call,
                                struct hs_signature **result, int *about, struct hs_message *message);
/* Frees it when nothing of it is under way, else with the last. */
void hs_signature_drop(struct hs_signature *signature, const struct hs_allocator *memory);
/* Bytes that it holds on this rank with one operation. */
int64_t hs_signature_bytes(const struct hs_signature *signature);
int hs_signature_shares(const struct hs_signature *signature); /* its lists use shared memory */

/* Memory for one operation; NULL: there is none. */
struct hs_operation *hs_operation_take(struct hs_signature *signature, const struct hs_allocator *memory);
void hs_operation_give(struct hs_operation *operation, const struct hs_allocator *memory);

/* What MPI calls the elements and the operator of a call. */
void hs_native_types(const struct hs_call *call, MPI_Datatype *type, MPI_Op *op);

#endif
