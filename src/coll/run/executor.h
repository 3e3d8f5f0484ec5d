/* Runs step lists over MPI and shared memory, in host or device memory. Several instances may be in progress. */
#ifndef HS_COLL_RUN_EXECUTOR_H
#define HS_COLL_RUN_EXECUTOR_H

#include "base/compute.h"
#include "base/scalar.h"
#include "base/wait.h"
#include "coll/node/comm.h"
#include "coll/node/tags.h"
#include "dist/grid.h"

#include <hsumma_coll.h>

struct hs_device_io;

/* The function of the caller that performs a row (hs_alg.performer). */
struct hs_performer {
    hsumma_perform *perform;
    void *state;
};

/* What the MPI steps of a joint need. */
struct hs_native {
    MPI_Comm comm; /* of exactly the joint's ranks, in their order; MPI steps start in the same order on all of them */
    const int *counts, *displacements; /* elements and offset of each rank's part in allgather and reduce_scatter */
};

struct hs_binding {
    const struct hs_list *list;
    struct hs_group group;
    int rotation; /* rank r of the list is group member (r + rotation) mod size */
    int tag;
    void *slot[HS_SLOTS];
    hs_combine *combine;
    void *state;                      /* argument of combine */
    int64_t unit;                     /* bytes of an element; 0 for an unknown power of two up to 16 */
    const struct hs_compute *compute; /* cost of COPY and REDUCE in a simulated run; NULL in a real run */
    struct hs_shm *shm;               /* shared memory that covers the group, for lists that use it; else NULL */
    int64_t instance;                 /* number of this instance in shm, from hs_shm.next; equal on all members */
    int ring;                         /* the ring of SHARED that it uses (hs_shm.ring), equal on all members */
    int checked;                      /* 1 if a CRC follows each message; equal on all members */
    /* The fields below are used by lists with MPI steps. */
    const struct hs_native *native;   /* indexed by joint */
    const hsumma_operator *operation; /* of a reduction; also for EXACT steps */
    int by_function; /* true if a function of the caller performs steps on some rank, which may send a notice */
    /*
     * For slots in device memory; shm is then that of hs_device_comm or NULL, and combine, state and unit are unused.
     */
    struct hs_device_comm *device; /* NULL if the slots are in host memory */
    const struct hs_device_io *io; /* staged copies; NULL if none */
    hsumma_element element;
    hsumma_op op;
};

/* One execution of a list. The caller provides hs_instance_bytes of memory, so starting never allocates. */
struct hs_instance {
    struct hs_binding bound;
    struct hs_comm *comm;
    int active, left, head; /* left: number of unfinished steps; head: all steps before this one are finished */
    int entered; /* true once it has entered its slot of the shared memory, if it uses any; its steps may then begin */
    /* On a device: the number of SIGNALs so far; true when the copies and events after the list are enqueued. */
    int signals, ended;
    struct hs_instance *next; /* on a device: the next instance in progress */
    int capacity;             /* maximum number of steps of a list */
    unsigned char *state;
    int64_t *moved;                /* bytes of each SEND or RECV that have been posted, indexed by step */
    struct hs_in_flight open;      /* messages that are posted but not completed */
    int *request_step, *completed; /* request_step: step of each request; completed: scratch for MPI_Testsome */
    /* Of each step's message in flight, indexed by step modulo their window: its CRC, and its open requests. */
    uint32_t *crc;
    unsigned char *pending;
    int64_t *traced; /* each request's entry in the timeline, -1 if it has none */
};

/*
 * Starts an MPI step, with the addresses of its contribution and result (NULL if the rank has none), as MPI's
 * nonblocking collective or by the caller's function. *request is MPI_REQUEST_NULL if it is complete. Returns MPI's
 * error code, or what the function returned.
 */
int hs_native_start(const struct hs_binding *bound, const struct hs_step *step, const void *in, void *out,
                    MPI_Request *request);

size_t hs_instance_bytes(int steps);
void hs_instance_init(struct hs_instance *instance, void *memory, int steps);
/* Calls `advance` until it is done. In between the rank yields, or naps (wait=block), or blocks in MPI (simulator). */
hsumma_status hs_comm_wait(struct hs_comm *comm, hs_advance *advance, void *state);
/* The list must not have more steps than the instance's capacity. binding: copied, or the instance's own (`bound`). */
hsumma_status hs_start(struct hs_instance *instance, struct hs_comm *comm, const struct hs_binding *binding);
/* Advances an instance, if it is active, without waiting; sets *worked to 1 if it made progress. */
hsumma_status hs_progress(struct hs_instance *instance, int *worked);
/* The rank that the first unfinished step waits for, -1 if none. *receives: 1 if for its data or signal, else 0. */
int hs_instance_awaits(const struct hs_instance *instance, int *receives);

#endif
