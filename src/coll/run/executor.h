/* The executor of step lists over MPI point-to-point: start, progress, done; several instances under way at a time. */
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

/* Posts a HS_MPI step: MPI's nonblocking collective.  Returns MPI's code. */
struct hs_native;
int hs_native_start(const struct hs_native *native, const struct hs_step *step, void *const *slot,
                    MPI_Request *request);

/* What MPI has to know to do a collective itself. */
struct hs_native {
    int collective; /* enum hs_collective */
    MPI_Comm comm;  /* of the group alone, its ranks in the group's order; instances start in one order on all ranks */
    MPI_Datatype type;
    MPI_Op op;
    const int *counts, *displacements; /* allgather, reduce_scatter: elements per rank */
};

struct hs_binding {
    const struct hs_list *list;
    struct hs_group group;
    int rotation; /* list rank r is group member (r + rotation) mod size */
    int tag;
    void *slot[HS_SLOTS];
    hs_combine *combine;
    void *state;                      /* of combine */
    int64_t unit;                     /* bytes of an element; 0: any power of two up to 16 */
    const struct hs_compute *compute; /* what COPY and REDUCE take in a simulated run; NULL: a real one */
    struct hs_shm *shm;               /* of lists that use shared memory: covers the group; NULL: none */
    int64_t instance;                 /* number of this instance in it (hs_shm.next), alike on all members */
    struct hs_native native;          /* of lists with an MPI step */
    /* slots in device memory: shm, if there is one, is the device's, and combine, state and unit are not used */
    struct hs_device_comm *device; /* NULL: host memory */
    const struct hs_device_io *io; /* staged copies; NULL: none */
    hsumma_element element;
    hsumma_op op;
};

/* One collective under way.  Memory: hs_instance_bytes, given by the caller, so that starting never allocates. */
struct hs_instance {
    struct hs_binding bound;
    struct hs_comm *comm;
    int active, left, head;
    int entered;              /* its slot of the shared memory is free for it */
    int signals, ended;       /* on a device: SIGNALs so far; what comes behind the list is on the stream */
    struct hs_instance *next; /* on a device: the next one under way */
    int capacity;             /* steps */
    unsigned char *state;
    int64_t *moved;                /* bytes of a SEND or RECV whose pieces have been posted or completed */
    struct hs_in_flight open;      /* messages that MPI has not completed */
    int *request_step, *completed; /* of each of them its step; which ones are complete */
    int64_t *traced;               /* and its number in the timeline */
};

size_t hs_instance_bytes(int steps);
void hs_instance_init(struct hs_instance *instance, void *memory, int steps);
/* Calls advance until it is done (base/wait.h); while nothing can be done it polls, or blocks. */
hsumma_status hs_comm_wait(struct hs_comm *comm, hs_advance *advance, void *state);
/* Begins; the list must not have more steps than the instance was made for. */
hsumma_status hs_start(struct hs_instance *instance, struct hs_comm *comm, const struct hs_binding *binding);
/* Moves it forward without waiting; *worked is set to 1 if something happened.  Does nothing when it is not active. */
hsumma_status hs_progress(struct hs_instance *instance, int *worked);
/* The rank that its first unfinished step waits for, -1: none; *receives: for what comes from there. */
int hs_instance_awaits(const struct hs_instance *instance, int *receives);

#endif
