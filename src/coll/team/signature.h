/* What is prepared for one kind of collective call, so that later ones start at once: algorithm, list and memory. */
#ifndef HS_COLL_TEAM_SIGNATURE_H
#define HS_COLL_TEAM_SIGNATURE_H

#include "coll/run/executor_device.h"
#include "coll/select/select.h"
#include "coll/team/call.h"

/* The completion of a call. Owned by the caller; must not move until the call is done. */
struct hs_ticket {
    int done;
    hsumma_status status;
};

/* A call in progress, or memory reserved for one. */
struct hs_operation {
    struct hs_operation *next;
    struct hs_signature *signature;
    struct hs_ticket *ticket;
    struct hs_instance instance;
    int64_t number; /* sequence number of the call in the team */
    int64_t traced; /* number of the call's entry in the timeline */
    void *memory, *scratch;
    void *copy;         /* memory for a copy of an in-place contribution, allocated when first needed */
    hsumma_operator op; /* a copy of the caller's operator */
    /* For a call on a device (call_device.h), for which `copy` has the staged copies outside the pool. */
    size_t copy_bytes;
    struct hs_device_io io;
    int phase;
};

struct hs_signature {
    struct hs_signature *next; /* next signature in the team's list */
    /* The fields up to `algorithm` are the key. */
    enum hs_collective collective;
    int root, ordered, user; /* user: true if the operator is user-defined */
    int rounds;              /* as in hs_question */
    int64_t unit, bytes;
    int64_t *part;                 /* size + 1 byte offsets of irregular parts; NULL for equal parts or none */
    struct hs_device_comm *device; /* device of a call on device memory; else NULL */
    char algorithm[HS_ALG_SPEC_TEXT];

    struct hs_alg_spec chosen;
    int replaced; /* true if `chosen` replaces a requested algorithm that cannot serve the call */
    int on_host;  /* true if the host performs the call on copies of device memory */
    int ring;     /* as in hs_binding */
    int rotation, size;
    struct hs_list list;
    struct hs_native *native; /* indexed by the list's joints */
    int *counts;              /* for row "mpi": the parts' counts, then their offsets, in MPI's elements; else NULL */
    int64_t cost;             /* bytes of memory on a rank that uses the longest ring; equal on all ranks */
    struct hs_operation *spare;
    int spares, under_way;
    int left; /* true if it has left the cache, and will be freed with its last operation in progress */
};

/* The input for making a signature, besides the call. */
struct hs_signature_maker {
    const struct hs_allocator *memory;
    struct hs_selector *selector;
    const struct hs_topology *topology; /* NULL to treat each rank as alone on a node */
    struct hs_device_comm *device;      /* resources for calls on a device; NULL without a device */
    int rank, size;
    int64_t segment;
};

int hs_signature_serves(const struct hs_signature *signature, const struct hs_call *call, int size);
/*
 * A call's question and its answer, which point into shape, text and the call. why_host: the reason why the host
 * performs a call on device memory; NULL if the device performs it, or if the call does not use device memory.
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
/* Chooses the algorithm, builds the list and allocates one operation. After an error *result is NULL; *about: why. */
hsumma_status hs_signature_make(const struct hs_signature_maker *maker, const struct hs_call *call,
                                struct hs_signature **result, int *about, struct hs_message *message);
/* Frees a signature: at once or, if operations are in progress, when the last of them ends. */
void hs_signature_drop(struct hs_signature *signature, const struct hs_allocator *memory);
/* The approximate bytes of memory of the signature and one operation on this rank. */
int64_t hs_signature_bytes(const struct hs_signature *signature);
int hs_alg_may_share(const struct hs_alg *alg); /* true if a row's lists may use shared memory */

/* take returns a reserved or newly made operation, NULL if that fails; give returns it to the reserve or frees it. */
struct hs_operation *hs_operation_take(struct hs_signature *signature, const struct hs_allocator *memory);
void hs_operation_give(struct hs_operation *operation, const struct hs_allocator *memory);

#endif
