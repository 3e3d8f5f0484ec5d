/*
 * The node's product on devices: the steps of node.c, with copies, products and sums enqueued on streams, and tiles in
 * device memory that all processes have mapped.
 *
 * A counter in the directory shows that the work of a step has been enqueued; an event of the counter's owner shows
 * that it is complete.  A process that has seen the counter makes its stream wait for the event.  So the host runs
 * ahead of the devices, and nothing on a device polls.  An event serves every HS_NODE_EVENTS-th step; re-recording it
 * before a peer waits can delay that peer, never deadlock it (base/device.h).  If other processes cannot wait for
 * events, a counter is signalled only when its event is complete.
 *
 * After a failure a process goes through the remaining steps without its device, so that no process waits for it
 * forever; the caller reports the error to the other processes at the end.
 */
#ifndef HS_SUMMA_NODE_ON_DEVICE_H
#define HS_SUMMA_NODE_ON_DEVICE_H

#include "base/device.h"
#include "coll/node/device_share.h"
#include "summa/node/shape.h"

enum {
    /* Limit of a plan's lookahead: a ring must have fewer tiles than a counter has events. */
    HS_NODE_LOOKAHEAD = 2,
    HS_NODE_EVENTS = HS_NODE_LOOKAHEAD + 2, /* number of events of each counter of steps */
    HS_NODE_COMPLETE = 3 * HS_NODE_EVENTS,  /* index of the event that ends an execution */
    HS_NODE_ALL_EVENTS
};

/* Tiles for the products of a grid, and the resources with which this process runs these products. */
struct hs_node_device {
    struct hs_node_device *older; /* smaller tiles of the grid that are not freed yet */
    struct hs_device *device;
    struct hs_device_share share;
    int owner; /* rank whose memory contains the tiles */
    size_t bytes;
    struct hs_stream *copies, *products; /* sums run on `copies` too */
    struct hs_event *turn;               /* private event with which one stream of this process waits for another */
    struct hs_stream *outside; /* the caller's stream: its earlier work precedes the execution, later work follows */
    /* A and B in host memory, from which the execution loads each panel into matrix[] before its step; base is NULL if
     * matrix[] has the data. */
    struct hs_matrix host[2];
    /* 1 if C goes to host memory afterwards: consecutive steps then take panels of different owners, so that all load
     * their panels at a time, and the execution ends when its work is complete. */
    int to_host;
};

static inline char *hs_node_device_tiles(const struct hs_node_device *on)
{
    return on->share.memory[on->owner];
}

/* Begins an execution: its work follows the work that is now on the caller's stream. */
void hs_node_device_begin(struct hs_node_product *node);
/* Makes the streams wait for a rank's earlier use of the memory. */
void hs_node_device_enter(struct hs_node_product *node, int rank);

/* Makes the stream wait for the first `steps` steps of all peers or, if owner >= 0, of the peers at that coordinate. */
void hs_node_device_await_all(struct hs_node_product *node, struct hs_stream *stream, const struct hs_peers *peers,
                              int owner, enum hs_counter counter, int64_t steps);
/* Records the event of a step of a counter, after the work on the stream. */
void hs_node_device_mark(struct hs_node_product *node, struct hs_stream *stream, enum hs_counter counter, int64_t step);
/* Signals the counters whose events are complete, if other processes cannot wait for events.  Returns whether it
 * signalled any. */
int hs_node_device_announce(struct hs_node_product *node);
/* Whether this process may leave the execution.  The first call makes the caller's stream wait for all work of the
 * execution. */
int hs_node_device_left(struct hs_node_product *node);

/* Enqueues a copy of rows x cols elements. */
void hs_node_device_copy(struct hs_node_product *node, char *to, int64_t to_ld, const char *from, int64_t from_ld,
                         int64_t rows, int64_t cols);
/* Enqueues the local product of a step, and records its event. */
void hs_node_device_multiply(struct hs_node_product *node, int64_t step, const struct hs_range range[3],
                             const struct hs_matrix matrix[3], const void *beta);
/* Enqueues c = beta c + s, for rows x cols elements. */
void hs_node_device_update(struct hs_node_product *node, int64_t rows, int64_t cols, const void *beta, char *c,
                           int64_t ldc, const char *s, int64_t lds);
/* Enqueues C = beta C, for an execution that multiplies nothing, and skips all steps. */
void hs_node_device_scale(struct hs_node_product *node);

#endif
