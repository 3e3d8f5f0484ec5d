/*
 * The executor of step lists over MPI point-to-point messages: start, progress, done; several instances may be in
 * progress.
 */
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

/* Posts an HS_MPI step as MPI's nonblocking collective. Returns MPI's error code. */
struct hs_native;
int hs_native_start(const struct hs_native *native, const struct hs_step *step, void *const *slot,
                    MPI_Request *request);

/* What MPI needs to do a collective itself. */
struct hs_native {
    int collective; /* enum hs_collective */
    MPI_Comm comm;  /* exactly the group, in its order; instances start in the same order on all ranks */
    MPI_Datatype type;
    MPI_Op op;
    const int *counts, *displacements; /* allgather, reduce_scatter: elements per rank */
};

struct hs_binding {
    const struct hs_list *list;
    struct hs_group group;
    int rotation; /* rank r of the list is group member (r + rotation) mod size */
    int tag;
    void *slot[HS_SLOTS];
    hs_combine *combine;
    void *state;                      /* argument of combine */
    int64_t unit;                     /* bytes of an element; 0: any power of two up to 16 */
    const struct hs_compute *compute; /* cost of COPY and REDUCE in a simulated run; NULL: a real run */
    struct hs_shm *shm;               /* for lists that use shared memory: covers the group; NULL: none */
    int64_t instance;                 /* number of this instance in shm (hs_shm.next), equal on all members */
    struct hs_native native;          /* for lists with an MPI step */
    /* For slots in device memory: shm, if any, is the device's; combine, state and unit are unused. */
    struct hs_device_comm *device; /* NULL: host memory */
    const struct hs_device_io *io; /* staged copies; NULL: none */
    hsumma_element element;
    hsumma_op op;
};

/* One execution of a list. The caller provides hs_instance_bytes of memory, so starting never allocates. */
struct hs_instance {
    struct hs_binding bound;
    struct hs_comm *comm;
    int active, left, head;
    int entered; /* its slot of the shared memory is free for it */
    /* On a device: number of SIGNALs so far; whether everything that follows the list is enqueued. */
    int signals, ended;
    struct hs_instance *next; /* on a device: the next instance in progress */
    int capacity;             /* most steps of a list */
    unsigned char *state;
    int64_t *moved;                /* bytes of a SEND or RECV whose pieces have been posted */
    struct hs_in_flight open;      /* messages posted and not completed */
    int *request_step, *completed; /* step of each open message; indices of those just completed */
    int64_t *traced;               /* number of each open message in the timeline */
};

size_t hs_instance_bytes(int steps);
void hs_instance_init(struct hs_instance *instance, void *memory, int steps);
/* Calls advance until it is done (base/wait.h); when there is nothing to do, polls or blocks. */
hsumma_status hs_comm_wait(struct hs_comm *comm, hs_advance *advance, void *state);
/* Starts an instance; the list must not have more steps than the instance's capacity. */
hsumma_status hs_start(struct hs_instance *instance, struct hs_comm *comm, const struct hs_binding *binding);
/* Advances an instance without waiting; sets *worked to 1 if anything happened. Does nothing if it is not active. */
hsumma_status hs_progress(struct hs_instance *instance, int *worked);
/*
 * The rank that the first unfinished step waits for, -1: none; *receives: whether it waits for data or a signal from
 * there.
 */
int hs_instance_awaits(const struct hs_instance *instance, int *receives);

#endif
