/*
 * What is kept of a kind of collective call so that later ones start immediately: the choice, the list, and memory for
 * as many operations as are in progress.
 */
#ifndef HS_COLL_RUN_SIGNATURE_H
#define HS_COLL_RUN_SIGNATURE_H

#include "coll/run/call.h"
#include "coll/run/executor_device.h"
#include "coll/select/select.h"

/* How a call ends. Belongs to the caller and must not move until the call is done. */
struct hs_ticket {
    int done;
    hsumma_status status;
};

/* A call in progress, or memory in reserve for one. */
struct hs_operation {
    struct hs_operation *next;
    struct hs_signature *signature;
    struct hs_ticket *ticket;
    struct hs_instance instance;
    int64_t number; /* number among the team's calls */
    int64_t traced; /* number in the timeline */
    void *memory, *scratch;
    void *copy;         /* of a contribution that lies in out; allocated when first needed */
    hsumma_operator op; /* a copy of the caller's */
    /* For a call on a device (call_device.h); `copy` then holds the staged copies. */
    size_t copy_bytes;
    struct hs_device_io io;
    struct hs_binding binding; /* for a call that the host does: starts when its data have been copied */
    int phase;
};

struct hs_signature {
    struct hs_signature *next; /* list, most recently used first */
    /* The key. */
    enum hs_collective collective;
    int root, ordered, user, on_device;
    int64_t unit, bytes;
    int64_t *part; /* size + 1 offsets of irregular parts; NULL: equal parts, or none */
    char algorithm[HS_ALG_SPEC_TEXT];

    struct hs_alg_spec chosen;
    struct hs_device_comm *device; /* for a call on a device; else NULL */
    int on_host;                   /* the host does this call on copies of device memory */
    int rotation, size;
    struct hs_list list;
    int *counts;  /* counts and offsets of the parts in elements, for MPI; else NULL */
    int64_t cost; /* bytes of memory on the rank that uses most; equal on all ranks */
    struct hs_operation *spare;
    int spares, under_way;
    int left; /* no longer in the cache: freed with the last operation in progress */
};

/* What is needed to make a signature. */
struct hs_signature_maker {
    const struct hs_allocator *memory;
    struct hs_selector *selector;
    const struct hs_topology *topology; /* NULL: every rank on its own node */
    struct hs_device_comm *device;      /* for calls on a device; NULL: none */
    int rank, size;
    int64_t segment;
};

int hs_signature_serves(const struct hs_signature *signature, const struct hs_call *call, int size);
/*
 * A call's question and its answer, which point into shape, text and call. why_host: why the host does a call on a
 * device; NULL: it does not, or the call does not use a device.
 */
struct hs_chosen {
    struct hs_shape shape;
    struct hs_question question;
    struct hs_answer answer;
    const char *why_host;
    char text[HS_ALG_SPEC_TEXT];
};
hsumma_status hs_signature_choose(const struct hs_signature_maker *maker, const struct hs_call *call,
                                  struct hs_chosen *chosen, struct hs_message *message);
/* Chooses, builds, and allocates one operation. After an error *result is NULL. */
hsumma_status hs_signature_make(const struct hs_signature_maker *maker, const struct hs_call *call,
                                struct hs_signature **result, int *about, struct hs_message *message);
/* Frees it at once, or with its last operation in progress. */
void hs_signature_drop(struct hs_signature *signature, const struct hs_allocator *memory);
/* Bytes of the signature and one operation on this rank. */
int64_t hs_signature_bytes(const struct hs_signature *signature);
int hs_signature_shares(const struct hs_signature *signature); /* its lists may use shared memory */

/* Memory for one operation; NULL if memory is exhausted. */
struct hs_operation *hs_operation_take(struct hs_signature *signature, const struct hs_allocator *memory);
void hs_operation_give(struct hs_operation *operation, const struct hs_allocator *memory);

/* MPI's names for the elements and the operator of a call. */
void hs_native_types(const struct hs_call *call, MPI_Datatype *type, MPI_Op *op);

#endif
